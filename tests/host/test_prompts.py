"""The prompts that the real host makes of the task definitions.

`golden/` has the prompt of each style for the first bundled problem, base and chat, to be read by people. After a meant
change, `UPDATE_GOLDEN=1 pytest tests/host/test_prompts.py` writes them anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from driver import STYLES, run
from lm_eval import tasks as host_tasks
from scripted import Scripted

import cruxeval_tasks
from cruxeval_tasks.judging.judge import Check, Judge
from cruxeval_tasks.problems import Problem

GOLDEN = Path(__file__).parent / "golden"
TASKS = Path(cruxeval_tasks.TASK_CONFIGS)
SMOKE = {"problems": str(Path(cruxeval_tasks.__file__).parent / "smoke.jsonl")}
RENDERED = Path(__file__).parents[2] / ".." / "shared" / "paper_prompts" / "rendered.jsonl"


def prompts(task: str, **options: Any) -> list[str]:
    """Return what the model is asked, about the first bundled problem or as many as `limit` says."""
    model = Scripted(lambda *_: "")
    run(task, model, metadata=SMOKE, **{"limit": 1, **options})
    return [request[0] for request in model.requests]


def prompt(task: str, **options: Any) -> str:
    (only,) = prompts(task, **options)
    return only


def check_golden(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text(), f"the prompt differs from {path}"


@pytest.mark.parametrize("task", STYLES)
class TestGolden:
    def test_base(self, task: str) -> None:
        check_golden(task, prompt(task))

    def test_chat(self, task: str) -> None:
        text = prompt(task, apply_chat_template=True, fewshot_as_multiturn=False)
        check_golden(f"{task}.chat", text)
        assert text.count("<|im_start|>user\n") == 1

    def test_chat_in_turns(self, task: str) -> None:
        text = prompt(task, apply_chat_template=True, fewshot_as_multiturn=True)
        check_golden(f"{task}.multiturn", text)
        examples = 0 if task.endswith("_chat") else 1 if task.endswith("_cot") else 2
        assert text.count("<|im_start|>user\n") == examples + 1
        assert text.count("<|im_start|>assistant\n") == examples + 1


@pytest.mark.parametrize("direction", ["o", "i"])
class TestExamples:
    @pytest.mark.parametrize("style", ["", "_cot", "_bpb"])
    def test_each_number_that_exists_makes_a_prompt_of_that_many(self, direction: str, style: str) -> None:
        available = 1 if style == "_cot" else 2
        texts = [prompt(f"cruxeval_{direction}{style}", num_fewshot=n) for n in range(available + 1)]
        for n, text in enumerate(texts):
            assert len(re.findall(r"^\[PYTHON\]$", text, re.MULTILINE)) == n + 1
            assert len(re.findall(r"^\[/ANSWER\]$", text, re.MULTILINE)) == n
        # Each longer prompt has one more example between the same beginning and the same end.
        instruction, question = texts[0].split("\n\n[PYTHON]\n", 1)
        for text in texts:
            assert text.startswith(instruction + "\n\n[PYTHON]\n")
            assert text.endswith("\n\n[PYTHON]\n" + question)

    def test_examples_have_the_form_of_the_question(self, direction: str) -> None:
        """Put an example in the place of the question: its prompt is where the example was cut off."""
        for style in ("", "_cot"):
            text = prompt(f"cruxeval_{direction}{style}")
            example, question = text.split("\n\n")[-2:]
            opening = "[THOUGHT]\n" if style else "[ANSWER]\n"
            form = re.compile(
                r"\[PYTHON\]\n.*\nassert f\((.*)\) == (.*)\n\[/PYTHON\]\n" + re.escape(opening), re.DOTALL
            )
            asked, shown = form.fullmatch(question), form.match(example)
            assert asked is not None
            assert shown is not None
            for match in (asked, shown):
                assert (match[2] if direction == "o" else match[1]) == "??"

    def test_more_than_exist_is_an_error(self, direction: str) -> None:
        for style, n in (("", 3), ("_cot", 2), ("_bpb", 3)):
            with pytest.raises(AssertionError, match=rf"exceeds the {n - 1} that are available"):
                prompt(f"cruxeval_{direction}{style}", num_fewshot=n)

    def test_without_examples_the_instruction_names_the_tags(self, direction: str) -> None:
        for style in ("", "_cot", "_bpb"):
            instruction = prompt(f"cruxeval_{direction}{style}", num_fewshot=0).split("\n\n")[0]
            for word in ("[PYTHON]", "[/PYTHON]", "[ANSWER]", "[/ANSWER]", "??"):
                assert word in instruction
            assert ("[THOUGHT]" in instruction) == (style == "_cot")

    def test_chat_tasks_take_none(self, direction: str) -> None:
        assert prompt(f"cruxeval_{direction}_chat", num_fewshot=2) == prompt(f"cruxeval_{direction}_chat")


def samples_in_the_definitions() -> list[dict[str, str]]:
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: node.value)
    found = []
    for path in sorted(TASKS.rglob("*.y*ml")):
        config = yaml.load(path.read_text(), Loader)
        found += (config.get("fewshot_config") or {}).get("samples", [])
    return found


def test_examples_are_true() -> None:
    samples = samples_in_the_definitions()
    assert len(samples) == 4  # two direct ones, and one step by step for each direction
    with Judge() as judge:
        verdicts = judge.judge(
            [Check(direction="input", code=s["code"], output=s["output"], answer=f"f({s['input']})") for s in samples]
        )
    assert all(v.passed for v in verdicts), verdicts


def test_system_instruction_comes_first() -> None:
    for task in STYLES:
        text = prompt(task, system_instruction="Be brief.", apply_chat_template=True)
        assert text.startswith("<|im_start|>system\nBe brief.")
        plain = prompt(task, system_instruction="Be brief.")
        assert plain.startswith("Be brief.")


def test_likelihood_task_reads_like_the_direct_one(smoke: list[Problem]) -> None:
    for direction in "oi":
        model = Scripted(lambda *_: "")
        run(f"cruxeval_{direction}_bpb", model, metadata=SMOKE, limit=1)
        ((context, continuation),) = model.requests
        assert context + "\n" == prompt(f"cruxeval_{direction}")
        assert continuation == f"\nassert f({smoke[0].input}) == {smoke[0].output}\n[/ANSWER]"


def sentences(text: str) -> set[str]:
    """Sentences and lines of six words or more, without regard to case, white space and punctuation."""
    parts = re.split(r"(?<=[.!?:])\s+|\n\n", text)
    words = [re.sub(r"[^\w\s]", "", part).lower().split() for part in parts]
    return {" ".join(w) for w in words if len(w) >= 6}


def test_words_are_our_own() -> None:
    """No sentence and no example of ours is the authors' or the host's."""
    theirs = " ".join(p.read_text() for p in (Path(host_tasks.__file__).parent / "cruxeval").glob("*.*"))
    if RENDERED.exists():
        theirs += " ".join(json.loads(line)["prompt"] for line in RENDERED.read_text().splitlines())
    assert len(theirs) > 1000
    flat = " ".join(re.sub(r"[^\w\s]", "", theirs).lower().split())
    ours = set().union(*(sentences(prompt(task, num_fewshot=0)) for task in STYLES))
    assert len(ours) > 20
    assert not [s for s in ours if s in flat]
    for sample in samples_in_the_definitions():
        for part in (sample["code"], f"assert f({sample['input']}) == {sample['output']}"):
            assert " ".join(re.sub(r"[^\w\s]", "", part).lower().split()) not in flat
