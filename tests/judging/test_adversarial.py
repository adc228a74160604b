"""Answers made to deceive or to do harm, and honest ones that look odd; each line says why it must fail or pass."""

from __future__ import annotations

import builtins
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cruxeval_tasks.judging.judge import Check, Judge, Limits, Status

OWN = Path(__file__).with_name("adversarial.jsonl")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "adversarial" / "predictions.jsonl"

KNOWN_GOOD = Check("input", "def f(xs):\n    return sum(1 for x in xs if len(x) > 2)", "2", "f(['abc', 'abcd'])")
KNOWN_GOOD_FORK = Check(KNOWN_GOOD.direction, KNOWN_GOOD.code, "2", "f(['abc', 'abc' + 'd'])")
KNOWN_BAD = Check(KNOWN_GOOD.direction, KNOWN_GOOD.code, "2", "f(['abc'])")


def lines_of(path: Path, canaries: Path) -> list[dict[str, Any]]:
    text = path.read_text()
    for place in ("/tmp/xcheck_", "CANARY_DIR/"):
        text = text.replace(place, f"{canaries}/")
    return [json.loads(line) for line in text.splitlines()]


def check_of(line: dict[str, Any], prediction: str | None = None) -> Check:
    return Check(line["mode"], line["code"], line["output"], line["prediction"] if prediction is None else prediction)


def host_state() -> dict[str, object]:
    """What hostile code in this process would want to change."""
    return {
        "builtins": {name: id(value) for name, value in vars(builtins).items() if name != "_"},
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "recursion": sys.getrecursionlimit(),
        "standard files": [os.fstat(n)[:2] for n in (0, 1, 2)],
    }


def assert_healthy(judge: Judge) -> None:
    assert [verdict.passed for verdict in judge.judge([KNOWN_GOOD, KNOWN_GOOD_FORK, KNOWN_BAD])] == [True, True, False]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(workers=2, limits=Limits(user_seconds=0.2, cpu_seconds=1)) as judge:
        yield judge


@pytest.fixture
def canaries(tmp_path: Path) -> Path:
    """A folder that anybody could write to, with a file to delete or read in it."""
    for folder in (tmp_path, tmp_path.parent):
        folder.chmod(0o777)
    (tmp_path / "victim").write_text("victim")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("path", [OWN, SHARED], ids=["own", "shared"])
def test_every_line_twice_in_one_pool_with_the_host_untouched(judge: Judge, canaries: Path, path: Path) -> None:
    if not path.exists():
        pytest.skip("../shared/adversarial/predictions.jsonl is absent")
    lines = lines_of(path, canaries)
    assert len(lines) >= 60
    before = host_state()
    modules = set(sys.modules)
    for _ in range(2):
        verdicts = judge.judge([check_of(line) for line in lines])
        wrong = [
            (line["id"], line["prediction"], line["why"], verdict)
            for line, verdict in zip(lines, verdicts, strict=True)
            if verdict.passed is not (line["expect"] == "pass")
        ]
        assert not wrong
        assert_healthy(judge)
    assert host_state() == before
    assert modules <= set(sys.modules)
    assert [entry.name for entry in canaries.iterdir()] == ["victim"]
    assert (canaries / "victim").read_text() == "victim"


def test_the_canaries_can_be_harmed(canaries: Path) -> None:
    """Otherwise the test above would prove nothing."""
    (canaries / "written").write_text("x")
    (canaries / "victim").unlink()
    assert [entry.name for entry in canaries.iterdir()] == ["written"]


def test_own_lines_differ_from_one_another_and_from_the_shared_ones(tmp_path: Path) -> None:
    lines = lines_of(OWN, tmp_path)
    assert len({line["id"] for line in lines}) == len(lines)
    keys = {(line["mode"], line["code"], line["prediction"]) for line in lines}
    assert len(keys) == len(lines)
    assert {line["expect"] for line in lines} == {"pass", "fail"}
    for line in lines:
        assert set(line) == {"id", "mode", "code", "input", "output", "prediction", "class", "expect", "why"}
    if SHARED.exists():
        shared = lines_of(SHARED, tmp_path)
        assert not keys & {(line["mode"], line["code"], line["prediction"]) for line in shared}


