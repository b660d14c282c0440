"""Daemons for the servers of Python, as `SERVER daemons:NAME`. INTERN, JWKS and STORE (memory, or a URL) say which."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[4] / "libs/public/python/src"))

from ori_proof import MemoryStore, Proven, RemoteKeys, Verifier, asgi, wsgi
from ori_proof.store import Answer, Store

KIND, PATH, LENGTH_MAX = os.environ["KIND"], "/api/invoke", 1_000_000


def open_store(url: str) -> Store:
    if url.startswith("redis"):
        from ori_proof.redis import RedisStore

        return RedisStore(url)
    if url.startswith("postgres"):
        from ori_proof.postgres import PostgresStore

        return PostgresStore(url, replicas=0, driver="asyncpg" if os.environ.get("DRIVER") == "asyncpg" else "psycopg")
    return MemoryStore()


verifier = Verifier(
    os.environ["INTERN"],
    RemoteKeys(os.environ["JWKS"]),
    open_store(os.environ.get("STORE", "memory")),
    answers="ANSWERS" in os.environ,
)
if (ready := getattr(verifier.store, "ready", None)) is not None:
    ready(30_000)
app: Any


def asked_of(proven: Proven) -> tuple[float, Answer]:
    """After how many seconds the handler answers, and what, as the suite asks (test/conformance/README.md)."""
    try:
        asked = json.loads(proven.body).get("answer", {})
    except (ValueError, AttributeError):
        asked = {}
    body = json.dumps({"user": proven.user, "filler": "x" * asked.get("bytes", 0)}).encode()
    headers = {"content-type": "application/json", **asked.get("headers", {})}
    return asked.get("afterMs", 0) / 1000, Answer(asked.get("status", 200), headers, body)


if KIND == "asgi":

    async def reply(scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        seconds, answer = asked_of(scope[asgi.PROVEN])
        await asyncio.sleep(seconds)
        await asgi.send_answer(send, *answer)

    app = asgi.ProofMiddleware(reply, verifier)

if KIND == "wsgi":

    def reply_wsgi(environ: wsgi.Environ, start_response: wsgi.StartResponse) -> Any:
        seconds, answer = asked_of(environ[wsgi.PROVEN])
        time.sleep(seconds)
        return wsgi.respond(start_response, *answer)

    app = wsgi.ProofMiddleware(reply_wsgi, verifier)

if KIND in ("fastapi", "mounted"):
    from fastapi import Depends, FastAPI

    from ori_proof.fastapi import require_proof

    app, inner = FastAPI(), FastAPI()
    app.mount("/api" if KIND == "mounted" else "", inner)
    caller = require_proof(verifier)

    # The suite also presents other methods and paths.
    @inner.api_route("/{rest:path}", methods=["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
    async def invoke(rest: str, proven: Proven = Depends(caller)) -> dict[str, str]:  # noqa: B008
        return {"user": proven.user}


if KIND == "flask":
    from flask import Flask, jsonify

    from ori_proof.flask import require_proof as flask_proof

    flask = app = Flask("daemon")

    @flask.route("/<path:rest>", methods=["GET", "POST", "PUT", "DELETE", "PATCH"])
    @flask_proof(verifier)
    def invoke_flask(proven: Proven, rest: str) -> Any:
        return jsonify(user=proven.user)


if KIND in ("django", "django-asgi"):
    import django
    from django.conf import settings
    from django.core.handlers.asgi import ASGIHandler
    from django.core.handlers.wsgi import WSGIHandler
    from django.http import HttpRequest, JsonResponse
    from django.urls import re_path

    from ori_proof.django import require_proof as django_proof

    @django_proof(verifier)
    def invoke_django(request: HttpRequest, proven: Proven) -> JsonResponse:
        return JsonResponse({"user": proven.user})

    urlpatterns = [re_path("", invoke_django)]
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=[])
    django.setup(set_prefix=False)
    app = WSGIHandler() if KIND == "django" else asgi.ProofMiddleware(ASGIHandler(), verifier)
