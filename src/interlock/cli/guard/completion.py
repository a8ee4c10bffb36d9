"""What a shell evaluates: `interlock completion`, made from the help texts, with the manual page; `interlock shell-hook`, which guards typed lines."""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path

import interlock
from interlock.cli.arguments import Args
from interlock.cli.command import OK, command, settings
from interlock.cli.guard.typed_command import AGREED
from interlock.cli.main import COMMANDS
from interlock.cli.main import main as run

# The words of a command are asked of its own help when they are needed, so that they are those of the installed version.
_OPTIONS = r"""grep -oE -- '^    [a-z][a-z-]+|--[a-z][a-z-]+' | tr -d ' ' | sort -u"""


@command("completion")
def main(args: Args) -> int:
    """Print one of the files."""
    print(_MADE[args.kind](), end="")
    return OK


def _filled(shell: str, **words: str) -> str:
    text = Path(__file__).with_suffix(f".{shell}").read_text("utf-8")
    for key, value in words.items():
        text = text.replace(f"@{key}@", value)
    return text


def _bash() -> str:
    return _filled("bash", WORDS=" ".join(COMMANDS), OPTIONS=_OPTIONS)


def _zsh() -> str:
    lines = [f"        {_quoted(f'{name}:{words}')}" for name, words in COMMANDS.items()]
    return _filled("zsh", DESCRIBED="\n".join(lines), OPTIONS=_OPTIONS)


def _fish() -> str:
    lines = [
        f"complete -c interlock -n __fish_use_subcommand -f -a {name} -d {_quoted(words)}"
        for name, words in COMMANDS.items()
    ]
    return _filled("fish", DESCRIBED="\n".join(lines), OPTIONS=_OPTIONS.replace("'", "\\'"))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _man() -> str:
    """The manual page: the help of `interlock`, and behind it that of each command."""
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


_MADE = {"bash": _bash, "zsh": _zsh, "fish": _fish, "man": _man}


@command("shell-hook")
def shell_hook_main(args: Args) -> int:
    """Print the snippet for a shell."""
    config = settings(args)
    path = os.path.abspath(config.path) if config.path else ""
    check = [sys.executable, "-I", "-m", "interlock.cli.guard.typed_command", str(config.agents_socket), path]
    snippet = Path(__file__).with_name(f"shell_hook.{args.shell}").read_text("utf-8")
    print(snippet.replace("@CHECK@", shlex.join(check)).replace("@AGREED@", str(AGREED)), end="")
    return OK
