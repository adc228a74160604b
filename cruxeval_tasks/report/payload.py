"""What the page's script reads: problems and samples as JSON, packed so that no text in it can be taken for markup."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES, Token

from cruxeval_tasks.answers import FINDERS
from cruxeval_tasks.report.data import NamedRun, Report, spread
from cruxeval_tasks.report.marking import place

MAX_PACKED = 4_300_000
"""Bytes of packed data, so that the page as a whole stays below 5 MB."""

_CUTS = (40_000, 12_000, 4_000, 2_000, 1_000, 400)
"""Characters of a text up to which it is kept whole, tried in turn until the data is small enough."""

Segment = str | int | list[str]
"""Of a completion: text, a number of characters left out, or the answer in a list of one."""


def pack(report: Report) -> tuple[str, int]:
    """Return the data as base64 of zlib-compressed JSON, and the number of texts whose middle had to be left out.

    The alphabet of base64 holds nothing that could end a script element.
    """
    places = _places(report)
    packed, left_out = "", 0
    for cut in _CUTS:
        body, left_out = _body(report, places, cut)
        text = json.dumps(body, ensure_ascii=True, separators=(",", ":"))
        packed = base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")
        if len(packed) <= MAX_PACKED:
            break
    return packed, left_out


Places = dict[tuple[int, str], dict[str, tuple[int, int] | None]]


def _places(report: Report) -> Places:
    """The answer's place in each distinct completion, for each run's number and problem id."""
    found: Places = {}
    for number, run in enumerate(report.runs):
        score = run.score
        if score.run.are_answers:
            continue
        for key, answers in score.answers.items():
            extract = FINDERS[score.direction]
            distinct = dict(zip(score.run.texts[key], answers, strict=True))
            found[number, key] = {t: place(t, answer, score.direction, extract) for t, answer in distinct.items()}
    return found


def _body(report: Report, places: Places, cut: int) -> tuple[dict[str, Any], int]:
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    counted = _Shortener()
    problems = []
    for problem in report.problems:
        facts = report.facts[problem.id]
        entry = {
            "id": problem.id,
            "code": list(_highlighted(lexer, problem.code)),
            "input": problem.input,
            "output": problem.output,
            "type": facts.value_type,
            "lines": facts.lines,
            "branches": facts.branches,
            "calls": facts.calls,
            "executed": report.executed.get(problem.id),
            "spread": float(spread(report.runs, problem.id)),
            "runs": [_samples(run, places, number, problem.id, cut, counted) for number, run in enumerate(report.runs)],
        }
        problems.append(entry)
    runs = [{"name": run.name, "direction": run.direction, "answers": run.score.run.are_answers} for run in report.runs]
    return {"runs": runs, "problems": problems}, counted.left_out


class _Shortener:
    """Counts the texts of which something was left out."""

    def __init__(self) -> None:
        self.left_out = 0

    def shorten(self, text: str, cut: int) -> list[Segment]:
        """Return a text as segments, its middle left out where it is longer than `cut`."""
        if len(text) <= cut:
            return [text] if text else []
        self.left_out += 1
        head = cut // 3
        return [text[:head], len(text) - cut, text[head - cut :]]


def _samples(
    run: NamedRun, places: Places, number: int, key: str, cut: int, counted: _Shortener
) -> dict[str, Any] | None:
    """A run's samples of one problem, equal ones together; None where it has none."""
    score = run.score
    if key not in score.verdicts:
        return None
    texts, answers, verdicts = score.run.texts[key], score.answers[key], score.verdicts[key]
    first: dict[str, dict[str, Any]] = {}
    for at, (text, answer, verdict) in enumerate(zip(texts, answers, verdicts, strict=True), start=1):
        if text in first:
            first[text]["numbers"].append(at)
            continue
        sample: dict[str, Any] = {"numbers": [at], "status": verdict.status.value, "reason": verdict.reason}
        sample["answer"] = counted.shorten(answer, cut) if answer else None
        if verdict.obtained is not None:
            sample["obtained"] = verdict.obtained
        if not score.run.are_answers:
            sample["text"] = _segments(text, places[number, key][text], cut, counted)
        first[text] = sample
    prompt = score.run.prompts.get(key)
    return {
        "passed": sum(v.passed for v in verdicts),
        "samples": list(first.values()),
        **({"prompt": counted.shorten(prompt, max(cut, 4_000))} if prompt is not None else {}),
    }


def _segments(text: str, at: tuple[int, int] | None, cut: int, counted: _Shortener) -> list[Segment]:
    if at is None:
        return counted.shorten(text, cut)
    start, end = at
    if len(text) <= cut:
        parts: Sequence[Segment] = (text[:start], [text[start:end]], text[end:])
        return [part for part in parts if part]
    answer = counted.shorten(text[start:end], cut)
    marked: list[Segment] = [part if isinstance(part, int) else [str(part)] for part in answer]
    return [*counted.shorten(text[:start], cut), *marked, *counted.shorten(text[end:], cut)]


def _highlighted(lexer: PythonLexer, code: str) -> Iterator[str]:
    """Source as pairs of a style's class and text, one after the other, neighbours of one class together."""
    # The lexer takes "\r\n" and "\r" for "\n", as Python does.
    current, text = "", ""
    for kind, value in lexer.get_tokens(code):
        while kind not in STANDARD_TYPES:
            kind = kind.parent or Token
        name = STANDARD_TYPES[kind]
        if name == "w" or not value.strip(" \n"):
            name = current  # blanks look the same in every style
        if name != current and text:
            yield from (current, text)
            text = ""
        current = name
        text += value
    if text:
        yield from (current, text)
