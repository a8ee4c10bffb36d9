"""`interlock completion`, made from the help texts, with the manual page; `interlock shell-hook`, which guards typed lines."""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path

import interlock
from interlock.cli.command import Args, command, settings
from interlock.cli.guard.typed_command import AGREED
from interlock.cli.main import COMMANDS
from interlock.cli.main import main as run

# The words of a command are asked of its own help when they are needed, so that they are those of the installed version.
_OPTIONS = r"""grep -oE -- '^    [a-z][a-z-]+|--[a-z][a-z-]+' | tr -d ' ' | sort -u"""


@command()
def main(args: Args) -> None:
    print(_man() if args.kind == "man" else _snippet(args.kind), end="")


# How each shell describes a command.
_DESCRIBED = {
    "bash": "{name}",
    "zsh": "        '{name}:{words}'",
    "fish": "complete -c interlock -n __fish_use_subcommand -f -a {name} -d '{words}'",
}


def _snippet(shell: str) -> str:
    form = _DESCRIBED[shell]
    lines = [form.format(name=name, words=words.replace("'", "'\\''")) for name, words in COMMANDS.items()]
    text = Path(__file__).with_suffix(f".{shell}").read_text("utf-8")
    options = _OPTIONS.replace("'", "\\'") if shell == "fish" else _OPTIONS
    text = text.replace("@DESCRIBED@", "\n".join(lines)).replace("@WORDS@", " ".join(lines))
    return text.replace("@OPTIONS@", options)


def _man() -> str:
    parts = [
        f'.TH INTERLOCK 1 "" "interlock {interlock.__version__}"\n.SH NAME\ninterlock \\- the safety interlock for AI agents'
    ]
    for name in ("", *COMMANDS):
        with redirect_stdout(io.StringIO()) as said:
            run([*([name] if name else []), "--help"])
        parts.append(f".SH {f'interlock {name}'.strip().upper()}\n.nf\n{_roff(said.getvalue())}\n.fi")
    return "\n".join(parts) + "\n"


def _roff(text: str) -> str:
    """Text that roff shows as it is: no line of it is a request, and no dash a hyphen."""
    text = text.rstrip().replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^(?=[.'])", r"\\&", text)


@command()
def shell_hook_main(args: Args) -> None:
    config = settings(args)
    path = os.path.abspath(config.path) if config.path else ""
    check = [sys.executable, "-I", "-m", "interlock.cli.guard.typed_command", str(config.agents_socket), path]
    snippet = Path(__file__).with_name(f"shell_hook.{args.shell}").read_text("utf-8")
    print(snippet.replace("@CHECK@", shlex.join(check)).replace("@AGREED@", str(AGREED)), end="")
