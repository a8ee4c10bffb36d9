"""Turns errors into an HTTP status, a code of the registry (1.9) and a message for a person."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from interlock.engine.evaluate import NO_STORE
from interlock.error_codes import AnswerRefused
from interlock.identity.keys.passphrases import EnrolError
from interlock.identity.operators import SIGN_INS
from interlock.identity.sessions import SignInRefused, TooManySignIns
from interlock.journal import JournalError
from interlock.ports import StoreError
from interlock.runtime.state import State

LOG = logging.getLogger("interlock")

_CODES = {
    202: "CONFIRMATION_REQUIRED",
    403: "PERMISSION_DENIED PERMISSION_TRUST_LEVEL_INSUFFICIENT PERMISSION_DANGER_LEVEL_DENIED",
    404: "NOT_FOUND_RESOURCE NOT_FOUND_OPERATION TOKEN_INVALID",
    409: "TOKEN_EXPIRED TOKEN_ALREADY_USED TOKEN_SCOPE_MISMATCH PLANNER_NOT_CHOSEN",
    413: "VALIDATION_PAYLOAD_TOO_LARGE",
    429: "RATE_LIMIT_EXCEEDED RATE_LIMIT_QUOTA_PAUSE RATE_LIMIT_QUOTA_EXHAUSTED",
    500: "INTERNAL_ERROR",
    502: "PLANNER_FAILED",
    504: "PLANNER_TIMEOUT",
}
STATUSES = {code: status for status, codes in _CODES.items() for code in codes.split()}


class HttpProblem(Exception):
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
        """ERR-01: the error and nothing else."""
        error: dict[str, Any] = {"code": self.code, "message": self.words}
        if self.details:
            error["details"] = self.details
        return {"success": False, "error": error}

    @property
    def denial(self) -> dict[str, Any]:
        return {"allowed": False, "decision": "deny", "reason": f"Denied: {self.words}.", **self.body}


def permission_denied(words: str) -> HttpProblem:
    return HttpProblem("PERMISSION_DENIED", words)


def invalid_value(words: str) -> HttpProblem:
    return HttpProblem("VALIDATION_INVALID_VALUE", words)


def invalid_type(words: str) -> HttpProblem:
    return HttpProblem("VALIDATION_INVALID_TYPE", words)


def missing_param(name: str) -> HttpProblem:
    return HttpProblem("VALIDATION_MISSING_PARAM", f"missing required parameter {name!r}", details={"param_name": name})


def too_large(words: str, what: str, limit: int, unit: str, actual: int | None = None, **headers: Any) -> HttpProblem:
    details = {"limit_type": what, "limit_value": limit, "unit": unit}
    details |= {"actual_value": actual} if actual is not None else {}
    return HttpProblem("VALIDATION_PAYLOAD_TOO_LARGE", words, details=details, **headers)


def unknown_param(given: Iterable[str], known: Collection[str]) -> HttpProblem:
    unknown = sorted(set(given) - set(known))
    details = {"unknown_params": unknown[:10], "valid_params": sorted(known)}
    near = get_close_matches(unknown[0][:60], known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return HttpProblem("VALIDATION_UNKNOWN_PARAM", f"unknown parameter {unknown[0]!r:.80}{hint}", details=details)


NO_CREDENTIAL = "this needs an agent token (agt_…) or an operator's session (ses_…) as Authorization: Bearer"


def unauthenticated(words: str = NO_CREDENTIAL) -> HttpProblem:
    return HttpProblem("PERMISSION_DENIED", words, 401, www_authenticate="Bearer")


def rate_limited(words: str, seconds: int, limit: int = 0, **more: str) -> HttpProblem:
    """RL-01: always names the time to wait; `limit` is of each minute."""
    details: dict[str, Any] = {"limit": limit, "remaining": 0, "window": "minute"} if limit else {}
    details |= {**more, "retry_after_seconds": seconds}
    return HttpProblem("RATE_LIMIT_EXCEEDED", words, details=details, retry_after=str(seconds))


def reported_problem(state: State, error: Exception, where: str) -> HttpProblem:
    """The operators' status names a failure, whose details may name files."""
    if isinstance(error, StoreError):
        state.trouble(f"the store cannot be used: {error}", "store")
    for kind, problem_of in EXPECTED.items():
        if isinstance(error, kind):
            return problem_of(error)
    LOG.error("an error that nobody expected", exc_info=error)
    state.trouble(f"{where}: {type(error).__name__}")
    return HttpProblem("INTERNAL_ERROR", "something went wrong here; the daemon's log says more")


EXPECTED: Mapping[type[Exception], Callable[[Any], HttpProblem]] = {
    HttpProblem: lambda error: error,
    AnswerRefused: lambda error: HttpProblem(error.code, str(error)),
    TooManySignIns: lambda error: rate_limited(str(error), error.seconds, SIGN_INS.most),
    SignInRefused: lambda error: unauthenticated(str(error)),
    EnrolError: lambda error: invalid_value(str(error)),
    JournalError: lambda error: HttpProblem("NOT_FOUND_RESOURCE", str(error)),
    StoreError: lambda _: HttpProblem("INTERNAL_ERROR", NO_STORE, 503),
}  # the narrower errors first
