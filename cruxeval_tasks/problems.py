"""Problem sets: load, check, digest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One problem: `code` defines a function `f`, and `f(<input>)` returns the value of the literal `output`."""

    id: str
    code: str
    input: str
    output: str
