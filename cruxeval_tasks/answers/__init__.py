"""From the text of a completion to the answer in it. Pure text and `ast`: nothing is evaluated.

What is returned is source text: an expression, as the judge parses it; or, where something stands in the
place of the answer that is no expression, that text, which the judge calls malformed; or None, where
nothing is there.

Where a completion could be read in several ways, these rules decide, the earlier before the later:

1. Reasoning is dropped up to its last closing mark. A trace that is opened and never closed is no answer.
2. A turn ends at the first mark of its end that has text before it.
3. A completion that has answered and goes on with `[PYTHON]`, or outside a fence with a line `def name(`,
   has invented the next problem: nothing counts from there on. It has answered if it began as the direct
   prompt wants it (with an assertion, a call, or a value on a line of its own), or if it holds an answer tag
   with something in it.
4. Between answer tags, the last pair counts, or an unclosed last tag if an answer follows it. The first
   opening tag may stand in the prompt. After an assertion in the prompt's own form, tags with an assertion
   about something else are another problem. Tags that are only mentioned ("in [ANSWER] and [/ANSWER] tags")
   hold nothing.
5. In what remains, the answer field of a JSON object counts, unless the object stands in an assertion. If
   its string is no expression, the string itself is the value. A dict with double quotes and the key
   "answer" reads as JSON, too.
6. A text that is one expression is the answer as it stands; of a comparison, the side that the question
   leaves open.
7. The last fenced block with an answer in it counts, unless an answer is stated outright after it.
8. The last answer that is stated outright counts: by an assertion, by a label at the beginning of a line
   (`Answer:`, `**Output:**`, `The answer is`), or in `\\boxed{}`. So a correction counts, and what it
   corrects does not. But where a text begins with an assertion, later ones about another call (output) or
   value (input) are other examples; and of input assertions one after the other with nothing in between,
   the first counts, as it does for the authors.
9. Then, the last one of: a call with its value in a comment, in the next line of a session, or compared to
   it; the text as a whole without typography, or its first line; a call or a value that a sentence
   mentions.

In an assertion the whole other side counts, up to a further `==`, as the authors' post-processing has it; a
string after a comma is the message of the assertion. Only where that is no expression, and in sentences,
the longest beginning counts that can be meant as a value: one without words that Python does not know. A
mark (tag, end of turn, reasoning) inside a string literal of code on its line is text, as far as the line
can be read as code; so is a mark between quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from cruxeval_tasks.answers.json_field import Field, answer_field
from cruxeval_tasks.answers.markers import after_reasoning, within_turn
from cruxeval_tasks.answers.python_text import MAX_ANSWER, Reader, parse, stands_alone
from cruxeval_tasks.answers.statements import (
    attempted_answer,
    bare_answer,
    begins_with_assertion,
    code_answer,
    fenced_blocks,
    prose_answer,
    stated_answer,
    whole_answer,
)
from cruxeval_tasks.direction import Direction

__all__ = ["FINDERS", "input_answer", "output_answer", "stops_in_reasoning"]

_HEAD, _TAIL = 4_000, 16_000  # what is looked at of a longer text
_TAGS = 200  # tags that are looked at, from the end
_TAG = re.compile(r"[\[<](/?)ANSWER[\]>]", re.IGNORECASE)
_NEW_PROBLEM = re.compile(r"^[^\S\n]{0,8}(?:\[PYTHON\]|def \w{1,80}\()", re.MULTILINE)
_EQUALS = re.compile(r"\s*==(?!=)")
_THOUGHT_END = "[/THOUGHT]"
_PLACEHOLDER = re.compile(r"[\sA-Za-z,.\u2026?`*<>-]{0,60}")


def output_answer(completion: str) -> str | None:
    """Return the answer of an output prediction: the expression stated as the value of the call of `f`, or
    None."""
    return _answer(completion, "output")


def input_answer(completion: str) -> str | None:
    """Return the answer of an input prediction: the call of `f`, or None."""
    return _answer(completion, "input")


FINDERS: Mapping[Direction, Callable[[str], str | None]] = {"input": input_answer, "output": output_answer}
"""What finds the answer of each direction."""


def stops_in_reasoning(completion: str) -> bool:
    """Return whether a completion opens a reasoning trace that it never closes."""
    return after_reasoning(Reader(completion)) is None


def _answer(completion: str, direction: Direction) -> str | None:
    text = after_reasoning(Reader(completion))
    if text is None:
        return None
    if len(text) > _HEAD + _TAIL:
        text = text[:_HEAD] + "\n" + text[-_TAIL:]
    reader = Reader(text.replace("\r\n", "\n").replace("\r", "\n"))
    reader = reader.on(within_turn(reader))
    reader = reader.on(_before_invented_problem(reader))
    if direction == "output" and (equals := _EQUALS.match(reader.text)):  # the prompt ended with the call
        reader = reader.on(reader.text[equals.end() :])
    zones = _tagged_zones(reader)
    if zones:
        return _in_zone(reader.on(_last_about_the_question(reader, zones, direction)), direction, tagged=True)
    zone = _untagged_zone(reader)
    return None if zone is None else _in_zone(reader.on(zone), direction, tagged=False)


def _before_invented_problem(reader: Reader) -> str:
    """The text up to where, having answered, it goes on to pose another problem."""
    text = reader.text
    for number, match in enumerate(_NEW_PROBLEM.finditer(text)):
        if number == 8:
            break
        head = text[: match.start()]
        if match[0].strip() != "[PYTHON]" and head.count("```") % 2:
            continue
        if _begins_with_answer(reader.on(head)) or _tagged_zones(reader.on(head)):
            return head
    return text


def _last_about_the_question(reader: Reader, zones: list[str], direction: Direction) -> str:
    """The last zone; but after an answer to the direct prompt, one that asserts about something else is
    passed over."""
    head = stated_answer(reader.on(zones[0]), direction) if begins_with_assertion(reader.text) else None
    if head is not None and head.question:
        for zone in reversed(zones[1:]):
            found = stated_answer(reader.on(zone), direction)
            if found is None or found.question in ("", head.question):
                return zone
        return zones[0]
    return zones[-1]


def _begins_with_answer(reader: Reader) -> bool:
    """Whether the text begins as a completion of a direct prompt does: with an assertion, a call or a
    value."""
    if begins_with_assertion(reader.text):
        return True
    statement = reader.statement(0)
    rest = reader.text[statement.end : statement.end + MAX_ANSWER].partition("\n")[0].strip(" .;")
    if rest and not rest.startswith(("#", "[", "<")):
        return False
    return stands_alone(reader.parse(statement.start, statement.end), besides=frozenset("f"))


def _tagged_zones(reader: Reader) -> list[str]:
    """The texts between answer tags, in order.

    The first opening tag may stand in the prompt, the last zone may be unclosed. A tag inside a string
    literal of the answer is none, and tags that are only mentioned hold no zone.
    """
    text = reader.text
    tags = list(_TAG.finditer(text))[-_TAGS:]
    if not tags:
        return []
    zones: list[tuple[str, bool]] = []
    opened: int | None = None
    passed = reader.statement(0).end if _begins_with_answer(reader) else 0
    for tag in tags:
        if tag.start() < passed or reader.in_literal(tag.start()):
            continue
        if not tag[1]:
            if opened is not None:
                zones.append((text[opened : tag.start()], False))
            opened = tag.end()
            passed = reader.statement(opened).end
        elif opened is not None or not any(closed for _, closed in zones):
            zones.append((text[opened or 0 : tag.start()], True))
            opened = None
    if opened is not None:
        zones.append((text[opened:], False))
    holding = [(zone, closed) for zone, closed in zones if _says_something(zone)]
    complete = [zone for zone, closed in holding if closed]
    if complete and not holding[-1][1] and not _begins_with_answer(reader.on(holding[-1][0].lstrip("`* \n"))):
        return complete
    return [zone for zone, _ in holding]


def _says_something(zone: str) -> bool:
    """Whether a zone is more than the words between tags that are only mentioned."""
    zone = zone.strip()
    return _PLACEHOLDER.fullmatch(zone) is None or (zone != "..." and parse(zone) is not None)


def _untagged_zone(reader: Reader) -> str | None:
    """The text after the authors' thought tags, where they are closed."""
    text = reader.text
    thought_end = text.rfind(_THOUGHT_END)
    if thought_end >= 0 and text[thought_end + len(_THOUGHT_END) :].strip():
        return text[thought_end + len(_THOUGHT_END) :]
    if thought_end < 0 and text.lstrip().startswith("[THOUGHT]"):
        return None
    if not _begins_with_answer(reader):
        text = _TAG.sub(lambda tag: tag[0] if reader.in_literal(tag.start()) else " ", text)
    return text if text.strip() else None


