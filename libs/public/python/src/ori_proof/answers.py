"""Kept answers (REPLAY-STORES.md, N14 to N22)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, cast
from urllib.parse import unquote

from .answer_proof import ANSWER_PROOF, AnswerKey
from .store import Answer, AnswerStore, Asked, AsyncStore, Call, CallEnd, Policy, Question, Store

#: Tells a client that it can ask for this answer, and for its end (REPLAY-STORES.md, A1).
RECORDED = ("ori-answer", "recorded")
QUESTION_PATH = "/.well-known/ori/calls/"
NONCE = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")
# Headers of one connection or of one moment (RFC 9110, section 7.6.1), and secrets that were for another connection.
NOT_KEPT = {"connection", "content-length", "date", "keep-alive", "ori-answer", "proxy-connection", "set-cookie"}
NOT_KEPT |= {ANSWER_PROOF, "te", "trailer", "transfer-encoding", "upgrade"}
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
    """Limits of what is kept. `no_store`: also answers with `Cache-Control: no-store`.

    `key`: proves each answer to an accepted proof.
    """

    bytes_max: int = 262_144
    no_store: bool = False
    key: AnswerKey | None = None


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

    @property
    def key(self) -> AnswerKey | None:
        return self._options.key

    def question(
        self, user: str, path: str | None, timestamp: int, now: float, digest: str | None = None
    ) -> Question | None:
        """The question that a proof for this path is; None for an ordinary call."""
        if path is None or not path.startswith(QUESTION_PATH):
            return None
        nonce = path[len(QUESTION_PATH) :]
        of_proof = nonce.endswith("/proof")
        call = Call(self._policy, user, nonce.removesuffix("/proof"))
        return Question(call, timestamp, now, of_proof, digest)

    def ask(self, question: Question) -> Answer:
        """The answer to a question. Raises Refused."""
        # No proof has another nonce.
        is_nonce = NONCE.fullmatch(question.call.nonce)
        return self._answer(question, self._store.ask(question) if is_nonce else "not_received")

    async def ask_async(self, question: Question) -> Answer:
        if not hasattr(self._store, "ask_async") or not NONCE.fullmatch(question.call.nonce):
            return self.ask(question)
        return self._answer(question, await cast(AsyncStore, self._store).ask_async(question))

    def record(self, user: str, nonce: str, digest: str | None = None) -> Recorder:
        """Records the answer to an ordinary call."""
        return Recorder(self._options, Call(self._policy, user, nonce), self._store, digest)

    def _answer(self, question: Question, asked: Asked) -> Answer:
        """A kept answer has the proof of its own call; anything else is the answer to the question."""
        answer = given(asked, question.of_proof)
        if self.key is None or question.digest is None or ANSWER_PROOF in answer.headers:
            return answer
        status, headers, body = answer
        media_type = headers.get("content-type", "").strip(" \t")
        digest = hashlib.sha256(body).hexdigest()
        proof = self.key.prove(question.digest, status, media_type, len(body), digest)
        return answer if proof is None else Answer(status, {**headers, ANSWER_PROOF: proof}, body)


def given(asked: Asked, of_proof: bool) -> Answer:
    if not isinstance(asked, Answer):
        return ANSWERS[asked]
    status, headers, body = asked
    if of_proof:
        return Answer(200, {ANSWER_PROOF: headers[ANSWER_PROOF]}, b"") if ANSWER_PROOF in headers else ANSWERS["lost"]
    # Of an answer that is not kept, the proof is.
    if (alone := headers.get("ori-answer")) in ("lost", "too_large"):
        return ANSWERS[alone]
    return Answer(status, {**headers, "ori-answer": "kept"}, body)


class Recorder:
    """Records one answer while a handler gives it, and tells the store once what there is to keep."""

    def __init__(self, options: AnswersOptions, call: Call, store: AnswerStore, digest: str | None = None) -> None:
        self._options, self._call, self._store = options, call, store
        self._body = bytearray()
        self._status, self._headers, self._length, self._type = 200, dict[str, str](), "", ""
        #: Nothing more of the body is recorded.
        self.is_over = False
        self._is_settled = False
        #: Why nothing but the proof is kept.
        self._alone: Literal["lost", "too_large"] | None = None
        self._key, self._digest = options.key, digest
        self._proof: str | None = None
        #: Of all of the body, until the answer is proven.
        self._sha256, self._sent = hashlib.sha256() if self._key and digest else None, 0

    def begin(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        all_: dict[str, str] = {}
        for name, value in headers:
            name = name.lower()
            all_[name] = f"{all_[name]}, {value}" if name in all_ else value
        named = [name.strip() for name in all_.get("connection", "").lower().split(",")]
        self._headers = {n: v for n, v in all_.items() if n not in NOT_KEPT and n not in named}
        self._status, self._type = status, all_.get("content-type", "").strip(" \t")
        if status not in (204, 304):
            self._length = all_.get("content-length", "")
        if status < 200:
            self.lose()
        elif not self._options.no_store and NO_STORE.search(all_.get("cache-control", "")):
            self._end("lost")

    def add(self, piece: bytes) -> None:
        if self._status in (204, 304):
            return
        if self._sha256 is not None:
            self._sha256.update(piece)
            self._sent += len(piece)
        if self.is_over:
            return
        if len(self._body) + len(piece) > self._options.bytes_max:
            self._end("too_large")
        else:
            self._body += piece

    def end(self) -> None:
        # A client takes a body of another length for a broken connection.
        if self._length and not self.is_over and self._length != str(len(self._body)):
            self.lose()
        if self._sha256 is not None and self._key is not None and self._digest is not None:
            digest, self._sha256 = self._sha256.hexdigest(), None
            self._proof = self._key.prove(self._digest, self._status, self._type, self._sent, digest)
        self._end(self._alone or Answer(self._status, self._headers, bytes(self._body)))

    def lose(self) -> None:
        """The handler gave up."""
        self._sha256 = None
        self._end(self._alone or "lost")

    def is_whole(self) -> bool:
        """Whether all that Content-Length announces is here."""
        return self._length == str(len(self._body)) and not self.is_over

    def lines(self) -> list[tuple[str, str]]:
        """What is added to the head: the proof if the answer has ended, otherwise by which key it will be."""
        if self._key is None or self._digest is None or self._status < 200:
            return [RECORDED]
        return [RECORDED, (ANSWER_PROOF, self._proof or self._key.x)]

    def _end(self, end: CallEnd) -> None:
        if self._is_settled:
            return
        self.is_over = True
        if not isinstance(end, Answer):
            self._alone = end
        # Of what is too large, or not to be stored, the proof is kept alone.
        if self._sha256 is not None:
            return
        self._is_settled = True
        if self._proof is not None:
            status, headers, body = end if isinstance(end, Answer) else ANSWERS[end]
            alone = {} if isinstance(end, Answer) else {"ori-answer": end}
            end = Answer(status, {**headers, **alone, ANSWER_PROOF: self._proof}, body)
        self._store.keep(self._call, end)
