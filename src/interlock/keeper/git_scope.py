"""What may a git command change? Files that differ from what comes, the index, branches, logs: one reader for each subcommand."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from interlock.keeper.manifest import Remote
from interlock.keeper.scope import Scope
from interlock.looker import deed as meaning
from interlock.looker.budget import Unclear
from interlock.looker.deed import Deed, Meant
from interlock.looker.git_words import words_of
from interlock.looker.index import Entry
from interlock.looker.opened import contents
from interlock.looker.repository import Repository

MOST_LOGGED = 5_000  # commits that one log names
_STATES = (
    "ORIG_HEAD MERGE_HEAD MERGE_MSG MERGE_MODE MERGE_RR AUTO_MERGE CHERRY_PICK_HEAD REVERT_HEAD SQUASH_MSG".split()
)
_LOGGED = re.compile(rb"^([0-9a-f]{40}) ([0-9a-f]{40}) ", re.MULTILINE)
_NONE = b"0" * 40
_UNMOVED = frozenset(
    {"branch", "clean", "rm", "stash", "worktree"}
)  # to which it does not matter what is fetched first


def git(base: str, words: Sequence[str], scope: Scope, after: Sequence[str] = ()) -> bool:
    """Adds what the command may change; False where there is no repository; raises Unclear where it cannot be told."""
    found = meaning.opened(base, words, scope.standing, _READERS, after)
    if found is None:
        return False
    deed, name, rest = found
    if after and name not in _UNMOVED and any(not word.startswith("-") for word in rest):
        raise Unclear("which commit comes is not known yet")
    _READERS[name](scope, deed, rest)
    return True


def _reset(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    meant = meaning.reset(deed, rest)
    branch, head = deed.history.branch(), deed.history.head()
    if meant.source is not None and branch:
        scope.git(deed.repository).refs[branch] = meant.source.hex()
    elif meant.source is not None:
        scope.path(os.path.join(deed.repository.own, "HEAD"), "head", meant.source.hex())
    _replaced(scope, deed, meant)
    if head is not None and meant.source is not None:
        scope.git(deed.repository).tips[head] = None


def _checkout(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    _switched(scope, deed, meaning.checkout(deed, rest))


def _switch(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    _switched(scope, deed, meaning.switch(deed, rest))


def _switched(scope: Scope, deed: Deed, meant: Meant) -> None:
    if meant.under is None and meant.source is not None:
        branch = f"refs/heads/{meant.named}"
        leaves = f"ref: {branch}" if deed.history.ref(branch) is not None else meant.source.hex()
        scope.path(os.path.join(deed.repository.own, "HEAD"), "head", leaves)
        head = deed.history.head()
        if head is not None:
            scope.git(deed.repository).tips[head] = None
    _replaced(scope, deed, meant)


def _restore(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    _replaced(scope, deed, meaning.restore(deed, rest))


def _replaced(scope: Scope, deed: Deed, meant: Meant) -> None:
    """Tracked files that are not what comes, by what Git knows of them, and whatever stands where something comes."""
    repository = deed.repository
    if repository.index.merging:
        raise Unclear("a merge is under way")
    if meant.staged:
        meant = replace(meant, source=meant.source or deed.history.head())
        index(scope, repository, meant.source)
    coming = repository.tree(meant.source) if meant.source is not None else None
    for path, entry in repository.index.entries.items():
        if not meaning.within(path, meant.under):
            continue
        full = os.path.join(repository.top, path)
        deed.budget.entry()
        if entry.submodule:
            if os.path.isdir(full) and os.listdir(full):
                raise Unclear(f"{path} is a submodule")
        elif (coming is not None and coming.get(path) != (entry.mode, entry.oid)) or not _as_known(
            scope, deed, entry, full
        ):
            scope.below(repository.top, full)
    for path in coming or {}:
        if path not in repository.index.entries and meaning.within(path, meant.under):
            scope.below(repository.top, os.path.join(repository.top, path))
    if meant.under is None:
        _states(scope, repository)


def _as_known(scope: Scope, deed: Deed, entry: Entry, full: str) -> bool:
    """Whether Git leaves a file alone where nothing else comes: its kind, whether it can be run, and its content are as in the index."""
    found = scope.places.stat(full)
    if found is None or stat.S_IFMT(found.st_mode) != stat.S_IFMT(entry.mode) or entry.mtime == (0, 0):
        return False  # without a time it is only going to be added, and Git writes it anew
    if stat.S_ISREG(found.st_mode) and (found.st_mode ^ entry.mode) & 0o100:
        return False
    return deed.repository.index.clean(entry, full, found, deed.budget)


def index(scope: Scope, repository: Repository, source: bytes | None = None) -> None:
    """The list of what is tracked, the contents that nothing but it holds, and what it belongs to: a list of another commit means nothing."""
    history = repository.history
    scope.path(os.path.join(repository.own, "index"), "index", source.hex() if source is not None else "")
    scope.path(os.path.join(repository.own, "HEAD"), "head")
    head, branch, touched = history.head(), history.branch(), scope.git(repository)
    if branch:
        touched.refs.setdefault(branch, head.hex() if head is not None else "")
    tree = repository.tree(head) if head is not None else {}
    for path, entry in repository.index.entries.items():
        known = tree.get(path)
        if (known is None or known[1] != entry.oid) and not entry.submodule and repository.objects.has(entry.oid):
            touched.blobs[entry.oid] = None


def _states(scope: Scope, repository: Repository) -> None:
    for name in _STATES:
        scope.path(os.path.join(repository.own, name), "state")
    sequencer = os.path.join(repository.own, "sequencer")
    if os.path.isdir(sequencer):
        scope.tree(sequencer)


def _rm(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    under, repository = meaning.removed(deed, rest), deed.repository
    index(scope, repository)
    for path, entry in repository.index.entries.items():
        if meaning.within(path, under):
            if entry.submodule:
                raise Unclear(f"{path} is a submodule")
            scope.below(repository.top, os.path.join(repository.top, path))


def _clean(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    under, every, nested = meaning.cleaned(deed, rest)
    tracked = meaning.folders(deed.repository.index.entries)
    for start in under:
        for full, whole in _untracked(deed, start, every, nested, tracked):
            if whole:
                scope.tree(full)
            else:
                scope.path(full)


def _untracked(deed: Deed, start: str, every: bool, nested: bool, tracked: set[str]) -> Iterator[tuple[str, bool]]:
    """What is untracked, folders with what is in them; whether everything below goes along."""
    repository, todo = deed.repository, [start]
    while todo:
        inside = todo.pop()
        full = os.path.join(repository.top, inside) if inside else repository.top
        deed.budget.entry()
        folder = stat.S_ISDIR(os.lstat(full).st_mode)
        if inside and (inside not in tracked or not folder) and inside not in repository.index.entries:
            if not every and repository.ignored(inside, folder):
                continue
            if folder and not nested and os.path.lexists(os.path.join(full, ".git")):
                continue  # another repository, which only `-ff` deletes
            yield full, not folder or (every and repository.ignored(inside, True))
            if every and folder and repository.ignored(inside, True):
                continue
        if folder:
            todo += [f"{inside}/{name}" if inside else name for name in os.listdir(full) if inside or name != ".git"]


def _stash(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    meaning.dropped(deed, rest)
    log = os.path.join(deed.repository.shared, "logs", "refs", "stash")
    scope.path(log, "stash")
    scope.git(deed.repository).tips |= dict.fromkeys(logged(deed.repository, log))
    _tip(scope, deed, "refs/stash")


def _branch(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    shared = deed.repository.shared
    for name in meaning.branches(deed, rest):
        _ref(scope, deed, name, "")
        log = os.path.join(shared, "logs", name)
        scope.path(log, "log")
        scope.git(deed.repository).tips |= dict.fromkeys(logged(deed.repository, log))
    scope.path(os.path.join(shared, "config"), "config")


def _worktree(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    path, tree = meaning.work_tree(deed, rest)
    if not tree.own.startswith(f"{tree.shared}/worktrees/"):
        raise Unclear("there is no such work tree")
    scope.tree(path)
    scope.path(os.path.dirname(tree.own))
    scope.tree(tree.own)
    touched = scope.git(deed.repository)
    head = tree.history.head()
    touched.tips |= dict.fromkeys([*([head] if head is not None else []), *logged(tree, os.path.join(tree.own, "logs", "HEAD"))])  # fmt: skip
    for name, entry in tree.index.entries.items():
        if tree.committed(name) != entry.oid and not entry.submodule and tree.objects.has(entry.oid):
            touched.blobs[entry.oid] = None


def _push(scope: Scope, deed: Deed, rest: Sequence[str]) -> None:
    """The value that the lease proves is held here, so that it can be pushed again."""
    words = words_of(rest, valued=("-o", "--push-option"))
    leased = any(flag == "--force-with-lease" or flag.startswith("--force-with-lease=") for flag in words.flags)
    forced = words.has("-f", "--force") or any(name.startswith("+") for name in words.names)
    if not leased or forced or len(words.names) != 2 or words.paths:
        raise Unclear("what the remote has now cannot be seen from here")
    remote, (source, _, branch) = words.names[0], words.names[1].partition(":")
    name = (branch or source).removeprefix("refs/heads/")
    if source == "HEAD" and not branch:
        name = deed.history.branch().removeprefix("refs/heads/")
    old, new = deed.history.ref(f"refs/remotes/{remote}/{name}"), deed.history.resolve(source)
    if old is None or new is None or not name:
        raise Unclear("what the remote has now cannot be seen from here")
    scope.git(deed.repository).tips[old] = None
    scope.remotes.append(Remote(deed.repository.own, remote, name, old.hex(), new.hex()))


def _ref(scope: Scope, deed: Deed, name: str, leaves: str) -> None:
    scope.git(deed.repository).refs[name] = leaves
    _tip(scope, deed, name)


def _tip(scope: Scope, deed: Deed, name: str) -> None:
    found = deed.history.ref(name)
    if found is not None:
        scope.git(deed.repository).tips[found] = None


def logged(repository: Repository, path: str) -> list[bytes]:
    """The commits that a log names, as far as they are there."""
    try:
        text = contents(path, repository.budget, 16 << 20)
    except FileNotFoundError:
        return []
    names = dict.fromkeys(one for pair in _LOGGED.findall(text) for one in pair if one != _NONE)
    if len(names) > MOST_LOGGED:
        raise Unclear("the log of the branch is too long")
    return [oid for name in names if repository.objects.has(oid := bytes.fromhex(name.decode()))]


_READERS: dict[str, Callable[[Scope, Deed, Sequence[str]], None]] = {
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
