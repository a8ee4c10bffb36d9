"""`interlock install` and `uninstall`: write an agent's own hooks, and take them out again; each change is shown and agreed to first."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from interlock.agents import AgentDialect, HookClient, UnknownAgent, words
from interlock.agents import agent as agent_of
from interlock.analysis.display_text import Lines, line
from interlock.cli.command import Args, CommandError, UsageError, command, daemon, settings, wrong_usage
from interlock.cli.output import DIFF_STYLES, declared_words, pluralize, report, say, typed_name
from interlock.cli.sign_in import confirm, operator_session, require_person
from interlock.client import ApiError, DaemonClient, NoDaemon
from interlock.config import SYSTEM_CONFIG, Config, ConfigError, config_of, load_config
from interlock.identity.agent_detection import agent_above
from interlock.install.changes import FileChange, InstallRefusal, diff, install, plan_install, plan_uninstall, uninstall
from interlock.install.client_build import CannotBuild, NoAddress, build, client_for, client_path
from interlock.install.discovery import agents_on_machine, files_of, hooked_files
from interlock.install.files import FileProblem
from interlock.install.system import Layout, SystemStep, config_text, has_systemd, removal_steps, steps
from interlock.install.system.code import CannotSetUp
from interlock.install.user_service import data_steps, stop_steps, switch_off, switch_on
from interlock.journal import JournalError
from interlock.journal.build import build_for, is_built, supervisor_of

_FOR_A_PERSON = "taking the guard away is for a person"


@command({"agents": ", ".join(words())})
def install_main(args: Args) -> int:
    _require_root(args)
    config, home, project = _set_up_system(args) if args.scope == "system" else settings(args), Path.home(), Path.cwd()
    agents = named_agents(args.agents) or _offer_agents(args, home)
    clients: list[tuple[AgentDialect, HookClient]] = []
    refused: list[InstallRefusal] = []
    for agent in agents:
        try:
            clients.append((agent, client_for(agent, config, args.http)))
        except NoAddress as error:
            refused.append(InstallRefusal(agent, str(error)))
    changes, more = plan_install(clients, args.scope, home, project, config)
    refused += more
    wanted = [change for change in changes if change.needed]
    if not args.json:
        say(_diff_lines(wanted) if args.diff else ())
        _explain(args, changes, wanted)
    _report_refusals(refused, "install")
    done: list[dict[str, Any]] = []
    if wanted and not args.dry_run:
        _refuse_agents(wanted)
        if not confirm_changes(args, len(wanted), "Write"):
            raise UsageError("nothing was written")
    if changes and not args.dry_run:
        if not config.separate.on:
            _build(config)  # before any file names it
        done, failed = _write(wanted, config)
        refused += failed
        _report_refusals(failed, "install")
        _record(args, done)
    body = {
        "written": done,
        "already": [str(change.place.path) for change in changes if not change.needed],
        "would": {str(change.place.path): diff(change) for change in wanted} if args.dry_run else {},
        "notes": [change.place.note for change in changes if change.place.note],
        "refused": [{"agent": one.agent.word, "reason": one.words} for one in refused],
        "wrap": _switch_wrapping(args, config, [change.agent for change in changes]),
    }
    return report(args, body, lambda: _print_installed(body, args.diff), not refused)


def _offer_agents(args: Args, home: Path) -> list[AgentDialect]:
    found = agents_on_machine(home)
    if not found:
        raise CommandError(f"no agent was found on this machine; name one: {', '.join(words())}")
    if not args.json:
        print(
            "Found on this machine:", *(f"  {agent.word:<12} {agent.title} ({sign})" for agent, sign in found), sep="\n"
        )
        print()
    offered = [agent for agent, _ in found if agent.places(args.scope, home, home)]
    if not offered:
        raise CommandError(f"none of them has a place for hooks with --{args.scope}")
    return offered


def _refuse_agents(changes: Sequence[FileChange]) -> None:
    """Refuses an agent that could point hooks at another daemon; a first installation only tightens."""
    replaced = [change.name for change in changes if change.replaces]
    if replaced and (why := agent_above(os.getpid())):
        lead = f"the hooks in {replaced[0]} would be changed, and this looks like an agent's terminal"
        raise CommandError(f"{lead}: {why}; open one of your own and try again there")


def _explain(args: Args, changes: Sequence[FileChange], wanted: Sequence[FileChange]) -> None:
    for change in (change for change in changes if not change.needed):
        print(f"{change.agent.title}: already installed in {change.name}")
    for note in dict.fromkeys(f"{change.agent.title}: {change.place.note}" for change in changes if change.place.note):
        print(f"To do: {note}")
    if args.http and wanted:
        print("HTTP hooks are the fastest, and cost two things:")
        for number, cost in enumerate(declared_words(__name__, "install")["http"], 1):
            print(f"  {number}. {cost}")


def _build(config: Config) -> None:
    """Build the hook client; an existing one stays where an agent may have started this."""
    if os.access(client_path(config), os.X_OK) and agent_above(os.getpid()):
        return
    try:
        build(config)
    except CannotBuild as error:
        raise CommandError(f"{error}; nothing was written") from None
    try:
        if config.undo.journal and not is_built(supervisor_of(config)):
            build_for(config)
    except JournalError as error:  # hooks work without it
        print(f"interlock install: no journal: {error}", file=sys.stderr)


def _switch_wrapping(args: Args, config: Config, agents: Sequence[AgentDialect]) -> dict[str, Any]:
    able = any(agent.rewrites is not None for agent in agents) and not config.separate.on
    if args.no_wrap or args.dry_run or args.http or not able:
        return {"on": config.undo.wrap, "why": ""}
    if not config.undo.wrap and (above := agent_above(os.getpid())):
        return {"on": False, "why": f"a person switches that on, and this looks like an agent's terminal: {above}"}
    why = switch_on(config)
    return {"on": not why, "why": why}


def _record(args: Args, done: Sequence[dict[str, Any]]) -> None:
    """Reports to a running daemon; the hooks work without it."""
    try:
        for word in dict.fromkeys(one["agent"] for one in done):
            files = [one["path"] for one in done if one["agent"] == word]
            daemon(args).post("/hooks", {"change": "installed", "agent": word, "scope": args.scope, "files": files})
    except (ApiError, NoDaemon) as error:
        print(f"interlock install: not on the record: {error}", file=sys.stderr)


def _write(changes: Sequence[FileChange], config: Config) -> tuple[list[dict[str, Any]], list[InstallRefusal]]:
    """A failure does not stop the others."""
    done: list[dict[str, Any]] = []
    failed: list[InstallRefusal] = []
    for change in changes:
        try:
            backup = install(change, config)
        except FileProblem as error:
            failed.append(InstallRefusal(change.agent, str(error)))
            continue
        done.append({"agent": change.agent.word, "path": str(change.place.path), "backup": backup or None})
    return done, failed


def _print_installed(body: Mapping[str, Any], told: bool) -> None:
    done, wrap = body["written"], body["wrap"]
    for one in done:
        backup = f"; what was there is in {one['backup']}" if one["backup"] else ""
        print(f"Installed: {one['path']}{backup}")
    if body["would"]:
        print("Nothing was written (--dry-run).")
    if wrap["why"]:
        print(f"Commands do not run below the journal: {wrap['why']}")
    elif wrap["on"]:
        print("Commands run below the journal once the daemon has started anew (undo.wrap); --no-wrap leaves that off.")
    if done and told:
        print("Restart the agent, then see that the guard fires: interlock doctor")
        print("What it would have asked you in the last month, from your agents' own logs: interlock rehearse")
    sys.stdout.flush()


@command()
def uninstall_main(args: Args) -> int:
    if args.all and (args.agents or args.scope != "user"):
        args.fail("--all goes with no agent and no other scope")
    if args.data and not args.all:
        args.fail("--data goes with --all")
    _require_root(args)
    config, home, project = settings(args), Path.home(), Path.cwd()
    if args.all:
        files = [one for one in hooked_files(config, home, project) if one.scope != "system"]
    else:
        files = files_of(named_agents(args.agents or words()), args.scope, home, project)
    changes, refused = plan_uninstall(files, config)
    if changes and not args.dry_run:
        require_person(why=_FOR_A_PERSON)  # before anybody is shown what will not happen
    if not args.json:
        say((line(f"Our hooks in {change.name}") for change in changes) if args.all else _diff_lines(changes))
    _report_refusals(refused, "uninstall")
    steps = _removal_steps(args, config)
    if (changes or steps) and not args.dry_run:
        _remove(args, changes, steps, config)
    paths = [str(change.place.path) for change in changes]
    body = {"removed": [] if args.dry_run else paths, "would": paths if args.dry_run else []}
    return report(args, body, lambda: _print_uninstalled(args, changes, config), not refused)


def _remove(args: Args, changes: Sequence[FileChange], steps: Sequence[SystemStep], config: Config) -> None:
    """1. a person's terminal, 2. an operator where there are any, 3. a yes, 4. the record, 5. the files, 6. the daemon."""
    require_person(why=_FOR_A_PERSON)  # 1
    with _authorised(args, config, bool(changes)) as server:  # 2
        if not confirm_changes(args, len(changes), "Change", len(steps)):  # 3
            raise UsageError("nothing was changed")
        if server is not None:  # 4
            for word, scope in dict.fromkeys((change.agent.word, change.scope) for change in changes):
                files = [str(one.place.path) for one in changes if (one.agent.word, one.scope) == (word, scope)]
                server.post("/hooks", {"change": "removed", "agent": word, "scope": scope, "files": files})
        for change in changes:  # 5
            uninstall(change, config)
        if not any(one.agent.rewrites is not None for one in hooked_files(config, Path.home(), Path.cwd())):
            switch_off(config)  # no agent is left whose calls undo.wrap would rewrite
    perform_steps(args, steps)  # 6


