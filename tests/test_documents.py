"""What the documents say of the project holds: names, versions, links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import cruxeval_tasks
from cruxeval_tasks.registration import _stubs

ROOT = Path(__file__).parents[1]
DOCUMENTS = [path for folder in (ROOT, ROOT / "docs", ROOT / "task_configs") for path in sorted(folder.glob("*.md"))]
NAMES = {Path(file).stem for file in _stubs()}


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and GitLab make it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    for link in links:
        if link.startswith(("http://", "https://")):
            continue
        path, _, fragment = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        if fragment:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert fragment in map(anchor, headings), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_and_make_targets_that_are_named_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for said in re.findall(r"(?<![\w/.])((?:scripts|tests|benchmarks|cruxeval_tasks|docs)/[\w/-]*(?:\.\w+|/))", text):
        assert (ROOT / said).exists(), said
    for said in re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE):
        assert said in targets, said


def test_every_task_is_named_in_its_readme() -> None:
    said = set(re.findall(r"`(cruxeval_[a-z0-9_]+|cruxeval)`", (ROOT / "task_configs" / "README.md").read_text()))
    assert said == NAMES


def test_the_readme_has_every_suffix() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        suffix = re.sub(r"^cruxeval(_[oi](?=_|$))?", "", name)
        assert f"`{suffix}`" in text or not suffix, name


def test_one_version_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == cruxeval_tasks.__version__
    heading = re.search(r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading is not None
    assert heading.groups() == (cruxeval_tasks.__version__, str(citation["date-released"]))
