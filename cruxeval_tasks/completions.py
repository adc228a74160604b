"""Files of completions: read them, whatever program wrote them, into one shape.

The format is recognised by content, never by name:

=====================  =================================================================================================
`host_samples`         `samples_*.jsonl` of the host's `--log_samples`, of this package's tasks or the host's own. Rows
                       carry the problem (`doc`) and the completions (`resps`); answers are found in them anew.
`completions`          JSONL rows `{"id": …, "completion": …}` or `{"id": …, "completions": […]}`.
`generations`          the authors' `generations.json`: one object, from id to a list of answers.
`scored`               the authors' scored files, and the results files of `cruxeval score`: one object with
                       `raw_generations`, from id to a list of answers.
=====================  =================================================================================================

The strings of the last two are answers already: they are judged as they stand. Whatever is left out or mended on the way
is counted in `Run.warnings`; what cannot be told for sure is an error.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from cruxeval_tasks.direction import Direction
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.files import numbered_lines, read_text

Format = Literal["host_samples", "completions", "generations", "scored"]

_NAME_SAYS = re.compile(r"(?:^|[_-])(input|output|cruxeval_[io])(?=$|[_.-])")
"""The direction in a name such as `model_temp0.2_input`, `samples_cruxeval_o_n10_…` or `cruxeval_output_cot`."""


@dataclass(frozen=True)
class Run:
    """Completions of one model on problems, in one direction.

    Attributes:
        path: The file they came from.
        format: What kind of file it is.
        direction: What the file says of it, or its name; None where neither does.
        direction_is_stated: Whether it is the file that says so, and not its name.
        texts: For each problem id, in the file's order, its completions or answers; never an empty list.
        are_answers: Whether the texts are answers, to be judged as they stand, and not completions.
        docs: The problems as the file carries them, for each id; empty where it carries none.
        prompts: The prompt for each id, where the file has it.
        settings: How was generated, where the file says so: the host's generation arguments.
        stated: pass@1 that the file states, in percent, or None.
        digest: Digest of the problem set that the file states, or None.
        warnings: What a reader of the score has to know, a sentence each, with counts.
    """

    path: str
    format: Format
    direction: Direction | None
    direction_is_stated: bool
    texts: Mapping[str, Sequence[str]]
    are_answers: bool
    docs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    stated: float | None = None
    digest: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def samples(self) -> tuple[int, int]:
        """The least and the greatest number of samples that a problem has."""
        numbers = [len(texts) for texts in self.texts.values()]
        return min(numbers), max(numbers)


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a file of completions.

    Raises:
        UserError: The file cannot be read, is of no known format, or holds what cannot be scored. The message names the
            file, and the line where there is one.
    """
    source = os.fspath(path)
    text = read_text(source).lstrip()
    first = text[: text.find("\n") + 1] or text
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        row = None  # an object over several lines, or no JSON at all
    is_row = isinstance(row, dict) and _is_row(row)
    run = _from_rows(source, text) if is_row else _from_object(source, _whole(source, text))
    if not run.texts:
        raise UserError(f"{source}: holds no completions")
    low, high = run.samples
    if low != high:
        fewer = sum(len(texts) < high for texts in run.texts.values())
        warning = f"{fewer} of {len(run.texts)} problems have fewer than {high} samples (the fewest {low})"
        return replace(run, warnings=(*run.warnings, warning))
    return run


# --- one object ---


def _whole(source: str, text: str) -> dict[str, Any]:
    known = "a known format is one of the host's samples_*.jsonl, JSONL rows {id, completion}, or the authors' JSON files"
    try:
        body = json.loads(text, object_pairs_hook=_without_repeats)
    except _Repeated as repeated:
        raise UserError(
            f"{source}: {repeated.key!r:.60} stands twice in one object, where only one of the two could be scored; "
            "put the samples of a problem into one list"
        ) from None
    except RecursionError:
        raise UserError(f"{source}: nested too deeply; {known}") from None
    except json.JSONDecodeError as error:
        ends = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        cut = "; the file ends there: it may be cut off" if ends else ""
        raise UserError(f"{source}, line {error.lineno}: not JSON: {error.msg}{cut}; {known}") from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise UserError(f"{source}: not JSON: {error}; {known}") from None
    if isinstance(body, list):
        raise UserError(
            f"{source}: a JSON array; {known}. An array does not say which problem a completion is for: "
            "write one row {id, completion} a line"
        )
    if not isinstance(body, dict):
        raise UserError(f"{source}: JSON, but no object; {known}")
    return body


