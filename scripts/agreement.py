"""Compare this judge with the verdicts that CRUXEval's authors stored beside published answers.

    python scripts/agreement.py --results FOLDER --problems cruxeval.jsonl [--write docs/agreement.md]
                                [--user-seconds 0.1 --user-seconds 4]

FOLDER holds result files of crux-eval/crux-eval.github.io (`raw_generations`, `raw_scored_generations`; the name ends
in `_input.json` or `_output.json`). Exit status 1 where a verdict differs in no known way.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cruxeval_tasks.direction import Direction
from cruxeval_tasks.judging.judge import Check, Judge, Limits, Status, Verdict
from cruxeval_tasks.problems import Problem


@dataclass(frozen=True)
class Stored:
    """A published answer with the authors' verdict on it; `theirs` is None where they skipped it."""

    file: str
    direction: Direction
    problem: Problem
    answer: str
    theirs: bool | None

    @property
    def check(self) -> Check:
        return Check(self.direction, self.problem.code, self.problem.output, self.answer)


@dataclass
class Agreement:
    """What came of a comparison: for each class of difference its cases, and the counts of all the rest."""

    answers: int = 0
    equal: int = 0
    differences: dict[str, list[tuple[Stored, Verdict]]] = field(default_factory=dict)
    skipped: dict[str, list[tuple[Stored, Verdict]]] = field(default_factory=dict)
    statuses: Counter[tuple[Direction, Status]] = field(default_factory=Counter)
    verdicts: dict[Check, Verdict] = field(default_factory=dict)


def load_problems(path: Path) -> dict[str, Problem]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {row["id"]: Problem(row["id"], row["code"], row["input"], row["output"]) for row in rows}


def stored_verdicts(folder: Path, problems: dict[str, Problem]) -> Iterator[Stored]:
    """Pair each answer with its stored verdict.

    The authors' scorer skips an input without the text `f(`, and an output that contains `f(<the input>)`; the list of
    verdicts is then shorter than the list of answers, and their order tells which is whose. Where nothing passed, the
    list becomes one False for each answer that was handed in, or a single False where all were skipped.

    Raises:
        ValueError: The lists of a problem do not fit together in these ways.
    """
    for path in sorted(folder.glob("*.json")):
        direction = path.stem.rpartition("_")[2]
        assert direction in get_args(Direction), path
        results = json.loads(path.read_text())
        for id, answers in results["raw_generations"].items():
            problem = problems[id]
            verdicts = list(results["raw_scored_generations"][id])
            skipped = [False] * len(answers)
            if len(verdicts) < len(answers):
                skipped = [_is_skipped(answer, direction, problem) for answer in answers]
                if all(skipped) and verdicts == [False]:
                    verdicts = []
            if len(verdicts) != skipped.count(False):
                raise ValueError(f"{path.name} {id}: {len(verdicts)} verdicts on {skipped.count(False)} answers")
            left = iter(verdicts)
            for answer, skip in zip(answers, skipped, strict=True):
                yield Stored(path.name, direction, problem, answer, None if skip else next(left))  # type: ignore[arg-type]


def _is_skipped(answer: str, direction: str, problem: Problem) -> bool:
    return "f(" not in answer if direction == "input" else f"f({problem.input})" in answer


