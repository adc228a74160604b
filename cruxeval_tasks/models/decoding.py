"""Generating many samples of many prompts: one prefill for a prompt, one for what prompts have in common.

Rows come and go one by one. A row that is done gives its place to the next sample, so the batch stays full until the
prompts run out.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from accelerate.utils import release_memory
from accelerate.utils.memory import should_reduce_batch_size
from transformers import LogitsProcessorList, PreTrainedModel, RepetitionPenaltyLogitsProcessor, TopPLogitsWarper

from cruxeval_tasks.models.row_cache import Layers, RowCache, cache_of, layers_of

_log = logging.getLogger(__name__)

# How many of the likeliest tokens are looked at first when sampling with top_p.
_CANDIDATES = 256


@dataclass
class Sample:
    """One completion to be generated.

    Attributes:
        limit: How many tokens it may have at most.
        tag: Whatever the caller needs to recognise it.
        tokens: Those it has so far.
    """

    limit: int
    tag: Any
    tokens: list[int] = field(default_factory=list)


@dataclass
class Prefix:
    """Tokens with which several prompts begin, and their keys and values once they were computed."""

    ids: list[int]
    layers: Layers | None = None


@dataclass
class Prompt:
    """Tokens, and the samples that are to continue them. `ids` holds at least one token after the prefix.

    A sample that was begun already, and lost its place, stands alone.
    """

    ids: list[int]
    prefix: Prefix
    samples: deque[Sample]

    @property
    def so_far(self) -> list[int]:
        """What the next samples continue."""
        return self.ids + self.samples[0].tokens


@dataclass(frozen=True)
class Choice:
    """How the next token is chosen.

    Args:
        processors: What transformers does to the scores before a token is chosen.
        do_sample: Whether it is drawn; else it is the likeliest.
        ends: Tokens that end a completion.
    """

    processors: LogitsProcessorList
    do_sample: bool
    ends: frozenset[int]

    @property
    def reads_tokens(self) -> bool:
        """Whether the scores depend on the tokens so far."""
        return any(isinstance(processor, RepetitionPenaltyLogitsProcessor) for processor in self.processors)

    def next_tokens(self, logits: torch.Tensor, so_far: Callable[[], list[list[int]]]) -> list[int]:
        """One token for each row of `logits` (rows, vocabulary), as `generate` of transformers chooses it."""
        ids = torch.zeros((logits.shape[0], 1), dtype=torch.long, device=logits.device)
        if self.reads_tokens:
            rows = so_far()
            longest = max(map(len, rows))
            # Filled up with a token that is in the row anyway: only which tokens occur makes a difference.
            filled = [[row[0]] * (longest - len(row)) + row for row in rows]
            ids = torch.tensor(filled, dtype=torch.long, device=logits.device)
        scores = logits.to(dtype=torch.float32, copy=True)
        nucleus: Any = self.processors[-1] if self.processors else None
        if self.do_sample and type(nucleus) is TopPLogitsWarper and nucleus.min_tokens_to_keep == 1:
            scores = LogitsProcessorList(self.processors[:-1])(ids, scores)
            chosen = _draw_from_nucleus(scores, nucleus)
        else:
            scores = self.processors(ids, scores)
            chosen = _draw(scores) if self.do_sample else scores.argmax(dim=-1)
        return list(chosen.tolist())


def _draw(scores: torch.Tensor) -> torch.Tensor:
    return torch.multinomial(torch.softmax(scores, dim=-1), num_samples=1).squeeze(1)


def _draw_from_nucleus(scores: torch.Tensor, nucleus: TopPLogitsWarper) -> torch.Tensor:
    """Draw from the likeliest tokens that reach `top_p` together: the same distribution as after `nucleus`.

    That sorts the whole vocabulary, which on a CPU takes a third of the time of a step. The likeliest few are mostly
    enough; rows for which they are not are left to it.
    """
    chances, tokens = torch.softmax(scores, dim=-1).topk(min(_CANDIDATES, scores.shape[-1]))
    likelier = chances.cumsum(dim=-1) - chances
    missing = likelier[:, -1] + chances[:, -1] < nucleus.top_p
    drawn = torch.multinomial(chances.masked_fill(likelier >= nucleus.top_p, 0), num_samples=1)
    chosen = tokens.gather(1, drawn).squeeze(1)
    if missing.any():
        chosen[missing] = _draw(nucleus(torch.empty(0), scores[missing]))
    return chosen


@dataclass
class _Prefilled:
    """A prompt whose keys, values and next-token logits are known, with the samples not yet begun."""

    prompt: Prompt
    suffix: Layers
    logits: torch.Tensor


@dataclass
class _Row:
    prompt: Prompt
    sample: Sample


class Network:
    """A causal language model, called with a cache of ours.

    Args:
        model: The model.
        autocast: Makes the context in which it is called.
    """

    def __init__(self, model: PreTrainedModel, autocast: Callable[[], contextlib.AbstractContextManager[Any]]) -> None:
        self._model = model
        self._autocast = autocast
        self.device = model.device
        forward = model.get_base_model().forward if hasattr(model, "get_base_model") else model.forward
        parameters = inspect.signature(forward).parameters
        # Later versions of transformers 5 call it `cache`.
        self._cache_argument = "cache" if "cache" in parameters else "past_key_values"
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}

    def last_logits(
        self, ids: Sequence[Sequence[int]], cache: Any, positions: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Run the tokens `ids` after what is in `cache`. Returns the logits after the last: (rows, vocabulary)."""
        with torch.no_grad(), self._autocast():
            output = self._model(
                input_ids=torch.tensor(ids, dtype=torch.long, device=self.device),
                attention_mask=mask,
                position_ids=positions,
                use_cache=True,
                **{self._cache_argument: cache},
                **self._last_only,
            )
        logits: torch.Tensor = output.logits[:, -1]
        return logits

    def plain(self, ids: Sequence[int]) -> torch.Tensor:
        """The logits that follow these tokens, without any cache: (vocabulary,)."""
        with torch.no_grad(), self._autocast():
            logits: torch.Tensor = self._model(input_ids=torch.tensor([ids], device=self.device)).logits
        return logits[0, -1]

    def prefill(self, prefix: Prefix, suffixes: Sequence[Sequence[int]]) -> tuple[list[Layers], torch.Tensor]:
        """Run suffixes of a prefix.

        Returns:
            The keys and values of each suffix, as one row without padding, and the logits that follow each.
        """
        if prefix.ids and prefix.layers is None:
            (prefix.layers,), _ = self.prefill(Prefix([]), [prefix.ids])
        known, longest, count = len(prefix.ids), max(map(len, suffixes)), len(suffixes)
        cache = cache_of(prefix.layers or [], count)
        # The padding stands between the prefix and the suffix.
        filled = [[suffix[0]] * (longest - len(suffix)) + list(suffix) for suffix in suffixes]
        padding = torch.tensor([longest - len(suffix) for suffix in suffixes], device=self.device)[:, None]
        columns = torch.arange(longest, device=self.device)
        positions = (columns - padding).clamp(min=0) + known
        mask = torch.cat([torch.ones_like(padding).expand(-1, known), (columns >= padding).long()], dim=1)
        logits = self.last_logits(filled, cache, positions, mask)
        layers = layers_of(cache)
        rows = [
            [(keys[row : row + 1, :, -length:], values[row : row + 1, :, -length:]) for keys, values in layers]
            for row, length in enumerate(map(len, suffixes))
        ]
        return rows, logits

    def step(self, tokens: Sequence[int], cache: RowCache) -> torch.Tensor:
        """Run one token for each row of `cache`, which it becomes part of. Returns the logits that follow."""
        positions = torch.tensor(cache.lengths, device=self.device)[:, None]
        logits = self.last_logits([[token] for token in tokens], cache, positions, cache.mask(self.device))
        cache.advance()
        return logits


