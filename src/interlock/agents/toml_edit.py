"""Adds a marked block at the end of a user's TOML file and takes it out again, leaving every other character as it was."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from interlock.agents.hook_files import Hook
from interlock.agents.jsonc import EditError

BEGIN = "# >>> interlock: written by `interlock install`, taken out by `interlock uninstall`"
END = "# <<< interlock"
_END = re.compile(rf"{re.escape(END)}(?:\r?\n)?")
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


def hooks_text(hooks: Iterable[Hook]) -> str:
    return "\n".join(line for hook in hooks for line in _table(hook.path, hook.value))


def _table(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    yield f"[[{'.'.join(path)}]]"
    for key, value in table.items():
        if isinstance(value, list):
            for inner in value:
                yield from _table((*path, key), inner)
        else:
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"


def toml_lines(tables: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Lists of tables come after the plain keys."""
    for name, table in tables.items():
        inner = {key: value for key, value in table.items() if _is_tables(value)}
        if len(inner) < len(table):
            yield f"\n[{name}]"
        for key, value in table.items():
            if key not in inner:
                yield f"{'# ' if value == [] else ''}{key} = {_value(value)}"  # empty says nothing
        for key, rows in inner.items():
            for row in rows:
                yield f"\n[[{name}.{key}]]"
                yield from (f"{inner_key} = {_value(value)}" for inner_key, value in row.items() if value is not None)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        where = _PLACE.search(str(error))
        line, column = (int(where[1]), int(where[2])) if where else (0, 0)
        raise EditError(_PLACE.sub("", str(error)).strip(), line, column) from None
    except RecursionError:
        raise EditError("nested too deeply") from None


def with_block(text: str | None, block: str) -> str:
    """With this block at its end and no older one; refuses a file that it would break or change."""
    rest = None if text is None else without_block(text)
    before = parse_toml(rest or "")
    newline = "\r\n" if rest and "\r\n" in rest else "\n"
    ours = newline.join([BEGIN, *block.strip("\n").split("\n"), END, ""])
    whole = ours if rest is None else rest + newline + ours
    try:
        after = parse_toml(whole)
    except EditError:
        raise EditError(
            "the file defines hooks in a way that nothing can be added to; write them as [[hooks.…]]"
        ) from None
    if not _holds(after, before):
        raise EditError("the block cannot be added without changing the rest of the file")
    return whole


def without_block(text: str) -> str | None:
    """None when nothing else was in it. Refuses a block whose end is gone."""
    start = text.find(BEGIN)
    if start < 0:
        return text
    if (end := _END.search(text, start)) is None:
        raise EditError(f"the block has no line {END!r}", text.count("\n", 0, start) + 1, 1)
    if start == 0:
        return text[end.end() :] or None
    start -= 2 if text[:start].endswith("\r\n") else 1
    return text[:start] + text[end.end() :]


def _holds(after: Any, before: Any) -> bool:
    if isinstance(before, dict):
        return isinstance(after, dict) and all(key in after and _holds(after[key], before[key]) for key in before)
    if isinstance(before, list):
        return isinstance(after, list) and after[: len(before)] == before
    return bool(after == before)
