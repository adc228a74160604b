"""Two runs on the same problems: which is better, by how much, and whether that can be chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import erfc, gcd, lcm, sqrt

from cruxeval_tasks.errors import UserError
from cruxeval_tasks.judging.judge import Verdict
from cruxeval_tasks.passk import estimate
from cruxeval_tasks.scoring import Score

_EXACT_UNITS = 200_000  # sum of differences, in units, up to which the test is exact: a tenth of a second


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences, its 95 % interval, and the p-value of its being 0."""

    value: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """Run `b` against run `a`.

    Attributes:
        a: The rate at which the samples of each problem pass in the first run, for each problem that both have.
        b: The same in the second.
        difference: pass@1 of the second minus pass@1 of the first.
        gained: Ids of the problems on which the second is better, most first.
        lost: Ids of the problems on which it is worse, most first.
        neither: Ids of the problems that neither solves with any sample.
        differently: Those of them on which the two mostly fail differently: pairs of failures and their number.
        same_failure: How many of them fail in the same way: the same status, and where there is one the same value.
        only_a: Number of problems that the first run alone has.
        only_b: Number of problems that the second run alone has.
    """

    a: Mapping[str, Fraction]
    b: Mapping[str, Fraction]
    difference: Difference
    gained: Sequence[str]
    lost: Sequence[str]
    neither: Sequence[str]
    differently: Mapping[tuple[str, str], int]
    same_failure: int
    only_a: int
    only_b: int


def compare(a: Score, b: Score, *, partial: bool = False) -> Comparison:
    """Compare two scores, problem by problem.

    Args:
        a: The first.
        b: The second, of the same direction and on the same problems.
        partial: Leave out the problems that only one of them has.

    Raises:
        UserError: The two cannot be paired.
    """
    if a.direction != b.direction:
        raise UserError(f"{a.run.path} is {a.direction} prediction and {b.run.path} is {b.direction}: nothing to compare")
    problems_b = {problem.id: problem for problem in b.matched.problems}
    shared = [problem for problem in a.matched.problems if problem.id in problems_b]
    if not shared:
        raise UserError(f"{a.run.path} and {b.run.path} have no problem in common")
    other = next((problem.id for problem in shared if problem != problems_b[problem.id]), None)
    if other is not None:
        raise UserError(f"{other} is one problem in {a.run.path} and another in {b.run.path}: nothing to compare")
    only_a, only_b = len(a.matched.problems) - len(shared), len(b.matched.problems) - len(shared)
    if (only_a or only_b) and not partial:
        raise UserError(
            f"the two share {len(shared)} problems; {only_a} are only in {a.run.path} and {only_b} only in {b.run.path}. "
            "To compare them on those they share, say --partial"
        )
    ids = [problem.id for problem in shared]
    rates_a, rates_b = {i: a.rates[i] for i in ids}, {i: b.rates[i] for i in ids}
    changed = sorted((i for i in ids if rates_a[i] != rates_b[i]), key=lambda i: -abs(rates_b[i] - rates_a[i]))
    neither = [i for i in ids if rates_a[i] == rates_b[i] == 0]
    failures = [(_failure(a.verdicts[i]), _failure(b.verdicts[i])) for i in neither]
    return Comparison(
        a=rates_a,
        b=rates_b,
        difference=paired(list(rates_a.values()), list(rates_b.values()), min(a.samples[0], b.samples[0])),
        gained=[i for i in changed if rates_b[i] > rates_a[i]],
        lost=[i for i in changed if rates_b[i] < rates_a[i]],
        neither=neither,
        differently=dict(Counter((x[0], y[0]) for x, y in failures if x != y).most_common()),
        same_failure=sum(x == y for x, y in failures),
        only_a=only_a,
        only_b=only_b,
    )


def _failure(verdicts: Sequence[Verdict]) -> tuple[str, str]:
    """How a problem is mostly failed: a status, and the value that was obtained or the exception."""
    kinds = Counter((v.status.value, v.obtained if v.obtained is not None else v.reason) for v in verdicts)
    return max(kinds, key=lambda kind: kinds[kind])


def paired(a: Sequence[Fraction], b: Sequence[Fraction], samples: int) -> Difference:
    """Return the mean of b - a over problems, with a paired 95 % interval and a p-value.

    The interval is MOVER's (Zou and Donner 2008, Stat. Med. 27), from the two means' own intervals (`passk.estimate`) and
    the correlation of the two over problems; with one sample of each problem that is Newcombe's way for paired proportions
    (1998, Stat. Med. 17:2635). The p-value is `sign_flip`'s.

    Args:
        a: The rate at which each problem's samples pass in the first run; at least one problem.
        b: The same in the second run, in the same order.
        samples: The least number of samples behind a rate.
    """
    first, second = [float(x) for x in a], [float(x) for x in b]
    ea, eb = estimate(first, samples), estimate(second, samples)
    r = _correlation(first, second)
    value = float(sum(y - x for x, y in zip(a, b, strict=True))) / len(a)

    def reach(x: float, y: float) -> float:
        return sqrt(max(0.0, x * x + y * y - 2 * r * x * y))

    low = value - reach(eb.value - eb.low, ea.high - ea.value)
    high = value + reach(eb.high - eb.value, ea.value - ea.low)
    return Difference(value, max(-1.0, low), min(1.0, high), sign_flip([y - x for x, y in zip(a, b, strict=True)]))


def sign_flip(differences: Sequence[Fraction]) -> float:
    """Return the two-sided p-value of paired differences: the share of all ways to flip their signs that give a sum as far
    from 0 as theirs. (If the two runs are equally good, each difference is as likely to have either sign.)

    It is exact, from the whole distribution; with one sample of each problem it is McNemar's exact test. Where numbers of
    samples have no small common multiple, the normal distribution with the same variance stands in.
    """
    unit = lcm(*(d.denominator for d in differences))
    steps = [abs(int(d * unit)) for d in differences if d]
    if not steps:
        return 1.0
    common = gcd(*steps)
    steps = [step // common for step in steps]
    observed = abs(int(sum(differences) * unit)) // common
    total = sum(steps)
    if total > _EXACT_UNITS:
        return erfc(observed / sqrt(2 * sum(step * step for step in steps)))
    import numpy as np  # not at the top: it takes as long to import as all the rest

    # likelihood[s]: that the differences which came out positive sum up to s; the sum of all is then 2 s - total.
    likelihood = np.zeros(total + 1)
    likelihood[0] = 1.0
    for step in steps:
        flipped = likelihood * 0.5
        flipped[step:] += likelihood[:-step] * 0.5
        likelihood = flipped
    return min(1.0, 2 * float(likelihood[(total + observed) // 2 :].sum())) if observed else 1.0


def _correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Pearson's correlation, 0 where one of the two is constant."""
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    xx = sum((a - mean_x) ** 2 for a in x)
    yy = sum((b - mean_y) ** 2 for b in y)
    xy = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return max(-1.0, min(1.0, xy / sqrt(xx * yy))) if xx > 1e-12 and yy > 1e-12 else 0.0
