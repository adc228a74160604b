"""What the host's options do to these tasks."""

from __future__ import annotations

import logging
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from driver import by_question, gold, question, run
from scripted import Scripted

import cruxeval_tasks
from cruxeval_tasks.judging.judge import Judge
from cruxeval_tasks.problems import Problem

SMOKE_FILE = str(Path(cruxeval_tasks.__file__).parent / "smoke.jsonl")
SMOKE = {"problems": SMOKE_FILE}
HOST = version("lm_eval")


def knowing(problems: list[Problem], direction: str = "o") -> Scripted:
    return Scripted(by_question(problems, direction, gold))


def half_right(problems: list[Problem]) -> Scripted:
    """A model whose completions of one prompt are right and wrong by turns, each with a comment of its own."""
    right = {question(p, "o"): gold(p) for p in problems}

    def reply(asked: str, times: int) -> str:
        text = right[asked] if times % 2 == 0 else "assert f() == 'wrong'\n[/ANSWER]"
        return text.replace("\n[/ANSWER]", f"  # sample {times}\n[/ANSWER]", 1)

    return Scripted(reply)


def test_limit(smoke: list[Problem]) -> None:
    model = knowing(smoke)
    results = run("cruxeval_o_smoke", model, limit=3)
    assert len(model.requests) == 3
    assert results["n-samples"]["cruxeval_o_smoke"]["effective"] == 3
    assert results["results"]["cruxeval_o_smoke"]["pass@1,answer"] == 1.0


@pytest.mark.parametrize("chosen", [[2, 5, 11], [11, 2, 5]])
def test_samples_are_scored_against_their_own_problem(smoke: list[Problem], chosen: list[int]) -> None:
    """The host mixes up `doc_id` where the numbers are not sorted; the problem's own id is right."""
    wrong_one = smoke[5]
    script = by_question(smoke, "o", lambda p: "assert f() == 'wrong'" if p is wrong_one else gold(p))
    results = run("cruxeval_o_smoke", Scripted(script), samples={"cruxeval_o_smoke": chosen}, log_samples=False)
    assert results["results"]["cruxeval_o_smoke"]["pass@1,answer"] == pytest.approx(2 / 3)


def test_samples_are_logged_with_the_problem_and_its_answer(smoke: list[Problem]) -> None:
    logged = run("cruxeval_o_smoke", knowing(smoke))["samples"]["cruxeval_o_smoke"]
    assert [s["doc"]["id"] for s in logged] == [p.id for p in smoke]
    for sample, problem in zip(logged, smoke, strict=True):
        assert sample["target"] == f"assert f({problem.input}) == {problem.output}\n[/ANSWER]"
        assert sample["filtered_resps"] == [[problem.output]]
        assert (sample["pass@1"], sample["answered"]) == (1.0, 1.0)
    assert any(p.output.startswith("[") for p in smoke)  # which the host reads as a list where it is the whole target


def test_no_answer_is_logged_as_empty(smoke: list[Problem]) -> None:
    """Not as None, which the host's log spells like the answer None."""
    logged = run("cruxeval_o_smoke", Scripted(lambda *_: "I do not know."), limit=1)["samples"]["cruxeval_o_smoke"]
    assert logged[0]["filtered_resps"] == [[""]]


def test_standard_errors_are_the_hosts(smoke: list[Problem]) -> None:
    script = by_question(smoke, "o", lambda p: gold(p) if int(p.id.rsplit("_", 1)[1]) % 2 else "assert f() == 'wrong'")
    metrics = run("cruxeval_o_smoke", Scripted(script), bootstrap_iters=100)["results"]["cruxeval_o_smoke"]
    n, p = len(smoke), metrics["pass@1,answer"]
    assert 0 < p < 1
    assert metrics["pass@1_stderr,answer"] == pytest.approx((p * (1 - p) / (n - 1)) ** 0.5)
    assert metrics["answered_stderr,answer"] == 0.0


def test_gen_kwargs(smoke: list[Problem]) -> None:
    model = knowing(smoke)
    run("cruxeval_o_chat", model, metadata=SMOKE, limit=1, gen_kwargs={"max_gen_toks": 32768, "temperature": 0.6})
    ((_, arguments),) = model.requests
    assert (arguments["max_gen_toks"], arguments["temperature"], arguments["until"]) == (32768, 0.6, [])


