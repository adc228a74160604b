"""The rules that turn an answer into a verdict; the only place that compares values."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from cruxeval_tasks.direction import Direction
from cruxeval_tasks.judging import grammar
from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.pool import IsolationError, Limits, Pool, Reply, Request, WorkerError

__all__ = ["Check", "IsolationError", "Judge", "Limits", "Status", "Verdict", "WorkerError"]

_SHOWN = 1000  # characters of a value or a message that a verdict keeps


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
        reason: One line for a person: the construct that was rejected, the exception that was raised, …
        obtained: Source form of the value that the answer or the call of `f` gave, cut to 1,000 characters; None where
            no value was obtained.
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
        answer: The answer's text, or None where the completion held none.
    """

    direction: Direction
    code: str
    output: str
    answer: str | None


class Judge:
    """Judges answers; those that need execution in confined worker processes, which start when first needed.

    An output answer is right when it is one expression whose value equals the stated output under Python's ``==``; an
    input answer when it is one call of `f` whose value does. Values are compared here, on exact built-in types, and the
    stated output is never sent to a process that runs an answer.

    Args:
        workers: Number of checks computed side by side; by default one for each usable core, at most 8.
        limits: What one check may use.
        allow_unisolated: Go on without the layers of confinement that this machine does not offer. Answers that models
            wrote then run with fewer bounds or none: only inside a container or virtual machine that may be harmed.
    """

    def __init__(
        self, *, workers: int | None = None, limits: Limits | None = None, allow_unisolated: bool = False
    ) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self._workers = workers
        self._limits = limits or Limits()
        self._allow_unisolated = allow_unisolated
        self._opened: tuple[Pool, dict[str, str]] | None = None  # with what its layers came to
        self._opening = threading.Lock()

    @property
    def started(self) -> bool:
        """Whether workers were started, which only answers that need execution do."""
        return self._opened is not None

    @property
    def isolation(self) -> dict[str, str]:
        """What each layer of confinement came to on this machine, in words; a missing layer is missing here too.

        Starts a worker where none was started before.

        Raises:
            IsolationError: A layer is missing and `allow_unisolated` was not given.
            WorkerError: Workers cannot be started.
        """
        return dict(self._open()[1])

    def judge(self, checks: Iterable[Check]) -> list[Verdict]:
        """Return one verdict for each check, in order. Equal checks are judged once.

        Raises:
            IsolationError: A check needs execution and cannot be isolated here.
            ValueError: A problem's code is no Python or its stated output no literal.
            WorkerError: Workers cannot be started or keep being ended from outside.
        """
        wanted = list(checks)
        verdicts: dict[Check, Verdict] = {}
        pending: dict[Check, Request] = {}
        for check in wanted:
            if check in verdicts or check in pending:
                continue
            outcome = _judge_unexecuted(check)
            if isinstance(outcome, Verdict):
                verdicts[check] = outcome
            else:
                pending[check] = outcome
        if pending:
            replies = self._open()[0].run(list(pending.values()))
            for check, reply in zip(pending, replies, strict=True):
                verdicts[check] = _verdict_of(reply, check)
        return [verdicts[check] for check in wanted]

    def close(self) -> None:
        """End the workers; they start again when needed."""
        if self._opened is not None:
            self._opened[0].close()

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _open(self) -> tuple[Pool, dict[str, str]]:
        if self._opened is None:
            with self._opening:
                if self._opened is None:  # no other thread was faster
                    self._opened = open_pool(
                        self._limits, workers=self._workers, allow_unisolated=self._allow_unisolated
                    )
        return self._opened


def open_pool(
    limits: Limits, *, workers: int | None = None, allow_unisolated: bool = False
) -> tuple[Pool, dict[str, str]]:
    """Return a pool whose workers start on this machine, and what each of its layers came to, in words.

    Args:
        limits: What one request may use.
        workers: Number of requests computed side by side; by default one for each usable core, at most 8.
        allow_unisolated: Leave out the layers that cannot be put up here.

    Raises:
        IsolationError: A layer is missing and `allow_unisolated` was not given.
        WorkerError: Workers cannot be started.
    """
    layers = list(LAYERS)
    while True:
        pool = Pool(workers or min(8, _usable_cores()), limits, layers)
        try:
            return pool, pool.start()
        except IsolationError as error:
            if not allow_unisolated:
                raise IsolationError(_missing_layer(str(error))) from error
            layers.remove(str(error).partition(":")[0])


def _missing_layer(what: str) -> str:
    return (
        f"answers that need execution cannot be isolated on this machine ({what}). `cruxeval doctor` shows what is "
        "missing. To run them unisolated all the same, at your own risk, say so by name: "
        "`--metadata '{\"allow_unisolated\": true}'` for lm_eval, `--allow-unisolated` for the command cruxeval, "
        "`Judge(allow_unisolated=True)` from Python."
    )


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _judge_unexecuted(check: Check) -> Verdict | Request:
    """Judge what needs no execution; for the rest, return the request to make."""
    if check.answer is None or not check.answer.strip():
        return Verdict(Status.NO_ANSWER, "the completion holds no answer")
    if check.direction == "output":
        # Most are literals, for which the code need not be read: that takes four times as long as the rest.
        admitted = grammar.admit(check.answer, "output", frozenset())
        if isinstance(admitted, grammar.Value):
            return _compare(admitted.value, check.output)
    code = grammar.read_code(check.code)
    names = code.names if check.direction == "input" else code.names_apart_from_f
    admitted = grammar.admit(check.answer, check.direction, names)
    if isinstance(admitted, grammar.Evaluation):
        # Far above what can equal the output, far below what takes long to read or fills a frame.
        limit = max(65536, min(32 * len(check.output), 2**20))
        return Request(check.code, admitted.source, admitted.names, admitted.plain and code.plain, limit)
    if isinstance(admitted, grammar.Malformed):
        return Verdict(Status.MALFORMED, admitted.reason)
    if isinstance(admitted, grammar.Rejected):
        return Verdict(Status.REJECTED, admitted.reason)
    assert isinstance(admitted, grammar.Raises)
    return _raised(admitted.exception, admitted.message)


def _verdict_of(reply: Reply, check: Check) -> Verdict:
    if reply.kind == "value":
        return _compare(reply.body, check.output)
    if reply.kind == "raised":
        return _raised(*reply.body)
    if reply.kind == "timeout":
        return Verdict(Status.TIMEOUT, "CPU time used up" if reply.body == "cpu" else "no end in sight")
    if reply.kind == "memory":
        return Verdict(Status.MEMORY, reply.body)
    if reply.kind == "oversized":
        return Verdict(Status.OVERSIZED, reply.body)
    return _raised("process ended", reply.body)


def _raised(exception: str, message: str) -> Verdict:
    line = " ".join(f"{exception}: {message}".split()) if message else exception
    # Logs are UTF-8, which has no lone surrogates.
    return Verdict(Status.RAISED, line[:_SHOWN].encode(errors="backslashreplace").decode())


def _compare(obtained: object, output: str) -> Verdict:
    try:
        equal = bool(obtained == grammar.stated_output(output))
    except (RecursionError, BytesWarning):  # deeper than any output; bytes beside text under `python -bb`
        equal = False
    return Verdict(Status.PASSED if equal else Status.WRONG, "", _show(obtained))


def _show(value: object) -> str:
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # an integer of more digits than Python converts
        text = f"<{type(value).__name__} too large to show>"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
