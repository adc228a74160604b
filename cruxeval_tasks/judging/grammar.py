"""Which answers are admissible, and what it takes to judge them. Parses; runs nothing.

Integrity rests on this module, not on isolation: the model was shown the expected output, so code that ran beside `f`
could rebind `f`, patch a built-in or forge a result. Hence an allowlist of syntax, names and attributes.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from cruxeval_tasks.judging.names import BUILTIN_ATTRIBUTES, PURE_BUILTINS

Direction = Literal["input", "output"]
"""Whether an answer states the value of a call ("output") or is a call of `f` ("input")."""

MAX_ANSWER = 100_000
"""Longest answer that is looked at, in characters. The longest right one in the published results has under 200."""


@dataclass(frozen=True)
class Value:
    """An output answer that is a literal: its value is known without running anything."""

    value: object


@dataclass(frozen=True)
class Evaluation:
    """An answer that must be evaluated.

    Attributes:
        source: The expression, without surrounding white space.
        plain: Whether it is a call of `f` on literals alone, which cannot touch anything outside `f`.
    """

    source: str
    plain: bool


@dataclass(frozen=True)
class Malformed:
    """Not one expression (or, as an input, not one call of `f`)."""

    reason: str


@dataclass(frozen=True)
class Rejected:
    """One expression, but with a construct that is not admissible."""

    reason: str


@dataclass(frozen=True)
class Raises:
    """A literal that raises on evaluation, such as `{[]}`: class and message."""

    exception: str
    message: str


def parse(source: str, mode: Literal["eval", "exec"]) -> ast.AST:
    """`ast.parse`, silent and with one kind of error.

    Raises:
        ValueError: `source` is no Python of this mode, with the reason; also where it is nested too deeply.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes, say; an error under `python -W error`
        try:
            return ast.parse(source, mode=mode)
        except SyntaxError as error:
            raise ValueError(error.msg) from error
        except UnicodeEncodeError as error:
            raise ValueError("a lone surrogate") from error
        except (RecursionError, MemoryError) as error:
            raise ValueError("nested too deeply") from error


def admit(
    answer: str, direction: Direction, module_names: frozenset[str]
) -> Value | Evaluation | Malformed | Rejected | Raises:
    """Sort an answer into what can be judged how, or into why it cannot.

    Args:
        answer: The answer's text.
        direction: "output" takes any one expression, "input" one call of `f`.
        module_names: What the problem's code defines, from `read_code`.
    """
    if len(answer) > MAX_ANSWER:
        return Malformed(f"longer than {MAX_ANSWER:,} characters")
    source = answer.strip()
    try:
        tree = parse(source, "eval")
    except ValueError as error:
        return Malformed(str(error) or "not an expression")
    assert isinstance(tree, ast.Expression)
    if direction == "output":
        return _admit_output(source, tree.body, module_names - {"f"})
    if not (isinstance(tree.body, ast.Call) and isinstance(tree.body.func, ast.Name) and tree.body.func.id == "f"):
        return Malformed("not a call of f")
    arguments = [*tree.body.args, *tree.body.keywords]
    if all(isinstance(node, _LITERAL_NODES) for argument in arguments for node in ast.walk(argument)):
        return Evaluation(source, plain=True)
    objection = _objection(tree.body, module_names | {"f"})
    return Rejected(objection) if objection else Evaluation(source, plain=False)


def _admit_output(
    source: str, body: ast.expr, module_names: frozenset[str]
) -> Value | Evaluation | Malformed | Rejected | Raises:
    try:
        return Value(ast.literal_eval(body))
    except ValueError:  # not a literal
        objection = _objection(body, module_names)
        return Rejected(objection) if objection else Evaluation(source, plain=False)
    except TypeError as error:
        return Raises("TypeError", str(error))
    except (RecursionError, MemoryError):
        return Malformed("nested too deeply")


