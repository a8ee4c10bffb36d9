"""What would a git command throw away? Uncommitted changes, untracked files, commits, stashes: one reader for each subcommand."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from interlock.looker.budget import Budget, Unclear
from interlock.looker.git_words import split, words_of
from interlock.looker.history import History
from interlock.looker.index import Entry
from interlock.looker.opened import blob_id
from interlock.looker.repository import Repository, repository_of
from interlock.looker.standing import Standing
from interlock.looker.tally import Tally

_CHANGES = "discard the changes of"


@dataclass(frozen=True, slots=True)
class Deed:
    """One git command in one folder."""

    folder: str
    repository: Repository
    tally: Tally
    standing: Standing
    budget: Budget

    @property
    def history(self) -> History:
        return self.repository.history


def git(base: str, words: Sequence[str], standing: Standing) -> bool:
    """Adds what the command would throw away; False where there is no repository; raises Unclear where it cannot be told."""
    folders, name, rest = split(words)
    reader = _READERS.get(name)
    if reader is None:
        raise Unclear(f"git {name} is not looked at")
    folder = os.path.realpath(os.path.join(base, *folders))
    found = repository_of(folder, standing.budget) if os.path.isdir(folder) else None
    if found is None:
        return False
    if f"{folder}/".startswith(f"{found.own}/"):
        raise Unclear("the folder is inside the repository's own files")
    reader(Deed(folder, found, standing.tally, standing, standing.budget), rest)
    return True


def _reset(deed: Deed, rest: Sequence[str]) -> None:
    words = words_of(rest)
    words.only({"--hard"})
    if not words.has("--hard") or len(words.names) > 1 or words.paths:
        raise Unclear("this reset is not known here")
    target = _commit(deed, words.names[0]) if words.names else None
    _changes(deed, None, True, target)
    head = deed.history.head()
    if target is not None and head is not None and target != head:
        _overwritten(deed, target, None)
        _commits_off(deed, head, target)
    _nothing_else(deed)


def _checkout(deed: Deed, rest: Sequence[str]) -> None:
    words = words_of(rest)
    words.only({"-f", "--force"})
    if words.paths is None and (words.force or not words.names) and len(words.names) <= 1:
        _switched(deed, words.names)
        return
    names, paths = words.names, words.paths
    if paths is None:  # `git checkout [COMMIT] PATH…`
        first = deed.history.resolve(names[0])
        names, paths = (names[:1], names[1:]) if first is not None else ((), names)
    if len(names) > 1 or not paths:
        raise Unclear("this checkout is not known here")
    source = _commit(deed, names[0]) if names else None
    _restored(deed, paths, source, staged=source is not None)


def _switch(deed: Deed, rest: Sequence[str]) -> None:
    words = words_of(rest)
    words.only({"-f", "--force", "--discard-changes"})
    if len(words.names) != 1 or words.paths:
        raise Unclear("this switch is not known here")
    _switched(deed, words.names)


def _switched(deed: Deed, names: Sequence[str]) -> None:
    """All changes go, and the files of another commit come; its old commit stays in the log."""
    target = _commit(deed, names[0]) if names else None
    _changes(deed, None, True, target)
    if target is not None:
        _overwritten(deed, target, None)
    _nothing_else(deed)


def _restore(deed: Deed, rest: Sequence[str]) -> None:
    words = words_of(rest, valued=("-s", "--source"))
    words.only({"-W", "--worktree", "-S", "--staged", "-s", "--source"})
    paths = (*words.names, *(words.paths or ()))
    named = [flag.partition("=")[2] for flag in words.flags if flag.startswith(("-s=", "--source="))]
    if not paths or len(named) > 1:
        raise Unclear("this restore is not known here")
    source = _commit(deed, named[0]) if named else None
    _restored(deed, paths, source, staged=words.has("-S", "--staged"))


def _restored(deed: Deed, paths: Iterable[str], source: bytes | None, staged: bool) -> None:
    under = [_inside(deed, path) for path in paths]
    _changes(deed, under, staged, source)
    if source is not None:
        _overwritten(deed, source, under)
    _nothing_else(deed)


def _rm(deed: Deed, rest: Sequence[str]) -> None:
    words = words_of(rest)
    words.only({"-r", "-f", "--force", "--ignore-unmatch"})
    under = [_inside(deed, path) for path in (*words.names, *(words.paths or ()))]
    deed.tally.verb = "delete"
    for path, entry in deed.repository.index.entries.items():
        full = os.path.join(deed.repository.top, path)
        if not _within(path, under) or not os.path.lexists(full):
            continue
        if entry.submodule:
            raise Unclear(f"{path} is a submodule")
        found = os.lstat(full)
        deed.budget.entry()
        if deed.repository.committed(path) == entry.oid == blob_id(full, found, deed.budget):
            deed.tally.recoverable(found.st_size)
        else:
            deed.tally.lost(path, found.st_size)


def _clean(deed: Deed, rest: Sequence[str]) -> None:
    words = words_of(rest)
    words.only({"-f", "--force", "-d", "-x", "-X"})
    under = [_inside(deed, path) for path in (*words.names, *(words.paths or ()))] or [_inside(deed, ".")]
    every = words.has(
        "-x", "-X"
    )  # what only the user's own ignore file names counts as untracked here, so -X takes both
    tracked = _folders(deed.repository.index.entries)
    for start in under:
        _untracked(deed, start, every, words.force > 1, tracked)
    _nothing_else(deed, "there is nothing untracked")


def _untracked(deed: Deed, start: str, every: bool, nested: bool, tracked: set[str]) -> None:
    repository, todo = deed.repository, [start]
    while todo:
        inside = todo.pop()
        full = os.path.join(repository.top, inside) if inside else repository.top
        deed.budget.entry()
        found = os.lstat(full)
        folder = stat.S_ISDIR(found.st_mode)
        if inside and inside not in tracked and inside not in repository.index.entries:
            if not every and repository.ignored(inside, folder):
                continue
            if not folder:
                deed.standing.file(full, found)
                continue
            if os.path.lexists(os.path.join(full, ".git")) and not nested:
                continue  # another repository, which only `-ff` deletes
            if every and repository.ignored(inside, True):
                deed.standing.tree(full)
                continue
        if folder:
            with os.scandir(full) as entries:
                todo += [
                    f"{inside}/{one.name}" if inside else one.name for one in entries if inside or one.name != ".git"
                ]


def _folders(paths: Iterable[str]) -> set[str]:
    """Every folder that something tracked is in."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _stash(deed: Deed, rest: Sequence[str]) -> None:
    words = words_of(rest)
    words.only(())
    kept = deed.history.stashes()
    if not kept or not words.names or words.names[0] not in ("drop", "clear"):
        raise Unclear("there is no stash" if not kept else "this stash is not known here")
    count = len(kept) if words.names[0] == "clear" else 1
    deed.tally.gone += count
    which = f": {kept[-1][:100]}" if count == 1 and len(words.names) == 1 else ""
    deed.tally.note(f"would throw away {count} {'stash' if count == 1 else 'stashes'}{which}")


