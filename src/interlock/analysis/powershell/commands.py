"""Runs one PowerShell command: a script block, a function of this text, a cmdlet, or a program."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from interlock.analysis.code.library import library
from interlock.analysis.code.program.objects import LibraryCall, ProgramFunction
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, text_of
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import hole
from interlock.analysis.powershell.cmdlets import CMDLETS, pass_on, piped_words, report
from interlock.analysis.powershell.parameters import Bound, CmdletWord, bind, cmdlets
from interlock.analysis.powershell.programs import run_block, run_program, run_script, run_value
from interlock.analysis.powershell.values import SCRIPT, plain, single, spread, texts
from interlock.analysis.windows import SCRIPTS, suffix

_CMDLET = re.compile(r"[a-z]+-[a-z][a-z0-9_]*$")
_PASSES = re.compile(r"(?:select|sort|format|out|measure|convertto|tee|group|write)-")
_RUNS_FILES = re.compile(
    r"(?:invoke|start|register|import|set|new)-(?:command|\w*job|module|pssession|scheduledtask\w*)$"
)
_OF_CMD = frozenset({"del", "erase", "rd", "rmdir", "copy", "move", "ren", "dir", "start", "type"})


def run_command(walk: ProgramWalk, call: LibraryCall) -> Value:
    """One command, by what is piped into it, its name and its words."""
    piped, name, *given = call.args
    words = [word if isinstance(word, CmdletWord) else CmdletWord(word) for word in given]
    if isinstance(name, ProgramFunction):
        return call_block(walk, name, words, spread(piped))
    if isinstance(name, Sym) and name.path == SCRIPT:
        return run_value(walk, name)
    return _call_name(walk, plain(name), words, spread(piped))


def _call_name(walk: ProgramWalk, word: str, words: list[CmdletWord], piped: list[Value]) -> Value:
    name = _cmdlet_name(walk, word)
    for known_as in (word.lower(), name):
        function = walk.scope.find(f"function:{known_as}")
        if isinstance(function, ProgramFunction):
            return call_block(walk, function, words, piped)
    bound = bind(name, words, piped)
    if word.lower() in cmdlets().programs and (bound.strange or _other_program(word.lower(), words)):
        return _run_other(walk, word.lower(), _argv(words), piped)
    if name in CMDLETS or name in library("powershell").calls:
        call = LibraryCall(name, bound, bound.rest, bound.given)
        given = walk.language.answer(walk, Sym(name), call)
        return None if isinstance(given, Sym) and given.path in ("?", f"{name}()") and not given.traits else given
    if _CMDLET.match(name):
        return _cmdlet(walk, bound)
    for one in words:
        if isinstance(one.value, ProgramFunction):
            call_block(walk, one.value, [], [])
    return run_program(walk, word, _argv(words), piped)


def _cmdlet_name(walk: ProgramWalk, word: str) -> str:
    """The cmdlet that a word names, through aliases and module prefixes; the word itself for anything else."""
    name = word.lower()
    head, _, tail = name.rpartition("\\")
    if head and "-" in tail and ":" not in head and "." in head:
        name = tail
    for _ in range(4):
        name = text_of(walk.scope.find(f"alias:{name}", name))
    return cmdlets().aliases.get(name, name)


def _other_program(name: str, words: Sequence[CmdletWord]) -> bool:
    """True where the words show that the program is meant, not the cmdlet of the same name."""
    if name in ("curl", "wget"):
        return any(len(word.flag) == 1 or plain(word.value).startswith("--") for word in words)
    given = [plain(word.value) for word in words if not word.flag]
    return any(re.fullmatch(r"/[A-Za-z?]|--[a-z-]+", text) for text in given)


def _run_other(walk: ProgramWalk, name: str, argv: list[str], piped: list[Value]) -> Value:
    """The program that is meant: a command of cmd.exe when its words have a slash, else one of the same name."""
    if name not in _OF_CMD or not any(word.startswith("/") for word in argv):
        return run_program(walk, name, argv, piped)
    walk.out.code("cmd", " ".join(f'"{word}"' if " " in word else word for word in [name, *argv]))
    return hole("output")


def _argv(words: Sequence[CmdletWord]) -> list[str]:
    """The words as a program gets them: lists spread out, flags as written."""
    argv: list[str] = []
    for word in words:
        argv += word.shown() if word.flag or isinstance(word.value, bool) else texts(word.value)
    return argv


def _cmdlet(walk: ProgramWalk, bound: Bound) -> Value:
    """Any other cmdlet: reported to the rules; its blocks are run, and its result follows from its noun."""
    for value in [value for word in bound.words for value in spread(word.value)]:
        if isinstance(value, ProgramFunction):
            run_block(walk, value, bound.piped[0] if bound.piped else UNKNOWN)
    if _RUNS_FILES.match(bound.name):
        for path in [text for word in bound.words for text in texts(word.value) if suffix(text) in SCRIPTS]:
            run_script(walk, path)
    if _PASSES.match(bound.name):
        return pass_on(walk, LibraryCall(bound.name, bound, [], {}))
    words = [*bound.argv()[1:], *piped_words(bound.piped)]
    report(walk, bound.name, *words)
    return Sym(f"{bound.name}()", args=tuple(words))


def call_block(walk: ProgramWalk, block: ProgramFunction, words: Sequence[CmdletWord], piped: list[Value]) -> Value:
    """Run a function or a block with its words bound to its parameters."""
    assert isinstance(block.node, ast.FunctionDef)
    free = [param.arg for param in block.node.args.args]
    named: dict[str, Value] = {"$_": single(piped), "$input": piped} if piped else {}
    rest: list[Value] = []
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        name = next((one for one in free if word.flag and one[1:].startswith(word.flag.lower())), "")
        if name:
            free.remove(name)
            named[name] = word.value if word.has_value else queue.pop().value if queue and not queue[-1].flag else True
        elif not word.flag:
            rest.append(word.value)
    named |= dict(zip(free, rest, strict=False))
    made = walk.call(block, [], named)
    return single([value for value in made if value is not None]) if isinstance(made, list) else made
