"""`interlock doctor`: sends a canary through each installed hook as the agent would, and reports problems."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from interlock.analysis.display_text import Line, StyledText, visible
from interlock.cli.arguments import Args, argument, flag
from interlock.cli.command import (
    FAILED,
    OK,
    CommandError,
    command,
    daemon,
    pluralize,
    report,
    settings,
    typed_name,
)
from interlock.cli.guard.installation import home_and_project, named_agents
from interlock.client import ApiError, NoDaemon
from interlock.identity.agent_detection import agent_above
from interlock.impact.project_files import find_project_files
from interlock.install.checks import (
    Check,
    check_hooks,
    check_journal,
    check_separation,
    check_without_daemon,
    check_wrapping,
    fail_mode,
)
from interlock.install.discovery import HookedFile, hooked_files

if TYPE_CHECKING:
    from interlock.config import Config

_MARKS = {"ok": ("well", "allow"), "note": ("note", "ask"), "problem": ("PROBLEM", "deny")}


@command(
    "doctor",
    "Proves that the guard fires: reads each installed file as the agent would, runs the very command in it with a\n"
    "harmless call that has to pass and one that has to be denied, and says how long that took, what happens without a\n"
    "daemon, and what switches hooks off.",
    "interlock doctor\ninterlock doctor claude-code --deep\ninterlock doctor --json",
    argument("agents", "AGENT", "default: all that are guarded", nargs="*"),
    flag("--deep", "put the daemon's socket aside for a moment, and see what the hooks do then"),
    exits="exit codes: 0 all is well, 1 there are problems, 2 wrong usage",
)
def main(args: Args) -> int:
    """Check everything between an agent and the gate."""
    config = settings(args)
    chosen = _chosen(args, config)
    general = list(_general(args, config, chosen))
    each = [(one, list(_each(args, one, config))) for one in chosen]
    well = all(finding.state != "problem" for finding in [*general, *(f for _, found in each for f in found)])
    return report(args, _json(well, general, each), _lines(well, general, each), OK if well else FAILED)


def _chosen(args: Args, config: Config) -> list[HookedFile]:
    home, project = home_and_project()
    wanted = {agent.word for agent in named_agents(args.agents)}
    found = hooked_files(config, home, project)
    if missing := wanted - {one.agent.word for one in found}:
        raise CommandError(
            f"not guarded: {', '.join(sorted(missing))}; run `{typed_name()} install {' '.join(sorted(missing))}`"
        )
    return [one for one in found if not wanted or one.agent.word in wanted]


def _each(args: Args, one: HookedFile, config: Config) -> Iterator[Check]:
    yield from check_hooks(one, config, home_and_project()[0])
    if args.deep and not one.problem:
        _require_person()
        yield from check_without_daemon(one, config)


def _require_person() -> None:
    """Refuses an agent's terminal: the deep check briefly judges other agents' calls without a daemon."""
    if why := agent_above(os.getpid()):
        raise CommandError(f"--deep is for a person, and this looks like an agent's terminal: {why}")


def _general(args: Args, config: Config, chosen: Sequence[HookedFile]) -> Iterator[Check]:
    """Check the daemon, the configuration, and that some agent is guarded."""
    if not chosen:
        yield Check("agents", "problem", f"no agent is guarded: run `{typed_name()} install`")
    try:
        status = daemon(args).get("/status")
        mode = status.get("mode", "")
        words = f"answers on {config.socket_path}; isolation {status.get('strength', '')}, mode {mode}"
        yield Check("daemon", "ok" if mode == "enforcing" else "problem", words + _loosened_mode(mode))
        if status.get("operators") == 0:
            words = f"there is none, so whatever takes one is denied at once; in a terminal of your own: {typed_name()} operator add"
            yield Check("operators", "note", words)
        for said in [*(status.get("problems") or ()), *(status.get("warnings") or ())]:
            yield Check("daemon", "note", str(said))
    except (NoDaemon, ApiError) as error:
        yield Check("daemon", "problem", str(error))
    for file in find_project_files(str(home_and_project()[1])):
        words = f"{file.path} cannot be used, so everything is asked about here: {'; '.join(file.problems)}"
        yield (
            Check("project", "problem", words) if file.problems else Check("project", "ok", f"{file.path} counts here")
        )
    journal = check_journal(config)
    yield journal
    if journal.state == "ok" and any(one.agent.rewrites is not None for one in chosen):
        yield check_wrapping(config)
    yield from check_separation(config)
    for said in config.concerns():
        yield Check("configuration", "note", said)
    if not args.deep:
        yield Check("daemon down", "ok", f"then {fail_mode(config)}; --deep tries it")


def _loosened_mode(mode: str) -> str:
    return "" if mode == "enforcing" else ", so nothing is stopped"


def _json(well: bool, general: Sequence[Check], each: Sequence[tuple[HookedFile, Sequence[Check]]]) -> dict[str, Any]:
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


def _lines(well: bool, general: Sequence[Check], each: Sequence[tuple[HookedFile, Sequence[Check]]]) -> Iterator[Line]:
    def row(finding: Check) -> Line:
        mark, style = _MARKS[finding.state]
        return (
            StyledText(f"  {mark:<8}", style),
            StyledText(f"{finding.what:<14}", "dim"),
            StyledText(visible(finding.words)),
        )

    yield (StyledText("Interlock", "heading"),)
    yield from map(row, general)
    for one, found in each:
        yield ()
        yield (StyledText(visible(f"{one.agent.title} ({one.scope})"), "heading"),)
        yield from map(row, found)
    yield ()
    problems = sum(finding.state == "problem" for finding in [*general, *(f for _, found in each for f in found)])
    words = "All is well: the guard fires." if well else f"{pluralize(problems, 'problem')}."
    yield (StyledText(words, "allow" if well else "deny"),)
