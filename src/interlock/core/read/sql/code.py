"""Statements that run other statements (EXEC, PREPARE, DO, blocks) -> what those would do."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.core.read.sql.batch import Statement
from interlock.core.read.sql.made import looks_like_sql, skeleton
from interlock.core.read.sql.reading import Reading, name_at
from interlock.core.read.sql.text import Token

_CARRIES_SQL = frozenset({"sp_executesql", "sp_msforeachtable", "sp_msforeachdb", "exec_ddl_statement", "sp_foreachdb"})
_PROCEDURES = {
    "sp_configure": "sql_alter", "sp_rename": "sql_alter", "sp_addsrvrolemember": "sql_grant",
    "sp_addrolemember": "sql_grant",
    "sp_droprolemember": "sql_revoke", "sp_dropuser": "sql_drop", "sp_droplogin": "sql_drop",
    "sp_revokedbaccess": "sql_revoke",
    "rds_kill": "sql_kill", "rds_kill_query": "sql_kill", "sp_oacreate": "sql_shell", "sp_oamethod": "sql_shell",
    "sp_delete_job": "sql_drop", "sp_delete_backuphistory": "sql_delete", "sp_detach_db": "sql_alter",
    "sp_dbremove": "sql_drop",
}  # fmt: skip
_DROP_TRAIT = {"sp_dropuser": "user", "sp_droplogin": "user", "sp_delete_job": "other", "sp_dbremove": "database"}
_ACTS = (
    "DROP", "TRUNCATE", "DELETE", "UPDATE", "INSERT", "EXECUTE", "EXEC", "GRANT", "REVOKE", "ALTER", "CREATE", "MERGE",
    "CALL", "PERFORM", "KILL",
)  # fmt: skip
_NOT_AN_ACT_AFTER = frozenset({"FOR", "ON", "AFTER", "BEFORE", "OR", "AS"})


def acts_in(item: Statement) -> Statement | None:
    """The first statement inside IF, LOOP, BEGIN and the like, or None when they only steer."""
    at = item.top(*_ACTS, after=1)
    while at >= 0 and item.word(at - 1) in _NOT_AN_ACT_AFTER:
        at = item.top(*_ACTS, after=at + 1)
    return item.part(at) if at >= 0 else None


def read_do(reading: Reading, item: Statement) -> None:
    """DO runs a block at once."""
    bodies = [token for token in item.tokens[1:] if token.kind == "string"]
    body = max(bodies, key=lambda token: len(token.text), default=None)
    if body is None:
        reading.effect("sql_execute")
    else:
        reading.inner(body.text)


def read_execute(reading: Reading, item: Statement) -> None:
    """EXEC and EXECUTE: of a procedure, of a prepared statement, or of text."""
    at = 2 if item.word(1) == "IMMEDIATE" else 1
    if at + 1 < len(item.tokens) and item.tokens[at].kind == "var" and item.tokens[at + 1].text == "=":
        at += 2  # EXEC @result = procedure
    end = item.top("USING", "INTO", after=at)
    argument = item.tokens[at : end if end > 0 else None]
    name = name_at(item, at)[0].rsplit(".", 1)[-1].lower()
    routine = bool(argument) and argument[0].kind in ("word", "name") and item.word(1) != "IMMEDIATE"
    if name in reading.bodies:
        reading.inner(reading.bodies.pop(name))
    elif routine and _prepared(reading, name):
        reading.effect("sql_read")
    elif (routine and item.head in ("EXEC", "CALL")) or (routine and _known_procedure(name)):
        _procedure(reading, name, argument)
    else:
        read_text(reading, argument)


def _prepared(reading: Reading, name: str) -> bool:
    """True when this batch prepared the statement, which was read there."""
    reading.out.step(1 + len(reading.batch) // 16)
    return any(item.head == "PREPARE" and name_at(item, 1)[0].lower() == name for item in reading.batch)


def _known_procedure(name: str) -> bool:
    return name in _PROCEDURES or name in _CARRIES_SQL or name == "xp_cmdshell"


def _procedure(reading: Reading, name: str, argument: Sequence[Token]) -> None:
    strings = [token.text for token in argument if token.kind == "string"]
    if name == "xp_cmdshell":
        reading.effect("sql_shell", strings[0] if strings else "")
        if strings:
            reading.out.shell(strings[0])
    elif name in _CARRIES_SQL:
        read_text(reading, [token for token in argument[1:] if token.kind in ("string", "var")][:1])
    else:
        traits = (_DROP_TRAIT[name],) if name in _DROP_TRAIT else ()
        reading.effect(_PROCEDURES.get(name, "sql_write"), strings[0] if strings and traits else name, *traits)


def read_text(reading: Reading, argument: Sequence[Token]) -> None:
    """Runs text made at run time: what of it is constant says what it does."""
    if not any(token.kind == "string" for token in argument):
        names = {token.text.lower() for token in argument if token.kind in ("var", "word", "name")}
        argument = _assigned(reading, names)
    made, unknown = skeleton(argument)
    if looks_like_sql(made):
        reading.inner(made, bulk=unknown)
    else:
        reading.effect("sql_execute")


def _assigned(reading: Reading, names: set[str]) -> list[Token]:
    """The expressions that this batch puts into one of these variables."""
    result: list[Token] = []
    for item in reading.batch:
        reading.out.step()
        tokens = item.tokens
        for index, token in enumerate(tokens[:64]):
            if token.text.lower() in names:
                equals = next((i for i in range(index + 1, min(index + 8, len(tokens))) if _assigns(tokens[i])), -1)
                if equals > 0:
                    result.extend(tokens[equals + 1 :])
                    break
    return result[:2000]


def _assigns(token: Token) -> bool:
    return (token.kind == "punct" and token.text in ("=", ":=", "+=")) or token.word == "DEFAULT"


def read_prepare(reading: Reading, item: Statement) -> Statement | None:
    """PREPARE: the statement it holds, to be read as if it ran; text is read here."""
    held = item.top("AS")
    if held > 0:
        return item.part(held + 1)
    came = item.top("FROM")
    read_text(reading, item.tokens[came + 1 if came > 0 else 2 :])
    return None
