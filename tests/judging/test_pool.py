"""Workers that die, lie or wait, and a judge that is interrupted: no wrong verdict, no hang, nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from cruxeval_tasks.judging import pool as pool_module
from cruxeval_tasks.judging import wire
from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.judge import Check, Judge, Limits, Status, open_pool
from cruxeval_tasks.judging.pool import Pool, Reply, Request, WorkerError

ROOT = Path(__file__).parents[2]
F = frozenset({"f"})  # what a call of `f` uses of the problem's module
ADD = "def f(x):\n    return x + 1"
SPIN = "def f(x):\n    while True:\n        pass"
SLEEP = "def f(x):\n    import time\n    time.sleep(x)\n    return x"


def add(n: int, *, plain: bool = True) -> Request:
    return Request(ADD, f"f({n})", F, plain, 1000)


def values(replies: list[Reply]) -> list[object]:
    return [reply.body if reply.kind == "value" else reply for reply in replies]


pytestmark = pytest.mark.usefixtures("isolation")


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(2, Limits(), LAYERS)
    yield pool
    pool.close()


def pids(pool: Pool) -> list[int]:
    return [worker.process.pid for place in pool._places for worker in place.values()]


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead but not reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


# --- time ---


@pytest.mark.parametrize("plain", [True, False])
def test_cpu_time_ends_a_check_and_only_that(pool: Pool, plain: bool) -> None:
    requests = [add(1), Request(SPIN, "f(1)", F, plain, 1000), *(add(n) for n in range(2, 12))]
    replies = pool.run(requests)
    assert replies[1] == Reply("timeout", "cpu")
    assert values(replies[:1] + replies[2:]) == list(range(2, 13))


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("limits", [Limits(0.2, 60, 40), Limits(60, 0.2, 40)], ids=["user", "all"])
def test_each_limit_on_cpu_time_is_enough(plain: bool, limits: Limits) -> None:
    with closing(Pool(1, limits, LAYERS)) as pool:
        assert pool.run([Request(SPIN, "f(1)", F, plain, 1000)]) == [Reply("timeout", "cpu")]


def test_a_c_loop_is_ended_too(pool: Pool) -> None:
    code = "def f(x):\n    return sum(range(x))"
    assert pool.run([Request(code, "f(10 ** 12)", F, True, 1000)]) == [Reply("timeout", "cpu")]


@pytest.mark.slow
@pytest.mark.parametrize("plain", [True, False])
def test_waiting_is_ended_by_the_wall_clock(plain: bool) -> None:
    pool = Pool(1, Limits(wall_seconds=1.0), LAYERS)
    replies = pool.run([Request(SLEEP, "f(3600)", F, plain, 1000), add(1), Request(SLEEP, "f(0)", F, plain, 1000)])
    assert replies == [Reply("timeout", "wall"), Reply("value", 2), Reply("value", 0)]
    pool.close()


def test_more_problems_than_a_worker_keeps_compiled() -> None:
    pool = Pool(1, Limits(), LAYERS)
    requests = [Request(f"def f(x):\n    return x + {n}", "f(1)", F, True, 1000) for n in range(70)]
    assert values(pool.run(requests + requests)) == list(range(1, 71)) * 2
    pool.close()


# --- workers that die ---


@pytest.mark.slow
@pytest.mark.parametrize("plain", [True, False])
def test_killing_workers_changes_no_reply(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL to every worker that is at work, after every tenth reply; but not a fourth time to one request."""
    finish, finished, kills = pool_module._Run._finish, 0, 0

    def kill_now_and_then(run: pool_module._Run, task: pool_module._Task, reply: Reply) -> None:
        nonlocal finished, kills
        finish(run, task, reply)
        finished += 1
        if finished % 10 == 0:
            for place in pool._places:
                for worker in place.values():
                    if worker.queue and worker.queue[0].tries < 3:
                        worker.process.kill()
                        kills += 1

    monkeypatch.setattr(pool_module._Run, "_finish", kill_now_and_then)
    pool = Pool(2, Limits(), LAYERS)
    replies = pool.run([add(n, plain=plain) for n in range(200)])
    pool.close()
    assert kills > 10
    assert values(replies) == list(range(1, 201))


def test_idle_workers_that_died_are_replaced(pool: Pool) -> None:
    pool.run([add(1), add(2)])
    for pid in pids(pool):
        os.kill(pid, signal.SIGKILL)
    assert values(pool.run([add(3), add(4), add(5)])) == [4, 5, 6]


