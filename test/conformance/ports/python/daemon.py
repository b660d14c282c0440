"""A daemon that replies with its caller: python3 daemon.py INTERN_ID JWKS_URL [PORT]"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from oriproof import MemoryStore, Refused, RemoteKeys, Verifier

BODY_BYTES_MAX = 1_000_000
STATUSES = {"body_too_large": 413, "keys_unavailable": 503, "replay_store_full": 503}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        try:
            proof, body = self.prove()
        except Refused as refused:
            self.close_connection = True
            return self.refuse(refused)
        self.answer(200, {"user": proof["user"], "bytes": len(body)})

    do_GET = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_POST

    def prove(self):
        # `self.path` merges leading slashes, and `self.headers[name]` hides duplicates: use the request as received.
        method, target, _ = self.raw_requestline.decode("latin-1").rstrip("\r\n").split(" ")
        proof = verifier.begin(method, target, self.headers.items())
        length = self.headers.get("content-length", "")
        if "transfer-encoding" in self.headers or not length.isascii() or not length.isdigit():
            raise Refused("request_not_coverable")
        if int(length) > BODY_BYTES_MAX:
            raise Refused("body_too_large")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise Refused("signature_invalid")
        proof.update(body)
        return proof.finish(), body

    def refuse(self, refused):
        status = STATUSES.get(refused.code, 401)
        headers = {"WWW-Authenticate": "Ori-Proof"} if status == 401 else {}
        if refused.retry_after is not None:
            headers["Retry-After"] = str(refused.retry_after)
        self.answer(status, {"error": {"code": refused.code, "message": "The proof was not accepted."}}, headers)

    def answer(self, status, value, headers={}):
        body = json.dumps(value).encode()
        self.send_response(status)
        fixed = {"Content-Type": "application/json", "Cache-Control": "no-store", "Content-Length": str(len(body))}
        for name, text in {**fixed, **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


intern_id, url, port = (sys.argv[1:] + ["8081"])[:3]
verifier = Verifier(intern_id, RemoteKeys(url), MemoryStore())
server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
