"""Values and messages between the judge and its workers: tagged JSON in length-prefixed frames.

JSON because its decoder cannot be made to run anything; `pickle` and `marshal` are unsafe on hostile bytes.
Only exact built-in types travel as data. Everything else arrives as an `Opaque`, which equals nothing.
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections import Counter, OrderedDict
from typing import Any

MAX_DEPTH = 200
"""Deepest nesting of a value that travels; CPython's own parser allows no deeper literal either."""

MAX_FRAME = 16 * 2**20
"""Largest frame in bytes that either side accepts."""

_HEADER = struct.Struct(">I")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DICT_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.items()))


class TooLarge(Exception):
    """A value is larger or nested deeper than what may travel."""


class WireError(Exception):
    """Bytes or JSON that no worker of ours writes."""


class Opaque:
    """Stands for a value that is not plain data, such as a function or an instance of a class. Equals only itself."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


def encode(value: object, limit: int) -> Any:
    """Return the JSON form of `value`.

    Containers and scalars of the standard library that compare like the built-in type they derive from (`Counter`,
    `OrderedDict`, `defaultdict`, named tuples, dict views) travel as that type: what counts is Python's `==`.

    Args:
        value: Any object. No method of a class that is not built-in is called, but for `__hash__` in a dict view.
        limit: Rough size in characters above which the value is refused.

    Raises:
        TooLarge: The value is larger than `limit` or nested deeper than `MAX_DEPTH`.
    """
    budget = [limit]
    return _encode(value, budget, 0)


def _encode(value: Any, budget: list[int], depth: int, hashed: bool = False) -> Any:
    """`hashed`: whether the value is a key or a member of a set, or part of one."""
    if depth > MAX_DEPTH:
        raise TooLarge(f"nested deeper than {MAX_DEPTH}")
    budget[0] -= 2
    if budget[0] < 0:
        raise TooLarge("too many items")
    if value is None or value is True or value is False:
        return value
    base = _base_type(value)
    if hashed and base in (list, dict, set, bytearray):
        base = None  # of a class with a hash of its own: no literal can state such a key, and we could not decode it
    if base is int:
        return _encode_int(int.__pos__(value), budget)
    if base is str:
        return _encode_str(str.__str__(value), budget)
    if base is float:
        number = float.__pos__(value)
        return number if number - number == 0 else {"float": repr(number)}
    if base is list:
        return [_encode(item, budget, depth + 1) for item in list.__iter__(value)]
    if base is tuple:
        return {"tuple": [_encode(item, budget, depth + 1, hashed) for item in tuple.__iter__(value)]}
    if base is dict:
        items = dict.items(value)
        return {"dict": [[_encode(k, budget, depth + 1, True), _encode(v, budget, depth + 1)] for k, v in items]}
    if base is set or base is frozenset:
        return {base.__name__: [_encode(item, budget, depth + 1, True) for item in base.__iter__(value)]}
    if base is bytes or base is bytearray:
        data = bytes(memoryview(value))
        _spend(budget, 2 * len(data))
        return {base.__name__: data.hex()}
    if base is complex:
        parts = [complex.__pos__(value).real.hex(), complex.__pos__(value).imag.hex()]
        _spend(budget, sum(map(len, parts)))
        return {"complex": parts}
    if value is Ellipsis:
        return {"ellipsis": None}
    if issubclass(type(value), _DICT_VIEWS):
        members = list(value)
        if _all_hashable(members):
            return {"set": [_encode(item, budget, depth + 1, True) for item in members]}
        # A view of unhashable items equals no set that a literal can state.
    name = str(type(value).__name__)[:100]
    _spend(budget, len(name))
    return {"other": name}


def _base_type(value: Any) -> Any:
    """The built-in type that `value` compares as, or None where its class defines an `==` of its own."""
    kind = type(value)
    if issubclass(kind, dict) and kind.__eq__ in (Counter.__eq__, OrderedDict.__eq__):
        return dict  # against a plain dict both compare as one
    for base in (int, str, float, list, tuple, dict, set, frozenset, bytes, bytearray, complex):
        if kind is base or (issubclass(kind, base) and kind.__eq__ is base.__eq__):
            return base
    return None


def _spend(budget: list[int], amount: int) -> None:
    budget[0] -= amount
    if budget[0] < 0:
        raise TooLarge("too many items or characters")


def _encode_int(number: int, budget: list[int]) -> Any:
    bits = number.bit_length()
    if bits <= 64:
        return number
    _spend(budget, bits // 4)
    return {"int": hex(number)}  # decimal conversion is limited to 4,300 digits, and quadratic


def _encode_str(text: str, budget: list[int]) -> Any:
    _spend(budget, len(text))
    if _SURROGATE.search(text):
        # JSON would join two lone surrogates into one character on the way back.
        _spend(budget, 5 * len(text))
        return {"str": list(map(ord, text))}
    return text


def _all_hashable(items: list[object]) -> bool:
    try:
        for item in items:
            hash(item)
    except TypeError:
        return False
    return True


def decode(form: Any) -> Any:
    """Return the value that `encode` gave `form` for, of exact built-in types and `Opaque`.

    Raises:
        WireError: `form` is nothing that `encode` returns.
    """
    if form is None or isinstance(form, (bool, int, float, str)):
        return form
    if isinstance(form, list):
        return [decode(item) for item in form]
    if not isinstance(form, dict) or len(form) != 1:
        raise WireError("an object that is not a tagged value")
    ((tag, body),) = form.items()
    try:
        return _DECODERS[tag](body)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise WireError(f"bad tagged value {tag!r}: {error}") from error


_DECODERS: dict[str, Any] = {
    "tuple": lambda body: tuple(decode(item) for item in body),
    "dict": lambda body: {decode(key): decode(item) for key, item in body},
    "set": lambda body: {decode(item) for item in body},
    "frozenset": lambda body: frozenset(decode(item) for item in body),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "int": lambda body: int(body, 16),
    "float": float,
    "complex": lambda body: complex(float.fromhex(body[0]), float.fromhex(body[1])),
    "str": lambda body: "".join(map(chr, body)),
    "ellipsis": lambda body: ...,
    "other": lambda body: Opaque(str(body)),
}


def frame(message: object) -> bytes:
    """Return `message` as one frame: four bytes of length, big-endian, then JSON."""
    payload = json.dumps(message, separators=(",", ":")).encode("ascii")
    return _HEADER.pack(len(payload)) + payload


def take_frame(buffer: bytearray) -> Any:
    """Remove the first whole frame from `buffer` and return its message, or `None` where it is not complete yet.

    Raises:
        WireError: The frame is longer than `MAX_FRAME` or holds no JSON object.
    """
    if len(buffer) < _HEADER.size:
        return None
    (length,) = _HEADER.unpack_from(buffer)
    if length > MAX_FRAME:
        raise WireError(f"a frame of {length} bytes")
    end = _HEADER.size + length
    if len(buffer) < end:
        return None
    payload = bytes(buffer[_HEADER.size : end])
    del buffer[:end]
    try:
        message = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise WireError(f"a frame that is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise WireError("a frame that holds no object")
    return message


def read_message(fd: int, buffer: bytearray) -> Any:
    """Block until `fd` has given a whole frame; return its message, or `None` at the end of the stream."""
    while (message := take_frame(buffer)) is None:
        chunk = os.read(fd, 65536)
        if not chunk:
            return None
        buffer += chunk
    return message


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data` to the blocking descriptor `fd`."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
