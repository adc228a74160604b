"""Other arguments of the same types and about the same sizes. Pure: the same seed gives the same arguments everywhere.

Sizes keep their class, since the benchmark's authors filtered by it: numbers up to 3 and lengths up to 3 stay that
small (their filter allows arithmetic and concatenation only with one operand of at most 3), larger numbers keep their
sign and number of digits, longer strings and containers their length within a fifth.
"""

from __future__ import annotations

import ast
import random
import string
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from cruxeval_tasks.fresh.literals import (
    Arguments,
    Group,
    Scalar,
    Tree,
    copy,
    groups,
    is_sound,
    read_arguments,
    scalars,
    write,
    write_arguments,
)
from cruxeval_tasks.judging.grammar import parse

SMALL = 3
"""Largest number, and length, that stays small."""

_GENTLE = 24  # candidates of which none is bold

_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits)

_T = TypeVar("_T")


class Dice:
    """Random choices from `random.Random.random` alone, the one method that Python promises never to change."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1."""
        return int(self._random() * n)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def choice(self, items: Sequence[_T]) -> _T:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[_T]) -> list[_T]:
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]


def candidates(code: str, arguments: str, seed: str) -> Iterator[str]:
    """Yield arguments made from `arguments`, none twice and none the original, without end unless none can be made.

    Args:
        code: The problem's code; the strings in it tell which characters matter to it.
        arguments: Source of the original arguments.
        seed: Equal seeds give equal candidates.

    Raises:
        ValueError: Code or arguments are no Python.
    """
    original = read_arguments(arguments)
    dice = Dice(seed)
    words, numbers = _constants(code)
    seen = {write_arguments(original.texts, original.trees)}
    misses = 0  # in a row: tiny arguments have few variations, and some have none
    while misses < 500:
        mutation = _Mutation(original, words, numbers, dice)
        # Whoever asks for so many has found that small changes lead to no other output.
        source = mutation.source(steps=dice.between(1, 3), bold=len(seen) > _GENTLE and dice.chance(0.6))
        if source is None or source in seen:
            misses += 1
            continue
        misses = 0
        seen.add(source)
        yield source


def _constants(code: str) -> tuple[list[str], list[int]]:
    """Return the strings and the whole numbers that stand in a problem's code, each once, in order."""
    found = [node for node in ast.walk(parse(code, "exec")) if isinstance(node, ast.Constant)]
    values = [node.value for node in sorted(found, key=lambda node: (node.lineno, node.col_offset))]
    words = dict.fromkeys(value for value in values if isinstance(value, str) and value)
    return list(words), list(dict.fromkeys(value for value in values if type(value) is int and value < 1000))


