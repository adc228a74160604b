"""Reports for the tests: small runs on problems written here, with texts that would break a page if they could."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from runs import SMOKE, gold, host_row, write_rows, wrong

from cruxeval_tasks.cli import main
from cruxeval_tasks.problems import Problem

RUN = "window.pwned = 1"

HOSTILE_ID = f'"><script>{RUN}</script>'

HOSTILE = {
    "script": f"</script><script>{RUN}</script>",
    "comment": f"<!--<script>{RUN}</script>",
    "image": f"<img src=x onerror='{RUN}'>",
    "template": "{{ 7 * 191 }}{% raw %}",
    "separators": "a\u2028b\u2029c",
    "bidi": "a\u202eb\u2066c\u200bd",
    "null": "a\x00b\x1b[31mc",
    "surrogate": "a\ud800b",
    "entity": "&lt;b&gt; &amp; &#x202e;",
}

PROBLEMS = [
    *SMOKE[:12],
    Problem(HOSTILE_ID, f"def f(x):\n    # </script><script>{RUN}</script>\n    return x", "'<b>'", "'<b>'"),
]

LONG = "x" * 500_000 + "y" * 500_000


def hostile_text(problem: Problem, text: str) -> str:
    return f"{text}\n{gold(problem)}"


def make_report(folder: Path) -> Path:
    """Three runs: output (with prompts, hostile), output (another one), input. Return the page."""
    problems = write_rows(folder / "problems.jsonl", [vars(problem) for problem in PROBLEMS])
    names = list(HOSTILE)
    rows = []
    for number, problem in enumerate(PROBLEMS):
        text = LONG if number == 1 else HOSTILE[names[number % len(names)]]
        rows.append(host_row(problem, [hostile_text(problem, text), wrong(problem), wrong(problem)]))
    first = write_rows(folder / f"<img src=x onerror='{RUN.replace(' ', '')}'>_output.jsonl", rows)
    second = [{"id": p.id, "completions": [gold(p)] * 3} for p in PROBLEMS]
    third = [{"id": p.id, "completion": gold(p) if n % 2 else "f(object())"} for n, p in enumerate(PROBLEMS)]
    files = [
        first,
        write_rows(folder / "plain_output.jsonl", second),
        write_rows(folder / "plain_input.jsonl", third),
    ]
    page = folder / "report.html"
    arguments = ["report", *map(str, files), "--problems", str(problems), "-o", str(page)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return page


def unpacked(html: str) -> dict[str, Any]:
    """The data that a page carries."""
    found = re.search(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]+)</script>', html)
    assert found is not None
    body: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(found[1])))
    return body
