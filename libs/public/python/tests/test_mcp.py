from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request

from ori_proof.asgi import PROVEN
from ori_proof.mcp import person
from ori_proof.verifier import Proof, Proven


def context(scope: dict[str, Any], *headers: tuple[bytes, bytes]) -> Any:
    request = Request({"type": "http", "headers": list(headers), **scope})
    return SimpleNamespace(request_context=SimpleNamespace(request=request))


def test_the_person_is_of_this_request() -> None:
    proven = Proven(Proof("ada", "int_1", 2, 0, "/mcp", "n"), b"")
    assert person(context({PROVEN: proven}, (b"x-ori-verified-user", b"eve"))) == "ada"
    assert person(context({}, (b"x-ori-verified-user", b"ada")), behind_guard=True) == "ada"


@pytest.mark.parametrize(
    ("headers", "behind_guard"),
    [([], False), ([], True), ([b"ada"], False), ([b"ada", b"eve"], True)],
)
def test_nobody_is_taken_for_a_person(headers: list[bytes], behind_guard: bool) -> None:
    with pytest.raises(PermissionError, match="nobody has proven"):
        person(context({}, *((b"x-ori-verified-user", each) for each in headers)), behind_guard=behind_guard)
    with pytest.raises(PermissionError, match="did not come by HTTP"):
        person(SimpleNamespace(request_context=SimpleNamespace(request=None)))
