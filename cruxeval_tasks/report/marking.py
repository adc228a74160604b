"""Where in a completion the answer lies that was found in it."""

from __future__ import annotations

import re
from collections.abc import Callable

_TRIES = 12  # places that are tried, each of which costs an extraction
_STAND_IN = {"output": "'another answer'", "input": "f('another answer')"}


def place(
    text: str, answer: str | None, direction: str, extract: Callable[[str], str | None]
) -> tuple[int, int] | None:
    """Return start and end of the answer in a completion, or None where it does not stand there letter by letter.

    Where the answer's text stands in several places, its place is the one at which another answer would have been found
    instead: that is tried out.

    Args:
        text: The completion.
        answer: What was found in it.
        direction: "output" or "input".
        extract: Finds the answer in a completion.
    """
    if not answer:
        return None
    starts = [match.start() for match in re.finditer(_whole(answer), text)]
    if not starts:
        return None
    if len(starts) > 1:
        other = _STAND_IN[direction]
        # A direct answer comes first, one after reasoning last.
        order = list(dict.fromkeys([starts[0], *reversed(starts[1:])]))[:_TRIES]
        tried = (at for at in order if extract(f"{text[:at]}{other}{text[at + len(answer) :]}") == other)
        found = next(tried, None)
        if found is None:
            return None
        return found, found + len(answer)
    return starts[0], starts[0] + len(answer)


def _whole(answer: str) -> str:
    """A pattern for the answer where it is no part of a longer word or number."""
    before = r"(?<!\w)" if re.match(r"\w", answer) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", answer) else ""
    return before + re.escape(answer) + after
