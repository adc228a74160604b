"""Finding where a text states an answer: assertions, labels, boxes, calls with their values, sessions,
sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cruxeval_tasks.answers.python_text import (
    MAX_ANSWER,
    Reader,
    Statement,
    is_call_of_f,
    parse,
    stands_alone,
    straighten,
)
from cruxeval_tasks.direction import Direction

_PLACES = 48  # places of one kind that are looked at in one text
_GAP = r"[^\S\n]{0,6}"
_ASSERT = re.compile(r"\bassert\b[^\S\n]*(?=[^\s,.:;`*\u201d])")
_CALL = re.compile(r"(?<![\w.])(?<!def )f[^\S\n]?\(")
_BEFORE_CALL = re.compile(
    r"(?:\d{1,3}[.)][^\S\n]*)?(?:\w{1,40}[^\S\n]?=[^\S\n]?|return[^\S\n])?(?:print|repr)?[^\S\n]?\(*"
)
_BOXED = re.compile(r"\\boxed\s?\{")
_LATEX = re.compile(r"\\(?:text|texttt|mathtt|mathrm|mathbf|verb)\s?\{")
_LATEX_WORD = re.compile(r"\\(?:text|texttt|mathtt|mathrm|mathbf)\{([^{}\\]{0,400})\}")
_LATEX_BRACE = re.compile(r"\\[{}]")
_LATEX_ESCAPE = re.compile(r"\\([{}_#%&$])")
# "Answer", "output", "result" and "return value" as a label, in languages that chat models fall into.
_FOREIGN = (
    "(?:最终|所以|因此|正确)?的?(?:答案|输出|结果|返回值)(?:是|为)?"
    "|(?:最終的な)?(?:答え|出力|結果|回答|戻り値)"
    "|(?:최종 )?(?:정답|답|출력|결과)"
    "|(?:respuesta|resultado|salida|resposta|saída)(?: final)?"
    "|(?:réponse|résultat|sortie)(?: finale?)?"
    "|risposta|risultato"
    "|antwort|ergebnis|ausgabe"
    "|ответ|вывод|результат"
)
_LABEL = re.compile(
    rf"^{_GAP}(?:[#>*_-]{{1,6}}{_GAP}){{0,3}}(?P<words>(?:(?:the|so|thus|therefore|final|correct|completed?|expected|predicted|actual"
    r"|resulting|returned?|return|my|function)[^\S\n,]{1,2}){0,4}(?:answer|output|result|assertion|value|input|solution)"
    rf"|{_FOREIGN})"
    rf"(?P<verb>[^\S\n](?:is|will be|would be|should be)\b)?[*_]{{0,3}}{_GAP}(?P<stop>[:=\uff1a]|$)?",
    re.IGNORECASE | re.MULTILINE,
)
_DRESS = re.compile(r"[\s*_`$\u201c\u2018\u00ab]*(?:[-\u2022]\s+)?[*_`$\u201c\u2018\u00ab]*")
_PROMPT = re.compile(r"[^\S\n]{0,20}>>>")
_FENCE = re.compile(r"^[^\S\n]{0,20}```+[^`\n]{0,40}$", re.MULTILINE)
_VERB = (
    r"(?:(?:will|would|should|does|must|can)[^\S\n])?"
    r"(?:is|be|are|returns?|returned|returning|equals?|evaluates to|gives|yields|produces|prints?|printed"
    r"|outputs?)\b"
)
_FILLER = (
    r"(?:[^\S\n](?:equal to|equals|exactly|simply|just|the|value|string|list|integer|dictionary|dict|tuple"
    r"|boolean|output|result|of|is|be|an?|empty|this|function|will|would|should|final)\b){0,6}"
)
_CONNECTOR = re.compile(
    rf"{_GAP}[*_`]{{0,4}}{_GAP}(?:=>|->|==?|\u2192|\u21d2|\u27f9|{_VERB}){_FILLER}{_GAP}:?{_GAP}[*_`]{{0,4}}"
)
_STATED = re.compile(
    rf"\b(?:answer|output|result|value|{_VERB}){_FILLER}{_GAP}[:=]?{_GAP}[*_`\u201c$]{{0,4}}", re.IGNORECASE
)
_SPAN = re.compile(
    r"(?:(?<![\w`*])(?:`{1,3}|\*\*)|<(?:code|output|result|solution|b|strong)>\s?|\\(?:text|texttt|mathtt|mathrm)\{)"
    r"(?=[^\s`*])",
    re.IGNORECASE,
)
_SPAN_END = re.compile(r"[`*}]|\s?</")
_REMARK = re.compile(
    r"#[#\s]{0,6}(?:(?:expected|should|will|would|this|the|it|output|outputs|result|return|returns|print|prints|value|answer|is|be|gives"
    r"|equals)\b[^\S\n]?){0,6}[^\S\n]?(?:==|=>|->|=|:|\u2192|\u21d2)?",
    re.IGNORECASE,
)
_REMARK_LABEL = re.compile(
    r"#+\s*(?:(?:expected |the )?(?:output|result|returns|prints"
    r"|value|answer)\s*(?::|=>|->)|[=-]>)\s*(?P<shown>\S.*)",
    re.IGNORECASE,
)
_REMARK_LINE = re.compile(r"[^\S\n]*#")
# What may follow a value that a sentence or a label gives: the end of the line or of the clause.
_CLAUSE_END = re.compile(
    r"[\s*_`\"'\u201d\u2019\u00bb)\]}\\$]*(?:$|\n|[.,;:!。、，；！]|#|//|\(|(?:because|since|as|and|so|which|when|for)\b)"
)
_BETWEEN = re.compile(r"[\s`;,.>]*")
_OPENING = re.compile(r"[\s*>\u00a0\u201c`]*(?:(?<=```)(?:python|py)?\s+)?assert\b")


@dataclass(frozen=True)
class Found:
    """An answer, and where the text states it.

    Attributes:
        start, end: Indices of the statement in its text.
        answer: Source text of the answer.
        question: What the statement holds fixed, without its spaces: the call in output direction, else the
            value.
        about_f: Whether it is an assertion about a call of `f`.
    """

    start: int
    end: int
    answer: str
    question: str = ""
    about_f: bool = False


def stated_answer(reader: Reader, direction: Direction) -> Found | None:
    """The last answer that is stated outright: by an assertion, a label or a box."""
    found = [_asserted(reader, direction), _labelled(reader, direction), _boxed(reader, direction)]
    return max((item for item in found if item is not None), key=lambda item: item.start, default=None)


def code_answer(reader: Reader, direction: Direction) -> Found | None:
    """The last answer that has a line of its own, as code: a call with its value, a session, a comparison."""
    text = reader.text
    for match in _last(_CALL, reader):
        if "==" in text[max(0, match.start() - 400) : match.start()]:
            item = _compared_backwards(reader, match.start(), direction)
            if item is not None:
                return item
        if not _has_own_line(text, match.start()):
            continue
        item = _at_call(reader, match.start(), direction)
        if item is not None:
            return item
    return None


def whole_answer(reader: Reader, direction: Direction) -> str | None:
    """The answer where the text is one expression: that, or the side of a comparison with a call of `f`."""
    if len(reader.text) > MAX_ANSWER:
        return None
    text = straighten(reader.text)
    reader = reader.on(text)
    expression = reader.parse(0, len(text))
    if expression is None:
        return None
    statement = reader.statement(0)
    equal = any(text[start] == "=" for start, _ in statement.compares)
    if equal or (isinstance(expression, ast.Compare) and is_call_of_f(expression.left) and statement.compares):
        found = _comparison(reader, 0, statement, direction, in_prose=False)
        return None if found is None else found.answer
    shown = _shown(expression)
    if is_call_of_f(shown):  # the value of a call may be in a comment
        return ast.get_source_segment(text, shown) if direction == "input" else None
    return text[: statement.end] if text[statement.end :].lstrip().startswith("#") and "\n" not in text else text


def _shown(expression: ast.expr) -> ast.expr:
    """What `print` is given, or the expression itself."""
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and expression.func.id == "print":
        return expression.args[0] if expression.args else expression
    return expression


def bare_answer(reader: Reader, direction: Direction) -> str | None:
    """The answer where the text is nothing but it and typography, or begins with it on a line of its own."""
    text = reader.text.strip().lstrip(": ")
    if text[:1] in ("*", "_"):
        text = text.strip("*_ ")
    text = text.strip("` \t\n\u00a0\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb\u2039\u203a")
    statement = reader.on(text).statement(0)
    line = text[statement.start : statement.end]
    for reading in (text, text.rstrip(" .;,"), line.rstrip(" .;,")):
        expression = reader.on(reading).parse(0, len(reading))
        if reading is not text and not stands_alone(expression, besides=frozenset("f")):
            continue
        if expression is None or (direction == "input" and not is_call_of_f(expression)):
            continue
        if direction == "input" or not is_call_of_f(_shown(expression)):  # a call alone says no value
            return straighten(reading)
    return None


def prose_answer(reader: Reader, direction: Direction) -> str | None:
    """The last answer that a sentence mentions."""
    text = reader.text
    if direction == "input":
        calls = [
            item for match in _last(_CALL, reader) if (item := _at_call(reader, match.start(), direction)) is not None
        ]
        meant = (
            item for item in calls if stands_alone(parse(item.answer), besides=frozenset("f")) and item.answer != "f()"
        )
        chosen = next(meant, calls[0] if calls else None)
        return None if chosen is None else chosen.answer
    found: list[Found] = []
    for match in _last(_CALL, reader):
        item = _at_call(reader, match.start(), direction)
        if item is not None:
            found.append(item)
            break
    for match in _last(_STATED, reader):
        item = _value(reader, match.end(), in_prose=True)
        if item is not None and _CLAUSE_END.match(text, item.end):
            found.append(item)
            break
    if found:
        return max(found, key=lambda item: item.end).answer
    for match in _last(_SPAN, reader):
        item = _value(reader, match.end(), in_prose=True)
        if item is not None and _SPAN_END.match(text, item.end):
            return item.answer
    return None


def attempted_answer(text: str) -> str | None:
    """The last assertion about `f`, read or not, up to the end of its line."""
    at = text.rfind("assert f")
    return None if at < 0 else text[at : at + MAX_ANSWER].partition("\n")[0].strip()


def fenced_blocks(text: str) -> list[tuple[int, int, int]]:
    """(start of content, end of content, end of block) of each fenced block. The last one may be unclosed."""
    marks = [match.span() for match in _FENCE.finditer(text)]
    closings = [*marks[1::2], (len(text), len(text))]
    return [(opening[1], *closing) for opening, closing in zip(marks[::2], closings, strict=False)]


def _last(pattern: re.Pattern[str], reader: Reader) -> Iterator[re.Match[str]]:
    """The last matches of `pattern`, the last one first, without those inside string literals."""
    places = list(pattern.finditer(reader.text))[: -_PLACES - 1 : -1]
    return (match for match in places if not reader.in_literal(match.start()))


# Assertions


def begins_with_assertion(text: str) -> bool:
    """Whether an assertion is the first thing in the text but for markup."""
    return _OPENING.match(text) is not None


def _asserted(reader: Reader, direction: Direction) -> Found | None:
    """The answer that the assertions of a text give.

    The last assertion about `f` counts, with two exceptions. Where the text begins with an assertion, later
    ones that hold something else fixed (output: another call; input: another value) are other examples. And
    of input assertions that follow each other with nothing in between, the first counts, as in the authors'
    post-processing. An assertion that does not call `f` counts where no other does.
    """
    text = reader.text
    places = list(_ASSERT.finditer(text))
    at_start = begins_with_assertion(text)
    places = places[:_PLACES] if at_start else places[-_PLACES:]
    places = [match for match in places if not reader.in_literal(match.start())]
    head = _assertion(reader, places[0], direction) if at_start and places else None
    chosen: Found | None = None
    first: Found | None = None
    other: Found | None = None
    for number, match in reversed(list(enumerate(places))):
        item = head if number == 0 and head is not None else _assertion(reader, match, direction)
        if item is None or (head is not None and item.question != head.question):
            continue
        if not item.about_f:
            other = other or item
            continue
        if first is None or chosen is None:
            chosen = first = item
        elif _BETWEEN.fullmatch(text, item.end, first.start):
            first = item
        else:
            break
        if direction == "output":
            break
    if chosen is None or first is None:
        return other
    return replace(chosen, answer=first.answer)


def _assertion(reader: Reader, match: re.Match[str], direction: Direction) -> Found | None:
    text = reader.text
    begin = match.start()
    statement = reader.statement(match.end())
    for _ in range(3):  # assert (f(x) == y)
        if statement.compares or text[statement.start : statement.start + 1] != "(":
            break
        statement = reader.statement(statement.start + 1)
    if not statement.compares:
        return _broken_assertion(reader, begin, statement.start, direction)
    line_start = text.rfind("\n", 0, begin) + 1
    in_prose = any(character.isalpha() for character in text[max(line_start, begin - 400) : begin])
    return _comparison(reader, begin, statement, direction, in_prose=in_prose)


def _comparison(
    reader: Reader, begin: int, statement: Statement, direction: Direction, *, in_prose: bool
) -> Found | None:
    """The answer that a statement with a comparison gives: the side that the question leaves open."""
    text = reader.text
    equals = [span for span in statement.compares if text[span[0]] == "="]
    left_end, right_start = (equals or statement.compares)[0]
    right_end = equals[1][0] if len(equals) > 1 else statement.end
    left, right = straighten(text[statement.start : left_end]), straighten(text[right_start:right_end])
    backwards = _CALL.match(right) is not None and _CALL.match(left) is None
    if backwards:
        left, right = _call_at_start(reader.on(right)), left
    about_f = _CALL.search(left) is not None
    if direction == "input":
        if reader.on(left).parse(0, len(left)) is None:
            return None
        value = _value(reader.on(right), 0, in_prose=False)
        return Found(begin, statement.end, left, "" if value is None else _squeezed(value.answer), about_f)
    if backwards:
        if reader.on(right).parse(0, len(right)) is None:
            return None
        return Found(begin, statement.end, right, _squeezed(left), about_f)
    value = _value_in(reader, statement, right_start, right_end, in_prose=in_prose)
    return None if value is None else Found(begin, value.end, value.answer, _squeezed(left), about_f)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _call_at_start(reader: Reader) -> str:
    end = reader.call_end(0)
    return reader.text if end is None else reader.text[:end]


def _broken_assertion(reader: Reader, begin: int, start: int, direction: Direction) -> Found | None:
    """`assert f([1, 2) == 3`: the value can be read although the call cannot."""
    text = reader.text
    if direction == "input" or not text.startswith("f", start):
        return None
    line_end = text.find("\n", start)
    at = text.find("==", start, len(text) if line_end < 0 else line_end)
    if at < 0:
        return None
    value = _value(reader, at + 2, in_prose=False)
    return None if value is None else Found(begin, value.end, value.answer, _squeezed(text[start:at]), True)


# Values


def _value(reader: Reader, start: int, *, in_prose: bool) -> Found | None:
    """The value that begins at `start`, up to a further `==`."""
    text = reader.text
    statement = reader.statement(start)
    if statement.start == statement.end:
        return _typographic(reader, start)
    end = next((at for at, _ in statement.compares if text[at : at + 2] == "=="), statement.end)
    return _value_in(reader, statement, statement.start, end, in_prose=in_prose)


def _value_in(reader: Reader, statement: Statement, start: int, end: int, *, in_prose: bool) -> Found | None:
    """The value at the beginning of `text[start:end]`, which is a part of `statement`.

    In code the whole counts where it is one expression; else, and in prose, the longest beginning that can
    be meant as a value. The message of an assertion is no part of it.
    """
    text = reader.text
    if not text[start:end].strip():
        return _typographic(reader, start)
    expression = None
    if not in_prose or statement.prose >= end:
        expression = reader.parse(start, end)
    if expression is not None and isinstance(expression, ast.Tuple) and len(expression.elts) == 2:
        comma = next((at for at in statement.commas if at >= start), None)
        if comma is not None and _is_message(expression.elts[1]):
            return Found(start, comma, straighten(text[start:comma]))
    if expression is not None and not in_prose:
        return Found(start, end, straighten(text[start:end]))
    for cut in [cut for cut in statement.cuts if start < cut <= min(end, max(statement.prose, start))][:-33:-1]:
        stop = start + len(text[start:cut].rstrip(" .,"))
        if (
            stop > start
            and stands_alone(expression := reader.parse(start, stop))
            and not (in_prose and _is_wordy(expression))
        ):
            return Found(start, stop, straighten(text[start:stop]))
    return None


def _is_message(expression: ast.expr) -> bool:
    """Whether the second part of an assertion is its message: a string, or what no one writes as a value."""
    if isinstance(expression, ast.Constant):
        return isinstance(expression.value, str)
    if isinstance(expression, ast.BinOp):
        return _is_message(expression.left)
    return isinstance(expression, (ast.JoinedStr, ast.Name, ast.Call))


def _is_wordy(expression: ast.expr | None) -> bool:
    """Whether an expression has `and`, `or`, `not` or `is` outside everything else: in a sentence these are
    English."""
    parts = expression.elts if isinstance(expression, ast.Tuple) else [expression]
    return any(
        isinstance(part, (ast.BoolOp, ast.Compare)) or (isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not))
        for part in parts
    )


def _typographic(reader: Reader, start: int) -> Found | None:
    """A string in typographic quotes, where Python has straight ones."""
    text = reader.text
    while text[start : start + 1] in (" ", "\t", "\u00a0"):
        start += 1
    closing = {"\u201c": "\u201d", "\u2018": "\u2019"}.get(text[start : start + 1])
    end = -1 if closing is None else text.find(closing, start, start + MAX_ANSWER)
    if end < 0 or "\n" in text[start:end]:
        return None
    inner = text[start + 1 : end]
    return Found(start, end + 1, straighten(inner) if stands_alone(parse(inner)) else repr(inner))


# Labels and boxes


def _labelled(reader: Reader, direction: Direction) -> Found | None:
    """The last line such as `**Answer:** 5`, or a heading `Answer` with the answer below it."""
    text = reader.text
    for match in _last(_LABEL, reader):
        if match["stop"] is None and match["verb"] is None:
            continue
        dress = _DRESS.match(text, match.end())
        start = match.end() if dress is None else dress.end()
        item = None
        if _CALL.match(text, start):
            item = _at_call(reader, start, direction)
        elif direction == "output" and not match["words"].lower().endswith("input"):
            item = _value(reader, start, in_prose=True)
            if item is not None and not _CLAUSE_END.match(text, item.end):
                item = None
        if item is not None:
            return Found(match.start(), item.end, item.answer)
    return None


def _boxed(reader: Reader, direction: Direction) -> Found | None:
    r"""The content of the last `\boxed{…}`, without the LaTeX around it."""
    text = reader.text
    for match in _last(_BOXED, reader):
        start = match.end()
        for _ in range(3):
            latex = _LATEX.match(text, start)
            if latex is None:
                break
            start = latex.end()
        statement = reader.statement(start)
        content = text[statement.start : statement.end]
        line = text[start : start + MAX_ANSWER].partition("\n")[0].rstrip(" .$*")
        escaped = _LATEX_BRACE.search(line) is not None
        if escaped or ("assert" not in content and not stands_alone(parse(content), besides=frozenset("f"))):
            content = _LATEX_ESCAPE.sub(r"\1", _LATEX_WORD.sub(r"\1", line))
            for _ in range(4):  # the braces that close the box and the commands in it
                if not content.endswith("}") or parse(content) is not None:
                    break
                content = content[:-1].rstrip("$ ")
        inner = reader.on(content)
        found = _asserted(inner, direction) or code_answer(inner, direction)
        answer = bare_answer(inner, direction) if found is None else found.answer
        if answer is not None:
            return Found(match.start(), statement.end, answer)
    return None


# Calls of f


def _has_own_line(text: str, start: int) -> bool:
    """Whether nothing but code and markup stands before `start` on its line."""
    before = text[max(0, start - 200) : start].rpartition("\n")[2].lstrip(" \t*_`>-\u00a0\u201c\u2018\u00ab")
    return _BEFORE_CALL.fullmatch(before) is not None


def _at_call(reader: Reader, start: int, direction: Direction) -> Found | None:
    """The answer that the call of `f` at `start` gives, with what follows it."""
    end = reader.call_end(start)
    if end is None:
        return None
    if direction == "input":
        call = straighten(reader.text[start:end])
        return Found(start, end, call) if is_call_of_f(reader.on(call).parse(0, len(call))) else None
    value = _value_of_call(reader, start, end)
    return None if value is None else Found(start, value.end, value.answer)


def _value_of_call(reader: Reader, start: int, end: int) -> Found | None:
    """The value that follows a call: `== 5`, `returns 5`, `# 5`, or the next line of a session."""
    text = reader.text
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    connector = _CONNECTOR.match(text, end)
    if connector is not None:
        return _value(reader, connector.end(), in_prose=True)
    printed = text[max(0, start - 20) : start].rstrip().endswith("print(")
    rest = text[end : min(line_end, end + MAX_ANSWER)].lstrip(" \t)`;*\u201d\u00a0")
    if rest.startswith("#"):
        return _remarked(reader, text.index("#", end), printed=printed)
    if rest or line_end == len(text):
        return None
    following = line_end + 1
    if _PROMPT.match(text, text.rfind("\n", 0, start) + 1):
        line = text[following : following + MAX_ANSWER].partition("\n")[0]
        if not line.strip() or _PROMPT.match(line):
            return None
        value = _value(reader, following, in_prose=True)
        return value or (Found(following, following + len(line), repr(line)) if printed else None)
    remark = _REMARK_LINE.match(text, following)
    return None if remark is None else _remarked(reader, remark.end() - 1, printed=printed)


def _remarked(reader: Reader, start: int, *, printed: bool) -> Found | None:
    """The value that the comment at `start` gives. A printed string has no quotes after `Output:`."""
    words = _REMARK.match(reader.text, start)
    value = None if words is None else _value(reader, words.end(), in_prose=True)
    if value is not None or not printed:
        return value
    shown = _REMARK_LABEL.match(reader.text, start, start + MAX_ANSWER)
    return None if shown is None else Found(start, shown.end(), repr(shown["shown"].strip()))


def _compared_backwards(reader: Reader, start: int, direction: Direction) -> Found | None:
    """The answer of a line `y == f(x)`, whose call begins at `start`."""
    text = reader.text
    line_start = text.rfind("\n", 0, start) + 1
    statement = reader.statement(line_start)
    if not statement.compares or text[statement.compares[0][1] : start].strip():
        return None
    left = straighten(text[statement.start : statement.compares[0][0]])
    call = _call_at_start(reader.on(text[start : statement.end]))
    if not stands_alone(parse(left)) or not is_call_of_f(parse(call)):
        return None
    return Found(line_start, statement.end, call if direction == "input" else left)
