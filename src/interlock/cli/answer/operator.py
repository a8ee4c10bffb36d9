"""`interlock operator`, `unlock`, `channels` and `codes`: operators and their sign-in, notices and codes."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec.structs import asdict

from interlock.analysis.display_text import Lines, line, visible
from interlock.cli.command import (
    OK,
    Args,
    CommandError,
    CommandWords,
    Row,
    UsageError,
    command,
    daemon,
    list_of,
    settings,
    wrong_usage,
)
from interlock.cli.output import report, report_table, say, typed_name
from interlock.cli.sign_in import OK_STATUS, ask_line, operator_change, operator_rows, operator_session
from interlock.client import path_segment
from interlock.identity.keys.passphrases import EnrolError, operator_name
from interlock.identity.operators import ask_passphrase, enrol_at_terminal
from interlock.identity.terminal import SCREEN_SECONDS, controlling_terminal, show_once
from interlock.local_times import ago

LINK_SECONDS = 300.0  # that a link stays on the screen

main = CommandWords(__name__)


@main.word
def _list(args: Args) -> int:
    found = operator_rows(args, "operators")
    rows = [(one["name"], ", ".join(one["roles"]), ", ".join(one["teams"]), _state(one)) for one in found]
    return report_table(args, found, ("name", "roles", "teams", "state"), rows, "There is no operator yet.")


def _state(operator: Row) -> str:
    return "disabled" if operator["disabled"] else "service" if operator["service"] else ""


@main.word
def _add(args: Args) -> int:
    server = daemon(args)
    if server.get("/status")["operators"] == 0:
        return _first(args)
    if not args.name:
        raise UsageError("name the new operator: `interlock operator add NAME --role ROLE`")
    with operator_session(args) as admin:
        body = {
            "name": args.name, "passphrase": new_passphrase(args.name), "roles": args.role or [], "teams": args.team or [],
            "service": args.service,
        }  # fmt: skip
        made = admin.post("/operators", body)
    return report(args, made, f"{made['name']} is an operator now.")


def _first(args: Args) -> int:
    """Sends the daemon a sealed row and the seal's key, never the passphrase."""
    with wrong_usage(EnrolError):
        name = operator_name(args.name) if args.name else ""
    row, seal_key = enrol_at_terminal(float(int(time.time())), name)
    times = {"created_at": int(row.created_at), "disabled_at": 0}  # a number with a point has more than one spelling
    daemon(args).post("/operators/first", {"row": asdict(row) | times, "seal_key": seal_key.hex()})
    typed = typed_name()
    ways = f"`{typed} pending` shows what waits, `{typed} approve TICKET` answers, `{typed} operator link` opens the console."
    words = f"{row.name} is the first operator and an admin. {ways}"
    return report(args, {"name": row.name, "roles": list(row.roles)}, words)


def _change_operator(args: Args, change: Row, words: str) -> int:
    return operator_change(args, "PATCH", f"/operators/{path_segment(args.name)}", change, words)


@main.word
def _roles(args: Args) -> int:
    change = {key: given for key, given in (("roles", args.role), ("teams", args.team)) if given is not None}
    if not change:
        raise UsageError("give --role or --team")
    return _change_operator(args, change, f"{args.name}: changed.")


@main.word
def _disable(args: Args) -> int:
    return _change_operator(args, {"disabled": True}, f"{args.name} is disabled; what this name signed counts no more.")


@main.word
def _enable(args: Args) -> int:
    return _change_operator(args, {"disabled": False}, f"{args.name} may sign in again.")


@main.word
def _passphrase(args: Args) -> int:
    with operator_session(args) as operator:
        name = operator.get("/session")["operator"]
        operator.call("PUT", "/session/passphrase", {"passphrase": new_passphrase(name)})
    return report(args, {"name": name, "changed": True}, "Changed. What you signed under the old one counts no more.")


@main.word
def _link(args: Args) -> None:
    """Shown on this terminal only, and erased: its first visitor registers a credential under this name."""
    if args.json:
        raise UsageError("a set-up link is shown to a person, and printed for no program")
    with operator_session(args) as operator:
        made = operator.post("/session/link")
    lines = [
        f"Interlock: open this in your browser to set up a way in for {made['operator']}:", "", f"  {made['url']}", "",
        "It works once, within ten minutes. Copy it, or click it where your terminal can.", "Any key erases this.",
    ]  # fmt: skip
    with controlling_terminal() as terminal:
        late = "" if show_once(terminal, lines, LINK_SECONDS) else " after some minutes"
    print(f"The link was shown and erased{late}. `interlock operator link` makes another.")


def new_passphrase(name: str) -> str:
    with controlling_terminal() as terminal:
        return ask_passphrase(terminal, name, f"New passphrase of {name} (at least 8 characters): ")


