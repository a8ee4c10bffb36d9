"""`interlock WORD …` -> the function of that command; no other command is imported."""

from __future__ import annotations

import gc
import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

USAGE = 2
INTERRUPTED = 130
NOBODY_LISTENS = 141

_SECTIONS = tomllib.loads(Path(__file__).with_name("commands.toml").read_text("utf-8"))
_HELP = _SECTIONS.pop("help")
_SHARED = {word: module for module, words in _SECTIONS.pop("shared").items() for word in words.split()}
COMMANDS = {word: said for words in _SECTIONS.values() for word, said in words.items()}


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # characters that the terminal's encoding lacks
    try:
        code = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # the shell's prompt begins a line of its own
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not complain about it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return NOBODY_LISTENS
    except SystemExit as end:  # argparse, after --help or a wrong option
        return end.code if isinstance(end.code, int) else USAGE
    return code


def _run(words: list[str]) -> int:
    word = words[0] if words else "help"
    if word in ("-h", "--help", "help"):
        lines: list[str] = []
        for name, commands in _SECTIONS.items():
            lines += ["", name, *(f"  {each:<12}   {said}" for each, said in commands.items())]
        print(_HELP.format(commands="\n".join(lines)), end="")
        return 0
    if word in ("--version", "-V"):
        from interlock import __version__

        print(f"interlock {__version__}")
        return 0
    if word not in COMMANDS:
        from difflib import get_close_matches

        near = get_close_matches(word, COMMANDS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(COMMANDS)}"
        print(f"interlock: no command {word!r}; {hint}", file=sys.stderr)
        print("To have a shell command explained: interlock explain 'COMMAND'", file=sys.stderr)
        return USAGE
    gc.disable()  # importing makes no garbage, and what it makes stays
    function = command_function(word)
    gc.freeze()
    gc.enable()
    return function(words[1:])


def command_function(word: str) -> Callable[[Sequence[str]], int]:
    section = next(title for title, commands in _SECTIONS.items() if word in commands).lower()
    module = import_module(f"interlock.cli.{section}.{_SHARED.get(word, word)}")
    name = f"{word.replace('-', '_')}_main" if word in _SHARED else "main"
    function: Callable[[Sequence[str]], int] = getattr(module, name)
    return function
