"""A replay store in Redis, with the scripts and keys of the TypeScript store (REPLAY-STORES.md)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
import time
from collections.abc import Callable
from typing import Any, Literal

from redis.asyncio import Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import MovedError, NoPermissionError, NoScriptError, OutOfMemoryError, ReadOnlyError, RedisError

from .refused import Refused
from .shared import SHARED
from .shared_store import SharedStore, nonce_bytes, require_safe
from .store import ANSWER_SECONDS, Asked, Call, Policy, Question, Spend, require_spent

SENTINELS = re.compile(r"(rediss?)\+sentinel://([^@/]*@)?([^@/?#]+)/([\w.-]+)(/[0-9]{1,4})?(?:\?sentinel=([^?#&]*))?")
SCRIPTS: dict[str, dict[str, str]] = SHARED["redis"]
Reply = list[Any]


def spent_key(intern_id: str) -> str:
    return f"ori:{{{intern_id}}}:spent"


def issued_key(intern_id: str, nonce: str) -> str:
    return f"ori:{{{intern_id}}}:issued:{nonce}"


def answer_key(intern_id: str, nonce: str) -> str:
    return f"ori:{{{intern_id}}}:answer:{nonce}"


class RedisStore(SharedStore):
    """Remembers spent proofs in Redis, for any number of processes.

    RedisStore("redis://…"), with a client of its own: one of redis-py sends a script again whose answer was lost, and
    takes the proof for replayed. `mode="redeem"`: the signer, which shares this Redis, must also have reserved the
    nonce. `url` is that of one server (of a cluster, the node with this intern's keys), or of Sentinels:
    `redis[s]+sentinel://user:password@h1:p1,h2:p2/master-name/db?sentinel=user:password`, with `replicas`, because they
    promote one. Raises ValueError for invalid options.
    """

    def __init__(
        self,
        url: str,
        *,
        mode: Literal["spend", "redeem"] = "spend",
        replicas: int = 0,
        timeout_ms: float = 200,
        touch_seconds: float = 2,
        answers_key: bytes | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        if mode not in ("spend", "redeem"):
            raise ValueError('mode: expected "spend" or "redeem"')
        if replicas == 0 and SENTINELS.fullmatch(url):
            raise ValueError("replicas: Sentinels promote a replica, so expected how many there are")
        self._url, self._mode = url, mode
        super().__init__(replicas, timeout_ms, touch_seconds, answers_key, now)
        # Raises ValueError for another URL.
        self._make_client()

    def _forget(self) -> None:
        super()._forget()
        self._client: Redis | None = None
        #: By intern; text, so that no digit changes.
        self._fences: dict[str, str] = {}

    def _make_client(self) -> Redis:
        options: dict[str, Any] = {"retry": Retry(NoBackoff(), 0), "protocol": 2, "health_check_interval": 0}
        options |= dict.fromkeys(("socket_timeout", "socket_connect_timeout"), self._timeout)
        # What a daemon's user of Redis need not be allowed.
        options |= dict.fromkeys(("lib_name", "lib_version"))
        if (named := SENTINELS.fullmatch(self._url)) is None:
            return Redis.from_url(self._url, **options)  # type: ignore[no-any-return,no-untyped-call,unused-ignore]
        scheme, login, hosts, name, db, watcher = named.groups("")
        nodes = [parse_url(f"redis://{host}") for host in hosts.split(",")]
        watching: dict[str, Any] = {**options, **parse_url(f"{scheme}://{watcher}@host")}
        serving: dict[str, Any] = {**options, **parse_url(f"{scheme}://{login}host{db}")}
        for each in (watching, serving):
            each["ssl"] = each.pop("connection_class", None) is not None
            del each["host"]
        addresses = [(node.get("host"), node.get("port", 26379)) for node in nodes]
        sentinel = Sentinel(addresses, sentinel_kwargs=watching, **serving)  # type: ignore[no-untyped-call,unused-ignore]
        return sentinel.master_for(name)  # type: ignore[no-any-return,no-untyped-call,unused-ignore]

    def attach(self, policy: Policy) -> None:
        if self._mode == "redeem" and policy.accept_v1:
            raise ValueError("accept_v1: a version 1 proof has no nonce to redeem")
        super().attach(policy)

    async def _disconnect(self) -> None:
        if self._client is not None:
            sentinel = getattr(self._client.connection_pool, "sentinel_manager", None)
            for client in (self._client, *(sentinel.sentinels if sentinel else ())):
                await client.aclose()

    async def _spend(self, spend: Spend) -> str:
        policy, nonce = spend.policy, spend.nonce
        keys = [spent_key(policy.intern_id)]
        args: list[object] = [*self._common(policy, spend.now, False), spend.timestamp]
        if nonce is None:
            script, args = "spendV1", [*args, spend.v1_id()]
        else:
            script = "spendV2" if self._mode == "spend" else "redeem"
            args += [nonce_bytes(nonce), spend.v1_id()]
            if self._mode == "redeem":
                keys.append(issued_key(policy.intern_id, nonce))
                digest = hashlib.sha256(spend.signed()).digest()
                args.append(base64.urlsafe_b64encode(digest).rstrip(b"="))
            if policy.answers:
                if spend.caller is not None:
                    keys.append(answer_key(policy.intern_id, nonce))
                args += [""] if self._mode == "spend" else []
                args += [spend.caller or "", self._process]
        verdict, _, retry_after = await self._run_once(script, keys, args, policy)
        return require_spent(verdict, retry_after)

    async def _ask(self, question: Question) -> Asked:
        (policy, user, nonce), timestamp, now = question[:3]
        keys = [spent_key(policy.intern_id), answer_key(policy.intern_id, nonce)]
        args = [*self._common(policy, now, False), timestamp, nonce_bytes(nonce), user]
        verdict, _, outcome = await self._run_once("ask", keys, args, policy)
        return "not_received" if verdict == "not_received" else self._call_ends.parse(question.call, outcome)

    async def _keep(self, call: Call, ended: str) -> None:
        record = "\n".join([call.user, self._process, ended])
        key = answer_key(call.policy.intern_id, call.nonce)
        await self._send("SET", key, record, "XX", "EX", ANSWER_SECONDS)

    async def _touch_one(self, policy: Policy) -> None:
        keys = [spent_key(policy.intern_id)]
        common = self._common(policy, self._now(), True)
        args = [*common, "1" if policy.accept_v1 else "0", self._process if policy.answers else ""]
        try:
            await self._run("touch", keys, args, policy)
        except Refused as refused:
            if not isinstance(refused.__cause__, NoScriptError):
                await self._reconnect()
                raise
            # It may run twice, so it is sent again.
            await self._load_scripts()
            await self._run("touch", keys, args, policy)

    async def _reconnect(self) -> None:
        """The next connection may lead to another server: one that is no longer the primary does not close them."""
        pool = self._connected().connection_pool
        await pool.disconnect(inuse_connections=False)
        if isinstance(pool, SentinelConnectionPool):
            # A silent one would take all the time of each call.
            sentinels = pool.sentinel_manager.sentinels
            sentinels.append(sentinels.pop(0))

    def _common(self, policy: Policy, now: float, checks_policy: bool) -> list[object]:
        """The first arguments of every script."""
        fence, acks = self._fences.get(policy.intern_id, "0"), self._acks
        limits = [policy.retention_seconds, policy.clock_tolerance_seconds, acks, "1" if checks_policy else "0"]
        return [f"{now:.6f}", fence, *limits]

    async def _run_once(self, name: str, keys: list[str], args: list[object], policy: Policy) -> tuple[str, str, str]:
        """Sends a script once; without an answer it counts as done. A missing script is loaded for the next call."""
        try:
            return await self._once(lambda: self._run(name, keys, args, policy))
        except Refused as refused:
            if isinstance(refused.__cause__, NoScriptError):
                await self._load_scripts()
            elif isinstance(refused.__cause__, RedisConnectionError | OSError):
                # The next connection may lead to another server (W4).
                self._touch_soon()
            raise

    async def _run(self, name: str, keys: list[str], args: list[object], policy: Policy) -> tuple[str, str, str]:
        command = ("EVALSHA", SCRIPTS[name]["sha1"], len(keys), *keys, *args)
        waits = self._acks > 0 and name != "touch"
        reply, acks = await self._send_and_wait(command) if waits else (await self._send(*command), self._acks)
        if not isinstance(reply, list):
            raise Refused("replay_store_unavailable", "unexpected answer of the store")
        texts = [each.decode() if isinstance(each, bytes) else str(each) for each in reply]
        verdict, second, third = (*texts, "", "", "")[:3]
        # An unsafe server returns no fence.
        require_safe(verdict, second)
        if float(second) > float(self._fences.get(policy.intern_id, "0")):
            self._fences[policy.intern_id] = second
        if verdict in ("spent", "not_received") and acks < self._acks:
            raise Refused("replay_store_unsafe", "too few replicas acknowledged the spend")
        return verdict, second, third

    async def _send(self, *command: Any) -> Any:
        client: Any = self._connected()
        return await self._in_time(client.execute_command(*command))

    async def _send_and_wait(self, command: tuple[Any, ...]) -> tuple[Any, Any]:
        """`WAIT` applies to the connection that wrote."""
        pipeline = self._connected().pipeline(transaction=False)
        pipeline.execute_command(*command)
        pipeline.execute_command("WAIT", self._acks, max(1, int(self._timeout * 750)))
        # The pipeline would put its own words, and the arguments, before the server's.
        reply, acks = await self._in_time(pipeline.execute(raise_on_error=False))
        # Without a spend there is nothing to wait for, and a replica refuses to.
        failed = acks if isinstance(reply, list) and reply[0] in (b"spent", b"not_received") else reply
        if isinstance(failed, Exception):
            raise to_refused(failed) from failed
        return reply, acks

    def _connected(self) -> Redis:
        if self._client is None:
            self._client = self._make_client()
        return self._client

    async def _in_time(self, answer: Any) -> Any:
        try:
            return await asyncio.wait_for(answer, self._timeout)
        except (RedisError, OSError, asyncio.TimeoutError) as error:
            raise to_refused(error) from error

    async def _load_scripts(self) -> None:
        """Fails for a user without SCRIPT LOAD, for whom the signer loads them."""
        for script in SCRIPTS.values():
            try:
                await self._send("SCRIPT", "LOAD", script["source"])
            except Refused:
                return


def to_refused(error: Exception) -> Refused:
    first = str(error).split(" ", 1)[0]
    if isinstance(error, OutOfMemoryError) or first == "OOM":
        return Refused("replay_store_full", "the server is out of memory")
    if isinstance(error, MovedError):
        why = "another node of this cluster has the keys of the intern: RedisStore needs the address of that node"
        return Refused("replay_store_unavailable", why)
    if first == "MISCONF":
        return Refused("replay_store_full", "the server cannot write to its disk")
    if isinstance(error, ReadOnlyError) or first == "READONLY":
        return Refused("replay_store_unsafe", "the server is not a primary")
    if first == "NOREPLICAS":
        return Refused("replay_store_unsafe", "the server has fewer replicas than its min-replicas-to-write")
    if isinstance(error, NoScriptError | NoPermissionError):
        why = "the scripts are not loaded, or the Redis user lacks a permission: compare it with the ACL in the README"
        return Refused("replay_store_unavailable", why)
    return Refused("replay_store_unavailable", "the store did not answer")
