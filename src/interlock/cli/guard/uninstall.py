"""`interlock uninstall`: restores an agent's settings; only for a person at a terminal, and recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from interlock.agents import words
from interlock.cli.command import FAILED, OK, Args, CommandError, command, daemon, say, say_json, settings, typed_name
from interlock.cli.guard.installation import (
    confirm_changes,
    diff_lines,
    named_agents,
    perform_steps,
    report_refusals,
    require_root,
    take_down_system,
    take_down_user,
)
from interlock.cli.output import line
from interlock.cli.sign_in import operator_session, require_person
from interlock.client import DaemonClient, NoDaemon
from interlock.config import Config
from interlock.install.changes import FileChange, files_of, plan_uninstall, uninstall
from interlock.install.discovery import hooked_files
from interlock.install.system import SystemStep
from interlock.install.user_service import switch_off

_FOR_A_PERSON = "taking the guard away is for a person"


@command("uninstall")
def main(args: Args) -> int:
    if args.all and (args.agents or args.scope != "user"):
        args.fail("--all goes with no agent and no other scope")
    if args.data and not args.all:
        args.fail("--data goes with --all")
    require_root(args)
    config, home, project = settings(args), Path.home(), Path.cwd()
    if args.all:
        files = [one for one in hooked_files(config, home, project) if one.scope != "system"]
    else:
        files = files_of(named_agents(args.agents or words()), args.scope, home, project)
    changes, refused = plan_uninstall(files, config)
    if changes and not args.dry_run:
        require_person(why=_FOR_A_PERSON)  # before anybody is shown what will not happen
    if not args.json:
        say((line(f"Our hooks in {change.name}") for change in changes) if args.all else diff_lines(changes))
    report_refusals(refused, "uninstall")
    steps = take_down_user(args, config) if args.all else take_down_system(args)
    if (changes or steps) and not args.dry_run:
        _remove(args, changes, steps, config)
    _print_result(args, changes)
    if args.all and not args.json:
        _print_left(args, config)
    return FAILED if refused else OK


def _remove(args: Args, changes: Sequence[FileChange], steps: Sequence[SystemStep], config: Config) -> None:
    """1. a person's terminal, 2. an operator where there are any, 3. a yes, 4. the record, 5. the files, 6. the daemon."""
    require_person(why=_FOR_A_PERSON)  # 1
    with _authorised(args, config, bool(changes)) as server:  # 2
        if not confirm_changes(args, len(changes), "Change", len(steps)):  # 3
            raise CommandError("nothing was changed", 2)
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
        operators = daemon(args).get("/status").get("operators")
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


def _print_result(args: Args, changes: Sequence[FileChange]) -> None:
    if args.json:
        paths = [str(change.place.path) for change in changes]
        say_json({"removed": [] if args.dry_run else paths, "would": paths if args.dry_run else []})
        return
    if not changes and args.all:
        print("There are no hooks of ours in any file.")
    elif not changes:
        print(f"There are no hooks of ours with --{args.scope}; `interlock hooks` shows where there are any.")
    elif args.dry_run:
        print("Nothing was changed (--dry-run).")
    else:
        for change in changes:
            print(f"{'Taken away' if change.after is None else 'Put back'}: {change.name}")


def _print_left(args: Args, config: Config) -> None:
    left = [str(path) for path in (config.folder, Path(config.path or config.folder)) if path.exists()]
    if left and not args.data:
        print(f"Stays: {', '.join(dict.fromkeys(left))}. `{typed_name()} uninstall --all --data` deletes it.")
    if config.separate.on:
        print("The machine's daemon stays: `sudo interlock uninstall --system` takes it away.")
