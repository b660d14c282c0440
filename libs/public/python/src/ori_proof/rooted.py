"""Rooted key sets (ROOTED-KEY-SETS.md)."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from .ed25519 import is_admitted
from .keys import PUBLIC_KEY, Key, is_ours, read_json
from .signing_input import netstrings

SIGNATURE = re.compile(r"[A-Za-z0-9+/]{85}[AQgw]==")
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
        for jwk, statement in zip(jwks, statements, strict=True):
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
