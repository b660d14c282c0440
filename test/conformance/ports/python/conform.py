"""The verifier behind the conformance protocol: one command and one answer per line (test/conformance/README.md)."""

from __future__ import annotations

import base64
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from oriproof import LocalKeys, MemoryStore, OpenProof, Refused, RootedSet, Verifier, read_key_set

Command = dict[str, Any]

NAMES = {
    "internId": "intern_id",
    "maxAgeSeconds": "max_age",
    "clockToleranceSeconds": "tolerance",
    "acceptV1": "accept_v1",
    "contentType": "content_type",
}
clock = {"verifier": 0.0, "store": 0.0}
keys = LocalKeys([])
begun: dict[str, OpenProof] = {}
attached: list[Verifier] = []


class Store:
    """Wraps a memory store that can be replaced by an empty one."""

    def lose(self) -> None:
        self.store = MemoryStore(clock=lambda: clock["store"])
        for verifier in attached:
            self.store.attach(verifier)

    def attach(self, verifier: Verifier) -> None:
        attached.append(verifier)
        self.store.attach(verifier)

    def spend(self, verifier: Verifier, timestamp: int, nonce: str | None, v1_id: bytes) -> None:
        self.store.spend(verifier, timestamp, nonce, v1_id)


store = Store()
verifier: Verifier


def use(options: Command) -> None:
    global verifier
    given = {NAMES[name]: value for name, value in options.items()}
    verifier = Verifier(keys=keys, store=store, clock=lambda: clock["verifier"], **given)


def begin(request: Command) -> OpenProof:
    headers = request["rawHeaders"]
    return verifier.begin(request["method"], request["target"], list(zip(headers[::2], headers[1::2])))


def finish(proof: OpenProof, body: str) -> Command:
    proof.update(base64.b64decode(body))
    return {"verdict": "ok", "proof": proof.finish()}


def present(request: Command) -> Command:
    try:
        return finish(begin(request), request["bodyBase64"])
    except Refused as refused:
        return answer_to(refused)


def answer_to(refused: Refused) -> Command:
    waits = {} if refused.retry_after is None else {"retryAfterSeconds": refused.retry_after}
    return {"verdict": refused.code, **waits}


def judge(rooted: RootedSet, answer: Command) -> tuple[str, float | None]:
    body = answer.get("bodyBase64")
    try:
        _, until = rooted.judge(
            None if body is None else base64.b64decode(body), answer.get("statement"), answer["now"]
        )
        return "ok", until
    except ValueError as refused:
        return str(refused), None


def answer(command: Command) -> Command:
    do = command["do"]
    if do == "rooted":
        rooted = RootedSet(command["url"], command["roots"])
        verdicts, untils = zip(*[judge(rooted, each) for each in command["answers"]])
        return {"verdict": "done", "verdicts": verdicts, "untils": untils}
    if do == "hello":
        return {"verdict": "ready", "name": "Python port", "features": ["store-clock"]}
    now: Any = command.get("now", command.get("storeSince"))
    if now is not None:
        clock.update(verifier=now, store=command.get("storeNow", now))
    if do == "start":
        attached.clear()
        begun.clear()
        store.lose()
    if do in ("start", "keys"):
        keys.keys = read_key_set(command["jwks"])
    if do in ("start", "verifier"):
        use(command["verifier"])
    if do == "restart":
        store.lose()
    if do == "present":
        return present(command)
    if do == "race":
        with ThreadPoolExecutor(16) as threads:
            return {"verdict": "done", "verdicts": list(threads.map(present, command["requests"]))}
    if do == "begin":
        begun[command["request"]] = begin(command)
    if do == "body":
        begun[command["request"]].update(base64.b64decode(command["bodyBase64"]))
    if do == "finish":
        return finish(begun.pop(command["request"]), command["bodyBase64"])
    return {"verdict": "continue" if do in ("begin", "body") else "done"}


for line in sys.stdin:
    try:
        said = answer(json.loads(line))
    except Refused as refused:
        said = answer_to(refused)
    except ValueError:
        said = {"verdict": "refused"}
    print(json.dumps(said), flush=True)
