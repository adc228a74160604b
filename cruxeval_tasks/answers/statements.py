"""Finding the statement of an answer in a piece of text: assertions, labels, calls with their values, sessions, prose."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from .python_text import Reader, Statement, is_call_of_f, parse, stands_alone, straighten

Direction = Literal["input", "output"]

_ASSERT = re.compile(r"\bassert\b[^\S\n]*(?=[^\s,.:;])")
_CALL = re.compile(r"(?<![\w.])(?<!def )f[^\S\n]?\(")
_BOXED = re.compile(r"\\boxed\s?\{")
_LATEX = re.compile(r"\\(?:text|texttt|mathtt|mathrm|mathbf|verb)\s?\{")
_LABEL = re.compile(
    r"^[^\S\n]{0,20}(?:[#>*_\-]{1,6}[^\S\n]{0,4}){0,3}(?P<words>(?:the[^\S\n])?(?:(?:final|correct|completed?|expected|predicted"
    r"|actual|resulting|returned?|return|my|function)[^\S\n]){0,3}"
    r"(?:answer|output|result|assertion|value|input|solution)s?)(?P<filler>[^\S\n](?:is|will be|would be|should be|of [^:\n]{1,60}))?"
    r"[^\S\n]{0,4}(?P<stop>[*_]{0,3}[:=\uff1a]?[*_]{0,3}|$)",
    re.IGNORECASE | re.MULTILINE,
)
_PROMPT = re.compile(r"^[^\S\n]{0,20}>>>[^\S\n]?", re.MULTILINE)
_FENCE = re.compile(r"^[^\S\n]{0,20}```+[^`\n]{0,40}$", re.MULTILINE)
_DRESS = "*_` \t\n\u00a0\u201c\u201d\u2018\u2019\u00ab\u00bb"
_CONNECTOR = re.compile(
    r"[^\S\n]{0,4}(?:[*_`]{0,4})[^\S\n]{0,4}(?:==|=>|->|=|\u2192|\u21d2|\u27f9|(?:will |would |should |does )?"
    r"(?:is|be|returns?|equals?|evaluates to|gives|yields|produces|prints|outputs)\b)"
    r"(?:[^\S\n](?:equal to|the|value|string|list|integer|dictionary|tuple|boolean|output|result|of|is|be|an?|empty)\b){0,4}"
    r"[^\S\n]{0,4}:?[^\S\n]{0,4}[*_`]{0,4}"
)
_STATED = re.compile(
    r"\b(?:answer|output|result|value|returns?|returned|returning|equals?|prints?|printed|gives|yields|outputs|produces|evaluates to|is|be)\b"
    r"(?:[^\S\n](?:equal to|the|value|string|list|integer|dictionary|tuple|boolean|output|result|of|is|be|an?|empty|this|function"
    r"|will|would|should|call|final)\b){0,6}[^\S\n]{0,4}[:=]?[^\S\n]{0,4}[*_`\u201c]{0,4}",
    re.IGNORECASE,
)
_COMMENT_WORDS = re.compile(
    r"(?:(?:expected|should|will|would|the|this|it|output|outputs?|result|returns?|return|prints?|value|answer|is|be|gives|equals)\b"
    r"[^\S\n]?){0,6}[^\S\n]?(?:==|=>|->|=|:|\u2192|\u21d2)?[^\S\n]?",
    re.IGNORECASE,
)
_CLOSE_ENOUGH = re.compile(r"[\s.,;:!*_`\"'\u201c\u201d\u2019)\]}\\$]*(?:$|\n|#|//|\(|because\b|since\b|as\b|and\b)")
_MAX_PLACES = 64


@dataclass(frozen=True)
class Found:
    """An answer, and where the statement that makes it begins and ends in the text."""

    start: int
    end: int
    answer: str
    call: str = ""


def stated_answer(text: str, direction: Direction) -> Found | None:
    """The last answer that is stated outright: by an assertion, a label or a box."""
    reader = Reader(text)
    asserted = _last_assertion(reader, direction)
    others = [_last_label(reader, direction), _last_box(reader, direction)]
    return max((f for f in [asserted, *others] if f is not None), key=lambda f: f.start, default=None)


def code_answer(text: str, direction: Direction) -> Found | None:
    """The last answer that stands on a line of its own, as code: a session, a comparison, a call."""
    reader = Reader(text)
    found = []
    for match in _last_matches(_CALL, text):
        item = _at_call(reader, match.start(), direction, own_line=True)
        if item is not None:
            found.append(item)
            break
    if direction == "output":
        reverse = _last_reversed(reader)
        if reverse is not None:
            found.append(reverse)
    return max(found, key=lambda f: f.start, default=None)


def bare_answer(text: str, direction: Direction) -> str | None:
    """The answer where `text` is nothing but it: one expression, in whatever typography."""
    text = _undress(text)
    for reading in (text, text.rstrip(" .;,"), _first_line(text)):
        expression = parse(reading)
        if expression is None:
            continue
        if direction == "output":
            return straighten(reading)
        call = _the_call(expression, straighten(reading))
        if call is not None:
            return call
    return None


def prose_answer(text: str, direction: Direction) -> str | None:
    """The last answer that is mentioned in a sentence."""
    reader = Reader(text)
    if direction == "input":
        for match in _last_matches(_CALL, text):
            item = _at_call(reader, match.start(), direction, own_line=False)
            if item is not None:
                return item.answer
        return None
    best: Found | None = None
    for match in _last_matches(_CALL, text):
        best = _at_call(reader, match.start(), direction, own_line=False)
        if best is not None:
            break
    for match in _last_matches(_STATED, text):
        if best is not None and match.start() <= best.start:
            break
        value = _value(reader, match.end(), strict=True)
        if value is not None and _CLOSE_ENOUGH.match(text, value.end):
            return value.answer
    return None if best is None else best.answer


def attempted(text: str) -> str | None:
    """The last line that tries to state an answer, well formed or not; None where none does."""
    for line in reversed(text.splitlines()[-400:]):
        if "assert f" in line:
            return line[line.index("assert f") :][:4096].strip()
    return None


def fenced_blocks(text: str) -> list[tuple[int, int, int]]:
    """(start of content, end of content, end of block) of each fenced block; the last may be unclosed."""
    marks = [(m.start(), m.end()) for m in _FENCE.finditer(text)]
    blocks = []
    for opening in range(0, len(marks), 2):
        start = marks[opening][1]
        if opening + 1 < len(marks):
            blocks.append((start, marks[opening + 1][0], marks[opening + 1][1]))
        else:
            blocks.append((start, len(text), len(text)))
    return blocks


def _last_matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return reversed(list(pattern.finditer(text))[-_MAX_PLACES:])


def _undress(text: str) -> str:
    """Strip quotes that are no Python, emphasis, backticks and end-of-line punctuation around `text`."""
    text = text.strip()
    if text.startswith("*") or text.startswith("_"):
        text = text.strip("*_ ")
    return text.strip(_DRESS.replace("*", "").replace("_", ""))


def _first_line(text: str) -> str:
    reader = Reader(text)
    statement = reader.statement(0)
    source = text[statement.start : statement.end]
    return source if stands_alone(parse(source), besides=frozenset("f")) else ""


def _the_call(expression: ast.expr, source: str) -> str | None:
    """The call of `f` in `f(…)` or `print(f(…))` or `x == f(…)`."""
    if is_call_of_f(expression):
        return source
    inner: ast.expr | None = None
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and expression.func.id == "print":
        inner = expression.args[0] if len(expression.args) == 1 else None
    elif isinstance(expression, ast.Compare):
        inner = next((e for e in [expression.left, *expression.comparators] if is_call_of_f(e)), None)
    if inner is not None and is_call_of_f(inner):
        return ast.get_source_segment(source, inner)
    return None


# Assertions


def _last_assertion(reader: Reader, direction: Direction) -> Found | None:
    """The last assertion that can be read.

    Assertions that follow each other with nothing between them are one statement, of which the first counts, as in
    the authors' post-processing; in output direction a later one about the same call corrects it.
    """
    chosen: Found | None = None
    run: list[Found] = []
    for match in _last_matches(_ASSERT, reader.text):
        item = _assertion(reader, match.start(), match.end(), direction)
        if item is None:
            continue
        if chosen is None:
            chosen = item
            run = [item]
            continue
        between = reader.text[item.end : run[-1].start]
        if between.strip(" \t\n;,.`"):
            break
        run.append(item)
    if chosen is None:
        return None
    first = run[-1]
    if direction == "input":
        return Found(chosen.start, chosen.end, first.answer)
    return next(item for item in run if item.call == first.call)


def _assertion(reader: Reader, begin: int, start: int, direction: Direction) -> Found | None:
    text = reader.text
    statement = reader.statement(start)
    for _ in range(3):  # assert (f(x) == y)
        if statement.compares or text[statement.start : statement.start + 1] != "(":
            break
        statement = reader.statement(statement.start + 1)
    if not statement.compares:
        return _broken_assertion(reader, begin, statement, direction)
    (left_end, right_start), *more = statement.compares
    right_end = next((at for at, _ in more if text[at : at + 2] == "=="), statement.end)
    left, right = straighten(text[statement.start : left_end]), straighten(text[right_start:right_end])
    reversed_sides = is_call_of_f(parse(_up_to_call_end(right))) and not left.startswith("f(")
    end = max(statement.end, right_end)
    if direction == "input":
        side = _up_to_call_end(right) if reversed_sides else left
        return Found(begin, end, side) if parse(side) is not None else None
    if reversed_sides:
        return Found(begin, end, left, right) if parse(left) is not None else None
    line_start = text.rfind("\n", 0, begin) + 1
    in_prose = any(character.isalpha() for character in text[line_start:begin])
    value = _value(reader, right_start, strict=in_prose, end=right_end, statement=statement)
    return None if value is None else Found(begin, end, value.answer, left)


def _up_to_call_end(text: str) -> str:
    if not text.startswith("f"):
        return text
    end = Reader(text).call_end(0)
    return text if end is None else text[:end]


def _broken_assertion(reader: Reader, begin: int, statement: Statement, direction: Direction) -> Found | None:
    """`assert f([1, 2) == 3`: the value can still be read where the call cannot."""
    text = reader.text
    line_end = text.find("\n", statement.start)
    line_end = len(text) if line_end < 0 else line_end
    at = text.find("==", statement.start, line_end)
    if at < 0 or direction == "input" or statement.whole and not text.startswith("f", statement.start):
        return None
    value = _value(reader, at + 2, strict=False)
    return None if value is None else Found(begin, value.end, value.answer, text[statement.start : at].strip())


# Values


def _value(
    reader: Reader, start: int, *, strict: bool, end: int | None = None, statement: Statement | None = None
) -> Found | None:
    """The value that begins at `start`.

    The whole logical line counts where it is an expression, else its longest beginning that can be meant as a value.
    With `strict` the line is taken for prose: words that are no Python values are never part of one.
    """
    text = reader.text
    if statement is None or end is None:
        statement = reader.statement(start)
        start = statement.start
        end = next((at for at, _ in statement.compares if text[at : at + 2] == "=="), statement.end)
    source = text[start:end]
    if not source.strip():
        return _typographic(reader, start)
    if not (strict and len(source) > 2000):
        expression = reader.parse(start, end)
        comma = next((at for at in statement.commas if at >= start), None)
        if expression is not None and comma is not None and isinstance(expression, ast.Tuple):
            if len(expression.elts) == 2 and _is_message(expression.elts[1]):
                return Found(start, comma, straighten(text[start:comma]))
        if expression is not None and (not strict or stands_alone(expression)):
            if strict and source.rstrip().endswith("."):
                end = start + len(source.rstrip()) - 1
            return Found(start, end, straighten(text[start:end]))
    cuts = [cut for cut in statement.cuts if start < cut < end][:24]
    for cut in reversed(cuts):
        piece = text[start:cut]
        if piece.rstrip().endswith((".", ",")) and len(piece.strip()) > 1:
            cut = start + len(piece.rstrip()) - 1
            piece = text[start:cut]
        if stands_alone(reader.parse(start, cut)):
            return Found(start, cut, straighten(piece))
    if not strict and reader.parse(start, end) is not None:
        return Found(start, end, straighten(source))
    return None


def _is_message(expression: ast.expr) -> bool:
    """Whether the part after the comma of an assertion is its message: a string, or what only code could make one."""
    if isinstance(expression, ast.Constant):
        return isinstance(expression.value, str)
    if isinstance(expression, ast.BinOp):
        return _is_message(expression.left)
    return isinstance(expression, (ast.JoinedStr, ast.Name, ast.Call))


def _typographic(reader: Reader, start: int) -> Found | None:
    """A string in typographic quotes where Python has straight ones."""
    text = reader.text
    while start < len(text) and text[start] in " \t\u00a0":
        start += 1
    closing = {"\u201c": "\u201d", "\u2018": "\u2019"}.get(text[start : start + 1])
    if closing is None:
        return None
    end = text.find(closing, start, start + 4096)
    if end < 0 or "\n" in text[start:end]:
        return None
    inner = text[start + 1 : end]
    if stands_alone(parse(inner)):
        return Found(start, end + 1, straighten(inner))
    return Found(start, end + 1, repr(inner))


# Labels and boxes


def _last_label(reader: Reader, direction: Direction) -> Found | None:
    text = reader.text
    for match in _last_matches(_LABEL, text):
        if not match["stop"].strip("*_") and not match["filler"] and text[match.end() : match.end() + 1] not in ("\n", ""):
            continue
        start = match.end()
        while start < len(text) and text[start] in " \t\n*_`\u201c\u00a0$":
            start += 1
        item = _labelled(reader, match, start, direction)
        if item is not None:
            return item
    return None


def _labelled(reader: Reader, match: re.Match[str], start: int, direction: Direction) -> Found | None:
    text = reader.text
    if direction == "input":
        if not _CALL.match(text, start):
            return None
        item = _at_call(reader, start, direction, own_line=False)
        return None if item is None else Found(match.start(), item.end, item.answer)
    if "input" in match["words"].lower() or text.startswith(("assert", "```", "{\n", "\\boxed"), start):
        return None
    if _CALL.match(text, start):
        item = _at_call(reader, start, direction, own_line=False)
        return None if item is None else Found(match.start(), item.end, item.answer)
    value = _value(reader, start, strict=True)
    if value is None or not _CLOSE_ENOUGH.match(text, value.end):
        return None
    return Found(match.start(), value.end, value.answer)


def _last_box(reader: Reader, direction: Direction) -> Found | None:
    r"""The content of the last `\boxed{…}`, without the LaTeX around it."""
    text = reader.text
    for match in _last_matches(_BOXED, text):
        start = match.end()
        for _ in range(3):
            latex = _LATEX.match(text, start)
            if latex is None:
                break
            start = latex.end()
        statement = reader.statement(start)
        content = text[statement.start : statement.end]
        if not stands_alone(parse(content), besides=frozenset("f")):
            line_end = text.find("\n", start)
            content = text[start : len(text) if line_end < 0 else line_end][:4096].rstrip(" .$*")
            content = re.sub(r"\\([{}_#%&$])", r"\1", content)
            while content.endswith("}") and parse(content) is None:
                content = content[:-1].rstrip("$ ")
        inner = stated_answer(content, direction) if "assert" in content else code_answer(content, direction)
        answer = inner.answer if inner is not None else bare_answer(content, direction)
        if answer is not None:
            return Found(match.start(), statement.end, answer)
    return None


# Calls of f


def _at_call(reader: Reader, start: int, direction: Direction, *, own_line: bool) -> Found | None:
    """The answer that a call of `f` at `start` states, with what follows it."""
    text = reader.text
    end = reader.call_end(start)
    if end is None:
        return None
    call = text[start:end]
    line_start = text.rfind("\n", 0, start) + 1
    before = text[line_start:start].strip(" \t*_`>-\u201c\u2018\u00ab")
    if own_line and re.sub(r"(?:print|assert|return|\w+\s?=)", "", before).strip(" (0123456789.)") != "":
        return None
    if direction == "input":
        expression = parse(call)
        if not is_call_of_f(expression):
            return None
        if not own_line and not (stands_alone(expression, besides=frozenset("f")) and call.replace(" ", "") != "f()"):
            return None
        return Found(start, end, straighten(call))
    value = _value_of_call(reader, end, line_start)
    return None if value is None else Found(start, value.end, value.answer, call)


def _value_of_call(reader: Reader, end: int, line_start: int) -> Found | None:
    text = reader.text
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    connector = _CONNECTOR.match(text, end)
    if connector is not None:
        return _value(reader, connector.end(), strict=True)
    rest = text[end:line_end].lstrip(" \t)`;*\u201d")
    if rest.startswith("#"):
        return _commented(reader, line_end - len(rest))
    if rest.strip():
        return None
    following = line_end + 1
    if _PROMPT.match(text, line_start):  # a session: the result is on the next line
        if _PROMPT.match(text, following) or not text[following : following + 1].strip():
            return None
        return _value(reader, following, strict=True)
    if text[following : following + 200].lstrip(" \t").startswith("#"):
        return _commented(reader, text.index("#", following))
    return None


def _commented(reader: Reader, hash_at: int) -> Found | None:
    """The value that a comment gives."""
    start = hash_at + 1
    while reader.text[start : start + 1] in ("#", " ", "\t", "\u00a0") and start < len(reader.text):
        start += 1
    words = _COMMENT_WORDS.match(reader.text, start)
    assert words is not None  # every part of it is optional
    return _value(reader, words.end(), strict=True)


def _last_reversed(reader: Reader) -> Found | None:
    """The last line `y == f(x)`."""
    text = reader.text
    for match in _last_matches(_CALL, text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if "==" not in text[line_start : match.start()]:
            continue
        statement = reader.statement(line_start)
        for at, after in statement.compares[:1]:
            left = straighten(text[statement.start : at])
            if is_call_of_f(parse(_up_to_call_end(straighten(text[after : statement.end])))) and stands_alone(parse(left)):
                return Found(line_start, statement.end, left)
    return None


_Finder = Callable[[str, Direction], "Found | None"]
