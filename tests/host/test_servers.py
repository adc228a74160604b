"""Models behind a server, through the host's `local-completions` and `local-chat-completions`."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from driver import question, run
from scripted import question_of

import cruxeval_tasks
from cruxeval_tasks.problems import Problem

pytest.importorskip("aiohttp", reason="needs what lm_eval[api] installs")
pytest.importorskip("tenacity", reason="needs what lm_eval[api] installs")

SMOKE = {"problems": str(Path(cruxeval_tasks.__file__).parent / "smoke.jsonl")}


class Server(ThreadingHTTPServer):
    """Completes questions about the problems as told, and keeps what it was sent.

    A request with a seed gets the completion of that seed, always the same; one without, the next one.
    """

    def __init__(self, completions: dict[str, list[str | None]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.completions = completions
        self.received: list[dict[str, Any]] = []
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def complete(self, request: dict[str, Any]) -> str | None:
        with self._lock:
            self.received.append(request)
            prompt = request["prompt"] if "prompt" in request else request["messages"][-1]["content"]
            asked = question_of(prompt[0] if isinstance(prompt, list) else prompt)
            choices = self.completions[asked]
            seed = request.get("seed")
            n = self._asked[asked] if seed is None else seed
            self._asked[asked] += 1
        return choices[n % len(choices)]

    def base_url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.server.complete(request)
        choice = {"index": 0, "text": text} if "prompt" in request else {"index": 0, "message": {"content": text}}
        body = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({}) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def evaluate(server: Server, task: str, *, chat: bool, **options: Any) -> dict[str, Any]:
    kind, path = ("local-chat-completions", "chat/completions") if chat else ("local-completions", "completions")
    arguments = {"model": "stand-in", "base_url": server.base_url(path), "tokenizer_backend": "none"}
    return run(task, kind, metadata=SMOKE, model_args=arguments, apply_chat_template=chat, **options)


def answer(p: Problem, extra: str = "") -> str:
    return f"assert f({p.input}) == {p.output}{extra}\n"


@pytest.mark.parametrize("chat", [False, True])
class TestSampling:
    def test_ten_samples_are_ten(self, server: Server, smoke: list[Problem], chat: bool) -> None:
        server.completions = {
            question(p, "o"): [answer(p, f"  # {n}") if n < 3 else f"assert f() == 'wrong'  # {n}" for n in range(10)]
            for p in smoke[:2]
        }
        results = evaluate(server, "cruxeval_o_n10", chat=chat, limit=2)
        for sample in results["samples"]["cruxeval_o_n10"]:
            assert len(set(sample["resps"][0])) == 10
        assert results["results"]["cruxeval_o_n10"]["pass@1,answer"] == pytest.approx(0.3)
        for request in server.received:
            assert request["seed"] is None
            assert (request["temperature"], request["top_p"], request["top_k"]) == (0.8, 0.95, 0)
            assert request["stop"][:1] == ["[/ANSWER]"]
            assert request["max_tokens"] == 160

    def test_greedy_asks_for_temperature_zero(self, server: Server, smoke: list[Problem], chat: bool) -> None:
        server.completions = {question(p, "i"): [answer(p)] for p in smoke[:3]}
        results = evaluate(server, "cruxeval_i", chat=chat, limit=3)
        assert results["results"]["cruxeval_i"]["pass@1,answer"] == 1.0
        assert [request["temperature"] for request in server.received] == [0, 0, 0]


def test_chat_sends_one_user_turn_and_stops_at_no_tag(server: Server, smoke: list[Problem]) -> None:
    p = smoke[0]
    thinking = "<think>Is it [ANSWER]assert f(1) == 2[/ANSWER]? No.</think>"
    server.completions = {question(p, "o"): [f"{thinking}It is\n[ANSWER]\n{answer(p)}[/ANSWER]"]}
    results = evaluate(server, "cruxeval_o_chat", chat=True, limit=1)
    assert results["results"]["cruxeval_o_chat"]["pass@1,answer"] == 1.0
    (request,) = server.received
    assert [turn["role"] for turn in request["messages"]] == ["user"]
    assert not any("ANSWER" in stop for stop in request["stop"])


def test_a_reply_without_content_is_no_answer(server: Server, smoke: list[Problem]) -> None:
    server.completions = {question(p, "o"): [None if p is smoke[0] else answer(p)] for p in smoke[:2]}
    metrics = evaluate(server, "cruxeval_o_chat", chat=True, limit=2)["results"]["cruxeval_o_chat"]
    assert (metrics["pass@1,answer"], metrics["answered,answer"]) == (0.5, 0.5)
