"""What the task definitions call: data set, filters, scoring. The only module that their YAML names.

The host calls these in this order: the data set when a task is loaded, the filter on all completions once they are
there, the scoring on one problem after the other. Filters run under `--predict_only` too, so they never judge.
"""

from __future__ import annotations

import atexit
import logging
import math
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from cruxeval_tasks.answers import input_answer, output_answer
from cruxeval_tasks.direction import Direction
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.judge import Check, IsolationError, Judge
from cruxeval_tasks.passk import pass_at_k
from cruxeval_tasks.problems import ProblemSet, load_problems, smoke_problems
from cruxeval_tasks.published import prompt

if TYPE_CHECKING:
    from datasets import Dataset

Doc = dict[str, Any]

Executes = Literal["always", "sometimes", "never"]
"""Whether an answer must be executed to be judged: a call of `f` always, a value only where it is no literal; with
"never" nothing is judged."""

_log = logging.getLogger(__name__)


class SettingsError(UserError, ValueError):
    """What a task's metadata asks for cannot be had. The message says what it may be."""


class Answer(str):
    """An answer that a filter took out of a completion; empty where there was none.

    The type tells it from a bare completion, which some versions of the host hand to the scoring under
    `--predict_only`. An empty text and not None, because the host logs None as the text "None", which is an answer.

    Attributes:
        doc: The problem whose prompt was completed.
    """

    doc: Doc

    def __new__(cls, text: str, doc: Doc) -> Answer:
        answer = super().__new__(cls, text)
        answer.doc = doc
        return answer

    def __getnewargs__(self) -> tuple[str, Doc]:  # type: ignore[override]
        """Let it be pickled: with several ranks the host gathers the samples that it logs."""
        return str(self), self.doc


# --- data sets ---


def benchmark(
    *,
    executes: Executes,
    problems: str | None = None,
    repeats: int | None = None,
    k: Sequence[int] = (1,),
    allow_unisolated: bool = False,
    **others: object,
) -> dict[str, Dataset]:
    """Return the problems under the split `test`, from the file `problems` or where `load_problems` finds them.

    Args:
        executes: Whether answers to the task need execution, from its `dataset_kwargs`.
        problems: JSONL file, from `--metadata '{"problems": PATH}'`.
        repeats: Samples of each problem, where the task's `metadata` repeats it: the host does not say it otherwise.
        k: The k of each pass@k to report, from the task's `metadata`.
        allow_unisolated: Judge without the layers of isolation that this machine lacks, from
            `--metadata '{"allow_unisolated": true}'`; the host keeps it with the results.
        others: The rest of the metadata and the model's arguments, which the host passes too.

    Raises:
        IsolationError: Answers always need execution, or the problems are not known and have to be run, and neither can
            be isolated here.
        ProblemSetError: The problems cannot be read, or one of them is bad.
        SettingsError: The metadata is of a wrong type, has a misspelt key, or asks for a pass@k that the number of
            samples does not give.
    """
    _refuse_misspelt(others)
    judge = _ready_judge(executes, allow_unisolated)
    return {"test": _dataset(load_problems(problems, judge=judge), repeats, k, allow_unisolated)}


def smoke(
    *,
    executes: Executes,
    repeats: int | None = None,
    k: Sequence[int] = (1,),
    allow_unisolated: bool = False,
    **others: object,
) -> dict[str, Dataset]:
    """Return the bundled problems under the split `test`, whatever problems are configured elsewhere; see `benchmark`."""
    _refuse_misspelt(others)
    _ready_judge(executes, allow_unisolated)
    return {"test": _dataset(smoke_problems(), repeats, k, allow_unisolated)}


