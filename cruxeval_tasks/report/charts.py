"""The page's charts, drawn by Matplotlib as SVG that takes its colours and fonts from the page."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from cruxeval_tasks.passk import Estimate
from cruxeval_tasks.report.data import Feature, Pair

SERIES = 8
"""Colours and marks after which they begin again."""

MARKS = "●■▲◆▼✚✖★"
"""How text shows the marks of the series."""

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

# Matplotlib knows no variables: charts are drawn in these colours, and each is then replaced by a variable of the page.
_COLOURS = {
    "#0a0b01": "--ink",
    "#0a0b02": "--muted",
    "#0a0b03": "--line",
    "#0a0b04": "--page",
    **{f"#0a0c{number:02x}": f"--series-{number}" for number in range(SERIES)},
    **{f"#0a0d{number:02x}": f"--status-{number}" for number in range(9)},
}
_INK, _MUTED, _LINE, _PAGE = list(_COLOURS)[:4]

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"

_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text, in the page's font
    "svg.hashsalt": "cruxeval",
    "text.parse_math": False,  # a `$` in a file's name is no formula
    "font.family": "DejaVu Sans",  # comes with Matplotlib and is wide: what is laid out for it fits in other fonts
    "font.size": 10.5,
    "text.color": _INK,
    "axes.edgecolor": _MUTED,
    "axes.labelcolor": _INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _LINE,
    "grid.linewidth": 0.8,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "figure.facecolor": "none",
}


def colour(number: int) -> str:
    """The page's name for the colour of a series."""
    return f"--series-{number % SERIES}"


def mark(number: int) -> str:
    """How text shows the mark of a series."""
    return MARKS[number % SERIES]


def places(name: str, others: Sequence[Pair], own: Sequence[tuple[Pair, int]]) -> str:
    """Input against output prediction: the published models as dots, the user's runs as marks, or as lines across where
    only one direction is known."""

    def draw(axes: Any) -> None:
        axes.plot([0, 100], [0, 100], color=_LINE, linewidth=1, zorder=1)
        for number, other in enumerate(others):
            if other.input is not None and other.output is not None:
                axes.plot(
                    [other.input], [other.output], "o", color=_MUTED, markersize=5, alpha=0.6, gid=f"other{number}"
                )
        for at, (pair, series) in enumerate(own):
            if pair.input is not None and pair.output is not None:
                point = {**_point(series), "markersize": 12, "markeredgecolor": _PAGE, "markeredgewidth": 1.5}
                axes.plot([pair.input], [pair.output], **point, zorder=5, gid=f"own{at}")
            elif pair.output is not None:
                axes.axhline(pair.output, color=_series(series), linewidth=1.8, zorder=4, gid=f"own{at}")
                axes.plot([2 + 5 * at % 90], [pair.output], **_point(series), markersize=9, zorder=5)
            elif pair.input is not None:
                axes.axvline(pair.input, color=_series(series), linewidth=1.8, zorder=4, gid=f"own{at}")
                axes.plot([pair.input], [2 + 5 * at % 90], **_point(series), markersize=9, zorder=5)
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 100)
        axes.set_aspect("equal")
        axes.set_xlabel("input prediction, pass@1 in percent")
        axes.set_ylabel("output prediction, pass@1 in percent")

    titles = {f"other{number}": _said(other) for number, other in enumerate(others)}
    titles.update({f"own{number}": _said(pair) for number, (pair, _) in enumerate(own)})
    return _svg(name, draw, 400, 400, titles)


def failures(name: str, shares: Sequence[Sequence[float]], labels: Sequence[str], colours: Sequence[int]) -> str:
    """What became of the samples: a bar for each run, a part for each status (`colours` has their numbers)."""

    def draw(axes: Any) -> None:
        for row, parts in enumerate(shares):
            left = 0.0
            for number, part in enumerate(parts):
                tint = f"#0a0d{colours[number]:02x}"
                axes.barh([row], [part], left=left, height=0.62, color=tint, edgecolor=_PAGE, linewidth=1.2,
                          gid=f"part{row}-{number}")  # fmt: skip
                left += part
        axes.set_yticks(range(len(shares)), [f"run {row + 1}" for row in range(len(shares))])
        axes.set_ylim(len(shares) - 0.5, -0.5)
        axes.set_xlim(0, 100)
        axes.set_xlabel("percent of the samples")
        axes.grid(axis="y", visible=False)

    titles = {
        f"part{row}-{number}": f"run {row + 1}: {labels[number]} {part:.1f} %"
        for row, parts in enumerate(shares)
        for number, part in enumerate(parts)
    }
    return _svg(name, draw, 400, 74 + 40 * len(shares), titles)


