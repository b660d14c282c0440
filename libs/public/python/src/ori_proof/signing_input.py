"""The bytes that are signed (SPEC.md, section 2)."""

from __future__ import annotations


def netstrings(*fields: str) -> bytes:
    return "".join(f"{len(field)}:{field}," for field in fields).encode("ascii")
