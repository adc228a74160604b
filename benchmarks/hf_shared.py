"""Time `hf-shared` beside the host's `hf`, and compare their greedy texts.

Each run is a process of its own that loads the model, builds the requests of a task as the host does, and times the
generation alone: no loading, no scoring. Runs alternate; medians are printed. CPU time stands beside the time on the
clock, because on a machine with other work only the former compares.

`hf` handles one batch after the other, so the time of every n-th batch, counted n times, can stand for all of them: a
batch size of `10/4` runs every fourth batch of ten. `hf-shared` always runs all.

Usage: CRUXEVAL_PROBLEMS=cruxeval.jsonl python benchmarks/hf_shared.py speed --model FOLDER
       CRUXEVAL_PROBLEMS=cruxeval.jsonl python benchmarks/hf_shared.py greedy --model FOLDER
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from datetime import date
from typing import Any

KINDS = ("hf", "hf-shared")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    speed_command = commands.add_parser("speed", help="time both")
    speed_command.add_argument("--tasks", nargs="+", default=["cruxeval_o_n10", "cruxeval_o"])
    speed_command.add_argument("--problems", type=int, default=40)
    speed_command.add_argument("--rounds", type=int, default=3)
    speed_command.add_argument("--hf", nargs="+", default=["1", "10"], metavar="SIZE[/N]", help="batch sizes of hf")
    speed_command.add_argument("--hf-shared", nargs="+", default=["1"], metavar="SIZE", help="those of hf-shared")
    greedy_command = commands.add_parser("greedy", help="compare greedy texts")
    greedy_command.add_argument("--tasks", nargs="+", default=["cruxeval_o", "cruxeval_i"])
    greedy_command.add_argument("--problems", type=int, default=100)
    greedy_command.add_argument("--batch-sizes", type=int, nargs=2, default=[1, 1], help="of hf and of hf-shared")
    for command in (speed_command, greedy_command):
        command.add_argument("--model", required=True)
        command.add_argument("--device", default="cpu")
        command.add_argument("--dtype", default="float32")
        command.add_argument("--threads", type=int, default=os.cpu_count())
        command.add_argument("--max-gen-toks", type=int)
    run_command = commands.add_parser("run")  # one run, for the two above
    run_command.add_argument("settings", type=json.loads)
    arguments = parser.parse_args()
    {"speed": speed, "greedy": greedy, "run": lambda given: run(**given.settings)}[arguments.command](arguments)


def speed(arguments: argparse.Namespace) -> None:
    print(f"{date.today()}, {arguments.threads} of {os.cpu_count()} cores, {arguments.device}, {arguments.dtype}\n")
    for task in arguments.tasks:
        kinds = [(kind, size) for kind in KINDS for size in getattr(arguments, kind.replace("-", "_"))]
        results: dict[tuple[str, str], list[dict[str, Any]]] = {kind: [] for kind in kinds}
        for _ in range(arguments.rounds):
            for kind, size in kinds:
                batch_size, _, every = size.partition("/")
                result = started(arguments, kind=kind, task=task, batch_size=int(batch_size), every=int(every or 1))
                results[kind, size].append(result)
                print(task, kind, size, {name: round(result[name], 1) for name in ("wall", "cpu", "peak")}, flush=True)
        print(f"\n{task}, {arguments.problems} problems, {arguments.threads} threads, medians of {arguments.rounds}\n")
        print("| model | batch size | seconds | CPU seconds | peak MB |\n|---|---|---|---|---|")
        for (kind, size), runs in results.items():
            wall, cpu, peak = (statistics.median(run[name] for run in runs) for name in ("wall", "cpu", "peak"))
            print(f"| {kind} | {size} | {wall:.1f} | {cpu:.1f} | {peak:.0f} |")
        print(flush=True)


def greedy(arguments: argparse.Namespace) -> None:
    """Ends with status 1 where a text differs."""
    different = 0
    for task in arguments.tasks:
        for chat in (False, True):
            texts = [
                started(arguments, kind=kind, task=task, batch_size=batch_size, chat=chat, every=1)["texts"]
                for kind, batch_size in zip(KINDS, arguments.batch_sizes, strict=True)
            ]
            unequal = [index for index, (one, other) in enumerate(zip(*texts, strict=True)) if one != other]
            different += len(unequal)
            distinct = len(set(texts[0]))
            print(f"{task}, {'chat' if chat else 'base'} prompt: {len(texts[0]) - len(unequal)} of {len(texts[0])}"
                  f" greedy texts are equal ({distinct} distinct)", flush=True)  # fmt: skip
            for index in unequal:
                print(f"  problem {index}:\n    hf        {texts[0][index]!r}\n    hf-shared {texts[1][index]!r}")
    sys.exit(1 if different else 0)


def started(arguments: argparse.Namespace, **settings: Any) -> dict[str, Any]:
    settings |= {
        name: getattr(arguments, name) for name in ("model", "device", "dtype", "problems", "threads", "max_gen_toks")
    }
    environment = {**os.environ, "OMP_NUM_THREADS": str(arguments.threads), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, __file__, "run", json.dumps(settings)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: a run failed:\n{done.stderr[-4000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def run(
    model: str, kind: str, task: str, problems: int, batch_size: int, device: str, dtype: str, threads: int,
    max_gen_toks: int | None, every: int, chat: bool = False,
) -> None:  # fmt: skip
    import lm_eval
    import torch
    from lm_eval.api.registry import get_model
    from lm_eval.tasks import TaskManager

    import cruxeval_tasks
    from cruxeval_tasks import models

    torch.set_num_threads(threads)
    models.register()
    lm = get_model(kind)(pretrained=model, device=device, dtype=dtype, batch_size=batch_size)
    generate = lm.generate_until
    result: dict[str, Any] = {}

    def timed(requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        numbers = list(range(len(requests)))
        if every > 1:  # as hf does it: the longest first, so that a batch has prompts of about one length
            numbers.sort(key=lambda number: (-len(requests[number].args[0]), requests[number].args[0]))
            batches = [numbers[start : start + batch_size] for start in range(0, len(numbers), batch_size)]
            numbers = [number for batch in batches[::every] for number in batch]
        chosen = [requests[number] for number in numbers]
        wall, cpu = time.perf_counter(), time.process_time()
        texts = generate(chosen, disable_tqdm=True)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        share = len(requests) / len(chosen)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if device.startswith("cuda"):
            peak = torch.cuda.max_memory_allocated() / 2**20
        result.update(wall=wall * share, cpu=cpu * share, peak=peak, texts=texts)
        made = dict(zip(numbers, texts, strict=True))
        return [made.get(number, "") for number in range(len(requests))]

    lm.generate_until = timed
    lm_eval.simple_evaluate(
        lm,
        tasks=[task],
        limit=problems,
        task_manager=TaskManager(include_path=cruxeval_tasks.TASK_CONFIGS),
        predict_only=True,
        bootstrap_iters=0,
        apply_chat_template=chat,
        gen_kwargs={"max_gen_toks": max_gen_toks} if max_gen_toks else None,
    )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