@contextmanager
def _authorised(args: Args, config: Config, hooks: bool) -> Iterator[DaemonClient | None]:
    """On behalf of an operator where there is one; None where nothing is on record and no hooks go."""
    try:
        operators = daemon(args).get("/status")["operators"]
    except NoDaemon as error:
        recorded = not config.store.startswith("sqlite:") or (config.folder / "state.db").exists()
        if hooks and recorded:  # the entry would be missing there
            raise CommandError(f"this goes on the record, and {error}") from None
        yield None
        return
    if operators == 0:
        yield daemon(args)
        return
    with operator_session(args, why="taking the guard away is for an operator") as server:
        yield server


def _print_uninstalled(args: Args, changes: Sequence[FileChange], config: Config) -> None:
    if not changes and args.all:
        print("There are no hooks of ours in any file.")
    elif not changes:
        print(f"There are no hooks of ours with --{args.scope}; `interlock hooks` shows where there are any.")
    elif args.dry_run:
        print("Nothing was changed (--dry-run).")
    else:
        for change in changes:
            print(f"{'Taken away' if change.after is None else 'Put back'}: {change.name}")
    if not args.all:
        return
    left = [str(path) for path in (config.folder, Path(config.path or config.folder)) if path.exists()]
    if left and not args.data:
        print(f"Stays: {', '.join(dict.fromkeys(left))}. `{typed_name()} uninstall --all --data` deletes it.")
    if config.separate.on:
        print("The machine's daemon stays: `sudo interlock uninstall --system` takes it away.")


