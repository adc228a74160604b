"""The model type `hf-shared`: the host's `hf`, with shared work done once."""

from __future__ import annotations

import functools
import logging
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils import handle_stop_sequences, normalize_gen_kwargs, postprocess_generated_text
from tqdm import tqdm

from cruxeval_tasks.errors import UserError
from cruxeval_tasks.models import support
from cruxeval_tasks.models.decoding import Choice, Decoder, Network, Prefix, Prompt, Sample

_log = logging.getLogger(__name__)

# Where no batch size was asked for. A step takes little longer for a few rows than for one, since it has to read all
# weights in any case.
_DEFAULT_ROWS = 16


@dataclass(frozen=True)
class _Group:
    """Requests with the same generation settings."""

    settings: dict[str, Any]
    indices: list[int]


class SharedHFLM(HFLM):  # type: ignore[misc]
    """A Hugging Face model as the host's `hf` runs it, that computes once what samples and prompts have in common.

    Takes the same arguments. Differs in how it generates: the samples of a prompt come from one prefill, what the
    prompts of a task begin with is computed once, and each completion stops by itself and makes room for the next.
    Greedy decoding gives the text that `hf` gives with batch size 1, sampling the same distribution.

    `batch_size` is the number of samples generated at a time, of one prompt or of several. 1, which is what the host
    passes where none was asked for, stands for 16, and `auto` for `max_batch_size`, which bounds both. It is halved
    whenever memory runs out.

    Where the model or a setting does not allow it, says so once and does what `hf` does.
    """

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        texts: dict[int, str] = {}
        for group in _groups(requests):
            members = [requests[index] for index in group.indices]
            plan = self._plan(group.settings, members)
            if isinstance(plan, str):
                _say_once(plan)
                done = super().generate_until(members, disable_tqdm=disable_tqdm)
                texts.update(zip(group.indices, done, strict=True))
                continue
            with tqdm(
                total=len(members),
                disable=disable_tqdm or self.rank != 0,
                desc="Running generate_until requests (hf-shared)",
            ) as bar:
                for member, text in self._generate(members, group.settings, plan):
                    texts[group.indices[member]] = text
                    bar.update()
        return [texts[index] for index in range(len(requests))]

    def _plan(self, settings: dict[str, Any], requests: list[Instance]) -> Choice | str:
        """How tokens are to be chosen, or why this has to be done as `hf` does it."""
        if reason := support.model_objection(self):
            return reason
        arguments = normalize_gen_kwargs(settings, self.max_gen_toks)
        if "max_length" in arguments:
            return "`max_length` is among the generation settings"
        if not all(request.args[0] for request in requests):
            return "a prompt is empty"
        del arguments["until"], arguments["max_gen_toks"]
        choice = support.choice(self, arguments)
        if isinstance(choice, str):
            return choice
        return self._probe_objection or choice

    @property
    def _rows(self) -> int:
        """How many samples are generated at a time."""
        if self.batch_size == "auto":
            return int(self.max_batch_size)
        return min(_DEFAULT_ROWS, int(self.max_batch_size)) if self.batch_size == 1 else int(self.batch_size)

    @functools.cached_property
    def _network(self) -> Network:
        return Network(
            self.model,
            lambda: torch.autocast(
                device_type=self.device.type,
                dtype=self.mixed_precision_dtype,
                enabled=self.mixed_precision_dtype is not None,
            ),
        )

    @functools.cached_property
    def _probe_objection(self) -> str | None:
        return support.probe(self._network, self.model.config)

    def _generate(
        self, requests: list[Instance], settings: dict[str, Any], choice: Choice
    ) -> Iterator[tuple[int, str]]:
        """Yield the index of each request with its completion, in the order in which they get done."""
        arguments = normalize_gen_kwargs(settings, self.max_gen_toks)
        until = handle_stop_sequences(
            arguments["until"], eos=self.tok_decode(self.eot_token_id, skip_special_tokens=False)
        )
        prompts = self._prompts(requests, arguments["max_gen_toks"], choice.do_sample)
        decoder = Decoder(self._network, choice, support.StopStrings(self.tokenizer, until), self._rows)
        for sample in decoder.run(prompts):
            text = self._text(sample.tokens, until)
            for index in sample.tag:
                self.cache_hook.add_partial("generate_until", (requests[index].args[0], settings), text)
                yield index, text

    def _prompts(self, requests: list[Instance], limit: int, do_sample: bool) -> list[Prompt]:
        """The distinct prompts, those of a task one after the other and the longest first, with their samples."""
        room = self.max_length - limit
        if room <= 0:
            raise UserError(
                f"The model reads {self.max_length} tokens at most, and {limit} are to be generated: no room is left "
                "for the prompt. Lower `max_gen_toks`."
            )
        tasks: dict[str | None, dict[str, list[int]]] = {}
        for index, request in enumerate(requests):
            tasks.setdefault(request.task_name, {}).setdefault(request.args[0], []).append(index)
        prompts = []
        for contexts in tasks.values():
            ids = {context: self._ids(context, room) for context in contexts}
            prefix = Prefix(_shared(list(ids.values())))
            for context in sorted(contexts, key=lambda context: (-len(ids[context]), context)):
                # Without sampling all completions of a prompt are the same, so one is enough.
                tags = [[index] for index in contexts[context]] if do_sample else [contexts[context]]
                samples = deque(Sample(limit, tag) for tag in tags)
                prompts.append(Prompt(ids[context], prefix, samples))
        return prompts

    def _ids(self, context: str, room: int) -> list[int]:
        ids, _ = self.tok_batch_encode([context], left_truncate_len=room, truncation=self.truncation)
        return list(ids[0].tolist())

    def _text(self, tokens: list[int], until: list[str]) -> str:
        """What the host makes of generated tokens."""
        marker = self.think_end_token
        if isinstance(marker, int):
            if marker in tokens:
                tokens = tokens[len(tokens) - tokens[::-1].index(marker) :]
            text = self.tok_decode(tokens).lstrip()
        else:
            text = self.tok_decode(tokens)
        thinking = marker if isinstance(marker, str) else None
        return str(postprocess_generated_text(generation=text, stop=until, think_end_token=thinking))


def _groups(requests: list[Instance]) -> list[_Group]:
    groups: list[_Group] = []
    for index, request in enumerate(requests):
        settings = request.args[1]
        for group in groups:
            if group.settings == settings:
                group.indices.append(index)
                break
        else:
            groups.append(_Group(settings, [index]))
    return groups


def _shared(prompts: list[list[int]]) -> list[int]:
    """What all prompts begin with, short of a whole prompt. Nothing where there is one prompt only."""
    if len(prompts) == 1:
        return []
    first, last = min(prompts), max(prompts)  # what these two begin with, all between them begin with
    length = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[: min(length, min(map(len, prompts)) - 1)]


@functools.cache
def _say_once(reason: str) -> None:
    _log.warning("hf-shared: %s, so this is done the way of the host's `hf`.", reason)
