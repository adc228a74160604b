"""Which answers are admitted and as what, and which code may share a process."""

from __future__ import annotations

import builtins
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections import Counter, OrderedDict, deque
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cruxeval_tasks.judging import grammar
from cruxeval_tasks.judging.grammar import (
    MAX_ANSWER,
    Code,
    Evaluation,
    Malformed,
    Raises,
    Rejected,
    Value,
    admit,
    parse,
    read_code,
    stated_output,
)

ROOT = Path(__file__).resolve().parents[2]
PROBLEMS = ROOT.parent / "shared" / "cruxeval" / "cruxeval.jsonl"
NONE: frozenset[str] = frozenset()


# --- what an answer may be -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("2", 2),
        (" \n\t 2 \n", 2),
        ("((2))", 2),
        ("-2", -2),
        ("+2.5", 2.5),
        ("1+2j", 1 + 2j),
        ("'#=='", "#=="),
        ("'a' \"b\"", "ab"),
        ("('a'\n 'b')", "ab"),
        ("'''a\nb'''", "a\nb"),
        ("r'\\d'", "\\d"),
        ("'\\d'", "\\d"),  # an invalid escape, which newer versions warn about
        ("b'x'", b"x"),
        ("1, 'a'", (1, "a")),
        ("1,", (1,)),
        ("()", ()),
        ("set()", set()),
        ("{1: [None, True, ...]}", {1: [None, True, ...]}),
        ("2  # two", 2),
        ("0x_ff", 255),
        ("'\\ud800'", "\ud800"),
        ("\u00a02\u2028", 2),  # white space around an answer is none of its business
    ],
)
def test_a_literal_output_is_a_value(answer: str, value: object) -> None:
    assert admit(answer, "output", NONE) == Value(value)


@pytest.mark.parametrize(
    "answer",
    [
        "'<' * 10",
        "[1] + [2]",
        "sorted({3, 1})",
        "[x for x in range(3) if x]",
        "{k: v for k, v in zip('ab', [1, 2])}",
        "''.join(reversed('abc'))",
        "'abc'[::-1]",
        "f'{1 + 1:>{4}}'",
        "(lambda x, *y, z=1, **k: x)(1)",
        "1 if [] else 2",
        "not 1 < 2 <= 3 and 4 or 5",
        "~5 @ 3 ** 2 // 1 % 4",
        "list(map(str, [1]))",
        "dict(a=1, **{'b': 2})",
        "'%s' % 1",
        "str.maketrans('a', 'b')",
        "bytes.fromhex('00')",
        "int.from_bytes(b'a', 'big')",
        "(lambda f: f + 1)(1)",  # f is a variable of its own here
    ],
)
def test_an_expression_without_side_effects_is_evaluated(answer: str) -> None:
    assert admit(answer, "output", NONE) == Evaluation(answer, NONE, plain=False)
    call = f"f({answer})"
    assert admit(call, "input", NONE) == Evaluation(call, frozenset({"f"}), plain=False)


