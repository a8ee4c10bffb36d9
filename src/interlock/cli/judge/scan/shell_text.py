"""Snippets of shell text with their line numbers, and their extraction from scripts, Procfiles, package.json and crontabs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from msgspec import Struct

_TEMPLATE = re.compile(
    r"\$\{\{[^\n]{0,300}?\}\}|\$\[\[[^\n]{0,300}?\]\]|<<[ ]?(?:parameters|pipeline|matrix)\.[^\n>]{0,100}>>"
)


class Snippet(Struct, frozen=True):
    """Shell text out of a file."""

    text: str
    lines: tuple[int, ...]  # the file's line for each line of the text
    cwd: str = ""  # where it would run, when the file says so

    def line_at(self, offset: int) -> int:
        """The file's line for a place in the text."""
        return self.lines[min(self.text.count("\n", 0, offset), len(self.lines) - 1)]


def snippet(text: str, first: int, cwd: str = "") -> Snippet:
    """Text whose lines follow one another in the file, from line `first` on."""
    return Snippet(text, tuple(range(first, first + text.count("\n") + 1)), cwd)


def join_snippets(parts: Sequence[Snippet]) -> Snippet:
    """Several pieces that run one after the other in the same shell."""
    return Snippet(
        "\n".join(part.text for part in parts), tuple(line for part in parts for line in part.lines), parts[0].cwd
    )


def in_language(language: str, piece: Snippet) -> Snippet:
    """Code in another language, as the shell command that would run it."""
    end = "INTERLOCK_END"
    return Snippet(
        f"{language} <<'{end}'\n{piece.text}\n{end}", (piece.lines[0], *piece.lines, piece.lines[-1]), piece.cwd
    )


def without_templates(text: str) -> str:
    """Replaces CI expressions such as `${{ github.ref }}` by a plain word of the same length: unknown, and without effect."""
    return _TEMPLATE.sub(lambda found: "template".ljust(len(found[0]), "_")[: len(found[0])], text)


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


_FIELD = r"[0-9A-Za-z*,/?#LW~-]+"
_JOB = re.compile(rf"^\s*(?:@\w+|{_FIELD}(?:[ \t]+{_FIELD}){{4}})[ \t]+(\S.*)$")
_SETTING = re.compile(r"^\s*[A-Za-z_]\w*\s*=")
_USER = re.compile(r"(root|www-data|nobody|daemon|[a-z_][a-z0-9_-]*)[ \t]+(\S.*)$")
_COMMON_USERS = frozenset({"root", "www-data", "nobody", "daemon", "postgres", "mysql", "nginx", "ubuntu"})
_PERCENT = re.compile(r"(?<!\\)%")


def crontab(text: str) -> list[Snippet]:
    """A user's crontab; a line that starts with a well-known user's name is read as a system's."""
    return _jobs(text, system=False)


def system_crontab(text: str) -> list[Snippet]:
    """/etc/crontab and /etc/cron.d: a user's name stands before the command."""
    return _jobs(text, system=True)


def _jobs(text: str, system: bool) -> list[Snippet]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        job = None if line.lstrip().startswith("#") or _SETTING.match(line) else _JOB.match(line)
        if job:
            found.append(snippet(_command(job[1], system), number))
    return found


def _command(text: str, system: bool) -> str:
    user = _USER.match(text)
    if user and (system or user[1] in _COMMON_USERS):
        text = user[2]
    # cron takes what follows the first % for standard input
    return _PERCENT.split(text, maxsplit=1)[0].replace("\\%", "%")
