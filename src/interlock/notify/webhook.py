"""Posts messages as signed, timestamped JSON to a configured address; redirects are not followed."""

from __future__ import annotations

import hashlib
import hmac
import json
import time

from interlock.config.channels import wrong_webhook
from interlock.notify import Message
from interlock.ports import Undelivered

SECONDS = 10.0  # for each part of a request
LEAST_SECRET = 16  # characters
_FAILURES = {"ConnectError": "nobody answers there", "RemoteProtocolError": "it hung up", "ReadError": "it hung up"}
_LATER = frozenset({408, 409, 423, 425, 429})  # the receiver may accept it later


class Webhook:
    def __init__(self, url: str, secret: str, seconds: float = SECONDS) -> None:
        if wrong := wrong_webhook(url):
            raise ValueError(wrong)
        if len(secret) < LEAST_SECRET:
            raise ValueError(f"the secret is too short: at least {LEAST_SECRET} characters")
        self._url, self._secret, self._seconds = url, secret.encode(), seconds

    def send(self, message: Message) -> None:
        import httpx

        body = json.dumps(message.wire, ensure_ascii=True, separators=(",", ":")).encode()
        stamp = str(int(time.time()))
        headers = {
            "content-type": "application/json",
            "user-agent": "interlock",
            "x-interlock-event": message.event,
            "x-interlock-timestamp": stamp,
            "x-interlock-signature": signature(self._secret, stamp, body),
        }
        try:
            with (
                httpx.Client(timeout=self._seconds, follow_redirects=False, trust_env=False) as client,
                client.stream("POST", self._url, content=body, headers=headers) as answer,
            ):
                status = answer.status_code  # the body is ignored: it may be endless
        except httpx.TimeoutException:
            raise Undelivered(f"no answer within {self._seconds:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            name = type(error).__name__
            raise Undelivered(_FAILURES.get(name, name)) from None
        if 300 <= status < 400:
            raise Undelivered(f"answered {status}: redirects are not followed", hopeless=True)
        if not 200 <= status < 300:
            raise Undelivered(f"answered {status}", hopeless=status < 500 and status not in _LATER)


def signature(secret: bytes, stamp: str, body: bytes) -> str:
    """`v1=` and the HMAC-SHA-256 over the time, a full stop and the body."""
    return "v1=" + hmac.new(secret, stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