REJECTED = {
    "__import__('os')": "the name `__import__`",
    "open('/etc/passwd')": "the name `open`",
    "print(1)": "the name `print`",
    "getattr(1, 'real')": "the name `getattr`",
    "type(1)": "the name `type`",
    "vars()": "the name `vars`",
    "globals()": "the name `globals`",
    "exec('1')": "the name `exec`",
    "eval('1')": "the name `eval`",
    "compile('1', '', 'eval')": "the name `compile`",
    "input()": "the name `input`",
    "breakpoint()": "the name `breakpoint`",
    "memoryview(b'')": "the name `memoryview`",
    "super": "the name `super`",
    "object()": "the name `object`",
    "id(1)": "the name `id`",
    "hash('a')": "the name `hash`",
    "__builtins__": "the name `__builtins__`",
    "__name__": "the name `__name__`",
    "x": "the name `x`",
    "().__class__": "the attribute `__class__`",
    "(lambda: 0).__code__": "the attribute `__code__`",
    "'{0.__class__}'.format(1)": "the attribute `format`",
    "'{a}'.format_map({})": "the attribute `format_map`",
    "str.format('{0.__class__}', 1)": "the attribute `format`",
    "(x for x in ()).gi_frame": "the attribute `gi_frame`",
    "str.mro()": "the attribute `mro`",
    "[].x": "the attribute `x`",
    "(x := 2)": "an assignment expression (`:=`)",
    "[y := 1, y]": "an assignment expression (`:=`)",
    "[(yield)]": "`yield`",
    "(lambda: (yield))()": "`yield`",
    "(lambda: (yield from ()))()": "`yield from`",
    "await x": "`await`",
    "[x async for x in ()]": "an asynchronous comprehension",
    "[0 for [].x in [1]]": "the attribute `x`",
    "[0 for [0][0] in [1]]": "an assignment to a part of an object",
    "[0 for 'a'.real in [1]]": "an assignment to a part of an object",
    "[0 for open in [1]]": "a variable named `open`",
    "lambda getattr: getattr": "a variable named `getattr`",
    "lambda __import__: 1": "a variable named `__import__`",
    "[0 for __builtins__ in [{}]]": "a variable named `__builtins__`",
    "lambda *__class__: 1": "a variable named `__class__`",
    "\uff4f\uff50\uff45\uff4e('x')": "the name `open`",  # full-width letters: Python reads `open`
    "().__\uff43lass__": "the attribute `__class__`",
}


@pytest.mark.parametrize(("answer", "reason"), REJECTED.items(), ids=range(len(REJECTED)))
def test_a_construct_that_is_not_admissible_is_named(answer: str, reason: str) -> None:
    assert admit(answer, "output", NONE) == Rejected(reason)
    assert admit(f"f(({answer}))", "input", NONE) == Rejected(reason)
    assert admit(f"f([1, *[({answer})]])", "input", NONE) == Rejected(reason)
    assert admit(f"f(k=lambda: ({answer}))", "input", NONE) == Rejected(reason)


def test_what_a_format_specification_holds_is_looked_at() -> None:
    assert admit("f'{1:{open}}'", "output", NONE) == Rejected("the name `open`")
    assert admit("f(f'{1:{().__class__}}')", "input", NONE) == Rejected("the attribute `__class__`")


def test_a_call_of_f_is_no_output() -> None:
    for answer in ("f(1)", "[f(1)]", "f", "0 or f", "max(map(f, [1]))", "(lambda g: g(1))(f)", "lambda x=f: x"):
        assert admit(answer, "output", frozenset({"f", "g"})) == Rejected("a use of f")


def test_a_variable_named_f_gives_an_output_no_access_to_the_real_one() -> None:
    for answer in ("[0 for f in []] or f(1)", "(lambda f: 0)(0) + f(1)"):
        admitted = admit(answer, "output", frozenset({"f"}))
        assert isinstance(admitted, Evaluation)
        assert "f" not in admitted.names


def test_an_evaluation_names_only_what_it_uses_of_the_module() -> None:
    admitted = admit("[a, os, z] + [1 for os in z]", "output", frozenset({"a", "b", "z"}))
    assert isinstance(admitted, Evaluation)
    assert admitted.names == {"a", "z"}  # `os` is a variable here and nothing else anywhere


@pytest.mark.parametrize(
    "answer",
    ["f()", "f(1)", "f (1)", "(f)(1)", "(f(1))", " f(1) # one\n", "f(\n1,\n)", "f(-1, +2.5, 'a' 'b', b'', None, ...)",
     "f([1, (2,), {3}, {'a': {}}])", "f(*[1, 2])", "f(x=1)", "f(**{'x': 1})", "f({**{1: 2}})", "f([*'ab'])"],
)  # fmt: skip
def test_a_call_of_f_on_literals_is_plain(answer: str) -> None:
    assert admit(answer, "input", NONE) == Evaluation(answer.strip(), frozenset({"f"}), plain=True)


@pytest.mark.parametrize(
    "answer",
    ["f(1 + 1)", "f(set())", "f(lambda x: x)", "f('a'[0])", "f(f(1))", "f(not 1)", "f(f'')", "f([x for x in 'a'])",
     "f(1 if 1 else 2)", "f(1 < 2)", "f(1 and 2)", "f(~1)", "f('a'.upper())", "f(x for x in (3, 4))"],
)  # fmt: skip
def test_any_other_call_of_f_is_not_plain(answer: str) -> None:
    assert admit(answer, "input", NONE) == Evaluation(answer, frozenset({"f"}), plain=False)


