"""Would what is typed into a command run? A shell, an interpreter or a client reads commands, and nobody would have reviewed those."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.core.read.facts import Command, Effect, Fact
from interlock.core.read.shell.interpret import INTERPRETERS

_CLIENTS = frozenset(
    (
        "psql mysql mariadb sqlite3 sqlcmd sqlplus isql cqlsh mongo mongosh redis-cli valkey-cli clickhouse clickhouse-client duckdb bq"
        " usql influx cypher-shell ssh mosh telnet nc ncat netcat socat rsh rlogin su login newgrp sg runuser machinectl nsenter"
        " unshare chroot screen tmux script expect byobu dtach gdb lldb pdb vi vim nvim view ed ex red emacs nano joe less more most man"
        " ftp sftp lftp smbclient irb pry rails bc dc ghci gforth R Rscript julia scala sbt jshell groovysh ipython bpython gnuplot"
        " octave maxima sage iex erl clojure sbcl guile racket at batch crontab visudo vipw xargs parallel fzf watch"
        " . source eval mapfile"
    ).split()
)
_TOP = frozenset("-i -s --login --shell".split())  # of sudo and doas


def reads_commands(facts: Iterable[Fact]) -> bool:
    """Whether any part of a command takes commands from whoever types, or could: what cannot be read is taken for one."""
    return any(_reads(fact) for fact in facts)


def _reads(fact: Fact) -> bool:
    if isinstance(fact, Effect):
        return fact.verb == "unreadable"
    if not isinstance(fact, Command):
        return False
    if fact.program in ("sudo", "doas"):
        return not _TOP.isdisjoint(fact.words)
    name = fact.program.rstrip("0123456789.") or fact.program  # python3.12
    return not {fact.program, name}.isdisjoint(INTERPRETERS | _CLIENTS)
