"""Score the same answers with the host's own CRUXEval tasks, by the authors' verdicts, and here.

Each answer is put into a completion in the form that the prompts ask for, `assert f(...) == ...`, and scored as a task of
the host's (`cruxeval_output`, `cruxeval_input`) scores it: its filter, then its pass@1. One sample of each problem, since
the host takes 0.2 s for each. The host runs answers unconfined: this belongs on a machine that may be harmed, as a user
that owns nothing.

    python scripts/host_tasks.py --results official_results --problems cruxeval.jsonl --write docs/host-tasks.md
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cruxeval_tasks.answers import FINDERS
from cruxeval_tasks.direction import Direction
from cruxeval_tasks.judging.judge import Check, Judge
from cruxeval_tasks.problems import Problem, load_problems

FILES = ("codellama-7b_temp0.2_output.json", "gpt-4-0613_temp0.2_output.json", "codellama-7b_temp0.2_input.json")

_HOST = """
import json, sys
from lm_eval.tasks.cruxeval import utils
docs, completions, direction = json.load(sys.stdin)
build = utils.build_predictions_input if direction == "input" else utils.build_predictions_output
tests = build([[completion] for completion in completions], docs)
print(json.dumps([utils.pass_at_k([""], [test], k=[1])["pass@1"] for test in tests]), file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="folder with the authors' scored files")
    parser.add_argument("--problems", required=True, help="JSONL file of the problems")
    parser.add_argument("--write", type=Path, help="the page to write; by default it is printed")
    options = parser.parse_args()
    problems = load_problems(options.problems).problems
    rows = [
        _row("the gold answers", "output", problems, [p.output for p in problems]),
        _row("the gold answers", "input", problems, [f"f({p.input})" for p in problems]),
    ]
    for name in FILES:
        body = json.loads((options.results / name).read_text())
        answers = [body["raw_generations"][p.id][0] for p in problems]
        theirs = [body["raw_scored_generations"][p.id][0] for p in problems]
        direction: Direction = "input" if name.endswith("_input.json") else "output"
        rows.append(_row(f"`{name}`", direction, problems, answers, 100 * sum(theirs) / len(theirs)))
    page = "\n".join([*_head(), *rows, ""])
    if options.write:
        options.write.write_text(page)
    else:
        print(page)


def _head() -> list[str]:
    return [
        "# The host's own CRUXEval tasks on the same answers",
        "",
        f"pass@1 in percent over one answer to each of the 800 problems, on {datetime.date.today()} with lm-eval "
        f"{importlib.metadata.version('lm_eval')}. The answers stand in completions of the form that the prompts ask for.",
        "Made by `scripts/host_tasks.py`, whose docstring says how.",
        "",
        "| answers | direction | the authors' verdicts | here | the host's own task |",
        "|---|---|---|---|---|",
    ]


def _row(
    name: str, direction: Direction, problems: Sequence[Problem], answers: Sequence[str], theirs: float | None = None
) -> str:
    """One line of the table; `theirs` is the authors' pass@1, where they judged these answers."""
    completions = [
        f"assert {answer} == {p.output}\n" if direction == "input" else f"assert f({p.input}) == {answer}\n"
        for p, answer in zip(problems, answers, strict=True)
    ]
    ours = _ours(direction, problems, completions)
    host = _host(direction, problems, completions)
    said = "–" if theirs is None else f"{theirs:.1f}"
    row = f"| {name} | {direction} | {said} | {ours:.1f} | {host:.1f} |"
    print(row, file=sys.stderr, flush=True)
    return row


def _ours(direction: Direction, problems: Sequence[Problem], completions: Sequence[str]) -> float:
    extract = FINDERS[direction]
    with Judge() as judge:
        verdicts = judge.judge(
            Check(direction, p.code, p.output, extract(completion))
            for p, completion in zip(problems, completions, strict=True)
        )
    return 100 * sum(verdict.passed for verdict in verdicts) / len(verdicts)


def _host(direction: Direction, problems: Sequence[Problem], completions: Sequence[str]) -> float:
    docs = [{"code": p.code, "input": p.input, "output": p.output} for p in problems]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _HOST],
        input=json.dumps([docs, completions, direction]),
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    scores = json.loads(done.stderr.splitlines()[-1])
    return 100 * sum(scores) / len(scores)


if __name__ == "__main__":
    main()