@pytest.mark.parametrize(
    "answer",
    ["2", "f", "f[1]", "f.x(1)", "f(1)(2)", "f(1).upper()", "f(1)[0]", "f(1) or 2", "f(1) + 0", "not f(1)", "g(1)",
     "(lambda: f(1))()", "[f(1)]", "f(1),", "f(1) if 1 else 2", "f(1) == 2", "(f := f)(1)", "len(f(1))", "*f(1)",
     "(lambda f: f(1))(f)", "(f or f)(1)", "'f(1)'"],
)  # fmt: skip
def test_an_input_that_is_no_call_of_f_is_malformed(answer: str) -> None:
    assert isinstance(admit(answer, "input", frozenset({"f"})), Malformed)


@pytest.mark.parametrize("direction", ["input", "output"])
@pytest.mark.parametrize(
    "answer",
    ["f(", "x = 1", "assert 1", "1; 2", "1\n2", "f(1)\nf(2)", "import os", "def f(): pass", "return 1", "", "#", "\\",
     "'", "'''", "(", "\x00", "f(\x00)", "'\ud800'", "f('\udfff')", "\ud83d\ude00", "\u2018a\u2019", "0777", "1__0",
     "f(**)", "f(x=1, 2)", "9" * 5000, "(" * 300 + "1" + ")" * 300, "[" * 99_999, "f(" * 40_000, "pass", "$", "?",
     "``", "x!", "print 1", "1 1", "f(1) f(2)", "1\ufeff", "-" * 20_000 + "1"],
    ids=lambda answer: ascii(answer[:12]),
)  # fmt: skip
def test_what_is_not_one_expression_is_malformed(answer: str, direction: str) -> None:
    outcome = admit(answer, direction, frozenset({"f"}))  # type: ignore[arg-type]
    assert isinstance(outcome, Malformed)
    assert outcome.reason
    outcome.reason.encode()


def test_a_malformed_answer_says_why() -> None:
    reasons = {"1 +": "invalid syntax", "'\ud800'": "a lone surrogate", "-" * 20_000 + "1": "nested too deeply"}
    assert {answer: admit(answer, "output", NONE) for answer in reasons} == {
        answer: Malformed(reason) for answer, reason in reasons.items()
    }


def test_an_answer_that_is_too_long_is_not_read() -> None:
    assert isinstance(admit("'" + "a" * (MAX_ANSWER - 2) + "'", "output", NONE), Value)
    assert isinstance(admit("'" + "a" * (MAX_ANSWER - 1) + "'", "output", NONE), Malformed)
    assert isinstance(admit("f(" + " " * 10**7 + ")", "input", NONE), Malformed)


@pytest.mark.parametrize(
    ("answer", "exception"), [("{[]}", "TypeError"), ("{{}: 1}", "TypeError"), ("{(1, [])}", "TypeError")]
)
def test_a_literal_that_raises(answer: str, exception: str) -> None:
    outcome = admit(answer, "output", NONE)
    assert isinstance(outcome, Raises)
    assert outcome.exception == exception


@pytest.mark.slow
@given(st.text(), st.sampled_from(["input", "output"]))
def test_any_text_is_sorted_into_something(answer: str, direction: str) -> None:
    outcome = admit(answer, direction, frozenset({"f"}))  # type: ignore[arg-type]
    assert isinstance(outcome, (Value, Evaluation, Malformed, Rejected, Raises))


_BITS = st.sampled_from(
    "f ( ) [ ] { } , : ; = == := + - * ** / . 1 2.5 'a' b'' \"\"\" x lambda for in if else not and or is await yield "
    "async * None ... __class__ .__class__ open \\ \n # \t 0x \x00 \ud800 é ｆ".split(" ")
)


