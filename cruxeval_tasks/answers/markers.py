"""The marks that models and prompts put around an answer: reasoning traces, ends of turn, tags, invented
problems."""

from __future__ import annotations

import re

from cruxeval_tasks.answers.python_text import Reader

# Opening and closing marks of reasoning traces, as the models' chat templates and serving engines name them.
_TRACES = (
    ("<think>", "</think>"),  # DeepSeek-R1, Qwen3, GLM, Kimi, MiniMax, Nemotron, Hunyuan, OLMo ...
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reason>", "</reason>"),
    ("<THINK>", "</THINK>"),
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("[THINK]", "[/THINK]"),  # Magistral
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A Reasoning
    ("<|begin_of_thought|>", "<|end_of_thought|>"),  # Sky-T1, OpenThinker
    ("<\uff5cthink\uff5c>", "<\uff5c/think\uff5c>"),
    ("<|channel>thought", "<channel|>"),  # Gemma 4
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),  # Kimi-VL
    ("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    ("Here is my thought process:", "Here is my response:"),  # Granite 3
    ("<|channel|>analysis", "<|channel|>final<|message|>"),  # gpt-oss
    ("<|channel|>commentary", "<|channel|>final<|message|>"),
)
_OPENERS = tuple(dict.fromkeys(opener for opener, _ in _TRACES))
_CLOSERS = tuple(dict.fromkeys(closer for _, closer in _TRACES))
_FIRST = {mark[0] for mark in _OPENERS + _CLOSERS}

_ENDS = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|endoftext|end_of_text|end_of_turn|end|return|eos|EOT|END_RESPONSE_TOKEN"
    r"|END_OF_TURN_TOKEN|END_TEXT|end_of_sentence|endofprompt|user|system|assistant|start_header_id|message_end|end_of_role)\|>"
    r"|</s>|<eos>|<end_of_turn>|<turn\|>|<EOT>|\[EOS\]|<\uff5cend[\u2581_]of[\u2581_]sentence\uff5c>|<\uff5cUser\uff5c>"
    r"|<\|end\u2581of\u2581sentence\|>|\[/INST\]|\[INST\]|<\|start\|>"
)
_STARTS = re.compile(
    r"\s*(?:<s>|<bos>|<\|(?:begin_of_text|im_start|startoftext|start_header_id|assistant|end_header_id|start|message|channel"
    r"|START_RESPONSE|START_TEXT|START_OF_TURN_TOKEN|CHATBOT_TOKEN)\|>"
    r"|<start_of_turn>|<\uff5c(?:begin\u2581of\u2581sentence|Assistant)\uff5c>)\s*(?:(?:assistant|model|final)\b(?=\s*(?:\n|<)))?"
)
_QUOTES = "'\"`"


def _quoted(text: str, start: int, end: int) -> bool:
    """Whether quote marks touch `text[start:end]` on both sides: then it is talked about, not meant."""
    return start > 0 and text[start - 1] in _QUOTES and text[end : end + 1] in tuple(_QUOTES)


def _is_meant(reader: Reader, start: int, end: int) -> bool:
    """Whether a mark is one, and not a part of an answer's string."""
    return not _quoted(reader.text, start, end) and not reader.in_literal(start)


def _last(reader: Reader, mark: str) -> int:
    """The index after the last `mark` that is meant, or 0. Gives up after ten that are not."""
    at = len(reader.text)
    for _ in range(10):
        at = reader.text.rfind(mark, 0, at)
        if at < 0:
            break
        if _is_meant(reader, at, at + len(mark)):
            return at + len(mark)
    return 0


def _holds(reader: Reader, mark: str, start: int) -> bool:
    """Whether a `mark` that is meant follows `start`. Gives up after ten that are not."""
    at = start - 1
    for _ in range(10):
        at = reader.text.find(mark, at + 1)
        if at < 0:
            return False
        if _is_meant(reader, at, at + len(mark)):
            return True
    return False


def after_reasoning(reader: Reader) -> str | None:
    """Return what follows the last reasoning trace, or None where a trace was begun and never ended."""
    text = reader.text
    present = {character for character in _FIRST if character in text}
    cut = max((_last(reader, closer) for closer in _CLOSERS if closer[0] in present), default=0)
    final = _last(reader, "<|channel|>final")  # what follows may name a format before the message
    if final > cut:
        message = text.find("<|message|>", final)
        cut = len(text) if message < 0 else message + len("<|message|>")
    if text.startswith("analysis"):  # the same format where the host dropped the special tokens
        cut = max(cut, _last(reader, "assistantfinal"))
        if cut == 0 and re.match(r"analysis[A-Z]", text):
            return None
    if any(_holds(reader, opener, cut) for opener in _OPENERS if opener[0] in present):
        return None
    return text[cut:]


def within_turn(reader: Reader) -> str:
    """Drop the chat template's marks before the text, and everything from the first end of turn after it."""
    text = reader.text
    position = 0
    while (match := _STARTS.match(text, position)) is not None:
        position = match.end()
    text = text[position:]
    visible = len(text) - len(text.lstrip())
    inner = reader.on(text)
    for number, match in enumerate(_ENDS.finditer(text)):
        if number == 10:
            break
        if match.start() > visible and _is_meant(inner, *match.span()):
            return text[: match.start()]
    return text
