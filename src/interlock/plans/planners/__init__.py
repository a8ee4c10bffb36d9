"""Planners: the folder is the registry, `use` names a file here. Asks a model's server for JSON, bounded in time and size."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from msgspec import Struct

from interlock.config.plans import PlannerSettings
from interlock.model import Confidential
from interlock.ports import Planner, PlannerError, PlannerReply, PlannerTimeout

MOST_BYTES = 256 * 1024
_CONNECT = 3.0  # seconds; a server that is there takes a connection at once
_REFUSED = ": the key was refused"
_WHY = {401: _REFUSED, 403: _REFUSED, 404: ": it does not know the model, or the path is wrong"}
SYSTEM = Path(__file__).with_name("prompt.md").read_text("utf-8").rstrip("\n")


class PlannerNotConnected(PlannerError):
    """Nobody listens where the planner is configured to be."""


def known() -> list[str]:
    return sorted(module.name for module in iter_modules(__path__))


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    """`auto` is Ollama, with the mock planner behind it while nobody listens there."""
    if settings.use not in known():
        raise PlannerError(f"no planner {settings.use!r}; known: {', '.join(known())}")
    planner: Planner = import_module(f"interlock.plans.planners.{settings.use}").open_planner(settings, environ)
    return planner


class ChatPlanner(Confidential, Struct, frozen=True):
    """A model behind an endpoint for chats; it calls nothing, and tool calls in its answer are ignored."""

    HIDDEN = ("key",)

    name: str
    url: str
    model: str
    seconds: float
    more: Mapping[str, Any]  # of the request
    content: tuple[str | int, ...]  # the way to the text in the answer
    key: str = ""

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        known = "\n".join(f"{key}: {value}" for key, value in context.items())
        user = {"role": "user", "content": f"{known}\n\nRequest: {intent}"}
        request = {"model": self.model, "messages": [{"role": "system", "content": SYSTEM}, user], **self.more}
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        found = post(self.name, self.url, request, self.seconds, headers)
        try:
            for step in self.content:
                found = found[step]
        except (LookupError, TypeError):
            raise PlannerError(f"{self.name} gave no plan: there is no message in its answer, and so no text") from None
        return PlannerReply(parse_reply(self.name, found), self.name)


def post(name: str, url: str, body: Mapping[str, Any], seconds: float, headers: Mapping[str, str]) -> Any:
    """Raises PlannerError with a message for a person, without the server's text."""
    import httpx

    until = time.monotonic() + seconds
    timeout = httpx.Timeout(seconds, connect=min(_CONNECT, seconds))
    try:
        with (
            httpx.Client(timeout=timeout, follow_redirects=False, trust_env=False) as client,
            client.stream("POST", url, json=dict(body), headers=dict(headers)) as answer,
        ):
            if answer.status_code != 200:
                why = _WHY.get(answer.status_code, "")
                raise PlannerError(f"{name} answered with status {answer.status_code}{why}")
            data = b""
            for part in answer.iter_bytes():
                data += part
                if len(data) > MOST_BYTES:
                    raise PlannerError(f"{name} answered with more than {MOST_BYTES // 1024} KB")
                if time.monotonic() > until:
                    raise PlannerTimeout(f"{name} did not finish its answer in time")
    except (httpx.ConnectError, httpx.ConnectTimeout):
        raise PlannerNotConnected(f"{name} is not connected: nobody answers at {url}") from None
    except httpx.TimeoutException:
        raise PlannerTimeout(f"{name} did not answer within {seconds:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise PlannerError(f"{name} broke off ({type(error).__name__})") from None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise PlannerError(f"{name} answered with something that is no JSON") from None


def parse_reply(name: str, content: object) -> Mapping[str, Any]:
    """The JSON object with a command, whatever surrounds it."""
    if not isinstance(content, str) or not content.strip():
        raise PlannerError(f"{name} gave no plan: its answer has no text")
    for brace in islice(re.finditer(r"\{", content), 20):
        try:
            found, _ = json.JSONDecoder().raw_decode(content, brace.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and "command" in found:
            return found
    raise PlannerError(f"{name} gave no plan: its answer is no JSON object with a command")
