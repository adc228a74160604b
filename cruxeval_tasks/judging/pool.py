"""The judge's side of the workers: start, dispatch, deadlines, restarts.

Workers are started by exec, never by forking this process: it may hold CUDA, threads and gigabytes. Each place of the
pool has up to two of them, each started when first needed: one that evaluates plain requests itself, and a fork server
for all others. A worker is trusted with nothing: whatever it sends that is not a well-formed reply to the request at
the head of its queue ends it, and the request is tried again in a fork of a fresh worker.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from cruxeval_tasks.errors import UserError
from cruxeval_tasks.judging import wire

_PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The package's folder comes last and leaves again, so that nothing beside it can stand in for the standard library.
_BOOTSTRAP = (
    "import sys; sys.path.pop(0); sys.path.append(sys.argv[2]); "
    "from cruxeval_tasks.judging import worker; sys.path.pop(); worker.main()"
)

_QUEUE = 4  # requests under way in one worker, so that it need not wait for us between two
_TRIES = 4  # of one request whose worker keeps being ended from outside
_START_SECONDS = 60.0
_TIME_SIGNALS = (signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU)


class WorkerError(UserError):
    """Workers cannot be started, or keep being ended from outside."""


class IsolationError(WorkerError):
    """A layer of the confinement is missing on this machine. The message names it."""


@dataclass(frozen=True)
class Limits:
    """What one check may use.

    Attributes:
        user_seconds: CPU time spent in the program itself. CPU time, so that a loaded machine changes no verdict; and
            short, since answers that never end are what input prediction waits for. Of 150,677 distinct published
            input answers the slowest right one but one needs 0.004 s.
        cpu_seconds: CPU time with the kernel's share, which grows with memory: `f(['x'*1000000000])`, right for
            sample_714, needs 0.9 s, most of it there.
        wall_seconds: Backstop for a check that waits instead of computing.
        memory_bytes: Address space.
    """

    user_seconds: float = 0.5
    cpu_seconds: float = 5.0
    wall_seconds: float = 60.0
    memory_bytes: int = 2 * 2**30


@dataclass(frozen=True)
class Request:
    """One evaluation: `answer` beside `code`, of whose module it sees `names`; `plain` where it may share a process;
    `limit` on the value's size."""

    code: str
    answer: str
    names: frozenset[str]
    plain: bool
    limit: int


@dataclass(frozen=True)
class Reply:
    """What came of a request: `kind` is one of value, raised, memory, oversized, timeout, died."""

    kind: str
    body: Any = None


@dataclass
class _Task:
    number: int
    request: Request
    tries: int = 0
    alone: bool = False  # only a fork of its own decides

    @property
    def forks(self) -> bool:
        return self.alone or not self.request.plain


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    channel: socket.socket
    deadline: float
    received: bytearray = field(default_factory=bytearray)
    unsent: bytearray = field(default_factory=bytearray)
    queue: deque[_Task] = field(default_factory=deque)
    greeted: bool = False

    def stop(self) -> int:
        """End the process, reap it, close the channel; return its exit status (negative: the signal)."""
        self.channel.close()
        with self.process:  # closes its standard error, and waits
            self.process.kill()
        return int(self.process.returncode)


