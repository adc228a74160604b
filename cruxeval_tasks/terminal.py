"""Text from models and files, made safe to look at."""

from __future__ import annotations

import re
import unicodedata

_UNSAFE = re.compile(r"[^\n\t\x20-\x7e]")


def visible(text: str) -> str:
    """Return text in which nothing can steer a terminal or hide: control, format and bidi characters and lone surrogates
    are shown as escapes. Line ends and tabs stay."""
    return _UNSAFE.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    # Cc controls, Cf formats with the bidi overrides, Cs surrogates, Co private use, Cn unassigned, Zl and Zp line ends
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character