@pytest.mark.parametrize("plain", [True, False])
def test_a_crash_of_the_interpreter_is_the_answers_own(pool: Pool, plain: bool) -> None:
    code = "def f(x):\n    import ctypes\n    return ctypes.string_at(x)"
    preloaded = Request(code, "f(0)", F, plain, 1000)
    replies = pool.run([add(1), preloaded, add(2)])
    assert replies[1].kind == "died"
    assert replies[1].body == "SIGSEGV"
    assert values([replies[0], replies[2]]) == [2, 3]


def test_an_exit_is_the_answers_own(pool: Pool) -> None:
    code = "def f(x):\n    import os\n    os._exit(0)"
    assert pool.run([Request(code, "f(1)", F, True, 1000), add(1)]) == [Reply("died", "exit"), Reply("value", 2)]


def test_always_killed_from_outside_is_an_error_not_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(1, Limits(), LAYERS)
    original = pool_module._Run._take

    def take(run: pool_module._Run, worker: pool_module._Worker, message: dict[str, object]) -> None:
        original(run, worker, message)
        worker.process.kill()  # right after it said hello

    monkeypatch.setattr(pool_module._Run, "_take", take)
    with pytest.raises(WorkerError, match="ended from outside"):
        pool.run([Request(SLEEP, "f(5)", F, True, 1000)])


