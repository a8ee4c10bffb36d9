"""Runs a program, a script file or a command line from PowerShell, and reports what follows from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from interlock.analysis.code.program.values import ProgramFunction, Value, fetched, traits_of
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import hole, hole_of, known, without_holes
from interlock.analysis.powershell.parse import parse
from interlock.analysis.powershell.values import plain, single, texts
from interlock.analysis.programs.load import describe
from interlock.analysis.windows import WindowsReport, cmd_line, is_nothing, program_name, saved_download

_REGISTRY = ("hklm:", "hkcu:", "hkcr:", "hku:", "registry::", "microsoft.powershell.core\\registry::")
NAMES_ONLY = ("env:", "variable:", "function:", "alias:")
_TO_KEYS = {"delete": "delete", "truncate": "delete", "move": "delete", "write": "add", "overwrite": "add"}


class PsSession(WindowsReport):
    """Knows registry keys and variables among the paths."""

    depth: int = 0  # of texts that are run inside each other

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        """On a registry key, the command of `reg` that has it; on a name of the session, none."""
        path = self.relocate(target)
        if path.lower().startswith(NAMES_ONLY) or (verb in ("write", "append", "truncate") and is_nothing(path)):
            return
        if verb in _TO_KEYS and (key := registry_key(path)):
            self.run(["reg", _TO_KEYS[verb], key, *["/f"] * (_TO_KEYS[verb] == "delete")])
        else:
            super().effect(verb, target, *traits)


def registry_key(path: str) -> str:
    """HKLM:Software, HKLM:\\Software, Registry::HKEY_LOCAL_MACHINE\\Software: the key as `reg` has it."""
    if not path.lower().startswith(_REGISTRY):
        return ""
    drive, colon, rest = path.split("::")[-1].partition(":")
    return f"{drive}\\{rest.lstrip(chr(92) + '/')}" if colon else drive


def session_of(walk: ProgramWalk) -> PsSession:
    assert isinstance(walk.out, PsSession)
    return walk.out


def files_of(walk: ProgramWalk) -> WindowsReport:
    """With those that calls of libraries fetched."""
    files = session_of(walk)
    for path, url in walk.world.downloads.items():
        files.download(path, url)
    return files


RUN_TIME = "text made at run time is run"
_PIECE = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_CMD_SWITCH = re.compile(r"/[ck]", re.IGNORECASE)
_MAX_DEPTH = 8


def run_text(walk: ProgramWalk, text: str) -> Value:
    """Among the names that are known by now."""
    session = session_of(walk)
    if session.depth >= _MAX_DEPTH:
        walk.world.unreadable("PowerShell inside PowerShell, too deep to follow", "nesting")
        return None
    body, trouble = parse(text)
    walk.out.step(1 + len(text) // 64)
    session.depth += 1
    made = _results(walk, body)
    session.depth -= 1
    if trouble:
        what, trait = trouble.told
        walk.world.unreadable(f"PowerShell {what}", trait)
    return single(made)


def _results(walk: ProgramWalk, body: Sequence[ast.stmt]) -> list[Value]:
    """What statements give."""
    before, walk.scope.yields = walk.scope.yields, []
    walk.block(body)
    made, walk.scope.yields = walk.scope.yields, before
    return [value for value in made if value is not None]


def run_block(walk: ProgramWalk, block: ProgramFunction, item: Value) -> list[Value]:
    """What it assigns stays known, as it does for ForEach-Object."""
    outer = walk.scope.names.get("$_")
    walk.scope.set("$_", item)
    made = _results(walk, block.node.body if isinstance(block.node, ast.FunctionDef) else [])
    walk.scope.set("$_", outer)
    return made


def run_value(walk: ProgramWalk, value: Value) -> Value:
    if isinstance(value, ProgramFunction):
        return walk.call(value, [], {})
    if isinstance(value, list) and any(isinstance(item, ProgramFunction) for item in value):
        return [run_value(walk, item) for item in value]
    if url := fetched(value):
        walk.world.shells += 1
        walk.world.effect("run_download", url)
        return None
    text = "\n".join(texts(value))
    if not known(text):
        walk.world.shells += 1
        walk.world.unreadable(RUN_TIME, "payload")
    return run_text(walk, text) if without_holes(text).strip() else None


def run_program(walk: ProgramWalk, program: str, words: Sequence[str], piped: Sequence[Value] = ()) -> Value:
    files, name, given = files_of(walk), program_name(program), [str(word) for word in words]
    if url := files.url_among(program, given) or fetched(program):
        walk.world.effect("run_download", url)
    if not without_holes(name).strip(".\\/"):
        walk.world.shells += 1
        walk.world.unreadable("a program whose name is made at run time is run", "command")
        return None
    if (saved := saved_download(name, given)) is not None:
        files.download(saved[1], saved[0])
    if name == "cmd" and (text := after_switch(given)) is not None:
        walk.out.code("cmd", text)
    elif not run_script(walk, program):
        if "by_cmd" in describe(name).reader:
            walk.out.code("cmd", cmd_line([name, *given]))
        else:
            text, url = _flowing(piped), fetched(list(piped))
            session_of(walk).run([name, *given], text, url)
    return hole("output")


def _flowing(piped: Sequence[Value]) -> str | None:
    given = [text for value in piped for text in texts(value)]
    if not given:
        return None
    traits = traits_of(list(piped))
    taints = {"download"} if fetched(list(piped)) else traits & {"secret", "environment"}
    return hole_of(taints) if taints else "\n".join(given)


def run_script(walk: ProgramWalk, program: str) -> bool:
    return files_of(walk).run_script(program, (".ps1",), "powershell", lambda text: run_text(walk, text))


def after_switch(words: Sequence[str]) -> str | None:
    """The text that `cmd /c` is given."""
    for at, word in enumerate(words):
        if _CMD_SWITCH.match(word):
            return " ".join([word[2:], *words[at + 1 :]]).strip()
    return None


def split_line(text: str) -> list[str]:
    """Quoted parts are one word."""
    return [found[1] if found[1] is not None else found[2] for found in _PIECE.finditer(text)]


def run_line(walk: ProgramWalk, line: Value) -> Value:
    words = split_line(plain(line))
    return run_program(walk, words[0], words[1:]) if words else None
