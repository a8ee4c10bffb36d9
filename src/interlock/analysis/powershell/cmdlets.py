"""Cmdlets that no table can describe: those that run code, pass objects on, keep texts or change the session."""

from __future__ import annotations

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
from interlock.analysis.facts import hole, known, without_holes
from interlock.analysis.powershell.parameters import Bound, cmdlets
from interlock.analysis.powershell.programs import (
    NAMES_ONLY,
    files_of,
    run_block,
    run_line,
    run_program,
    run_value,
    session_of,
    split_line,
)
from interlock.analysis.powershell.values import plain, single, spread, texts
from interlock.analysis.windows import is_nothing, suffix, wildcard

# -- files


def _get_content(bound: Bound) -> Value:
    """The text is known when it was written here."""
    made: list[Value] = []
    for path in bound.texts("path"):
        bound.world.touch("read", path)
        url, text = files_of(bound.walk).url(path), files_of(bound.walk).written_text(path)
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
    """What is known of a file is known of where it goes; moved to nowhere, it is gone."""
    files = files_of(bound.walk)
    destination = bound.text("destination", "newname")
    for path in [] if bound.has("whatif") else bound.texts("path"):
        if is_nothing(destination) and bound.name == "move-item":
            bound.world.touch("delete", path, "recursive", *["bulk"] * wildcard(path))
        if (url := files.url(path)) is not None:
            files.download(destination, url)
        if (text := files.written_text(path)) is not None:
            files.write(destination, text.rstrip("\n"))
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
    return bound.walk.call(Sym(f"{name}.new", Sym(name)), given, {})


def _for_each(bound: Bound) -> Value:
    blocks = [value for value in [*bound.given.values(), *bound.rest] if isinstance(value, ProgramFunction)]
    name = plain(bound.given.get("membername", "" if blocks else bound.given.get("process", ""))).lower()
    made: list[Value] = []
    for item in bound.piped or [Marked(hole("_"))]:
        if not bound.walk.goes_on():
            break
        if name in ("delete", "kill", "stop", "terminate", "remove"):
            made.append(bound.walk.call(Sym("<call>"), [item, name], {}))
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
    """A pattern names the first cmdlet that it fits."""
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
    """A command line that will run later."""
    bound.report()
    if line := bound.text("execute", "binarypathname"):
        run_line(bound.walk, f"{line} {bound.text('argument')}".strip())
    return hole(bound.name)


def _set_location(bound: Bound) -> None:
    for path in bound.texts("path")[:1]:
        session_of(bound.walk).enter(str(path), remember=bound.name == "push-location")


CMDLETS: Mapping[str, Callable[[Bound], Value]] = {
    **dict.fromkeys(["get-content", "import-csv"], _get_content),
    **dict.fromkeys(["set-content", "add-content", "out-file", "tee-object", "export-csv"], _write),
    "new-item": _new_item,
    **dict.fromkeys(["copy-item", "move-item", "rename-item"], _carry),
    **dict.fromkeys(["get-childitem", "get-item", "resolve-path", "convert-path"], _list_items),
    "join-path": lambda bound: join_paths(
        bound.texts("path")[:1], bound.texts("childpath", "additionalchildpath"), bound.rest
    ),
    **dict.fromkeys(["invoke-webrequest", "invoke-restmethod"], _invoke_web),
    "start-bitstransfer": _start_bits,
    **dict.fromkeys(["start-process", "invoke-item"], _start_process),
    "new-object": _new_object,
    "invoke-expression": lambda bound: single(
        [made for value in bound.fed("command") for made in spread(run_value(bound.walk, value))]
    ),
    "foreach-object": _for_each,
    "where-object": _where,
    **dict.fromkeys(["select-object", "sort-object", "out-string", "group-object", "write-output"], pass_on),
    "stop-process": _stop_process,
    **dict.fromkeys(
        ["set-alias", "new-alias"],
        lambda bound: bound.walk.scope.set(f"alias:{bound.text('name').lower()}", bound.text("value").lower()),
    ),
    **dict.fromkeys(["set-variable", "new-variable"], _set_variable),
    "get-variable": lambda bound: single(
        [bound.walk.language.look_up(bound.walk, f"${name.lower()}") for name in bound.texts("name")]
    ),
    "get-command": _get_command,
    **dict.fromkeys(["invoke-wmimethod", "invoke-cimmethod"], _invoke_method),
    **dict.fromkeys(["new-scheduledtaskaction", "new-service"], _keep_command),
    **dict.fromkeys(["set-location", "push-location"], _set_location),
    "pop-location": lambda bound: session_of(bound.walk).leave(),
}  # fmt: skip
