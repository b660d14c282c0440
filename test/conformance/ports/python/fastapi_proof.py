"""A FastAPI dependency: a route that takes it runs only with an accepted proof (README.md, FastAPI)."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Callable, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError

from asgi import BODY_BYTES_MAX, Proven, prove, refusal
from oriproof import Refused, Verifier

Model = TypeVar("Model", bound=BaseModel)

READ_BEFORE = (
    "the body was read before its proof was judged: a route that depends on a proof takes no body parameter, "
    "and reads Proven.body"
)


def require_proof(
    app: FastAPI, verifier: Verifier, body_bytes_max: int = BODY_BYTES_MAX
) -> Callable[[Request], Awaitable[Proven]]:
    """The dependency. `app` answers refusals as SPEC.md, section 5, requires. One verifier serves all routes."""
    if not isinstance(app, FastAPI) or not isinstance(verifier, Verifier):
        raise TypeError("expected the FastAPI application, then the Verifier")

    async def answer(_: Request, refused: Exception) -> JSONResponse:
        assert isinstance(refused, Refused)
        status, headers, value = refusal(refused)
        return JSONResponse(value, status, headers)

    async def proven(request: Request) -> Proven:
        # A second reader would wait for bytes that never come, and then blame the client.
        if hasattr(request, "_body") or getattr(request, "_stream_consumed", False):
            raise RuntimeError(READ_BEFORE)
        found = await prove(verifier, request.scope, request.receive, body_bytes_max)
        # Where request.body() and request.json() find it: they would wait for it, too.
        request._body = found.body
        return found

    # FastAPI reads the annotations of a nested function when the route is declared.
    proven.__annotations__ = {"request": Request, "return": Proven}
    app.add_exception_handler(Refused, answer)
    return proven


def body_of(proven: Proven, model: type[Model]) -> Model:
    """The signed bytes as the model. FastAPI answers 422 to others, as it does for a body parameter."""
    try:
        return model.model_validate_json(proven.body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_input=False)) from error