class Pool:
    """A fixed number of places for confined workers. Safe to share between threads; `run` takes one caller at a time.

    Args:
        size: Number of places, that is of requests computed side by side.
        limits: What one request may use.
        layers: Layers of `confine.LAYERS` that every worker puts up.
        hash_seed: Seed of the workers' string hashes. Verdicts need one and the same.
    """

    def __init__(self, size: int, limits: Limits, layers: Collection[str], hash_seed: int = 0) -> None:
        self.size = size
        self.limits = limits
        self._layers = tuple(layers)
        self._hash_seed = hash_seed
        self._reset_after_fork()

    def reseeded(self, hash_seed: int) -> Pool:
        """Return another pool, of the same kind, whose workers have this hash seed."""
        return Pool(self.size, self.limits, self._layers, hash_seed)

    def _reset_after_fork(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._places: list[dict[bool, _Worker]] = [{} for _ in range(self.size)]
        self._finalizer = weakref.finalize(self, _close_all, self._places, self._owner)

    def start(self) -> dict[str, str]:
        """Start a worker and return what each layer came to on this machine, in words.

        Raises:
            IsolationError: A layer cannot be put up here.
            WorkerError: The interpreter does not start.
        """
        self._check_owner()
        with self._lock:
            worker = self._spawn(fork=True)
            try:
                ready, buffer = selectors.DefaultSelector(), worker.received
                with ready:
                    ready.register(worker.channel, selectors.EVENT_READ)
                    while (hello := wire.take_frame(buffer)) is None:
                        chunk = worker.channel.recv(65536) if ready.select(_START_SECONDS) else b""
                        if not chunk:
                            raise WorkerError(_failed_start(worker))
                        buffer += chunk
                layers = _layers_of(hello)
            except BaseException:
                worker.stop()
                raise
            worker.greeted = True
            if True in self._places[0]:
                self._places[0][True].stop()
            self._places[0][True] = worker
            return layers

    def run(self, requests: Sequence[Request]) -> list[Reply]:
        """Evaluate all requests and return their replies in order.

        Raises:
            IsolationError: A layer of the confinement cannot be put up here.
            WorkerError: Workers cannot be started, or keep being ended from outside.
        """
        self._check_owner()
        with self._lock:
            try:
                return _Run(self, requests).replies()
            except BaseException:
                # Half-done work is in the pipes (an interrupt, say): only fresh workers are in a known state.
                self._close()
                raise

    def close(self) -> None:
        """End all workers. The pool can be used again; they start anew."""
        self._check_owner()
        with self._lock:
            self._close()

    def _close(self) -> None:
        _close_all(self._places, self._owner)

    def _check_owner(self) -> None:
        if self._owner != os.getpid():  # forked: the workers belong to the other process
            self._finalizer.detach()
            self._foreign = self._places  # kept, so that no destructor warns about them
            self._reset_after_fork()

    def _spawn(self, fork: bool) -> _Worker:
        if not sys.executable:
            raise WorkerError("sys.executable is empty: the path of a Python interpreter is needed to start workers")
        ours, theirs = socket.socketpair()
        settings = {
            "channel": theirs.fileno(),
            "parent": os.getpid(),
            "user_seconds": self.limits.user_seconds,
            "cpu_seconds": self.limits.cpu_seconds,
            "memory_bytes": self.limits.memory_bytes,
            "fork": fork,
            "layers": self._layers,
        }
        # Not -I: it would ignore PYTHONHASHSEED, which keeps the order of sets from changing verdicts. The environment
        # is ours instead, but for what a relocated interpreter needs to start at all.
        environment = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PYTHONHOME") if name in os.environ}
        try:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-s",
                    "-S",
                    "-B",
                    "-W",
                    "ignore",
                    "-X",
                    "utf8",
                    "-c",
                    _BOOTSTRAP,
                    json.dumps(settings),
                    _PACKAGE_ROOT,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                cwd="/",
                # What a problem prints goes nowhere, and never fails.
                env={
                    **environment,
                    "PYTHONHASHSEED": str(self._hash_seed),
                    "PYTHONIOENCODING": "utf-8:backslashreplace",
                },
                start_new_session=True,  # Ctrl-C in the terminal reaches the judge alone
            )
        except OSError as error:
            ours.close()
            raise WorkerError(f"a worker cannot be started with {sys.executable}: {error}") from error
        finally:
            theirs.close()
        ours.setblocking(False)
        return _Worker(process, ours, time.monotonic() + _START_SECONDS)


def _close_all(places: list[dict[bool, _Worker]], owner: int) -> None:
    if owner != os.getpid():
        return
    for place in places:
        for worker in place.values():
            worker.stop()
        place.clear()


