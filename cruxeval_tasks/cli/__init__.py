"""The command `cruxeval`.

One module for each group of commands. The modules parse arguments and print; what a command does lies in the
rest of the package and is imported when the command runs, so that `--help` and shell completion stay fast.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

import click

import cruxeval_tasks
from cruxeval_tasks.cli import compare, doctor, fresh, host, leaderboard, report, score, show
from cruxeval_tasks.errors import UserError

_EPILOG = """\b
Exit status: 0 done, 1 failed or a negative result, 2 wrong usage.

\b
Shell completion (add the line to your shell's start file):
  bash  eval "$(_CRUXEVAL_COMPLETE=bash_source cruxeval)"
  zsh   eval "$(_CRUXEVAL_COMPLETE=zsh_source cruxeval)"
  fish  _CRUXEVAL_COMPLETE=fish_source cruxeval | source
"""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Commands(click.Group):
    """A group that prints a user's mistake as one error line and ends with status 1."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        # Under a locale that lacks a character, it is shown as an escape, like what is unsafe in a model's text.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            # What is still in the buffer would fail once more, with a traceback, when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
            sys.exit(1)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UserError as error:
            raise click.ClickException(str(error)) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        # In the order in which a person needs them, not by name.
        return list(self.commands)


@click.group(cls=_Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(cruxeval_tasks.__version__, prog_name="cruxeval")
def main() -> None:
    """CRUXEval for lm-evaluation-harness: run its tasks in the harness; score, compare and look at completions."""


for command in (
    host.register,
    host.unregister,
    host.run,
    host.path,
    score.score,
    compare.compare,
    show.show,
    report.report,
    leaderboard.leaderboard,
    fresh.fresh,
    doctor.doctor,
):
    main.add_command(command)
