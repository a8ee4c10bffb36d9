"""Adds our entries to the lists below `hooks` in a user's YAML file and takes them out again, leaving every other character as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml
from yaml.nodes import MappingNode, ScalarNode

from interlock.agents.hook_files import KeyPath, is_ours
from interlock.agents.jsonc import EditError, error_at
from interlock.strict_json import list_in

_SECTION = "hooks"
_BLANKS = "\ufeff \t\r\n"
_PLAIN = "hooks: cannot be changed without changing the rest of the file; write it as plain lists, or edit it by hand"


def parse_yaml(text: str) -> dict[str, Any]:
    try:
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = error.problem or error.context or "not YAML"
        raise EditError(words, mark.line + 1 if mark else 0, mark.column + 1 if mark else 0) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that does not exist
        raise EditError(str(error).splitlines()[0]) from None
    if data is not None and not isinstance(data, dict):
        raise EditError("expected a mapping at the top", 1, 1)
    return data or {}


def with_entries(text: str | None, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """One entry for each event and no older ones; refuses a file that they would break or change."""
    old = text or ""
    rest, ours = _split(parse_yaml(old))
    if {event: entry for event, _, entry in ours} == entries and len(ours) == len(entries):
        return old
    new = without_entries(old) or ""
    for number, (event, entry) in enumerate(entries.items(), 1):
        new = _check(old, _insert(new, event, json.dumps(entry, ensure_ascii=False)), rest, number)
    return new


def without_entries(text: str) -> str | None:
    """With the keys that held nothing else; None when nothing else was in it."""
    new = text
    rest, ours = _split(parse_yaml(text))
    for number, (event, at, _) in reversed(list(enumerate(ours))):
        new = _check(text, _cut(new, event, at), rest, number)
    return new if new.strip(_BLANKS) else None


def _split(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, int, Any]]]:
    """The data without our entries and empty lists; and our entries, with event and index."""
    section, ours, rest = data.get(_SECTION), [], {}
    if not isinstance(section, dict):
        return {**data, _SECTION: section}, []
    for event, entries in section.items():
        listed = list(enumerate(list_in(section, event)))
        ours += [(event, at, entry) for at, entry in listed if is_ours(entry)]
        if others := [entry for _, entry in listed if not is_ours(entry)] if listed else entries:
            rest[event] = others
    return {**data, _SECTION: rest or None}, ours


def _check(old: str, new: str, rest: Mapping[str, Any], number: int) -> str:
    """Refuses a text that is broken, differs in anything else, or has not this number of our entries."""
    try:
        kept, ours = _split(parse_yaml(new))
    except EditError:
        kept, ours = {}, []
    if kept != rest or len(ours) != number:
        place = _children(_compose(old)).get(_SECTION)
        raise error_at(old, place[0] if place else len(old), _PLAIN)
    return new


def _compose(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _children(node: Any) -> dict[str | int, tuple[int, Any]]:
    if isinstance(node, MappingNode):
        return {str(key.value): (key.start_mark.index, value) for key, value in node.value}
    items = () if node is None or isinstance(node, ScalarNode) else node.value
    return {number: (item.start_mark.index, item) for number, item in enumerate(items)}


def _column(text: str, at: int) -> int:
    return at - (text.rfind("\n", 0, at) + 1)


def _insert(text: str, event: str, entry: str) -> str:
    """Before the others of its list, with the keys that are missing; `hooks` comes at the end."""
    root = node = _compose(text)
    keys, newline = [_SECTION, event], "\r\n" if "\r\n" in text else "\n"
    while keys and keys[0] in _children(node):
        node = _children(node)[keys.pop(0)][1]
    lines = [f"{'  ' * depth}{key}:" for depth, key in enumerate(keys)] + [f"{'  ' * len(keys)}- {entry}"]
    flow = (entry, f"{event}: [{entry}]", f"{_SECTION}: {{{event}: [{entry}]}}")[len(keys)]
    if node is root and not (isinstance(node, MappingNode) and node.flow_style):
        lead = newline if text and not text.endswith("\n") else ""
        return text + lead + "".join(line + newline for line in lines)
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, ScalarNode):  # null
        return f"{text[:start].rstrip(' ')} {f'{{{flow}}}' if keys else f'[{flow}]'}{text[end:]}"
    if node.flow_style:
        at = min((place for place, _ in _children(node).values()), default=start + 1)
        return text[:at] + flow + (", " if node.value else "") + text[at:]
    return text[:start] + (newline + " " * _column(text, start)).join([*lines, ""]) + text[start:]


def _cut(text: str, event: str, index: int) -> str:
    path: KeyPath = (_SECTION, event, index)
    parents = [_compose(text)]
    for key in path[:-1]:
        parents.append(_children(parents[-1])[key][1])
    while len(parents) > 1 and len(parents[-1].value) == 1:
        parents.pop()
    places, key = _children(parents[-1]), path[len(parents) - 1]
    start, end = places[key][0], _end(places[key][1])
    if not parents[-1].flow_style:
        return text[: start - _column(text, start)] + text[text.find("\n", end) + 1 or len(text) :]
    before = [_end(node) for at, node in places.values() if at < start]
    behind = [at for at, _ in places.values() if at > start]
    return text[:start] + text[behind[0] :] if behind else text[: before[-1] if before else start] + text[end:]


def _end(node: Any) -> int:
    while not isinstance(node, ScalarNode) and not node.flow_style:
        node = list(_children(node).values())[-1][1]
    return int(node.end_mark.index)
