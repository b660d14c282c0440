"""As client.mjs, with the SDK of Python."""

import asyncio
import json
import os
import time

from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client

env = dict(os.environ)
command, address, steps = env.pop("COMMAND", None), env.pop("URL", None), json.loads(env.pop("STEPS"))
limit = float(env.pop("LIMIT"))


async def step(name, work):
    began = time.monotonic()
    try:
        said = {"ok": True, "out": str(await work())}
    except Exception as error:
        said = {"ok": False, "out": f"{type(error).__name__}: {error}"[:300]}
    print(json.dumps({"step": name, "ms": round((time.monotonic() - began) * 1000), **said}), flush=True)


async def elicit(_context, _params):
    return types.ElicitResult(action="accept", content={"answer": "yes"})


async def call(name, args=None):
    result = await client.call_tool(name, args or {}, read_timeout_seconds=limit)
    text = getattr(result.content[0], "text", "") if result.content else ""
    return len(text) if len(text) > 300 else ("error: " if result.is_error else "") + text


async def cancelled():
    task = asyncio.create_task(call("slow", {"seconds": 20}))
    await asyncio.sleep(0.2)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return 1
    return 0


async def cancel(times):
    count = 0
    for begun in range(0, times, 50):
        count += sum(await asyncio.gather(*(cancelled() for _ in range(min(50, times - begun)))))
    return count


async def many(count):
    answers = await asyncio.gather(*(call("echo", {"text": f"n{i}"}) for i in range(count)))
    return sum(answer == f"n{i}" for i, answer in enumerate(answers))


async def tools():
    return len((await client.list_tools()).tools)


async def sleep(seconds):
    await asyncio.sleep(seconds)
    return ""


async def main():
    global client
    kinds = {"list": tools, "call": call, "cancel": cancel, "many": many, "sleep": sleep}
    if address:
        server = address
    else:
        first, *rest = json.loads(command)
        server = stdio_client(StdioServerParameters(command=first, args=rest, env=env))
    opened = Client(server, elicitation_callback=elicit)

    async def connect():
        global client
        client = await opened.__aenter__()
        return ""

    await step("connect", connect)
    for name, kind, *rest in steps:
        await step(name, lambda: kinds[kind](*rest))

    async def close():
        await opened.__aexit__(None, None, None)
        return ""

    await step("close", close)


asyncio.run(main())
