"""Verification (SPEC.md, section 4)."""

from __future__ import annotations

import hashlib
import re
import time
from binascii import a2b_base64
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from .answers import QUESTION_PATH, Answers, AnswersOptions, leads_to_question
from .keys import Key
from .outcome import LOG, Outcome, Reporter
from .refused import Refused
from .signing_input import netstrings
from .store import BODY_SECONDS, Policy, Spend, Store, require_spent

# With re.ASCII, re.IGNORECASE folds only ASCII. Unlike `$`, fullmatch rejects a trailing line feed.
FLAGS = re.ASCII | re.IGNORECASE
INTERN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
TOKEN = r"[a-z0-9!#$%&'*+.^_`|~-]+"
CONFIGURED_TYPE = re.compile(rf"(?!multipart/){TOKEN}/{TOKEN}")
MEDIA_TYPE = rf'[ \t]*({TOKEN}/{TOKEN})(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?[ \t]*'
is_media_type = re.compile(MEDIA_TYPE.encode(), FLAGS).fullmatch
is_identity = re.compile(rb"[ \t]*identity[ \t]*", FLAGS).fullmatch
is_path = re.compile(rb"/[\x21\x22\x24-\x3e\x40-\x7e]{0,2047}").fullmatch
SIGNATURE_BYTES = rb"[A-Za-z0-9+/]{85}[AQgw]=="
# Values joined by line feeds, which no alphabet has: each call of a pattern has its price.
are_first = re.compile(SIGNATURE_BYTES + rb"\n(?:0|[1-9][0-9]{0,11})\n[\x21-\x2b\x2d-\x7e]{1,255}").fullmatch
are_second = re.compile(SIGNATURE_BYTES + rb"\n[A-Za-z0-9_-]{21}[AQgw]").fullmatch
SIGNATURE, SIGNATURE_V2 = b"x-ori-invoke-signature", b"x-ori-invoke-signature-v2"
TIMESTAMP, USER, NONCE = b"x-ori-invoke-timestamp", b"x-ori-invoke-user", b"x-ori-invoke-nonce"
PROOF_HEADERS = frozenset((SIGNATURE, SIGNATURE_V2, TIMESTAMP, USER, NONCE))
TYPE, CODING = b"content-type", b"content-encoding"
READ = PROOF_HEADERS | {TYPE, CODING}

RawHeaders = Iterable[tuple[bytes, bytes]]


class Keys(Protocol):
    """The keys of an intern: LocalKeys or RemoteKeys."""

    def usable(self) -> Sequence[Key] | None:
        """The keys, if nothing has to be awaited."""

    def current(self, renew: bool = False) -> Sequence[Key]:
        """The keys, fetched anew if `renew` and that is due. Raises Refused `keys_unavailable`."""
        ...

    async def current_async(self, renew: bool = False) -> Sequence[Key]: ...


class Proof(NamedTuple):
    """Who called. `issued_at` is in Unix seconds; `path` and `nonce` are None for version 1."""

    user: str
    intern_id: str
    version: int
    issued_at: int
    path: str | None
    nonce: str | None
    #: SHA-256 of the signing input in hex, with `on_accepted` or a key of answers.
    digest: str | None = None


class Proven(NamedTuple):
    """The caller, and the exact bytes that were signed."""

    proof: Proof
    body: bytes

    @property
    def user(self) -> str:
        return self.proof.user