@wrong_usage(UnknownAgent)
def named_agents(given: Sequence[str]) -> list[AgentDialect]:
    return [agent_of(word) for word in dict.fromkeys(given)]


def _diff_lines(changes: Sequence[FileChange]) -> Lines:
    for change in changes:
        yield line(f"{change.agent.title}, {change.name}", "heading")
        for text in diff(change):
            yield line(text, "heading" if text.startswith(("+++", "---")) else DIFF_STYLES.get(text[:1], ""))
        yield ()


def _report_refusals(refused: Sequence[InstallRefusal], word: str) -> None:
    for one in refused:
        print(f"interlock {word}: {one.words}; nothing was changed there", file=sys.stderr)


def confirm_changes(args: Args, count: int, verb: str, steps: int = 0) -> bool:
    if args.yes:
        return True
    files = f"{verb} {pluralize(count, 'file')}" if count or not steps else ""
    take = f"take {pluralize(steps, 'step')}" if steps else ""
    question = f"{' and '.join(filter(None, (files, take)))}?".capitalize()
    if not (os.isatty(0) and os.isatty(1)):
        raise UsageError(f"{question} There is no terminal to ask at: check with --dry-run, then give --yes")
    return confirm(question)


def _require_root(args: Args) -> None:
    if args.scope != "system" and (getattr(args, "users", None) or getattr(args, "operators", None)):
        raise UsageError("--for and --answered-by go with --system")
    if args.scope == "system" and os.geteuid() != 0:
        raise CommandError("--system takes root: try it with sudo")


