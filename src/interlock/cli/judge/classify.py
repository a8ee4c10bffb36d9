"""`interlock classify`: reads JSON actions, one a line, and writes their assessments in the same order."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeVar, cast

from interlock.analysis.wire import Id, assessment_json, error_json
from interlock.engine.assessment import Unjudged, judge
from interlock.model import Action, command, intent, operation, tool
from interlock.strict_json import no_constant

T = TypeVar("T", str, dict[str, Any])
MAX_LINE = 1024 * 1024
_CHUNK = 64 * 1024
_KINDS = ("command", "operation", "tool", "hint")


class BadLine(ValueError):
    """A line that is not an action: the reason, and the line's `id` as far as known."""

    def __init__(self, message: str, id: Id = None) -> None:
        super().__init__(message)
        self.id = id


def main(argv: Sequence[str]) -> int:
    if argv:
        known, usage = argv[0] in ("-h", "--help"), Path(__file__).with_suffix(".txt").read_text("utf-8")
        wrong = "" if known else f"interlock classify: takes no {argv[0]!r}\n"
        print(f"{wrong}{usage}", end="", file=sys.stdout if known else sys.stderr)
        return 0 if known else 2
    if sys.stdin.isatty():
        print('Type one JSON action a line, such as {"command": "ls"}; end with Ctrl-D.', file=sys.stderr)
    out = sys.stdout.buffer
    stdin = cast(BufferedReader, sys.stdin.buffer)
    for line in read_lines(stdin.read1, out.flush):
        try:
            if line is None:
                raise BadLine(f"the line is longer than {MAX_LINE} bytes")
            id, given = parse_action(line)
            found = judge(given)
            reply = error_json(found.error, id) if isinstance(found, Unjudged) else assessment_json(found, id)
        except BadLine as error:
            reply = error_json(str(error), error.id)
        out.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
    out.flush()
    return 0


def read_lines(read: Callable[[int], bytes], before_waiting: Callable[[], None]) -> Iterator[bytes | None]:
    """The lines of a stream, one in memory; None for one that is too long."""
    rest, overlong = bytearray(), False
    while True:
        before_waiting()
        chunk = read(_CHUNK)
        if not chunk:
            break
        *whole, last = chunk.split(b"\n")
        for line in whole:
            rest += line
            yield None if overlong or len(rest) > MAX_LINE else bytes(rest)
            rest, overlong = bytearray(), False
        rest += last
        if len(rest) > MAX_LINE:
            rest, overlong = bytearray(), True
    if rest or overlong:
        yield None if overlong else bytes(rest)


def parse_action(line: bytes) -> tuple[Id, Action]:
    """Raises BadLine on anything that is not exactly one action."""
    data, twice = _parsed(line)
    id = None if "id" in twice else data.get("id")
    if isinstance(id, bool) or not isinstance(id, str | int | None):
        raise BadLine(f"id is a {type(id).__name__}, expected a string or a whole number")
    if isinstance(id, str):
        _whole(id, "id", None)
    if twice:
        raise BadLine(f"the key {twice[0]!r} stands there twice", id)
    cwd = _text(data, "cwd", id)
    kinds = [kind for kind in _KINDS if data.get(kind) is not None]
    if len(kinds) != 1:
        raise BadLine(f"{' and '.join(kinds)} in one line" if kinds else "command is missing", id)
    kind = kinds[0]
    text = _text(data, kind, id)
    if kind == "operation":
        return id, operation(text, _field(data, "params", dict, id), _text(data, "crude", id), cwd)
    if kind == "tool":
        return id, tool(text, _field(data, "input", dict, id), cwd)
    return id, command(text, cwd) if kind == "command" else intent(text, cwd)


def _field(data: dict[str, Any], key: str, form: type[T], id: Id) -> T:
    value = data.get(key)
    if not isinstance(value, form | None):
        expected = "a string" if form is str else "an object"
        raise BadLine(f"{key} is a {type(value).__name__}, expected {expected}", id)
    return value or form()


def _text(data: dict[str, Any], key: str, id: Id) -> str:
    return _whole(_field(data, key, str, id), key, id)


def _parsed(line: bytes) -> tuple[dict[str, Any], list[str]]:
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            keys = [key for key, _ in items]
            twice.extend(key for key in found if keys.count(key) > 1)
        return found

    try:
        data = json.loads(line.decode(), object_pairs_hook=pairs, parse_constant=no_constant)
    except UnicodeDecodeError:
        raise BadLine("not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise BadLine(f"not JSON: {error}") from None
    if not isinstance(data, dict):
        raise BadLine(f"a {type(data).__name__}, expected an object")
    return data, twice


def _whole(text: str, key: str, id: Id) -> str:
    """The text itself; refuses a lone surrogate, which no program can be given."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadLine(f"{key} contains half a character", id) from None
    return text