@given(st.lists(_BITS, max_size=25).map(" ".join), st.sampled_from(["input", "output"]))
def test_any_heap_of_tokens_is_sorted_into_something(answer: str, direction: str) -> None:
    outcome = admit(answer, direction, frozenset({"f"}))  # type: ignore[arg-type]
    assert isinstance(outcome, (Value, Evaluation, Malformed, Rejected, Raises))
    if "__class__" in answer or "open" in answer:
        names = answer.split()
        assert not isinstance(outcome, Evaluation) or "#" in names or '"""' in names


# Each makes the parser or its tree as deep as the longest answer allows: the interpreter must survive it.
_DEEP = [
    "'+'.join(['1'] * 49999)", "'-' * 99999 + '1'", "'not ' * 24999 + '1'", "'a' + '.b' * 49999", "'a' + '()' * 49999",
    "'a' + '[0]' * 33000", "'lambda:' * 14000 + '1'", "'1 if 1 else ' * 8000 + '1'", "'[' * 99999", "'{1:' * 30000",
    "'1<' * 49999 + '1'", "'2**' * 30000 + '2'", "'~' * 99999 + '1'", "'(a:=' * 20000", "'f\"{' * 30000",
    "'a and ' * 16000 + 'a'", "'(' * 199 + '-' * 90000 + '1' + ')' * 199", "'1j+' * 30000 + '1'",
    "'[x for x in ' * 8000 + 'a'", "'await ' * 16000 + 'a'",
]  # fmt: skip


@pytest.mark.slow
def test_deep_answers_end_neither_the_parser_nor_the_process() -> None:
    program = (
        "import sys, json; from cruxeval_tasks.judging import grammar\n"
        "for text in json.load(sys.stdin):\n"
        "    for answer, way in ((eval(text), 'output'), ('f(' + eval(text) + ')', 'input')):\n"
        "        print(type(grammar.admit(answer, way, frozenset('ab'))).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        input=json.dumps(_DEEP),
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 2 * len(_DEEP)


def test_a_caller_deep_in_its_stack_gets_an_outcome_too() -> None:
    answer = "[" * 90 + "]" * 90
    limit, depth = sys.getrecursionlimit(), len(inspect.stack(0))
    outcomes = set()
    try:
        for spare in range(40, 600, 20):
            sys.setrecursionlimit(depth + spare)
            outcomes.add(type(admit(answer, "output", NONE)))
    finally:
        sys.setrecursionlimit(limit)
    assert Value in outcomes
    assert outcomes <= {Value, Malformed}


def test_warnings_as_errors_change_nothing() -> None:
    program = (
        "from cruxeval_tasks.judging.grammar import *\n"
        "n = frozenset()\n"
        "assert admit(\"'\\\\d'\", 'output', n) == Value('\\\\d')\n"
        "assert admit('1 is 1', 'output', n).source == '1 is 1'\n"
        "assert admit(\"f('\\\\d', 1or 2)\", 'input', n).plain is False\n"
        "assert admit('f([]())', 'input', n).plain is False\n"
        "assert stated_output(\"'\\\\d'\") == '\\\\d'\n"
        "assert read_code(\"def f(): return '\\\\d'\").plain\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


# --- stated outputs --------------------------------------------------------------------------------------------------


def test_a_stated_output_is_a_literal() -> None:
    assert stated_output("[1, 'a']") == [1, "a"]
    assert stated_output(" 1\n") == 1
    for text in ("f(1)", "1 +", "", "x", "1; 2", "{[]}", "[1, 2", "\x00", "'\ud800'"):
        with pytest.raises(ValueError, match=r"."):
            stated_output(text)


# --- names that code offers to answers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(): pass", {"f"}),
        ("x = 1\ny: int = 2\na, (b, *c) = 1, (2, 3)\np = q = 0", {"x", "y", "a", "b", "c", "p", "q"}),
        ("class C:\n    inner = 1\n    def method(self): pass", {"C"}),
        ("def f():\n    x = 1\n    def g(): pass", {"f"}),
        ("from math import pi, sqrt as root", {"pi", "root"}),
        ("from os import remove\nimport math\nimport re as r", set()),
        ("from collections import _sys, __builtins__ as b, deque", {"deque"}),
        ("from .math import x", set()),
        ("_private = 1\n__dunder__ = 2\n__builtins__ = {}", set()),
        ("import os\nos.x = 1\nos.environ['a'] = 1\nd = {}\nd['k'] = 1", {"d"}),
    ],
)
def test_module_names(code: str, names: set[str]) -> None:
    assert read_code(code).names == names


