"""The model type `hf-shared`, on a tiny model made here, beside the host's `hf`."""

from __future__ import annotations

import logging
import math
import random
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from lm_eval.api.instance import Instance  # noqa: E402
from lm_eval.models.huggingface import HFLM  # noqa: E402
from tokenizers import Tokenizer, decoders  # noqa: E402
from tokenizers import models as tokenizer_models  # noqa: E402

from cruxeval_tasks.errors import UserError  # noqa: E402
from cruxeval_tasks.models import decoding, hf_shared  # noqa: E402
from cruxeval_tasks.models.hf_shared import SharedHFLM  # noqa: E402
from cruxeval_tasks.models.row_cache import RowCache, cache_of, layers_of  # noqa: E402

pytestmark = pytest.mark.slow

LETTERS = "abcdefghijklmnopqrstuvwxyz[]/ "
GREEDY: dict[str, Any] = {"until": ["q]", "/"], "max_gen_toks": 40, "do_sample": False}
# As in the tasks with ten samples.
SAMPLED: dict[str, Any] = {
    **GREEDY, "do_sample": True, "temperature": 0.8, "top_p": 0.95, "top_k": 0, "seed": None
}  # fmt: skip


@pytest.fixture(autouse=True)
def forget_what_was_said() -> None:
    hf_shared._say_once.cache_clear()


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """One token for each letter, so that stop strings span several tokens."""
    vocabulary = {token: number for number, token in enumerate(["<end>", "<pad>", *LETTERS])}
    backend = Tokenizer(tokenizer_models.BPE(vocabulary, []))
    backend.decoder = decoders.Fuse()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<end>", pad_token="<pad>", clean_up_tokenization_spaces=False
    )


SIZES = dict(
    vocab_size=2 + len(LETTERS),
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    bos_token_id=None,
    eos_token_id=0,
    pad_token_id=1,
    initializer_range=0.4,  # so large that completions differ from prompt to prompt
)


def tiny(kind: str = "Llama", **changes: Any) -> Any:
    config = getattr(transformers, f"{kind}Config")(**{**SIZES, **changes})
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny()


def prompts(count: int) -> list[str]:
    """Prompts of different lengths that begin alike."""
    draw = random.Random(1)
    few_shot = "".join(draw.choices(LETTERS, k=50))
    return [few_shot + "".join(draw.choices(LETTERS, k=draw.randint(3, 40))) for _ in range(count)]


def requests(contexts: list[str], settings: dict[str, Any], samples: int = 1, task: str = "t") -> list[Instance]:
    return [
        Instance("generate_until", {}, (context, settings), 0, metadata=(task, index, samples))
        for index, context in enumerate(contexts)
        for _ in range(samples)
    ]


def run(kind: type[HFLM], model: Any, tokenizer: Any, wanted: list[Instance], **arguments: Any) -> list[str]:
    lm = kind(pretrained=model, tokenizer=tokenizer, **{"batch_size": 1, **arguments})
    return list(lm.generate_until(wanted, disable_tqdm=True))


