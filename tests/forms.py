"""The forms in which models write an answer, as text around the answer of a problem.

Each form is a function of (input, output, direction) that writes a whole completion. The answer that it
states is the gold one; every wrong answer in it is one that the form's rule passes over.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable, Mapping

from cruxeval_tasks.answers import input_answer, output_answer

Form = Callable[[str, str, str], str]

FORMS: dict[str, Form] = {}
ONLY: dict[str, str] = {}
"""Forms that exist in one direction only, and which."""


def form(name: str, *, only: str | None = None) -> Callable[[Form], Form]:
    def register(function: Form) -> Form:
        assert name not in FORMS
        FORMS[name] = function
        if only:
            ONLY[name] = only
        return function

    return register


def _assertion(i: str, o: str) -> str:
    return f"assert f({i}) == {o}"


def _bare(i: str, o: str, direction: str) -> str:
    return o if direction == "output" else f"f({i})"


def _wrong(i: str, o: str, direction: str) -> str:
    """An assertion with an answer that is not the gold one."""
    if direction == "output":
        return f"assert f({i}) == [{o}, 'wrong']"
    return f"assert f('wrong', {i}) == {o}"


def directions(name: str) -> list[str]:
    return [ONLY[name]] if name in ONLY else ["output", "input"]


def extract(completion: str, direction: str) -> str | None:
    return output_answer(completion) if direction == "output" else input_answer(completion)


def gold_answer(problem: Mapping[str, str], direction: str) -> str:
    return problem["output"] if direction == "output" else f"f({problem['input']})"


def same_answer(answer: str | None, gold: str) -> bool:
    """Whether both are one expression, and the same one, or literals of one value."""
    if answer is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parsed, expected = (ast.parse(text.strip(), mode="eval") for text in (answer, gold))
        except (SyntaxError, ValueError):
            return False
        if ast.dump(parsed) == ast.dump(expected):
            return True
        try:
            value, target = ast.literal_eval(parsed), ast.literal_eval(expected)
        except ValueError:
            return False
    return bool(value == target)


# The prompt's own form, and what base models add to it


@form("prompt's own form")
def _(i: str, o: str, d: str) -> str:
    return _assertion(i, o) + "\n"


@form("prompt's own form, closed")
def _(i: str, o: str, d: str) -> str:
    return _assertion(i, o) + "\n[/ANSWER]"


@form("prompt opened the tag, bare answer")
def _(i: str, o: str, d: str) -> str:
    return _bare(i, o, d) + "\n[/ANSWER]\n"


@form("value after ==, then # done", only="output")
def _(i: str, o: str, d: str) -> str:
    return f" {o} # done\n"


@form("value after ==, then the next function", only="output")
def _(i: str, o: str, d: str) -> str:
    return f" {o} # done\n\ndef f(x):\n    return x * 2\nassert f(4) == 8 # done\n"


@form("repeated question after the answer")
def _(i: str, o: str, d: str) -> str:
    return (
        f"{_assertion(i, o)}\n[/ANSWER]\n\n[PYTHON]\ndef f(n):\n    return n + 1\n"
        "assert f(3) == ??\n[/PYTHON]\n"
        "[ANSWER]\nassert f(3) == 4\n[/ANSWER]\n\n[PYTHON]\ndef f(n):\n    return"
    )


@form("repeated question, tags never closed")
def _(i: str, o: str, d: str) -> str:
    return f"{_assertion(i, o)}\n\n[PYTHON]\ndef f(n):\n    return n + 1\n[/PYTHON]\n[ANSWER]\nassert f(3) == 4\n"


@form("repeated question with the instruction")
def _(i: str, o: str, d: str) -> str:
    return (
        f"{_assertion(i, o)}\n[/ANSWER]\n\n"
        "Complete the next assertion between [ANSWER] and [/ANSWER] tags.\n\n"
        "[PYTHON]\ndef f(s):\n    return s + 'a'\nassert f('x') == ??\n[/PYTHON]\n[ANSWER]\n"
        "assert f('x') == 'xa'\n[/ANSWER]\n"
    )


@form("thought, then repeated question")
def _(i: str, o: str, d: str) -> str:
    return (
        f"Step by step.\n[/THOUGHT]\n[ANSWER]\n{_assertion(i, o)}\n[/ANSWER]\n\n[PYTHON]\n"
        "def f(n):\n    return n\n"
        "assert f(3) == ??\n[/PYTHON]\n[THOUGHT]\nIt returns n.\n[/THOUGHT]\n[ANSWER]\n"
        "assert f(3) == 3\n[/ANSWER]"
    )


@form("further assertions about other inputs")
def _(i: str, o: str, d: str) -> str:
    return f"{_assertion(i, o)}\nassert f('zz', 'zz') == 'zzzz'\nassert f('y', 'zz') == 'yzz'\n"


# Tags


@form("complete tags")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n{_assertion(i, o)}\n[/ANSWER]"


@form("complete tags in prose")
def _(i: str, o: str, d: str) -> str:
    return (
        f"It doesn't change x, so let's see: f(1, 2) == 3.\n\n[ANSWER]{_assertion(i, o)}[/ANSWER]\n\n"
        "That's what f(2) would give as well; see [ANSWER] above."
    )


@form("tags with a bare answer")
def _(i: str, o: str, d: str) -> str:
    return f"Let me see.\n[ANSWER]\n{_bare(i, o, d)}\n[/ANSWER]"


@form("tags with a bare answer on one line")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]{_bare(i, o, d)}[/ANSWER]"


@form("unclosed tag")
def _(i: str, o: str, d: str) -> str:
    return f"The loop runs once.\n\n[ANSWER]\n{_assertion(i, o)}"


@form("lower-case XML tags")
def _(i: str, o: str, d: str) -> str:
    return f"<reasoning>\nIt returns.\n</reasoning>\n<answer>\n{_assertion(i, o)}\n</answer>"


@form("fence inside tags")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n```python\n{_assertion(i, o)}\n```\n[/ANSWER]"


@form("fence with a bare answer inside tags")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n```python\n{_bare(i, o, d)}\n```\n[/ANSWER]"


@form("tags inside a fence")
def _(i: str, o: str, d: str) -> str:
    return f"```python\n[ANSWER]\n{_assertion(i, o)}\n[/ANSWER]\n```"


@form("tags, trailing prose inside")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n{_assertion(i, o)}\nThis is because the function doesn't change it.\n[/ANSWER]"


@form("tags with the function restated inside")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\ndef f(x):\n    assert x == 1\n    return x\n\n{_assertion(i, o)}\n[/ANSWER]"


# Fences


@form("fence without tags")
def _(i: str, o: str, d: str) -> str:
    return f"Here is the completed assertion:\n\n```python\n{_assertion(i, o)}\n```\n\nThe function doesn't do f(3)."


@form("fence with a bare answer")
def _(i: str, o: str, d: str) -> str:
    return f"Here it is:\n```\n{_bare(i, o, d)}\n```"


@form("unclosed fence")
def _(i: str, o: str, d: str) -> str:
    return f"Sure!\n```python\n{_assertion(i, o)}\n"


@form("several fences, the last counts")
def _(i: str, o: str, d: str) -> str:
    return (
        "The code:\n```python\ndef f(x):\n    return x\n```\nAt first sight:\n```python\n"
        f"{_wrong(i, o, d)}\n```\n"
        f"but in fact:\n```python\n{_assertion(i, o)}\n```"
    )


@form("several fences, the last bare")
def _(i: str, o: str, d: str) -> str:
    return f"The code:\n```python\ndef f(x):\n    return x\n```\nThe answer:\n```python\n{_bare(i, o, d)}\n```\nDone."


# Assertions and how they are written


@form("assertion in prose")
def _(i: str, o: str, d: str) -> str:
    return f"It's clear that the loop doesn't run. The completed line is {_assertion(i, o)}"


@form("assertion in prose, then a full stop")
def _(i: str, o: str, d: str) -> str:
    return f"Therefore we can write {_assertion(i, o)}. This holds since it's sorted."


@form("assertion in prose, prose goes on")
def _(i: str, o: str, d: str) -> str:
    return f"So {_assertion(i, o)} is what we get, as the list isn't changed."


@form("backticks around the assertion")
def _(i: str, o: str, d: str) -> str:
    return f"The completed assertion is `{_assertion(i, o)}`."


@form("backticks around the answer")
def _(i: str, o: str, d: str) -> str:
    what = "The function returns" if d == "output" else "One such call is"
    return f"It isn't hard. {what} `{_bare(i, o, d)}`."


@form("double backticks around the answer")
def _(i: str, o: str, d: str) -> str:
    return f"The answer is ``{_bare(i, o, d)}``"


@form("bold label")
def _(i: str, o: str, d: str) -> str:
    return f"The loop doesn't run.\n\n**Answer:** {_bare(i, o, d)}"


@form("bold label, backticks")
def _(i: str, o: str, d: str) -> str:
    return f"1. x isn't changed.\n2. Done.\n\n**Final Answer**: `{_bare(i, o, d)}`\n"


@form("bold label, next line")
def _(i: str, o: str, d: str) -> str:
    return f"Reasoning.\n\n### Answer\n\n{_bare(i, o, d)}\n"


@form("bold label with an assertion")
def _(i: str, o: str, d: str) -> str:
    return f"Reasoning: f(2) == 3.\n\n**Answer:** {_assertion(i, o)}"


@form("Output:", only="output")
def _(i: str, o: str, d: str) -> str:
    return f"Output: {o}"


@form("Output: on its own line", only="output")
def _(i: str, o: str, d: str) -> str:
    return f"The call f({i}) is made.\n\nOutput:\n{o}\n"


@form("Input:", only="input")
def _(i: str, o: str, d: str) -> str:
    return f"Input: f({i})\nOutput: {o}"


@form("the answer is")
def _(i: str, o: str, d: str) -> str:
    return f"Let's trace it.\n\nThe answer is {_bare(i, o, d)}."


@form("interactive session")
def _(i: str, o: str, d: str) -> str:
    return f">>> f({i})\n{o}\n"


@form("interactive session in a fence")
def _(i: str, o: str, d: str) -> str:
    return f"Running it:\n\n```python\n>>> def f(x):\n...     return x\n...\n>>> f({i})\n{o}\n```"


@form("assertion in a session")
def _(i: str, o: str, d: str) -> str:
    return f">>> {_assertion(i, o)}\n>>> "


@form("assertion with a message")
def _(i: str, o: str, d: str) -> str:
    return f"{_assertion(i, o)}, 'f gave a == b, not what was expected'"


@form("assertion with an f-string message")
def _(i: str, o: str, d: str) -> str:
    return f'```python\n{_assertion(i, o)}, f"got {{result}}"\n```'


@form("assertion in parentheses")
def _(i: str, o: str, d: str) -> str:
    return f"assert (f({i}) == {o})"


@form("assertion in parentheses with a message")
def _(i: str, o: str, d: str) -> str:
    return f"assert (f({i}) == {o}), 'no'"


@form("value first")
def _(i: str, o: str, d: str) -> str:
    return f"assert {o} == f({i})"


@form("value first in parentheses")
def _(i: str, o: str, d: str) -> str:
    return f"assert ({o} == f({i}))"


@form("assertion with is")
def _(i: str, o: str, d: str) -> str:
    return f"assert f({i}) is {o}"


@form("comparison without assert")
def _(i: str, o: str, d: str) -> str:
    return f"f({i}) == {o}"


@form("print with the value in a comment")
def _(i: str, o: str, d: str) -> str:
    return f"print(f({i}))  # {o}"


@form("print with a worded comment")
def _(i: str, o: str, d: str) -> str:
    return f"```python\nprint(f({i}))  # Output: {o}\n```"


@form("print with the comment on the next line")
def _(i: str, o: str, d: str) -> str:
    return f"```python\nprint(f({i}))\n# -> {o}\n```"


@form("trailing comment")
def _(i: str, o: str, d: str) -> str:
    return f"{_assertion(i, o)}  # since it's == 'sorted' already"


@form("trailing full stop")
def _(i: str, o: str, d: str) -> str:
    return f"{_assertion(i, o)}."


@form("trailing semicolon")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n{_assertion(i, o)};\n[/ANSWER]"


@form("bare answer, trailing full stop")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n{_bare(i, o, d)}.\n[/ANSWER]"


@form("bare answer, trailing comment")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n{_bare(i, o, d)}  # it's that\n[/ANSWER]"


@form("value over several lines")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\nassert f(\n    {i}\n) == (\n    # the value\n    {o}\n)\n[/ANSWER]"


@form("bare answer over several lines")
def _(i: str, o: str, d: str) -> str:
    bare = f"(\n    {o}\n)" if d == "output" else f"f(\n    {i}\n)"
    return f"[ANSWER]\n{bare}\n[/ANSWER]"


# Corrections


@form("correction after tags")
def _(i: str, o: str, d: str) -> str:
    return (
        f"[ANSWER]\n{_wrong(i, o, d)}\n[/ANSWER]\n\nWait, that isn't right: the list is sorted.\n\n"
        f"[ANSWER]\n{_assertion(i, o)}\n[/ANSWER]"
    )


@form("correction after the prompt's own form")
def _(i: str, o: str, d: str) -> str:
    return f"{_wrong(i, o, d)}\n[/ANSWER]\n\nNo, I've made a mistake.\n\n[ANSWER]\n{_assertion(i, o)}\n[/ANSWER]"


@form("correction without tags")
def _(i: str, o: str, d: str) -> str:
    return f"{_wrong(i, o, d)}\n\nActually, I've miscounted. It's\n\n{_assertion(i, o)}"


@form("correction cut short")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n{_wrong(i, o, d)}\n[/ANSWER]\nHm, no.\n[ANSWER]\n{_assertion(i, o)}"


@form("correction of a label")
def _(i: str, o: str, d: str) -> str:
    wrong = "'wrong'" if d == "output" else "f('wrong')"
    return f"Answer: {wrong}\n\nLet me double-check that.\n\nAnswer: {_bare(i, o, d)}\n"


# Boxes, JSON, typography


@form("boxed")
def _(i: str, o: str, d: str) -> str:
    return f"Therefore $x$ isn't zero.\n\n$\\boxed{{{_bare(i, o, d)}}}$"


@form("boxed text")
def _(i: str, o: str, d: str) -> str:
    return f"The final answer is \\boxed{{\\text{{{_bare(i, o, d)}}}}}."


@form("boxed assertion")
def _(i: str, o: str, d: str) -> str:
    return f"\\boxed{{{_assertion(i, o)}}}"


@form("JSON object")
def _(i: str, o: str, d: str) -> str:
    return json.dumps({"reasoning": 'It\'s f(2) == 3, "quoted".', "answer": _bare(i, o, d)}, indent=4)


@form("JSON object with an assertion")
def _(i: str, o: str, d: str) -> str:
    return json.dumps({"answer": _assertion(i, o)})


@form("JSON object in a fence")
def _(i: str, o: str, d: str) -> str:
    return (
        "Here:\n```json\n" + json.dumps({"reasoning": "...", "answer": _bare(i, o, d)}, ensure_ascii=False) + "\n```\n"
    )


@form("JSON object in tags")
def _(i: str, o: str, d: str) -> str:
    return "[ANSWER]\n" + json.dumps({"answer": _bare(i, o, d)}) + "\n[/ANSWER]"


@form("CRLF line ends")
def _(i: str, o: str, d: str) -> str:
    return f"Sure.\r\n\r\n[ANSWER]\r\n{_assertion(i, o)}\r\n[/ANSWER]\r\n"


@form("CRLF line ends in a fence")
def _(i: str, o: str, d: str) -> str:
    return f"Sure.\r\n```python\r\n{_assertion(i, o)}\r\n```\r\n"


@form("non-breaking spaces")
def _(i: str, o: str, d: str) -> str:
    return f"\u00a0assert\u00a0f({i})\u00a0==\u00a0{o}\u00a0"


@form("non-breaking spaces around a bare answer")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n\u00a0{_bare(i, o, d)}\u00a0\n[/ANSWER]"


@form("typographic quotes around the answer")
def _(i: str, o: str, d: str) -> str:
    return f"\u201c{_bare(i, o, d)}\u201d"


@form("typographic quotes around the assertion")
def _(i: str, o: str, d: str) -> str:
    return f"The line is \u201c{_assertion(i, o)}\u201d."


@form("<|im_end|>")
def _(i: str, o: str, d: str) -> str:
    return f"{_assertion(i, o)}<|im_end|>\n<|im_start|>user\nassert f(3) == 4"


@form("</s>")
def _(i: str, o: str, d: str) -> str:
    return f"<s> [ANSWER]\n{_assertion(i, o)}\n[/ANSWER]</s>"


@form("<|eot_id|>")
def _(i: str, o: str, d: str) -> str:
    return f"{_bare(i, o, d)}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nassert f(3) == 4"


@form("chat header left in")
def _(i: str, o: str, d: str) -> str:
    return f"<|im_start|>assistant\n{_assertion(i, o)}<|im_end|>"


# Reasoning


def _trace(i: str, o: str, d: str) -> str:
    return (
        f"First I thought [ANSWER]{_wrong(i, o, d)}[/ANSWER], or\n```python\n{_wrong(i, o, d)}\n```\n"
        f"It isn't. {_wrong(i, o, d)}\n**Answer:** 'wrong'"
    )


@form("think trace, then tags")
def _(i: str, o: str, d: str) -> str:
    return f"<think>\n{_trace(i, o, d)}\n</think>\n\n[ANSWER]\n{_assertion(i, o)}\n[/ANSWER]"


@form("think trace, then a bare answer")
def _(i: str, o: str, d: str) -> str:
    return f"<think>\n{_trace(i, o, d)}\n</think>\n\n{_bare(i, o, d)}"


@form("think trace without its opening")
def _(i: str, o: str, d: str) -> str:
    return f"{_trace(i, o, d)}\n</think>\n\n```python\n{_assertion(i, o)}\n```"


@form("several think traces")
def _(i: str, o: str, d: str) -> str:
    return (
        f"<think>{_trace(i, o, d)}</think>\n{_wrong(i, o, d)}\n<think>\nHm, no.\n"
        f"{_trace(i, o, d)}\n</think>\n"
        f"{_assertion(i, o)}"
    )


@form("Seed-OSS trace")
def _(i: str, o: str, d: str) -> str:
    return f"<seed:think>{_trace(i, o, d)}</seed:think>{_assertion(i, o)}"


@form("Magistral trace")
def _(i: str, o: str, d: str) -> str:
    return f"[THINK]{_trace(i, o, d)}[/THINK]The answer is `{_bare(i, o, d)}`."


@form("channels")
def _(i: str, o: str, d: str) -> str:
    return (
        f"<|channel|>analysis<|message|>{_trace(i, o, d)}<|end|><|start|>assistant<|channel|>final<|message|>"
        f"[ANSWER]\n{_assertion(i, o)}\n[/ANSWER]<|return|>"
    )


@form("channels without their marks")
def _(i: str, o: str, d: str) -> str:
    return f"analysis{_trace(i, o, d)}assistantfinal{_assertion(i, o)}"


# Further ways to write the same


@form("the call is in the prompt too", only="output")
def _(i: str, o: str, d: str) -> str:
    return f" == {o}\n[/ANSWER]"


@form("another problem without its tag")
def _(i: str, o: str, d: str) -> str:
    return (
        f"{_assertion(i, o)}\n[/ANSWER]\n\nNext problem: n is given.\n[ANSWER]\n"
        "assert f('zz', 'zz') == 'zzzz'\n[/ANSWER]"
    )


@form("base model, fenced, then another problem")
def _(i: str, o: str, d: str) -> str:
    return (
        f"```python\n{_assertion(i, o)}\n```\n[/ANSWER]\n\n[PYTHON]\ndef f(n):\n    return n\n[/PYTHON]\n"
        "[ANSWER]\n```python\nassert f(3) == 3\n```\n[/ANSWER]"
    )


@form("tags are mentioned before and after")
def _(i: str, o: str, d: str) -> str:
    return (
        f"I'll put it between [ANSWER] and [/ANSWER] tags.\n\n[ANSWER]\n{_assertion(i, o)}\n[/ANSWER]\n\n"
        "The assertion between the [ANSWER] and [/ANSWER] tags doesn't fail."
    )


@form("two opening tags")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n[ANSWER]\n{_assertion(i, o)}\n[/ANSWER]\n[/ANSWER]"


@form("backticks inside tags")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]`{_bare(i, o, d)}`[/ANSWER]"


@form("bold inside tags")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n**{_bare(i, o, d)}**\n[/ANSWER]"


@form("box inside tags")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n\\boxed{{{_bare(i, o, d)}}}\n[/ANSWER]"


@form("label inside tags")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\nAnswer: {_bare(i, o, d)}\n[/ANSWER]"


@form("nothing but the answer")
def _(i: str, o: str, d: str) -> str:
    return _bare(i, o, d)


@form("answer first, then an explanation")
def _(i: str, o: str, d: str) -> str:
    return f"{_bare(i, o, d)}\n\nExplanation: it's what the loop leaves. It doesn't sort."


@form("all bold")
def _(i: str, o: str, d: str) -> str:
    return f"So it's clear.\n\n**The final answer is {_bare(i, o, d)}**"


@form("label with an equals sign")
def _(i: str, o: str, d: str) -> str:
    return f"Answer = {_bare(i, o, d)}"


@form("heading, then a fence")
def _(i: str, o: str, d: str) -> str:
    return f"### Reasoning\nIt isn't sorted.\n\n### Final Answer\n```python\n{_bare(i, o, d)}\n```\n"


@form("a list item after the label")
def _(i: str, o: str, d: str) -> str:
    return f"Answer:\n- {_bare(i, o, d)}"


@form("call returns", only="output")
def _(i: str, o: str, d: str) -> str:
    return f"It isn't hard. `f({i})` returns `{o}`."


@form("call returns, no backticks", only="output")
def _(i: str, o: str, d: str) -> str:
    return f"Therefore f({i}) returns {o}."


@form("call and arrow", only="output")
def _(i: str, o: str, d: str) -> str:
    return f"f({i}) -> {o}"


@form("the function returns, a type in between", only="output")
def _(i: str, o: str, d: str) -> str:
    return f"Since it's not changed, the function returns the value {o}, which doesn't surprise."


@form("code span at the end")
def _(i: str, o: str, d: str) -> str:
    return f"This comes out as `{_bare(i, o, d)}`"


@form("session without spaces and with another command", only="output")
def _(i: str, o: str, d: str) -> str:
    return f">>> x = 1\n>>> f({i})\n{o}\n>>> x\n"


@form("call, then a comment line", only="output")
def _(i: str, o: str, d: str) -> str:
    return f"```python\nresult = f({i})\n# {o}\n```"


@form("assert without a space")
def _(i: str, o: str, d: str) -> str:
    return f"assert(f({i}) == {o})"


@form("assertion over two lines by a backslash")
def _(i: str, o: str, d: str) -> str:
    return f"assert f({i}) == \\\n    {o}\n"


@form("assertion with a message over lines")
def _(i: str, o: str, d: str) -> str:
    return f"```python\n{_assertion(i, o)}, (\n    'expected ' + str(1)\n)\n```"


@form("compared and then compared again")
def _(i: str, o: str, d: str) -> str:
    return f"{_assertion(i, o)} == True"


@form("numbered assertion")
def _(i: str, o: str, d: str) -> str:
    return f"1. {_assertion(i, o)}\n"


@form("comment and prose after the assertion")
def _(i: str, o: str, d: str) -> str:
    return f"{_assertion(i, o)} # it's 'so'\n\n# Explanation: it doesn't matter what f(3) is, f(3) == 4"


@form("boxed in display math")
def _(i: str, o: str, d: str) -> str:
    return f"\\[\n\\boxed{{\\texttt{{{_bare(i, o, d)}}}}}\n\\]"


@form("boxed with escaped braces")
def _(i: str, o: str, d: str) -> str:
    if "\\" in _bare(i, o, d):  # whether a backslash is LaTeX's or Python's cannot be told
        return f"\\boxed{{{_bare(i, o, d)}}}"
    return "\\boxed{" + _bare(i, o, d).replace("{", "\\{").replace("}", "\\}") + "}"


@form("JSON on one line, key in capitals")
def _(i: str, o: str, d: str) -> str:
    return json.dumps({"Reasoning": f"assert f({i}) == 3", "Answer": _bare(i, o, d)})


@form("JSON, then a remark")
def _(i: str, o: str, d: str) -> str:
    return "To complete the assertion:\n" + json.dumps({"final_answer": _bare(i, o, d)}) + "\nIt isn't f(3)."


@form("guillemets around the answer")
def _(i: str, o: str, d: str) -> str:
    return f"\u00ab{_bare(i, o, d)}\u00bb"


@form("single typographic quotes around the answer in tags")
def _(i: str, o: str, d: str) -> str:
    return f"[ANSWER]\n\u2018{_bare(i, o, d)}\u2019\n[/ANSWER]"


@form("byte order mark and zero-width spaces")
def _(i: str, o: str, d: str) -> str:
    return f"\ufeffassert f({i})\u200b == {o}\u200b"


@form("lone carriage returns")
def _(i: str, o: str, d: str) -> str:
    return f"Sure.\r[ANSWER]\r{_assertion(i, o)}\r[/ANSWER]\r"


@form("<|endoftext|>")
def _(i: str, o: str, d: str) -> str:
    return f"{_bare(i, o, d)}<|endoftext|>assert f(3) == 4\n"


@form("<end_of_turn>")
def _(i: str, o: str, d: str) -> str:
    return f"Sure:\n```python\n{_assertion(i, o)}\n```<end_of_turn>\n<eos>"


@form("DeepSeek's end of sentence")
def _(i: str, o: str, d: str) -> str:
    return f"<think>\nHm.\n</think>\n{_assertion(i, o)}<\uff5cend\u2581of\u2581sentence\uff5c>"


@form("trace that quotes its own marks")
def _(i: str, o: str, d: str) -> str:
    return f"<think>I should end with `</think>` and then [ANSWER].\n{_wrong(i, o, d)}</think>\n\n{_assertion(i, o)}"


@form("Command A trace")
def _(i: str, o: str, d: str) -> str:
    trace = _trace(i, o, d)
    return f"<|START_THINKING|>{trace}<|END_THINKING|><|START_RESPONSE|>{_assertion(i, o)}<|END_RESPONSE|>"


@form("trace, then JSON")
def _(i: str, o: str, d: str) -> str:
    return f"<think>{_trace(i, o, d)}</think>" + json.dumps({"answer": _bare(i, o, d)})


NO_ANSWER: dict[str, Callable[[str, str], str]] = {
    "nothing": lambda i, o: "",
    "blank": lambda i, o: " \n\t\r\n\u00a0",
    "trace that never ends": lambda i, o: f"<think>\nLet me see. assert f({i}) == {o}\n[ANSWER]{o}[/ANSWER]\n",
    "second trace never ends": lambda i, o: f"<think>x</think>\n<think>\nassert f({i}) == {o}",
    "Magistral trace that never ends": lambda i, o: f"[THINK]assert f({i}) == {o}",
    "channels without a final one": lambda i, o: f"<|channel|>analysis<|message|>assert f({i}) == {o}",
    "channels without marks or a final one": lambda i, o: f"analysisWe need assert f({i}) == {o}",
    "empty tags": lambda i, o: "[ANSWER]\n[/ANSWER]",
    "tags that are only mentioned": lambda i, o: "I would put it between [ANSWER] and [/ANSWER] tags, but can't.",
    "only an end of turn": lambda i, o: "<|im_end|>",
    "a refusal": lambda i, o: "I'm sorry, I can't determine what the function does.",
    "nothing after the trace": lambda i, o: f"<think>assert f({i}) == {o}</think>\n",
}
"""Completions that hold no answer, as functions of (input, output)."""
