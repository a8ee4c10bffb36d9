"""Shell scripts, Procfiles and package.json -> the shell text in them."""

from __future__ import annotations

import json
import re

from interlock.doors.cli.sources.snippet import Snippet, snippet

_PROCESS = re.compile(r"^([A-Za-z0-9_-]+):\s*(\S.*)$")


def shell_script(text: str) -> list[Snippet]:
    """The whole file is one piece."""
    return [snippet(text, 1)]


def procfile(text: str) -> list[Snippet]:
    """`web: command`, one a line."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        process = _PROCESS.match(line)
        if process:
            found.append(snippet(process[2], number))
    return found


def package_json(text: str) -> list[Snippet]:
    """The values of `scripts`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return []
    scripts = data.get("scripts") if isinstance(data, dict) else None
    if not isinstance(scripts, dict):
        return []
    found = []
    place = max(0, text.find('"scripts"'))
    for name, command in scripts.items():
        if isinstance(command, str):
            place = _place_of(text, name, command, place)
            line = text.count("\n", 0, place) + 1
            found.append(Snippet(command, (line,) * (command.count("\n") + 1)))
    return found


def _place_of(text: str, name: str, command: str, start: int) -> int:
    """Where a script stands in the file, from `start` on; `start` itself when its spelling is unusual."""
    for spelled in (json.dumps(name, ensure_ascii=False), json.dumps(name)):
        for key in re.compile(re.escape(spelled) + r"\s*:\s*").finditer(text, start):
            try:
                value, _ = json.JSONDecoder().raw_decode(text, key.end())
            except ValueError:
                continue
            if value == command:
                return key.end()
    return start
