"""What a fork breaks: it copies locks that other threads hold, and none of these threads."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TypeVar

Owner = TypeVar("Owner")


def after_fork(owner: Owner, repair: Callable[[Owner], None]) -> None:
    """Calls `repair` in each child, for as long as `owner` is used."""
    this = weakref.ref(owner)

    def forked() -> None:
        if (found := this()) is not None:
            repair(found)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forked)
