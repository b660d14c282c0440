"""Verifies daemon proofs. The rules and their ids (V17, K5, …) are those of SPEC.md and the documents beside it."""

from .keys import Key, LocalKeys, read_key_set
from .memory import MemoryStore
from .refused import STATUSES, Refused
from .remote import RemoteKeys
from .rooted import RootedSet
from .verifier import OpenProof, Proof, Proven, Verifier

__all__ = [
    "STATUSES",
    "Key",
    "LocalKeys",
    "MemoryStore",
    "OpenProof",
    "Proof",
    "Proven",
    "Refused",
    "RemoteKeys",
    "RootedSet",
    "Verifier",
    "read_key_set",
]
