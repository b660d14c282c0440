"""Refusals (SPEC.md, section 5)."""

from __future__ import annotations

import json

from .shared import SHARED

# Status and sentence of each code. They contain nothing of the request and reveal nothing about the daemon.
_SENTENCES: dict[str, tuple[int, str]] = {
    code: (said["status"], said["message"]) for code, said in SHARED["refusals"].items()
}

STATUSES = {code: status for code, (status, _) in _SENTENCES.items()}


class Refused(Exception):
    """The proof is not accepted. `code` is one of SPEC.md, section 5; `str()` is the reason for the operator."""

    def __init__(self, code: str, why: str = "", retry_after: int | None = None) -> None:
        super().__init__(f"{code}: {why}" if why else code)
        self.code, self.why, self.retry_after = code, why, retry_after
        self.status, self.message = _SENTENCES[code]
        #: What arrived, for the sender to compare; set by `diagnose=True`.
        self.diagnosis: dict[str, object] | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Of the answer, in lower case."""
        headers = {"content-type": "application/json", "cache-control": "no-store"}
        if self.status == 401:
            headers["www-authenticate"] = "Ori-Proof"
        if self.retry_after is not None:
            headers["retry-after"] = str(self.retry_after)
        return headers

    @property
    def body(self) -> bytes:
        """Of the answer: JSON."""
        error: dict[str, object] = {"code": self.code, "message": self.message}
        if self.diagnosis is not None and self.status == 401:
            error["diagnosis"] = self.diagnosis
        return json.dumps({"error": error}).encode()
