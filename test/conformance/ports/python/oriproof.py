"""Verifies daemon proofs. The rules and their ids (V17, K5, …) are those of libs/public/proof: SPEC.md and others.

Needs Python 3.9 or later and the package `cryptography` for Ed25519. Strings of a request are Latin-1.
"""

from __future__ import annotations

import base64
import hashlib
import heapq
import json
import logging
import math
import os
import re
import threading
import time
import urllib.request
import weakref
from collections.abc import Iterable, Sequence
from email.message import Message
from functools import lru_cache
from typing import Any, Callable, Protocol, TypedDict

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

LOG = logging.getLogger("oriproof")
BODY_SECONDS = 30
FETCH_SECONDS = 2
# With re.ASCII, re.IGNORECASE folds only ASCII. Unlike `$`, fullmatch rejects a trailing line feed.
FLAGS = re.ASCII | re.IGNORECASE
INTERN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
PATH = re.compile(r"/[\x21\x22\x24-\x3e\x40-\x7e]{0,2047}")
PUBLIC_KEY = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
SIGNATURE = re.compile(r"[A-Za-z0-9+/]{85}[AQgw]==")
TOKEN = r"[a-z0-9!#$%&'*+.^_`|~-]+"
CONFIGURED_TYPE = re.compile(rf"(?!multipart/){TOKEN}/{TOKEN}")
CONTENT_TYPE = re.compile(rf'[ \t]*({TOKEN}/{TOKEN})(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?[ \t]*', FLAGS)
IDENTITY = re.compile(r"[ \t]*identity[ \t]*", FLAGS)
HEADERS = {
    "x-ori-invoke-signature": SIGNATURE,
    "x-ori-invoke-timestamp": re.compile(r"0|[1-9][0-9]{0,11}"),
    "x-ori-invoke-user": re.compile(r"[\x21-\x2b\x2d-\x7e]{1,255}"),
    "x-ori-invoke-signature-v2": SIGNATURE,
    "x-ori-invoke-nonce": re.compile(r"[A-Za-z0-9_-]{21}[AQgw]"),
}
ALWAYS = list(HEADERS)[:3]
VERSION_2 = list(HEADERS)[3:]
# SPEC.md, section 5. All others are 401.
STATUSES = {"body_incomplete": 400, "body_too_large": 413, "keys_unavailable": 503, "replay_store_full": 503}
STATUSES.update(replay_store_unavailable=503, replay_store_unsafe=503)


