"""A program for `accelerate launch`: runs a task on each rank for its share of the problems; rank 0 writes the results.

Arguments: the task, the number of problems, the file to write. The model answers rightly and wrongly by turns.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from driver import gold, question, run
from scripted import Reply, Scripted

import cruxeval_tasks
from cruxeval_tasks.problems import smoke_problems


class Ranked(Scripted):
    """The scripted model, with what the host asks of a model on several ranks."""

    device = torch.device("cpu")

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply)
        self.accelerator = Accelerator(cpu=True)
        self._rank = self.accelerator.process_index
        self._world_size = self.accelerator.num_processes

    def all_gather(self, tensor: torch.Tensor) -> torch.Tensor:
        return self.accelerator.gather(tensor)

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any] | None:
        gathered = [None] * self.world_size if self.rank == dst else None
        torch.distributed.gather_object(obj, gathered, dst=dst)
        return gathered

    def barrier(self) -> None:
        self.accelerator.wait_for_everyone()


def main(task: str, limit: str, out: str) -> None:
    right = {question(p, "o"): gold(p) for p in smoke_problems()}
    model = Ranked(lambda asked, times: right[asked] if times % 2 == 0 else f"assert f() == 'wrong {times}'")
    problems = Path(cruxeval_tasks.__file__).parent / "smoke.jsonl"
    results = run(task, model, metadata={"problems": str(problems)}, limit=int(limit))
    if model.rank == 0:
        kept = {"results": results["results"][task], "samples": results["samples"][task], "ranks": model.world_size}
        Path(out).write_text(json.dumps(kept, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
