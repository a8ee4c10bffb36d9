"""Translates a tool call from an agent's own names into the calls that are judged; refuses a shell call without a command."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from interlock.agents.hook_protocol import FIELDS, AgentCall, Json, MalformedInput
from interlock.model import Action, Kind, command, tool

_NONE: frozenset[str] = frozenset()
_JUDGED = {kind: frozenset({kind.value}) for kind in Kind}
_MAX_COMMANDS = 200


class ToolNames(Struct, frozen=True):
    """An agent's names for its tools, where they differ from those that the analysis knows."""

    shells: frozenset[str]  # tools that run shell text
    names: Mapping[str, str] = {}  # other tools -> the name that the analysis knows
    incidental: frozenset[str] = frozenset()
    inputs: Mapping[str, Mapping[str, str]] = {}  # other names for the fields of a tool

    def judged(self, name: str, given: Json, cwd: str, id: str = "") -> tuple[AgentCall, ...]:
        """One, or one for each command in it; refuses a shell call without a command."""
        own, beside = self._beside(name)
        counted = {
            key: value for key, value in given.items() if value is not None and key not in own and key not in beside
        }
        if name not in self.shells:
            return (_call(name, given, tool(self.names.get(name, name), counted, cwd), id),)
        return tuple([_call(name, given, action, id) for action in _shell(name, counted, cwd)])

    def _beside(self, name: str) -> tuple[frozenset[str], frozenset[str]]:
        """Fields that do not count; in an unknown tool, a description may be the content."""
        if name in self.shells:
            return self.incidental, _beside_commands()
        explained = name in self.names or name in FIELDS.explained
        return (self.incidental, FIELDS.beside) if explained else (_NONE, _NONE)


@cache
def _beside_commands() -> frozenset[str]:
    return FIELDS.beside | FIELDS.beside_commands


def _call(name: str, given: Json, action: Action, id: str) -> AgentCall:
    body = action.fields.get("input")
    judged = frozenset(body) if body and isinstance(body, Mapping) else _JUDGED[action.kind]
    return AgentCall(name, given, action, judged, id)


def _shell(name: str, counted: Json, cwd: str) -> list[Action]:
    text = counted.get("command")
    if len(counted) == 1 and isinstance(text, str) and text.strip():
        return [command(text, cwd)]
    key = next((key for key in FIELDS.in_order("commands") if key in counted), "")
    if not key:
        if FIELDS.running & set(counted):  # output or input of a running shell
            return [tool(name, counted, cwd)]
        raise MalformedInput(f"{name}: no command in the call")
    folder = folder_of(counted, cwd)
    texts = _texts(name, key, counted)
    rest = {field: value for field, value in counted.items() if _counts(field, value, key)}
    if not rest:
        return [command(text, folder) for text in texts]
    return [tool("Bash", {"command": text, **rest}, folder) for text in texts]  # more than a command


def _counts(field: str, value: object, key: str) -> bool:
    if field == key or field in FIELDS.folders or value is False or value in ("", [], {}):
        return False
    return not (key in ("command", "commands") and field == "args")


def _texts(name: str, key: str, counted: Json) -> list[str]:
    value = counted[key]
    if isinstance(value, str):
        texts = [_with_words(value, counted.get("args"))]
    elif key == "command" and isinstance(value, list) and all(isinstance(word, str) for word in value):
        texts = [shlex.join(value)]  # an argument vector
    else:
        entries = value if isinstance(value, list) else [value]
        if len(entries) > _MAX_COMMANDS:
            raise MalformedInput(f"{name}: more than {_MAX_COMMANDS} commands in one call")
        texts = [_entry(name, entry) for entry in entries]
    if not texts or not all(text.strip() for text in texts):
        raise MalformedInput(f"{name}: an empty command in the call")
    return texts


def _entry(name: str, entry: object) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, Mapping) and isinstance(entry.get("command"), str):
        return _with_words(entry["command"], entry.get("args"))
    raise MalformedInput(f"{name}: expected commands as text in the call")


def _with_words(text: str, words: object) -> str:
    """A program and its arguments as one command; a program without arguments is shell text."""
    if not words:
        return text
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise MalformedInput("args: expected a list of text")
    return shlex.join([text, *words])


def folder_of(given: Json, cwd: str) -> str:
    for name in FIELDS.in_order("folders"):
        value = given.get(name)
        if isinstance(value, str) and value:
            return value if value.startswith(("/", "~")) or not cwd else posixpath.normpath(posixpath.join(cwd, value))
    return cwd


def mcp_name(server: str, name: str) -> str:
    return f"mcp__{server or 'unknown'}__{name}"
