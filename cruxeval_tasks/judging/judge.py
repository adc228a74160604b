"""The rules that turn an answer into a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal

Direction = Literal["input", "output"]


class Status(str, Enum):
    """What became of an answer. Only `PASSED` counts for pass@k."""

    PASSED = "passed"
    WRONG = "wrong"
    NO_ANSWER = "no_answer"
    MALFORMED = "malformed"
    REJECTED = "rejected"
    RAISED = "raised"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OVERSIZED = "oversized"


@dataclass(frozen=True)
class Verdict:
    """A status with its reason.

    Attributes:
        status: What became of the answer.
        reason: One line for a person: the construct that was rejected, the exception that was raised, ...
        obtained: Source form of the value that the answer or the call of `f` gave, cut to 1,000 characters;
            None where no value was obtained.
    """

    status: Status
    reason: str = ""
    obtained: str | None = None

    @property
    def passed(self) -> bool:
        return self.status is Status.PASSED

    @property
    def answered(self) -> bool:
        """Whether the completion held a well-formed answer (one expression, or one call of `f`), right or wrong."""
        return self.status not in (Status.NO_ANSWER, Status.MALFORMED)


@dataclass(frozen=True)
class Check:
    """One answer to judge.

    Attributes:
        direction: "output" (the answer states the value of `f(<input>)`) or "input" (the answer is a call of `f`).
        code: The problem's code.
        output: The problem's stated output, a literal; the target in both directions.
        answer: The answer text, or None where the completion held none.
    """

    direction: Direction
    code: str
    output: str
    answer: str | None


class Judge:
    """Judges answers in confined worker processes, which start when first needed."""

    def __init__(self, *, workers: int | None = None) -> None:
        raise NotImplementedError

    def judge(self, checks: Iterable[Check]) -> list[Verdict]:
        """Return one verdict for each check, in order."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
