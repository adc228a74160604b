"""What the task definitions call, without the host."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from cruxeval_tasks import hooks
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.hooks import Answer
from cruxeval_tasks.judging.judge import IsolationError, Judge
from cruxeval_tasks.judging.pool import Pool
from cruxeval_tasks.problems import Problem, smoke_problems

pytest.importorskip("datasets")


def doc(problem: Problem, *, repeats: int | None = None, k: tuple[int, ...] = (1,)) -> dict[str, Any]:
    fields = {"id": problem.id, "code": problem.code, "input": problem.input, "output": problem.output}
    return {**fields, "settings": {"repeats": repeats, "k": list(k), "allow_unisolated": False}}


def given(problem: Problem, *answers: str) -> list[Answer]:
    return [Answer(answer, doc(problem)) for answer in answers]


@pytest.fixture
def problem() -> Problem:
    return Problem(id="p", code="def f(x):\n    return x + 1", input="2", output="3")


class TestDataSet:
    def test_has_the_problems_and_what_to_report(self) -> None:
        rows = list(hooks.smoke(executes="never", repeats=10, k=[1, 5], version=1.0, pretrained="a model")["test"])
        assert rows == [doc(p, repeats=10, k=(1, 5)) for p in smoke_problems()]

    def test_smoke_ignores_other_problems(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CRUXEVAL_PROBLEMS", "/nowhere")
        assert len(hooks.smoke(executes="never", problems="/nowhere")["test"]) == len(smoke_problems())

    @pytest.mark.parametrize("key", ["problem", "problms", "Problems", "repeat", "allow-unisolated", "allow_unisolate"])
    def test_a_misspelt_key_is_not_passed_over(self, key: str) -> None:
        for data_set in (hooks.benchmark, hooks.smoke):
            with pytest.raises(UserError, match=f"has no `{key}`: is `(problems|repeats|allow_unisolated)` meant"):
                data_set(executes="never", **{key: True})  # type: ignore[arg-type]

    def test_keys_of_other_tasks_and_of_the_model_are_none_of_ours(self) -> None:
        others = dict.fromkeys(("pretrained", "dtype", "max_seq_lengths", "probs", "allow_code_execution", "version"), 1)
        assert len(hooks.smoke(executes="never", **others)["test"]) == len(smoke_problems())  # type: ignore[arg-type]

    def test_k_may_be_one_number(self) -> None:
        assert hooks.smoke(executes="never", k=3)["test"][0]["settings"]["k"] == [3]  # type: ignore[arg-type]

    @pytest.mark.parametrize("k", [[11], [1, 11], [0], [-1]])
    def test_k_that_the_samples_do_not_allow(self, k: list[int]) -> None:
        with pytest.raises(UserError, match="pass@"):
            hooks.smoke(executes="never", repeats=10, k=k)

    @pytest.mark.parametrize("k", [[], ["1"], [1.5], [True], "1", None])
    def test_k_that_is_no_list_of_numbers(self, k: Any) -> None:
        with pytest.raises(UserError, match="`k` must be"):
            hooks.smoke(executes="never", k=k)

    @pytest.mark.parametrize("repeats", ["10", 10.0, 0, -1, True, [10]])
    def test_repeats_that_is_no_number_of_samples(self, repeats: Any) -> None:
        with pytest.raises(UserError, match="`repeats`"):
            hooks.smoke(executes="never", repeats=repeats)

    @pytest.mark.parametrize("allow", ["false", "true", "", 0, 1, [], None])
    def test_only_true_allows_to_run_without_isolation(self, allow: Any) -> None:
        """Most of these count as true in Python, the text "false" among them."""
        with pytest.raises(UserError, match=r"`allow_unisolated` .* must be true or false"):
            hooks.smoke(executes="sometimes", allow_unisolated=allow)


def _without_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(pool: Pool) -> dict[str, str]:
        if "landlock" in pool._layers:
            raise IsolationError("landlock: the kernel offers none")
        return dict.fromkeys(pool._layers, "put up")

    monkeypatch.setattr(Pool, "start", start)
    monkeypatch.setattr(hooks, "_judge", lambda allow_unisolated: Judge(allow_unisolated=allow_unisolated))


class TestWithoutIsolation:
    def test_tasks_that_always_execute_stop_before_anything_is_generated(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _without_isolation(monkeypatch)
        with pytest.raises(IsolationError, match=r"landlock.*allow_unisolated"):
            hooks.smoke(executes="always")

    def test_tasks_that_sometimes_execute_say_what_will_happen(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        _without_isolation(monkeypatch)
        assert hooks.smoke(executes="sometimes")["test"]
        assert "literals can be judged" in caplog.text
        assert "--predict_only" in caplog.text

    def test_problems_that_have_to_be_checked_say_that_it_is_they(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        _without_isolation(monkeypatch)
        path = tmp_path / "own.jsonl"
        path.write_text('{"id": "a", "code": "def f(x):\\n    return x", "input": "1", "output": "1"}\n')
        with pytest.raises(IsolationError, match=r"own\.jsonl: problems .* checked by running .*landlock"):
            hooks.benchmark(executes="sometimes", problems=str(path))

    def test_tasks_that_never_execute_are_silent(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        _without_isolation(monkeypatch)
        assert hooks.smoke(executes="never")["test"]
        assert not caplog.records

    def test_going_on_is_asked_for_by_name_and_said(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        _without_isolation(monkeypatch)
        rows = hooks.smoke(executes="always", allow_unisolated=True)["test"]
        assert rows[0]["settings"]["allow_unisolated"] is True
        assert "WITHOUT landlock" in caplog.text


class TestFilter:
    def test_takes_the_answer_of_its_direction(self, problem: Problem) -> None:
        text = "assert f(2) == 3\n"
        assert hooks.output_answers([[text]], [doc(problem)]) == [["3"]]
        assert hooks.input_answers([[text]], [doc(problem)]) == [["f(2)"]]

    def test_answers_travel_between_ranks(self, problem: Problem) -> None:
        ((answer,),) = hooks.output_answers([["assert f(2) == 3"]], [doc(problem)])
        received = pickle.loads(pickle.dumps(answer))
        assert (type(received), received, received.doc) == (Answer, "3", doc(problem))

    def test_no_answer_is_empty(self, problem: Problem) -> None:
        assert hooks.output_answers([["", "I do not know.", None]], [doc(problem)]) == [["", "", ""]]  # type: ignore[list-item]

    def test_cuts_what_padding_added(self, problem: Problem) -> None:
        docs = [doc(problem, repeats=2)] * 3
        resps = [["1", "2"], ["3", "4"], ["5", "6", "7", "8", "9", "10"]]
        assert hooks.output_answers(resps, docs) == [["1", "2"], ["3", "4"], ["5", "6"]]

    def test_cuts_what_padding_added_to_a_lone_problem(self, problem: Problem) -> None:
        resps = [["5", "6", "7", "8"]]
        assert hooks.output_answers(resps, [doc(problem, repeats=2)]) == [["5", "6"]]
        assert hooks.output_answers(resps, [doc(problem)]) == [["5", "6", "7", "8"]]

    def test_keeps_more_samples_than_the_metadata_says(self, problem: Problem) -> None:
        """A user may ask for others than the task's file does; all of them count."""
        resps = [["1", "2", "3"], ["4", "5", "6"]]
        assert hooks.output_answers(resps, [doc(problem, repeats=2)] * 2) == resps


