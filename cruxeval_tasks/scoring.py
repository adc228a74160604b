"""From a run to its score: find the answers, judge them, sum up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import cruxeval_tasks
from cruxeval_tasks.answers import FINDERS
from cruxeval_tasks.completions import Run
from cruxeval_tasks.direction import Direction
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.judge import Check, Judge, Status, Verdict
from cruxeval_tasks.matching import Matched
from cruxeval_tasks.passk import Estimate, estimate, pass_at_k

SCHEMA = "cruxeval-tasks/results/1"
USUAL_K = (1, 5)
"""The k that the benchmark's authors report."""

_AT_ONCE = 50  # problems between two steps of a progress bar
_SUSPICIOUS = 0.5  # share of answers that tell that the direction or the kind of file is mistaken

Progress = Callable[[int], None]
"""Is told a number of problems that are done."""


@dataclass(frozen=True)
class Score:
    """A judged run.

    Attributes:
        run: The run.
        direction: The direction in which it was judged.
        matched: The problems it was judged on.
        answers: For each problem id, in the problem set's order, the answer found in each text; None where there is none.
        verdicts: The verdict on each answer.
        isolation: What confined the execution of answers, layer by layer; None where nothing was executed.
        warnings: Everything that a reader of the score has to know.
    """

    run: Run
    direction: Direction
    matched: Matched
    answers: Mapping[str, Sequence[str | None]]
    verdicts: Mapping[str, Sequence[Verdict]]
    isolation: Mapping[str, str] | None
    warnings: tuple[str, ...]

    @property
    def samples(self) -> tuple[int, int]:
        """The least and the greatest number of samples that a problem has."""
        return self.run.samples

    @cached_property
    def rates(self) -> Mapping[str, Fraction]:
        """The share of samples that passed, for each problem id."""
        return {key: Fraction(sum(v.passed for v in each), len(each)) for key, each in self.verdicts.items()}

    def pass_at(self, k: int) -> Estimate:
        """Return pass@k over the problems.

        Raises:
            UserError: A problem has fewer than k samples.
        """
        fewest = self.samples[0]
        if k > fewest:
            raise UserError(
                f"{self.run.path}: pass@{k} needs {k} samples of each problem, and there "
                f"{'is' if fewest == 1 else 'are'} {fewest}"
            )
        values = [pass_at_k(len(each), sum(v.passed for v in each), k) for each in self.verdicts.values()]
        return estimate(values, fewest)

    def usual_k(self) -> list[int]:
        """The k that the benchmark's authors report, where there are samples enough."""
        return [k for k in USUAL_K if k <= self.samples[0]]

    @cached_property
    def answered(self) -> Estimate:
        """The share of samples with a well-formed answer, right or wrong, as the mean over problems."""
        return estimate(
            [sum(v.answered for v in each) / len(each) for each in self.verdicts.values()], self.samples[0]
        )

    @cached_property
    def statuses(self) -> Mapping[Status, int]:
        """How many samples came to each status, most first."""
        return dict(Counter(v.status for each in self.verdicts.values() for v in each).most_common())

    @cached_property
    def exceptions(self) -> Mapping[str, int]:
        """How many samples raised each exception, most first."""
        raised = (v for each in self.verdicts.values() for v in each if v.status is Status.RAISED)
        return dict(Counter(v.reason.partition(":")[0] for v in raised).most_common())


def score_run(
    run: Run, matched: Matched, judge: Judge, direction: Direction | None = None, progress: Progress | None = None
) -> Score:
    """Judge a run.

    Args:
        run: The completions.
        matched: The problems they are judged on.
        judge: Judges the answers.
        direction: The direction, where the file does not say it. It goes before what the file's name says.
        progress: Is called from time to time with the number of problems done since the last call.

    Raises:
        UserError: The direction is not known, or contradicts the file.
        IsolationError: An answer needs execution and cannot be isolated here.
    """
    chosen = _direction(run, direction)
    extract = FINDERS[chosen]
    answers: dict[str, Sequence[str | None]] = {}
    verdicts: dict[str, Sequence[Verdict]] = {}
    step = len(matched.problems) if progress is None else _AT_ONCE
    for start in range(0, len(matched.problems), step):
        some = matched.problems[start : start + step]
        checks: list[Check] = []
        for problem in some:
            texts = run.texts[problem.id]
            found = {text: text if run.are_answers else extract(text) for text in dict.fromkeys(texts)}
            answers[problem.id] = [found[text] for text in texts]
            checks += [Check(chosen, problem.code, problem.output, answer) for answer in answers[problem.id]]
        judged = iter(judge.judge(checks))
        for problem in some:
            verdicts[problem.id] = [next(judged) for _ in answers[problem.id]]
        if progress is not None:
            progress(len(some))
    isolation = judge.isolation if judge.started else None
    score = Score(run, chosen, matched, answers, verdicts, isolation, (*run.warnings, *matched.warnings))
    return _with_doubts(score)


