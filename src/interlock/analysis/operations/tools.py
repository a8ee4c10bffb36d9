"""Calls of the tools that coding agents have, and of servers that name theirs alike -> their effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial

from interlock.analysis.confusables import plain
from interlock.analysis.facts import Report
from interlock.analysis.lexicon import split_name, vocabulary
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.operations import files
from interlock.analysis.operations.params import (
    MAX_TEXT,
    Keys,
    short_keys,
    squash,
    text_at,
    walk,
)
from interlock.analysis.operations.payloads import (
    CommandParams,
    is_statement,
    read_payloads,
    reader_of,
    reads_as_command,
    shell_text,
    text_of,
)
from interlock.analysis.operations.requests import asks_with_key, nested_request, read_click, read_page_script
from interlock.analysis.operations.settings import out_of_bounds
from interlock.analysis.programs.load import program_set

Field = Callable[[str], None]
_PATTERNS = Patterns("tools")
_LISTS = WordLists("tools")
_MAPS = WordMaps("tools")


def built_in(name: str, keys: Keys, crude: str = "") -> str:
    """The reader of an operation that is a built-in tool's call; nothing for any other, whose name tells more."""
    reader = tool_reader(name, keys)
    if reader in _LISTS.by_path:
        told = (reader != "read" or crude == "read") and any(isinstance(keys.get(key), str) for key in _LISTS.path_keys)
    else:
        told = reader in _LISTS.always and (reader != "shell" or _has_command(keys))
    return reader if told else ""


def _has_command(keys: Keys) -> bool:
    held = (short_keys(keys[key]) for key in ("action", "input") if isinstance(keys.get(key), Mapping))
    return any(keys.get(key) for key in ("command", "cmd", "script", "commandline")) or any(map(_has_command, held))


def read_tool_call(reader: str, name: str, keys: Keys, field: Field, out: Report) -> None:
    """Reports what the call of a tool with this reader would do; `field` reads an operation that only its name tells."""
    out_of_bounds(name, keys, out)
    does = _MAPS.editor.get(text_at(keys, "command", "action").lower(), "edit") if reader == "editor" else reader
    if does in _READERS:
        _READERS[does](keys, field, out)
    elif (does in ("look", "note") or not files.act_on_files(does, keys, out)) and does in _MISSING:
        verb, target, *traits = _MISSING[does]
        out.effect(verb, target or text_at(keys, "query", "pattern", "path")[:200], *traits)
    if reader in _LISTS.looking and not _LISTS.run.isdisjoint(keys):
        # search_files {"command": …}: a tool that only looks is given something to run, whatever it may do with that
        given = {key: keys[key] for key in sorted(_LISTS.run & keys.keys())}
        read_payloads(("run",), "run", given, field, out)


# -- which reader -----------------------------------------------------------------------------------------


def tool_reader(name: str, keys: Keys) -> str:
    """How the calls of a tool are read; nothing for one that nobody knows."""
    reader, shared = _reader_of(name)
    return "" if shared and reader in _LISTS.by_path and not files.paths(keys) else reader


@lru_cache(maxsize=4096)
def _reader_of(name: str) -> tuple[str, bool]:
    """The reader of a tool by its name, and whether only its last part tells: file servers name their tools as the agents do."""
    reader = _readers().get(squash(plain(name, _tool_words()))) or _live(name)
    if reader or len(segments := split_name(name)) < 2:
        return reader, False
    return _readers(shared=True).get(squash("".join(segments[-1])), ""), True


def _live(name: str) -> str:
    """The reader of a tool that types into a terminal, or runs the cells of a notebook, whatever its name is made of."""
    words = set[str]().union(*split_name(name))
    terminal = not _LISTS.terminals.isdisjoint(words) and not _LISTS.types.isdisjoint(words)
    if terminal and _LISTS.letters.isdisjoint(words):
        return "terminal"
    return "cells" if not _LISTS.notebooks.isdisjoint(words) and not _LISTS.executes.isdisjoint(words) else ""


@cache
def _readers(shared: bool = False) -> Mapping[str, str]:
    """The readers of all tools, or of those that servers name as the agents do."""
    named = _MAPS.shared if shared else {**_MAPS.shared, **_MAPS.own}
    return {squash(name): reader for name, reader in named.items()}


@cache
def _tool_words() -> frozenset[str]:
    return vocabulary() | _readers().keys()


# -- shells, code and live processes ----------------------------------------------------------------------


def _shell(keys: Keys, _: Field, out: Report) -> None:
    if CommandParams((), keys, "", out).read_commands():
        return
    if text := text_at(keys, "code", "input"):
        shell_text(text, out)
    elif keys.get("shellid") or keys.get("bashid") or keys.get("restart"):
        out.effect("act_read", "output of a shell")
    elif keys:
        out.unreadable("a shell call without a command that can be read", "payload")


def _code(language: str, keys: Keys, field: Field, out: Report) -> None:
    if text := text_at(keys, *_LISTS.in_order("code")):
        out.code(language, text)
        if language == "javascript":
            read_page_script(text, field, out)


