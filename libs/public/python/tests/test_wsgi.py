import io
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar

import django
import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, JsonResponse
from django.test import Client, RequestFactory
from django.urls import path as route
from flask import Flask, jsonify, request
from flask.views import MethodView

from ori_proof.django import require_proof as django_proof
from ori_proof.flask import require_proof as flask_proof
from ori_proof.testing import TestSigner, send
from ori_proof.verifier import Proven
from ori_proof.wsgi import PROVEN, ProofMiddleware, StartResponse, prove

SIGNER = TestSigner()
VERIFIER = SIGNER.verifier()


@django_proof(VERIFIER)
def view(request: HttpRequest, proven: Proven) -> JsonResponse:
    return JsonResponse({"user": proven.user, "body": request.body.decode()})


urlpatterns = [route("api/invoke", view)]
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"])
django.setup()


def test_a_view_of_django_runs_once_with_a_proof() -> None:
    client = Client(enforce_csrf_checks=True)
    assert SIGNER.post(client, "/api/invoke", {}, user="ada").json() == {"user": "ada", "body": "{}"}
    headers = SIGNER.headers("ada", "/api/invoke", b"{}")
    assert send(client, "/api/invoke", b"{}", headers).status_code == 200
    refused = send(client, "/api/invoke", b"{}", headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "nonce_replayed")
    assert refused.headers["www-authenticate"] == "Ori-Proof"


def test_a_view_of_flask_runs_once_with_a_proof() -> None:
    app = Flask("daemon")

    @app.post("/api/invoke")
    @flask_proof(VERIFIER)
    def invoke(proven: Proven) -> Any:
        return jsonify(user=proven.user, prompt=request.get_json()["prompt"])

    client = app.test_client()
    assert SIGNER.post(client, "/api/invoke", {"prompt": "hi"}, user="ada").get_json() == {
        "user": "ada",
        "prompt": "hi",
    }
    headers = SIGNER.headers("ada", "/api/invoke", b'{"prompt":"x"}')
    assert send(client, "/api/invoke", b'{"prompt":"x"}', headers).status_code == 200
    refused = send(client, "/api/invoke", b'{"prompt":"x"}', headers)
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (401, "nonce_replayed")


def test_views_of_flask_of_each_kind() -> None:
    app = Flask("daemon")
    app.testing = True
    guard = flask_proof(VERIFIER)

    @app.post("/async")
    @guard
    async def later(proven: Proven) -> str:
        return proven.user

    class Whole(MethodView):
        decorators: ClassVar = [guard]

        def post(self, proven: Proven) -> str:
            return proven.user

    class Alone(MethodView):
        @guard
        def post(self, proven: Proven) -> str:
            return proven.user

    app.add_url_rule("/whole", view_func=Whole.as_view("whole"))
    app.add_url_rule("/alone", view_func=Alone.as_view("alone"))
    for path in ("/async", "/whole", "/alone"):
        assert SIGNER.post(app.test_client(), path, {}, user="ada").data == b"ada"


def test_a_body_that_was_read_before_is_named() -> None:
    app = Flask("daemon")
    app.testing = True
    app.before_request(lambda: request.get_json() and None)
    app.post("/a")(flask_proof(VERIFIER)(lambda proven: proven.user))
    with pytest.raises(RuntimeError, match="the body was read before its proof was judged"):
        SIGNER.post(app.test_client(), "/a", {"a": 1})
    read = WSGIRequest(environ_of(SIGNER.headers("ada", "/", b"{}"), "/", b"{}"))
    assert read.body == b"{}"
    with pytest.raises(RuntimeError, match="the body was read before its proof was judged"):
        view(read)


def test_a_middleware_in_its_like_judges_once() -> None:
    verifier = SIGNER.verifier()

    def reply(environ: dict[str, Any], start_response: StartResponse) -> list[bytes]:
        start_response("200 OK", [])
        return [environ[PROVEN].user.encode()]

    app = ProofMiddleware(ProofMiddleware(reply, verifier), verifier)
    assert b"".join(app(environ_of(SIGNER.headers("ada", "/", b""), "/", b""), lambda *_: None)) == b"ada"


