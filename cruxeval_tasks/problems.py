"""Problem sets: load, check, digest.

A problem set is a JSONL file, or the hub dataset, of rows with the fields `id`, `code`, `input` and `output`,
all strings. Every row is checked, and a set with a bad row is not loaded at all: a score over part of a
benchmark, or against a wrong expected output, looks like any other score.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import reprlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from cruxeval_tasks.errors import UserError
from cruxeval_tasks.files import numbered_lines, read_text
from cruxeval_tasks.judging.judge import Check, IsolationError, Judge, Status, Verdict

HUB_DATASET = "cruxeval-org/cruxeval"
HUB_SPLIT = "test"
PROBLEMS_VARIABLE = "CRUXEVAL_PROBLEMS"

PUBLISHED_DIGEST = "68650714ba7a6bf2fa2ada8848e0636680b2b0b1c1146d261a403bbfb9e9885f"
"""Digest of the published 800 problems, whose JSONL file has the SHA-256
8368b81047dc5014e4caf5a2f97604eff7644e0ecd7415e3ceeb184bbc2e0c96."""

SMOKE_DIGEST = "f96aa9811e4a01e5d19dafc1603007595c536eacc2d2ad612588352bb5b347ca"
"""Digest of the bundled smoke problems."""

KNOWN_DIGESTS = frozenset({PUBLISHED_DIGEST, SMOKE_DIGEST})
"""Sets whose stated outputs the project's tests verify by running the code, so that loading need not."""

_FIELDS = ("id", "code", "input", "output")
_REPORTED_ROWS = 10
_SMOKE_FILE = Path(__file__).with_name("smoke.jsonl")
_PARSER_ERRORS = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)
"""What `ast.parse` and `ast.literal_eval` raise: ValueError for null bytes and lone surrogates, TypeError for
`{[]}`, MemoryError and RecursionError for deep nesting."""

_Row = TypeVar("_Row")


class ProblemSetError(UserError, ValueError):
    """A problem set that cannot be used. The message says where, what is wrong and what to do."""


class _BadRow(Exception):
    """What is wrong with one row."""


@dataclass(frozen=True)
class Problem:
    """One problem: `code` defines a function `f`; `f(<input>)` returns the value of the literal `output`."""

    id: str
    code: str
    input: str
    output: str


@dataclass(frozen=True)
class ProblemSet:
    """Checked problems, in the order of their source; never empty, and no id comes twice.

    Attributes:
        problems: The problems.
        source: Path or hub id they came from, for messages.
        digest: `digest_of(problems)`.
    """

    problems: tuple[Problem, ...]
    source: str
    digest: str

    def __len__(self) -> int:
        return len(self.problems)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    @cached_property
    def by_id(self) -> Mapping[str, Problem]:
        """The problems by their id."""
        return {problem.id: problem for problem in self.problems}


def digest_of(problems: Iterable[Problem]) -> str:
    """Return the SHA-256, as 64 hex digits, that identifies problems and their order, wherever they are from.

    Hashed is one line for each problem: the JSON array `["<id>","<code>","<input>","<output>"]` with
    no spaces between its elements, characters outside ASCII as `\\uXXXX` escapes, ended by a newline.
    """
    sha = hashlib.sha256()
    for p in problems:
        line = json.dumps([p.id, p.code, p.input, p.output], ensure_ascii=True, separators=(",", ":"))
        sha.update(line.encode("ascii") + b"\n")
    return sha.hexdigest()


def load_problems(path: str | os.PathLike[str] | None = None, *, judge: Judge | None = None) -> ProblemSet:
    """Load and check a problem set: the file `path`, else the file that the environment variable
    CRUXEVAL_PROBLEMS names, else the hub dataset `cruxeval-org/cruxeval`, split `test`.

    That the code returns the stated output is checked by running it in `judge`, or where that is None in a
    judge that is started for it. A set in `KNOWN_DIGESTS` is not run: the project's tests have done so.

    Raises:
        ProblemSetError: The source cannot be read, or holds a bad row. The first ten bad rows are named.
        IsolationError: The set is not known, and its code cannot be run in isolation here.
    """
    if path is not None:
        return _load_file(path, "", judge)
    named = os.environ.get(PROBLEMS_VARIABLE)
    if named:
        return _load_file(named, f" (named by {PROBLEMS_VARIABLE})", judge)
    return _load_hub(judge)


