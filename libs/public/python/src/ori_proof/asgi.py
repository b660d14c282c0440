"""Proofs for ASGI applications: Starlette, FastAPI, Django, Quart, or none of these."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from .answers import Recorder
from .arrival import BODY_BYTES_MAX as BODY_BYTES_MAX
from .arrival import PROVEN as PROVEN
from .arrival import Arrival, Guard, length_of, proven_in, question_of, require_size, set_proven
from .refused import Refused
from .store import BODY_SECONDS
from .verifier import Proven, Verifier

NO_RAW_PATH = (
    "this server sets no raw_path, so the signed path cannot be known: use uvicorn, Hypercorn, Granian or "
    "another ASGI server that does"
)
TRAILERS = (
    "uvicorn with httptools does not tell trailer fields from headers: send the body with a Content-Length, or run "
    "uvicorn with --http h11"
)
SENT_BY_SERVER = {"http.response.pathsend", "http.response.zerocopysend"}

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
        self._app, self._guard = app, Guard(verifier, body_bytes_max, paths, diagnose)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        guard, verifier = self._guard, self._guard.verifier
        mount, path = (str(scope.get(name, "")).encode("utf-8", "surrogatepass") for name in ("root_path", "path"))
        if not guard.covers(target_of(scope), mount, path) or proven_in(scope, verifier) is not None:
            scope.setdefault(PROVEN, None)
            return await self._app(scope, receive, send)
        if scope["type"] == "websocket":
            # No proof covers one.
            return await send({"type": "websocket.close", "code": 1008})
        try:
            proven = await prove(verifier, scope, receive, guard.body_bytes_max, guard.diagnose)
            if verifier.answers is not None and (question := question_of(verifier, proven)) is not None:
                return await send_answer(send, *await verifier.answers.ask_async(question))
        except Refused as refused:
            return await send_answer(send, refused.status, {**refused.headers, "connection": "close"}, refused.body)
        await run(self._app, verifier, scope, proven, receive, send)


async def run(app: Application, verifier: Verifier, scope: Scope, proven: Proven, receive: Receive, send: Send) -> None:
    """Gives the application the request with its body, and records its answer if answers are kept."""
    body: list[bytes] = [proven.body]

    async def receive_again() -> Message:
        if body:
            return {"type": "http.request", "body": body.pop(), "more_body": False}
        # Only that the client left: with a recorder, somebody can still ask.
        return await (receive() if recorder is None else asyncio.Event().wait())  # type: ignore[return-value]

    proof = proven.proof
    if verifier.answers is None or proof.nonce is None:
        recorder = None
        return await app(scope, receive_again, send)
    recorder = verifier.answers.record(proof.user, proof.nonce, proof.digest)
    # A file that the server sends by itself is not seen here.
    scope["extensions"] = {n: o for n, o in (scope.get("extensions") or {}).items() if n not in SENT_BY_SERVER}
    head: Message | None = None
    has_key = verifier.answers.key is not None

    async def record(message: Message) -> None:
        nonlocal head
        tell(recorder, message)
        if message["type"] == "http.response.start":
            # With a key it waits until more is known of the answer.
            head = message
            if has_key:
                return
        if head is not None:
            lines = [(name.encode(), text.encode()) for name, text in recorder.lines()]
            begun, head = {**head, "headers": [*head.get("headers", []), *lines]}, None
            await pass_on(begun)
        if message["type"] != "http.response.start":
            await pass_on(message)

    async def pass_on(message: Message) -> None:
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
    arrival = Arrival(verifier, method, target, headers)
    with arrival.judged(diagnose):
        proof = verifier.begin_raw(method, target, headers)
        with arrival.read():
            require_headers(headers)
            arrival.body = body = await read_body(receive, headers, body_bytes_max)
        proof.update(body)
        proven = Proven(await proof.finish_async(), body)
    set_proven(scope, verifier, proven)
    return proven


def require_headers(headers: list[tuple[bytes, bytes]]) -> None:
    """uvicorn with httptools puts trailer fields into the headers, which a body in chunks may have (H5)."""
    if "uvicorn.protocols.http.httptools_impl" in sys.modules and any(n == b"transfer-encoding" for n, _ in headers):
        raise Refused("request_not_coverable", TRAILERS)


async def read_body(receive: Receive, headers: list[tuple[bytes, bytes]], body_bytes_max: int) -> bytes:
    stated = next((value for name, value in headers if name == b"content-length"), b"0")
    length = length_of(stated.decode("latin-1"), body_bytes_max)
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
    require_size(len(body), body_bytes_max)
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
