"""Who makes a call of an MCP server: `person(ctx)`, for the packages mcp 1 and 2."""

from __future__ import annotations

from typing import Any

from .asgi import PROVEN

HEADER = "x-ori-verified-user"


def person(ctx: Any, *, behind_guard: bool = False) -> str:
    """The person of the request that made this call, whoever opened the session: never keep a person for a session.

    `ctx` is the Context of a tool. The server is in `ori_proof.asgi.ProofMiddleware`, or with `behind_guard` it is
    reachable through ori-guard alone. Raises PermissionError for a call without a proof.
    """
    request = ctx.request_context.request
    if request is None:
        raise PermissionError("this call did not come by HTTP, so nobody has proven who makes it")
    if behind_guard:
        named: list[str] = request.headers.getlist(HEADER)
        if len(named) == 1:
            return named[0]
    elif (proven := request.scope.get(PROVEN)) is not None:
        user: str = proven.user
        return user
    raise PermissionError("nobody has proven who makes this call")
