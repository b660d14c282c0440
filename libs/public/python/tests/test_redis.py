import asyncio
import time
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from ori_proof import Refused
from ori_proof.redis import SCRIPTS, RedisStore
from ori_proof.store import Policy, Spend


class Cut(RedisStore):
    """Its connection breaks at each spend."""

    touched = 0

    async def _send(self, *command: Any) -> Any:
        if command[1] != SCRIPTS["touch"]["sha1"]:
            return await self._in_time(asyncio.get_running_loop().create_task(broken()))
        self.touched += 1
        return [b"touched", b"1.000000"]


async def broken() -> None:
    raise RedisConnectionError("Connection closed by server.")


def test_a_broken_connection_is_followed_by_a_check() -> None:
    store = Cut("redis://127.0.0.1:1", touch_seconds=60)
    policy = Policy("int_1", 60, 2, False, False, 92)
    store.attach(policy)
    store.ready()
    before = store.touched
    with pytest.raises(Refused, match="the store did not answer"):
        store.spend(Spend(policy, "", "1", "ada", None, "/", time.time()))
    end = time.monotonic() + 10
    while store.touched == before and time.monotonic() < end:
        time.sleep(0.01)
    assert store.touched > before
    store.close()
