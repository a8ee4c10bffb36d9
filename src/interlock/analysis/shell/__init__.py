"""State shared by all shells of one reading: facts, work budget, files, streams, and the command being read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import (
    APPROXIMATE,
    HOLE,
    BudgetSpent,
    Command,
    Effect,
    Fact,
    hole,
    hole_of,
    show_command,
    taints_in,
    without_holes,
)
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns
from interlock.analysis.places import place, resolve
from interlock.analysis.programs import Program
from interlock.analysis.programs.load import UNDESCRIBED
from interlock.analysis.programs.options import CommandOptions, options, parse
from interlock.analysis.shell.expand import is_unknown
from interlock.model import Span

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell
    from interlock.analysis.targets.ordering import CommandLine


FileReader = Callable[[str], str | None]

BUDGET = 80_000  # steps of some five microseconds each; an ordinary command takes ten to a hundred
FACT_STEPS = 3  # for a command or a path that the rules match
_HOME_HOLE = hole("HOME")  # as the readers of other languages name it
MAX_NESTING = 12
MAX_CHOICES = 4  # values a variable may have had, depending on which branch ran
MAX_SCRIPT = 262_144  # characters of a script file; a longer one is cut, and reported
_PRODUCTION = lazy_regex(r"(?<![a-z])(prod|production|prd)(?![a-z])", re.IGNORECASE)


class Stream(Struct, frozen=True):
    """What one command hands to the next."""

    text: str
    taints: frozenset[str] = frozenset()  # download, secret, environment, bulk, approximate
    source: str = "the network"  # of a download

    @property
    def known(self) -> bool:
        return HOLE not in self.text

    @classmethod
    def holding(cls, taints: frozenset[str]) -> Stream:
        return cls(hole_of(taints), taints)


ELSEWHERE = frozenset({"remote", "container"})  # traits of what happens on another machine, or in a container
NAMED_TAINTS = frozenset({"download", "secret", "environment"})  # what a hole can be known to hold
UNKNOWN = Stream(hole() + "\n")
NOTHING = Stream("")
TERMINAL = Stream(hole())  # or whatever the caller has: nothing of the action flows in
DOWNLOADED = Stream.holding(frozenset({"download"}))


def join_streams(streams: Sequence[Stream]) -> Stream:
    found = [stream for stream in streams if stream is not NOTHING]
    if len(found) < 2:
        return found[0] if found else NOTHING
    return Stream("".join([one.text for one in found]), frozenset().union(*[one.taints for one in found]))


class Where(Struct, frozen=True):
    span: Span | None
    via: tuple[str, ...] = ()
    traits: frozenset[str] = frozenset()
    env: tuple[tuple[str, str], ...] = ()

    def inside(self, wrapper: str, *traits: str) -> Where:
        return Where(self.span, (*self.via, wrapper), self.traits.union(traits) if traits else self.traits, self.env)

    def marked(self, trait: str) -> Where:
        return replace(self, traits=self.traits | {trait})


class ShellReading(Struct):
    source: str  # the action's own text, which spans point into
    read_code: Callable[[str, str, Job], None]  # in a language, by its name
    looks_like_windows: Callable[[str, str], str]  # which shell of Windows a text is for
    reader: FileReader | None = None
    facts: list[Fact] = []
    budget: int = BUDGET
    files: dict[str, str] = {}  # written by the action itself, by resolved path
    appended: set[str] = set()  # of those, the ones that begin with what they held before
    downloads: dict[str, str] = {}  # path -> address it was fetched from
    origins: dict[str, str] = {}  # moved by the action itself, new path -> old
    copies: dict[str, str] = {}  # copied, moved or linked, new path -> old
    links: dict[str, str] = {}  # symbolic links that the action itself creates, path -> target
    carried: dict[str, frozenset[str]] = {}  # what files hold that the action itself wrote
    packed: dict[str, frozenset[str]] = {}  # and files that it packed, by their own path
    witnesses: dict[str, str] = {}  # scripts that were read, path -> text
    imported: set[str] = set()  # modules beside scripts that were read, by path
    nesting: int = 0
    evaluating: set[str] = set()  # texts of subscripts and prompts, which may name themselves
    patterns: NamePatterns = BUILT_IN_PATTERNS  # what names of operations are matched with
    cwd: str = ""  # where the action begins
    line: CommandLine | None = None  # the order of its own steps, once they are parsed
    guessed: bool = False  # a word was computed from output or a pattern that only resembles what the shell makes

    @property
    def changed(self) -> bool:
        return bool(self.files or self.downloads)

    def put_file(self, path: str, text: str, appended: bool = False) -> None:
        if not appended:
            self.appended.discard(path)
        elif path not in self.files:
            self.appended.add(path)
        self.files[path] = self.files.get(path, "") + text if appended else text

    def download(self, path: str, address: str) -> None:
        self.downloads[path] = without_holes(address) or "the network"

    def fetched(self, *paths: str) -> str:
        """Empty for none."""
        for path in paths:
            if path in self.downloads:
                return self.downloads[path] or path
        folders = (one for one in self.downloads.items() if one[0].endswith("/"))
        return next((address for folder, address in folders if any(path.startswith(folder) for path in paths)), "")

    def step(self, count: int = 1) -> None:
        self.budget -= count
        if self.budget < 0:
            raise BudgetSpent


class Job(Struct):
    """One command being read; implements Report."""

    host: Shell
    program: str
    words: list[str]
    where: Where
    stdin: Stream = TERMINAL
    described: Program = UNDESCRIBED
    fed_on: Stream = TERMINAL  # what flows into each program that it runs
    _subject: str = ""

    @property
    def subject(self) -> str:
        """Worked out once for its many effects."""
        self._subject = self._subject or show_command(self.program, self.words)
        return self._subject

    @property
    def session(self) -> ShellReading:
        return self.host.session

    @property
    def piped(self) -> bool:
        return self.stdin is not TERMINAL

    @property
    def patterns(self) -> NamePatterns:
        return self.host.session.patterns

    @property
    def plain_words(self) -> list[str]:
        return [word for word in self.words if not word.startswith("-")]

    def options(self, valued: str = "", stop_at_operand: bool = False) -> CommandOptions:
        """As its program takes them, or where only the options in `valued` take a word."""
        if valued:
            return options(self.words, frozenset(valued.split()), stop_at_operand)
        return parse(self.described, self.words, stop_at_operand)

    def at(self, where: Where) -> Job:
        return Job(self.host, self.program, self.words, where, self.stdin, self.described)

    def full(self, path: str) -> str:
        return resolve(path, self.host.cwds[0])

    def about(self, words: Sequence[str]) -> Job:
        """A report on the part of the text with these words; on all of it where they are all, or not found."""
        source = self.session.source
        found = _part(words, source) if len(source) <= _LONGEST_PARTED else None
        if found is None or not source[: found[0]].strip(_ENDS) + source[found[1] :].strip(_ENDS):
            return self
        return Job(self.host, source[slice(*found)], [], replace(self.where, span=found), self.stdin)

    # -- Report

    def step(self, count: int = 1) -> None:
        self.host.session.step(count)

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        """One effect for each kind of place that the target can be."""
        marks = self.where.traits.union(traits) if traits else self.where.traits
        if HOLE in target:
            target = target.replace(_HOME_HOLE, "~")
        if is_production(target):
            marks = marks | {"production"}
        session = self.host.session
        if session.guessed:
            marks = marks | {APPROXIMATE}
        if verb not in _PATH_VERBS:
            self._add(verb, target, "", marks)
            return
        self.step(FACT_STEPS)
        paths = [resolve(target, cwd) for cwd in self.host.cwds]
        only_a_link = verb == "delete" and paths[0] in session.links and not target.endswith("/")
        places = ["temp"] if only_a_link else self.places(target)
        for where, path in dict.fromkeys(zip(places, paths)):
            self._add(verb, target, where, marks, path)
        if verb == "delete":
            # What was moved and is deleted is lost from where it was; so is what a link leads to.
            full = paths[0]
            reached = _behind_link(session.links, f"{full}/" if target.endswith("/") else full)
            if (old := session.origins.get(full) or reached) is not None:
                self._add("delete", old, self.place_of(old), marks)
        elif verb in _FOLLOWING and "link" not in marks and (behind := _behind_link(session.links, f"{path}/")):
            self._add(verb, behind, self.place_of(behind), marks, behind)
        elif "downloaded" in traits:
            session.downloads.setdefault(path, "the network")

    def _add(self, verb: str, target: str, kind_of_place: str, marks: frozenset[str], path: str = "") -> None:
        where = self.where
        fact = Effect(verb, target, kind_of_place, marks, where.span, where.via, self.subject, path)
        self.host.session.facts.append(fact)

    def place_of(self, path: str) -> str:
        return place(path, self.host.cwds[0], self.host.home)

    def places(self, target: str) -> list[str]:
        for inside, outside in self.host.mounts.items():
            if target == inside or target.startswith(f"{inside}/"):
                return [place(f"{outside.rstrip('/')}{target[len(inside) :]}" or "/", "/work", "~")]
        return [self._place(target, cwd) for cwd in self.host.cwds]

    def _place(self, target: str, cwd: str) -> str:
        """Behind a `cd` that surely succeeded, build output is what it is from the folder left."""
        host = self.host
        here = place(target, cwd, host.home)
        if HOLE in target or HOLE in cwd or host.emptied:
            return self._if_empty(target, cwd, here)
        left = host.left if here in ("source", "project") else None
        whole = place(resolve(target, cwd), left, host.home) if left is not None else ""
        return whole if whole in ("build", "cache") else here

    def _if_empty(self, target: str, cwd: str, otherwise: str) -> str:
        """A wipe, where it is the root, a home or a system folder once a variable in its path is empty."""
        host = self.host
        emptied = host.if_empty(target)
        if emptied and "**/" not in emptied and (emptied != target or otherwise not in _WIPED):
            if any(place(emptied, folder, host.home) in _WIPED for folder in (host.if_empty(cwd), *host.emptied)):
                return "unknown_root"
        named = target.startswith(HOLE) and is_variable(target[1 : target.find(HOLE, 1)])
        return "unknown" if otherwise == "unknown_root" and named else otherwise

    def unreadable(self, what: str, *traits: str) -> None:
        self.effect("unreadable", what, *traits)

    def runs_download(self, path: str) -> bool:
        if address := self.session.fetched(self.full(path)):
            self.effect("run_download", address)
        return bool(address)

    def script(self, path: str, *others: str, quiet: bool = False) -> tuple[str, str] | None:
        """The path and text of the first that there is; a hidden one is reported unless `quiet`."""
        if self.runs_download(path):
            return None
        for one in (path, *others):
            if (text := self.file_text(one)) is not None:
                return one, text
        if not is_unknown(path) and not path.startswith("/dev/fd/"):
            self.effect("run_script", path)
        elif not quiet:
            self.unreadable("a script that is only known at run time is run", "payload")
        return None

    def hides(self, text: str) -> bool:
        """Reports a download, or text made at run time."""
        if "download" in taints_in(text):
            self.effect("run_download", "the network")
        elif is_unknown(text.strip()):
            self.unreadable("text made at run time is run as a command", "payload")
        else:
            return False
        return True

    def text_to_run(self) -> str | None:
        """A download is reported, not read."""
        download = "download" in self.stdin.taints
        if download:
            self.effect("run_download", self.stdin.source)
        return self.stdin.text if self.piped and not download else None

    def run(self, argv: Sequence[str], via: str = "", *traits: str, stdin: Stream = TERMINAL) -> Stream:
        return self.host.run(list(argv), self.inside(via, traits), self.fed_on if stdin is TERMINAL else stdin)

    def shell_text(
        self, text: str, via: str = "", *traits: str, args: Sequence[str] = (), dialect: str = "bash"
    ) -> Stream:
        if "remote" in traits and self._for_windows(text, via, traits):
            return UNKNOWN
        return self.host.nested(text, self.inside(via, traits), args, dialect, self.stdin)

    def shell(self, text: str, *traits: str) -> None:
        if not self._for_windows(text, "", traits):
            self.shell_text(text, "", *traits, dialect="sh")

    def _for_windows(self, text: str, via: str, traits: Sequence[str]) -> bool:
        if language := self.session.looks_like_windows(text, ""):
            (self.at(self.inside(via, traits)) if via or traits else self).code(language, text)
        return bool(language)

    def code(self, language: str, text: str, via: str = "") -> None:
        where = self.inside(via, ("windows",) if language in ("powershell", "cmd") else ())
        self.session.read_code(language, text, self.at(where))

    def fed(self, text: str, source: str = "") -> Job:
        """`source` is the address of a download."""
        stream = Stream(text, taints_in(text), source or "the network")
        return Job(self.host, self.program, self.words, self.where, stream, fed_on=stream)

    def inside(self, via: str, traits: Sequence[str] = ()) -> Where:
        where = self.where.inside(via or self.program, *traits)
        named = "production" not in where.traits and any(map(is_production, self.words))
        return where.marked("production") if named else where

    @contextmanager
    def within(self, folder: str | None) -> Iterator[None]:
        before = self.host.cwds
        if folder:
            self.host.cwds = [resolve(folder, cwd) for cwd in before]
        try:
            yield
        finally:
            self.host.cwds = before

    def file_text(self, path: str) -> str | None:
        return self.host.file_text(path)

    def first_text(self, paths: Iterable[str]) -> str | None:
        return next((text for path in paths if (text := self.file_text(path)) is not None), None)

    def written_text(self, path: str) -> str | None:
        return self.session.files.get(self.full(path))

    def keep_file(self, path: str, text: str) -> None:
        self.session.files[self.full(path)] = text


Reader = Callable[[Job], Stream | None]  # of the words of a program, named in its description


_LONGEST_PARTED, _MOST_PARTED = 4_000, 60  # characters of a text, and words of a part, that are looked for
_ENDS = " .!?;,:\"'`\n\t"


def _part(words: Sequence[str], source: str) -> tuple[int, int] | None:
    first = source.find(words[0]) if words else -1
    for _ in range(_TRIES):
        if first < 0:
            return None
        end = first + len(words[0])
        for word in words[1:_MOST_PARTED]:
            at = source.find(word, end, end + _GAP + len(word))
            if at < 0:
                break
            end = at + len(word)
        else:
            return first, end
        first = source.find(words[0], first + 1)
    return None


_TRIES, _GAP = 20, 12  # places where the first word of a part stands, and characters between two words


def _behind_link(links: Mapping[str, str], path: str) -> str | None:
    """A link itself is only a name, and deleting it loses nothing."""
    found = (one for one in links.items() if path.startswith(f"{one[0]}/"))
    return next((target.rstrip("/") + path[len(link) :].rstrip("/") or "/" for link, target in found), None)


_WIPED = frozenset({"root", "home", "system"})
_VARIABLE = lazy_regex(r"[A-Za-z_]\w*|\d+")


def is_variable(name: str) -> bool:
    """Other holes stand for output, or an item of a list."""
    return _VARIABLE.fullmatch(name) is not None


_FOLLOWING = frozenset({"append", "chmod", "chown", "overwrite", "truncate", "write"})  # through a link to its target
_PATH_VERBS = frozenset("delete truncate overwrite write append move chmod chown read run_script".split())


def is_production(text: str) -> bool:
    low = text.lower()
    return ("prod" in low or "prd" in low) and _PRODUCTION.search(text) is not None


def command_fact(program: str, words: Sequence[str], where: Where, stdin: Stream = TERMINAL, cwd: str = "") -> Command:
    traits = where.traits
    if stdin is not TERMINAL:
        traits = traits | {"piped"}
        if "bulk" in stdin.taints:
            traits = traits | {"bulk_input"}
    named = [*words, *[value for _, value in where.env]] if where.env else words
    if is_production("\n".join(named)):
        traits = traits | {"production"}
    return Command(program, tuple(words), where.span, where.via, traits, where.env, cwd)
