"""A decorator for the views of Flask on gunicorn: a view that has it runs only with an accepted proof."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Response, current_app, request

from .arrival import READ_BEFORE, proven_in
from .refused import Refused
from .verifier import Proven, Verifier
from .wsgi import BODY_BYTES_MAX, prove, require_telling_server

__all__ = ["Proven", "require_proof"]

View = Callable[..., Any]


def require_proof(
    verifier: Verifier, *, body_bytes_max: int = BODY_BYTES_MAX, diagnose: bool = False
) -> Callable[[View], View]:
    """`@require_proof(verifier)` below `@app.post(…)`: the view, or method of a view, gets the Proven as `proven`.

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
            if proven is None and "stream" in vars(request._get_current_object()):  # type: ignore[attr-defined]
                raise RuntimeError(READ_BEFORE)
            try:
                proven = proven or prove(verifier, environ, body_bytes_max, diagnose)
            except Refused as refused:
                return Response(refused.body, refused.status, refused.headers)
            return current_app.ensure_sync(view)(*args, proven=proven, **named)

        return guarded

    return decorate
