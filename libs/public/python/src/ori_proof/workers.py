"""Whether a server runs other processes beside this one, which would each accept the same proof."""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
import os
import tempfile

LOG = logging.getLogger("ori_proof")
SEVERAL = (
    "MemoryStore: another worker of this server has one, and each would accept the same proof once: "
    "use RedisStore or PostgresStore, or one worker"
)


def is_worker() -> bool:
    """Whether a server started this process: uvicorn, Hypercorn and Granian do with multiprocessing, gunicorn forks."""
    is_of_gunicorn = os.environ.get("SERVER_SOFTWARE", "").startswith("gunicorn/")
    return is_of_gunicorn or multiprocessing.parent_process() is not None


class _Locks:
    """Locks of one file, by place: they end with their process, are not inherited by a fork, and leave no files."""

    file: int | None = None

    @classmethod
    def claim(cls, place: int) -> bool:
        import fcntl

        if cls.file is None:
            path = os.path.join(tempfile.gettempdir(), f"ori-proof-workers-{os.getuid()}")
            # Never closed: that would release the locks of this process.
            cls.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(cls.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            return True
        except (BlockingIOError, PermissionError):
            return False


def is_alone(intern_id: str) -> bool:
    """Whether no other child of the same parent has said so for this intern. True for as long as this process lives."""
    named = hashlib.sha256(f"{os.getppid()} {intern_id}".encode()).digest()
    try:
        return _Locks.claim(int.from_bytes(named[:4], "big"))
    except (OSError, ImportError) as error:
        # On Windows there is no fcntl.
        LOG.warning("MemoryStore: cannot tell whether this is the only worker: %s", error)
        return True
