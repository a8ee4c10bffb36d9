"""Operators' patterns: which actions are denied, held for approval, or auto-approved (AE-05, C-11, C-12, R-6, R-8); seed 002's globs (R-7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from msgspec import Struct

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import word_set
from interlock.model import Human, Requirement
from interlock.policy.match_names import Argv, MatchNames

EVERYTHING = "*"
LONGEST = 300  # characters of one pattern
_OPTIONS = 40  # words before the first that is no option
_TOOL = lazy_regex(r"([A-Za-z][\w.*-]{0,100}):(.+)", re.DOTALL)
_DRIVE = lazy_regex(r"[A-Za-z]:[/\\]")  # of a path, where `Write:/etc/*` is a tool's
_UP = lazy_regex(r"(?:^|[/\s\\])\.\.(?:$|[/\s\\])")
_ANYWHERE = lazy_regex(r"(?:^|\s)\*$")  # a pattern that ends so is bound to no place
_NAME = lazy_regex(r"[\w*.:-]+")
_SHORT = lazy_regex(r"-[A-Za-z0-9]+")
_LONG_FORMS = {"--recursive": "r", "--force": "f", "--all": "a", "--hard": "hard"}


class PatternSyntax(ValueError):
    """A pattern that matches nothing or everything; the message names it."""


class Glob(Struct, frozen=True):
    text: str
    tool: str = ""
    body: str = ""
    origin: str = ""  # its source in words, where it is not the policy

    @classmethod
    def of(cls, text: object, origin: str = "") -> Glob:
        """Refuses an empty pattern, and one that is longer than any."""
        if not isinstance(text, str) or not text.strip():
            raise PatternSyntax(f"pattern {text!r}: expected text, such as delete_* or Bash:git push*")
        if len(text) > LONGEST:
            raise PatternSyntax(f"pattern {text[:40]!r}…: {len(text)} characters, at most {LONGEST}")
        text = text.strip()
        tool = _TOOL.fullmatch(text)
        if tool is None or tool[2].startswith(("//", ":")) or _DRIVE.match(text):
            return cls(text, "", text, origin)
        return cls(text, tool[1], tool[2], origin)

    @property
    def label(self) -> str:
        return f"{self.text} ({self.origin})" if self.origin else self.text

    @property
    def is_command(self) -> bool:
        """It has a space, or a dash before a letter (C-35)."""
        return not self.tool and not _NAME.fullmatch(self.body)


class PatternSet(Struct, frozen=True):
    """Deny, then approval, then auto-approval: the first list that matches decides (seed 001, 5.2)."""

    deny: tuple[Glob, ...] = ()
    approve: tuple[Glob, ...] = ()
    allow: tuple[Glob, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.deny or self.approve or self.allow)

    @property
    def texts(self) -> dict[str, list[str]]:
        return {name: [glob.text for glob in getattr(self, name)] for name in self.__struct_fields__}

    def joined(self, other: PatternSet) -> PatternSet:
        return PatternSet(self.deny + other.deny, self.approve + other.approve, self.allow + other.allow)


def hits(globs: Iterable[Glob], named: MatchNames) -> tuple[Glob, ...]:
    """Those that meet any name of the action: at the start of any word, and any command."""
    return tuple(glob for glob in globs if _meets(glob, named))


def covers(globs: Iterable[Glob], named: MatchNames) -> tuple[Glob, ...]:
    """Those that match all of it; none for an action of several parts (C-11)."""
    if not named.single:
        return ()
    return tuple(glob for glob in globs if _covers(glob, named))


def _meets(glob: Glob, named: MatchNames) -> bool:
    if glob.tool:
        return any(_tool_meets(glob, tool, argument) for tool, argument in (*named.tools, *named.places))
    if glob.is_command:
        return any(_command_meets(glob.body, argv) for argv in (*named.commands, *named.reached))
    return any(_name_meets(glob.body, name) for name in named.operations) or (
        "_" not in glob.body and any(_command_meets(glob.body, argv) for argv in named.commands)
    )


def _covers(glob: Glob, named: MatchNames) -> bool:
    if named.strays and not _ANYWHERE.search(glob.body):
        return False
    if glob.tool:
        own = named.tools[0][0] if named.tools else ""
        same = [text for tool, text in named.tools if tool == own]  # of a tool's several arguments every one counts
        same = same[:1] if own == "Bash" else same
        return bool(same) and _tool_is(glob.tool, own) and all(_spans(glob.body, text) for text in same)
    if glob.is_command:
        return len(named.commands) == 1 and _spans(glob.body, " ".join(named.commands[0]))
    if named.commands:
        return False
    return bool(named.operations) and _glob(_name(glob.body)).fullmatch(named.operations[0]) is not None


def _spans(glob: str, text: str) -> bool:
    """A star does not match `..`, which would leave the folder of the pattern."""
    return _glob(glob).fullmatch(text) is not None and (".." in glob or not _UP.search(text) or glob == "*")


def _name_meets(glob: str, name: str) -> bool:
    """R-8: at any word's start; behind a verb that reads or makes only where the pattern begins the name."""
    found = _started(_name(glob)).search(name)
    if found is None or (found.start() == 0 and not glob.startswith("*")):
        return found is not None
    first = name.partition("_")[0]
    return first not in word_set("reading_names") and first not in word_set("making_names")


