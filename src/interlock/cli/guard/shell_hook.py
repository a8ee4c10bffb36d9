"""`interlock shell-hook`: the snippet that guards the shell a person types in; off until it is put into the shell's own start-up file."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from interlock.cli.arguments import Args, argument
from interlock.cli.command import OK, command, settings
from interlock.cli.guard.typed_command import AGREED

_EXAMPLES = """
eval "$(interlock shell-hook bash)"            # in this shell; in ~/.bashrc: in every one
eval "$(interlock shell-hook zsh)"             # the same for ~/.zshrc
interlock_off                                  # off again, in this shell
"""
_SHELLS = ("bash", "zsh")


@command(
    "shell-hook",
    "Guard the shell that you type in: each line is judged before it runs, by the daemon, or by the same rules here where none\n"
    "answers, and what destroys is asked about at the same terminal. Prints what the shell has to evaluate; nothing is on until it does.",
    _EXAMPLES,
    argument("shell", help="the shell that evaluates it", choices=_SHELLS),
    exits="exit codes: 0 done, 2 wrong usage",
)
def main(args: Args) -> int:
    """Print the snippet for a shell."""
    config = settings(args)
    path = os.path.abspath(config.path) if config.path else ""
    check = [sys.executable, "-I", "-m", "interlock.cli.guard.typed_command", str(config.agents_socket), path]
    snippet = Path(__file__).with_suffix(f".{args.shell}").read_text("utf-8")
    print(snippet.replace("@CHECK@", shlex.join(check)).replace("@AGREED@", str(AGREED)), end="")
    return OK
