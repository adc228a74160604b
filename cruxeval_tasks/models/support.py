"""What transformers is to do with the scores, where it says when to stop, and where sharing is not possible."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import transformers
from lm_eval.models.huggingface import HFLM
from packaging.version import Version
from transformers import DynamicCache, EosTokenCriteria, MaxLengthCriteria

from cruxeval_tasks.models.decoding import Choice, Network, Prefix
from cruxeval_tasks.models.row_cache import RowCache

# Those that look at one row and, the repetition penalty aside, at its scores only. Others count tokens from the
# start of the prompt, or carry state from step to step.
_PROCESSORS = (
    transformers.EpsilonLogitsWarper,
    transformers.EtaLogitsWarper,
    transformers.InfNanRemoveLogitsProcessor,
    transformers.LogitNormalization,
    transformers.MinPLogitsWarper,
    transformers.RepetitionPenaltyLogitsProcessor,
    transformers.SuppressTokensLogitsProcessor,
    transformers.TemperatureLogitsWarper,
    transformers.TopKLogitsWarper,
    transformers.TopPLogitsWarper,
    transformers.TypicalLogitsWarper,
)

# What `generate` hands to a decoding loop beside the inputs of the model.
_LOOP_ARGUMENTS = {
    "attention_mask",
    "cache",
    "cache_position",
    "logits_to_keep",
    "past_key_values",
    "position_ids",
    "streamer",
    "synced_gpus",
    "use_cache",
}


class StopStrings:
    """The host's rule for stop strings: decode a few more of the last tokens than the string takes, and look for it.

    Args:
        tokenizer: The tokenizer of the model.
        strings: The stop strings.
    """

    def __init__(self, tokenizer: Any, strings: list[str]) -> None:
        self._tokenizer = tokenizer
        self._windows = [(text, len(tokenizer.encode(text, add_special_tokens=False)) + 2) for text in strings]

    def __call__(self, rows: list[list[int]]) -> list[bool]:
        found = [False] * len(rows)
        for text, window in self._windows:
            ends = self._tokenizer.batch_decode([row[-window:] for row in rows])
            found = [before or text in end for before, end in zip(found, ends, strict=True)]
        return found


def model_objection(lm: HFLM) -> str | None:
    """Why this model, as it is run, cannot share what it has computed. None where nothing is known against it."""
    if lm.backend != "causal":
        return "the model is an encoder-decoder"
    if getattr(lm.model.config, "is_encoder_decoder", False):
        return "the model is an encoder-decoder"
    distributed = str(getattr(getattr(lm, "accelerator", None), "distributed_type", "NO"))
    if any(kind in distributed for kind in ("FSDP", "DEEPSPEED", "MEGATRON")):
        return "the model is split in a way in which all processes have to make the same number of steps"
    active = getattr(lm.model, "active_peft_config", None)
    if active is not None and active.is_prompt_learning:
        return "the model has a learned prompt"
    return None


def choice(lm: HFLM, arguments: dict[str, Any]) -> Choice | str:
    """Ask transformers how it would choose tokens with these generation settings, through the host's own call.

    Args:
        lm: The model.
        arguments: The generation settings as the host hands them to `_model_generate`.

    Returns:
        How to choose tokens, or why `generate` has to do it itself.
    """
    seen: dict[str, Any] = {}

    # Names the arguments that transformers gives any loop; `others` are arguments for the model.
    def loop(
        model: Any,
        input_ids: torch.Tensor,
        logits_processor: Any,
        stopping_criteria: Any,
        generation_config: Any,
        **others: Any,
    ) -> torch.Tensor:
        seen.update(processors=logits_processor, criteria=stopping_criteria, config=generation_config, others=others)
        return input_ids

    one = torch.tensor([[lm.eot_token_id]], device=lm.device)
    with _replaced_loop(lm.model, loop) as extra:
        lm._model_generate(
            context=one, attention_mask=torch.ones_like(one), max_length=2, stop=[], **arguments, **extra
        )
    if not seen or str(seen["config"].get_generation_mode().value) not in ("greedy_search", "sample"):
        return "the generation settings ask for more than sampling or greedy decoding"
    if seen["config"].num_return_sequences != 1:
        return "the generation settings ask for several sequences at once"
    others: Mapping[str, Any] = seen["others"]
    # None stands for an argument that is not given: our own tasks have `seed: null`, which is meant for servers.
    if unknown := {name for name, value in others.items() if value is not None} - _LOOP_ARGUMENTS:
        return f"the model takes {', '.join(sorted(unknown))} beside the tokens"
    if objection := cache_objection(lm.model.config, others.get("cache", others.get("past_key_values"))):
        return objection
    for processor in seen["processors"]:
        if type(processor) not in _PROCESSORS:
            return f"the generation settings need {type(processor).__name__}"
    ends: set[int] = set()
    for criterion in seen["criteria"]:
        if type(criterion) is EosTokenCriteria:
            ends.update(criterion.eos_token_id.flatten().tolist())
        elif type(criterion) is not MaxLengthCriteria:
            return f"the generation settings need {type(criterion).__name__}"
    return Choice(seen["processors"], bool(seen["config"].do_sample), frozenset(ends))


@contextlib.contextmanager
def _replaced_loop(model: Any, loop: Callable[..., torch.Tensor]) -> Iterator[dict[str, Any]]:
    """Have `generate` call this loop instead of its own. Yields what to pass to `generate` for that."""
    if Version(transformers.__version__) >= Version("4.57"):
        yield {"custom_generate": loop}
        return
    # Older versions take no loop from outside. Theirs is a method, looked up at the model itself.
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    base._sample = functools.partial(loop, base)
    try:
        yield {}
    finally:
        del base._sample


def cache_objection(config: Any, cache: Any) -> str | None:
    """Why the cache that transformers made for a model cannot be cut and put together. None where it can."""
    if type(cache) is not DynamicCache:
        return "the model keeps another state than keys and values of each token"
    config = config.get_text_config(decoder=True)
    window = getattr(config, "sliding_window", None) is not None and getattr(config, "use_sliding_window", True)
    layers = getattr(cache, "layers", [])
    if window or any(getattr(layer, "is_sliding", False) for layer in layers):
        return "the model's attention has a sliding window"
    if any(type(layer).__name__ != "DynamicLayer" for layer in layers):
        return "the model keeps another state than keys and values of each token"
    return None


def probe(network: Network, config: Any) -> str | None:
    """Compare a shared computation with a plain one, on a few tokens. Says what is wrong, or None.

    Catches what no flag of a model tells, such as positions that are counted in the cache.
    """
    vocabulary = config.get_text_config(decoder=True).vocab_size
    long, short = ([(7 * i * i + 3 * i + 5) % vocabulary for i in range(n)] for n in (24, 15))
    try:
        plain = [network.plain(ids) for ids in (long, short)]
        prefix = Prefix(long[:6])
        suffixes, _ = network.prefill(prefix, [long[6:-1], short[6:-1]])
        cache = RowCache(2)
        for suffix in suffixes:
            cache.add([prefix.layers or [], suffix])
        shared = network.step([long[-1], short[-1]], cache)
    except (AttributeError, IndexError, KeyError, NotImplementedError, TypeError, ValueError) as error:
        return f"the model does not take a cache that was put together ({type(error).__name__}: {error})"
    precise = plain[0].dtype == torch.float32
    for expected, got in zip(plain, shared, strict=True):
        expected, got = expected.float(), got.float()
        difference = (got - expected).norm() / (expected - expected.mean()).norm()
        if not difference < (1e-2 if precise else 0.2):  # nan too
            return f"the model computes something else from shared keys and values (off by {difference:.0%})"
    return None