_LITERAL_NODES = (
    ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Starred, ast.keyword, ast.UnaryOp, ast.USub, ast.UAdd,
    ast.Load,
)  # fmt: skip

_EXPRESSION_NODES = (
    *_LITERAL_NODES, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Lambda, ast.arguments, ast.arg, ast.JoinedStr,
    ast.FormattedValue, ast.Call, ast.Attribute, ast.Name, ast.Store, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


def _objection(body: ast.expr, module_names: frozenset[str]) -> str:
    """Return the first inadmissible construct in `body` in words, or an empty string."""
    nodes = list(ast.walk(body))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for name in sorted(bound):
        # Outside its scope such a name would mean the built-in again.
        if name.startswith("__") or (hasattr(builtins, name) and name not in PURE_BUILTINS):
            return f"a variable named `{name}`"
    known = bound | module_names | PURE_BUILTINS
    for node in nodes:
        if not isinstance(node, _EXPRESSION_NODES):
            return _NODE_NAMES.get(type(node), type(node).__name__)
        if isinstance(node, ast.comprehension) and node.is_async:
            return "an asynchronous comprehension"
        if isinstance(node, ast.Name) and node.id not in known:
            return "a use of f" if node.id == "f" else f"the name `{node.id}`"
        if isinstance(node, ast.Attribute) and node.attr not in BUILTIN_ATTRIBUTES:
            return f"the attribute `{node.attr}`"
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return "an assignment to a part of an object"
    return ""


_NODE_NAMES: dict[type, str] = {
    ast.NamedExpr: "an assignment expression (`:=`)",
    ast.Await: "`await`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield from`",
}

# Modules whose functions are pure and whose names an answer may use where the problem imports them with `from`.
_PURE_MODULES = frozenset({"bisect", "collections", "fractions", "heapq", "itertools", "math", "string", "textwrap"})

# Modules that plain code may import: nothing that it does with them outlives the check.
_PLAIN_MODULES = _PURE_MODULES | {"copy", "re", "typing"}

_HARMLESS_NAMES = PURE_BUILTINS | {
    name
    for name, value in vars(builtins).items()
    if value in (True, False, None, NotImplemented, Ellipsis, type, print, object, hash, id)
    or (isinstance(value, type) and issubclass(value, BaseException))
}
_REACHING_NAMES = frozenset(dir(builtins)) - _HARMLESS_NAMES
"""Built-ins with which code can reach what outlives its own globals."""


@dataclass(frozen=True)
class Code:
    """What the judge must know of a problem's code.

    Attributes:
        names: Module-level names that an answer may use.
        plain: Whether the code can touch nothing that outlives its own globals, so that checks of it on literals may
            share a process. False is always safe.
    """

    names: frozenset[str]
    plain: bool


@lru_cache(maxsize=4096)
def read_code(code: str) -> Code:
    """Read a problem's code.

    Raises:
        ValueError: It is no Python.
    """
    tree = parse(code, "exec")
    assert isinstance(tree, ast.Module)
    names: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            names.add(statement.name)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names |= {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        elif isinstance(statement, ast.ImportFrom) and statement.module in _PURE_MODULES:
            names |= {alias.asname or alias.name for alias in statement.names}
    return Code(
        names=frozenset(name for name in names if not name.startswith("__")),
        plain=all(_is_plain(node) for node in ast.walk(tree)),
    )


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return all(alias.name in _PLAIN_MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module in _PLAIN_MODULES and node.level == 0
    if isinstance(node, ast.Name):
        return node.id not in _REACHING_NAMES and (not node.id.startswith("__") or node.id == "__name__")
    if isinstance(node, ast.Attribute):
        return not node.attr.startswith("_") and isinstance(node.ctx, ast.Load) and node.attr not in _FRAME_ATTRIBUTES
    return True


_FRAME_ATTRIBUTES = frozenset(
    {"gi_frame", "gi_code", "cr_frame", "ag_frame", "f_globals", "f_builtins", "f_back", "tb_frame"}
)
