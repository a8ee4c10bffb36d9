"""Facts: what an action would really do, as its reader saw it, before any rule spoke."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from interlock.core.model import Span

# Text that cannot be known without running something stands as HOLE name HOLE, where the name says where it
# would come from: `$BUILD_DIR` reads as "\ufffcBUILD_DIR\ufffc", the output of a program as "\ufffc\ufffc".
HOLE = "\ufffc"
_HOLES = re.compile(f"{HOLE}[^{HOLE}]*{HOLE}?")


def hole(name: str = "") -> str:
    """The mark for text that is not known."""
    return f"{HOLE}{name}{HOLE}"


# Holes that say what flows in from somewhere: `$(curl …)`, `$(cat ~/.ssh/id_rsa)`, `$(env)`.
DOWNLOAD, SECRET, ENVIRONMENT = "<download>", "<secret>", "<environment>"
QUOTED = "\ufffb"  # stands before a ~ that was quoted, and so names a file


def hole_of(taints: Iterable[str]) -> str:
    """The mark for unknown text that is known to contain something."""
    for taint, name in (("download", DOWNLOAD), ("secret", SECRET), ("environment", ENVIRONMENT)):
        if taint in taints:
            return hole(name)
    return hole()


def taints_in(text: str) -> frozenset[str]:
    """What the holes of a text are known to contain."""
    if "<" not in text or HOLE not in text:
        return frozenset()
    return frozenset(name[1:-1] for name in (DOWNLOAD, SECRET, ENVIRONMENT) if hole(name) in text)


def known(text: str) -> bool:
    """True when no part of the text is a hole."""
    return HOLE not in text


def without_holes(text: str, filler: str = "") -> str:
    """The known part of a text."""
    return _HOLES.sub(filler, text) if HOLE in text else text


@dataclass(frozen=True, slots=True)
class Command:
    """One program that would run, with the words that it would get."""

    program: str  # base name in lower case, without .exe
    words: tuple[str, ...]
    span: Span | None = None
    via: tuple[str, ...] = ()  # what it was unwrapped from, outermost first
    traits: frozenset[str] = frozenset()
    env: tuple[tuple[str, str], ...] = ()  # assignments made for this command alone
    cwd: str = ""  # the folder that it would run in, where that is not the action's own


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that would happen to one target, whatever tool or language does it."""

    verb: str
    target: str = ""
    place: str = ""  # what kind of place the target is, for the verbs that act on paths
    traits: frozenset[str] = frozenset()
    span: Span | None = None
    via: tuple[str, ...] = ()
    subject: str = ""  # the command or code that has this effect, for a person
    path: str = ""  # the target as it resolves from where the effect happens, for the verbs that act on paths


Fact = Command | Effect

# Every verb an effect can have. A rule that names another one is refused.
VERBS = frozenset({
    # files; the target is a path
    "delete",        # traits: recursive, bulk (a glob or a computed list), empty_only
    "truncate",      # emptied, or overwritten with nothing or noise
    "overwrite",     # replaced by other content
    "write",         # created, or written with `>`; may replace
    "append",
    "move",          # the target is what is moved away
    "chmod",         # traits: recursive, world_writable, no_access, setuid
    "chown",
    "read",
    # network
    "fetch",         # traits: secret where a secret is in the request
    "send",          # data leaves; traits: secret, environment
    "listen",
    "http",          # traits: delete, post, put, patch
    # running things
    "run_download",  # code that was fetched is run
    "run_script",    # a script file is run; the target is its path
    "reverse_shell",
    "unreadable",    # the target says what could not be read; traits: command, payload, syntax, budget, nesting
    "fork_bomb",
    "kill",          # traits: all
    # SQL; the target is the object's name
    "sql_drop",      # traits: database, schema, table, column, view, index, other, user
    "sql_truncate",
    "sql_delete",    # traits: unfiltered
    "sql_update",    # traits: unfiltered
    "sql_grant",
    "sql_revoke",    # traits: all
    "sql_alter",
    "sql_write",
    "sql_read",
    "sql_execute",   # runs text made at run time
    "sql_kill",
    "sql_shell",     # a statement that runs a program or writes a server file
    # other stores (Redis, Mongo, Cassandra, Elasticsearch…); the target is the object's name
    "store_drop",    # traits: database, collection, index, all
    "store_delete",  # traits: unfiltered
    "store_write",
    "store_read",
    "store_admin",   # shuts down or reconfigures the server
    # acts that are announced: by the name of an operation or tool, or in plain words; the target is the object in words
    "act_delete", "act_revoke", "act_terminate", "act_invalidate", "act_unconfigure", "act_block", "act_pay", "act_account",
    "act_override", "act_escalate", "act_leak", "act_run", "act_rewrite", "act_disk", "act_send",
    "act_change",    # something recoverable
    "act_read",
    "act_vague",     # nothing can be told from the words
    "act_resembles", # nothing harmful was read, but it is worded like announcements of harm
    "declared",      # what an adapter declares of an operation; traits: level_0 to level_4
})  # fmt: skip


class Report(Protocol):
    """What a reader of some language tells about the code it reads."""

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        """The code has this effect; paths are given as written, holes included."""

    def run(self, argv: Sequence[str]) -> object:
        """The code runs this program with these words, without a shell."""

    def shell(self, text: str) -> None:
        """The code hands this text to a shell."""

    def code(self, language: str, text: str) -> None:
        """The code runs this text in another language: python, javascript, perl, ruby, php, sql, powershell, cmd…"""

    def unreadable(self, what: str, *traits: str) -> None:
        """Something would happen here that cannot be known; `what` says why, in words for a person."""

    def step(self, count: int = 1) -> None:
        """Spend the budget; raises BudgetSpent when there is none left."""


class BudgetSpent(Exception):
    """The action takes more work to read than an action may."""
