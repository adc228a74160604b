"""What `cruxeval doctor` finds out, on a machine that isolates and on one that does not."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from cruxeval_tasks.judging import doctor
from cruxeval_tasks.judging import judge as judge_module
from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.judge import Check, Judge, Status, Verdict

pytestmark = pytest.mark.usefixtures("isolation")

ATTEMPTS = [
    "read a file outside the standard library",
    "write a file",
    "open a socket",
    "start a process",
    "signal another process",
]


def test_a_machine_that_isolates() -> None:
    findings = doctor.examine()
    names = ["Python", "system", "user", "Landlock", *LAYERS, "judging", *ATTEMPTS]
    assert [finding.name for finding in findings] == names
    assert [finding.ok for finding in findings] == [None] * 4 + [True] * (len(names) - 4)
    assert all(finding.detail for finding in findings)
    assert sys.executable in findings[0].detail
    assert findings[4].detail.startswith("2048 MiB of address space")
    assert {finding.detail for finding in findings[-5:]} == {"refused"}


def test_without_the_layers_each_attempt_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """So what is refused above is refused by them."""
    monkeypatch.setattr(judge_module, "LAYERS", ())
    monkeypatch.setattr(doctor, "LAYERS", ())
    findings = {finding.name: finding for finding in doctor.examine()}
    assert findings["judging"].ok
    assert [name for name, finding in findings.items() if finding.ok is False] == ATTEMPTS
    assert {findings[name].detail for name in ATTEMPTS} == {"NOT refused: wrong 'done'"}


def test_an_interpreter_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    findings = doctor.examine()
    assert [finding.name for finding in findings if finding.ok is False] == list(LAYERS)
    assert findings[-1].name == LAYERS[-1]  # nothing further is tried
    assert doctor._try_all().ok is False


def test_a_right_answer_that_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(self: Judge, checks: Sequence[Check]) -> list[Verdict]:
        return [Verdict(Status.PASSED), Verdict(Status.RAISED, "LookupError: unknown encoding")]

    monkeypatch.setattr(Judge, "judge", judge)
    finding = doctor._try_all()
    assert finding.ok is False
    assert finding.detail == "a right answer did not pass: raised LookupError: unknown encoding"
