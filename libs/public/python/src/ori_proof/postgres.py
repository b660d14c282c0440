"""A replay store in PostgreSQL, with the functions of the TypeScript store (REPLAY-STORES.md).

`python -m ori_proof.postgres` prints the schema, to be installed once, and again after an update of this package.
"""

from __future__ import annotations

import asyncio
import math
import os
import select
import socket
import time
from collections.abc import Callable
from typing import Any, Literal, Protocol

from .refused import Refused
from .shared import SHARED
from .shared_store import SharedStore, Silence, nonce_bytes, require_safe
from .store import Asked, Call, Policy, Question, Spend, require_spent

SQL: str = SHARED["postgres"]["sql"]
SCHEMA_VERSION: int = SHARED["postgres"]["version"]
NOT_INSTALLED = "the schema ori_replay is missing, old or not granted: install it as the README says"
UNSAFE = dict.fromkeys(("3F000", "42883", "42P01", "42501"), NOT_INSTALLED) | {"25006": "the server is read-only"}
#: The routine that waits for standbys: a canceled wait ends with its notice, and an otherwise normal commit.
WAIT_FOR_STANDBY = "SyncRepWaitForLSN"
Row = dict[str, Any]


class Connection(Protocol):
    #: A spend may be lost, because the server did not wait for a standby.
    has_warned: bool

    async def call(self, name: str, args: list[Any]) -> Row: ...

    def is_open(self) -> bool:
        """Whether the server has not closed it while it was idle."""
        ...

    def destroy(self) -> None:
        """Breaks it off, without a word to the server."""


class Psycopg:
    def __init__(self, connection: Any) -> None:
        self._connection, self.has_warned = connection, False
        connection.add_notice_handler(self._note)

    @classmethod
    async def connect(cls, url: str) -> Psycopg:
        from psycopg import AsyncConnection
        from psycopg.rows import dict_row

        connection = await AsyncConnection.connect(url, autocommit=True, connect_timeout=2)
        connection.row_factory = dict_row  # type: ignore[assignment]
        return cls(connection)

    def _note(self, notice: Any) -> None:
        self.has_warned = self.has_warned or (notice.source_function or WAIT_FOR_STANDBY) == WAIT_FOR_STANDBY

    async def call(self, name: str, args: list[Any]) -> Row:
        places = ", ".join(["%s"] * len(args))
        cursor = await self._connection.execute(f"SELECT * FROM ori_replay.{name}({places})", args)
        return await cursor.fetchone() or {}

    def is_open(self) -> bool:
        # Of an idle connection, only that it ends can be read.
        return not (self._connection.closed or select.select([self._connection.fileno()], [], [], 0)[0])

    def destroy(self) -> None:
        # A statement that is given up would be cancelled.
        if not self._connection.closed:
            with socket.socket(fileno=os.dup(self._connection.fileno())) as wire:
                wire.shutdown(socket.SHUT_RDWR)


class Asyncpg:
    def __init__(self, connection: Any) -> None:
        self._connection, self.has_warned = connection, False
        connection.add_log_listener(self._note)

    @classmethod
    async def connect(cls, url: str) -> Asyncpg:
        import asyncpg

        return cls(await asyncpg.connect(url))

    def _note(self, _: Any, notice: Any) -> None:
        routine = getattr(notice, "server_source_function", None)
        self.has_warned = self.has_warned or (routine or WAIT_FOR_STANDBY) == WAIT_FOR_STANDBY

    async def call(self, name: str, args: list[Any]) -> Row:
        places = ", ".join(f"${index + 1}" for index in range(len(args)))
        return dict(await self._connection.fetchrow(f"SELECT * FROM ori_replay.{name}({places})", *args))

    def is_open(self) -> bool:
        return not self._connection.is_closed()

    def destroy(self) -> None:
        self._connection.terminate()


