"""A daemon that replies with its caller, under uvicorn: asgi.py INTERN_ID JWKS_URL [PORT]"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "libs/public/python/src"))

import uvicorn
from ori_proof import MemoryStore, RemoteKeys, Verifier
from ori_proof.asgi import PROVEN, ProofMiddleware, Receive, Scope, Send, send_answer


async def reply(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send_answer(
            send, 200, {"content-type": "application/json"}, b'{"user":"%b"}' % scope[PROVEN].user.encode()
        )


intern_id, url, port = sys.argv[1:] if len(sys.argv) > 3 else [*sys.argv[1:], "8081"]
listening = socket.create_server(("127.0.0.1", int(port)))
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
daemon = ProofMiddleware(reply, Verifier(intern_id, RemoteKeys(url), MemoryStore()))
uvicorn.Server(uvicorn.Config(daemon, log_level="warning", lifespan="off")).run(sockets=[listening])
