"""The page: figures and their tables put into the template.

Whatever comes from files passes the template's escaping, or is data that the page's script writes as text. A policy in
the page allows its one script, by digest, and no connection anywhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup
from pygments.formatters import HtmlFormatter

from cruxeval_tasks import leaderboard
from cruxeval_tasks.judging.judge import Status
from cruxeval_tasks.passk import Estimate
from cruxeval_tasks.problems import PUBLISHED_DIGEST
from cruxeval_tasks.report import charts, confidence, data, difficulty, payload
from cruxeval_tasks.report.data import Report
from cruxeval_tasks.terminal import visible

_EXCEPTIONS = 8  # kinds that are named for each run
_STATUS_NUMBERS = {status: number for number, status in enumerate(Status)}


@dataclass(frozen=True)
class Figure:
    """A chart with its figures as a table.

    Attributes:
        key: Identifies it in the page.
        title: What it shows.
        note: How to read it.
        svg: The drawing.
        header: Titles of the table's columns.
        rows: The table's rows, the first cell of each its header.
        legend: Of each run shown in it the number, and what to call it.
        statuses: For each status shown in it, its number and name.
    """

    key: str
    title: str
    note: str
    svg: Markup
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    legend: Sequence[tuple[int, str]] = ()
    statuses: Sequence[tuple[int, str]] = ()


def render(report: Report) -> str:
    """Return the page as HTML."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # In a template's place text is shown as `visible` makes it; markup made here passes as it is.
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    packed, left_out = payload.pack(report)
    script = _template("page.js")
    return environment.get_template("page.html.j2").render(
        script=Markup(script),
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=Markup(_template("page.css") + _highlighting()),
        packed=Markup(packed),
        left_out=left_out,
        runs=[_run(report, number) for number in range(len(report.runs))],
        ks=_ks(report),
        figures=_figures(report),
        directions=sorted({run.direction for run in report.runs}, reverse=True),
        problems=len(report.problems),
        statuses=[status.value for status in data.statuses(report.runs)],
        types=sorted({facts.value_type for facts in report.facts.values()}),
        can_differ=data.can_differ(report.runs),
        few=difficulty.FEW,
        traced=bool(report.executed),
        not_traced=report.not_traced,
        versions=confidence.versions(),
        source=leaderboard.SOURCE,
    )


def _template(name: str) -> str:
    return (files("cruxeval_tasks.report") / "templates" / name).read_text(encoding="utf-8")


def _highlighting() -> str:
    """The styles of highlighted code, for light and for dark."""
    rules = []
    for scheme, style in (("light", "default"), ("dark", "github-dark")):
        formatter: Any = HtmlFormatter(style=style)
        # The page has its own background, and no line numbers.
        kept = [line for line in formatter.get_style_defs(".code").splitlines() if line.startswith(".code .")]
        rules += [f"@media (prefers-color-scheme: {scheme}) {{", *kept, "}"]
    return "\n".join(rules)


def _ks(report: Report) -> list[int]:
    return sorted({k for run in report.runs for k in run.score.usual_k()})


def _run(report: Report, number: int) -> dict[str, Any]:
    run = report.runs[number]
    score = run.score
    low, high = score.samples
    return {
        "name": run.name,
        "number": number + 1,
        "mark": charts.mark(number),
        "colour": charts.colour(number),
        "direction": run.direction,
        "problems": len(score.verdicts),
        "samples": str(low) if low == high else f"{low}–{high}",
        "pass_at": {k: _interval(score.pass_at(k)) for k in score.usual_k()},
        "answered": f"{100 * score.answered.value:.1f}",
        "rank": data.rank(run) if run.is_published_set else None,
        "exceptions": list(score.exceptions.items())[:_EXCEPTIONS],
        "doubts": confidence.doubts(score),
        "grave": [doubt for doubt in confidence.doubts(score) if doubt.grave],
        "particulars": confidence.particulars(score),
        "is_published": score.matched.digest == PUBLISHED_DIGEST,
    }


def _interval(value: Estimate) -> tuple[str, str]:
    return f"{100 * value.value:.1f}", f"{100 * value.low:.1f}–{100 * value.high:.1f}"


