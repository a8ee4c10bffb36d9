"""`interlock init`: one guided first run; each step says what it would do, and can be run again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from interlock.agents import AgentDialect
from interlock.analysis.display_text import labelled, line
from interlock.cli.answer.operator import main as operator_main
from interlock.cli.answer.tickets import approve_main
from interlock.cli.command import FAILED, OK, Args, CommandError, UsageError, command, daemon, settings
from interlock.cli.guard.install import install_main, named_agents, perform_steps
from interlock.cli.guard.status import doctor_main
from interlock.cli.output import say, typed_name
from interlock.cli.sign_in import ask_line
from interlock.config import Config
from interlock.identity.agent_detection import is_agents_terminal
from interlock.install.discovery import agents_on_machine, hooked_files
from interlock.install.files import FileProblem
from interlock.install.system import SystemStep
from interlock.install.system.code import CannotSetUp
from interlock.install.user_service import add_channel, find_manager, is_running, restart, start_steps, until_running
from interlock.notify.apprise import Apprise

TRIED = "git push --force origin main"


class InitStep(Struct, frozen=True):
    """One part of the first run; `plan` is empty where there is nothing left to do."""

    name: str
    plan: tuple[str, ...]
    already: str
    do: Callable[[], None]


@command()
def main(args: Args) -> int:
    if args.notify and (why := _unusable(args.notify)):
        raise UsageError(f"--notify: {why}")
    config = settings(args)
    person = not args.yes and is_agents_terminal() is None
    steps = list(_steps(args, config))
    _show(steps, is_running(config) and _has_operators(args))
    if args.dry_run:
        print("Nothing was changed (--dry-run).")
        return OK
    if not (args.yes or person):
        raise UsageError(f"{is_agents_terminal()}, so nobody can be asked: check with --dry-run, then give --yes")
    if person and ask_line("Go on? [Y/n] ").casefold() in ("n", "no"):
        raise UsageError("nothing was changed")
    _offer_channel(args, config, person)
    for step in (step for step in steps if step.plan):
        _heading(step.name)
        try:
            step.do()
        except (CannotSetUp, FileProblem) as error:
            raise CommandError(f"{error}; run `{typed_name()} init` again to go on from there") from None
    operators = _has_operators(args)
    if not operators and person:
        _heading("operator")
        operators = operator_main(["add", *_config_words(args)]) == OK
    _heading("check")
    fires = doctor_main(_config_words(args)) == OK
    if operators and person and fires:
        _heading("try it")
        _try(args)
    _close(operators, fires)
    return OK if fires and (operators or args.yes) else FAILED


def _steps(args: Args, config: Config) -> Iterator[InitStep]:
    if config.separate.on:
        yield InitStep("daemon", (), "the machine's own, which root set up", lambda: None)
    else:
        needed = [step for step in start_steps(find_manager(), config) if step.needed]
        plan = tuple(step.words for step in needed)
        yield InitStep("daemon", plan, f"answers on {config.socket_path}", lambda: _start(args, needed))
    found = [(agent, "named") for agent in named_agents(args.agents)] or agents_on_machine(Path.home())
    guarded = {one.agent.word for one in hooked_files(config, Path.home(), Path.cwd()) if not one.problem}
    missing = [agent for agent, _ in found if agent.word not in guarded]
    plan = tuple(f"guard {agent.title} ({sign})" for agent, sign in found if agent in missing)
    already = ", ".join(agent.title for agent, _ in found) or "no agent was found on this machine"
    yield InitStep("hooks", plan, already, lambda: _install(args, missing))


def _show(steps: Sequence[InitStep], enrolled: bool) -> None:
    first = f"Interlock, the first run. `{typed_name()} uninstall --all` takes all of it back."
    say([line(first, "heading"), ()])
    for step in steps:
        for number, words in enumerate(step.plan or (f"nothing to do: {step.already}",)):
            _row("" if number else step.name, words)
    lead = "" if enrolled else "you become the operator, "
    _row("then", f"{lead}the hooks are checked, and you try it on an action that nobody runs")
    print()


def _start(args: Args, steps: Sequence[SystemStep]) -> None:
    perform_steps(args, steps)
    config = settings(args)  # which a step may have written
    _await(config)
    print(f"The daemon answers on {config.socket_path}.")


def _await(config: Config) -> None:
    if not until_running(config):
        raise CannotSetUp(f"the daemon does not answer on {config.socket_path}; `{typed_name()} serve` says why")


def _offer_channel(args: Args, config: Config, person: bool) -> None:
    url = args.notify
    if person and not url and not config.channels.send:
        _heading("notices")
        ways = "They can also be sent: ntfys://ntfy.sh/TOPIC, slack://…"
        print(f"Held actions show on this desktop, where there is one. {ways}")
        while (url := ask_line("An Apprise address, or Enter for none: ")) and (why := _unusable(url)):
            print(why)
    if not url:
        return
    print(f"done: wrote the channel `me` into {add_channel(config, url)}")
    if find_spec("apprise") is None:
        print(f"It takes one more package: {sys.executable} -m pip install apprise")
    if is_running(config):
        print("The daemon uses it after its next start.")


def _unusable(url: str) -> str:
    """Why Apprise cannot send to an address, without the address; empty where it can, or is not there to say."""
    try:
        if find_spec("apprise") is not None:
            Apprise(url)
    except ValueError as error:
        return f"{error}; expected one such as ntfys://ntfy.sh/TOPIC"
    return ""


def _install(args: Args, agents: Sequence[AgentDialect]) -> None:
    words, before = [agent.word for agent in agents], settings(args)
    if install_main([*words, "--yes", "--no-diff", *_config_words(args)]) != OK:
        raise CannotSetUp("not every agent could be guarded")
    config = settings(args)
    if config.undo.wrap and not before.undo.wrap:
        restart(config)
        _await(config)
        print("done: start the daemon anew, with commands below the journal")


def _has_operators(args: Args) -> bool:
    return bool(daemon(args).get("/status")["operators"])


def _try(args: Args) -> None:
    agent = {"name": "first-run", "session": "first-run"}
    body = {"agent": agent, "cwd": str(Path.home()), "command": TRIED}
    answer = daemon(args).ask("POST", "/evaluate", body).body
    ticket = answer.get("pendingId")
    _row("agent", f"wants to run `{TRIED}`. Nothing is run here, whatever you answer.")
    _row("interlock", answer["reason"])
    if not ticket:
        return
    print()
    if approve_main([ticket, "--reason", "the first run", *_config_words(args)]) == OK:
        again = daemon(args).ask("POST", "/evaluate", body).body
        _row("agent", "asks again.")
        _row("interlock", again["reason"])


def _row(name: str, words: str) -> None:
    say([labelled(f"  {name}", words, width=12)])


def _close(operators: bool, fires: bool) -> None:
    name = typed_name()
    print()
    if not operators:
        print(f"Left to do, in a terminal of your own: {name} operator add")
    if not fires:
        print(f"Left to do: what is a PROBLEM above, then: {name} doctor")
    if operators and fires:
        print("All is set up. Restart your agents; what they ask for is judged from now on.")
    print(f"What waits for you: {name} pending   How it is: {name} status   In the browser: {name} operator link")


def _heading(name: str) -> None:
    say([(), line(name, "heading")])


def _config_words(args: Args) -> list[str]:
    return ["--config", args.config] if args.config else []
