"""What the stores on a server have in common."""

from __future__ import annotations

import asyncio
import base64
import logging
import math
import time
import uuid
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from .background import Background, T
from .call_end import CallEnds
from .forks import after_fork
from .records import bytes_of
from .refused import Refused
from .store import (
    ANSWER_SECONDS,
    ANSWERS_BYTES_MAX,
    LIFE_SECONDS,
    Answer,
    Asked,
    Call,
    CallEnd,
    Policy,
    Question,
    Spend,
)

LOG = logging.getLogger("ori_proof")
LOOK_AGAIN_SECONDS = 0.05
# Refused spends trigger a check, at most this often.
TOUCH_APART_SECONDS = 0.1
# An answer that is not kept would be reported as running for as long as this process lives.
RETRY_AFTER_SECONDS = (0.1, 1, 5)
RETRY_EVERY_SECONDS = 30


class Silence(Exception):
    """The server sent nothing: neither an answer nor an error."""


class Kept:
    """An answer that the store has, or is to have; `end` is what it does not have yet."""

    __slots__ = ("bytes", "call", "end", "until")

    def __init__(self, call: Call, end: CallEnd, until: float) -> None:
        self.call, self.until, self.bytes = call, until, bytes_of(end)
        self.end: CallEnd | None = end


class SharedStore(ABC):
    """A store for any number of processes, in any language. Sync and async callers share its connections.

    `replicas`: how many replicas could be promoted; half of them, rounded up, must acknowledge a spend. `timeout_ms`:
    for one answer. `touch_seconds`: between checks of the server. `answers_key`: 32 bytes that seal kept answers.
    """

    def __init__(
        self,
        replicas: int,
        timeout_ms: float,
        touch_seconds: float,
        answers_key: bytes | None,
        now: Callable[[], float],
    ) -> None:
        if type(replicas) is not int or replicas < 0:
            raise ValueError("replicas: expected an integer from 0")
        if not 0 < timeout_ms <= 5000:
            raise ValueError("timeout_ms: expected 1 to 5000")
        if not 0 < touch_seconds <= 60:
            raise ValueError("touch_seconds: expected up to 60")
        self._acks, self._timeout, self._touch_seconds = math.ceil(replicas / 2), timeout_ms / 1000, touch_seconds
        self._call_ends, self._now = CallEnds(answers_key), now
        #: The policy of each intern: with version 1 or answers if one of its verifiers has them.
        self._policies: dict[str, Policy] = {}
        self._background = Background("ori-proof store")
        self._is_closed = False
        self._forget()
        after_fork(self, SharedStore._forget)

    def _forget(self) -> None:
        """At the start, and in a child of a fork, which is another process with connections of its own."""
        self._process = str(uuid.uuid4())
        self._checks: asyncio.Task[None] | None = None
        self._kept: deque[Kept] = deque()
        self._kept_bytes = 0
        #: Why nothing is spent until a check finds the server safe.
        self._refusal: tuple[str, str] | None = None
        self._doubts, self._touched = 0, -math.inf
        self._touching: asyncio.Task[None] | None = None

    @abstractmethod
    async def _spend(self, spend: Spend) -> str: ...

    @abstractmethod
    async def _ask(self, question: Question) -> Asked: ...

    @abstractmethod
    async def _keep(self, call: Call, ended: str) -> None: ...

    @abstractmethod
    async def _touch_one(self, policy: Policy) -> None:
        """Checks the server for this policy. Raises Refused."""

    @abstractmethod
    async def _disconnect(self) -> None: ...

    def attach(self, policy: Policy) -> None:
        if policy.answers and self._touch_seconds * 3 > LIFE_SECONDS:
            raise ValueError(f"touch_seconds: expected at most {LIFE_SECONDS / 3} with answers")
        if (known := self._policies.get(policy.intern_id)) is not None:
            policy = policy._replace(
                accept_v1=policy.accept_v1 or known.accept_v1, answers=policy.answers or known.answers
            )
        self._policies[policy.intern_id] = policy
        self._background.begin(self._attend())

    def spend(self, spend: Spend) -> str:
        return self._background.wait(self._attended(self._spend(spend)))

    async def spend_async(self, spend: Spend) -> str:
        return await self._background.join(self._attended(self._spend(spend)))

    def ask(self, question: Question) -> Asked:
        return self._background.wait(self._attended(self._ask(question)))

    async def ask_async(self, question: Question) -> Asked:
        return await self._background.join(self._attended(self._ask(question)))

    def ready(self, within_ms: float = 5000) -> None:
        """Waits until the store is usable; 0 checks once, for a health check. Raises Refused of the last check."""
        self._background.wait(self._ready(within_ms))

    async def ready_async(self, within_ms: float = 5000) -> None:
        await self._background.join(self._ready(within_ms))

    def close(self) -> None:
        """Ends the checks, and the connections."""
        if not self._is_closed:
            self._is_closed = True
            self._background.wait(self._end())
            self._background.stop()

    def keep(self, call: Call, end: CallEnd) -> None:
        kept = Kept(call, end, time.monotonic() + ANSWER_SECONDS)
        self._background.begin(self._put(kept))
        if isinstance(end, Answer):
            self._background.begin(self._count(kept))

    async def _end(self) -> None:
        if self._checks is not None:
            self._checks.cancel()
        await self._disconnect()

    async def _attended(self, work: Coroutine[Any, Any, T]) -> T:
        # A child of a fork has no checks yet.
        if self._checks is None:
            self._begin_checks()
        return await work

    async def _attend(self) -> None:
        if self._checks is None:
            self._begin_checks()
        else:
            await self._touch_quietly()

    def _begin_checks(self) -> None:
        self._checks = asyncio.get_running_loop().create_task(self._check_regularly())

    async def _check_regularly(self) -> None:
        while not self._is_closed:
            await self._touch_quietly()
            await asyncio.sleep(self._touch_seconds)

    async def _once(self, send: Callable[[], Awaitable[T]]) -> T:
        """Sends what spends, unless the server is in doubt."""
        if self._refusal is not None:
            if time.monotonic() - self._touched > TOUCH_APART_SECONDS:
                self._touch_soon()
            raise Refused(*self._refusal)
        try:
            return await send()
        except Refused as refused:
            is_silent = isinstance(refused.__cause__, Silence)
            if is_silent:
                self._doubt(refused)
            # An unsafe server refuses each spend by itself, or one alone, which came too late: a check tells.
            if is_silent or refused.code == "replay_store_unsafe":
                self._touch_soon()
            raise

    def _doubt(self, refused: Refused) -> None:
        self._refusal = (refused.code, refused.why)
        self._doubts += 1

    async def _touch(self) -> None:
        """Checks the server for all policies. Those who ask at the same time share a check. Raises Refused."""
        if self._touching is None or self._touching.done():
            self._touching = asyncio.get_running_loop().create_task(self._touch_all())
        await asyncio.shield(self._touching)

    async def _touch_all(self) -> None:
        self._touched, before = time.monotonic(), -1
        try:
            # A check that began before the suspicion arose does not clear it.
            while before != self._doubts:
                before = self._doubts
                # One at a time: a frozen server costs one timeout.
                for policy in list(self._policies.values()):
                    await self._touch_one(policy)
            self._refusal = None
        except Refused as refused:
            if refused.code == "replay_store_unsafe" or isinstance(refused.__cause__, Silence):
                self._doubt(refused)
            raise

    def _touch_soon(self) -> None:
        self._background.begin(self._touch_quietly())

    async def _touch_quietly(self) -> None:
        """Leaves it to the next spend to learn that a check failed."""
        try:
            await self._touch()
        except Refused as refused:
            LOG.debug("%s", refused)
        except Exception:
            LOG.exception("the check of the replay store failed")

    async def _ready(self, within_ms: float) -> None:
        if not self._policies:
            raise ValueError("no verifier uses this store yet: make the Verifier first")
        end = time.monotonic() + within_ms / 1000
        while True:
            try:
                return await self._touch()
            except Refused:
                if time.monotonic() + LOOK_AGAIN_SECONDS > end:
                    raise
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def _put(self, kept: Kept) -> None:
        failures = 0
        while (end := kept.end) is not None:
            try:
                await self._keep(kept.call, self._call_ends.render(kept.call, end))
                if kept.end is end:
                    kept.end = None
                return
            except Refused as refused:
                more = failures < len(RETRY_AFTER_SECONDS)
                pause = RETRY_AFTER_SECONDS[failures] if more else RETRY_EVERY_SECONDS
                failures += 1
                if time.monotonic() + pause > kept.until:
                    LOG.warning("an answer was not kept: %s", refused)
                    return
                await asyncio.sleep(pause)

    async def _count(self, kept: Kept) -> None:
        """The oldest answers are lost beyond the limit. After their time, the store forgets them by itself."""
        now = time.monotonic()
        self._kept.append(kept)
        self._kept_bytes += kept.bytes
        while self._kept and (self._kept_bytes > ANSWERS_BYTES_MAX or self._kept[0].until <= now):
            dropped = self._kept.popleft()
            self._kept_bytes -= dropped.bytes
            if dropped.until > now:
                is_pending, dropped.end = dropped.end is not None, "lost"
                if not is_pending:
                    self._background.begin(self._put(dropped))


def require_safe(verdict: str, detail: object) -> None:
    if verdict == "unsafe":
        raise Refused("replay_store_unsafe", str(detail or "the server is not safe"))


def nonce_bytes(nonce: str) -> bytes:
    return base64.urlsafe_b64decode(nonce + "==")
