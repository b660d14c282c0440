"""Mistakes of a daemon's author, and what is said to them."""

from typing import Any

import pytest
from fastapi import Depends, FastAPI
from fastapi.testclient import TestClient

from ori_proof import LocalKeys, MemoryStore, Refused, RemoteKeys, Verifier
from ori_proof.fastapi import Proven, require_proof
from ori_proof.store import Spend
from ori_proof.testing import TestSigner, TestStore

KEYS = LocalKeys({"keys": []})
X25519 = {"kty": "OKP", "crv": "X25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}


def test_arguments_of_another_kind() -> None:
    other: Any
    for other in (FastAPI(), MemoryStore()):
        with pytest.raises(TypeError, match="expected the Verifier"):
            require_proof(other)
    other = "https://api.example"
    with pytest.raises(TypeError, match=r"expected keys, as RemoteKeys\(url\)"):
        Verifier("int_1", other, MemoryStore())
    other = MemoryStore
    with pytest.raises(TypeError, match=r"and a store, as MemoryStore\(\)"):
        Verifier("int_1", KEYS, other)


@pytest.mark.parametrize("said", [None, True, {}, "ok", b"spent"])
def test_a_store_that_does_not_say_that_it_spent(said: Any) -> None:
    class Other(TestStore):
        def spend(self, _spend: Spend) -> str:
            return said  # type: ignore[no-any-return]

    signer = TestSigner("int_1")
    caller = require_proof(Verifier("int_1", LocalKeys(signer.jwks()), Other()))
    app = FastAPI()

    @app.post("/api")
    def api(proven: Proven = Depends(caller)) -> str:
        return proven.user

    answer = signer.post(TestClient(app), "/api", {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "replay_store_unavailable")


@pytest.mark.parametrize("roots", [{"x": ""}, [X25519]])
def test_roots_of_another_kind(roots: Any) -> None:
    with pytest.raises(ValueError, match="expected a list of public JWKs"):
        RemoteKeys("https://a.example/interns/i/daemon/jwks.json", roots)


def test_keys_that_cannot_be_fetched(caplog: pytest.LogCaptureFixture) -> None:
    keys = RemoteKeys("http://127.0.0.1:1/")
    for ask in (keys.current, keys.reload):
        with pytest.raises(Refused) as refused:
            ask()
        assert (refused.value.code, refused.value.status) == ("keys_unavailable", 503)
        assert "refused" in str(refused.value.__cause__)
    assert "the keys were not taken" in caplog.text
