import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from test_asgi import messages_of, scope_of

from ori_proof import Proof
from ori_proof.answer_proof import ANSWER_PROOF, AnswerKey
from ori_proof.answers import AnswersOptions
from ori_proof.asgi import ProofMiddleware, Receive, Scope, Send
from ori_proof.testing import TestSigner
from ori_proof.wsgi import recorded

VECTORS = Path(__file__).parents[4] / "test/vectors/answer-proofs.json"
KEY = AnswerKey(bytes(32))


@pytest.mark.parametrize("vector", json.loads(VECTORS.read_text())["answers"], ids=lambda v: v["title"])
def test_signs_the_answers_of_the_vectors(vector: dict[str, Any]) -> None:
    if vector["expect"] != "proven" or not vector.get("seed"):
        return
    body = base64.b64decode(vector["bodyBase64"])
    facts = (vector["status"], vector["mediaType"], len(body), hashlib.sha256(body).hexdigest())
    assert AnswerKey(bytes.fromhex(vector["seed"])).prove(vector["call"], *facts) == vector["header"]


@pytest.mark.parametrize("bad", ["", "A" * 42, "A" * 44, "A" * 42 + "B", b"x" * 31])
def test_another_key_is_refused(bad: Any) -> None:
    assert AnswerKey("A" * 43 + "\n").x == KEY.x
    with pytest.raises(ValueError, match="expected 32 bytes"):
        AnswerKey(bad)


def proof_of(digest: str, status: int, body: bytes, media_type: str = "text/plain") -> str | None:
    return KEY.prove(digest, status, media_type, len(body), hashlib.sha256(body).hexdigest())


class World:
    """A daemon that proves its answers, and the digests of the calls that it accepted."""

    def __init__(self) -> None:
        self.signer, self.digests = TestSigner(), list[str]()
        options = AnswersOptions(bytes_max=100, key=KEY)
        self.verifier = self.signer.verifier(answers=options)
        self.verifier.on_accepted = self.accept

    def accept(self, _: Proof, digest: str) -> None:
        self.digests.append(digest)


PIECES = {"one": [b"hello"], "several": [b"hel", b"lo"], "large": [b"x" * 90, b"x" * 90]}


@pytest.mark.parametrize("how", PIECES)
def test_an_answer_over_asgi_is_proven(how: str) -> None:
    world, pieces = World(), PIECES[how]

    async def reply(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 201, "headers": [(b"content-type", b"text/plain")]})
        for index, piece in enumerate(pieces):
            await send({"type": "http.response.body", "body": piece, "more_body": index + 1 < len(pieces)})

    app = ProofMiddleware(reply, world.verifier)
    headers = world.signer.headers("ada", "/api/invoke", b"{}")
    begun = messages_of(app, scope_of(headers), b"{}")[0]
    given = dict(begun["headers"])
    proof = proof_of(world.digests[0], 201, b"".join(pieces))
    assert given[b"ori-answer"] == b"recorded"
    assert given[ANSWER_PROOF.encode()].decode() == (proof if how == "one" else KEY.x)
    told = question(world, app, headers, "/proof")
    assert (told[0], told[1][ANSWER_PROOF], told[2]) == (200, proof, b"")
    again = question(world, app, headers)
    if how == "large":
        # Its own proof stays with the answer that says it was too large.
        assert (again[0], again[1][ANSWER_PROOF]) == (
            410,
            proof_of(world.digests[-1], 410, again[2], "application/json"),
        )
    else:
        assert again[1][ANSWER_PROOF] == proof
        assert (again[0], again[2], again[1]["ori-answer"]) == (201, b"hello", "kept")


def question(
    world: World, app: ProofMiddleware, of: dict[str, str], end: str = ""
) -> tuple[int, dict[str, str], bytes]:
    path = f"/.well-known/ori/calls/{of['x-ori-invoke-nonce']}{end}"
    sent = messages_of(app, scope_of(world.signer.headers("ada", path, b""), path), b"")
    return sent[0]["status"], {n.decode(): v.decode() for n, v in sent[0]["headers"]}, sent[1]["body"]


@pytest.mark.parametrize("how", ["one", "several"])
def test_an_answer_over_wsgi_is_proven(how: str) -> None:
    world, begun = World(), dict[str, str]()
    digest = "0" * 64
    recorder = world.verifier.answers.record("ada", "A" * 22, digest)  # type: ignore[union-attr]

    def app(environ: Any, start_response: Any) -> Any:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return PIECES[how]

    body = b"".join(recorded(app, {}, lambda status, headers: begun.update(headers), recorder))
    assert body == b"hello"
    assert begun[ANSWER_PROOF] == (proof_of(digest, 200, body) if how == "one" else KEY.x)
