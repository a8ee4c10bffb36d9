"""Parses one git command in its folder: subcommand, flags, commit and paths; raises Unclear for an unknown form."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Container, Iterable, Iterator, Sequence

from msgspec import Struct

from interlock.impact import Unclear
from interlock.impact.git import IndexEntry, Repository, repository_of
from interlock.impact.git.history import GitHistory
from interlock.impact.git.ignore import IgnoreRule, parse_ignore_rule
from interlock.impact.survey import FileSurvey, ImpactTally
from interlock.impact.targets import real_path
from interlock.model import Json

_SPARED = ("-e", "--exclude")
_HARMLESS = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})
_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree"})  # options of Git itself
NOT_VISIBLE = "what the remote has now cannot be seen from here"
# Settings by which a push means more than the branch that is checked out.
_ODD = re.compile(
    r"^\s*(?:push\s*=|mirror\s*=\s*true|pushdefault\s*=|pushremote\s*=|default\s*=\s*matching)|^\s*\[include",
    re.IGNORECASE | re.MULTILINE,
)
_REMOTE = re.compile(r'^\[branch "(.+)"\][^\[]*?^\s*remote\s*=\s*(\S+)', re.MULTILINE)
_QUIET = frozenset({"-q", "--quiet", "--no-pager", "-v", "--verbose", "--progress", "--no-progress"})


class GitArguments(Struct, frozen=True):
    flags: frozenset[str]
    names: tuple[str, ...]  # before `--`
    paths: tuple[str, ...] | None = None  # behind it; None where there is none
    force: int = 0  # how often

    @property
    def places(self) -> tuple[str, ...]:
        """All names, for a command that takes nothing but paths."""
        return (*self.names, *(self.paths or ()))

    def has(self, *flags: str) -> bool:
        return not self.flags.isdisjoint(flags)


def split_git_command(words: Sequence[str], strict: bool = True) -> tuple[list[str], str, list[str]]:
    """Folders of -C, subcommand, rest; `strict` refuses options that may move the work tree."""
    folders: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-"):
        if strict and not (rest[0] == "-C" and len(rest) > 1) and rest[0] not in _HARMLESS:
            raise Unclear(f"git {rest[0]} is not known here")
        folders += rest[1:2] if rest[0] == "-C" else []
        del rest[: 2 if rest[0] in _VALUED else 1]
    if not rest:
        raise Unclear("git without a command")
    return folders, rest[0], rest[1:]


def parse_arguments(
    rest: Sequence[str], valued: Collection[str] = (), known: Collection[str] | None = None
) -> GitArguments:
    """Combined short flags split; refuses flags that are not `known`."""
    flags: set[str] = set()
    names: list[str] = []
    paths, force, words = None, 0, iter(rest)
    for word in words:
        if word == "--":
            paths = tuple(words)
        elif not word.startswith("-") or word == "-":
            names.append(word)
        elif word in valued and (value := next(words, None)) is not None:
            flags.add(f"{word}={value}")
        elif word.startswith("--"):
            force += word == "--force"
            flags.add(word)
        else:
            force += word.count("f")
            flags |= {f"-{letter}" for letter in word[1:]}
    flags -= _QUIET
    strange = sorted(flag for flag in flags if flag.partition("=")[0] not in known) if known is not None else ()
    if strange:
        raise Unclear(f"{strange[0]} is not known here")
    return GitArguments(frozenset(flags), tuple(names), paths, force)


class GitCommand(Struct, frozen=True):
    """`git NAME REST…`; `after` are the changes before it in the same line, as `targets.ordering` names them."""

    folder: str
    repository: Repository
    survey: FileSurvey
    after: frozenset[str]
    name: str
    rest: Sequence[str]

    @property
    def history(self) -> GitHistory:
        return self.repository.history

    @property
    def tally(self) -> ImpactTally:
        return self.survey.tally

    def arguments(self, valued: Collection[str] = (), known: Collection[str] | None = None) -> GitArguments:
        return parse_arguments(self.rest, valued, known)


class CheckoutScope(Struct, frozen=True):
    """The part of the work tree that takes the content of a commit or, without one, of the index."""

    source: bytes | None = None
    named: str = ""  # the word that named it
    under: tuple[str, ...] | None = None  # paths from the top; None for all, and then HEAD goes along
    staged: bool = True


def git_commands(effect: Json, bases: Sequence[str], survey: FileSurvey, known: Container[str]) -> Iterator[GitCommand]:
    """In each folder that it may run in; raises Unclear without a repository."""
    words, after = ([str(word) for word in effect.get(name, ())] for name in ("words", "after"))
    folders, name, rest = split_git_command(words)
    if name not in known:
        raise Unclear(f"git {name} is not inspected")
    found = False
    for base in bases:
        folder = os.path.realpath(os.path.join(base, *folders))
        repository = repository_of(folder, survey.budget) if os.path.isdir(folder) else None
        if repository is None:
            continue
        if f"{folder}/".startswith(f"{repository.own}/"):
            raise Unclear("the folder is inside the repository's own files")
        found = True
        yield GitCommand(folder, repository, survey, frozenset(after), name, rest)
    if not found:
        raise Unclear("there is no repository")


def reset_names(command: GitCommand) -> tuple[str, ...]:
    """The commit, if any; refuses any reset but `--hard`."""
    words = command.arguments(known={"--hard"})
    if not words.has("--hard") or len(words.names) > 1 or words.paths:
        raise Unclear("this reset is not known here")
    return words.names


def reset_scope(command: GitCommand) -> CheckoutScope:
    return _scope(command, reset_names(command))


def checkout_scope(command: GitCommand) -> CheckoutScope:
    words = command.arguments(known={"-f", "--force"})
    names, paths = words.names, words.paths
    if paths is None:  # `git checkout [COMMIT] PATH…`
        if (words.force or not names) and len(names) <= 1:
            return _scope(command, names)
        count = int(command.history.resolve(names[0]) is not None)
        names, paths = names[:count], names[count:]
    if len(names) > 1 or not paths:
        raise Unclear("this checkout is not known here")
    return _scope(command, names, paths, bool(names))


def switch_scope(command: GitCommand) -> CheckoutScope:
    words = command.arguments(known={"-f", "--force", "--discard-changes"})
    if len(words.names) != 1 or words.paths:
        raise Unclear("this switch is not known here")
    return _scope(command, words.names)


def restore_scope(command: GitCommand) -> CheckoutScope:
    words = command.arguments(("-s", "--source"), {"-W", "--worktree", "-S", "--staged", "-s", "--source"})
    named = [flag.partition("=")[2] for flag in words.flags if flag.startswith(("-s=", "--source="))]
    if not words.places or len(named) > 1:
        raise Unclear("this restore is not known here")
    return _scope(command, named, words.places, words.has("-S", "--staged"))


CHECKOUTS = {"checkout": checkout_scope, "switch": switch_scope, "restore": restore_scope}


def rm_paths(command: GitCommand) -> tuple[str, ...]:
    return _work_tree_paths(command, command.arguments(known={"-r", "-f", "--force", "--ignore-unmatch"}).places)


def cleaned_paths(command: GitCommand) -> Iterator[tuple[str, os.stat_result, bool]]:
    """As `untracked_paths` names them."""
    words = command.arguments(_SPARED, {"-f", "--force", "-d", "-x", "-X", *_SPARED})
    lines = [flag.partition("=")[2] for flag in words.flags if flag.partition("=")[0] in _SPARED]
    every = words.has("-x", "-X")  # what only the user's own ignore file names counts as untracked, so -X takes both
    if not every and any(line.startswith("!") for line in lines):
        raise Unclear("what is not to be ignored is not known here")
    # With -X, which deletes the ignored, only those with `!` stay.
    lines = [line[1:] for line in lines if line.startswith("!")] if words.has("-X") else lines
    spared = [rule for line in lines if not line.startswith("!") and (rule := parse_ignore_rule(line)) is not None]
    for start in _work_tree_paths(command, words.places or ["."]):
        yield from untracked_paths(command, start, every, words.force > 1, spared)


def untracked_paths(
    command: GitCommand, start: str = "", every: bool = True, nested: bool = True, spared: Sequence[IgnoreRule] = ()
) -> Iterator[tuple[str, os.stat_result, bool]]:
    """Each with whether everything below it goes too; with `every` the ignored ones as well."""
    repository, todo = command.repository, [start]
    tracked = _folders(repository.index.entries)
    while todo:
        inside = todo.pop()
        full = os.path.join(repository.top, inside) if inside else repository.top
        repository.budget.entry()
        found = os.lstat(full)
        folder = stat.S_ISDIR(found.st_mode)
        if inside and (inside not in tracked or not folder) and inside not in repository.index.entries:
            ignored = repository.ignored(inside, folder)
            if (ignored and not every) or any(rule.matches(inside, folder) for rule in spared):
                continue
            if folder and not nested and os.path.lexists(os.path.join(full, ".git")):
                continue  # another repository, which only `-ff` deletes
            yield full, found, not folder or ignored
            if ignored:
                continue
        if folder:
            todo += [f"{inside}/{name}" if inside else name for name in os.listdir(full) if inside or name != ".git"]


def tracked_paths(
    command: GitCommand, under: Iterable[str] | None, deletes: bool = False
) -> Iterator[tuple[str, str, IndexEntry]]:
    """From the top, in full, and with their entries; refuses a submodule with something in it."""
    repository = command.repository
    for path, entry in repository.index.entries.items():
        if not is_within(path, under):
            continue
        repository.budget.entry()
        full = os.path.join(repository.top, path)
        if not entry.submodule:
            yield path, full, entry
        elif deletes or (os.path.isdir(full) and os.listdir(full)):
            raise Unclear(f"{path} is a submodule")


def push_target(command: GitCommand, names: Sequence[str]) -> tuple[str, str, bytes, bytes]:
    """The remote and its branch, with the commit that this had at the last fetch and the one that it gets."""
    source, remote, branch = _pushed_names(command, names)
    old, new = command.history.ref(f"refs/remotes/{remote}/{branch}"), command.history.resolve(source)
    if old is None or new is None:
        raise Unclear(NOT_VISIBLE)
    return remote, branch, old, new


def _pushed_names(command: GitCommand, names: Sequence[str]) -> tuple[str, str, str]:
    here = command.history.branch().removeprefix("refs/heads/")
    if len(names) == 2:
        remote, (source, _, branch) = names[0], names[1].partition(":")
        source = source.removeprefix("refs/heads/")
        branch = (branch or (here if source == "HEAD" else source)).removeprefix("refs/heads/")
        if not source or not branch or source.startswith("+") or branch.startswith("refs/"):
            raise Unclear(NOT_VISIBLE)
        return source, remote, branch
    settings = command.history.read_file(command.repository.shared, "config")
    for place in (".gitconfig", ".config/git/config") if command.survey.home else ():
        settings += b"\n" + command.history.read_file(os.path.realpath(os.path.join(command.survey.home, place)))
    if len(names) > 1 or not here or _ODD.search(os.fsdecode(settings)):
        raise Unclear("what is pushed is not known here")
    remotes = [remote for name, remote in _REMOTE.findall(os.fsdecode(settings)) if name == here]
    return here, names[0] if names else (remotes[0] if remotes else "origin"), here


def dropped_stashes(command: GitCommand) -> tuple[str, ...]:
    """`drop` or `clear` and the names after it; refuses any other word, and where there is no stash."""
    names = command.arguments(known=()).names
    if not command.history.stashes():
        raise Unclear("there is no stash")
    if names[:1] not in (("drop",), ("clear",)):
        raise Unclear("this stash is not known here")
    return names


def deleted_branches(command: GitCommand) -> list[str]:
    words = command.arguments(known={"-D", "-d", "--delete", "-f", "--force"})
    if not words.names or words.paths or not words.has("-D", "-d", "--delete"):
        raise Unclear("this branch command is not known here")
    refs = command.history.refs()
    names = [f"refs/heads/{name}" for name in words.names]
    if not refs.keys() >= set(names):
        raise Unclear("there is no such branch")
    return names


def dropped_tags(command: GitCommand) -> list[str]:
    """Those that are deleted or moved."""
    words = command.arguments(valued=("-m", "-F", "-u", "--message", "--file", "--local-user"))
    names = words.places if words.has("-d", "--delete") else words.names[:1]
    return [name for one in names if command.history.ref(name := f"refs/tags/{one}") is not None]


def linked_work_trees(command: GitCommand) -> Iterator[tuple[str, bytes | None]]:
    """Where Git keeps them, with the commit that each has checked out."""
    shared, budget = command.repository.shared, command.repository.budget
    place = f"{shared}/worktrees"
    for name in os.listdir(place) if os.path.isdir(place) else ():
        budget.entry()
        yield f"{place}/{name}", GitHistory(f"{place}/{name}", shared, command.repository.objects, budget).head()


def removed_work_tree(command: GitCommand) -> tuple[str, Repository]:
    words = command.arguments(known={"-f", "--force"})
    if len(words.names) != 2 or words.names[0] != "remove" or words.paths:
        raise Unclear("this worktree command is not known here")
    path = os.path.realpath(os.path.join(command.folder, words.names[1]))
    tree = repository_of(path, command.repository.budget) if os.path.isfile(os.path.join(path, ".git")) else None
    if tree is None:
        raise Unclear("there is no such work tree")
    return path, tree


def work_tree_path(command: GitCommand, path: str) -> str:
    """From the top of the work tree; a possible pattern stands for everything."""
    if path.startswith(":") or not set("*?[").isdisjoint(path):
        return ""
    full = os.path.normpath(os.path.join(command.folder, path))  # as Git does it, which follows no link here
    for one in (full, real_path(full)):
        if f"{one}/".startswith(f"{command.repository.top}/"):
            return command.repository.inside(one)
    raise Unclear("a path is outside of the repository")


def is_within(path: str, under: Iterable[str] | None) -> bool:
    return under is None or any(not one or path == one or path.startswith(f"{one}/") for one in under)


def _folders(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return found


def _scope(
    command: GitCommand, names: Sequence[str], paths: Sequence[str] | None = None, staged: bool = True
) -> CheckoutScope:
    source = command.history.resolve(names[0]) if names else None
    if names and source is None:
        raise Unclear("the commit is not known here")
    under = _work_tree_paths(command, paths) if paths is not None else None
    return CheckoutScope(source, "".join(names), under, staged)


def _work_tree_paths(command: GitCommand, paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(work_tree_path(command, path) for path in paths)