def test_names_of_pure_modules_are_offered() -> None:
    for module in ("bisect", "collections", "fractions", "heapq", "itertools", "math", "string", "textwrap"):
        assert read_code(f"from {module} import one, two as other").names == {"one", "other"}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(x): return x\ng = f", set()),
        ("def g(x): return f(x)\ndef f(x): return x\nh = 1", {"h"}),
        ("def h(x): return g(x)\ndef g(x): return f(x)\ndef f(x): return x", set()),
        ("def f(x): return g(x)\ndef g(x): return x", {"g"}),  # f uses g, not g f
        ("LIST = []\ndef f(x): return x\nLIST.append(f)\nother = LIST\nk = 2", {"k"}),
        ("def f(x): return x\nclass C:\n    run = f\nD = {'f': f}\nE = [lambda: f(1)]", set()),
        ("def g(x): return x\nf = g", set()),
        ("def f(x): return x\nr = f(3)\ns = [r]", set()),
    ],
)
def test_names_that_lead_to_f_are_no_names_for_outputs(code: str, names: set[str]) -> None:
    assert read_code(code).names_apart_from_f == names


@pytest.mark.parametrize("code", ["def f(:", "x = ", "\x00", "'\ud800'", "(" * 300])
def test_code_that_is_no_python(code: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_code(code)


# --- code that may share a process -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "return x",
        "x = [y for y in x if y]\n    x.sort(key=lambda y: -y)\n    return x[::-1]",
        "try:\n     return int(x)\n    except ValueError as error:\n     return error.args\n    finally:\n     pass",
        "import math, re\n    return math.sqrt(x) if re.match('a', x) else re.sub('a', 'b', x)",
        "from collections import Counter, defaultdict, OrderedDict, deque\n    return Counter(x).most_common(1)",
        "from functools import reduce\n    return reduce(lambda a, b: a + b, x)",
        "import string\n    return string.ascii_lowercase",
        "global total\n    total = 1\n    del total\n    return (n := 10)",
        "return '{} {x}'.format(1, x=2) + f'{x!r:>{4}}' + 'a%s' % x",
        "def g(y):\n        yield y\n    return list(g(x))",
        "while True:\n     break\n    for _ in range(3):\n     continue\n    assert x, 'no'\n    raise ValueError(x)",
        "print(x)\n    return isinstance(x, (int, str)) and __name__",
        "x[0], *x[1:] = 1, 2\n    x[0] += 1\n    del x[0]\n    return x",
    ],
)
def test_ordinary_code_is_plain(body: str) -> None:
    assert read_code(f"def f(x, acc=[]):\n    {body}").plain


