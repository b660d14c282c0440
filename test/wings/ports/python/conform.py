"""The verifier behind the conformance protocol: one command and one answer per line (test/conformance/README.md)."""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[4] / "libs/public/python/src"))

from ori_proof import LocalKeys, MemoryStore, OpenProof, Refused, RootedSet, Verifier, read_key_set
from ori_proof.answers import Recorder
from ori_proof.store import Asked, Call, CallEnd, Policy, Question, Spend

Command = dict[str, Any]

NAMES = {
    "internId": "intern_id",
    "maxAgeSeconds": "max_age_seconds",
    "clockToleranceSeconds": "clock_tolerance_seconds",
    "acceptV1": "accept_v1",
    "contentType": "content_type",
    "answers": "answers",
}
FEATURES = ["store-clock", "interns", "store-limit", "answers"]
STORE_FILE = MemoryStore.spend.__code__.co_filename
clock = {"verifier": 0.0, "store": 0.0}
keys = LocalKeys({"keys": []})
begun: dict[str, OpenProof] = {}
attached: list[Policy] = []
# The calls that run, by nonce.
running: dict[str, Recorder] = {}


class Store:
    """Wraps a memory store that can be replaced by an empty one."""

    entries_max = 100_000

    def lose(self) -> None:
        self.store = MemoryStore(self.entries_max, now=lambda: clock["store"])
        for policy in attached:
            self.store.attach(policy)

    def attach(self, policy: Policy) -> None:
        attached.append(policy)
        self.store.attach(policy)

    def spend(self, spend: Spend) -> str:
        return self.store.spend(spend)

    def keep(self, call: Call, end: CallEnd) -> None:
        self.store.keep(call, end)

    def ask(self, question: Question) -> Asked:
        return self.store.ask(question)


store = Store()
verifier: Verifier


def use(options: Command) -> None:
    global verifier
    given = {NAMES[name]: value for name, value in options.items()}
    verifier = Verifier(keys=keys, store=store, now=lambda: clock["verifier"], **given)


def begin(request: Command) -> OpenProof:
    headers = request["rawHeaders"]
    return verifier.begin(request["method"], request["target"], list(zip(headers[::2], headers[1::2], strict=True)))


def finish(proof: OpenProof, body: str) -> Command:
    proof.update(base64.b64decode(body))
    accepted = proof.finish()
    if verifier.answers is not None and accepted.nonce is not None:
        question = verifier.answers.question(accepted.user, accepted.path, accepted.issued_at, clock["verifier"])
        if question is not None:
            return to_question(question)
        running[accepted.nonce] = verifier.answers.record(accepted.user, accepted.nonce)
    names: Command = {"user": accepted.user, "internId": accepted.intern_id, "version": accepted.version}
    names["issuedAt"] = accepted.issued_at
    return {"verdict": "ok", "proof": names if accepted.nonce is None else {**names, "nonce": accepted.nonce}}


def to_question(question: Question) -> Command:
    assert verifier.answers is not None
    status, headers, body = verifier.answers.ask(question)
    if "ori-answer" in headers:
        kept = {"status": status, "headers": headers, "bodyBase64": base64.b64encode(body).decode()}
        return {"verdict": "kept", "answer": kept}
    waits = {"retryAfterSeconds": int(headers["retry-after"])} if "retry-after" in headers else {}
    return {"verdict": json.loads(body)["error"]["code"], **waits}


def end(command: Command) -> Command:
    recorder, headers = running.pop(command["nonce"]), command["rawHeaders"]
    recorder.begin(command["status"], zip(headers[::2], headers[1::2], strict=True))
    recorder.add(base64.b64decode(command["bodyBase64"]))
    recorder.end()
    return {"verdict": "done"}


def present(request: Command) -> Command:
    try:
        return finish(begin(request), request["bodyBase64"])
    except Refused as refused:
        return answer_to(refused)


def race(requests: list[Command]) -> list[Command]:
    """In threads that begin together, and let the others run after each line of the store.

    Python would seldom interrupt a store between its look-up and its record.
    """
    together = threading.Barrier(len(requests))

    def begin_together(request: Command) -> Command:
        together.wait()
        return present(request)

    with ThreadPoolExecutor(len(requests), initializer=sys.settrace, initargs=(step_by_step,)) as threads:
        return list(threads.map(begin_together, requests))


def step_by_step(frame: FrameType, _event: str, _value: object) -> Any:
    if frame.f_code.co_filename != STORE_FILE:
        return None
    time.sleep(0)
    return step_by_step


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
        verdicts, untils = zip(*[judge(rooted, each) for each in command["answers"]], strict=True)
        return {"verdict": "done", "verdicts": verdicts, "untils": untils}
    if do == "hello":
        return {"verdict": "ready", "name": "ori-proof for Python", "features": FEATURES}
    now: Any = command.get("now", command.get("storeSince"))
    if now is not None:
        clock.update(verifier=now, store=command.get("storeNow", now))
    if do == "start":
        attached.clear()
        begun.clear()
        store.entries_max = command.get("storeEntriesMax", Store.entries_max)
        store.lose()
    if do in ("start", "keys"):
        keys.keys = read_key_set(command["jwks"])
    if do in ("start", "verifier"):
        use(command["verifier"])
    if do == "restart":
        store.lose()
    if do == "answer":
        return end(command)
    if do == "present":
        return present(command)
    if do == "race":
        return {"verdict": "done", "verdicts": race(command["requests"])}
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
