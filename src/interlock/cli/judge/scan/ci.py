"""Extracts the shell text of the steps in CI files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby

import yaml

from interlock.analysis.programs.load import reads_posix
from interlock.analysis.shell.interpreters import is_interpreter
from interlock.cli.judge.scan.shell_text import Snippet, in_language, join_snippets, without_templates

Key = str | int
Path = tuple[Key, ...]
MAX_DEPTH = 64


def scalars(text: str) -> Iterator[tuple[Path, Snippet]]:
    """All scalars in order, each where it stands; of broken or deeply nested YAML those before the place."""
    source, events = text.splitlines(), yaml.parse(text, Loader=yaml.SafeLoader)
    with suppress(yaml.YAMLError):
        for event in events:
            if isinstance(event, yaml.NodeEvent):
                yield from _scalars_of(event, (), events, source)


def _scalars_of(
    event: yaml.Event, path: Path, events: Iterator[yaml.Event], source: list[str]
) -> Iterator[tuple[Path, Snippet]]:
    if len(path) > MAX_DEPTH:
        raise yaml.YAMLError("nested too deeply")
    if isinstance(event, yaml.ScalarEvent):
        value = event.value.rstrip() if event.style in ("|", ">") else event.value
        yield path, Snippet(value, _lines(event, source))
        return
    inner = iter(lambda: next(events), None) if isinstance(event, yaml.CollectionStartEvent) else ()
    for at, item in enumerate(inner):
        if isinstance(item, yaml.CollectionEndEvent):
            return
        key: Key = at
        if isinstance(event, yaml.MappingStartEvent):
            key = item.value if isinstance(item, yaml.ScalarEvent) else ""
            if isinstance(item, yaml.CollectionStartEvent):
                yield from _scalars_of(item, (*path, key), events, source)
            item = next(events)
        yield from _scalars_of(item, (*path, key), events, source)


def _lines(event: yaml.ScalarEvent, source: list[str]) -> tuple[int, ...]:
    """The file's line for each line of a scalar; `>` joins lines, and what is quoted counts as one."""
    first = event.start_mark.line + 1 if event.start_mark else 1
    rows = event.value.rstrip().split("\n")
    if event.style == "|":
        return tuple(range(first + 1, first + 1 + len(rows)))
    if event.style != ">":
        return (first,) * (event.value.count("\n") + 1)
    found: list[int] = []
    for row in map(str.strip, rows):
        starts = (at for at in range(first, len(source)) if source[at].strip() and row.startswith(source[at].strip()))
        first = next(starts, first) if row else first
        found.append(first + 1)
    return tuple(found)


_SETTINGS = (("with",), ("env",), ("variables",))  # under these keys a name is anybody's


def ci_steps(text: str, keys: frozenset[str], above: str) -> list[Snippet]:
    values = list(scalars(without_templates(text)))
    shells = {path[:-1]: value.text for path, value in values if path[-1:] == ("shell",)}
    found: list[Snippet] = []
    # Those of one list together: they share a shell.
    for (name, place), group in groupby(_that_run(values, keys, above), lambda one: one[0]):
        piece = join_snippets([value for _, value in group])
        shell = str(name) if is_interpreter(str(name)) else shells.get(place, "")
        program = (shell.split() or [""])[0].rsplit("/", 1)[-1]
        if not program or reads_posix(program):
            found.append(piece)
        elif is_interpreter(program):
            found.append(in_language(program, piece))
    return found


def _that_run(
    values: list[tuple[Path, Snippet]], keys: frozenset[str], above: str
) -> Iterator[tuple[tuple[Key, Path], Snippet]]:
    for path, value in values:
        name, place = _name_and_place(path)
        if name in keys and (not above or above in place) and place[-1:] not in _SETTINGS and value.text.strip():
            yield (name, place), value


def _name_and_place(path: Path) -> tuple[Key, Path]:
    """The last key that is a name, and those before it; positions in a list do not count."""
    end = len(path)
    while end and isinstance(path[end - 1], int):
        end -= 1
    return (path[end - 1], path[: end - 1]) if end else ("", ())
