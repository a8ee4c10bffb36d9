"""`interlock completion`: what a shell completes behind `interlock`, and the manual page; both are made from the help texts."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from contextlib import redirect_stdout

import interlock
from interlock.cli.command import OK, command
from interlock.cli.main import COMMANDS
from interlock.cli.main import main as run

_EXAMPLES = """
interlock completion bash > ~/.local/share/bash-completion/completions/interlock
interlock completion zsh > ~/.zfunc/_interlock                 # a folder of $fpath
interlock completion fish > ~/.config/fish/completions/interlock.fish
interlock completion man > ~/.local/share/man/man1/interlock.1
"""
# The words of a command are asked of its own help when they are needed, so that they are those of the installed version.
_OPTIONS = r"""grep -oE -- '^    [a-z][a-z-]+|--[a-z][a-z-]+' | tr -d ' ' | sort -u"""
_BASH = """\
_interlock() {{
    local word=${{COMP_WORDS[COMP_CWORD]}}
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{words}" -- "$word"))
    else
        COMPREPLY=($(compgen -f -W "$("${{COMP_WORDS[0]}}" "${{COMP_WORDS[1]}}" --help 2>/dev/null | {options})" -- "$word"))
    fi
}}
complete -o filenames -F _interlock interlock
"""
_ZSH = """\
#compdef interlock
_interlock() {{
    local -a commands=(
{described}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
    else
        compadd -- $("$words[1]" "$words[2]" --help 2>/dev/null | {options})
        _files
    fi
}}
if [ "$funcstack[1]" = _interlock ]; then _interlock; else compdef _interlock interlock; fi
"""
_FISH = """\
{described}
complete -c interlock -n 'not __fish_use_subcommand' -a '(set -l line (commandline -opc); $line[1] $line[2] --help 2>/dev/null | {options})'
"""


def main(argv: Sequence[str]) -> int:
    """Print one of the files."""
    parser = command(
        "completion", "What a shell completes behind `interlock`, or the manual page.", _EXAMPLES, "exit codes: 0 done"
    )
    parser.add_argument("kind", choices=("bash", "zsh", "fish", "man"), help="a shell, or man for the manual page")
    print(_MADE[parser.parse_args(argv).kind](), end="")
    return OK


def _commands() -> dict[str, str]:
    return dict(COMMANDS)


def _bash() -> str:
    return _BASH.format(words=" ".join(_commands()), options=_OPTIONS)


def _zsh() -> str:
    lines = [f"        {_quoted(f'{name}:{words}')}" for name, words in _commands().items()]
    return _ZSH.format(described="\n".join(lines), options=_OPTIONS)


def _fish() -> str:
    lines = [
        f"complete -c interlock -n __fish_use_subcommand -f -a {name} -d {_quoted(words)}"
        for name, words in _commands().items()
    ]
    return _FISH.format(described="\n".join(lines), options=_OPTIONS.replace("'", "\\'"))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _man() -> str:
    """The manual page: the help of `interlock`, and behind it that of each command."""
    parts = [
        f'.TH INTERLOCK 1 "" "interlock {interlock.__version__}"\n.SH NAME\ninterlock \\- the safety interlock for AI agents'
    ]
    for name in ("", *_commands()):
        with redirect_stdout(io.StringIO()) as said:
            run([*([name] if name else []), "--help"])
        parts.append(f".SH {f'interlock {name}'.strip().upper()}\n.nf\n{_roff(said.getvalue())}\n.fi")
    return "\n".join(parts) + "\n"


def _roff(text: str) -> str:
    """Text that roff shows as it is: no line of it is a request, and no dash a hyphen."""
    text = text.rstrip().replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^(?=[.'])", r"\\&", text)


_MADE = {"bash": _bash, "zsh": _zsh, "fish": _fish, "man": _man}
