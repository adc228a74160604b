"""The authors' prompts, mostly with a stand-in file of the same shape and other words."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from cruxeval_tasks import published
from cruxeval_tasks.published import Kind, PublishedPromptsError, prompt

SHARED = Path(__file__).parents[1] / ".." / "shared"
REPOSITORY = os.environ.get("CRUXEVAL_REPO", "")

STAND_IN = '''
raise SystemExit("this file must not be run")

def make_direct_output_prompt(s):
    code, input = s
    return f"""What comes out? {{braces}}
{code}
f({input}) is """

def make_cot_output_prompt(s):
    code, input = s
    return f"Slowly: {code} of {input}, again {input}"

def make_direct_output_prompt_phind(s):
    code, input = s
    return f"{code}{input}"

def make_direct_input_prompt(s):
    code, output = s
    return f"""What goes in?
{code}
for {output}
"""

def make_cot_input_prompt(s):
    code, output = s
    return f"Slowly: {output} from {code}"
'''


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No checkout and no cache from outside, and nothing remembered from one test to the next."""
    monkeypatch.delenv("CRUXEVAL_REPO", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    published._template.cache_clear()
    yield
    published._template.cache_clear()


def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str = STAND_IN, *, known: bool = True) -> Path:
    """Make a checkout whose prompts.py is `source`, and have its digest taken for the authors' if `known`."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "prompts.py").write_text(source)
    monkeypatch.setenv("CRUXEVAL_REPO", str(folder))
    if known:
        monkeypatch.setattr(published, "SHA256", hashlib.sha256(source.encode()).hexdigest())
    return folder


def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_prompts_are_filled_in_without_running_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout(tmp_path, monkeypatch)
    code, given = "def f(x):\n    return '{x}'", "'{given}', {code}"
    assert prompt("output_direct", code, given) == f"What comes out? {{braces}}\n{code}\nf({given}) is "
    assert prompt("output_cot", code, given) == f"Slowly: {code} of {given}, again {given}"
    assert prompt("output_phind", code, given) == code + given
    assert prompt("input_direct", code, given) == f"What goes in?\n{code}\nfor {given}\n"
    assert prompt("input_cot", code, given) == f"Slowly: {given} from {code}"


def test_the_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = checkout(tmp_path, monkeypatch)
    before = prompt("input_cot", "a", "b")
    (folder / "prompts.py").unlink()
    assert prompt("input_cot", "c", "d") == before.replace("b from a", "d from c")


def test_a_file_with_another_digest_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout(tmp_path, monkeypatch, known=False)
    with pytest.raises(PublishedPromptsError, match=r"checkout/prompts\.py is not the authors'.*git clone"):
        prompt("input_cot", "", "")


def test_a_checkout_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRUXEVAL_REPO", str(tmp_path / "nowhere"))
    with pytest.raises(PublishedPromptsError, match=r"cannot read .*nowhere/prompts\.py \(No such file.*CRUXEVAL_REPO"):
        prompt("input_cot", "", "")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("def make_cot_input_prompt(s):\n    code, output = s\n    return 'plain'", "more than unpack"),
        ("def make_cot_input_prompt(s):\n    code, output = s\n    print(s)\n    return f'{code}'", "more than unpack"),
        ("def make_cot_input_prompt(s):\n    code, output = s\n    return f'{code.strip()}'", r"formats .*code\.strip"),
        ("def make_cot_input_prompt(s):\n    code, output = s\n    return f'{code!r}'", "formats"),
        ("def make_cot_input_prompt(s):\n    code, output = s\n    return f'{output:>9}'", "formats"),
        ("def make_cot_input_prompt(s):\n    code, output = s\n    return f'{other}'", "formats"),
        ("def another(s):\n    pass", "make_cot_input_prompt"),
        ("def make_cot_input_prompt(s:", "make_cot_input_prompt"),
    ],
)
def test_a_file_of_another_shape_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, why: str
) -> None:
    checkout(tmp_path, monkeypatch, function)
    with pytest.raises(PublishedPromptsError, match=f"not of the known shape.*{why}"):
        prompt("input_cot", "", "")


def test_without_a_network_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    no_network(monkeypatch)
    with pytest.raises(PublishedPromptsError, match=r"cannot get .*raw\.githubusercontent.*CRUXEVAL_REPO"):
        prompt("input_cot", "", "")


def test_the_cache_serves_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pooch

    no_network(monkeypatch)
    monkeypatch.setattr(published, "SHA256", hashlib.sha256(STAND_IN.encode()).hexdigest())
    cache = Path(pooch.os_cache("cruxeval-tasks"))
    assert tmp_path in cache.parents
    cache.mkdir(parents=True)
    (cache / "prompts.py").write_text(STAND_IN)
    assert prompt("output_phind", "x", "y") == "xy"


def test_a_download_with_another_digest_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere.py").write_text(STAND_IN)
    monkeypatch.setattr(
        "pooch.core.choose_downloader", lambda *_, **__: lambda url, out, pup: Path(out).write_text(STAND_IN)
    )
    with pytest.raises(PublishedPromptsError, match=r"cannot get .*hash.*CRUXEVAL_REPO"):
        prompt("input_cot", "", "")


@pytest.mark.skipif(not REPOSITORY, reason="CRUXEVAL_REPO names no checkout of facebookresearch/cruxeval")
def test_all_published_prompts_have_their_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    if not SHARED.exists():
        pytest.skip(f"needs the digests and the 800 problems in {SHARED}")
    monkeypatch.setenv("CRUXEVAL_REPO", REPOSITORY)
    digests = json.loads((SHARED / "paper_prompts" / "digests.json").read_text())
    assert digests["prompts_py_sha256"] == published.SHA256
    problems = [json.loads(line) for line in (SHARED / "cruxeval" / "cruxeval.jsonl").read_text().splitlines()]
    assert len(problems) == 800
    assert set(digests["all_800_sha256"]) == set(get_args(Kind))
    for kind in get_args(Kind):
        field = "output" if kind.startswith("input") else "input"
        digest = hashlib.sha256()
        for p in problems:
            digest.update(prompt(kind, p["code"], p[field]).encode() + b"\0")
        assert digest.hexdigest() == digests["all_800_sha256"][kind], kind
