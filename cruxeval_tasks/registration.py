"""Making the installed host find our tasks without `--include_path`.

The host reads task files from its own `tasks` folder only. It follows no linked folder there and knows no
entry point, so `register` puts a real folder there with one stub for each task and group, which includes our
file by its absolute path: what a task says is always read from this package. A marker file tells who made the
folder and what is in it.

Nothing here imports the host, which takes seconds.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import yaml
from packaging.version import Version

import cruxeval_tasks
from cruxeval_tasks.errors import UserError

FOLDER = "cruxeval_tasks"
"""Name of our folder inside the host's `tasks` folder. The host's own CRUXEval is in `cruxeval`."""

MARKER = "made-by-cruxeval-register.json"
_MADE_BY = "cruxeval-tasks"

OLDEST = "0.4.12"
"""The first version of the host that resolves `!function` to an installed module."""


class RegistrationError(UserError):
    """The host is absent, or its folder cannot be changed as asked."""


class State(Enum):
    """How the host's folder stands to this installation of the package."""

    ABSENT = "absent"
    CURRENT = "current"
    STALE = "stale"
    FOREIGN = "foreign"
    """Something of our folder's name is there which `register` did not make."""


@dataclass(frozen=True)
class Host:
    """An installed host: its `tasks` folder, and its version ("unknown" where it carries no metadata)."""

    tasks: Path
    version: str


@dataclass(frozen=True)
class Status:
    """State of the registration.

    Attributes:
        state: See `State`.
        folder: Our folder inside the host, whether it exists or not.
        host: The host it belongs to.
        reasons: Why the state is STALE or FOREIGN, one sentence each; empty otherwise.
    """

    state: State
    folder: Path
    host: Host
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Registered:
    """What `register` did: the status it found, and the tasks and groups that the host finds now."""

    before: Status
    names: tuple[str, ...]


@dataclass(frozen=True)
class Unregistered:
    """What `unregister` did: the status it found, the files it removed, and those of others that it left."""

    before: Status
    removed: tuple[str, ...]
    kept: tuple[str, ...]


def find_host() -> Host:
    """Locate the installed host, editable or not. Raises `RegistrationError` where there is none."""
    spec = importlib.util.find_spec("lm_eval")
    # A folder that is merely called lm_eval is found as a namespace package, which has no origin.
    if spec is None or spec.origin is None:
        raise RegistrationError(
            f"lm-evaluation-harness is not installed in this Python environment: pip install 'lm-eval>={OLDEST}'"
        )
    tasks = Path(spec.origin).parent / "tasks"
    if not tasks.is_dir():
        raise RegistrationError(f"lm-evaluation-harness is incomplete: {tasks} is missing. Reinstall it.")
    try:
        version = importlib.metadata.version("lm_eval")
    except importlib.metadata.PackageNotFoundError:
        version = "unknown"
    return Host(tasks, version)


def refuse_old(host: Host) -> None:
    """Raise `RegistrationError` for a host that cannot read our task files, which it would say in obscure words."""
    if host.version != "unknown" and Version(host.version) < Version(OLDEST):
        raise RegistrationError(
            f"lm-eval {host.version} is installed; these tasks need {OLDEST} or newer: pip install -U lm-eval"
        )


def registration_status() -> Status:
    """Compare the host's folder with what `register` would write. Raises `RegistrationError`."""
    return _status(find_host(), _stubs())


def register() -> Registered:
    """Make the host find the tasks of this package. Does nothing where it already does.

    Raises:
        RegistrationError: No host, or one that is too old; its folder cannot be written, or what is there was not made
            by us.
    """
    stubs = _stubs()
    host = find_host()
    refuse_old(host)
    before = _status(host, stubs)
    names = tuple(sorted(Path(file).stem for file in stubs))
    if before.state is State.CURRENT:
        return Registered(before, names)
    if before.state is State.FOREIGN:
        raise RegistrationError(f"{' '.join(before.reasons)} Move it away, then register again.")
    folder = before.folder
    marker = _read_marker(folder)
    old = set(marker["files"]) if marker else set()
    for file in stubs.keys() - old:
        if os.path.lexists(folder / file):
            raise RegistrationError(
                f"{folder / file} was not made by `cruxeval register`, which needs that name. "
                "Move it away, then register again."
            )
    try:
        folder.mkdir(exist_ok=True)
        # The marker names every file that may be there, so that what an interrupted run left can be removed.
        _write_marker(folder, before.host, old | stubs.keys())
        for file, text in stubs.items():
            _write(folder / file, text)
        for file in old - stubs.keys():
            (folder / file).unlink(missing_ok=True)
        _write_marker(folder, before.host, stubs.keys())
    except OSError as error:
        raise _cannot_change(folder, error) from error
    return Registered(before, names)


def unregister() -> Unregistered:
    """Remove the files that `register` made, and their folder unless it holds files of others.

    Raises:
        RegistrationError: No host, or its folder cannot be written.
    """
    before = registration_status()
    folder = before.folder
    marker = _read_marker(folder)
    if marker is None:
        return Unregistered(before, (), ())
    removed = []
    try:
        for file in [*marker["files"], MARKER]:
            if (folder / file).is_file():
                (folder / file).unlink()
                removed.append(file)
        kept = tuple(sorted(entry.name for entry in folder.iterdir()))
        if not kept:
            folder.rmdir()
    except OSError as error:
        raise _cannot_change(folder, error) from error
    return Unregistered(before, tuple(removed), kept)


