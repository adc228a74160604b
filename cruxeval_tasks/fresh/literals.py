"""The literals of a call's arguments, as trees that can be changed and written back.

Trees and not values, so that the order of a set's members is the one that was written, on every Python and under
every hash seed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from cruxeval_tasks.judging.grammar import parse


@dataclass
class Scalar:
    """A string, a number, bytes, True, False, None or `...`."""

    value: object


@dataclass
class Group:
    """A container; the items of a "dict" are groups of kind "pair"."""

    kind: OneOf["list", "tuple", "set", "dict", "pair"]
    items: list[Tree]


Tree: TypeAlias = Scalar | Group


@dataclass(frozen=True)
class Arguments:
    """The arguments of one call: literals, and the source text between them.

    Attributes:
        texts: One more than `trees`: what stands before, between and after them.
        trees: The largest literals in the arguments, in order.
    """

    texts: tuple[str, ...]
    trees: tuple[Tree, ...]


def read_arguments(source: str) -> Arguments:
    """Read the arguments of a call, the text between its parentheses.

    What is no literal (`lambda x: x < 2`, `dict(a=1)`) stays text, except for the literals in it.

    Raises:
        ValueError: It is no list of arguments.
    """
    # Positions in a syntax tree are bytes of UTF-8.
    data = f"f({source}\n)".encode()
    tree = parse(data.decode(), "eval")
    assert isinstance(tree, ast.Expression)
    if not isinstance(tree.body, ast.Call):
        raise ValueError("not the arguments of one call")
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    texts, trees, end = [], [], len(b"f(")
    for node in _largest_literals(tree.body):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        texts.append(data[end : starts[node.lineno - 1] + node.col_offset].decode())
        trees.append(_tree(node))
        end = starts[node.end_lineno - 1] + node.end_col_offset
    texts.append(data[end : -len(b"\n)")].decode())
    return Arguments(tuple(texts), tuple(trees))


def write_arguments(texts: Sequence[str], trees: Sequence[Tree]) -> str:
    """Return the source of arguments, the inverse of `read_arguments`."""
    return "".join(text + write(tree) for text, tree in zip(texts, trees, strict=False)) + texts[-1]


def write(tree: Tree) -> str:
    """Return the source form of a literal."""
    if isinstance(tree, Scalar):
        return "..." if tree.value is ... else repr(tree.value)
    parts = [write(item) for item in tree.items]
    if tree.kind == "pair":
        return ": ".join(parts)
    if tree.kind == "list":
        return f"[{', '.join(parts)}]"
    if tree.kind == "tuple":
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if tree.kind == "set" and not parts:
        return "set()"
    return f"{{{', '.join(parts)}}}"


def scalars(trees: Sequence[Tree]) -> Iterator[Scalar]:
    """Yield all scalars of some trees, from left to right."""
    for tree in trees:
        if isinstance(tree, Scalar):
            yield tree
        else:
            yield from scalars(tree.items)


def groups(trees: Sequence[Tree]) -> Iterator[Group]:
    """Yield all containers of some trees, outer ones first; pairs of a dict are none of their own."""
    for tree in trees:
        if isinstance(tree, Group):
            if tree.kind != "pair":
                yield tree
            yield from groups(tree.items)


def copy(tree: Tree) -> Tree:
    """Return a tree that shares nothing that can change."""
    if isinstance(tree, Scalar):
        return Scalar(tree.value)
    return Group(tree.kind, [copy(item) for item in tree.items])


def is_sound(tree: Tree) -> bool:
    """Return whether no key of a dict and no member of a set comes twice, which would make it shorter than it looks."""
    if isinstance(tree, Scalar):
        return True
    if tree.kind in ("dict", "set"):
        keys = [write(item.items[0]) if isinstance(item, Group) and item.kind == "pair" else write(item)
                for item in tree.items]  # fmt: skip
        if len(set(keys)) < len(keys):
            return False
    return all(is_sound(item) for item in tree.items)


def _largest_literals(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.expr) and _is_literal(node):
        yield node
    elif not isinstance(node, ast.JoinedStr):  # positions inside one are wrong before Python 3.12
        found = [literal for child in ast.iter_child_nodes(node) for literal in _largest_literals(child)]
        yield from sorted(found, key=lambda literal: (literal.lineno, literal.col_offset))


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        operand = node.operand
        return isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant) and _is_number(operand.value)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return all(_is_literal(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return all(key is not None and _is_literal(key) for key in node.keys) and all(map(_is_literal, node.values))
    return False


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _tree(node: ast.expr) -> Tree:
    if isinstance(node, ast.Constant):
        return Scalar(node.value)
    if isinstance(node, ast.UnaryOp):
        assert isinstance(node.operand, ast.Constant)
        return Scalar(-node.operand.value)  # type: ignore[operator]  # a number, says `_is_literal`
    if isinstance(node, ast.Dict):
        pairs = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
        return Group("dict", [Group("pair", [_tree(key), _tree(value)]) for key, value in pairs])
    assert isinstance(node, (ast.List, ast.Tuple, ast.Set))
    kind: OneOf["list", "tuple", "set"]
    kind = "list" if isinstance(node, ast.List) else "tuple" if isinstance(node, ast.Tuple) else "set"
    return Group(kind, [_tree(item) for item in node.elts])
