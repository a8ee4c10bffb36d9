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
from interlock.analysis.operations.browser import read_click, read_page_script, read_script
from interlock.analysis.operations.command_params import argv_of, feed, read_environment, shell_text, text_of
from interlock.analysis.operations.nested import read_calls
from interlock.analysis.operations.operation import read_operation
from interlock.analysis.operations.params import MAX_TEXT, PLAIN, pairs, short_keys, squash
from interlock.analysis.operations.payloads import (
    first_text,
    read_payloads,
    read_terminal,
    read_typed,
    reader_of,
    type_into,
)
from interlock.analysis.operations.requests import nested_request
from interlock.analysis.operations.settings import out_of_bounds
from interlock.analysis.prose.commands import is_command

_LISTS = WordLists("tools")
_MAPS = WordMaps("tools")

Input = Mapping[str, Any]


def read_tool(name: str, input: Input, out: Report, crude: str = "") -> None:
    """Reports what a call of this tool would do; a tool that nobody knows is judged as an operation of its name and category."""
    out.step()
    input = input if isinstance(input, Mapping) else {}
    reader = _reader(name, input)
    if reader:
        _read(reader, name, input, out)
    else:
        read_operation(name, input, crude, out)
    if reader == "agent":
        given = {key: value for key, value in input.items() if not isinstance(value, PLAIN)}
        read_calls(given, lambda inner, its: read_operation(inner, its, "", out, depth=1))


def read_built_in(name: str, input: Input, crude: str, out: Report) -> bool:
    """Reads an operation that is a built-in tool's call; False for any other, whose name tells more."""
    found = is_built_in(name, input, crude)
    if found:
        _read(_reader(name, input), name, input, out)
    return found


def is_built_in(name: str, input: Input, crude: str) -> bool:
    """True for a name that is a tool's of the agents, with the parameters that it has."""
    reader = _reader(name, input)
    if reader in _LISTS.by_path:
        return (reader != "read" or crude == "read") and _has_path(input)
    return reader in _LISTS.always and (reader != "shell" or _has_command(input))


def is_runner(name: str, input: Input) -> bool:
    """True for a tool of the agents that runs what it is given."""
    return _readers().get(squash(name)) in ("shell", "powershell") and _has_command(input)


def _read(reader: str, name: str, input: Input, out: Report) -> None:
    out_of_bounds(name, short_keys(input), out)
    _READERS[reader](input, out) if reader in _READERS else _on_files(reader, input, out)
    if reader in _LISTS.looking and not _LISTS.run.isdisjoint(keys := short_keys(input)):
        # search_files {"command": …}: a tool that only looks is given something to run, whatever it may do with that
        given = {key: keys[key] for key in sorted(_LISTS.run & keys.keys())}
        read_payloads(("run",), "run", given, partial(_announced, out), out)


def _on_files(does: str, input: Input, out: Report) -> None:
    if not files.DOES[does](input, out) and does in _MISSING:
        out.effect(*_MISSING[does])


def _announced(out: Report, name: str) -> None:
    """An operation that only its name tells."""
    read_operation(name, {}, "update", out, depth=1)


# -- which reader -----------------------------------------------------------------------------------------


def _reader(name: str, input: Input) -> str:
    reader, shared = _reader_of(name)
    return "" if shared and reader in _LISTS.by_path and not files.paths(input) else reader


@lru_cache(maxsize=4096)
def _reader_of(name: str) -> tuple[str, bool]:
    """The reader of a tool by its name, and whether only its last part tells: file servers name their tools as the agents do."""
    reader = _readers().get(squash(plain(name, _tool_words()))) or _live(name)
    if reader or len(segments := split_name(name)) < 2:
        return reader, False
    return _shared().get(squash("".join(segments[-1])), ""), True


def _live(name: str) -> str:
    """The reader of a tool that types into a terminal, or runs the cells of a notebook, whatever its name is made of."""
    words = {word for segment in split_name(name) for word in segment}
    if (
        not _LISTS.terminals.isdisjoint(words)
        and not _LISTS.types.isdisjoint(words)
        and _LISTS.letters.isdisjoint(words)
    ):
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


def _has_path(input: Input) -> bool:
    return any(squash(key) in _LISTS.path_keys and isinstance(value, str) for key, value in list(input.items())[:200])


def _has_command(input: Input) -> bool:
    keys = short_keys(input)
    held = (keys[key] for key in ("action", "input") if isinstance(keys.get(key), Mapping))
    return any(keys.get(key) for key in ("command", "cmd", "script", "commandline")) or any(map(_has_command, held))


# -- shells and live processes ----------------------------------------------------------------------------


def _shell(input: Input, out: Report) -> None:
    found = short_keys(input)
    read_environment(found, out)
    key = next((key for key in _LISTS.in_order("shell") if found.get(key)), "")
    value = found.get(key)
    if isinstance(value, Mapping):
        _shell(value, out)
    elif isinstance(value, (str, list, tuple)) and value:
        _run(key, value, found, feed(out, found, key))
    elif found.get("shellid") or found.get("bashid") or found.get("restart"):
        out.effect("act_read", "output of a shell")
    elif input:
        out.unreadable("a shell call without a command that can be read", "payload")


