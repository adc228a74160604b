"""What came of the search, and how the fresh problems compare with those they were made from."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from cruxeval_tasks.fresh.selection import Outcome
from cruxeval_tasks.problems import Problem, digest_of
from cruxeval_tasks.tracing import Run

MEASURES: dict[str, Callable[[Problem, Run], int]] = {
    "output_characters": lambda problem, run: len(problem.output),
    "input_characters": lambda problem, run: len(problem.input),
    "executed_lines": lambda problem, run: len(run.lines),
    "executed_statements": lambda problem, run: run.statements,
}
"""What is compared: sizes of the source of output and input, in characters; lines of the code whose statements were
executed; and statements executed, each as often as it was."""


def describe(outcomes: Sequence[Outcome], seed: int, per_problem: int) -> dict[str, Any]:
    """Return the report as a JSON object, whose fields `docs/fresh.md` explains.

    Distributions are over the fresh problems and, beside them, over the originals of these, each counted once for each
    fresh problem made from it.
    """
    pairs = [(outcome, fresh) for outcome in outcomes for fresh in outcome.fresh]
    before = [(outcome.original, outcome.run) for outcome, _ in pairs if outcome.run is not None]
    after = [(fresh.problem, fresh.run) for _, fresh in pairs]
    return {
        "seed": seed,
        "per_problem": per_problem,
        "problems": len(outcomes),
        "kept": sum(bool(outcome.fresh) for outcome in outcomes),
        "fresh_problems": len(pairs),
        "original_digest": digest_of(outcome.original for outcome in outcomes),
        "fresh_digest": digest_of(problem for problem, _ in after),
        "distributions": {
            name: {
                "original": _spread([measure(*one) for one in before]),
                "fresh": _spread([measure(*one) for one in after]),
            }
            for name, measure in MEASURES.items()
        },
        "value_types": {"original": _types(before), "fresh": _types(after)},
        "overlap": {
            "mean": round(sum(fresh.overlap for _, fresh in pairs) / len(pairs), 4) if pairs else None,
            "smallest": round(min(fresh.overlap for _, fresh in pairs), 4) if pairs else None,
            "same_lines": sum(fresh.overlap == 1 for _, fresh in pairs),
        },
        "pairs": [
            {
                "id": fresh.problem.id,
                "original": outcome.original.id,
                "overlap": round(fresh.overlap, 4),
                "executed_lines": len(fresh.run.lines),
                "executed_statements": fresh.run.statements,
            }
            for outcome, fresh in pairs
        ],
        "not_found": [
            {"id": outcome.original.id, "found": len(outcome.fresh), "why": outcome.why}
            for outcome in outcomes
            if outcome.why
        ],
    }


def _spread(values: list[int]) -> dict[str, float]:
    """Return mean and quantiles; a quantile is the smallest value that so many are no larger than."""
    if not values:
        return {}
    values = sorted(values)

    def quantile(percent: int) -> int:
        return values[max(0, -(-len(values) * percent // 100) - 1)]

    return {
        "mean": round(sum(values) / len(values), 2),
        "p10": quantile(10),
        "median": quantile(50),
        "p90": quantile(90),
        "max": values[-1],
    }


def _types(problems: Sequence[tuple[Problem, Run]]) -> dict[str, int]:
    counts = Counter(type(ast.literal_eval(problem.output)).__name__ for problem, _ in problems)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
