"""Does a score hold on inputs that nobody has published? Originals and fresh problems, paired by function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from cruxeval_tasks.comparison import Difference, paired
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.fresh.selection import fresh_origin
from cruxeval_tasks.scoring import Score


@dataclass(frozen=True)
class Gap:
    """A model's run on problems against its run on fresh ones that were made from them.

    Attributes:
        original: The run on the originals.
        fresh: The run on the fresh problems.
        on_original: The rate at which the samples of each original pass, for each that has a fresh problem.
        on_fresh: The same for its fresh problems; the mean where there are several.
        difference: The score on the originals minus the score on the fresh problems.
        without_fresh: Number of originals that have no fresh problem, and are left out.
    """

    original: Score
    fresh: Score
    on_original: Mapping[str, Fraction]
    on_fresh: Mapping[str, Fraction]
    difference: Difference
    without_fresh: int


def fresh_of(a: Score, b: Score) -> bool:
    """Return whether the second run is on fresh problems that were made from problems of the first."""
    originals = {problem.id for problem in a.matched.problems}
    return all(fresh_origin(p.id) in originals and p.id not in originals for p in b.matched.problems)


def gap(original: Score, fresh: Score) -> Gap:
    """Compare a run on problems with a run on fresh ones, for which `fresh_of` holds.

    Raises:
        UserError: The two cannot be paired.
    """
    if original.direction != fresh.direction:
        raise UserError(
            f"{original.run.path} is {original.direction} prediction and {fresh.run.path} is {fresh.direction}: "
            "nothing to compare"
        )
    by_id = {problem.id: problem for problem in original.matched.problems}
    rates: dict[str, list[Fraction]] = {}
    for problem in fresh.matched.problems:
        origin = fresh_origin(problem.id)
        assert origin is not None
        if by_id[origin].code != problem.code:
            raise UserError(f"{problem.id} in {fresh.run.path} has another function than {origin} in {original.run.path}")
        rates.setdefault(origin, []).append(fresh.rates[problem.id])
    ids = [key for key in by_id if key in rates]
    on_original = {key: original.rates[key] for key in ids}
    on_fresh = {key: sum(rates[key], Fraction()) / len(rates[key]) for key in ids}
    samples = min(original.samples[0], fresh.samples[0])
    difference = paired(list(on_fresh.values()), list(on_original.values()), samples)
    return Gap(original, fresh, on_original, on_fresh, difference, len(by_id) - len(ids))
