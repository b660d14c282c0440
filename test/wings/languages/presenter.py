"""A daemon without HTTP: presenter.py TASK. Judges each line of its input, a request, and says what became of it."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3] / "libs/public/python/src"))

from ori_proof import LocalKeys, Refused, Verifier
from ori_proof.shared_store import SharedStore

task = json.loads(sys.argv[1])
store: SharedStore
if task["store"].startswith("redis"):
    from ori_proof.redis import RedisStore

    options = {"mode": task["mode"], "replicas": task.get("replicas", 0), "timeout_ms": 1000}
    store = RedisStore(task["url"], **options, answers_key=bytes.fromhex(task["answersKey"]))
else:
    from ori_proof.postgres import PostgresStore

    driver, key = task["driver"], bytes.fromhex(task["answersKey"])
    store = PostgresStore(task["url"], replicas=0, driver=driver, timeout_ms=1000, answers_key=key)
verifier = Verifier(task["internId"], LocalKeys(task["jwks"]), store, answers=True)


def judge(line: str) -> dict[str, Any]:
    request = json.loads(line)
    names = request["rawHeaders"]
    try:
        proof = verifier.begin("POST", request["target"], zip(names[::2], names[1::2], strict=True)).finish()
        assert verifier.answers is not None
        question = verifier.answers.question(proof.user, proof.path, proof.issued_at, verifier.now())
        if question is not None:
            answer = verifier.answers.ask(question)
            return {"id": request["id"], "said": "answered", "status": answer.status, "body": answer.body.decode()}
        recorder = verifier.answers.record(proof.user, proof.nonce or "")
        recorder.begin(200, [("content-type", "text/plain")])
        recorder.add(f"python {proof.nonce} Ä".encode())
        recorder.end()
        return {"id": request["id"], "said": "accepted"}
    except Refused as refused:
        return {"id": request["id"], "said": refused.code}


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


say({"id": "ready"})
with ThreadPoolExecutor(16) as threads:
    for text in sys.stdin:
        threads.submit(lambda line: say(judge(line)), text)