@pytest.mark.parametrize("kills", [3, 4])
@pytest.mark.parametrize("plain", [True, False])
def test_killed_before_it_was_ready(kills: int, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another worker is tried, three times; then something is wrong with the machine."""
    spawn, killed = Pool._spawn, 0

    def spawn_and_kill(pool: Pool, fork: bool) -> pool_module._Worker:
        nonlocal killed
        worker = spawn(pool, fork)
        if killed < kills:
            killed += 1
            worker.process.kill()
        return worker

    monkeypatch.setattr(Pool, "_spawn", spawn_and_kill)
    pool = Pool(1, Limits(), LAYERS)
    if kills == 4:
        with pytest.raises(WorkerError, match="exit status -9"):
            pool.run([add(1, plain=plain)])
    else:
        assert values(pool.run([add(n, plain=plain) for n in range(9)])) == list(range(1, 10))
    pool.close()


def test_a_fork_that_is_killed_every_time_had_no_memory() -> None:
    """As by the kernel, short of memory: the worker itself lives, and nobody outside aims at each new fork."""
    layers = [layer for layer in LAYERS if layer != "seccomp"]  # which would refuse the signal
    pool = Pool(1, Limits(), layers)
    code = "import os\ndef f(x):\n    os.kill(os.getpid(), 9)"
    replies = pool.run([Request(code, "f(1)", F, False, 1000), add(1, plain=False)])
    assert replies == [Reply("memory", "killed by the system"), Reply("value", 2)]
    pool.close()


@pytest.mark.parametrize("fork", [True, False])
def test_a_worker_ends_with_its_channel(fork: bool) -> None:
    worker = Pool(1, Limits(), LAYERS)._spawn(fork)
    wait_until(lambda: bool(worker.received) or bool(worker.received.extend(receive(worker))))
    worker.channel.close()
    assert worker.process.wait(20) == 0
    worker.stop()


def receive(worker: pool_module._Worker) -> bytes:
    try:
        return worker.channel.recv(65536)
    except BlockingIOError:
        return b""


# --- workers that lie ---


def lying(body: bytes) -> str:
    """A problem's code that writes `body` to the judge's channel by itself, as code that broke out would."""
    return (
        "def f(x):\n"
        "    import os, stat\n"
        "    for fd in range(3, 32):\n"
        "        try:\n"
        "            if stat.S_ISSOCK(os.fstat(fd).st_mode):\n"
        f"                os.write(fd, {body!r})\n"
        "        except OSError:\n"
        "            pass\n"
        "    return x + 1"
    )


@pytest.mark.parametrize(
    "body",
    [
        b"\x00",
        b"garbage" * 100,
        b"\xff\xff\xff\xff" + b"x" * 1000,
        b"\x00\x00\x00\x02{}",
        b"\x00\x00\x00\x02[]",
        wire.frame({"id": 99, "value": 1}),
        wire.frame({"id": 2, "value": {"set": [[]]}}),
        wire.frame({"id": 2, "signal": 9}),
        wire.frame({"id": 2, "raised": 5}),
        b"\x00\x00\x10\x00" + b"[" * 4096,
    ],
)
def test_garbage_on_the_channel_of_a_shared_worker(pool: Pool, body: bytes) -> None:
    """The reply comes from a fork of a fresh worker, which has no way to the channel."""
    requests = [add(1), Request(lying(body), "f(1)", F, True, 1000), *(add(n) for n in range(2, 8))]
    assert values(pool.run(requests)) == [2, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("body", "reply"),
    [
        (wire.frame({"value": {"set": [[]]}}), Reply("died", "garbage")),
        (wire.frame({"raised": ["E", 5]}), Reply("died", "garbage")),
        (wire.frame({"oversized": []}), Reply("died", "garbage")),
        (wire.frame({"value": 1, "memory": ""}), Reply("died", "exit")),
        (wire.frame({"signal": 9}), Reply("died", "exit")),
        (b"garbage" * 100, Reply("died", "exit")),
    ],
)
def test_garbage_from_a_fork_is_the_answers_own(pool: Pool, body: bytes, reply: Reply) -> None:
    code = lying(body).replace("S_ISSOCK", "S_ISFIFO")  # its pipe to the server
    assert pool.run([Request(code, "f(1)", F, False, 1000), add(1, plain=False)]) == [reply, Reply("value", 2)]


@pytest.mark.parametrize("hello", [{"id": 0}, {"id": 0, "hello": ["landlock"]}, {"id": 1, "value": 2}])
def test_a_worker_that_does_not_say_hello(
    hello: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        f"os.write(json.loads(sys.argv[-2])['channel'], {wire.frame(hello)!r})\nsys.stdin.read()\nimport time; time.sleep(60)\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    pool = Pool(1, Limits(), LAYERS)
    with pytest.raises(WorkerError, match="did not say hello"):
        pool.start()
    with pytest.raises(WorkerError, match="did not say hello"):
        pool.run([add(1)])
    assert pids(pool) == []


def test_a_long_request_meets_a_long_reply(pool: Pool) -> None:
    """Neither side waits for the other to read while both pipes are full."""
    code = "def f(x):\n    return x"
    text = "x" * 90_000
    requests = [Request(code, f"f('{text}')", F, True, 2 * 10**5) for _ in range(40)]
    assert values(pool.run(requests)) == [text] * 40


# --- the judge's process ---


@pytest.mark.slow
def test_nothing_is_left_behind() -> None:
    before = open_descriptors()
    pool = Pool(2, Limits(), LAYERS)
    for _ in range(3):
        pool.run([add(1), add(2), add(3, plain=False), Request(SPIN, "f(1)", F, True, 1000)])
    started = pids(pool)
    assert started
    pool.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in started)  # not even as zombies
    assert open_descriptors() == before
    assert values(pool.run([add(1)])) == [2]  # and it can be used again
    pool.close()


def test_starting_again_replaces_the_worker_that_starting_made(pool: Pool) -> None:
    pool.start()
    (first,) = pids(pool)
    pool.start()
    (second,) = pids(pool)
    assert first != second
    assert not alive(first)
    assert values(pool.run([add(1, plain=False)])) == [2]


def test_a_forgotten_pool_takes_its_workers_along() -> None:
    pool = Pool(1, Limits(), LAYERS)
    pool.run([add(1)])
    (pid,) = pids(pool)
    del pool
    wait_until(lambda: not alive(pid))


JUDGING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born deaf to it
from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.pool import Limits, Pool, Request
F = frozenset({"f"})
spin = "def f(x):\\n    while True:\\n        pass"
pool = Pool(2, Limits(user_seconds=60, cpu_seconds=60, wall_seconds=120), LAYERS)
pool.run([Request("def f(x):\\n    return x", "f(1)", F, plain, 100) for plain in (True, False, True, False)])
print(*[w.process.pid for place in pool._places for w in place.values()], flush=True)
try:
    pool.run([Request(spin, "f(1)", F, False, 100), Request(spin, "f(1)", F, False, 100)])
except KeyboardInterrupt:
    print([reply.body for reply in pool.run([Request("def f(x):\\n    return x", "f(7)", F, True, 100)])], flush=True)
    sys.exit(3)
"""


def start_judging() -> tuple[subprocess.Popen[str], list[int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", JUDGING],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    workers = [int(pid) for pid in process.stdout.readline().split()]
    assert workers
    time.sleep(0.5)  # let the forks start to spin
    return process, workers


def descendants(pids_: list[int]) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            if parent in pids_:
                found.append(int(entry.name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_judge_that_dies_takes_all_along(number: signal.Signals) -> None:
    process, workers = start_judging()
    children = descendants(workers)
    assert children, "the forks under test"
    process.send_signal(number)
    assert process.wait(20) == -number
    wait_until(lambda: not any(alive(pid) for pid in workers + children))


def test_an_interrupted_judge_can_go_on() -> None:
    process, workers = start_judging()
    children = descendants(workers)
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert process.stdout.readline() == "[7]\n"
    assert process.wait(20) == 3
    wait_until(lambda: not any(alive(pid) for pid in workers + children))


@pytest.mark.slow
def test_threads_share_a_judge() -> None:
    results: dict[int, list[Status]] = {}
    with Judge(workers=2) as judge:

        def work(n: int) -> None:
            checks = [Check("input", ADD, str(i + 1), f"f({i if i % 3 else -1})") for i in range(n, n + 30)]
            results[n] = [verdict.status for verdict in judge.judge(checks)]

        threads = [threading.Thread(target=work, args=(n,)) for n in range(0, 300, 30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # The threads that started the workers are gone now.
        assert judge.judge([Check("input", ADD, "2", "f(1)")])[0].passed
    assert len(results) == 10
    for n, statuses in results.items():
        assert statuses == [Status.PASSED if i % 3 else Status.WRONG for i in range(n, n + 30)]


def test_threads_that_begin_together_start_one_set_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    def slowly(limits: Limits, *, workers: int, allow_unisolated: bool) -> tuple[Pool, dict[str, str]]:
        time.sleep(0.2)  # long enough for all to find no workers
        opened.append(open_pool(limits, workers=workers, allow_unisolated=allow_unisolated))
        return opened[-1]

    monkeypatch.setattr("cruxeval_tasks.judging.judge.open_pool", slowly)
    with Judge(workers=1) as judge, ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: judge.isolation, range(4)))
    assert len(opened) == 1
    assert all(set(isolation) == set(LAYERS) for isolation in found)


def _judge_in_fork(judge: Judge, answers: multiprocessing.SimpleQueue[list[bool]]) -> None:
    answers.put([v.passed for v in judge.judge([Check("input", ADD, "2", "f(1)"), Check("input", ADD, "2", "f(2)")])])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_of_the_judges_process_starts_its_own_workers() -> None:
    """As data loaders and some launchers do; the parent's workers stay the parent's."""
    context = multiprocessing.get_context("fork")
    with Judge(workers=1) as judge:
        assert judge.judge([Check("input", ADD, "2", "f(1)")])[0].passed
        assert judge.started
        before = pids(judge._open()[0])
        answers = context.SimpleQueue()
        child = context.Process(target=_judge_in_fork, args=(judge, answers))
        child.start()
        assert answers.get() == [True, False]
        child.join(20)
        assert child.exitcode == 0
        assert before
        assert all(map(alive, before))
        assert judge.judge([Check("input", ADD, "3", "f(2)")])[0].passed
        assert pids(judge._open()[0]) == before


def test_no_home_and_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    program = (
        "from cruxeval_tasks.judging.judge import Check, Judge\n"
        f"print(Judge().judge([Check('input', {ADD!r}, '2', 'f(1)')])[0].status.value)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "passed\n", done.stderr


def test_hostile_environment_is_not_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a stand-in for the standard library')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", "/nonexistent")
    monkeypatch.setenv("PYTHONHASHSEED", "4242")
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    code = "def f(x):\n    import os\n    return [dict(os.environ).get('SECRET_TOKEN'), os.environ['PYTHONHASHSEED']]"
    with Judge(workers=1) as judge:
        (verdict,) = judge.judge([Check("input", code, "[None, '0']", "f(1)")])
    assert verdict.passed, verdict


def test_an_interpreter_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(WorkerError, match="ended before it was ready"), Judge(workers=1) as judge:
        judge.judge([Check("input", ADD, "2", "f(1)")])
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    before = open_descriptors()
    with pytest.raises(WorkerError, match="cannot be started with /nonexistent/python"), Judge(workers=1) as judge:
        judge.judge([Check("input", ADD, "2", "f(1)")])
    assert open_descriptors() == before
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(WorkerError, match="empty"), Judge(workers=1) as judge:
        judge.judge([Check("input", ADD, "2", "f(1)")])
