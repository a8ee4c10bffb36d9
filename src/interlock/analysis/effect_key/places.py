"""Where an effect happens, when its target does not say: on another machine, in a container, in a database, in a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from interlock.analysis.effect_key.params import DATABASE, split_off
from interlock.analysis.effect_key.programs import database_place
from interlock.core.model import Action, Kind
from interlock.core.read.facts import Command, Effect, known
from interlock.core.read.places import resolve
from interlock.core.read.shell.options import options, valued

AWAY = frozenset({"remote", "container"})
_SHELLS_AWAY = frozenset({"ssh", "autossh", "mosh", "rsh"})
_SSH = valued("-b -c -D -E -e -F -i -J -L -l -m -O -o -p -Q -R -S -W -w")
_EXEC = valued(
    "-u --user -e --env -w --workdir -n --namespace --context -c --container --kubeconfig -v --volume --name -p --network -H --host"
)
_CLIENTS = valued(
    "-h --host -d --dbname --database -D -p -P --port -U -u --user --username -c --command -e --execute -f --file -q --query -v --set -S "
    "--server -o -F -R -T --eval --url --uri -n -a -i -x --pset"
)
_FILES = frozenset({"sqlite3", "sqlite", "duckdb", "libsql", "litecli"})
_COMMANDS = frozenset({"redis-cli", "valkey-cli", "keydb-cli"})  # whose words are statements
_CONNECT = re.compile(r"""connect\(\s*(?:f|r|b)?["']([^"'\n]+)["']""")
_FILE_NAME = re.compile(r"\.(?:db|sqlite3?|duckdb)$|^[./~]")


def place_of(action: Action, fact: Effect | Command, facts: Sequence[object]) -> str:
    """The name of where it happens; empty where it happens on this machine."""
    if not fact.traits & AWAY:
        return ""
    through = {step.split()[0] for step in fact.via if step.strip()}
    around = [one for one in facts if isinstance(one, Command) and one is not fact and one.program in through]
    leaves = [
        one for one in around if not one.traits & AWAY or one.program in _SHELLS_AWAY
    ]  # a shell inside goes nowhere
    near = [one for one in leaves if one.span == fact.span] or leaves
    return " ".join(dict.fromkeys(map(_reached, near))) or f"away:{' '.join(fact.via)}"


def _reached(wrapper: Command) -> str:
    if wrapper.program in _SHELLS_AWAY:
        found = options(wrapper.words, _SSH, stop_at_operand=True).operands
        return f"host:{found[0].rpartition('@')[2].casefold()}" if found else "host:"
    found = options(wrapper.words, _EXEC, stop_at_operand=False).operands
    names = [word for word in found if word not in ("exec", "run", "compose", "container", "debug")]
    return f"{wrapper.program}:{names[0]}" if names else f"{wrapper.program}:"


def store_place(action: Action, effect: Effect, facts: Sequence[object]) -> str:
    """The database that a statement goes to, as far as its client, its parameters or its code names one; else the agent's folder."""
    client = next(
        (one for one in facts if isinstance(one, Command) and one.span == effect.span and one.program in effect.via),
        None,
    )
    if client is not None and all(map(known, client.words)):
        found = _of_client(client)
        if found:
            return found
    if action.kind in (Kind.OPERATION, Kind.TOOL):
        given = action.fields.get("params") or action.fields.get("input")
        where, _ = split_off(given, DATABASE)
        return of_params(where, action.cwd)
    connected = (
        _CONNECT.search(action.text) if client is None or client.program.startswith(("python", "node")) else None
    )
    if connected:
        return of_address(connected[1], client.cwd if client else action.cwd)
    return client.cwd if client is not None and client.cwd else action.cwd


def of_params(where: Mapping[str, str], cwd: str) -> str:
    """The place that parameters name; the agent's folder where they name none."""
    address = next(
        (where[key] for key in ("dsn", "url", "uri", "connection", "connection_string") if where.get(key)), ""
    )
    if address:
        return of_address(address, cwd)
    name = next((where[key] for key in ("database", "db", "dbname", "database_name", "db_name") if where.get(key)), "")
    host = next((where[key] for key in ("host", "hostname", "server", "endpoint") if where.get(key)), "")
    if name and not host and _FILE_NAME.search(name):
        return f"db:{resolve(name, cwd)}"
    return database_place(host, where.get("port", ""), name) if name or host else cwd


def of_address(address: str, cwd: str) -> str:
    """A database by its address: a URL, a file, or a name."""
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", str(parts.port or "")
        except ValueError:
            return f"db:{address}"
        if (
            parts.scheme.startswith("sqlite") or parts.scheme == "file"
        ):  # three slashes are a relative path, four an absolute one
            return f"db:{resolve(parts.path.removeprefix('/'), cwd)}"
        return database_place(host, port, unquote(parts.path.lstrip("/")))
    if _FILE_NAME.search(address):
        return f"db:{resolve(address.removeprefix('file:'), cwd)}"
    return database_place("", "", address)


def _of_client(client: Command) -> str:
    """What a client's words and settings name; empty for its own defaults."""
    found = options(client.words, _CLIENTS)
    env = dict(client.env)
    names = [word for word in found.operands if " " not in word.strip() and client.program not in _COMMANDS]
    if client.program in _FILES:
        return f"db:{resolve(names[0], client.cwd)}" if names else ""
    named = found.value("-d", "--dbname", "--database", "-D", "--url", "--uri") or (names[0] if names else "")
    named = named or env.get("DATABASE_URL") or env.get("PGDATABASE") or env.get("MYSQL_DATABASE") or ""
    host = found.value("-h", "--host", "-S", "--server") or env.get("PGHOST") or env.get("MYSQL_HOST") or ""
    if "://" in named:
        return of_address(named, client.cwd)
    return database_place(host, found.value("-p", "-P", "--port") or "", named) if named or host else ""
