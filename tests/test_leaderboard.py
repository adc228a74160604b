"""The published figures that the package carries."""

from __future__ import annotations

import csv

import pytest
from runs import SHARED

from cruxeval_tasks.direction import Direction
from cruxeval_tasks.leaderboard import entries

DIRECTIONS: list[Direction] = ["output", "input"]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_figures_are_the_published_ones(direction: Direction) -> None:
    path = SHARED / "published_scores.csv"
    if not path.exists():
        pytest.skip(f"needs the published figures in {path}")
    letter = direction[0]
    with path.open() as file:
        published = {
            row["Model"].strip(): (row[f"{letter}@1"], row[f"{letter}@5"])
            for row in csv.DictReader(file, skipinitialspace=True)
        }
    carried = {
        e.model: (f"{e.pass_1_published:.1f}", "-" if e.pass_5 is None else f"{e.pass_5:.1f}") for e in entries(direction)
    }
    assert carried == published


def test_three_figures_are_corrected_downwards() -> None:
    corrected = {
        (e.model, d): (e.pass_1_published, e.pass_1)
        for d in DIRECTIONS
        for e in entries(d)
        if e.pass_1 != e.pass_1_published
    }
    assert corrected == {
        ("gpt-4-turbo-2024-04-09+cot (n=3)", "input"): (75.7, 68.8),
        ("gpt-4o+cot (n=3)", "input"): (75.6, 66.2),
        ("gpt-4o+cot (n=3)", "output"): (76.0, 75.8),
    }


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_best_first(direction: Direction) -> None:
    scores = [entry.pass_1 for entry in entries(direction)]
    assert len(scores) == 43
    assert scores == sorted(scores, reverse=True)
