import os
import threading
from collections.abc import Callable

import pytest

from ori_proof import LocalKeys, MemoryStore, Refused, RemoteKeys, Verifier
from ori_proof.testing import TestSigner
from ori_proof.workers import SEVERAL


def in_child(work: Callable[[], bool]) -> bool:
    if (pid := os.fork()) == 0:
        os._exit(0 if work() else 7)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def code_of(verifier: Verifier, headers: dict[str, str]) -> str:
    try:
        return verifier.begin("POST", "/", headers.items()).finish().user
    except Refused as refused:
        return refused.code


def test_a_child_forgets_what_its_parent_may_have_accepted() -> None:
    signer = TestSigner("int_forked")
    verifier = Verifier("int_forked", LocalKeys(signer.jwks()), MemoryStore())
    headers = signer.headers("ada", "/", b"")
    assert in_child(lambda: code_of(verifier, headers) == "proof_before_fence")


def test_of_two_children_one_refuses_with_a_reason(caplog: pytest.LogCaptureFixture) -> None:
    signer = TestSigner("int_siblings")
    verifier = Verifier("int_siblings", LocalKeys(signer.jwks()), MemoryStore())
    headers = signer.headers("ada", "/", b"")
    read, write = os.pipe()
    if (elder := os.fork()) == 0:
        os.write(write, code_of(verifier, headers).encode())
        threading.Event().wait(20)
        os._exit(0)
    assert os.read(read, 100) == b"proof_before_fence"
    assert in_child(lambda: code_of(verifier, headers) == "replay_store_unsafe" and SEVERAL in caplog.text)
    os.kill(elder, 9)
    os.waitpid(elder, 0)
    assert in_child(lambda: code_of(verifier, headers) == "proof_before_fence")


def test_a_child_fetches_keys_although_a_thread_held_the_lock() -> None:
    keys = RemoteKeys("http://127.0.0.1:1/v1/interns/int_7Qm2/daemon/jwks.json")
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with keys._lock:
            held.set()
            go.wait(9)

    threading.Thread(target=hold, daemon=True).start()
    held.wait()

    def fetches() -> bool:
        done = threading.Event()

        def call() -> None:
            try:
                keys.current()
            except Refused:
                done.set()

        threading.Thread(target=call, daemon=True).start()
        return done.wait(6)

    assert in_child(fetches)
    go.set()
