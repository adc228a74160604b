"""Running the host's own command in this process, with our tasks and model types known to it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cruxeval_tasks
from cruxeval_tasks import models
from cruxeval_tasks.errors import UserError

_OF_MODELS = ("torch", "transformers", "accelerate")  # what the host's own requirements leave to the user


def run_host(arguments: Sequence[str], *, include: bool) -> None:
    """Run the host's command with these arguments. May end in `SystemExit` with the host's own exit status.

    Args:
        arguments: What would follow `lm_eval` on the command line.
        include: Whether to add our tasks to those that the host finds. False where they are registered: a
            second path to the same tasks makes it warn about each of them.

    Raises:
        UserError: What local models need is not installed.
    """
    from lm_eval.__main__ import cli_evaluate

    models.register()
    if include:
        _include(cruxeval_tasks.TASK_CONFIGS)
    sys.argv = ["lm_eval", *arguments]
    try:
        cli_evaluate()
    except ModuleNotFoundError as error:
        if error.name not in _OF_MODELS:
            raise
        raise UserError(
            f"the model needs {error.name}, which is not installed: pip install {' '.join(_OF_MODELS)}"
        ) from error


def _include(folder: str) -> None:
    """Make every `TaskManager` of this process read `folder` too, between the host's tasks and the user's.

    The host's command line takes one `--include_path`, which the user may need; only its Python side takes
    several. Every subcommand (`run`, `ls`, `validate`) goes through this class.
    """
    from lm_eval.tasks import TaskManager

    original = TaskManager.__init__

    @functools.wraps(original)
    def init(self: Any, verbosity: Any = None, include_path: Any = None, *args: Any, **kwargs: Any) -> None:
        users = [include_path] if isinstance(include_path, (str, Path)) else list(include_path or ())
        original(self, verbosity, [folder, *users], *args, **kwargs)

    TaskManager.__init__ = init