def _in_zone(reader: Reader, direction: Direction, *, tagged: bool) -> str | None:
    zone = reader.text
    field = answer_field(reader)
    if field is not None:
        return _from_field(reader, field, direction)
    answer = whole_answer(reader, direction)
    if answer is not None:
        return answer
    for start, end, block_end in reversed(fenced_blocks(zone)[-8:]):
        answer = _in_block(reader.on(zone[start:end]), direction)
        if answer is not None:
            later = stated_answer(reader.on(zone[block_end:]), direction)
            return answer if later is None else later.answer
    answer = _in_block(reader, direction) or prose_answer(reader, direction)
    if answer is not None:
        return answer
    if tagged or _begins_with_answer(reader):
        return _as_it_stands(zone)
    return attempted_answer(zone)


def _in_block(reader: Reader, direction: Direction) -> str | None:
    """The answer in code, or in text that may be code."""
    found = stated_answer(reader, direction) or code_answer(reader, direction)
    return bare_answer(reader, direction) if found is None else found.answer


def _from_field(reader: Reader, field: Field, direction: Direction) -> str | None:
    """The answer in the answer field of a JSON object. A string that is no expression is itself the value."""
    later = stated_answer(reader, direction)
    if later is not None and later.start > field.start + len(field.readings[0]):
        return later.answer
    for reading in field.readings:
        inner = reader.on(reading)
        found = stated_answer(inner, direction) or code_answer(inner, direction)
        if found is not None:
            return found.answer
        if direction == "output" and stands_alone(parse(reading)):
            return reading.strip()
    if field.string is None or direction == "input":
        return _as_it_stands(field.readings[0])
    return repr(field.string)


def _as_it_stands(zone: str) -> str | None:
    """What stands where the answer should, for the judge to call malformed."""
    zone = zone.strip()
    return (zone if len(zone) <= MAX_ANSWER else zone[:MAX_ANSWER] + " \u2026") or None
