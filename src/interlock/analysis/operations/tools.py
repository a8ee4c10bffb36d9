"""A tool call of a coding agent or an MCP server -> its effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any

from interlock.analysis.confusables import plain
from interlock.analysis.facts import Report
from interlock.analysis.lexicon import split_name, vocabulary
from interlock.analysis.lexicon.load import WordLists, WordMaps
from interlock.analysis.operations import files
from interlock.analysis.operations.browser import read_click, read_page_script
from interlock.analysis.operations.command_params import read_commands, shell_text, text_of
from interlock.analysis.operations.nested import read_calls
from interlock.analysis.operations.operation import read_operation
from interlock.analysis.operations.params import (
    MAX_TEXT,
    PLAIN,
    Keys,
    first_spellings,
    short_keys,
    spelled_twice,
    squash,
    text_at,
    walk,
)
from interlock.analysis.operations.payloads import read_payloads, read_terminal, read_typed, reader_of, type_into
from interlock.analysis.operations.requests import asks_with_key, nested_request
from interlock.analysis.operations.settings import out_of_bounds
from interlock.analysis.prose.commands import is_command

_LISTS = WordLists("tools")
_MAPS = WordMaps("tools")


def read_tool(name: str, input: Mapping[str, Any], out: Report, crude: str = "") -> None:
    """Reports what a call of this tool would do; a tool that nobody knows is judged as an operation of its name and category."""
    out.step()
    input = input if isinstance(input, Mapping) else {}
    keys = short_keys(input)
    reader = _reader(name, keys)
    if not reader:
        read_operation(name, input, crude, out)
        return
    if spelled_twice(input, keys):
        out.unreadable("a parameter in two spellings with different values", "syntax")
        _read(reader, name, short_keys(first_spellings(input)), out)
    _read(reader, name, keys, out)
    if reader == "agent":
        given = {key: value for key, value in input.items() if not isinstance(value, PLAIN)}
        read_calls(given, lambda inner, its: read_operation(inner, its, "", out, depth=1))


def read_built_in(name: str, keys: Keys, crude: str, out: Report | None) -> bool:
    """Reads an operation that is a built-in tool's call, where there is a report; False for any other, whose name tells more."""
    reader = _reader(name, keys)
    if reader in _LISTS.by_path:
        found = reader != "read" or crude == "read"
        found = found and any(isinstance(keys.get(key), str) for key in _LISTS.path_keys)
    else:
        found = reader in _LISTS.always and (reader != "shell" or _has_command(keys))
    if found and out is not None:
        _read(reader, name, keys, out)
    return found


def is_runner(name: str, keys: Keys) -> bool:
    """True for a tool of the agents that runs what it is given."""
    return _readers().get(squash(name)) in ("shell", "powershell") and _has_command(keys)


def _has_command(keys: Keys) -> bool:
    held = (short_keys(keys[key]) for key in ("action", "input") if isinstance(keys.get(key), Mapping))
    return any(keys.get(key) for key in ("command", "cmd", "script", "commandline")) or any(map(_has_command, held))


def _read(reader: str, name: str, keys: Keys, out: Report) -> None:
    out_of_bounds(name, keys, out)
    _READERS[reader](keys, out) if reader in _READERS else _on_files(reader, keys, out)
    if reader in _LISTS.looking and not _LISTS.run.isdisjoint(keys):
        # search_files {"command": …}: a tool that only looks is given something to run, whatever it may do with that
        given = {key: keys[key] for key in sorted(_LISTS.run & keys.keys())}
        read_payloads(("run",), "run", given, partial(_announced, out), out)


def _announced(out: Report, name: str) -> None:
    """An operation that only its name tells."""
    read_operation(name, {}, "update", out, depth=1)


# -- which reader -----------------------------------------------------------------------------------------


def _reader(name: str, keys: Keys) -> str:
    reader, shared = _reader_of(name)
    return "" if shared and reader in _LISTS.by_path and not files.paths(keys) else reader


@lru_cache(maxsize=4096)
def _reader_of(name: str) -> tuple[str, bool]:
    """The reader of a tool by its name, and whether only its last part tells: file servers name their tools as the agents do."""
    reader = _readers().get(squash(plain(name, _tool_words()))) or _live(name)
    if reader or len(segments := split_name(name)) < 2:
        return reader, False
    return _shared().get(squash("".join(segments[-1])), ""), True


def _live(name: str) -> str:
    """The reader of a tool that types into a terminal, or runs the cells of a notebook, whatever its name is made of."""
    words = set[str]().union(*split_name(name))
    terminal = not _LISTS.terminals.isdisjoint(words) and not _LISTS.types.isdisjoint(words)
    if terminal and _LISTS.letters.isdisjoint(words):
        return "terminal"
    return "cells" if not _LISTS.notebooks.isdisjoint(words) and not _LISTS.executes.isdisjoint(words) else ""


@cache
def _shared() -> Mapping[str, str]:
    """The tools that servers name as the agents do."""
    return {squash(name): reader for name, reader in _MAPS.shared.items()}


@cache
def _readers() -> Mapping[str, str]:
    return {**_shared(), **{squash(name): reader for name, reader in _MAPS.own.items()}}


