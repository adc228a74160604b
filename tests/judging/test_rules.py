"""The rules of the benchmark: what makes an answer right, and what every check may rely on."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cruxeval_tasks.direction import Direction
from cruxeval_tasks.judging import judge as judge_module
from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.judge import Check, Judge, Limits, Status, Verdict
from cruxeval_tasks.judging.pool import Request

ROOT = Path(__file__).parents[2]
IDENTITY = "def f(x):\n    return x"
COUNT = "def f(xs):\n    return sum(1 for x in xs if x > 2)"


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(workers=2, limits=Limits(cpu_seconds=1)) as judge:
        yield judge


def output(answer: str | None, stated: str, code: str = IDENTITY) -> Check:
    return Check("output", code, stated, answer)


def call(answer: str | None, stated: str, code: str = IDENTITY) -> Check:
    return Check("input", code, stated, answer)


def one(judge: Judge, check: Check) -> Verdict:
    return judge.judge([check])[0]


# --- comparison ------------------------------------------------------------------------------------------------------

# Each pair under Python's ==, written down by hand.
EQUAL = [
    ("1", "True"), ("1.0", "True"), ("0", "False"), ("2.0", "2"), ("2+0j", "2"), ("-0.0", "0.0"), ("0", "-0.0"),
    ("{1, 2, 3}", "{3, 2, 1}"), ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"), ("[1, (True, {2: 0.0})]", "[1, (1, {2: 0})]"),
    ("set()", "set()"), ("1e999", "1e999"), ("'\\xe9'", "'é'"), ("b'a'", "b'\\x61'"), ("1_000", "1000"), ("1,", "(1,)"),
    ("{1: 1, 1: 2}", "{1: 2}"), ("'\\ud800'", "'\\ud800'"), ("10 ** 20", "100000000000000000000"), ("...", "..."),
]  # fmt: skip
UNEQUAL = [
    ("[1]", "(1,)"), ("(1,)", "[1]"), ("'1'", "1"), ("b'a'", "'a'"), ("[2, 1]", "[1, 2]"), ("None", "False"),
    ("{}", "set()"), ("[]", "()"), ("()", "{}"), ("1e999 - 1e999", "0"), ("{1: 'a'}", "{'1': 'a'}"), ("'a '", "'a'"),
    ("'e\\u0301'", "'\\u00e9'"), ("0.1 + 0.2", "0.3"), ("'2'", "'2.0'"), ("[[]]", "[]"),
    ("'\\ud83d\\ude00'", "'\\U0001f600'"), ("[1e999 - 1e999]", "[1e999]"), ("lambda: 1", "1"),
    ("2 ** 53 + 1", "9007199254740992.0"), ("[1, 2].append", "None"), ("range(3)", "[0, 1, 2]"),
    ("{1: 2}.values()", "[2]"),
    ("iter([])", "[]"), ("int", "0"),
]  # fmt: skip


@pytest.mark.parametrize("direction", ["output", "input"])
def test_values_compare_as_under_python(judge: Judge, direction: Direction) -> None:
    pairs = [(answer, stated, True) for answer, stated in EQUAL] + [(*pair, False) for pair in UNEQUAL]
    checks = [
        Check(direction, IDENTITY, stated, answer if direction == "output" else f"f(({answer}))")
        for answer, stated, _ in pairs
    ]
    for (answer, stated, equal), verdict in zip(pairs, judge.judge(checks), strict=True):
        assert verdict.status is (Status.PASSED if equal else Status.WRONG), (answer, stated, verdict)


def test_nan_equals_nothing_even_where_both_say_so(judge: Judge) -> None:
    code = "nan = float('nan')\ndef f(x):\n    return [nan, nan]"
    for check in (output("float('nan')", "1"), call("f(1)", "[1, 1]", code), call("f(float('nan'))", "0.0")):
        assert one(judge, check).status is Status.WRONG


def test_bytes_beside_text_are_wrong_even_where_python_is_told_to_object() -> None:
    program = (
        "from cruxeval_tasks.judging.judge import Check, Judge\n"
        "print(*[v.status.value for v in Judge().judge([Check('output', '', \"'a'\", a) for a in (\"b'a'\", \"'a'\")])])"
    )
    done = subprocess.run([sys.executable, "-bb", "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "wrong passed\n", done.stderr


def test_classes_that_compare_like_a_built_in_count_as_it(judge: Judge) -> None:
    cases = [
        ("from collections import Counter\ndef f(x): return Counter(x)", "f('aab')", "{'a': 2, 'b': 1}"),
        ("from collections import OrderedDict\ndef f(x): return OrderedDict(x)", "f({1: 2, 3: 4})", "{3: 4, 1: 2}"),
        ("from collections import defaultdict\ndef f(x): return defaultdict(list, x)", "f({1: []})", "{1: []}"),
        ("from collections import namedtuple\nP = namedtuple('P', 'x')\ndef f(x): return P(x)", "f(1)", "(1,)"),
        ("from enum import IntEnum\nclass E(IntEnum):\n    A = 1\ndef f(x): return E(x)", "f(1)", "1"),
        ("def f(x): return x.keys()", "f({1: 2})", "{1}"),
        ("def f(x): return x.items()", "f({1: 2})", "{(1, 2)}"),
    ]
    for code, answer, stated in cases:
        assert one(judge, call(answer, stated, code)).passed, code


def test_an_object_whose_own_comparison_says_yes_equals_nothing(judge: Judge) -> None:
    spoof = "class S({base}):\n    def __eq__(self, other): return True\n    __hash__ = {base}.__hash__\n"
    for base in ("object", "int", "str", "list", "dict", "tuple"):
        code = spoof.format(base=base) + "def f(x):\n    return S()"
        assert one(judge, call("f(1)", "7", code)).status is Status.WRONG
        code = spoof.format(base=base) + "def f(x):\n    return [S()]"
        assert one(judge, call("f(1)", "[7]", code)).status is Status.WRONG


# --- fresh for every check -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "def f(x, acc=[]):\n    acc.append(x)\n    return acc",
        "seen = []\ndef f(x):\n    seen.append(x)\n    return seen",
        "total = 0\ndef f(x):\n    global total\n    total += 1\n    return [total]",
        "def g(x, memo={}):\n    memo[len(memo)] = x\n    return [len(memo)]\ndef f(x):\n    return g(x)",
        "class C:\n    seen = []\ndef f(x):\n    C.seen.append(x)\n    return C.seen",
        "def f(x):\n    f.n = getattr(f, 'n', 0) + 1\n    return [f.n]",
        "import collections\ndef f(x):\n    collections.n = getattr(collections, 'n', 0) + 1\n    return [1]",
    ],
)
def test_state_starts_anew_for_every_check(judge: Judge, code: str) -> None:
    answers = ["f(1)", "f( 1)", "f(1 )", "f(x=1)", "f(0 + 1)", "f(*[1])"]
    for _ in range(2):
        assert all(verdict.passed for verdict in judge.judge([call(answer, "[1]", code) for answer in answers]))


def test_arguments_cannot_change_what_f_sees(judge: Judge) -> None:
    worlds = {
        "D = [1]": "D",
        "D = ([1],)": "D[0]",
        "D = {'k': [1]}": "D['k']",
        "from collections import deque\nD = deque([1])": "D",
        "from collections import defaultdict\nD = defaultdict(list)\nD[0].append(1)": "D[0]",
        "import types\nD = types.SimpleNamespace(items=[1])": "D.items",
        "D = [1]\nE = [D]": "E[0]",
    }
    for world, part in worlds.items():
        name = part.split("[")[0]
        code = f"{world}\ndef f(x):\n    return len({part})"
        forged = call(f"f({part}.append(2))", "2", code)
        assert one(judge, forged).status is Status.WRONG, code
        honest = call(f"f(list({name}))" if "." not in name else "f(1)", "1", code)
        assert one(judge, honest).passed, code


def test_a_running_generator_of_the_module_is_not_for_answers(judge: Judge) -> None:
    code = "G = (i for i in (1, 2))\ndef f(x):\n    return next(G)"
    assert one(judge, call("f(0)", "1", code)).passed
    assert one(judge, call("f(next(G))", "2", code)).status is Status.RAISED


def test_no_memory_for_a_copy_is_no_missing_name(judge: Judge) -> None:
    code = "class C:\n    def __deepcopy__(self, memo):\n        raise MemoryError\nD = C()\ndef f(x):\n    return 1"
    assert one(judge, call("f(D)", "1", code)).status is Status.MEMORY


@pytest.mark.parametrize("missing", ["G = (i for i in ())", "G = 1\ndel G"])
def test_a_name_that_is_not_to_be_had_leaves_the_others(judge: Judge, missing: str) -> None:
    code = f"{missing}\nZ = 1\ndef f(x):\n    return x"
    assert one(judge, call("f(Z if 1 else G)", "1", code)).passed


def test_copies_keep_what_names_share(judge: Judge) -> None:
    code = "A = [1]\nB = A\ndef f(x, y):\n    return x is y"
    assert one(judge, call("f(A, B)", "True", code)).passed


def test_an_answer_may_use_what_the_module_defines(judge: Judge) -> None:
    code = (
        "from math import pi\nfrom os import getpid\nimport re\nLIMIT = 3\n"
        "def double(x):\n    return 2 * x\nclass Node:\n    def __init__(self, v):\n        self.v = v\n"
        "def f(node):\n    return node.v if isinstance(node, Node) else node"
    )
    expected = {
        "f(LIMIT)": Status.PASSED,
        "f(Node(double(1) + 1))": Status.PASSED,
        "f(int(pi))": Status.PASSED,
        "f(getpid() and 3)": Status.REJECTED,
        "f(re and 3)": Status.REJECTED,
        "f([3 for re in [0]][0])": Status.PASSED,
        "f([3 for re in [0] if re.split or 1][0] if re else 3)": Status.RAISED,  # the real `re` is not there
    }
    for answer, status in expected.items():
        assert one(judge, call(answer, "3", code)).status is status, answer


@pytest.mark.parametrize(
    "answer",
    [
        "f([1, 5, 9])", "0 or f([1, 5, 9])", "max(map(f, [[1, 5, 9]]))", "(lambda g: g([1, 5, 9]))(f)",
        "[0 for f in []] and 0 or f([1, 5, 9])", "(lambda f: 0)(0) + f([1, 5, 9])", "[f for f in [0]][0] + f([3, 4])",
        "g([1, 5, 9])", "h([1, 5, 9])", "T[0]([1, 5, 9])", "K.run([1, 5, 9])", "{**D}['f']([1, 5, 9])", "R",
    ],
)  # fmt: skip
def test_an_output_never_calls_f(judge: Judge, answer: str) -> None:
    code = COUNT + (
        "\ng = f\ndef h(xs):\n    return f(xs)\nT = (f,)\nclass K:\n    run = f\nD = {'f': f}\nR = f([3, 4])\nclean = 2"
    )
    assert one(judge, output("clean", "2", code)).passed
    assert not one(judge, output(answer, "2", code)).passed


# --- the same every time ---------------------------------------------------------------------------------------------


def test_the_order_of_a_set_is_fixed() -> None:
    code = "def f(s):\n    return ''.join(s)"
    letters = "f({'a', 'b', 'c', 'd', 'e', 'f', 'g'})"
    seen = set()
    for _ in range(3):
        with Judge(workers=1) as judge:
            seen.add(one(judge, call(letters, "''", code)).obtained)
            seen.add(one(judge, call(letters.replace("'a'", "'a' + ''"), "''", code)).obtained)  # in a fork
    assert len(seen) == 1


def test_duplicates_are_judged_once(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    judge.judge([call("f(1)", "1")])
    asked: list[Request] = []
    read: list[Check] = []
    pool = judge._open()[0]
    judge_unexecuted = judge_module._judge_unexecuted
    monkeypatch.setattr(judge_module, "_judge_unexecuted", lambda check: read.append(check) or judge_unexecuted(check))
    run = pool.run
    monkeypatch.setattr(pool, "run", lambda requests: asked.extend(requests) or run(requests))
    verdicts = judge.judge([call("f(1)", "1"), call("f(2)", "1"), call("f(1)", "1"), output("1", "1")] * 5)
    assert [verdict.passed for verdict in verdicts] == [True, False, True, True] * 5
    assert [request.answer for request in asked] == ["f(1)", "f(2)"]
    assert [check.answer for check in read] == ["f(1)", "f(2)", "1"]


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (8, 8), (20, 8)])
def test_a_worker_for_each_usable_core_at_most_eight(
    cores: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)))
    with closing(judge_module.open_pool(Limits())[0]) as pool:
        assert pool.size == workers


def test_usable_cores_where_the_system_tells_only_how_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")  # as on macOS
    for count, usable in ((5, 5), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        assert judge_module._usable_cores() == usable


def mixed_checks() -> list[Check]:
    """Checks of every kind and status, cheap and dear, for plain workers and forks."""
    checks = [call(f"f({n})", "7") for n in range(20)]
    checks += [call(f"f([{n}, 9][1:])", "[9]") for n in range(10)]
    checks += [output(answer, stated) for answer, stated in EQUAL + UNEQUAL]
    loop = "def f(x):\n    while x: pass\n    return 7"
    grow = "def f(x):\n    return len(x * 10 ** 10) if x else 7"
    checks += [
        call("f(1)", "7", loop), call("f(0)", "7", loop), call("f('a')", "7", grow), call("f(0)", "7", grow),
        call("f(1, 2)", "7"), call("f(open)", "7"), call("g(1)", "7"), call(None, "7"), output("f(", "7"),
        call("f('x' * 200_000)", "7"), output("[0] * 10 ** 10", "7"), output("sum(iter(int, 1))", "7"),
        output("{[]}", "7"), output("1 / 0", "7"), call("f(*[])", "7"),
    ]  # fmt: skip
    return checks


@pytest.fixture(scope="module")
def mixed_verdicts(judge: Judge) -> dict[Check, Verdict]:
    checks = mixed_checks()
    return dict(zip(checks, judge.judge(checks), strict=True))


def test_the_statuses_are_those_that_logs_and_pages_name() -> None:
    names = "passed wrong no_answer malformed rejected raised timeout memory oversized"
    assert [status.value for status in Status] == names.split()


def test_every_kind_of_status_is_among_the_mixed_checks(mixed_verdicts: dict[Check, Verdict]) -> None:
    assert {verdict.status for verdict in mixed_verdicts.values()} == set(Status)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_verdicts_are_the_same_for_any_number_of_workers_and_any_order(
    workers: int, mixed_verdicts: dict[Check, Verdict]
) -> None:
    checks = mixed_checks()
    random.Random(workers).shuffle(checks)
    with Judge(workers=workers) as judge:
        verdicts = dict(zip(checks, judge.judge(checks), strict=True))
    assert {check: (v.status, v.reason) for check, v in verdicts.items()} == {
        check: (v.status, v.reason) for check, v in mixed_verdicts.items()
    }


def test_verdicts_repeat_within_a_pool(judge: Judge, mixed_verdicts: dict[Check, Verdict]) -> None:
    checks = [check for check in mixed_checks() if mixed_verdicts[check].status is not Status.TIMEOUT]
    for verdict, check in zip(judge.judge(checks), checks, strict=True):
        assert (verdict.status, verdict.reason) == (mixed_verdicts[check].status, mixed_verdicts[check].reason)


# --- statuses and reasons --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "status", "reason"),
    [
        (output(None, "1"), Status.NO_ANSWER, "no answer"),
        (output(" \n", "1"), Status.NO_ANSWER, "no answer"),
        (output("1 +", "1"), Status.MALFORMED, "invalid syntax"),
        (output("x = 1", "1"), Status.MALFORMED, "."),
        (call("1", "1"), Status.MALFORMED, "not a call of f"),
        (call("f(1).real", "1"), Status.MALFORMED, "not a call of f"),
        (output("f(1)", "1"), Status.REJECTED, "a use of f"),
        (output("().__class__", "1"), Status.REJECTED, "the attribute `__class__`"),
        (call("f(open('x'))", "1"), Status.REJECTED, "the name `open`"),
        (output("2", "1"), Status.WRONG, ""),
        (output("1 / 0", "1"), Status.RAISED, "ZeroDivisionError: division by zero"),
        (output("{[]}", "1"), Status.RAISED, "TypeError: .*unhashable"),
        (call("f()", "1"), Status.RAISED, "TypeError: .*positional argument"),
        (call("f(1)", "1", "def f(x):\n    raise SystemExit"), Status.RAISED, "SystemExit$"),
        (call("f(1)", "1", "def f(x):\n    raise KeyboardInterrupt('k')"), Status.RAISED, "KeyboardInterrupt: k"),
        (call("f(1)", "1", "def f(x):\n    return f(x)"), Status.RAISED, "RecursionError: maximum recursion"),
        (call("f(1)", "1", "raise ValueError('at import')"), Status.RAISED, "ValueError: at import"),
        (call("f(1)", "1", "def g(x): pass"), Status.RAISED, "NameError: name 'f' is not defined"),
        (call("f(1)", "1", "import os\ndef f(x):\n    os._exit(0)"), Status.RAISED, "process ended: exit"),
        (call("f(1)", "1", "import os\ndef f(x):\n    os.abort()"), Status.RAISED, "process ended: SIG"),
        (call("f(1)", "1", "def f(x):\n    while x: pass"), Status.TIMEOUT, "CPU time used up"),
        (output("sum(range(10 ** 12))", "1"), Status.TIMEOUT, "CPU time used up"),
        (output("-1 in iter(int, 1)", "1"), Status.TIMEOUT, "CPU time used up"),
        (
            call(
                "f(1)",
                "1",
                "import signal\ndef f(x):\n    for n in (24, 26, 27): signal.signal(n, 1)\n    while x: pass",
            ),
            Status.TIMEOUT,
            "CPU time used up",
        ),
        (output("[0] * 10 ** 10", "1"), Status.MEMORY, "MemoryError"),
        (call("f(1)", "1", "def f(x):\n    return 'x' * 10 ** 10"), Status.MEMORY, "MemoryError"),
        (output("'x' * 10 ** 6", "1"), Status.OVERSIZED, "too many"),
        (call("f([])", "1", "def f(x):\n    x.append(x)\n    return x"), Status.OVERSIZED, "nested deeper than"),
    ],
    ids=lambda value: value.value if isinstance(value, Status) else "",
)
def test_a_verdict_says_what_became_of_the_answer(judge: Judge, check: Check, status: Status, reason: str) -> None:
    verdict = one(judge, check)
    assert verdict.status is status
    assert re.search(reason, verdict.reason), verdict.reason
    assert verdict.passed is (status is Status.PASSED)
    assert verdict.answered is (status not in (Status.NO_ANSWER, Status.MALFORMED))
    assert (verdict.obtained is not None) is (status in (Status.WRONG, Status.PASSED))


def test_a_wrong_verdict_shows_the_value(judge: Judge) -> None:
    assert one(judge, output("[1, 'a']", "1")).obtained == "[1, 'a']"
    assert one(judge, call("f({2: (1,)})", "1")).obtained == "{2: (1,)}"
    long = one(judge, output("'x' * 5000", "1")).obtained
    assert long is not None
    assert len(long) == 1000
    assert long.startswith("'xxx")
    huge = one(judge, output("10 ** 5000", "1"))
    assert huge.status is Status.WRONG
    assert huge.obtained == "<int too large to show>"


@pytest.mark.parametrize("answer", ["f(70_000)", "f(70_000 + 0)"])
def test_a_value_as_large_as_a_large_output_is_not_oversized(judge: Judge, answer: str) -> None:
    assert one(judge, call(answer, repr("x" * 70_000), "def f(n):\n    return 'x' * n")).passed


def test_a_check_that_waits_ends_at_the_backstop() -> None:
    code = "import time\ndef f(x):\n    time.sleep(1000)"
    with Judge(workers=1, limits=Limits(wall_seconds=0.5)) as judge:
        assert one(judge, call("f(1)", "1", code)).status is Status.TIMEOUT
        assert one(judge, call("f(1)", "1")).passed


@pytest.mark.parametrize(
    "body",
    ["raise ValueError(f)", "raise KeyError(object())", "return object() + 1", "raise Exception(lambda: 0, [f])"],
)
@pytest.mark.parametrize("answer", ["f(1)", "f(0 + 1)"])
def test_reasons_hold_no_addresses(judge: Judge, body: str, answer: str) -> None:
    verdict = one(judge, call(answer, "1", f"def f(x):\n    {body}"))
    assert verdict.status is Status.RAISED
    assert "0x" not in verdict.reason


def test_an_exception_that_cannot_be_shown_is_named(judge: Judge) -> None:
    code = "class E(Exception):\n    def __str__(self):\n        raise ValueError\ndef f(x):\n    raise E"
    assert one(judge, call("f(1)", "1", code)) == Verdict(Status.RAISED, "E")


def test_a_reason_is_one_line_that_can_be_written_anywhere(judge: Judge) -> None:
    verdict = one(judge, call("f('a\\ud800\\n\\tb')", "1", "def f(x):\n    raise ValueError(x)"))
    assert verdict.reason == "ValueError: a\\ud800 b"
    endless = one(judge, call("f(1)", "1", "def f(x):\n    raise ValueError('x' * 10 ** 7)"))
    assert len(endless.reason) <= 1000


@pytest.mark.parametrize("answer", ["f(900)", "f(450 + 450)"])
def test_recursion_has_the_headroom_of_a_fresh_interpreter(judge: Judge, answer: str) -> None:
    code = "def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)"
    assert one(judge, call(answer, "900", code)).passed
    assert one(judge, call("f(2000)", "2000", code)).status is Status.RAISED
    caught = "def f(n):\n    try:\n        return f(n + 1)\n    except RecursionError:\n        return n"
    reached = one(judge, call("f(0)", "-1", caught)).obtained
    assert reached is not None
    assert 950 <= int(reached) <= 1000


def test_what_a_problem_prints_does_no_harm(judge: Judge) -> None:
    code = "def f(x):\n    print(x, flush=True)\n    print('y' * 100_000)\n    return 1"
    for answer in ("f('\\ud800')", "f(['a', None])", "f('a' + 'b')"):
        assert one(judge, call(answer, "1", code)).passed


def test_standard_input_is_empty(judge: Judge) -> None:
    verdict = one(judge, call("f(1)", "1", "def f(x):\n    return input()"))
    assert verdict.reason.startswith("EOFError")


def test_a_problem_may_sleep(judge: Judge) -> None:
    code = "import time\ndef f(x):\n    time.sleep(0.01)\n    return x"
    assert one(judge, call("f(1)", "1", code)).passed


def test_codecs_work_inside(judge: Judge) -> None:
    code = (
        "def f(text, codec):\n    try:\n        return text.encode(codec).decode(codec)\n"
        "    except LookupError:\n        return 'no codec'"
    )
    for codec in ("shift_jis", "utf-7", "cp1252", "idna", "punycode", "big5hkscs"):
        assert one(judge, call(f"f('ab', '{codec}')", "'ab'", code)).passed, codec


def test_standard_library_modules_import_inside(judge: Judge) -> None:
    for module in ("json", "datetime", "decimal", "statistics", "difflib", "hashlib", "random", "struct", "calendar"):
        code = f"def f(x):\n    import {module}\n    return x"
        assert one(judge, call("f(1)", "1", code)).passed, module


@pytest.mark.parametrize("module", ["binascii", "bz2", "lzma", "zlib"])
def test_modules_that_need_libraries_from_elsewhere_import_inside(judge: Judge, module: str) -> None:
    pytest.importorskip(module)
    assert one(judge, call("f(1)", "1", f"def f(x):\n    import {module}\n    return x")).passed


def test_a_problem_that_is_none_is_an_error(judge: Judge) -> None:
    with pytest.raises(ValueError, match=r"."):
        judge.judge([call("f(1)", "1", "def f(:")])
    for stated in ("f(1)", "1 +"):
        with pytest.raises(ValueError, match=r"."):
            judge.judge([output("1", stated)])
    with pytest.raises(ValueError, match="workers"):
        Judge(workers=0)


def test_nothing_to_judge(judge: Judge) -> None:
    assert judge.judge([]) == []


def test_literals_start_no_worker() -> None:
    with Judge(workers=1) as judge:
        assert one(judge, output("[1]", "[1]")).passed
        assert not judge.started
        assert list(judge.isolation) == list(LAYERS)
        assert judge.started


# --- checks that share a process -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hostile",
    [
        # Each is `code` whose check, if it shared a process with others, would change what these give.
        "import builtins\ndef f(x):\n    builtins.len = lambda y: 7",
        "def f(x):\n    match f:\n        case object(__globals__=g): g['__builtins__']['len'] = lambda y: 7",
        "from string import __builtins__ as b\ndef f(x):\n    b['len'] = lambda y: 7",
        "import string\ndef f(x):\n string.Formatter().get_field('0.__globals__', [f], {})[0]['__builtins__'].clear()",
        "import typing\ndef f(x):\n    typing.sys.modules.clear()",
        "from collections import _sys\ndef f(x):\n    _sys.setrecursionlimit(60)",
        "import collections.abc\ndef f(x):\n    collections.abc.Mapping.register(list)",
        "import copy\ndef f(x):\n    copy.copyreg.dispatch_table[list] = lambda y: (int, ())",
        "class C:\n def __init__(self): self.me = self\n def __del__(self):\n  while True: pass\ndef f(x): C()",
        "def f(x):\n    def g():\n        try:\n            yield\n        finally:\n            while True: pass\n"
        "    it = g(); next(it); box = [it]; box.append(box)\n    return 1",
        "import gc\ndef f(x):\n    gc.disable()",
        "import random\ndef f(x):\n    random.seed(1)",
        "import os\ndef f(x):\n    os.environ['PATH'] = ''",
        "import json\ndef f(x):\n    json.dumps = None",
        "def f(x):\n    print.__self__.len = None",
    ],
)
def test_no_check_leaves_anything_for_the_next(judge: Judge, hostile: str) -> None:
    try:
        compile(hostile, "", "exec")
    except SyntaxError:
        pytest.skip("this Python does not have it")
    probe = (
        "from collections.abc import Mapping\nimport copy, math\n"
        "def f(x):\n    for i in range(20_000):\n        a = []\n        a.append(a)\n"  # the collector runs
        "    return len(x) + len(copy.copy(x)) + isinstance(x, Mapping)"
    )
    plain_probe = "def f(x):\n    for i in range(20_000):\n        a = []\n        a.append(a)\n    return len(x)"
    checks = []
    for n in range(8):
        checks += [
            call(f"f({n})", "'no'", hostile),
            call(f"f([{n}, 1])", "4", probe),
            call(f"f([{n}, 1])", "2", plain_probe),
        ]
    verdicts = judge.judge(checks)
    assert not any(verdict.passed for verdict in verdicts[::3])
    assert all(verdict.passed for verdict in verdicts[1::3] + verdicts[2::3])
