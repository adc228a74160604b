"""Loading a problem set: where it is read from, what is refused and how that is said."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import datasets  # type: ignore[import-untyped]
import pytest

from cruxeval_tasks import problems as problems_module
from cruxeval_tasks.judging.judge import Check, Judge, Status, Verdict
from cruxeval_tasks.problems import (
    KNOWN_DIGESTS,
    PUBLISHED_DIGEST,
    SMOKE_DIGEST,
    Problem,
    ProblemSet,
    ProblemSetError,
    digest_of,
    load_problems,
    smoke_problems,
)

RERUN = Path(__file__).with_name("rerun_problems.py")
PUBLISHED = Path(__file__).parents[2] / "shared" / "cruxeval" / "cruxeval.jsonl"
needs_published = pytest.mark.skipif(not PUBLISHED.is_file(), reason=f"the published problems are not at {PUBLISHED}")

GOOD = {"id": "a", "code": "def f(x):\n    return x + [1]", "input": "[0]", "output": "[0, 1]"}


class FakeJudge(Judge):
    """Gives the verdicts of a list, in order, then `PASSED` ones, and keeps the checks it was asked for."""

    def __init__(self, *verdicts: Verdict) -> None:
        self.verdicts = list(verdicts)
        self.asked: list[Check] = []

    def judge(self, checks: Iterable[Check]) -> list[Verdict]:
        new = list(checks)
        self.asked += new
        return [self.verdicts.pop(0) if self.verdicts else Verdict(Status.PASSED) for _ in new]

    def close(self) -> None:
        raise AssertionError("a judge that was lent must not be closed")


class NoJudge(FakeJudge):
    def judge(self, checks: Iterable[Check]) -> list[Verdict]:
        raise AssertionError("nothing was to be run")


def jsonl(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "set.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: object, judge: Judge | None = None) -> str:
    """The message with which a problem set is refused; nothing of it is run unless a judge is given."""
    with pytest.raises(ProblemSetError) as caught:
        load_problems(path, judge=judge or NoJudge())  # type: ignore[arg-type]
    return str(caught.value)


# What is read


def test_rows_come_back_in_order_with_further_fields_ignored(tmp_path: Path) -> None:
    path = write(tmp_path, jsonl({**GOOD, "id": "b", "level": 3}, GOOD))
    loaded = load_problems(path, judge=FakeJudge())
    assert loaded.problems == (Problem(**{**GOOD, "id": "b"}), Problem(**GOOD))
    assert loaded.source == str(path)
    assert len(loaded) == 2
    assert [p.id for p in loaded] == ["b", "a"]
    assert loaded.by_id["a"] is loaded.problems[1]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + jsonl(GOOD).encode(),
        "\n\n" + jsonl(GOOD) + "  \n\n",
        jsonl(GOOD).replace("\n", "\r\n"),
        jsonl(GOOD).rstrip("\n"),
    ],
    ids=["byte order mark", "blank lines", "CRLF", "no last line end"],
)
def test_harmless_variations_of_a_file_give_the_same_set(tmp_path: Path, content: str | bytes) -> None:
    loaded = load_problems(write(tmp_path, content), judge=FakeJudge())
    assert loaded.problems == (Problem(**GOOD),)


def test_only_a_newline_ends_a_row(tmp_path: Path) -> None:
    row = {
        **GOOD,
        "input": "'\u2028\x85\x0c'",
        "code": "def f(x):\n    return x",
        "output": "'\u2028\x85\x0c'",
    }
    path = write(tmp_path, json.dumps(row, ensure_ascii=False) + "\n")
    assert load_problems(path, judge=FakeJudge()).problems == (Problem(**row),)


@pytest.mark.parametrize(
    "output",
    [
        "1e999",
        "set()",
        "{1, 2}",
        "-3",
        "-0.5",
        "b'\\x00'",
        "None",
        "''",
        "(1,)",
        "{'a': [(), {}]}",
        "'#' '=='",
        "2j",
    ],
)
def test_every_literal_is_an_output(tmp_path: Path, output: str) -> None:
    assert load_problems(write(tmp_path, jsonl({**GOOD, "output": output})), judge=FakeJudge())


@pytest.mark.parametrize("arguments", ["", "[0]", "1, y=2", "*a, **b", "lambda n: n > 0", "NAMES", "x for x in 'ab'"])
def test_every_argument_list_is_an_input(tmp_path: Path, arguments: str) -> None:
    assert load_problems(write(tmp_path, jsonl({**GOOD, "input": arguments})), judge=FakeJudge())


# Digest


def test_digest_is_the_documented_one() -> None:
    problem = Problem(id="p", code="def f(x):\n    return 'ä\"'", input="1, 2", output="'ä\"'")
    line = r'["p","def f(x):\n    return ' + r"'\u00e4\"'" + r'","1, 2","' + r"'\u00e4\"'" + r'"]' + "\n"
    assert digest_of([problem]) == hashlib.sha256(line.encode("ascii")).hexdigest()
    assert digest_of([problem, problem]) == hashlib.sha256(2 * line.encode("ascii")).hexdigest()


def test_digest_depends_on_every_field_and_the_order_but_not_on_the_file(tmp_path: Path) -> None:
    one, two = Problem("1", "c", "i", "o"), Problem("2", "c", "i", "o")
    others = [dataclasses.replace(one, **{name: "x"}) for name in ("id", "code", "input", "output")]
    assert len({digest_of([p]) for p in [one, *others]}) == 5
    assert digest_of([one, two]) != digest_of([two, one])
    plain = load_problems(write(tmp_path, jsonl(GOOD)), judge=FakeJudge())
    spaced = load_problems(write(tmp_path, "\n" + json.dumps(GOOD, indent=None, sort_keys=True)), judge=FakeJudge())
    assert plain.digest == spaced.digest == digest_of([Problem(**GOOD)])


# The published and the bundled problems


@needs_published
def test_the_published_problems_load_and_are_known() -> None:
    # The file's own SHA-256 was recorded apart from this code.
    sha = hashlib.sha256(PUBLISHED.read_bytes()).hexdigest()
    assert sha == "8368b81047dc5014e4caf5a2f97604eff7644e0ecd7415e3ceeb184bbc2e0c96"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = load_problems(PUBLISHED, judge=NoJudge())
    assert [p.id for p in loaded] == [f"sample_{i}" for i in range(800)]
    assert loaded.digest == PUBLISHED_DIGEST
    assert PUBLISHED_DIGEST in KNOWN_DIGESTS


@needs_published
@pytest.mark.parametrize("seed", ["0", "12345"])
def test_the_published_functions_return_the_stated_outputs(seed: str) -> None:
    """What entitles `PUBLISHED_DIGEST` to its place among the digests that are not run again."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(RERUN), str(PUBLISHED)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    reports = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(reports) == 800
    assert [report for report in reports if not report["equal"]] == []


