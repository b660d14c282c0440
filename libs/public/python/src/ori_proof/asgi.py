"""Proofs for ASGI applications: Starlette, FastAPI, Django, Quart, or none of these."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from .answers import Recorder
from .diagnosis import diagnosis_of
from .refused import Refused
from .store import BODY_SECONDS, Answer
from .verifier import Proven, Verifier

BODY_BYTES_MAX = 1_000_000
#: Where the scope has the Proven of this request.
PROVEN = "ori_proof.proven"
NO_RAW_PATH = (
    "this server sets no raw_path, so the signed path cannot be known: use uvicorn, Hypercorn, Granian or "
    "another ASGI server that does"
)
READ_BEFORE = (
    "the body was read before its proof was judged: a route that depends on a proof takes no body parameter, "
    "and reads Proven.body"
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class ProofMiddleware:
    """Guards an application: a request reaches it only with an accepted proof, which is `scope[PROVEN]`.

    With `paths`, only requests to these paths, or below those that end with `/`; `scope[PROVEN]` of the others is None.
    It answers refusals, and with a verifier that keeps answers the questions about them, which reach no application.
    """

    def __init__(
        self,
        app: Application,
        verifier: Verifier,
        *,
        body_bytes_max: int = BODY_BYTES_MAX,
        paths: Collection[str] | None = None,
        diagnose: bool = False,
    ) -> None:
        self._app, self._verifier = app, verifier
        self._body_bytes_max, self._diagnose, self._paths = body_bytes_max, diagnose, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if not is_guarded(target_of(scope), self._paths):
            scope[PROVEN] = None
            return await self._app(scope, receive, send)
        if scope["type"] == "websocket":
            # No proof covers one.
            return await send({"type": "websocket.close", "code": 1008})
        try:
            proven = await prove(self._verifier, scope, receive, self._body_bytes_max, self._diagnose)
            if (asked := await answer_to(self._verifier, proven)) is not None:
                return await send_answer(send, asked.status, asked.headers, asked.body)
        except Refused as refused:
            return await send_answer(send, refused.status, {**refused.headers, "connection": "close"}, refused.body)
        await run(self._app, self._verifier, scope, proven, receive, send)


def is_guarded(path: bytes, paths: Collection[str] | None) -> bool:
    if paths is None or path.startswith(b"/.well-known/ori/calls/"):
        return True
    path = path.partition(b"?")[0]
    return any(path.startswith(p.encode()) if p.endswith("/") else path == p.encode() for p in paths)


async def answer_to(verifier: Verifier, proven: Proven) -> Answer | None:
    """The answer to a question; None for an ordinary call. Raises Refused."""
    proof = proven.proof
    if verifier.answers is None:
        return None
    question = verifier.answers.question(proof.user, proof.path, proof.issued_at, verifier.now())
    return None if question is None else await verifier.answers.ask_async(question)


async def run(app: Application, verifier: Verifier, scope: Scope, proven: Proven, receive: Receive, send: Send) -> None:
    """Gives the application the request with its body, and records its answer if answers are kept."""
    body: list[bytes] = [proven.body]

    async def receive_again() -> Message:
        if body:
            return {"type": "http.request", "body": body.pop(), "more_body": False}
        # Only that the client left: with a recorder, somebody can still ask.
        return await (receive() if recorder is None else asyncio.Event().wait())  # type: ignore[return-value]

    scope[PROVEN] = proven
    proof = proven.proof
    if verifier.answers is None or proof.nonce is None:
        recorder = None
        return await app(scope, receive_again, send)
    recorder = verifier.answers.record(proof.user, proof.nonce)

    async def record(message: Message) -> None:
        tell(recorder, message)
        try:
            await send(message)
        except OSError:
            # The client left. The answer is still wanted, until it is over.
            if recorder.is_over:
                raise

    try:
        await app(scope, receive_again, record)
    finally:
        recorder.lose()


def tell(recorder: Recorder, message: Message) -> None:
    if message["type"] == "http.response.start":
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.get("headers", [])]
        recorder.begin(message["status"], headers)
    elif message["type"] == "http.response.body":
        recorder.add(message.get("body", b""))
        if not message.get("more_body", False):
            recorder.end()


def target_of(scope: Scope) -> bytes:
    """The request-target; ASGI does not tell an empty query from none. Raises RuntimeError if the server hides it."""
    raw_path: bytes | None = scope.get("raw_path")
    if raw_path is None:
        raise RuntimeError(NO_RAW_PATH)
    # `path` is decoded.
    query: bytes = scope["query_string"]
    return raw_path + b"?" + query if query else raw_path


async def prove(
    verifier: Verifier,
    scope: Scope,
    receive: Receive,
    body_bytes_max: int = BODY_BYTES_MAX,
    diagnose: bool = False,
) -> Proven:
    """Verifies a request whose body nobody has read, and spends its proof. Raises Refused."""
    target, method = target_of(scope), scope["method"]
    # httptools leaves white space after a value.
    headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
    body: bytes | None = None
    try:
        proof = verifier.begin_raw(method, target, headers)
        try:
            body = await read_body(receive, headers, body_bytes_max)
        except Refused as refused:
            verifier.report(refused, method, target, headers)
            raise
        proof.update(body)
        return Proven(await proof.finish_async(), body)
    except Refused as refused:
        if diagnose:
            refused.diagnosis = diagnosis_of(method, target, headers, body)
        raise


async def read_body(receive: Receive, headers: list[tuple[bytes, bytes]], body_bytes_max: int) -> bytes:
    length = next((int(value) for name, value in headers if name == b"content-length"), 0)
    if length > body_bytes_max:
        raise Refused("body_too_large", f"more than {body_bytes_max} bytes")
    # Nothing is accepted later (V17), so nothing is read later.
    loop, task, is_late = asyncio.get_running_loop(), asyncio.current_task(), False

    def give_up() -> None:
        nonlocal is_late
        is_late = task is not None and task.cancel()

    timer = loop.call_later(BODY_SECONDS, give_up)
    try:
        message = await received(receive)
        body: bytes = message.get("body", b"")
        if message.get("more_body", False):
            pieces = bytearray(body)
            while message.get("more_body", False) and len(pieces) <= body_bytes_max:
                message = await received(receive)
                pieces += message.get("body", b"")
            body = bytes(pieces)
    except asyncio.CancelledError:
        if not is_late:
            raise
        if sys.version_info >= (3, 11) and task is not None:
            task.uncancel()
        raise Refused("body_incomplete", f"the body took longer than {BODY_SECONDS} s") from None
    finally:
        timer.cancel()
    if len(body) > body_bytes_max:
        raise Refused("body_too_large", f"more than {body_bytes_max} bytes")
    # A middleware that read the stream leaves an empty one.
    if len(body) < length:
        raise Refused("body_incomplete", "the body is shorter than its Content-Length")
    return body


async def received(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Refused("body_incomplete", "the client left")
    return message


async def send_answer(send: Send, status: int, headers: dict[str, str], body: bytes) -> None:
    lines = {**headers, "content-length": str(len(body))}
    encoded = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in lines.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
