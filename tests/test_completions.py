"""Reading files of completions, good and bad."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runs import SMOKE, gold, host_row, write_rows

from cruxeval_tasks.completions import direction_in_name, read_run
from cruxeval_tasks.errors import UserError

ONE, TWO, THREE = SMOKE[:3]


def write(path: Path, body: Any, **options: Any) -> Path:
    path.write_text(json.dumps(body, **options), encoding="utf-8")
    return path


class TestFormats:
    def test_rows_of_one_completion(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "a.jsonl", [{"id": "x", "completion": "1"}, {"id": "y", "completion": "2"}])
        run = read_run(path)
        assert (run.format, run.direction, run.are_answers) == ("completions", None, False)
        assert run.texts == {"x": ["1"], "y": ["2"]}
        assert run.warnings == ()

    def test_rows_of_the_same_id_are_its_samples(self, tmp_path: Path) -> None:
        rows = [{"id": "x", "completion": "1"}, {"id": "y", "completion": "2"}]
        run = read_run(write_rows(tmp_path / "a.jsonl", rows + rows))
        assert run.texts == {"x": ["1", "1"], "y": ["2", "2"]}
        assert run.samples == (2, 2)

    def test_rows_of_several_completions(self, tmp_path: Path) -> None:
        run = read_run(write_rows(tmp_path / "a.jsonl", [{"id": "x", "completions": ["1", None, "3"]}]))
        assert run.texts == {"x": ["1", "", "3"]}  # None is a sample without an answer, not no sample

    def test_rows_that_say_the_direction(self, tmp_path: Path) -> None:
        rows = [{"id": "x", "completion": "1", "direction": "input"}]
        run = read_run(write_rows(tmp_path / "model_output.jsonl", rows))
        assert (run.direction, run.direction_is_stated) == ("input", True)

    @pytest.mark.parametrize("indent", [None, 4])
    def test_generations(self, tmp_path: Path, indent: int | None) -> None:
        body = {"sample_1": ["f(1)", "f(2)"], "sample_0": ["f(1)", "f(3)"]}
        folder = tmp_path / "model_temp0.2_input"
        folder.mkdir()
        run = read_run(write(folder / "generations.json", body, indent=indent))
        assert (run.format, run.direction, run.are_answers) == ("generations", "input", True)
        assert not run.direction_is_stated
        assert run.texts == body

    def test_scored(self, tmp_path: Path) -> None:
        body = {"raw_generations": {"x": ["1"]}, "raw_scored_generations": {"x": [True]}, "pass_at_1": 100.0}
        run = read_run(write(tmp_path / "model_temp0.2_output.json", body))
        assert (run.format, run.direction, run.are_answers, run.stated) == ("scored", "output", True, 100.0)

    @pytest.mark.parametrize("direction", ["output", "input"])
    def test_host(self, tmp_path: Path, direction: str) -> None:
        rows = [host_row(p, [gold(p), "x"], direction) for p in (ONE, TWO)]
        # A name that says otherwise: what the prompts ask is what counts.
        run = read_run(write_rows(tmp_path / "samples_cruxeval_input_output.jsonl", rows))
        assert (run.format, run.direction, run.direction_is_stated) == ("host_samples", direction, True)
        assert not run.are_answers
        assert run.texts == {p.id: [gold(p), "x"] for p in (ONE, TWO)}
        assert run.docs[ONE.id]["code"] == ONE.code
        assert run.prompts[TWO.id].endswith("[ANSWER]\n")
        assert run.settings == {"until": ["[/ANSWER]"], "temperature": 0.2}
        assert run.stated == 100.0
        assert run.warnings == ()

    def test_a_byte_order_mark_and_blank_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b'\xef\xbb\xbf\n{"id": "x", "completion": "1"}\n\n{"id": "y", "completion": "2"}\n\n')
        assert read_run(path).texts == {"x": ["1"], "y": ["2"]}

    def test_line_separators_inside_strings_end_no_row(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text('{"id": "x", "completion": "1\u2028\x85 2"}\n', encoding="utf-8")
        assert read_run(path).texts == {"x": ["1\u2028\x85 2"]}


class TestHostLogs:
    def test_a_row_for_each_filter_counts_once(self, tmp_path: Path) -> None:
        rows = [host_row(ONE, ["a"]), host_row(ONE, ["a"], filter="other"), host_row(TWO, ["b"])]
        run = read_run(write_rows(tmp_path / "a.jsonl", rows))
        assert run.texts == {ONE.id: ["a"], TWO.id: ["b"]}
        assert run.warnings == ("1 rows repeat a problem with the same completions (one for each filter)",)

    def test_padding_is_cut(self, tmp_path: Path) -> None:
        rows = [host_row(ONE, ["a", "b"]), host_row(TWO, ["c", "d", "e", "f"])]
        run = read_run(write_rows(tmp_path / "a.jsonl", rows))
        assert run.texts == {ONE.id: ["a", "b"], TWO.id: ["c", "d"]}
        assert "1 problems hold their samples more than once" in run.warnings[0]

    def test_ragged_samples_are_counted_and_not_cut(self, tmp_path: Path) -> None:
        rows = [host_row(ONE, ["a", "b"]), host_row(TWO, ["c", "d", "e"])]
        run = read_run(write_rows(tmp_path / "a.jsonl", rows))
        assert run.samples == (2, 3)
        assert run.warnings == ("1 of 2 problems have fewer than 3 samples (the fewest 2)",)

    def test_a_missing_completion_is_no_answer_none(self, tmp_path: Path) -> None:
        """The host writes a completion that is None as the text "None"; our filter's answer beside it is empty."""
        rows = [host_row(ONE, ["None", "None"], filtered_resps=[["", "None"]])]
        assert read_run(write_rows(tmp_path / "a.jsonl", rows)).texts == {ONE.id: ["", "None"]}

    def test_without_prompts_the_name_says_the_direction(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "samples_cruxeval_i_smoke_2026-01-01T00-00-00.jsonl", [
            host_row(ONE, ["a"], arguments={})
        ])  # fmt: skip
        run = read_run(path)
        assert (run.direction, run.direction_is_stated) == ("input", False)


