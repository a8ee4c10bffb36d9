"""Nodes -> effective commands: follows control flow, variables, functions, aliases, pipes, redirections and `cd`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.core.read.facts import HOLE, QUOTED, hole, hole_of, known, taints_in, without_holes
from interlock.core.read.places import home_of, resolve
from interlock.core.read.shell import expand, flow
from interlock.core.read.shell.nodes import (
    AndOr,
    Assignment,
    Background,
    Branches,
    Expression,
    Function,
    Group,
    Loop,
    Node,
    Pipeline,
    Simple,
    Substitution,
)
from interlock.core.read.shell.options import options, valued
from interlock.core.read.shell.parse import TooDeep, parse
from interlock.core.read.shell.session import (
    MAX_NESTING,
    MAX_SCRIPT,
    NAMED_TAINTS,
    NOTHING,
    UNKNOWN,
    Job,
    Session,
    Stream,
    Where,
    command_fact,
    is_production,
)

MAX_CALLS = 12  # functions within functions
MAX_ROUNDS = 24  # loop items read one by one; more are read as one unknown
MAX_VALUE = 65_536  # characters in a variable; beyond, it is not followed
MANY = 8  # loop items from which on a loop counts as bulk
MAX_CHOICES = 4  # values a variable may have had, depending on which branch ran

_EXECUTED_VARIABLES = frozenset(
    "PROMPT_COMMAND GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS PAGER MANPAGER "
    "EDITOR VISUAL BROWSER LESSOPEN LESSCLOSE FCEDIT SUDO_ASKPASS RSYNC_RSH CVS_RSH SVN_SSH PS4 PERL5DB GIT_PROXY_COMMAND DOCKER_SSH".split()
)
_STARTUP_FILES = frozenset({"BASH_ENV", "ENV", "PYTHONSTARTUP", "RUBYOPT", "PERL5OPT", "NODE_OPTIONS", "ZDOTDIR"})
_ENVIRONMENT_NAME = re.compile(
    r"(ENV|HOST|URL|DATABASE|PROFILE|CONTEXT|PROJECT|NAMESPACE|STAGE|SERVICE|WORKSPACE|SETTINGS_MODULE)$"
)
_ELSEWHERE = frozenset({"remote", "container"})
_GLOB = re.compile(r"[?*\[]")
_TARGETS_OF_GLOBS = "rm dd mkfs shred sudo wipefs bash sh zsh dash python python3 perl ruby node curl wget nc ncat cat chmod chown mv find kill".split()


class Shell:
    """A shell that runs nothing: its variables, functions and directory as far as the text tells them."""

    def __init__(self, session: Session, cwd: str = "", home: str = "") -> None:
        self.session = session
        self.cwds: list[str] = [cwd]
        self.home = home or home_of(cwd)
        self.variables: dict[str, list[str]] = {}
        self.choices: dict[str, list[list[str]]] = {}
        self.references: dict[str, str] = {}
        self.functions: dict[str, Node] = {}
        self.aliases: dict[str, str] = {}
        self.arguments: list[str] | None = None
        self.called = ""  # $0
        self.calls: list[str] = []  # aliases being expanded
        self.running: list[Node] = []  # bodies of the functions being called
        self.mounts: dict[str, str] = {}  # in a container: path inside -> path outside
        self.production = False  # a variable says that what follows is about production
        self.where = Where(None)
        self.offset: int | None = None  # where the text being read stands in the action's own
        self.flow: Stream | None = None  # what flows into the command being read, for `>( )`
        self.touched: set[str] = set()
        self.unsure = 0  # how many conditions what is read now depends on
        self.piped = 0  # inside a pipeline or the background

    # -- expand.Values ----------------------------------------------------------------------------------

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
        if name == "0" and self.called:
            return [self.called]
        if name.isdigit() and name != "0" and self.arguments is not None:
            number = int(name) - 1
            return [self.arguments[number]] if number < len(self.arguments) else [""]
        if name == "#" and self.arguments is not None:
            return [str(len(self.arguments))]
        return None

    def environment(self, name: str) -> list[str] | None:
        known_value = expand.WELL_KNOWN.get(self.references.get(name, name))
        return None if known_value is None else [known_value]

    def assign(self, name: str, items: list[str]) -> None:
        name = self.references.get(name, name)
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
        self.variables[name] = items

    def output(self, part: Substitution) -> str:
        outer, self.where = self.where, self.where.inside("<( )" if part.direction else "$( )")
        saved = self._save()
        try:
            stream = self.walk_list(part.body, self.flow if part.direction == ">" else None)
        finally:
            self.where = outer
            self._restore(saved)
        if part.direction:
            return self._process_file(stream)
        taints = stream.taints & NAMED_TAINTS
        if taints and not stream.known:
            return hole_of(taints)
        return stream.text.rstrip("\n")

    def _process_file(self, stream: Stream) -> str:
        """`<(…)` as a file that can be read again by what it is given to."""
        path = f"/dev/fd/interlock-{len(self.session.files) + len(self.session.downloads)}"
        if "download" in stream.taints:
            self.session.downloads[path] = without_holes(stream.text) or "the network"
        else:
            self.session.files[path] = stream.text
        return path

    def step(self, count: int = 1) -> None:
        self.session.step(count)

    def _save(self) -> tuple[list[str], dict[str, list[str]], dict[str, Node]]:
        return list(self.cwds), dict(self.variables), dict(self.functions)

    def _restore(self, saved: tuple[list[str], dict[str, list[str]], dict[str, Node]]) -> None:
        self.cwds, self.variables, self.functions = saved

    # -- text -------------------------------------------------------------------------------------------

    def read(self, text: str, span_of: Where, stdin: Stream | None = None, dialect: str = "bash") -> Stream:
        """Read a whole text in this shell; what cannot be parsed is reported, the rest is read all the same."""
        outer_offset, self.offset = self.offset, self._offset_of(text, span_of)
        nodes, errors = parse(text.replace(QUOTED, "") if QUOTED in text else text, self.session.step, dialect)
        outer, self.where = self.where, span_of
        try:
            stream = self.walk_list(nodes, stdin)
            for error in errors[:1]:
                kind = "nesting" if isinstance(error, TooDeep) else "syntax"
                Job(self, "", [], span_of, None).unreadable(f"shell text that does not parse: {error}", kind)
        finally:
            self.where = outer
            self.offset = outer_offset
        return stream

    def _offset_of(self, text: str, where: Where) -> int | None:
        """Where this text stands in the action's own; None when it was made, decoded or read from a file."""
        source = self.session.source
        if where.span is None:
            return 0 if text == source else None
        found = source.find(text, *where.span)
        return found if found >= 0 and text else None

    def nested(
        self, text: str, where: Where, args: Sequence[str] = (), dialect: str = "bash", stdin: Stream | None = None
    ) -> Stream:
        """Read text that a child shell would run."""
        self.session.step(5)
        job = Job(self, where.via[-1] if where.via else "", [], where, None)
        if self.session.nesting >= MAX_NESTING:
            job.unreadable("commands nested too deeply", "nesting")
            return UNKNOWN
        if "download" in taints_in(text):
            job.effect("run_download", "the network")
            return UNKNOWN
        if expand.is_unknown(text.strip()):
            job.unreadable("text made at run time is run as a command", "payload")
            return UNKNOWN
        child = self.child()
        if where.traits & _ELSEWHERE and not self.where.traits & _ELSEWHERE:
            child.elsewhere()
        if args:
            child.called, child.arguments = args[0], list(args[1:])
        self.session.nesting += 1
        try:
            return child.read(text, where, stdin, dialect)
        finally:
            self.session.nesting -= 1

    def elsewhere(self, mounts: Mapping[str, str] | None = None) -> None:
        """From here on paths are another machine's, or a container's that sees some of this one's."""
        self.cwds, self.home = ["/work"], "~"
        self.mounts = dict(mounts or {})

    def child(self) -> Shell:
        """A shell with the same variables, functions and directory, whose changes stay its own."""
        shell = Shell(self.session, "", self.home)
        shell.cwds = list(self.cwds)
        shell.variables = dict(self.variables)
        shell.functions = dict(self.functions)
        shell.calls = list(self.calls)
        shell.mounts = self.mounts
        shell.running = list(self.running)
        shell.production = self.production
        shell.piped = self.piped
        return shell

    def file_text(self, path: str) -> str | None:
        """The text of a script: written by the action itself, or what the caller's reader says."""
        if not known(path):
            return None
        full = resolve(path, self.cwds[0])
        for key in (full, path):
            if key in self.session.files:
                return self.session.files[key]
        if self.session.reader is None or "remote" in self.where.traits:
            return None
        if full not in self.session.witnesses:
            found = self.session.reader(full.replace("~", self.home, 1) if full.startswith("~") and self.home else full)
            if found is None:
                return None
            if len(found) > MAX_SCRIPT:
                Job(self, path, [], self.where, None).unreadable("a script longer than is read", "budget")
            self.session.witnesses[full] = found
        return self.session.witnesses[full]

    # -- nodes ------------------------------------------------------------------------------------------

    def walk_list(self, nodes: Sequence[Node], stdin: Stream | None) -> Stream:
        """Read nodes one after the other; what they print is joined."""
        texts: list[str] = []
        taints: frozenset[str] = frozenset()
        for node in nodes:
            stream = self.walk(node, stdin)
            if stream is not NOTHING:
                texts.append(stream.text)
                taints |= stream.taints
        if not texts:
            return NOTHING
        return Stream("".join(texts) if len(texts) > 1 else texts[0], taints)

    def walk(self, node: Node, stdin: Stream | None) -> Stream:
        self.session.step()
        if type(node) is Simple:
            return self._simple(node, stdin)
        return _WALKERS[type(node)](self, node, stdin)

    def _pipeline(self, node: Pipeline, stdin: Stream | None) -> Stream:
        stream = stdin
        self.piped += 1
        try:
            for stage in node.stages:
                saved = self._save()
                stream = self.walk(stage, stream)
                self._restore(saved)
        finally:
            self.piped -= 1
        return stream or NOTHING

    def _and_or(self, node: AndOr, stdin: Stream | None) -> Stream:
        streams = [self.walk(node.nodes[0], stdin)]
        self.unsure += 1
        start = list(self.cwds)
        try:
            for operator, item in zip(node.operators, node.nodes[1:], strict=True):
                reached = list(self.cwds)
                if operator == "||":
                    self.cwds = start if reached != start else self.cwds
                streams.append(self.walk(item, stdin))
                if operator == "||":
                    self.cwds = _union(reached, self.cwds)
        finally:
            self.unsure -= 1
        texts = [stream for stream in streams if stream is not NOTHING]
        if not texts:
            return NOTHING
        return Stream("".join(stream.text for stream in texts), frozenset().union(*(stream.taints for stream in texts)))

    def _group(self, node: Group, stdin: Stream | None) -> Stream:
        stdin = flow.read_input(self, node.redirects, stdin)
        saved = self._save()
        stream = self.walk_list(node.body, stdin)
        if node.subshell:
            self._restore(saved)
        return flow.write_output(self, node.redirects, stream, "", [])

    def _branches(self, node: Branches, stdin: Stream | None) -> Stream:
        stdin = flow.read_input(self, node.redirects, stdin)
        for word in node.words:
            expand.text(word, self)
        self.walk_list(node.head, stdin)
        self.unsure += 1
        start = list(self.cwds)
        ends: list[str] = []
        streams: list[Stream] = []
        for body in node.bodies:
            self.cwds = list(start)
            streams.append(self.walk_list(body, stdin))
            ends = _union(ends, self.cwds)
        self.unsure -= 1
        self.cwds = _union(start, ends)
        texts = [stream for stream in streams if stream is not NOTHING]
        stream = (
            NOTHING
            if not texts
            else Stream("".join(s.text for s in texts), frozenset().union(*(s.taints for s in texts)))
        )
        return flow.write_output(self, node.redirects, stream, "", [])

    def _loop(self, node: Loop, stdin: Stream | None) -> Stream:
        stdin = flow.read_input(self, node.redirects, stdin)
        streams: list[Stream] = []
        if node.items is None:
            names = self._read_names(node.head)
            lines = stdin.text.splitlines() if names and stdin is not None and stdin.known else []
            for line in [Stream(f"{line}\n", stdin.taints) for line in lines[:MAX_ROUNDS] if stdin is not None] or [
                stdin
            ]:
                if names:
                    self.assign_read(names, line)
                streams.append(self.walk_list(node.head, line))
                bulk = stdin is not None and (not lines or len(lines) >= MANY or "bulk" in stdin.taints)
                streams.append(self._walk_round(node.body, stdin, bulk))
        else:
            items = [item for word in node.items for item in expand.fields(word, self)]
            bulk = len(items) >= MANY or any(not known(item) for item in items)
            if len(items) > MAX_ROUNDS:
                items = [*items[:MAX_ROUNDS], hole()]
            for item in items:
                self.session.step(2)
                self.variables[node.name] = [item]
                self.choices.pop(node.name, None)
                streams.append(self._walk_round(node.body, stdin, bulk))
        texts = [stream for stream in streams if stream is not NOTHING]
        stream = (
            NOTHING
            if not texts
            else Stream("".join(s.text for s in texts), frozenset().union(*(s.taints for s in texts)))
        )
        return flow.write_output(self, node.redirects, stream, "", [])

    def _walk_round(self, body: Sequence[Node], stdin: Stream | None, bulk: bool) -> Stream:
        """One round of a loop; over a long or unknown list, whatever it does is done in bulk."""
        outer = self.where
        if bulk:
            self.where = Where(outer.span, outer.via, outer.traits | {"bulk"}, outer.env)
        try:
            return self.walk_list(body, stdin)
        finally:
            self.where = outer

    def _read_names(self, head: Sequence[Node]) -> list[str]:
        """`while read -r f`: the words behind `read`, where the head of a loop is one."""
        for node in head:
            if isinstance(node, Simple):
                words = [word.literal for word in node.words]
                if words and words[0] == "read":
                    return [word or "" for word in words[1:]]
        return []

    def assign_read(self, words: Sequence[str], stdin: Stream | None) -> None:
        """read [-r] [-d X] NAME…: each name holds a part of one line."""
        names = options(words, valued("-d -n -N -t -p -u -i -a")).operands or ["REPLY"]
        lines = stdin.text.splitlines() if stdin is not None and stdin.text else []
        if len(lines) != 1:
            values = [hole()] * len(names)
        else:
            parts = lines[0].split(None, len(names) - 1) if len(names) > 1 else lines
            values = [*parts, *[""] * (len(names) - len(parts))]
        for name, value in zip(names, values, strict=True):
            self.variables[name] = [value]

    def _function(self, node: Function, stdin: Stream | None) -> Stream:
        self.functions[node.name] = node.body
        if node.name.startswith("command_not_found_handle"):  # any mistyped word calls it
            self._call(node.name, [hole()], self.where, None)
        return NOTHING

    def _expression(self, node: Expression, stdin: Stream | None) -> Stream:
        for word in node.words:
            expand.text(word, self)
        return NOTHING

    def _background(self, node: Background, stdin: Stream | None) -> Stream:
        self.piped += 1
        try:
            self.walk(node.node, stdin)
        finally:
            self.piped -= 1
        return NOTHING

    # -- simple commands --------------------------------------------------------------------------------

    def _simple(self, node: Simple, stdin: Stream | None) -> Stream:
        outer, self.where = self.where, self._at(node)
        self.touched.clear()
        try:
            stream = self._simple_once(node, stdin)
            if self.touched:
                self._other_choices(node, stdin)
        finally:
            self.where = outer
        return stream

    def _at(self, node: Simple) -> Where:
        outer = self.where
        if self.offset is None:  # not in the action's own text: the span of what carries it stands for it
            return outer
        start, end = node.span
        return Where((start + self.offset, end + self.offset), outer.via, outer.traits, outer.env)

    def _other_choices(self, node: Simple, stdin: Stream | None) -> None:
        """Once more with each other value that the variables in it may have."""
        for name in sorted(self.touched):
            for other in list(self.choices.get(name, ()))[:MAX_CHOICES]:
                kept = self.variables.get(name)
                self.variables[name] = other
                self._simple_once(node, stdin)
                if kept is not None:
                    self.variables[name] = kept

    def _simple_once(self, node: Simple, stdin: Stream | None) -> Stream:
        stdin = flow.read_input(self, node.redirects, stdin) if node.redirects else stdin
        self.flow = stdin
        words = [item for word in node.words for item in expand.fields(word, self)]
        if not words:
            self._assignments(node.assigns)
            flow.redirect_only(self, node)
            return NOTHING
        env = self._command_env(node.assigns)
        if words[0] == "exec":
            flow.exec_redirects(self, node.redirects)
        where = self.where
        if env:
            where = Where(where.span, where.via, where.traits, where.env + env)
            self.executed_variables(env, where)
        if node.assigns and words[0] in ("declare", "local", "export", "readonly", "typeset"):
            self._declare(words, node.assigns)
        stream = self.run(words, where, stdin)
        if not node.redirects:
            return stream
        return flow.write_output(self, node.redirects, stream, words[0], words[1:])

    def _assignments(self, assigns: Sequence[Assignment]) -> None:
        for item in assigns:
            value = self._assigned(item)
            if item.name == "BASH_ALIASES" and item.index:
                self.aliases[item.index] = expand.text(item.value, self)
            self.assign(item.name, value)
            self._assign_keys(item)
            if item.name in _EXECUTED_VARIABLES or item.name in _STARTUP_FILES:
                self.executed_variables(((item.name, value[0] if value else ""),), self.where)

    def _assign_keys(self, item: Assignment) -> None:
        """An associative array's values, each under its own name."""
        if item.index and not item.index.isdigit():
            self.variables[f"{item.name}[{item.index}]"] = [expand.text(item.value, self)]
        for key, word in zip(item.keys, item.items or (), strict=False):
            if key:
                self.variables[f"{item.name}[{key}]"] = [expand.text(word, self)]

    def _assigned(self, item: Assignment) -> list[str]:
        if item.items is not None:
            value = [field for word in item.items for field in expand.fields(word, self)]
            return [*(self.lookup(item.name) or []), *value] if item.append else value
        value_text = expand.text(item.value, self)
        before = self.lookup(item.name) or [""]
        if item.index:
            return self._with_item(before, item.index, value_text)
        return [before[0] + value_text] if item.append else [value_text]

    def _with_item(self, items: list[str], index: str, value: str) -> list[str]:
        number = expand.calculate(index, self)
        if number is None or not 0 <= number < 64:
            return [value]
        padded = [*items, *[""] * (number + 1 - len(items))]
        padded[number] = value
        return padded

    def _command_env(self, assigns: Sequence[Assignment]) -> tuple[tuple[str, str], ...]:
        return tuple((item.name, " ".join(self._assigned(item))) for item in assigns)

    def _declare(self, words: Sequence[str], assigns: Sequence[Assignment]) -> None:
        if any(word.startswith("-") and "n" in word for word in words[1:]):
            for item in assigns:
                self.references[item.name] = expand.text(item.value, self)
            return
        self._assignments(assigns)

    def executed_variables(self, env: Sequence[tuple[str, str]], where: Where) -> None:
        """Variables whose value some program runs."""
        for name, value in env:
            if name in _EXECUTED_VARIABLES and value and not expand.is_unknown(value):
                self.nested(value.lstrip("|").replace("%s", ""), where.inside(f"{name}="))
            elif name == "LD_PRELOAD" or name == "DYLD_INSERT_LIBRARIES":
                self.session.facts.append(command_fact("ld_preload", [value], where, None))
            elif name in ("BASH_ENV", "ENV") and value:
                self.run(["source", value], where.inside(f"{name}="), None)
            elif name in ("NODE_OPTIONS", "RUBYOPT", "PERL5OPT") and re.search(r"--?(require|import|r|e|M)", value):
                Job(self, name, [value], where, None).effect("run_script", value, "carried")

    # -- running ----------------------------------------------------------------------------------------

    def run(self, words: list[str], where: Where, stdin: Stream | None) -> Stream:
        """Read one command with its words worked out: alias, function, wrapper, interpreter or plain program."""
        self.session.step()
        first = words[0]
        if self.production and "production" not in where.traits:
            where = Where(where.span, where.via, where.traits | {"production"}, where.env)
        if first in self.aliases and first not in self.calls:
            return self._alias(first, words[1:], where, stdin)
        if first in self.functions:
            return self._call(first, words[1:], where, stdin)
        program = self._renamed(first) or program_name(first)
        if not program:
            job = Job(self, first, words[1:], where, stdin)
            if HOLE in first or not first:
                job.unreadable("which program runs is only known at run time", "command")
            return UNKNOWN
        if _GLOB.search(program):
            program = _matched(program)
        from interlock.core.read.shell.programs import read_program

        return read_program(Job(self, program, words[1:], where, stdin), first)

    def _renamed(self, first: str) -> str:
        """cp /bin/rm /tmp/x; /tmp/x …: the program under its own name."""
        if not self.session.copies or HOLE in first:
            return ""
        origin = self.session.copies.get(resolve(first, self.cwds[0]))
        return program_name(origin) if origin and origin.startswith(("/bin/", "/usr/", "/sbin/")) else ""

    def _alias(self, name: str, words: list[str], where: Where, stdin: Stream | None) -> Stream:
        self.calls.append(name)
        try:
            return self.read(
                " ".join([self.aliases[name], *map(_requoted, words)]), where.inside(f"alias {name}"), stdin
            )
        finally:
            self.calls.pop()

    def _call(self, name: str, words: list[str], where: Where, stdin: Stream | None) -> Stream:
        body = self.functions[name]
        if any(body is running for running in self.running):
            if self.piped:
                Job(self, name, words, where, None).effect("fork_bomb", name)
            return UNKNOWN
        if len(self.running) >= MAX_CALLS:
            Job(self, name, words, where, None).unreadable("functions nested too deeply", "nesting")
            return UNKNOWN
        outer_arguments, self.arguments = self.arguments, words
        outer_where, self.where = self.where, where.inside(f"{name}()")
        self.running.append(body)
        outer_offset, self.offset = self.offset, None
        try:
            return self.walk(body, stdin)
        finally:
            self.offset = outer_offset
            self.running.pop()
            self.arguments = outer_arguments
            self.where = outer_where


