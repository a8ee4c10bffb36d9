"""`interlock WORD …` -> the function of that command; no other command is imported."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper

USAGE = 2
INTERRUPTED = 130
NOBODY_LISTENS = 141

JUDGING = {
    "explain": "say what a command would do, and whether it should run",
    "classify": "assess JSON actions, one a line, for programs",
    "scan": "find dangerous commands in scripts, Makefiles, Dockerfiles and CI files",
    "rehearse": "which past actions of your agents would have asked you, from their logs",
    "rules": "list, show, test and document the rules",
    "adapter": "check adapter files: levels, trust, problems",
    "prompt": "explain each command typed at a prompt",
    "ask": "a command for plain words: review, edit, decide",
}
GUARDING = {
    "init": "the first run: daemon, operator, hooks, check, all in one",
    "demo": "see it work in a few seconds: undone, held, approved, read through, recorded",
    "serve": "start the daemon that agents ask",
    "install": "guard a coding agent: every tool call passes the gate",
    "uninstall": "take the hooks out again",
    "run": "run an agent in a jail, out of reach of what guards it",
    "journal": "run a command and keep each file just before it changes: `interlock undo` brings it back",
    "hooks": "which agents are guarded, and in which files",
    "doctor": "prove that the guard fires",
    "coverage": "calls that ran, seen and missed by their hooks",
    "proxy": "put the gate in front of any MCP server",
    "mcp": "the execution safety loop as an MCP server, for any MCP client",
    "status": "how the daemon is, and what waits",
    "statusline": "one line for an agent's status bar",
    "config": "show and check the configuration",
    "policy": "show, check, test and compare policies",
    "shell-hook": "guard the shell that you type in: what it has to evaluate",
    "completion": "what a shell completes, and the manual page",
    "conformance": "evidence for the public MCP-AQL conformance runner",
}
ANSWERING = {
    "pending": "what waits for an answer",
    "show": "everything about one ticket",
    "approve": "agree to a held action",
    "reject": "say no to it",
    "revoke": "take back an approval, a grant or a standing answer",
    "wait": "wait until a ticket is answered",
    "codes": "the code that frees a paused or blocked agent",
    "allow": "a standing yes to what a pattern matches, tried on the record first",
    "deny": "a standing no to it",
    "import": "the rules of another guard as standing answers: shown first, then signed",
    "grants": "allow something beforehand: list, add, revoke",
    "channels": "where people are told: list, test",
    "unlock": "sign in after the daemon was started",
    "operator": "the people who may answer: add, list, disable, passphrase",
    "agents": "agents, their tokens and trust",
    "block": "stop an agent",
    "unblock": "let it go on",
    "mode": "whether decisions are enforced",
    "pause": "enforcement off for a while: the way out when the gate is in the way",
    "audit": "the record: tail, search, export, verify, stats",
    "replay": "make recorded decisions again and compare",
    "undo": "bring back what an action changed",
}
COMMANDS = {**JUDGING, **GUARDING, **ANSWERING}
_SECTIONS = (("Judge", JUDGING), ("Guard", GUARDING), ("Answer", ANSWERING))  # each a package

# Words that share a module, in which the function is named WORD_main.
_SHARED = {
    word: module
    for module, words in {
        "agents": "block unblock mode pause",
        "audit": "replay",
        "completion": "shell-hook",
        "demo": "conformance",
        "explain": "prompt",
        "grants": "allow deny",
        "importing": "import",
        "operator": "unlock channels codes",
        "status": "hooks coverage doctor",
        "tickets": "pending show wait approve reject revoke",
    }.items()
    for word in words.split()
}

_HELP = """\
usage: interlock COMMAND …

Reads what an action would really do, and holds what should not happen by itself.
{commands}

  -h, --help     this text; `interlock COMMAND --help` says more
  --version      the version

examples:
  interlock explain 'find . -name "*.log" -exec rm {{}} +'
  interlock demo
  interlock init
  interlock pending
"""


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
    if not words or words[0] in ("-h", "--help", "help"):
        rows = {name: "".join(f"  {word:<12}   {said}\n" for word, said in words.items()) for name, words in _SECTIONS}
        print(_HELP.format(commands="\n".join(f"\n{name}\n{text}".rstrip("\n") for name, text in rows.items())), end="")
        return 0
    if words[0] in ("--version", "-V"):
        from interlock import __version__

        print(f"interlock {__version__}")
        return 0
    if words[0] not in COMMANDS:
        from difflib import get_close_matches

        near = get_close_matches(words[0], COMMANDS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(COMMANDS)}"
        print(f"interlock: no command {words[0]!r}; {hint}", file=sys.stderr)
        print("To have a shell command explained: interlock explain 'COMMAND'", file=sys.stderr)
        return USAGE
    gc.disable()  # importing makes no garbage, and what it makes stays
    function = command_function(words[0])
    gc.freeze()
    gc.enable()
    return function(words[1:])


def command_function(word: str) -> Callable[[Sequence[str]], int]:
    """The function of a word of COMMANDS; imports no other command."""
    section = next(title for title, commands in _SECTIONS if word in commands).lower()
    module = import_module(f"interlock.cli.{section}.{_SHARED.get(word, word)}")
    name = f"{word.replace('-', '_')}_main" if word in _SHARED else "main"
    function: Callable[[Sequence[str]], int] = getattr(module, name)
    return function
