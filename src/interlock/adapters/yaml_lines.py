"""YAML, or Markdown with YAML front matter -> plain data, and the line of every key in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from interlock.problems import Path, Problems, describe_value

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node, ScalarNode

MAX_CHARACTERS = 256 * 1024
MAX_NODES = 20_000  # after aliases are followed, so that no file can grow while it is read
MAX_DEPTH = 32
MAX_NUMBER = 40  # characters; a longer number is none that an adapter needs
MARK = "\0"  # begins the part of a path that only stands for a line
_FENCE = "---"
_TAG = "tag:yaml.org,2002:"


class ParsedYaml(Struct, frozen=True):
    data: Mapping[str, Any] | None
    lines: Mapping[Path, int]
    problems: Problems

    def line(self, path: Path) -> int:
        """The line of a key, or of the nearest thing around it."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return 1


def read_text(text: str, markdown: bool) -> ParsedYaml:
    """What cannot be read is a problem, never an exception."""
    reader = _Reader()
    try:
        data = reader.table(text, markdown)
    except _Refused:
        data = None
    return ParsedYaml(data, reader.lines, reader.problems)


class _Refused(Exception):
    """Nothing of it can be read; the problem is already named."""


class _Reader:
    def __init__(self) -> None:
        self.lines: dict[Path, int] = {(): 1}
        self.problems = Problems()
        self.left = MAX_NODES

    def table(self, text: str, markdown: bool) -> dict[str, Any]:
        if len(text) > MAX_CHARACTERS:
            self._refuse(f"is longer than {MAX_CHARACTERS // 1024} KB")
        data = self.value(self._composed(self._front_matter(text) if markdown else text), (), 0)
        if not isinstance(data, dict):
            self._refuse(f"expected a table of keys, got {describe_value(data)}")
        return data

    def _refuse(self, message: str, path: Path = ()) -> NoReturn:
        self.problems.error(path, message)
        raise _Refused

    def _front_matter(self, text: str) -> str:
        """The text between two `---`; an empty line for the first keeps the line numbers."""
        rows = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
        if rows[0].rstrip() != _FENCE:
            self._refuse("has no front matter: its first line is not '---'")
        for at, row in enumerate(rows[1:], 1):
            if row.rstrip() in (_FENCE, "..."):
                return "\n".join(["", *rows[1:at]]) + "\n"
        return self._refuse("has front matter that never ends: no second '---'")

    def _composed(self, body: str) -> Node:
        import yaml

        try:
            node: Node | None = yaml.compose(body, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = self._on_line(mark.line + 1 if mark else 1, ())
            self._refuse(f"is no YAML: {error.problem or error.context}", place)
        except yaml.YAMLError as error:
            self._refuse(f"is no YAML: {str(error).splitlines()[0][:100]}")
        except RecursionError:
            self._refuse(f"is nested deeper than {MAX_DEPTH}")
        return node or self._refuse("is empty")

    def value(self, node: Any, path: Path, depth: int) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH:
            limit = f"nested deeper than {MAX_DEPTH}" if depth > MAX_DEPTH else f"more than {MAX_NODES} values"
            self._refuse(f"is {limit}, aliases followed", path)
        if node.id == "mapping":
            return self._mapping(node, path, depth)
        if node.id == "scalar":
            return self._scalar(node, path)
        return [self.value(item, (*path, at), depth + 1) for at, item in enumerate(node.value)]

    def _mapping(self, node: MappingNode, path: Path, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, item in node.value:
            line = name.start_mark.line + 1
            if name.id != "scalar" or name.tag == f"{_TAG}merge":
                what = "a merge (<<)" if name.id == "scalar" else "a key that is no text"
                self.problems.error(self._on_line(line, path), f"{what} is not read; write the keys out")
                continue
            key = name.value  # as written: `on:` and `1:` are names here, not a boolean and a number
            if key in found:
                words = f"key {describe_value(key)} is there twice; first on line {self.lines[(*path, key)]}"
                self.problems.error(self._on_line(line, (*path, key)), words)
                continue
            self.lines[(*path, key)] = line
            found[key] = self.value(item, (*path, key), depth + 1)
        return found

    def _scalar(self, node: ScalarNode, path: Path) -> Any:
        """A text, number, boolean or nothing; a date stays a text, any other tag is refused."""
        kind = node.tag.removeprefix(_TAG)
        if kind in ("str", "timestamp"):
            return node.value
        if kind not in ("null", "bool", "int", "float"):
            self.problems.error(path, f"tag {describe_value(node.tag)} is not read")
            return node.value
        if len(node.value) > MAX_NUMBER:
            self.problems.error(path, f"{describe_value(node.value)} is too long for {kind}")
            return None
        import yaml

        try:
            return yaml.constructor.SafeConstructor().construct_object(node)
        except (ValueError, OverflowError, KeyError, yaml.YAMLError):
            self.problems.error(path, f"{describe_value(node.value)} cannot be read as {kind}")
            return None

    def _on_line(self, line: int, path: Path) -> Path:
        """A unique path for a line, next to the known ones of `path`."""
        place = (*path, f"{MARK}{line}")
        self.lines[place] = line
        return place
