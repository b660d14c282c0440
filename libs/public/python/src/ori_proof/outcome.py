"""What became of requests, for counters and logs."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .refused import STATUSES, Refused

LOG = logging.getLogger("ori_proof")
WARNING_APART_SECONDS = 60
# Only the operator can fix these, and no outsider can cause them.
WARNED = {
    "nonce_not_issued",
    "keys_unavailable",
    "replay_store_unavailable",
    "replay_store_unsafe",
    "replay_store_full",
}
#: All outcomes, to initialize a counter with.
PROOF_OUTCOMES = ("accepted", *STATUSES)


class Outcome(NamedTuple):
    """`outcome` is `accepted` or the code of `error`. Nothing here is a value of a header or of the body."""

    outcome: str
    error: Refused | None
    method: str
    #: Up to the query.
    path: str
    #: The names of the proof headers that arrived, in lower case.
    proof_headers: list[str]


class Reporter:
    """Calls `on_outcome`, and warns of what only the operator can fix, once a minute per code."""

    def __init__(self, listener: Callable[[Outcome], None] | None) -> None:
        self.listener = listener
        self._warned: dict[str, float] = {}

    def __call__(
        self, error: Refused | None, method: str, target: bytes, headers: Iterable[tuple[bytes, bytes]]
    ) -> None:
        if error is not None and error.code in WARNED:
            self._warn(error)
        if self.listener is None:
            return
        names = [name.decode("latin-1").lower() for name, _ in headers]
        proof_headers = [name for name in names if name.startswith("x-ori-invoke-")]
        path = target.split(b"?")[0].decode("ascii", "backslashreplace")[:2048]
        try:
            self.listener(Outcome("accepted" if error is None else error.code, error, method, path, proof_headers))
        except Exception:
            # An accepted proof is spent, so this does not change the verdict.
            LOG.exception("on_outcome raised")

    def _warn(self, error: Refused) -> None:
        now = time.monotonic()
        if now - self._warned.get(error.code, -WARNING_APART_SECONDS) >= WARNING_APART_SECONDS:
            self._warned[error.code] = now
            LOG.warning("%s%s", error, "" if error.__cause__ is None else f": {error.__cause__}")
