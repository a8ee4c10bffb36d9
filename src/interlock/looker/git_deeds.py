"""What would a git command throw away? Uncommitted changes, untracked files, commits, stashes: one reader for each subcommand."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace

from interlock.looker import deed as meaning
from interlock.looker.budget import Unclear
from interlock.looker.deed import Deed, Meant, folders, opened, within
from interlock.looker.git_words import words_of
from interlock.looker.ignored import Rule
from interlock.looker.index import Entry
from interlock.looker.opened import blob_id
from interlock.looker.pushes import push
from interlock.looker.standing import Standing
from interlock.looker.tally import Tally

_CHANGES = "discard the changes of"


def git(base: str, words: Sequence[str], standing: Standing, after: Sequence[str] = ()) -> bool:
    """Adds what the command would throw away; False where there is no repository; raises Unclear where it cannot be told."""
    found = opened(base, words, standing, _READERS, after)
    if found is None:
        return False
    deed, name, rest = found
    _READERS[name](deed, rest)
    return True


def _reset(deed: Deed, rest: Sequence[str]) -> None:
    names = words_of(rest).names
    if names == ("ORIG_HEAD",) and deed.history.resolve("ORIG_HEAD") is None:
        deed.tally.note("there is no such commit")
        return
    if "fetch" in deed.after and names:
        _reset_to_anything(deed, rest)
        return
    target = meaning.reset(deed, rest).source
    _changes(deed, None, True, target)
    head = deed.history.head()
    if target is not None and head is not None and target != head:
        _overwritten(deed, target, None)
        _commits_off(deed, head, target)
    _nothing_else(deed)


def _reset_to_anything(deed: Deed, rest: Sequence[str]) -> None:
    """To a commit that is fetched first, and so not known: all that is there and not in Git could be replaced."""
    words = words_of(rest)
    words.only({"--hard"})
    if not words.has("--hard") or len(words.names) > 1 or words.paths:
        raise Unclear("this reset is not known here")
    beside = Tally()
    standing = Standing(beside, deed.budget, (), deed.repository.top)
    _untracked(replace(deed, tally=beside, standing=standing), "", True, True, folders(deed.repository.index.entries))
    if beside.only:
        raise Unclear(f"{beside.names[0]} is not in Git, and what is fetched may take its place")
    _changes(deed, None, True, None, unknown=True)
    head = deed.history.head()
    if head is not None:
        others = deed.history.tips(oid for name, oid in deed.history.refs().items() if name.startswith("refs/tags/"))
        _count_commits(deed, head, deed.history.beyond([head], others), others)
    _nothing_else(deed)


def _checkout(deed: Deed, rest: Sequence[str]) -> None:
    _replaced(deed, meaning.checkout(deed, rest))


def _switch(deed: Deed, rest: Sequence[str]) -> None:
    _replaced(deed, meaning.switch(deed, rest))


def _restore(deed: Deed, rest: Sequence[str]) -> None:
    _replaced(deed, meaning.restore(deed, rest))


def _replaced(deed: Deed, meant: Meant) -> None:
    """Changes go, and the files of another commit come; the commit that was checked out stays in the log."""
    _changes(deed, meant.under, meant.staged, meant.source)
    if meant.source is not None:
        _overwritten(deed, meant.source, meant.under)
    _nothing_else(deed)


def _rm(deed: Deed, rest: Sequence[str]) -> None:
    under = meaning.removed(deed, rest)
    deed.tally.verb = "delete"
    for path, entry in deed.repository.index.entries.items():
        full = os.path.join(deed.repository.top, path)
        if not within(path, under) or not os.path.lexists(full):
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
    under, every, nested = meaning.cleaned(deed, rest)
    tracked = folders(deed.repository.index.entries)
    spared = meaning.spared(rest)
    for start in under:
        _untracked(deed, start, every, nested, tracked, spared)
    _nothing_else(deed, "there is nothing untracked")


def _untracked(
    deed: Deed, start: str, every: bool, nested: bool, tracked: set[str], spared: Sequence[Rule] = ()
) -> None:
    repository, todo = deed.repository, [start]
    while todo:
        inside = todo.pop()
        full = os.path.join(repository.top, inside) if inside else repository.top
        deed.budget.entry()
        found = os.lstat(full)
        folder = stat.S_ISDIR(found.st_mode)
        if inside and (inside not in tracked or not folder) and inside not in repository.index.entries:
            if not every and repository.ignored(inside, folder):
                continue
            if any(rule.says(inside, folder) for rule in spared):
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


def _stash(deed: Deed, rest: Sequence[str]) -> None:
    if words_of(rest).names[:1] in (("drop",), ("clear",)) and deed.history.ref("refs/stash") is None:
        deed.tally.note("there is no stash")
        return
    names, kept = meaning.dropped(deed, rest), deed.history.stashes()
    count = len(kept) if names[0] == "clear" else 1
    deed.tally.gone += count
    which = f": {kept[-1][:100]}" if count == 1 and len(names) == 1 else ""
    deed.tally.note(f"would throw away {count} {'stash' if count == 1 else 'stashes'}{which}")


def _branch(deed: Deed, rest: Sequence[str]) -> None:
    there = [word for word in rest if word.startswith("-") or deed.history.ref(f"refs/heads/{word}") is not None]
    if len(there) < len(rest):
        words_of(rest).only({"-D"})
        deed.tally.note("there is no such branch")
    if all(word.startswith("-") for word in there) and there != list(rest):
        return
    names, refs = meaning.branches(deed, there), deed.history.refs()
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
    moving = bool(deed.after & {"fetch", "pull"})  # what is known of remotes may be something else by then
    held = [head] if head is not None and not deed.after & {"move", "pull"} else []
    others = history.tips(
        oid for name, oid in refs.items() if name not in going and not (moving and name.startswith("refs/remotes/"))
    )
    off = history.beyond([tip], held or others)
    _count_commits(deed, tip, off, [*others, *held])
    deed.tally.found = True
    if not off:
        deed.tally.note("the branch is merged" if held else "other branches hold all of it")


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
    path, tree = meaning.work_tree(deed, rest)
    if any(tree.committed(name) != entry.oid for name, entry in tree.index.entries.items()):
        raise Unclear("the work tree has changes that are not committed")
    head = tree.history.head()
    if head is not None:  # one that no branch names goes with the log of its work tree
        kept = deed.history.tips(deed.history.refs().values())
        deed.tally.gone += len(deed.history.beyond([head], kept))
    deed.standing.tree(path)


def _changes(
    deed: Deed, under: Sequence[str] | None, staged: bool, target: bytes | None, unknown: bool = False
) -> None:
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
        if not within(path, under):
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
        stays = not unknown and (coming is None or coming.get(path, (0, b""))[1] == entry.oid)
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
        if path in repository.index.entries or not within(path, under):
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
    "push": push,
}