# --- mutations -------------------------------------------------------------------------------------------------------

# What a mutation does: "same" keeps the value, so that the verdict stays; "other" can only spoil an answer.
SAME = ["({}\n)", "(\n{}\n)", " {}", "{} ", "\n{}\n", "{}\n# why", "\t{}\r\n", "(({}\n))"]
OTHER = [
    "[{}]", "({},)", "{{{}}}", "{{'f': {}}}", "f({})", "f([{}])", "f(k={})", "f(*{})", "(lambda x: x)({})",
    "[x for x in [{}]]", "[f for f in [{}]]", "{} or f([])", "f([]) or {}", "assert {}", "x = {}", "{}; {}", "{}\n{}",
    "{}, {}", "{} if f else 0", "not {}", "print({})", "f'{{{}}}'", "'{}'", "[{}][0].x", "{}.__class__", "await {}",
    "lambda: {}", "(y := {})", "{} == {}", "{} {}", "f({}).real", "f({})(0)", "{}#", "{}\\", "\\\n{}",
]  # fmt: skip


def cheap(line: dict[str, Any]) -> bool:
    """Whether a line may be judged hundreds of times: no bomb, nothing that fills time or memory."""
    bombs = ("bomb", "forgery")
    endless = ("9 ** 9", "iter(int", "10 ** 1", "a+)+", "999999", "setrecursion")
    return not any(bomb in line["class"] for bomb in bombs) and not any(text in line["prediction"] for text in endless)


def all_lines() -> list[dict[str, Any]]:
    nowhere = Path("/nonexistent/canaries")
    lines = lines_of(OWN, nowhere) + (lines_of(SHARED, nowhere) if SHARED.exists() else [])
    return [line for line in lines if cheap(line)]


LINES = all_lines()
FAILING = [line for line in LINES if line["expect"] == "fail"]
JUDGED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@given(st.sampled_from(LINES), st.lists(st.sampled_from(SAME), max_size=3))
@JUDGED
def test_white_space_comments_and_parentheses_change_no_verdict(
    judge: Judge, line: dict[str, Any], around: list[str]
) -> None:
    prediction = line["prediction"].strip()
    for wrapping in around:
        prediction = wrapping.format(prediction)
    verdict = judge.judge([check_of(line, prediction)])[0]
    assert verdict.passed is (line["expect"] == "pass"), (line["id"], prediction, verdict)
    assert_healthy(judge)


@pytest.mark.slow
@given(st.sampled_from(FAILING), st.lists(st.sampled_from(OTHER), min_size=1, max_size=3), st.sampled_from(FAILING))
@JUDGED
def test_a_failing_line_passes_by_no_mutation(
    judge: Judge, line: dict[str, Any], around: list[str], joined: dict[str, Any]
) -> None:
    prediction = line["prediction"]
    for wrapping in around:
        pieces = [prediction, joined["prediction"]]
        prediction = wrapping.format(*pieces) if wrapping.count("{}") == 2 else wrapping.format(prediction)
    verdict = judge.judge([check_of(line, prediction)])[0]
    assert not verdict.passed or is_honest(line, prediction), (line["id"], prediction, verdict)
    assert_healthy(judge)


def is_honest(line: dict[str, Any], prediction: str) -> bool:
    """An input that became one call of `f` by mutation, and does return the output, is right."""
    return line["mode"] == "input" and prediction.strip().startswith("f(")


@pytest.mark.slow
@given(st.sampled_from(LINES), st.data())
@JUDGED
def test_cut_and_shuffled_text_breaks_nothing(judge: Judge, line: dict[str, Any], data: st.DataObject) -> None:
    text = line["prediction"]
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    inserted = data.draw(st.sampled_from(["", "(", ")", "'", "f", "\n", ";", "\x00", "\ud800", "#", "__", "=="]))
    mutated = text[:start] + inserted + text[end:]
    verdict = judge.judge([check_of(line, mutated)])[0]
    assert isinstance(verdict.status, Status)
    assert_healthy(judge)
