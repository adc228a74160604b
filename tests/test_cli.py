from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from host_copy import ROOT, HostCopy
from runs import completions, gold

import cruxeval_tasks
from cruxeval_tasks.cli import main
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.host import run_host
from cruxeval_tasks.registration import Host


def test_path_prints_the_folder_and_nothing_else() -> None:
    result = CliRunner().invoke(main, ["path"])
    assert (result.exit_code, result.output) == (0, cruxeval_tasks.TASK_CONFIGS + "\n")
    assert (Path(cruxeval_tasks.TASK_CONFIGS) / "cruxeval_o.yaml").is_file()


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output == f"cruxeval, version {cruxeval_tasks.__version__}\n"


@pytest.mark.parametrize("command", [[], *([name] for name in main.commands)])
def test_help_of_each_command(command: list[str]) -> None:
    result = CliRunner().invoke(main, [*command, "--help"])
    assert result.exit_code == 0
    assert result.output.startswith("Usage: ")
    assert "Traceback" not in result.output


def test_the_help_says_exit_status_and_shell_completion() -> None:
    output = CliRunner().invoke(main, ["--help"]).output
    assert "Exit status: 0 done, 1 failed" in output
    for shell in ("bash", "zsh", "fish"):
        assert f"_CRUXEVAL_COMPLETE={shell}_source cruxeval" in output


def test_the_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from cruxeval_tasks.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    modules = set(ran.stdout.splitlines()[-1].split())
    assert "cruxeval_tasks.cli" in modules
    assert not modules & {"torch", "transformers", "lm_eval", "datasets", "numpy", "pandas", "yaml", "rich"}


@pytest.mark.parametrize("arguments", [["nonsense"], ["register", "--nonsense"], ["path", "extra"]])
def test_wrong_usage_ends_with_status_2(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output


@pytest.mark.parametrize("command", ["register", "unregister", "run"])
def test_a_users_mistake_is_one_line_and_status_1(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise UserError("This is wrong. Do that.")

    monkeypatch.setattr("cruxeval_tasks.registration.find_host", fails)
    result = CliRunner().invoke(main, [command])
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "Error: This is wrong. Do that.\n")


def test_run_refuses_an_old_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("cruxeval_tasks.registration.find_host", lambda: Host(tmp_path, "0.4.11"))
    monkeypatch.setattr("cruxeval_tasks.host.run_host", lambda *_, **__: pytest.fail("it was run"))
    result = CliRunner().invoke(main, ["run", "--tasks", "cruxeval"])
    assert result.exit_code == 1
    assert "0.4.12 or newer" in result.stderr


def test_run_names_what_local_models_need(monkeypatch: pytest.MonkeyPatch) -> None:
    main_of_host = pytest.importorskip("lm_eval.__main__")

    def without(module: str) -> None:
        def evaluate() -> None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)

        monkeypatch.setattr(main_of_host, "cli_evaluate", evaluate)

    without("torch")
    with pytest.raises(UserError, match=r"the model needs torch, .*: pip install torch transformers accelerate"):
        run_host(["--model", "hf"], include=False)
    without("a_module_of_the_users_own_model")
    with pytest.raises(ModuleNotFoundError):
        run_host(["--model", "hf"], include=False)