def _status(host: Host, stubs: dict[str, str]) -> Status:
    folder = host.tasks / FOLDER
    if not folder.exists() and not folder.is_symlink():
        return Status(State.ABSENT, folder, host)
    if folder.is_symlink() or not folder.is_dir():
        reason = f"{folder} was not made by `cruxeval register`: it is a link or a file."
        return Status(State.FOREIGN, folder, host, (reason,))
    marker = _read_marker(folder)
    if marker is None:
        if not any(folder.iterdir()):
            return Status(State.ABSENT, folder, host)
        reason = f"{folder} was not made by `cruxeval register`: it has files, but not our {MARKER}."
        return Status(State.FOREIGN, folder, host, (reason,))
    reasons = tuple(_differences(marker, folder, host, stubs))
    return Status(State.STALE if reasons else State.CURRENT, folder, host, reasons)


def _differences(marker: dict[str, Any], folder: Path, host: Host, stubs: dict[str, str]) -> Iterator[str]:
    source = cruxeval_tasks.TASK_CONFIGS
    if marker["source"] != source:
        yield f"The package moved: registered were the tasks in {marker['source']}, they are now in {source}."
    if marker["version"] != cruxeval_tasks.__version__:
        yield f"It was made by cruxeval-tasks {marker['version']}; installed is {cruxeval_tasks.__version__}."
    if marker["host_version"] != host.version:
        yield f"It was made for lm-eval {marker['host_version']}; installed is {host.version}."
    made = set(marker["files"])
    if new := sorted(Path(file).stem for file in stubs.keys() - made):
        yield f"Not registered yet: {', '.join(new)}."
    if gone := sorted(Path(file).stem for file in made - stubs.keys()):
        yield f"No longer in the package: {', '.join(gone)}."
    # Where the source moved every stub differs, which the first sentence says already.
    if marker["source"] == source and (
        changed := sorted(file for file in stubs.keys() & made if _text(folder / file) != stubs[file])
    ):
        yield f"Missing or changed in the host's folder: {', '.join(changed)}."


def _stubs() -> dict[str, str]:
    """Return file name -> text of the stub for each task and group that the package defines."""
    source = Path(cruxeval_tasks.TASK_CONFIGS)
    if not source.is_dir():
        raise RegistrationError(f"cruxeval-tasks is incomplete: {source} is missing. Reinstall it.")
    stubs = {}
    for path in sorted(source.rglob("*.yaml")):
        if name := _defined_name(path):
            # A JSON string is a valid YAML one, whatever the path contains.
            stubs[f"{name}.yaml"] = (
                "# Made by `cruxeval register`, removed by `cruxeval unregister`.\n"
                f"include: {json.dumps(str(path), ensure_ascii=False)}\n"
            )
    if not stubs:
        raise RegistrationError(f"cruxeval-tasks is incomplete: {source} defines no task. Reinstall it.")
    return stubs


class _HeaderLoader(yaml.SafeLoader):
    """Reads a task file without resolving the host's tags (`!function`)."""


_HeaderLoader.add_multi_constructor("!", lambda loader, suffix, node: None)


def _defined_name(path: Path) -> str | None:
    """Return the group or task that a file defines, or None for a base that others include."""
    with path.open(encoding="utf-8") as file:
        config = yaml.load(file, Loader=_HeaderLoader)
    # The `task` of a group is the list of its members.
    name = config.get("group") or config.get("task")
    return name if isinstance(name, str) else None


def _read_marker(folder: Path) -> dict[str, Any] | None:
    """Return the marker's content, or None where the folder has none of ours."""
    text = _text(folder / MARKER)
    if text is None or folder.is_symlink():
        return None
    try:
        marker = json.loads(text)
    except ValueError:
        return None
    strings = ("made_by", "version", "host_version", "source")
    if (
        not isinstance(marker, dict)
        or not all(isinstance(marker.get(key), str) for key in strings)
        or marker["made_by"] != _MADE_BY
        or not isinstance(marker.get("files"), list)
        # Stubs only: a path would let `unregister` reach outside its folder.
        or not all(isinstance(file, str) and re.fullmatch(r"[^/]+\.yaml", file) for file in marker["files"])
    ):
        return None
    return marker


def _write_marker(folder: Path, host: Host, files: Collection[str]) -> None:
    marker = {
        "made_by": _MADE_BY,
        "version": cruxeval_tasks.__version__,
        "host_version": host.version,
        "source": cruxeval_tasks.TASK_CONFIGS,
        "files": sorted(files),
    }
    _write(folder / MARKER, json.dumps(marker, indent=2, ensure_ascii=False) + "\n")


def _write(path: Path, text: str) -> None:
    """Put a new file in the place of `path`, at once: a host that starts now reads no half of it, and where a link was put
    there, what it leads to stays as it is. Two `register` at a time write the same."""
    # The host takes every .yaml file for a task.
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _cannot_change(folder: Path, error: OSError) -> RegistrationError:
    return RegistrationError(
        f"Cannot change {folder}: {error.strerror or error}. Without registration, `cruxeval run ...` or "
        '`lm_eval --include_path "$(cruxeval path)" ...` find the tasks as well.'
    )
