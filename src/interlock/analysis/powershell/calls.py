"""Runs one PowerShell command: a script block, a function of this text, a cmdlet, or a program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.analysis.facts import hole
from interlock.analysis.powershell.members import is_code
from interlock.analysis.powershell.nodes import Flag, PipelineCall, PsVariable, ScriptBlock
from interlock.analysis.powershell.parameters import Bound, CmdletWord, bind, cmdlets
from interlock.analysis.powershell.programs import run_program, run_script, run_value
from interlock.analysis.powershell.session_cmdlets import CMDLETS, cmdlet_name, pass_on, piped_words
from interlock.analysis.powershell.values import Items, PsReading, Records, Script, Value, plain, single, spread, texts
from interlock.analysis.windows import SCRIPTS, plain_holes, suffix

_CMDLET = re.compile(r"[a-z]+-[a-z][a-z0-9_]*$")
_PASSES = re.compile(r"(?:select|sort|format|out|measure|convertto|tee|group|write)-")
_RUNS_FILES = re.compile(
    r"(?:invoke|start|register|import|set|new)-(?:command|\w*job|module|pssession|scheduledtask\w*)$"
)
_MAX_FRAMES = 40
_OF_CMD = frozenset({"del", "erase", "rd", "rmdir", "copy", "move", "ren", "dir", "start", "type"})


def run_call(session: PsReading, call: PipelineCall, piped: list[Value]) -> list[Value]:
    """One command: code that is a value, a function of this text, a cmdlet, or a program."""
    session.out.step()
    name = session.value_of(session, call.name)
    words = _words(session, call)
    if is_code(name):
        return _call_block(session, name, words, piped)
    if isinstance(name, Items) and len(name.paths) == 1:
        name = name.paths[0]
    made: list[Value] = []
    for option in texts(name) or [""]:
        made += _call_name(session, option, words, piped)
    return made


def _call_block(session: PsReading, code: Value, words: Sequence[CmdletWord], piped: list[Value]) -> list[Value]:
    if not isinstance(code, Script):
        return run_value(session, code)
    return _bind_and_run(session, code.block, words, piped)


def _words(session: PsReading, call: PipelineCall) -> list[CmdletWord]:
    """The words of a command, with splatted tables spread out."""
    words: list[CmdletWord] = []
    for word in call.words:
        session.out.step()
        if isinstance(word, Flag):
            value = None if word.value is None else session.value_of(session, word.value)
            words.append(CmdletWord(value, word.name, word.value is not None))
        elif isinstance(word, PsVariable) and word.splat:
            words += _splat(session.get(word.name))
        else:
            words.append(CmdletWord(session.value_of(session, word)))
    return words


def _splat(value: Value) -> list[CmdletWord]:
    if isinstance(value, dict):
        return [CmdletWord(item, key, has_value=True) for key, item in value.items()]
    return [CmdletWord(item) for item in spread(value)]


def _call_name(session: PsReading, word: str, words: list[CmdletWord], piped: list[Value]) -> list[Value]:
    if word.lower() in session.functions:
        return _call_function(session, word.lower(), words, piped)
    name = cmdlet_name(session, word)
    if name in session.functions:
        return _call_function(session, name, words, piped)
    bound = bind(name, words)
    act = CMDLETS.get(name)
    if word.lower() in cmdlets().programs and (bound.strange or _other_program(word.lower(), words)):
        _run_other(session, word.lower(), _argv(words), piped)
        return [hole("output")]
    if act is not None:
        return act(session, bound, piped)
    if _CMDLET.match(name):
        return _cmdlet(session, bound, piped)
    for one in words:
        if isinstance(one.value, Script):
            _bind_and_run(session, one.value.block, [], [])
    run_program(session, word, _argv(words), piped)
    return [hole("output")]


def _other_program(name: str, words: Sequence[CmdletWord]) -> bool:
    """True where the words show that the program is meant, not the cmdlet of the same name."""
    if name in ("curl", "wget"):
        return any(len(word.flag) == 1 or plain(word.value).startswith("--") for word in words)
    given = [plain(word.value) for word in words if not word.flag]
    return any(re.fullmatch(r"/[A-Za-z?]|--[a-z-]+", text) for text in given)


def _run_other(session: PsReading, name: str, argv: list[str], piped: list[Value]) -> None:
    """The program that is meant: a command of cmd.exe when its words have a slash, else one of the same name."""
    if name in _OF_CMD and any(word.startswith("/") for word in argv):
        session.out.code("cmd", " ".join(f'"{word}"' if " " in word else word for word in [name, *argv]))
    else:
        run_program(session, name, argv, piped)


def _argv(words: Sequence[CmdletWord]) -> list[str]:
    """The words as a program gets them: lists spread out, flags as written."""
    argv: list[str] = []
    for word in words:
        argv += word.shown() if word.flag or isinstance(word.value, (bool, Script)) else texts(word.value)
    return argv


def _cmdlet(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Any other cmdlet: reported to the rules; its blocks are run, and its result follows from its noun."""
    for word in bound.words:
        for value in spread(word.value):
            if isinstance(value, Script):
                session.run_block(session, value, {"_": piped[0] if piped else hole("_")})
    if _RUNS_FILES.match(bound.name):
        for path in [text for word in bound.words for text in texts(word.value) if suffix(text) in SCRIPTS]:
            run_script(session, path)
    if _PASSES.match(bound.name):
        return pass_on(session, bound, piped)
    argv = [*bound.argv(), *piped_words(piped)]
    session.out.run([plain_holes(word) for word in argv])
    verb, _, noun = bound.name.partition("-")
    if verb == "get":
        return [Records(noun, tuple(argv[1:]))]
    return [hole(bound.name)]


def _call_function(session: PsReading, name: str, words: Sequence[CmdletWord], piped: list[Value]) -> list[Value]:
    if name in session.active or len(session.active) >= _MAX_FRAMES or not session.more():
        return [hole(name)]
    session.active.append(name)
    made = _bind_and_run(session, session.functions[name], words, piped)
    session.active.pop()
    return made


def _bind_and_run(
    session: PsReading, block: ScriptBlock, words: Sequence[CmdletWord], piped: list[Value]
) -> list[Value]:
    """Run a block with its words bound to its parameters, in names of its own."""
    outer = session.variables
    session.variables = dict(outer)
    free = [param.name for param in block.params]
    rest: list[Value] = []
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        name = next((one for one in free if word.flag and one.lower().startswith(word.flag.lower())), "")
        if name:
            free.remove(name)
            value = word.value if word.has_value else queue.pop().value if queue and not queue[-1].flag else True
            session.set(name, value)
        elif not word.flag:
            rest.append(word.value)
    for name, value in zip(list(free), rest):
        session.set(name, value)
        free.remove(name)
    for param in block.params:
        if param.name in free and param.default is not None:
            session.set(param.name, session.value_of(session, param.default))
    session.variables |= {"args": rest, "input": piped, "_": single(piped) if piped else hole("_")}
    made = session.run_body(session, block.body)
    session.variables = outer
    return made
