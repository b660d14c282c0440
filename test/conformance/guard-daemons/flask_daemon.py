import os

from flask import Flask, request
from werkzeug.serving import make_server

app = Flask(__name__)
calls = 0


@app.before_request
def answer():
    global calls
    calls += 1
    user = request.headers.get("x-ori-verified-user", "nobody")
    return " ".join([str(calls), request.method, request.environ["REQUEST_URI"], user, request.get_data(as_text=True)])


server = make_server("127.0.0.1", int(os.environ["PORT"]), app)
print("ready", flush=True)
server.serve_forever()
