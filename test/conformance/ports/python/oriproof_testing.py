"""A signer for the tests of a daemon: no service, no network."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from oriproof import LocalKeys, MemoryStore, Verifier, netstrings, read_key_set


class TestSigner:
    """Signs as the service does, with a key of its own.

    signer = TestSigner("int_7Qm2")
    client.post("/api/invoke", content=body, headers=signer.headers("user_1", "/api/invoke", body))
    """

    __test__ = False

    def __init__(self, intern_id: str) -> None:
        self.intern_id = intern_id
        self.key = Ed25519PrivateKey.generate()

    def jwks(self) -> dict[str, Any]:
        x = (
            base64.urlsafe_b64encode(self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
            .decode()
            .rstrip("=")
        )
        return {"keys": [{"kty": "OKP", "crv": "Ed25519", "use": "sig", "x": x}]}

    def verifier(self) -> Verifier:
        """Accepts what this signer signs, at once: its store has been empty for longer than any proof lives."""
        store = MemoryStore()
        store.fence -= 1000
        return Verifier(self.intern_id, LocalKeys(read_key_set(self.jwks())), store)

    def headers(self, user: str, path: str, body: bytes, timestamp: int | None = None) -> dict[str, str]:
        """The headers of one request; a copy is refused."""
        stamped = str(int(time.time()) if timestamp is None else timestamp)
        nonce = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
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