@needs_published
def test_a_changed_published_problem_is_run_again(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in PUBLISHED.read_text("utf-8").splitlines()]
    rows[3]["output"] = "'bcksrut'"
    judge = FakeJudge(*[Verdict(Status.PASSED)] * 3, Verdict(Status.WRONG, obtained="'bcksrutq'"))
    message = refusal(write(tmp_path, jsonl(*rows)), judge)
    assert len(judge.asked) == 800
    assert message.endswith("set.jsonl, row 4: the code returns 'bcksrutq', not the stated output 'bcksrut'")


def test_the_smoke_problems_load_without_being_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems_module, "Judge", NoJudge)
    monkeypatch.setenv("CRUXEVAL_PROBLEMS", "/elsewhere.jsonl")
    smoke = smoke_problems()
    assert smoke.digest in KNOWN_DIGESTS
    assert smoke.source.endswith("smoke.jsonl")


# Where it is read from


def test_the_order_is_path_then_variable_then_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def hub(*args: Any, **kwargs: Any) -> datasets.Dataset:
        asked.append((*args, kwargs))
        return datasets.Dataset.from_list([{**GOOD, "id": "hub"}])

    monkeypatch.setattr(datasets, "load_dataset", hub)
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    first, second = (write(tmp_path / n, jsonl({**GOOD, "id": f"file {n}"})) for n in "12")

    def ids(path: Path | None) -> list[str]:
        return [p.id for p in load_problems(path, judge=FakeJudge())]

    monkeypatch.setenv("CRUXEVAL_PROBLEMS", str(second))
    assert ids(first) == ["file 1"]
    assert ids(None) == ["file 2"]
    assert asked == []
    monkeypatch.setenv("CRUXEVAL_PROBLEMS", "")
    assert ids(None) == ["hub"]
    monkeypatch.delenv("CRUXEVAL_PROBLEMS")
    loaded = load_problems(judge=FakeJudge())
    assert [p.id for p in loaded] == ["hub"]
    assert loaded.source == "cruxeval-org/cruxeval, split test"
    assert asked == [("cruxeval-org/cruxeval", {"split": "test"})] * 2


