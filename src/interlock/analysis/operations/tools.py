"""A tool call of a coding agent or an MCP server -> its effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from interlock.analysis.confusables import plain
from interlock.analysis.facts import Report
from interlock.analysis.lexicon import split_name, vocabulary
from interlock.analysis.lexicon.load import WordLists, WordMaps
from interlock.analysis.operations import files
from interlock.analysis.operations.browser import read_click, read_page_script, read_script
from interlock.analysis.operations.command_params import argv_of, feed, read_environment, shell_text
from interlock.analysis.operations.nested import read_calls
from interlock.analysis.operations.operation import read_operation
from interlock.analysis.operations.params import MAX_TEXT, PLAIN, pairs, short_keys, squash
from interlock.analysis.operations.payloads import (
    first_text,
    lines,
    read_payloads,
    read_terminal,
    read_typed,
    reader_of,
)
from interlock.analysis.operations.requests import nested_request
from interlock.analysis.operations.settings import out_of_bounds
from interlock.analysis.prose.commands import is_command

_LISTS = WordLists("tools")
_MAPS = WordMaps("tools")

_SHELL_KEYS = "command cmd commandline script code input bash shellcommand commands action".split()
Input = Mapping[str, Any]
Handler = Callable[[Input, Report], None]


def read_tool(name: str, input: Input, out: Report, crude: str = "") -> None:
    """Reports what a call of this tool would do; a tool that nobody knows is judged as an operation of its name and category."""
    out.step()
    input = input if isinstance(input, Mapping) else {}
    handler = _handler(name, input)
    if handler is None:
        read_operation(name, input, crude, out)
        return
    out_of_bounds(name, input, out)
    handler(input, out)
    _carried(handler, input, out)
    if handler is _agent:
        given = {key: value for key, value in input.items() if not isinstance(value, PLAIN)}
        read_calls(given, lambda inner, its: read_operation(inner, its, "", out, depth=1))


def _carried(handler: Handler, input: Input, out: Report) -> None:
    """search_files {"command": …}: a tool that only looks is given something to run, whatever it may do with that."""
    if handler not in _LOOKING or _LISTS.run.isdisjoint(keys := short_keys(input)):
        return
    given = {key: keys[key] for key in sorted(_LISTS.run & keys.keys())}
    read_payloads(("run",), "run", given, lambda name: read_operation(name, {}, "update", out, depth=1), out)


def read_built_in(name: str, input: Input, crude: str, out: Report) -> bool:
    """Reads an operation that is a built-in tool's call; False for any other, whose name tells more."""
    handler = _handler(name, input)
    if handler is None or not _is_call(handler, input, crude):
        return False
    out_of_bounds(name, input, out)
    handler(input, out)
    _carried(handler, input, out)
    return True


def is_built_in(name: str, input: Input, crude: str) -> bool:
    """True for a name that is a tool's of the agents, with the parameters that it has."""
    handler = _handler(name, input)
    return handler is not None and _is_call(handler, input, crude)


def is_runner(name: str, input: Input) -> bool:
    """True for a tool of the agents that runs what it is given."""
    handler = _handlers().get(squash(name))
    return handler in (_shell, _powershell) and _has_command(input)


def _is_call(handler: Handler, input: Input, crude: str) -> bool:
    if handler not in _ALWAYS or (handler in _BY_PATH and not _has_path(input)):
        return False
    return not ((handler is _FILES["read"] and crude != "read") or (handler is _shell and not _has_command(input)))


def _handler(name: str, input: Input) -> Handler | None:
    handler, shared = _handler_of(name)
    return None if shared and handler in _BY_PATH and not files.paths(input) else handler


@lru_cache(maxsize=4096)
def _handler_of(name: str) -> tuple[Handler | None, bool]:
    """The reader of a tool by its name, and whether only its last part tells: file servers name their tools as the agents do."""
    handler = _handlers().get(squash(plain(name, _tool_words()))) or _live(name)
    if handler is not None or len(segments := split_name(name)) < 2:
        return handler, False
    return _shared().get(squash("".join(segments[-1]))), True


