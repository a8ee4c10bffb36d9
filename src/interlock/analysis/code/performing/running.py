"""Effects of calls that run something: programs, text as code, statements of a database, and functions that a value names."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import takewhile

from interlock.analysis.code.lexing import Unparsed
from interlock.analysis.code.library import COMMON, URL, Entry, chosen, flattened, holds, is_url, pick, words
from interlock.analysis.code.program.expressions import narrow
from interlock.analysis.code.program.paths import spread
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import (
    MEMORY,
    NOTHING,
    UNKNOWN,
    Class,
    Instance,
    LibraryCall,
    Partial,
    ProgramFunction,
    ProgramScope,
    Sym,
    Value,
    either,
    fetched,
    file_traits,
    label,
    links,
    listed,
    made_from,
    path_of,
    text_of,
    traits_of,
)
from interlock.analysis.code.program.walk import ProgramWalk, is_bare_shell
from interlock.analysis.facts import hole, known, without_holes
from interlock.analysis.programs import Program
from interlock.analysis.programs.load import input_language, is_shell, shipped_programs
from interlock.analysis.programs.options import program_name

Work = Callable[[LibraryCall, Entry], Value]  # performs one effect of an entry
SHELL = "<shell>"  # the path of a shell or an interpreter that waits for text
_FIELD = re.compile(r"\{(\w+)\}")  # of a word of a command
DELETE = "<delete>"  # the path of a statement that deletes rows, once it is executed


def _started(words: Sequence[str]) -> Value:
    name = program_name(words[0]) if words else ""
    program, language = shipped_programs().get(name), input_language(name)
    if language and (not is_shell(name) or is_bare_shell(" ".join(words))):
        return Sym(SHELL, args=("" if is_shell(name) else language,))
    if program is None:
        return Sym("?")
    if program.http or "fetch" in program.reader:
        found = URL.search(" ".join(words))
        return Sym("?", traits=frozenset({f"fetched:{found.group() if found else 'the network'}"}))
    return Sym("?", traits=_printed(program, words[1:])) if program.prints else Sym("?")


def _printed(program: Program, given: Sequence[str]) -> frozenset[str]:
    ways = {item.by for item in program.prints}
    own = takewhile(lambda word: word not in words(COMMON)["ends"], given)
    names = [word for word in own if not word.startswith("-")]
    if not names:
        return frozenset({"environment"}) if ways & words(COMMON)["whole"] else NOTHING
    return NOTHING.union(*map(file_traits, names)) if ways & words(COMMON)["content"] else NOTHING


def feed(call: LibraryCall, process: Value, text: Value) -> None:
    if not isinstance(process, Sym) or process.path != SHELL:
        return
    language = process.args[0] if process.args else ""
    call.world.code(language, text_of(text)) if language else call.world.shell(text)


def shell_line(line: Value, call: LibraryCall) -> Value:
    call.world.shell(line, call)
    return _started(text_of(line).split())


def _command_word(call: LibraryCall, word: str) -> str:
    """`{Bucket}` filled with what `Bucket(…)` or an argument of that name was given."""
    if "{" not in word:
        return word
    if word == "{call}":
        return call.name
    chain = links(call.owner)
    calls = {link.name.removesuffix("()"): "/".join(map(text_of, link.args)) for link in reversed(chain) if link.args}
    named = {key: text_of(value) for link in reversed(chain) for key, value in link.named.items()}
    given = {**named, **calls}
    if given.keys().isdisjoint(_FIELD.findall(word)):
        return ""
    return _FIELD.sub(lambda found: given.get(found[1], ""), word).rstrip("/")


def _start_by(way: str, call: LibraryCall, entry: Entry) -> Value:
    """Through a shell, without one (`run`), or through one where it is a single text (`command`)."""
    found = [value for value in pick(call, entry[way]) if not isinstance(value, dict)]
    more = [value for value in chosen(call, entry, "argv") if way != "command" or listed(value)]
    given = flattened([*found, *more])
    first = next(iter(given if way == "run" else found), None)
    if (way != "run" and not found) or (entry.get("known") and not isinstance(first, (str, int))):
        return UNKNOWN
    words = [made for word in entry.get("words", ()) if (made := _command_word(call, word))] + given
    words += _flags(call, entry["flags"]) if "flags" in entry else []
    option = chosen(call, entry, "shelled")
    through = holds(option) or (way == "shell" and not any(map(listed, more)))
    if way == "command" and through and listed(found[0]) and not isinstance(option[0], Sym):
        words = words[:1]  # the rest are arguments of the shell
    elif way == "command":
        text = len(words) == 1 and listed(found[0]) is None
        through = text and (through or "shelled" not in entry or isinstance(found[0], str))
    if not words:
        return UNKNOWN
    if through:
        process = shell_line(words[0] if len(words) == 1 else result("join", [" ", words]), call)
    else:
        call.world.run(words, call)
        process = _started([text_of(word) for word in words])
    for text in chosen(call, entry, "input"):
        feed(call, process, text)
    return process


def _flags(call: LibraryCall, off: Mapping[str, str]) -> list[str]:
    """Arguments with names, as options; `off` has those of what is switched off."""
    objects = [one.items() for one in call.args if isinstance(one, dict)]
    named = [(str(key), value) for pairs in (*objects, call.named.items()) for key, value in pairs]
    on = [key for key, value in named if value is True and not key.startswith("_")]
    flags = [("" if key[0] == "-" else "-" if len(key) == 1 else "--") + key.replace("_", "-") for key in on]
    return flags + [off[key] for key, value in named if value is False and key in off]


def _start(call: LibraryCall, entry: Entry) -> Value:
    """The first word names the program again."""
    given = [one for one in pick(call, entry["argv"]) if "environment" not in traits_of(one)]
    unknown = [UNKNOWN] if any(isinstance(one, Sym) for one in given) and len(given) == 1 else []
    call.world.run([*(pick(call, entry["start"]) or [UNKNOWN])[:1], *flattened(given)[1:], *unknown], call)
    return UNKNOWN


def _code(call: LibraryCall, entry: Entry) -> Value:
    for value in pick(call, entry["code"])[:1]:
        language = entry.get("language", call.world.language)
        if entry.get("known") and not (isinstance(value, (str, bytes)) and without_holes(text_of(value)).strip()):
            return UNKNOWN
        if language == call.world.language or fetched(value):
            return run_code(call.walk, value)
        if known(text_of(value)):
            call.world.code(language, text_of(value))
        else:
            call.world.unreadable(f"{language} made at run time", "payload")
        return made_from(value)
    return UNKNOWN


def run_code(walk: ProgramWalk, value: Value) -> Value:
    """Where the text only names something, that is what comes of it."""
    if walk.language.lexical and isinstance(value, list):  # becomes a text where one is wanted
        value = result("join_list", [value])
    if walk.language.lexical and not isinstance(value, (str, bytes, Sym)):
        return value
    walk.world.execute(value)
    named = _named(walk, text_of(value))
    return made_from(value) if named is None else walk.eval(named)


_NAMING = re.compile(
    r"(?:return\s+)?(?:(?:require|__import__)\(['\"][\w:/@.-]{1,80}['\"]\)|[A-Za-z_$][\w$]*)(?:\.[A-Za-z_$][\w$]*){0,5};?",
    re.ASCII,
)


def _named(walk: ProgramWalk, text: str) -> ast.expr | None:
    try:
        body = walk.language.parse(text)[0] if _NAMING.fullmatch(text.strip()) else []
    except (Unparsed, LookupError, RecursionError):
        return None
    found = body[0].value if len(body) == 1 and isinstance(body[0], (ast.Expr, ast.Return)) else None
    called = isinstance(found, ast.Call) and "(" not in text  # the name of a function is a call in some languages
    return None if called else found


def _load(call: LibraryCall, entry: Entry) -> Value:
    """What was fetched may hold code that runs."""
    for value in pick(call, entry["load"])[:1]:
        if url := fetched(value) or (text_of(value) if is_url(value) else ""):
            call.world.effect("run_download", url)
        return made_from(value)
    return UNKNOWN


_WORD, _NAME = re.compile(r"[^\W_]+"), re.compile(r"\w+")
_STATEMENT = re.compile(r"(?s)[\s(;]*(?:(?:--[^\n]*\n|/\*[^*]*\*/)\s*){0,5}(\w+)")  # its first word, behind comments


def _sql(call: LibraryCall, entry: Entry) -> Value:
    """A database in memory alone holds nobody's data."""
    by_name = "." in call.path and not call.path.startswith(".")
    store = "store" in entry and not words(COMMON)["databases"].isdisjoint(_WORD.findall(call.path.lower()))
    for value in flattened(pick(call, entry["sql"])):
        text, built = text_of(value), _WORD.findall(value.path) if isinstance(value, Sym) else []
        named = bool(without_holes(text).strip()) and (store or (entry.get("target") == "on" and by_name))
        if call.path.startswith(MEMORY) and known(text):
            call.world.attached |= not words(COMMON)["reaching"].isdisjoint(_NAME.findall(text.lower()))
            if not call.world.attached:
                continue
        if path_of(value).startswith(DELETE):
            table = label(args[0]) if (args := links(value)[-1].args) else hole()
            call.world.effect("sql_delete", table, *[] if ".where" in value.path else ["unfiltered"])
        elif named or ((found := _STATEMENT.match(text)) and found[1].lower() in words(COMMON)["statements"]):
            call.world.code("sql", text)
        elif store and not isinstance(value, ProgramFunction) and words(COMMON)["builders"].isdisjoint(built):
            call.world.effect("sql_execute", "")
    return UNKNOWN


