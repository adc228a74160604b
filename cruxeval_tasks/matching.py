"""Which problems a run is about, and whether it has all of them.

A score over fewer problems looks like any other score. So a run that lacks problems of its set is an error unless the
caller says that a part is meant, and a run with problems that are none of the set's is an error always.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from cruxeval_tasks.completions import Run
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.judging.judge import Judge
from cruxeval_tasks.problems import (
    PROBLEMS_VARIABLE,
    PUBLISHED_DIGEST,
    SMOKE_DIGEST,
    Problem,
    ProblemSet,
    load_problems,
    problem_set,
    smoke_problems,
)

_NAMED = 5


@dataclass(frozen=True)
class Matched:
    """The problems that a run is scored on.

    Attributes:
        problems: Those of the set that the run has completions for, in the set's order.
        source: Where the problems are from, and what was checked of them, for a person.
        digest: Digest of the whole set.
        total: Number of problems in the whole set.
        warnings: What a reader of the score has to know.
    """

    problems: tuple[Problem, ...]
    source: str
    digest: str
    total: int
    warnings: tuple[str, ...] = ()


class Matcher:
    """Finds the problems of runs; loads each problem set once.

    Args:
        judge: Runs the code of problem sets that are not known by their digest.
        path: JSONL file of problems; without it, `load_problems` decides, but for runs that carry their problems or are
            on the bundled ones.
        partial: Allow runs that lack problems.
    """

    def __init__(self, judge: Judge, path: str | None = None, *, partial: bool = False) -> None:
        self._judge = judge
        self._path = path
        self._partial = partial

    def match(self, run: Run) -> Matched:
        """Return the problems of a run.

        Raises:
            UserError: The problems cannot be had, a problem of the run is unknown or another one than the set's, or some
                are missing and `partial` was not given.
        """
        return self._carried(run) if run.docs else self._looked_up(run)

    @cached_property
    def _named(self) -> ProblemSet:
        return load_problems(self._path, judge=self._judge)

    @cached_property
    def _smoke(self) -> ProblemSet:
        return smoke_problems()

    def _looked_up(self, run: Run) -> Matched:
        reference = self._smoke if self._path is None and _is_smoke(run) else self._named
        return self._against(run, reference, _described(reference))

    def _carried(self, run: Run) -> Matched:
        """The problems in the run's own file, held against a set where one is known."""
        if self._path is None and _is_smoke(run):
            return self._against(run, self._smoke, f"as logged, the same as {_described(self._smoke)}")
        if self._path is not None or (os.environ.get(PROBLEMS_VARIABLE) and not self._is_fresh_of_named(run)):
            return self._against(run, self._named, f"as logged, the same as {_described(self._named)}")
        logged = problem_set(run.docs.values(), run.path, judge=self._judge)
        if logged.digest == PUBLISHED_DIGEST:
            return Matched(logged.problems, "as logged: the published problems, by their digest", logged.digest, len(logged))
        warning = (
            f"whether these {len(logged)} problems are the whole of their set is not known: the log does not say, and no "
            "problem set was named (--problems)"
        )
        source = "as logged; that the code returns the stated outputs was checked by running it"
        return Matched(logged.problems, source, logged.digest, len(logged), (warning,))

    def _is_fresh_of_named(self, run: Run) -> bool:
        """Whether a run is on fresh problems, while the variable names another set, as it does for the original run."""
        return all("+fresh" in key and key not in self._named.by_id for key in run.texts)

    def _against(self, run: Run, reference: ProblemSet, source: str) -> Matched:
        unknown = [key for key in run.texts if key not in reference.by_id]
        if unknown:
            raise UserError(
                f"{run.path}: {_count(unknown, run.texts)} are not in the problem set {_described(reference)}: "
                f"{_some(unknown)}. Name the set that they are from with --problems"
            )
        for key, doc in run.docs.items():
            problem = reference.by_id[key]
            for name in ("code", "input", "output"):
                if doc[name] != getattr(problem, name):
                    raise UserError(
                        f"{run.path}: the {name} of {key} is another one than in {_described(reference)}. "
                        "Name the set that was evaluated with --problems"
                    )
        if run.digest is not None and run.digest != reference.digest:
            raise UserError(
                f"{run.path}: was scored on another problem set (digest {run.digest[:12]}) than {_described(reference)} "
                f"(digest {reference.digest[:12]}). Name that set with --problems"
            )
        missing = [problem.id for problem in reference if problem.id not in run.texts]
        warnings: tuple[str, ...] = ()
        if missing:
            what = f"{len(missing)} of the {len(reference)} problems of {_described(reference)} are missing: {_some(missing)}"
            if not self._partial:
                read = f" ({'; '.join(run.warnings)})" if run.warnings else ""
                raise UserError(f"{run.path}: {what}{read}. To score the {len(run.texts)} that are there, say --partial")
            warnings = (what,)
        present = tuple(problem for problem in reference if problem.id in run.texts)
        return Matched(present, source, reference.digest, len(reference), warnings)


def _described(reference: ProblemSet) -> str:
    if reference.digest == SMOKE_DIGEST:
        return "the bundled problems"
    return f"{reference.source} (the published problems)" if reference.digest == PUBLISHED_DIGEST else reference.source


def _is_smoke(run: Run) -> bool:
    return all(key.startswith("smoke_") and "+fresh" not in key for key in run.texts)


def _count(some: Iterable[object], of: Iterable[object]) -> str:
    return f"{len(list(some))} of its {len(list(of))} problem ids"


def _some(keys: list[str]) -> str:
    shown = ", ".join(f"{key:.40}" for key in keys[:_NAMED])
    return shown if len(keys) <= _NAMED else f"{shown} and {len(keys) - _NAMED} more"