def _run(key: str, value: str | Sequence[Any], found: Input, out: Report) -> None:
    """Runs one command line, the words of one, or several."""
    words = [item for item in value[:1000] if isinstance(item, str)] if not isinstance(value, str) else []
    if key == "commands" or (words and len(words) == len(value) and " " in words[0]):
        for word in words or [text_of(value)]:
            shell_text(word, out)
    elif argv := words or argv_of(value, found):
        out.run(argv)
    elif isinstance(value, str):
        shell_text(value, out)


def _powershell(input: Input, out: Report) -> None:
    if text := first_text(input, "command", "script", "code"):
        out.code("powershell", text)


def _python(input: Input, out: Report) -> None:
    if text := first_text(input, "code", "source", "script", "input", "command"):
        out.code("python", text)


def _javascript(input: Input, out: Report) -> None:
    if text := first_text(input, "code", "script", "expression", "function", "javascript", "text", "pagefunction"):
        out.code("javascript", text)
        read_page_script(text, out)
        read_script(text, partial(_announced, out))


def _cells(input: Input, out: Report) -> None:
    """The code of a notebook's cells, where a line that begins with ! is for a shell."""
    out.effect("act_change", "a notebook")
    for key, value, _ in pairs(input):
        text = "".join(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value
        if key in ("source", "code", "cell", "content", "input") and isinstance(text, str) and text.strip():
            out.run(["ipython", "-c", text[:MAX_TEXT]])


def _computer(input: Input, out: Report) -> None:
    """Typing into a terminal is a shell command; anything else on a screen is a change."""
    action = first_text(input, "action", "type").lower()
    if not _runs_typed(input, out) and not read_click(
        action or "click", (), short_keys(input), partial(_announced, out)
    ):
        looks = action in ("screenshot", "cursor_position", "wait")
        out.effect("act_read" if looks else "act_change", action or "the screen")


def _keyboard(input: Input, out: Report) -> None:
    """What is typed and no command is only text."""
    if not _runs_typed(input, out):
        out.effect("act_change", "a field")


def _runs_typed(input: Input, out: Report) -> bool:
    """Reads text that is typed where something runs it: into a terminal or a client, or a command with Enter behind it."""
    text = first_text(input, "text", "keys")
    window = first_text(input, "app", "application", "window", "target", "title", "element").lower()
    terminal = any(word in window for word in ("terminal", "iterm", "konsole", "xterm"))
    entered = text.endswith(("\n", "\r", "{Enter}")) and is_command(text.strip())
    language = "shell" if terminal else reader_of(window) or ("shell" if entered else "")
    if text and language:
        type_into(language, text, out)
    return bool(text and language)


# -- the rest ---------------------------------------------------------------------------------------------


def _editor(input: Input, out: Report) -> None:
    """One tool for all: view, create, str_replace, insert, undo_edit."""
    _on_files(_MAPS.editor.get(first_text(input, "command", "action").lower(), "edit"), input, out)


def _patch(input: Input, out: Report) -> None:
    text = first_text(input, "command", "input", "patch", "diff", "content", "changes", "patchtext")
    commands = input.get("command")
    if not text and isinstance(commands, (list, tuple)):
        text = next((item for item in commands if isinstance(item, str) and "***" in item), "")
    if not files.patch(text, out) and not files.edit(input, out):
        out.unreadable("a patch that cannot be read", "payload")


def _notebook(input: Input, out: Report) -> None:
    for path in files.paths(input):
        out.effect("write", path, "edit")
    if first_text(input, "editmode") == "delete":
        out.effect("act_change", "a cell")


def _fetch(input: Input, out: Report) -> None:
    from interlock.analysis.http import read_http

    given = {**short_keys(nested_request(input)), **short_keys(input)}
    url = first_text(input, "url", "uri", "href", "query", "prompt")
    read_http(first_text(given, "method") or "get", url[:MAX_TEXT], first_text(given, "body", "data"), (), out)


def _look(input: Input, out: Report) -> None:
    out.effect("act_read", first_text(input, "query", "pattern", "path")[:200])


def _note(input: Input, out: Report) -> None:
    out.effect("act_change", "notes of the agent")


def _agent(input: Input, out: Report) -> None:
    """Another agent is told to do something: its orders are read."""
    out.effect("act_change", "another agent")
    if prompt := first_text(input, "prompt", "task", "message", "instructions", "description"):
        out.code("orders", prompt[:MAX_TEXT])


# What a tool for files does where no path is named.
_MISSING: Mapping[str, Sequence[str]] = {
    "delete": ("act_delete", "a file"),
    "delete_tree": ("act_delete", "a directory", "bulk"),
    "move": ("act_change", "a file"),
    "copy": ("act_change", "a file"),
    "read": ("act_read", "files"),
}
_READERS: Mapping[str, Callable[[Input, Report], None]] = {
    "terminal": read_terminal,
    "typed": read_typed,
    **{
        reader.__name__[1:]: reader
        for reader in (
            _shell,
            _powershell,
            _python,
            _javascript,
            _cells,
            _computer,
            _keyboard,
            _editor,
            _patch,
            _notebook,
        )
    },
    **{reader.__name__[1:]: reader for reader in (_fetch, _look, _note, _agent)},
}
