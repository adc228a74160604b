"""Which lines a function executes, found out in the judge's confined workers.

The problem's code is given a mark before each statement of its functions, as text, and a function that calls `f` and
returns what was marked beside the value. Nothing runs here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from cruxeval_tasks.judging import grammar
from cruxeval_tasks.judging.pool import Reply, Request

MAX_STATEMENTS = 100_000
"""Statements that one call may execute. The authors' filter ends a run after as many steps of the interpreter. A count
and not only a time, so that what is kept does not hang on the machine."""

_VALUE_LIMIT = 65536  # of a value's size, far above that of a short output

_RECORDER = """
class {p}_Limit(BaseException): pass
{p}_lines = {{}}
{p}_count = [0]
def {p}_mark(line):
    {p}_lines[line] = None
    {p}_count[0] += 1
    if {p}_count[0] > {limit}: raise {p}_Limit
def {p}_call(*arguments, **keywords):
    value = f(*arguments, **keywords)
    return value, [*{p}_lines], {p}_count[0]
"""


@dataclass(frozen=True)
class Run:
    """One call of `f` that returned.

    Attributes:
        value: What it returned, of exact built-in types.
        lines: Lines of the code whose statements it executed, counted from 1.
        statements: Statements executed, each as often as it was.
    """

    value: Any
    lines: frozenset[int]
    statements: int


@dataclass(frozen=True)
class Marked:
    """A problem's code with its recorder: the source, and the prefix of the recorder's names."""

    code: str
    prefix: str


def mark(code: str) -> Marked:
    """Put the recorder into a problem's code.

    A statement counts as the line on which it begins; the test of an `elif` is not counted.

    Raises:
        ValueError: The code is no Python.
    """
    prefix = "cruxeval_trace"
    while prefix in code:
        prefix += "_"
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    tree = grammar.parse("\n".join(lines), "exec")
    # From the end, so that what is put in moves nothing that is still to come.
    for statement in sorted(set(_statements(tree, inside=False)), key=lambda s: (s.lineno, s.col_offset), reverse=True):
        call = f"{prefix}_mark({statement.lineno})"
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)]) - 1
        line = lines[first].encode()
        column = len(line) - len(line.lstrip()) if decorators else statement.col_offset
        before, after = line[:column].decode(), line[column:].decode()
        if not isinstance(statement, _COMPOUND):
            lines[first] = f"{before}{call}; {after}"
        elif not after.startswith("elif"):
            lines.insert(first, before + call)
    return Marked("\n".join(lines) + _RECORDER.format(p=prefix, limit=MAX_STATEMENTS), prefix)


def traced_request(marked: Marked, code: str, arguments: str) -> Request | None:
    """Return the request that calls `f` and traces it, or None where the call is no admissible input answer.

    Args:
        marked: `mark(code)`.
        code: The problem's code.
        arguments: Source of the arguments.
    """
    request = untraced_request(code, arguments)
    if request is None:
        return None
    call = f"{marked.prefix}_call"
    return replace(request, code=marked.code, answer=f"{call}({arguments})", names=request.names | {call})


def untraced_request(code: str, arguments: str) -> Request | None:
    """Return the request that calls `f` in the problem's code as it is, or None as in `traced_request`."""
    read = grammar.read_code(code)
    admitted = grammar.admit(f"f({arguments})", "input", read.names)
    if not isinstance(admitted, grammar.Evaluation):
        return None
    return Request(code, admitted.source, admitted.names, admitted.plain and read.plain, _VALUE_LIMIT)


def read_run(reply: Reply) -> Run | str:
    """Return what the reply to a traced request says, or in a few words why there is no value."""
    if reply.kind == "value":
        value, lines, statements = reply.body
        return Run(value, frozenset(lines), statements)
    if reply.kind == "raised":
        return "too many steps" if reply.body[0].endswith("_Limit") else "raises an exception"
    return {"timeout": "takes too long", "oversized": "output too long"}.get(reply.kind, "needs too much memory")


_COMPOUND = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With,
    ast.AsyncWith, ast.Try, ast.Match, *([ast.TryStar] if hasattr(ast, "TryStar") else []),
)  # fmt: skip


def _statements(node: ast.AST, inside: bool) -> Iterator[ast.stmt]:
    """Yield the statements inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and inside:
            yield child
        yield from _statements(child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)))