class TestCutOff:
    def test_a_last_line_that_is_cut_off_is_left_out_and_counted(self, tmp_path: Path) -> None:
        rows = [{"id": "x", "completion": "1"}, {"id": "y", "completion": "2"}]
        path = write_rows(tmp_path / "a.jsonl", rows, end='{"id": "z", "compl')
        run = read_run(path)
        assert list(run.texts) == ["x", "y"]
        assert run.warnings == ("line 3, the last, is cut off and was left out",)

    def test_a_last_line_that_only_lacks_its_end_is_kept(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "a.jsonl", [{"id": "x", "completion": "1"}], end='{"id": "y", "completion": "2"}')
        assert list(read_run(path).texts) == ["x", "y"]

    @pytest.mark.parametrize("text", ['{"sample_0": ["1"], "sample_1', '{\n    "sample_0": [\n        "1",'])
    def test_an_object_that_is_cut_off_is_an_error(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "generations.json"
        path.write_text(text)
        with pytest.raises(UserError, match="not JSON"):
            read_run(path)


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "the file is empty"),
    "blank": (" \n\n", "the file is empty"),
    "prose": ("Hello there.\n", "line 1: not JSON"),
    "binary": (b"PK\x03\x04\xff\xfe", "not UTF-8"),
    "array": ('[["1"], ["2"]]', "a JSON array"),
    "number": ("17", "no object"),
    "no lists": ('{"sample_0": "1"}', "for 'sample_0' a list of answers is expected"),
    "no strings": ('{"sample_0": [1]}', "for 'sample_0' a list of answers is expected"),
    "empty list": ('{"sample_0": []}', "not an empty list"),
    "empty object": ("{}", "holds no completions"),
    "problem set": ('{"code": "def f(): pass", "input": "", "output": "None", "id": "x"}\n', "this is a problem set"),
    "host summary": ('{"results": {}, "configs": {}, "versions": {}}', "the host's summary"),
    "broken row": ('{"id": "x", "completion": "1"}\n{"id": \n{"id": "y", "completion": "1"}\n', "line 2: not JSON"),
    "row without completion": ('{"id": "x", "completion": "1"}\n{"id": "y"}\n', "line 2: either"),
    "row with both": ('{"id": "x", "completion": "1", "completions": ["1"]}\n', "line 1: either"),
    "completion no string": ('{"id": "x", "completion": 1}\n', "line 1: \"completion\" must be a string"),
    "no completions": ('{"id": "x", "completions": []}\n', "a list of at least one"),
    "id no string": ('{"id": 0, "completion": "1"}\n', 'line 1: a string "id"'),
    "row no object": ('{"id": "x", "completion": "1"}\n[1]\n', "line 2: a JSON object is expected"),
    "second row": ('{"id": "x", "completions": ["1"]}\n{"id": "x", "completions": ["1"]}\n', "line 2: a second row"),
    "both directions": (
        '{"id": "x", "completion": "1", "direction": "input"}\n{"id": "y", "completion": "1", "direction": "output"}\n',
        "one direction at a time",
    ),
    "another task's log": ('{"doc": {"question": "2+2?"}, "resps": [["4"]]}\n', "the log of another task"),
    "deep": ("[" * 100_000, "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_named_with_what_is_wrong(name: str, tmp_path: Path) -> None:
    content, message = BAD[name]
    path = tmp_path / "file_output.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError, match=re.escape(message)) as caught:
        read_run(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def likelihoods(row: dict[str, Any]) -> None:
    row["arguments"]["gen_args_0"]["arg_1"] = "\nassert f(1) == 2"
    row["resps"] = [["-12.5", "False"]]


def no_texts(row: dict[str, Any]) -> None:
    row["resps"] = [[]]


def other_direction(row: dict[str, Any]) -> None:
    row["arguments"]["gen_args_0"]["arg_0"] = f"{TWO.code}\nassert f(??) == {TWO.output}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (likelihoods, "line 2: `resps` holds likelihoods"),
        (no_texts, "line 2: `resps` holds no completions"),
        (other_direction, "two logs in one file"),
    ],
)
def test_a_bad_host_log(change: Callable[[dict[str, Any]], None], message: str, tmp_path: Path) -> None:
    rows = [host_row(ONE, ["a"]), host_row(TWO, ["b"])]
    change(rows[1])
    with pytest.raises(UserError, match=message):
        read_run(write_rows(tmp_path / "a.jsonl", rows))


