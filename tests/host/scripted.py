"""A model that replays text, for driving the real host without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from lm_eval.api.model import LM

Reply = Callable[[str, int], str]
"""From the last question of a prompt and the number of times it was asked before to the completion."""


def question_of(prompt: str) -> str:
    """Return the last question of a prompt: what stands between its last pair of [PYTHON] tags."""
    start = prompt.rindex("[PYTHON]\n") + len("[PYTHON]\n")
    return prompt[start : prompt.index("\n[/PYTHON]", start)]


class Scripted(LM):
    """Answers by script, and keeps what it was asked.

    Attributes:
        requests: Prompt and generation arguments (or context and continuation), in order.
    """

    tokenizer_name = "scripted"

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply
        self.requests: list[tuple[Any, ...]] = []
        self._asked: Counter[str] = Counter()

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        texts = []
        for request in requests:
            prompt, arguments = request.args
            self.requests.append((prompt, arguments))
            question = question_of(prompt)
            text = self.reply(question, self._asked[question])
            self._asked[question] += 1
            for stop in arguments["until"]:
                text = text.split(stop)[0]
            self.cache_hook.add_partial("generate_until", (prompt, arguments), text)
            texts.append(text)
        return texts

    def loglikelihood(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Give every byte of a continuation two bits."""
        from math import log

        answers = []
        for request in requests:
            context, continuation = request.args
            self.requests.append((context, continuation))
            answers.append((-2 * log(2) * len(continuation.encode()), False))
        return answers

    def loglikelihood_rolling(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        turns = [f"<|im_start|>{turn['role']}\n{turn['content']}<|im_end|>\n" for turn in chat_history]
        return "".join(turns) + ("<|im_start|>assistant\n" if add_generation_prompt else "")

    def chat_template(self, chat_template: bool | str = False) -> str:
        return "stand-in for ChatML"
