"""What the adapters for ASGI and WSGI have in common."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any

from .answers import QUESTION_PATH
from .diagnosis import diagnosis_of
from .refused import Refused
from .store import Question
from .verifier import Proven, Verifier

BODY_BYTES_MAX = 1_000_000
#: Where the scope or the environment has the Proven of this request, and the Verifier that judged it.
PROVEN, JUDGE = "ori_proof.proven", "ori_proof.verifier"
READ_BEFORE = (
    "the body was read before its proof was judged: a route that depends on a proof takes no body parameter, "
    "nothing before it reads the body, and Proven.body has it"
)
QUESTIONS = QUESTION_PATH.encode()


class Guard:
    """The options of a ProofMiddleware."""

    def __init__(
        self, verifier: Verifier, body_bytes_max: int, paths: Collection[str] | None = None, diagnose: bool = False
    ) -> None:
        if not isinstance(verifier, Verifier):
            raise TypeError("expected the Verifier")
        self.verifier, self.body_bytes_max, self.diagnose = verifier, body_bytes_max, diagnose
        self._paths = None if paths is None else [merged(path.encode()) for path in paths]

    def covers(self, target: bytes, mount: bytes, path: bytes) -> bool:
        """`path` is what an application at `mount` finds its handler by: an escape in the target would lead past it."""
        if self._paths is None or target.startswith(QUESTIONS):
            return True
        # Whoever deploys it chooses the mount, or a part of it.
        whole = mount + path.removeprefix(mount)
        ways = [whole[at:] for at in range(len(mount) + 1) if at == len(mount) or whole[at : at + 1] == b"/"]
        # Flask takes a path with a slash more, or without the first, for the same.
        asked = [merged(b"/" + way) for way in (target.partition(b"?")[0], *ways)]
        return any(a.startswith(p) if p.endswith(b"/") else a.rstrip(b"/") == p for a in asked for p in self._paths)


def merged(path: bytes) -> bytes:
    return re.sub(rb"/+", b"/", path)


class Arrival:
    """A request while it is judged."""

    def __init__(self, verifier: Verifier, method: str, target: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        self.verifier, self._head = verifier, (method, target, headers)
        self.body: bytes | None = None

    @contextmanager
    def judged(self, diagnose: bool) -> Iterator[None]:
        """Adds what arrived to a refusal."""
        try:
            yield
        except Refused as refused:
            if diagnose:
                refused.diagnosis = diagnosis_of(*self._head, self.body)
            raise

    @contextmanager
    def read(self) -> Iterator[None]:
        """Reports a refusal of the body, which no verifier sees."""
        try:
            yield
        except Refused as refused:
            self.verifier.report(refused, *self._head)
            raise


def set_proven(place: MutableMapping[str, Any], verifier: Verifier, proven: Proven) -> None:
    place[PROVEN], place[JUDGE] = proven, verifier


def proven_in(place: Mapping[str, Any], verifier: Verifier) -> Proven | None:
    """What this verifier found of the request before. Raises RuntimeError if another did, perhaps of another intern."""
    proven: Proven | None = place.get(PROVEN)
    if proven is not None and place.get(JUDGE) is not verifier:
        raise RuntimeError("another Verifier judged this request: give the middleware and the route the same one")
    return proven


def length_of(stated: str, body_bytes_max: int) -> int:
    """The value of a Content-Length. Raises Refused."""
    if not re.fullmatch("[0-9]{1,18}", stated):
        raise Refused("body_incomplete", "an invalid Content-Length")
    require_size(int(stated), body_bytes_max)
    return int(stated)


def require_size(size: int, body_bytes_max: int) -> None:
    if size > body_bytes_max:
        raise Refused("body_too_large", f"more than {body_bytes_max} bytes")


def question_of(verifier: Verifier, proven: Proven) -> Question | None:
    """None for an ordinary call."""
    if verifier.answers is None:
        return None
    proof = proven.proof
    return verifier.answers.question(proof.user, proof.path, proof.issued_at, verifier.now(), proof.digest)
