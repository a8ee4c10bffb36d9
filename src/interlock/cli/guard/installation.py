"""Shared by install and uninstall: scope options, diffs, the confirmation, and the steps of `--system`."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Sequence

from interlock.agents import AgentDialect, UnknownAgent, agent
from interlock.analysis.display_text import Line
from interlock.cli.command import Args, CommandError, pluralize, wrong_usage
from interlock.cli.output import line
from interlock.cli.sign_in import confirm
from interlock.config import SYSTEM_CONFIG, Config, ConfigError, config_of, load_config
from interlock.install.changes import FileChange, InstallRefusal, diff
from interlock.install.files import FileProblem
from interlock.install.system import (
    CannotSetUp,
    Layout,
    SystemStep,
    config_text,
    has_systemd,
    removal_steps,
    steps,
)
from interlock.install.user_service import data_steps, stop_steps


@wrong_usage(UnknownAgent)
def named_agents(given: Sequence[str]) -> list[AgentDialect]:
    return [agent(word) for word in dict.fromkeys(given)]


def diff_lines(changes: Sequence[FileChange]) -> Iterator[Line]:
    styles = {"+": "allow", "-": "deny", "@": "dim"}
    for change in changes:
        yield line(f"{change.agent.title}, {change.name}", "heading")
        for text in diff(change):
            style = "heading" if text.startswith(("+++", "---")) else styles.get(text[:1], "")
            yield line(text, style)
        yield ()


def report_refusals(refused: Sequence[InstallRefusal], word: str) -> None:
    for one in refused:
        print(f"interlock {word}: {one.words}; nothing was changed there", file=sys.stderr)


def confirm_changes(args: Args, count: int, verb: str, steps: int = 0) -> bool:
    """Without a terminal it requires --yes."""
    if args.yes:
        return True
    parts = [f"{verb} {pluralize(count, 'file')}"] if count or not steps else []
    parts += [f"{'take' if parts else 'Take'} {pluralize(steps, 'step')}"] if steps else []
    question = f"{' and '.join(parts)}?"
    if not (os.isatty(0) and os.isatty(1)):
        raise CommandError(f"{question} There is no terminal to ask at: check with --dry-run, then give --yes", 2)
    return confirm(question)


def require_root(args: Args) -> None:
    """Refuses --system for anybody but root, and its options without it."""
    if args.scope != "system" and (getattr(args, "users", None) or getattr(args, "operators", None)):
        raise CommandError("--for and --answered-by go with --system", 2)
    if args.scope == "system" and os.geteuid() != 0:
        raise CommandError("--system takes root: try it with sudo")


def guarded_users(args: Args) -> tuple[str, ...]:
    """The named users, those guarded already, or the caller of sudo; refuses where there is none."""
    named = tuple(dict.fromkeys(args.users or ()))
    if named:
        return named
    if SYSTEM_CONFIG.is_file():
        return load_config(SYSTEM_CONFIG, {}).separate.users
    caller = os.environ.get("SUDO_USER", "")
    if caller and caller != "root":
        return (caller,)
    raise CommandError("whose agents are to be guarded? Say it with --for USER; root's own cannot be", 2)


def set_up_system(args: Args) -> Config:
    """The configuration of the daemon; with --dry-run, the one that would result."""
    layout, users = Layout(), guarded_users(args)
    try:
        wanted = [step for step in steps(layout, users, tuple(args.operators or ())) if step.needed]
        _show_steps(args, wanted, "The daemon gets a user of its own:", "The daemon has a user of its own already.")
        if args.dry_run:
            text = config_text(layout, users, args.operators or ())
            return config_of(tomllib.loads(text), str(layout.config), {})
        if wanted:
            if not confirm_changes(args, 0, "", len(wanted)):
                raise CommandError("nothing was changed", 2)
            perform_steps(args, wanted)
    except (CannotSetUp, FileProblem, ConfigError) as error:
        words = "what was done before this stays, and running it again goes on from there"
        raise CommandError(f"{error}; {words}") from None
    if not has_systemd():
        words = "systemd does not run here. Start the daemon as root, by whatever starts services here"
        print(f"{words}:\n  {layout.program} serve --system --config {layout.config}", file=sys.stderr)
    return load_config(layout.config, {})


def take_down_system(args: Args) -> list[SystemStep]:
    """None where agents were named, because the daemon then stays."""
    if args.scope != "system" or args.agents:
        return []
    layout = Layout()
    found = [step for step in removal_steps(layout) if step.needed]
    _show_steps(args, found, "The daemon's own parts:", "")
    if found and not args.json:
        print(f"{layout.state} and {layout.config} stay: the record and the operators are in there.\n")
    return found


def take_down_user(args: Args, config: Config) -> list[SystemStep]:
    if config.separate.on:
        return []
    found = [*stop_steps(config), *(data_steps(config) if args.data else ())]
    _show_steps(args, found, "The daemon's own parts:", "")
    return found


def perform_steps(args: Args, wanted: Sequence[SystemStep]) -> None:
    for step in wanted:
        step.do()
        if not args.json:
            print(f"done: {step.words}", flush=True)


def _show_steps(args: Args, wanted: Sequence[SystemStep], heading: str, nothing: str) -> None:
    if args.json or not (wanted or nothing):
        return
    print(heading if wanted else nothing)
    for number, step in enumerate(wanted, 1):
        print(f"  {number}. {step.words}")
    print(flush=True)