def _branch(deed: Deed, rest: Sequence[str]) -> None:
    words = words_of(rest)
    words.only({"-D", "-d", "--delete", "-f", "--force"})
    if not words.names or words.paths or not (words.has("-D") or words.has("-d", "--delete")):
        raise Unclear("this branch command is not known here")
    refs = deed.history.refs()
    names = [f"refs/heads/{name}" for name in words.names]
    if any(name not in refs for name in names):
        raise Unclear("there is no such branch")
    for name in names:
        _ref_off(deed, refs, refs[name], names)


def _commits_off(deed: Deed, head: bytes, target: bytes) -> None:
    """The branch moves back: what of it does something else hold?"""
    history, refs = deed.history, deed.history.refs()
    off = history.beyond([head], [target])
    others = history.tips(oid for name, oid in refs.items() if name != history.branch())
    _count_commits(deed, head, off, [target, *others])


def _ref_off(deed: Deed, refs: dict[str, bytes], tip: bytes, going: Sequence[str]) -> None:
    history = deed.history
    head = history.head()
    others = history.tips(oid for name, oid in refs.items() if name not in going)
    off = history.beyond([tip], [head] if head is not None else [])
    _count_commits(deed, tip, off, [*others, *([head] if head is not None else [])])
    deed.tally.found = True
    if not off:
        deed.tally.note("the branch is merged")


def _count_commits(deed: Deed, tip: bytes, off: set[bytes], kept: Sequence[bytes]) -> None:
    tally, history = deed.tally, deed.history
    if not off:
        return
    rest = history.beyond([tip], kept)
    tally.found = True
    tally.commits += len(off)
    tally.safe += len(off - rest)
    if rest and history.logged(tip):
        tally.note("the log of this work tree still names them")
    elif rest:
        tally.gone += len(rest)


def _worktree(deed: Deed, rest: Sequence[str]) -> None:
    words = words_of(rest)
    words.only({"-f", "--force"})
    if len(words.names) != 2 or words.names[0] != "remove" or words.paths:
        raise Unclear("this worktree command is not known here")
    path = os.path.realpath(os.path.join(deed.folder, words.names[1]))
    if not os.path.isfile(os.path.join(path, ".git")):
        raise Unclear("there is no such work tree")
    tree = repository_of(path, deed.budget)
    if tree is None or any(tree.committed(name) != entry.oid for name, entry in tree.index.entries.items()):
        raise Unclear("the work tree has changes that are not committed")
    deed.standing.tree(path)


