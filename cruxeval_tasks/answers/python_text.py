"""Reading Python expressions out of text that is only partly Python.

The work is bounded: a `Reader` spends a fixed budget of characters, so that no text can make it slow, and no
expression longer than `MAX_ANSWER` is looked at.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field

MAX_ANSWER = 4096
"""Longest answer that is looked for, in characters. The longest published answer that is right has under 400."""

_BUDGET = 40_000
"""Characters that one `Reader` scans or parses before it stops finding anything."""

_TOKEN = re.compile(
    r"""
    (?P<space>[^\S\n]+)
  | (?P<newline>\n)
  | (?P<tag>[\[<]/?(?i:ANSWER|PYTHON|THOUGHT)[\]>])
  | (?P<string>[bBrRuUfF]{0,2}(?:
        \"\"\"[^\\]*?(?:\\.[^\\]*?)*\"\"\" | '''[^\\]*?(?:\\.[^\\]*?)*'''
      | "[^"\\\n]*(?:\\.[^"\\\n]*)*" | '[^'\\\n]*(?:\\.[^'\\\n]*)*'))
  | (?P<number>(?:\d[\w.]*|\.\d\w*)(?:(?<=[eE])[+-]\d+)?)
  | (?P<word>[^\W\d]\w*)
  | (?P<open>[\[({]) | (?P<close>[\])}])
  | (?P<comment>\#)
  | (?P<join>\\\n)
  | (?P<equal>==)
  | (?P<end>[;`$?\\"'\u2018\u2019\u201c\u201d\u00ab\u00bb]|!(?!=))
  | (?P<comma>,)
  | (?P<other>[<>!:*/+-]=|->|\*\*|//|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSES = {"(": ")", "[": "]", "{": "}"}

# Built-ins that an answer may lean on; every other free name in running text is taken for prose.
_BUILTINS = frozenset(
    "abs all any bin bool bytearray bytes chr complex dict divmod enumerate filter float frozenset hex int len list map"
    " max min oct ord pow range repr reversed round set slice sorted str sum tuple zip".split()
)


@dataclass(frozen=True)
class Statement:
    """One logical line of Python, read from `start`.

    Attributes:
        end: Index after its last character; comments, `;` and whatever cannot be Python stay outside.
        compares: (start, end) of each `==`, and of each `is` that is not `is not`, outside brackets.
        commas: Index of each comma outside brackets.
        cuts: Index after each token outside brackets: the places where an expression can end.
        comment: Index of the `#` that ended the line, or None.
        whole: Whether all brackets and strings that were opened are closed.
    """

    start: int
    end: int
    compares: list[tuple[int, int]] = field(default_factory=list)
    commas: list[int] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    comment: int | None = None
    whole: bool = True


class Reader:
    """Reads statements and expressions at places in one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.budget = _BUDGET

    def statement(self, start: int) -> Statement:
        """Read the logical line at `start`; leading whitespace is skipped, line ends in it too."""
        text = self.text
        while start < len(text) and text[start].isspace():
            start += 1
        limit = min(len(text), start + MAX_ANSWER, start + max(self.budget, 0))
        found = Statement(start, start)
        open_brackets: list[str] = []
        position, end, comment = start, start, None
        previous_is: tuple[int, int] | None = None
        outer = start
        while position < limit:
            match = _TOKEN.match(text, position, limit)
            if match is None:
                break
            kind, token, here, position = match.lastgroup, match[0], position, match.end()
            if kind == "space" or kind == "join":
                continue
            if kind == "comment":
                if not open_brackets:
                    comment = here
                    break
                line_end = text.find("\n", position, limit)
                position = limit if line_end < 0 else line_end
                continue
            if kind == "newline":
                if not open_brackets:
                    break
                continue
            if kind == "end" or kind == "tag":
                break
            if kind == "open":
                if not open_brackets:
                    outer = here
                open_brackets.append(_CLOSES[token])
            elif kind == "close":
                if not open_brackets or open_brackets[-1] != token:
                    break
                open_brackets.pop()
            if open_brackets:
                continue
            if previous_is is not None and token != "not":
                found.compares.append(previous_is)
            previous_is = None
            if kind == "equal":
                found.compares.append((here, position))
            elif kind == "comma":
                found.commas.append(here)
            elif kind == "word" and token == "is":
                previous_is = (here, position)
            end = position
            found.cuts.append(end)
        self.budget -= position - start
        whole = not open_brackets
        return Statement(
            start, end if whole else max(end, outer), found.compares, found.commas, found.cuts, comment, whole
        )

    def parse(self, start: int, end: int) -> ast.expr | None:
        """Parse `text[start:end]` as one expression."""
        self.budget -= end - start
        return parse(self.text[start:end]) if self.budget > 0 else None

    def call_end(self, start: int) -> int | None:
        """The index after the call of `f` that begins at `start`, or None where its brackets are never closed."""
        cuts = self.statement(start).cuts
        return cuts[1] if len(cuts) > 1 and self.text[cuts[1] - 1] == ")" else None


def parse(text: str) -> ast.expr | None:
    """Return the one expression that `text` is, or None. Never raises and never warns."""
    text = straighten(text)
    if not text or len(text) > MAX_ANSWER:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # UnicodeEncodeError is a ValueError
        return None


def is_call_of_f(expression: ast.expr | None) -> bool:
    """Whether `expression` is a call of `f`, and nothing around it."""
    return (
        isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and expression.func.id == "f"
    )


def stands_alone(expression: ast.expr | None, *, besides: frozenset[str] = frozenset()) -> bool:
    """Whether `expression` can be meant as a value: not a bare word, and no free names but a few built-ins."""
    if expression is None or isinstance(expression, (ast.Name, ast.Attribute)):
        return False
    if isinstance(expression, ast.Constant) and expression.value is ...:
        return False
    known = set(_BUILTINS | besides)
    used = set()
    for node in ast.walk(expression):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else known).add(node.id)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
    return used <= known


def straighten(text: str) -> str:
    """Replace what looks like a space and is none in Python, outside string literals; strip the ends."""
    if text.isascii():
        return text.strip()
    parts = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            break
        position = match.end()
        kind = match.lastgroup
        if kind == "space":
            parts.append(" " * len(match[0]))
        elif match[0] in "\u200b\u200c\u200d\u2060\ufeff":
            continue
        else:
            parts.append(match[0])
    return "".join(parts).strip()
