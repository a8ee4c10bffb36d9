"""Text that is typed into a live process -> what that process would do with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from interlock.core.read.command_params import shell_text
from interlock.core.read.facts import Report
from interlock.core.read.lexicon import split_name
from interlock.core.read.params import squash
from interlock.core.read.payloads import is_statement

Input = Mapping[str, Any]
_TYPED = ("text", "chars", "input", "keys", "data", "stdin", "content", "value")
_PROCESS = (
    "process",
    "program",
    "shell",
    "interpreter",
    "repl",
    "session",
    "sessionname",
    "command",
    "name",
    "language",
    "title",
    "app",
)
_LIVE = (
    "session",
    "process",
    "pid",
    "shell",
    "pane",
    "terminal",
    "window",
    "target",
    "container",
    "stdin",
    "chars",
    "exec",
)
_TYPED_MOST = frozenset(
    """ls cd cat pwd echo git npm npx yarn pnpm pip python python3 node make cargo go docker kubectl grep find head tail ps top which mkdir cp mv
    rm touch curl wget ssh source export pytest uv ruff mypy tsc cmake gradle mvn sudo systemctl terraform helm""".split()
)
_KEY = re.compile(
    r"(?:[CMS]-\S|\^[A-Z]|<?(?:Escape|Esc|Up|Down|Left|Right|Tab|BSpace|Space|PageUp|PageDown|PgUp|PgDn|Home|End|F\d{1,2}|Enter)>?)",
    re.IGNORECASE,
)
# What psql and mysql show by themselves; \\! runs a command, \\i a file, \\copy and \\o write one.
_META = re.compile(
    r"\s*\\(?:[dlzq?xhsT]|d[a-zA-Z]{0,3}S?|l|conninfo|timing|pset|encoding|errverbose|echo|sf|sv|set|c|connect|du|dn|df)[+]?(?:\s[^\\;|!]{0,200})?$"
)
_READERS_OF: Mapping[str, str] = {
    "python": "python", "ipython": "python", "jupyter": "python", "node": "javascript", "deno": "javascript", "irb": "ruby", "rails": "ruby",
    "pry": "ruby", "psql": "sql", "mysql": "sql", "sqlite": "sql", "sqlite3": "sql", "mariadb": "sql", "redis": "redis", "mongosh": "mongo",
    "mongo": "mongo", "bash": "shell", "sh": "shell", "zsh": "shell", "fish": "shell", "dash": "shell", "ssh": "shell", "terminal": "shell",
    "powershell": "powershell", "pwsh": "powershell", "cmd": "cmd", "php": "php", "lua": "lua", "perl": "perl", "r": "r", "cqlsh": "cql",
    "tmux": "shell", "console": "shell", "iterm": "shell", "iex": "elixir", "python3": "python", "cypher": "cypher", "shell": "shell",
}  # fmt: skip


def text_of(input: Input, *keys: str) -> str:
    """The first of these parameters that is text."""
    found = {squash(key): value for key, value in list(input.items())[:200]}
    for key in keys:
        value = found.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def reader_of(name: str) -> str:
    """The language of the live process that a window or a session is called after; nothing when no word tells."""
    said = (word for words in split_name(name[:200]) for word in words)
    return next((_READERS_OF[word] for word in said if word in _READERS_OF), "")


def read_typed(input: Input, out: Report) -> None:
    """Text for a live process is read as that process would read it; of an unknown one nothing can be told."""
    text = text_of(input, *_TYPED)
    found = {squash(key): value for key, value in list(input.items())[:200]}
    if not text:
        keys = found.get("keys")
        text = " ".join(key for key in keys if isinstance(key, str)) if isinstance(keys, (list, tuple)) else ""
    if not text.strip("\x03\x04\x1a\x1b\r\n \t") or all(map(_KEY.fullmatch, text.split())):
        out.effect("act_change", "a live process")  # polls, interrupts or answers it
        return
    if _META.match(text) and "\n" not in text.strip():
        out.effect("act_read", "what a database client shows")
        return
    for key in _PROCESS:
        value = found.get(key)
        if language := reader_of(value) if isinstance(value, str) else "":
            shell_text(lines(text), out) if language == "shell" else out.code(language, lines(text))
            return
    first = text.split(None, 1)[0]
    if is_statement(text):
        out.code("sql", lines(text))
        return
    if first not in _TYPED_MOST and not any(word in key for key in found for word in _LIVE):
        out.effect("act_change", "a field")  # of a page or a form
        return
    if first not in _TYPED_MOST:
        out.unreadable("text for a process that is not known", "payload")
    if " " in text.strip():  # most often it is a shell
        shell_text(lines(text), out)


def read_terminal(input: Input, out: Report) -> None:
    """Keys for a terminal are read as its shell will."""
    found = {squash(key): value for key, value in list(input.items())[:200]}
    keys = found.get("keys")
    text = " ".join(key for key in keys if isinstance(key, str)) if isinstance(keys, (list, tuple)) else ""
    if text := text or text_of(input, *_TYPED, "command"):
        shell_text(lines(text), out)


def lines(text: str) -> str:
    """Keys as they are typed: Enter ends a line."""
    text = text.replace("\r", "\n").removesuffix("C-m").removesuffix("Enter").removesuffix("<Enter>")
    return text.replace(" C-m ", "\n").replace(" Enter ", "\n")
