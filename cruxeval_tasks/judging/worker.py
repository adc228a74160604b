"""The child program: evaluates answers beside a problem's code, confined. Standard library only.

Started by `pool.py` as ``python -s -S -c BOOTSTRAP``; talks in the frames of `wire.py` over one inherited descriptor.
The expected value of a problem never comes here, and nothing that is decided here counts as a verdict.

Requests are ``{"id", "code", "answer", "names", "limit"}``; replies ``{"id", KIND: BODY}`` with KIND one of
value (tagged JSON) · raised ([class, message]) · memory · oversized (why) · signal (the number that ended a child).
"""

from __future__ import annotations

import builtins
import json
import os
import re
import resource
import signal
import sys
from copy import deepcopy
from types import CodeType
from typing import Any

from cruxeval_tasks.judging import confine, wire
from cruxeval_tasks.judging.names import PURE_BUILTINS

# Extension modules that need libraries outside the standard library's folder: loaded while those can still be opened.
_PRELOADED = ("binascii", "bz2", "lzma", "zlib")

_RECURSION = 1000  # frames for the problem's code: the interpreter's default, whatever lies below it on the stack
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # differs from run to run
_CACHED_PROBLEMS = 64

_REPLIES = (["value"], ["raised"], ["memory"], ["oversized"])

_PURE = {name: getattr(builtins, name) for name in PURE_BUILTINS}


def main() -> None:
    """Confine this process, say hello, then answer requests until the stream ends.

    ``sys.argv[1]`` is a JSON object with `channel` (descriptor), `parent` (process id), `user_seconds`, `cpu_seconds`,
    `memory_bytes`, `fork` (whether each request gets a child of its own) and `layers`.
    """
    settings = json.loads(sys.argv[1])
    channel: int = settings["channel"]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the judge decides what an interrupt means
    for name in _PRELOADED:
        try:
            __import__(name)
        except ImportError:  # an interpreter built without it
            continue
    os.dup2(1, 2)  # standard error was open for a failing start only; standard output is null
    try:
        layers = confine.confine(settings["parent"], settings["memory_bytes"], settings["fork"], settings["layers"])
    except confine.ConfinementError as error:
        wire.write_all(channel, wire.frame({"unconfined": str(error)}))
        return
    try:
        # A library that cannot be read would not fail loudly: problems catch the LookupError and return another value.
        "".encode("shift_jis")
    except LookupError:
        wire.write_all(channel, wire.frame({"unconfined": "landlock: the standard library cannot be read"}))
        return
    wire.write_all(channel, wire.frame({"hello": layers}))
    answer = _in_child if settings["fork"] else _here
    buffer = bytearray()
    while (request := wire.read_message(channel, buffer)) is not None:
        reply = answer(request, settings)
        wire.write_all(channel, wire.frame({**reply, "id": request["id"]}))


def _here(request: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Evaluate in this process. Only for literal arguments and for code that cannot reach beyond its own globals."""
    _start_timers(settings["user_seconds"], settings["cpu_seconds"])
    try:
        return _evaluate(request)
    finally:
        _start_timers(0, 0)


def _in_child(request: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Evaluate in a fork of this process, which has run no answer and no problem before."""
    server = os.getpid()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            os.close(settings["channel"])  # the judge hears the server only
            confine.die_with_parent(server)
            seconds = settings["cpu_seconds"]
            # Behind the timer, whose signal could be blocked, a limit that cannot.
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 2, int(seconds) + 2))
            if "seccomp" in settings["layers"]:
                confine.forbid_system_calls(may_fork=False)
            _start_timers(settings["user_seconds"], seconds)
            wire.write_all(writing, wire.frame(_evaluate(request)))
        finally:
            os._exit(0)
    os.close(writing)
    buffer = bytearray()
    reply = None
    try:
        reply = wire.read_message(reading, buffer)
    except wire.WireError:
        pass
    finally:
        os.close(reading)
        _, status, usage = os.wait4(child, 0)
    if reply is None or list(reply) not in _REPLIES:  # none, or none that `_evaluate` gives
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        if number == signal.SIGKILL and usage.ru_utime + usage.ru_stime >= settings["cpu_seconds"]:
            number = signal.SIGXCPU  # it ignored the timers, and the limit behind them sends SIGKILL
        return {"signal": number}
    return reply  # type: ignore[no-any-return]


def _start_timers(user_seconds: float, cpu_seconds: float) -> None:
    """Have the kernel end this process when the time is spent, even inside a C loop that nothing else interrupts."""
    signal.setitimer(signal.ITIMER_VIRTUAL, user_seconds)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)


_compiled: dict[str, CodeType] = {}


def _problem_code(code: str) -> CodeType:
    compiled = _compiled.get(code)
    if compiled is None:
        if len(_compiled) >= _CACHED_PROBLEMS:
            _compiled.clear()
        compiled = _compiled[code] = compile(code, "<problem>", "exec", dont_inherit=True)
    return compiled


def _evaluate(request: dict[str, Any]) -> dict[str, Any]:
    """Run the problem's code in fresh globals and evaluate the answer beside it."""
    sys.setrecursionlimit(_depth() + _RECURSION)
    try:
        try:
            module: dict[str, Any] = {"__name__": "problem", "__builtins__": builtins}
            exec(_problem_code(request["code"]), module)
            answer = compile(request["answer"], "<answer>", "eval", dont_inherit=True)
            value = eval(answer, _answer_globals(module, request["names"]))
        finally:
            sys.setrecursionlimit(_depth() + _RECURSION + wire.MAX_DEPTH)
        return {"value": wire.encode(value, request["limit"])}
    except MemoryError:
        return {"memory": "MemoryError"}
    except wire.TooLarge as error:
        return {"oversized": str(error)}
    except BaseException as error:
        return {"raised": _describe(error)}


def _depth() -> int:
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


def _answer_globals(module: dict[str, Any], admitted: list[str]) -> dict[str, Any]:
    """Names for the answer: the admitted ones of the problem's module, and the pure built-ins.

    A dictionary of its own, and data as copies, so that evaluating the answer's arguments cannot change what `f` sees.
    Functions and classes are copies of themselves. What cannot be copied (a running generator) is left out.
    """
    names: dict[str, Any] = {"__builtins__": _PURE}
    memo: dict[int, Any] = {}
    for name in admitted:
        if name not in module:
            continue
        if name == "f":
            names[name] = module[name]
            continue
        try:
            names[name] = deepcopy(module[name], memo)
        except MemoryError:
            raise
        except Exception:
            continue
    return names


def _describe(error: BaseException) -> list[str]:
    """Class and message of an exception, each short, the same in every run."""
    try:
        message = _ADDRESS.sub("", str(error))[:200]
    except BaseException:
        message = ""
    return [type(error).__name__[:100], message]
