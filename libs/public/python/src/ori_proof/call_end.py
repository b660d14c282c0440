"""How calls ended, as a shared store holds it: one text."""

from __future__ import annotations

import base64
import json
import os
from typing import Literal, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from .refused import Refused
from .store import Answer, Call, CallEnd

SEALED = "sealed:"
IV_BYTES, TAG_BYTES = 12, 16


class CallEnds:
    """With a key of 32 bytes, answers are sealed under it, and those that are not are `lost`."""

    def __init__(self, key: bytes | None) -> None:
        if key is not None and len(key) != 32:
            raise ValueError("answers_key: expected 32 bytes")
        self._key = key

    def render(self, call: Call, end: CallEnd) -> str:
        if not isinstance(end, Answer):
            return end
        kept = {"status": end.status, "headers": end.headers, "body": base64.b64encode(end.body).decode()}
        text = json.dumps(kept, separators=(",", ":"), ensure_ascii=False)
        if self._key is None:
            return text
        iv = os.urandom(IV_BYTES)
        sealed = self._cipher(self._key, call).encrypt(iv, text.encode(), None)
        return SEALED + base64.b64encode(iv + sealed[-TAG_BYTES:] + sealed[:-TAG_BYTES]).decode()

    def parse(self, call: Call, text: str) -> CallEnd | Literal["running"]:
        """Raises Refused for a text that no store wrote."""
        if text in ("running", "lost", "too_large"):
            return cast('Literal["running", "lost", "too_large"]', text)
        if text.startswith(SEALED) != (self._key is not None):
            return "lost"
        try:
            if self._key is not None:
                sealed = base64.b64decode(text[len(SEALED) :])
                tag, body = sealed[IV_BYTES : IV_BYTES + TAG_BYTES], sealed[IV_BYTES + TAG_BYTES :]
                text = self._cipher(self._key, call).decrypt(sealed[:IV_BYTES], body + tag, None).decode()
            kept = json.loads(text)
            return Answer(kept["status"], kept["headers"], base64.b64decode(kept["body"]))
        except InvalidTag:
            return "lost"
        except (ValueError, KeyError, TypeError) as error:
            raise Refused("replay_store_unavailable", "unexpected answer of the store") from error

    @staticmethod
    def _cipher(key: bytes, call: Call) -> AESGCM:
        # For this call of this person alone: an answer cannot be moved to another.
        info = "\n".join(["ori kept answer", call.policy.intern_id, call.nonce, call.user])
        return AESGCM(HKDF(SHA256(), 32, b"", info.encode()).derive(key))
