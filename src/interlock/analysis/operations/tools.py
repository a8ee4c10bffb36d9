"""Calls of the tools that coding agents have, and of servers that name theirs alike -> their effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from itertools import chain

from msgspec import Struct

from interlock.analysis.confusables import plain
from interlock.analysis.facts import Report
from interlock.analysis.http import read_http
from interlock.analysis.lexicon import split_name, vocabulary
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.operations import files, payloads, requests
from interlock.analysis.operations.params import MAX_TEXT, Keys, bounded, each, short_keys, squash, walk
from interlock.analysis.operations.payloads import language_of, text_of
from interlock.analysis.operations.requests import Field
from interlock.analysis.operations.settings import out_of_bounds
from interlock.analysis.programs.load import program_set

_PATTERNS = Patterns("tools")
_LISTS = WordLists("tools")
_MAPS = WordMaps("tools")


def built_in(name: str, keys: Keys, crude: str = "") -> str:
    """The reader of an operation that is a built-in tool's call; nothing for any other, whose name tells more."""
    reader = tool_reader(name, keys)
    if reader in _LISTS.by_path:
        told = (reader != "read" or crude == "read") and keys.texts(_LISTS.path_keys) != []
    else:
        given = _LISTS.code if reader != "shell" else ("input",)
        told = reader in _LISTS.always and (reader not in _LISTS.given or _has_command(keys) or keys.texts(given) != [])
    return reader if told else ""


def _has_command(keys: Keys) -> bool:
    held = map(short_keys, keys.mappings("action", "input"))
    return any(keys.get(key) for key in ("command", "cmd", "script", "commandline")) or any(map(_has_command, held))


def tool_reader(name: str, keys: Keys) -> str:
    """How the calls of a tool are read; nothing for one that nobody knows."""
    reader, shared = _reader_of(name)
    return "" if shared and reader in _LISTS.by_path and not files.paths(keys) else reader


@lru_cache(maxsize=4096)
def _reader_of(name: str) -> tuple[str, bool]:
    """The reader of a tool by its name, and whether only its last part tells: file servers name their tools as the agents do."""
    known = _readers()
    if reader := known.get(squash(name if name.isascii() else plain(name, vocabulary() | known.keys()))):
        return reader, False
    segments = split_name(name)
    words = tuple(chain(*segments))
    typed = not _LISTS.types.isdisjoint(words) and _LISTS.letters.isdisjoint(words)
    if typed and not _LISTS.terminals.isdisjoint(words):
        return "terminal", False
    if not (_LISTS.notebooks.isdisjoint(words) or _LISTS.executes.isdisjoint(words)):
        return "cells", False
    return _readers(shared=True).get(squash("".join(segments[-1])), "") if len(segments) > 1 else "", True


@cache
def _readers(shared: bool = False) -> Mapping[str, str]:
    named = _MAPS.shared if shared else {**_MAPS.shared, **_MAPS.own}
    return {squash(name): reader for name, reader in named.items()}


def read_tool_call(reader: str, name: str, keys: Keys, field: Field, out: Report) -> None:
    """Reports what the call of a tool with this reader would do; `field` reads an operation that only its name tells."""
    out_of_bounds(name, keys, out)
    does = _MAPS.editor.get(keys.text("command", "action").lower(), "edit") if reader == "editor" else reader
    if does in _READERS:
        _READERS[does](_ToolCall(keys, field, out))
    elif does in ("look", "note") or not files.act_on_files(does, keys, out):
        if does not in _MAPS.missing:
            out.unreadable("a file is written, and no parameter says which", "syntax")
            return
        effect, _, target = _MAPS.missing[does].partition(": ")
        verb, *traits = effect.split()
        out.effect(verb, target or keys.text("query", "pattern", "path")[:200], *traits)
    if reader in _LISTS.looking and not _LISTS.run.isdisjoint(keys):
        # search_files {"command": …}: a tool that only looks is given something to run, whatever it may do with that
        given = Keys({key: keys[key] for key in sorted(_LISTS.run & keys.keys())})
        payloads.read_payloads(("run",), "run", given, field, out)


