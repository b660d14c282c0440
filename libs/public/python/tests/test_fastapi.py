import pytest
from fastapi import Depends, FastAPI, Security
from fastapi.testclient import TestClient
from pydantic import BaseModel

from ori_proof.asgi import ProofMiddleware
from ori_proof.fastapi import Proven, require_proof, signed_body
from ori_proof.testing import TestSigner


def test_a_mounted_application_answers_refusals() -> None:
    app, sub, signer = FastAPI(), FastAPI(), TestSigner()
    caller = require_proof(signer.verifier())

    @sub.post("/invoke")
    def invoke(proven: Proven = Depends(caller)) -> str:
        return proven.user

    app.mount("/api", sub)
    client = TestClient(app)
    refused = client.post("/api/invoke", content=b"{}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "proof_missing")
    assert refused.headers["www-authenticate"] == "Ori-Proof"
    assert refused.headers["cache-control"] == "no-store"
    assert signer.post(client, "/api/invoke", {}).json() == "user_test"


def test_a_second_evaluation_in_a_request_gives_the_same_proven() -> None:
    app, signer = FastAPI(), TestSigner()
    caller = require_proof(signer.verifier())

    def editor(proven: Proven = Security(caller, scopes=["edit"])) -> Proven:
        return proven

    @app.post("/api/invoke")
    def invoke(
        proven: Proven = Depends(caller),
        again: Proven = Depends(editor),
        anew: Proven = Depends(caller, use_cache=False),
    ) -> bool:
        return proven is again and proven is anew

    assert signer.post(TestClient(app), "/api/invoke", {}).json() is True


def test_a_proof_for_one_verifier_is_none_for_another() -> None:
    app, signer, other = FastAPI(), TestSigner(), TestSigner("int_other")
    ours, theirs = signer.verifier(), other.verifier()
    app.add_middleware(ProofMiddleware, verifier=ours, paths=["/ours/"])
    app.add_middleware(ProofMiddleware, verifier=theirs, paths=["/theirs/"])
    for path in ("/ours/a", "/theirs/a"):

        @app.post(path)
        def invoke(proven: Proven = Depends(require_proof(theirs))) -> str:
            return proven.proof.intern_id

    client = TestClient(app)
    assert other.post(client, "/theirs/a", {}).json() == "int_other"
    with pytest.raises(RuntimeError, match="another Verifier judged this request"):
        signer.post(client, "/ours/a", {})


def test_the_api_document_has_the_body() -> None:
    app = FastAPI()

    class Invoke(BaseModel):
        prompt: str

    @app.post("/api/invoke", openapi_extra=signed_body(Invoke))
    def invoke(proven: Proven = Depends(require_proof(TestSigner().verifier()))) -> None: ...

    body = app.openapi()["paths"]["/api/invoke"]["post"]["requestBody"]
    assert body["content"]["application/json"]["schema"]["properties"]["prompt"]["type"] == "string"


def test_each_hostile_call_is_refused_for_its_own_reason() -> None:
    app, signer = FastAPI(), TestSigner()

    @app.post("/api/invoke")
    def invoke(proven: Proven = Depends(require_proof(signer.verifier()))) -> str:
        return proven.user

    client, answers = TestClient(app), {}
    for call in signer.hostile_calls("/api/invoke", {}):
        answer = client.post(call.path, content=call.body, headers=call.headers)
        answers[call.name] = answer.json() if call.accepted else answer.json()["error"]["code"]
    assert answers == {
        "a right proof": "user_test",
        "a right proof again": "nonce_replayed",
        "no proof": "proof_missing",
        "the proof of another path": "signature_invalid",
        "the proof of another body": "signature_invalid",
        "a query": "request_not_coverable",
        "the proof of another person": "signature_invalid",
        "an hour old": "proof_expired",
        "an hour ahead": "proof_not_yet_valid",
        "a proof for another intern": "signature_invalid",
        "a key that is not the intern's": "signature_invalid",
    }