def member(walk: ProgramWalk, owner: Value, name: Value) -> Value:
    if not isinstance(name, str) or not known(name):
        return walk.language.item(walk, owner, name)
    named = name.replace("::", ".")
    outer = owner is None or path_of(owner) in words(COMMON)["outer"]
    return walk.language.look_up(walk, named) if outer else walk.language.attribute(walk, owner, named)


def _calls(call: LibraryCall, entry: Entry) -> Value:
    func, *given = pick(call, entry["calls"]) or [None]
    given += chosen(call, entry, "with")
    if "among" in entry:
        return _call_member(call, entry["among"], func, given)
    named = isinstance(func, (str, list)) and not call.walk.language.lexical  # in some languages its name will do
    is_function = named or isinstance(func, (ProgramFunction, Partial, Class, Instance, Sym))
    if "each" in entry and (func is None or is_function):
        return _call_each(call, func, _rows(call, entry), given, entry.get("makes", ""))
    if not is_function:
        return UNKNOWN
    return call.walk.call(func, spread(given) if entry.get("spread") else given)


def _call_member(call: LibraryCall, among: object, named: Value, given: list[Value]) -> Value:
    """`owner->$name(…)` and `owner.send(name, …)`."""
    owner = pick(call, among)[0]
    if isinstance(named, ProgramFunction):
        return call.walk.call(named, [owner, *given])
    if known(text_of(named)):
        return call.walk.call(member(call.walk, owner, text_of(named)), given, call.named)
    if given or among != "on":
        call.world.unreadable("a function chosen at run time", "command")
    return Sym("?")


