"""The prompts that the benchmark's authors published. They are not part of this package: each user gets them from them.

They lie in `prompts.py` of the repository facebookresearch/cruxeval. That file is found in a local checkout which the
environment variable CRUXEVAL_REPO names, else in the cache, else it is downloaded once. Its SHA-256 is checked every
time. The file is parsed, never run: each prompt is one f-string in a function that only unpacks its argument.
"""

from __future__ import annotations

import ast
import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Literal

from cruxeval_tasks.errors import UserError

Kind = Literal["output_direct", "output_cot", "output_phind", "input_direct", "input_cot"]

REPO_VARIABLE = "CRUXEVAL_REPO"
COMMIT = "190faf16d175b5847b0af05d937872b1fb395942"
SHA256 = "8e5378163b70897fcce63035f520ac35b8de333c96ee32029c83a472b17c1fca"
URL = f"https://raw.githubusercontent.com/facebookresearch/cruxeval/{COMMIT}/prompts.py"

_FUNCTIONS: dict[Kind, str] = {
    "output_direct": "make_direct_output_prompt",
    "output_cot": "make_cot_output_prompt",
    "output_phind": "make_direct_output_prompt_phind",
    "input_direct": "make_direct_input_prompt",
    "input_cot": "make_cot_input_prompt",
}
_GET_IT = (
    f"get the repository with `git clone https://github.com/facebookresearch/cruxeval`, "
    f"check out commit {COMMIT[:12]} in it, and set {REPO_VARIABLE} to its folder"
)


class PublishedPromptsError(UserError):
    """The authors' prompts could not be read. The message says why and what to do."""


def prompt(kind: Kind, code: str, given: str) -> str:
    """Return the authors' prompt.

    Args:
        kind: Which of their prompts.
        code: The problem's code.
        given: What the prompt states: the input for output prediction, the output for input prediction.

    Raises:
        PublishedPromptsError: if the authors' file cannot be had, is another one, or is not of the known shape.
    """
    filling = {"code": code, "given": given}
    return "".join(filling[piece.name] if isinstance(piece, _Slot) else piece for piece in _template(kind))


class _Slot:
    """A place in a prompt for `code` or what is `given`."""

    def __init__(self, name: Literal["code", "given"]) -> None:
        self.name = name


@cache
def _template(kind: Kind) -> tuple[str | _Slot, ...]:
    return parse(_source(), _FUNCTIONS[kind])


def parse(source: str, function: str) -> tuple[str | _Slot, ...]:
    """Return the text and the slots of the f-string that `function` in `source` returns. Nothing is run.

    Raises:
        PublishedPromptsError: if the function is not of the known shape:

            def function(s):
                code, given = s
                return f"... {code} ... {given} ..."
    """
    try:
        body = ast.parse(source).body
        (definition,) = (node for node in body if isinstance(node, ast.FunctionDef) and node.name == function)
        match definition.body:
            case [
                ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)])]),
                ast.Return(value=ast.JoinedStr(values=values)),
            ]:
                slots: dict[str, Literal["code", "given"]] = {first: "code", second: "given"}
                return tuple(_piece(value, slots) for value in values)
            case _:
                raise ValueError("it does more than unpack its argument and return an f-string")
    except (SyntaxError, ValueError) as error:
        raise PublishedPromptsError(
            f"the authors' prompts.py is not of the known shape, in {function}: {error}; {_GET_IT}"
        ) from error


def _piece(value: ast.expr, slots: dict[str, Literal["code", "given"]]) -> str | _Slot:
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=ast.Name(id=name), conversion=-1, format_spec=None) if name in slots:
            return _Slot(slots[name])
        case _:
            raise ValueError(f"it formats {ast.unparse(value)}")


def _source() -> str:
    """Return the text of the authors' `prompts.py`, after checking that it is theirs."""
    repository = os.environ.get(REPO_VARIABLE)
    path = Path(repository).expanduser() / "prompts.py" if repository else _downloaded()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PublishedPromptsError(f"cannot read the authors' prompts {path} ({error.strerror}): {_GET_IT}") from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise PublishedPromptsError(
            f"{path} is not the authors' prompts.py at commit {COMMIT[:12]}: its SHA-256 is another one. "
            f"To use the file as published, {_GET_IT}"
        )
    return content.decode()


def _downloaded() -> Path:
    import pooch  # only who has no checkout needs it

    cache_folder = pooch.os_cache("cruxeval-tasks")
    try:
        return Path(pooch.retrieve(URL, known_hash=f"sha256:{SHA256}", fname="prompts.py", path=cache_folder))
    except Exception as error:  # pooch passes on what the network, the disk or the check of the digest raise
        raise PublishedPromptsError(
            f"cannot get the authors' prompts from {URL} into {cache_folder} ({type(error).__name__}: {error}). "
            f"Without a network, {_GET_IT}"
        ) from error