def _direction(run: Run, given: Direction | None) -> Direction:
    if given is None and run.direction is None:
        raise UserError(
            f"{run.path}: neither the file nor its name says whether the output or the input was predicted: "
            "say --direction output or --direction input"
        )
    if given is not None and run.direction not in (None, given) and run.direction_is_stated:
        raise UserError(f"{run.path}: is a run of {run.direction} prediction, by what the file says; not of {given}")
    direction = given or run.direction
    assert direction is not None
    return direction


def _with_doubts(score: Score) -> Score:
    """Add warnings about what makes a score doubtful though every answer was judged."""
    doubts = []
    total = sum(len(each) for each in score.answers.values())
    if score.run.are_answers:
        calls = sum((a or "").lstrip().startswith("f(") for each in score.answers.values() for a in each)
        share = calls / total
        if score.direction == "output" and share > _SUSPICIOUS:
            doubts.append(f"{calls} of {total} answers are calls of f: was this input prediction?")
        malformed = score.statuses.get(Status.MALFORMED, 0)
        if malformed / total > _SUSPICIOUS:
            doubts.append(
                f"{malformed} of {total} answers are no expressions. Strings of this format are judged as they stand; "
                "to have answers found in whole completions, write JSONL rows {id, completion}"
            )
    elif score.answered.value < _SUSPICIOUS:
        none = total - sum(v.answered for each in score.verdicts.values() for v in each)
        doubts.append(f"no well-formed answer in {none} of {total} completions: look at some with `cruxeval show`")
    return replace(score, warnings=(*score.warnings, *doubts))


# --- what is written down ---


def summary(score: Score, ks: Sequence[int]) -> dict[str, Any]:
    """Return the score as JSON values. Shares are in percent, as the benchmark's authors give them."""
    low, high = score.samples
    body: dict[str, Any] = {
        "file": score.run.path,
        "format": score.run.format,
        "direction": score.direction,
        "problems": {
            "scored": len(score.verdicts),
            "of": score.matched.total,
            "digest": score.matched.digest,
            "source": score.matched.source,
        },
        "samples_per_problem": {"min": low, "max": high},
        "pass_at_k": {str(k): _percent(score.pass_at(k)) for k in ks},
        "answered": _percent(score.answered),
        "stated_pass_at_1": score.run.stated,
        "statuses": {status.value: count for status, count in score.statuses.items()},
        "exceptions": dict(score.exceptions),
        "isolation": None if score.isolation is None else _isolation(score.isolation),
        "generation": dict(score.run.settings),
        "warnings": list(score.warnings),
    }
    return body


def results(score: Score, ks: Sequence[int]) -> dict[str, Any]:
    """Return what a results file holds: the summary, the keys of the authors' scored files, and every verdict.

    `raw_generations` holds answers, as in the authors' files, "" where a completion held none; so a results file can be
    scored again.
    """
    body: dict[str, Any] = {"schema": SCHEMA, "version": cruxeval_tasks.__version__, **summary(score, ks)}
    body["raw_generations"] = {key: [a or "" for a in each] for key, each in score.answers.items()}
    body["raw_scored_generations"] = {key: [v.passed for v in each] for key, each in score.verdicts.items()}
    for k in score.usual_k():
        body[f"pass_at_{k}"] = 100 * score.pass_at(k).value
    body["verdicts"] = {
        key: [{"status": v.status.value, "reason": v.reason, "obtained": v.obtained} for v in each]
        for key, each in score.verdicts.items()
    }
    return body


def _isolation(layers: Mapping[str, str]) -> dict[str, Any]:
    return {"layers": dict(layers), "missing": [layer for layer in LAYERS if layer not in layers]}


def _percent(value: Estimate) -> dict[str, float]:
    return {"value": 100 * value.value, "low": 100 * value.low, "high": 100 * value.high}
