"""The bundled problems are what they should be: right, varied, and the project's own."""

from __future__ import annotations

import ast
import difflib
import io
import json
import os
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cruxeval_tasks import problems
from cruxeval_tasks.problems import SMOKE_DIGEST, Problem, smoke_problems

SMOKE = Path(problems.__file__).with_name("smoke.jsonl")
RERUN = Path(__file__).with_name("rerun_problems.py")
PUBLISHED = Path(__file__).parents[2] / "shared" / "cruxeval" / "cruxeval.jsonl"
SET = smoke_problems()


def value(problem: Problem) -> object:
    return ast.literal_eval(problem.output)


def parts(whole: object) -> Iterator[object]:
    """The value itself and everything in it, keys too."""
    yield whole
    inside = [*whole, *whole.values()] if isinstance(whole, dict) else whole
    if isinstance(inside, (list, tuple, set)):
        for part in inside:
            yield from parts(part)


def texts(problem: Problem) -> list[str]:
    return [part for part in parts(value(problem)) if isinstance(part, str)]


def depth(whole: object) -> int:
    """How many brackets are open at once in the source form."""
    inside = whole.values() if isinstance(whole, dict) else whole
    return 1 + max(map(depth, inside), default=0) if isinstance(inside, (list, tuple, set)) else 0


def call(problem: Problem) -> ast.Call:
    node = ast.parse(f"f({problem.input})", mode="eval").body
    assert isinstance(node, ast.Call)
    return node


def module_names(problem: Problem) -> set[str]:
    assigned = [node for node in ast.parse(problem.code).body if isinstance(node, ast.Assign)]
    return {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}