def classify(case: Stored, verdict: Verdict) -> str:
    """Return the known class of a difference, or "unknown".

    The authors run `assert <output> == <answer>`: whatever is glued on to the comparison counts.
    """
    try:
        body = ast.parse(case.answer.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        first_line = case.answer.strip().partition("\n")[0]
        return "text after the first expression" if first_line != case.answer.strip() else "unknown"
    calls_f = any(isinstance(node, ast.Name) and node.id == "f" for node in ast.walk(body))
    if case.theirs and case.direction == "input" and calls_f and verdict.status is Status.MALFORMED:
        return "a call of `f` inside something else"
    if case.theirs and case.direction == "output" and calls_f and verdict.status is Status.REJECTED:
        return "an output that calls `f`"
    if not case.theirs and isinstance(body, ast.Tuple) and not case.answer.strip().startswith("("):
        return "a bare tuple"
    return "unknown"


def compare(cases: list[Stored], judge: Judge) -> Agreement:
    verdicts = judge.judge(case.check for case in cases)
    result = Agreement(answers=len(cases))
    for case, verdict in zip(cases, verdicts, strict=True):
        result.verdicts[case.check] = verdict
        result.statuses[case.direction, verdict.status] += 1
        if case.theirs is None:
            result.skipped.setdefault(case.file, []).append((case, verdict))
        elif case.theirs == verdict.passed:
            result.equal += 1
        else:
            result.differences.setdefault(classify(case, verdict), []).append((case, verdict))
    return result


def changed_by_limit(verdicts: dict[Check, Verdict], seconds: float) -> tuple[int, list[str]]:
    """Judge the input answers once more under another limit on user time than the default.

    Returns the number of distinct answers that were judged twice, and a line for each whose pass or fail changed. Of a
    higher limit only answers that the default one ended are tried: all others end before either.
    """
    default = Limits()
    checks = [check for check in verdicts if check.direction == "input"]
    if seconds > default.user_seconds:
        checks = [check for check in checks if verdicts[check].status is Status.TIMEOUT]
    with Judge(limits=Limits(user_seconds=seconds, cpu_seconds=max(default.cpu_seconds, seconds))) as judge:
        after = judge.judge(checks)
    return len(checks), [
        f"{check.answer!r}: {verdicts[check].status.value} -> {new.status.value}"
        for check, new in zip(checks, after, strict=True)
        if verdicts[check].passed != new.passed
    ]


def _inline(text: str, width: int = 90) -> str:
    text = re.sub(r"\s+", " ", text).replace("|", "\\|")
    return f"``{text if len(text) <= width else text[: width - 1] + '…'}``"


def page(result: Agreement, files: int, limits: list[tuple[float, int, int]]) -> str:
    """Return the page `docs/agreement.md`."""
    skipped = [case for cases in result.skipped.values() for case in cases]
    lines = [
        "# Agreement with the authors' verdicts",
        "",
        f"CRUXEval's authors publish their models' answers with a verdict on each. Over {files} of these files, "
        f"{result.answers:,} answers ({len(result.verdicts):,} distinct), this judge was compared with them:",
        "",
        "| class | count | example | theirs | ours |",
        "|---|---|---|---|---|",
        f"| same verdict | {result.equal:,} | | | |",
    ]
    for kind, cases in sorted(result.differences.items()):
        case, verdict = cases[0]
        where = f"{case.problem.id} in `{case.file}`: {_inline(case.answer)}"
        ours = verdict.status.value + (f" ({verdict.reason})" if verdict.reason else "")
        lines.append(f"| {kind} | {len(cases):,} | {where} | {'passed' if case.theirs else 'failed'} | {ours} |")
    for file, cases in sorted(result.skipped.items()):
        case, verdict = cases[0]
        statuses = Counter(verdict.status.value for _, verdict in cases)
        ours = ", ".join(f"{status} {count:,}" for status, count in statuses.most_common())
        where = f"{case.problem.id}: {_inline(case.answer)}"
        lines.append(f"| skipped by their filter, `{file}` | {len(cases):,} | {where} | not judged | {ours} |")
    lines += [
        "",
        "A call of `f` inside something else: their scorer runs `assert <output> == <answer>`, where anything may "
        "surround the call; here an input answer is one call of `f`, and nothing but its value counts.",
        "",
        f"Skipped answers: since 2024-04-15 their scorer leaves out an input without the text `f(`. "
        f"Of the {len(skipped):,} answers in these files that it left out, "
        f"{sum(verdict.passed for _, verdict in skipped):,} pass here; all are counted, as wrong. "
        "Leaving them out makes n smaller and the score of such a file higher.",
        "",
        "What became of the answers here:",
        "",
        "| status | input | output |",
        "|---|---|---|",
    ]
    for status in Status:
        counts = [result.statuses[direction, status] for direction in ("input", "output")]
        if any(counts):
            lines.append(f"| {status.value} | {counts[0]:,} | {counts[1]:,} |")
    if limits:
        lines += [
            "",
            f"The limit on user time ({Limits().user_seconds} s) decides no verdict. Distinct input answers judged "
            "again under other limits, and how many of them changed between pass and fail (under a higher limit only "
            "those can change that the default one ended):",
            "",
            "| user time | answers judged again | changed |",
            "|---|---|---|",
            *(f"| {seconds} s | {tried:,} | {changed} |" for seconds, tried, changed in limits),
        ]
    lines += [
        "",
        "Made by `scripts/agreement.py`, whose docstring says how; `tests/judging/test_official.py` holds the counts:",
        "",
        "    python scripts/agreement.py --results official_results --problems cruxeval.jsonl "
        + "".join(f"--user-seconds {seconds} " for seconds, _, _ in limits)
        + "--write docs/agreement.md",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare this judge with the authors' stored verdicts.")
    parser.add_argument("--results", type=Path, required=True, help="folder with the authors' result files")
    parser.add_argument("--problems", type=Path, required=True, help="cruxeval.jsonl")
    parser.add_argument("--user-seconds", type=float, action="append", default=[], help="another limit to try")
    parser.add_argument("--write", type=Path, help="write the page to this file instead of printing it")
    arguments = parser.parse_args()
    started = time.monotonic()
    cases = list(stored_verdicts(arguments.results, load_problems(arguments.problems)))
    with Judge() as judge:
        result = compare(cases, judge)
    print(f"judged {result.answers:,} answers in {time.monotonic() - started:.0f} s", file=sys.stderr)
    limits = []
    for seconds in arguments.user_seconds:
        tried, changed = changed_by_limit(result.verdicts, seconds)
        print("\n".join([f"{seconds} s: {tried:,} judged again, {len(changed)} changed", *changed]), file=sys.stderr)
        limits.append((seconds, tried, len(changed)))
    text = page(result, len({case.file for case in cases}), limits)
    if arguments.write:
        arguments.write.write_text(text)
    else:
        print(text)
    unknown = result.differences.get("unknown", [])
    for case, verdict in unknown:
        print(f"differs: {case.file} {case.problem.id} {case.answer!r}: {verdict}", file=sys.stderr)
    return 1 if unknown or any(changed for _, _, changed in limits) else 0


if __name__ == "__main__":
    sys.exit(main())
