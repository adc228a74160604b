"""From the text of a completion to the answer in it. Pure text and `ast`; nothing is evaluated here."""

from __future__ import annotations


def output_answer(completion: str) -> str | None:
    """Return the answer of an output prediction: the expression stated as the value of the call of `f`, or None."""
    raise NotImplementedError


def input_answer(completion: str) -> str | None:
    """Return the answer of an input prediction: the call of `f`, or None."""
    raise NotImplementedError
