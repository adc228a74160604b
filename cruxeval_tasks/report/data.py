"""What the page shows, from scored runs: everything but how it looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from cruxeval_tasks import leaderboard
from cruxeval_tasks.completions import direction_in_name
from cruxeval_tasks.direction import Direction
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.judging.judge import Status
from cruxeval_tasks.passk import Estimate, estimate
from cruxeval_tasks.problems import PUBLISHED_DIGEST, Problem
from cruxeval_tasks.report import difficulty
from cruxeval_tasks.report.difficulty import Facts
from cruxeval_tasks.scoring import Score


@dataclass(frozen=True)
class NamedRun:
    """A scored run and what the page calls it."""

    name: str
    score: Score

    @property
    def direction(self) -> Direction:
        return self.score.direction

    @property
    def is_published_set(self) -> bool:
        """Whether it is on all of the published problems, so that the published scores are comparable."""
        return self.score.matched.digest == PUBLISHED_DIGEST and len(self.score.verdicts) == self.score.matched.total


@dataclass(frozen=True)
class Report:
    """What the page shows.

    Attributes:
        runs: The runs, in the order given.
        problems: All problems of the runs, in the order of their sets.
        facts: What makes each problem hard, by id.
        executed: Lines that each problem's call executes, by id; without those that could not be traced.
        not_traced: Why lines were not traced at all; empty where they were.
    """

    runs: Sequence[NamedRun]
    problems: Sequence[Problem]
    facts: Mapping[str, Facts]
    executed: Mapping[str, int]
    not_traced: str = ""

    def with_executed(self, executed: Mapping[str, int], not_traced: str) -> Report:
        """Return the report with the lines that problems execute, or with why they are not known."""
        return replace(self, executed=executed, not_traced=not_traced)


def collect(runs: Sequence[NamedRun]) -> Report:
    """Bring runs together, without the lines that problems execute.

    Raises:
        UserError: Two runs have different problems under one id.
    """
    problems: dict[str, Problem] = {}
    for run in runs:
        for problem in run.score.matched.problems:
            if problems.setdefault(problem.id, problem) != problem:
                raise UserError(
                    f"{problem.id} is one problem in {run.score.run.path} and another in a file before it: make a report of each"
                )
    facts = {key: difficulty.facts(problem) for key, problem in problems.items()}
    return Report(runs, list(problems.values()), facts, {})


# --- pass@k ---


def curve(run: NamedRun) -> list[tuple[int, Estimate]]:
    """pass@k for every k that the run's samples allow."""
    return [(k, run.score.pass_at(k)) for k in range(1, run.score.samples[0] + 1)]


# --- the place among the published models ---


class Pair(NamedTuple):
    """A model's pass@1 in both directions, in percent; None where it is not known."""

    name: str
    input: float | None
    output: float | None


def published() -> list[Pair]:
    """The published models."""
    output = {entry.model: entry.pass_1 for entry in leaderboard.entries("output")}
    return [Pair(entry.model, entry.pass_1, output.get(entry.model)) for entry in leaderboard.entries("input")]


def placed(runs: Sequence[NamedRun]) -> list[tuple[Pair, list[int]]]:
    """Return the runs on the published problems as pairs, with the numbers of the runs that make up each.

    Two runs are one model's where their names are the same but for the direction.
    """
    stems: dict[str, dict[Direction, list[int]]] = {}
    for number, run in enumerate(runs):
        if run.is_published_set:
            stems.setdefault(_without_direction(run), {"input": [], "output": []})[run.direction].append(number)
    made: list[tuple[Pair, list[int]]] = []
    for stem, sides in stems.items():
        if len(sides["input"]) == len(sides["output"]) == 1:
            both = [sides["input"][0], sides["output"][0]]
            made.append((Pair(stem, _pass_1(runs[both[0]]), _pass_1(runs[both[1]])), both))
            continue
        made += [(Pair(runs[number].name, _pass_1(runs[number]), None), [number]) for number in sides["input"]]
        made += [(Pair(runs[number].name, None, _pass_1(runs[number])), [number]) for number in sides["output"]]
    return sorted(made, key=lambda one: one[1])


def rank(run: NamedRun) -> tuple[int, int]:
    """A run's place among the published models of its direction, and the number of places with it."""
    better = [entry for entry in leaderboard.entries(run.direction) if entry.pass_1 > _pass_1(run)]
    return len(better) + 1, len(leaderboard.entries(run.direction)) + 1


def _pass_1(run: NamedRun) -> float:
    return 100 * run.score.pass_at(1).value


def _without_direction(run: NamedRun) -> str:
    name = run.name
    if direction_in_name(name) != run.direction:
        return name
    for said in (f"cruxeval_{run.direction[0]}", run.direction):
        head, found, tail = name.rpartition(said)
        if found:
            return (head.rstrip("_-. ") + tail) or name
    return name


# --- failures ---


def shares(run: NamedRun) -> dict[Status, float]:
    """The share of samples that came to each status, in percent."""
    total = sum(run.score.statuses.values())
    return {status: 100 * run.score.statuses.get(status, 0) / total for status in Status}


def statuses(runs: Sequence[NamedRun]) -> list[Status]:
    """The statuses that occur."""
    return [status for status in Status if any(status in run.score.statuses for run in runs)]


# --- what makes a problem hard ---


@dataclass(frozen=True)
class Feature:
    """How runs do on groups of problems that differ in one figure.

    Attributes:
        name: The figure.
        groups: For each group its label and its number of problems.
        rates: For each run the pass rate in each group; None where it has too few of these problems.
    """

    name: str
    groups: Sequence[tuple[str, int]]
    rates: Sequence[Sequence[Estimate | None]]


def features(report: Report) -> list[Feature]:
    """Pass rates against each figure that makes a problem hard."""
    read: list[tuple[str, Callable[[Facts], int]]] = [
        ("Lines of code", lambda facts: facts.lines),
        ("Loops and branches", lambda facts: facts.branches),
        ("Calls in the code", lambda facts: facts.calls),
    ]
    grouped = [(name, difficulty.groups({k: get(f) for k, f in report.facts.items()})) for name, get in read]
    if report.executed:
        grouped.append(("Lines executed", difficulty.groups(report.executed)))
    grouped.append(("Type of the output", difficulty.kinds({k: f.value_type for k, f in report.facts.items()})))
    return [
        Feature(
            name,
            [(label, len(keys)) for label, keys in groups],
            [[_rate(run, keys) for _, keys in groups] for run in report.runs],
        )
        for name, groups in grouped
    ]


def _rate(run: NamedRun, keys: Sequence[str]) -> Estimate | None:
    rates = [float(run.score.rates[key]) for key in keys if key in run.score.rates]
    return estimate(rates, run.score.samples[0]) if len(rates) >= difficulty.FEW else None


# --- where runs differ ---


def spread(runs: Sequence[NamedRun], key: str) -> Fraction:
    """How far apart the rates of runs of one direction are on a problem: 0 where all do alike, 1 at most."""
    widest = Fraction(0)
    for direction in ("input", "output"):
        rates = [r.score.rates[key] for r in runs if r.direction == direction and key in r.score.rates]
        if rates:
            widest = max(widest, max(rates) - min(rates))
    return widest


def can_differ(runs: Sequence[NamedRun]) -> bool:
    """Whether there are two runs of one direction."""
    return len({run.direction for run in runs}) < len(runs)
