"""The proof of an answer: a signature of the daemon over it, as `@ori/proof/answer-proof` makes it."""

from __future__ import annotations

import base64
import re

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ANSWER_PROOF = "ori-answer-proof"
MEDIA_TYPE = re.compile(r"(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?")


class AnswerKey:
    """The key of a daemon: a seed of 32 bytes, or the text of the file that `ori-admin answer-key make` writes.

    One for all processes that share a store. Raises ValueError, whose message contains nothing of the seed.
    """

    def __init__(self, seed: bytes | str) -> None:
        if isinstance(seed, str):
            text = seed.strip()
            seed = base64.urlsafe_b64decode(text + "=") if re.fullmatch(r"[A-Za-z0-9_-]{43}", text) else b""
            seed = seed if _text(seed) == text else b""
        if len(seed) != 32:
            raise ValueError("the key of answers: expected 32 bytes, or 43 characters of base64url on one line")
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        #: The public key.
        self.x = _text(self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    def prove(self, call: str, status: int, media_type: str, length: int, digest: str) -> str | None:
        """The value of the header; None for what no signature covers. `call`, `digest`: SHA-256 in hex."""
        if not (200 <= status <= 999 and MEDIA_TYPE.fullmatch(media_type)):
            return None
        fields = ("ori-answer-v1", call, str(status), media_type, str(length), digest)
        signed = "".join(f"{len(field)}:{field}," for field in fields).encode("latin-1")
        return f"{self.x} {_text(self._key.sign(signed))}"


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