@pytest.mark.parametrize(
    ("version", "said"),
    [("0.4.11", "these tasks need 0.4.12"), ("0.4.13", "lm-eval 0.4.13 does not find the tasks yet: cruxeval register")],
)
def test_doctor_names_the_host(version: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("cruxeval_tasks.registration.find_host", lambda: Host(tmp_path, version))
    monkeypatch.setattr("cruxeval_tasks.judging.doctor.examine", list)
    assert said in CliRunner().invoke(main, ["doctor", "--json"]).output


# --- where the output goes ---


def piped(*arguments: str, to: Any = subprocess.PIPE, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "cruxeval_tasks", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=to,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("arguments", [["--help"], ["path"], ["leaderboard"], ["leaderboard", "--json"]])
def test_a_full_disk_is_one_error_line(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        ran = piped(*arguments, to=full)
    assert ran.returncode == 1
    assert ran.stderr == b"Error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_without_our_characters_is_no_failure(encoding: str, tmp_path: Path) -> None:
    run = completions(tmp_path / "a_output.jsonl", gold)
    ran = piped("score", str(run), PYTHONIOENCODING=encoding)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert rb"94.2\u2013100.0" in ran.stdout


# --- with the real host ---


@pytest.fixture
def registered(host_copy: HostCopy) -> Iterator[HostCopy]:
    assert host_copy.cruxeval("register").returncode == 0
    yield host_copy
    host_copy.set_version(host_copy.installed)
    host_copy.cruxeval("unregister")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A user's own task folder, with a task of their own and one that takes the place of ours."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("my_task", "cruxeval_i"):
        (folder / f"{name}.yaml").write_text(f"task: {name}\noutput_type: generate_until\n")
    return folder


def test_register_and_unregister_say_what_they_did(host_copy: HostCopy) -> None:
    folder = host_copy.tasks / "cruxeval_tasks"

    first = host_copy.cruxeval("register")
    assert first.stdout.startswith(f"Registered with lm-eval {host_copy.version}: {folder}\n")
    assert "cruxeval_o_smoke" in first.stdout
    again = host_copy.cruxeval("register")
    assert again.stdout == f"Already registered with lm-eval {host_copy.version}, and up to date: {folder}\n"
    (folder / "cruxeval_o.yaml").unlink()
    refreshed = host_copy.cruxeval("register")
    assert refreshed.stdout.startswith(f"Refreshed the registration with lm-eval {host_copy.version}: {folder}\n")
    assert "cruxeval_o.yaml" in refreshed.stdout
    (folder / "mine.txt").write_text("mine")
    removed = host_copy.cruxeval("unregister")
    assert removed.stdout.startswith("Unregistered: removed ")
    assert "did not make it: mine.txt" in removed.stdout
    nothing = host_copy.cruxeval("unregister")
    assert nothing.stdout.startswith("Nothing to remove: not registered with the installed host.")
    refused = host_copy.cruxeval("register")
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"Error: {folder} was not made by `cruxeval register`")

    (folder / "mine.txt").unlink()
    folder.rmdir()
    assert {
        first.returncode,
        again.returncode,
        refreshed.returncode,
        removed.returncode,
        nothing.returncode,
    } == {0}


def test_run_lists_our_tasks_without_registration(host_copy: HostCopy) -> None:
    ran = host_copy.cruxeval("run", "ls", "tasks")
    assert ran.returncode == 0, ran.stderr
    assert "|cruxeval_o " in ran.stdout
    assert "|cruxeval_o " not in host_copy.lm_eval("ls", "tasks").stdout


def test_run_validates_our_tasks_beside_the_users(host_copy: HostCopy, mine: Path) -> None:
    names = "cruxeval,cruxeval_o_smoke,my_task"
    ran = host_copy.cruxeval("run", "validate", "--tasks", names, "--include_path", str(mine))
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "All tasks found and valid")
    # The user's folder has the last word, as with the host's own tasks.
    assert f"Task 'cruxeval_i' from {mine}/cruxeval_i.yaml overrides" in ran.stderr


def test_run_passes_on_the_hosts_exit_status(host_copy: HostCopy) -> None:
    ran = host_copy.cruxeval("run", "validate", "--no_such_option")
    assert ran.returncode == 2
    assert "usage: lm-eval validate" in ran.stderr


@pytest.mark.parametrize("prefix", [(), ("run",)], ids=["legacy flags", "subcommand"])
def test_run_evaluates(host_copy: HostCopy, mine: Path, prefix: tuple[str, ...]) -> None:
    """A whole run of the host's dummy model, whose table names our task beside the user's."""
    (mine / "rows.jsonl").write_text('{"q": "1 + 1 =", "a": "2"}\n')
    (mine / "sum.yaml").write_text(
        "task: my_sum\ndataset_path: json\ndataset_kwargs:\n  data_files:\n"
        f"    test: {mine}/rows.jsonl\ntest_split: test\noutput_type: generate_until\n"
        'doc_to_text: "{{q}}"\ndoc_to_target: a\n'
        "metric_list:\n  - metric: exact_match\n"
    )
    arguments = ["--model", "dummy", "--tasks", "my_sum,cruxeval_o_smoke", "--limit", "1"]
    ran = host_copy.cruxeval("run", *prefix, *arguments, "--include_path", str(mine))
    assert ran.returncode == 0, ran.stderr
    assert "|my_sum " in ran.stdout
    assert "|cruxeval_o_smoke|" in ran.stdout


def test_run_adds_no_second_path_where_the_tasks_are_registered(registered: HostCopy) -> None:
    ran = registered.cruxeval("run", "validate", "--tasks", "cruxeval_o")
    assert ran.returncode == 0
    assert "overrides" not in ran.stderr


def test_run_says_that_the_registration_is_stale(registered: HostCopy) -> None:
    registered.set_version("0.4.99")
    ran = registered.cruxeval("run", "validate", "--tasks", "cruxeval_o")
    assert ran.returncode == 0
    assert "Note: the registration with the host is out of date; run `cruxeval register`." in ran.stderr
    assert "installed is 0.4.99" in ran.stderr
