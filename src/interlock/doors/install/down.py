"""What happens while no daemon answers? Its socket is put aside for a moment, the hook is called, the socket is put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interlock.config import Config
from interlock.doors.install.canary import COMMAND
from interlock.doors.install.checks import NOTE, OK, PROBLEM, Finding, fired, gating, is_trusted
from interlock.doors.install.firing import DidNotFire
from interlock.doors.install.present import Hooked

DESTRUCTIVE = (
    "git push --force origin interlock-canary"  # level 3; nothing is run, and without a daemon no ticket is opened
)
_ASIDE = ".put-aside-by-doctor"


def without_daemon(one: Hooked, config: Config) -> Iterator[Finding]:
    """The fail mode, tried for real; one call of every gating event with something dangerous, one with something harmless."""
    if not is_trusted(one, config):
        return
    with _silent(config.agents_socket):
        for handler, event in gating(one):
            name = event or "plugin"
            try:
                yield _closed(name, fired(one, handler, event, DESTRUCTIVE)[0])
                yield _harmless(name, fired(one, handler, event, COMMAND)[0], config)
            except DidNotFire as error:
                yield Finding("daemon down", PROBLEM, f"{name}: {error}")


def fail_mode(config: Config) -> str:
    """The setting in words."""
    level = config.hooks.without_daemon
    return "nothing passes" if level == "none" else f"up to level {level} passes, the rest is denied"


def _closed(name: str, verdict: str) -> Finding:
    if verdict == "deny":
        return Finding("daemon down", OK, f"{name}: fails closed, `{DESTRUCTIVE}` is denied")
    return Finding("daemon down", PROBLEM, f"{name}: fails open, `{DESTRUCTIVE}` was not denied but {verdict}")


def _harmless(name: str, verdict: str, config: Config) -> Finding:
    return Finding(
        "daemon down", OK if verdict == "allow" else NOTE, f"{name}: `{COMMAND}` gets {verdict} ({fail_mode(config)})"
    )


@contextmanager
def _silent(socket: Path) -> Iterator[None]:
    aside = socket.with_name(socket.name + _ASIDE)
    try:
        socket.rename(aside)
    except FileNotFoundError:  # no daemon: it is down already
        yield
        return
    try:
        yield
    finally:
        aside.rename(socket)
