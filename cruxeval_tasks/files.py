"""Reading and writing files."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from cruxeval_tasks.errors import UserError


def read_text(path: str, note: str = "") -> str:
    """Return a file's text, without a byte order mark.

    Args:
        path: The file.
        note: How the file came to be named, for messages: " (named by …)".

    Raises:
        UserError: It cannot be read, is not UTF-8, or is blank.
    """
    if not path:
        raise UserError(f"the name of a file is empty{note}")
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file{note}") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a directory{note}; name a file") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path!r}: cannot be read{note}: {getattr(error, 'strerror', None) or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}, line {line}: not UTF-8; JSON or JSONL in UTF-8 is expected") from None
    if not text.strip():
        raise UserError(f"{path}: the file is empty{note}")
    return text


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank with their numbers, each with the line end that it has.

    Only "\\n" ends a line: JSON strings may hold U+2028 and others that `splitlines` takes for line ends.
    """
    for number, line in enumerate(io.StringIO(text, newline="\n"), start=1):
        if line.strip():
            yield number, line


def refuse_inputs(target: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse, before any work is done for it, to write to a file that is read or to where no file can be.

    Raises:
        UserError: `target` is one of `inputs`, whatever the two are called, a directory, or below what cannot be
            written to.
    """
    if target.is_dir():
        raise UserError(f"{target}: a directory; name a file to write to")
    for source in inputs:
        if target.exists() and os.path.exists(source) and os.path.samefile(target, source):
            raise UserError(f"{target}: is an input; write to another file")
    nearest = next(folder for folder in target.absolute().parents if folder.exists())
    if not nearest.is_dir():
        raise UserError(f"{target}: cannot be written: {nearest} is no directory")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UserError(f"{target}: cannot be written: no permission to write to {nearest}")


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
