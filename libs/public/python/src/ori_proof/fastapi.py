"""A FastAPI dependency: a route that takes it runs only with an accepted proof."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from .arrival import READ_BEFORE, proven_in
from .asgi import BODY_BYTES_MAX, prove
from .refused import Refused
from .verifier import Proven, Verifier

Model = TypeVar("Model", bound=BaseModel)

__all__ = ["Proven", "body_of", "require_proof", "signed_body"]


def require_proof(
    verifier: Verifier, *, body_bytes_max: int = BODY_BYTES_MAX, diagnose: bool = False
) -> Callable[[Request], Awaitable[Proven]]:
    """The dependency, for routes of any application or router. Asked again in one request, it gives the same Proven.

    To keep answers, add `ori_proof.asgi.ProofMiddleware` to the application as well.
    """
    if not isinstance(verifier, Verifier):
        raise TypeError("expected the Verifier")

    async def proven(request: Request) -> Proven:
        scope = request.scope
        if (found := proven_in(scope, verifier)) is not None:
            return found
        if verifier.answers is not None:
            raise RuntimeError("answers: add ori_proof.asgi.ProofMiddleware to the application, which keeps them")
        # A second reader would wait for bytes that never come, and then blame the client.
        if hasattr(request, "_body") or getattr(request, "_stream_consumed", False):
            raise RuntimeError(READ_BEFORE)
        answer_refusals(scope)
        found = await prove(verifier, scope, request.receive, body_bytes_max, diagnose)
        # Where request.body() and request.json() find it: they would wait for it, too.
        request._body = found.body
        return found

    # FastAPI reads the annotations of a nested function when the route is declared.
    proven.__annotations__ = {"request": Request, "return": Proven}
    return proven


def answer_refusals(scope: Any) -> None:
    """Sees to it that the application of this route, which may be mounted in another, answers refusals."""
    handlers, _ = scope["starlette.exception_handlers"]
    handlers.setdefault(Refused, answer)


async def answer(_: Request, refused: Exception) -> Response:
    """The answer to a refusal (SPEC.md, section 5)."""
    assert isinstance(refused, Refused)
    return Response(refused.body, refused.status, {**refused.headers, "connection": "close"})


def body_of(proven: Proven, model: type[Model]) -> Model:
    """The signed bytes as the model. FastAPI answers 422 to others, as it does for a body parameter."""
    try:
        return model.model_validate_json(proven.body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_input=False)) from error


def signed_body(model: type[BaseModel]) -> dict[str, Any]:
    """For `openapi_extra` of a route: its API document then has the body that `body_of` reads."""
    schema = model.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
