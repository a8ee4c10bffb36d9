"""Statements about rows (SELECT, INSERT, UPDATE, DELETE, MERGE, COPY) -> effects."""

from __future__ import annotations

from collections.abc import Callable

from interlock.core.read.sql.batch import Statement
from interlock.core.read.sql.made import looks_like_sql
from interlock.core.read.sql.reading import Reading, calls, name_at, names_at
from interlock.core.read.sql.where import few, filters

_MAIN = ("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE", "FROM", "REPLACE", "UPSERT")
_SECOND = {"DELETE": ("FROM",), "INSERT": ("INTO", "OVERWRITE"), "MERGE": ("INTO",), "TRUNCATE": ("TABLE",)}
_KILLERS = frozenset({"pg_terminate_backend", "pg_cancel_backend", "rds_kill", "rds_kill_query"})
_SERVER_FILES = frozenset({
    "lo_export", "lo_import", "pg_read_file", "pg_read_binary_file", "pg_file_write", "pg_file_unlink", "load_file",
    "writefile",
    "sys_exec", "sys_eval", "xp_cmdshell", "load_extension", "edit", "pg_ls_dir", "dbms_scheduler", "pg_file_rename",
})  # fmt: skip
_CARRIES_SQL = frozenset({"dblink_exec", "dblink", "openquery", "openrowset", "dblink_send_query", "exec_sql"})
_ADMIN = frozenset({"pg_reload_conf", "pg_rotate_logfile", "set_config", "pg_promote", "pg_drop_replication_slot"})
_DROPPERS = {"drop_chunks": "table", "dropgeometrytable": "table", "lo_unlink": "other", "drop_hypertable": "table"}


def read_select(reading: Reading, item: Statement) -> None:
    """A query; it reads, unless INTO or a function does more."""
    into = item.top("INTO")
    following = item.word(into + 1)
    if into > 0 and following in ("OUTFILE", "DUMPFILE"):
        reading.effect("sql_shell", name_at(item, into + 2)[0])
    elif into > 0 and into + 1 < len(item.tokens) and item.tokens[into + 1].kind != "var":
        reading.effect("sql_write", name_at(item, into + 2 if following in ("TEMP", "TEMPORARY") else into + 1)[0])
    else:
        reading.effect("sql_read")


def read_with(reading: Reading, item: Statement) -> None:
    """The statement after a list of CTEs; the writing CTEs themselves are found by `read_nested`."""
    main = item.top(*_MAIN, after=1)
    if main < 0:
        reading.effect("sql_read")
    elif item.word(main) in ("SELECT", "VALUES", "TABLE", "FROM"):
        read_select(reading, item.part(main))
    else:
        ROWS[item.word(main)](reading, item.part(main))


def read_nested(reading: Reading, item: Statement) -> bool:
    """Writes that stand in parentheses inside a statement, as in `WITH d AS (DELETE …)`."""
    found = False
    for index in range(len(item.tokens) - 2):
        token, verb = item.tokens[index], item.tokens[index + 1].word
        if token.text != "(" or token.kind != "punct" or (verb not in _SECOND and verb != "UPDATE"):
            continue
        if verb == "UPDATE" or item.word(index + 2) in _SECOND[verb]:
            inner = reading.inside(item, index)
            if verb != "UPDATE" or inner.top("SET") > 0:
                ROWS[verb](reading, inner)
                found = True
    return found


def read_calls(reading: Reading, item: Statement) -> None:
    """Functions that do more than compute."""
    for name, place in calls(item):
        if name in _KILLERS:
            reading.effect("sql_kill", name)
        elif name in _SERVER_FILES:
            strings = [token.text for token in reading.inside(item, place).tokens if token.kind == "string"]
            reading.effect("sql_shell", strings[0] if strings else name)
        elif name in _CARRIES_SQL:
            for token in reading.inside(item, place).tokens:
                if token.kind == "string" and looks_like_sql(token.text):
                    reading.inner(token.text)
        elif name in _ADMIN:
            reading.effect("sql_alter", name)
        elif name in _DROPPERS:
            strings = [token.text for token in reading.inside(item, place).tokens if token.kind == "string"]
            reading.effect("sql_drop", strings[0] if strings else name, _DROPPERS[name])
        elif name in reading.bodies and item.head != "CREATE":
            reading.inner(reading.bodies.pop(name))


