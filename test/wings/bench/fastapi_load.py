"""CPU of uvicorn for a request to FastAPI, with a proof and with one raw verification: fastapi_load.py COUNT"""

from __future__ import annotations

import hashlib
import http.client
import json
import logging
import socket
import sys
import threading
import time
from pathlib import Path

import uvicorn
from fastapi import Depends, FastAPI, Request

sys.path.insert(0, str(Path(__file__).parents[3] / "libs/public/python/src"))

from ori_proof.fastapi import Proven, require_proof
from ori_proof.testing import TestSigner

count, body = int(sys.argv[1]), b'{"prompt":"hello"}'
signer, app, message = TestSigner(), FastAPI(), b"m" * 200
caller, public, signature = require_proof(signer.verifier()), signer.key.public_key(), signer.key.sign(message)
logging.disable()


@app.post("/proven")
async def proven(proven: Proven = Depends(caller)) -> dict[str, str]:  # noqa: B008
    return {"user": proven.user}


@app.post("/raw")
async def raw(request: Request) -> dict[str, str]:
    hashlib.sha256(await request.body()).hexdigest()
    public.verify(signature, message)
    return {"user": "user_1"}


listening = socket.create_server(("127.0.0.1", 0))
# asyncio does not set it for a socket that it is given: each answer would take 40 ms.
listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
server = uvicorn.Server(uvicorn.Config(app, http="h11", log_level="critical"))
thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
thread.start()
clock = time.pthread_getcpuclockid(thread.ident or 0)
client = http.client.HTTPConnection("127.0.0.1", listening.getsockname()[1])
client.connect()
client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
used = {"/proven": 0.0, "/raw": 0.0}
# The first fifth warms both.
for index in range(count):
    for path in used:
        headers = signer.headers("user_1", path, body)
        before = time.clock_gettime(clock)
        client.request("POST", path, body, headers)
        answer = client.getresponse()
        assert (answer.status, json.loads(answer.read())) == (200, {"user": "user_1"})
        if index >= count // 5:
            used[path] += time.clock_gettime(clock) - before
print(json.dumps([1e6 * each / (count - count // 5) for each in used.values()]))
