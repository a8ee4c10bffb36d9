"""What commands do: programs, scripts and texts that are run, and the cmdlets that no table can describe."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from interlock.analysis.code.program.paths import PATH
from interlock.analysis.code.program.values import (
    UNKNOWN,
    LibraryCall,
    Marked,
    ProgramFunction,
    Sym,
    Value,
    concat,
    fetched,
    file_traits,
    path_of,
    text_of,
    traits_of,
)
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import hole, hole_of, known, without_holes
from interlock.analysis.packs import each_name
from interlock.analysis.powershell.parameters import Bound, cmdlets
from interlock.analysis.powershell.parse import parse
from interlock.analysis.powershell.values import plain, single, spread, texts
from interlock.analysis.programs.load import describe
from interlock.analysis.windows import (
    WindowsReport,
    cmd_line,
    is_nothing,
    program_name,
    saved_download,
    suffix,
    wildcard,
)

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
    files = session_of(walk)
    for path, url in walk.world.downloads.items():
        files.download(path, url)
    return files


RUN_TIME = "text made at run time is run"
_PIECE = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_CMD_SWITCH = re.compile(r"/[ck]", re.IGNORECASE)
_MAX_DEPTH = 8


def run_text(walk: ProgramWalk, text: str) -> Value:
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
        return walk.call(value)
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
    found = (at for at, word in enumerate(words) if _CMD_SWITCH.match(word))
    return next((" ".join([words[at][2:], *words[at + 1 :]]).strip() for at in found), None)


def split_line(text: str) -> list[str]:
    return [found[1] if found[1] is not None else found[2] for found in _PIECE.finditer(text)]


def run_line(walk: ProgramWalk, line: Value) -> Value:
    words = split_line(plain(line))
    return run_program(walk, words[0], words[1:]) if words else None


# -- files


def _get_content(bound: Bound) -> Value:
    made, files = list[Value](), files_of(bound.walk)
    for path in bound.texts("path"):
        bound.world.touch("read", path)
        url, text = files.url(path), files.written_text(path)
        if url or text is None:
            name = without_holes(path)
            traits = {f"fetched:{url}"} if url else file_traits(path.replace("\\", "/"))
            made.append(Marked(hole(name), traits))
        else:
            made.append(text)
    return single(made)


def write_file(walk: ProgramWalk, path: str, content: Sequence[Value], append: bool) -> None:
    if not path or is_nothing(path) or path.lower().startswith(NAMES_ONLY):
        return
    lines = [text for value in content for text in texts(value)]
    walk.world.touch("append" if append else "write" if any(lines) else "truncate", path)
    text = concat([part for line in lines for part in (line, "\n")][:-1])
    files_of(walk).write(path, text_of(text), append)
    if url := fetched(lines):
        files_of(walk).download(path, url)


def _write(bound: Bound) -> Value:
    append = bound.name == "add-content" or bound.has("append")
    for path in [] if bound.has("whatif") else bound.texts("path") or bound.texts("filepath"):
        write_file(bound.walk, path, bound.fed("value") or [UNKNOWN], append)
    return single(bound.piped) if bound.name == "tee-object" else None


def save(call: LibraryCall) -> None:
    """`> path`: what a command gives, or an expression is."""
    value, constant, *targets = call.args
    for target, append in zip(targets[::2], targets[1::2], strict=True):
        for path in texts(target):
            write_file(call.walk, path, [value if value is not None or constant else UNKNOWN], append)


def _new_item(bound: Bound) -> Value:
    paths = bound.texts("path") or [""]
    if name := bound.text("name"):
        paths = [f"{path}\\{name}" if path else name for path in paths]
    for path in filter(None, paths):
        bound.world.touch("write", path)
        if "value" in bound.given:
            files_of(bound.walk).write(path, bound.text("value"))
    return single([Marked(path, {PATH}) for path in paths])


def _carry(bound: Bound) -> Value:
    """Moved to nowhere, it is gone."""
    files = files_of(bound.walk)
    destination = bound.text("destination", "newname")
    for path in [] if bound.has("whatif") else bound.texts("path"):
        if is_nothing(destination) and bound.name == "move-item":
            bound.world.touch("delete", path, "recursive", *["bulk"] * wildcard(path))
        files.carry(path, destination)
    return None if is_nothing(destination) or destination.lower().startswith(NAMES_ONLY) else UNKNOWN


def _list_items(bound: Bound) -> Value:
    bound.report()
    whole = bound.name == "get-childitem"
    deep = bound.has("recurse") or "depth" in bound.given
    found: list[Value] = []
    for path in bound.texts("path"):
        if path.lower().rstrip("\\/*") == "env:":
            return Marked(hole("environment"), {"environment"})
        inside = whole and not deep and not wildcard(path) and not suffix(path).strip("\\/.")
        shown = path.rstrip("\\/") + "\\*" if inside and path != "." else "*" if inside else path
        traits = [*traits_of(path), PATH, *["bulk"] * (whole or wildcard(shown)), *["deep"] * deep]
        found.append(Marked(shown, traits))
    return single(found)


def join_paths(*parts: Value) -> Value:
    first, *rest = [text for part in parts for text in texts(part)] or [""]
    made: Value = first
    for part in rest:
        made = concat([made if text_of(made).endswith(("\\", "/")) else f"{made}\\", part.lstrip("\\/")])
    return made


# -- the web


def _invoke_web(bound: Bound) -> Value:
    """The table tells what they do, unless their method is not known."""
    if not known(bound.text("method", "custommethod")):
        bound.world.unreadable("a web request whose method is made at run time", "payload")
    return UNKNOWN


def _start_bits(bound: Bound) -> Value:
    """A file sent to an address; the table tells the other way."""
    if not bound.text("transfertype").lower().startswith("upload") and not bound.text("destination").startswith("http"):
        return UNKNOWN
    secret = any("secret" in file_traits(path.replace("\\", "/")) for path in bound.texts("source"))
    bound.world.effect("send", bound.text("destination"), *["secret"] * secret)
    return None


# -- programs and code


def _start_process(bound: Bound) -> Value:
    given = bound.given.get("argumentlist")
    words = texts(given) if isinstance(given, list) else split_line(plain(given)) if given is not None else []
    for program in bound.texts("filepath") or bound.texts("path"):
        if bound.text("verb").lower() == "runas":
            bound.walk.out.run(["start-process", "-Verb", "RunAs", *map(str, (program, *words))])
        run_program(bound.walk, program, words)
    return Sym("process")


def _new_object(bound: Bound) -> Value:
    name = (bound.text("comobject") or bound.text("typename")).lower().rpartition(".")[2]
    given = [*spread(bound.given.get("argumentlist")), *bound.rest]
    return bound.walk.call(Sym(f"{name}.new", Sym(name)), given)


def _for_each(bound: Bound) -> Value:
    blocks = [value for value in [*bound.given.values(), *bound.rest] if isinstance(value, ProgramFunction)]
    name = plain(bound.given.get("membername", "" if blocks else bound.given.get("process", ""))).lower()
    made: list[Value] = []
    for item in bound.piped or [Marked(hole("_"))]:
        if not bound.walk.goes_on():
            break
        if name in ("delete", "kill", "stop", "terminate", "remove"):
            made.append(bound.walk.call(Sym("<call>"), [item, name]))
        elif name:
            made.append(bound.walk.language.attribute(bound.walk, item, name))
        for block in blocks:
            made += [one for value in run_block(bound.walk, block, item) for one in spread(value)]
    return single(made)


def _where(bound: Bound) -> Value:
    for word in bound.words:
        if isinstance(word.value, ProgramFunction):
            run_block(bound.walk, word.value, bound.piped[0] if bound.piped else Marked(hole("_")))
    bound.report()
    return single([replace(item, path=f"{item.path}.where()") if _is_got(item) else item for item in bound.piped])


def _is_got(item: Value) -> bool:
    return path_of(item).startswith("get-")


def pass_on(bound: Bound) -> Value:
    bound.report()
    words = bound.rest if bound.name == "write-output" else []
    return single([*bound.piped, *(item for value in words for item in spread(value))])


def _stop_process(bound: Bound) -> None:
    whole = any(path_of(item) == "get-process()" and not item.args for item in bound.piped)
    if (whole or "*" in bound.texts("name")) and not bound.has("whatif"):
        bound.world.effect("kill", "", "all")
    bound.report(*piped_words(bound.piped))


def piped_words(piped: Sequence[Value]) -> list[str]:
    """The words that picked the objects, or `*` for all."""
    found: list[str] = []
    for item in piped:
        if _is_got(item):
            found += map(text_of, item.args) if item.args else [] if item.path.endswith("where()") else ["*"]
    return [word for word in found if not word.lower().startswith(("-wh", "-wi"))]  # its own rehearsal


# -- the session


def _set_variable(bound: Bound) -> None:
    for name in bound.texts("name"):
        bound.walk.scope.set(f"${name.lower()}", bound.given.get("value", single(bound.piped)))


def _get_command(bound: Bound) -> Value:
    bound.report()
    specs = cmdlets().specs
    names = bound.texts("name")
    return single(
        [next((one for one in specs if wildcard(name) and fnmatchcase(one, name.lower())), name) for name in names]
    )


def _invoke_method(bound: Bound) -> Value:
    """A new process is a command line, anything else goes to the rules."""
    given = bound.given.get("argumentlist", bound.given.get("arguments"))
    if "win32_process" in bound.text("class", "classname").lower():
        tables = [value for value in (*bound.given.values(), *bound.rest) if isinstance(value, dict)]
        return run_line(bound.walk, tables[0].get("commandline") if tables else (spread(given) or [""])[0])
    bound.report(*piped_words(bound.piped))
    return None


def _keep_command(bound: Bound) -> Value:
    bound.report()
    if line := bound.text("execute", "binarypathname"):
        run_line(bound.walk, f"{line} {bound.text('argument')}".strip())
    return hole(bound.name)


def _set_location(bound: Bound) -> None:
    for path in bound.texts("path")[:1]:
        session_of(bound.walk).enter(str(path), remember=bound.name == "push-location")


CMDLETS: Mapping[str, Callable[[Bound], Value]] = each_name({
    "get-content import-csv": _get_content,
    "set-content add-content out-file tee-object export-csv": _write,
    "new-item": _new_item,
    "copy-item move-item rename-item": _carry,
    "get-childitem get-item resolve-path convert-path": _list_items,
    "join-path": lambda bound: join_paths(
        bound.texts("path")[:1], bound.texts("childpath", "additionalchildpath"), bound.rest
    ),
    "invoke-webrequest invoke-restmethod": _invoke_web,
    "start-bitstransfer": _start_bits,
    "start-process invoke-item": _start_process,
    "new-object": _new_object,
    "invoke-expression": lambda bound: single(
        [made for value in bound.fed("command") for made in spread(run_value(bound.walk, value))]
    ),
    "foreach-object": _for_each,
    "where-object": _where,
    "select-object sort-object out-string group-object write-output": pass_on,
    "stop-process": _stop_process,
    "set-alias new-alias": lambda bound: bound.walk.scope.set(f"alias:{bound.text('name').lower()}", bound.text("value").lower()),
    "set-variable new-variable": _set_variable,
    "get-variable": lambda bound: single(
        [bound.walk.language.look_up(bound.walk, f"${name.lower()}") for name in bound.texts("name")]
    ),
    "get-command": _get_command,
    "invoke-wmimethod invoke-cimmethod": _invoke_method,
    "new-scheduledtaskaction new-service": _keep_command,
    "set-location push-location": _set_location,
    "pop-location": lambda bound: session_of(bound.walk).leave(),
})  # fmt: skip
