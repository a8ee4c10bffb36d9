"""Could what stands before a deed, or beside it, change what it meets? Nothing that moves, links, unpacks or runs what cannot be read may."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from itertools import permutations

from interlock.core.model import Span
from interlock.core.read.facts import Command, Effect, Fact, known
from interlock.core.read.shell.session import shown

Key = tuple[str, Span | None]  # what a finding points at

# What may stand beside it: nothing of it brings other files to where something is destroyed.
_BESIDE = frozenset(
    "cd echo printf ls cat pwd true false : test [ [[ head tail grep egrep fgrep rg wc sort uniq cut tr du df stat file sleep date "
    "which type whoami id env uname mkdir rmdir rm unlink set exit read wait jq diff cmp less more basename dirname realpath tee touch "
    "pytest tox ruff mypy black eslint tsc prettier jest vitest".split()
)
# What makes things and moves none: whatever it puts into the way of the deed was not there before, and can be made again.
_MAKES = {
    "cargo": "build b test t check c clippy bench doc fmt llvm-cov flamegraph nextest metadata tree",
    "go": "build test vet fmt list version",
    "dotnet": "build test restore format stryker",
    "wasm-pack": "build test",
    "docker": "ps images build version info inspect logs",
    "jupytext": "--sync --to",
}
_GIT_READS = frozenset("status log diff show rev-parse ls-files ls-remote blame describe grep shortlog".split())
_WRAPPERS = frozenset({"bash", "sh", "dash", "zsh", "timeout", "time", "nohup", "command", "nice"})
_FOLLOWS = frozenset({"-L", "-H", "-follow"})
# Effects after which a place may hold anything.
_BRINGS = frozenset({"move", "unreadable", "run_script", "run_download"})
_PRUNES = frozenset({"-p", "--prune", "-P", "--prune-tags"})


def key(fact: Fact) -> Key:
    """What a finding about this fact points at."""
    return (fact.subject if isinstance(fact, Effect) else shown(fact.program, fact.words), fact.span)


def plain(facts: Sequence[Fact], accused: Collection[Key], answered: Collection[Key] = ()) -> bool:
    """Whether nothing of what has happened by then could change what the deeds meet: no move, no link, one Git command.

    `answered` are those of the accused that no file of this machine has to do with.
    """
    commands = [fact for fact in facts if isinstance(fact, Command)]
    changing = {key(fact) for fact in commands if _changes(fact) and fact.program != "find"}
    changing -= {key(fact) for fact in commands if earlier_of(fact, commands) is not None}
    changing -= set(answered)
    brought = any(isinstance(fact, Effect) and fact.verb in _BRINGS and key(fact) not in answered for fact in facts)
    follows = any(fact.program == "find" and not _finds(fact, accused) for fact in commands)
    set_apart = any(fact.env for fact in commands if key(fact) in accused and key(fact) not in answered)
    deeds = [fact for fact in commands if key(fact) in accused and key(fact) not in answered]
    first = next((number for number, fact in enumerate(deeds) if key(fact) in changing), len(deeds))
    alone = all(map(_direct, deeds[first + 1 :])) or _links_apart(deeds[first:])
    return changing <= set(accused) and alone and not brought and not follows and not set_apart


def _direct(fact: Command) -> bool:
    """Whether it deletes things by names that no link can stand in: files of this very folder."""
    names = [word for word in fact.words if not word.startswith("-")]
    return fact.program in ("rm", "unlink") and not any(set("/*?[{~") & set(word) for word in names)


def _links_apart(deeds: Sequence[Command]) -> bool:
    """Whether they all make links, none of them on the way to where another one goes: what a link leads to was not looked at."""
    places: list[str] = []
    for fact in deeds:
        names = [word for word in fact.words if not word.startswith("-")]
        flags = {letter for word in fact.words if word.startswith("-") for letter in word[1:]}
        if fact.program != "ln" or len(names) != 2 or not flags <= set("sfnvT") or not all(map(known, names)):
            return False
        places.append(posixpath.normpath(names[1]))
    return not any(one == other or other.startswith(f"{one}/") for one, other in permutations(places, 2))


def _finds(fact: Command, accused: Collection[Key]) -> bool:
    """Whether a search only names what it finds, or deletes it; one that follows links or runs something does more."""
    return not _FOLLOWS & set(fact.words) and (
        key(fact) in accused or not {"-exec", "-execdir", "-ok", "-okdir"} & set(fact.words)
    )


def earlier(facts: Sequence[Fact]) -> list[str]:
    """What Git commands before a deed do to the repository that is looked at, in the looker's words."""
    commands = [fact for fact in facts if isinstance(fact, Command)]
    return list(dict.fromkeys(word for one in commands if (word := earlier_of(one, commands)) is not None))


def earlier_of(fact: Command, commands: Sequence[Command]) -> str | None:
    """`fetch` changes what is known of remotes alone; before a branch is deleted, `pull` and `move` go elsewhere and `branch` makes one."""
    if fact.program != "git" or fact.env or not all(map(known, fact.words)) or not fact.words:
        return None
    name, rest = fact.words[0], fact.words[1:]
    flags = {word for word in rest if word.startswith("-")} - {"-q", "--quiet"}
    names = [word for word in rest if not word.startswith("-")]
    if name == "fetch" and flags <= {"--all", "--tags", "-a", "-t", *_PRUNES} and not any(":" in one for one in names):
        return "fetch"
    if not _only_branches(commands):
        return None
    if name == "pull" and flags == {"--ff-only"} and len(names) <= 2:
        return "pull"
    if name in ("checkout", "switch") and not flags and len(names) == 1:
        return "move"
    if name == "branch" and not flags and 1 <= len(names) <= 2:
        return "branch"
    return None


def _only_branches(commands: Sequence[Command]) -> bool:
    """Whether all that Git destroys in this line is branches, to which no file in the work tree matters."""
    deleting = [one for one in commands if one.program == "git" and one.words[:1] == ("branch",) and "-D" in one.words]
    others = [one for one in commands if one.program not in _BESIDE and one.program != "git"]
    return bool(deleting) and not others and not any(one.program in ("rm", "unlink") for one in commands)


def _changes(fact: Command) -> bool:
    if fact.program == "git":
        return next((word for word in fact.words if not word.startswith("-")), "") not in _GIT_READS
    if fact.program in _MAKES:
        return not fact.words or fact.words[0] not in _MAKES[fact.program].split()
    return fact.program not in _BESIDE and not (fact.program in _WRAPPERS and "wrapper" in fact.traits)
