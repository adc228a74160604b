"""The answer field of a JSON object, read leniently: models get the escapes wrong."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from cruxeval_tasks.answers.python_text import MAX_ANSWER, Reader, parse

_KEY = re.compile(r"(?:^|(?<=[{,:\s]))\"(?:(?:final|predicted)[_ ]?)?(?:answer|output)\"\s{0,20}:\s{0,20}", re.IGNORECASE)
_STRING = re.compile(r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([\"\\/bfnrtu])|(.))", re.DOTALL)
_ASSERTION_LINE = re.compile(r"^[^\S\n]*assert\b", re.MULTILINE)


@dataclass(frozen=True)
class Field:
    """The value of an answer field.

    Attributes:
        start: Index of the value in its text.
        readings: The ways to read it as Python source, the likeliest first.
        string: The text that it stands for, where it is a string.
    """

    start: int
    readings: list[str]
    string: str | None = None


def answer_field(reader: Reader) -> Field | None:
    """The last answer field in the text."""
    text = reader.text
    keys = [key for key in list(_KEY.finditer(text))[-8:] if not reader.in_literal(key.start(), whole_line=True)]
    if not keys:
        return None
    start = keys[-1].end()
    assertions = [line.end() for line in _ASSERTION_LINE.finditer(text, 0, start)]
    if assertions and reader.statement(assertions[-1]).end > start:  # a dict in an assertion
        return None
    window = text[start : start + MAX_ANSWER]
    match = _STRING.match(window)
    if match is not None:
        if match[0] == '""' and window.startswith('""""'):  # an empty Python string, in quotes
            return Field(start, ['""'])
        return _string(start, match[0][1:-1])
    if window.startswith('"'):  # cut short
        return None
    return _no_string(start, reader.on(window))


def _string(start: int, raw: str) -> Field:
    """The value of a JSON string, given the text between its quotes."""
    mended = _ESCAPE.sub(_valid_escape, raw)
    try:
        decoded = str(json.loads(f'"{mended}"', strict=False))
    except ValueError:
        decoded = raw
    return Field(start, [decoded, raw, decoded.replace("\n", "\\n").replace("\r", "\\r")], decoded)


def _valid_escape(escape: re.Match[str]) -> str:
    r"""`\'` is no escape in JSON and means the quote; before anything else the backslash means itself."""
    if escape[1]:
        return escape[0]
    return "'" if escape[2] == "'" else "\\\\" + escape[2]


def _no_string(start: int, reader: Reader) -> Field | None:
    """A value without double quotes: JSON, or Python where the model forgot which it was writing."""
    try:
        value, _ = json.JSONDecoder().raw_decode(reader.text)
        return Field(start, [repr(value)])
    except (ValueError, RecursionError):
        pass
    statement = reader.statement(0)
    end = statement.commas[0] if statement.commas else statement.end
    source = reader.text[statement.start : end].strip()
    if not source:
        return None
    if source.startswith("'") and parse(source) is not None:
        return _string(start, source[1:-1])
    return Field(start, [source])