def rows_of(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Records how many rows each step has."""
    seen: list[int] = []
    step = decoding.Network.step

    def counted(self: Any, tokens: Any, cache: Any) -> Any:
        seen.append(len(tokens))
        return step(self, tokens, cache)

    monkeypatch.setattr(decoding.Network, "step", counted)
    return seen


@pytest.mark.parametrize("batch_size", [1, 2, 7, "auto"])
def test_greedy_text_is_that_of_hf(model: Any, tokenizer: Any, batch_size: int | str) -> None:
    wanted = requests(prompts(12), GREEDY, samples=2)
    expected = run(HFLM, model, tokenizer, wanted)
    assert len(set(expected)) > 5, "the model says the same to everything: the test would show little"
    assert run(SharedHFLM, model, tokenizer, wanted, batch_size=batch_size) == expected


def test_results_come_in_the_order_of_requests_with_mixed_settings_and_tasks(model: Any, tokenizer: Any) -> None:
    short = {**GREEDY, "max_gen_toks": 3}
    other = ["zz" + prompt[::-1] for prompt in prompts(4)]
    wanted = [
        request
        for group in zip(
            requests(prompts(4), GREEDY),
            requests(prompts(4), short),
            requests(other, GREEDY, task="other"),
            strict=True,
        )
        for request in group
    ]
    assert run(SharedHFLM, model, tokenizer, wanted) == run(HFLM, model, tokenizer, wanted)


@pytest.mark.parametrize(
    "settings",
    [
        {"until": "q", "max_gen_toks": 20},
        {"max_gen_toks": 20},
        {"until": [], "max_gen_toks": 1, "do_sample": False},
        {"until": ["e"], "max_new_tokens": 25, "do_sample": False, "repetition_penalty": 1.5},
        {"until": ["e"], "max_gen_toks": 25, "do_sample": False, "suppress_tokens": [5, 6, 7]},
        {"until": ["e"], "max_gen_toks": 230, "do_sample": False},  # cuts prompts
    ],
)
def test_generation_settings_mean_what_they_mean_to_hf(model: Any, tokenizer: Any, settings: dict[str, Any]) -> None:
    wanted = requests(prompts(6), settings)
    assert run(SharedHFLM, model, tokenizer, wanted) == run(HFLM, model, tokenizer, wanted)


@pytest.mark.parametrize("marker", ["e", 12])
def test_reasoning_is_cut_as_hf_does(model: Any, tokenizer: Any, marker: str | int) -> None:
    wanted = requests(prompts(8), GREEDY)
    expected = run(HFLM, model, tokenizer, wanted, think_end_token=marker)
    assert expected != run(HFLM, model, tokenizer, wanted)
    assert run(SharedHFLM, model, tokenizer, wanted, think_end_token=marker) == expected


def test_no_room_for_a_prompt_is_an_error(model: Any, tokenizer: Any) -> None:
    with pytest.raises(UserError, match="max_gen_toks"):
        run(SharedHFLM, model, tokenizer, requests(prompts(2), {**GREEDY, "max_gen_toks": 256}))


def test_the_same_seed_gives_the_same_samples_and_samples_differ(model: Any, tokenizer: Any) -> None:
    wanted = requests(prompts(5), SAMPLED, samples=10)
    torch.manual_seed(1234)
    first = run(SharedHFLM, model, tokenizer, wanted, batch_size=8)
    torch.manual_seed(1234)
    assert run(SharedHFLM, model, tokenizer, wanted, batch_size=8) == first
    torch.manual_seed(1235)
    assert run(SharedHFLM, model, tokenizer, wanted, batch_size=8) != first
    assert all(len(set(first[start : start + 10])) > 3 for start in range(0, 50, 10))


def chi_square(observed: Counter[str], exact: dict[str, float], count: int) -> tuple[float, int]:
    """Pearson's statistic and its degrees of freedom. What is expected fewer than five times is put together."""
    cells = [(observed[text], count * chance) for text, chance in exact.items() if count * chance >= 5]
    rest = (count - sum(seen for seen, _ in cells), count * (1 - sum(e for _, e in cells) / count))
    if rest[1] >= 5:
        cells.append(rest)
    return sum((seen - expected) ** 2 / expected for seen, expected in cells), len(cells) - 1


def bound(freedom: int) -> float:
    """What a chi-square variable exceeds once in 10,000 times, by the approximation of Wilson and Hilferty."""
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + 3.719 * math.sqrt(part)) ** 3)


def exact_distribution(model: Any, tokenizer: Any, prompt: str, warp: Any) -> dict[str, float]:
    """Chances of all completions of two tokens, from plain passes over the whole text.

    A completion that the end token cuts short decodes to what stands before it.
    """
    ids = tokenizer(prompt)["input_ids"]

    def chances(tokens: list[int]) -> Any:
        with torch.no_grad():
            return torch.softmax(warp(model(torch.tensor([tokens])).logits[0, -1].double()), dim=0)

    exact: dict[str, float] = {}
    for first, chance in enumerate(chances(ids).tolist()):
        if chance == 0:
            continue
        if first == tokenizer.eos_token_id:
            exact[""] = exact.get("", 0) + chance
            continue
        for second, after in enumerate(chances([*ids, first]).tolist()):
            text = tokenizer.decode([first, second], skip_special_tokens=True)
            exact[text] = exact.get(text, 0) + chance * after
    return exact