class _Mutation:
    """One candidate in the making."""

    def __init__(self, original: Arguments, words: list[str], numbers: list[int], dice: Dice) -> None:
        self._texts = original.texts
        self._trees = [copy(tree) for tree in original.trees]
        self._words = words
        self._numbers = numbers
        self._dice = dice

    def source(self, steps: int, bold: bool) -> str | None:
        """Return arguments after some changes, or None where they came out wrong.

        Args:
            steps: Number of changes.
            bold: Whether changes are among them that aim at what functions test for.
        """
        changes: list[Callable[[], None]] = [
            self._rename, self._rename, self._rename_all, self._renumber, self._reorder, self._edit, self._edit,
            self._resize, self._redraw, self._borrow,
        ]  # fmt: skip
        aimed: list[Callable[[], None]] = [self._recast, self._quote, self._join, self._arrange]
        self._fill_empty()
        for _ in range(steps):
            self._dice.choice(aimed if bold and self._dice.chance(0.6) else changes)()
        if not all(is_sound(tree) for tree in self._trees):
            return None
        return write_arguments(self._texts, self._trees)

    # --- changes that keep how the arguments relate to each other ---

    def _rename(self) -> None:
        """Swap letters and digits throughout, but for those that stand in the code."""
        self._rename_but("".join(self._words))

    def _rename_all(self) -> None:
        """Swap letters and digits throughout."""
        self._rename_but("")

    def _rename_but(self, kept: str) -> None:
        kept = kept.lower() + kept.upper()
        table: dict[int, str] = {}
        letters = [c for c in string.ascii_lowercase if c not in kept]
        for old, new in zip(letters, self._dice.shuffled(letters), strict=True):
            table[ord(old)] = new
            table[ord(old.upper())] = new.upper()  # so that what is equal but for case stays so
        figures = [c for c in string.digits if c not in kept]
        table.update((ord(old), new) for old, new in zip(figures, self._dice.shuffled(figures), strict=True))
        for scalar in scalars(self._trees):
            if isinstance(scalar.value, str):
                scalar.value = scalar.value.translate(table)
            elif isinstance(scalar.value, bytes):
                scalar.value = scalar.value.decode("latin-1").translate(table).encode("latin-1")

    def _renumber(self) -> None:
        """Replace numbers, equal ones by equal ones."""
        new: dict[int, int] = {}
        for scalar in scalars(self._trees):
            if type(scalar.value) is int:
                if scalar.value not in new:
                    new[scalar.value] = self._number_like(scalar.value)
                scalar.value = new[scalar.value]

    def _reorder(self) -> None:
        """Shuffle the items of a container, or the characters of a string."""
        where: list[Group | Scalar] = [g for g in groups(self._trees) if len(g.items) > 1 and not _is_record(g)]
        where += self._texts_longer_than(1)
        if not where:
            return
        chosen = self._dice.choice(where)
        if isinstance(chosen, Group):
            chosen.items = self._dice.shuffled(chosen.items)
        else:
            assert isinstance(chosen.value, str)
            chosen.value = "".join(self._dice.shuffled(chosen.value))

    # --- changes in one place ---

    def _edit(self) -> None:
        """Change one scalar a little."""
        found = list(scalars(self._trees))
        if found:
            scalar = self._dice.choice(found)
            scalar.value = self._edited(scalar.value)

    def _redraw(self) -> None:
        """Replace one scalar by another of its type and size."""
        found = list(scalars(self._trees))
        if found:
            scalar = self._dice.choice(found)
            if isinstance(scalar.value, str):
                scalar.value = "".join(map(self._character_like, scalar.value))
            else:
                scalar.value = self._edited(scalar.value)

    def _resize(self) -> None:
        """Take an item out of a container, or put one more in."""
        found = [group for group in groups(self._trees) if group.items and not _is_record(group)]
        if not found:
            return
        group = self._dice.choice(found)
        low, high = _size_class(len(group.items))
        if self._dice.chance(0.5) and len(group.items) > low:
            group.items.pop(self._dice.below(len(group.items)))
        elif len(group.items) < high:
            item = copy(self._dice.choice(group.items))
            for scalar in scalars([item]):
                scalar.value = self._edited(scalar.value)
            group.items.insert(self._dice.between(0, len(group.items)), item)

    def _borrow(self) -> None:
        """Copy one scalar over another of its type; over a string, as long a part of another or of one in the code."""
        found = list(scalars(self._trees))
        if not found:
            return
        to = self._dice.choice(found)
        sources = [scalar.value for scalar in found if scalar is not to and type(scalar.value) is type(to.value)]
        if not isinstance(to.value, str):
            if sources:
                to.value = self._dice.choice(sources)
            return
        parts = [s for s in [*sources, *self._words] if isinstance(s, str) and len(s) >= len(to.value) > 0]
        if parts:
            part = self._dice.choice(parts)
            start = self._dice.between(0, len(part) - len(to.value))
            to.value = part[start : start + len(to.value)]

    # --- changes that aim at what functions test for ---

    def _recast(self) -> None:
        """Give all of a string one kind of character, one case or no foreign character; or turn a number's sign."""
        found = [s for s in scalars(self._trees) if isinstance(s.value, str) or type(s.value) is int]
        if not found:
            return
        scalar = self._dice.choice(found)
        if isinstance(scalar.value, int):
            scalar.value = -scalar.value
            return
        assert isinstance(scalar.value, str)
        text = scalar.value
        kind = self._dice.below(9)
        if kind < 4:
            scalar.value = (text.upper(), text.lower(), text.swapcase(), text.title())[kind]
        elif kind == 4:
            scalar.value = "".join(self._dice.choice(string.digits) for _ in text)
        elif kind == 5:
            scalar.value = "".join(self._letter() for _ in text)
        elif kind == 6:
            scalar.value = "".join(c if c.isascii() and c.isalnum() else self._letter() for c in text)
        elif kind == 7:
            scalar.value = "".join(c if c.isascii() else self._letter() for c in text)
        elif text:
            place = self._dice.below(len(text))
            scalar.value = text[:place] + self._dice.choice(" \né-_.") + text[place + 1 :]

    def _quote(self) -> None:
        """Put a string of the code into an argument; or in its place a number of the code, a length, or one next to it."""
        found = list(scalars(self._trees))
        if not found:
            return
        scalar = self._dice.choice(found)
        if isinstance(scalar.value, str) and self._words:
            scalar.value = self._combined(scalar.value, self._dice.choice(self._words))
        elif type(scalar.value) is int:
            lengths = [len(s.value) for s in found if isinstance(s.value, str)]
            lengths += [len(group.items) for group in groups(self._trees)]
            numbers = [*self._numbers, *lengths]
            if numbers:
                scalar.value = self._dice.choice(numbers) + self._dice.between(-1, 1)

    def _join(self) -> None:
        """Put a string of the arguments into another one, or an item of one container into another."""
        texts = [scalar for scalar in scalars(self._trees) if isinstance(scalar.value, str)]
        if len(texts) > 1 and self._dice.chance(0.7):
            to, source = self._dice.shuffled(texts)[:2]
            assert isinstance(to.value, str)
            assert isinstance(source.value, str)
            to.value = self._combined(to.value, source.value)
            return
        items = [item for group in groups(self._trees) for item in group.items] + list(self._trees)
        lists = [group for group in groups(self._trees) if group.kind == "list"]
        items = [item for item in items if isinstance(item, Scalar)]
        if lists and items:
            group = self._dice.choice(lists)
            item = copy(self._dice.choice(items))
            place = self._dice.between(0, len(group.items))
            group.items[place : place + self._dice.below(2)] = [item]

    def _arrange(self) -> None:
        """Make a list or a string sorted, symmetrical or of one item throughout."""
        where: list[Group | Scalar] = [
            g for g in groups(self._trees) if g.kind in ("list", "tuple") and len(g.items) > 1 and not _is_record(g)
        ]
        where += self._texts_longer_than(1)
        if not where:
            return
        chosen = self._dice.choice(where)
        kind = self._dice.below(4)
        if isinstance(chosen, Group):
            chosen.items = [copy(item) for item in self._arranged(chosen.items, kind)]
        else:
            assert isinstance(chosen.value, str)
            chosen.value = "".join(self._arranged(list(chosen.value), kind))

    def _arranged(self, items: Sequence[_T], kind: int) -> list[_T]:
        half = (len(items) + 1) // 2
        if kind == 0:
            return sorted(items, key=_rank)
        if kind == 1:
            return sorted(items, key=_rank, reverse=True)
        if kind == 2:
            return [*items[:half], *items[: len(items) // 2][::-1]]
        return [self._dice.choice(items)] * len(items)

    def _combined(self, text: str, part: str) -> str:
        """Return `part`, alone or at the beginning, at the end or amid `text`, over as many characters or pushed in."""
        kind = self._dice.below(4)
        if kind == 0:
            return part
        place = (0, 0, max(0, len(text) - len(part)), self._dice.between(0, len(text)))[kind]
        covered = len(part) if self._dice.chance(0.7) else 0
        if kind == 2 and not covered:
            place = len(text)
        return text[:place] + part + text[place + covered :]

    def _fill_empty(self) -> None:
        """Put something into what is empty, most of the time: an empty argument has no other of its size."""
        for scalar in scalars(self._trees):
            if scalar.value == "" and self._dice.chance(0.7):
                characters = self._dice.choice((string.ascii_lowercase, string.ascii_letters + " ", string.digits))
                scalar.value = "".join(self._dice.choice(characters) for _ in range(self._dice.between(1, SMALL)))
        for group in list(groups(self._trees)):
            if not group.items and self._dice.chance(0.7):
                make_key = self._dice.choice((self._new_text, self._new_number))
                make = self._dice.choice(self._makers())
                for _ in range(self._dice.between(1, SMALL)):
                    item = Group("pair", [make_key(), make()]) if group.kind == "dict" else make()
                    if write(item) not in map(write, group.items):
                        group.items.append(item)

    def _makers(self) -> list[Callable[[], Tree]]:
        return [
            self._new_number, self._new_text, self._new_number, self._new_text,
            lambda: Group("list", [self._new_number() for _ in range(self._dice.between(1, SMALL))]),
            lambda: Group("list", [self._new_text() for _ in range(self._dice.between(1, SMALL))]),
            lambda: Group("tuple", [self._new_text(), self._new_number()]),
            lambda: Group("dict", [Group("pair", [self._new_text(), self._new_number()])]),
        ]  # fmt: skip

    def _new_number(self) -> Tree:
        return Scalar(self._dice.below(10))

    def _new_text(self) -> Tree:
        return Scalar("".join(self._letter() for _ in range(self._dice.between(1, SMALL))))

    # --- values ---

    def _edited(self, value: object) -> object:
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return self._number_like(value)
        if isinstance(value, float):
            digits = "".join(self._dice.choice("123456789") if c in "123456789" else c for c in repr(value))
            return float(digits) if value == value and abs(value) < 1e9 else value
        if isinstance(value, str) and value:
            return self._edited_text(value)
        return value

    def _number_like(self, number: int) -> int:
        size = abs(number)
        if size <= SMALL:
            new = self._dice.between(0, SMALL)
        elif size < 10:
            new = self._dice.between(SMALL + 1, 9)
        else:
            power = 10 ** (len(str(size)) - 1)
            new = self._dice.between(power, 10 * power - 1)
        return -new if number < 0 else new

    def _edited_text(self, text: str) -> str:
        characters = list(text)
        low, high = _size_class(len(text))
        for _ in range(self._dice.between(1, 1 + len(text) // 8)):
            place = self._dice.below(len(characters))
            kind = self._dice.below(4)
            if kind == 0 and len(characters) < high:
                characters.insert(place, self._any_character())
            elif kind == 1 and len(characters) > low:
                characters.pop(place)
            elif kind == 2:
                characters[place] = self._any_character()
            else:
                characters[place] = self._character_like(characters[place])
        return "".join(characters)

    def _character_like(self, character: str) -> str:
        for members in _CLASSES:
            if character in members:
                return self._dice.choice(members)
        return character

    def _any_character(self) -> str:
        """A character of the arguments' strings, or of those in the code, or a letter."""
        texts = [scalar.value for scalar in scalars(self._trees) if isinstance(scalar.value, str) and scalar.value]
        pool = [*texts, *self._words]
        if not pool or self._dice.chance(0.2):
            return self._letter()
        return self._dice.choice(self._dice.choice(pool))

    def _letter(self) -> str:
        return self._dice.choice(string.ascii_lowercase)

    def _texts_longer_than(self, length: int) -> list[Scalar]:
        return [s for s in scalars(self._trees) if isinstance(s.value, str) and len(s.value) > length]


def _is_record(group: Group) -> bool:
    """Return whether a container is a tuple of several types, in which each item has its place."""
    kinds = {type(item.value) if isinstance(item, Scalar) else item.kind for item in group.items}
    return group.kind == "tuple" and len(kinds) > 1


def _rank(item: object) -> tuple[str, float, str]:
    """Return by what items of any type are sorted: numbers by size, all else by its source."""
    value = item.value if isinstance(item, Scalar) else item
    if isinstance(value, (int, float)):
        return "", value, ""
    return type(value).__name__, 0, write(value) if isinstance(value, Group) else str(value)


def _size_class(length: int) -> tuple[int, int]:
    """Return the shortest and the longest that something of this length (1 or more) may become."""
    if length <= SMALL:
        return 1, SMALL
    return max(SMALL + 1, length - max(1, length // 5)), length + max(1, length // 5)