def _guarded_users(args: Args) -> tuple[str, ...]:
    if args.users:
        return tuple(dict.fromkeys(args.users))
    if SYSTEM_CONFIG.is_file():
        return load_config(SYSTEM_CONFIG, {}).separate.users
    if (caller := os.environ.get("SUDO_USER", "root")) not in ("", "root"):
        return (caller,)
    raise UsageError("whose agents are to be guarded? Say it with --for USER; root's own cannot be")


def _set_up_system(args: Args) -> Config:
    """The configuration of the daemon; with --dry-run, the one that would result."""
    layout, users = Layout(), _guarded_users(args)
    try:
        wanted = [step for step in steps(layout, users, tuple(args.operators or ())) if step.needed]
        _show_steps(args, wanted, "The daemon gets a user of its own:")
        if not (wanted or args.json):
            print("The daemon has a user of its own already.\n", flush=True)
        if args.dry_run:
            text = config_text(layout, users, args.operators or ())
            return config_of(tomllib.loads(text), str(layout.config), {})
        if wanted:
            if not confirm_changes(args, 0, "", len(wanted)):
                raise UsageError("nothing was changed")
            perform_steps(args, wanted)
    except (CannotSetUp, FileProblem, ConfigError) as error:
        words = "what was done before this stays, and running it again goes on from there"
        raise CommandError(f"{error}; {words}") from None
    if not has_systemd():
        words = "systemd does not run here. Start the daemon as root, by whatever starts services here"
        print(f"{words}:\n  {layout.program} serve --system --config {layout.config}", file=sys.stderr)
    return load_config(layout.config, {})


def _removal_steps(args: Args, config: Config) -> list[SystemStep]:
    """The steps that take the daemon away; none where agents were named, because it then stays."""
    layout, found = Layout(), list[SystemStep]()
    if args.all and not config.separate.on:
        found = [*stop_steps(config), *(data_steps(config) if args.data else ())]
    elif args.scope == "system" and not args.agents:
        found = [step for step in removal_steps(layout) if step.needed]
    _show_steps(args, found, "The daemon's own parts:")
    if found and not args.all and not args.json:
        print(f"{layout.state} and {layout.config} stay: the record and the operators are in there.\n")
    return found


def perform_steps(args: Args, wanted: Sequence[SystemStep]) -> None:
    for step in wanted:
        step.do()
        if not args.json:
            print(f"done: {step.words}", flush=True)


def _show_steps(args: Args, wanted: Sequence[SystemStep], heading: str) -> None:
    if wanted and not args.json:
        steps = (f"  {number}. {step.words}" for number, step in enumerate(wanted, 1))
        print(heading, *steps, "", sep="\n", flush=True)