@pytest.mark.parametrize("seed", ["0", "1", "2", "4294967295"])
def test_every_function_returns_the_stated_output_under_every_hash_seed(seed: str) -> None:
    run = subprocess.run(
        [sys.executable, str(RERUN), str(SMOKE)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    reports = [json.loads(line) for line in run.stdout.splitlines()]
    assert [report["id"] for report in reports] == [p.id for p in SET]
    assert [report for report in reports if not report["same"]] == []
    # The stated output is the text that Python prints, except where the seed decides on the order in it.
    printed = {report["id"]: report["value"] for report in reports}
    ordered = [p for p in SET if not any(isinstance(part, set) for part in parts(value(p)))]
    assert len(ordered) >= 55
    assert [p.output for p in ordered] == [printed[p.id] for p in ordered]


def test_ids_count_from_zero_and_the_digest_is_the_recorded_one() -> None:
    assert [p.id for p in SET] == [f"smoke_{i}" for i in range(len(SET))]
    assert 55 <= len(SET) <= 70
    assert SET.digest == SMOKE_DIGEST


def test_outputs_are_spread_over_the_types() -> None:
    count = Counter(type(value(p)) for p in SET)
    assert set(count) == {str, int, bool, float, type(None), list, tuple, dict, set, bytes}
    assert min(count[t] for t in (str, int, list, tuple, dict)) >= 5
    assert max(count.values()) <= len(SET) / 3
    inner = {type(part) for p in SET for part in parts(value(p)) if part is not value(p)}
    assert {str, int, bool, float, type(None), list, tuple, dict, bytes} <= inner


KINDS: dict[str, Callable[[Problem], bool]] = {
    "both quotes in one string": lambda p: any("'" in t and '"' in t for t in texts(p)),
    "#": lambda p: any("#" in t for t in texts(p)),
    "==": lambda p: any("==" in t for t in texts(p)),
    "newline": lambda p: any("\n" in t for t in texts(p)),
    "backslash": lambda p: any("\\" in t for t in texts(p)),
    "brackets in a string": lambda p: any("[" in t for t in texts(p)),
    "the word assert": lambda p: any("assert" in t for t in texts(p)),
    "something like a call": lambda p: any("('" in t for t in texts(p)),
    "outside ASCII": lambda p: any(not t.isascii() for t in texts(p)),
    "deeply nested brackets": lambda p: depth(value(p)) >= 4,
    "bytes that are not text": lambda p: any(isinstance(b, bytes) and max(b) > 127 for b in parts(value(p))),
    "set of strings": lambda p: isinstance(value(p), set) and bool(texts(p)),
    "empty set": lambda p: value(p) == set(),
    "empty string": lambda p: value(p) == "",
    "empty list": lambda p: value(p) == [],
    "fraction": lambda p: isinstance(number := value(p), float) and number % 1 != 0,
    "negative number": lambda p: isinstance(number := value(p), int) and number < 0,
    "long number": lambda p: isinstance(number := value(p), int) and number > 2**32,
    "lambda argument": lambda p: any(isinstance(arg, ast.Lambda) for arg in call(p).args),
    "module-level name as an argument": lambda p: any(
        isinstance(arg, ast.Name) and arg.id in module_names(p) for arg in call(p).args
    ),
    "several arguments": lambda p: len(call(p).args) >= 2,
    "keyword argument": lambda p: bool(call(p).keywords),
    "one argument": lambda p: len(call(p).args) == 1 and not call(p).keywords,
    "loop": lambda p: any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(ast.parse(p.code))),
    "branch": lambda p: any(isinstance(node, ast.If) for node in ast.walk(ast.parse(p.code))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_problem_is_there(kind: str) -> None:
    assert [p.id for p in SET if KINDS[kind](p)]


def test_functions_are_short_and_import_at_most_the_standard_library() -> None:
    imports = []
    for p in SET:
        assert 3 <= len(p.code.splitlines()) <= 12, p.id
        # The benchmark's longest input and output have 128 and 50 characters.
        assert len(p.input) <= 128, p.id
        assert len(p.output) <= 60, p.id
        for node in ast.walk(ast.parse(p.code)):
            if isinstance(node, ast.Import):
                imports += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                imports.append(node.module or "a relative import")
    assert set(imports) <= sys.stdlib_module_names
    assert len(imports) <= 2


def test_no_problem_holds_a_tag_of_the_prompt_format() -> None:
    for p in SET:
        for tag in ("[PYTHON]", "[/PYTHON]", "[ANSWER]", "[/ANSWER]", "[THOUGHT]", "[/THOUGHT]", "??", "```"):
            assert tag not in p.code + p.input + p.output, p.id


def shape_of(code: str) -> list[str]:
    """The tokens of the code, with one stand-in for every parameter and variable."""
    tree = ast.parse(code)
    nodes = list(ast.walk(tree))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    tokens = tokenize.generate_tokens(io.StringIO(ast.unparse(tree)).readline)
    return ["name" if token.string in own else token.string for token in tokens if token.string.strip()]


def near(a: list[str], b: list[str]) -> bool:
    """Whether two shapes agree in more than nine tokens of ten."""
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return matcher.quick_ratio() > 0.9 and matcher.ratio() > 0.9


def test_renaming_and_one_changed_call_do_not_hide_a_copy() -> None:
    code = "def f(a, b):\n    out = []\n    for x in a:\n        out.append(x.strip(b))\n    return out"
    copy = "def f(s, t):\n    r = []\n    for c in s:\n        r.append(c.lstrip(t))\n    return r"
    other = "def f(s, t):\n    while t in s:\n        s = s.replace(t, '')\n    return s, len(s)"
    assert near(shape_of(code), shape_of(copy))
    assert not near(shape_of(code), shape_of(other))


@pytest.mark.slow
def test_no_problem_is_nearly_one_of_the_benchmark() -> None:
    if not PUBLISHED.is_file():
        pytest.skip(f"the published problems are not at {PUBLISHED}")
    published = [json.loads(line) for line in PUBLISHED.read_text("utf-8").splitlines()]
    shapes = [(row["id"], shape_of(row["code"])) for row in published]
    ours = [(p.id, shape_of(p.code)) for p in SET]
    assert [(id, other) for id, shape in ours for other, theirs in shapes if near(shape, theirs)] == []
