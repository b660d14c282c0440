"""A signer for the tests of a daemon: no service, no network. With pytest, the fixture `ori_signer`:

pytest_plugins = ["ori_proof.testing"]
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .answers import AnswersOptions
from .keys import LocalKeys
from .memory import MemoryStore
from .signing_input import netstrings
from .verifier import Verifier


class TestStore(MemoryStore):
    """Behaves as if it were an hour old, so that tests need not wait for its fence, in any process of the tests."""

    __test__ = False

    def _forget(self) -> None:
        super()._forget()
        self._created -= 3600
        self._created_up -= 3600

    def attach(self, policy: Any) -> None:
        self._policies.append(policy)
        self._ledger_of(policy)


@dataclass(frozen=True)
class TestCall:
    """A call to send to a daemon under test, by POST."""

    __test__ = False

    name: str
    """What is wrong with it."""
    accepted: bool
    """Whether a daemon must accept it."""
    path: str
    headers: dict[str, str]
    body: bytes


class TestSigner:
    """Signs as the service does, with a key that nothing else trusts.

    signer = TestSigner("int_7Qm2")
    signer.post(client, "/api/invoke", b"{}", user="user_1")
    """

    __test__ = False

    def __init__(self, intern_id: str = "int_test") -> None:
        self.intern_id = intern_id
        self.key = Ed25519PrivateKey.generate()

    def jwks(self) -> dict[str, Any]:
        """For LocalKeys."""
        x = base64.urlsafe_b64encode(self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        return {"keys": [{"kty": "OKP", "crv": "Ed25519", "use": "sig", "x": x.decode().rstrip("=")}]}

    def verifier(self, *, answers: bool | AnswersOptions = False) -> Verifier:
        """Accepts what this signer signs, at once."""
        return Verifier(self.intern_id, LocalKeys(self.jwks()), TestStore(), answers=answers)

    def headers(
        self, user: str, path: str, body: bytes, *, timestamp: int | None = None, nonce: str | None = None
    ) -> dict[str, str]:
        """The headers of one request; a copy is refused."""
        stamped = str(int(time.time()) if timestamp is None else timestamp)
        nonce = nonce or base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        digest = hashlib.sha256(body).hexdigest()
        v1 = netstrings("ori-invoke-v1", self.intern_id, stamped, user, digest)
        v2 = netstrings("ori-invoke-v2", self.intern_id, stamped, nonce, user, "POST", path, digest)
        return {
            "Content-Type": "application/json",
            "x-ori-invoke-signature": base64.b64encode(self.key.sign(v1)).decode(),
            "x-ori-invoke-timestamp": stamped,
            "x-ori-invoke-user": user,
            "x-ori-invoke-signature-v2": base64.b64encode(self.key.sign(v2)).decode(),
            "x-ori-invoke-nonce": nonce,
        }

    def hostile_calls(self, path: str, body: object, *, user: str = "user_test") -> list[TestCall]:
        """A call that a daemon must accept, and ten that it must not, to be sent in this order: the first of the ten is
        the accepted one again. The body is bytes or a value, sent as JSON.
        """
        sent, now = encoded(body), int(time.time())
        elsewhere, stranger = TestSigner(f"{self.intern_id}_other"), TestSigner(self.intern_id)
        elsewhere.key = self.key
        honest = self.headers(user, path, sent)

        def refused(name: str, headers: dict[str, str], *, at: str = path, body: bytes = sent) -> TestCall:
            return TestCall(name, False, at, headers, body)

        def signed(at: str = path, timestamp: int = now) -> dict[str, str]:
            return self.headers(user, at, sent, timestamp=timestamp)

        return [
            TestCall("a right proof", True, path, honest, sent),
            refused("a right proof again", honest),
            refused("no proof", {"Content-Type": "application/json"}),
            refused("the proof of another path", signed(f"{path}/other")),
            refused("the proof of another body", signed(), body=sent + b" "),
            refused("a query", signed(), at=f"{path}?x=1"),
            refused("the proof of another person", signed() | {"x-ori-invoke-user": "user_other"}),
            refused("an hour old", signed(timestamp=now - 3600)),
            refused("an hour ahead", signed(timestamp=now + 3600)),
            refused("a proof for another intern", elsewhere.headers(user, path, sent)),
            refused("a key that is not the intern's", stranger.headers(user, path, sent)),
        ]

    def post(self, client: Any, path: str, body: object, *, user: str = "user_test") -> Any:
        """Posts what it signs, bytes or a value as JSON, with the test client of FastAPI, Flask or Django, or httpx."""
        sent = encoded(body)
        return send(client, path, sent, self.headers(user, path, sent))


def encoded(body: object) -> bytes:
    """The bytes themselves, or a value as JSON."""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def send(client: Any, path: str, body: bytes, headers: dict[str, str]) -> Any:
    """Posts with a test client. Those of Flask and Django have no server, and are given what gunicorn tells."""
    told = {"SERVER_SOFTWARE": "gunicorn/test", "RAW_URI": path}
    match type(client).__module__.split(".")[0]:
        case "flask":
            return client.post(path, data=body, headers=headers, environ_overrides=told)
        case "django":
            proof = {name: value for name, value in headers.items() if name != "Content-Type"}
            return client.post(path, body, content_type="application/json", headers=proof, **told)
    return client.post(path, content=body, headers=headers)


try:
    import pytest
except ImportError:
    pass
else:

    @pytest.fixture
    def ori_signer() -> TestSigner:
        """A signer of its own for each test."""
        return TestSigner()
