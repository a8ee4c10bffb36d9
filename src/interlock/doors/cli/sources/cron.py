"""Crontabs -> the command of each line."""

from __future__ import annotations

import re

from interlock.doors.cli.sources.snippet import Snippet, snippet

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
