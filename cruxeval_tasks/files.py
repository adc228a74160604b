"""Writing files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from cruxeval_tasks.errors import UserError


def refuse_inputs(target: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse, before any work is done for it, to write to a file that is read or to what is no file.

    Raises:
        UserError: `target` is one of `inputs`, whatever the two are called, or a directory.
    """
    if target.is_dir():
        raise UserError(f"{target}: a directory; name a file to write to")
    for source in inputs:
        if target.exists() and os.path.exists(source) and os.path.samefile(target, source):
            raise UserError(f"{target}: is an input; write to another file")


def write_atomically(target: Path, text: str) -> None:
    """Write a file whole or not at all: beside it first, then renamed onto it.

    Raises:
        UserError: The file cannot be written.
    """
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        raise UserError(f"{target}: cannot be written: {error.strerror}") from None
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