class PostgresStore(SharedStore):
    """Remembers spent proofs in PostgreSQL, for any number of processes: PostgresStore("postgresql://…", replicas=0).

    `driver` is psycopg 3 or asyncpg. `acquire_ms`: for a free connection of at most `connections_max`.
    Raises ValueError for invalid options.
    """

    def __init__(
        self,
        url: str,
        *,
        replicas: int,
        driver: Literal["psycopg", "asyncpg"] = "psycopg",
        acquire_ms: float = 1000,
        connections_max: int = 10,
        timeout_ms: float = 200,
        touch_seconds: float = 2,
        answers_key: bytes | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        if not 0 < acquire_ms <= 10_000:
            raise ValueError("acquire_ms: expected 1 to 10000")
        if driver not in ("psycopg", "asyncpg"):
            raise ValueError('driver: expected "psycopg" or "asyncpg"')
        self._url, self._driver = url, Psycopg if driver == "psycopg" else Asyncpg
        self._acquire_seconds, self._connections_max = acquire_ms / 1000, connections_max
        super().__init__(replicas, timeout_ms, touch_seconds, answers_key, now)

    def _forget(self) -> None:
        super()._forget()
        self._idle: list[Connection] = []
        self._free: asyncio.Semaphore | None = None
        #: From the last good answers: event, identity, position in the log.
        self._known: tuple[float, str, str] = (0.0, "", "0/0")

    async def _disconnect(self) -> None:
        for connection in self._idle:
            connection.destroy()
        self._idle.clear()

    async def _spend(self, spend: Spend) -> str:
        policy, nonce = spend.policy, spend.nonce
        caller = [] if spend.caller is None else [spend.caller, self._process]

        def args(waited: float) -> list[Any]:
            id_ = None if nonce is None else nonce_bytes(nonce)
            return [
                policy.intern_id,
                spend.timestamp,
                id_,
                spend.v1_id(),
                *self._state(policy, spend.now + waited),
                *caller,
            ]

        row = await self._once(lambda: self._call("spend", args))
        # The recording of version 1 ids begins with a check.
        if nonce is None and row["verdict"] == "before_fence":
            self._touch_soon()
        return require_spent(row["verdict"], row["pause"])

    async def _ask(self, question: Question) -> Asked:
        (policy, user, nonce), timestamp, now = question[:3]

        def args(waited: float) -> list[Any]:
            return [user, float(timestamp), policy.intern_id, nonce_bytes(nonce), *self._state(policy, now + waited)]

        row = await self._once(lambda: self._call("ask", args))
        if row["verdict"] == "not_received":
            return "not_received"
        if row["verdict"] != "recorded":
            require_spent(row["verdict"])
        return self._call_ends.parse(question.call, row["outcome"] or "")

    async def _keep(self, call: Call, ended: str) -> None:
        await self._call("keep", lambda _: [call.policy.intern_id, nonce_bytes(call.nonce), ended])

    async def _touch_one(self, policy: Policy) -> None:
        limits = [policy.clock_tolerance_seconds, self._acks]
        if self._acks > 0:
            await self._call("waiting", lambda _: [])
        runner = self._process if policy.answers else None

        def args(_: float) -> list[Any]:
            facts = [policy.intern_id, policy.accept_v1, self._now(), *self._known]
            return [*facts, *limits, math.ceil(self._timeout * 1000), runner]

        row = await self._call("touch", args)
        if not (row["version"] or 0) >= SCHEMA_VERSION:
            raise Refused("replay_store_unsafe", "the schema ori_replay is outdated: install it again")
        if row["due"]:
            # It may take longer than an answer: it goes on in the server, or with the next check.
            try:
                await self._call("forget", lambda _: [self._now(), *limits])
            except Refused:
                pass

    def _state(self, policy: Policy, now: float) -> list[Any]:
        """The last arguments of `spend` and `ask`."""
        limits = [policy.retention_seconds, policy.clock_tolerance_seconds, self._acks, math.ceil(self._timeout * 1000)]
        return [now, *self._known, *limits]

    def _learn(self, row: Row) -> None:
        """Only from successful answers: an unsafe server returns no state."""
        event = row.get("event") or 0.0
        if event == 0 or event < self._known[0]:
            return
        lsn = row["lsn"]
        if event == self._known[0] and position(lsn) < position(self._known[2]):
            lsn = self._known[2]
        self._known = (event, row["identity"], lsn)

    async def _call(self, name: str, args: Callable[[float], list[Any]]) -> Row:
        """Calls a function once. Its arguments are made when a connection is free, and know how long that took."""
        asked = time.monotonic()
        if self._free is None:
            self._free = asyncio.Semaphore(self._connections_max)
        why = f"no free connection within {self._acquire_seconds:g} s: increase connections_max or acquire_ms"
        try:
            await asyncio.wait_for(self._free.acquire(), self._acquire_seconds)
        except asyncio.TimeoutError:
            raise Refused("replay_store_unavailable", why) from None
        try:
            connection = await self._acquire(asked + self._acquire_seconds)
            return await self._call_on(connection, name, args(time.monotonic() - asked))
        except Refused:
            raise
        except Exception as error:
            raise to_refused(error) from error
        finally:
            self._free.release()

    async def _acquire(self, end: float) -> Connection:
        while self._idle:
            if (connection := self._idle.pop()).is_open():
                return connection
            connection.destroy()
        try:
            return await asyncio.wait_for(self._driver.connect(self._url), max(0.01, end - time.monotonic()))
        except Exception as error:
            raise Refused("replay_store_unavailable", "no connection to the server") from error

    async def _call_on(self, connection: Connection, name: str, args: list[Any]) -> Row:
        """Without an answer in time the call counts as done, and its connection is closed."""
        is_good = False
        answer = asyncio.get_running_loop().create_task(connection.call(name, args))
        try:
            done, _ = await asyncio.wait([answer], timeout=self._timeout)
            if not done:
                raise Silence(f"no answer within {self._timeout:g} s")
            row = answer.result()
            if connection.has_warned:
                raise Refused("replay_store_unsafe", "the server warned that the spend may be lost")
            if not isinstance(row.get("verdict"), str):
                raise Refused("replay_store_unavailable", "unexpected answer of the store")
            is_good = True
            require_safe(row["verdict"], row.get("detail"))
            self._learn(row)
            return row
        finally:
            if is_good and not self._is_closed:
                self._idle.append(connection)
            else:
                connection.destroy()
                answer.add_done_callback(lambda task: task.cancelled() or task.exception())


def position(lsn: str) -> int:
    """A position in the write-ahead log."""
    high, _, low = lsn.partition("/")
    return (int(high, 16) << 32) | int(low or "0", 16)


def to_refused(error: Exception) -> Refused:
    state = str(getattr(error, "sqlstate", None) or "")
    if state in UNSAFE:
        return Refused("replay_store_unsafe", UNSAFE[state])
    if state.startswith("53") and state != "53300":
        return Refused("replay_store_full", "the server is out of memory or disk")
    return Refused("replay_store_unavailable", "the store did not answer")


if __name__ == "__main__":
    print(SQL)
