"""What the commands that read completions share: options, terminal text, progress."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from cruxeval_tasks.errors import UserError
from cruxeval_tasks.terminal import visible as visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from cruxeval_tasks.direction import Direction
    from cruxeval_tasks.scoring import Score

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS_HELP = """\b
A FILE is recognised by its content:
  samples_*.jsonl   the host's --log_samples, of this package's tasks or the
                    host's own cruxeval_input and cruxeval_output: the answers
                    are found anew and judged anew
  JSONL rows        {"id": ..., "completion": ...} or {"id": ...,
                    "completions": [...]}
  generations.json  the authors' files, from id to a list of answers, and
  scored files      the results files of this command and of the authors':
                    their answers are judged as they stand
"""


@dataclass(frozen=True)
class Judging:
    """How to judge runs, by the options of that name."""

    direction: Direction | None
    problems: str | None
    partial: bool
    allow_unisolated: bool


def run_options(command: Command) -> Command:
    """Add the options that say how to judge a run, as `judging`, and how to print what comes of it, as `as_json`."""
    return judging_options(click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")(command))


def judging_options(command: Command) -> Command:
    """Add the options that say how to judge a run, and hand them over as `judging`."""

    @functools.wraps(command)
    def with_judging(
        *args: Any, direction: Direction | None, problems: str | None, partial: bool, allow_unisolated: bool, **others: Any
    ) -> Any:
        return command(*args, judging=Judging(direction, problems, partial, allow_unisolated), **others)

    wrapped = cast(Command, with_judging)
    for option in (
        click.option(
            "--allow-unisolated",
            is_flag=True,
            help="Run answers without the isolation that this machine lacks, at your own risk.",
        ),
        click.option("--partial", is_flag=True, help="Allow a file that lacks problems of its set."),
        click.option(
            "--problems",
            type=click.Path(),
            metavar="FILE",
            help="JSONL file of the problems. Without it: those in the file, else CRUXEVAL_PROBLEMS, else the hub.",
        ),
        click.option(
            "--direction",
            type=click.Choice(["input", "output"]),
            help="What was predicted, where neither file nor file name says it.",
        ),
    ):
        wrapped = option(wrapped)
    return wrapped


def refuse_repeats(files: Sequence[str]) -> None:
    """Raise `click.UsageError` where a file is named twice, whatever the two are called."""
    if len({os.path.realpath(path) for path in files}) < len(files):
        raise click.UsageError("the same file is named twice")


class Scorer:
    """Reads and judges files with one judge and one problem set for all of them."""

    def __init__(self, judging: Judging) -> None:
        from cruxeval_tasks.judging.judge import Judge
        from cruxeval_tasks.matching import Matcher

        self._judge = Judge(allow_unisolated=judging.allow_unisolated)
        self._matcher = Matcher(self._judge, judging.problems, partial=judging.partial)
        self._direction = judging.direction

    def score(self, path: str) -> Score:
        """Read and judge one file, with a progress bar where somebody watches.

        Raises:
            UserError: as `read_run`, `Matcher.match` and `score_run` do.
        """
        from cruxeval_tasks.completions import read_run
        from cruxeval_tasks.scoring import score_run

        run = read_run(path)
        matched = self._matcher.match(run)
        with progress(Path(path).name, len(matched.problems)) as step:
            return score_run(run, matched, self._judge, self._direction, step)

    def one(self, path: str, key: str) -> Score:
        """Read a file and judge one problem of it.

        Raises:
            UserError: as `score` does, and where the file has no such problem.
        """
        from cruxeval_tasks.completions import read_run
        from cruxeval_tasks.scoring import score_run

        run = read_run(path)
        matched = self._matcher.match(run)
        found = [p for p in matched.problems if p.id == key or (key.isdigit() and p.id.endswith(f"_{key}"))]
        if not found:
            first, last = matched.problems[0].id, matched.problems[-1].id
            raise UserError(f"{path}: no problem {key!r:.60}; those in it go from {first} to {last}")
        return score_run(run, replace(matched, problems=tuple(found[:1])), self._judge, self._direction)

    def __enter__(self) -> Scorer:
        return self

    def __exit__(self, *exc: object) -> None:
        self._judge.close()


# --- terminal ---


def console() -> Console:
    """The console for standard output, without markup: what is printed may come from a model or a file name."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False)


def table(*columns: str, right: Sequence[int] = ()) -> Table:
    """An empty table in the style of this command; `right` has the numbers of columns that are aligned right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for number, name in enumerate(columns):
        made.add_column(name, justify="right" if number in right else "left", overflow="fold")
    return made


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar on standard error while it is a terminal; give None where it is none."""
    import sys

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(what), total=total)
        yield lambda done: bar.advance(task, done)


def interval(percent: Mapping[str, float] | None) -> str:
    """A value with its interval, both in percent."""
    return "" if percent is None else f"{tenths(percent['value'])} ({tenths(percent['low'])}–{tenths(percent['high'])})"


def tenths(percent: float) -> str:
    """A percentage with one decimal. 35.94999999999998, which a sum of floats makes of 35.95, is written as 35.95 is."""
    return f"{round(percent, 6):.1f}"


def counted(span: Mapping[str, int]) -> str:
    return str(span["min"]) if span["min"] == span["max"] else f"{span['min']}–{span['max']}"


def labels(paths: Sequence[str]) -> list[str]:
    """Return the shortest ends of paths that tell them apart; `…/model/generations.json` has a name that many have."""
    parts = [Path(os.path.abspath(path)).parts for path in paths]
    names = []
    for own in parts:
        others = [other for other in parts if other != own]
        length = 1
        while length < len(own) and any(other[-length:] == own[-length:] for other in others):
            length += 1
        names.append(visible("/".join(own[-length:])))
    return names
