"""The command `cruxeval fresh`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command()
@click.option(
    "--problems",
    metavar="PATH",
    help="JSONL file of the originals; else CRUXEVAL_PROBLEMS, else the published problems from the hub.",
)
@click.option("--seed", default=0, show_default=True, help="Equal seeds give equal files, on every Python.")
@click.option(
    "--per-problem", default=1, show_default=True, type=click.IntRange(min=1), help="Fresh problems of each function."
)
@click.option(
    "-o", "--output", default="fresh.jsonl", show_default=True, type=click.Path(dir_okay=False, path_type=Path),
    help="File to write the fresh problems to.",
)  # fmt: skip
@click.option(
    "--report", "report_path", type=click.Path(dir_okay=False, path_type=Path),
    help="File to write the full report to, as JSON.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the full report as JSON instead of tables.")
@click.option(
    "--allow-unisolated", is_flag=True,
    help="Go on without the layers of isolation that this machine does not offer.",
)  # fmt: skip
def fresh(
    problems: str | None,
    seed: int,
    per_problem: int,
    output: Path,
    report_path: Path | None,
    as_json: bool,
    allow_unisolated: bool,
) -> None:
    """Make problems that nobody has published: the same functions, with other inputs.

    For each problem, inputs of the same types and about the same sizes are made from the original one; the output is
    what the function returns, run in isolation. Kept is what meets the benchmark's own filters, differs from the
    original in input and output, takes about the same path through the code and is not more trivial. Functions
    without a good input are listed, with why.

    \b
    The tasks run on the result as on any problem set:
      cruxeval fresh -o fresh.jsonl
      CRUXEVAL_PROBLEMS=fresh.jsonl cruxeval run --tasks cruxeval ...

    Ends with status 1 where no fresh problem was found at all.
    """
    import json
    import os

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from cruxeval_tasks.errors import UserError
    from cruxeval_tasks.fresh.report import describe
    from cruxeval_tasks.fresh.selection import LIMITS, make_fresh
    from cruxeval_tasks.judging.judge import Judge, open_pool
    from cruxeval_tasks.problems import ProblemSetError, load_problems

    for path in (output, report_path):
        if path is not None and not path.parent.is_dir():
            raise UserError(f"{path} cannot be written: there is no folder {path.parent}")
    try:
        with Judge(allow_unisolated=allow_unisolated) as judge:
            originals = load_problems(problems, judge=judge)
    except ProblemSetError as error:
        raise UserError(str(error)) from error

    errors = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True) as progress:
        task = progress.add_task("problems settled", total=len(originals))
        outcomes = make_fresh(
            originals.problems,
            seed,
            per_problem,
            lambda hash_seed: open_pool(LIMITS, allow_unisolated=allow_unisolated, hash_seed=hash_seed)[0],
            lambda settled: progress.update(task, completed=settled),
        )

    report = describe(outcomes, seed, per_problem)
    rows = [
        {"id": p.id, "code": p.code, "input": p.input, "output": p.output}
        for outcome in outcomes
        for p in (fresh.problem for fresh in outcome.fresh)
    ]
    if not rows:
        _list_missing(errors, report)
        raise UserError("no fresh problem was found, and no file was written")
    try:
        unfinished = output.with_name(output.name + ".unfinished")
        unfinished.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
        os.replace(unfinished, output)
        if report_path is not None:
            report_path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{error.filename} cannot be written: {error.strerror}") from error
    if as_json:
        click.echo(json.dumps(report, indent=2))
    else:
        _print_tables(Console(), report, originals.source, output)
    _list_missing(errors, report)


def _print_tables(console: Any, report: dict[str, Any], source: str, output: Path) -> None:
    from rich.markup import escape
    from rich.table import Table

    console.print(
        f"{report['fresh_problems']} fresh problems from {report['kept']} of the {report['problems']} problems of "
        f"{escape(source)}, in {escape(str(output))}\n",
        soft_wrap=True,
    )
    sizes = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "of", "mean", "p10", "median", "p90", "max"):
        sizes.add_column(heading, justify="left" if heading in ("", "of") else "right")
    for name, sides in report["distributions"].items():
        for side, spread in sides.items():
            figures = [f"{spread['mean']:.1f}", *(str(spread[key]) for key in ("p10", "median", "p90", "max"))]
            sizes.add_row(name.replace("_", " ") if side == "original" else "", side, *figures)
    console.print(sizes)

    types = report["value_types"]
    kinds = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    kinds.add_column("type of the value")
    names = [*types["original"], *(name for name in types["fresh"] if name not in types["original"])]
    for name in names:
        kinds.add_column(name, justify="right")
    for side, counts in types.items():
        kinds.add_row(side, *(f"{counts.get(name, 0)}" for name in names))
    console.print()
    console.print(kinds)

    overlap = report["overlap"]
    console.print(
        f"\nOverlap of executed lines with the original: mean {overlap['mean']:.3f}, smallest "
        f"{overlap['smallest']:.2f}, the same lines in {overlap['same_lines']} of {report['fresh_problems']}",
        soft_wrap=True,
    )


def _list_missing(console: Any, report: dict[str, Any]) -> None:
    if not report["not_found"]:
        return
    console.print(f"\nFewer than {report['per_problem']} found for {len(report['not_found'])} problems:")
    for missing in report["not_found"]:
        line = f"  {missing['id']}: {missing['found']} found; {missing['why']}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)
