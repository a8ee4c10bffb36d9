"""`interlock run -- AGENT …`: runs an agent in a jail that hides Interlock's state from it."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Container, Sequence
from pathlib import Path

from msgspec.structs import replace

from interlock.agents import agent
from interlock.cli.command import Args, CommandError, UsageError, command, command_of, settings
from interlock.client import ApiError, NoDaemon, find_daemon
from interlock.config import Config
from interlock.engine.fallback import start_daemon
from interlock.identity.isolation import SEPARATE
from interlock.impact import Budget
from interlock.impact.survey import folders_made_again
from interlock.install.user_service import is_running, until_running
from interlock.journal.build import JournalRun, begin_run, problem_of
from interlock.sandbox import (
    GRANTS,
    Placeholders,
    SandboxPlan,
    SandboxSituation,
    agent_of_program,
    guarded_files,
    missing_files,
    plan_sandbox,
)
from interlock.sandbox.command_line import bubblewrap_argv, find_bubblewrap, seatbelt_argv
from interlock.sandbox.supervise import supervise

NOT_FOUND = 127
_PATIENCE = 20.0  # seconds for a daemon to come up


def _grants(text: str) -> list[str]:
    given = list(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    for word in given:
        if word not in GRANTS:
            raise argparse.ArgumentTypeError(f"unknown grant {word!r:.40}; known: {', '.join(GRANTS)}")
    return given


_GRANTS = {"grants": "\n".join(f"  {word:<11} {grant.words}" for word, grant in GRANTS.items())}


@command(_GRANTS, grant={"type": _grants})
def main(args: Args) -> int:
    config, command = settings(args), command_of(args)
    if not command:
        raise UsageError("say what to run: interlock run -- AGENT …")
    if shutil.which(command[0]) is None:
        raise CommandError(f"there is no program {command[0]!r}", NOT_FOUND)
    macos = sys.platform == "darwin"
    granted = [*args.grant, "tmp"] if macos else args.grant  # there can be no other /tmp there
    at = SandboxSituation(config, Path.home(), Path.cwd(), command, os.environ, granted)
    if macos:
        return _on_macos(args, at)
    if sys.platform != "linux":
        raise CommandError(f"there is no jail for {sys.platform}: it takes Linux with bubblewrap, or macOS")
    program = find_bubblewrap()
    if not args.dry_run:
        _daemon_answers(config)
    if os.getuid() == 0:
        _warn("you are root, whose files the whole system trusts: this jail holds mistakes, not malice")
    guarded = guarded_files(at)
    _warn(_unguarded(command[0], guarded))
    holders = Placeholders()
    try:
        if not args.dry_run:
            _warn(*holders.make(path for word in guarded for path in missing_files(word, at.cwd)))
        jail = plan_sandbox(at)
        _warn(*dict.fromkeys(jail.world.notes))
        if args.dry_run:
            print(shlex.join(bubblewrap_argv(jail, program, tty=sys.stdin.isatty() and sys.stdout.isatty())))
            return 0
        journal = _journal(config, command[0])
        return supervise(
            lambda files, tty: bubblewrap_argv(jail, program, files, tty),
            jail.environ,
            lambda first: _tell(config, jail, first, args.grant, journal is not None),
            journal,
        )
    finally:
        holders.remove()


def _journal(config: Config, program: str) -> JournalRun | None:
    found = begin_run(config, os.path.basename(program), build=True)
    if found is None:
        if config.undo.journal:
            _warn(f"no journal keeps what the agent changes: {problem_of(config)}")
        return None
    word = agent_of_program(program)  # whose own sessions are left out, as is what a program makes again
    own = [os.path.realpath(Path.home() / name) for name in agent(word).state] if word else []
    return replace(found, skips=(*own, *folders_made_again(os.getcwd(), Budget.of())))


def _on_macos(args: Args, at: SandboxSituation) -> int:
    jail = plan_sandbox(at)
    words = seatbelt_argv(jail)
    if args.dry_run:
        print(shlex.join(words))
        return 0
    _daemon_answers(at.config)
    return os.spawnve(os.P_WAIT, words[0], words, jail.environ)


def _daemon_answers(config: Config) -> None:
    if is_running(config):
        return
    start_daemon(config)
    if not until_running(config, _PATIENCE):
        raise CommandError("no daemon answers, and none could be started; `interlock serve` says why")
    _warn("no daemon answered, so one was started")


def _unguarded(program: str, guarded: Container[str]) -> str:
    word = agent_of_program(program)
    if word in guarded or (guarded and not word):
        return ""
    if not word:
        return "no agent has hooks here, so nothing is judged: see `interlock install`"
    return f"{agent(word).title} has no hooks here, so nothing that it does is judged: `interlock install {word}`"


def _tell(config: Config, jail: SandboxPlan, first: int, grants: Sequence[str], journal: bool) -> None:
    program = os.path.basename(jail.command[0])[:200]
    body = {"pid": first, "program": program, "grants": list(grants), "fixed": jail.fixed, "journal": journal}
    try:
        daemon = find_daemon(config)
        if daemon.get("/status")["strength"] != SEPARATE:  # which is more
            daemon.post("/jails", body)
    except (ApiError, NoDaemon) as error:
        _warn(f"the daemon does not take this for a jail: {error}")


def _warn(*words: str) -> None:
    for sentence in filter(None, words):
        print(f"interlock run: {sentence}", file=sys.stderr)
