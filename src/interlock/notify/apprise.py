"""Sends messages through Apprise (Slack, e-mail, SMS and more); its address is a secret."""

from __future__ import annotations

import contextlib
import io
import logging
import re
from collections.abc import Iterator

from interlock.notify import Message
from interlock.ports import Undelivered

MISSING = "the extra is missing: pip install 'interlock[notify]'"
_TALKATIVE = ("apprise", "requests", "urllib3")  # their lines repeat addresses
_STATUS = re.compile(r"\berror=(\d{3})\b")


class Apprise:
    """One Apprise address; its log output is discarded, as it may repeat the address."""

    def __init__(self, url: str) -> None:
        try:
            import apprise
        except ImportError:
            raise ValueError(MISSING) from None
        for name in _TALKATIVE:
            logging.getLogger(name).propagate = False
        asset = apprise.AppriseAsset(
            app_id="Interlock",
            app_desc="Interlock",
            app_url="",
            async_mode=False,
            http_redirects=False,
            secure_logging=True,
        )
        self._target = apprise.Apprise(asset=asset)
        with _captured_log():
            known = "\n" not in url and self._target.add(url)
        if not known or len(self._target) != 1:
            raise ValueError("Apprise does not know such an address")
        self._text = apprise.NotifyFormat.TEXT

    def send(self, message: Message) -> None:
        with _captured_log() as heard:
            try:
                taken = self._target.notify(body=message.text, title=message.title, body_format=self._text)
            except Exception as error:  # a plugin's; its message may contain the address
                raise Undelivered(f"Apprise failed: {type(error).__name__}") from None
        if not taken:
            status = _STATUS.search(heard.getvalue())
            raise Undelivered(f"Apprise could not deliver it{f': answered {status[1]}' if status else ''}")


@contextlib.contextmanager
def _captured_log() -> Iterator[io.StringIO]:
    heard = io.StringIO()
    handler, logger = logging.StreamHandler(heard), logging.getLogger(_TALKATIVE[0])
    logger.addHandler(handler)
    try:
        yield heard
    finally:
        logger.removeHandler(handler)
