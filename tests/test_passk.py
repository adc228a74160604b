from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from cruxeval_tasks.passk import pass_at_k


def test_is_the_float_nearest_to_the_exact_value() -> None:
    """Every c <= n <= 200 and k <= n, against the product form: the k draws miss the passing samples one by one.

    Python rounds the quotient of two integers correctly, as `float(Fraction)` does, which takes a minute here.
    """
    for n in range(1, 201):
        for c in range(n + 1):
            missing = draws = 1  # n-c over n, times n-c-1 over n-1, ...
            for k in range(1, n + 1):
                missing *= max(n - c - k + 1, 0)
                draws *= n - k + 1
                assert pass_at_k(n, c, k) == (draws - missing) / draws, (n, c, k)


def test_agrees_with_fractions() -> None:
    for n in range(1, 31):
        for c in range(n + 1):
            for k in range(1, n + 1):
                assert pass_at_k(n, c, k) == float(1 - Fraction(comb(n - c, k), comb(n, k)))


@pytest.mark.parametrize(("n", "c", "k"), [(5, 2, 1), (5, 2, 3), (6, 1, 2), (4, 4, 2), (4, 0, 4), (7, 3, 5)])
def test_is_the_share_of_draws_that_hold_a_pass(n: int, c: int, k: int) -> None:
    draws = list(combinations(range(n), k))
    holding = sum(any(sample < c for sample in draw) for draw in draws)
    assert pass_at_k(n, c, k) == holding / len(draws)
    assert len(draws) == comb(n, k)


@pytest.mark.parametrize("c", [0, 3])
def test_more_draws_than_samples_is_an_error(c: int) -> None:
    with pytest.raises(ValueError, match=r"pass@5 needs at least 5 samples .* there are 4: raise `repeats` to 5"):
        pass_at_k(4, min(c, 4), 5)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, -2)])
def test_numbers_that_are_no_counts(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="not defined"):
        pass_at_k(n, c, k)