def test_samples_follow_the_model_s_distribution(model: Any, tokenizer: Any) -> None:
    # Rows of three prompts in one batch that is smaller than the number of samples: places are given on, and the
    # samples of a prompt begin at different times.
    count, temperature = 3000, 0.7
    contexts = prompts(3)
    settings = {"until": [], "max_gen_toks": 2, "do_sample": True, "temperature": temperature, "top_k": 0}
    torch.manual_seed(7)
    texts = run(SharedHFLM, model, tokenizer, requests(contexts, settings, samples=count), batch_size=50)
    for index, context in enumerate(contexts):
        exact = exact_distribution(model, tokenizer, context, lambda scores: scores / temperature)
        assert math.isclose(sum(exact.values()), 1)
        observed = Counter(texts[index * count : (index + 1) * count])
        assert observed.keys() <= exact.keys()
        statistic, freedom = chi_square(observed, exact, count)
        assert freedom >= 5
        assert statistic < bound(freedom)
        # The test can fail: the same samples do not fit another temperature.
        wrong = exact_distribution(model, tokenizer, context, lambda scores: scores / (temperature * 1.3))
        statistic, freedom = chi_square(observed, wrong, count)
        assert statistic > bound(freedom)


def test_top_k_keeps_only_the_likeliest(model: Any, tokenizer: Any) -> None:
    def warp(scores: Any) -> Any:
        return torch.where(scores >= scores.topk(2).values[-1], scores, -math.inf)

    settings = {"until": [], "max_gen_toks": 2, "do_sample": True, "temperature": 1.0, "top_k": 2}
    (context,) = prompts(1)
    texts = run(SharedHFLM, model, tokenizer, requests([context], settings, samples=800))
    exact = exact_distribution(model, tokenizer, context, warp)
    observed = Counter(texts)
    assert observed.keys() <= {text for text, chance in exact.items() if chance}
    statistic, freedom = chi_square(observed, exact, 800)
    assert statistic < bound(freedom)


@pytest.mark.parametrize("candidates", [256, 3, 1], ids=["always enough", "mostly enough", "rarely enough"])
def test_top_p_keeps_the_likeliest_that_reach_it(
    model: Any, tokenizer: Any, candidates: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "_CANDIDATES", candidates)

    def warp(scores: Any) -> Any:
        kept, reached = set(), 0.0
        chances = torch.softmax(scores, dim=0).tolist()
        for token in sorted(range(len(chances)), key=lambda token: -chances[token]):
            if reached >= 0.8:
                break
            kept.add(token)
            reached += chances[token]
        return torch.tensor([score if token in kept else -math.inf for token, score in enumerate(scores.tolist())])

    settings = {"until": [], "max_gen_toks": 2, "do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 0.8}
    (context,) = prompts(1)
    torch.manual_seed(3)
    observed = Counter(run(SharedHFLM, model, tokenizer, requests([context], settings, samples=2000)))
    exact = exact_distribution(model, tokenizer, context, warp)
    assert 5 < len(exact) < 800
    assert observed.keys() <= exact.keys()
    statistic, freedom = chi_square(observed, exact, 2000)
    assert statistic < bound(freedom)


def test_one_prefill_for_a_prompt_and_one_for_what_prompts_share(
    model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, list[int]]] = []
    prefill = decoding.Network.prefill

    def counted(self: Any, prefix: Any, suffixes: Any) -> Any:
        seen.append((len(prefix.ids), [len(suffix) for suffix in suffixes]))
        return prefill(self, prefix, suffixes)

    monkeypatch.setattr(decoding.Network, "prefill", counted)
    monkeypatch.setattr(SharedHFLM, "_probe_objection", None)
    contexts = prompts(6)
    run(SharedHFLM, model, tokenizer, requests(contexts, SAMPLED, samples=10), batch_size=8)
    shared = [lengths for known, lengths in seen if known == 0]
    assert shared == [[50]]  # the few-shot text, whose letters are one token each
    rest = [length for known, lengths in seen if known for length in lengths]
    assert sorted(rest) == sorted(len(context) - 50 for context in contexts)