# --- figures ---


def _figures(report: Report) -> dict[str, list[Figure]]:
    makers: dict[str, Callable[[Report], list[Figure]]] = {
        "place": _places,
        "failures": _failures,
        "curve": _curves,
        "features": _features,
    }
    return {name: make(report) for name, make in makers.items()}


def _titles(report: Report) -> list[str]:
    """The runs as the head of a table's columns or rows."""
    return [f"run {number}: {run.name}" for number, run in enumerate(report.runs, start=1)]


def _places(report: Report) -> list[Figure]:
    own = data.placed(report.runs)
    if not own:
        return []
    others = data.published()
    svg = charts.places("place", others, [(pair, numbers[0]) for pair, numbers in own])
    rows: list[tuple[data.Pair, str]] = [(pair, "") for pair in others]
    rows += [(pair, " ◀ " + " and ".join(f"run {number + 1}" for number in numbers)) for pair, numbers in own]
    rows.sort(key=lambda row: -max(row[0].output or 0, row[0].input or 0))
    alone = any(pair.input is None or pair.output is None for pair, _ in own)
    note = "Grey dots are the published models. Above the diagonal, predicting outputs is the easier direction for a model."
    if alone:
        note += " A run of one direction only is a line across: where it crosses the dots are its peers."
    return [
        Figure(
            "place",
            "Among the published models",
            note,
            Markup(svg),
            ["model", "input, pass@1 %", "output, pass@1 %"],
            [[pair.name + said, _percent(pair.input), _percent(pair.output)] for pair, said in rows],
            legend=[(numbers[0], " and ".join(f"run {number + 1}" for number in numbers)) for _, numbers in own],
        )
    ]


def _failures(report: Report) -> list[Figure]:
    statuses = data.statuses(report.runs)
    shares = [[data.shares(run)[status] for status in statuses] for run in report.runs]
    names = [_words(status) for status in statuses]
    numbers = [_STATUS_NUMBERS[status] for status in statuses]
    return [
        Figure(
            "failures",
            "What became of the samples",
            "Only passed counts. No answer, malformed and rejected are answers that could not be taken at all.",
            Markup(charts.failures("failures", shares, names, numbers)),
            ["percent of the samples", *names],
            [[title, *map(_percent, part)] for title, part in zip(_titles(report), shares, strict=True)],
            statuses=list(zip(numbers, names, strict=True)),
        )
    ]


def _curves(report: Report) -> list[Figure]:
    series = [(number, data.curve(run)) for number, run in enumerate(report.runs) if run.score.samples[0] > 1]
    if not series:
        return []
    largest = max(len(points) for _, points in series)
    titles = _titles(report)
    rows = []
    for number, points in series:
        cells = [f"{100 * value.value:.1f} ({100 * value.low:.1f}–{100 * value.high:.1f})" for _, value in points]
        rows.append([titles[number], *cells, *[""] * (largest - len(cells))])
    note = "The chance that one of k samples passes, by the unbiased estimator. The band is the 95 % interval over problems."
    if len(series) < len(report.runs):
        note += " Runs of one sample for each problem have no curve."
    return [
        Figure(
            "curve",
            "More samples",
            note,
            Markup(charts.curves("curve", series)),
            ["pass@k %", *(f"k = {k}" for k in range(1, largest + 1))],
            rows,
            legend=[(number, f"run {number + 1}") for number, _ in series],
        )
    ]


def _features(report: Report) -> list[Figure]:
    made = []
    for number, feature in enumerate(data.features(report)):
        rows = []
        for at, (label, count) in enumerate(feature.groups):
            cells = [rates[at] for rates in feature.rates]
            rows.append([label, str(count), *("" if e is None else " (".join(_interval(e)) + ")" for e in cells)])
        made.append(
            Figure(
                f"feature{number}",
                feature.name,
                "",
                Markup(charts.feature(f"feature{number}", feature)),
                [feature.name.lower(), "problems", *_titles(report)],
                rows,
                legend=[(at, f"run {at + 1}") for at in range(len(report.runs))],
            )
        )
    return made


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _words(status: Status) -> str:
    return status.value.replace("_", " ")