@pytest.mark.parametrize(
    "code",
    [
        # built-ins that reach further
        *(f"def f(x):\n    return {name}" for name in (
            "open", "exec", "eval", "compile", "globals", "locals", "vars", "dir", "getattr", "setattr", "delattr",
            "hasattr", "__import__", "__build_class__", "__builtins__", "__loader__", "__spec__", "__debug__", "__path__", "input",
            "breakpoint", "help", "exit", "quit", "memoryview", "super", "property", "classmethod", "staticmethod",
            "type")),
        # attributes: hidden ones, frames, code, modules behind modules
        *(f"def f(x):\n    return x.{name}" for name in (
            "__class__", "__dict__", "__globals__", "__code__", "__builtins__", "__subclasses__", "__traceback__",
            "_private", "gi_frame", "gi_code", "cr_frame", "ag_frame", "f_globals", "f_builtins", "f_back", "f_locals",
            "tb_frame", "tb_next", "co_consts", "mro", "modules", "sys", "builtins", "os", "register", "get_field",
            "with_traceback", "cache_clear", "purge", "own")),
        # assignments and deletions of attributes, however they are written
        "def f(x):\n    x.count = 1",
        "def f(x):\n    x.count += 1",
        "def f(x):\n    del x.count",
        "def f(x):\n    for x.count in [1]: pass",
        "def f(x):\n    [0 for x.count in [1]]",
        "def f(x):\n    (a, [x.count, *b]) = 1, [2]",
        "def f(x):\n    x.count: int = 1",
        "f.count = []\ndef f(x): pass",
        # imports
        "import os", "import sys", "import builtins", "import gc", "import random", "import math, os", "import os.path",
        "import collections.abc", "from os import path", "from . import math", "from .math import sin",
        "from math import *", "from collections import _sys", "from collections import abc", "from re import enum",
        "from string import __builtins__ as b", "from string import Formatter", "from typing import sys",
        "from copy import dispatch_table", "from functools import lru_cache", "from functools import singledispatch",
        "def f():\n    import threading",
        "import typing\ndef f(x): typing.sys.setrecursionlimit(10)",
        "import collections\ndef f(x): collections.abc.Sized.register(x)",
        "import re\ndef f(x): re.enum",
        "import string\ndef f(x): return string.Formatter().get_field('0.__class__', [x], {})",
        # code that runs later, or whenever an operator finds it
        "class C: pass",
        "class C:\n    def __del__(self):\n        while True: pass",
        "def f(x):\n    class C(type): pass",
        "def f(x):\n    return type('C', (), {'__del__': lambda self: None})",
        "def f(x):\n    return type(type(1))('C', (), {})",
        "def f(x):\n    def g():\n     try:\n      yield\n     finally:\n      while x: pass\n    next(g())",
        "def f(x):\n    def g():\n        try:\n            yield\n        except:\n            pass\n    next(g())",
        "def f(x):\n    yield from x",
        "def f(x):\n    with x: pass",
        "async def f(x): pass",
        "async def g(x):\n    await x\n    async for y in x: pass\n    async with x: pass",
        "def f(x):\n    return [y async for y in x]",
    ],
)  # fmt: skip
def test_code_that_could_reach_further_is_not_plain(code: str) -> None:
    try:
        assert not read_code(code).plain
    except ValueError as error:
        pytest.fail(f"not a test: {error}")


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    match x:\n        case object(__class__=c): return c",
        "def f(x):\n    match f:\n        case object(__globals__=g): g['__builtins__']['len'] = 1",
        "def f(x):\n    try:\n        pass\n    except* ValueError:\n        pass",
        "type X = int",
        "def f[T](x: T): return x",
    ],
)
def test_newer_statements_are_not_plain(code: str) -> None:
    try:
        parse(code, "exec")
    except ValueError:
        pytest.skip("this Python does not have it")
    assert not read_code(code).plain


def test_what_plain_code_may_use_exists() -> None:
    """A name that is misspelt admits nothing."""
    for module, names in grammar._PLAIN_IMPORTS.items():
        assert names <= set(dir(importlib.import_module(module))), module
    assert {*dir(builtins), "__name__"} >= grammar._PLAIN_NAMES
    kinds = (
        str, bytearray, int, float, complex, list, dict, set, range, slice, Counter, OrderedDict, deque, chain,
        re.Match, ValueError, *map(importlib.import_module, grammar._PLAIN_IMPORTS),
    )  # fmt: skip
    assert set().union(*map(dir, kinds)) >= grammar._PLAIN_ATTRIBUTES


def test_almost_all_published_code_is_plain() -> None:
    if not PROBLEMS.exists():
        pytest.skip("../shared/cruxeval/cruxeval.jsonl is absent")
    with PROBLEMS.open() as lines:
        problems = [json.loads(line) for line in lines]
    read: dict[str, Code] = {problem["id"]: read_code(problem["code"]) for problem in problems}
    assert {id for id, code in read.items() if not code.plain} == {
        "sample_108",  # type
        "sample_389",  # type
        "sample_683",  # a variable named `__`
        "sample_782",  # a parameter named `input`
    }
    assert {id: code.names for id, code in read.items() if code.names != {"f"}} == {
        "sample_51": {"f", "s"},
        "sample_258": {"f", "thigh_o_one", "thigh_o_two"},
        "sample_280": {"f", "field"},
        "sample_712": {"f", "flush"},
    }
