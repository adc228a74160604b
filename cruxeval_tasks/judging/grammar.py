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

from cruxeval_tasks.direction import Direction
from cruxeval_tasks.judging.names import BUILTIN_ATTRIBUTES, PURE_BUILTINS

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
        names: What it uses of the module-level names that it may use. Nothing else of the module may be in its reach:
            a variable of the same name somewhere in the expression hides a name here, not everywhere.
        plain: Whether it is a call of `f` on literals alone, which cannot touch anything outside `f`.
    """

    source: str
    names: frozenset[str]
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


@lru_cache(maxsize=4096)
def stated_output(output: str) -> object:
    """Return the value of a problem's stated output. It is shared: do not change it.

    Raises:
        ValueError: `output` is no literal.
    """
    tree = parse(output.strip(), "eval")
    try:
        return ast.literal_eval(tree)
    except (TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"no literal: {error}") from error


def admit(
    answer: str, direction: Direction, module_names: frozenset[str]
) -> Value | Evaluation | Malformed | Rejected | Raises:
    """Sort an answer into what can be judged how, or into why it cannot.

    Args:
        answer: The answer's text.
        direction: "output" takes any one expression, "input" one call of `f`.
        module_names: What the answer may use of the problem's code: `names` of `read_code` for an input,
            `names_apart_from_f` for an output.
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
        return Evaluation(source, frozenset({"f"}), plain=True)
    return _admit_expression(source, tree.body, module_names | {"f"})


def _admit_expression(source: str, body: ast.expr, module_names: frozenset[str]) -> Evaluation | Rejected:
    if objection := _objection(body, module_names):
        return Rejected(objection)
    used = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
    return Evaluation(source, module_names & used, plain=False)


def _admit_output(
    source: str, body: ast.expr, module_names: frozenset[str]
) -> Value | Evaluation | Malformed | Rejected | Raises:
    try:
        return Value(ast.literal_eval(body))
    except ValueError:  # not a literal
        return _admit_expression(source, body, module_names)
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


@dataclass(frozen=True)
class Code:
    """What the judge must know of a problem's code.

    Attributes:
        names: Module-level names that an answer may use.
        names_apart_from_f: Those of them through which `f` cannot be reached: no `g = f`, no function that calls `f`.
        plain: Whether the code can touch nothing that outlives its own globals, so that checks of it on literals may
            share a process. False is always safe.
    """

    names: frozenset[str]
    names_apart_from_f: frozenset[str]
    plain: bool


@lru_cache(maxsize=4096)
def read_code(code: str) -> Code:
    """Read a problem's code.

    Raises:
        ValueError: It is no Python.
    """
    tree = parse(code, "exec")
    assert isinstance(tree, ast.Module)
    names = {name for statement in tree.body for name in _offered(statement) if not name.startswith("_")}
    nodes = list(ast.walk(tree))
    return Code(
        names=frozenset(names),
        names_apart_from_f=frozenset(names - _names_near_f(tree)),
        plain=all(map(_is_plain, nodes)) and not _delays_code(nodes),
    )


def _offered(statement: ast.stmt) -> set[str]:
    """The names that a module-level statement defines and that an answer may use."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        nodes = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    if isinstance(statement, ast.ImportFrom) and statement.module in _PURE_MODULES and statement.level == 0:
        return {alias.asname or alias.name for alias in statement.names if not alias.name.startswith("_")}
    return set()


def _names_near_f(tree: ast.Module) -> set[str]:
    """`f` and all module-level names whose value may hold or call it; more than need be is safe."""
    near = {"f"}
    while True:
        before = len(near)
        for statement in tree.body:
            mentioned = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if mentioned & near:
                    near.add(statement.name)
            elif mentioned & near:  # whatever takes part may have been given it
                near |= mentioned
        if len(near) == before:
            return near


# --- plain code: an allowlist again, since what it forgets is merely slower ------------------------------------------

_PLAIN_NODES = (
    ast.Module, ast.FunctionDef, ast.Return, ast.Delete, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While,
    ast.If, ast.Raise, ast.Try, ast.ExceptHandler, ast.Assert, ast.Import, ast.ImportFrom, ast.alias, ast.Global,
    ast.Nonlocal, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.NamedExpr, ast.Yield, ast.Del, *_EXPRESSION_NODES,
)  # fmt: skip
"""No classes, since a `__del__` runs whenever the collector likes; no `match`, whose patterns read any attribute."""

_PLAIN_IMPORTS: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
        "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
        "copy": "copy deepcopy",
        "functools": "cmp_to_key partial reduce",
        "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
        "itertools": """accumulate chain combinations combinations_with_replacement compress count cycle dropwhile
            filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest""",
        "math": """ceil comb copysign cos degrees dist e exp fabs factorial floor fmod fsum gcd hypot inf isclose
            isfinite isinf isnan isqrt lcm log log10 log2 modf nan perm pi pow prod radians remainder sin sqrt tan tau
            trunc""",
        "re": """ASCII DOTALL I IGNORECASE M MULTILINE S VERBOSE X compile error escape findall finditer fullmatch match
            search split sub subn""",
        "string": """ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable
            punctuation whitespace""",
        "typing": """Any Callable Dict FrozenSet Generator Iterable Iterator List Mapping Optional Sequence Set Tuple
            Union""",
    }.items()
}
"""Modules that plain code may import, and what it may use of them. Not the modules that these import in turn, not
`abc` classes with their registries, not `string.Formatter`, which reads attributes by name."""

_PLAIN_ATTRIBUTES = BUILTIN_ATTRIBUTES.union(
    *_PLAIN_IMPORTS.values(),
    "format format_map args".split(),  # reading an attribute into a string leaves nothing behind
    "appendleft elements extendleft from_iterable group groupdict groups most_common move_to_end popleft".split(),
    "rotate span subtract".split(),
)

_PLAIN_NAMES = PURE_BUILTINS | {
    "hash", "id", "object", "print", "NotImplemented", "Ellipsis", "__name__",
    *(n for n, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)),
}  # fmt: skip
_REACHING_NAMES = frozenset(dir(builtins)) - _PLAIN_NAMES
"""Built-ins with which code can reach what outlives its own globals. `type` is one: it makes classes."""


def _is_plain(node: ast.AST) -> bool:
    if not isinstance(node, _PLAIN_NODES):
        return False
    if isinstance(node, ast.Import):
        return all(alias.name in _PLAIN_IMPORTS for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and {alias.name for alias in node.names} <= _PLAIN_IMPORTS.get(node.module or "", set())
    if isinstance(node, ast.Name):
        return node.id not in _REACHING_NAMES and (not node.id.startswith("__") or node.id == "__name__")
    if isinstance(node, ast.Attribute):
        return node.attr in _PLAIN_ATTRIBUTES and isinstance(node.ctx, ast.Load)
    return not (isinstance(node, ast.comprehension) and node.is_async)


def _delays_code(nodes: list[ast.AST]) -> bool:
    """Whether code may be left to run later: a `finally` in a generator that is dropped half-way runs when the
    collector finds it, which can be during another check."""
    kinds = set(map(type, nodes))
    return ast.Yield in kinds and ast.Try in kinds
