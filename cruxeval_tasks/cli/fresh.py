"""The command `cruxeval fresh`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cruxeval_tasks.cli import common


@click.command()
@click.option(
    "--problems",
    metavar="FILE",
    help="JSONL file of the originals. Without it: what CRUXEVAL_PROBLEMS names, else the published ones from the hub.",
)
@click.option("--seed", default=0, show_default=True, help="Equal seeds give equal files, on every Python.")
@click.option(
    "--per-problem",
    default=1,
    show_default=True,
    type=click.IntRange(1, 100),
    help="How many fresh problems to make of each function.",
)
@click.option("-o", "--output", default="fresh.jsonl", show_default=True, metavar="FILE", help="Where to write them.")
@click.option("--report", "report_path", metavar="FILE", help="Write the whole report to this file, as JSON.")
@click.option(
    "--allow-unisolated",
    is_flag=True,
    help="Run functions without the isolation that this machine lacks, at your own risk.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON instead of tables.")
def fresh(
    problems: str | None,
    seed: int,
    per_problem: int,
    output: str,
    report_path: str | None,
    allow_unisolated: bool,
    as_json: bool,
) -> None:
    """Make problems that nobody has published: the same functions, other inputs.

    Inputs of the same types and about the same sizes are made from the original one; the output is what the function
    returns, run in isolation. Kept is what passes the benchmark's own filters, differs from the original in input and
    output, takes about the same path through the code and is no more trivial. Functions without a good input are
    listed, with why. Ends with status 1 where none has one.

    \b
    The tasks run on the result as on any problem set, and `compare` gives the gap:
      cruxeval fresh -o fresh.jsonl
      CRUXEVAL_PROBLEMS=fresh.jsonl cruxeval run --tasks cruxeval --log_samples ...
      cruxeval compare ORIGINAL_SAMPLES.jsonl FRESH_SAMPLES.jsonl
    """
    import json
    import os
    from contextlib import closing

    from cruxeval_tasks.errors import UserError
    from cruxeval_tasks.files import refuse_inputs, write_atomically
    from cruxeval_tasks.fresh.report import describe
    from cruxeval_tasks.fresh.selection import LIMITS, make_fresh
    from cruxeval_tasks.judging.judge import Judge, open_pool
    from cruxeval_tasks.problems import PROBLEMS_VARIABLE, load_problems

    inputs = [path for path in (problems or os.environ.get(PROBLEMS_VARIABLE),) if path]
    refuse_inputs(Path(output), inputs)
    if report_path is not None:
        refuse_inputs(Path(report_path), [*inputs, output])
    with Judge(allow_unisolated=allow_unisolated) as judge:
        originals = load_problems(problems, judge=judge)
    pool = open_pool(LIMITS, allow_unisolated=allow_unisolated)[0]
    with closing(pool), common.progress("fresh problems", len(originals)) as step:
        outcomes = make_fresh(originals.problems, seed, per_problem, pool, step)
    report = describe(outcomes, seed, per_problem)
    if report_path is not None:
        write_atomically(Path(report_path), json.dumps(report, indent=2) + "\n")
    made = [fresh.problem for outcome in outcomes for fresh in outcome.fresh]
    if made:
        rows = ({"id": p.id, "code": p.code, "input": p.input, "output": p.output} for p in made)
        write_atomically(Path(output), "".join(json.dumps(row) + "\n" for row in rows))
        if as_json:
            click.echo(json.dumps(report, indent=2))
        else:
            _print(report, originals.source, output)
    for line in _missing(report):
        click.echo(common.visible(line), err=True)
    if not made:
        raise UserError("no fresh problem was found, and no file was written")


def _print(report: dict[str, Any], source: str, output: str) -> None:
    console = common.console()
    console.print(
        f"{report['fresh_problems']} fresh problems of {report['kept']} of the {report['problems']} functions in "
        f"{common.visible(source)}: wrote {common.visible(output)}\n",
        soft_wrap=True,
    )
    sizes = common.table("", "", "mean", "p10", "median", "p90", "max", right=(2, 3, 4, 5, 6))
    for name, sides in report["distributions"].items():
        for side, spread in sides.items():
            figures = [f"{spread['mean']:.1f}", *(str(spread[key]) for key in ("p10", "median", "p90", "max"))]
            sizes.add_row(name.replace("_", " ") if side == "original" else "", side, *figures)
    console.print(sizes)
    types = report["value_types"]
    kinds = common.table("type of the value", "original", "fresh", right=(1, 2))
    for name in {**types["original"], **types["fresh"]}:
        kinds.add_row(name, str(types["original"].get(name, 0)), str(types["fresh"].get(name, 0)))
    console.print()
    console.print(kinds)
    overlap = report["overlap"]
    console.print(
        f"\nOverlap of executed lines with the original: mean {overlap['mean']:.3f}, smallest "
        f"{overlap['smallest']:.2f}, the same lines in {overlap['same_lines']} of {report['fresh_problems']}.",
        soft_wrap=True,
    )


def _missing(report: dict[str, Any]) -> list[str]:
    missing = report["not_found"]
    if not missing:
        return []
    head = f"\nFewer than {report['per_problem']} found for {len(missing)} of {report['problems']} functions:"
    return [head, *(f"  {each['id']}: {each['found']} found; {each['why']}" for each in missing)]
