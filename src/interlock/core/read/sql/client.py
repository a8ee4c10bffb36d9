"""Commands to the SQL client itself (psql `\\!`, sqlite `.read`, sqlcmd `:r`) -> effects."""

from __future__ import annotations

from interlock.core.read.sql.batch import Statement
from interlock.core.read.sql.made import made_by
from interlock.core.read.sql.reading import Reading

_SHELL = frozenset({"\\!", ".shell", ".system", "!!", ":!!", "!", "host", "system"})
_SCRIPT = frozenset({
    "\\i", "\\ir", "\\include", "\\include_relative", "\\.", ".read", ":r", "@", "@@", "source", "start",
})  # fmt: skip
_PIPES = frozenset({"\\o", "\\g", "\\gx", "\\out", "\\w", ".output", ".once", ".import", ".excel"})
_LOADS = frozenset({".load"})
_OVERWRITES = frozenset({".restore"})
CLIENT_WORDS = {"mysql": frozenset({"SYSTEM", "SOURCE"}), "oracle": frozenset({"HOST", "START"})}


def read_meta(reading: Reading, line: str, before: Statement | None) -> None:
    """One client command; `before` is the statement that it may send off."""
    command, _, rest = line.partition(" ")
    for mark in ("\\!", "!!", ":!!", "@@", "@", "!", "\\."):
        if line.startswith(mark):
            command, rest = mark, line[len(mark) :]
            break
    command, rest = command.lower().rstrip(";"), rest.strip()
    if command in _SHELL:
        reading.out.shell(rest)
    elif command in _SCRIPT:
        reading.effect("run_script", rest.split(" ")[0].strip("'\";"))
    elif command == "\\gexec":
        _read_rows(reading, before)
    elif command == "\\copy":
        _read_copy(reading, rest)
    elif command in _PIPES and rest.strip("'\" ").startswith("|"):
        reading.out.shell(rest.strip("'\" ").lstrip("|").strip())
    elif command in _LOADS:
        reading.effect("sql_shell", rest)
    elif command in _OVERWRITES:
        reading.effect("sql_drop", rest, "database")
    elif command == ".import":
        reading.effect("sql_write", rest.split(" ")[-1])
    else:
        reading.effect("sql_read")


def _read_rows(reading: Reading, before: Statement | None) -> None:
    """`\\gexec` runs each row of the query before it as a statement."""
    made = made_by(before) if before is not None else None
    if made is None:
        reading.effect("sql_execute")
    else:
        reading.inner(made, bulk=True)


def _read_copy(reading: Reading, rest: str) -> None:
    """`\\copy` runs on this side: through a program, from a file, or to one."""
    words = rest.split()
    lowered = [word.lower() for word in words[:64]]
    if "program" in lowered:
        command = rest.split(words[lowered.index("program")], 1)[1].strip()
        quote = command[:1]
        end = command.rfind(quote) if quote in ("'", '"') else -1
        reading.out.shell(command[1:end] if end > 0 else command)
    elif "to" in lowered and not rest.startswith("("):
        reading.out.effect("write", words[min(lowered.index("to") + 1, len(words) - 1)].strip("'"))
    elif rest.startswith("("):
        reading.effect("sql_read")
    else:
        reading.effect("sql_write", words[0] if words else "")
