"""Starts a daemon of daemons.py, and prints its port: launch.py SERVER KIND INTERN JWKS [STORE [ANSWERS]]"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time

server, kind, intern, jwks, store, *answers = [*sys.argv[1:], "memory"][: max(5, len(sys.argv) - 1)]
with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
at = f"127.0.0.1:{port}"
uvicorn = ["uvicorn", "daemons:app", "--port", str(port), "--log-level", "warning", "--lifespan", "off"]
gunicorn = ["gunicorn", "daemons:app", "--bind", at, "--log-level", "error"]
COMMANDS = {
    "uvicorn-h11": [*uvicorn, "--http", "h11"],
    "uvicorn-httptools": [*uvicorn, "--http", "httptools"],
    "hypercorn": ["hypercorn", "daemons:app", "--bind", at, "--log-level", "error"],
    "granian": ["granian", "daemons:app", "--interface", "asgi", "--port", str(port), "--log-level", "error"],
    "gunicorn-asgi": [*gunicorn, "--worker-class", "asgi"],
    "gunicorn-uvicorn": [*gunicorn, "--worker-class", "uvicorn_worker.UvicornWorker"],
    "gunicorn-wsgi": [*gunicorn, "--threads", "32", "--timeout", "60"],
}
os.setsid()
parent = os.getpid()
if os.fork() == 0:
    while os.getppid() == parent:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.05)
    print(f"port {port}", flush=True)
    # A killed server leaves its workers.
    while os.getppid() == parent:
        time.sleep(0.2)
    os.killpg(0, signal.SIGKILL)
os.chdir(os.path.dirname(os.path.abspath(__file__)))
bin_ = os.path.dirname(sys.executable)
environment = {**os.environ, "KIND": kind, "INTERN": intern, "JWKS": jwks, "STORE": store, "PYTHONPATH": os.getcwd()}
environment.update({"ANSWERS": "1"} if answers else {})
command = COMMANDS[server]
os.execve(os.path.join(bin_, command[0]), command, environment)
