"""Fetched key sets (KEY-SETS.md, K14 to K20)."""

from __future__ import annotations

import asyncio
import logging
import math
import re
import threading
import time
import urllib.request
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from email.message import Message
from typing import Any

from .forks import after_fork
from .keys import Key, read_json, read_key_set
from .refused import Refused
from .rooted import RootedSet

LOG = logging.getLogger("ori_proof")
FETCH_SECONDS = 2
FRESH_SECONDS = 60
STALE_SECONDS = 600
COOL_DOWN_SECONDS = 10
BYTES_MAX = 65_536
LOCAL = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\])[:/]")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        return None


def direct_or_tls() -> urllib.request.OpenerDirector:
    """K14, K15: a proxy of the environment passes on only what it cannot read."""
    proxies = {scheme: url for scheme, url in urllib.request.getproxies().items() if scheme == "https"}
    return urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler(proxies))


def fresh_for(headers: Message) -> int:
    control = ", ".join(headers.get_all("Cache-Control", [])).lower()
    if re.search(r"\bno-(store|cache)\b", control):
        return COOL_DOWN_SECONDS
    max_age, age = re.search(r'(?:^|[ ,])max-age="?(\d{1,9})', control), headers.get("Age", "0")
    left = FRESH_SECONDS if max_age is None else int(max_age[1]) - (int(age) if re.fullmatch(r"\d{1,9}", age) else 0)
    return min(FRESH_SECONDS, max(COOL_DOWN_SECONDS, left))


class RemoteKeys:
    """Keys that are fetched over https, or http from this machine: fresh for 60 s, used for 600 s more while the URL
    fails, fetched at most every 10 s.

    With `roots`, public JWKs, only sets that a root vouches for are taken, for 60 s at most (ROOTED-KEY-SETS.md).
    Raises ValueError for an invalid URL or root.
    """

    def __init__(self, url: str, roots: Sequence[dict[str, Any]] = ()) -> None:
        if not (url.startswith("https://") or LOCAL.match(url)):
            raise ValueError("expected an https address")
        if not roots:
            LOG.warning("%s: no root is pinned, so anyone who can answer for it decides whose proofs are accepted", url)
        self.url = url
        self._rooted = RootedSet(url, roots) if roots else None
        self._closed = False
        self._keys: list[Key] = []
        # Monotonic seconds; `_until` is Unix seconds.
        self._fetched, self._fresh, self._ends, self._tried = -math.inf, 0, math.inf, -math.inf
        self._until = math.inf
        self._failed: Exception | None = None
        self._forget()
        after_fork(self, RemoteKeys._forget)

    def _forget(self) -> None:
        # A fork copies a lock that a thread holds, and not the thread.
        self._lock = threading.Lock()
        self._fetching: tuple[Future[None], float] | None = None

    def usable(self) -> list[Key] | None:
        """The keys, if nothing has to be fetched first. Renews them in time, so that no request waits for that."""
        now = time.monotonic()
        age = now - self._fetched
        if age >= self._fresh or now >= self._ends or time.time() >= self._until:
            return None
        if age >= self._fresh - COOL_DOWN_SECONDS and now >= self._tried + COOL_DOWN_SECONDS:
            self._fetch_soon(now)
        return self._keys

    def current(self, renew: bool = False) -> list[Key]:
        """The keys, after at most 2 s. Raises Refused `keys_unavailable`."""
        if (fetch := self._wanted(renew)) is not None:
            wait_for([fetch[0]], max(0, fetch[1]))
        return self._usable_or_stale()

    async def current_async(self, renew: bool = False) -> list[Key]:
        if (fetch := self._wanted(renew)) is not None:
            await asyncio.wait([asyncio.wrap_future(fetch[0])], timeout=max(0, fetch[1]))
        return self._usable_or_stale()

    def reload(self) -> None:
        """Fetches the keys now. Raises Refused `keys_unavailable` if that fails, with the reason as its cause."""
        now = time.monotonic()
        wait_for([self._fetch_soon(now)[0]], FETCH_SECONDS)
        if self._fetched < now:
            raise Refused("keys_unavailable", "the key set could not be fetched") from self._failed
        self._usable_or_stale()

    def close(self) -> None:
        """Stops using the URL, for good."""
        self._closed = True

    def _wanted(self, renew: bool) -> tuple[Future[None], float] | None:
        """The fetch to wait for, and for how many seconds."""
        now = time.monotonic()
        if self._closed or not (renew or self.usable() is None):
            return None
        if now >= self._tried + COOL_DOWN_SECONDS:
            self._fetch_soon(now)
        if (fetching := self._fetching) is None or fetching[0].done():
            return None
        return fetching[0], fetching[1] + FETCH_SECONDS - now

    def _usable_or_stale(self) -> list[Key]:
        now = time.monotonic()
        ends = min(self._fetched + self._fresh + STALE_SECONDS, self._ends)
        if self._closed or now >= ends or time.time() >= self._until:
            raise Refused("keys_unavailable", "no usable key set") from self._failed
        return self._keys

    def _fetch_soon(self, now: float) -> tuple[Future[None], float]:
        with self._lock:
            if self._fetching is None or self._fetching[0].done():
                self._fetching = (Future(), now)
                # The limit of urllib is for each read, so a server that sends byte by byte would hold every caller.
                threading.Thread(target=self._fetch, args=self._fetching, daemon=True).start()
            return self._fetching

    def _fetch(self, fetching: Future[None], now: float) -> None:
        try:
            with direct_or_tls().open(self.url, timeout=FETCH_SECONDS) as answer:
                text = b""
                while (
                    len(text) <= BYTES_MAX
                    and time.monotonic() < now + FETCH_SECONDS
                    and (piece := answer.read1(BYTES_MAX + 1))
                ):
                    text += piece
                if time.monotonic() >= now + FETCH_SECONDS:
                    raise TimeoutError(f"no whole answer in {FETCH_SECONDS} s")
                if answer.status != 200 or len(text) > BYTES_MAX:
                    raise ValueError(f"status {answer.status}, at least {len(text)} bytes")
            self._take(text, answer.headers, now)
        except Exception as error:
            self._failed = error
            LOG.warning("%s: the keys were not taken: %s", self.url, error)
        finally:
            self._tried = time.monotonic()
            fetching.set_result(None)

    def _take(self, text: bytes, headers: Message, now: float) -> None:
        if self._rooted is None:
            self._keys = read_key_set(read_json(text.decode("utf-8-sig")))
        else:
            wall, stated = int(time.time() * 1000), headers.get_all("x-ori-key-set")
            self._keys, until = self._rooted.judge(text, ", ".join(stated) if stated else None, wall)
            self._ends, self._until = now + (until - wall) / 1000, until / 1000
        if not self._keys:
            LOG.warning("%s: the set has no usable key: check the intern id in its address", self.url)
        self._fresh, self._fetched = fresh_for(headers), now