def test_the_batch_is_kept_full_and_rows_stop_by_themselves(
    model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SharedHFLM, "_probe_objection", None)
    seen = rows_of(monkeypatch)  # stays empty where `hf` does the work
    wanted = requests(prompts(30), SAMPLED, samples=4)
    torch.manual_seed(0)
    texts = run(SharedHFLM, model, tokenizer, wanted, batch_size=16)
    full = seen[:-40]  # the last rows, of 40 tokens at most, have nobody to follow
    assert len(full) > 20
    assert max(seen) == 16
    assert min(full) > 12  # a quarter of the places may wait, so that prompts are prefilled together
    # No row ran on after its stop: each step of a row is one token of a text, its stop string or its end token.
    assert sum(seen) <= sum(len(text) + 2 for text in texts)


def test_out_of_memory_halves_the_batch_and_goes_on(
    model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = requests(prompts(12), GREEDY)
    expected = run(HFLM, model, tokenizer, wanted)
    monkeypatch.setattr(SharedHFLM, "_probe_objection", None)
    step, seen = decoding.Network.step, []

    def short_of_memory(self: Any, tokens: Any, cache: Any) -> Any:
        seen.append(len(tokens))
        # Only once rows are under way, so that half-done ones have to be taken up again.
        if len(tokens) > 3 and len(seen) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return step(self, tokens, cache)

    monkeypatch.setattr(decoding.Network, "step", short_of_memory)
    with caplog.at_level(logging.WARNING):
        assert run(SharedHFLM, model, tokenizer, wanted, batch_size=12) == expected
    assert max(seen[:5]) == 12
    assert max(seen[-5:]) <= 3
    assert [record.args for record in caplog.records if "Out of memory" in record.message] == [(6,), (3,)]


def test_out_of_memory_with_a_single_row_is_an_error(
    model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short_of_memory(*_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(SharedHFLM, "_probe_objection", None)
    monkeypatch.setattr(decoding.Network, "step", short_of_memory)
    with pytest.raises(torch.OutOfMemoryError):
        run(SharedHFLM, model, tokenizer, requests(prompts(3), GREEDY))


def test_completions_are_handed_to_the_host_s_cache(model: Any, tokenizer: Any) -> None:
    seen: list[Any] = []

    class Hook:
        def add_partial(self, kind: str, request: Any, text: str) -> None:
            seen.append((kind, *request, text))

    wanted = requests(prompts(3), SAMPLED, samples=2)
    lm = SharedHFLM(pretrained=model, tokenizer=tokenizer, batch_size=1)
    lm.cache_hook = Hook()
    texts = lm.generate_until(wanted, disable_tqdm=True)
    expected = [("generate_until", *request.args, text) for request, text in zip(wanted, texts, strict=True)]
    assert sorted(seen, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"num_beams": 2}, "more than sampling or greedy"),
        ({"no_repeat_ngram_size": 3}, "NoRepeatNGram"),
        ({"max_length": 120}, "max_length"),
    ],
)
def test_settings_that_need_generate_go_to_hf(
    model: Any, tokenizer: Any, settings: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = requests(prompts(3), {**GREEDY, **settings})
    with caplog.at_level(logging.WARNING):
        texts = run(SharedHFLM, model, tokenizer, wanted)
        run(SharedHFLM, model, tokenizer, wanted)
    assert texts == run(HFLM, model, tokenizer, wanted)
    said = [record.getMessage() for record in caplog.records if "hf-shared" in record.getMessage()]
    assert len(said) == 1
    assert reason in said[0]


@pytest.mark.parametrize(
    ("kind", "changes", "reason"),
    [
        ("Mistral", {"sliding_window": 8}, "sliding window"),
        ("Mamba", {}, "another state"),
    ],
)
def test_models_whose_state_cannot_be_shared_go_to_hf(
    tokenizer: Any, kind: str, changes: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = tiny(kind, **changes)
    wanted = requests(prompts(4), {**GREEDY, "max_gen_toks": 10})
    with caplog.at_level(logging.WARNING):
        texts = run(SharedHFLM, model, tokenizer, wanted)
    assert texts == run(HFLM, model, tokenizer, wanted)
    assert [reason in record.getMessage() for record in caplog.records if "hf-shared" in record.getMessage()] == [True]


@pytest.mark.parametrize("kind", ["Qwen2", "Mistral", "GPTNeoX", "Gemma", "GPT2"])
def test_other_architectures_share(tokenizer: Any, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    model = tiny(kind, **({"sliding_window": None} if kind == "Mistral" else {}))
    if not getattr(model, "_supports_cache_class", True):
        pytest.skip(f"{kind} keeps its keys and values in tuples in this version of transformers")
    wanted = requests(prompts(6), {**GREEDY, "max_gen_toks": 20})
    with caplog.at_level(logging.WARNING):
        texts = run(SharedHFLM, model, tokenizer, wanted, batch_size=4)
    assert not [record.getMessage() for record in caplog.records if "hf-shared" in record.getMessage()]
    assert texts == run(HFLM, model, tokenizer, wanted)


def test_a_model_that_counts_positions_in_its_cache_is_found_out(
    model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    forward = decoding.Network.last_logits

    def counting(self: Any, ids: Any, cache: Any, positions: Any, mask: Any) -> Any:
        return forward(self, ids, cache, torch.arange(positions.shape[1])[None] + cache.get_seq_length(), mask)

    monkeypatch.setattr(decoding.Network, "last_logits", counting)
    wanted = requests(prompts(4), GREEDY)
    with caplog.at_level(logging.WARNING):
        texts = run(SharedHFLM, model, tokenizer, wanted)
    assert texts == run(HFLM, model, tokenizer, wanted)
    assert "computes something else" in caplog.text


def test_row_cache_keeps_each_row_whole(model: Any) -> None:
    """Rows that come, grow and go, over several reallocations, hold what was put into them."""
    draw = random.Random(3)
    cache, held, mark = RowCache(4), [], 0.0
    for _ in range(600):
        if len(held) < 4 and draw.random() < 0.1:
            length, mark = draw.randint(1, 90), mark + 1
            row = torch.full((1, 2, length, 3), mark)
            first = draw.randint(1, length)
            pieces = [[(row[:, :, :first], -row[:, :, :first])], [(row[:, :, first:], -row[:, :, first:])]]
            cache.add(pieces)
            held.append((length, mark))
        elif held and draw.random() < 0.05:
            index = draw.randrange(len(held))
            cache.remove(index)
            held[index] = held[-1]
            held.pop()
        elif held:
            new = torch.tensor([mark for _, mark in held]).reshape(-1, 1, 1, 1).expand(-1, 2, 1, 3)
            mask = cache.mask(torch.device("cpu"))
            keys, values = cache.update(new, -new, 0)
            assert keys.shape == (len(held), 2, cache.width + 1, 3)
            cache.advance()
            held = [(length + 1, mark) for length, mark in held]
            assert cache.lengths == [length for length, _ in held]
            for index, (length, mark_held) in enumerate(held):
                assert (keys[index, :, -length:] == mark_held).all()
                assert (values[index, :, -length:] == -mark_held).all()
                if mask is not None:
                    assert mask[index].tolist() == [0] * (cache.width - length) + [1] * length


def test_prefix_is_repeated_for_each_row() -> None:
    keys, values = torch.rand(1, 2, 5, 3), torch.rand(1, 2, 5, 3)
    ((got_keys, got_values),) = layers_of(cache_of([(keys, values)], 4))
    assert torch.equal(got_keys, keys.expand(4, -1, -1, -1))
    assert torch.equal(got_values, values.expand(4, -1, -1, -1))


def test_the_host_finds_it_by_name() -> None:
    """In a process of its own, since the registry is global: the name leads to the class, and nothing is imported
    before it is asked for."""
    code = (
        "import sys; from cruxeval_tasks import models; assert 'torch' not in sys.modules;"
        "models.register(); models.register();"
        "from lm_eval.api.registry import get_model;"
        "print(get_model('hf-shared').__name__, get_model('hf').__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["SharedHFLM", "HFLM"]


def test_the_command_line_stays_light() -> None:
    code = (
        "import sys, cruxeval_tasks.cli, cruxeval_tasks.host; assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