def _tool_meets(glob: Glob, tool: str, argument: str) -> bool:
    if not _tool_is(glob.tool, tool):
        return False
    if _glob(glob.body.lower()).fullmatch(argument.lower()):  # a host has no case, and some disks have none
        return True
    return tool == "Bash" and _command_meets(glob.body, tuple(argument.split()))


def _tool_is(pattern: str, tool: str) -> bool:
    return _glob(pattern.lower()).fullmatch(tool.lower()) is not None


def _command_meets(glob: str, argv: Argv) -> bool:
    """With or without the options before its first word: `git -C /srv push` is a push."""
    return any(_command_is(glob, (*argv[:1], *rest)) for rest in _beginnings(argv[1:]))


def _beginnings(words: Argv) -> Iterator[Argv]:
    """The words behind options, each of which may take the next word for its value."""
    waiting, seen = [0], {0}
    while waiting:
        at = waiting.pop()
        yield words[at:]
        if at < min(len(words), _OPTIONS) and words[at].startswith("-"):
            value = at + 2 if at + 1 < len(words) and not words[at + 1].startswith("-") else at + 1
            waiting += [after for after in dict.fromkeys((at + 1, value)) if after not in seen]
            seen |= {at + 1, value}


def _command_is(glob: str, argv: Argv) -> bool:
    """As written, or by its parts: the same program, at least these flags, these words in this order."""
    if _glob(glob).fullmatch(" ".join(argv)):
        return True
    wanted = glob.removesuffix("*").split()
    if not wanted or "*" in wanted[0] or not argv or wanted[0].lower() != argv[0]:
        return False
    (flags, words), (have, given) = _parts(wanted[1:]), _parts(argv[1:])
    if not flags <= have or not (flags or words) or len(given) < len(words):
        return False
    if glob.endswith("*"):
        words[-1:] = [f"{word}*" for word in words[-1:]]
    elif len(given) > len(words):
        return False
    return all(_glob(word).fullmatch(one) for word, one in zip(words, given))


def _parts(words: Sequence[str]) -> tuple[frozenset[str], list[str]]:
    flags: set[str] = set()
    rest: list[str] = []
    for word in words:
        if _SHORT.fullmatch(word):
            flags.update("r" if word == "-R" else word[1:])
        elif word.startswith("--") and len(word) > 2:
            flags.add(_LONG_FORMS.get(word, word))
        else:
            rest.append(word)
    return frozenset(flags), rest


def _name(glob: str) -> str:
    return re.sub(r"[^a-z0-9*]+", "_", glob.lower())


@lru_cache(maxsize=4096)
def _glob(pattern: str) -> Any:
    return compile_pattern(_starred(pattern, ".*"))


@lru_cache(maxsize=4096)
def _started(pattern: str) -> Any:
    """From the start of a word, to the end of a word where it has no star."""
    lead = "" if pattern.startswith("*") else "(?:^|_)"
    body = _starred(pattern.strip("*"), "[a-z0-9_]*")
    return compile_pattern(f"{lead}{body}{'' if pattern.endswith('*') else '(?:_|$)'}")


def _starred(pattern: str, star: str) -> str:
    return star.join(map(re.escape, re.split(r"\*+", pattern)))


def compile_pattern(expression: str) -> Any:
    """RE2, so that no text can make a pattern slow."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    return re2.compile(expression, options)


DANGEROUS = (
    "rm -rf *", "git push --force*", "git reset --hard*", "chmod 777*", "sudo *", "eval *", "python -c *", "node -e *",
    "*| sh", "*|sh", "curl * | *", "wget * | *", "bash -c *", "sh -c *", "*base64 -d*|*", "*base64 --decode*|*",
)  # fmt: skip
BLOCKED = ("mkfs*", "dd if=*", ":(){:|:&};:", "format *", "*(){ *")
IRREVERSIBLE = (
    "rm -rf *", "git push --force*", "git reset --hard*", "git clean -f*", "mkfs*", "dd if=*", "drop *", "truncate *",
)  # fmt: skip


_SPEC = (
    ("never", Requirement(blocked=True), "blocked", BLOCKED),
    ("glob", Requirement(human=Human.VERIFY), "dangerous", DANGEROUS),
    ("glob", Requirement(human=Human.CONFIRM), "irreversible", IRREVERSIBLE),
)


def spec_globs(named: MatchNames) -> list[tuple[str, Requirement, str]]:
    """Seed 002's lists on shell text: denied for good, denied until approved, or confirmed."""
    return [
        (name, requirement, f"{kind} pattern: {glob}")
        for tool, text in named.tools[:1]
        if tool == "Bash"
        for name, requirement, kind, globs in _SPEC
        for glob in globs
        if fnmatchcase(text, glob.replace("[", "[[]").replace("?", "[?]"))  # a star is the only wildcard of these lists
    ]
