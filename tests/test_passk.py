from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cruxeval_tasks.passk import estimate, pass_at_k


@pytest.mark.slow
def test_is_the_float_nearest_to_the_exact_value() -> None:
    """Every c <= n <= 200 and k <= n, against the product form: the k draws miss the passing samples one by one.

    Python rounds the quotient of two integers correctly, as `float(Fraction)` does, which takes a minute here.
    """
    for n in range(1, 201):
        for c in range(n + 1):
            missing = draws = 1  # n-c over n, times n-c-1 over n-1, ...
            exact = []
            for k in range(n):
                missing *= max(n - c - k, 0)
                draws *= n - k
                exact.append((draws - missing) / draws)
            # One assertion for all k: millions of them would take longer than what they check.
            assert [pass_at_k(n, c, k) for k in range(1, n + 1)] == exact, (n, c)


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


# --- intervals ---


def test_with_one_sample_it_is_wilsons_interval() -> None:
    # Worked example of Newcombe 1998, Stat. Med. 17:857, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29; method 3.
    for passed, m, low, high in [
        (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)
    ]:  # fmt: skip
        e = estimate([1.0] * passed + [0.0] * (m - passed), 1)
        assert (round(e.low, 4), round(e.high, 4)) == (low, high)
        assert e.value == pytest.approx(passed / m)


@given(st.lists(st.integers(0, 10), min_size=1, max_size=50))
def test_an_interval_holds_its_value_and_stays_between_0_and_1(counts: list[int]) -> None:
    e = estimate([c / 10 for c in counts], 10)
    assert 0 <= e.low <= e.value <= e.high <= 1
    assert e.low < e.high


def test_rounding_does_not_lead_out_of_the_scale() -> None:
    for m in range(1, 2000, 7):
        assert estimate([0.0] * m, 1).low == 0
        assert estimate([1.0] * m, 1).high == 1
        assert estimate([2**-60] * m, 1).low >= 0
        assert estimate([1 - 2**-53] * m, 1).high <= 1


def test_many_problems_give_the_normal_interval() -> None:
    values = [0.0, 0.3, 0.9, 1.0, 0.5] * 400
    e = estimate(values, 10)
    error = (sum((v - 0.54) ** 2 for v in values) / len(values) / len(values)) ** 0.5
    assert e.low == pytest.approx(0.54 - 1.96 * error, abs=2e-4)
    assert e.high == pytest.approx(0.54 + 1.96 * error, abs=2e-4)


def test_problems_that_all_pass_alike_tell_no_more_than_their_samples() -> None:
    same = estimate([0.5] * 20, 10)
    independent = estimate([1.0] * 100 + [0.0] * 100, 1)
    assert (same.low, same.high) == pytest.approx((independent.low, independent.high))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_where_all_pass_or_none_it_is_problems_that_count(value: float) -> None:
    """Twenty hard problems say nothing of a twenty-first, however often each was tried."""
    assert estimate([value] * 20, 10) == estimate([value] * 20, 1)


@pytest.mark.parametrize(("m", "n"), [(20, 1), (62, 10), (150, 3)])
@pytest.mark.parametrize("shape", [(0.5, 0.5), (0.2, 2.0), (3.0, 1.0)])
def test_intervals_hold_the_truth_in_about_95_of_100_runs(m: int, n: int, shape: tuple[float, float]) -> None:
    """Problems drawn from a population with known pass rate, again and again."""
    rng = random.Random(7)
    truth = shape[0] / sum(shape)
    runs = 400
    held = 0
    for _ in range(runs):
        rates = [rng.betavariate(*shape) for _ in range(m)]
        e = estimate([sum(rng.random() < rate for _ in range(n)) / n for rate in rates], n)
        held += e.low <= truth <= e.high
    assert 0.915 <= held / runs <= 0.985  # three standard errors of a share of 0.95 among 400, and a little
