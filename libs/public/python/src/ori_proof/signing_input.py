"""The bytes that are signed (SPEC.md, section 2)."""

from __future__ import annotations


def netstrings(*fields: str) -> bytes:
    return "".join(f"{len(field)}:{field}," for field in fields).encode("ascii")


class Claim:
    """What a proof says, from the sources of SPEC.md, section 1. The values match their alphabets."""

    __slots__ = ("digest", "intern", "nonce", "path", "stamped", "timestamp", "user")

    def __init__(
        self, intern: bytes, stamped: bytes, timestamp: int, user: bytes, nonce: bytes | None, path: bytes
    ) -> None:
        #: The netstring of the intern's id.
        self.intern = intern
        self.stamped, self.timestamp, self.user, self.nonce, self.path = stamped, timestamp, user, nonce, path
        #: Of the body, once it has been read.
        self.digest = b""

    def v1(self) -> bytes:
        stamped, user = self.stamped, self.user
        fields = (self.intern, len(stamped), stamped, len(user), user, self.digest)
        return b"13:ori-invoke-v1,%b%d:%b,%d:%b,64:%b," % fields

    def signed(self) -> bytes:
        if self.nonce is None:
            return self.v1()
        stamped, user, path = self.stamped, self.user, self.path
        named = (self.intern, len(stamped), stamped, self.nonce, len(user), user, len(path), path, self.digest)
        return b"13:ori-invoke-v2,%b%d:%b,22:%b,%d:%b,4:POST,%d:%b,64:%b," % named
