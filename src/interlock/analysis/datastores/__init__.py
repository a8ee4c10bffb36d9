"""Commands to stores without SQL (Redis, Cassandra, Neo4j, memcached) -> effects."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence

from interlock.analysis.facts import HOLE, Report
from interlock.analysis.programs.load import word_set, word_table
from interlock.analysis.programs.options import options
from interlock.analysis.sql.batch import SqlStatement, split
from interlock.analysis.sql.tokens import cut, flavours

_REDIS_CALL = re.compile(r"redis\.p?call\s*\(\s*['\"](\w+)['\"]\s*(?:,\s*['\"]?([\w:*.{}-]*))?", re.IGNORECASE)
_LONGEST = 200_000


def read_redis(words: Sequence[str], out: Report, valued: Collection[str] = ()) -> None:
    """`valued` are its options with values; without a command it reads its input."""
    found = options(words, frozenset(valued), stop_at_operand=True)
    first = "".join(found.operands[:1])
    if "--eval" in found.flags:
        out.effect("run_script", first)
    elif "--cluster" in found.flags:
        out.effect("store_read" if first in ("info", "check", "help", "backup") else "store_admin", first)
    elif "--pipe" in found.flags:
        out.effect("store_write")
    elif not word_set("redis_asks").isdisjoint(found.flags):
        out.effect("store_read")
    elif found.operands:
        _read_redis_command(found.operands, out)


def read_redis_text(text: str, out: Report) -> None:
    """Lines of commands, as piped into redis-cli or to its port; the wire protocol's own lines are joined."""
    for line in () if _is_too_long("a Redis script", text, out) else _redis_lines(text):
        out.step()
        try:
            words = shlex.split(line)
        except ValueError:
            words = line.split()
        if words:
            _read_redis_command(words, out)


def _is_too_long(what: str, text: str, out: Report) -> bool:
    if too_long := len(text) > _LONGEST:
        out.unreadable(f"{what} that is too long to read", "budget")
    return too_long


def _statements(what: str, text: str, flavour: str, out: Report) -> Iterator[SqlStatement]:
    if not _is_too_long(what, text, out):
        for item in split(cut(text, flavours(text, flavour)[0])[0], text, what):
            out.step()
            yield item


def _redis_lines(text: str) -> list[str]:
    """`*2\\r\\n$3\\r\\nDEL\\r\\n…` is one command over several lines."""
    lines: list[str] = []
    wire = False
    for raw in text.replace("\\r\\n", "\n").replace("\\n", "\n").splitlines():
        line = raw.strip()
        if re.fullmatch(r"\*\d{1,9}", line):
            wire = True
            lines.append("")
        elif wire and re.fullmatch(r"\$\d{1,12}", line):
            continue
        elif wire and lines:
            lines[-1] += (" " if lines[-1] else "") + shlex.quote(line)
        elif line:
            lines.append(line)
    return lines


def _read_redis_command(words: Sequence[str], out: Report) -> None:
    command = words[0].lower()
    second = words[1].lower() if len(words) > 1 else ""
    if command.isdecimal() and len(words) > 1:  # redis-cli repeats a command that a number precedes
        _read_redis_command(words[1:], out)
    elif HOLE in command:
        out.unreadable("a Redis command made at run time", "payload")
    elif command in ("flushall", "flushdb"):
        out.effect("store_drop", "", "all" if command == "flushall" else "database")
    elif command in ("eval", "eval_ro", "evalsha", "fcall"):
        _read_lua(words, out)
    else:
        _tell_redis(words, command, f"{command}:{second}", out)


def _tell_redis(words: Sequence[str], command: str, pair: str, out: Report) -> None:
    known = word_table("redis")
    verb = known.get(pair) or known.get(command, "store_read")
    if verb == "store_delete":
        for key in (words[1:] if command in ("del", "unlink") else words[1:2]) or [""]:
            out.effect(verb, key)
    elif verb == "store_admin":
        out.effect(verb, pair.replace(":", " ") if pair in known else command)
    else:
        out.effect(verb, "" if pair in known else "".join(words[1:2]))


def _read_lua(words: Sequence[str], out: Report) -> None:
    """Deleting what a pattern finds has no bound."""
    script = words[1] if len(words) > 1 else ""
    if HOLE in script and not _REDIS_CALL.search(script):
        out.unreadable("a Redis script made at run time", "payload")
        return
    calls = [(name.lower(), key) for name, key in _REDIS_CALL.findall(script[:_LONGEST])]
    listed = any(name in ("keys", "scan") for name, _ in calls)
    for name, key in calls or [("eval", "")]:
        out.step()
        if name in ("del", "unlink"):
            out.effect("store_delete", key, *["unfiltered"] * listed)
        elif name == "eval":
            out.effect("store_write")
        else:
            _read_redis_command([name, key] if key else [name], out)


def read_cql(text: str, out: Report) -> None:
    """Cassandra's language, as given to cqlsh."""
    for item in _statements("CQL", text, "sqlite", out):
        head = item.head
        if item.tokens[0].kind == "hole":
            out.unreadable("CQL made at run time", "payload")
        elif head == "DROP":
            at = 2 if item.word(1) == "MATERIALIZED" else 1
            out.effect("store_drop", item.name(at + 1), word_table("cql_kinds").get(item.word(at), "other"))
        elif head == "TRUNCATE":
            out.effect("store_delete", item.name(1), "unfiltered")
        elif head == "DELETE" or (head == "BEGIN" and item.top("DELETE") > 0):
            came, where = item.top("FROM"), item.top("WHERE")
            out.effect("store_delete", item.name(came + 1), *["unfiltered"] * (where <= 0))
        elif head == "ALTER" and item.top("DROP") > 0:
            out.effect("store_drop", item.name(2), "other")
        elif head == "SOURCE":
            out.effect("run_script", item.name(1))
        elif head in ("GRANT", "REVOKE"):
            out.effect("store_admin", head.lower())
        else:
            out.effect("store_read" if head in word_set("cql_reads") else "store_write")


def read_memcached(text: str, out: Report) -> None:
    lines = text[:_LONGEST].replace("\\r", "\n").replace("\\n", "\n").splitlines()
    for words in filter(None, map(str.split, lines)):
        out.step()
        verb = word_table("memcached").get(words[0].lower(), "store_read")
        everything = verb == "store_drop"
        out.effect(verb, "".join(words[1:2]) if not everything else "", *["all"] * everything)


def read_cypher(text: str, out: Report) -> None:
    for item in _statements("Cypher", re.sub(r"(?m)^\s*//.*$", "", text), "clickhouse", out):
        spoken = [i for i in range(len(item.tokens)) if i == 0 or item.tokens[i - 1].text not in (".", ":")]
        words = {item.word(i) for i in spoken}  # n.delete is a property
        if item.head == "EXPLAIN":
            out.effect("store_read")
        elif item.head == "DROP":
            trait = {"DATABASE": "database", "INDEX": "index"}.get(item.word(1), "other")
            out.effect("store_drop", item.name(2), trait)
        elif "DELETE" in words:  # which a label does not narrow
            narrowed = bool(words & {"WHERE", "LIMIT"}) or any(token.text == "{" for token in item.tokens)
            out.effect("store_delete", "", *["unfiltered"] * (not narrowed))
        elif words & word_set("cypher_writes"):
            out.effect("store_write")
        else:
            out.effect("store_read")
