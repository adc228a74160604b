"""The answer field of a JSON object, read leniently: models get the escapes wrong."""

from __future__ import annotations

import json
import re

from .python_text import MAX_ANSWER, Reader, is_call_of_f, parse, stands_alone

_KEY = re.compile(r"[\"'](?:final[_ ]?)?(?:answer|output)[\"']\s{0,20}:\s{0,20}", re.IGNORECASE)
_STRING = re.compile(r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([\"\\/bfnrtu])|(.))", re.DOTALL)


def answer_field(reader: Reader) -> tuple[str, bool] | None:
    """The value of the last answer field in the text, and whether it is Python source; None where there is none.

    A JSON string that holds Python source, whichever way its escapes were meant, comes as that source, and so does a
    value that is no string. Any other string comes as the text that it stands for.
    """
    last = None
    for last in _KEY.finditer(reader.text):
        pass
    if last is None:
        return None
    window = reader.text[last.end() : last.end() + MAX_ANSWER]
    match = _STRING.match(window)
    if match is not None:
        if match[0] == '""' and window.startswith('""""'):  # an empty Python string, in quotes
            return '""', True
        return _meant(match[0][1:-1])
    if window.startswith('"'):  # cut short
        return None
    return _no_string(reader.on(window))


def _meant(raw: str) -> tuple[str, bool]:
    """What a JSON string stands for, given the text between its quotes."""
    mended = _ESCAPE.sub(lambda escape: escape[0] if escape[1] else ("" if escape[2] == "'" else "\\\\") + escape[2], raw)
    try:
        decoded = str(json.loads(f'"{mended}"', strict=False))
    except ValueError:
        decoded = raw
    for reading in (decoded, raw, decoded.replace("\n", "\\n").replace("\r", "\\r")):
        if reading.strip() in ("True", "False", "None") or stands_alone(parse(reading)) or "assert " in reading:
            return reading, True
        if is_call_of_f(parse(reading)):
            return reading, True
    return decoded, False


def _no_string(reader: Reader) -> tuple[str, bool] | None:
    """A value without double quotes: JSON, or Python where the model forgot which it was writing."""
    try:
        value, _ = json.JSONDecoder().raw_decode(reader.text)
        return repr(value), True
    except (ValueError, RecursionError):
        pass
    statement = reader.statement(0)
    end = statement.commas[0] if statement.commas else statement.end
    source = reader.text[statement.start : end]
    if source.startswith("'") and stands_alone(reader.parse(statement.start, end)):
        inner, is_source = _meant(source.strip()[1:-1])
        return (inner, True) if is_source else (source, True)
    return (source, True) if source.strip() else None