class Decoder:
    """Generates samples.

    Args:
        network: The model.
        choice: How tokens are chosen.
        stops: Says of each list of tokens whether it holds a stop string at its end.
        rows: How many samples are generated at a time. Halved for good whenever memory runs out.
    """

    def __init__(
        self, network: Network, choice: Choice, stops: Callable[[list[list[int]]], list[bool]], rows: int
    ) -> None:
        self._network = network
        self._choice = choice
        self._stops = stops
        self.rows = rows
        self._waiting: deque[Prompt] = deque()
        self._prefilled: deque[_Prefilled] = deque()
        self._active: list[_Row] = []
        self._cache = RowCache(rows)
        self._done: list[Sample] = []

    def run(self, prompts: Iterable[Prompt]) -> Iterator[Sample]:
        """Yield the samples as they get done. Raises what the model raises when memory runs out for a single row."""
        self._waiting.extend(prompts)
        while self._waiting or self._prefilled or self._active:
            out_of_memory = False
            try:
                # Not for each single place: prompts are prefilled together, which is cheaper on a GPU.
                if self.rows - len(self._active) >= max(1, self.rows // 4) or not self._active:
                    self._fill()
                if self._active:
                    self._step()
            except RuntimeError as error:
                if self.rows == 1 or not should_reduce_batch_size(error):
                    raise
                out_of_memory = True
            if out_of_memory:  # outside the handler, where the error still holds the tensors
                self._halve()
            yield from self._done
            self._done.clear()

    def _fill(self) -> None:
        while (self._waiting or self._prefilled) and len(self._active) < self.rows:
            if not self._prefilled:
                self._prefill(self.rows - len(self._active))
            ready = self._prefilled[0]
            self._begin(ready, self.rows - len(self._active))
            if not ready.prompt.samples:
                self._prefilled.popleft()
        for ready in self._prefilled:  # else they would keep everything alive that was prefilled together
            ready.suffix = [(keys.clone(), values.clone()) for keys, values in ready.suffix]

    def _prefill(self, places: int) -> None:
        """Prefill as many prompts as fill the places, of those that begin alike."""
        batch: list[Prompt] = []
        for prompt in self._waiting:
            if places <= 0 or prompt.prefix is not self._waiting[0].prefix:
                break
            batch.append(prompt)
            places -= len(prompt.samples)
        prefix = batch[0].prefix
        layers, logits = self._network.prefill(prefix, [prompt.so_far[len(prefix.ids) :] for prompt in batch])
        for prompt, suffix, row in zip(batch, layers, logits, strict=True):
            self._waiting.popleft()
            self._prefilled.append(_Prefilled(prompt, suffix, row))

    def _begin(self, ready: _Prefilled, places: int) -> None:
        """Give samples of a prompt their first token, and those that are not done with it a row."""
        prompt = ready.prompt
        count = min(places, len(prompt.samples))
        tokens = self._choice.next_tokens(ready.logits.expand(count, -1), lambda: [prompt.so_far] * count)
        samples = [prompt.samples.popleft() for _ in range(count)]
        for sample, done in zip(samples, self._append(samples, tokens), strict=True):
            if not done:
                self._cache.add([prompt.prefix.layers, ready.suffix] if prompt.prefix.layers else [ready.suffix])
                self._active.append(_Row(prompt, sample))

    def _step(self) -> None:
        rows = self._active
        logits = self._network.step([row.sample.tokens[-1] for row in rows], self._cache)
        tokens = self._choice.next_tokens(logits, lambda: [row.prompt.ids + row.sample.tokens for row in rows])
        done = self._append([row.sample for row in rows], tokens)
        for index in reversed(range(len(rows))):
            if done[index]:
                self._cache.remove(index)
                rows[index] = rows[-1]
                rows.pop()

    def _append(self, samples: list[Sample], tokens: list[int]) -> list[bool]:
        """Give each sample its token. Returns which are done."""
        for sample, token in zip(samples, tokens, strict=True):
            sample.tokens.append(token)
        stopped = self._stops([sample.tokens for sample in samples])
        done = [
            stop or token in self._choice.ends or len(sample.tokens) >= sample.limit
            for stop, token, sample in zip(stopped, tokens, samples, strict=True)
        ]
        self._done += [sample for sample, is_done in zip(samples, done, strict=True) if is_done]
        return done

    def _halve(self) -> None:
        """Go on with half the rows. What was generated so far is kept, and prefilled again when its turn comes.

        Starting such samples anew would favour short ones, since memory runs out on long ones.
        """
        self.rows //= 2
        _log.warning("Out of memory: going on with %d samples at a time.", self.rows)
        again = [Prompt(row.prompt.ids, row.prompt.prefix, deque([row.sample])) for row in self._active]
        again += [ready.prompt for ready in self._prefilled]
        self._waiting.extendleft(reversed(again))
        self._prefilled.clear()
        self._active.clear()
        self._cache = RowCache(self.rows)
        release_memory()
