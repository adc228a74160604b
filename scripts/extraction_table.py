"""Print in how many problems the gold answer is found, for each form in which models write it, in both
directions.

    python scripts/extraction_table.py [PROBLEMS] [--chat COMPLETIONS]

PROBLEMS is a JSONL file with the columns `id`, `code`, `input`, `output`. COMPLETIONS is a JSONL file with
the columns `id`, `direction`, `model`, `completion`, `stated_gold`; they are judged, and the second table
says in how many an answer was found, and lists the others. The exit status is 1 if a form fails anywhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from forms import FORMS, NO_ANSWER, directions, extract, gold_answer, same_answer  # noqa: E402

from cruxeval_tasks.judging.judge import Check, Judge  # noqa: E402


def read_rows(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        sys.exit(f"{path} is not there. Name a problem file: python scripts/extraction_table.py cruxeval.jsonl")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def forms_table(problems: list[dict[str, Any]]) -> bool:
    complete = True
    width = max(map(len, [*FORMS, *NO_ANSWER]))
    print(f"{'form':{width}}  {'output':>9}  {'input':>9}")
    for name, form in FORMS.items():
        cells = {"output": "-", "input": "-"}
        for direction in directions(name):
            found = sum(
                same_answer(extract(form(p["input"], p["output"], direction), direction), gold_answer(p, direction))
                for p in problems
            )
            complete &= found == len(problems)
            cells[direction] = f"{found}/{len(problems)}"
        print(f"{name:{width}}  {cells['output']:>9}  {cells['input']:>9}")
    print("\nno answer, and none found:")
    for name, text in NO_ANSWER.items():
        counts = {
            d: sum(extract(text(p["input"], p["output"]), d) is None for p in problems) for d in ("output", "input")
        }
        complete &= set(counts.values()) == {len(problems)}
        print(f"{name:{width}}  " + "  ".join(f"{count}/{len(problems)}".rjust(9) for count in counts.values()))
    return complete


def chat_table(rows: list[dict[str, Any]], problems: list[dict[str, Any]]) -> None:
    by_id = {problem["id"]: problem for problem in problems}
    answers = [extract(row["completion"], row["direction"]) for row in rows]
    with Judge() as judge:
        verdicts = judge.judge(
            Check(row["direction"], by_id[row["id"]]["code"], by_id[row["id"]]["output"], answer)
            for row, answer in zip(rows, answers, strict=True)
        )
    total = Counter(row["model"] for row in rows)
    found: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for row, verdict in zip(rows, verdicts, strict=True):
        found[row["model"]] += verdict.answered
        passed[row["model"]] += verdict.passed
    width = max(map(len, total))
    print(f"\n{'model':{width}}  answered   passed")
    for model in sorted(total):
        print(f"{model:{width}}  {found[model]:>3}/{total[model]}  {passed[model]:>4}/{total[model]}")
    print(f"{'all':{width}}  {sum(found.values()):>3}/{len(rows)} {sum(passed.values()):>4}/{len(rows)}")
    for row, answer, verdict in zip(rows, answers, verdicts, strict=True):
        if not verdict.answered:
            end = row["completion"][-60:]
            print(f"  {row['id']} {row['model']}: {verdict.status.value}, {answer!r}; it ends in {end!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = ROOT.parent / "shared"
    parser.add_argument("problems", nargs="?", type=Path, default=shared / "cruxeval" / "cruxeval.jsonl")
    parser.add_argument("--chat", type=Path, help="completions of chat models")
    arguments = parser.parse_args()
    problems = read_rows(arguments.problems)
    complete = forms_table(problems)
    if arguments.chat:
        chat_table(read_rows(arguments.chat), problems)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
