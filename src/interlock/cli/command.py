"""Commands and what they share: declarations, the daemon's client, expected errors, exit codes, abbreviated ids."""

from __future__ import annotations

import re
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import interlock
from interlock.analysis.display_text import short_id, visible
from interlock.analysis.packs import PackError
from interlock.cli.arguments import NOTHING, Table, declarations, declared_parser, declared_word
from interlock.cli.output import error_text, pluralize, typed_name
from interlock.client import DaemonClient, NoDaemon, find_daemon
from interlock.config import Config, load_config
from interlock.identity.terminal import TerminalError
from interlock.policy.policy import PolicyError
from interlock.problems import ExpectedError

OK, FAILED, USAGE, NO_DAEMON = 0, 1, 2, 3
ASKS, DENIED = 10, 20  # 2.13, where an exit code stands for an answer

Args = Namespace
Main = Callable[[Sequence[str]], int]
Work = Callable[[Args], int | None]  # the exit code; none where it is done
W = TypeVar("W", bound=Work)


class CommandError(ExpectedError):
    def __init__(self, words: str, code: int = FAILED) -> None:
        self.code = code
        super().__init__(words)


class UsageError(CommandError):
    def __init__(self, words: str) -> None:
        super().__init__(words, USAGE)


@contextmanager
def wrong_usage(*kinds: type[Exception]) -> Iterator[None]:
    """Ends the command as wrongly used where one of these is raised."""
    try:
        yield
    except kinds as error:
        raise UsageError(error_text(error)) from None


def command(fills: Mapping[str, str] = NOTHING, /, word: str = "", **more: Table) -> Callable[[Work], Main]:
    """A command of the TOML file beside its module: `unlock_main` is `unlock`, and `main` has its module's name."""

    def declare(work: Work) -> Main:
        own = work.__name__.removesuffix("main").replace("_", "-").strip("-") or work.__module__.rpartition(".")[2]
        name = word or own

        @wraps(work)
        def main(argv: Sequence[str]) -> int:
            parser = declared_parser(work.__module__, name, fills, more)
            return run(name, work, parser.parse_args(list(argv)))

        return main

    return declare


class CommandWords:
    """A command whose subcommands are `["word subcommand"]` in the TOML file beside its module."""

    def __init__(self, module: str, word: str = "") -> None:
        self._word, self._module = word or module.rpartition(".")[2], module
        self._works: dict[str, Work] = {}

    def word(self, work: W) -> W:
        """Declares a subcommand, by the first word of the function's name."""
        self._works[work.__name__.strip("_").partition("_")[0]] = work
        return work

    def __call__(self, argv: Sequence[str]) -> int:
        tables = declarations(self._module)
        table = tables[self._word]
        parser = declared_parser(self._module, self._word)
        inner = parser.add_subparsers(dest="word", metavar=table["metavar"], required="default" in table)
        for name, work in self._works.items():
            declared_word(inner, name, tables[f"{self._word} {name}"]).set_defaults(work=work)
        given, default = list(argv), table.get("default", "")
        bare = not given or (given[0].startswith("-") and given[0] not in ("-h", "--help"))
        args = parser.parse_args([default, *given] if bare and default else given)
        if args.word is None:
            parser.print_help()
            return OK
        return run(self._word, args.work, args)


_EXPECTED = (ExpectedError, PolicyError, PackError, TerminalError, OSError)
_UNREAD = (LookupError, TypeError, AttributeError)  # an answer of the daemon has another form than expected


def run(name: str, work: Work, args: Args) -> int:
    try:
        return work(args) or OK
    except BrokenPipeError:
        raise
    except _EXPECTED as error:
        shown = error_text(error).replace("`interlock ", f"`{typed_name()} ")  # what it tells to type can be typed
        print(f"interlock {name}: {shown}", file=sys.stderr)
        return NO_DAEMON if isinstance(error, NoDaemon) else error.code if isinstance(error, CommandError) else FAILED
    except _UNREAD:
        if not (other := _other_version(args)):
            raise
        print(f"interlock {name}: its answer cannot be read: {other}", file=sys.stderr)
        return FAILED


def _other_version(args: Args) -> str:
    """Why a daemon's answers may lack what is read of them here; empty where one of this version answers, or none."""
    with suppress(*_EXPECTED, *_UNREAD):
        there = daemon(args).get("/status")["version"]
        if there != interlock.__version__:
            return f"the daemon is interlock {there}, and this is {interlock.__version__}; restart the daemon"
    return ""


def command_of(args: Args) -> list[str]:
    words: list[str] = args.command
    return words[1:] if words[:1] == ["--"] else words