def test_two_logs_in_one_file(tmp_path: Path) -> None:
    rows = [host_row(ONE, ["a"]), host_row(ONE, ["another"])]
    with pytest.raises(UserError, match="line 2: a second and different row"):
        read_run(write_rows(tmp_path / "a.jsonl", rows))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file"):
        read_run(tmp_path / "none.json")
    with pytest.raises(UserError, match="a directory"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("path", "direction"),
    [
        ("codellama-7b+cot_temp0.2_input.json", "input"),
        ("gpt-4o_temp0.2_output.json", "output"),
        ("sample_codellama-7b_temp0.2_output/generations.json", "output"),
        ("samples_cruxeval_o_n10_2026-11-30T13-27-54.738891.jsonl", "output"),
        ("samples_cruxeval_i_2026-11-30T13-27-54.738891.jsonl", "input"),
        ("samples_cruxeval_output_cot_2026-11-30.jsonl", "output"),
        ("model.json", None),
        ("gpt-4-o.json", None),  # a model's name, no direction
        ("input_and_output.json", None),
        ("throughput.json", None),
    ],
)
def test_direction_in_a_name(path: str, direction: str | None) -> None:
    assert direction_in_name(path) == direction


class TestNothingIsLostInSilence:
    def test_an_id_twice_in_one_object(self, tmp_path: Path) -> None:
        for name, text in {
            "generations.json": '{"x": ["1"], "y": ["2"], "x": ["3"]}',
            "scored.json": '{"raw_generations": {"x": ["1"], "x": ["3"]}}',
        }.items():
            path = tmp_path / name
            path.write_text(text)
            with pytest.raises(UserError, match=re.escape(f"{path}: 'x' stands twice in one object")):
                read_run(path)

    @pytest.mark.parametrize("direction", ["outputs", "", 1, ["output"]])
    def test_a_direction_that_is_none(self, tmp_path: Path, direction: object) -> None:
        path = write_rows(
            tmp_path / "a_output.jsonl",
            [{"id": "x", "completion": "1"}, {"id": "y", "completion": "2", "direction": direction}],
        )
        with pytest.raises(UserError, match="line 2: the direction must be input or output"):
            read_run(path)

    def test_an_object_cut_off_in_a_string(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_text('{"x": ["1"], "y": ["2')
        with pytest.raises(UserError, match="it may be cut off"):
            read_run(path)


@pytest.mark.parametrize(
    ("stated", "read"), [("35.5", 35.5), ("100", 100.0), ("NaN", None), ("Infinity", None), ("true", None), ("9" * 400, None)]
)
def test_stated_score(tmp_path: Path, stated: str, read: float | None) -> None:
    path = tmp_path / "scored.json"
    path.write_text(f'{{"raw_generations": {{"x": ["1"]}}, "pass_at_1": {stated}}}')
    assert read_run(path).stated == read
