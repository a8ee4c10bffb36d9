"""Resolves abbreviated arguments: the beginning of a ticket's or grant's id, durations and times; refuses what is ambiguous."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from interlock.analysis.display_text import short_id, visible
from interlock.cli.command import USAGE, CommandError, list_rows, pluralize

if TYPE_CHECKING:
    from interlock.client import DaemonClient


TICKET, GRANT = "pdact_", "grant_"
WHOLE = 30  # characters of a ticket's whole id
SHOWN = 10  # candidates
MOST = 500
WIDTH = 160
Row = Mapping[str, Any]


def find_ticket(server: DaemonClient, given: str, states: Sequence[str], all_seen: bool = True) -> str | None:
    """The id of the ticket that `given` abbreviates; None where it may be one that this caller cannot see."""
    found = _begins(server, given) if given else open_tickets(server)
    exact = [row for row in found if row.get("id") in (given, f"{TICKET}{given}")]
    usable = exact or [row for row in found if row.get("state") in states] or found
    if not all_seen and (not exact and (len(usable) != 1 or not given)):
        return None
    if len(usable) == 1:
        return str(usable[0]["id"])
    if usable:
        raise _several(given, usable)
    if given:
        raise _none(given, "ticket", open_tickets(server))
    raise CommandError("nothing waits for an answer")


def find_row(rows: Sequence[Row], given: str, kind: str) -> str:
    """The id of the one row whose id begins with `given`, with or without its kind; refuses none and several."""
    found = [row for row in rows if str(row.get("id", "")).startswith(id_prefix(given, f"{kind}_"))]
    exact = [row for row in found if row.get("id") == given]
    if len(exact or found) == 1:
        return str((exact or found)[0]["id"])
    if found:
        raise _several(given, found)
    raise _none(given, kind, rows)


def open_tickets(server: DaemonClient) -> list[Row]:
    """The open tickets, the oldest first."""
    return list_rows(server.get("/tickets", state="open", limit=MOST), "tickets")[::-1]


def sees_all(server: DaemonClient) -> bool:
    """Whether this caller sees every open ticket; those of other users' agents take a sign-in."""
    return len(open_tickets(server)) >= int(server.get("/status").get("openTickets") or 0)


def id_prefix(given: str, kind: str) -> str:
    """The prefix of an id as typed: adds the kind where it is missing, and drops the ellipsis of a shortened id."""
    bare = given.strip().rstrip("…").removesuffix("...")
    return bare if bare.startswith(kind) else f"{kind}{bare}"


def _begins(server: DaemonClient, given: str) -> list[Row]:
    prefix = id_prefix(given, TICKET)
    if not prefix.replace("_", "").replace("-", "").isalnum() or not prefix.isascii() or prefix == TICKET:
        raise CommandError(f"{given!r} is no ticket's id; `interlock pending` lists them", USAGE)
    return list_rows(server.get("/tickets", prefix=prefix[:100], limit=MOST), "tickets")


def _several(given: str, found: Sequence[Row]) -> CommandError:
    lead = (
        f"{given!r} could be {pluralize(len(found), 'ticket')}" if given else f"{pluralize(len(found), 'ticket')} wait"
    )
    return CommandError(f"{lead}; say which one:\n{_lines(found)}", USAGE)


def _none(given: str, kind: str, there: Sequence[Row]) -> CommandError:
    known = f"; there {'is' if len(there) == 1 else 'are'}:\n{_lines(there)}" if there else ""
    return CommandError(f"no {kind} begins with {given!r}{known}")


def _lines(found: Sequence[Row]) -> str:
    """A line for each row: the shortest id to type, and its subject."""
    ids = [str(row.get("id", "")) for row in found[:SHOWN]]
    length = next((n for n in range(len(short_id(ids[0])), 60) if len({id[:n] for id in ids}) == len(ids)), 60)
    lines = [visible(f"  {id[:length]}  {_about(row)}")[:WIDTH] for id, row in zip(ids, found)]
    more = [f"  … and {len(found) - SHOWN} more: `interlock pending`"] if len(found) > SHOWN else []
    return "\n".join([*lines, *more])


def _about(row: Row) -> str:
    if "title" in row:
        level, action = row.get("level_name", ""), row.get("action")
        cwd = action.get("cwd") if isinstance(action, Mapping) else ""
        return f"{level:<11}  {row['title']}{f'  (in {cwd})' if cwd else ''}"
    return f"{row.get('effect', '')}: {', '.join(map(str, row.get('targets') or ()))}"


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"(\d{1,6})\s*([smhd]?)", re.ASCII)


def parse_duration(text: str) -> int:
    """`90`, `90s`, `30m`, `2h` or `1d` in seconds; refuses anything else."""
    found = _SPAN.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise CommandError(f"{text!r} is no time; expected such as 90s, 30m, 2h or 1d", USAGE)
    return int(found[1]) * _UNITS[found[2] or "s"]


def parse_time(text: str) -> float:
    """A time given as `2h` (that long ago) or as ISO 8601, in seconds since 1970."""
    if _SPAN.fullmatch(text.strip()):
        return time.time() - parse_duration(text)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"{text!r} is no time; expected such as 2h (ago) or 2026-01-28T12:00", USAGE) from None
    return given.timestamp()