def test_rows_of_the_hub_are_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRUXEVAL_PROBLEMS", raising=False)
    rows = datasets.Dataset.from_list([GOOD, {**GOOD, "id": "b", "code": "def g(x): pass"}])
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: rows)
    message = refusal(None)
    assert message.startswith("cruxeval-org/cruxeval, split test, row 2: ")
    assert "no function `f`" in message
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: rows.select([]))
    assert "empty" in refusal(None)


def test_without_hub_and_path_the_error_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: Any, **__: Any) -> None:
        raise ConnectionError("Couldn't reach the Hub")

    monkeypatch.delenv("CRUXEVAL_PROBLEMS", raising=False)
    monkeypatch.setattr(datasets, "load_dataset", offline)
    message = refusal(None)
    assert "Couldn't reach the Hub" in message
    assert "CRUXEVAL_PROBLEMS" in message
    assert """--metadata '{"problems": "PATH"}'""" in message


def test_a_missing_file_named_by_the_variable_does_not_fall_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: pytest.fail("fell back to the hub"))
    monkeypatch.setenv("CRUXEVAL_PROBLEMS", str(tmp_path / "gone.jsonl"))
    assert refusal(None) == f"{tmp_path}/gone.jsonl: there is no such file (named by CRUXEVAL_PROBLEMS)"


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path, jsonl(GOOD))
    assert load_problems("~/set.jsonl", judge=FakeJudge()).source == str(tmp_path / "set.jsonl")


# What is refused: the file


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert refusal(tmp_path / "gone") == f"{tmp_path}/gone: there is no such file"
    assert refusal(tmp_path) == f"{tmp_path}: a directory; name a file"
    assert "cannot be read" in refusal("null\0byte")
    assert "cannot be read" in refusal(write(tmp_path, "") / "below a file")
    assert "cannot be read" in refusal("n" * 5000)
    for no_path in ("", 7, ["set.jsonl"]):
        assert refusal(no_path) == f"the problem set must be the path of a JSONL file, not {no_path!r}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = write(tmp_path, jsonl(GOOD))
    path.chmod(0)
    assert "Permission denied" in refusal(path)


@pytest.mark.parametrize("content", ["", "\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file(tmp_path: Path, content: str | bytes) -> None:
    assert refusal(write(tmp_path, content)).endswith("set.jsonl: the file is empty")


@pytest.mark.parametrize(
    ("content", "row"),
    [
        (jsonl(GOOD).encode() + b'{"id": "\xe4"}\n', 2),
        (jsonl(GOOD).encode("utf-16"), 1),
        (b"\x1f\x8b\x08\x00", 1),
    ],
    ids=["latin-1", "UTF-16", "gzip"],
)
def test_a_file_that_is_not_utf_8(tmp_path: Path, content: bytes, row: int) -> None:
    assert f"set.jsonl, line {row}: not UTF-8" in refusal(write(tmp_path, content))


@pytest.mark.parametrize("content", [json.dumps([GOOD]), "\n" + json.dumps([GOOD, GOOD], indent=2), "[]"])
def test_a_json_array(tmp_path: Path, content: str) -> None:
    assert "starts with a JSON array; JSONL is expected" in refusal(write(tmp_path, content))


def test_rows_that_are_not_json(tmp_path: Path) -> None:
    whole = json.dumps(GOOD)
    assert "row 1: not JSON: " in refusal(write(tmp_path, "id,code,input,output\n"))
    assert "row 2: not JSON: " in refusal(write(tmp_path, f"{whole}\n{whole}{whole}\n"))
    cut = refusal(write(tmp_path, f"{whole}\n\n{whole[:-9]}"))
    assert "row 3: not JSON: " in cut
    assert cut.endswith("; the line has no line end: the file may be cut off")
    assert "may be cut off" not in refusal(write(tmp_path, f"{whole}\n{whole[:-9]}\n"))
    deep = '{"id": ' + "[" * 200_000 + "]" * 200_000 + "}\n"
    assert "row 1: not JSON: nested too deeply" in refusal(write(tmp_path, deep))


# What is refused: rows

DEEP = "-" * 100_000 + "1"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"code": 5}, "the field 'code' must be a string, not 5"),
        ({"id": None}, "the field 'id' must be a string, not None"),
        ({"input": [0]}, "the field 'input' must be a string, not [0]"),
        ({"output": True}, "the field 'output' must be a string, not True"),
        ({"code": "def f(x)\n    return x"}, "the code does not parse: expected ':' (line 1)"),
        ({"code": "def f():\n    return 1\n   x"}, "the code does not parse: unindent does not match"),
        ({"code": f"def f(x):\n    return {DEEP}"}, "the code does not parse: nested too deeply"),
        (
            {"code": "def f(x):\n    return x\0"},
            "the code does not parse: source code string cannot contain null",
        ),
        ({"code": "def f(x):\n    return '\ud800'"}, "the field 'code' holds half a character"),
        ({"code": ""}, "the code defines no function `f` at its top level"),
        ({"code": "def g(x):\n    def f(x): return x\n    return f"}, "the code defines no function `f`"),
        ({"code": "async def f(x):\n    return x"}, "the code defines no function `f`"),
        ({"input": "[0"}, "the input '[0' is no list of arguments: "),
        ({"input": "1 # one"}, "the input '1 # one' is no list of arguments: "),
        ({"input": "x=1, 2"}, "the input 'x=1, 2' is no list of arguments: positional argument follows"),
        ({"input": DEEP}, "is no list of arguments: nested too deeply"),
        ({"input": "[0]), f([0]"}, "the input '[0]), f([0]' is not the arguments of one call of `f`"),
        ({"input": "[0]) == f([0]"}, "is not the arguments of one call of `f`"),
        ({"input": "[0]).copy("}, "is not the arguments of one call of `f`"),
        ({"input": "[0])(1"}, "is not the arguments of one call of `f`"),
        ({"input": "[0])  # all"}, "the input '[0])  # all' is no list of arguments"),
        ({"id": "\ud800"}, r"the field 'id' holds half a character (a lone surrogate): '\ud800'"),
        ({"output": "hello"}, "the output 'hello' is not a Python literal"),
        ({"output": "hello world"}, "the output 'hello world' is not a Python literal"),
        ({"output": ""}, "the output '' is not a Python literal"),
        ({"output": "'<' * 10"}, "the output \"'<' * 10\" is not a Python literal"),
        ({"output": "f([0])"}, "is not a Python literal"),
        ({"output": "nan"}, "is not a Python literal"),
        ({"output": "{[]}"}, "is not a Python literal"),
        ({"output": "f'{1}'"}, "is not a Python literal"),
        ({"output": DEEP}, "is not a Python literal"),
        ({"output": "9" * 5000}, "is not a Python literal"),
    ],
)
def test_a_bad_field_is_said(tmp_path: Path, change: dict[str, object], expected: str) -> None:
    message = refusal(write(tmp_path, jsonl({**GOOD, "id": "first"}, {**GOOD, **change})))
    assert message.startswith(f"{tmp_path}/set.jsonl, row 2: ")
    assert expected in message
    assert len(message) < len(str(tmp_path)) + 300
    assert "\n" not in message


