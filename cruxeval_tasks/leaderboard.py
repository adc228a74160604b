"""The scores that the benchmark's authors publish.

The figures of `leaderboard.csv` are those of `data.csv` in the repository crux-eval/crux-eval.github.io (MIT) at commit
bbca8150320397859dbb3c359fbb6a885b1d9a3f: in percent, pass@1 sampled at temperature 0.2 and pass@5 at 0.8, ten samples of
each problem but where a name says otherwise.

From 2024-04-15 on, the authors' scorer left out answers that its filter rejects instead of counting them as wrong, so that
a problem with such answers was scored on fewer samples. Three figures are higher for it. The columns `…_fixed` have
pass@1 from the authors' own verdicts in that repository's `evaluation_results`, with every sample in the denominator.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

from cruxeval_tasks.direction import Direction

SOURCE = "https://crux-eval.github.io/leaderboard.html"


@dataclass(frozen=True)
class Entry:
    """One model's published figures in one direction, in percent.

    Attributes:
        model: The name on the leaderboard.
        pass_1: pass@1 with every sample in the denominator.
        pass_1_published: pass@1 as published; another figure than `pass_1` for three entries.
        pass_5: pass@5, or None where none is published.
        link: Where the model is.
    """

    model: str
    pass_1: float
    pass_1_published: float
    pass_5: float | None
    link: str


def entries(direction: Direction) -> list[Entry]:
    """Return the published entries of one direction, best pass@1 first."""
    text = files("cruxeval_tasks").joinpath("leaderboard.csv").read_text(encoding="utf-8")
    read = [_entry(row, direction) for row in csv.DictReader(text.splitlines())]
    return sorted(read, key=lambda entry: -entry.pass_1)


def _entry(row: dict[str, str], direction: Direction) -> Entry:
    published, fixed = row[f"{direction}_pass_1"], row[f"{direction}_pass_1_fixed"]
    pass_5 = row[f"{direction}_pass_5"]
    return Entry(row["model"], float(fixed or published), float(published), float(pass_5) if pass_5 else None, row["link"])
