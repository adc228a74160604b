"""The command `cruxeval show`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from cruxeval_tasks.cli import common

if TYPE_CHECKING:
    from rich.console import Console

    from cruxeval_tasks.direction import Direction
    from cruxeval_tasks.judging.judge import Verdict
    from cruxeval_tasks.problems import Problem
    from cruxeval_tasks.scoring import Score

_CUT = 3000  # characters of a completion that are shown: a reasoning trace has a hundred thousand


@click.command(epilog=common.FORMATS_HELP, short_help="Show a problem, the completions, and why they passed or not.")
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("key", metavar="[ID]", required=False)
@click.option("--status", metavar="STATUS", help="List only problems with a sample of this status: wrong, raised, ...")
@click.option("--prompt", is_flag=True, help="Show the prompt too, where the file has it.")
@click.option("--full", is_flag=True, help=f"Show completions whole, not just {_CUT} characters.")
@common.run_options
def show(
    file: str,
    key: str | None,
    status: str | None,
    prompt: bool,
    full: bool,
    judging: common.Judging,
    as_json: bool,
) -> None:
    """Show one problem with the model's completion, the answer found in it and the verdict.

    ID is the problem's id, or its number. Without it, all problems are listed with their verdicts.
    """
    import json

    from cruxeval_tasks.judging.judge import Status

    if key is not None and key.endswith((".json", ".jsonl")):
        raise click.UsageError(f"show takes one file, and then the id of a problem, which {key} is not")
    known = [each.value for each in Status]
    if status is not None and status not in known:
        raise click.BadParameter(f"one of {', '.join(known)} is expected", param_hint="--status")
    with common.Scorer(replace(judging, partial=judging.partial or key is not None)) as scorer:
        score = scorer.score(file) if key is None else scorer.one(file, key)
    keys = [k for k, each in score.verdicts.items() if status is None or any(v.status.value == status for v in each)]
    if as_json:
        found = {problem.id: _json(score, problem) for problem in score.matched.problems if problem.id in keys}
        click.echo(json.dumps(found, indent=2))
    elif key is None:
        _print_list(common.console(), score, keys)
    else:
        _print_problem(common.console(), score, prompt, None if full else _CUT)


def _json(score: Score, problem: Problem) -> dict[str, Any]:
    samples = zip(score.run.texts[problem.id], score.answers[problem.id], score.verdicts[problem.id], strict=True)
    return {
        "code": problem.code,
        "input": problem.input,
        "output": problem.output,
        "prompt": score.run.prompts.get(problem.id),
        "samples": [
            {
                "completion": None if score.run.are_answers else text,
                "answer": answer,
                "status": verdict.status.value,
                "reason": verdict.reason,
                "obtained": verdict.obtained,
            }
            for text, answer, verdict in samples
        ],
    }


def _print_list(console: Console, score: Score, keys: list[str]) -> None:
    from collections import Counter

    listed = common.table("id", "passed", "verdicts", "first answer that did not pass", right=(1,))
    for key in keys:
        verdicts = score.verdicts[key]
        counts = Counter(v.status.value.replace("_", " ") for v in verdicts).most_common()
        failing = (a for a, v in zip(score.answers[key], verdicts, strict=True) if not v.passed)
        listed.add_row(
            common.visible(key),
            f"{sum(v.passed for v in verdicts)}/{len(verdicts)}",
            ", ".join(status if len(verdicts) == 1 else f"{count} {status}" for status, count in counts),
            _one_line(next(failing, None) or ""),
        )
    console.print(listed)
    console.print(f"\n{len(keys)} of {len(score.verdicts)} problems. One of them: cruxeval show FILE ID")


def _print_problem(console: Console, score: Score, with_prompt: bool, cut: int | None) -> None:
    (problem,) = score.matched.problems
    texts, answers, verdicts = score.run.texts[problem.id], score.answers[problem.id], score.verdicts[problem.id]
    console.print(f"{common.visible(problem.id)}, {score.direction} prediction", style="bold")
    given, asked = (problem.input, "??") if score.direction == "output" else ("??", problem.output)
    _print_code(console, f"{problem.code}\nassert f({given}) == {asked}")
    if score.direction == "output":
        console.print(f"f returns {common.visible(problem.output)}")
    else:
        console.print(f"The published input: f({common.visible(problem.input)})")
    if with_prompt:
        console.rule("prompt", align="left")
        console.print(common.visible(score.run.prompts.get(problem.id, "(the file has no prompts)")))
    distinct = dict.fromkeys(texts)
    for text in distinct:
        numbers = [number for number, other in enumerate(texts, start=1) if other == text]
        first = numbers[0] - 1
        title = "completion" if len(texts) == 1 else f"sample {_ranges(numbers)} of {len(texts)}"
        console.rule(title, align="left")
        if not score.run.are_answers:
            console.print(_shortened(text, cut))
            console.rule(style="dim")
        answer = answers[first]
        shown = "none" if not answer else _shortened(answer, cut)
        console.print(f"Answer:  {shown}")
        style = "green" if verdicts[first].passed else "red"
        console.print(f"Verdict: {_verdict(verdicts[first], score.direction, problem)}", style=style)


def _verdict(verdict: Verdict, direction: Direction, problem: Problem) -> str:
    said = verdict.status.value.replace("_", " ")
    if verdict.reason:
        said += f": {common.visible(verdict.reason)}"
    if verdict.obtained is not None and not verdict.passed:
        value = common.visible(verdict.obtained)
        if direction == "output":
            said += f"\n         the answer is {value}\n         f returns     {common.visible(problem.output)}"
        else:
            said += f"\n         this call returns {value}\n         asked for was     {common.visible(problem.output)}"
    return said


def _print_code(console: Console, code: str) -> None:
    from rich.syntax import Syntax

    console.print()
    # Its own colours, so that it can be read on a light and on a dark terminal; `highlight` gives text without padding.
    console.print(Syntax("", "python", theme="ansi_dark", background_color="default").highlight(common.visible(code)))


def _shortened(text: str, cut: int | None) -> str:
    if cut is None or len(text) <= cut:
        return common.visible(text)
    head = cut // 3
    left_out = len(text) - cut
    return common.visible(f"{text[:head]}\n[… {left_out} characters left out; --full shows them …]\n{text[head - cut :]}")


def _one_line(text: str) -> str:
    line = " ".join(common.visible(text).split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def _ranges(numbers: list[int]) -> str:
    """1, 2, 3, 5 as "1–3, 5"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ", ".join("–".join(map(str, span)) for span in spans)
