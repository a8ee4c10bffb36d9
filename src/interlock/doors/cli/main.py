"""`interlock WORD …` -> the file that answers to that word; nothing else is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import MappingProxyType

USAGE = 2
INTERRUPTED = 130
NOBODY_LISTENS = 141

COMMANDS = MappingProxyType(
    {
        "explain": "say what a command would do, and whether it should run",
        "classify": "assess JSON actions, one a line, for programs",
        "scan": "find dangerous commands in scripts, Makefiles, Dockerfiles and CI files",
        "rules": "list, show, test and document the rules",
        "adapter": "check adapter files: levels, trust, problems",
        "prompt": "explain each command typed at a prompt",
    }
)

_HELP = """\
usage: interlock COMMAND …

Reads what a command would really do, and says so before it runs.

{commands}

  -h, --help     this text; `interlock COMMAND --help` says more
  --version      the version

examples:
  interlock explain 'find . -name "*.log" -exec rm {{}} +'
  interlock scan . --fail-on dangerous
  interlock rules show git.force_push
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _print_anything()
    try:
        code = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter must not complain about it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return NOBODY_LISTENS
    except SystemExit as end:  # argparse, after --help or a wrong option
        return end.code if isinstance(end.code, int) else USAGE
    return code


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help(), end="")
        return 0
    if words[0] in ("--version", "-V"):
        print(f"interlock {version()}")
        return 0
    if words[0] not in COMMANDS:
        print(_unknown(words[0]), file=sys.stderr)
        return USAGE
    code: int = import_module(f"interlock.doors.cli.{words[0]}").main(words[1:])
    return code


def version() -> str:
    """The installed version."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("interlock")
    except PackageNotFoundError:
        return "unknown"


def _help() -> str:
    return _HELP.format(commands="\n".join(f"  {name:<12}   {words}" for name, words in COMMANDS.items()))


def _unknown(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(COMMANDS)}"
    return f"interlock: no command {word!r}; {hint}\nTo have a shell command explained: interlock explain 'COMMAND'"


def _print_anything() -> None:
    """What a terminal's encoding has no letter for is spelled out, rather than an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
