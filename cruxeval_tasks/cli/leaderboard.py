"""The command `cruxeval leaderboard`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cruxeval_tasks.cli import common
from cruxeval_tasks.errors import UserError

if TYPE_CHECKING:
    from cruxeval_tasks.direction import Direction


@click.command(epilog=common.FORMATS_HELP, short_help="Show the published scores, and your runs among them.")
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE]...")
@common.run_options
def leaderboard(
    files: tuple[str, ...],
    judging: common.Judging,
    as_json: bool,
) -> None:
    """Show the published scores, with your own runs placed among them.

    The published figures were sampled: pass@1 at temperature 0.2, pass@5 at 0.8, from the authors' prompts. Scores
    with other prompts or greedy decoding are near to them but not the same measurement.

    \b
    They are those of
      https://crux-eval.github.io/leaderboard.html
    """
    import json

    from cruxeval_tasks.leaderboard import SOURCE
    from cruxeval_tasks.problems import PUBLISHED_DIGEST
    from cruxeval_tasks.scoring import summary

    common.refuse_repeats(files)
    runs: list[dict[str, Any]] = []
    with common.Scorer(judging) as scorer:
        for path in files:
            scored = scorer.score(path)
            if scored.matched.digest != PUBLISHED_DIGEST:
                raise UserError(
                    f"{path}: the published scores are for the 800 published problems; this run is on others, or on a "
                    "part of them (then name the whole set with --problems, and say --partial)"
                )
            runs.append(summary(scored, scored.usual_k()))
    directions: list[Direction] = ["output", "input"]
    if runs or judging.direction:
        directions = [d for d in directions if d == judging.direction or any(run["direction"] == d for run in runs)]
    boards = {d: _rows(d, [run for run in runs if run["direction"] == d]) for d in directions}
    if as_json:
        click.echo(json.dumps({"source": SOURCE, **boards}, indent=2))
    else:
        _print(boards, runs)


def _rows(direction: Direction, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The published rows and the user's, best pass@1 first."""
    from dataclasses import asdict

    from cruxeval_tasks.leaderboard import entries

    rows = [{**asdict(entry), "run": None} for entry in entries(direction)]
    for label, run in zip(common.labels([run["file"] for run in runs]), runs, strict=True):
        at = run["pass_at_k"]
        rows.append(
            {
                "model": label,
                "pass_1": at["1"]["value"],
                "pass_1_published": None,
                "pass_5": at["5"]["value"] if "5" in at else None,
                "link": None,
                "run": run,
            }
        )
    return sorted(rows, key=lambda row: -row["pass_1"])


def _print(boards: dict[Direction, list[dict[str, Any]]], runs: list[dict[str, Any]]) -> None:
    from cruxeval_tasks.leaderboard import SOURCE

    console = common.console()
    inflated = []
    for direction, rows in boards.items():
        console.print(f"{direction.capitalize()} prediction", style="bold")
        board = common.table("", "", "pass@1 %", "95 % interval", "pass@5 %", right=(0, 2, 4))
        for rank, row in enumerate(rows, start=1):
            mark = ""
            if row["pass_1_published"] not in (None, row["pass_1"]):
                mark = " *"
                inflated.append(f"{row['model']}, {direction}: {row['pass_1_published']:.1f}")
            run = row["run"]
            at = run["pass_at_k"]["1"] if run else None
            board.add_row(
                str(rank),
                ("▶ " if run else "  ") + row["model"] + mark,
                common.tenths(row["pass_1"]),
                f"{at['low']:.1f}–{at['high']:.1f}" if at else "",
                "" if row["pass_5"] is None else f"{row['pass_5']:.1f}",
                style="bold green" if run else None,
            )
        console.print(board)
        console.print()
    console.print(f"Published figures: {SOURCE}", soft_wrap=True)
    console.print("They were sampled at temperature 0.2 for pass@1 and 0.8 for pass@5, with the authors' prompts.")
    if inflated:
        console.print(
            f"* Published higher ({'; '.join(inflated)}), since answers that the authors' filter rejects were left out of "
            "the denominator. Given here with all samples in it."
        )
    for run in runs:
        for warning in run["warnings"]:
            console.print(f"Note: {common.visible(run['file'])}: {common.visible(warning)}", style="yellow")
