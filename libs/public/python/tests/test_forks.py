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


class Clock:
    """Of this process."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


class Worker:
    """A child that does its work at the times that it is told."""

    def __init__(self, work: Callable[[], str]) -> None:
        (asked, self._ask), (self._said, say) = os.pipe(), os.pipe()
        if (pid := os.fork()) == 0:
            while time := os.read(asked, 4):
                CLOCK.now = float(time)
                os.write(say, work().encode())
            os._exit(0)
        self._pid = pid

    def at(self, time: int) -> str:
        os.write(self._ask, b"%d" % time)
        return os.read(self._said, 1000).decode()

    def kill(self) -> None:
        os.kill(self._pid, 9)
        os.waitpid(self._pid, 0)


def verifier_of(signer: TestSigner, store: MemoryStore, *, answers: bool = False) -> Verifier:
    return Verifier(signer.intern_id, LocalKeys(signer.jwks()), store, answers=answers, now=CLOCK)


def test_of_two_workers_only_one_accepts_and_its_follower_nothing_that_it_could_have() -> None:
    store, signers = MemoryStore(now=CLOCK), (TestSigner("int_siblings"), TestSigner("int_siblings_2"))
    verifiers = [verifier_of(signer, store) for signer in signers]

    def calls(time: int) -> list[tuple[Verifier, dict[str, str]]]:
        headers = [signer.headers("ada", "/", b"", timestamp=time) for signer in signers]
        return list(zip(verifiers, headers, strict=True))

    early = calls(1100)

    def present(order: int) -> str:
        return " ".join(code_of(*call) for call in (early + calls(int(CLOCK())))[::order])

    elder, younger = Worker(lambda: present(1)), Worker(lambda: present(-1))
    # The first call begins what it remembers.
    assert elder.at(1090) == "proof_not_yet_valid proof_not_yet_valid proof_before_fence proof_before_fence"
    assert elder.at(1100) == "ada ada ada ada"
    assert younger.at(1100) == " ".join(["replay_store_unsafe"] * 4)
    elder.kill()
    assert younger.at(1101) == " ".join(["proof_before_fence"] * 4)
    assert younger.at(1110) == "ada ada proof_before_fence proof_before_fence"
    younger.kill()


def test_a_worker_beside_another_does_not_say_what_became_of_a_call() -> None:
    signer = TestSigner("int_asked")
    verifier = verifier_of(signer, MemoryStore(now=CLOCK), answers=True)
    nonce = "A" * 22

    def ask() -> str:
        assert verifier.answers is not None
        question = verifier.answers.question("ada", f"/.well-known/ori/calls/{nonce}", int(CLOCK()), CLOCK())
        assert question is not None
        try:
            return str(verifier.answers.ask(question).status)
        except Refused as refused:
            return refused.code

    def call() -> str:
        return code_of(verifier, signer.headers("ada", "/", b"", timestamp=int(CLOCK()), nonce=nonce))

    elder, younger = Worker(call), Worker(ask)
    assert (elder.at(1090), elder.at(1100)) == ("proof_before_fence", "ada")
    assert younger.at(1500) == "replay_store_unsafe"
    elder.kill()
    assert younger.at(1500) == "410"
    younger.kill()


def test_a_worker_that_starts_before_another_has_ended_is_told_and_waits(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ori_proof.memory.is_worker", lambda: True)
    signer = TestSigner("int_reloaded")
    made: list[Verifier] = []

    def serve() -> str:
        made.extend([] if made else [verifier_of(signer, MemoryStore(now=CLOCK))])
        is_told = " told" if SEVERAL in caplog.text else ""
        return code_of(made[0], signer.headers("ada", "/", b"", timestamp=int(CLOCK()))) + is_told

    elder, younger = Worker(serve), Worker(serve)
    assert (elder.at(1000), elder.at(1010)) == ("proof_before_fence", "ada")
    assert younger.at(1020) == "replay_store_unsafe told"
    elder.kill()
    assert (younger.at(1020), younger.at(1030)) == ("proof_before_fence told", "ada told")
    younger.kill()


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
