"""The estimator of pass@k, and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, fsum, sqrt

Z95 = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution."""


@dataclass(frozen=True)
class Estimate:
    """A mean over problems with its 95 % interval, all between 0 and 1."""

    value: float
    low: float
    high: float


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the probability that any of `k` samples passes, drawn without replacement from `n` of which `c` pass.

    This is the unbiased estimator 1 - C(n-c, k) / C(n, k) of Chen et al. 2021, "Evaluating Large Language Models
    Trained on Code", section 2.1. It is formed in integers and rounded once, to the float nearest to the fraction.

    Raises:
        ValueError: for k > n, where the samples do not say what pass@k is, and for numbers that are no counts.
    """
    if not 0 <= c <= n or k < 1:
        raise ValueError(
            f"pass@{k} with {c} passed of {n} samples is not defined: k is 1 at least, passed at most samples"
        )
    if k > n:
        raise ValueError(
            f"pass@{k} needs at least {k} samples of each problem, and there are {n}: "
            f"raise `repeats` to {k} or more, or leave {k} out of `k`"
        )
    draws = comb(n, k)
    return (draws - comb(n - c, k)) / draws


def estimate(values: Sequence[float], samples: int) -> Estimate:
    """Return the mean of one value for each problem, with a 95 % interval for other problems of the same kind.

    It is Wilson's score interval at an effective number of problems: the number of independent 0-or-1 observations whose
    mean would vary as much as this one does, m p (1 - p) / s^2 with s^2 the variance between problems. (Known from surveys,
    where s^2 / (p (1 - p)) is the design effect: Franco, Little, Louis and Slud 2019, J. Surv. Stat. Methodol. 7.) With one
    sample for each problem it is Wilson's interval; with many problems and a middling score, the mean plus and minus 1.96
    standard errors. Unlike that, it never leaves [0, 1], and a score of 0 or 1 on few problems is not given as certain.

    Args:
        values: One value in [0, 1] for each problem; at least one.
        samples: Samples behind each value; at least one. Problems tell no more than all their samples taken as independent.
    """
    m = len(values)
    p = fsum(values) / m  # never above 1, since it is the exact sum that is rounded
    variance = fsum((value - p) ** 2 for value in values) / m
    effective = float(m)
    if 0 < p < 1:
        most = m * samples
        effective = min(most, m * p * (1 - p) / variance) if variance > 0 else most
    return Estimate(p, *_wilson(p, effective))


def _wilson(p: float, n: float) -> tuple[float, float]:
    """Wilson 1927, J. Am. Stat. Assoc. 22: the p0 that a score test at 5 % does not reject."""
    z2 = Z95 * Z95 / n
    middle = (p + z2 / 2) / (1 + z2)
    half = sqrt(p * (1 - p) * z2 + z2 * z2 / 4) / (1 + z2)
    # Rounding must not lead out of the scale; at 1 it would also leave the bound a hair below the value. At 0 it does not.
    return max(0.0, middle - half), 1.0 if p == 1 else min(1.0, middle + half)