class _Repeated(Exception):
    """A key that stands twice in one JSON object: `json` would keep the last and drop the rest in silence."""

    def __init__(self, key: str) -> None:
        self.key = key


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) < len(pairs):
        raise _Repeated(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return body


def _from_object(source: str, body: dict[str, Any]) -> Run:
    if "raw_generations" in body:
        return _from_scored(source, body)
    if "results" in body and "configs" in body:
        raise UserError(
            f"{source}: the host's summary, which holds no completions; "
            "run it with --log_samples and name the samples_*.jsonl that lies beside it"
        )
    return Run(source, "generations", *_known_direction(None, source), _lists(source, body), are_answers=True)


def _from_scored(source: str, body: dict[str, Any]) -> Run:
    said = body.get("direction")
    if said not in (None, "input", "output"):
        raise UserError(f"{source}: the direction must be input or output, not {said!r:.80}")
    problems = body.get("problems")
    digest = problems.get("digest") if isinstance(problems, dict) else None
    return Run(
        source,
        "scored",
        *_known_direction(said, source),
        _lists(source, body["raw_generations"]),
        are_answers=True,
        stated=_share(body.get("pass_at_1")),
        digest=digest if isinstance(digest, str) else None,
    )


def _lists(source: str, body: object) -> dict[str, list[str]]:
    """Check a mapping from id to a list of answers."""
    if not isinstance(body, dict):
        raise UserError(f"{source}: an object from problem id to a list of answers is expected")
    for key, texts in body.items():
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            what = "an empty list" if texts == [] else f"{texts!r:.60}"
            raise UserError(
                f"{source}: of no known format: for {key!r:.60} a list of answers is expected, not {what}. "
                "`cruxeval score --help` has the formats"
            )
    return body


# --- rows ---


def _is_row(row: Mapping[str, Any]) -> bool:
    return "resps" in row or ("id" in row and not isinstance(row["id"], list))


def _from_rows(source: str, text: str) -> Run:
    rows, warnings = _rows(source, text)
    if "resps" in rows[0][1]:
        return _from_host(source, rows, warnings)
    texts: dict[str, list[str]] = {}
    for number, row in rows:
        where = f"{source}, line {number}"
        key = row.get("id")
        if not isinstance(key, str):
            raise UserError(f'{where}: a string "id" is expected, as the problem set has it')
        if ("completion" in row) == ("completions" in row):
            hint = "; this is a problem set, not a file of completions" if "code" in row and "output" in row else ""
            raise UserError(f'{where}: either "completion" or "completions" is expected beside "id"{hint}')
        if row.get("direction") not in (None, "input", "output"):
            raise UserError(f"{where}: the direction must be input or output, not {row['direction']!r:.80}")
        given = row["completions"] if "completions" in row else [row["completion"]]
        # None is what a client gets where a reply held reasoning only: a sample without an answer.
        if not isinstance(given, list) or not given or not all(t is None or isinstance(t, str) for t in given):
            raise UserError(f'{where}: "completion" must be a string, "completions" a list of at least one')
        if "completions" in row and key in texts:
            raise UserError(f"{where}: a second row with completions for {key!r:.60}")
        texts.setdefault(key, []).extend(text or "" for text in given)
    said = {row["direction"] for _, row in rows if row.get("direction") is not None}
    direction = _known_direction(_agreed(source, said), source)
    return Run(source, "completions", *direction, texts, are_answers=False, warnings=tuple(warnings))


def _rows(source: str, text: str) -> tuple[list[tuple[int, dict[str, Any]]], list[str]]:
    """Return the numbered rows. A last line that is cut off is left out, and counted in the warnings."""
    rows: list[tuple[int, dict[str, Any]]] = []
    warnings: list[str] = []
    for number, line in numbered_lines(text):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else "too deep or too long a value"
            if line.endswith("\n") or not rows:
                raise UserError(f"{source}, line {number}: not JSON: {why}") from None
            warnings.append(f"line {number}, the last, is cut off and was left out")
            break
        if not isinstance(row, dict):
            raise UserError(f"{source}, line {number}: a JSON object is expected, not {line.strip():.60}")
        rows.append((number, row))
    return rows, warnings


# --- the host's log of samples ---


def _from_host(source: str, rows: list[tuple[int, dict[str, Any]]], warnings: list[str]) -> Run:
    texts: dict[str, list[str]] = {}
    docs: dict[str, Mapping[str, Any]] = {}
    prompts: dict[str, str] = {}
    settings: Mapping[str, Any] = {}
    stated: list[float] = []
    said: Counter[Direction] = Counter()
    repeated = 0
    if all(isinstance(row.get("doc_id"), int) for _, row in rows):
        rows = sorted(rows, key=lambda row: row[1]["doc_id"])  # several ranks log one after the other
    for number, row in rows:
        where = f"{source}, line {number}"
        doc = row.get("doc")
        if not isinstance(doc, dict) or not all(isinstance(doc.get(k), str) for k in ("id", "code", "input", "output")):
            raise UserError(
                f"{where}: no CRUXEval problem in it: a log of the host's is expected to carry the fields id, code, "
                "input and output in `doc`. Is this the log of another task?"
            )
        prompt, arguments = _host_arguments(row)
        if arguments is None:
            raise UserError(f"{where}: `resps` holds likelihoods, not completions; a task that generates is expected")
        completions = _host_texts(where, row)
        key = doc["id"]
        if key in texts:
            if texts[key] != completions or docs[key] != doc:
                raise UserError(f"{where}: a second and different row for {key!r:.60}: are these two logs in one file?")
            repeated += 1  # the host writes a row for each of a task's filters
            continue
        texts[key], docs[key] = completions, doc
        if prompt is not None:
            prompts[key] = prompt
            asked = _direction_asked(prompt)
            if asked:
                said[asked] += 1
        settings = settings or arguments
        share = _share(row.get("pass@1"))
        if share is not None:
            stated.append(share)
    if repeated:
        warnings.append(f"{repeated} rows repeat a problem with the same completions (one for each filter)")
    padded = _cut_padding(texts)
    if padded:
        warnings.append(f"{padded} problems hold their samples more than once, from the host's padding; cut to one set")
    if len(said) > 1:
        raise UserError(f"{source}: some prompts ask for the output and some for the input: are these two logs in one file?")
    return Run(
        source,
        "host_samples",
        *_known_direction(next(iter(said), None), source),
        texts,
        are_answers=False,
        docs=docs,
        prompts=prompts,
        settings=settings,
        stated=100 * sum(stated) / len(stated) if len(stated) == len(texts) else None,
        warnings=tuple(warnings),
    )


def _host_texts(where: str, row: Mapping[str, Any]) -> list[str]:
    """The completions of one row: `resps` holds a list of n for the one request of a problem."""
    resps = row["resps"]
    given = resps[0] if isinstance(resps, list) and len(resps) == 1 and isinstance(resps[0], list) else resps
    if not isinstance(given, list) or not given or not all(t is None or isinstance(t, str) for t in given):
        raise UserError(f"{where}: `resps` holds no completions; a task that generates text is expected")
    filtered = row.get("filtered_resps")
    kept = filtered[0] if isinstance(filtered, list) and filtered and isinstance(filtered[0], list) else filtered
    texts = [text or "" for text in given]
    if isinstance(kept, list):
        # The host writes a completion that is None (a reply of reasoning only) as the text "None", which reads as an
        # answer. Our filter's answer beside it tells the two apart.
        texts = ["" if t == "None" and a == "" else t for t, a in zip(texts, [*kept, *texts[len(kept) :]], strict=False)]
    return texts


def _host_arguments(row: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any] | None]:
    """The prompt and the generation arguments of one row; None for those where the request was for likelihoods."""
    arguments = row.get("arguments")
    first = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    if not isinstance(first, dict):
        return None, {}
    prompt, settings = first.get("arg_0"), first.get("arg_1")
    if prompt is not None and not isinstance(prompt, str):
        prompt = json.dumps(prompt)
    if isinstance(settings, str):  # a continuation
        return prompt, None
    return prompt, settings if isinstance(settings, dict) else {}