def test_a_proof_for_one_verifier_is_none_for_another() -> None:
    app, signer = Flask("daemon"), TestSigner("int_other")
    app.wsgi_app = ProofMiddleware(app.wsgi_app, signer.verifier())  # type: ignore[method-assign]
    app.post("/flask")(flask_proof(VERIFIER)(lambda proven: proven.user))
    app.testing = True
    with pytest.raises(RuntimeError, match="another Verifier judged this request"):
        signer.post(app.test_client(), "/flask", {})
    environ = environ_of(signer.headers("ada", "/", b""), "/", b"")
    prove(signer.verifier(), environ)
    with pytest.raises(RuntimeError, match="another Verifier judged this request"):
        view(WSGIRequest(environ))


def environ_of(headers: dict[str, str], path: str, body: bytes, **others: object) -> dict[str, Any]:
    named = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items() if name[0] == "x"}
    type_ = {"CONTENT_TYPE": "application/json"} if headers else {}
    told = {"SERVER_SOFTWARE": "gunicorn/27.0.1", "REQUEST_METHOD": "POST", "RAW_URI": path, **type_, **named}
    return {**told, "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body), **others}


@pytest.mark.parametrize("server", ["Werkzeug/3.1.3", "gevent/25", "Cheroot/11", None])
def test_another_server_is_named(server: str | None) -> None:
    environ = environ_of(SIGNER.headers("ada", "/", b""), "/", b"", SERVER_SOFTWARE=server or "", RAW_URI="/")
    if server is None:
        del environ["SERVER_SOFTWARE"]
    with pytest.raises(RuntimeError, match=f"{server or 'this server'} hides the request-target or merges headers"):
        prove(VERIFIER, environ)
    with pytest.raises(RuntimeError, match="hides"):
        prove(VERIFIER, RequestFactory().post("/").META)


@pytest.mark.parametrize("server", ["granian.server", "flask.cli", "waitress.runner", "gunicorn.app.base"])
def test_an_application_does_not_load_under_another_server(server: str) -> None:
    module = ModuleType(server)
    sys.modules.pop(server, None)
    exec("def load(app): return app()", module.__dict__)
    if server.startswith("gunicorn"):
        module.__dict__["load"](lambda: flask_proof(VERIFIER))
        return
    for adapter in (django_proof, flask_proof, lambda verifier: ProofMiddleware(lambda *_: [], verifier)):
        with pytest.raises(RuntimeError, match=f"{server} hides"):
            module.__dict__["load"](lambda adapter=adapter: adapter(VERIFIER))


def test_the_middleware_keeps_answers() -> None:
    signer = TestSigner()

    def reply(environ: dict[str, Any], start_response: StartResponse) -> Iterator[bytes]:
        start_response("201 Created", [("Content-Type", "text/plain")])
        yield environ[PROVEN].user.encode()
        yield environ["wsgi.input"].read()

    app = ProofMiddleware(reply, signer.verifier(answers=True), paths=["/api/"])

    def read(path: str, headers: dict[str, str], body: bytes, take: int = 100) -> tuple[str, bytes]:
        said: list[str] = []
        pieces = app(environ_of(headers, path, body), lambda status, headers: said.append(status))
        taken = b"".join(piece for piece, _ in zip(pieces, range(take), strict=False))
        getattr(pieces, "close", lambda: None)()
        return said[0], taken

    headers = signer.headers("ada", "/api/invoke", b"{}")
    # The client leaves after the first piece.
    assert read("/api/invoke", headers, b"{}", 1) == ("201 Created", b"ada")
    question = "/.well-known/ori/calls/" + headers["x-ori-invoke-nonce"]
    assert read(question, signer.headers("ada", question, b""), b"") == ("201 Created", b"ada{}")
    assert read(question, signer.headers("eve", question, b""), b"")[0] == "404 Not Found"
    assert read("/api/invoke", {}, b"")[0] == "401 Unauthorized"
    said: list[str] = []
    # gunicorn takes a path out of these, by which the application finds its handler.
    for target, script_name, path_info in (
        ("/%61pi/invoke", "", "/api/invoke"),
        ("http://daemon/api/invoke", "", "/api/invoke"),
        # SCRIPT_NAME is of the environment, of a dispatcher, or of a header of the proxy.
        ("/prefix/api/invoke", "/prefix", "/api/invoke"),
        ("/prefix/%61pi/invoke", "/prefix/api", "/invoke"),
        ("/%61pi/invoke", "/prefix", "/api/invoke"),
        ("/xapi/invoke", "/x", "api/invoke"),
    ):
        environ = {**environ_of({}, target, b""), "SCRIPT_NAME": script_name, "PATH_INFO": path_info}
        app(environ, lambda status, _: said.append(status))
    assert said == ["401 Unauthorized"] * 6
