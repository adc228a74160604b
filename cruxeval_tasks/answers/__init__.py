"""From the text of a completion to the answer in it. Pure text and `ast`; nothing is evaluated here."""

from __future__ import annotations

import re

from .json_field import answer_field
from .markers import after_reasoning, within_turn
from .python_text import MAX_ANSWER, Reader, is_call_of_f, parse, stands_alone
from .statements import (
    Direction,
    attempted,
    bare_answer,
    code_answer,
    fenced_blocks,
    prose_answer,
    stated_answer,
)

__all__ = ["input_answer", "output_answer"]

_HEAD, _TAIL = 16_000, 48_000
_TAG = re.compile(r"[\[<](/?)ANSWER[\]>]", re.IGNORECASE)
_NEW_PROBLEM = re.compile(r"^[^\S\n]{0,8}(?:\[PYTHON\]|def \w{1,80}\()", re.MULTILINE)
_THOUGHT_END = re.compile(r"\[/THOUGHT\]", re.IGNORECASE)


def output_answer(completion: str) -> str | None:
    """Return the answer of an output prediction: the expression stated as the value of the call of `f`, or None."""
    return _answer(completion, "output")


def input_answer(completion: str) -> str | None:
    """Return the answer of an input prediction: the call of `f`, or None."""
    return _answer(completion, "input")


def _answer(completion: str, direction: Direction) -> str | None:
    text = after_reasoning(completion)
    if text is None:
        return None
    if len(text) > _HEAD + _TAIL:
        text = text[:_HEAD] + "\n" + text[-_TAIL:]
    text = within_turn(text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _before_invented_problem(text)
    zone, tagged = _zone(text)
    if zone is None:
        return None
    return _in_zone(zone, direction, tagged=tagged)


def _before_invented_problem(text: str) -> str:
    """Cut `text` where it has given an answer and goes on to pose another problem."""
    for number, match in enumerate(_NEW_PROBLEM.finditer(text)):
        if number == 8:
            break
        head = text[: match.start()]
        if match[0].strip() != "[PYTHON]" and head.count("```") % 2:
            continue
        if _tagged_zones(head) or _starts_with_answer(head):
            return head
    return text


def _starts_with_answer(text: str) -> bool:
    """Whether `text` begins as a completion of the direct prompt does: with an assertion, a call or a value."""
    start = text.lstrip()[:MAX_ANSWER]
    if start.startswith(("assert ", "f(")):
        return True
    statement = Reader(start).statement(0)
    return stands_alone(parse(start[: statement.end]))


def _tagged_zones(text: str) -> list[str]:
    """The texts between answer tags, in order, without those that only mention the tags.

    A tag inside a string literal of the answer is none. The last zone may be unclosed.
    """
    reader = Reader(text)
    zones: list[str] = []
    opened: int | None = 0 if _starts_with_answer(text) else None
    prompt_opened = opened is not None
    skip_to = reader.statement(0).end if prompt_opened else 0
    first_close = True
    for tag in _TAG.finditer(text):
        if tag.start() < skip_to:
            continue
        if tag[1]:
            if opened is None and first_close and not zones:
                opened = 0  # the prompt opened it
            if opened is not None:
                zones.append(text[opened : tag.start()])
            opened, first_close = None, False
        else:
            if opened is not None and not prompt_opened:
                zones.append(text[opened : tag.start()])
            opened, prompt_opened = tag.end(), False
            start = reader.statement(opened)
            skip_to = start.end
    if opened is not None and not prompt_opened:
        rest = text[opened:]
        if not zones or _looks_like_answer(rest):
            zones.append(rest)
    return [zone for zone in zones if _says_something(zone)]


def _looks_like_answer(text: str) -> bool:
    return _starts_with_answer(text.lstrip("`*\n ")) or "assert" in text[:MAX_ANSWER]


def _says_something(zone: str) -> bool:
    """False for what stands between tags that are only talked about, as in "in [ANSWER] and [/ANSWER] tags"."""
    zone = zone.strip()
    if not zone or zone == "..." or zone == "\u2026":
        return False
    if parse(zone) is not None:
        return True
    return re.fullmatch(r"[\sA-Za-z,.\u2026?`*<>-]{0,60}", zone) is None


def _zone(text: str) -> tuple[str | None, bool]:
    zones = _tagged_zones(text)
    if zones:
        return zones[-1], True
    thought = None
    for thought in _THOUGHT_END.finditer(text):
        pass
    if thought is not None and text[thought.end() :].strip():
        text = text[thought.end() :]
    elif thought is None and "[THOUGHT]" in text:
        return None, False
    text = _TAG.sub(" ", text)
    return (text if text.strip() else None), False


def _in_zone(zone: str, direction: Direction, *, tagged: bool) -> str | None:
    field = answer_field(zone)
    if field is not None and "assert" not in zone.partition("{")[0]:
        return _from_field(*field, direction)
    for start, end, block_end in reversed(fenced_blocks(zone)[-8:]):
        answer = _in_block(zone[start:end], direction)
        if answer is not None:
            later = stated_answer(zone[block_end:], direction)
            return answer if later is None else later.answer
    answer = _in_block(zone, direction, tagged=tagged)
    if answer is not None:
        return answer
    answer = prose_answer(zone, direction)
    if answer is not None:
        return answer
    if tagged or _starts_with_answer(zone):
        return zone.strip()[: MAX_ANSWER + 1] or None
    return attempted(zone)


def _in_block(block: str, direction: Direction, *, tagged: bool = True) -> str | None:
    """The answer in a piece of code, or in text that may hold one."""
    found = stated_answer(block, direction) or code_answer(block, direction)
    if found is not None:
        return found.answer
    return bare_answer(block, direction)


def _from_field(value: str, is_string: bool, direction: Direction) -> str | None:
    """The answer in the answer field of a JSON object."""
    found = stated_answer(value, direction) if "assert" in value else None
    found = found or code_answer(value, direction)
    if found is not None:
        return found.answer
    if direction == "input":
        return value.strip() or None
    expression = parse(value)
    if not is_string or (stands_alone(expression) and not is_call_of_f(expression)):
        return value.strip()
    bare_constant = value.strip() in ("True", "False", "None")
    return value.strip() if bare_constant else repr(value)