class _ToolCall(Struct, frozen=True):
    """The call of a tool that does more than to act on files; `field` reads an operation that only its name tells."""

    keys: Keys
    field: Field
    out: Report

    def shell(self) -> None:
        keys, out = self.keys, self.out
        if payloads.CommandParams((), keys, "", out).read_commands():
            return
        if text := keys.text("code", "input"):
            out.shell(bounded(text, out))
        elif keys.get("shellid") or keys.get("bashid") or keys.get("restart"):
            out.effect("act_read", "output of a shell")
        elif keys:
            out.unreadable("a shell call without a command that can be read", "payload")

    def code(self, language: str) -> None:
        if text := self.keys.text(*_LISTS.in_order("code")):
            self.out.code(language, text)
            if language == "javascript":
                requests.read_page_script(text, self.field, self.out)

    def typed(self, language: str = "") -> None:
        """Text for a live process is read as that process would read it; of an unknown one nothing can be told."""
        keys, out, pressed = self.keys, self.out, self.keys.get("keys")
        keyed = " ".join(key for key in pressed if isinstance(key, str)) if isinstance(pressed, (list, tuple)) else ""
        text = keys.text(*_LISTS.in_order("typed")) or keyed
        if language:
            self.type_into(language, keyed or text or keys.text("command"))
            return
        if not text.strip("\x03\x04\x1a\x1b\r\n \t") or all(map(_PATTERNS.key.fullmatch, text.split())):
            out.effect("act_change", "a live process")  # polls, interrupts or answers it
            return
        if _PATTERNS.meta.match(text) and "\n" not in text.strip():
            out.effect("act_read", "what a database client shows")
            return
        named = (language_of(chain(*split_name(name))) for name in keys.texts(_LISTS.in_order("process")))
        language = next(filter(None, named), "")
        known = text.split(None, 1)[0] in program_set("typed")
        if language or payloads.is_statement(text):
            self.type_into(language or "sql", text)
        elif not known and not any(word in key for key in keys for word in _LISTS.live):
            out.effect("act_change", "a field")  # of a page or a form
        else:
            if not known:
                out.unreadable("text for a process that is not known", "payload")
            if " " in text.strip():  # most often it is a shell
                self.type_into("shell", text)

    def type_into(self, language: str, text: str) -> None:
        """Reads keys as the process reads them into which they are typed: Enter ends a line."""
        text = text.replace("\r", "\n").removesuffix("C-m").removesuffix("Enter").removesuffix("<Enter>")
        text = text.replace(" C-m ", "\n").replace(" Enter ", "\n")
        self.out.shell(bounded(text, self.out)) if language == "shell" else self.out.code(language, text)

    def cells(self) -> None:
        """The code of a notebook's cells, where a line that begins with ! is for a shell."""
        self.out.effect("act_change", "a notebook")
        for key, _, value, _, _ in walk(self.keys):
            text = "".join(value) if isinstance(value, list) and text_of(value) else value
            if key in _LISTS.cells and isinstance(text, str) and text.strip():
                self.out.run(["ipython", "-c", bounded(text, self.out)])

    def computer(self, typing: bool = False) -> None:
        """Typing into a terminal is a shell command, a click is what its label says; anything else on a screen is a change."""
        keys, out = self.keys, self.out
        action, text = keys.text("action", "type").lower(), keys.text("text", "keys")
        window = keys.text("app", "application", "window", "target", "title", "element").lower()
        terminal = any(word in window for word in ("terminal", "iterm", "konsole", "xterm"))
        entered = text.endswith(("\n", "\r", "{Enter}")) and payloads.reads_as_command(text.strip())
        language = "shell" if terminal else language_of(chain(*split_name(window))) or ("shell" if entered else "")
        if text and language:  # where something runs it
            self.type_into(language, text)
        elif typing:
            out.effect("act_change", "a field")
        elif not requests.read_acts(requests.clicked(action or "click", (), keys), self.field):
            looks = action in ("screenshot", "cursor_position", "wait")
            out.effect("act_read" if looks else "act_change", action or "the screen")

    def patch(self) -> None:
        text = self.keys.text(*_LISTS.in_order("patch"))
        parts = (item for item in each(self.keys.get("command")) if isinstance(item, str) and "***" in item)
        text = text or next(parts, "")
        if not files.patch(text, self.out) and not files.act_on_files("edit", self.keys, self.out):
            self.out.unreadable("a patch that cannot be read", "payload")

    def fetch(self) -> None:
        given = requests.with_nested(self.keys)
        url = self.keys.text("url", "uri", "href", "query", "prompt")
        if requests.asks_with_key(url):
            self.out.effect("act_leak", "a secret")
        read_http(given.text("method") or "get", url[:MAX_TEXT], given.text("body", "data"), (), self.out)

    def agent(self) -> None:
        """Another agent is told to do something: its orders are read."""
        self.out.effect("act_change", "another agent")
        if prompt := self.keys.text("prompt", "task", "message", "instructions", "description"):
            self.out.code("orders", bounded(prompt, self.out))


_READERS: Mapping[str, Callable[[_ToolCall], None]] = {
    **{name: getattr(_ToolCall, name) for name in ("shell", "typed", "cells", "computer", "patch", "fetch", "agent")},
    **{name: partial(_ToolCall.code, language=name) for name in ("powershell", "python", "javascript")},
    "terminal": partial(_ToolCall.typed, language="shell"),
    "keyboard": partial(_ToolCall.computer, typing=True),
}
