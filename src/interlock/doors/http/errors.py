"""What went wrong -> a status, a code of the registry (1.9) and words for a person."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from interlock.core.codes import Refused
from interlock.doors.deciding import NO_STORE
from interlock.keys import EnrolError
from interlock.ports import StoreError
from interlock.service.people import SIGN_INS
from interlock.service.sessions import SignInRefused, TooManySignIns

STATUSES: Mapping[str, int] = MappingProxyType(
    {
        "CONFIRMATION_REQUIRED": 202,
        "PERMISSION_DENIED": 403,
        "PERMISSION_TRUST_LEVEL_INSUFFICIENT": 403,
        "PERMISSION_DANGER_LEVEL_DENIED": 403,
        "NOT_FOUND_RESOURCE": 404,
        "NOT_FOUND_OPERATION": 404,
        "TOKEN_INVALID": 404,
        "TOKEN_EXPIRED": 409,
        "TOKEN_ALREADY_USED": 409,
        "TOKEN_SCOPE_MISMATCH": 409,
        "RATE_LIMIT_EXCEEDED": 429,
        "RATE_LIMIT_QUOTA_PAUSE": 429,
        "RATE_LIMIT_QUOTA_EXHAUSTED": 429,
        "VALIDATION_PAYLOAD_TOO_LARGE": 413,
        "PLANNER_FAILED": 502,
        "PLANNER_TIMEOUT": 504,
        "PLANNER_NOT_CHOSEN": 409,
        "INTERNAL_ERROR": 500,
    }
)


class Problem(Exception):
    """A request that is answered with an error."""

    def __init__(
        self, code: str, words: str, status: int = 0, details: Mapping[str, Any] | None = None, **headers: str
    ) -> None:
        self.code, self.words = code, words
        self.status = status or STATUSES.get(code, 400)
        self.details = dict(details) if details else {}
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(words)

    @property
    def body(self) -> dict[str, Any]:
        """ERR-01: nothing beside the error."""
        error: dict[str, Any] = {"code": self.code, "message": self.words}
        if self.details:
            error["details"] = self.details
        return {"success": False, "error": error}

    @property
    def denial(self) -> dict[str, Any]:
        """The same as an answer to evaluate: an error is never a pass."""
        return {"allowed": False, "decision": "deny", "reason": f"Denied: {self.words}.", **self.body}


EXPECTED: tuple[type[Exception], ...] = (Problem, Refused, SignInRefused, EnrolError, StoreError)


def unauthenticated() -> Problem:
    words = "this needs an agent token (agt_…) or an operator's session (ses_…) as Authorization: Bearer"
    return Problem("PERMISSION_DENIED", words, 401, www_authenticate="Bearer")


def limited(limit: int, seconds: int, resets_at: str) -> Problem:
    """RL-01: how long to wait is always said."""
    details = {
        "limit": limit,
        "remaining": 0,
        "window": "minute",
        "resets_at": resets_at,
        "retry_after_seconds": seconds,
    }
    words = f"too many requests: {limit} a minute are allowed; try again in {seconds} s"
    return Problem("RATE_LIMIT_EXCEEDED", words, details=details, retry_after=str(seconds))


def problem_of(error: Exception) -> Problem | None:
    """The answer to what the service refused; None for what nobody expected."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, Refused):
        return Problem(error.code, str(error))
    if isinstance(error, SignInRefused):
        return _sign_in(error)
    if isinstance(error, EnrolError):
        return Problem("VALIDATION_INVALID_VALUE", str(error))
    if isinstance(error, StoreError):
        return Problem("INTERNAL_ERROR", NO_STORE, 503)
    return None


def _sign_in(error: SignInRefused) -> Problem:
    if isinstance(error, TooManySignIns):
        details = {"limit": SIGN_INS.most, "remaining": 0, "window": "minute", "retry_after_seconds": error.seconds}
        return Problem("RATE_LIMIT_EXCEEDED", str(error), details=details, retry_after=str(error.seconds))
    return Problem("PERMISSION_DENIED", str(error), 401, www_authenticate="Bearer")
