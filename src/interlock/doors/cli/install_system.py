"""What `--system` of install and uninstall does beside the hooks: the daemon's own user, its code, its units."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.doors.cli.operating import Stop, counted

if TYPE_CHECKING:
    from interlock.config import Config
    from interlock.doors.install.system import Step


def options(parser: argparse.ArgumentParser) -> None:
    """Whose agents, and who answers."""
    parser.add_argument(
        "--for", dest="users", action="append", metavar="USER", help="with --system: whose agents are guarded"
    )
    parser.add_argument(
        "--answered-by",
        dest="operators",
        action="append",
        metavar="USER",
        help="with --system: who besides root may use the operators' socket",
    )


def only_root(args: argparse.Namespace) -> None:
    """Refuses anybody else, before anything is looked at."""
    if args.scope != "system" and (getattr(args, "users", None) or getattr(args, "operators", None)):
        raise Stop("--for and --answered-by go with --system", 2)
    if args.scope == "system" and os.geteuid() != 0:
        raise Stop("--system takes root: try it with sudo")


def guarded_users(args: argparse.Namespace) -> tuple[str, ...]:
    """Those that were named; who called sudo, where nobody was; those who are guarded already."""
    named = tuple(dict.fromkeys(args.users or ()))
    if named:
        return named
    from interlock.config import SYSTEM_CONFIG, load_config

    if SYSTEM_CONFIG.is_file():
        return load_config(SYSTEM_CONFIG, {}).separate.users
    caller = os.environ.get("SUDO_USER", "")
    if caller and caller != "root":
        return (caller,)
    raise Stop("whose agents are to be guarded? Say it with --for USER; root's own cannot be", 2)


def set_up(args: argparse.Namespace) -> Config:
    """The daemon's configuration, once everything that the daemon needs is there; with --dry-run, as it would be."""
    from interlock.config import load_config
    from interlock.doors.install.system import CannotSetUp, by_hand, has_systemd, steps
    from interlock.doors.install.system_code import NoCode
    from interlock.doors.install.system_units import Layout

    layout, users = Layout(), guarded_users(args)
    try:
        wanted = [step for step in steps(layout, users, tuple(args.operators or ())) if step.needed]
        _show(args, wanted, "The daemon gets a user of its own:", "The daemon has a user of its own already.")
        if args.dry_run:
            return _as_it_would_be(layout, users, args.operators or ())
        if wanted:
            _agreed(args, wanted)
            perform(args, wanted)
    except (CannotSetUp, NoCode) as error:
        raise Stop(f"{error}; what was done before this stays, and running it again goes on from there") from None
    if not has_systemd():
        words = f"systemd does not run here. Start the daemon as root, by whatever starts services here:\n  {by_hand(layout)}"
        print(words, file=sys.stderr)
    return load_config(layout.config, {})


def take_down(args: argparse.Namespace) -> list[Step]:
    """The steps back; none where agents were named: then the daemon stays."""
    if args.scope != "system" or args.agents:
        return []
    from interlock.doors.install.system import removing
    from interlock.doors.install.system_units import Layout

    layout = Layout()
    found = [step for step in removing(layout) if step.needed]
    _show(args, found, "The daemon's own parts:", "")
    if found and not args.json:
        print(f"{layout.state} and {layout.config} stay: the record and the operators are in there.\n")
    return found


def perform(args: argparse.Namespace, wanted: Sequence[Step]) -> None:
    """One step after the other; the first that fails is the last."""
    for step in wanted:
        step.do()
        if not args.json:
            print(f"done: {step.words}", flush=True)


def _show(args: argparse.Namespace, wanted: Sequence[Step], heading: str, nothing: str) -> None:
    if args.json or not (wanted or nothing):
        return
    print(heading if wanted else nothing)
    for number, step in enumerate(wanted, 1):
        print(f"  {number}. {step.words}")
    print(flush=True)


def _agreed(args: argparse.Namespace, wanted: Sequence[Step]) -> None:
    if args.yes:
        return
    steps = counted(len(wanted), "step")
    if not (os.isatty(0) and os.isatty(1)):
        raise Stop(f"Take {steps}? There is no terminal to ask at: look with --dry-run, then say --yes", 2)
    from interlock.doors.cli.signing import agreed

    if not agreed(f"Take {steps}?"):
        raise Stop("nothing was changed", 2)


def _as_it_would_be(layout: object, users: Sequence[str], operators: Sequence[str]) -> Config:
    import tomllib

    from interlock.config import config_of
    from interlock.doors.install.system_units import Layout, config_text

    assert isinstance(layout, Layout)
    return config_of(tomllib.loads(config_text(layout, users, operators)), str(layout.config), {})
