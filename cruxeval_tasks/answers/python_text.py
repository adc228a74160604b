"""Reading Python statements and expressions out of text that is only partly Python.

The work is bounded: readers of one completion share a budget of characters, and no expression longer than
`MAX_ANSWER` is looked at. Nothing here raises, warns or evaluates.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

MAX_ANSWER = 4096
"""Longest answer that is looked for, in characters. The longest gold answer has 128."""

BUDGET = 16_000
"""Characters that the readers of one completion scan or parse, all together, before they find nothing
more."""

_TOKEN = re.compile(
    r""" (?P<space>[^\S\n]+) | (?P<newline>\n) | (?P<mark>[\[<]/?(?i:ANSWER|PYTHON|THOUGHT|THINK)[\]>] |
    </[\w:]{1,20}> | <[|\uff5c][^|\uff5c<>\s]{1,40}[|\uff5c]>) | (?P<string>[bBrRuUfF]{0,2}(?:
    \"\"\"[^\\]*?(?:\\.[^\\]*?)*\"\"\" | '''[^\\]*?(?:\\.[^\\]*?)*''' | "[^"\\\n]*(?:\\.[^"\\\n]*)*" |
    '[^'\\\n]*(?:\\.[^'\\\n]*)*')) | (?P<number>(?:\d|\.\d)[\w.]*) | (?P<word>[^\W\d]\w*) | (?P<open>[\[({])
    | (?P<close>[\])}]) | (?P<comment>\#) | (?P<join>\\\n) | (?P<equal>==) |
    (?P<end>[;`$?\\"'\u2018-\u201f\u00ab\u00bb\u2039\u203a] | !(?!=)) | (?P<comma>,) |
    (?P<other>[<>!:*/+-]=|->|\*\*|//|.) """,
    re.VERBOSE | re.DOTALL,
)
_CODE_START = re.compile(r"\b(?:assert|is|returns)\b|\[ANSWER\]|`+|==|:\*{0,2}|\\boxed\{")
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_NO_SPACES = "\u200b\u200c\u200d\u2060\ufeff"
_ODD_SPACE = re.compile(rf"[^\S \t\n]|[{_NO_SPACES}]")

# Built-ins that an answer may lean on. In running text every other free name is taken for prose. Not the judge's list of
# what may be evaluated, which has words of English (`format`, `next`) and grows for other reasons.
_BUILTINS = {
    "abs", "all", "any", "bin", "bool", "bytearray", "bytes", "chr", "complex", "dict", "divmod",
    "enumerate", "filter", "float", "frozenset", "hex", "int", "len", "list", "map", "max", "min",
    "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str",
    "sum", "tuple", "zip",
}  # fmt: skip
_PYTHON_WORDS = _BUILTINS | {
    "True", "False", "None", "and", "or", "not", "in", "is", "if", "else", "for", "lambda", "f",
}  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """One logical line of Python.

    Attributes:
        start: Index of its first character.
        end: Index after its last one. A comment, a `;` and whatever cannot be Python stay outside.
        compares: (start, end) of each `==`, and of each `is` that is not `is not`, outside brackets.
        commas: Index of each comma outside brackets.
        cuts: Index after each token outside brackets: the places where an expression can end.
        prose: Index of the first word outside brackets that no answer would hold, or `end`.
    """

    start: int
    end: int
    compares: list[tuple[int, int]]
    commas: list[int]
    cuts: list[int]
    prose: int


@dataclass
class _Budget:
    """Characters that may still be scanned or parsed; below zero by what was under way."""

    left: int = BUDGET


class Reader:
    """Reads at places in one text, on a budget that it shares with the readers made `on` other texts."""

    def __init__(self, text: str, parent: Reader | None = None) -> None:
        self.text = text
        self.budget: _Budget = _Budget() if parent is None else parent.budget

    def on(self, text: str) -> Reader:
        """A reader of another text, which spends the same budget."""
        return Reader(text, self)

    def statement(self, start: int) -> Statement:
        """Read the logical line at `start`. Whitespace before it is skipped, line ends too.

        Where a bracket is never closed, the statement ends before it.
        """
        text = self.text
        visible = _VISIBLE.search(text, start)
        start = len(text) if visible is None else visible.start()
        if self.budget.left <= 0:
            return Statement(start, start, [], [], [], start)
        limit = min(len(text), start + MAX_ANSWER)
        compares: list[tuple[int, int]] = []
        commas: list[int] = []
        cuts: list[int] = []
        prose = -1
        pending: tuple[int, int] | None = None  # an `is` that may yet be `is not`
        closers: list[str] = []
        position = end = start
        attribute = False
        while position < limit:
            match = _TOKEN.match(text, position, limit)
            assert match is not None  # the last alternative takes any character
            kind, here, position = match.lastgroup, position, match.end()
            if kind == "space" or kind == "join":
                continue
            if kind == "end" or kind == "mark" or (not closers and (kind == "newline" or kind == "comment")):
                break
            if kind == "comment":
                line_end = text.find("\n", position, limit)
                position = limit if line_end < 0 else line_end
            elif kind == "open":
                if len(closers) == 100:  # deeper than any answer, and than Python's own tokenizer goes
                    break
                closers.append(_CLOSES[match[0]])
            elif kind == "close":
                if not closers or closers[-1] != match[0]:
                    break
                closers.pop()
            if closers:
                continue
            if pending is not None and match[0] != "not":
                compares.append(pending)
            pending = None
            if kind == "equal":
                compares.append((here, position))
            elif kind == "comma":
                commas.append(here)
            elif kind == "word":
                if match[0] == "is":
                    pending = (here, position)
                if prose < 0 and not attribute and match[0] not in _PYTHON_WORDS:
                    prose = here
            attribute = match[0] == "."
            end = position
            cuts.append(end)
        self.budget.left -= position - start + 20
        return Statement(start, end, compares, commas, cuts, end if prose < 0 else prose)

    def parse(self, start: int, end: int) -> ast.expr | None:
        """The one expression that `text[start:end]` is, or None."""
        if self.budget.left <= 0 or end - start > MAX_ANSWER:
            return None
        self.budget.left -= end - start + 20
        return parse(self.text[start:end])

    def in_literal(self, at: int, *, whole_line: bool = False) -> bool:
        """Whether `at` is inside a string literal of code on its line, so that a mark there is part of an
        answer.

        The code may begin anywhere on the line, or with `whole_line` at its beginning only.
        """
        text = self.text
        line_start = max(text.rfind("\n", 0, at) + 1, at - 2000)
        if text.find("'", line_start, at) < 0 and text.find('"', line_start, at) < 0:
            return False
        if whole_line:
            return self._literal_covers(line_start, at)
        starts = [line_start, *(match.end() for match in _CODE_START.finditer(text, line_start, at))]
        return any(self._literal_covers(start, at) for start in [*starts[:4], *starts[4:][-4:]])

    def _literal_covers(self, start: int, at: int) -> bool:
        """Whether code that begins at `start` reaches a string literal around `at` before it turns into
        prose."""
        text = self.text
        depth = 0
        attribute = False
        position = start
        limit = min(len(text), start + MAX_ANSWER) if self.budget.left > 0 else start
        while position < limit:
            match = _TOKEN.match(text, position, limit)
            assert match is not None  # the last alternative takes any character
            kind, here, position = match.lastgroup, position, match.end()
            if position > at:
                self.budget.left -= position - start
                return kind == "string" and here < at < position - 1
            if kind in ("end", "mark", "newline", "comment"):
                break
            if kind == "word" and depth == 0 and not attribute and match[0] not in _PYTHON_WORDS | {"assert"}:
                break
            depth += (kind == "open") - (kind == "close")
            attribute = match[0] == "."
        self.budget.left -= position - start
        return False

    def call_end(self, start: int) -> int | None:
        """The index after the call of `f` that begins at `start`, or None where its brackets are never
        closed."""
        cuts = self.statement(start).cuts
        return cuts[1] if len(cuts) > 1 and self.text[cuts[1] - 1] == ")" else None


_VISIBLE = re.compile(r"\S")


def parse(text: str) -> ast.expr | None:
    """The one expression that `text` is, or None."""
    if len(text) > MAX_ANSWER:
        return None
    text = straighten(text)
    if not text:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes, `1 is 1`: not ours to judge
            return ast.parse(text, mode="eval").body
    except (
        SyntaxError,
        ValueError,
        MemoryError,
        RecursionError,
    ):  # null bytes and lone surrogates are ValueErrors
        return None


def straighten(text: str) -> str:
    """Strip the ends, and replace what looks like a space and is none in Python, outside string literals."""
    text = text.strip()
    while text.startswith("\\\n"):  # a line that was continued
        text = text[2:].lstrip()
    if _ODD_SPACE.search(text) is None:
        return text
    parts = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None  # the last alternative takes any character
        position = match.end()
        if match.lastgroup == "space":
            parts.append(" " * len(match[0]))
        elif match[0] not in _NO_SPACES:
            parts.append(match[0])
    return "".join(parts).strip()


def is_call_of_f(expression: ast.expr | None) -> bool:
    """Whether `expression` is a call of `f`, and nothing around it."""
    return isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and expression.func.id == "f"


def stands_alone(expression: ast.expr | None, *, besides: frozenset[str] = frozenset()) -> bool:
    """Whether `expression` can be meant as a value: no bare word, and no free names but common built-ins
    and `besides`."""
    if expression is None or isinstance(expression, (ast.Name, ast.Attribute)):
        return False
    if isinstance(expression, ast.Constant) and expression.value is ...:
        return False
    known = _BUILTINS | besides
    used: set[str] = set()
    for node in ast.walk(expression):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else known).add(node.id)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
    return used <= known