class Refused(Exception):
    """The proof is not accepted. `code` is one of SPEC.md, section 5."""

    def __init__(self, code: str, retry_after: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.retry_after = retry_after


# --- Keys (KEY-SETS.md)

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
LOW = ["0" * 64, "01" + "0" * 62, "ec" + "f" * 60 + "7f", "ed" + "f" * 60 + "7f", "ee" + "f" * 60 + "7f"]
LOW += ["26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"]
LOW += ["c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"]
SMALL_ORDER = {bytes.fromhex(h)[:31] + bytes([bytes.fromhex(h)[31] | sign]) for h in LOW for sign in (0, 0x80)}


Point = tuple[int, int, int, int]


def add(p: Point, q: Point) -> Point:
    """Adds two points in extended coordinates (RFC 8032, section 5.1.4)."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


@lru_cache(maxsize=1000)
def is_admitted(encoded: bytes) -> bool:
    """K11: the key is canonical, on the curve, and of prime order."""
    y, sign = int.from_bytes(encoded, "little") & (2**255 - 1), encoded[31] >> 7
    if y >= P or encoded in SMALL_ORDER:
        return False
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P == -u % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if v * x * x % P != u:
        return False
    x = x if x & 1 == sign else P - x
    point, sum_ = (x, y, 1, x * y % P), (0, 1, 1, 0)
    for bit in bin(L)[2:]:
        sum_ = add(sum_, sum_)
        sum_ = add(sum_, point) if bit == "1" else sum_
    return sum_[0] == 0 and sum_[1] == sum_[2]


class Key:
    def __init__(self, jwk: dict[str, Any]) -> None:
        """Raises ValueError for a key that is not admitted."""
        x = jwk.get("x")
        if jwk.keys() & {"d", "k", "priv"} or not isinstance(x, str) or not PUBLIC_KEY.fullmatch(x):
            raise ValueError("private or x")
        encoded = base64.urlsafe_b64decode(x + "=")
        members = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": x}, separators=(",", ":"))
        thumbprint = base64.urlsafe_b64encode(hashlib.sha256(members.encode()).digest()).decode().rstrip("=")
        if jwk.get("kid", thumbprint) != thumbprint or not is_admitted(encoded):
            raise ValueError("kid or point")
        self.x, self.begins, self.ends = x, jwk.get("nbf", 0), jwk.get("exp", math.inf)
        for name in ("nbf", "exp"):
            bound = jwk.get(name, 0)
            if type(bound) not in (int, float) or not math.isfinite(bound) or bound < 0:
                raise ValueError(name)
        if "nbf" in jwk and self.ends <= self.begins:
            raise ValueError("an empty interval")
        self.public = Ed25519PublicKey.from_public_bytes(encoded)

    def verifies(self, signature: bytes, signed: bytes) -> bool:
        if signature[:32] in SMALL_ORDER or int.from_bytes(signature[32:], "little") >= L:
            return False
        try:
            self.public.verify(signature, signed)
            return True
        except InvalidSignature:
            return False


def is_ours(jwk: dict[str, Any]) -> bool:
    """K2, K3: an Ed25519 key for signatures. An absent member excludes nothing; null is a value."""
    operations = jwk.get("key_ops", ["verify"])
    return (
        jwk.get("kty") == "OKP"
        and jwk.get("crv") == "Ed25519"
        and jwk.get("use", "sig") == "sig"
        and jwk.get("alg", "EdDSA") in ("EdDSA", "Ed25519")
        and isinstance(operations, list)
        and "verify" in operations
    )


def read_json(text: str) -> Any:
    """RFC 8259, unlike `json`: without NaN and Infinity, with integers of any length (K7). Raises JSONDecodeError."""

    def refuse(constant: str) -> None:
        raise json.JSONDecodeError("not JSON", constant, 0)

    def integer(digits: str) -> int | float:
        # `int` raises ValueError beyond some thousand digits; no double is as large as 400 of them.
        return int(digits) if len(digits) < 400 else float(digits)

    return json.loads(text, parse_constant=refuse, parse_int=integer)


def read_key_set(document: Any) -> list[Key]:
    """The keys of a decoded JWK Set. Raises ValueError if the whole set is refused (K1)."""
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list) or len(keys) > 100 or not all(isinstance(jwk, dict) for jwk in keys):
        raise ValueError("not a JWK Set of at most 100 keys")
    taken: dict[str, Key] = {}
    for jwk in filter(is_ours, keys):
        try:
            key = Key(jwk)
        except (ValueError, OverflowError):
            continue
        taken.setdefault(key.x, key)
    return list(taken.values())


# --- Rooted key sets (ROOTED-KEY-SETS.md)

STATEMENT = re.compile(r"(0|[1-9][0-9]{0,14}) ([A-Za-z0-9+/]{85}[AQgw]==)")
KEY_SET_URL = re.compile(r"(.+)/interns/([A-Za-z0-9][A-Za-z0-9_-]{0,127})/daemon/jwks\.json")


def is_time(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 999_999_999_999


class RootedSet:
    """Judges the answers of one URL, in order. `roots` are the pinned public JWKs. Raises ValueError(code)."""

    def __init__(self, url: str, roots: Sequence[dict[str, Any]]) -> None:
        named = KEY_SET_URL.fullmatch(url)
        if not named or not roots:
            raise ValueError("expected {base}/interns/{internId}/daemon/jwks.json and a root")
        if isinstance(roots, dict) or not all(isinstance(root, dict) and is_ours(root) for root in roots):
            raise ValueError('expected a list of public JWKs as roots: [{"kty": "OKP", "crv": "Ed25519", "x": "..."}]')
        self.base, self.intern = named.groups()
        self.roots = [Key(root) for root in roots]
        self.body: bytes | None = None
        self.at = -1

    def judge(self, body: bytes | None, header: str | None, now: int) -> tuple[list[Key], float]:
        """The keys, and until when they may be used; `body` is None for a 304, times are Unix milliseconds."""
        if header is None:
            raise ValueError("key_set_unstated")
        stated = STATEMENT.fullmatch(header)
        document = self.body if body is None else body
        if not stated or document is None:
            raise ValueError("key_set_malformed")
        at, signature = int(stated[1]), base64.b64decode(stated[2])
        try:
            jwks = read_json(document.decode())
            ori: Any = jwks.get("ori") if isinstance(jwks, dict) and isinstance(jwks.get("keys"), list) else jwks
            if isinstance(jwks, dict) and isinstance(jwks.get("keys"), list) and "ori" not in jwks:
                raise ValueError("key_set_unstated")
            delegations, statements = ori["delegations"], ori["statements"]
            is_listed = isinstance(delegations, list) and isinstance(statements, list)
            if not is_listed or len(statements) != len(jwks["keys"]):
                raise ValueError("key_set_malformed")
            if len(delegations) > 16 or len(jwks["keys"]) > 100:
                raise ValueError("key_set_too_large")
            for text in [*statements, *(one["signature"] for one in delegations)]:
                if not SIGNATURE.fullmatch(text):
                    raise ValueError("key_set_malformed")
            roles = self.roles(delegations, now // 1000)
        except (KeyError, TypeError, RecursionError, UnicodeDecodeError, json.JSONDecodeError):
            raise ValueError("key_set_malformed") from None
        if not roles["keys"] or not roles["freshness"]:
            raise ValueError("key_set_role_missing")
        digest = hashlib.sha256(document).hexdigest()
        signed = netstrings("ori-key-set-v1", self.base, self.intern, str(at), digest)
        freshness = next((key for key in roles["freshness"] if key.verifies(signature, signed)), None)
        if not freshness:
            raise ValueError("key_set_signature_invalid")
        if at > now + 10_000:
            raise ValueError("key_set_ahead")
        if at + 60_000 <= now:
            raise ValueError("key_set_frozen")
        if self.body is not None and document != self.body and at <= self.at:
            raise ValueError("key_set_rolled_back")
        keys, by = self.stated(jwks["keys"], statements, roles["keys"])
        self.at = max(self.at, at) if document == self.body else at
        self.body = document
        return keys, min(self.at + 60_000, *(key.ends * 1000 for key in (freshness, *by)))

    def roles(self, delegations: list[Any], now: int) -> dict[str, list[Key]]:
        held = [root for root in self.roots if root.begins <= now < root.ends]
        roles: dict[str, list[Key]] = {"root": held, "keys": [], "freshness": []}
        for one in delegations:
            role, x, begins, ends = one["role"], one["x"], one["nbf"], one["exp"]
            if role not in roles or not PUBLIC_KEY.fullmatch(x) or not is_time(begins) or not is_time(ends):
                raise ValueError("key_set_malformed")
            signed = netstrings("ori-delegation-v1", self.base, role, x, str(begins), str(ends))
            signature = base64.b64decode(one["signature"])
            root = next((root for root in roles["root"] if root.verifies(signature, signed)), None)
            others = [key.x for other, keys in roles.items() if other != role for key in keys]
            if root and begins <= now < ends and x not in others:
                if not is_admitted(base64.urlsafe_b64decode(x + "=")):
                    raise ValueError("key_set_malformed")
                roles[role].append(Key({"x": x, "nbf": begins, "exp": min(ends, root.ends)}))
        return roles

    def stated(self, jwks: list[Any], statements: list[str], roles: list[Key]) -> tuple[list[Key], list[Key]]:
        keys: list[Key] = []
        by: list[Key] = []
        for jwk, statement in zip(jwks, statements):
            if not isinstance(jwk, dict) or not is_ours(jwk) or not is_time(jwk.get("nbf")):
                raise ValueError("key_unstated")
            if jwk.get("x") in [key.x for key in keys] or not is_time(jwk.get("exp", 0)):
                raise ValueError("key_unstated")
            try:
                key = Key(jwk)
            except ValueError:
                raise ValueError("key_unstated") from None
            signed = netstrings("ori-key-v1", self.base, self.intern, key.x, str(jwk["nbf"]), str(jwk.get("exp", "")))
            role = next((one for one in roles if one.verifies(base64.b64decode(statement), signed)), None)
            if not role:
                raise ValueError("key_unstated")
            keys.append(key)
            by.append(role)
        return keys, by


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def direct_or_tls() -> urllib.request.OpenerDirector:
    """K14, K15: a proxy of the environment passes on only what it cannot read."""
    proxies = {scheme: url for scheme, url in urllib.request.getproxies().items() if scheme == "https"}
    return urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler(proxies))


def fresh_for(headers: Message) -> int:
    control = ", ".join(headers.get_all("Cache-Control", [])).lower()
    if re.search(r"\bno-(store|cache)\b", control):
        return 10
    max_age, age = re.search(r'(?:^|[ ,])max-age="?(\d{1,9})', control), headers.get("Age", "0")
    left = 60 if max_age is None else int(max_age[1]) - (int(age) if re.fullmatch(r"\d{1,9}", age) else 0)
    return min(60, max(10, left))


class RemoteKeys:
    """K14 to K20: fetched over https or from loopback; fresh for 60 s, stale for 600 s more, one fetch per 10 s.

    With `roots`, public JWKs, only sets that a root vouches for are taken, for 60 s at most (ROOTED-KEY-SETS.md).
    """

    def __init__(self, url: str, roots: Sequence[dict[str, Any]] = ()) -> None:
        if not re.match(r"https://|http://(127\.0\.0\.1|localhost|\[::1\])[:/]", url):
            raise ValueError("expected an https address")
        if not roots:
            LOG.warning("%s: no root is pinned, so anyone who can answer for it decides whose proofs are accepted", url)
        self.url, self.fresh, self.fetched, self.tried = url, 0, -math.inf, -math.inf
        self.keys: list[Key] = []
        self.lock, self.fetching, self.begun = threading.Lock(), threading.Thread(), -math.inf
        self.rooted, self.ends = RootedSet(url, roots) if roots else None, math.inf
        self.until = math.inf

    def current(self, renew: bool = False) -> list[Key]:
        with self.lock:
            now = time.monotonic()
            wanted = renew or now >= self.fetched + self.fresh
            if wanted and now >= self.tried + 10 and not self.fetching.is_alive():
                # The limit of urllib is for each read, so a server that sends byte by byte would hold every caller.
                self.fetching, self.begun = threading.Thread(target=self.fetch, args=(now,), daemon=True), now
                self.fetching.start()
            fetching, left = self.fetching, self.begun + FETCH_SECONDS - now
        # Who has keys does not wait for those of others.
        if wanted and left > 0 and fetching.is_alive():
            fetching.join(left)
        with self.lock:
            if time.monotonic() >= min(self.fetched + self.fresh + 600, self.ends) or time.time() >= self.until:
                raise Refused("keys_unavailable")
            return self.keys

    def fetch(self, now: float) -> None:
        try:
            with direct_or_tls().open(self.url, timeout=FETCH_SECONDS) as answer:
                text = b""
                while len(text) <= 65536 and time.monotonic() < now + FETCH_SECONDS and (piece := answer.read1(65537)):
                    text += piece
                if time.monotonic() >= now + FETCH_SECONDS:
                    raise TimeoutError(f"no whole answer in {FETCH_SECONDS} s")
                if answer.status != 200 or len(text) > 65536:
                    raise ValueError(f"status {answer.status}, at least {len(text)} bytes")
            with self.lock:
                self.take(text, answer.headers, now)
        except Exception as error:
            LOG.warning("%s: the keys were not taken: %s", self.url, error)
        finally:
            self.tried = time.monotonic()

    def take(self, text: bytes, headers: Message, now: float) -> None:
        if not self.rooted:
            self.keys = read_key_set(read_json(text.decode("utf-8-sig")))
        else:
            wall, stated = int(time.time() * 1000), headers.get_all("x-ori-key-set")
            self.keys, until = self.rooted.judge(text, ", ".join(stated) if stated else None, wall)
            self.ends, self.until = now + (until - wall) / 1000, until / 1000
        if not self.keys:
            LOG.warning("%s: the set has no usable key: check the intern id in its address", self.url)
        self.fresh, self.fetched = fresh_for(headers), now


# --- The replay store (REPLAY-STORES.md)


Id = tuple[str, "str | bytes"]


class MemoryStore:
    """Remembers spent proofs of one intern in this process. A restart sets a fence, and so does a fork."""

    def __init__(self, clock: Callable[[], float] = time.time, capacity: int = 100_000) -> None:
        # How many processes uvicorn and gunicorn start. Hosts set it where nobody asked for more than one.
        if os.environ.get("WEB_CONCURRENCY", "1") != "1":
            raise RuntimeError("expected WEB_CONCURRENCY=1: each process would accept the same proof once")
        self.clock, self.capacity = clock, capacity
        self.marks_from: int | None = None
        self.forget()
        this = weakref.ref(self)

        def forked() -> None:
            if (store := this()) is not None:
                store.forget()

        # A server that loads the daemon before it forks replaces a worker by one that knows nothing of its proofs.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=forked)

    def forget(self) -> None:
        # The ids, until when each is remembered, and the same in the order of that.
        self.spent: dict[Id, int] = {}
        self.by_end: list[tuple[int, int, Id]] = []
        self.floor, self.highest, self.fence = -1, -1, self.clock()
        self.lock = threading.Lock()

    def attach(self, verifier: Verifier) -> None:
        with self.lock:
            if verifier.accept_v1 and self.marks_from is None:
                self.marks_from = self.highest

    def spend(self, verifier: Verifier, timestamp: int, nonce: str | None, v1_id: bytes) -> None:
        with self.lock:
            now = self.clock()
            if timestamp > now + verifier.tolerance:
                raise Refused("proof_not_yet_valid")
            retention = verifier.max_age + verifier.tolerance + BODY_SECONDS
            while self.by_end and self.by_end[0][0] <= now:
                end, stamped, ended = heapq.heappop(self.by_end)
                if self.spent.get(ended) == end:
                    self.floor = max(self.floor, stamped)
                    del self.spent[ended]
            if timestamp <= max(now - retention, self.floor):
                raise Refused("proof_expired")
            fence = math.ceil(self.fence + verifier.tolerance)
            if nonce is None:
                fence = max(fence, self.highest if self.marks_from is None else self.marks_from)
            if timestamp <= fence:
                raise Refused("proof_before_fence", max(1, math.ceil(fence + 1 - now)))
            conflicting: list[Id]
            recorded: list[Id]
            if nonce is None:
                conflicting, recorded = [("v1", v1_id), ("mark", v1_id)], [("v1", v1_id)]
            else:
                conflicting, recorded = [("v2", nonce), ("v1", v1_id)], [("v2", nonce)]
                recorded += [] if self.marks_from is None else [("mark", v1_id)]
            if any(each in self.spent for each in conflicting):
                raise Refused("nonce_replayed")
            if len(self.spent) + len(recorded) > self.capacity:
                raise Refused("replay_store_full")
            for each in recorded:
                end = timestamp + retention
                if self.spent.get(each, 0) < end:
                    self.spent[each] = end
                    heapq.heappush(self.by_end, (end, timestamp, each))
            self.highest = max(self.highest, timestamp)


# --- Verification (SPEC.md, section 4)


class Proof(TypedDict, total=False):
    """Who called. `nonce` only for version 2."""

    user: str
    internId: str
    version: int
    issuedAt: int
    nonce: str


class Keys(Protocol):
    def current(self, renew: bool = False) -> list[Key]: ...


class Store(Protocol):
    def attach(self, verifier: Verifier) -> None: ...

    def spend(self, verifier: Verifier, timestamp: int, nonce: str | None, v1_id: bytes) -> None: ...


class LocalKeys:
    def __init__(self, keys: list[Key]) -> None:
        self.keys = keys

    def current(self, renew: bool = False) -> list[Key]:
        return self.keys


class Verifier:
    """`keys.current()` returns the keys. Raises ValueError for an invalid configuration."""

    def __init__(
        self,
        intern_id: str,
        keys: Keys,
        store: Store,
        max_age: int = 60,
        tolerance: int = 2,
        accept_v1: bool = False,
        content_type: str = "application/json",
        clock: Callable[[], float] = time.time,
    ) -> None:
        for value, least, most in ((max_age, 1, 600), (tolerance, 0, 60)):
            if type(value) is not int or not least <= value <= most:
                raise ValueError(f"expected whole seconds from {least} to {most}")
        if not INTERN_ID.fullmatch(intern_id) or not CONFIGURED_TYPE.fullmatch(content_type):
            raise ValueError("intern_id or content_type")
        if not hasattr(keys, "current") or isinstance(store, type) or not hasattr(store, "spend"):
            raise TypeError("expected keys, as RemoteKeys(url), and a store, as MemoryStore()")
        self.intern_id, self.keys, self.store, self.max_age, self.tolerance = intern_id, keys, store, max_age, tolerance
        self.accept_v1, self.content_type, self.clock = accept_v1, content_type, clock
        store.attach(self)

    def begin(self, method: str, target: str, raw_headers: Iterable[tuple[str, str]]) -> OpenProof:
        """Performs steps 1 to 4 on a head. `raw_headers` are (name, value) pairs as received. Raises Refused."""
        now = self.clock()
        found: dict[str, list[str]] = {}
        for name, value in raw_headers:
            found.setdefault(re.sub(r"[A-Z]", lambda letter: letter[0].lower(), name), []).append(value)
        if not all(name in found for name in ALWAYS):
            raise Refused("proof_missing")
        proof = {name: found[name] for name in HEADERS if name in found}
        if any(len(values) > 1 or not HEADERS[name].fullmatch(values[0]) for name, values in proof.items()):
            raise Refused("proof_malformed")
        if (VERSION_2[0] in proof) != (VERSION_2[1] in proof):
            raise Refused("proof_malformed")
        if VERSION_2[0] not in proof and not self.accept_v1:
            raise Refused("proof_version_not_accepted")
        types = [CONTENT_TYPE.fullmatch(value) for value in found.get("content-type", [])]
        is_typed = len(types) == 1 and types[0] and types[0][1].lower() == self.content_type
        is_plain = all(IDENTITY.fullmatch(value) for value in found.get("content-encoding", []))
        if method != "POST" or not PATH.fullmatch(target) or not is_typed or not is_plain:
            raise Refused("request_not_coverable")
        timestamp = int(proof["x-ori-invoke-timestamp"][0])
        if timestamp < now - self.max_age:
            raise Refused("proof_expired")
        if timestamp > now + self.tolerance:
            raise Refused("proof_not_yet_valid")
        return OpenProof(self, {name: values[0] for name, values in proof.items()}, target, now)


class OpenProof:
    """The result of a head that passed. Feed the body to `update`, then call `finish` once."""

    def __init__(self, verifier: Verifier, proof: dict[str, str], path: str, judged_at: float) -> None:
        self.verifier, self.proof, self.path, self.judged_at = verifier, proof, path, judged_at
        self.digest = hashlib.sha256()

    def update(self, piece: bytes) -> None:
        self.digest.update(piece)

    def finish(self) -> Proof:
        """Verifies the signature, spends the proof, and returns the caller. Raises Refused."""
        verifier, proof = self.verifier, self.proof
        timestamp, user, nonce = proof["x-ori-invoke-timestamp"], proof["x-ori-invoke-user"], proof.get(VERSION_2[1])
        named, digest = (verifier.intern_id, timestamp), self.digest.hexdigest()
        v1 = netstrings("ori-invoke-v1", *named, user, digest)
        v2 = netstrings("ori-invoke-v2", *named, nonce, user, "POST", self.path, digest) if nonce else None
        signature = base64.b64decode(proof[VERSION_2[0] if nonce else ALWAYS[0]])
        self.require_signature(signature, v2 or v1, int(timestamp))
        if verifier.clock() - self.judged_at > BODY_SECONDS:
            raise Refused("proof_expired")
        verifier.store.spend(verifier, int(timestamp), nonce, hashlib.sha256(v1).digest())
        accepted: Proof = {"user": user, "internId": verifier.intern_id, "version": 1, "issuedAt": int(timestamp)}
        return {**accepted, "version": 2, "nonce": nonce} if nonce else accepted

    def require_signature(self, signature: bytes, signed: bytes, timestamp: int) -> None:
        for renew in (False, True):
            good = [key for key in self.verifier.keys.current(renew) if key.begins <= timestamp < key.ends]
            if any(key.verifies(signature, signed) for key in good[:3]):
                return
        raise Refused("signature_invalid" if good else "key_unknown")


def netstrings(*fields: str) -> bytes:
    return "".join(f"{len(field)}:{field}," for field in fields).encode("ascii")
