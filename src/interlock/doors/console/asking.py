"""What our own scripts send and get: JSON, with words for a person where something was refused."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from interlock.core.codes import Refused
from interlock.doors.console.visit import Data, Invalid, NotHere, Visit
from interlock.keys.passkeys import PasskeyRefused
from interlock.service.sessions import SignInRefused, TooManySignIns
from interlock.service.totp import Busy

MOST = 2_000  # characters of a field
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (TooManySignIns, 429),
    (Busy, 503),
    (SignInRefused, 401),
    (PasskeyRefused, 403),
    (Refused, 403),
    (Invalid, 422),
    (NotHere, 404),
)


def data(work: Callable[[Visit], Mapping[str, Any]]) -> Callable[[Visit], Data]:
    """A handler that answers in JSON, also where it refuses."""

    @functools.wraps(work)
    def handler(visit: Visit) -> Data:
        try:
            return Data(work(visit))
        except tuple(kind for kind, _ in _STATUS) as error:
            status = next(status for kind, status in _STATUS if isinstance(error, kind))
            return Data({"error": str(error)}, status)

    return handler


def text(visit: Visit, name: str, needed: bool = True) -> str:
    """A field of a form or of a JSON body."""
    value = visit.form.get(name, "")
    if (needed and not value) or len(value) > MOST:
        raise Invalid(f"{name} is {'missing' if not value else 'too long'}")
    return value


def dictionary(visit: Visit, name: str) -> Mapping[str, Any]:
    """A table of a JSON body, such as a passkey's answer."""
    value = visit.json.get(name) if isinstance(visit.json, dict) else None
    if not isinstance(value, dict):
        raise Invalid(f"{name} is missing")
    return value
