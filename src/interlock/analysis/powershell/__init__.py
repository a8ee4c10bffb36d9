"""PowerShell text -> its effects; what cannot be read is reported as unreadable."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.library import library
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.encodings import plain as known_text
from interlock.analysis.code.program.results import attempt
from interlock.analysis.code.program.values import (
    UNKNOWN,
    LibraryCall,
    ProgramFunction,
    Sym,
    Value,
    computed,
    fetched,
    path_of,
    text_of,
)
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.facts import Report, hole, without_holes
from interlock.analysis.packs import each_name
from interlock.analysis.powershell.commands import (
    CMDLETS,
    RUN_TIME,
    PsSession,
    join_paths,
    pass_on,
    piped_words,
    run_block,
    run_line,
    run_program,
    run_script,
    run_text,
    run_value,
    save,
    split_line,
)
from interlock.analysis.powershell.parameters import Bound, CmdletWord, bind, cmdlets, sort_words
from interlock.analysis.powershell.values import (
    SCRIPT,
    cast,
    counted,
    filled,
    item,
    joined,
    plain,
    replaced,
    script,
    single,
    split,
    spread,
    texts,
)
from interlock.analysis.programs.load import word_table
from interlock.analysis.windows import SCRIPTS, cmd_line, place, suffix

_CMDLET = re.compile(r"[a-z]+-[a-z][a-z0-9_]*$")
_PASSES = re.compile(r"(?:select|sort|format|out|measure|convertto|tee|group|write)-")
_RUNS_FILES = re.compile(
    r"(?:invoke|start|register|import|set|new)-(?:command|\w*job|module|pssession|scheduledtask\w*)$"
)
# with a slash before an option, these are commands of cmd.exe
_OF_CMD = frozenset({"del", "erase", "rd", "rmdir", "copy", "move", "ren", "dir", "start", "type"})


def run_command(call: LibraryCall) -> Value:
    piped, name, *given = call.args
    words = [word if isinstance(word, CmdletWord) else CmdletWord(word) for word in given]
    if isinstance(name, ProgramFunction):
        return call_block(call.walk, name, words, spread(piped))
    if path_of(name) == SCRIPT:
        return run_value(call.walk, name)
    return _call_name(call.walk, plain(name), words, spread(piped))


def _call_name(walk: ProgramWalk, word: str, words: list[CmdletWord], piped: list[Value]) -> Value:
    name = _cmdlet_name(walk, word)
    for known_as in (word.lower(), name):
        function = walk.scope.find(f"function:{known_as}")
        if isinstance(function, ProgramFunction):
            return call_block(walk, function, words, piped)
    bound = bind(walk, name, words, piped)
    program = word.lower()
    if program in cmdlets().programs and (bound.strange or _other_program(program, words)):
        argv = _argv(words)
        if program not in _OF_CMD or not any(one.startswith("/") for one in argv):
            return run_program(walk, program, argv, piped)
        walk.out.code("cmd", cmd_line([program, *argv]))
        return hole("output")
    if name in CMDLETS or name in library("powershell").calls:
        given = CMDLETS[name](bound) if name in CMDLETS else UNKNOWN
        if given is UNKNOWN:
            given = walk.language.answer(Sym(name), LibraryCall(walk, name, bound, bound.rest, bound.given))
        return None if path_of(given) in ("?", f"{name}()") and not given.traits else given
    if _CMDLET.match(name):
        return _cmdlet(bound)
    for one in words:
        if isinstance(one.value, ProgramFunction):
            run_value(walk, one.value)
    return run_program(walk, word, _argv(words), piped)


def _cmdlet_name(walk: ProgramWalk, word: str) -> str:
    """Through aliases and module prefixes; the word itself for anything else."""
    name = word.lower()
    head, _, tail = name.rpartition("\\")
    if head and "-" in tail and ":" not in head and "." in head:
        name = tail
    for _ in range(4):
        name = text_of(walk.scope.find(f"alias:{name}", name))
    return cmdlets().aliases.get(name, name)


def _other_program(name: str, words: Sequence[CmdletWord]) -> bool:
    if name in ("curl", "wget"):
        return any(len(word.flag) == 1 or plain(word.value).startswith("--") for word in words)
    given = [plain(word.value) for word in words if not word.flag]
    return any(re.fullmatch(r"/[A-Za-z?]|--[a-z-]+", text) for text in given)


def _argv(words: Sequence[CmdletWord]) -> list[str]:
    argv: list[str] = []
    for word in words:
        argv += word.shown() if word.flag or isinstance(word.value, bool) else texts(word.value)
    return argv


def _cmdlet(bound: Bound) -> Value:
    values = [value for word in bound.words for value in spread(word.value)]
    for value in values:
        if isinstance(value, ProgramFunction):
            run_block(bound.walk, value, bound.piped[0] if bound.piped else UNKNOWN)
    for path in texts(values) if _RUNS_FILES.match(bound.name) else ():
        if suffix(path) in SCRIPTS:
            run_script(bound.walk, path)
    if _PASSES.match(bound.name):
        return pass_on(bound)
    words = [*bound.argv()[1:], *piped_words(bound.piped)]
    bound.report(*piped_words(bound.piped))
    return Sym(f"{bound.name}()", args=tuple(words))


def call_block(walk: ProgramWalk, block: ProgramFunction, words: Sequence[CmdletWord], piped: list[Value]) -> Value:
    params = [param.arg for param in block.node.args.args]
    named, loose, _ = sort_words(words, lambda flag: next((one for one in params if one[1:].startswith(flag)), ""))
    if piped:
        named |= {"$_": single(piped), "$input": piped}
    named |= dict(zip([name for name in params if name not in named], loose))
    made = walk.call(block, [], named)
    return single([value for value in made if value is not None]) if isinstance(made, list) else made


_CHARSETS = each_name({
    "unicode": "utf-16-le", "bigendianunicode": "utf-16-be", "ascii": "ascii", "utf32": "utf-32-le",
    "utf8 utf7 default latin1 getencoding()": "utf-8",
})  # fmt: skip


def read_powershell(source: str, out: Report) -> None:
    _POWERSHELL.read(source, PsSession(out))


def _variable(name: str) -> Value:
    if name.startswith("["):
        return Sym(name[1:-1].rpartition(".")[2])
    if name.startswith("$env:"):
        return place(name[5:])
    return word_table("powershell_variables").get(name, hole(name[1:])) if name.startswith("$") else UNKNOWN


def _member(walk: ProgramWalk, owner: Value, name: str) -> Value:
    if name in ("length", "count") and isinstance(owner, (str, list, dict, bytes)) and computed(owner):
        return len(owner)
    if isinstance(owner, list) and owner and f"<list>.{name}" not in library("powershell").calls:
        return [walk.language.attribute(walk, one, name) for one in owner]
    return UNKNOWN


def _item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
    if isinstance(key, str) and not isinstance(owner, dict):
        return walk.language.attribute(walk, owner, key)
    return item(owner, key)


def _method(call: LibraryCall) -> Value:
    """Of a list, of each of its items; code that is a value is run."""
    owner, named, *given = call.args
    name = plain(named).lower()
    if not without_holes(name):
        call.world.unreadable("a method whose name is made at run time is called", "command")
    if name.startswith("invoke") and (isinstance(owner, ProgramFunction) or path_of(owner) == SCRIPT):
        return run_command(LibraryCall(call.walk, "&", None, [None, owner, *given]))
    if isinstance(owner, list) and f"<list>.{name}" not in library("powershell").calls:
        return [_method(LibraryCall(call.walk, call.path, None, [one, name, *given])) for one in owner]
    if path_of(owner).startswith("get-") and name in _VERBS:
        call.walk.out.run(
            [f"{_VERBS[name]}-{owner.path.partition('-')[2].partition('()')[0]}", *map(str, map(text_of, owner.args))]
        )
        return owner
    if isinstance(owner, dict) and given:
        return _change_table(owner, name, given)
    return call.walk.call(call.walk.language.attribute(call.walk, owner, name), given)


_VERBS = {"delete": "remove", "remove": "remove", "kill": "stop", "terminate": "stop", "stop": "stop"}


def _change_table(table: dict[Value, Value], name: str, given: list[Value]) -> Value:
    key = plain(given[0]).lower()
    if name == "add" and len(given) > 1:
        table[key] = given[1]
    elif name == "remove":
        table.pop(key, None)
    return table.get(key)


def _splat(call: LibraryCall) -> Value:
    """`@table`: its keys are parameters; `@list`: its items are words."""
    value = call.get(0)
    if isinstance(value, dict):
        return [CmdletWord(held, plain(key), has_value=True) for key, held in value.items()]
    return spread(value)


def _pure(work: Callable[..., Value]) -> Answer:
    return lambda call: attempt(work, [*([call.owner] if call.path[0] == "." else ()), *call.args])


def _load(call: LibraryCall) -> Value:
    """A program as bytes, which is run."""
    if url := fetched(call.args):
        call.world.effect("run_download", url)
    else:
        call.world.unreadable(RUN_TIME, "payload")
    return Sym("?")


def _start(call: LibraryCall) -> Value:
    words = split_line(call.text(1)) if len(call.args) > 1 else []
    for program in texts(call.get(0, default=None)):
        run_program(call.walk, program, words)
    return Sym("process")


_COMPUTED: dict[str, Callable[..., Value]] = {
    "<text>": lambda value: value if isinstance(value, (str, Sym)) else plain(value),
    "<array>": spread,
    "<cast>": cast,
    "<-as>": lambda value, kind: cast(kind.path, value),
    "<-f> string.format": filled,
    "<..>": counted,
    "<-join>": joined,
    "<-split> regex.split": split,
    "<-replace>": lambda value, change: replaced(value, *(spread(change) or [""])),
    "regex.replace": replaced,
    "scriptblock.create": script,
    "path.combine path.join": join_paths,
    "environment.getfolderpath": lambda name: word_table("folders").get(key := plain(name).lower()) or place(key),
    "environment.getenvironmentvariable": lambda name, *_: place(plain(name)),
    "<text>.remove": lambda text, at, count=None: text[:at] + ("" if count is None else text[at + count :]),
    "<text>.insert": lambda text, at, new: text[:at] + plain(new) + text[at:],
    "<number>.tostring": lambda value, shape="": filled("{0:" + shape + "}", value) if shape else str(value),
}
_EXTRA: dict[str, Answer] = {
    SCRIPT: lambda call: run_text(call.walk, call.text(0)),
    "&": run_command,
    "<call>": _method,
    "<save>": save,
    "<splat>": _splat,
    "<flag>": lambda call: CmdletWord(call.get(1, default=None), text_of(call.get(0)), len(call.args) > 1),
    **{name: _pure(work) for name, work in _COMPUTED.items()},
    **{
        f"encoding.{name}.getstring": _pure(lambda data, *_, to=charset: bytes(list(data)).decode(to, "replace"))
        for name, charset in _CHARSETS.items()
    },
    **{
        f"encoding.{name}.getbytes": _pure(lambda text, *, to=charset: known_text(text).encode(to, "replace"))
        for name, charset in _CHARSETS.items()
    },
    # over bytes that are known, over what was fetched, or over a file
    "streamreader.new": lambda call: (
        UNKNOWN if isinstance(call.get(0), str) and not fetched(call.get(0)) else call.get(0)
    ),
    "assembly.load assembly.loadfile assembly.loadfrom assembly.unsafeloadfrom": _load,
    "process.start application.new().shellexecute": _start,
    "shell.new().run shell.new().exec win32_process.create": lambda call: run_line(
        call.walk, call.get(0, default=None)
    ),
}
_POWERSHELL = CodeLanguage(
    "PowerShell",
    "powershell",
    # a script is a text that is run, as Invoke-Expression runs one
    lambda source: ([ast.Expr(nodes.call(SCRIPT, [nodes.text(source)]))], True),
    _EXTRA,
    _variable,
    own_item=_item,
    own_member=_member,
    dormant=True,
)