class TestScoring:
    def test_shares(self, problem: Problem) -> None:
        answers = given(problem, "3", "4", "", "3.0", "f(", "4")
        metrics = hooks.output_results(doc(problem, k=(1, 2)), [answers])
        assert metrics == {"pass@1": 2 / 6, "pass@2": 1 - 6 / 15, "answered": 4 / 6}

    def test_input(self, problem: Problem) -> None:
        answers = given(problem, "f(2)", "f(x=2)", "f(3)", "f()")
        assert hooks.input_results(doc(problem), [answers]) == {"pass@1": 0.5, "answered": 1.0}

    def test_answers_may_come_without_a_list_around_them(self, problem: Problem) -> None:
        assert hooks.output_results(doc(problem), given(problem, "3", "5")) == {"pass@1": 0.5, "answered": 1.0}

    def test_too_few_samples(self, problem: Problem) -> None:
        with pytest.raises(ValueError, match="pass@5 needs at least 5 samples"):
            hooks.output_results(doc(problem, k=(1, 5)), [given(problem, *"3333")])

    def test_answers_to_another_problem(self, problem: Problem) -> None:
        other = Problem(id=problem.id, code=problem.code, input="5", output="6")
        with pytest.raises(ValueError, match=r"asked about another problem than p.*--cache_requests refresh"):
            hooks.output_results(doc(problem), [given(other, "6")])

    def test_completions_that_no_filter_saw_are_not_judged(
        self, problem: Problem, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        hooks._warn_unfiltered.cache_clear()
        monkeypatch.setattr(hooks, "_judge", lambda: pytest.fail("a judge was asked for"))
        assert hooks.output_results(doc(problem), ["3"]) == {}
        assert "Nothing is scored" in caplog.text


def test_likelihood(problem: Problem) -> None:
    continuation = "\nassert f(2) == 3\n[/ANSWER]"
    from math import log

    metrics = hooks.likelihood_results(doc(problem), [(-len(continuation) * log(8), True)])
    assert metrics == {"gold_bits_per_byte": pytest.approx(3.0), "gold_greedy": 1.0}
    assert hooks.gold_continuation(doc(problem)) == continuation


def test_likelihood_counts_bytes_not_characters() -> None:
    problem = Problem(id="p", code="def f(x):\n    return x", input="'ä'", output="'ä'")
    size = len("\nassert f('ä') == 'ä'\n[/ANSWER]") + 2
    from math import log

    assert hooks.likelihood_results(doc(problem), [(-size * log(2), False)]) == {
        "gold_bits_per_byte": pytest.approx(1.0),
        "gold_greedy": 0.0,
    }