@cache
def _tool_words() -> frozenset[str]:
    return vocabulary() | _readers().keys()


# -- shells, code and live processes ----------------------------------------------------------------------


def _shell(keys: Keys, out: Report) -> None:
    if read_commands((), keys, "", out):
        return
    text = text_at(keys, "code", "input")
    if text:
        shell_text(text, out)
    elif keys.get("shellid") or keys.get("bashid") or keys.get("restart"):
        out.effect("act_read", "output of a shell")
    elif keys:
        out.unreadable("a shell call without a command that can be read", "payload")


def _code(language: str, keys: Keys, out: Report) -> None:
    if text := text_at(keys, *_LISTS.in_order("code")):
        out.code(language, text)
        if language == "javascript":
            read_page_script(text, partial(_announced, out), out)


def _cells(keys: Keys, out: Report) -> None:
    """The code of a notebook's cells, where a line that begins with ! is for a shell."""
    out.effect("act_change", "a notebook")
    for key, _, value, _, _ in walk(keys):
        text = "".join(value) if isinstance(value, list) and text_of(value) else value
        if key in ("source", "code", "cell", "content", "input") and isinstance(text, str) and text.strip():
            out.run(["ipython", "-c", text[:MAX_TEXT]])


def _computer(keys: Keys, out: Report, typing: bool = False) -> None:
    """Typing into a terminal is a shell command, a click is what its label says; anything else on a screen is a change."""
    action = text_at(keys, "action", "type").lower()
    if _runs_typed(keys, out):
        return
    if typing:
        out.effect("act_change", "a field")
    elif not read_click(action or "click", (), keys, partial(_announced, out)):
        looks = action in ("screenshot", "cursor_position", "wait")
        out.effect("act_read" if looks else "act_change", action or "the screen")


def _runs_typed(keys: Keys, out: Report) -> bool:
    """Reads text that is typed where something runs it: into a terminal or a client, or a command with Enter behind it."""
    text = text_at(keys, "text", "keys")
    window = text_at(keys, "app", "application", "window", "target", "title", "element").lower()
    terminal = any(word in window for word in ("terminal", "iterm", "konsole", "xterm"))
    entered = text.endswith(("\n", "\r", "{Enter}")) and is_command(text.strip())
    language = "shell" if terminal else reader_of(window) or ("shell" if entered else "")
    if text and language:
        type_into(language, text, out)
    return bool(text and language)


# -- the rest ---------------------------------------------------------------------------------------------


def _on_files(does: str, keys: Keys, out: Report) -> None:
    if does == "editor":  # one tool for all: view, create, str_replace, insert, undo_edit
        does = _MAPS.editor.get(text_at(keys, "command", "action").lower(), "edit")
    if does == "look":
        out.effect("act_read", text_at(keys, "query", "pattern", "path")[:200])
    elif (does not in files.DOES or not files.DOES[does](keys, out)) and does in _MISSING:
        out.effect(*_MISSING[does])


def _patch(keys: Keys, out: Report) -> None:
    text = text_at(keys, "command", "input", "patch", "diff", "content", "changes", "patchtext")
    commands = keys.get("command")
    if not text and isinstance(commands, (list, tuple)):
        text = next((item for item in commands if isinstance(item, str) and "***" in item), "")
    if not files.patch(text, out) and not files.edit(keys, out):
        out.unreadable("a patch that cannot be read", "payload")


def _notebook(keys: Keys, out: Report) -> None:
    for path in files.paths(keys):
        out.effect("write", path, "edit")
    if text_at(keys, "editmode") == "delete":
        out.effect("act_change", "a cell")


def _fetch(keys: Keys, out: Report) -> None:
    from interlock.analysis.http import read_http

    given = {**short_keys(nested_request(keys)), **keys}
    url = text_at(keys, "url", "uri", "href", "query", "prompt")
    if asks_with_key(url):
        out.effect("act_leak", "a secret")
    read_http(text_at(given, "method") or "get", url[:MAX_TEXT], text_at(given, "body", "data"), (), out)


def _agent(keys: Keys, out: Report) -> None:
    """Another agent is told to do something: its orders are read."""
    out.effect("act_change", "another agent")
    if prompt := text_at(keys, "prompt", "task", "message", "instructions", "description"):
        out.code("orders", prompt[:MAX_TEXT])


# What a tool does where no path is named.
_MISSING: Mapping[str, Sequence[str]] = {
    "delete": ("act_delete", "a file"),
    "delete_tree": ("act_delete", "a directory", "bulk"),
    "move": ("act_change", "a file"),
    "copy": ("act_change", "a file"),
    "read": ("act_read", "files"),
    "note": ("act_change", "notes of the agent"),
}
_READERS: Mapping[str, Callable[[Keys, Report], None]] = {
    "shell": _shell, "terminal": read_terminal, "typed": read_typed, "cells": _cells, "computer": _computer,
    "keyboard": partial(_computer, typing=True), "patch": _patch, "notebook": _notebook, "fetch": _fetch, "agent": _agent,
    **{language: partial(_code, language) for language in ("powershell", "python", "javascript")},
}  # fmt: skip
