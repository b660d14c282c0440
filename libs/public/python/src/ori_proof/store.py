"""What a verifier asks of its replay store (REPLAY-STORES.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from .refused import Refused

BODY_SECONDS = 30
TOLERANCE_SECONDS_MAX = 60
RETENTION_SECONDS_MAX = 600 + TOLERANCE_SECONDS_MAX + BODY_SECONDS
ANSWERS_BYTES_MAX = 64 * 1024 * 1024
ANSWER_SECONDS = 600
RUNNING_SECONDS_MAX = 86_400
LIFE_SECONDS = 15
QUESTION_SECONDS_MAX = 300


# What a store says of a proof that it does not spend.
VERDICTS = {
    "replayed": ("nonce_replayed", "the proof was spent before"),
    "not_issued": ("nonce_not_issued", "the signer did not reserve this nonce for this proof"),
    "expired": ("proof_expired", "the proof is older than what the store remembers"),
    "not_yet_valid": ("proof_not_yet_valid", "the timestamp is ahead of the store's clock: check the clocks"),
    "before_fence": ("proof_before_fence", "the proof was issued before the store could remember it"),
}


def require_spent(verdict: str, retry_after: object = None) -> str:
    """Raises Refused for any other verdict."""
    if verdict == "spent":
        return verdict
    code, why = VERDICTS.get(str(verdict), ("replay_store_unavailable", "unexpected answer of the store"))
    raise Refused(code, why, int(str(retry_after or 1)) if verdict == "before_fence" else None)


class Policy(NamedTuple):
    """The verifier's requirements."""

    intern_id: str
    max_age_seconds: int
    clock_tolerance_seconds: int
    accept_v1: bool
    answers: bool
    #: Seconds for which a spent proof is remembered after its timestamp.
    retention_seconds: int


class Spend:
    """A proof to be spent, once its signature is verified. The values match their alphabets (SPEC.md, section 1)."""

    __slots__ = ("caller", "digest", "intern", "nonce", "now", "path", "policy", "stamped", "timestamp", "user")

    def __init__(
        self, policy: Policy, intern: str, stamped: str, user: str, nonce: str | None, path: str, now: float
    ) -> None:
        #: `intern` is the netstring of the intern's id; `now` the verifier's clock in Unix seconds.
        self.policy, self.intern, self.now = policy, intern, now
        self.stamped, self.timestamp, self.user, self.nonce, self.path = stamped, int(stamped), user, nonce, path
        #: Who can ask for the answer, if it is kept.
        self.caller: str | None = None
        #: Of the body, once it has been read.
        self.digest = ""

    def v1(self) -> bytes:
        """The signing input of version 1 (SPEC.md, section 2)."""
        stamped, user = self.stamped, self.user
        text = f"13:ori-invoke-v1,{self.intern}{len(stamped)}:{stamped},{len(user)}:{user},64:{self.digest},"
        return text.encode("ascii")

    def signed(self) -> bytes:
        """The signing input of this proof's version."""
        if self.nonce is None:
            return self.v1()
        stamped, user, path = self.stamped, self.user, self.path
        head = f"13:ori-invoke-v2,{self.intern}{len(stamped)}:{stamped},22:{self.nonce},{len(user)}:{user},"
        return f"{head}4:POST,{len(path)}:{path},64:{self.digest},".encode("ascii")

    def v1_id(self) -> bytes:
        """SHA-256 of the version 1 signing input. A version 2 proof has one too."""
        return hashlib.sha256(self.v1()).digest()


class Answer(NamedTuple):
    """An answer as its handler gave it. Names are in lower case; repeated headers are joined by a comma."""

    status: int
    headers: dict[str, str]
    body: bytes


#: How a call ended: with this answer; without one that can be kept; or with one that is too large.
CallEnd = Answer | Literal["lost", "too_large"]
Asked = CallEnd | Literal["running", "not_received"]


class Call(NamedTuple):
    policy: Policy
    user: str
    nonce: str


class Question(NamedTuple):
    """A question of `call.user` about the call with this nonce: when it was signed, and the verifier's clock."""

    call: Call
    timestamp: int
    now: float
    #: Only for the proof of the answer.
    of_proof: bool = False
    #: SHA-256 of the question's own signing input in hex, where answers are proven.
    digest: str | None = None


@runtime_checkable
class Store(Protocol):
    """Remembers spent proofs. A store may also have `spend_async`, `keep`, `ask` and `ask_async`."""

    def attach(self, policy: Policy) -> None:
        """Called once by each verifier. Raises ValueError for a policy that it cannot enforce."""

    def spend(self, spend: Spend) -> str:
        """Returns "spent" for one caller among all that present the same proof, and raises Refused for the others."""
        ...


class AnswerStore(Store, Protocol):
    """A store that keeps answers (N14 to N22)."""

    def keep(self, call: Call, end: CallEnd) -> None:
        """Replaces the record `running` of a spend that this process made. Does not wait for a server."""

    def ask(self, question: Question) -> Asked:
        """The record of the call. An unknown nonce is spent in the same step. Raises Refused."""
        ...


class AsyncStore(Store, Protocol):
    def spend_async(self, spend: Spend) -> Awaitable[str]: ...

    def ask_async(self, question: Question) -> Awaitable[Asked]: ...
