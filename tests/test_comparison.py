"""Paired comparison of two runs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import SMOKE, completions, gold, write_rows, wrong

from cruxeval_tasks.comparison import compare, paired, sign_flip
from cruxeval_tasks.completions import read_run
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.judging.judge import Judge
from cruxeval_tasks.matching import Matcher
from cruxeval_tasks.problems import Problem
from cruxeval_tasks.scoring import Score, score_run


def fractions(*values: int, of: int = 1) -> list[Fraction]:
    return [Fraction(value, of) for value in values]


class TestSignFlip:
    @pytest.mark.parametrize(("gained", "lost"), [(0, 1), (5, 0), (10, 3), (12, 12), (40, 61)])
    def test_with_one_sample_it_is_mcnemars_exact_test(self, gained: int, lost: int) -> None:
        n = gained + lost
        tail = sum(comb(n, i) for i in range(max(gained, lost), n + 1)) / 2**n
        assert sign_flip(fractions(*[1] * gained, *[-1] * lost, *[0] * 50)) == pytest.approx(min(1.0, 2 * tail))

    @given(st.lists(st.integers(-5, 5), min_size=1, max_size=9), st.sampled_from([1, 3, 10]))
    def test_it_counts_all_flips(self, steps: list[int], of: int) -> None:
        observed = abs(sum(steps))
        flips = list(itertools.product((1, -1), repeat=len(steps)))
        sums = [abs(sum(sign * step for sign, step in zip(signs, steps, strict=True))) for signs in flips]
        expected = sum(s >= observed for s in sums) / len(flips)
        assert sign_flip(fractions(*steps, of=of)) == pytest.approx(expected)

    def test_no_difference_at_all(self) -> None:
        assert sign_flip(fractions(0, 0, 0)) == 1.0

    def test_the_normal_stand_in_is_near_the_exact_value(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = random.Random(4)
        differences = fractions(*(rng.randint(-9, 10) for _ in range(300)), of=10)
        exact = sign_flip(differences)
        monkeypatch.setattr("cruxeval_tasks.comparison._EXACT_UNITS", 0)
        assert sign_flip(differences) == pytest.approx(exact, abs=0.02)
        assert 0.01 < exact < 0.99


class TestPaired:
    def test_against_a_published_example(self) -> None:
        """Newcombe 1998, Stat. Med. 17:2635, table II: 36, 12, 2 and 0 give 0.0569 to 0.3404 by his method 10."""
        cells = [(1, 1)] * 36 + [(1, 0)] * 12 + [(0, 1)] * 2
        d = paired(fractions(*(b for _, b in cells)), fractions(*(a for a, _ in cells)), 1)
        assert d.value == pytest.approx(0.2)
        assert (round(d.low, 4), round(d.high, 4)) == (0.0569, 0.3404)

    def test_the_other_way_round(self) -> None:
        a, b = fractions(1, 3, 5, 10, 0, of=10), fractions(4, 3, 9, 9, 0, of=10)
        there, back = paired(a, b, 10), paired(b, a, 10)
        assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))
        assert there.p_value == back.p_value

    def test_the_same_run(self) -> None:
        a = fractions(*range(11), of=10)
        d = paired(a, a, 10)
        assert (d.value, d.p_value) == (0.0, 1.0)
        assert d.low <= 0 <= d.high

    def test_few_problems_are_not_taken_for_certain(self) -> None:
        d = paired(fractions(0, 0, 0, 0, 0), fractions(1, 1, 1, 1, 1), 1)
        assert d.value == 1.0
        assert d.low < 0.6
        assert d.p_value == pytest.approx(2 / 2**5)

    @pytest.mark.slow
    @pytest.mark.parametrize(("m", "n"), [(60, 1), (60, 10), (300, 3)])
    def test_coverage_and_false_alarms(self, m: int, n: int) -> None:
        """Two equal models on problems of mixed difficulty: 0 lies in the interval, and p below 0.05, as often as it says."""
        rng = random.Random(11)
        runs, held, alarms = 300, 0, 0
        for _ in range(runs):
            rates = [rng.betavariate(0.6, 0.6) for _ in range(m)]
            a, b = (
                fractions(*(sum(rng.random() < r for _ in range(n)) for r in rates), of=n) for _ in range(2)
            )
            d = paired(a, b, n)
            held += d.low <= 0 <= d.high
            alarms += d.p_value < 0.05
        assert held / runs >= 0.91
        assert alarms / runs <= 0.09


# --- two scores ---


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as judge:
        yield judge


def scored(judge: Judge, path: Path, *, partial: bool = False) -> Score:
    run = read_run(path)
    return score_run(run, Matcher(judge, partial=partial).match(run), judge)


def some(*passing: int) -> Callable[[Problem], str]:
    return lambda p: gold(p) if SMOKE.index(p) in passing else wrong(p)


def test_gained_lost_and_failing_differently(judge: Judge, tmp_path: Path) -> None:
    def b(p: Problem) -> str:
        return "assert f(1) == [1, 2" if p is SMOKE[9] else some(1, 2, 3)(p)

    a = scored(judge, completions(tmp_path / "a_output.jsonl", some(0, 1), some(0, 1, 2)))
    found = compare(a, scored(judge, completions(tmp_path / "b_output.jsonl", b, b)))
    assert (found.gained, found.lost) == ([SMOKE[3].id, SMOKE[2].id], [SMOKE[0].id])
    assert found.difference.value == pytest.approx((1 + 0.5 - 1) / len(SMOKE))
    assert found.neither == [p.id for p in SMOKE[4:]]
    assert found.differently == {("wrong", "malformed"): 1}
    assert found.same_failure == len(SMOKE) - 5
    assert (found.only_a, found.only_b) == (0, 0)


def test_wrong_in_another_way(judge: Judge, tmp_path: Path) -> None:
    a = scored(judge, completions(tmp_path / "a_output.jsonl", wrong))
    b = scored(judge, completions(tmp_path / "b_output.jsonl", lambda p: f"assert f({p.input}) == 'something else'"))
    found = compare(a, b)
    assert found.differently == {("wrong", "wrong"): len(SMOKE)}
    assert found.same_failure == 0


def test_runs_of_two_directions(judge: Judge, tmp_path: Path) -> None:
    a = scored(judge, completions(tmp_path / "a_output.jsonl", gold))
    b = scored(judge, completions(tmp_path / "b_input.jsonl", gold))
    with pytest.raises(UserError, match="nothing to compare"):
        compare(a, b)


def test_runs_that_share_a_part(judge: Judge, tmp_path: Path) -> None:
    a = scored(judge, completions(tmp_path / "a_output.jsonl", gold))
    b = scored(judge, completions(tmp_path / "b_output.jsonl", gold, problems=SMOKE[:3]), partial=True)
    with pytest.raises(UserError, match=r"share 3 problems; 59 are only in .*a_output.*and 0 only in.*--partial"):
        compare(a, b)
    found = compare(a, b, partial=True)
    assert (len(found.a), found.only_a, found.only_b) == (3, 59, 0)
    c = scored(judge, completions(tmp_path / "c_output.jsonl", gold, problems=SMOKE[3:]), partial=True)
    with pytest.raises(UserError, match="no problem in common"):
        compare(b, c, partial=True)


def test_one_name_for_two_problems(judge: Judge, tmp_path: Path) -> None:
    def run(name: str, output: int) -> Score:
        problem = {"id": "p", "code": f"def f():\n    return {output}", "input": "", "output": str(output)}
        problems = write_rows(tmp_path / f"{name}_problems.jsonl", [problem])
        run = read_run(write_rows(tmp_path / f"{name}_output.jsonl", [{"id": "p", "completion": "1"}]))
        return score_run(run, Matcher(judge, str(problems)).match(run), judge)

    with pytest.raises(UserError, match="p is one problem in"):
        compare(run("a", 1), run("b", 2))
