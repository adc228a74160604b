"""The command `cruxeval score`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cruxeval_tasks.cli import common
from cruxeval_tasks.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def _ks(ctx: click.Context, parameter: click.Parameter, value: str | None) -> list[int]:
    try:
        ks = sorted({int(part) for part in value.split(",")}) if value is not None else []
    except ValueError:
        ks = [0]
    if any(k < 1 for k in ks):
        raise click.BadParameter("whole numbers from 1 on are expected, with commas between them: 1,5,10")
    return ks


@click.command(epilog=common.FORMATS_HELP)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("-k", "ks", metavar="K,...", callback=_ks, help="Which pass@k; by default 1, and 5 where n >= 5.")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="PATH",
    help="Write a results file for each FILE into this folder; or, for one FILE, a path that ends in .json.",
)
@common.run_options
def score(
    files: tuple[str, ...],
    ks: list[int],
    output: str | None,
    judging: common.Judging,
    as_json: bool,
) -> None:
    """Judge completions that are there already, and print pass@k.

    Each answer is checked as in the tasks. Scores are percentages; intervals are 95 % intervals over problems.
    A FILE that cannot be scored is reported, the others are scored, and the status is 1.
    """
    import json

    from cruxeval_tasks.files import write_atomically
    from cruxeval_tasks.scoring import results, summary

    common.refuse_repeats(files)
    targets = _targets(files, output)
    summaries: list[dict[str, Any]] = []
    errors: list[str] = []
    with common.Scorer(judging) as scorer:
        for path, target in zip(files, targets, strict=True):
            try:
                scored = scorer.score(path)
                chosen = ks or scored.usual_k()
                if target is not None:
                    write_atomically(target, json.dumps(results(scored, chosen)) + "\n")
                summaries.append(summary(scored, chosen))
            except UserError as error:
                errors.append(str(error))
                targets[targets.index(target)] = None
                click.echo(f"Error: {common.visible(str(error))}", err=True)
    if as_json:
        click.echo(json.dumps({"runs": summaries, "errors": errors}, indent=2))
    elif summaries:
        _print(summaries)
        for target in filter(None, targets):
            click.echo(f"Wrote {common.visible(str(target))}")
    raise SystemExit(1 if errors else 0)


def _targets(files: Sequence[str], output: str | None) -> list[Path | None]:
    """The results file for each input file: refused before anything is judged where it would replace an input."""
    from cruxeval_tasks.files import refuse_inputs

    if output is None:
        return [None] * len(files)
    if output.endswith(".json"):
        if len(files) > 1:
            raise click.UsageError("--output names one file, but there are several to score: name a folder")
        targets = [Path(output)]
    else:
        stems = [label.replace("/", "_").removesuffix(".jsonl").removesuffix(".json") for label in common.labels(files)]
        targets = [Path(output) / f"{stem}.results.json" for stem in stems]
    for target in targets:
        refuse_inputs(target, files)
    return list(targets)


def _print(summaries: Sequence[dict[str, Any]]) -> None:
    console = common.console()
    labels = common.labels([each["file"] for each in summaries])
    if len(summaries) == 1:
        _print_one(console, labels[0], summaries[0])
    else:
        _print_rows(console, labels, summaries)
    for label, each in zip(labels, summaries, strict=True):
        for warning in each["warnings"]:
            about = "" if len(summaries) == 1 else f"{label}: "
            console.print(f"Note: {about}{common.visible(warning)}", style="yellow")
    sources = {common.visible(each["problems"]["source"]) for each in summaries}
    console.print(f"Problems: {'; '.join(sorted(sources))}.")
    console.print(_isolation(next((each["isolation"] for each in summaries if each["isolation"] is not None), None)))


def _print_one(console: Console, label: str, one: dict[str, Any]) -> None:
    console.print(f"{label}: {one['direction']} prediction, {_size(one)}\n")
    scores = common.table("", "%", "95 % interval", right=(1,))
    for name, share in [*((f"pass@{k}", e) for k, e in one["pass_at_k"].items()), ("answered", one["answered"])]:
        scores.add_row(name, common.tenths(share["value"]), f"{share['low']:.1f}–{share['high']:.1f}")
    if one["stated_pass_at_1"] is not None:
        scores.add_row("pass@1 stated in the file", common.tenths(one["stated_pass_at_1"]), "")
    console.print(scores)
    console.print()
    total = sum(one["statuses"].values())
    verdicts = common.table("verdict", "samples", "%", right=(1, 2))
    for status, count in one["statuses"].items():
        verdicts.add_row(_words(status), str(count), f"{100 * count / total:.1f}")
        if status == "raised":
            for exception, raised in one["exceptions"].items():
                verdicts.add_row(f"  {common.visible(exception)}", str(raised), f"{100 * raised / total:.1f}", style="dim")
    console.print(verdicts)
    console.print()


def _print_rows(console: Console, labels: Sequence[str], summaries: Sequence[dict[str, Any]]) -> None:
    names = list(labels)
    tables = _tables(names, summaries)
    unbound = console.options.update(width=1000)
    if any(console.measure(each, options=unbound).maximum > console.width for each in tables):
        # Numbers instead, with the names above: names in three lines each are hard to read.
        names = [str(number) for number in range(1, len(labels) + 1)]
        for number, label in zip(names, labels, strict=True):
            console.print(f"{number:>{len(names[-1])}}  {label}")
        console.print()
        tables = _tables(names, summaries)
    console.print(tables[0])
    console.print("\nVerdicts, in percent of the samples", style="bold")
    console.print(tables[1])
    exceptions: Counter[str] = Counter()
    for each in summaries:
        exceptions.update(each["exceptions"])
    if exceptions:
        most = ", ".join(f"{common.visible(name)} {count}" for name, count in exceptions.most_common(6))
        console.print(f"\nRaised, in all files: {most}{', …' if len(exceptions) > 6 else ''}")
    console.print()


def _tables(names: Sequence[str], summaries: Sequence[dict[str, Any]]) -> tuple[Table, Table]:
    """The scores and the verdicts, a row for each file."""
    from cruxeval_tasks.judging.judge import Status

    ks = sorted({int(k) for each in summaries for k in each["pass_at_k"]})
    stated = ["stated"] if any(each["stated_pass_at_1"] is not None for each in summaries) else []
    at = [f"pass@{k} (95 %)" for k in ks]
    scores = common.table("", "", "n", *at, *stated, "answered", right=(len(ks) + 3, len(ks) + 4))
    statuses = [s.value for s in Status if any(s.value in each["statuses"] for each in summaries)]
    verdicts = common.table("", *map(_words, statuses), right=range(1, len(statuses) + 1))
    for name, each in zip(names, summaries, strict=True):
        said = each["stated_pass_at_1"]
        scores.add_row(
            name,
            each["direction"],
            _numbers(each),
            *(common.interval(each["pass_at_k"].get(str(k))) for k in ks),
            *(["" if said is None else common.tenths(said)] if stated else []),
            common.tenths(each["answered"]["value"]),
        )
        counts = each["statuses"]
        shares = (100 * counts.get(status, 0) / sum(counts.values()) for status in statuses)
        verdicts.add_row(name, *(f"{share:.1f}" if share else "" for share in shares))
    return scores, verdicts


def _numbers(one: dict[str, Any]) -> str:
    problems = one["problems"]
    of = "" if problems["scored"] == problems["of"] else f" of {problems['of']}"
    return f"{problems['scored']}{of}×{common.counted(one['samples_per_problem'])}"


def _size(one: dict[str, Any]) -> str:
    problems = one["problems"]
    of = "" if problems["scored"] == problems["of"] else f" of {problems['of']}"
    samples = common.counted(one["samples_per_problem"])
    return f"{problems['scored']}{of} problems, {samples} sample{'' if samples == '1' else 's'} of each"


def _words(status: str) -> str:
    return status.replace("_", " ")


def _isolation(isolation: dict[str, Any] | None) -> str:
    if isolation is None:
        return "Nothing was executed: all answers were literals, or none."
    if isolation["missing"]:
        return f"NOT isolated in full: answers were executed without {', '.join(isolation['missing'])}."
    return "What had to be executed was isolated."
