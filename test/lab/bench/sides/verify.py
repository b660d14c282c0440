"""CPU of a verification by ori_proof, of a raw Ed25519 verification, and of SHA-256, in turn: verify.py BYTES COUNT"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "libs/public/python/src"))

from ori_proof.testing import TestSigner

size, count = int(sys.argv[1]), int(sys.argv[2])
signer, body = TestSigner(), b"x" * size
verifier, public = signer.verifier(), signer.key.public_key()
message = b"m" * 200
signature = signer.key.sign(message)
lines = [signer.headers("user_1", "/api/invoke", body) for _ in range(count)]
requests = [[(name.lower().encode(), value.encode()) for name, value in each.items()] for each in lines]
ours = raw = digest = 0
for headers in requests:
    begun = time.thread_time_ns()
    proof = verifier.begin_raw("POST", b"/api/invoke", headers)
    proof.update(body)
    proof.finish()
    done = time.thread_time_ns()
    public.verify(signature, message)
    verified = time.thread_time_ns()
    hashlib.sha256(body).hexdigest()
    ours, raw, digest = ours + done - begun, raw + verified - done, digest + time.thread_time_ns() - verified
print(json.dumps([each / count / 1000 for each in (ours, raw, digest)]))