class Verifier:
    """Judges the requests of one intern's daemon. Raises ValueError or TypeError for an invalid configuration."""

    def __init__(
        self,
        intern_id: str,
        keys: Keys,
        store: Store,
        *,
        max_age_seconds: int = 60,
        clock_tolerance_seconds: int = 2,
        accept_v1: bool = False,
        content_type: str = "application/json",
        answers: bool | AnswersOptions = False,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_accepted: Callable[[Proof, str], None] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        for value, least, most in ((max_age_seconds, 1, 600), (clock_tolerance_seconds, 0, 60)):
            if type(value) is not int or not least <= value <= most:
                raise ValueError(f"expected whole seconds from {least} to {most}")
        if not INTERN_ID.fullmatch(intern_id) or not CONFIGURED_TYPE.fullmatch(content_type):
            raise ValueError("intern_id or content_type")
        if not hasattr(keys, "current") or isinstance(store, type) or not hasattr(store, "spend"):
            raise TypeError("expected keys, as RemoteKeys(url), and a store, as MemoryStore()")
        retention = max_age_seconds + clock_tolerance_seconds + BODY_SECONDS
        self.policy = Policy(
            intern_id, max_age_seconds, clock_tolerance_seconds, accept_v1, answers is not False, retention
        )
        self.keys, self.store, self.now = keys, store, now
        self.report, self.on_accepted = Reporter(on_outcome), on_accepted
        options = AnswersOptions() if isinstance(answers, bool) else answers
        self.answers = None if answers is False else Answers(self.policy, store, options)
        self.has_digests = on_accepted is not None or options.key is not None
        self.spend_async: Callable[[Spend], Awaitable[str]] | None = getattr(store, "spend_async", None)
        self.intern = netstrings(intern_id).decode()
        self.content_type = content_type.encode("ascii")
        store.attach(self.policy)

    def begin(self, method: str, target: str, raw_headers: Iterable[tuple[str, str]]) -> OpenProof:
        """Performs steps 1 to 4 on a head. `raw_headers` are pairs of name and value as received. Raises Refused."""
        headers = [(to_bytes(name), to_bytes(value)) for name, value in raw_headers]
        return self.begin_raw(method, to_bytes(target), headers)

    def begin_raw(self, method: str, target: bytes, headers: RawHeaders) -> OpenProof:
        """The same for bytes."""
        now = self.now()
        try:
            return self._judge(method, target, headers, now)
        except Refused as refused:
            self.report(refused, method, target, headers)
            raise

    def _judge(self, method: str, target: bytes, headers: RawHeaders, now: float) -> OpenProof:
        found: dict[bytes, bytes] = {}
        is_repeated, types, is_plain = False, 0, True
        for name, value in headers:
            # Of bytes, this folds ASCII alone.
            name = name.lower()
            if name not in READ:
                continue
            if name == CODING:
                is_plain = is_plain and is_identity(value) is not None
            elif name == TYPE:
                types += 1
            elif name in found:
                is_repeated = True
            found[name] = value
        signature, timestamp, user = found.get(SIGNATURE), found.get(TIMESTAMP), found.get(USER)
        if signature is None or timestamp is None or user is None:
            raise Refused("proof_missing", "a proof header is absent")
        if is_repeated or not are_first(b"\n".join((signature, timestamp, user))):
            raise Refused("proof_malformed", "a proof header is repeated or outside its alphabet")
        signature_v2, nonce = found.get(SIGNATURE_V2), found.get(NONCE)
        if signature_v2 is None or nonce is None:
            if signature_v2 is not None or nonce is not None:
                raise Refused("proof_malformed", "one version 2 header is without the other")
            if not self.policy.accept_v1:
                raise Refused("proof_version_not_accepted", "a version 1 proof, and version 2 is required")
        elif not are_second(b"\n".join((signature_v2, nonce))):
            raise Refused("proof_malformed", "a version 2 header is outside its alphabet")
        if method != "POST" or not is_path(target):
            raise Refused("request_not_coverable", "the request is not a POST to a path without a query")
        if not (types == 1 and self._is_typed(found[TYPE]) and is_plain):
            raise Refused("request_not_coverable", "a media type or content coding that no proof covers")
        path, caller, once = target.decode(), user.decode(), None if nonce is None else nonce.decode()
        spend = Spend(self.policy, self.intern, timestamp.decode(), caller, once, path, now)
        if path.startswith(QUESTION_PATH):
            if self.answers is None:
                raise Refused("answers_not_kept", "a client asks what became of a call, and no answers are kept")
        elif leads_to_question(path):
            raise Refused("request_not_coverable", "the path of a question, spelled in another way")
        elif self.answers is not None:
            spend.caller = caller
        if spend.timestamp < now - self.policy.max_age_seconds:
            raise Refused("proof_expired", "sign right before sending, and check the clocks")
        if spend.timestamp > now + self.policy.clock_tolerance_seconds:
            raise Refused("proof_not_yet_valid", "the timestamp is ahead of this clock: check the clocks")
        return OpenProof(self, signature_v2 or signature, spend)

    def _is_typed(self, value: bytes) -> bool:
        if value == self.content_type:
            return True
        named = is_media_type(value)
        return named is not None and named[1].lower() == self.content_type


class OpenProof:
    """The result of a head that passed. Feed the body to `update`, then call `finish` or `finish_async` once."""

    __slots__ = ("_digest", "_signature", "_spend", "_verifier")

    def __init__(self, verifier: Verifier, signature: bytes, spend: Spend) -> None:
        self._verifier, self._signature, self._spend = verifier, signature, spend
        self._digest = hashlib.sha256()

    def update(self, piece: bytes) -> None:
        self._digest.update(piece)

    def finish(self) -> Proof:
        """Verifies the signature, spends the proof, and returns the caller. Raises Refused."""
        verifier = self._verifier
        try:
            spend, signature, signed = self._close()
            keys = verifier.keys.usable()
            if keys is None:
                keys = verifier.keys.current()
            if not is_signed(keys, signature, signed, spend.timestamp):
                require_signed(verifier.keys.current(renew=True), signature, signed, spend.timestamp)
            self._require_in_time()
            require_spent(verifier.store.spend(spend))
            return self._accepted()
        except Exception as error:
            raise self._refused(error) from error.__cause__

    async def finish_async(self) -> Proof:
        """The same, in an event loop."""
        verifier = self._verifier
        try:
            spend, signature, signed = self._close()
            keys = verifier.keys.usable()
            if keys is None:
                keys = await verifier.keys.current_async()
            if not is_signed(keys, signature, signed, spend.timestamp):
                keys = await verifier.keys.current_async(renew=True)
                require_signed(keys, signature, signed, spend.timestamp)
            self._require_in_time()
            if verifier.spend_async is None:
                require_spent(verifier.store.spend(spend))
            else:
                require_spent(await verifier.spend_async(spend))
            return self._accepted()
        except Exception as error:
            raise self._refused(error) from error.__cause__

    def _close(self) -> tuple[Spend, bytes, bytes]:
        spend = self._spend
        spend.digest = self._digest.hexdigest()
        return spend, a2b_base64(self._signature), spend.signed()

    def _require_in_time(self) -> None:
        now = self._verifier.now()
        if now - self._spend.now > BODY_SECONDS:
            raise Refused("proof_expired", f"the body took longer than {BODY_SECONDS} s")
        self._spend.now = now

    def _accepted(self) -> Proof:
        spend, intern_id = self._spend, self._verifier.policy.intern_id
        if self._verifier.report.listener is not None:
            self._report(None)
        digest = hashlib.sha256(spend.signed()).hexdigest() if self._verifier.has_digests else None
        if spend.nonce is None:
            proof = Proof(spend.user, intern_id, 1, spend.timestamp, None, None, digest)
        else:
            proof = Proof(spend.user, intern_id, 2, spend.timestamp, spend.path, spend.nonce, digest)
        if self._verifier.on_accepted is not None and digest is not None:
            try:
                self._verifier.on_accepted(proof, digest)
            except Exception:
                # The proof is spent, so this does not change the verdict.
                LOG.exception("on_accepted raised")
        return proof

    def _refused(self, error: Exception) -> Refused:
        if not isinstance(error, Refused):
            refused = Refused("replay_store_unavailable", "the key set or the replay store failed")
            refused.__cause__ = error
            error = refused
        self._report(error)
        return error

    def _report(self, error: Refused | None) -> None:
        self._verifier.report(error, "POST", self._spend.path.encode(), [(name, b"") for name in PROOF_HEADERS])


def is_signed(keys: Sequence[Key], signature: bytes, signed: bytes, timestamp: int) -> bool:
    """K12: by one of the at most three keys that are valid at that time."""
    tried = 0
    for key in keys:
        if key.begins <= timestamp < key.ends and tried < 3:
            tried += 1
            if key.verifies(signature, signed):
                return True
    return False


def require_signed(keys: Sequence[Key], signature: bytes, signed: bytes, timestamp: int) -> None:
    if not is_signed(keys, signature, signed, timestamp):
        is_known = any(key.begins <= timestamp < key.ends for key in keys)
        raise Refused("signature_invalid" if is_known else "key_unknown", "no key of the set signed this request")


def to_bytes(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        # Nothing of a request: outside every alphabet.
        return text.encode("utf-8", "surrogatepass")