class TestPredictOnly:
    @pytest.mark.parametrize("task", ["cruxeval_o_smoke", "cruxeval_i_smoke"])
    def test_judges_nothing(self, task: str, smoke: list[Problem], monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: Any) -> None:
            raise AssertionError("an answer was judged")

        direction = task.removeprefix("cruxeval_")[0]
        monkeypatch.setattr(Judge, "judge", refuse)
        results = run(task, knowing(smoke, direction), predict_only=True, limit=5)
        assert "pass@1,answer" not in results["results"][task]
        assert [s["resps"] for s in results["samples"][task]] == [[[gold(p).split("[/ANSWER]")[0]]] for p in smoke[:5]]


class TestSampling:
    def test_all_ten_samples_count(self, smoke: list[Problem]) -> None:
        model = half_right(smoke)
        metrics = run("cruxeval_o_n10", model, metadata=SMOKE, limit=4)["results"]["cruxeval_o_n10"]
        assert len(model.requests) == 40
        assert metrics["pass@1,answer"] == 0.5
        assert metrics["pass@5,answer"] == pytest.approx(1 - 1 / 252)  # one draw of 5 of 10 holds the 5 wrong ones
        assert metrics["pass@10,answer"] == 1.0
        assert metrics["answered,answer"] == 1.0

    def test_use_cache_does_not_make_them_one(self, smoke: list[Problem], tmp_path: Path) -> None:
        for _ in range(2):
            model = half_right(smoke)
            results = run("cruxeval_o_n10", model, metadata=SMOKE, limit=2, use_cache=str(tmp_path / "cache"))
            assert results["results"]["cruxeval_o_n10"]["pass@1,answer"] == 0.5
            for sample in results["samples"]["cruxeval_o_n10"]:
                assert len(set(sample["resps"][0])) == 10

    def test_use_cache_serves_greedy_completions(self, smoke: list[Problem], tmp_path: Path) -> None:
        asked = []
        for _ in range(2):
            model = knowing(smoke)
            results = run("cruxeval_o_smoke", model, limit=3, use_cache=str(tmp_path / "cache"))
            asked.append(len(model.requests))
            assert results["results"]["cruxeval_o_smoke"]["pass@1,answer"] == 1.0
        assert asked == [3, 0]

    def test_more_k_than_samples_ends_before_the_model_is_asked(self, smoke: list[Problem]) -> None:
        model = half_right(smoke)
        with pytest.raises(ValueError, match=r"pass@20 needs at least 20 samples .* there are 10"):
            run("cruxeval_o_n10", model, metadata={**SMOKE, "k": [1, 20]}, limit=1)
        assert not model.requests

    def test_k_from_the_command(self, smoke: list[Problem]) -> None:
        metrics = run("cruxeval_o_n10", half_right(smoke), metadata={**SMOKE, "k": [2]}, limit=2)["results"]
        passed = {name.split(",")[0] for name in metrics["cruxeval_o_n10"] if name.startswith("pass@")}
        assert passed == {"pass@2", "pass@2_stderr"}
        assert metrics["cruxeval_o_n10"]["pass@2,answer"] == pytest.approx(1 - 10 / 45)


