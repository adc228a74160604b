"""The command `cruxeval compare`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cruxeval_tasks.cli import common

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from cruxeval_tasks.comparison import Comparison
    from cruxeval_tasks.fresh.gap import Gap
    from cruxeval_tasks.scoring import Score

_NOISE = 0.05


@click.command(epilog=common.FORMATS_HELP, short_help="Compare two runs: is one better, or is it noise?")
@click.argument("a", type=click.Path(), metavar="A")
@click.argument("b", type=click.Path(), metavar="B")
@click.option("-n", "--list", "listed", type=click.IntRange(0), default=8, help="How many problems to list; default 8.")
@click.option(
    "--fresh-problems",
    metavar="FILE",
    help="JSONL file of the problems of B, where B is a run on fresh ones and does not carry them itself.",
)
@common.run_options
def compare(
    a: str,
    b: str,
    listed: int,
    fresh_problems: str | None,
    judging: common.Judging,
    as_json: bool,
) -> None:
    """Compare two runs on the same problems: is B better than A, or is it noise?

    The difference in pass@1 is B minus A, paired by problem: a problem that is hard is hard for both, so the paired
    interval is narrower than the two scores' own. The p-value is that of a sign-flip test, exact; with one sample
    of each problem it is McNemar's exact test.

    Where B is a run on fresh problems that `cruxeval fresh` made from those of A, each function's problems are a pair,
    and what is given is the gap: the score on the published inputs minus the score on the fresh ones.
    """
    import json

    from cruxeval_tasks.comparison import compare as compare_scores
    from cruxeval_tasks.fresh.gap import fresh_of, gap

    with common.Scorer(judging) as scorer:
        first = scorer.score(a)
        if fresh_problems is None:
            second = scorer.score(b)
        else:
            with common.Scorer(replace(judging, problems=fresh_problems)) as other:
                second = other.score(b)
    scores = first, second
    for original, fresh in (scores, scores[::-1]):
        if fresh_of(original, fresh):
            measured = gap(original, fresh)
            if as_json:
                click.echo(json.dumps(_gap_json(measured), indent=2))
            else:
                _print_gap(measured)
            return
    found = compare_scores(*scores, partial=judging.partial)
    if as_json:
        click.echo(json.dumps(_json(found, scores), indent=2))
    else:
        _print(found, scores, listed)


def _json(found: Comparison, scores: tuple[Score, Score]) -> dict[str, object]:
    from cruxeval_tasks.scoring import summary

    difference = found.difference
    return {
        "a": summary(scores[0], [1]),
        "b": summary(scores[1], [1]),
        "difference": {"value": 100 * difference.value, "low": 100 * difference.low, "high": 100 * difference.high},
        "p_value": difference.p_value,
        "noise": difference.p_value >= _NOISE,
        "problems": len(found.a),
        "only_a": found.only_a,
        "only_b": found.only_b,
        "gained": {key: [float(found.a[key]), float(found.b[key])] for key in found.gained},
        "lost": {key: [float(found.a[key]), float(found.b[key])] for key in found.lost},
        "neither": {
            "ids": list(found.neither),
            "same_failure": found.same_failure,
            "different_failures": [{"a": x, "b": y, "problems": n} for (x, y), n in found.differently.items()],
        },
    }


def _gap_json(found: Gap) -> dict[str, object]:
    from cruxeval_tasks.scoring import summary

    d = found.difference
    return {
        "original": summary(found.original, [1]),
        "fresh": summary(found.fresh, [1]),
        "pass_at_1": {"original": _mean(found.on_original), "fresh": _mean(found.on_fresh)},
        "gap": {"value": 100 * d.value, "low": 100 * d.low, "high": 100 * d.high},
        "p_value": d.p_value,
        "noise": d.p_value >= _NOISE,
        "functions": len(found.on_fresh),
        "without_fresh": found.without_fresh,
    }


def _print_gap(found: Gap) -> None:
    console = common.console()
    d = found.difference
    names = common.labels([found.original.run.path, found.fresh.run.path])
    console.print(
        f"Published inputs ({names[0]}) against fresh ones ({names[1]}): {found.original.direction} prediction, "
        f"{len(found.on_fresh)} functions.\n"
    )
    lines = common.table("", "pass@1 %", "95 % interval", right=(1,))
    lines.add_row("published", f"{_mean(found.on_original):.1f}", "")
    lines.add_row("fresh", f"{_mean(found.on_fresh):.1f}", "")
    spread = f"{100 * d.low:+.1f} to {100 * d.high:+.1f} (paired)"
    lines.add_row("gap", f"{100 * d.value:+.1f}", spread, style="bold")
    console.print(lines)
    better = sum(found.on_original[key] > rate for key, rate in found.on_fresh.items())
    worse = sum(found.on_original[key] < rate for key, rate in found.on_fresh.items())
    p = "p < 0.0001" if d.p_value < 0.0001 else f"p = {d.p_value:.2g}"
    if d.p_value >= _NOISE:
        verdict = f"No gap that can be told from chance ({p}). The interval says how large or small it may be."
    elif d.value > 0:
        verdict = f"The score does not hold on inputs that nobody has published, and that is not chance ({p})."
    else:
        verdict = f"The fresh problems are solved more often, and not by chance ({p})."
    console.print(f"\n{verdict}")
    console.print(
        f"Of {len(found.on_fresh)} functions {better} are solved better on the published input, {worse} on fresh ones."
    )
    if found.without_fresh:
        console.print(f"Note: {found.without_fresh} problems that have no fresh one are left out.", style="yellow")
    for score in (found.original, found.fresh):
        for warning in score.warnings:
            console.print(f"Note: {common.visible(warning)}", style="yellow")


def _mean(rates: Mapping[str, Fraction]) -> float:
    """In percent."""
    return 100 * float(sum(rates.values())) / len(rates)


def _print(found: Comparison, scores: tuple[Score, Score], listed: int) -> None:
    from cruxeval_tasks.judging.judge import Status
    from cruxeval_tasks.scoring import summary

    console = common.console()
    names = common.labels([score.run.path for score in scores])
    print_line = console.print
    for letter, name, score in zip("AB", names, scores, strict=True):
        low, high = score.samples
        size = f"{len(score.verdicts)}×{common.counted({'min': low, 'max': high})}"
        print_line(f"{letter}  {name}: {score.direction} prediction, {size} samples")
    print_line()

    means = [100 * float(sum(rates.values())) / len(rates) for rates in (found.a, found.b)]
    d = found.difference
    lines = common.table("", "pass@1 %", "95 % interval", right=(1,))
    for letter, mean, score in zip("AB", means, scores, strict=True):
        whole = summary(score, [1])["pass_at_k"]["1"] if len(score.verdicts) == len(found.a) else None
        lines.add_row(letter, common.tenths(mean), "" if whole is None else f"{whole['low']:.1f} to {whole['high']:.1f}")
    lines.add_row("B − A", f"{100 * d.value:+.1f}", f"{100 * d.low:+.1f} to {100 * d.high:+.1f} (paired)", style="bold")
    print_line(lines)
    print_line()
    print_line(_verdict(found))
    print_line(
        f"B is better on {len(found.gained)} of {len(found.a)} problems, worse on {len(found.lost)}, "
        f"the same on {len(found.a) - len(found.gained) - len(found.lost)}."
    )
    for only, letter in ((found.only_a, "A"), (found.only_b, "B")):
        if only:
            print_line(f"Note: {only} problems that only {letter} has are left out.", style="yellow")

    for title, ids in (("Gained most", found.gained), ("Lost most", found.lost)):
        if ids and listed:
            rates = (f"{common.visible(i)} {_share(found, i)}" for i in ids[:listed])
            print_line(f"\n{title} (A → B, in percent of the samples): {', '.join(rates)}")

    print_line("\nVerdicts, in percent of the samples", style="bold")
    verdicts = common.table("", "A", "B", "B − A", right=(1, 2, 3))
    totals = [sum(score.statuses.values()) for score in scores]
    for status in Status:
        shares = [100 * s.statuses.get(status, 0) / total for s, total in zip(scores, totals, strict=True)]
        if any(shares):
            verdicts.add_row(
                status.value.replace("_", " "), *(f"{x:.1f}" for x in shares), f"{shares[1] - shares[0]:+.1f}"
            )
    print_line(verdicts)
    print_line()
    if found.neither:
        differ = len(found.neither) - found.same_failure
        print_line(
            f"Neither solves {len(found.neither)} problems. On {found.same_failure} of them both mostly fail in the same "
            f"way (the same wrong value or error); on {differ} they differ:"
        )
        kinds = common.table("A", "B", "problems", right=(2,))
        for (x, y), number in found.differently.items():
            kinds.add_row(
                x.replace("_", " "), f"{y.replace('_', ' ')}{', another one' if x == y else ''}", str(number)
            )
        print_line(kinds)
    for letter, score in zip("AB", scores, strict=True):
        for warning in score.warnings:
            print_line(f"Note: {letter}: {common.visible(warning)}", style="yellow")


def _verdict(found: Comparison) -> str:
    d = found.difference
    p = "p < 0.0001" if d.p_value < 0.0001 else f"p = {d.p_value:.2g}"
    if not (found.gained or found.lost):
        return "The two pass on every problem at the same rate."
    if d.p_value >= _NOISE:
        return f"Noise: a difference as large would often come by chance between equal runs ({p})."
    return f"{'B' if d.value > 0 else 'A'} is better: equal runs would rarely differ by as much ({p})."


def _share(found: Comparison, key: str) -> str:
    return f"{100 * float(found.a[key]):.0f}→{100 * float(found.b[key]):.0f}"
