"""The host's command line with the model `scripted`: `--model_args script=FILE`, JSON of question to completion.

Run as a program, because the host of these versions has no other way to be given a model from outside. The host reads
the thousands of files of its own tasks at each start; it is told not to here, as that takes most of a minute.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.registry import register_model
from lm_eval.tasks import TaskManager
from scripted import Scripted


@register_model("scripted")
class ScriptedFile(Scripted):
    """Replays a file; writes what it was asked beside it, to `<script>.asked`, a JSON line for each request."""

    def __init__(self, script: str, **_: Any) -> None:
        replies = json.loads(Path(script).read_text())
        super().__init__(lambda question, _: replies[question])
        self._log = Path(script + ".asked")

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        texts = super().generate_until(requests, disable_tqdm)
        self._log.write_text("".join(json.dumps(request) + "\n" for request in self.requests))
        return texts


if __name__ == "__main__":
    TaskManager.__init__ = functools.partialmethod(TaskManager.__init__, include_defaults=False)  # type: ignore[method-assign]
    cli_evaluate()
