"""The bytes that are signed (SPEC.md, section 2)."""

from __future__ import annotations


def netstrings(*fields: str) -> bytes:
    return "".join(f"{len(field)}:{field}," for field in fields).encode("ascii")


class Claim:
    """What a proof says, from the sources of SPEC.md, section 1. The values match their alphabets."""

    __slots__ = ("digest", "intern", "nonce", "path", "stamped", "user")

    def __init__(self, intern: bytes, stamped: bytes, user: bytes, nonce: bytes | None, path: bytes, digest: bytes):
        #: The netstring of the intern's id.
        self.intern = intern
        self.stamped, self.user, self.path, self.digest = stamped, user, path, digest
        self.nonce = None if nonce is None else nonce.decode("ascii")

    @property
    def timestamp(self) -> int:
        return int(self.stamped)

    def v1(self) -> bytes:
        return b"13:ori-invoke-v1,%b%d:%b,%d:%b,64:%b," % (
            self.intern,
            len(self.stamped),
            self.stamped,
            len(self.user),
            self.user,
            self.digest,
        )

    def v2(self) -> bytes:
        return b"13:ori-invoke-v2,%b%d:%b,22:%b,%d:%b,4:POST,%d:%b,64:%b," % (
            self.intern,
            len(self.stamped),
            self.stamped,
            (self.nonce or "").encode("ascii"),
            len(self.user),
            self.user,
            len(self.path),
            self.path,
            self.digest,
        )

    def signed(self) -> bytes:
        return self.v1() if self.nonce is None else self.v2()