def _typed(keys: Keys, _: Field, out: Report, language: str = "") -> None:
    """Text for a live process is read as that process would read it; of an unknown one nothing can be told."""
    pressed = keys.get("keys")
    keyed = " ".join(key for key in pressed if isinstance(key, str)) if isinstance(pressed, (list, tuple)) else ""
    text = text_at(keys, *_LISTS.in_order("typed")) or keyed
    if language:
        _type_into(language, keyed or text or text_at(keys, "command"), out)
        return
    if not text.strip("\x03\x04\x1a\x1b\r\n \t") or all(map(_PATTERNS.key.fullmatch, text.split())):
        out.effect("act_change", "a live process")  # polls, interrupts or answers it
        return
    if _PATTERNS.meta.match(text) and "\n" not in text.strip():
        out.effect("act_read", "what a database client shows")
        return
    named = (keys[key] for key in _LISTS.in_order("process") if isinstance(keys.get(key), str))
    language = next(filter(None, map(reader_of, named)), "") or ("sql" if is_statement(text) else "")
    known = text.split(None, 1)[0] in program_set("typed")
    if language:
        _type_into(language, text, out)
    elif not known and not any(word in key for key in keys for word in _LISTS.live):
        out.effect("act_change", "a field")  # of a page or a form
    else:
        if not known:
            out.unreadable("text for a process that is not known", "payload")
        if " " in text.strip():  # most often it is a shell
            _type_into("shell", text, out)


def _type_into(language: str, text: str, out: Report) -> None:
    """Reads keys as the process reads them into which they are typed: Enter ends a line."""
    text = text.replace("\r", "\n").removesuffix("C-m").removesuffix("Enter").removesuffix("<Enter>")
    text = text.replace(" C-m ", "\n").replace(" Enter ", "\n")
    shell_text(text, out) if language == "shell" else out.code(language, text)


def _cells(keys: Keys, _field: Field, out: Report) -> None:
    """The code of a notebook's cells, where a line that begins with ! is for a shell."""
    out.effect("act_change", "a notebook")
    for key, _, value, _, _ in walk(keys):
        text = "".join(value) if isinstance(value, list) and text_of(value) else value
        if key in ("source", "code", "cell", "content", "input") and isinstance(text, str) and text.strip():
            out.run(["ipython", "-c", text[:MAX_TEXT]])


def _computer(keys: Keys, field: Field, out: Report, typing: bool = False) -> None:
    """Typing into a terminal is a shell command, a click is what its label says; anything else on a screen is a change."""
    action, text = text_at(keys, "action", "type").lower(), text_at(keys, "text", "keys")
    window = text_at(keys, "app", "application", "window", "target", "title", "element").lower()
    terminal = any(word in window for word in ("terminal", "iterm", "konsole", "xterm"))
    entered = text.endswith(("\n", "\r", "{Enter}")) and reads_as_command(text.strip())
    language = "shell" if terminal else reader_of(window) or ("shell" if entered else "")
    if text and language:  # where something runs it
        _type_into(language, text, out)
    elif typing:
        out.effect("act_change", "a field")
    elif not read_click(action or "click", (), keys, field):
        looks = action in ("screenshot", "cursor_position", "wait")
        out.effect("act_read" if looks else "act_change", action or "the screen")


# -- the rest ---------------------------------------------------------------------------------------------


def _patch(keys: Keys, _: Field, out: Report) -> None:
    text = text_at(keys, "command", "input", "patch", "diff", "content", "changes", "patchtext")
    commands = keys.get("command")
    if not text and isinstance(commands, (list, tuple)):
        text = next((item for item in commands if isinstance(item, str) and "***" in item), "")
    if not files.patch(text, out) and not files.act_on_files("edit", keys, out):
        out.unreadable("a patch that cannot be read", "payload")


def _fetch(keys: Keys, _: Field, out: Report) -> None:
    from interlock.analysis.http import read_http

    given = {**short_keys(nested_request(keys)), **keys}
    url = text_at(keys, "url", "uri", "href", "query", "prompt")
    if asks_with_key(url):
        out.effect("act_leak", "a secret")
    read_http(text_at(given, "method") or "get", url[:MAX_TEXT], text_at(given, "body", "data"), (), out)


def _agent(keys: Keys, _: Field, out: Report) -> None:
    """Another agent is told to do something: its orders are read."""
    out.effect("act_change", "another agent")
    if prompt := text_at(keys, "prompt", "task", "message", "instructions", "description"):
        out.code("orders", prompt[:MAX_TEXT])


# What a tool does where no path is named, or whatever is; a tool that looks says what for.
_MISSING: Mapping[str, Sequence[str]] = {
    "delete": ("act_delete", "a file"),
    "delete_tree": ("act_delete", "a directory", "bulk"),
    "move": ("act_change", "a file"),
    "copy": ("act_change", "a file"),
    "read": ("act_read", "files"),
    "note": ("act_change", "notes of the agent"),
    "look": ("act_read", ""),
}
_READERS: Mapping[str, Callable[[Keys, Field, Report], None]] = {
    "shell": _shell, "terminal": partial(_typed, language="shell"), "typed": _typed, "cells": _cells, "computer": _computer,
    "keyboard": partial(_computer, typing=True), "patch": _patch, "fetch": _fetch, "agent": _agent,
    **{language: partial(_code, language) for language in ("powershell", "python", "javascript")},
}  # fmt: skip