def curves(name: str, series: Sequence[tuple[int, Sequence[tuple[int, Estimate]]]]) -> str:
    """pass@k against k, with the interval as a band, for runs with their numbers."""

    def draw(axes: Any) -> None:
        for number, points in series:
            ks = [k for k, _ in points]
            low, high = [100 * e.low for _, e in points], [100 * e.high for _, e in points]
            axes.fill_between(ks, low, high, color=_series(number), alpha=0.15, linewidth=0)
            axes.plot(ks, [100 * e.value for _, e in points], **{**_point(number), "linestyle": "-"}, markersize=6)
        largest = max(k for _, points in series for k, _ in points)
        step = max(1, largest // 10)
        axes.set_xticks([1, *range(2 * step if step > 1 else 2, largest + 1, step)])
        axes.set_ylim(0, 100)
        axes.set_xlabel("k, samples drawn")
        axes.set_ylabel("pass@k, percent")

    return _svg(name, draw, 400, 300)


def feature(name: str, shown: Feature) -> str:
    """Pass rate against one figure, for each run."""

    def draw(axes: Any) -> None:
        number = len(shown.rates)
        for row, rates in enumerate(shown.rates):
            # Beside each other, so that their intervals do not cover one another.
            shift = (row - (number - 1) / 2) * min(0.12, 0.5 / number)
            known = [(at + shift, e) for at, e in enumerate(rates) if e is not None]
            at = [x for x, _ in known]
            ends = [[100 * (e.value - e.low) for _, e in known], [100 * (e.high - e.value) for _, e in known]]
            line = "none" if is_kind else "-"
            axes.errorbar(at, [100 * e.value for _, e in known], yerr=ends, **{**_point(row), "linestyle": line},
                          markersize=6, elinewidth=1.2, linewidth=1.4)  # fmt: skip
        axes.set_xticks(range(len(shown.groups)), [label for label, _ in shown.groups])
        axes.set_xlim(-0.5, len(shown.groups) - 0.5)
        axes.set_ylim(0, 100)
        axes.set_xlabel(shown.name)
        axes.set_ylabel("pass@1, percent")
        axes.grid(axis="x", visible=False)

    is_kind = shown.name == "Type of the output"
    return _svg(name, draw, 370, 270)


def _series(number: int) -> str:
    return f"#0a0c{number % SERIES:02x}"


def _point(number: int) -> dict[str, Any]:
    return {"color": _series(number), "marker": _MARKERS[number % SERIES], "linestyle": "none"}


def _said(pair: Pair) -> str:
    sides = (("input", pair.input), ("output", pair.output))
    return f"{pair.name}: " + ", ".join(f"{side} {value:.1f} %" for side, value in sides if value is not None)


# --- SVG ---


def _svg(name: str, draw: Callable[[Any], None], width: int, height: int, titles: dict[str, str] | None = None) -> str:
    """Draw, and return the SVG element. It is hidden from screen readers: the page gives its figures as a table.

    Args:
        name: Its ids begin with this.
        draw: Draws on Matplotlib's axes.
        width: In CSS pixels.
        height: In CSS pixels.
        titles: For ids that were given as `gid`, what a pointer over them shows.
    """
    file = io.BytesIO()
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of characters that the font used for measuring lacks
        figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    root = ET.fromstring(file.getvalue())
    _strip(root, name, titles or {})
    root.attrib.pop("version", None)
    root.set("width", str(width))
    root.set("height", str(height))
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    ET.register_namespace("", _SVG)
    text = ET.tostring(root, encoding="unicode")
    for drawn, variable in _COLOURS.items():
        text = text.replace(drawn, f"var({variable})")
    return text


def _strip(root: ET.Element, name: str, titles: dict[str, str]) -> None:
    """Drop what only matters to a file of its own, and make ids unique in the page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style") or _is_global_style(child):
                parent.remove(child)
    written = ET.tostring(root, encoding="unicode")
    used = set(re.findall(r"(?:href=\"#|url\(#)([^\")]+)", written))
    for element in root.iter():
        identifier = element.attrib.pop("id", None)
        if identifier in titles:
            title = ET.Element(f"{{{_SVG}}}title")
            title.text = titles[str(identifier)]
            element.insert(0, title)
        if identifier in used:
            element.set("id", f"{name}-{identifier}")
        for attribute in (_HREF, "clip-path"):
            value = element.attrib.pop(attribute, None)
            if value is not None:
                changed = value.replace("#", f"#{name}-")
                element.set("href" if attribute == _HREF else attribute, changed)
        style = element.get("style")
        if style is not None:
            # The font is the page's; its size, weight and anchor are kept.
            style = re.sub(r"font:\s*(?:[a-z0-9]+ )*?([0-9.]+px)[^;]*", r"font-size: \1", style)
            element.set("style", re.sub(r"font-family:[^;]*;?", "", style))


def _is_global_style(element: ET.Element) -> bool:
    return element.tag == f"{{{_SVG}}}defs" and [child.tag for child in element] == [f"{{{_SVG}}}style"]
