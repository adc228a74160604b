"""Run every problem of a JSONL file, whose path is the argument, and report what came out.

Prints a JSON object for each problem: `id`, `value` (the source form of what `f(<input>)` returned), `equal`
(whether it equals the stated output) and `same` (whether types agree too, at every depth). It is a program of
its own, so that tests choose the hash seed. It shares no code with the package, so that it may contradict
it, and runs the problems' code unconfined: for trusted problems only.
"""

import ast
import json
import sys
from typing import Any


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b) or a != b:
        return False
    if isinstance(a, (list, tuple)):
        return all(map(same, a, b))
    if isinstance(a, dict):
        return same(set(a), set(b)) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (set, frozenset)):
        return all(map(same, sorted(a, key=repr), sorted(b, key=repr)))
    return True


with open(sys.argv[1], encoding="utf-8") as rows:
    for line in rows:
        row = json.loads(line)
        module: dict[str, object] = {}
        exec(row["code"], module)
        value = eval(f"f({row['input']})", module)
        stated = ast.literal_eval(row["output"])
        report = {"value": repr(value), "equal": value == stated, "same": same(value, stated)}
        print(json.dumps({"id": row["id"], **report}))