def _live(name: str) -> Handler | None:
    """The reader of a tool that types into a terminal, or runs the cells of a notebook, whatever its name is made of."""
    words = {word for segment in split_name(name) for word in segment}
    if (
        not words.isdisjoint(_LISTS.terminals)
        and not words.isdisjoint(_LISTS.types)
        and words.isdisjoint(_LISTS.letters)
    ):
        return read_terminal
    return _cells if not words.isdisjoint(_LISTS.notebooks) and not words.isdisjoint(_LISTS.executes) else None


def _cells(input: Input, out: Report) -> None:
    """The code of a notebook's cells, where a line that begins with ! is for a shell."""
    out.effect("act_change", "a notebook")
    for key, value, _ in pairs(input):
        text = "".join(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else value
        if key in ("source", "code", "cell", "content", "input") and isinstance(text, str) and text.strip():
            out.run(["ipython", "-c", text[:MAX_TEXT]])


def _has_path(input: Input) -> bool:
    return any(squash(key) in _LISTS.path_keys and isinstance(value, str) for key, value in list(input.items())[:200])


def _has_command(input: Input) -> bool:
    for key, value in list(input.items())[:200]:
        short = squash(key)
        if short in ("command", "cmd", "script", "commandline") and value:
            return True
        if short in ("action", "input") and isinstance(value, Mapping) and _has_command(value):
            return True
    return False


# -- shells and live processes ----------------------------------------------------------------------------


def _shell(input: Input, out: Report) -> None:
    found = {squash(key): value for key, value in list(input.items())[:200]}
    read_environment(found, out)
    for key in _SHELL_KEYS:
        value = found.get(key)
        if value and not isinstance(value, Mapping):
            out = feed(out, found, key)
        if isinstance(value, str) and value.strip():
            argv = argv_of(value, found)
            out.run(argv) if argv else shell_text(value, out)
            return
        if isinstance(value, (list, tuple)) and value:
            words = [item for item in value[:1000] if isinstance(item, str)]
            if key == "commands" or (len(words) == len(value) and " " in words[0]):
                for word in words:
                    shell_text(word, out)
            elif words:
                out.run(words)
            return
        if isinstance(value, Mapping):
            _shell(value, out)
            return
    if found.get("shellid") or found.get("bashid") or found.get("restart"):
        out.effect("act_read", "output of a shell")
    elif input:
        out.unreadable("a shell call without a command that can be read", "payload")


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
        read_script(text, lambda label: read_operation(label, {}, "update", out, depth=1))


def _computer(input: Input, out: Report) -> None:
    """Typing into a terminal is a shell command; anything else on a screen is a change."""
    if _runs_typed(input, out):
        return
    action = first_text(input, "action", "type").lower()
    if read_click(
        action or "click", (), short_keys(input), lambda label: read_operation(label, {}, "update", out, depth=1)
    ):
        return
    out.effect(
        "act_read" if action in ("screenshot", "cursor_position", "wait") else "act_change", action or "the screen"
    )


def _keyboard(input: Input, out: Report) -> None:
    """What is typed and no command is only text."""
    if not _runs_typed(input, out):
        out.effect("act_change", "a field")


def _runs_typed(input: Input, out: Report) -> bool:
    """Reads text that is typed where something runs it: into a terminal or a client, or a command with Enter behind it."""
    text = first_text(input, "text", "keys")
    window = first_text(input, "app", "application", "window", "target", "title", "element").lower()
    if not text:
        return False
    terminal = any(word in window for word in ("terminal", "iterm", "konsole", "xterm"))
    entered = text.endswith(("\n", "\r", "{Enter}")) and is_command(text.strip())
    language = "shell" if terminal else reader_of(window) or ("shell" if entered else "")
    if language:
        shell_text(lines(text), out) if language == "shell" else out.code(language, lines(text))
    return bool(language)


# -- files ------------------------------------------------------------------------------------------------


def _on_files(does: Callable[[Input, Report], bool], missing: Sequence[str]) -> Handler:
    """The reader of a tool for files; `missing` is its effect where no path is named."""

    def read(input: Input, out: Report) -> None:
        if not does(input, out) and missing:
            out.effect(*missing)

    return read


def _editor(input: Input, out: Report) -> None:
    """One tool for all: view, create, str_replace, insert, undo_edit."""
    _FILES[_MAPS.editor.get(first_text(input, "command", "action").lower(), "edit")](input, out)


def _patch(input: Input, out: Report) -> None:
    text = first_text(input, "command", "input", "patch", "diff", "content", "changes", "patchtext")
    commands = input.get("command")
    if not text and isinstance(commands, (list, tuple)):
        text = next((item for item in commands if isinstance(item, str) and "***" in item), "")
    if not files.patch(text, out):
        named = files.paths(input)
        for path in named:
            files.write(path, None, out, "write", "edit")
        if not named:
            out.unreadable("a patch that cannot be read", "payload")


def _notebook(input: Input, out: Report) -> None:
    mode = first_text(input, "editmode")
    for path in files.paths(input):
        out.effect("write", path, "edit")
    if mode == "delete":
        out.effect("act_change", "a cell")


# -- the rest ---------------------------------------------------------------------------------------------


def _fetch(input: Input, out: Report) -> None:
    from interlock.analysis.http import read_http

    url = first_text(input, "url", "uri", "href", "query", "prompt")
    more = nested_request(input)
    method = first_text(input, "method") or first_text(more, "method") or "get"
    read_http(method, url[:MAX_TEXT], first_text(input, "body", "data") or first_text(more, "body", "data"), (), out)


def _look(input: Input, out: Report) -> None:
    out.effect("act_read", first_text(input, "query", "pattern", "path")[:200])


def _note(input: Input, out: Report) -> None:
    out.effect("act_change", "notes of the agent")


def _agent(input: Input, out: Report) -> None:
    """Another agent is told to do something: its orders are read."""
    out.effect("act_change", "another agent")
    if prompt := first_text(input, "prompt", "task", "message", "instructions", "description"):
        out.code("orders", prompt[:MAX_TEXT])


_SHELLS = (_shell, _powershell, read_terminal, read_typed, _keyboard, _computer)
_CODES = (_python, _javascript, _notebook, _editor, _patch)
_MISSING: Mapping[str, Sequence[str]] = {
    "delete": ("act_delete", "a file"),
    "delete_tree": ("act_delete", "a directory", "bulk"),
    "move": ("act_change", "a file"),
    "copy": ("act_change", "a file"),
    "read": ("act_read", "files"),
}
_FILES = {name: _on_files(does, _MISSING.get(name, ())) for name, does in files.DOES.items()}
_REST = (_agent, _fetch, _look, _note)
_READERS: Mapping[str, Handler] = {
    **{reader.__name__.removeprefix("read").removeprefix("_"): reader for reader in (*_SHELLS, *_CODES, *_REST)},
    **_FILES,
}
_BY_PATH = frozenset(_FILES.values()) - {_FILES["copy"]}


@cache
def _shared() -> Mapping[str, Handler]:
    """The tools that servers name as the agents do."""
    return {squash(name): _READERS[reader] for name, reader in _MAPS.shared.items()}


@cache
def _handlers() -> Mapping[str, Handler]:
    return {**_shared(), **{squash(name): _READERS[reader] for name, reader in _MAPS.own.items()}}


_LOOKING = frozenset({_look, _FILES["read"], _fetch})


@cache
def _tool_words() -> frozenset[str]:
    return vocabulary() | _handlers().keys()


# What an operation of that name is as well, whatever its category says.
_ALWAYS = frozenset((*_SHELLS, *_CODES, *_BY_PATH, _cells))

__all__ = ["is_built_in", "read_built_in", "read_tool"]