@pytest.mark.parametrize("field", ["id", "code", "input", "output"])
def test_a_missing_field_is_named(tmp_path: Path, field: str) -> None:
    row = {name: text for name, text in GOOD.items() if name != field}
    assert refusal(write(tmp_path, "\n" + jsonl(row))).endswith(f"set.jsonl, row 2: no field '{field}'")


def test_several_missing_fields_are_named(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, jsonl({"id": "a", "Code": "", "input": ""})))
    assert message.endswith("row 1: no field 'code' and no field 'output'")


@pytest.mark.parametrize("row", ["text", 5, None, True])
def test_a_row_that_is_no_object(tmp_path: Path, row: object) -> None:
    assert f"row 2: a JSON object is expected, not {row!r}" in refusal(write(tmp_path, jsonl(GOOD, row)))


def test_a_duplicate_id_names_both_rows(tmp_path: Path) -> None:
    other = {**GOOD, "id": "b"}
    message = refusal(write(tmp_path, jsonl(other, GOOD) + "\n" + jsonl(GOOD)))
    assert message.endswith("set.jsonl, row 4: the id 'a' is also that of row 2")


def test_the_first_ten_bad_rows_are_listed_and_the_others_counted(tmp_path: Path) -> None:
    bad = [{**GOOD, "id": str(i), "output": "?"} for i in range(13)]
    lines = refusal(write(tmp_path, jsonl(GOOD, *bad))).splitlines()
    assert lines[0] == f"{tmp_path}/set.jsonl: 13 bad rows"
    assert [line.split(":")[0] for line in lines[1:-1]] == [f"  row {n}" for n in range(2, 12)]
    assert lines[-1] == "  and 3 more"
    ten = refusal(write(tmp_path, jsonl(GOOD, *bad[:10]))).splitlines()
    assert len(ten) == 11
    assert "more" not in ten[-1]


