"""A daemon that replies with its caller: python3 daemon.py INTERN_ID JWKS_URL [PORT]"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "libs/public/python/src"))

from ori_proof import MemoryStore, Proof, Refused, RemoteKeys, Verifier
from ori_proof.store import BODY_SECONDS

BODY_BYTES_MAX = 1_000_000


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    raw_requestline: bytes
    timeout = 30

    def do_POST(self) -> None:
        # `http.server` drops every line after one that is not a header.
        if self.headers.defects:
            return self.send_error(400)
        try:
            proof, body = self.prove()
        except Refused as refused:
            self.close_connection = True
            return self.answer(refused.status, refused.headers, refused.body)
        value = json.dumps({"user": proof.user, "bytes": len(body)})
        self.answer(200, {"content-type": "application/json"}, value.encode())

    do_GET = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_POST

    def prove(self) -> tuple[Proof, bytes]:
        # `self.path` merges leading slashes, and `self.headers[name]` hides duplicates: use the request as received.
        method, target, _ = self.raw_requestline.decode("latin-1").rstrip("\r\n").split(" ")
        proof = verifier.begin(method, target, [(name, value.strip(" \t")) for name, value in self.headers.items()])
        # Nothing is accepted later (V17), so nothing is read later.
        end = threading.Timer(BODY_SECONDS, self.connection.shutdown, [socket.SHUT_RD])
        end.start()
        try:
            body = self.read_body()
        finally:
            end.cancel()
        proof.update(body)
        return proof.finish(), body

    def read_body(self) -> bytes:
        lengths, codings = self.values("content-length"), self.values("transfer-encoding")
        if [coding.lower() for coding in codings] == ["chunked"] and not lengths:
            return self.read_chunks()
        if not lengths and not codings:
            return b""
        length = lengths[0] if len(lengths) == 1 and not codings else ""
        if not re.fullmatch("[0-9]{1,12}", length):
            raise Refused("body_incomplete")
        if int(length) > BODY_BYTES_MAX:
            raise Refused("body_too_large")
        return self.exactly(int(length))

    def values(self, name: str) -> list[str]:
        return [value.strip(" \t") for value in self.headers.get_all(name, [])]

    def read_chunks(self) -> bytes:
        body = b""
        while True:
            size = re.fullmatch(rb"([0-9A-Fa-f]{1,8})(?:;.*)?\r\n", self.rfile.readline(100))
            if size is None:
                raise Refused("body_incomplete")
            if len(body) + int(size[1], 16) > BODY_BYTES_MAX:
                raise Refused("body_too_large")
            if int(size[1], 16) == 0:
                break
            body += self.exactly(int(size[1], 16))
            # Otherwise a server in front could see another end of this request.
            if self.exactly(2) != b"\r\n":
                raise Refused("body_incomplete")
        # Trailer fields are not headers (H5): they are read and dropped.
        while self.rfile.readline(1000) not in (b"\r\n", b""):
            pass
        return body

    def exactly(self, length: int) -> bytes:
        body = self.rfile.read(length)
        if len(body) < length:
            raise Refused("body_incomplete")
        return body

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, text in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


# INTERN_ID JWKS_URL [PORT [ROOT_JWK...]]
intern_id, url, port, *roots = sys.argv[1:] if len(sys.argv) > 3 else [*sys.argv[1:], "8081"]
verifier = Verifier(intern_id, RemoteKeys(url, [json.loads(root) for root in roots]), MemoryStore())
server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
