"""What a score rests on, and what makes it doubtful."""

from __future__ import annotations

import ast
import platform
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import cruxeval_tasks
from cruxeval_tasks.answers import stops_in_reasoning
from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.judge import Status, Verdict
from cruxeval_tasks.problems import PUBLISHED_DIGEST, SMOKE_DIGEST
from cruxeval_tasks.scoring import Score

_FEW_ANSWERED = 0.9  # the least share of well-formed answers that raises no doubt about prompt or settings
_CUT_OFF = ("was never closed", "unterminated", "unexpected EOF", "EOF while scanning", "EOF in multi-line")
"""What Python's parser says of source that ends too early, in its versions from 3.10 on."""


@dataclass(frozen=True)
class Doubt:
    """Something that a reader of a score has to know; `grave` where the score may mislead for it."""

    text: str
    grave: bool


def doubts(score: Score) -> list[Doubt]:
    """Return everything that makes a score doubtful, what may mislead first."""
    found = [Doubt(warning, True) for warning in score.warnings]
    total = sum(len(each) for each in score.verdicts.values())
    unanswered = sum(not v.answered for each in score.verdicts.values() for v in each)
    if score.answered.value < _FEW_ANSWERED:
        found.append(
            Doubt(
                f"answered: {100 * score.answered.value:.1f} %. {unanswered} of {total} samples hold no well-formed answer and "
                "count as failed, whatever the model knew",
                True,
            )
        )
    cut = cut_off(score)
    if cut:
        found.append(
            Doubt(
                f"{cut} of {total} samples are cut off: they end in the middle of an answer or of reasoning, as when the limit "
                "of tokens is met before a stop string",
                True,
            )
        )
    late = sum(score.statuses.get(status, 0) for status in (Status.TIMEOUT, Status.MEMORY, Status.OVERSIZED))
    if late:
        found.append(Doubt(f"{late} of {total} answers took too long, or too much memory, and count as failed", False))
    if score.isolation is not None and _missing(score.isolation):
        missing = ", ".join(_missing(score.isolation))
        found.append(Doubt(f"answers were executed without full isolation: {missing} missing", True))
    if score.matched.digest == SMOKE_DIGEST:
        found.append(Doubt("the bundled problems show that a set-up works; they measure nothing", True))
    if score.samples[1] == 1:
        found.append(Doubt("one sample of each problem: how much a problem varies between samples is not known", False))
    if score.run.are_answers:
        found.append(Doubt("the file holds answers, not completions: they were judged as they stand", False))
    return sorted(found, key=lambda doubt: not doubt.grave)


def cut_off(score: Score) -> int:
    """Return how many samples end too early, as far as their texts show it: in an expression that is left open, or in
    reasoning that is never closed. (Why a completion ended is in no file.)"""
    known: dict[tuple[str, str | None], bool] = {}
    number = 0
    for key, verdicts in score.verdicts.items():
        for text, answer, verdict in zip(score.run.texts[key], score.answers[key], verdicts, strict=True):
            if verdict.answered:
                continue
            sample = text, answer
            if sample not in known:
                known[sample] = _ends_early(text, answer, verdict, score.run.are_answers)
            number += known[sample]
    return number


def _ends_early(text: str, answer: str | None, verdict: Verdict, is_answer: bool) -> bool:
    if verdict.status is Status.MALFORMED and answer:
        if not text.rstrip().endswith(answer.rstrip()):
            return False  # something follows, so it was not the end that broke it
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(answer.strip())  # as statements: where no expression is found, the assertion is what is left
        except SyntaxError as error:
            return any(said in (error.msg or "") for said in _CUT_OFF)
        except (ValueError, MemoryError, RecursionError):
            return False
        return False
    return not is_answer and bool(text.strip()) and stops_in_reasoning(text)


def particulars(score: Score) -> list[tuple[str, str]]:
    """Return what a reader needs to judge or repeat a score: names and values, for a person."""
    low, high = score.samples
    matched = score.matched
    known = {PUBLISHED_DIGEST: " (the published problems)", SMOKE_DIGEST: " (the bundled problems)"}
    samples = str(low) if low == high else f"{low} to {high}"
    rows = [
        ("File", score.run.path),
        ("Format", score.run.format.replace("_", " ")),
        ("Predicted", score.direction),
        ("Problems", f"{len(score.verdicts)} of {matched.total}, from {matched.source}"),
        ("Problem-set digest", matched.digest + known.get(matched.digest, "")),
        ("Samples of each problem", samples),
        ("Sampling settings", _settings(score.run.settings) or "not in the file"),
    ]
    if score.run.stated is not None:
        rows.append(("pass@1 stated in the file", f"{score.run.stated:.1f} %"))
    if score.isolation is None:
        rows.append(("Isolation", "nothing was executed: all answers were literals, or none"))
    else:
        rows += [(f"Isolation: {layer}", score.isolation.get(layer, "MISSING")) for layer in LAYERS]
    return rows


def versions() -> list[tuple[str, str]]:
    """Return what judged: names and versions."""
    try:
        host = metadata.version("lm-eval")
    except metadata.PackageNotFoundError:
        host = "not installed"
    return [
        ("cruxeval-tasks", cruxeval_tasks.__version__),
        ("Python", platform.python_version()),
        ("lm-eval installed here", host),
        ("System", f"{platform.system()} on {platform.machine()}"),
    ]


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {value!r}" for name, value in settings.items())


def _missing(isolation: Mapping[str, str]) -> list[str]:
    return [layer for layer in LAYERS if layer not in isolation]
