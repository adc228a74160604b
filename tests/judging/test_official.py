"""No verdict differs from what the authors stored, but for the classes that docs/agreement.md enumerates."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from cruxeval_tasks.judging.judge import Judge, Limits, Status

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT.parent / "shared" / "official_results"
PROBLEMS = ROOT.parent / "shared" / "cruxeval" / "cruxeval.jsonl"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agreement", ROOT / "scripts" / "agreement.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agreement"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_agreement_with_the_authors_verdicts() -> None:
    if not RESULTS.exists() or not PROBLEMS.exists():
        pytest.skip("../shared/official_results or ../shared/cruxeval is absent")
    agreement = script()
    cases = list(agreement.stored_verdicts(RESULTS, agreement.load_problems(PROBLEMS)))
    assert len({case.file for case in cases}) == 15
    # A fifth of the default limit: a stricter test, and most of its time goes to answers that never end.
    with Judge(limits=Limits(user_seconds=0.1)) as judge:
        result = agreement.compare(cases, judge)
    assert {kind: len(found) for kind, found in result.differences.items()} == {
        "a call of `f` inside something else": 1
    }
    ((case, verdict),) = result.differences["a call of `f` inside something else"]
    assert (case.file, case.problem.id) == ("codellama-13b+cot_temp0.8_input.json", "sample_736")
    assert case.answer == "f('pi ch i wa', ' ').replace(' ', '')"
    assert case.theirs is True
    assert verdict.status is Status.MALFORMED
    # Their filter skipped these: an input without `f(`. None of them is an answer here either.
    assert {file: len(found) for file, found in result.skipped.items()} == {
        "gpt-4-turbo-2024-04-09+cot_temp0.2_input.json": 274,
        "gpt-4o+cot_temp0.2_input.json": 243,
    }
    assert {v.status for found in result.skipped.values() for _, v in found} <= {Status.MALFORMED, Status.NO_ANSWER}
    assert result.answers == 101_600
    assert result.equal == 101_600 - 1 - 274 - 243
    passed = Counter({direction: n for (direction, status), n in result.statuses.items() if status is Status.PASSED})
    theirs = Counter(case.direction for case in cases if case.theirs)
    theirs["input"] -= 1
    assert passed == theirs


def test_the_page_states_these_counts() -> None:
    page = (ROOT / "docs" / "agreement.md").read_text()
    for text in ("| same verdict | 101,082 |", "| a call of `f` inside something else | 1 |", "| 274 |", "| 243 |"):
        assert text in page
