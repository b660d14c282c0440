#!/bin/bash
# redis-py 8.1.0, redis.asyncio.sentinel: Sentinels are asked one after another, in the order given, and only one that knew
# the primary moves to the front. So where the caller has a deadline of its own (asyncio.wait_for), and it is not longer than
# the timeout of a first Sentinel that accepts connections and says nothing, no call ever reaches the second: 10 of 10 fail,
# although two of three Sentinels answer at once. It helps to move the first to the end of `sentinels` after a failure.
# Seen: "10 of 10 calls failed; with the silent one moved to the end, 0 of 10".
# Met by: services with a short deadline for each call, when a Sentinel's machine hangs, which often has the primary, too.
# Source: the run below, against Debian's or any other redis-server of the PATH.
set -eu
folder=$(mktemp -d)
redis-server --port 18441 --save '' --dir "$folder" >/dev/null & one=$!
printf 'port 18442\nsentinel monitor main 127.0.0.1 18441 1\n' > "$folder/sentinel.conf"
redis-server "$folder/sentinel.conf" --sentinel --dir "$folder" >/dev/null & two=$!
trap 'kill $one $two; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet redis==8.1.0
"$folder/venv/bin/python" - <<'PY'
import asyncio
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff

async def main():
    async def silent(reader, writer):
        await reader.read()
    hung = await asyncio.start_server(silent, "127.0.0.1", 0)
    first = hung.sockets[0].getsockname()
    options = {"socket_timeout": 0.5, "retry": Retry(NoBackoff(), 0)}
    sentinel = Sentinel([first, ("127.0.0.1", 18442), ("127.0.0.1", 18442)], sentinel_kwargs=options, **options)
    client = sentinel.master_for("main")
    async def failures():
        failed = 0
        for _ in range(10):
            try:
                await asyncio.wait_for(client.ping(), 0.5)
            except (asyncio.TimeoutError, OSError):
                failed += 1
        return failed
    before = await failures()
    sentinel.sentinels.append(sentinel.sentinels.pop(0))
    after = await failures()
    print(f"{before} of 10 calls failed; with the silent one moved to the end, {after} of 10")
    assert (before, after) == (10, 0)
    hung.close()

asyncio.run(main())
PY
