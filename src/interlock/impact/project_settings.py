"""Checks that a project's settings, SQL and Compose files stay on this machine; raises Unclear where they lead elsewhere, runs none of them."""

from __future__ import annotations

import os
import re

from interlock.analysis.targets.addresses import database_of_url, is_ephemeral_name
from interlock.impact import Unclear, read_contents
from interlock.impact.survey import FileSurvey

MOST = 256 << 10
_FILES = (
    "config/database.yml",
    "database.yml",
    ".env",
    ".env.local",
    ".env.{0}",
    ".env.{0}.local",
    "config/application.yml",
    ".envrc",
)
_ADDRESS = re.compile(r"\b[a-z0-9+]{2,20}://[^\s\"'<>]+", re.IGNORECASE)
_HOST = re.compile(
    r"^\s*(?:export\s+)?[\"']?(?:\w*_)?(?:DB_|PG|DATABASE_)?host[\"']?\s*[:=]\s*(\S.*)$", re.IGNORECASE | re.MULTILINE
)
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "[::1]", "db", "postgres", "mysql", "database"})
_OTHERS = re.compile(r"^(?:production|staging):.*\n(?:[ \t#].*\n?|\n)*", re.MULTILINE)  # sections for elsewhere
_TOLD = re.compile(r"\\(?!\.$|N\b)|\b(?:dblink|drop\s+database|program)\b", re.IGNORECASE | re.MULTILINE)
_VOLUMES = re.compile(r"^[\"']?volumes[\"']?\s*:|^\s*\{", re.MULTILINE)
_INCLUDED = re.compile(r"^\s*[\"']?(?:include|extends)[\"']?\s*:", re.MULTILINE)
_PROJECT = re.compile(r"^name:\s*[\"']?([\w-]+)", re.MULTILINE)
_NAMED = re.compile(r"^\s*(?:export\s+)?DATABASE_URL\s*=\s*(.+)$", re.MULTILINE)


def check_database_settings(bases: list[str], environment: str, standing: FileSurvey) -> None:
    """Raises Unclear where a settings file names a machine that is not this one, or says it in a way that is not known here."""
    for base in bases:
        for name in _FILES:
            path = os.path.join(os.path.realpath(base), name.format(environment))
            if os.path.lexists(path):
                _read(path, name.format(environment), standing)
    standing.tally.kept += 1
    standing.tally.found = True


def check_sql_files(paths: list[str], standing: FileSurvey) -> None:
    """Raises Unclear where a file of statements tells its client to do anything else: to go to another database, or to run something."""
    for path in paths:
        text = read_contents(os.path.realpath(path), standing.budget, MOST).decode("utf-8", "replace")
        if _TOLD.search(text):
            raise Unclear(f"{os.path.basename(path)} says more than statements")
    standing.tally.kept += 1
    standing.tally.found = True


def check_compose_files(paths: list[str], standing: FileSurvey, own: bool = False) -> None:
    """Raises Unclear where a Compose file has volumes and no project name of its own: then they may be those of another file beside it.

    With `own` a project is named, and the file has to be one that this session wrote.
    """
    for path in paths:
        if own:
            if not standing.own.file(path, os.lstat(path)):
                raise Unclear(f"{os.path.basename(path)} was not made by this session")
            continue
        text = read_contents(os.path.realpath(path), standing.budget, MOST).decode("utf-8", "replace")
        named = _PROJECT.search(text)
        if _INCLUDED.search(text) or (_VOLUMES.search(text) and not (named and is_ephemeral_name(named[1]))):
            raise Unclear(f"{os.path.basename(path)} may share its volumes with another project")
    if not paths:
        raise Unclear("there is no such Compose file")
    standing.tally.kept += 1
    standing.tally.found = True


def _read(path: str, name: str, standing: FileSurvey) -> None:
    text = _OTHERS.sub("", read_contents(path, standing.budget, MOST).decode("utf-8", "replace"))
    for address in _ADDRESS.findall(text):
        place = database_of_url(address)
        if address.lower().startswith(("http:", "https:")):
            continue
        if place is None or (place.host not in _LOCAL and not place.host.startswith("/")):
            raise Unclear(f"{name} names another machine")
    for value in _HOST.findall(text):
        if value.split("#")[0].strip().strip("\"'") not in _LOCAL:
            raise Unclear(f"{name} names another machine")
    for value in _NAMED.findall(text):
        found = database_of_url(value.strip().strip("\"'"))
        if found is None or not is_ephemeral_name(found.name):
            raise Unclear(f"{name} names a database that is not one to throw away")
