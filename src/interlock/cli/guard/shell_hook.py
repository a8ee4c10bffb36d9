"""`interlock shell-hook`: the snippet that guards the shell a person types in; off until it is put into the shell's own start-up file."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence

from interlock.cli.command import OK, command, run, settings
from interlock.cli.guard.typed_command import AGREED

_EXAMPLES = """
eval "$(interlock shell-hook bash)"            # in this shell; in ~/.bashrc: in every one
eval "$(interlock shell-hook zsh)"             # the same for ~/.zshrc
interlock_off                                  # off again, in this shell
"""
# The whole line is judged before its first command; a command that the line does not show, as an alias, is judged by itself.
_BASH = r"""# Interlock guards what is typed at this prompt; `interlock_off` ends that.
if [[ $- == *i* ]] && ! declare -F __interlock_debug >/dev/null; then
    if [[ -n $(trap -p DEBUG) ]]; then
        echo 'interlock: this shell has a DEBUG trap already, so what is typed here is not guarded' >&2
    else
        __interlock_state=prompt __interlock_line=
        __interlock_begin() { local status=$?; __interlock_state=prompt; return $status; }
        __interlock_end() { local status=$?; __interlock_state=new; return $status; }
        __interlock_debug() {
            [[ $__interlock_state == prompt || -n ${COMP_LINE-} || ${#FUNCNAME[@]} -gt 1 ]] && return 0
            local line=$BASH_COMMAND
            [[ $line == __interlock_* || $line == interlock_off ]] && return 0
            if [[ $__interlock_state == new ]]; then
                __interlock_state=line
                __interlock_line=$(HISTTIMEFORMAT='' builtin history 1)
                __interlock_line=${__interlock_line#*[0-9]  }
                [[ $__interlock_line == *"$BASH_COMMAND"* ]] && line=$__interlock_line
            elif [[ $__interlock_line == *"$BASH_COMMAND"* ]]; then
                return 0
            fi
            @CHECK@ "$line"
            case $? in 0 | @AGREED@) return 0 ;; esac
            __interlock_state=prompt
            kill -INT $$
            return 1
        }
        interlock_off() { trap - DEBUG; shopt -u extdebug; unset -f __interlock_debug; }
        if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
            PROMPT_COMMAND=(__interlock_begin "${PROMPT_COMMAND[@]}" __interlock_end)
        else
            PROMPT_COMMAND="__interlock_begin; ${PROMPT_COMMAND:+$PROMPT_COMMAND; }__interlock_end"
        fi
        shopt -s extdebug
        trap __interlock_debug DEBUG
    fi
fi
"""
_ZSH = r"""# Interlock guards what is typed at this prompt; `interlock_off` ends that.
if [[ -o interactive ]] && (( ! ${+functions[__interlock_accept_line]} )); then
    __interlock_accept_line() {
        local line=$PREBUFFER$BUFFER
        # What does not parse yet goes on in the next line, and what never does is not run: this parses it, and runs nothing.
        unset 'functions[__interlock_parsed]'
        functions[__interlock_parsed]=$line 2>/dev/null
        if [[ $line != interlock_off ]] && (( ${+functions[__interlock_parsed]} )); then
            @CHECK@ "$line" zle
            case $? in
                0) ;;
                @AGREED@) zle -I ;;
                *) zle .send-break; return ;;
            esac
        fi
        zle .accept-line
    }
    interlock_off() { zle -A .accept-line accept-line; unfunction __interlock_accept_line; }
    zle -N accept-line __interlock_accept_line
fi
"""
_SNIPPETS = {"bash": _BASH, "zsh": _ZSH}


def main(argv: Sequence[str]) -> int:
    """Print the snippet for a shell."""
    parser = command(
        "shell-hook",
        "Guard the shell that you type in: each line is judged before it runs, by the daemon, or by the same rules here where none\n"
        "answers, and what destroys is asked about at the same terminal. Prints what the shell has to evaluate; nothing is on until it does.",
        _EXAMPLES,
        "exit codes: 0 done, 2 wrong usage",
    )
    parser.add_argument("shell", choices=tuple(_SNIPPETS), help="the shell that evaluates it")
    return run("shell-hook", _print, parser.parse_args(list(argv)))


def _print(args: argparse.Namespace) -> int:
    config = settings(args)
    path = os.path.abspath(config.path) if config.path else ""
    check = [sys.executable, "-I", "-m", "interlock.cli.guard.typed_command", str(config.agents_socket), path]
    print(_SNIPPETS[args.shell].replace("@CHECK@", shlex.join(check)).replace("@AGREED@", str(AGREED)), end="")
    return OK
