"""The command `cruxeval report`."""

from __future__ import annotations

from pathlib import Path

import click

from cruxeval_tasks.cli import common
from cruxeval_tasks.errors import UserError


@click.command(epilog=common.FORMATS_HELP)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-o", "--output", metavar="PATH", default="report.html", show_default=True, help="Where to write the page."
)
@common.judging_options
def report(
    files: tuple[str, ...],
    output: str,
    judging: common.Judging,
) -> None:
    """Write a page about runs that is looked at in a browser.

    The page is one file that needs no network: scores among the published models, how the failures break down,
    what makes problems hard, and every problem with its completions, answers and verdicts. Several runs are
    compared. A link to one problem ends in its id: report.html#sample_17.
    """
    from cruxeval_tasks.files import refuse_inputs, write_atomically

    common.refuse_repeats(files)
    _need_libraries()
    target = Path(output)
    refuse_inputs(target, files)
    from cruxeval_tasks.judging.pool import IsolationError
    from cruxeval_tasks.report.data import NamedRun, collect
    from cruxeval_tasks.report.difficulty import executed_lines
    from cruxeval_tasks.report.page import render

    names = [label.removesuffix(".jsonl").removesuffix(".json") for label in common.labels(files)]
    with common.Scorer(judging) as scorer:
        runs = [NamedRun(name, scorer.score(path)) for name, path in zip(names, files, strict=True)]
    found = collect(runs)
    with common.progress("lines that problems execute", len(found.problems)) as step:
        try:
            found = found.with_executed(
                executed_lines(found.problems, allow_unisolated=judging.allow_unisolated, progress=step), ""
            )
        except IsolationError as error:  # the rest of the page stands without it
            found = found.with_executed({}, str(error))
    with common.progress("page", 1):
        text = render(found)
    write_atomically(target, text)
    click.echo(f"Wrote {common.visible(str(target))} ({len(text.encode()) / 1e6:.1f} MB)")


def _need_libraries() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("jinja2", "matplotlib", "pygments") if find_spec(name) is None]
    if missing:
        raise UserError(
            f"the report needs {' and '.join(missing)}, which is not installed: pip install {' '.join(missing)}"
        )