def _push(deed: Deed, rest: Sequence[str]) -> None:
    """What the remote had when it was last asked; what it has now, nobody here knows."""
    words = words_of(rest, valued=("-o", "--push-option"))
    if len(words.names) == 2:
        remote, (source, _, branch) = words.names[0], words.names[1].lstrip("+").partition(":")
        old = deed.history.ref(f"refs/remotes/{remote}/{(branch or source).removeprefix('refs/heads/')}")
        new = deed.history.resolve(source)
        if old is not None and new is not None:
            dropped = len(deed.history.beyond([old], [new]))
            deed.tally.note(f"the remote had {dropped} commit{'s' if dropped != 1 else ''} that this drops")
    raise Unclear("what the remote has now cannot be seen from here")


def _changes(deed: Deed, under: Sequence[str] | None, staged: bool, target: bytes | None) -> None:
    """Tracked files that are not what Git has: what is only in the work tree, and with `staged` what is only in the index.

    Git leaves alone what it takes for unchanged; what the target has otherwise it replaces, so that the content itself is compared.
    """
    repository = deed.repository
    deed.tally.verb = _CHANGES
    if repository.index.merging:
        raise Unclear("a merge is under way")
    head = deed.history.head()
    tree = repository.tree(head) if staged and head is not None else {}
    coming = repository.tree(target) if target is not None else None
    for path, entry in repository.index.entries.items():
        if under is not None and not _within(path, under):
            continue
        deed.budget.entry()
        full = os.path.join(repository.top, path)
        if entry.submodule:
            if os.path.isdir(full) and os.listdir(full):
                raise Unclear(f"{path} is a submodule")
            continue
        try:
            found = os.lstat(full)
        except (FileNotFoundError, NotADirectoryError):
            found = None
        only_staged = staged and tree.get(path, (0, b""))[1] != entry.oid
        stays = coming is None or coming.get(path, (0, b""))[1] == entry.oid
        if only_staged or (found is not None and not _unchanged(deed, entry, full, found, stays)):
            deed.tally.lost(path, found.st_size if found else entry.size)


def _unchanged(deed: Deed, entry: Entry, path: str, found: os.stat_result, stays: bool) -> bool:
    if stays:
        return deed.repository.index.clean(entry, path, found, deed.budget)
    return blob_id(path, found, deed.budget) == entry.oid


def _overwritten(deed: Deed, target: bytes, under: Sequence[str] | None) -> None:
    """Untracked files that the files of a commit would replace."""
    repository = deed.repository
    for path in repository.tree(target):
        if path in repository.index.entries or (under is not None and not _within(path, under)):
            continue
        full = os.path.join(repository.top, path)
        try:
            found = os.lstat(full)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            raise Unclear(f"something untracked is in the way of {path}") from None
        if stat.S_ISDIR(found.st_mode):
            raise Unclear(f"something untracked is in the way of {path}")
        deed.tally.lost(path, found.st_size)


def _commit(deed: Deed, name: str) -> bytes:
    found = deed.history.resolve(name)
    if found is None:
        raise Unclear("the commit is not known here")
    return found


def _inside(deed: Deed, path: str) -> str:
    """A path of the command line, from the top of the work tree; what may be a pattern stands for everything."""
    if path.startswith(":") or any(mark in path for mark in "*?["):
        return ""
    full = os.path.join(deed.folder, path)
    real = os.path.join(os.path.realpath(os.path.dirname(full.rstrip("/"))), os.path.basename(full.rstrip("/")))
    if os.path.basename(real) in (".", ".."):
        real = os.path.realpath(real)
    if real != deed.repository.top and not real.startswith(f"{deed.repository.top}/"):
        raise Unclear("a path is outside of the repository")
    return deed.repository.inside(real)


def _within(path: str, under: Iterable[str]) -> bool:
    return any(not one or path == one or path.startswith(f"{one}/") for one in under)


def _nothing_else(deed: Deed, words: str = "there are no uncommitted changes") -> None:
    if not deed.tally.files:
        deed.tally.note(words)


_READERS: dict[str, Callable[[Deed, Sequence[str]], None]] = {
    "reset": _reset,
    "checkout": _checkout,
    "switch": _switch,
    "restore": _restore,
    "rm": _rm,
    "clean": _clean,
    "stash": _stash,
    "branch": _branch,
    "worktree": _worktree,
    "push": _push,
}