def _call_each(call: LibraryCall, func: Value, rows: list[list[Value]], given: list[Value], makes: str) -> Value:
    """Without a function, the items stay as they are."""
    if func is None:
        return [row[0] for row in rows]
    if makes == "total":  # two values become one, until one is left
        total = [*given, *(row[0] for row in rows[:1]), UNKNOWN][0]
        for row in rows if given else rows[1:]:
            total = call.walk.call(func, [total, *row])
        return total
    made = [call.walk.call(func, [*row, *given]) for row in rows]
    if makes == "kept":
        return [
            _passing(call.walk, func, row[0]) for row, passes in zip(rows, made, strict=True) if passes is not False
        ]
    if makes in ("one", "nothing"):
        found = [row[0] for row in rows]
        return either(*found) if found and makes == "one" else made_from(found)
    return flattened(made) if makes == "flat" else made


def _rows(call: LibraryCall, entry: Entry) -> list[list[Value]]:
    """An item of every list; where its language adds them, its place and the list."""
    lists = []
    for value in pick(call, entry["each"]):
        length = value.get("length") if isinstance(value, dict) else None  # an object with one is a list of that many
        lists.append(call.walk.items([UNKNOWN] * min(length, 1000) if isinstance(length, int) else value))
    lists = lists or [[UNKNOWN]]
    rows = [list(row) for row in zip(*lists, strict=False)]
    if entry.get("spread"):
        return [spread(row) for row in rows]
    return [[*row, at, lists[0]] for at, row in enumerate(rows)] if entry.get("indexed") else rows


def _passing(walk: ProgramWalk, test: Value, value: Value) -> Value:
    node = test.node if isinstance(test, ProgramFunction) else None
    if node is None or not node.args.args:
        return value
    last = node.body if isinstance(node, ast.Lambda) else node.body[0] if len(node.body) == 1 else None
    returned = last.value if isinstance(last, ast.Return) else last
    if not isinstance(returned, ast.expr):
        return value
    with walk.inside(ProgramScope(test.scope, {node.args.args[0].arg: value})) as scope:
        narrow(walk, returned)
        return scope.names[node.args.args[0].arg]


RUNNING_EFFECTS: Mapping[str, Work] = {
    **{way: partial(_start_by, way) for way in ("run", "shell", "command")},
    "start": _start, "code": _code, "load": _load, "sql": _sql, "calls": _calls,
}  # fmt: skip
