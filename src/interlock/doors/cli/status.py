"""`interlock status`: is a daemon there, how strong is it, what waits, what is wrong?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.hooks import found_hooks
from interlock.doors.cli.mode import MODES
from interlock.doors.cli.operating import OK, command, counted, daemon, run, say, say_json, settings
from interlock.doors.cli.pause import pause_words

if TYPE_CHECKING:
    from interlock.core.styled import Line

_STRENGTHS = {
    "plain": "agents are the same user: mistakes are stopped and tampering shows, malware is not kept out",
    "jailed": "the same user, but agents do not see this state",
    "separate": "the daemon has a user of its own",
}


def main(argv: Sequence[str]) -> int:
    """Tell how the daemon is; exits 3 where none answers."""
    parser = command(
        "status",
        "How the daemon is: strength, mode, policy, what waits, what is wrong.",
        "interlock status\ninterlock status --json",
    )
    return run("status", _status, parser.parse_args(list(argv)))


def _status(args: argparse.Namespace) -> int:
    server = daemon(args)
    found = server.get("/status")
    hooks = found_hooks(settings(args))
    if args.json:
        say_json({**found, "hooks": hooks})
        return OK
    say(status_lines(found, str(server.path), hooks))
    return OK


def status_lines(found: Mapping[str, Any], socket: str, hooks: Sequence[Mapping[str, Any]] = ()) -> Iterator[Line]:
    """A daemon's state in words, and what to do next where something is missing."""
    from interlock.core.excerpt import visible
    from interlock.core.styled import Part
    from interlock.moments import ago

    def row(name: str, value: object, style: str = "") -> Line:
        return Part(f"{name:<10}", "dim"), Part(visible(str(value)), style)

    strength, mode = str(found.get("strength", "")), str(found.get("mode", ""))
    yield row("Daemon", f"interlock {found.get('version', '')} on {socket}, started {ago(found.get('started'))}")
    yield row("Strength", f"{strength}: {_STRENGTHS[strength]}" if strength in _STRENGTHS else strength)
    yield row(
        "Mode", mode if mode == "enforcing" else f"{mode}: {MODES.get(mode, '')}", "" if mode == "enforcing" else "ask"
    )
    pause = found.get("pause") or {}
    if pause.get("paused"):
        yield row("Paused", pause_words(pause), "ask")
    yield row("Policy", found.get("policy", ""))
    yield row("Store", found.get("store", ""))
    yield row("Operators", *_operators(found))
    yield row("Agents", *_guarded(hooks))
    if jails := [_jail(one) for one in found.get("jails") or ()]:
        yield row("Jailed", ", ".join(jails))
    yield row("Waiting", _waiting(found))
    for one in found.get("raised") or ():
        yield row("Asks more", f"{one.get('name') or one.get('principal', '')}: {one.get('words', '')}", "ask")
    for one in found.get("blocked") or ():
        yield row("Blocked", _block(one), "deny")
    for name, key, style in (("Warning", "warnings", "ask"), ("Problem", "problems", "deny")):
        for words in found.get(key) or ():
            yield row(name, words, style)


def _waiting(found: Mapping[str, Any]) -> str:
    """What people are waited for with, and where to see it."""
    tickets, codes = found.get("openTickets") or 0, found.get("openChallenges") or 0
    words = counted(tickets, "open ticket") + ("; see `interlock pending`" if tickets else "")
    if not codes:
        return words
    return f"{words}; {counted(codes, 'challenge')} for a code, see `interlock codes`"


def _block(one: Mapping[str, Any]) -> str:
    """An agent that may do nothing but read, why, and how that ends."""
    principal = one.get("principal", "")
    return f"{principal}: {one.get('reason', '')}; `interlock unblock {principal} --reason …` lifts it"


def _jail(one: Mapping[str, Any]) -> str:
    """An agent that `interlock run` started, and what it may reach."""
    grants = ", ".join(map(str, one.get("grants") or ()))
    return f"{one.get('program', '')} (granted: {grants})" if grants else str(one.get("program", ""))


def _guarded(hooks: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The agents whose hooks ask this gate, as this user and this folder see it."""
    if not hooks:
        return "none guarded by hooks here: run `interlock install`", "ask"
    words = dict.fromkeys(
        f"{one['title']} ({one['scope']}{', ' + one['state'] if one['state'] != 'installed' else ''})" for one in hooks
    )
    broken = any(one["problem"] for one in hooks)
    return ", ".join(words) + ("; see `interlock hooks`" if broken else ""), "deny" if broken else ""


def _operators(found: Mapping[str, Any]) -> tuple[str, str]:
    count = found.get("operators")
    if count is None:
        return "unknown: the store cannot be used", "deny"
    if not count:
        return "none yet: make the first one with `interlock operator add`", "ask"
    if not found.get("unlocked"):
        return (
            f"{count}; nobody signed in since the start: run `interlock unlock`, or approvals cannot be checked",
            "ask",
        )
    return f"{count}, unlocked", ""
