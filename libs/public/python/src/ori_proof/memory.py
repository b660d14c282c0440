"""The replay store of one process (REPLAY-STORES.md)."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable

from .forks import after_fork
from .records import Records
from .refused import Refused
from .store import (
    QUESTION_SECONDS_MAX,
    RETENTION_SECONDS_MAX,
    TOLERANCE_SECONDS_MAX,
    Asked,
    Call,
    CallEnd,
    Policy,
    Question,
    Spend,
    require_spent,
)
from .workers import SEVERAL, is_alone, is_worker

LOG = logging.getLogger("ori_proof")
# Two clocks of one machine can drift apart by this much within seconds.
DRIFT_SECONDS = 0.005
#: Of version 2, the nonce; of version 1, its id; a mark and a voided nonce have a letter before it.
Id = str | bytes


class MemoryStore:
    """Remembers spent proofs in this process: for one process, with any number of threads.

    It refuses every proof issued before it was made (`proof_before_fence`), because its predecessor may have accepted
    them. When it is full, it refuses. `now` is in Unix seconds. Of several workers of a server one accepts; the others
    refuse each proof until it ends (`replay_store_unsafe`), and the log says why.
    """

    def __init__(
        self,
        entries_max: int = 100_000,
        now: Callable[[], float] = time.time,
        uptime: Callable[[], float] | None = None,
    ) -> None:
        if type(entries_max) is not int or entries_max < 1:
            raise ValueError("entries_max: expected an integer above 0")
        self._entries_max, self._now = entries_max, now
        self._uptime = uptime or (time.monotonic if now is time.time else now)
        self._policies: list[Policy] = []
        #: Whether no other process can accept a proof of these interns.
        self._is_alone = True
        self._lock = threading.Lock()
        self._forget()
        after_fork(self, MemoryStore._forked)

    def _forget(self) -> None:
        self._created, self._created_up = self._now(), self._uptime()
        self._ledgers: dict[str, Ledger] = {}
        self._records = Records(self._uptime)
        self._entries = 0
        for policy in self._policies:
            self._ledger_of(policy)

    def _forked(self) -> None:
        self._lock, self._is_alone = threading.Lock(), False

    def attach(self, policy: Policy) -> None:
        with self._lock:
            self._policies.append(policy)
            self._ledger_of(policy)
            if is_worker():
                self._is_alone = False
                if not self._claim():
                    LOG.error("%s", SEVERAL)

    def spend(self, spend: Spend) -> str:
        policy, timestamp, nonce = spend.policy, spend.timestamp, spend.nonce
        with self._lock:
            self._require_alone()
            now = self._now()
            if timestamp > now + policy.clock_tolerance_seconds:
                require_spent("not_yet_valid")
            ledger = self._ledger_of(policy)
            horizon = math.floor(now - policy.retention_seconds)
            if horizon > ledger.looked_for:
                self._entries -= ledger.forget(horizon)
            if timestamp <= ledger.floor or timestamp <= horizon:
                require_spent("expired")
            fence = self._fence(policy, now)
            if nonce is None:
                if ledger.marks_from is None:
                    ledger.marks_from = ledger.highest
                fence = max(fence, ledger.marks_from)
            if timestamp <= (bound := math.ceil(fence)):
                require_spent("before_fence", max(1, math.ceil(bound + 1 - now)))
            conflicting, recorded = ids_of(spend, ledger.marks_from is not None)
            if not ledger.spent.isdisjoint(conflicting):
                require_spent("replayed")
            if self._entries + len(self._records) + len(recorded) > self._entries_max:
                self._require_room(len(recorded), now)
            self._entries += ledger.add(timestamp, recorded)
            if nonce is not None and spend.caller is not None:
                self._records.begin(Call(policy, spend.caller, nonce))
            elif not policy.answers and timestamp > ledger.unrecorded:
                ledger.unrecorded = timestamp
        return "spent"

    def keep(self, call: Call, end: CallEnd) -> None:
        with self._lock:
            self._records.end(call, end)

    def ask(self, question: Question) -> Asked:
        call, timestamp = question[:2]
        with self._lock:
            self._require_alone()
            record = self._records.of(call)
            if record is not None and record.user == call.user:
                return record.end
            ledger, now = self._ledger_of(call.policy), self._now()
            since = max(self._fence(call.policy, now), ledger.unrecorded)
            is_certain = ledger.marks_from is None and timestamp - QUESTION_SECONDS_MAX > since
            # Of another person's call nobody learns that there is one.
            if record is None and "x" + call.nonce not in ledger.spent:
                if call.nonce in ledger.spent:
                    return "lost"
                self._require_room(2, now)
                # As late as a proof could be that any verifier accepts.
                latest = math.ceil(now) + TOLERANCE_SECONDS_MAX
                self._entries += ledger.add(latest, (call.nonce, "x" + call.nonce))
            return "not_received" if is_certain else "lost"

    def _fence(self, policy: Policy, now: float) -> float:
        # When the store was made, by the clock at that time or by the clock now: it may have been corrected since.
        by_now = now - (self._uptime() - self._created_up)
        created = by_now if by_now > self._created + DRIFT_SECONDS else self._created
        return created + policy.clock_tolerance_seconds

    def _claim(self) -> bool:
        """Whether this is the only worker, or the only one that is left."""
        if all(is_alone(policy.intern_id) for policy in self._policies):
            # Another may have accepted what was issued up to now.
            self._forget()
            self._is_alone = True
        return self._is_alone

    def _require_alone(self) -> None:
        if not (self._is_alone or self._claim()):
            raise Refused("replay_store_unsafe", SEVERAL)

    def _require_room(self, needed: int, now: float) -> None:
        for ledger in self._ledgers.values():
            self._entries -= ledger.forget(math.floor(now - RETENTION_SECONDS_MAX))
        if self._entries + len(self._records) + needed > self._entries_max:
            raise Refused("replay_store_full", f"{self._entries_max} proofs are remembered")

    def _ledger_of(self, policy: Policy) -> Ledger:
        ledger = self._ledgers.get(policy.intern_id)
        if ledger is None:
            ledger = self._ledgers[policy.intern_id] = Ledger()
        if policy.accept_v1 and ledger.marks_from is None:
            ledger.marks_from = ledger.highest
        return ledger


def ids_of(spend: Spend, is_marking: bool) -> tuple[tuple[Id, ...], tuple[Id, ...]]:
    """The ids that must be absent, and those to record then."""
    if spend.nonce is not None and not is_marking:
        ids = (spend.nonce,)
        return ids, ids
    v1_id = spend.v1_id()
    if spend.nonce is None:
        return (v1_id, b"m" + v1_id), (v1_id,)
    # Two version 2 proofs may share a version 1 id: a mark conflicts with version 1 proofs alone.
    return (spend.nonce, v1_id), (spend.nonce, b"m" + v1_id)


class Ledger:
    """The spent proofs of one intern: each id once, and a list of them for each second, to forget them by."""

    def __init__(self) -> None:
        self.spent: set[Id] = set()
        self.seconds: dict[int, list[Id]] = {}
        self.floor, self.highest, self.looked_for, self.unrecorded = -1, -1, -1, -1
        #: From which timestamp on the version 1 ids of all proofs are recorded.
        self.marks_from: int | None = None

    def forget(self, horizon: int) -> int:
        """Forgets up to this timestamp. Returns how many ids."""
        if horizon <= self.looked_for:
            return 0
        self.looked_for = horizon
        before = len(self.spent)
        for second in [second for second in self.seconds if second <= horizon]:
            self.floor = max(self.floor, second)
            self.spent.difference_update(self.seconds.pop(second))
        return before - len(self.spent)

    def add(self, timestamp: int, ids: tuple[Id, ...]) -> int:
        """Returns how many of the ids were new."""
        before = len(self.spent)
        second = self.seconds.get(timestamp)
        if second is None:
            second = self.seconds[timestamp] = []
        for each in ids:
            if each not in self.spent:
                self.spent.add(each)
                second.append(each)
        if timestamp > self.highest:
            self.highest = timestamp
        return len(self.spent) - before
