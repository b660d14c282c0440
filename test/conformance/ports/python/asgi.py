"""Judges requests of an ASGI server. As a daemon, with uvicorn: python3 asgi.py INTERN_ID JWKS_URL [PORT]"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Awaitable, MutableMapping
from dataclasses import dataclass
from typing import Any, Callable

from oriproof import BODY_SECONDS, STATUSES, MemoryStore, Proof, Refused, RemoteKeys, Verifier

BODY_BYTES_MAX = 1_000_000

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class Proven:
    """The caller, and the exact bytes that were signed."""

    proof: Proof
    body: bytes

    @property
    def user(self) -> str:
        return self.proof["user"]


async def prove(verifier: Verifier, scope: Scope, receive: Receive, body_bytes_max: int = BODY_BYTES_MAX) -> Proven:
    """Verifies a request whose body nobody has read, and spends its proof. Raises Refused."""
    # `path` is decoded, and `query_string` is empty both with and without a `?`.
    target = scope["raw_path"].decode("latin-1")
    if scope["query_string"]:
        target += "?" + scope["query_string"].decode("latin-1")
    # httptools leaves white space after a value.
    headers = [(name.decode("latin-1"), value.decode("latin-1").strip(" \t")) for name, value in scope["headers"]]
    proof = verifier.begin(scope["method"], target, headers)
    lengths = [value for name, value in headers if name == "content-length"]
    if lengths and int(lengths[0]) > body_bytes_max:
        raise Refused("body_too_large")
    try:
        # Nothing is accepted later (V17), so nothing is read later.
        body = await asyncio.wait_for(read_body(receive, body_bytes_max), BODY_SECONDS)
    except asyncio.TimeoutError:
        raise Refused("body_incomplete") from None
    # A middleware that read the stream leaves an empty one.
    if lengths and len(body) < int(lengths[0]):
        raise Refused("body_incomplete")
    proof.update(body)
    # Keys may have to be fetched.
    return Proven(await asyncio.get_running_loop().run_in_executor(None, proof.finish), body)


async def read_body(receive: Receive, body_bytes_max: int) -> bytes:
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused("body_incomplete")
        body += message.get("body", b"")
        if len(body) > body_bytes_max:
            raise Refused("body_too_large")
        more = message.get("more_body", False)
    return bytes(body)


def refusal(refused: Refused) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Status, headers and body of the answer (SPEC.md, section 5)."""
    status = STATUSES.get(refused.code, 401)
    headers = {"Cache-Control": "no-store", "Connection": "close"}
    if status == 401:
        headers["WWW-Authenticate"] = "Ori-Proof"
    if refused.retry_after is not None:
        headers["Retry-After"] = str(refused.retry_after)
    return status, headers, {"error": {"code": refused.code, "message": "The proof was not accepted."}}


async def answer(send: Send, status: int, headers: dict[str, str], value: object) -> None:
    body = json.dumps(value).encode()
    lines = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    encoded = [(name.lower().encode(), text.encode()) for name, text in lines.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def application(verifier: Verifier) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        try:
            proven = await prove(verifier, scope, receive)
        except Refused as refused:
            return await answer(send, *refusal(refused))
        await answer(send, 200, {}, {"user": proven.user, "bytes": len(proven.body)})

    return app


if __name__ == "__main__":
    import uvicorn

    intern_id, url, port = sys.argv[1:] if len(sys.argv) > 3 else [*sys.argv[1:], "8081"]
    listening = socket.create_server(("127.0.0.1", int(port)))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    daemon = application(Verifier(intern_id, RemoteKeys(url), MemoryStore()))
    uvicorn.Server(uvicorn.Config(daemon, log_level="warning")).run(sockets=[listening])
