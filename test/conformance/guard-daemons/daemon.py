import os
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    calls = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Handler.calls += 1
        user = self.headers.get_all("x-ori-verified-user") or ["nobody"]
        answer = " ".join([str(Handler.calls), self.command, self.path, ",".join(user), body.decode()]).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler)
print("ready", flush=True)
server.serve_forever()
