"""The same daemon as an ASGI application: python3 asgi.py INTERN_ID JWKS_URL [PORT], with uvicorn"""

import asyncio
import json
import socket
import sys

from oriproof import BODY_SECONDS, MemoryStore, Refused, RemoteKeys, Verifier

BODY_BYTES_MAX = 1_000_000
STATUSES = {"body_incomplete": 400, "body_too_large": 413, "keys_unavailable": 503, "replay_store_full": 503}


def application(verifier):
    async def app(scope, receive, send):
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        try:
            proof, body = await prove(verifier, scope, receive)
        except Refused as refused:
            return await refuse(send, refused)
        await answer(send, 200, {"user": proof["user"], "bytes": len(body)})

    return app


async def prove(verifier, scope, receive):
    # `path` is decoded, and `query_string` is empty both with and without a `?`.
    target = scope["raw_path"].decode("latin-1")
    if scope["query_string"]:
        target += "?" + scope["query_string"].decode("latin-1")
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    proof = verifier.begin(scope["method"], target, headers)
    lengths = [value for name, value in headers if name == "content-length"]
    if lengths and int(lengths[0]) > BODY_BYTES_MAX:
        raise Refused("body_too_large")
    try:
        # Nothing is accepted later (V17), so nothing is read later.
        body = await asyncio.wait_for(read_body(receive), BODY_SECONDS)
    except asyncio.TimeoutError:
        raise Refused("body_incomplete") from None
    proof.update(body)
    # Keys may have to be fetched.
    return await asyncio.get_running_loop().run_in_executor(None, proof.finish), body


async def read_body(receive):
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused("body_incomplete")
        body += message.get("body", b"")
        if len(body) > BODY_BYTES_MAX:
            raise Refused("body_too_large")
        more = message.get("more_body", False)
    return bytes(body)


async def refuse(send, refused):
    status = STATUSES.get(refused.code, 401)
    headers = {"Connection": "close"}
    if status == 401:
        headers["WWW-Authenticate"] = "Ori-Proof"
    if refused.retry_after is not None:
        headers["Retry-After"] = str(refused.retry_after)
    await answer(send, status, {"error": {"code": refused.code, "message": "The proof was not accepted."}}, headers)


async def answer(send, status, value, headers={}):
    body = json.dumps(value).encode()
    fixed = {"Content-Type": "application/json", "Cache-Control": "no-store", "Content-Length": str(len(body))}
    lines = [(name.lower().encode(), text.encode()) for name, text in {**fixed, **headers}.items()]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})


if __name__ == "__main__":
    import uvicorn

    intern_id, url, port = sys.argv[1:] if len(sys.argv) > 3 else [*sys.argv[1:], "8081"]
    listening = socket.create_server(("127.0.0.1", int(port)))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    app = application(Verifier(intern_id, RemoteKeys(url), MemoryStore()))
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