def settings(args: Args) -> Config:
    return load_config(Path(args.config) if args.config else None)


def daemon(args: Args) -> DaemonClient:
    return find_daemon(settings(args))


TICKET, GRANT = "pdact_", "grant_"
WHOLE = 30  # characters of a ticket's whole id
SHOWN = 10  # candidates
MOST = 500
WIDTH = 160
Row = Mapping[str, Any]


def list_of(server: DaemonClient, kind: str, key: str = "", **query: Any) -> list[Row]:
    """`key` where the body names the list otherwise."""
    body = server.get(f"/{kind}", **query)
    rows: list[Row] = body[key or kind] if isinstance(body, Mapping) else body
    return rows


def find_ticket(server: DaemonClient, given: str, states: Sequence[str], all_seen: bool = True) -> str | None:
    """The id that `given` abbreviates; None where this caller may not see the ticket."""
    prefix = id_prefix(given, TICKET)
    if given and not re.fullmatch(rf"{TICKET}[\w-]+", prefix, re.ASCII):
        raise UsageError(f"{given!r} is no ticket's id; `interlock pending` lists them")
    found = list_of(server, "tickets", prefix=prefix[:100], limit=MOST) if given else open_tickets(server)
    exact = [row for row in found if row["id"] in (given, f"{TICKET}{given}")]
    usable = exact or [row for row in found if row["state"] in states] or found
    if not all_seen and (not exact and (len(usable) != 1 or not given)):
        return None
    if len(usable) == 1:
        return str(usable[0]["id"])
    if usable:
        raise _several(given, usable)
    if given:
        raise _none(given, "ticket", open_tickets(server))
    raise CommandError("nothing waits for an answer")


def find_grant(server: DaemonClient, given: str) -> str:
    """The id that `given` abbreviates; refuses none and several."""
    rows = list_of(server, "grants")
    found = [row for row in rows if row["id"].startswith(id_prefix(given, GRANT))]
    found = [row for row in found if row["id"] == given] or found
    if len(found) == 1:
        return str(found[0]["id"])
    raise _several(given, found) if found else _none(given, "grant", rows)


def open_tickets(server: DaemonClient) -> list[Row]:
    return list_of(server, "tickets", state="open", limit=MOST)[::-1]


def sees_all(server: DaemonClient) -> bool:
    """Tickets of other users' agents take a sign-in."""
    return len(open_tickets(server)) >= (server.get("/status")["openTickets"] or 0)


def id_prefix(given: str, kind: str) -> str:
    """An id as typed, with its kind, and without the ellipsis of a shortened one."""
    bare = given.strip().rstrip("…").removesuffix("...")
    return bare if bare.startswith(kind) else f"{kind}{bare}"


def _several(given: str, found: Sequence[Row]) -> CommandError:
    count = pluralize(len(found), "ticket")
    lead = f"{given!r} could be {count}" if given else f"{count} wait"
    return UsageError(f"{lead}; say which one:\n{_lines(found)}")


def _none(given: str, kind: str, there: Sequence[Row]) -> CommandError:
    known = f"; there {'is' if len(there) == 1 else 'are'}:\n{_lines(there)}" if there else ""
    return CommandError(f"no {kind} begins with {given!r}{known}")


def _lines(found: Sequence[Row]) -> str:
    ids = [row["id"] for row in found[:SHOWN]]
    length = next((n for n in range(len(short_id(ids[0])), 60) if len({id[:n] for id in ids}) == len(ids)), 60)
    lines = [visible(f"  {id[:length]}  {_about(row)}")[:WIDTH] for id, row in zip(ids, found)]
    more = [f"  … and {len(found) - SHOWN} more: `interlock pending`"] if len(found) > SHOWN else []
    return "\n".join([*lines, *more])


def _about(row: Row) -> str:
    if "title" in row:
        cwd = row["action"].get("cwd")
        return f"{row['level_name']:<11}  {row['title']}{f'  (in {cwd})' if cwd else ''}"
    return f"{row['effect']}: {', '.join(row['targets'])}"


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"(\d{1,6})\s*([smhd]?)", re.ASCII)


def parse_duration(text: str) -> int:
    found = _SPAN.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise UsageError(f"{text!r} is no time; expected such as 90s, 30m, 2h or 1d")
    return int(found[1]) * _UNITS[found[2] or "s"]


def parse_time(text: str) -> float:
    """A time given as `2h` (that long ago) or as ISO 8601, in seconds since 1970."""
    if _SPAN.fullmatch(text.strip()):
        return time.time() - parse_duration(text)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no time; expected such as 2h (ago) or 2026-01-28T12:00") from None
    return given.timestamp()