def _refuse_misspelt(others: Iterable[str]) -> None:
    """Raise where a key looks like one of ours. Others may be another task's or the model's, but this one would be passed
    over in silence, and the published problems evaluated, say, in the place of the user's."""
    for key in others:
        for meant in get_close_matches(key, ("problems", "repeats", "allow_unisolated"), cutoff=0.8):
            if key != meant:
                raise SettingsError(f"the metadata of these tasks has no `{key}`: is `{meant}` meant?")


def _ready_judge(executes: Executes, allow_unisolated: bool) -> Judge:
    """Return the judge, having said what isolation lacks: now, while nothing is generated that could be lost."""
    # The text "false" would be taken for true, and the answers run without isolation.
    if not isinstance(allow_unisolated, bool):
        raise SettingsError(f"`allow_unisolated` in the metadata must be true or false, not {allow_unisolated!r}")
    judge = _judge(allow_unisolated)
    if executes == "never":
        return judge
    try:
        missing = [layer for layer in LAYERS if layer not in judge.isolation]
    except IsolationError as error:
        if executes == "always":
            raise
        _log.warning(
            "Output predictions that are literals can be judged here, since nothing is executed for them. A single one that "
            "needs execution ends the run after all is generated, and nothing is saved. To lose nothing, generate with "
            "`--predict_only --log_samples` and judge with `cruxeval score` on another machine. Why: %s",
            error,
        )
        return judge
    if missing:
        _log.warning("Answers will run WITHOUT %s: this machine has none of it.", ", ".join(missing))
    return judge


def _dataset(problem_set: ProblemSet, repeats: int | None, k: Sequence[int], allow_unisolated: bool) -> Dataset:
    from datasets import Dataset  # takes a second to import; the host has done so already

    ks = [k] if isinstance(k, int) else k
    if not isinstance(ks, list | tuple) or not ks or not all(type(each) is int for each in ks):
        raise SettingsError(f"the task's `k` must be a whole number or a list of them, such as [1, 10], not {k!r}")
    if repeats is not None and (type(repeats) is not int or repeats < 1):
        raise SettingsError(f"`repeats` in the task's metadata must be a whole number from 1 on, not {repeats!r}")
    for each in ks:
        try:  # Now, not when all are generated.
            pass_at_k(each if repeats is None else repeats, 0, each)
        except ValueError as error:
            raise SettingsError(str(error)) from None
    # The scoring is given a problem and its answers only, so what it has to report travels with each problem.
    settings = {"repeats": repeats, "k": list(ks), "allow_unisolated": allow_unisolated}
    rows = [
        {"id": p.id, "code": p.code, "input": p.input, "output": p.output, "settings": settings} for p in problem_set
    ]
    return Dataset.from_list(rows)


# --- the authors' prompts; each raises `PublishedPromptsError` where their file cannot be had ---


def paper_output_direct(doc: Doc) -> str:
    return prompt("output_direct", doc["code"], doc["input"])


def paper_output_cot(doc: Doc) -> str:
    return prompt("output_cot", doc["code"], doc["input"])


def paper_output_phind(doc: Doc) -> str:
    return prompt("output_phind", doc["code"], doc["input"])


def paper_input_direct(doc: Doc) -> str:
    return prompt("input_direct", doc["code"], doc["output"])


def paper_input_cot(doc: Doc) -> str:
    return prompt("input_cot", doc["code"], doc["output"])


# --- the gold answer as a continuation ---


def gold_continuation(doc: Doc) -> str:
    """Return what a right and literal completion of a prompt that ends in "[ANSWER]" is.

    The line break comes first because the host scores white space at the end of a context with the continuation; if the
    prompt ended in it, the count of bytes would miss it.
    """
    return f"\nassert f({doc['input']}) == {doc['output']}\n[/ANSWER]"


# --- filters ---


def output_answers(resps: Iterable[Sequence[str]], docs: Sequence[Doc]) -> list[list[Answer]]:
    """Return the answers in the completions of output prediction, a list for each problem."""
    return _answers(output_answer, resps, docs)


