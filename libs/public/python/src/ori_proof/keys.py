"""Key sets (KEY-SETS.md)."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .ed25519 import SMALL_ORDER, L, is_admitted

PUBLIC_KEY = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")


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
        # The last byte is the highest of S: below 0x10, S is below 2**252, and so below L.
        if signature[:32] in SMALL_ORDER or (signature[63] >= 0x10 and int.from_bytes(signature[32:], "little") >= L):
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
    keys = document.get("keys") if isinstance(document, Mapping) else None
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


class LocalKeys:
    """The keys of a JWK Set that the daemon has, as `{"keys": […]}`. Raises ValueError for anything else."""

    def __init__(self, jwks: Mapping[str, Any]) -> None:
        self.keys = read_key_set(jwks)

    def usable(self) -> list[Key] | None:
        return self.keys

    def current(self, renew: bool = False) -> list[Key]:
        return self.keys

    async def current_async(self, renew: bool = False) -> list[Key]:
        return self.keys