def test_warnings_about_a_problem_s_code_are_not_shown(tmp_path: Path) -> None:
    row = {**GOOD, "code": "def f(x):\n    return '\\d' if x is 1 else [0, 1]"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_problems(write(tmp_path, jsonl(row)), judge=FakeJudge())


# What is refused: stated outputs that the code does not return


def test_the_judge_is_asked_about_each_problem_s_own_input(tmp_path: Path) -> None:
    judge = FakeJudge()
    load_problems(write(tmp_path, jsonl(GOOD, {**GOOD, "id": "b", "input": "[1], ", "output": "[1, 1]"})), judge=judge)
    assert judge.asked == [
        Check(direction="input", code=GOOD["code"], output="[0, 1]", answer="f([0])"),
        Check(direction="input", code=GOOD["code"], output="[1, 1]", answer="f([1], )"),
    ]


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (Verdict(Status.WRONG, obtained="[0, 2]"), "the code returns [0, 2], not the stated output [0, 1]"),
        (Verdict(Status.WRONG, obtained="9" * 999), f"returns {'9' * 77}..., not the stated output [0, 1]"),
        (Verdict(Status.WRONG), "the code returns another value, not the stated output [0, 1]"),
        (
            Verdict(Status.RAISED, "KeyError: 1"),
            "cannot be confirmed by running the code (raised: KeyError: 1)",
        ),
        (Verdict(Status.TIMEOUT), "cannot be confirmed by running the code (timeout)"),
    ],
)
def test_a_verdict_that_is_not_passed_names_the_row(tmp_path: Path, verdict: Verdict, expected: str) -> None:
    rows = "\n" + jsonl(GOOD, {**GOOD, "id": "b"}, {**GOOD, "id": "c"})
    message = refusal(write(tmp_path, rows), FakeJudge(Verdict(Status.PASSED), verdict))
    assert message.startswith(f"{tmp_path}/set.jsonl, row 3: ")
    assert message.endswith(expected)


def test_a_judge_of_its_own_is_started_only_to_run_something_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []

    class OwnJudge(FakeJudge):
        def __init__(self) -> None:
            super().__init__()
            events.append("started")

        def judge(self, checks: Iterable[Check]) -> list[Verdict]:
            events.append("asked")
            return super().judge(checks)

        def close(self) -> None:
            events.append("closed")

    monkeypatch.setattr(problems_module, "Judge", OwnJudge)
    with pytest.raises(ProblemSetError):
        load_problems(write(tmp_path, jsonl({**GOOD, "output": "?"})))
    assert events == []
    assert isinstance(load_problems(write(tmp_path, jsonl(GOOD))), ProblemSet)
    assert events == ["started", "asked", "closed"]


# With the real judge


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(workers=1) as running:
        yield running


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"output": "[1, 0]"}, "the code returns [0, 1], not the stated output [1, 0]"),
        ({"output": "(0, 1)"}, "the code returns [0, 1], not the stated output (0, 1)"),
        ({"code": "def f(x):\n    return x[1]"}, "(raised: IndexError: list index out of range)"),
        ({"code": "def f(x):\n    return x\nbreak"}, "(raised: SyntaxError: 'break' outside loop"),
        (
            {"code": "import no_such_module\ndef f(x):\n    return x"},
            "(raised: ModuleNotFoundError: No module named",
        ),
        ({"code": "def f(x):\n    while True: pass"}, "(timeout: "),
        ({"input": "(x := [0])"}, "(rejected: "),
    ],
)
def test_a_stated_output_that_running_does_not_confirm(
    tmp_path: Path, judge: Judge, change: dict[str, object], expected: str
) -> None:
    message = refusal(write(tmp_path, jsonl({**GOOD, "id": "first"}, {**GOOD, **change})), judge)
    assert message.startswith(f"{tmp_path}/set.jsonl, row 2: ")
    assert expected in message


def test_deep_code_is_a_clean_error_whether_its_parser_or_its_compiler_gives_up(tmp_path: Path, judge: Judge) -> None:
    code = "def f(x):\n    return x" + ".x" * 100_000
    message = refusal(write(tmp_path, jsonl({**GOOD, "code": code})), judge)
    assert "the code does not parse: nested too deeply" in message or "(raised: RecursionError" in message


def test_the_smoke_problems_pass_the_judge(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems_module, "KNOWN_DIGESTS", frozenset())
    smoke = Path(problems_module.__file__).with_name("smoke.jsonl")
    assert load_problems(smoke, judge=judge).digest == SMOKE_DIGEST


@needs_published
def test_the_published_problems_pass_the_judge(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems_module, "KNOWN_DIGESTS", frozenset())
    assert load_problems(PUBLISHED, judge=judge).digest == PUBLISHED_DIGEST