def input_answers(resps: Iterable[Sequence[str]], docs: Sequence[Doc]) -> list[list[Answer]]:
    """Return the answers in the completions of input prediction, a list for each problem."""
    return _answers(input_answer, resps, docs)


def _answers(
    extract: Callable[[str], str | None], resps: Iterable[Sequence[str]], docs: Sequence[Doc]
) -> list[list[Answer]]:
    completions = list(resps)
    # With several ranks the host pads: it repeats the last problem of a rank that has fewer, which then has a multiple
    # of the samples that were asked for. The others show the right number; a lone problem has the task's word for it.
    samples = min(len(r) for r in completions)
    stated = docs[0]["settings"]["repeats"]
    if len(completions) == 1 and stated is not None:
        samples = min(samples, stated)
    return [
        # Servers give None where a reply holds reasoning only.
        [Answer(extract(text or "") or "", doc) for text in r[:samples]]
        for r, doc in zip(completions, docs, strict=True)
    ]


# --- scoring ---


def output_results(doc: Doc, results: Sequence[Any]) -> dict[str, float]:
    """Return the metrics of one problem of output prediction; see `_results`."""
    return _results("output", doc, results)


def input_results(doc: Doc, results: Sequence[Any]) -> dict[str, float]:
    """Return the metrics of one problem of input prediction; see `_results`."""
    return _results("input", doc, results)


def _results(direction: Direction, doc: Doc, results: Sequence[Any]) -> dict[str, float]:
    """Return `pass@k` for each k of the task, and `answered`, the share of completions with a well-formed answer.

    Args:
        results: The answers from the filter, in a list of its own (host 0.4) or bare (host 0.5).

    Returns:
        The metrics; none where the completions did not pass the filter, as with host 0.5 under `--predict_only`.

    Raises:
        IsolationError: An answer needs execution, which cannot be isolated here.
        SettingsError: The host's cache of requests held the prompts of another problem set.
    """
    answers = results[0] if results and isinstance(results[0], list) else results
    if not all(isinstance(answer, Answer) for answer in answers):
        _warn_unfiltered()
        return {}
    if any(answer.doc[field] != doc[field] for answer in answers for field in ("code", "input", "output")):
        raise SettingsError(
            f"the model was asked about another problem than {doc['id']}: --cache_requests found the prompts of "
            "another problem set. Make them anew with --cache_requests refresh"
        )
    verdicts = _judge(doc["settings"]["allow_unisolated"]).judge(
        [Check(direction=direction, code=doc["code"], output=doc["output"], answer=a or None) for a in answers]
    )
    n = len(verdicts)
    passed = sum(v.passed for v in verdicts)
    metrics = {f"pass@{k}": pass_at_k(n, passed, k) for k in doc["settings"]["k"]}
    return metrics | {"answered": sum(v.answered for v in verdicts) / n}


def likelihood_results(doc: Doc, results: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Return how likely the gold answer is.

    Args:
        results: One pair: the natural logarithm of the probability of the continuation that the task's `doc_to_target`
            gives, and whether each of its tokens was the most likely one.

    Returns:
        `gold_bits_per_byte`, in bits for each UTF-8 byte of that continuation, and `gold_greedy`, 1.0 or 0.0.
    """
    ((log_likelihood, is_greedy),) = results
    size = len(gold_continuation(doc).encode())
    return {"gold_bits_per_byte": -log_likelihood / math.log(2) / size, "gold_greedy": float(is_greedy)}


@cache
def _warn_unfiltered() -> None:
    _log.warning(
        "Nothing is scored: the completions did not go through the filter of the task. "
        "That is what --predict_only is for; without it, the task's `filter_list` is missing."
    )


@cache
def _judge(allow_unisolated: bool) -> Judge:
    """Return the judge of this process. Its workers start when first needed, and end with it."""
    judge = Judge(allow_unisolated=allow_unisolated)
    atexit.register(judge.close)
    return judge
