"""`interlock doctor`: sends a canary through each installed hook exactly as the agent would, and says what is not well."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.installing import here, named_agents
from interlock.doors.cli.operating import FAILED, OK, Stop, command, daemon, run, say, say_json, settings

if TYPE_CHECKING:
    from interlock.config import Config
    from interlock.core.styled import Line
    from interlock.doors.install.checks import Finding
    from interlock.doors.install.present import Hooked

_MARKS = {"ok": ("well", "allow"), "note": ("note", "ask"), "problem": ("PROBLEM", "deny")}


def main(argv: Sequence[str]) -> int:
    """Look at everything between an agent and the gate."""
    parser = command(
        "doctor",
        "Proves that the guard fires: reads each installed file as the agent would, runs the very command in it with a\n"
        "harmless call that has to pass and one that has to be denied, and says how long that took, what happens without a\n"
        "daemon, and what switches hooks off.",
        "interlock doctor\ninterlock doctor claude-code --deep\ninterlock doctor --json",
        "exit codes: 0 all is well, 1 there are problems, 2 wrong usage",
    )
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="default: all that are guarded")
    parser.add_argument(
        "--deep", action="store_true", help="put the daemon's socket aside for a moment, and see what the hooks do then"
    )
    return run("doctor", _doctor, parser.parse_args(list(argv)))


def _doctor(args: argparse.Namespace) -> int:
    config = settings(args)
    chosen = _chosen(args, config)
    general = list(_general(args, config, chosen))
    each = [(one, list(_each(args, one, config))) for one in chosen]
    well = all(finding.state != "problem" for finding in [*general, *(f for _, found in each for f in found)])
    if args.json:
        say_json(_json(well, general, each))
    else:
        say(_lines(well, general, each))
    return OK if well else FAILED


def _chosen(args: argparse.Namespace, config: Config) -> list[Hooked]:
    from interlock.doors.install.present import hooked

    home, project = here()
    wanted = {agent.word for agent in named_agents(args.agents)}
    found = hooked(config, home, project)
    if missing := wanted - {one.agent.word for one in found}:
        raise Stop(f"not guarded: {', '.join(sorted(missing))}; run `interlock install {' '.join(sorted(missing))}`")
    return [one for one in found if not wanted or one.agent.word in wanted]


def _each(args: argparse.Namespace, one: Hooked, config: Config) -> Iterator[Finding]:
    from interlock.doors.install.checks import findings

    yield from findings(one, config, here()[0])
    if args.deep and not one.problem:
        from interlock.doors.install.down import without_daemon

        _persons()
        yield from without_daemon(one, config)


def _persons() -> None:
    """For a moment other agents' calls are judged without a daemon, too: that is not for an agent to bring about."""
    from interlock.terminal.agents import agent_above

    if why := agent_above(os.getpid()):
        raise Stop(f"--deep is for a person, and this looks like an agent's terminal: {why}")


def _general(args: argparse.Namespace, config: Config, chosen: Sequence[Hooked]) -> Iterator[Finding]:
    """The daemon, the configuration, and whether anything is guarded at all."""
    from interlock.doors.client import ApiError, NoDaemon
    from interlock.doors.install.checks import Finding
    from interlock.doors.install.down import fail_mode
    from interlock.doors.install.system_checks import separation
    from interlock.looker.project import find

    if not chosen:
        yield Finding("agents", "problem", "no agent is guarded: run `interlock install`")
    try:
        status = daemon(args).get("/status")
        mode = status.get("mode", "")
        words = f"answers on {config.socket_path}; strength {status.get('strength', '')}, mode {mode}"
        yield Finding("daemon", "ok" if mode == "enforcing" else "problem", words + _loosened(mode))
        if status.get("operators") == 0:
            words = "there is none, so whatever takes one is denied at once; in a terminal of your own: interlock operator add"
            yield Finding("operators", "note", words)
        for said in [*(status.get("problems") or ()), *(status.get("warnings") or ())]:
            yield Finding("daemon", "note", str(said))
    except (NoDaemon, ApiError) as error:
        yield Finding("daemon", "problem", str(error))
    for file in find(str(here()[1])):
        words = f"{file.path} cannot be used, so everything is asked about here: {'; '.join(file.problems)}"
        yield (
            Finding("project", "problem", words)
            if file.problems
            else Finding("project", "ok", f"{file.path} counts here")
        )
    yield from separation(config)
    for said in config.concerns():
        yield Finding("configuration", "note", said)
    if not args.deep:
        yield Finding("daemon down", "ok", f"then {fail_mode(config)}; --deep tries it")


def _loosened(mode: str) -> str:
    return "" if mode == "enforcing" else ", so nothing is stopped"


def _json(well: bool, general: Sequence[Finding], each: Sequence[tuple[Hooked, Sequence[Finding]]]) -> dict[str, Any]:
    return {
        "well": well,
        "findings": [asdict(finding) for finding in general],
        "agents": [
            {
                "agent": one.agent.word,
                "scope": one.scope,
                "path": str(one.place.path),
                "findings": [asdict(finding) for finding in found],
            }
            for one, found in each
        ],
    }


def _lines(well: bool, general: Sequence[Finding], each: Sequence[tuple[Hooked, Sequence[Finding]]]) -> Iterator[Line]:
    from interlock.core.excerpt import visible
    from interlock.core.styled import Part

    def row(finding: Finding) -> Line:
        mark, style = _MARKS[finding.state]
        return Part(f"  {mark:<8}", style), Part(f"{finding.what:<14}", "dim"), Part(visible(finding.words))

    yield (Part("Interlock", "heading"),)
    yield from map(row, general)
    for one, found in each:
        yield ()
        yield (Part(visible(f"{one.agent.title} ({one.scope})"), "heading"),)
        yield from map(row, found)
    yield ()
    problems = sum(finding.state == "problem" for finding in [*general, *(f for _, found in each for f in found)])
    words = "All is well: the guard fires." if well else f"{problems} problem{'' if problems == 1 else 's'}."
    yield (Part(words, "allow" if well else "deny"),)