def _direction_asked(prompt: str) -> Direction | None:
    """What a prompt leaves open: `f(??) == …` or `f(…) == ??`. Its last question counts; examples come before it."""
    place_input, place_output = prompt.rfind("f(??)"), prompt.rfind("== ??")
    if place_input == place_output:
        return None
    return "input" if place_input > place_output else "output"


def _cut_padding(texts: dict[str, list[str]]) -> int:
    """Cut a problem's samples to the number that the others have, where it has them twice or more.

    On several ranks the host pads: it asks the last problem of a rank with fewer problems again.
    """
    fewest = min(map(len, texts.values()), default=0)
    padded = 0
    for key, each in texts.items():
        if len(each) > fewest and len(each) % fewest == 0:
            texts[key] = each[:fewest]
            padded += 1
    return padded


# --- direction ---


def _known_direction(stated: Direction | None, path: str) -> tuple[Direction | None, bool]:
    """The direction, and whether the file itself states it."""
    return (stated, True) if stated else (direction_in_name(path), False)


def direction_in_name(path: str) -> Direction | None:
    """The direction in a file's name, else in its folder's, where one of them says it in the authors' or the host's way."""
    file = Path(path)
    for name in (file.name, file.resolve().parent.name):
        found = {said.removeprefix("cruxeval_")[0] for said in _NAME_SAYS.findall(name)}
        if len(found) == 1:
            return "input" if found == {"i"} else "output"
    return None


def _agreed(source: str, said: set[Any]) -> Direction | None:
    if len(said) > 1:
        raise UserError(f"{source}: some rows say input and some output; score one direction at a time")
    return next(iter(said), None)


def _share(value: object) -> float | None:
    """A pass@1 that a file states; None where it is no share or percentage (Python reads NaN and infinity in JSON, too)."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 100:
        return float(value)
    return None
