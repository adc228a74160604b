"""The estimator of pass@k."""

from __future__ import annotations

from math import comb


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
    return (comb(n, k) - comb(n - c, k)) / comb(n, k)
