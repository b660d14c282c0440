"""Refusals (SPEC.md, section 5)."""

from __future__ import annotations

import json

# Status and sentence of each code. They contain nothing of the request and reveal nothing about the daemon.
_SENTENCES = {
    "proof_missing": (401, "A proof header is missing. Send all headers that the signer returned."),
    "proof_malformed": (401, "The proof headers are malformed or incomplete."),
    "proof_version_not_accepted": (401, "A version 2 proof is required."),
    "request_not_coverable": (
        401,
        "A proof cannot cover this method, path, query, media type or content coding.",
    ),
    "proof_expired": (401, "The proof is too old."),
    "proof_not_yet_valid": (401, "The timestamp of the proof is in the future."),
    "key_unknown": (401, "No published key is valid at the time of this proof."),
    "signature_invalid": (401, "The proof is not for this request."),
    "nonce_replayed": (401, "The proof was used before."),
    "nonce_not_issued": (401, "The nonce of the proof was not issued."),
    "proof_before_fence": (
        401,
        "The proof was issued before the replay store was ready. Sign again after the time in Retry-After.",
    ),
    "answers_not_kept": (404, "This daemon keeps no answers. The call may have been carried out."),
    "body_incomplete": (400, "The body is incomplete."),
    "body_too_large": (413, "The body is too large."),
    "keys_unavailable": (503, "The proof cannot be verified now: no keys."),
    "replay_store_unavailable": (503, "The proof cannot be verified now: the replay store does not answer."),
    "replay_store_unsafe": (503, "The proof cannot be verified now: the replay store is not in a safe state."),
    "replay_store_full": (503, "The proof cannot be verified now: the replay store is full."),
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
