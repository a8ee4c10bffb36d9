"""`interlock status`, `hooks`, `coverage` and `doctor`: the daemon, the hooks, calls that went around them, and canaries through them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from interlock.analysis.display_text import Line, Lines, labelled, line
from interlock.cli.answer.agents import MODES, describe_pause
from interlock.cli.command import FAILED, OK, Args, CommandError, Row, command, daemon, settings
from interlock.cli.guard.install import named_agents
from interlock.cli.output import declared_words, pluralize, report, report_table, typed_name
from interlock.client import ApiError, NoDaemon
from interlock.config import Config
from interlock.identity.agent_detection import agent_above
from interlock.impact.files import find_project_files
from interlock.install.checks import (
    Check,
    check_hooks,
    check_journal,
    check_separation,
    check_without_daemon,
    check_wrapping,
    fail_mode,
    lost_hooks,
)
from interlock.install.discovery import HookedFile, hooked_files
from interlock.local_times import ago


@command()
def main(args: Args) -> int:
    server = daemon(args)
    found = server.get("/status")
    hooks = hook_rows(settings(args))
    return report(args, {**found, "hooks": hooks}, status_lines(found, str(server.path), hooks))


def status_lines(found: Row, socket: str, hooks: Sequence[Row]) -> Lines:
    isolation, mode = found["strength"], found["mode"]
    yield labelled("Daemon", f"interlock {found['version']} on {socket}, started {ago(found['started'])}")
    yield labelled("Isolation", f"{isolation}: {declared_words(__name__, 'status')[isolation]}")
    weak = "" if mode == "enforcing" else f": {MODES[mode]}"
    yield labelled("Mode", f"{mode}{weak}", "ask" if weak else "")
    if found["pause"]["paused"]:
        yield labelled("Paused", describe_pause(found["pause"]), "ask")
    yield labelled("Policy", found["policy"])
    yield labelled("Store", found["store"])
    yield labelled("Operators", *_operators(found))
    yield labelled("Agents", *_guarded(hooks))
    jails = [(one["program"], ", ".join(one["grants"])) for one in found["jails"]]
    if words := ", ".join(f"{program} (granted: {grants})" if grants else program for program, grants in jails):
        yield labelled("Jailed", words)
    tickets, codes = found["openTickets"] or 0, found["openChallenges"] or 0
    waiting = pluralize(tickets, "open ticket") + ("; see `interlock pending`" if tickets else "")
    waiting += f"; {pluralize(codes, 'challenge')} for a code, see `interlock codes`" if codes else ""
    yield labelled("Waiting", waiting)
    for one in found["raised"]:
        yield labelled("Asks more", f"{one['name'] or one['principal']}: {one['words']}", "ask")
    for one in found["blocked"]:
        lifts = f"`interlock unblock {one['principal']} --reason …` lifts it"
        yield labelled("Blocked", f"{one['principal']}: {one['reason']}; {lifts}", "deny")
    for name, key, style in (("Warning", "warnings", "ask"), ("Problem", "problems", "deny")):
        for words in found[key]:
            yield labelled(name, words, style)


def _guarded(hooks: Sequence[Row]) -> tuple[str, str]:
    if not hooks:
        return "none guarded by hooks here: run `interlock install`", "ask"
    states = {(one["title"], one["scope"], one["state"].replace("installed", "")): None for one in hooks}
    words = ", ".join(f"{title} ({', '.join(filter(None, rest))})" for title, *rest in states)
    broken = any(one["problem"] for one in hooks)
    return (f"{words}; see `interlock hooks`", "deny") if broken else (words, "")


def _operators(found: Row) -> tuple[str, str]:
    count = found["operators"]
    if count is None:
        return "unknown: the store cannot be used", "deny"
    if not count:
        return f"none yet: make the first one with `{typed_name()} operator add`", "ask"
    if not found["unlocked"]:
        words = "nobody signed in since the start: run `interlock unlock`, or approvals cannot be checked"
        return f"{count}; {words}", "ask"
    return f"{count}, unlocked", ""


@command()
def hooks_main(args: Args) -> int:
    found = hook_rows(settings(args))
    rows = [[one["agent"], one["scope"], one["state"], one["problem"] or one["path"]] for one in found]
    empty, broken = "No agent is guarded yet: run `interlock install`.", any(row["problem"] for row in found)
    columns = ("agent", "scope", "state", "file")
    return report_table(args, {"hooks": found}, columns, rows, empty, not broken)


def hook_rows(config: Config) -> list[dict[str, Any]]:
    rows = []
    for one in hooked_files(config, Path.home(), Path.cwd()):
        if not one.problem and (lost := lost_hooks(one)):
            one = replace(one, problem=f"{one.place.path}: {lost}")
        rows.append({**_hook_row(one), "title": one.agent.title, "state": one.state(config), "problem": one.problem})
    return rows


def _hook_row(one: HookedFile) -> dict[str, Any]:
    return {"agent": one.agent.word, "scope": one.scope, "path": str(one.place.path)}


@command()
def coverage_main(args: Args) -> int:
    found = daemon(args).get("/coverage")
    missed = found["missed"]
    lead, key = (("agent", "session"), "sessions") if args.sessions else (("agent",), "agents")
    columns = (*lead, "asked", "calls", "seen", "missed")
    rows = [[row[name] for name in columns] for row in found[key]]
    empty = "No hook has asked yet; `interlock doctor` shows whether one would."
    report_table(args, found, columns, rows, empty)
    if missed and not args.json:
        print(f"{pluralize(missed, 'call')} ran that no hook was asked about; `interlock audit tail` has them.")
    return FAILED if missed else OK


_MARKS = {"ok": ("well", "allow"), "note": ("note", "ask"), "problem": ("PROBLEM", "deny")}


@command()
def doctor_main(args: Args) -> int:
    config = settings(args)
    chosen = _chosen(args, config)
    general = list(_general(args, config, chosen))
    each = [(one, list(_each(args, one, config))) for one in chosen]
    problems = sum(check.state == "problem" for found in (general, *(found for _, found in each)) for check in found)
    agents = [{**_hook_row(one), "findings": to_builtins(found)} for one, found in each]
    body = {"well": not problems, "findings": to_builtins(general), "agents": agents}
    return report(args, body, _lines(problems, general, each), not problems)


def _chosen(args: Args, config: Config) -> list[HookedFile]:
    wanted = {agent.word for agent in named_agents(args.agents)}
    found = hooked_files(config, Path.home(), Path.cwd())
    if missing := sorted(wanted - {one.agent.word for one in found}):
        raise CommandError(f"not guarded: {', '.join(missing)}; run `{typed_name()} install {' '.join(missing)}`")
    return [one for one in found if not wanted or one.agent.word in wanted]


def _each(args: Args, one: HookedFile, config: Config) -> Iterator[Check]:
    yield from check_hooks(one, config, Path.home())
    if args.deep and not one.problem:
        if why := agent_above(os.getpid()):  # it briefly judges other agents' calls without a daemon
            raise CommandError(f"--deep is for a person, and this looks like an agent's terminal: {why}")
        yield from check_without_daemon(one, config)


def _general(args: Args, config: Config, chosen: Sequence[HookedFile]) -> Iterator[Check]:
    if not chosen:
        yield Check("agents", "problem", f"no agent is guarded: run `{typed_name()} install`")
    try:
        status = daemon(args).get("/status")
        mode = status["mode"]
        words = f"answers on {config.socket_path}; isolation {status['strength']}, mode {mode}"
        loosened = "" if mode == "enforcing" else ", so nothing is stopped"
        yield Check("daemon", "problem" if loosened else "ok", words + loosened)
        if status["operators"] == 0:
            words = f"there is none, so whatever takes one is denied at once; in a terminal of your own: {typed_name()} operator add"
            yield Check("operators", "note", words)
        for said in (*status["problems"], *status["warnings"]):
            yield Check("daemon", "note", said)
    except (NoDaemon, ApiError) as error:
        yield Check("daemon", "problem", str(error))
    for file in find_project_files(os.getcwd()):
        wrong = "; ".join(file.problems)
        words = f"cannot be used, so everything is asked about here: {wrong}" if wrong else "counts here"
        yield Check("project", "problem" if wrong else "ok", f"{file.path} {words}")
    journal = check_journal(config)
    yield journal
    if journal.state == "ok" and any(one.agent.rewrites is not None for one in chosen):
        yield check_wrapping(config)
    yield from check_separation(config)
    for said in config.concerns():
        yield Check("configuration", "note", said)
    if not args.deep:
        yield Check("daemon down", "ok", f"then {fail_mode(config)}; --deep tries it")


def _lines(problems: int, general: Sequence[Check], each: Sequence[tuple[HookedFile, Sequence[Check]]]) -> Lines:
    def row(finding: Check) -> Line:
        mark, style = _MARKS[finding.state]
        return line(f"  {mark:<8}", style) + line(f"{finding.what:<14}", "dim") + line(finding.words)

    yield line("Interlock", "heading")
    yield from map(row, general)
    for one, found in each:
        yield ()
        yield line(f"{one.agent.title} ({one.scope})", "heading")
        yield from map(row, found)
    yield ()
    words = f"{pluralize(problems, 'problem')}." if problems else "All is well: the guard fires."
    yield line(words, "deny" if problems else "allow")
