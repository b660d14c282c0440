import asyncio
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from starlette.responses import FileResponse

from ori_proof.asgi import PROVEN, ProofMiddleware, Receive, Scope, Send, send_answer
from ori_proof.testing import TestSigner


async def reply(scope: Scope, receive: Receive, send: Send) -> None:
    proven = scope[PROVEN]
    body = (await receive())["body"]
    await send_answer(send, 200, {}, b"nobody" if proven is None else proven.user.encode() + body)


def scope_of(headers: dict[str, str], path: str = "/api/invoke", **others: Any) -> Scope:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    return {**scope, "headers": raw, **others}


def call(app: ProofMiddleware, scope: Scope, *pieces: bytes) -> tuple[int, bytes]:
    sent = messages_of(app, scope, *pieces)
    return sent[0]["status"], sent[1]["body"]


def messages_of(app: ProofMiddleware, scope: Scope, *pieces: bytes) -> list[Any]:
    messages: list[Any] = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces[:-1]]
    messages.append({"type": "http.request", "body": pieces[-1] if pieces else b""})
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


def test_a_body_in_chunks_is_refused_where_trailers_are_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    signer = TestSigner()
    app = ProofMiddleware(reply, signer.verifier())
    chunked = scope_of({**signer.headers("ada", "/api/invoke", b"{}"), "transfer-encoding": "chunked"})
    monkeypatch.setitem(sys.modules, "uvicorn.protocols.http.httptools_impl", ModuleType("httptools_impl"))
    status, body = call(app, chunked, b"{}")
    assert (status, json.loads(body)["error"]["code"]) == (401, "request_not_coverable")
    monkeypatch.delitem(sys.modules, "uvicorn.protocols.http.httptools_impl")
    assert call(app, chunked, b"{}")[0] == 200


@pytest.mark.parametrize("scope", [{}, {"raw_path": None}])
def test_a_server_without_raw_path_is_named(scope: dict[str, Any]) -> None:
    without = scope_of(TestSigner().headers("ada", "/api/invoke", b"{}"))
    del without["raw_path"]
    with pytest.raises(RuntimeError, match="this server sets no raw_path"):
        call(ProofMiddleware(reply, TestSigner().verifier()), {**without, **scope})


def test_paths_are_guarded_or_passed_on() -> None:
    signer = TestSigner()
    app = ProofMiddleware(reply, signer.verifier(), paths=["/api/"])
    assert call(app, scope_of({}, "/health"), b"{}") == (200, b"nobody")
    assert call(app, scope_of({}), b"{}")[0] == 401
    # The application finds its handler by `path`, which is decoded.
    for raw in (b"/%61pi/invoke", b"http://daemon/api/invoke"):
        assert call(app, {**scope_of({}), "raw_path": raw}, b"{}")[0] == 401
    exact = ProofMiddleware(reply, signer.verifier(), paths=["/api/invoke"])
    paths = ("/api/invoke/", "//api/invoke", "/api//invoke", "/api/invoke2")
    assert [call(exact, scope_of({}, path), b"{}")[0] for path in paths] == [401, 401, 401, 200]
    again = ProofMiddleware(app, app._guard.verifier)
    for each in (app, again):
        assert call(each, scope_of(signer.headers("ada", "/api/invoke", b"{}")), b"{", b"}") == (200, b"ada{}")


@pytest.mark.parametrize(
    ("path", "root_path", "guarded"),
    [
        # uvicorn --root-path, whose path has it; FastAPI(root_path=…), whose path does not; a root within a segment.
        ("/prefix/api/invoke", "/prefix", "/api/"),
        ("/api/invoke", "/prefix", "/api/"),
        ("/api/invoke", "/a", "/api/"),
        # Mounted: as the client names it, as the application does, and below a prefix.
        ("/daemon/api/invoke", "/daemon/api", "/daemon/"),
        ("/daemon/api/invoke", "/daemon/api", "/invoke"),
        ("/daemon/api/invoke", "/daemon/api", "/api/invoke"),
    ],
)
def test_paths_are_guarded_wherever_an_application_is_mounted(path: str, root_path: str, guarded: str) -> None:
    app = ProofMiddleware(reply, TestSigner().verifier(), paths=[guarded])
    assert call(app, scope_of({}, path, root_path=root_path), b"{}")[0] == 401
    sent = messages_of(app, scope_of({}, path, root_path=root_path, type="websocket"))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_diagnosis_has_digests_alone() -> None:
    signer = TestSigner()
    app = ProofMiddleware(reply, signer.verifier(), diagnose=True)
    status, body = call(app, scope_of(signer.headers("ada", "/api/invoke", b"{}")), b"[]")
    diagnosis = json.loads(body)["error"]["diagnosis"]
    assert (status, diagnosis["bodyBytes"], diagnosis["query"]) == (401, 2, False)
    assert len(diagnosis["headers"]["x-ori-invoke-user"][0]) == 64


def test_a_file_is_recorded_where_the_server_would_send_it_by_itself(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"hello")
    signer = TestSigner()
    app = ProofMiddleware(FileResponse(tmp_path / "file"), signer.verifier(answers=True))
    headers = signer.headers("ada", "/api/invoke", b"{}")
    extensions: dict[str, Any] = {"http.response.pathsend": {}, "http.response.zerocopysend": {}}
    assert call(app, scope_of(headers, extensions=extensions), b"{}") == (200, b"hello")
    question = "/.well-known/ori/calls/" + headers["x-ori-invoke-nonce"]
    assert call(app, scope_of(signer.headers("ada", question, b""), question)) == (200, b"hello")


@pytest.mark.parametrize("length", [b"abc", b"-1", b"1_0", b"9" * 5000])
def test_a_length_that_is_none_is_a_broken_body(length: bytes) -> None:
    signer = TestSigner()
    scope = scope_of(signer.headers("ada", "/api/invoke", b"{}"))
    scope["headers"].append((b"content-length", length))
    status, body = call(ProofMiddleware(reply, signer.verifier()), scope, b"{}")
    assert (status, json.loads(body)["error"]["code"]) == (400, "body_incomplete")


def test_a_lost_answer_is_given_to_its_person_alone() -> None:
    signer = TestSigner()
    app = ProofMiddleware(reply, signer.verifier(answers=True))
    headers = signer.headers("ada", "/api/invoke", b"{}")
    question = "/.well-known/ori/calls/" + headers["x-ori-invoke-nonce"]

    def ask(user: str, path: str) -> tuple[int, str]:
        status, body = call(app, scope_of(signer.headers(user, path, b""), path))
        return status, json.loads(body)["error"]["code"] if status >= 400 else body.decode()

    assert call(app, scope_of(headers), b"{}") == (200, b"ada{}")
    assert ask("ada", question) == (200, "ada{}")
    assert ask("eve", question) == (404, "call_not_received")
    other = signer.headers("ada", "/api/invoke", b"{}")
    assert ask("ada", "/.well-known/ori/calls/" + other["x-ori-invoke-nonce"]) == (404, "call_not_received")
    assert call(app, scope_of(other), b"{}")[0] == 401
