"""Values survive the way from a worker to the judge exactly, or are refused; nothing else can be sent."""

from __future__ import annotations

import bisect
import collections
import enum
import json
import math
import os
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cruxeval_tasks.judging import wire
from cruxeval_tasks.judging.wire import MAX_DEPTH, Opaque, TooLarge, WireError, decode, encode

LIMIT = 10**6

any_text = st.text(st.characters() | st.characters(whitelist_categories=["Cs"]))
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.complex_numbers()
    | any_text
    | st.binary()
    | st.just(...)
)
hashable = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.frozensets(inner, max_size=4),
    max_leaves=8,
)
values = st.recursive(
    hashable | st.binary().map(bytearray) | st.sets(hashable, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(hashable, inner, max_size=4)
    ),
    max_leaves=20,
)


def there_and_back(value: object) -> Any:
    buffer = bytearray(wire.frame({"value": encode(value, LIMIT)}))
    message = wire.take_frame(buffer)
    assert not buffer
    return decode(message["value"])


def shape(value: Any) -> Any:
    """The exact types and contents of a value, in a form that tells -0.0 from 0.0 and finds nan equal to nan."""
    kind = type(value).__name__
    if isinstance(value, (list, tuple)):
        return kind, [shape(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return kind, sorted(map(repr, map(shape, value)))
    if isinstance(value, dict):
        return kind, [(shape(key), shape(item)) for key, item in value.items()]
    return kind, repr(value)


@pytest.mark.slow
@given(values)
def test_a_value_comes_back_with_its_types_its_order_and_every_bit(value: object) -> None:
    assert shape(there_and_back(value)) == shape(value)


@pytest.mark.parametrize(
    "value",
    [
        "\ud800",
        "\udfff\ud800",
        "a\ud83d\ude00b\U0001f600",
        -0.0,
        5e-324,
        1.7976931348623157e308,
        math.inf,
        -math.inf,
        2**64,
        -(2**64),
        2**63,
        -(10**4000),
        complex(-0.0, math.inf),
        {True: 1, 2.5: "x", None: [], (1, "a"): {}},
        {"tuple": [1], "other": 2},  # looks like a tagged value
        [{"dict": [[1, 2]]}],
        {1: {2: {3: [set(), frozenset({()})]}}},
    ],
    ids=lambda value: type(value).__name__,
)
def test_known_difficult_values(value: object) -> None:
    back = there_and_back(value)
    assert back == value
    assert shape(back) == shape(value)


def test_two_lone_surrogates_do_not_become_one_character() -> None:
    assert there_and_back("\ud83d\ude00") == "\ud83d\ude00"


def test_a_pair_of_surrogates_and_the_character_stay_different() -> None:
    assert there_and_back("\ud83d\ude00") != there_and_back("\U0001f600")


def test_nan_equals_nothing_after_the_way_either() -> None:
    back = there_and_back([math.nan])
    assert math.isnan(back[0])
    assert back != [math.nan]


class Colour(enum.IntEnum):
    RED = 3


class LyingList(list[int]):
    def __len__(self) -> int:
        return 99

    def __iter__(self) -> Any:
        return iter([9, 9, 9])

    def __getitem__(self, index: Any) -> Any:
        return 9


class LyingText(str):
    def __str__(self) -> str:
        return "lie"

    def __len__(self) -> int:
        return 99

    def __getitem__(self, index: Any) -> str:
        return "lie"


class LyingNumber(int):
    def __index__(self) -> int:
        return 99

    def __int__(self) -> int:
        return 99

    def __pos__(self) -> int:
        return 99

    def __hash__(self) -> int:
        return 99


class LyingFloat(float):
    def __float__(self) -> float:
        return 99.0

    def __repr__(self) -> str:
        return "99.0"

    def __sub__(self, other: object) -> float:
        return 99.0


class LyingDict(dict[str, int]):
    def items(self) -> Any:
        return [("lie", 9)]

    def keys(self) -> Any:
        return ["lie"]

    def __iter__(self) -> Any:
        return iter(["lie"])


class LyingBytes(bytes):
    def hex(self, *args: Any) -> str:
        return "99"

    def __bytes__(self) -> bytes:
        return b"lie"


class LyingSet(set[int]):
    def __iter__(self) -> Any:
        return iter([9])


Point = collections.namedtuple("Point", "x y")


class Recent(collections.OrderedDict):  # type: ignore[type-arg]
    pass


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
        (Recent(a=2), {"a": 2}),
        (collections.defaultdict(list, a=[1]), {"a": [1]}),
        (Point(1, [2]), (1, [2])),
        (Colour.RED, 3),
        ({1: 2}.keys(), {1}),
        ({1: 2}.items(), {(1, 2)}),
        (collections.OrderedDict(a=1).keys(), {"a"}),
        (collections.OrderedDict(a=1).items(), {("a", 1)}),
        (LyingList([1, 2]), [1, 2]),
        (LyingText("truth"), "truth"),
        (LyingNumber(7), 7),
        (LyingFloat(1.5), 1.5),
        (LyingDict(a=1), {"a": 1}),
        (LyingBytes(b"truth"), b"truth"),
        (LyingSet({4}), {4}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_class_that_compares_like_its_built_in_base_travels_as_that_base(value: object, plain: object) -> None:
    assert value == plain, "Python itself must find these equal"
    back = there_and_back(value)
    assert back == plain
    assert shape(back) == shape(plain) or isinstance(plain, (set, dict))
    assert type(back) is type(plain)


class EqualsAll(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class NeverEqual(list[int]):
    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


class HashableList(list[int]):
    def __hash__(self) -> int:  # type: ignore[override]
        return 1


@pytest.mark.parametrize(
    "value",
    [
        EqualsAll(2),
        NeverEqual([1]),
        object(),
        len,
        int,
        iter([]),
        range(3),
        collections.deque([1]),
        {1: 2}.values(),
        {1: []}.items(),  # equals no set that a literal can state
        (x for x in ()),
        NotImplemented,
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_arrives_as_an_object_that_equals_nothing(value: object) -> None:
    back = there_and_back(value)
    assert type(back) is Opaque
    for other in (2, [1], [], {}, set(), "", None, NotImplemented, there_and_back(value)):
        assert back != other
        assert other != back
    nested = there_and_back([1, {"k": (value,)}])
    assert type(nested[1]["k"][0]) is Opaque


@pytest.mark.parametrize(
    "value",
    [{HashableList([1])}, {HashableList(): 1}, {(1, (HashableList(),))}, frozenset({HashableList()}),
     {HashableList([1]): 1}.keys()],
    ids=["set", "dict", "tuple", "frozenset", "keys"],
)
def test_a_hashable_instance_of_an_unhashable_base_can_be_decoded(value: Any) -> None:
    back = there_and_back(value)
    assert type(back) in (type(value), set)
    assert len(back) == 1


def nested(depth: int, around: type = list) -> Any:
    value: Any = around()
    for _ in range(depth):
        value = {1: value} if around is dict else around([value])
    return value


@pytest.mark.parametrize("around", [list, tuple, dict, frozenset])
def test_depth_limit(around: type) -> None:
    assert there_and_back(nested(MAX_DEPTH, around)) == nested(MAX_DEPTH, around)
    with pytest.raises(TooLarge):
        encode(nested(MAX_DEPTH + 1, around), LIMIT)
    with pytest.raises(TooLarge):
        encode(nested(100_000, list), LIMIT)


def test_a_value_that_contains_itself_is_too_deep() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(TooLarge):
        encode(loop, LIMIT)


@pytest.mark.parametrize(
    "value",
    [
        "x" * 1001,
        b"x" * 501,
        bytearray(501),
        [0] * 501,
        (None,) * 501,
        {n: n for n in range(300)},
        set(range(501)),
        frozenset(range(501)),
        {n: n for n in range(501)}.keys(),
        1 << 4100,
        -(1 << 4100),
        ["x" * 300] * 4,
        [[]] * 501,
        "\ud800" * 300,
        [object()] * 200,
    ],
    ids=lambda value: type(value).__name__,
)
def test_size_limit(value: object) -> None:
    with pytest.raises(TooLarge):
        encode(value, 1000)


@pytest.mark.slow
def test_a_shared_part_counts_each_time_it_is_written() -> None:
    value: Any = []
    for _ in range(60):  # 2**60 items in all
        value = [value, value]
    with pytest.raises(TooLarge):
        encode(value, LIMIT)


@pytest.mark.parametrize(
    "item",
    ["", "\U0001f600", "\ud800", -1.2345678901234567e-300, -(2**63), -(2**64), -(2**70), len, math.nan, -math.inf, ...,
     complex(-1.2345678901234567e-300, -1.2345678901234567e-300), (), [], {}, {0: 0}, set(), frozenset([0]), b"", b"x",
     bytearray(), {0: 0}.items(), range],
    ids=lambda item: type(item).__name__,
)  # fmt: skip
def test_a_value_within_the_judges_largest_limit_fits_a_frame(item: object) -> None:
    limit = 2**14  # a 64th of the largest

    def fits(n: int) -> bool:
        try:
            encode([item] * n, limit)
        except TooLarge:
            return False
        return True

    most = bisect.bisect_left(range(limit), True, key=lambda n: not fits(n)) - 1
    assert most > 100
    assert len(wire.frame({"id": 1, "value": encode([item] * most, limit)})) <= wire.MAX_FRAME // 64


@pytest.mark.parametrize("character", ["a", "\U0001f600", "\ud800", "\0"])
def test_a_text_within_the_judges_largest_limit_fits_a_frame(character: str) -> None:
    limit = 2**14
    for n in (limit - 2, limit // 6 - 2):
        try:
            form = encode(character * n, limit)
        except TooLarge:
            continue
        assert len(wire.frame({"id": 1, "value": form})) <= wire.MAX_FRAME // 64


def test_a_long_name_of_a_class_does_not_make_a_value_large() -> None:
    back = decode(encode(type("C" * 5000, (), {})(), 1000))
    assert back.type_name == "C" * 100


# --- what a hostile worker may send ----------------------------------------------------------------------------------

TAGS = "tuple dict set frozenset bytes bytearray int float complex str ellipsis other".split()
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*TAGS, "no such tag"]), inner, min_size=1, max_size=1)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)
PLAIN_TYPES = (
    type(None), bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, Opaque, type(...)
)  # fmt: skip


def assert_plain(value: Any) -> None:
    assert type(value) in PLAIN_TYPES
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            assert_plain(item)
    if isinstance(value, dict):
        for key, item in value.items():
            assert_plain(key)
            assert_plain(item)


@pytest.mark.slow
@given(json_values)
@settings(max_examples=500)
def test_hostile_json_gives_plain_values_or_a_wire_error(form: Any) -> None:
    try:
        value = decode(json.loads(json.dumps(form)))
    except WireError:
        return
    assert_plain(value)
    repr(value)


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize(
    "body",
    [None, True, 1, -1, 10**400, 1.5, "", "zz", "0x", [], [[]], [[1]], [[[], 1]], {}, {"set": [[]]}, ["a"], [10**30],
     [-1], [1114112], ["0x1p99999", "0"], ["1"], [None, None]],
    ids=str,
)  # fmt: skip
def test_every_tag_with_every_kind_of_body(tag: str, body: object) -> None:
    try:
        value = decode({tag: body})
    except WireError:
        return
    assert_plain(value)


@pytest.mark.parametrize("form", [{}, {"int": "0x1", "str": []}, {"__class__": "x"}, {"": 1}, {"pickle": "gASVAA=="}])
def test_untagged_objects_are_refused(form: object) -> None:
    with pytest.raises(WireError):
        decode(form)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_give_nothing_a_message_or_a_wire_error(data: bytes) -> None:
    buffer = bytearray(data)
    try:
        message = wire.take_frame(buffer)
    except WireError:
        return
    assert message is None or isinstance(message, dict)


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"1", b"null", b"{", b'{"a":}', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000,
     b'{"a":' + b"9" * 5000 + b"}"],
    ids=lambda payload: repr(payload[:12]),
)  # fmt: skip
def test_a_frame_that_holds_no_json_object_is_refused(payload: bytes) -> None:
    with pytest.raises(WireError):
        wire.take_frame(bytearray(len(payload).to_bytes(4, "big") + payload))


def test_a_huge_frame_is_refused_before_it_arrives() -> None:
    with pytest.raises(WireError):
        wire.take_frame(bytearray((wire.MAX_FRAME + 1).to_bytes(4, "big")))
    assert wire.take_frame(bytearray(wire.MAX_FRAME.to_bytes(4, "big"))) is None


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.text(max_size=3), st.integers(), max_size=2), max_size=4), st.data())
def test_frames_come_out_whole_however_they_are_cut(messages: list[dict[str, int]], data: st.DataObject) -> None:
    stream = b"".join(map(wire.frame, messages))
    buffer, received = bytearray(), []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        buffer += stream[:cut]
        stream = stream[cut:]
        while (message := wire.take_frame(buffer)) is not None:
            received.append(message)
    assert received == messages
    assert not buffer


def test_messages_through_a_pipe_arrive_whole_and_in_order() -> None:
    messages = [{"text": "x" * 300_000}, {}, {"n": 1}, {"text": "y" * 70_000}]  # more than a pipe holds, and less
    reading, writing = os.pipe()

    def write() -> None:
        wire.write_all(writing, b"".join(map(wire.frame, messages)))
        os.close(writing)

    writer = threading.Thread(target=write)
    writer.start()
    buffer = bytearray()
    received = [wire.read_message(reading, buffer) for _ in range(len(messages) + 1)]
    writer.join()
    os.close(reading)
    assert received == [*messages, None]


def test_a_stream_that_ends_within_a_message_gives_none() -> None:
    reading, writing = os.pipe()
    wire.write_all(writing, wire.frame({"n": 1})[:-1])
    os.close(writing)
    assert wire.read_message(reading, bytearray()) is None
    os.close(reading)
