"""Adds Interlock's hooks to a user's JSON file and takes them out again, leaving every other character as it was."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.agents.jsonc import BLANKS, COMMENTS, GAP, Document, Node, end_of, error_at, parse_jsonc
from interlock.model import NOTHING
from interlock.policy.real_paths import CLIENT, ROUTE

SCOPES = ("project", "user", "system")
# In a file that is all ours.
MARK = "interlock-hook: written by `interlock install`, taken out by `interlock uninstall`."
KeyPath = tuple[str | int, ...]


class HookFile(Struct, frozen=True):
    path: Path
    form: str = "json"  # json | jsonc | toml | yaml | plugin | script
    mode: int = 0o644
    note: str = ""  # the step that the user has to take before the agent uses it
    status: bool = False  # whether a status line may be set there: a file of one person
    bare: bool = False  # whether its events stand at the top, and not below `hooks`


class HookClient(Struct, frozen=True):
    """How a hook reaches Interlock: by the client's absolute path, or by URL where the agent can post."""

    path: str
    url: str = ""  # the daemon's address without a path; empty for the client
    status: str = ""  # the shell command that prints a status line, where an agent shows one

    def __post_init__(self) -> None:
        if not self.path.startswith("/") or self.path.rpartition("/")[2] != CLIENT:
            raise ValueError(f"hook client: expected an absolute path that ends in /{CLIENT}, got {self.path!r}")
        if any(ord(char) < 32 or ord(char) == 127 for char in self.path):
            raise ValueError(f"hook client: control character in {self.path!r}")

    def argv(self, word: str, event: str) -> list[str]:
        return [self.path, word, event]

    def shell(self, word: str, event: str) -> str:
        """The shell command; a client that is missing or crashes exits with 2, which blocks."""
        return f"{shlex.join(self.argv(word, event))} || exit 2"

    def post(self, word: str, event: str) -> str:
        return f"{self.url.rstrip('/')}{ROUTE}{word}?event={event}"


class Hook(Struct, frozen=True):
    path: tuple[str, ...]
    value: Mapping[str, Any]


def with_hooks(
    text: str | None, hooks: Sequence[Hook], comments: bool = False, base: Mapping[str, Any] = NOTHING
) -> str:
    """With these entries and no older ones of ours; `base` holds other keys at the top."""
    if text is None or not text.strip("\ufeff" + BLANKS):
        return _new_file(hooks, base)
    if _is_current(parse_jsonc(text, comments), hooks, base):
        return text
    if (kept := without_hooks(text, comments, base)) is None:
        return _new_file(hooks, base)
    for hook in hooks:
        kept = _insert(kept, hook, comments)
    for key, value in base.items():
        kept = with_member(kept, key, value, comments)
    return kept


def without_hooks(text: str, comments: bool = False, base: Mapping[str, Any] = NOTHING) -> str | None:
    """The text without our entries and their containers; None when nothing else is in it."""
    document = parse_jsonc(text, comments)
    while path := _last_of_ours(document.root):
        created = _created_path(document, path)
        form = _form_behind(document.root, created, base)
        whole = (
            {*created[:1], *form} == set(document.root.value)
            and len(created) == 1
            and _is_created(document, document.root)
        )
        if not created or whole:
            return None
        for gone in (*((key,) for key in reversed(form)), created):
            document = parse_jsonc(_remove(document, gone), comments)
    return document.text


def with_member(text: str, key: str, value: Any, comments: bool = False) -> str:
    """The text with a key at the top, where it has none of that name; anybody else's stays."""
    document = parse_jsonc(text, comments)
    return text if document.root.child(key) is not None else _member(document, document.root, key, value)


def without_member(text: str, key: str) -> str:
    return _remove(parse_jsonc(text, comments=False), (key,))


def json_or_empty(text: str) -> dict[str, Any]:
    return dict(parse_jsonc(text).root.value) if text.strip("\ufeff" + BLANKS) else {}


def _is_current(document: Document, hooks: Sequence[Hook], base: Mapping[str, Any]) -> bool:
    lists = [(_at(document.root, hook.path), _exact(hook.value)) for hook in hooks]
    return (
        len(list(_paths_of_ours(document.root))) == len(hooks)
        and all(map(document.root.child, base))
        and all(found and isinstance(found.value, list) and entry in map(_exact, found.value) for found, entry in lists)
    )


def _exact(value: Any) -> str:
    """A text to compare values by: in JSON, unlike in Python, 1 is not true."""
    return json.dumps(value, sort_keys=True)


def _at(node: Node, path: KeyPath) -> Node | None:
    found: Node | None = node
    for key in path:
        found = found and found.child(key)
    return found


def _paths_of_ours(node: Node, path: KeyPath = ()) -> Iterator[KeyPath]:
    if path and isinstance(path[-1], int) and is_ours(node.value):
        yield path
        return
    for key, _, child in node.children:
        yield from _paths_of_ours(child, (*path, key))


def _last_of_ours(root: Node) -> KeyPath:
    """The path of our last entry: the handler, or the group that holds nothing else."""
    path = (list(_paths_of_ours(root)) or [()])[-1]
    while len(path) >= 3 and path[-2] == "hooks" and isinstance(path[-3], int):
        if (siblings := _at(root, path[:-1])) is None or len(siblings.children) != 1:
            break
        path = path[:-2]
    return path


