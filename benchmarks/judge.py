"""Time the judge beside the authors' scorer, the host's own CRUXEval scoring and bare `exec`, in one run.

    python benchmarks/judge.py --data FOLDER [--authors CHECKOUT] [--host] [--runs 3] [--problems 800]

FOLDER holds `cruxeval/cruxeval.jsonl` and `official_results/` (from github.com/crux-eval/crux-eval.github.io); CHECKOUT
is a checkout of github.com/facebookresearch/cruxeval. Runs alternate between the scorers, so that a change in the
machine's load meets all of them; medians are printed. With --problems N every scorer judges the first N problems only.
Answers of the published models are executed unconfined by all scorers but ours: this belongs on a machine that may be
harmed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path

from cruxeval_tasks.judging import grammar
from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.judge import Check, Judge, Limits
from cruxeval_tasks.judging.pool import Pool

OUTPUT = "codellama-7b_temp0.2_output.json"
INPUT = "codellama-7b_temp0.2_input.json"

Problem = dict[str, str]
Answers = dict[str, list[str]]


def machine() -> str:
    """The name of the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def ours(problems: Sequence[Problem], answers: Answers, direction: str, cores: Sequence[int]) -> float:
    """Seconds from the first answer to the last verdict, start of the workers included."""
    grammar.read_code.cache_clear()
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        start = time.perf_counter()
        with Judge(workers=len(cores)) as judge:
            judge.judge(
                Check("input" if direction == "input" else "output", p["code"], p["output"], answer)
                for p in problems
                for answer in answers[p["id"]]
            )
        return time.perf_counter() - start
    finally:
        os.sched_setaffinity(0, before)


BARE = """
import json, sys, time
programs = json.load(sys.stdin)
start = time.perf_counter()
for program in programs:
    try:
        exec(program, {})
    except BaseException:
        pass
print(time.perf_counter() - start, file=sys.stderr)
"""

HOST = """
import json, sys, time
from lm_eval.tasks.cruxeval import utils
docs, resps, direction = json.load(sys.stdin)
build = utils.build_predictions_input if direction == "input" else utils.build_predictions_output
start = time.perf_counter()
for predictions in build(resps, docs):
    utils.pass_at_k([""], [predictions], k=[1])
print(time.perf_counter() - start, file=sys.stderr)
"""


def in_process(program: str, data: object) -> float:
    """Seconds that `program` reports of itself, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        input=json.dumps(data),
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    return float(done.stderr.split()[-1])


def bare_exec(problems: Sequence[Problem], answers: Answers) -> float:
    return in_process(
        BARE, [f"{p['code']}\nassert {p['output']} == {answer}" for p in problems for answer in answers[p["id"]]]
    )


def host(problems: Sequence[Problem], answers: Answers, direction: str) -> float:
    def completion(p: Problem, answer: str) -> str:
        return f"assert {answer} == {p['output']}" if direction == "input" else f"assert f({p['input']}) == {answer}"

    return in_process(HOST, [problems, [[completion(p, a) for a in answers[p["id"]]] for p in problems], direction])


def authors(problems: Sequence[Problem], answers: Answers, direction: str, checkout: Path) -> float:
    """Seconds of the authors' command from start to end, over as many processes as there are cores."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "cruxeval")
        (copy / "data").mkdir(parents=True)
        # Their script reads the problems from beside itself and numbers them from 0.
        renamed = [{**p, "id": f"sample_{i}"} for i, p in enumerate(problems)]
        (copy / "data" / "cruxeval.jsonl").write_text("\n".join(map(json.dumps, renamed)))
        generations = copy / f"{direction}_generations.json"
        generations.write_text(json.dumps({f"sample_{i}": answers[p["id"]] for i, p in enumerate(problems)}))
        for file in ("evaluate_generations.py", "utils_general.py", "utils_execute.py"):
            target = copy / "evaluation" / file
            target.parent.mkdir(exist_ok=True)
            target.write_text((checkout / "evaluation" / file).read_text())
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "evaluate_generations.py", "--generations_path", str(generations)],
            cwd=copy / "evaluation",
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - start


def start() -> tuple[float, int]:
    """Seconds until a worker is ready, and its resident memory in KiB."""
    pool = Pool(1, Limits(), LAYERS)
    begin = time.perf_counter()
    pool.start()
    seconds = time.perf_counter() - begin
    (worker,) = pool._places[0].values()
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    pool.close()
    return seconds, int(status.partition("VmRSS:")[2].split()[0])


def measure(runs: int, scorers: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in scorers}
    for _ in range(runs):
        for name, scorer in scorers.items():
            times[name].append(scorer())
            print(f"  {name}: {times[name][-1]:.2f} s", file=sys.stderr, flush=True)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--authors", type=Path)
    parser.add_argument("--host", action="store_true", help="the host's scoring too: some 200 ms an answer")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--problems", type=int, default=800)
    options = parser.parse_args()
    lines = (options.data / "cruxeval" / "cruxeval.jsonl").read_text().splitlines()
    problems = [json.loads(line) for line in lines][: options.problems]
    cores = sorted(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    print(
        f"{date.today()}, {len(cores)} cores ({machine()}), {memory:.0f} GiB, Python {platform.python_version()}, "
        f"medians of {options.runs} runs\n"
    )
    starts = [start() for _ in range(options.runs)]
    print(
        f"A worker is ready after {statistics.median(seconds for seconds, _ in starts):.2f} s and takes "
        f"{statistics.median(kib for _, kib in starts) / 1024:.0f} MiB.\n"
    )
    for name, direction in ((OUTPUT, "output"), (INPUT, "input")):
        answers: Answers = json.loads((options.data / "official_results" / name).read_text())["raw_generations"]
        scorers: dict[str, Callable[[], float]] = {}
        for count in sorted({1, len(cores)}):
            scorers[f"this judge, {count} core{'s' if count > 1 else ''}"] = partial(
                ours, problems, answers, direction, cores[:count]
            )
        if direction == "output":  # inputs that never end would never end there
            scorers["bare exec, 1 process"] = partial(bare_exec, problems, answers)
        if options.authors:
            scorers[f"the authors' scorer, {len(cores)} cores"] = partial(
                authors, problems, answers, direction, options.authors
            )
        if options.host:
            scorers["the host's scoring, 1 process"] = partial(host, problems, answers, direction)
        medians = {scorer: statistics.median(t) for scorer, t in measure(options.runs, scorers).items()}
        base = medians[f"this judge, {len(cores)} cores" if len(cores) > 1 else "this judge, 1 core"]
        count = sum(len(answers[p["id"]]) for p in problems)
        print(f"{name}, {len(problems)} problems, {count} answers\n")
        print("| scorer | seconds | per answer, ms | times ours |\n|---|---|---|---|")
        for scorer, seconds in medians.items():
            print(f"| {scorer} | {seconds:.2f} | {1000 * seconds / count:.3f} | {seconds / base:.1f} |")
        print(flush=True)


if __name__ == "__main__":
    main()
