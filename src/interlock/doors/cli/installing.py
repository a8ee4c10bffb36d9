"""What install and uninstall share: their options, the diff that is shown, the question that is asked."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.doors.cli.operating import Stop, counted

if TYPE_CHECKING:
    from interlock.agents import Agent
    from interlock.core.styled import Line
    from interlock.doors.install.plan import Change, Refusal

SCOPE_WORDS = {
    "user": "for this user, in every project (default)",
    "project": "for this folder, whoever works in it",
    "system": "for every user of this machine; takes root",
}


def scoped(parser: argparse.ArgumentParser) -> None:
    """The options that say where."""
    choice = parser.add_mutually_exclusive_group()
    for scope, said in SCOPE_WORDS.items():
        choice.add_argument(f"--{scope}", dest="scope", action="store_const", const=scope, help=said)
    parser.set_defaults(scope="user")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def named_agents(given: Sequence[str]) -> list[Agent]:
    """The agents of these words; refuses others."""
    from interlock.agents import UnknownAgent, agent

    try:
        return [agent(word) for word in dict.fromkeys(given)]
    except UnknownAgent as error:
        raise Stop(str(error), 2) from None


def here() -> tuple[Path, Path]:
    """The home, and the folder that this was run in."""
    return Path.home(), Path.cwd()


def shown(changes: Sequence[Change]) -> Iterator[Line]:
    """Every change as a diff, with the colours that diffs have."""
    from interlock.core.excerpt import visible
    from interlock.core.styled import Part
    from interlock.doors.install.plan import diff

    styles = {"+": "allow", "-": "deny", "@": "dim"}
    for change in changes:
        yield (Part(visible(f"{change.agent.title}, {change.name}"), "heading"),)
        for line in diff(change):
            style = "heading" if line.startswith(("+++", "---")) else styles.get(line[:1], "")
            yield (Part(visible(line), style),)
        yield ()


def complain(refused: Sequence[Refusal], word: str) -> None:
    """What cannot be done, on stderr."""
    for one in refused:
        print(f"interlock {word}: {one.words}; nothing was changed there", file=sys.stderr)


def confirmed(args: argparse.Namespace, count: int, verb: str) -> bool:
    """Whether somebody agrees to change so many files; without a terminal it takes --yes."""
    if args.yes:
        return True
    files = counted(count, "file")
    if not (os.isatty(0) and os.isatty(1)):
        raise Stop(f"{verb} {files}? There is no terminal to ask at: look with --dry-run, then say --yes", 2)
    from interlock.doors.cli.signing import agreed

    return agreed(f"{verb} {files}?")