@pytest.fixture
def hundred(tmp_path: Path) -> Path:
    """A task of a user's own: one of ours with another number of samples, as parts/n10.yml says."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"include: {cruxeval_tasks.TASK_CONFIGS}/cruxeval_o_n10.yaml\n"
        "task: cruxeval_o_n100\nrepeats: 100\nmetadata: {version: 1.0, k: [1, 10, 100]}\n"
    )
    return path


class TestOwnNumberOfSamples:
    def test_metrics_follow_repeats_and_k(self, smoke: list[Problem], hundred: Path) -> None:
        model = half_right(smoke)
        results = run(str(hundred), model, metadata=SMOKE, limit=2, bootstrap_iters=100)["results"]["cruxeval_o_n100"]
        assert len(model.requests) == 200
        assert {name for name in results if name.startswith("pass@")} == {
            f"pass@{k}{suffix},answer" for k in (1, 10, 100) for suffix in ("", "_stderr")
        }
        assert results["pass@1,answer"] == 0.5
        assert 0.999 < results["pass@10,answer"] < 1.0
        assert results["pass@100,answer"] == 1.0
        assert results["pass@10_stderr,answer"] == 0.0

    def test_more_k_than_samples(self, smoke: list[Problem], hundred: Path) -> None:
        hundred.write_text(hundred.read_text().replace("repeats: 100", "repeats: 50"))
        with pytest.raises(ValueError, match="pass@100 needs at least 100 samples of each problem, and there are 50"):
            run(str(hundred), half_right(smoke), metadata=SMOKE, limit=1)


def test_cache_requests(smoke: list[Problem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path))
    asked = []
    for _ in range(2):
        model = knowing(smoke)
        results = run("cruxeval_o_smoke", model, cache_requests=True)
        asked.append(model.requests)
        assert results["results"]["cruxeval_o_smoke"]["pass@1,answer"] == 1.0
    assert list(tmp_path.iterdir())
    assert asked[0] == asked[1]


@pytest.mark.skipif(HOST >= "0.5", reason="host 0.5 takes the problems from its cache as well, and shows no new ones")
def test_cached_requests_of_another_problem_set_are_refused(
    smoke: list[Problem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path / "cache"))
    other = tmp_path / "other.jsonl"
    other.write_text("".join(Path(SMOKE_FILE).read_text().splitlines(keepends=True)[5:8]))
    run("cruxeval_o", knowing(smoke), metadata=SMOKE, cache_requests=True)
    with pytest.raises(ValueError, match="--cache_requests refresh"):
        run("cruxeval_o", knowing(smoke), metadata={"problems": str(other)}, cache_requests=True)


def test_write_out(smoke: list[Problem], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="lm_eval"):
        run("cruxeval_o_smoke", knowing(smoke), write_out=True, limit=1)
    assert question(smoke[0], "o") in caplog.text


def test_seed_changes_no_prompt(smoke: list[Problem]) -> None:
    models = [knowing(smoke), knowing(smoke)]
    for model, seed in zip(models, (1, 2), strict=True):
        seeds = dict.fromkeys(("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed"), seed)
        run("cruxeval_o_smoke", model, limit=5, num_fewshot=2, **seeds)
    assert models[0].requests == models[1].requests


def test_likelihood(smoke: list[Problem]) -> None:
    """The scripted model gives each byte two bits, and calls nothing greedy."""
    for task in ("cruxeval_o_bpb", "cruxeval_i_bpb"):
        metrics = run(task, Scripted(lambda *_: ""), metadata=SMOKE, bootstrap_iters=100)["results"][task]
        assert metrics["gold_bits_per_byte,none"] == pytest.approx(2.0)
        assert metrics["gold_greedy,none"] == 0.0
        assert metrics["gold_bits_per_byte_stderr,none"] == pytest.approx(0.0, abs=1e-9)


def config(task: str) -> Any:
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=cruxeval_tasks.TASK_CONFIGS, include_defaults=False, metadata=SMOKE)
    return manager.load([task])["tasks"][task].config


def generating() -> list[str]:
    names = (path.stem for path in Path(cruxeval_tasks.TASK_CONFIGS).glob("cruxeval_?*.yaml"))
    return sorted(n for n in names if n.startswith(("cruxeval_o", "cruxeval_i")) and "bpb" not in n)


@pytest.mark.parametrize("task", [t for t in generating() if "paper" not in t])
def test_generation_settings(task: str) -> None:
    loaded = config(task)
    settings = loaded.generation_kwargs
    assert settings["until"] == ([] if task.endswith("_chat") else ["[/ANSWER]"])
    assert loaded.gen_prefix is None
    assert not loaded.unsafe_code
    assert settings["do_sample"] == (loaded.repeats > 1)
    if loaded.repeats > 1:
        assert (settings["top_k"], settings["seed"], settings["top_p"]) == (0, None, 0.95)
    if not task.endswith("_chat"):
        assert settings["max_gen_toks"] < 2047  # from there on the host's local-completions sends an empty prompt
    assert loaded.metadata["repeats"] == loaded.repeats
    assert max(loaded.metadata["k"]) <= loaded.repeats
    metrics = {f"pass@{k}" for k in loaded.metadata["k"]} | {"answered"}
    assert {m["metric"] for m in loaded.metric_list} == metrics