def _created_path(document: Document, path: KeyPath) -> KeyPath:
    """The outermost container created for this entry only; () for the whole file."""
    while path:
        parent = _at(document.root, path[:-1])
        if parent is None or len(parent.children) != 1 or not _is_created(document, parent):
            return path
        path = path[:-1]
    return path


def _form_behind(root: Node, created: KeyPath, base: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys of `base` behind our hooks, as install writes them."""
    names = [name for name, _, _ in root.children]
    if len(created) != 1 or names[names.index(created[0]) + 1 :] != list(base):
        return ()
    return tuple(base) if all(root.value[name] == value for name, value in base.items()) else ()


def _is_created(document: Document, node: Node) -> bool:
    """By its whitespace, which is that of install."""
    text = document.text
    first, last = node.children[0][1], node.children[-1][2].end
    before, behind = text[node.start + 1 : first], text[last : node.end - 1]
    if before == "" and behind == "":
        return "\n" not in text[node.start : node.end]
    newline = _newline(text)
    return (
        before.startswith(newline)
        and not before.strip(BLANKS)
        and behind == newline + _indent_of_line(text, node.start)
    )


def _remove(document: Document, path: KeyPath) -> str:
    text, parent = document.text, _at(document.root, path[:-1])
    assert parent is not None
    number = [name for name, _, _ in parent.children].index(path[-1])
    _, start, node = parent.children[number]
    while text[start - 1] in BLANKS:
        start -= 1
    if (comma := _comma(text, node.end)) is not None:
        return text[:start] + text[comma + 1 :]
    if number == 0:
        return text[:start] + text[node.end :]
    between = _comma(text, parent.children[number - 1][2].end)
    assert between is not None
    return text[:between] + text[between + 1 : start] + text[node.end :]


def _comma(text: str, at: int) -> int | None:
    at = end_of(GAP, text, at)
    return at if text[at : at + 1] == "," else None


def _new_file(hooks: Sequence[Hook], base: Mapping[str, Any]) -> str:
    whole: dict[str, Any] = {}
    for hook in hooks:
        place = whole
        for key in hook.path[:-1]:
            place = place.setdefault(key, {})
        place.setdefault(hook.path[-1], []).append(hook.value)
    return json.dumps({**whole, **base}, indent=2, ensure_ascii=False) + "\n"


def _insert(text: str, hook: Hook, comments: bool) -> str:
    document = parse_jsonc(text, comments)
    node = document.root
    for depth, key in enumerate(hook.path):
        if not isinstance(node.value, dict):
            raise error_at(text, node.start, f"expected an object at {'.'.join(hook.path[:depth])}")
        if (found := node.child(key)) is None:
            value: Any = [hook.value]
            for missing in reversed(hook.path[depth + 1 :]):
                value = {missing: value}
            return _member(document, node, key, value)
        node = found
    if not isinstance(node.value, list):
        raise error_at(text, node.start, f"expected a list at {'.'.join(hook.path)}")
    return _put(document, node, hook.value)


def _member(document: Document, node: Node, key: str, value: Any) -> str:
    return _put(document, node, value, f"{json.dumps(key)}: ")


def _put(document: Document, node: Node, value: Any, lead: str = "") -> str:
    text = document.text
    if not node.children:
        return _first(document, node, value, lead)
    last_start, last_end = node.children[-1][1], node.children[-1][2].end
    comma = _comma(text, last_end)
    at = end_of(COMMENTS, text, comma + 1 if comma is not None else last_end)
    lined = "\n" in text[node.start : node.end]
    indent = _indent_of_line(text, last_start)
    before = _newline(text) + indent if lined else " "
    member = before + lead + _shown(value, indent, document, lined)
    if comma is not None:
        return text[:at] + member + "," + text[at:]
    return text[:last_end] + "," + text[last_end:at] + member + text[at:]


def _first(document: Document, node: Node, value: Any, lead: str) -> str:
    """In an empty container, whose whitespace says that install did not create it."""
    text = document.text
    at = end_of(COMMENTS, text, node.start + 1)
    inner = text[node.start + 1 : node.end - 1]
    newline, outer = _newline(text), _indent_of_line(text, node.start)
    root = document.root
    lined = not root.children or "\n" in text[root.start : root.end]
    if inner.strip(BLANKS) or (lined and inner != newline + outer):
        indent = outer + _unit(document)
        before = newline + indent
    else:
        before, indent = " ", outer
    return text[:at] + before + lead + _shown(value, indent, document, lined) + text[at:]


def _shown(value: Any, indent: str, document: Document, lined: bool) -> str:
    if not lined:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(document)).split("\n")
    return (_newline(document.text) + indent).join(lines)


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _indent_of_line(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(document: Document) -> str:
    root, text = document.root, document.text
    first = root.children[0][1] if root.children else root.start
    return (_indent_of_line(text, first) if "\n" in text[root.start : first] else "") or "  "


_RUNS_US = re.compile(rf"(?:^|/){re.escape(CLIENT)}(?:['\" ]|$)")
_POSTS = re.compile(rf"https?://.*{re.escape(ROUTE)}", re.DOTALL)


def is_ours(entry: Any) -> bool:
    if not isinstance(entry, Mapping):
        return False
    words = [entry.get(key) for key in ("command", "bash", "exec", "url")]
    action = entry.get("action")
    if isinstance(action, Mapping):
        words.append(action.get("command"))
    return any(isinstance(word, str) and (_RUNS_US.search(word) or _POSTS.match(word)) for word in words)
