"""Kept answers (REPLAY-STORES.md, N14 to N22)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NamedTuple, cast
from urllib.parse import unquote

from .store import Answer, AnswerStore, Asked, AsyncStore, Call, CallEnd, Policy, Question, Store

QUESTION_PATH = "/.well-known/ori/calls/"
NONCE = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")
# Headers of one connection or of one moment (RFC 9110, section 7.6.1), and secrets that were for another connection.
NOT_KEPT = {"connection", "content-length", "date", "keep-alive", "ori-answer", "proxy-connection", "set-cookie"}
NOT_KEPT |= {"te", "trailer", "transfer-encoding", "upgrade"}
NO_STORE = re.compile(r"(?:^|,)[ \t]*no-store[ \t]*(?:,|$)", re.IGNORECASE)


def leads_to_question(path: str) -> bool:
    """Whether a server that decodes escapes, merges slashes, resolves dots or ignores case may do so (V20)."""
    if "%" not in path and "well-known" not in path.lower():
        return False
    segments: list[str] = []
    for segment in re.split(r"[/\\]", unquote(path, "latin-1").lower()):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    return f"/{'/'.join(segments[:3])}/" == QUESTION_PATH


class AnswersOptions(NamedTuple):
    """Limits of what is kept. `no_store`: also answers with `Cache-Control: no-store`."""

    bytes_max: int = 262_144
    no_store: bool = False


def _error(status: int, code: str, message: str, **headers: str) -> Answer:
    kept = {"content-type": "application/json", "cache-control": "no-store", **headers}
    return Answer(status, kept, json.dumps({"error": {"code": code, "message": message}}).encode())


RUNNING = _error(409, "call_running", "The call is running. Ask again after the time in Retry-After.")
RUNNING.headers["retry-after"] = "1"
ANSWERS = {
    "running": RUNNING,
    "lost": _error(410, "answer_lost", "The proof is spent and no answer is kept. The call may have been carried out."),
    "too_large": _error(410, "answer_too_large", "The call was answered, but its answer was too large to keep."),
    "not_received": _error(404, "call_not_received", "The call was not received. Its proof is void. Sign again."),
}


class Answers:
    """What adapters do for kept answers. Raises ValueError if the store cannot keep them."""

    def __init__(self, policy: Policy, store: Store, options: AnswersOptions) -> None:
        if not (hasattr(store, "keep") and hasattr(store, "ask")):
            raise ValueError("answers: this replay store cannot keep them")
        if policy.accept_v1:
            raise ValueError("answers: a question cannot void a version 1 proof, so accept_v1 must be off")
        self._policy, self._store, self._options = policy, cast(AnswerStore, store), options

    def question(self, user: str, path: str | None, timestamp: int, now: float) -> Question | None:
        """The question that a proof for this path is; None for an ordinary call."""
        if path is None or not path.startswith(QUESTION_PATH):
            return None
        return Question(Call(self._policy, user, path[len(QUESTION_PATH) :]), timestamp, now)

    def ask(self, question: Question) -> Answer:
        """The answer to a question. Raises Refused."""
        # No proof has another nonce.
        is_nonce = NONCE.fullmatch(question.call.nonce)
        return _answer(self._store.ask(question) if is_nonce else "not_received")

    async def ask_async(self, question: Question) -> Answer:
        if not hasattr(self._store, "ask_async") or not NONCE.fullmatch(question.call.nonce):
            return self.ask(question)
        return _answer(await cast(AsyncStore, self._store).ask_async(question))

    def record(self, user: str, nonce: str) -> Recorder:
        """Records the answer to an ordinary call."""
        return Recorder(self._options, Call(self._policy, user, nonce), self._store)


def _answer(asked: Asked) -> Answer:
    if isinstance(asked, Answer):
        return Answer(asked.status, {**asked.headers, "ori-answer": "kept"}, asked.body)
    return ANSWERS[asked]


class Recorder:
    """Records one answer while a handler gives it, and tells the store once what there is to keep."""

    def __init__(self, options: AnswersOptions, call: Call, store: AnswerStore) -> None:
        self._options, self._call, self._store = options, call, store
        self._body = bytearray()
        self._status, self._headers, self._length = 200, dict[str, str](), ""
        self.is_over = False

    def begin(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        all_: dict[str, str] = {}
        for name, value in headers:
            name = name.lower()
            all_[name] = f"{all_[name]}, {value}" if name in all_ else value
        named = [name.strip() for name in all_.get("connection", "").lower().split(",")]
        self._headers = {n: v for n, v in all_.items() if n not in NOT_KEPT and n not in named}
        self._status = status
        if status not in (204, 304):
            self._length = all_.get("content-length", "")
        if status < 200 or (not self._options.no_store and NO_STORE.search(all_.get("cache-control", ""))):
            self.lose()

    def add(self, piece: bytes) -> None:
        if self.is_over:
            return
        if len(self._body) + len(piece) > self._options.bytes_max:
            self._end("too_large")
        else:
            self._body += piece

    def end(self) -> None:
        # A client takes a body of another length for a broken connection.
        if self._length and self._length != str(len(self._body)):
            self.lose()
        self._end(Answer(self._status, self._headers, bytes(self._body)))

    def lose(self) -> None:
        """The handler gave up."""
        self._end("lost")

    def _end(self, end: CallEnd) -> None:
        if not self.is_over:
            self.is_over = True
            self._store.keep(self._call, end)
