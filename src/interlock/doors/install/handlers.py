"""A settings file, read as its agent reads it -> the handlers in it that are ours, and for which event each is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from interlock.agents import Agent, Client, Place
from interlock.agents.claude_form import is_ours
from interlock.agents.contract import CLIENT
from interlock.agents.edit import json_or_empty
from interlock.agents.toml_edit import toml_read

_PLUGIN_CLIENT = re.compile(r'^const CLIENT = ("(?:[^"\\]|\\.)*")$', re.MULTILINE)
_RUN = re.compile(r"^exec (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Handler:
    """How one event reaches us; `how` is argv | shell | bash | url | script | plugin."""

    event: str
    how: str
    words: tuple[str, ...]  # the program and its arguments, or the one text that a shell, a client or a loader is given


def handlers(agent: Agent, place: Place, text: str) -> list[Handler]:
    """Every handler of ours, in the order of the file."""
    if place.form == "plugin":
        return [Handler("", "plugin", (str(place.path),))]
    if place.form == "script":
        return [Handler(place.path.name, "script", (str(place.path),))]
    data = toml_read(text) if place.form == "toml" else json_or_empty(text)
    return list(_found(data))


def client_of(agent: Agent, place: Place, text: str) -> Client | None:
    """The client that a file's hooks call; None where they call more than one, or none that could be ours."""
    try:
        found = set(_clients(place, text))
        path, url = found.pop()
        return None if found else Client(path or f"/{CLIENT}", url)
    except (ValueError, IndexError, KeyError):  # words that no shell takes, a path that is none, nothing at all
        return None


def _found(data: Any, keys: tuple[str, ...] = ()) -> Iterator[Handler]:
    if isinstance(data, list):
        for item in data:
            yield from _found(item, keys)
    elif isinstance(data, Mapping):
        if is_ours(data):
            yield _handler(data, keys)
            return
        for key, value in data.items():
            yield from _found(value, (*keys, str(key)))


def _handler(entry: Mapping[str, Any], keys: tuple[str, ...]) -> Handler:
    event = str(entry.get("trigger") or next((key for key in reversed(keys) if key != "hooks"), ""))
    if isinstance(url := entry.get("url"), str):
        return Handler(event, "url", (url,))
    if isinstance(line := entry.get("bash"), str):
        return Handler(event, "bash", (line,))
    action = entry.get("action")
    command = str((action if isinstance(action, Mapping) else entry).get("command", ""))
    if isinstance(words := entry.get("args"), list):
        return Handler(event, "argv", (command, *map(str, words)))
    return Handler(event, "shell", (command,))


def _clients(place: Place, text: str) -> Iterator[tuple[str, str]]:
    import json

    if place.form == "plugin":
        yield from ((json.loads(found), "") for found in _PLUGIN_CLIENT.findall(text))
        return
    if place.form == "script":
        yield from ((shlex.split(found)[0], "") for found in _RUN.findall(text))
        return
    data = toml_read(text) if place.form == "toml" else json_or_empty(text)
    for handler in _found(data):
        if handler.how == "url":
            parts = urlsplit(handler.words[0])
            yield "", f"{parts.scheme}://{parts.netloc}"
        elif handler.how == "argv":
            yield handler.words[0], ""
        else:
            yield shlex.split(handler.words[0])[0], ""


def event_of(handler: Handler) -> str:
    """The event, also of an address."""
    if handler.how == "url":
        return (parse_qs(urlsplit(handler.words[0]).query).get("event") or [handler.event])[0]
    return handler.event
