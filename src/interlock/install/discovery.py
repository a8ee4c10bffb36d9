"""Finds the agents on this machine, the files that have our hooks, and the handlers in each file."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from interlock.agents import CLIENT, SCOPES, AgentDialect, HookClient, HookFile, agent, words
from interlock.agents.hook_files import is_ours, json_or_empty
from interlock.agents.jsonc import EditError
from interlock.agents.toml_edit import parse_toml
from interlock.config import Config
from interlock.install.files import FileProblem, digest, find_registered, read_state, registered_files

_SHARED = frozenset({".config", ".codeium", ".gemini", "Documents"})  # folders in the home that several agents use


class HookedFile(Struct, frozen=True):
    """Or an unreadable one that had hooks of ours."""

    agent: AgentDialect
    scope: str
    project: Path
    place: HookFile
    text: str = ""
    problem: str = ""

    def state(self, config: Config) -> str:
        if self.problem:
            return "broken"
        entry = find_registered(config, self.place.path)
        if entry is None and self.scope == "system":  # root's register is readable by root only
            return "installed"
        return "installed" if entry and digest(self.text.encode()) == entry.written else "edited"

    def is_hooked(self, text: str) -> bool:
        return bool(text.strip("\ufeff \t\r\n")) and self.agent.removed(self.place, text) != text

    @property
    def handlers(self) -> list[Handler]:
        place = self.place
        if place.form in ("plugin", "script"):
            return [Handler("" if place.form == "plugin" else place.path.name, place.form, (str(place.path),))]
        return list(_find_handlers(_parse(place, self.text)))

    @property
    def client(self) -> HookClient | None:
        """None where the hooks run several, or none of ours."""
        try:
            if self.place.form == "plugin":
                found = {(json.loads(one), "") for one in _PLUGIN_CLIENT.findall(self.text)}
            elif self.place.form == "script":
                found = {(shlex.split(one)[0], "") for one in _RUN.findall(self.text)}
            else:
                found = {one.client for one in self.handlers}
            path, url = found.pop()
            return None if found else HookClient(path or f"/{CLIENT}", url)
        except (ValueError, IndexError, KeyError):  # unparsable shell text, a malformed path, or nothing
            return None


def agents_on_machine(home: Path) -> list[tuple[AgentDialect, str]]:
    return [(agent(word), sign) for word in words() if (sign := _sign(agent(word), home))]


def hooked_files(config: Config, home: Path, project: Path) -> list[HookedFile]:
    """In the settings of this user, project and machine, or in the register."""
    wrote = {Path(entry.path) for entry in registered_files(config)}
    found: dict[Path, HookedFile] = {}
    for one in _places(config, home, project):
        if one.place.path not in found and (seen := _read_hooked(one, one.place.path in wrote)):
            found[one.place.path] = seen
    return list(found.values())


def _places(config: Config, home: Path, project: Path) -> Iterator[HookedFile]:
    scopes = [scope for scope in SCOPES if project != home or scope != "project"]  # at home, the user's files are those
    for word in words():
        for scope in scopes:
            yield from files_of([agent(word)], scope, home, project)
    for entry in registered_files(config):
        if entry.agent in words():
            files = files_of([agent(entry.agent)], entry.scope, home, Path(entry.project))
            yield from (one for one in files if str(one.place.path) == entry.path)


def files_of(agents: Iterable[AgentDialect], scope: str, home: Path, project: Path) -> list[HookedFile]:
    places = ((agent, place) for agent in agents for place in agent.places(scope, home, project))
    return [HookedFile(agent, scope, project, place) for agent, place in places]


def message_of(error: Exception, path: Path) -> str:
    words = str(error)
    return words if words.startswith(str(path)) else f"{path}: {words}"


def _read_hooked(one: HookedFile, wrote: bool) -> HookedFile | None:
    path = one.place.path
    try:
        text = read_state(path).text
        if text is not None and one.is_hooked(text):
            return replace(one, text=text)
        problem = f"{path}: the hooks that were installed here are gone"
    except (FileProblem, EditError) as error:
        problem = message_of(error, path)
    return replace(one, problem=problem) if wrote else None


def _sign(agent: AgentDialect, home: Path) -> str:
    for name in agent.programs:
        if path := shutil.which(name):
            return path
    for place in agent.places("user", home, home):
        parts = place.path.relative_to(home).parts
        folder = home.joinpath(*parts[: 2 if parts[0] in _SHARED and len(parts) > 2 else 1])
        if folder.is_dir():
            return str(folder)
    return ""


_PLUGIN_CLIENT = re.compile(r'^const CLIENT = ("(?:[^"\\]|\\.)*")$', re.MULTILINE)
_RUN = re.compile(r"^exec (.+)$", re.MULTILINE)


class Handler(Struct, frozen=True):
    """`how` is argv | shell | bash | url | script | plugin."""

    event: str
    how: str
    words: tuple[str, ...]  # the program and its arguments, or the one text for a shell, an HTTP client or a loader

    @property
    def client(self) -> tuple[str, str]:
        if self.how == "url":
            parts = urlsplit(self.words[0])
            return "", f"{parts.scheme}://{parts.netloc}"
        line = self.words if self.how == "argv" else shlex.split(self.words[0])
        return next((word for word in line if word.rpartition("/")[2] == CLIENT), ""), ""


def _parse(place: HookFile, text: str) -> dict[str, Any]:
    if place.form == "yaml":
        from interlock.agents.yaml_edit import parse_yaml  # 15 ms that no other form needs

        return parse_yaml(text)
    return parse_toml(text) if place.form == "toml" else json_or_empty(text)


def _find_handlers(data: Any, keys: tuple[str, ...] = ()) -> Iterator[Handler]:
    if isinstance(data, list):
        for item in data:
            yield from _find_handlers(item, keys)
    elif isinstance(data, Mapping):
        if is_ours(data):
            yield _handler(data, keys)
            return
        for key, value in data.items():
            yield from _find_handlers(value, (*keys, str(key)))


def _handler(entry: Mapping[str, Any], keys: tuple[str, ...]) -> Handler:
    above = next((key for key in reversed(keys) if key != "hooks"), "")
    event = str(entry.get("trigger") or entry.get("event") or above)
    if isinstance(url := entry.get("url"), str):
        return Handler((parse_qs(urlsplit(url).query).get("event") or [event])[0], "url", (url,))
    if isinstance(line := entry.get("bash"), str):
        return Handler(event, "bash", (line,))
    action = entry.get("action")
    command = str((action if isinstance(action, Mapping) else entry).get("command", ""))
    if isinstance(words := entry.get("args"), list):
        return Handler(event, "argv", (command, *map(str, words)))
    return Handler(event, "shell", (command,))
