from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from host_copy import HostCopy, state_version

import cruxeval_tasks
from cruxeval_tasks.registration import (
    FOLDER,
    MARKER,
    RegistrationError,
    State,
    register,
    registration_status,
    unregister,
)


class FakeHost:
    """The least that counts as an installed host: a package `lm_eval` with a tasks folder, and metadata."""

    def __init__(self, site: Path) -> None:
        self.site = site
        self.tasks = site / "lm_eval" / "tasks"
        self.folder = self.tasks / FOLDER
        own = self.tasks / "cruxeval"
        own.mkdir(parents=True)
        (own / "cruxeval_output.yaml").write_text("task: cruxeval_output\n")
        # Importing the host takes seconds, so finding it must not.
        (site / "lm_eval" / "__init__.py").write_text("raise AssertionError('imported')\n")
        self.set_version("0.4.13")

    def set_version(self, version: str) -> None:
        state_version(self.site, version)

    def snapshot(self) -> dict[str, str]:
        return {str(p.relative_to(self.site)): p.read_text() for p in sorted(self.site.rglob("*")) if p.is_file()}


def fake_install(site: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    host = FakeHost(site)
    for name in [n for n in sys.modules if n.split(".")[0] == "lm_eval"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(site))
    return host


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    return fake_install(tmp_path / "site", monkeypatch)


@pytest.fixture
def configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package's task folder: a base, a task that calls Python, one in a subfolder, a group."""
    folder = tmp_path / "pkg" / "task_configs"
    (folder / "smoke").mkdir(parents=True)
    (folder / "base.yaml").write_text("output_type: generate_until\ncustom_dataset: !function pkg.hooks.data\n")
    (folder / "crux_o.yaml").write_text("include: base.yaml\ntask: crux_o\nmetric: !function pkg.hooks.x\n")
    (folder / "smoke" / "crux_s.yaml").write_text("include: ../base.yaml\ntask: crux_s\n")
    (folder / "crux.yaml").write_text("group: crux\ntask:\n  - crux_o\n  - crux_s\n")
    monkeypatch.setattr(cruxeval_tasks, "TASK_CONFIGS", str(folder))
    return folder


def test_registers_each_task_and_group_and_nothing_else(host: FakeHost, configs: Path) -> None:
    before = host.snapshot()
    assert registration_status().state is State.ABSENT

    done = register()

    assert done.before.state is State.ABSENT
    assert done.names == ("crux", "crux_o", "crux_s")
    added = {name: text for name, text in host.snapshot().items() if name not in before}
    prefix = f"lm_eval/tasks/{FOLDER}/"
    assert set(added) == {prefix + n for n in ("crux.yaml", "crux_o.yaml", "crux_s.yaml", MARKER)}
    assert yaml.safe_load(added[prefix + "crux_s.yaml"]) == {"include": str(configs / "smoke" / "crux_s.yaml")}
    assert json.loads(added[prefix + MARKER]) == {
        "made_by": "cruxeval-tasks",
        "version": cruxeval_tasks.__version__,
        "host_version": "0.4.13",
        "source": str(configs),
        "files": ["crux.yaml", "crux_o.yaml", "crux_s.yaml"],
    }
    assert {name: host.snapshot()[name] for name in before} == before
    assert registration_status().state is State.CURRENT


def test_registering_again_changes_nothing(host: FakeHost, configs: Path) -> None:
    register()
    files = {p: p.stat().st_mtime_ns for p in host.folder.iterdir()}
    assert register().before.state is State.CURRENT
    assert {p: p.stat().st_mtime_ns for p in host.folder.iterdir()} == files


def test_paths_with_odd_characters_survive(
    host: FakeHost, configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "a \"b\": 'c' # é\\n"
    shutil.copytree(configs, odd)
    monkeypatch.setattr(cruxeval_tasks, "TASK_CONFIGS", str(odd))
    register()
    stub = yaml.safe_load((host.folder / "crux_o.yaml").read_text(encoding="utf-8"))
    assert Path(stub["include"]).samefile(odd / "crux_o.yaml")


def test_says_that_the_host_was_upgraded(host: FakeHost, configs: Path) -> None:
    register()
    host.set_version("0.4.14")
    status = registration_status()
    assert status.state is State.STALE
    assert status.reasons == ("It was made for lm-eval 0.4.13; installed is 0.4.14.",)
    assert register().before == status
    assert registration_status().state is State.CURRENT


def test_refuses_a_host_that_cannot_read_the_tasks(host: FakeHost, configs: Path) -> None:
    register()
    registered = host.snapshot()
    host.set_version("0.4.11")
    with pytest.raises(RegistrationError, match=r"lm-eval 0\.4\.11 is installed; these tasks need 0\.4\.12 or newer"):
        register()
    assert [text for name, text in host.snapshot().items() if FOLDER in name] == [
        text for name, text in registered.items() if FOLDER in name
    ]
    for version in ("0.4.12", "0.5.0.dev1"):
        host.set_version(version)
        register()
    host.set_version("0.4.9")
    assert unregister().removed


def test_says_that_the_package_was_upgraded(host: FakeHost, configs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register()
    monkeypatch.setattr(cruxeval_tasks, "__version__", "9.9")
    (reason,) = registration_status().reasons
    assert "9.9" in reason
    register()
    assert registration_status().state is State.CURRENT


def test_says_that_the_package_moved(
    host: FakeHost, configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register()
    moved = tmp_path / "elsewhere"
    configs.rename(moved)
    monkeypatch.setattr(cruxeval_tasks, "TASK_CONFIGS", str(moved))
    status = registration_status()
    assert status.state is State.STALE
    (reason,) = status.reasons
    assert str(configs) in reason
    assert str(moved) in reason
    register()
    assert yaml.safe_load((host.folder / "crux_o.yaml").read_text()) == {"include": str(moved / "crux_o.yaml")}


def test_says_which_tasks_came_and_went(host: FakeHost, configs: Path) -> None:
    register()
    (configs / "crux_new.yaml").write_text("task: crux_new\n")
    (configs / "crux_o.yaml").unlink()
    status = registration_status()
    assert status.state is State.STALE
    assert status.reasons == ("Not registered yet: crux_new.", "No longer in the package: crux_o.")
    register()
    assert {p.name for p in host.folder.iterdir()} == {"crux.yaml", "crux_s.yaml", "crux_new.yaml", MARKER}


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_text("task: other\n")])
def test_repairs_a_stub(host: FakeHost, configs: Path, damage: object) -> None:
    register()
    good = host.snapshot()
    assert callable(damage)
    damage(host.folder / "crux_o.yaml")
    assert registration_status().reasons == ("Missing or changed in the host's folder: crux_o.yaml.",)
    register()
    assert host.snapshot() == good


def test_unregister_restores_the_host(host: FakeHost, configs: Path) -> None:
    before = host.snapshot()
    register()
    done = unregister()
    assert set(done.removed) == {"crux.yaml", "crux_o.yaml", "crux_s.yaml", MARKER}
    assert done.kept == ()
    assert host.snapshot() == before
    assert not host.folder.exists()

    again = unregister()
    assert (again.before.state, again.removed, again.kept) == (State.ABSENT, (), ())


def test_unregister_removes_what_an_older_package_made(host: FakeHost, configs: Path) -> None:
    register()
    (configs / "crux_o.yaml").unlink()
    unregister()
    assert not host.folder.exists()


def test_unregister_leaves_files_of_others(host: FakeHost, configs: Path) -> None:
    register()
    (host.folder / "mine.yaml").write_text("task: mine\n")
    (host.folder / "mine").mkdir()
    assert unregister().kept == ("mine", "mine.yaml")
    assert {p.name for p in host.folder.iterdir()} == {"mine.yaml", "mine"}
    assert unregister().removed == ()
    with pytest.raises(RegistrationError, match="not made by"):
        register()


def test_leaves_a_folder_of_others_alone(host: FakeHost, configs: Path) -> None:
    host.folder.mkdir()
    (host.folder / "crux_o.yaml").write_text("task: theirs\n")
    before = host.snapshot()
    assert registration_status().state is State.FOREIGN
    with pytest.raises(RegistrationError, match="Move it away"):
        register()
    assert unregister().removed == ()
    assert host.snapshot() == before


def test_leaves_a_linked_folder_alone(host: FakeHost, configs: Path, tmp_path: Path) -> None:
    register()
    shutil.move(host.folder, tmp_path / "target")
    host.folder.symlink_to(tmp_path / "target")
    assert registration_status().state is State.FOREIGN
    with pytest.raises(RegistrationError, match="link"):
        register()
    assert unregister().removed == ()
    assert (tmp_path / "target" / "crux_o.yaml").exists()


def test_does_not_overwrite_a_file_of_others_in_our_folder(host: FakeHost, configs: Path) -> None:
    register()
    (host.folder / "crux_new.yaml").write_text("task: theirs\n")
    (configs / "crux_new.yaml").write_text("task: crux_new\n")
    with pytest.raises(RegistrationError, match=r"crux_new\.yaml was not made by"):
        register()
    assert (host.folder / "crux_new.yaml").read_text() == "task: theirs\n"


@pytest.mark.parametrize("file", ["crux_o.yaml", MARKER])
@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_writes_through_no_link(
    host: FakeHost, configs: Path, tmp_path: Path, file: str, link: Callable[[Path, Path], None]
) -> None:
    register()
    theirs = tmp_path / "theirs"
    shutil.copy(host.folder / file, theirs)
    (host.folder / file).unlink()
    link(host.folder / file, theirs)
    host.set_version("0.4.14")
    (host.folder / "crux_s.yaml").unlink()
    before = theirs.read_text()
    if file != MARKER:
        before = "task: theirs\n"
        theirs.write_text(before)
    register()
    assert theirs.read_text() == before
    assert registration_status().state is State.CURRENT
    assert not (host.folder / file).is_symlink()
    unregister()
    assert theirs.read_text() == before
    assert not host.folder.exists()


def test_makes_no_file_where_a_dead_link_leads(host: FakeHost, configs: Path, tmp_path: Path) -> None:
    register()
    (configs / "crux_new.yaml").write_text("task: crux_new\n")
    (host.folder / "crux_new.yaml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(RegistrationError, match=r"crux_new\.yaml was not made by"):
        register()
    assert not (tmp_path / "nowhere").exists()


def test_leaves_nothing_behind_where_a_folder_stands_in_a_stubs_place(host: FakeHost, configs: Path) -> None:
    register()
    (host.folder / "crux_o.yaml").unlink()
    (host.folder / "crux_o.yaml").mkdir()
    with pytest.raises(RegistrationError, match="Cannot change"):
        register()
    assert {p.name for p in host.folder.iterdir()} == {"crux.yaml", "crux_o.yaml", "crux_s.yaml", MARKER}


@pytest.mark.parametrize("name", ["../cruxeval/cruxeval_output.yaml", "..", "/etc/hostname"])
def test_a_forged_marker_reaches_no_other_folder(host: FakeHost, configs: Path, name: str) -> None:
    register()
    marker = json.loads((host.folder / MARKER).read_text())
    marker["files"].append(name)
    (host.folder / MARKER).write_text(json.dumps(marker))
    before = host.snapshot()
    unregister()
    assert host.snapshot() == before


def test_an_interrupted_registration_can_be_finished_or_removed(
    host: FakeHost, configs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_text

    def full(path: Path, text: str, *args: object, **kwargs: object) -> int:
        if "crux_s.yaml" in path.name:
            raise OSError(28, "No space left on device")
        return write(path, text, encoding="utf-8")

    before = host.snapshot()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(RegistrationError, match="No space left"):
            register()
    assert registration_status().state is State.STALE
    unregister()
    assert host.snapshot() == before

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(RegistrationError):
            register()
    register()
    assert registration_status().state is State.CURRENT


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A temporary folder that users without rights can reach, which pytest's are not."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Take root's right to write anywhere from the test."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


def test_says_that_the_host_is_read_only(
    public_folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    configs = public_folder / "task_configs"
    configs.mkdir()
    (configs / "crux_o.yaml").write_text("task: crux_o\n")
    monkeypatch.setattr(cruxeval_tasks, "TASK_CONFIGS", str(configs))
    host = fake_install(public_folder / "site", monkeypatch)
    host.tasks.chmod(0o555)
    before = host.snapshot()
    request.getfixturevalue("unprivileged")
    with pytest.raises(RegistrationError, match=r"Cannot change .*Permission denied.*cruxeval run"):
        register()
    assert host.snapshot() == before


def test_says_that_the_host_is_absent(tmp_path: Path, configs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for action in (register, unregister, registration_status):
        with pytest.raises(RegistrationError, match="not installed"):
            action()


def test_a_folder_named_like_the_host_is_no_host(
    tmp_path: Path, configs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lm_eval" / "tasks").mkdir(parents=True)
    for name in [n for n in sys.modules if n.split(".")[0] == "lm_eval"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if getattr(f, "__name__", "") == "PathFinder"])
    with pytest.raises(RegistrationError, match="not installed"):
        register()


def test_says_that_the_package_is_incomplete(host: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cruxeval_tasks, "TASK_CONFIGS", str(tmp_path / "nowhere"))
    with pytest.raises(RegistrationError, match=r"nowhere is missing"):
        register()


# --- with the real host ---


INDEX = """
import json, sys
from lm_eval.tasks import TaskManager
manager = TaskManager()
print(json.dumps({"tasks": manager.all_subtasks, "groups": manager.all_groups}))
"""


def index(host: HostCopy) -> dict[str, list[str]]:
    ran = host.python("-c", INDEX)
    assert ran.returncode == 0, ran.stderr
    # A second definition of a name, or one that cannot be read, would be a warning.
    assert "cruxeval" not in ran.stderr
    found: dict[str, list[str]] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_the_real_host_finds_the_registered_tasks(host_copy: HostCopy) -> None:
    before = index(host_copy)
    assert "cruxeval_o" not in before["tasks"]

    assert host_copy.cruxeval("register").returncode == 0
    found = index(host_copy)
    assert set(found["tasks"]) > set(before["tasks"])
    assert set(found["tasks"]) - set(before["tasks"]) >= {
        "cruxeval_o",
        "cruxeval_i",
        "cruxeval_o_smoke",
        "cruxeval_i_smoke",
    }
    assert set(found["groups"]) - set(before["groups"]) >= {"cruxeval", "cruxeval_smoke"}
    ran = host_copy.lm_eval("validate", "--tasks", "cruxeval,cruxeval_smoke,cruxeval_o")
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "All tasks found and valid")

    assert host_copy.cruxeval("unregister").returncode == 0
    assert index(host_copy) == before


LOAD = """
import sys
from lm_eval.tasks import TaskManager
loaded = TaskManager().load(["cruxeval_smoke"])
names = [name.split("::")[-1] for name in loaded["tasks"]]  # host 0.5 puts the group's name before them
print(sorted(names), sorted(loaded["groups"]))
"""


def test_the_real_host_builds_a_registered_group(host_copy: HostCopy) -> None:
    host_copy.cruxeval("register")
    ran = host_copy.python("-c", LOAD)
    host_copy.cruxeval("unregister")
    assert ran.returncode == 0, ran.stderr
    expected = "['cruxeval_i_smoke', 'cruxeval_o_smoke'] ['cruxeval_smoke']"
    assert ran.stdout.splitlines()[-1] == expected
