"""One walk through a program that takes every branch, and its record of files, connections and effects so far."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from interlock.analysis.code.program.values import (
    ENDLESS,
    UNKNOWN,
    Class,
    Either,
    LibraryCall,
    OpenFile,
    ProgramFunction,
    ProgramScope,
    Sym,
    Value,
    either,
    fetched,
    flat,
    join_path,
    made_from,
    marked,
    options_of,
    origin,
    path_of,
    tagged,
    text_of,
    traits_of,
)
from interlock.analysis.facts import Report, hole, known, without_holes
from interlock.analysis.programs.load import input_language, is_shell
from interlock.analysis.programs.options import program_name

if TYPE_CHECKING:
    from interlock.analysis.code.language import CodeLanguage


class ProgramEffects(Struct, eq=False):
    """Tells the report each thing once, with paths as seen from the directory the source went to."""

    out: Report
    language: str = "python"  # of text that the program runs as code of its own
    told: set[tuple[str, ...]] = set()
    files: list[OpenFile] = []  # open for writing
    cwd: str = ""
    peer: str = ""  # the address of the last socket
    wired: bool = False  # the standard streams are that socket
    downloads: dict[str, str] = {}  # path -> address
    attached: bool = False  # a database in memory reaches files
    loose: bool = False  # a shell and a socket in one program are a reverse shell, whatever joins them
    shells: int = 0
    idle: bool = False  # inside a function that nothing of the source can call

    def _tell(self, tell: Callable[..., object], *words: str) -> None:
        self.out.step(sum(map(len, words)) // 256)
        if (told := (tell.__name__, *words)) not in self.told:
            self.told.add(told)
            tell(*words)

    def effect(self, verb: str, target: Value = "", *traits: str) -> None:
        self._tell(self.out.effect, verb, str(text_of(target)), *traits)

    def code(self, language: str, text: str) -> None:
        self._tell(self.out.code, language, str(text))

    def unreadable(self, what: str, *traits: str) -> None:
        self._tell(self.out.unreadable, what, *traits)

    def run(self, argv: Sequence[Value], call: LibraryCall | None = None) -> None:
        words = [str(text_of(word)) for word in argv]
        script = next((word for flag, word in pairwise(argv) if flag in ("-c", "-e")), "")
        if fetched(script) and input_language(program_name(words[0])) in ("shell", "cmd", "powershell", "python"):
            self.effect("run_download", fetched(script))
            return
        self._start(words, call)
        if move := self._move(call):
            self._tell(self.out.shell, move + shlex.join(words))
        else:
            self._tell(lambda *argv: self.out.run(list(argv)), *words)

    def shell(self, text: Value, call: LibraryCall | None = None) -> None:
        line = str(text_of(text))
        if not line:
            return
        if fetched(text) and not without_holes(line).strip():
            heard = "socket" in traits_of(text)
            self.effect("reverse_shell" if heard else "run_download", self.peer if heard else fetched(text))
            return
        self._start(line[:10_000].split(), call)
        self._tell(self.out.shell, self._move(call) + line)

    def _move(self, call: LibraryCall | None) -> str:
        cwd = call.named.get("cwd") if call else None
        place = self.located(cwd) if cwd not in (None, "") else self.cwd
        return f"cd {shlex.quote(place)} && " if place not in ("", ".") else ""

    def _start(self, words: Sequence[str], call: LibraryCall | None) -> None:
        for word in words if self.downloads else ():
            if url := self.downloads.get(word.strip("'\";&").removeprefix("./")):
                self.effect("run_download", url)
        streams = call.named.values() if call else ()
        wired = self.wired or any("socket" in getattr(stream, "path", "") for stream in streams)
        if not words or not is_shell(program_name(words[0])):
            return
        self.shells += "-c" not in words[1:2] and not any(map(_SCRIPT.match, words[1:]))
        if self.peer and wired:
            self.effect("reverse_shell", self.peer)

    def execute(self, value: Value) -> None:
        text = text_of(value)
        if isinstance(value, (ProgramFunction, Class)) or not text:
            return
        script = origin(value, "file:")
        if fetched(value):
            self.effect("run_download", fetched(value))
        elif known(text):
            self.code(self.language, text)
        elif script in self.downloads:
            self.effect("run_download", self.downloads[script])
        elif script and known(script) and not without_holes(text).strip():
            self.effect("run_script", self.located(script))
        else:
            self.unreadable("exec of text made at run time", "payload")

    # files

    def located(self, value: Value) -> str:
        path = text_of(value)
        return path if not self.cwd or path.startswith(("/", "~", hole("HOME"))) else join_path(self.cwd, path)

    def touch(self, verb: str, path: Value, *traits: str) -> None:
        if self.idle and not known(str(text_of(path))):
            return  # what a helper does to whatever it would be given, in a run that gives it nothing
        marks, changes = traits_of(path), verb not in ("read", "write")
        walked = (changes and "deep" in marks) or ("walk" in marks and verb in ("chmod", "chown"))
        found = (*traits, *["bulk"] * (changes and "bulk" in marks), *["recursive"] * walked)
        self.effect(verb, self.located(path), *dict.fromkeys(found))

    def open(self, path: Value, mode: str) -> OpenFile:
        """What is written is told when the source ends."""
        file = OpenFile(marked(self.located(path), path), mode)
        if any(letter in mode for letter in "wax"):
            self.files.append(file)
        else:
            self.touch("read", path)
        return file

    def fill(self, file: OpenFile, content: Value) -> None:
        if not isinstance(content, (str, bytes)) or content:
            file.written = True
            self.download(file.path, fetched(content))
        if "+" in file.mode and "r" in file.mode:
            self.effect("write", file.path)

    def download(self, path: Value, url: str) -> None:
        if url:
            self.downloads[str(text_of(path)).removeprefix("./")] = url

    def close(self) -> None:
        if self.loose and self.peer and self.shells:
            self.effect("reverse_shell", self.peer)
        for file in self.files:
            emptied = "w" in file.mode and not file.written
            verb = "append" if "a" in file.mode else "truncate" if emptied else "write"
            self.effect(verb, file.path, *["bulk"] * ("bulk" in traits_of(file.path)))


_SCRIPT = re.compile(r"[\w./~](?<!\d)")  # begins a word that is no option and no redirection


def is_bare_shell(text: str) -> bool:
    """It reads its commands from elsewhere."""
    words = text.split()
    own = words[1 : words.index("-s")] if "-s" in words else words[1:]
    waits = all(word[:1] in "-+" and word[:2] != "-c" for word in own)
    return bool(words) and is_shell(program_name(words[0])) and waits


MAX_LOOP = 1000
MAX_TURNS = 10_000  # of all the loops of a program
MAX_WAYS = 64


class ProgramWalk(Struct, eq=False):
    out: Report
    language: CodeLanguage
    world: ProgramEffects
    statements: Mapping[type[ast.stmt], Statement]
    expressions: Mapping[type[ast.expr], Expression]
    scope: ProgramScope = field(default_factory=ProgramScope)
    defined: list[ProgramFunction] = []
    followed: set[int] = set()  # functions whose body was read
    active: list[int] = []  # functions whose body is being read
    calls: int = 0
    endless: int = 0  # loops without an end around this place
    forks: int = 0
    rounds: int = 0  # of loops that were followed as they run
    turns: int = 0  # of loops over lists
    stars: list[str] = []  # modules imported with *
    attributes: dict[str, Value] = {}  # what the source put on others' objects

    def block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self.out.step()
            self.statements.get(type(node), ProgramWalk.parts)(self, node)
            if leaves(node):
                return

    def eval(self, node: ast.expr) -> Value:
        self.out.step()
        return self.expressions.get(type(node), ProgramWalk.parts)(self, node)

    def parts(self, node: ast.stmt | ast.expr) -> Value:
        return made_from([self.eval(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)])

    def define(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, closes: bool = False
    ) -> ProgramFunction:
        """Read at the end where nothing has called it."""
        self.defined.append(ProgramFunction(node, self.scope, closes=closes))
        return self.defined[-1]

    @contextmanager
    def inside(self, scope: ProgramScope) -> Iterator[ProgramScope]:
        outer, self.scope = self.scope, scope
        try:
            yield scope
        finally:
            self.scope = outer

    def spread(self, work: Callable[..., Value], *values: Value) -> Value:
        """Do the work for every way that the values could be."""
        if Either not in map(type, values):
            return work(*values)
        made = [work(*chosen) for chosen in islice(product(*map(options_of, values)), MAX_WAYS)]
        self.out.step(len(made))
        if len(made) == MAX_WAYS:  # what was left out is read as not known, never as absent
            made.append(work(*(UNKNOWN if isinstance(value, Either) else value for value in values)))
        return either(*made)

    def call(self, func: Value, args: Sequence[Value] = (), named: Mapping[str, Value] = {}) -> Value:
        count = len(args)

        def one(target: Value, *given: Value) -> Value:
            self.out.step()
            return self.language.invoke(self, target, list(given[:count]), dict(zip(named, given[count:], strict=True)))

        return self.spread(one, func, *args, *named.values())

    def items(self, value: Value) -> list[Value]:
        found = [item for option in options_of(value) for item in self._items(option)]
        return found if len(found) <= MAX_LOOP else [*found[:MAX_LOOP], made_from(found)]

    def goes_on(self) -> bool:
        """Tells the first turn that is not followed."""
        self.turns += 1
        if self.turns > MAX_TURNS:
            self.world.unreadable(f"{self.language.name} that goes around too often to follow", "budget")
        return self.turns <= MAX_TURNS

    def _items(self, value: Value) -> list[Value]:
        found = flat(value)
        if found is not None:
            return found
        if path_of(value) == ENDLESS:
            self.endless += 1  # stays: nothing after such a loop is reached
        if isinstance(value, Sym) and value.owner is not None and value.path.endswith("()"):
            return [Sym(f"{value.path}.[]", value, traits=traits_of(value))]  # one of what a client or a query finds
        if isinstance(value, str):  # a list that is known by its name alone
            return [tagged(value, "bulk")]
        return [made_from(value)]


def leaves(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))


Statement = Callable[[ProgramWalk, Any], object]
Expression = Callable[[ProgramWalk, Any], Value]
# What a call of a library gives; UNKNOWN where it has nothing to say.
Answer = Callable[[LibraryCall], Value]
