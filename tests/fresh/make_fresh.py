"""Write the fresh problems of a JSONL file to standard output: a program of its own, so that tests choose the Python.

Usage: make_fresh.py PROBLEMS SEED PER_PROBLEM. Needs the standard library and this package on the path only.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing

from cruxeval_tasks.fresh.selection import LIMITS, make_fresh
from cruxeval_tasks.judging.judge import Judge, open_pool
from cruxeval_tasks.problems import load_problems

if __name__ == "__main__":
    path, seed, per_problem = sys.argv[1:]
    with Judge(workers=2) as judge:
        problems = load_problems(path, judge=judge).problems
    with closing(open_pool(LIMITS, workers=2)[0]) as pool:
        outcomes = make_fresh(problems, int(seed), int(per_problem), pool)
    for outcome in outcomes:
        for fresh in outcome.fresh:
            p = fresh.problem
            print(json.dumps({"id": p.id, "code": p.code, "input": p.input, "output": p.output}))
