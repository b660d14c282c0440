"""A decorator for the views of Django: a view that has it runs only with an accepted proof.

On gunicorn it needs nothing else. On an ASGI server, wrap the application in `ori_proof.asgi.ProofMiddleware`, because
Django reads the body before it calls a view.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isawaitable, iscoroutinefunction
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from .arrival import READ_BEFORE, proven_in
from .refused import Refused
from .verifier import Proven, Verifier
from .wsgi import BODY_BYTES_MAX, PROVEN, prove, require_telling_server

__all__ = ["Proven", "require_proof"]

View = Callable[..., Any]
exempt_of: Callable[[View], View] = csrf_exempt


def require_proof(
    verifier: Verifier, *, body_bytes_max: int = BODY_BYTES_MAX, diagnose: bool = False
) -> Callable[[View], View]:
    """`@require_proof(verifier)`: the view's second argument is the Proven. It is exempt from CSRF tokens.

    To keep answers, wrap the application in the ProofMiddleware of `ori_proof.wsgi` or `ori_proof.asgi`.
    Raises RuntimeError under a server that hides the request-target or merges headers.
    """
    require_telling_server()
    if not isinstance(verifier, Verifier):
        raise TypeError("expected the Verifier")

    def proven_of(request: HttpRequest) -> Proven:
        scope = getattr(request, "scope", None)
        place = request.META if scope is None else scope
        if (found := proven_in(place, verifier)) is not None:
            return found
        if scope is not None or verifier.answers is not None:
            if PROVEN in place:
                raise Refused("proof_missing", "this path is not among those of the ProofMiddleware")
            kind = "wsgi" if scope is None else "asgi"
            raise ImproperlyConfigured(f"wrap the application in ori_proof.{kind}.ProofMiddleware")
        if getattr(request, "_read_started", False):
            raise RuntimeError(READ_BEFORE)
        found = prove(verifier, request.META, body_bytes_max, diagnose)
        # Where Django keeps a body that was read.
        request._body = found.body  # type: ignore[attr-defined,unused-ignore]
        return found

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **named: Any) -> Any:
            try:
                proven = proven_of(request)
            except Refused as refused:
                return HttpResponse(refused.body, status=refused.status, headers=refused.headers)
            return view(request, proven, *args, **named)

        @wraps(view)
        async def guarded_async(request: HttpRequest, *args: Any, **named: Any) -> Any:
            answer = guarded(request, *args, **named)
            return await answer if isawaitable(answer) else answer

        return exempt_of(guarded_async if iscoroutinefunction(view) else guarded)

    return decorate
