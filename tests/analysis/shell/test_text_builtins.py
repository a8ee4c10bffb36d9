"""Builtins, options and variables of a shell that run text have it read; their everyday uses raise nothing."""

from __future__ import annotations

from cases import each
from interlock import assess

DOCS = "rm -rf /home/me/docs"
FILE = f"echo '{DOCS}' > f; "
CWD = "/home/me/app"


def level(text: str) -> int:
    return int(assess(text, CWD).level)


RUN_TEXT = [
    f"compgen -W '$({DOCS})' x",
    f"compgen -W '`{DOCS}`'",
    f"compgen -C '{DOCS}' x",
    f"f() {{ {DOCS}; }}; compgen -F f x",
    f"complete -C '{DOCS}' ls",
    f"complete -W '$({DOCS})' ls",
    f"mapfile -C '{DOCS};:' -c 1 <<< x",
    f"readarray -c1 -C '{DOCS} #' list < notes",
    f"jobs -x {DOCS}",
    f"bind -x '\"\\C-a\": {DOCS}'",
    f"fc -e '{DOCS}'",
    "fc -s rm",
    "enable -f /tmp/x.so x",
    f"PS1='$({DOCS})'",
    f"PS0='`{DOCS}`' bash -i",
    f"PS4='$({DOCS})' bash -xc :",
    f"export PS4='$({DOCS})'; set -x; ls",
    f"PROMPT_COMMAND='{DOCS}'",
    f"bash --rcfile <(echo '{DOCS}') -i",
    f"bash --init-file <(echo '{DOCS}')",
    f"{FILE}bash --rcfile=f -i",
    f"{FILE}BASH_ENV=f bash -c :",
    f"env 'BASH_FUNC_ls%%=() {{ {DOCS}; }}' bash -c ls",
    f"shopt -s expand_aliases\nalias a='env ' b='{DOCS}'\na b",
    f"alias a='env ' b='nice ' c='{DOCS}'; a b c",
    "hash -p /bin/rm ls; ls -rf /home/me/docs",
    f"command_not_found_handle() {{ {DOCS}; }}; foo",
    f"trap '{DOCS}' DEBUG",
    f"builtin eval '{DOCS}'",
    "command rm -rfv /home/me/docs",
    "command rm -v -rf /home/me/docs",
    f"printf -v x -- '{DOCS}'; $x",
    f"printf -- '{DOCS}' | sh",
]
EVERYDAY = [
    "compgen -W 'start stop restart' -- s",
    "compgen -c | sort",
    "complete -F _git git",
    "complete -W 'rm -rf' tool",
    "mapfile -t lines < file.txt",
    "readarray -t -d '' files < <(find . -print0)",
    "jobs -l",
    "bind -x '\"\\C-l\": clear'",
    "fc -l",
    "hash -r",
    "command -pv rm",
    "command -V rm",
    "enable -n test",
    "PS1='\\u@\\h \\w $ '",
    "PS1='$(__git_ps1) $ '",
    "PS4='+ ${BASH_SOURCE}: '; set -x; make",
    "bash --rcfile ~/.bashrc -i",
    "alias ll='ls -la'; ll",
    f"alias wipe='{DOCS}'; alias a='echo'; a wipe",
    "trap 'echo done' EXIT",
]


@each("text", RUN_TEXT)
def test_text_that_a_builtin_runs_is_read(text: str) -> None:
    assert level(text) >= 3


@each("text", EVERYDAY)
def test_everyday_builtins_raise_nothing(text: str) -> None:
    assert level(text) <= 1