def program_name(word: str) -> str:
    """The base name that decides what runs; nothing when it cannot be known."""
    if HOLE in word:
        tail = word.rpartition("/")[2]
        if HOLE in tail or "/" not in word:
            return ""
        word = tail
    name = word.rpartition("/")[2]
    if "\\" in name:
        name = name.rpartition("\\")[2]
    name = name.lower()
    return name[:-4] if name.endswith((".exe", ".cmd", ".bat", ".com")) else name


def _matched(program: str) -> str:
    """A glob as program name (`/bin/r?`): the most harmful program that it can be."""
    import fnmatch

    if not any(char.isalnum() for char in program):
        return program
    for name in _TARGETS_OF_GLOBS:
        if fnmatch.fnmatchcase(name, program):
            return name
    return program


def _requoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'" if not re.fullmatch(r"[\w./:=@%+,~-]+", word) else word


def _union(first: list[str], second: list[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))[:MAX_CHOICES]


_WALKERS: dict[type, Callable[[Shell, Any, Stream | None], Stream]] = {
    Pipeline: Shell._pipeline,
    AndOr: Shell._and_or,
    Group: Shell._group,
    Branches: Shell._branches,
    Loop: Shell._loop,
    Function: Shell._function,
    Expression: Shell._expression,
    Background: Shell._background,
}
