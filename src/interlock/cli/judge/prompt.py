"""`interlock prompt`: explains each command typed at a prompt, and runs none."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.cli.judge.explain import show
from interlock.engine.preview import local_policy
from interlock.model import command

if TYPE_CHECKING:
    from interlock.runtime import InForce

_HELP = """\
usage: interlock prompt

Type a command to have it explained; nothing is run.
  cd DIR     set the directory that commands are read in
  help       this text
  exit       end, as does Ctrl-D

In a pipe, one command a line:  interlock prompt < commands.txt
"""


def main(argv: Sequence[str]) -> int:
    """Explain every line of input until it ends."""
    if argv:
        known = argv[0] in ("-h", "--help")
        print(_HELP if known else f"interlock prompt: takes no {argv[0]!r}", end="" if known else "\n")
        return 0 if known else 2
    try:
        by = local_policy()
    except ValueError as error:  # a configuration, a policy or a rule that must not be used
        print(f"interlock prompt: {error}", file=sys.stderr)
        return 2
    asks = sys.stdin.isatty()
    if asks:
        _welcome()
    cwd = os.path.realpath(".")
    while True:
        line = _next(cwd if asks else "")
        if line is None or line.strip() in ("exit", "quit"):
            return 0
        if line.strip() == "help":
            print(_HELP, end="")
        elif (folder := _cd(line)) is not None:
            cwd = _change_folder(cwd, folder)
        elif line.strip():
            _explain(line, cwd, asks, by)


def _explain(line: str, cwd: str, asks: bool, by: InForce) -> None:
    if not asks:
        print(f"$ {line}")
    show(command(line, cwd), by)
    print(flush=True)


def _welcome() -> None:
    with contextlib.suppress(ImportError):
        import readline  # editing and history, in memory only

        readline.set_history_length(1000)
    print("Interlock explains commands and runs none. Type one, or `help`; Ctrl-D ends.\n")


def _next(cwd: str) -> str | None:
    """The next line; None when there is none."""
    try:
        if cwd:
            return input(f"{_short(cwd)} > ")
        line = sys.stdin.readline()
    except EOFError:
        print()
        return None
    except KeyboardInterrupt:  # gives up this line, as in a shell
        print()
        return ""
    return line.rstrip("\n") if line else None


def _short(cwd: str) -> str:
    home = os.path.expanduser("~")
    return "~" + cwd[len(home) :] if cwd == home or cwd.startswith(home + "/") else cwd


def _cd(line: str) -> str | None:
    """The folder of a line that is only `cd FOLDER`."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if not words or words[0] != "cd" or len(words) > 2 or any(mark in line for mark in ";&|$`<>"):
        return None
    return words[1] if len(words) == 2 else "~"


def _change_folder(cwd: str, folder: str) -> str:
    path = os.path.normpath(os.path.join(cwd, os.path.expanduser(folder)))
    if os.path.isdir(path):
        return path
    print(f"no directory {path!r}; still in {cwd!r}")
    return cwd
