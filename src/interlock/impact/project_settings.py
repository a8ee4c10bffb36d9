"""Checks that a project's settings, SQL and Compose files stay on this machine; raises Unclear where they lead elsewhere, runs none of them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import islice, product

from interlock.analysis.targets import database_of_url, is_ephemeral_name
from interlock.impact import Unclear, read_contents
from interlock.impact.survey import FileSurvey
from interlock.model import Json

MOST = 256 << 10
_FILES = (
    "config/database.yml database.yml .env .env.local .env.{0} .env.{0}.local config/application.yml .envrc".split()
)
_ADDRESS = re.compile(r"\b[a-z0-9+]{2,20}://[^\s\"'<>]+", re.IGNORECASE)
_HOST = re.compile(
    r"^\s*(?:export\s+)?[\"']?(?:\w*_)?(?:DB_|PG|DATABASE_)?host[\"']?\s*[:=]\s*(\S.*)$", re.IGNORECASE | re.MULTILINE
)
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "[::1]", "db", "postgres", "mysql", "database"})
_OTHERS = re.compile(r"^(?:production|staging):.*\n(?:[ \t#].*\n?|\n)*", re.MULTILINE)  # sections for elsewhere
_CLIENT_COMMANDS = re.compile(r"\\(?!\.$|N\b)|\b(?:dblink|drop\s+database|program)\b", re.IGNORECASE | re.MULTILINE)
_VOLUMES = re.compile(r"^[\"']?volumes[\"']?\s*:|^\s*\{", re.MULTILINE)
_INCLUDED = re.compile(r"^\s*[\"']?(?:include|extends)[\"']?\s*:", re.MULTILINE)
_PROJECT = re.compile(r"^name:\s*[\"']?([\w-]+)", re.MULTILINE)
_MOST_MIGRATIONS = 5_000
_DATABASE_URL = re.compile(r"^\s*(?:export\s+)?DATABASE_URL\s*=\s*(.+)$", re.MULTILINE)


def check_database_settings(effect: Json, bases: Sequence[str], survey: FileSurvey) -> None:
    """Raises Unclear where a settings file names another machine, or an address in an unknown form."""
    for base, form in product(bases, _FILES):
        name = form.format(str(effect["environment"]))
        path = os.path.join(os.path.realpath(base), name)
        if os.path.lexists(path):
            _check_settings_file(path, name, survey)


def check_sql_files(_: Json, paths: Sequence[str], survey: FileSurvey) -> None:
    """Raises Unclear for client commands, such as connecting to another database or running a program."""
    for path in paths:
        if _CLIENT_COMMANDS.search(_text(os.path.realpath(path), survey)):
            raise Unclear(f"{os.path.basename(path)} says more than statements")


def _text(path: str, survey: FileSurvey) -> str:
    return read_contents(path, survey.budget, MOST).decode("utf-8", "replace")


def check_last_migration(effect: Json, folders: Sequence[str], survey: FileSurvey) -> None:
    """Raises Unclear unless this session created the file that was written last.

    `applied` is the last one when this session applied all of them; empty where the action does that itself.
    """
    last = last_migration(folders[0]) if len(folders) == 1 else ""
    survey.budget.tick()
    if not last or str(effect["applied"]) not in ("", last) or not survey.own.created(last):
        raise Unclear("the last migration may be older than this session")


def last_migration(folder: str) -> str:
    """Empty where there is none, or too many to tell."""
    found: list[tuple[int, str]] = []
    try:
        with os.scandir(os.path.realpath(folder)) as entries:
            for entry in islice(entries, _MOST_MIGRATIONS):
                if entry.is_file(follow_symlinks=False):
                    found.append((entry.stat(follow_symlinks=False).st_ctime_ns, entry.path))
            return max(found)[1] if found and next(entries, None) is None else ""
    except (OSError, ValueError):
        return ""


def check_compose_files(effect: Json, paths: Sequence[str], survey: FileSurvey) -> None:
    """Raises Unclear where a Compose file has volumes and no project name of its own: another project may share them.

    With `own` a project is named, and the file must have been written in this session.
    """
    for path in paths:
        if effect.get("own"):
            if not survey.own.file(path, os.lstat(path)):
                raise Unclear(f"{os.path.basename(path)} was not created in this session")
            continue
        text = _text(os.path.realpath(path), survey)
        named = _PROJECT.search(text)
        if _INCLUDED.search(text) or (_VOLUMES.search(text) and not (named and is_ephemeral_name(named[1]))):
            raise Unclear(f"{os.path.basename(path)} may share its volumes with another project")
    if not paths:
        raise Unclear("there is no such Compose file")


def _check_settings_file(path: str, name: str, survey: FileSurvey) -> None:
    text = _OTHERS.sub("", _text(path, survey))
    addresses = (one for one in _ADDRESS.findall(text) if not one.lower().startswith(("http:", "https:")))
    hosts = [place.host if (place := database_of_url(one)) else "" for one in addresses]
    hosts = [host for host in hosts if not host.startswith("/")]
    hosts += (value.split("#")[0].strip().strip("\"'") for value in _HOST.findall(text))
    if not _LOCAL.issuperset(hosts):
        raise Unclear(f"{name} names another machine")
    for value in _DATABASE_URL.findall(text):
        found = database_of_url(value.strip().strip("\"'"))
        if found is None or not is_ephemeral_name(found.name):
            raise Unclear(f"{name} names a database that is not ephemeral")
