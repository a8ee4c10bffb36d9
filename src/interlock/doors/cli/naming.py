"""The beginning of an id, or none at all -> the one ticket or grant that is meant; where none or several are, says which there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.operating import USAGE, Stop, counted, listed

if TYPE_CHECKING:
    from interlock.doors.client import Daemon

TICKET, GRANT = "pdact_", "grant_"
WHOLE = 30  # characters of a ticket's whole id
SHOWN = 10  # candidates
MOST = 500
WIDTH = 160
Row = Mapping[str, Any]


def one_ticket(server: Daemon, given: str, states: Sequence[str], all_seen: bool = True) -> str | None:
    """The id of the ticket that is meant; None where it may be one that this caller cannot see."""
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
    raise Stop("nothing waits for an answer")


def one_of(rows: Sequence[Row], given: str, kind: str) -> str:
    """The id of the row whose id begins so, with or without its kind."""
    found = [row for row in rows if str(row.get("id", "")).startswith(beginnings(given, f"{kind}_"))]
    exact = [row for row in found if row.get("id") == given]
    if len(exact or found) == 1:
        return str((exact or found)[0]["id"])
    if found:
        raise _several(given, found)
    raise _none(given, kind, rows)


def open_tickets(server: Daemon) -> list[Row]:
    """Everything that waits, the oldest first."""
    return listed(server.get("/tickets", state="open", limit=MOST), "tickets")[::-1]


def sees_all(server: Daemon) -> bool:
    """Agents of one's own user need no sign-in to be looked at; those of others do."""
    return len(open_tickets(server)) >= int(server.get("/status").get("openTickets") or 0)


def beginnings(given: str, kind: str) -> str:
    """What an id begins with that somebody names; the kind may be left out, and what a message cut off is an ellipsis."""
    bare = given.strip().rstrip("…").removesuffix("...")
    return bare if bare.startswith(kind) else f"{kind}{bare}"


def _begins(server: Daemon, given: str) -> list[Row]:
    prefix = beginnings(given, TICKET)
    if not prefix.replace("_", "").replace("-", "").isalnum() or not prefix.isascii() or prefix == TICKET:
        raise Stop(f"{given!r} is no ticket's id; `interlock pending` lists them", USAGE)
    return listed(server.get("/tickets", prefix=prefix[:100], limit=MOST), "tickets")


def _several(given: str, found: Sequence[Row]) -> Stop:
    lead = f"{given!r} could be {counted(len(found), 'ticket')}" if given else f"{counted(len(found), 'ticket')} wait"
    return Stop(f"{lead}; say which one:\n{_lines(found)}", USAGE)


def _none(given: str, kind: str, there: Sequence[Row]) -> Stop:
    known = f"; there {'is' if len(there) == 1 else 'are'}:\n{_lines(there)}" if there else ""
    return Stop(f"no {kind} begins with {given!r}{known}")


def _lines(found: Sequence[Row]) -> str:
    """A line each: what to type, and what it is about."""
    from interlock.core.excerpt import short, visible

    ids = [str(row.get("id", "")) for row in found[:SHOWN]]
    length = next((n for n in range(len(short(ids[0])), 60) if len({id[:n] for id in ids}) == len(ids)), 60)
    said = [visible(f"  {id[:length]}  {_about(row)}")[:WIDTH] for id, row in zip(ids, found)]
    more = [f"  … and {len(found) - SHOWN} more: `interlock pending`"] if len(found) > SHOWN else []
    return "\n".join([*said, *more])


def _about(row: Row) -> str:
    if "title" in row:
        level, action = row.get("level_name", ""), row.get("action")
        cwd = action.get("cwd") if isinstance(action, Mapping) else ""
        return f"{level:<11}  {row['title']}{f'  (in {cwd})' if cwd else ''}"
    return f"{row.get('effect', '')}: {', '.join(map(str, row.get('targets') or ()))}"