def smoke_problems() -> ProblemSet:
    """Load the bundled problems: few and easy, they show that a set-up works, and measure nothing."""
    return load_problems(_SMOKE_FILE)


def problem_set(rows: Iterable[object], source: str, *, judge: Judge | None = None) -> ProblemSet:
    """Check rows that are in memory already, as `load_problems` does; `source` is for messages.

    Raises:
        ProblemSetError: There is a bad row. The first ten bad rows are named.
    """
    return _checked(source, enumerate(rows, start=1), _problem, judge)


def _load_file(path: str | os.PathLike[str], named_by: str, judge: Judge | None) -> ProblemSet:
    """Load a JSONL file. A byte order mark, blank lines and further fields are allowed."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ProblemSetError(f"the problem set must be the path of a JSONL file, not {path!r}")
    source = os.path.expanduser(os.fspath(path))
    try:
        text = read_text(source, named_by)
    except UserError as error:
        raise ProblemSetError(str(error)) from None
    if text.lstrip().startswith("["):
        raise ProblemSetError(
            f"{source}: starts with a JSON array; JSONL is expected: one object a line and nothing else"
        )
    return _checked(source, numbered_lines(text), lambda line: _problem(_decode(line)), judge)


def _load_hub(judge: Judge | None) -> ProblemSet:
    """Load the published problems from the hub, or from the copy of it that an earlier run left."""
    import datasets  # not at the top: it is slow to import

    try:
        dataset = list(datasets.load_dataset(HUB_DATASET, split=HUB_SPLIT))
    except Exception as error:  # network, cache, authentication, offline mode: each raises types of its own
        raise ProblemSetError(
            f"the hub dataset {HUB_DATASET} cannot be loaded ({type(error).__name__}: {error}); "
            f"without the hub, set {PROBLEMS_VARIABLE} to the path of a JSONL file of the problems, "
            """or pass it: --metadata '{"problems": "PATH"}' to lm_eval, --problems PATH to cruxeval"""
        ) from error
    source = f"{HUB_DATASET}, split {HUB_SPLIT}"
    if not dataset:
        raise ProblemSetError(f"{source}: the dataset is empty")
    return _checked(source, enumerate(dataset, start=1), _problem, judge)


def _checked(
    source: str, rows: Iterable[tuple[int, _Row]], parse: Callable[[_Row], Problem], judge: Judge | None
) -> ProblemSet:
    """Make numbered rows a problem set; `parse` raises `_BadRow` for a row that is no problem."""
    problems: list[Problem] = []
    row_of_id: dict[str, int] = {}
    bad: list[tuple[int, str]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a problem's code may hold "\d", which the parser warns of
        for number, row in rows:
            try:
                problem = parse(row)
                if problem.id in row_of_id:
                    raise _BadRow(f"the id {_short(problem.id)} is also that of row {row_of_id[problem.id]}")
            except _BadRow as error:
                bad.append((number, str(error)))
                continue
            row_of_id[problem.id] = number
            problems.append(problem)
    _refuse(source, bad)
    digest = digest_of(problems)
    if digest not in KNOWN_DIGESTS:
        try:
            verdicts = _run(problems, judge)
        except IsolationError as error:
            raise IsolationError(
                f"{source}: problems that are not known are checked by running their code. But {error}"
            ) from error
        for problem, verdict in zip(problems, verdicts, strict=True):
            if not verdict.passed:
                bad.append((row_of_id[problem.id], _wrong_output(problem, verdict)))
        _refuse(source, bad)
    return ProblemSet(tuple(problems), source, digest)


def _refuse(source: str, bad: list[tuple[int, str]]) -> None:
    """Raise a `ProblemSetError` that names the first bad rows, if there are any."""
    if len(bad) == 1:
        raise ProblemSetError(f"{source}, row {bad[0][0]}: {bad[0][1]}")
    if bad:
        lines = [f"  row {number}: {what}" for number, what in bad[:_REPORTED_ROWS]]
        if len(bad) > _REPORTED_ROWS:
            lines.append(f"  and {len(bad) - _REPORTED_ROWS} more")
        raise ProblemSetError("\n".join([f"{source}: {len(bad)} bad rows", *lines]))


def _decode(line: str) -> object:
    """Decode one line of a JSONL file, with its line end."""
    try:
        row: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        cut_off = "" if line.endswith("\n") else "; the line has no line end: the file may be cut off"
        raise _BadRow(f"not JSON: {_why(error)}{cut_off}") from None
    return row


def _problem(row: object) -> Problem:
    """Check everything about a row that can be checked without running its code."""
    if not isinstance(row, Mapping):
        raise _BadRow(f"a JSON object is expected, not {_short(row)}")
    missing = [field for field in _FIELDS if field not in row]
    if missing:
        raise _BadRow(f"no field {' and no field '.join(map(repr, missing))}")
    for field in _FIELDS:
        if not isinstance(row[field], str):
            raise _BadRow(f"the field {field!r} must be a string, not {_short(row[field])}")
        try:
            row[field].encode()
        except UnicodeEncodeError:
            raise _BadRow(
                f"the field {field!r} holds half a character (a lone surrogate): {_short(row[field])}"
            ) from None
    problem = Problem(**{field: row[field] for field in _FIELDS})

    try:
        code = ast.parse(problem.code)
    except _PARSER_ERRORS as error:
        raise _BadRow(f"the code does not parse: {_why(error)}") from None
    if not any(isinstance(node, ast.FunctionDef) and node.name == "f" for node in code.body):
        raise _BadRow("the code defines no function `f` at its top level")

    try:
        call = ast.parse(f"f({problem.input})", mode="eval").body
        ast.parse(f"f({problem.input}\n)", mode="eval")  # fails where a comment hides the parenthesis: `1)  #`
    except _PARSER_ERRORS as error:
        raise _BadRow(f"the input {_short(problem.input)} is no list of arguments: {_why(error)}") from None
    # `1), f(2` gets here too: it parses, but not as one call.
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise _BadRow(f"the input {_short(problem.input)} is not the arguments of one call of `f`")

    try:
        ast.literal_eval(problem.output)
    except _PARSER_ERRORS:
        hint = "a literal is a number, None, a quoted string, or a list, tuple, dict or set of literals"
        raise _BadRow(f"the output {_short(problem.output)} is not a Python literal; {hint}") from None
    return problem


def _run(problems: list[Problem], judge: Judge | None) -> list[Verdict]:
    """Judge each problem's own input as an answer: it passes if the code returns the stated output."""
    checks = [Check("input", code=p.code, output=p.output, answer=f"f({p.input})") for p in problems]
    if judge is not None:
        return judge.judge(checks)
    with Judge() as own:
        return own.judge(checks)


def _wrong_output(problem: Problem, verdict: Verdict) -> str:
    """Say what a verdict that is not `PASSED` on a problem's own input means."""
    if verdict.status is Status.WRONG:
        obtained = "another value" if verdict.obtained is None else _cut(verdict.obtained)
        return f"the code returns {obtained}, not the stated output {_cut(problem.output)}"
    reason = f": {verdict.reason}" if verdict.reason else ""
    return f"the stated output cannot be confirmed by running the code ({verdict.status.value}{reason})"


def _why(error: BaseException) -> str:
    """Say in a few words why a parser refused a text."""
    if isinstance(error, (MemoryError, RecursionError)):
        return "nested too deeply"
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})" if error.lineno else error.msg
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (column {error.colno})"
    return str(error)


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


def _short(value: object) -> str:
    """Return the source form of a value, with its middle left out where it is long or deep."""
    short = reprlib.Repr()
    short.maxstring = 80
    return short.repr(value)
