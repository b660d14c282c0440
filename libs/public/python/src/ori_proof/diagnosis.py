"""What arrived, for the sender of a refused request to compare: digests, and none of the values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from .verifier import READ

REPEATS_MAX = 4


def diagnosis_of(
    method: str, target: bytes, headers: Iterable[tuple[bytes, bytes]], body: bytes | None
) -> dict[str, object]:
    """`body` is None if it was not read to its end."""
    path, question, _ = target.partition(b"?")
    digests: dict[str, list[str]] = {}
    for name, value in headers:
        if name.lower() in READ:
            those = digests.setdefault(name.decode().lower(), [])
            if len(those) < REPEATS_MAX:
                those.append(digest_of(value))
    return {
        "method": digest_of(method.encode()),
        "path": digest_of(path),
        "query": bool(question),
        "body": None if body is None else digest_of(body),
        "bodyBytes": None if body is None else len(body),
        "headers": digests,
    }


def digest_of(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()
