"""The calls of this process that are running, and how they ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal

from .store import ANSWER_SECONDS, ANSWERS_BYTES_MAX, RUNNING_SECONDS_MAX, Answer, Call, CallEnd

FORGET_EVERY_SECONDS = 1
RECORD_BYTES = 512


class Record:
    __slots__ = ("at", "end", "user")

    def __init__(self, user: str, at: float) -> None:
        self.user, self.at = user, at
        self.end: CallEnd | Literal["running"] = "running"


def bytes_of(end: CallEnd) -> int:
    """What an answer takes."""
    if not isinstance(end, Answer):
        return 0
    return RECORD_BYTES + len(end.body) + sum(len(name) + len(value) for name, value in end.headers.items())


class Records:
    """By intern and nonce. `uptime` is in seconds, and does not step."""

    def __init__(self, uptime: Callable[[], float]) -> None:
        self._uptime = uptime
        self._all: dict[tuple[str, str], Record] = {}
        #: In the order in which they ended.
        self._ended: deque[tuple[tuple[str, str], Record]] = deque()
        #: The answers that are kept, likewise.
        self._answers: deque[tuple[Record, int]] = deque()
        self._bytes, self._forgot = 0, uptime()

    def __len__(self) -> int:
        return len(self._all)

    def begin(self, call: Call) -> None:
        now = self._uptime()
        if now - self._forgot >= FORGET_EVERY_SECONDS:
            self._forget(now)
        self._all[call.policy.intern_id, call.nonce] = Record(call.user, now)

    def end(self, call: Call, end: CallEnd) -> None:
        key = (call.policy.intern_id, call.nonce)
        if (record := self._all.get(key)) is None:
            return
        if record.end == "running":
            record.at = self._uptime()
            self._ended.append((key, record))
        record.end = end
        if (size := bytes_of(end)) > 0:
            self._answers.append((record, size))
            self._bytes += size
        while self._bytes > ANSWERS_BYTES_MAX:
            self._lose()

    def of(self, call: Call) -> Record | None:
        self._forget(self._uptime())
        return self._all.get((call.policy.intern_id, call.nonce))

    def _lose(self) -> None:
        oldest, size = self._answers.popleft()
        oldest.end = "lost"
        self._bytes -= size

    def _forget(self, now: float) -> None:
        self._forgot = now
        while self._ended and self._ended[0][1].at <= now - ANSWER_SECONDS:
            self._all.pop(self._ended.popleft()[0], None)
        while self._answers and self._answers[0][0].at <= now - ANSWER_SECONDS:
            self._lose()
        for key, record in self._all.items():
            if record.end == "running":
                if record.at <= now - RUNNING_SECONDS_MAX:
                    del self._all[key]
                break