_HERE = " For {} min this terminal answers up to level destructive without the passphrase (`interlock unlock --end` stops that)."


@command()
def unlock_main(args: Args) -> int:
    """The daemon keeps the unlocked keys in memory until it stops."""
    if args.end:
        ended = daemon(args).ask("DELETE", "/session/resume").status == OK_STATUS
        print("Locked: this terminal asks for the passphrase again." if ended else "This terminal was not unlocked.")
        return OK
    with operator_session(args) as operator:
        status = operator.get("/status")
    minutes, waiting = settings(args).limits.unlock_minutes, status["openTickets"] or 0
    said = {"unlocked": status["unlocked"], "openTickets": waiting, "minutes": minutes}
    words = "Unlocked: approvals can be checked until the daemon stops." + (_HERE.format(minutes) if minutes else "")
    words += f"\n{waiting} open: `interlock pending`." if waiting else ""
    return report(args, said, words, said["unlocked"])


channels_main = CommandWords(__name__, "channels")


@channels_main.word
def _list_channels(args: Args) -> None:
    found = operator_rows(args, "channels")
    rows, troubles = [], []
    for one in found:
        last: Row = next(iter(one["recent"]), {})
        when = f"after {one['afterSeconds']} s" if one["afterSeconds"] else "at once"
        state = f"last message {last['state']}" if last else "ready"
        rows.append((one["name"], one["address"], when, state if one["ready"] else "cannot be used"))
        if why := one["problem"] or (last.get("reason") if last.get("state") in ("queued", "failed") else ""):
            troubles.append(visible(f"{one['name']}: {why}"))
    report_table(args, found, ("name", "where", "told", "state"), rows, "There is no channel.")
    for words in troubles if not args.json else ():
        print(words)


@channels_main.word
def _test(args: Args) -> int:
    with operator_session(args) as operator:
        found = operator.post(f"/channels/{path_segment(args.name)}/test", {})
    words = "sent. Look whether it is there." if found["sent"] else f"not sent: {found['reason']}"
    return report(args, found, f"{args.name}: {words}", found["sent"])


@command()
def codes_main(args: Args) -> int:
    with operator_session(args) as operator:
        found = list_of(operator, "challenges")
        if args.json or args.list or not found:
            return report(args, found, _lines(found))
        challenge = _choose_challenge(found, args.id)
        if challenge["state"] != "open":
            challenge = operator.post(f"/challenges/{challenge['id']}/reissue")
        shown = operator.post(f"/challenges/{challenge['id']}/reveal")
    screen = [
        f"Interlock: a code for {_who(challenge)}", "", f"  {_what(challenge)}", "", f"  challenge  {challenge['id']}",
        f"  code       {shown['code']}", "",
        f"It runs out {ago(shown['expiresAt'])} and counts once. Whoever has it frees this agent.",
        "Any key erases this; so does a minute.",
    ]  # fmt: skip
    with controlling_terminal() as terminal:
        how = "erased" if show_once(terminal, screen, SCREEN_SECONDS) else "erased after a minute"
    words = f"The code for challenge {challenge['id']} was shown and {how}."
    print(f"{words} It counts once; `interlock codes` makes another.")
    return OK


def _choose_challenge(found: Sequence[Row], id: str) -> Row:
    meant = [one for one in found if id and one["id"].startswith(id.lower())]
    if len(meant) == 1:
        return meant[0]
    if id:
        which = "more than one" if meant else "no"
        raise CommandError(f"{which} challenge begins with {id!r}; see `interlock codes --list`")
    say(_lines(found))
    question = "Show the code of which? [1] " if len(found) > 1 else "Show its code? [Enter] "
    typed = ask_line(question) or "1"
    if not typed.isdecimal() or not 1 <= int(typed) <= len(found):
        raise UsageError("no code was shown")
    return found[int(typed) - 1]


def _lines(found: Sequence[Row]) -> Lines:
    if not found:
        yield line("Nothing waits for a code.")
    for number, one in enumerate(found, 1):
        live = one["state"] == "open"
        runs = f"runs out {ago(one['expiresAt'])}" if live else "ran out; a new one is issued when it is shown"
        yield line(f"{number:>3}  ") + line(one["id"], "heading") + line(f"  {runs}", "dim")
        yield line(f"     {_what(one)}", "command")
        yield line(f"     {_who(one)}", "dim")


def _what(challenge: Row) -> str:
    kind = "blocked" if challenge["kind"] == "block" else "waits to do"
    return visible(f"{kind}: {challenge.get('title') or challenge['reason']}")[:300]


def _who(challenge: Row) -> str:
    return visible("{name} ({principal})".format_map(challenge["agent"]).lstrip())[:300]