def _failed_start(worker: _Worker) -> str:
    assert worker.process.stderr is not None
    worker.process.kill()
    said = worker.process.stderr.read(2000).decode(errors="replace").strip()
    status = worker.stop()
    return f"a worker ended before it was ready (exit status {status}): {said or 'it said nothing'}"


def _layers_of(hello: dict[str, Any]) -> dict[str, str]:
    if "unconfined" in hello:
        raise IsolationError(str(hello["unconfined"]))
    layers = hello.get("hello")
    if not isinstance(layers, dict):
        raise WorkerError("a worker did not say hello")
    return layers


class _Run:
    """One call of `Pool.run`."""

    def __init__(self, pool: Pool, requests: Sequence[Request]) -> None:
        self._pool = pool
        self._results: list[Reply | None] = [None] * len(requests)
        self._left = len(requests)
        self._failed_starts = 0  # in a row
        self._waiting: dict[bool, deque[_Task]] = {False: deque(), True: deque()}
        for number, request in enumerate(requests):
            task = _Task(number, request)
            self._waiting[task.forks].append(task)
        self._selector = selectors.DefaultSelector()

    def replies(self) -> list[Reply]:
        with self._selector:
            for place in self._pool._places:
                for forks, worker in place.items():
                    self._watch(worker, place, forks)
            while self._left:
                self._feed()
                self._wait()
        return [reply for reply in self._results if reply is not None]

    def _feed(self) -> None:
        """Give every place as much as it takes: requests of one kind at a time, so that it computes one at a time."""
        for place in self._pool._places:
            if any(worker.queue for worker in place.values()):
                busy = next(forks for forks, worker in place.items() if worker.queue)
                self._fill(place, busy)
            elif self._waiting[True]:  # these take longest: first
                self._fill(place, True)
            elif self._waiting[False]:
                self._fill(place, False)

    def _fill(self, place: dict[bool, _Worker], forks: bool) -> None:
        waiting = self._waiting[forks]
        if not waiting:
            return
        if forks not in place:
            place[forks] = self._pool._spawn(forks)
            self._watch(place[forks], place, forks)
        worker = place[forks]
        share = -(-len(waiting) // self._pool.size)  # leave some for the other places
        for _ in range(min(_QUEUE - len(worker.queue), share)):
            task = waiting.popleft()
            if not worker.queue and worker.greeted:
                worker.deadline = time.monotonic() + self._pool.limits.wall_seconds
            worker.queue.append(task)
            request = task.request
            worker.unsent += wire.frame(
                {
                    "id": task.number + 1,
                    "code": request.code,
                    "answer": request.answer,
                    "names": sorted(request.names),
                    "limit": request.limit,
                }
            )
        self._send(worker, place, forks)

    def _watch(self, worker: _Worker, place: dict[bool, _Worker], forks: bool) -> None:
        self._selector.register(worker.channel, selectors.EVENT_READ, (worker, place, forks))

    def _send(self, worker: _Worker, place: dict[bool, _Worker], forks: bool) -> None:
        try:
            while worker.unsent:
                del worker.unsent[: worker.channel.send(worker.unsent)]
        except BlockingIOError:
            pass
        except OSError:  # it died; reading says so in a moment
            worker.unsent.clear()
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.unsent else 0)
        self._selector.modify(worker.channel, events, (worker, place, forks))

    def _wait(self) -> None:
        busy = [w for place in self._pool._places for w in place.values() if w.queue]
        timeout = min(w.deadline for w in busy) - time.monotonic()
        for key, events in self._selector.select(max(0.0, timeout)):
            worker, place, forks = key.data
            if events & selectors.EVENT_WRITE:
                self._send(worker, place, forks)
            if events & selectors.EVENT_READ:
                self._receive(worker, place, forks)
        now = time.monotonic()
        for place in self._pool._places:
            for forks, worker in list(place.items()):
                if worker.queue and now >= worker.deadline:
                    self._end(worker, place, forks, late=True)

    def _receive(self, worker: _Worker, place: dict[bool, _Worker], forks: bool) -> None:
        try:
            chunk = worker.channel.recv(2**18)
        except OSError:
            chunk = b""
        if not chunk:
            self._end(worker, place, forks)
            return
        worker.received += chunk
        try:
            while (message := wire.take_frame(worker.received)) is not None:
                self._take(worker, message)
        except (wire.WireError, RecursionError):
            self._end(worker, place, forks)

    def _take(self, worker: _Worker, message: dict[str, Any]) -> None:
        now = time.monotonic()
        if not worker.greeted:
            _layers_of(message)
            worker.greeted = True
            self._failed_starts = 0
            worker.deadline = now + self._pool.limits.wall_seconds
            return
        if not worker.queue or message.pop("id", None) != worker.queue[0].number + 1 or len(message) != 1:
            raise wire.WireError("a reply to nothing that was asked")
        ((kind, body),) = message.items()
        task = worker.queue[0]
        try:
            reply = self._read_reply(task, kind, body)
        except (wire.WireError, RecursionError):
            if not task.forks:
                raise
            # The server passes on what its child wrote; only the problem's own code can have made the child write this.
            reply = Reply("died", "garbage")
        worker.queue.popleft()
        worker.deadline = now + self._pool.limits.wall_seconds
        if reply is None:
            self._again(task)
        else:
            self._finish(task, reply)

    def _read_reply(self, task: _Task, kind: str, body: Any) -> Reply | None:
        """Return the reply, or None where a fork of its own must decide."""
        if kind == "value":
            return Reply(kind, wire.decode(body))
        if kind == "raised" and isinstance(body, list) and len(body) == 2 and all(isinstance(b, str) for b in body):
            return Reply(kind, tuple(body))
        if kind == "oversized" and isinstance(body, str):
            return Reply(kind, body)
        if kind == "memory":
            # How much was left depends on what the worker did before.
            return Reply(kind, "MemoryError") if task.forks else None
        if kind == "signal" and isinstance(body, int) and task.forks:
            return self._read_signal(task, body)
        raise wire.WireError("a reply of no known kind")

    def _read_signal(self, task: _Task, number: int) -> Reply | None:
        if number in _TIME_SIGNALS:
            return Reply("timeout", "cpu")
        if number == signal.SIGKILL:
            # Either somebody outside or the kernel, short of memory. Only the second comes back every time.
            return Reply("memory", "killed by the system") if task.tries + 1 >= _TRIES else None
        return Reply("died", signal.Signals(number).name if number else "exit")

    def _end(self, worker: _Worker, place: dict[bool, _Worker], forks: bool, late: bool = False) -> None:
        """Take a dead, lying or late worker out; settle the request at its head and put the others back."""
        self._selector.unregister(worker.channel)
        del place[forks]
        tasks = list(worker.queue)
        if not worker.greeted:
            said = _failed_start(worker)
            self._failed_starts += 1
            if worker.process.returncode >= 0 or self._failed_starts == _TRIES:
                raise WorkerError(said)
            self._waiting[forks].extendleft(reversed(tasks))  # killed from outside before it did anything
            return
        status = worker.stop()
        self._waiting[forks].extendleft(reversed(tasks[1:]))
        if not tasks:
            return
        if late:
            self._finish(tasks[0], Reply("timeout", "wall"))
        elif -status in _TIME_SIGNALS and not forks:
            self._finish(tasks[0], Reply("timeout", "cpu"))
        else:
            self._again(tasks[0])

    def _again(self, task: _Task) -> None:
        task.tries += 1
        task.alone = True
        if task.tries >= _TRIES:
            raise WorkerError(
                f"the worker was ended from outside {_TRIES} times during one check; "
                "is something killing processes of this user (a memory limit of the container, say)?"
            )
        self._waiting[True].append(task)

    def _finish(self, task: _Task, reply: Reply) -> None:
        self._results[task.number] = reply
        self._left -= 1
