"""A decorator for the views of Flask on gunicorn: a view that has it runs only with an accepted proof."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Response, request

from .arrival import proven_in
from .refused import Refused
from .verifier import Proven, Verifier
from .wsgi import BODY_BYTES_MAX, prove, require_telling_server

__all__ = ["Proven", "require_proof"]

View = Callable[..., Any]


def require_proof(
    verifier: Verifier, *, body_bytes_max: int = BODY_BYTES_MAX, diagnose: bool = False
) -> Callable[[View], View]:
    """`@require_proof(verifier)` below `@app.post(…)`: the view's first argument is the Proven.

    To keep answers, wrap `app.wsgi_app` in `ori_proof.wsgi.ProofMiddleware` as well.
    Raises RuntimeError under a server that hides the request-target or merges headers.
    """
    require_telling_server()
    if not isinstance(verifier, Verifier):
        raise TypeError("expected the Verifier")

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(*args: Any, **named: Any) -> Any:
            environ = request.environ
            if (proven := proven_in(environ, verifier)) is None and verifier.answers is not None:
                raise RuntimeError("answers: wrap app.wsgi_app in ori_proof.wsgi.ProofMiddleware, which keeps them")
            try:
                proven = proven or prove(verifier, environ, body_bytes_max, diagnose)
            except Refused as refused:
                return Response(refused.body, refused.status, refused.headers)
            return view(proven, *args, **named)

        return guarded

    return decorate
