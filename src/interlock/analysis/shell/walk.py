"""Walks parsed shell text -> effective commands: variables, functions, aliases, substitutions and `cd`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import APPROXIMATE, HOLE, QUOTED, hole, hole_of
from interlock.analysis.places import home_of, resolve
from interlock.analysis.programs.load import word_table
from interlock.analysis.programs.options import is_unreadable, program_name
from interlock.analysis.shell import (
    ELSEWHERE,
    MAX_CHOICES,
    MAX_NESTING,
    MAX_SCRIPT,
    NAMED_TAINTS,
    NOTHING,
    TERMINAL,
    UNKNOWN,
    Job,
    ShellReading,
    Stream,
    Where,
    assignments,
    control,
    expand,
    is_production,
    is_variable,
    join_streams,
    redirections,
)
from interlock.analysis.shell.bombs import attempted_bomb
from interlock.analysis.shell.programs import original_name, read_program
from interlock.analysis.shell.syntax import DECLARING, ShellTooDeep, parse, parse_document
from interlock.analysis.shell.syntax.nodes import Node, ShellRedirect, ShellWord, SimpleCommand, Substitution
from interlock.analysis.targets.ordering import command_line

MAX_VALUE = 65_536  # characters in a variable; beyond, it is not followed
_ITEMS = 256  # of a list or table that are copied or counted in one step

_ENVIRONMENT_NAME = re.compile(
    r"(ENV|HOST|URL|DATABASE|PROFILE|CONTEXT|PROJECT|NAMESPACE|STAGE|SERVICE|WORKSPACE|SETTINGS_MODULE)$"
)
_NOWHERE = Where(None)
_HOLES = re.compile(f"{HOLE}([^{HOLE}]*){HOLE}")
_POSIX = re.compile(r"\(\(|&>|\[\[|\becho\b[^\n]*\\")  # what bash and a POSIX shell read in two ways


_Values = dict[str, list[str] | None]
_OWN_TO_EACH = tuple("cwds variables functions references attributes filled missed emptied inputs outputs".split())


class Shell(Struct):
    """A shell that runs nothing, as far as the text tells."""

    session: ShellReading
    cwds: list[str]
    own_home: str = ""
    left: str | None = None  # the folder that a `cd` which surely succeeded left for the present one
    variables: dict[str, list[str]] = {}
    choices: dict[str, list[list[str]]] = {}
    references: dict[str, str] = {}  # declare -n
    attributes: dict[str, frozenset[str]] = {}  # the letters of `declare` that a variable has
    inputs: dict[str, Stream] = {}  # by the number of the descriptor
    outputs: dict[str, str | list[Node]] = {}  # a file, or commands that read what is printed
    filled: set[str] = set()  # variables that the text does not set, and that cannot be empty here
    nounset: bool = False  # set -u
    errexit: bool = False  # set -e
    missed: list[str] = []  # the folders that a `cd` leaves this shell in where it fails
    emptied: list[str] = []  # and that it leads to where a variable in it is empty
    bare: str = ""  # what stands behind `cd` without quotes, gone where it is empty: a variable by its name
    scopes: list[_Values] = []  # of the functions being called: local names, and their values outside
    functions: dict[str, Node] = {}
    aliases: dict[str, str] = {}
    arguments: list[str] | None = None
    called: str = ""  # $0
    dialect: str = "bash"
    calls: list[str] = []  # aliases being expanded
    running: list[tuple[Node, int]] = []  # bodies of the functions being called, and `unsure` at the call
    mounts: dict[str, str] = {}  # in a container: path inside -> path outside
    production: bool = False  # a variable selects production for later commands
    where: Where = _NOWHERE
    offset: int | None = None  # where the text being read stands in the action's own
    flow: Stream = TERMINAL  # what flows into the command being read, for `>( )`
    touched: set[str] = set()
    traps: list[tuple[str, Where, _Values]] = []  # texts, and the variables that they name, as they were
    reading: int = 0  # texts within texts
    unsure: int = 0  # how many conditions what is read now depends on
    piped: int = 0  # inside a pipeline or the background

    @property
    def home(self) -> str:
        if not self.own_home:
            self.own_home = home_of(self.session.cwd)
        return self.own_home

    def full(self, path: str) -> str:
        return resolve(path, self.cwds[0])

    # -- what expansion asks

    def lookup(self, name: str) -> list[str] | None:
        name = self.references.get(name, name)
        if name in self.choices:
            self.touched.add(name)
        if name in self.variables:
            return self.variables[name]
        if name == "PWD":
            return [self.cwds[0]] if self.cwds[0] else None
        if name in ("@", "*"):
            return self.arguments or []
        if name == "0":
            return [self.called] if self.called else None
        if self.arguments is None:
            return None
        if name == "#":
            return [str(len(self.arguments))]
        return (self.arguments[int(name) - 1 :] or [""])[:1] if name.isdigit() else None

    def environment(self, name: str) -> list[str] | None:
        value = word_table("shell_variables").get(self.references.get(name, name))
        return None if value is None else [value]

    def if_empty(self, text: str) -> str:
        """The text where each variable that may be empty is."""
        if HOLE not in text or self.nounset:
            return text
        filled = self.filled | word_table("shell_variables").keys()
        return _HOLES.sub(lambda m: "" if is_variable(m[1]) and m[1] not in filled else m[0], text)

    def require(self, name: str) -> None:
        self.filled.add(self.references.get(name, name))

    def assign(self, name: str, items: list[str]) -> None:
        name = self.references.get(name, name)
        if name in self.attributes:
            if "r" in self.attributes[name]:
                return
            items = assignments.convert_values(self, name, items)
        self.step(len(items) // _ITEMS)
        if sum(map(len, items)) > MAX_VALUE:
            items = [hole(name)]
        before = self.variables.get(name)
        if self.unsure and before is not None and before != items:
            others = self.choices.setdefault(name, [])
            if before not in others and len(others) < MAX_CHOICES:
                others.append(before)
        elif not self.unsure:
            self.choices.pop(name, None)
        if _ENVIRONMENT_NAME.search(name) and items and is_production(items[0]):
            self.production = True
        if name != "_":  # the shell itself sets it, with every command
            self.variables[name] = items

    def output(self, part: Substitution) -> str:
        outer = self.where
        self.where = outer.inside("<( )") if part.direction else outer.inside("$( )", "captured")
        saved, stdin = self.save(), self.flow if part.direction == ">" else TERMINAL
        self.outputs.pop("1", None)
        try:
            stream = redirections.file_text_of(self, part.body) or self.walk_list(part.body, stdin)
        finally:
            self.where = outer
            self.restore(saved)
        if part.direction:  # a file that can be read again by what it is given to
            path = f"/dev/fd/interlock-{len(self.session.files) + len(self.session.downloads)}"
            if "download" in stream.taints:
                self.session.download(path, stream.text)
            else:
                self.session.files[path] = stream.text
            return path
        self.session.guessed |= APPROXIMATE in stream.taints
        taints = stream.taints & NAMED_TAINTS
        return hole_of(taints) if taints and not stream.known else stream.text.rstrip("\n")

    def text(self, word: ShellWord | None) -> str:
        return expand.text(word, self)

    def run_in(self, text: str) -> None:
        if self.session.nesting >= MAX_NESTING:
            self.job().unreadable("commands nested too deeply", "nesting")
            return
        if text in self.session.evaluating:
            return
        outer, self.where = self.where, self.where.inside("[ ]")
        self.session.nesting += 1
        self.session.evaluating.add(text)
        try:
            self.text(parse_document(text, self.session.step, self.dialect))
        finally:
            self.session.evaluating.discard(text)
            self.session.nesting -= 1
            self.where = outer

    def job(self, program: str = "", words: Sequence[str] = (), where: Where | None = None) -> Job:
        """The report for a part of the text that is no command."""
        return Job(self, program, list(words), where or self.where)

    def step(self, count: int = 1) -> None:
        self.session.step(count)

    def guess(self) -> None:
        self.session.guessed = True

    def save(self) -> list[Any]:
        """What a subshell may change for itself only."""
        self.step((len(self.variables) + len(self.functions)) // _ITEMS)
        return [getattr(self, name).copy() for name in _OWN_TO_EACH]

    def restore(self, saved: Sequence[Any]) -> None:
        for name, value in zip(_OWN_TO_EACH, saved, strict=True):
            setattr(self, name, value)

    # -- text

    def read(self, text: str, span_of: Where, stdin: Stream = TERMINAL, quiet: bool = False) -> Stream:
        """What does not parse is reported unless `quiet`, the rest is read all the same."""
        outer = self.where, self.offset
        self.offset = self._offset_of(text, span_of)
        nodes, errors = parse(text.replace(QUOTED, "") if QUOTED in text else text, self.session.step, self.dialect)
        if text is self.session.source:
            self.session.line = command_line(nodes, not errors)
        self.where = span_of
        self.reading += 1
        try:
            stream = self.walk_list(nodes, stdin)
            if self.reading == 1:
                # Traps in which a variable is another one by the time that they run.
                traps, self.traps = self.traps, []
                for trap, where, then in traps:
                    if any(value is None or self.variables.get(name) != value for name, value in then.items()):
                        self.read(trap, where)
            if errors and (name := attempted_bomb(text)):
                self.job(name).effect("fork_bomb", name)
            for error in errors[: not quiet]:
                kind = "nesting" if isinstance(error, ShellTooDeep) else "syntax"
                self.job().unreadable(f"shell text that does not parse: {error}", kind)
        finally:
            self.reading -= 1
            self.where, self.offset = outer
        return stream

    def _offset_of(self, text: str, where: Where) -> int | None:
        """None where the text was built, decoded or read from a file."""
        source = self.session.source
        if where.span is None:
            return 0 if text == source else None
        found = source.find(text, *where.span)
        return found if found >= 0 and text else None

    def nested(
        self, text: str, where: Where, args: Sequence[str] = (), dialect: str = "bash", stdin: Stream = TERMINAL
    ) -> Stream:
        self.step(5)
        job = self.job("".join(where.via[-1:]), where=where)
        if self.session.nesting >= MAX_NESTING:
            job.unreadable("commands nested too deeply", "nesting")
            return UNKNOWN
        if job.hides(text):
            return UNKNOWN
        child = self.child()
        if where.traits & ELSEWHERE and not self.where.traits & ELSEWHERE:
            child.elsewhere()
        if args:
            child.called, child.arguments = args[0], list(args[1:])
        child.inherit(where.env)
        self.session.nesting += 1
        child.dialect = "bash" if dialect == "sh" else dialect
        other = child.child() if dialect == "sh" and _POSIX.search(text) else None
        try:
            stream = child.read(text, where, stdin)
            if other is not None:  # sh is bash on some systems and dash on others
                other.dialect, other.called, other.arguments = "dash", child.called, child.arguments
                posix = other.read(text, where, stdin, quiet=True)
                stream = stream if stream.text else posix
            return stream
        finally:
            self.session.nesting -= 1

    def elsewhere(self, mounts: Mapping[str, str] | None = None) -> None:
        """Later paths belong to another machine, or a container with mounts of this one."""
        self.cwds, self.own_home = ["/work"], "~"
        self.mounts = dict(mounts or {})

    def inherit(self, env: Sequence[tuple[str, str]]) -> None:
        """As another process: what was not exported may be unset, what was set for the command is set."""
        for name in self.variables:
            if "x" not in self.attributes.get(name, ()):
                self.choices[name] = [[""]]
        for name, value in env:
            self.variables[name] = [value]
            self.choices.pop(name, None)

    def child(self) -> Shell:
        shell = Shell(self.session, [], self.own_home, mounts=self.mounts, production=self.production, piped=self.piped)
        shell.restore(self.save())
        shell.calls, shell.running = list(self.calls), list(self.running)
        return shell

    def file_text(self, path: str) -> str | None:
        text = redirections.known_text(self, path)
        if text is not None and len(text) > MAX_SCRIPT:
            self.job(path).unreadable("a script longer than is read", "budget")
        return text

    # -- nodes

    def walk_list(self, nodes: Sequence[Node], stdin: Stream = TERMINAL) -> Stream:
        """Where a `cd` may have failed, both folders stay possible."""
        streams = []
        for node in nodes:
            streams.append(self.walk(node, stdin))
            if self.missed:
                if not (self.errexit and type(node) is SimpleCommand):
                    self.cwds = list(dict.fromkeys([*self.cwds, *self.missed]))[:MAX_CHOICES]
                self.missed = []
        return streams[0] if len(streams) == 1 else join_streams(streams)

    def walk(self, node: Node, stdin: Stream) -> Stream:
        self.step()
        if type(node) is SimpleCommand:
            return self._simple(node, stdin)
        redirects: Sequence[ShellRedirect] = getattr(node, "redirects", ())
        stdin = redirections.read_input(self, redirects, stdin)
        return redirections.write_output(self, redirects, control.WALKERS[type(node)](self, node, stdin))

    # -- simple commands

    def _simple(self, node: SimpleCommand, stdin: Stream) -> Stream:
        outer = self.where
        if self.offset is not None:  # in the action's own text; else the span of what carries it stands for it
            start, end = node.span
            self.where = Where((start + self.offset, end + self.offset), outer.via, outer.traits, outer.env)
        self.touched.clear()
        try:
            stream = self._simple_once(node, stdin)
            if self.touched:
                self._other_choices(node, stdin)
        finally:
            self.where = outer
        return stream

    def _other_choices(self, node: SimpleCommand, stdin: Stream) -> None:
        """Once more for each other value of the variables in it."""
        for name in sorted(self.touched):
            for other in self.choices.get(name, ())[:MAX_CHOICES]:
                kept = self.variables.get(name)
                self.variables[name] = other
                self._simple_once(node, stdin)
                if kept is not None:
                    self.variables[name] = kept

    def _simple_once(self, node: SimpleCommand, stdin: Stream) -> Stream:
        stdin = self.inputs.get("0", stdin) if stdin is TERMINAL else stdin
        stdin = self.flow = redirections.read_input(self, node.redirects, stdin) if node.redirects else stdin
        words: list[str] = []
        for word in node.words:
            literal = word.literal
            if literal is not None and "{" not in literal:  # as most are
                words.append(literal)
            else:
                words += expand.fields(word, self)
        if words and words[0] in ("cd", "pushd"):
            self.bare = assignments.bare_operand(node)
        if not words:
            assignments.assign_all(self, node.assigns)
            redirections.redirect_only(self, node)
            return NOTHING
        env: tuple[tuple[str, str], ...] = ()
        if node.assigns:
            env = tuple([(item.name, " ".join(assignments.assigned_value(self, item))) for item in node.assigns])
        if words == ["exec"]:
            redirections.keep_redirects(self, node.redirects, stdin)
        where = self.where
        if env:
            where = replace(where, env=where.env + env)
            exported = words[0] not in DECLARING or words[0] == "export" or "-x" in words
            assignments.run_variables(self, env, where, exported)
        if node.assigns and words[0] in DECLARING:
            assignments.declare(self, words, node.assigns)
        stream = self.run(words, where, stdin)
        # echo and printf show a secret in their words, unless something captures it.
        seen = "secret" in stream.taints and not (node.redirects or self.piped or "1" in self.outputs)
        if seen and words[0] in ("echo", "printf", "print") and "captured" not in where.traits:
            self.job(words[0], words[1:], where).effect("read", " ".join(words[1:]), "shown", "secret")
        if node.redirects:
            stream = redirections.write_output(self, node.redirects, stream, words[0], words[1:])
        if "1" in self.outputs and stream.text:
            stream = redirections.deliver(self, self.outputs["1"], stream)
        return stream

    # -- running

    def run(self, words: list[str], where: Where, stdin: Stream = TERMINAL, wrapped: bool = False) -> Stream:
        """Read one command with its words worked out: alias, function, wrapper, interpreter or plain program.

        What most wrappers run is the program, whatever function has its name; what some of them run is the function: both are read.
        """
        self.step()
        first = words[0]
        if self.production and "production" not in where.traits:
            where = where.marked("production")
        if first in self.aliases and first not in self.calls and not wrapped:
            return control.expand_alias(self, first, words[1:], where, stdin)
        if first in self.functions:
            found = control.call_function(self, first, words[1:], where, stdin)
            if not wrapped:
                return found
        program = (original_name(self, first) if self.session.copies else "") or program_name(first)
        if not program:
            job = Job(self, first, words[1:], where, stdin)
            if is_unreadable(first):
                job.unreadable("which program runs is only known at run time", "command")
            return UNKNOWN
        return read_program(Job(self, program, words[1:], where, stdin), first)