def read_insert(reading: Reading, item: Statement) -> None:
    """INSERT and REPLACE add rows; INSERT OVERWRITE empties the table first."""
    into = item.top("INTO", "TABLE", "OVERWRITE")
    name = name_at(item, into + 1 if into > 0 else 1)[0]
    overwrites = item.word(1) == "OVERWRITE" and item.word(2) != "DIRECTORY"
    reading.effect("sql_truncate" if overwrites else "sql_write", name)


def read_delete(reading: Reading, item: Statement) -> None:
    """DELETE, with the table it empties when nothing narrows it."""
    start = item.top("FROM")
    name = name_at(item, 1)[0] if start != 1 and item.word(1) not in ("TOP", "LOW_PRIORITY", "QUICK", "IGNORE") else ""
    name = name or name_at(item, start + 1 if start >= 0 else 1)[0]
    _report(reading, "sql_delete", name, reading.filtered(item, name) or _top(item))


def read_update(reading: Reading, item: Statement) -> None:
    """UPDATE, with the table all of whose rows change when nothing narrows it."""
    at = 1
    while item.word(at) in ("OR", "LOW_PRIORITY", "IGNORE", "ROLLBACK", "ABORT", "REPLACE", "FAIL", "TOP"):
        at += 1
    name = name_at(item, at)[0]
    _report(reading, "sql_update", name, reading.filtered(item, name, after=1) or _top(item))


def _top(item: Statement) -> bool:
    """T-SQL: `DELETE TOP (10) FROM t`."""
    if item.word(1) != "TOP" or "PERCENT" in item.words():
        return False
    numbers = [token for token in item.tokens[2:4] if token.kind == "number"]
    return bool(numbers) and few(numbers[0])


def _report(reading: Reading, verb: str, name: str, narrowed: bool) -> None:
    if name.lower() in reading.temporary or name.startswith("#"):
        reading.effect("sql_write", name)
    else:
        reading.effect(verb, name, *(() if narrowed else ("unfiltered",)))


def read_merge(reading: Reading, item: Statement) -> None:
    """MERGE: a write, and a deletion for each branch that deletes."""
    into = item.top("INTO")
    name = name_at(item, into + 1 if into > 0 else 1)[0]
    on, when = item.top("ON"), item.top("WHEN")
    joined = filters(item.tokens[on + 1 : when], reading.text, name, reading.dialect) if 0 < on < when else True
    reading.effect("sql_write", name)
    while when >= 0:
        end = item.top("WHEN", after=when + 1)
        branch = item.part(when, end if end > 0 else None)
        if branch.word(branch.top("THEN") + 1) == "DELETE":
            whole = "SOURCE" in branch.words() and branch.top("AND") < 0
            _report(reading, "sql_delete", name, joined and not whole)
        when = end


def read_copy(reading: Reading, item: Statement) -> None:
    """COPY: into a table, out to a file of the server, or through a program."""
    program = item.top("PROGRAM")
    if program > 0:
        command = name_at(item, program + 1)[0]
        reading.effect("sql_shell", command)
        reading.out.shell(command)
        return
    to, came = item.top("TO"), item.top("FROM")
    if to > 0 and (came < 0 or to < came):
        target = item.tokens[to + 1] if to + 1 < len(item.tokens) else None
        if target is None or target.kind != "string":
            reading.effect("sql_read")
        elif reading.dialect == "duckdb":
            reading.out.effect("write", target.text)
        else:
            reading.effect("sql_shell", target.text)
        return
    reading.effect("sql_write", name_at(item, 2 if item.word(1) == "INTO" else 1)[0])


def read_purge(reading: Reading, item: Statement) -> None:
    """PURGE and REMOVE take away logs, recycle bins and staged files."""
    reading.effect("sql_delete", (names_at(item, 1) or [""])[-1])


ROWS: dict[str, Callable[[Reading, Statement], None]] = {
    "INSERT": read_insert, "REPLACE": read_insert, "UPSERT": read_insert, "UPDATE": read_update, "DELETE": read_delete,
    "MERGE": read_merge,
    "TRUNCATE": lambda reading, item: reading.effect("sql_truncate", name_at(item, 1)[0]),
}  # fmt: skip
