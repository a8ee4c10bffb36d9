"""`interlock status`, `hooks` and `coverage`: the daemon's state, the hooks that are installed, and calls that went around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.analysis.display_text import Line, StyledText, visible
from interlock.cli.answer.mode import MODES, describe_pause
from interlock.cli.arguments import Args, flag
from interlock.cli.command import (
    FAILED,
    OK,
    command,
    daemon,
    list_rows,
    pluralize,
    report,
    report_table,
    settings,
)
from interlock.cli.guard.installation import home_and_project
from interlock.install.discovery import hooked_files
from interlock.local_times import ago

if TYPE_CHECKING:
    from interlock.config import Config


_ISOLATION_TEXTS = {
    "plain": "agents are the same user: mistakes are stopped and tampering shows, malware is not stopped",
    "jailed": "the same user, but agents do not see this state",
    "separate": "the daemon has a user of its own",
}


@command(
    "status",
    "The daemon's state: isolation, mode, policy, what waits, what is wrong.",
    "interlock status\ninterlock status --json",
)
def main(args: Args) -> int:
    """Print the daemon's state; returns 3 where none answers."""
    server = daemon(args)
    found = server.get("/status")
    hooks = hook_rows(settings(args))
    return report(args, {**found, "hooks": hooks}, status_lines(found, str(server.path), hooks))


def status_lines(found: Mapping[str, Any], socket: str, hooks: Sequence[Mapping[str, Any]] = ()) -> Iterator[Line]:
    """The daemon's state as lines, with the next step where something is missing."""

    def row(name: str, value: object, style: str = "") -> Line:
        return StyledText(f"{name:<10}", "dim"), StyledText(visible(str(value)), style)

    isolation, mode = str(found.get("strength", "")), str(found.get("mode", ""))
    yield row("Daemon", f"interlock {found.get('version', '')} on {socket}, started {ago(found.get('started'))}")
    yield row(
        "Isolation", f"{isolation}: {_ISOLATION_TEXTS[isolation]}" if isolation in _ISOLATION_TEXTS else isolation
    )
    yield row(
        "Mode", mode if mode == "enforcing" else f"{mode}: {MODES.get(mode, '')}", "" if mode == "enforcing" else "ask"
    )
    pause = found.get("pause") or {}
    if pause.get("paused"):
        yield row("Paused", describe_pause(pause), "ask")
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
    """The open questions, and the commands that show them."""
    tickets, codes = found.get("openTickets") or 0, found.get("openChallenges") or 0
    words = pluralize(tickets, "open ticket") + ("; see `interlock pending`" if tickets else "")
    if not codes:
        return words
    return f"{words}; {pluralize(codes, 'challenge')} for a code, see `interlock codes`"


def _block(one: Mapping[str, Any]) -> str:
    """A blocked agent, the reason, and how the block ends."""
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


@command(
    "hooks",
    "The agents that are guarded: for this user, in this folder, on this machine, and wherever install wrote.",
    "interlock hooks\ninterlock hooks --json",
    exits="exit codes: 0 all are as they were written, 1 one is broken or gone, 2 wrong usage",
)
def hooks_main(args: Args) -> int:
    """List the files with Interlock's hooks."""
    found = hook_rows(settings(args))
    rows = [[one["agent"], one["scope"], one["state"], one["problem"] or one["path"]] for one in found]
    empty, code = (
        "No agent is guarded yet: run `interlock install`.",
        FAILED if any(row["problem"] for row in found) else OK,
    )
    return report_table(args, {"hooks": found}, ("agent", "scope", "state", "file"), rows, empty, code)


def hook_rows(config: Config) -> list[dict[str, Any]]:
    """One row for each file: as written, changed since, or broken."""
    home, project = home_and_project()
    return [
        {
            "agent": one.agent.word,
            "title": one.agent.title,
            "scope": one.scope,
            "path": str(one.place.path),
            "state": one.state(config),
            "problem": one.problem,
        }
        for one in hooked_files(config, home, project)
    ]


@command(
    "coverage",
    "How many tool calls ran since the daemon was started, and how many of them had passed their hook before:\n"
    "asked before they ran, calls that ran, seen by the hook, missed by it.",
    "interlock coverage\ninterlock coverage --sessions\ninterlock coverage --json",
    flag("--sessions", "session by session, the newest first"),
    exits="exit codes: 0 nothing was missed, 1 calls went around their hook, 2 wrong usage, 3 no daemon answers",
)
def coverage_main(args: Args) -> int:
    """Print calls, seen and missed; exits 1 where calls were missed."""
    found = daemon(args).get("/coverage")
    missed = int(found.get("missed", 0))
    lead, key = (("agent", "session"), "sessions") if args.sessions else (("agent",), "agents")
    columns = (*lead, "asked", "calls", "seen", "missed")
    rows = [[row.get(name, 0) for name in columns] for row in list_rows(found, key)]
    empty = "No hook has asked yet; `interlock doctor` shows whether one would."
    report_table(args, found, columns, rows, empty)
    if missed and not args.json:
        print(f"{pluralize(missed, 'call')} ran that no hook was asked about; `interlock audit tail` has them.")
    return FAILED if missed else OK
