"""Proofs for WSGI applications on gunicorn, whose environment has the request as it was received."""

from __future__ import annotations

import io
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from http.client import responses
from typing import Any

from .answers import Recorder
from .arrival import BODY_BYTES_MAX as BODY_BYTES_MAX
from .arrival import PROVEN as PROVEN
from .arrival import Arrival, Guard, length_of, proven_in, question_of, require_size, set_proven
from .forks import after_fork
from .refused import Refused
from .store import BODY_SECONDS
from .verifier import Proven, Verifier

PIECE = 65_536
# By the module that loads or calls the application.
HIDING = (
    "cheroot",
    "django.core.management.commands.runserver",
    "django.core.servers",
    "flask.cli",
    "gevent.pywsgi",
    "granian",
    "waitress",
    "werkzeug",
    "wsgiref",
)

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]


class ProofMiddleware:
    """Guards an application: a request reaches it only with an accepted proof, which is `environ[PROVEN]`.

    With `paths`, only requests to these paths, or below those that end with `/`; `environ[PROVEN]` of others is None.
    It answers refusals, and with a verifier that keeps answers the questions about them, which reach no application.
    Raises RuntimeError under a server that hides the request-target or merges headers.
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
        require_telling_server()
        self._app, self._guard = app, Guard(verifier, body_bytes_max, paths, diagnose)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        guard, verifier = self._guard, self._guard.verifier
        mount, path = (environ.get(name, "").encode("latin-1") for name in ("SCRIPT_NAME", "PATH_INFO"))
        if not guard.covers(target_of(environ), mount, path) or proven_in(environ, verifier) is not None:
            environ.setdefault(PROVEN, None)
            return self._app(environ, start_response)
        try:
            proven = prove(verifier, environ, guard.body_bytes_max, guard.diagnose)
            if verifier.answers is not None and (question := question_of(verifier, proven)) is not None:
                return respond(start_response, *verifier.answers.ask(question))
        except Refused as refused:
            return respond(start_response, refused.status, refused.headers, refused.body)
        if verifier.answers is None or proven.proof.nonce is None:
            return self._app(environ, start_response)
        proof = proven.proof
        recorder = verifier.answers.record(proof.user, proof.nonce or "", proof.digest)
        return recorded(self._app, environ, start_response, recorder)


def recorded(app: Application, environ: Environ, start_response: StartResponse, recorder: Recorder) -> Iterator[bytes]:
    head: tuple[Any, ...] | None = None
    is_sent, direct = False, None

    def begin(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        nonlocal head
        if exc_info and is_sent:
            # Which the server raises.
            return start_response(status, headers, exc_info)
        recorder.begin(int(status.split(" ", 1)[0]), headers)
        head = (status, headers, exc_info)
        return write

    def send_head() -> None:
        """It waits until more is known of the answer."""
        nonlocal head, is_sent, direct
        if head is None:
            return
        (status, headers, exc_info), head, is_sent = head, None, True
        headers = [*headers, *recorder.lines()]
        direct = start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

    def write(piece: bytes) -> None:
        recorder.add(piece)
        send_head()
        if direct is not None:
            direct(piece)

    pieces: Iterable[bytes] = ()
    try:
        pieces = app(environ, begin)
        is_one = isinstance(pieces, (list, tuple)) and len(pieces) == 1
        rest = iter(pieces)
        try:
            for piece in rest:
                recorder.add(piece)
                if is_one or recorder.is_whole():
                    recorder.end()
                send_head()
                yield piece
        except GeneratorExit:
            # The client left. The answer is still wanted, until it is over.
            for piece in rest:
                recorder.add(piece)
                if recorder.is_over:
                    break
            recorder.end()
            raise
        recorder.end()
        send_head()
    finally:
        recorder.lose()
        if (close := getattr(pieces, "close", None)) is not None:
            close()


def respond(start_response: StartResponse, status: int, headers: dict[str, str], body: bytes) -> Iterable[bytes]:
    lines = [*headers.items(), ("content-length", str(len(body)))]
    start_response(f"{status} {responses.get(status, 'Answer')}", lines)
    return [body]


def require_telling_server() -> None:
    """Raises RuntimeError if a server that hides what was received is loading the application."""
    frame = sys._getframe()
    while (frame := frame.f_back) is not None:  # type: ignore[assignment]
        name = frame.f_globals.get("__name__", "")
        if name.split(".")[0] == "gunicorn":
            return
        if any(name == server or name.startswith(server + ".") for server in HIDING):
            raise RuntimeError(hides(name))


def hides(server: str) -> str:
    return (
        f"ori_proof: {server} hides the request-target or merges headers, so it cannot be known what was signed: "
        "use gunicorn, an ASGI server with ori_proof.asgi, or ori-guard in front"
    )


def target_of(environ: Environ) -> bytes:
    """The request-target. Raises RuntimeError under another server than gunicorn."""
    server = str(environ.get("SERVER_SOFTWARE", "this server"))
    target = environ.get("RAW_URI")
    # Of another server, or a worker of gunicorn that is another's, this could be anything.
    if not server.startswith("gunicorn/") or not isinstance(target, str):
        raise RuntimeError(hides(server))
    return target.encode("latin-1")


def headers_of(environ: Environ) -> list[tuple[bytes, bytes]]:
    """Of gunicorn: repeated headers are joined by a comma, which no alphabet has, and names with `_` are dropped."""
    named = [(name[5:], value) for name, value in environ.items() if name.startswith("HTTP_")]
    named += [(name, environ[name]) for name in ("CONTENT_TYPE", "CONTENT_LENGTH") if environ.get(name)]
    return [
        (name.lower().replace("_", "-").encode("latin-1"), value.strip(" \t").encode("latin-1"))
        for name, value in named
    ]


def prove(verifier: Verifier, environ: Environ, body_bytes_max: int = BODY_BYTES_MAX, diagnose: bool = False) -> Proven:
    """Verifies a request whose body nobody has read, and spends its proof. The application can read the body again.

    Raises Refused; RuntimeError under another server than gunicorn.
    """
    target, method, headers = target_of(environ), environ["REQUEST_METHOD"], headers_of(environ)
    arrival = Arrival(verifier, method, target, headers)
    with arrival.judged(diagnose):
        proof = verifier.begin_raw(method, target, headers)
        with arrival.read():
            arrival.body = body = read_body(environ, body_bytes_max)
        proof.update(body)
        proven = Proven(proof.finish(), body)
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    environ.update({"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))})
    set_proven(environ, verifier, proven)
    return proven


def read_body(environ: Environ, body_bytes_max: int) -> bytes:
    length = length_of(environ.get("CONTENT_LENGTH") or "0", body_bytes_max)
    source, body, is_chunked = environ["wsgi.input"], bytearray(), "HTTP_TRANSFER_ENCODING" in environ
    handle = DEADLINES.watch(environ.get("gunicorn.socket"), BODY_SECONDS)
    try:
        # Not beyond the end that is stated: not every source of bytes has one of its own.
        while piece := source.read(PIECE if is_chunked else min(PIECE, length - len(body))):
            body += piece
            require_size(len(body), body_bytes_max)
    except OSError as error:
        # Also gunicorn's errors of a chunk.
        raise Refused("body_incomplete", "the body is incomplete") from error
    finally:
        DEADLINES.forget(handle)
    if len(body) < length:
        raise Refused("body_incomplete", "the body is shorter than its Content-Length")
    return bytes(body)


class Deadlines:
    """Ends the reading of bodies after which nothing could be accepted (V17), with one thread for all of them."""

    def __init__(self) -> None:
        self._forget_all()
        after_fork(self, Deadlines._forget_all)

    def _forget_all(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[int, tuple[float, socket.socket]] = {}
        self._count, self._is_running = 0, False

    def watch(self, wire: socket.socket | None, seconds: float) -> int:
        with self._lock:
            self._count += 1
            if wire is not None:
                self._watched[self._count] = (time.monotonic() + seconds, wire)
                if not self._is_running:
                    self._is_running = True
                    threading.Thread(target=self._run, name="ori-proof deadlines", daemon=True).start()
            return self._count

    def forget(self, handle: int) -> None:
        with self._lock:
            self._watched.pop(handle, None)

    def _run(self) -> None:
        while True:
            time.sleep(0.5)
            with self._lock:
                now = time.monotonic()
                for handle in [h for h, (end, _) in self._watched.items() if end <= now]:
                    _, wire = self._watched.pop(handle)
                    try:
                        wire.shutdown(socket.SHUT_RD)
                    except OSError:
                        # The client has closed it.
                        continue


DEADLINES = Deadlines()
