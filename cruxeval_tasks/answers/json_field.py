"""The answer field of a JSON object, read leniently: models get the escapes wrong."""

from __future__ import annotations

import json
import re

from .python_text import MAX_ANSWER, Reader, parse, stands_alone

_KEY = re.compile(r"[\"'](?:final[_ ]?)?(?:answer|output)[\"']\s{0,20}:\s{0,20}", re.IGNORECASE)
_STRING = re.compile(r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"", re.DOTALL)
_BAD_ESCAPE = re.compile(r"\\(?:([\"\\/bfnrtu])|(.))", re.DOTALL)


def answer_field(text: str) -> tuple[str, bool] | None:
    """Return the value of the last answer field in `text`, and whether it was a string; None where there is none.

    A value that is not a string comes as Python source. So does a string that holds Python source, whichever way
    its escapes were meant; any other string comes as the text it stands for.
    """
    last = None
    for last in _KEY.finditer(text):
        pass
    return None if last is None else _value(text, last.end())


def _value(text: str, start: int) -> tuple[str, bool] | None:
    window = text[start : start + MAX_ANSWER]
    match = _STRING.match(window)
    if match is None:
        if window.startswith('"'):  # never closed: the completion was cut short
            return None
        return _bare(window)
    raw = match[0][1:-1]
    if not raw and window.startswith('""""'):  # an empty Python string in JSON quotes
        return '""', True
    return _meant(raw), True


def _meant(raw: str) -> str:
    """The text that a JSON string stands for, given what is between its quotes."""
    mended = _BAD_ESCAPE.sub(lambda m: m[0] if m[1] else (m[2] if m[2] == "'" else "\\\\" + m[2]), raw)
    try:
        decoded: str = json.loads(f'"{mended}"', strict=False)
    except ValueError:
        decoded = raw
    for reading in (decoded, raw, decoded.replace("\n", "\\n").replace("\r", "\\r")):
        if stands_alone(parse(reading), besides=frozenset("f")):
            return reading
    return decoded


def _bare(window: str) -> tuple[str, bool] | None:
    """A value without double quotes: JSON, or Python where the model forgot which it writes."""
    try:
        value, _ = json.JSONDecoder().raw_decode(window)
        return repr(value), False
    except (ValueError, RecursionError):
        pass
    reader = Reader(window)
    statement = reader.statement(0)
    end = statement.commas[0] if statement.commas else statement.end
    source = window[statement.start : end]
    expression = parse(source)
    if not stands_alone(expression):
        return (source, False) if source.strip() else None
    if window[statement.start] == "'":  # a string in single quotes, which may hold source like one in double quotes
        inner = source.strip()[1:-1]
        return (_meant(inner), True) if stands_alone(parse(inner)) else (source, False)
    return source, False
