"""An event loop in a thread, where the connections of a store are: for callers in threads and in loops of their own."""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from .forks import after_fork

T = TypeVar("T")


class Background:
    def __init__(self, name: str) -> None:
        self._name = name
        self._selector: selectors.BaseSelector | None = None
        self._former: list[object] = []
        self._forget()
        after_fork(self, Background._forget)

    def _forget(self) -> None:
        # A child has a copy of the loop, and not its thread. Closing what is there would change the parent's selector.
        if self._selector is not None:
            self._selector.close()
            self._former.append(self._loop)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._selector = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._selector = selectors.DefaultSelector()
                self._loop = asyncio.SelectorEventLoop(self._selector)
                threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True).start()
            return self._loop

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Blocks this thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def join(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaits it in another loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self.loop)

    def stop(self) -> None:
        with self._lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop, self._selector = None, None
