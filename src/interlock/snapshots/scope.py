"""Collects everything that an action may change: paths, databases, and for each git subcommand the files, index, refs and logs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from interlock.impact import Budget, Unclear, read_contents
from interlock.impact.git import IndexEntry, Repository
from interlock.impact.git import command as meaning
from interlock.impact.git.command import CheckoutScope, GitCommand, parse_arguments
from interlock.impact.survey import FileSurvey, ImpactTally
from interlock.impact.targets import is_virtual
from interlock.snapshots.filesystem import FolderHandles
from interlock.snapshots.folder import SnapshotFolder
from interlock.snapshots.manifest import SavedRemoteRef


@dataclass(slots=True)
class TouchedRepository:
    """What changes of one repository beside its files: branches with what becomes of them, and what only they hold."""

    repository: Repository
    refs: dict[str, str] = field(default_factory=dict)
    tips: dict[bytes, None] = field(default_factory=dict)
    blobs: dict[bytes, None] = field(default_factory=dict)


@dataclass(slots=True)
class SnapshotScope:
    """Collects what has to be kept; more than a deed changes is harmless, less is not."""

    budget: Budget
    places: FolderHandles
    folder: SnapshotFolder
    home: str = ""
    trees: dict[str, None] = field(default_factory=dict)
    paths: dict[str, tuple[str, str]] = field(default_factory=dict)  # with role, and what is left there
    touched: dict[str, TouchedRepository] = field(default_factory=dict)
    databases: dict[str, None] = field(default_factory=dict)
    remotes: list[SavedRemoteRef] = field(default_factory=list)
    _standing: FileSurvey | None = None

    @property
    def standing(self) -> FileSurvey:
        if self._standing is None:
            self._standing = FileSurvey(ImpactTally(), self.budget, (), home=self.home)
        return self._standing

    def path(self, path: str, role: str = "", leaves: str = "") -> None:
        self.budget.entry()
        if is_virtual(path):
            raise Unclear("it is no ordinary file system")
        self.paths.setdefault(path, (role, leaves))

    def below(self, top: str, path: str) -> None:
        """A path with the folders between it and a top, which may go with it."""
        holder = os.path.dirname(path)
        while holder != top and holder.startswith(f"{top}/") and holder not in self.paths:
            self.path(holder)
            holder = os.path.dirname(holder)
        found = self.places.stat(path)
        if found is not None and stat.S_ISDIR(found.st_mode):
            self.tree(path)
        else:
            self.path(path)

    def tree(self, path: str) -> None:
        self.budget.entry()
        if is_virtual(path):
            raise Unclear("it is no ordinary file system")
        self.trees[path] = None

    def git(self, repository: Repository) -> TouchedRepository:
        return self.touched.setdefault(repository.own, TouchedRepository(repository))


MOST_LOGGED = 5_000  # commits that one log names
_STATES = (
    "ORIG_HEAD MERGE_HEAD MERGE_MSG MERGE_MODE MERGE_RR AUTO_MERGE CHERRY_PICK_HEAD REVERT_HEAD SQUASH_MSG".split()
)
_LOGGED = re.compile(rb"^([0-9a-f]{40}) ([0-9a-f]{40}) ", re.MULTILINE)
_NONE = b"0" * 40
_UNMOVED = frozenset(
    {"branch", "clean", "rm", "stash", "worktree"}
)  # to which it does not matter what is fetched first


def add_git_command(base: str, words: Sequence[str], scope: SnapshotScope, after: Sequence[str] = ()) -> bool:
    """Adds what the command may change; False where there is no repository; raises Unclear where it cannot be told."""
    found = meaning.open_git_command(base, words, scope.standing, _READERS, after)
    if found is None:
        return False
    deed, name, rest = found
    if after and name not in _UNMOVED and any(not word.startswith("-") for word in rest):
        raise Unclear("which commit comes is not known yet")
    _READERS[name](scope, deed, rest)
    return True


def _reset(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    meant = meaning.reset_scope(deed, rest)
    branch, head = deed.history.branch(), deed.history.head()
    if meant.source is not None and branch:
        scope.git(deed.repository).refs[branch] = meant.source.hex()
    elif meant.source is not None:
        scope.path(os.path.join(deed.repository.own, "HEAD"), "head", meant.source.hex())
    _replaced(scope, deed, meant)
    if head is not None and meant.source is not None:
        scope.git(deed.repository).tips[head] = None


def _checkout(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    _switched(scope, deed, meaning.checkout_scope(deed, rest))


def _switch(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    _switched(scope, deed, meaning.switch_scope(deed, rest))


def _switched(scope: SnapshotScope, deed: GitCommand, meant: CheckoutScope) -> None:
    if meant.under is None and meant.source is not None:
        branch = f"refs/heads/{meant.named}"
        leaves = f"ref: {branch}" if deed.history.ref(branch) is not None else meant.source.hex()
        scope.path(os.path.join(deed.repository.own, "HEAD"), "head", leaves)
        head = deed.history.head()
        if head is not None:
            scope.git(deed.repository).tips[head] = None
    _replaced(scope, deed, meant)


def _restore(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    _replaced(scope, deed, meaning.restore_scope(deed, rest))


def _replaced(scope: SnapshotScope, deed: GitCommand, meant: CheckoutScope) -> None:
    """Tracked files that are not what comes, by what Git knows of them, and whatever stands where something comes."""
    repository = deed.repository
    if repository.index.merging:
        raise Unclear("a merge is under way")
    if meant.staged:
        meant = replace(meant, source=meant.source or deed.history.head())
        add_index(scope, repository, meant.source)
    coming = repository.tree(meant.source) if meant.source is not None else None
    for path, entry in repository.index.entries.items():
        if not meaning.is_within(path, meant.under):
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
        if path not in repository.index.entries and meaning.is_within(path, meant.under):
            scope.below(repository.top, os.path.join(repository.top, path))
    if meant.under is None:
        _states(scope, repository)


def _as_known(scope: SnapshotScope, deed: GitCommand, entry: IndexEntry, full: str) -> bool:
    """Whether Git leaves a file alone where nothing else comes: its kind, whether it can be run, and its content are as in the index."""
    found = scope.places.stat(full)
    if found is None or stat.S_IFMT(found.st_mode) != stat.S_IFMT(entry.mode) or entry.mtime == (0, 0):
        return False  # without a time it is only going to be added, and Git writes it anew
    if stat.S_ISREG(found.st_mode) and (found.st_mode ^ entry.mode) & 0o100:
        return False
    return deed.repository.index.clean(entry, full, found, deed.budget)


def add_index(scope: SnapshotScope, repository: Repository, source: bytes | None = None) -> None:
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


def _states(scope: SnapshotScope, repository: Repository) -> None:
    for name in _STATES:
        scope.path(os.path.join(repository.own, name), "state")
    sequencer = os.path.join(repository.own, "sequencer")
    if os.path.isdir(sequencer):
        scope.tree(sequencer)


def _rm(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    under, repository = meaning.rm_paths(deed, rest), deed.repository
    add_index(scope, repository)
    for path, entry in repository.index.entries.items():
        if meaning.is_within(path, under):
            if entry.submodule:
                raise Unclear(f"{path} is a submodule")
            scope.below(repository.top, os.path.join(repository.top, path))


def _clean(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    under, every, nested = meaning.clean_scope(deed, rest)
    tracked = meaning.folders(deed.repository.index.entries)
    for start in under:
        for full, whole in _untracked(deed, start, every, nested, tracked):
            if whole:
                scope.tree(full)
            else:
                scope.path(full)


def _untracked(
    deed: GitCommand, start: str, every: bool, nested: bool, tracked: set[str]
) -> Iterator[tuple[str, bool]]:
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


def _stash(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    meaning.dropped_stashes(deed, rest)
    log = os.path.join(deed.repository.shared, "logs", "refs", "stash")
    scope.path(log, "stash")
    scope.git(deed.repository).tips |= dict.fromkeys(logged_commits(deed.repository, log))
    _tip(scope, deed, "refs/stash")


def _branch(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    shared = deed.repository.shared
    for name in meaning.deleted_branches(deed, rest):
        _ref(scope, deed, name, "")
        log = os.path.join(shared, "logs", name)
        scope.path(log, "log")
        scope.git(deed.repository).tips |= dict.fromkeys(logged_commits(deed.repository, log))
    scope.path(os.path.join(shared, "config"), "config")


def _worktree(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    path, tree = meaning.removed_work_tree(deed, rest)
    if not tree.own.startswith(f"{tree.shared}/worktrees/"):
        raise Unclear("there is no such work tree")
    scope.tree(path)
    scope.path(os.path.dirname(tree.own))
    scope.tree(tree.own)
    touched = scope.git(deed.repository)
    head = tree.history.head()
    touched.tips |= dict.fromkeys([*([head] if head is not None else []), *logged_commits(tree, os.path.join(tree.own, "logs", "HEAD"))])  # fmt: skip
    for name, entry in tree.index.entries.items():
        if tree.committed(name) != entry.oid and not entry.submodule and tree.objects.has(entry.oid):
            touched.blobs[entry.oid] = None


def _push(scope: SnapshotScope, deed: GitCommand, rest: Sequence[str]) -> None:
    """The value that the lease proves is held here, so that it can be pushed again."""
    words = parse_arguments(rest, valued=("-o", "--push-option"))
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
    scope.remotes.append(SavedRemoteRef(deed.repository.own, remote, name, old.hex(), new.hex()))


def _ref(scope: SnapshotScope, deed: GitCommand, name: str, leaves: str) -> None:
    scope.git(deed.repository).refs[name] = leaves
    _tip(scope, deed, name)


def _tip(scope: SnapshotScope, deed: GitCommand, name: str) -> None:
    found = deed.history.ref(name)
    if found is not None:
        scope.git(deed.repository).tips[found] = None


def logged_commits(repository: Repository, path: str) -> list[bytes]:
    """The commits that a log names, as far as they are there."""
    try:
        text = read_contents(path, repository.budget, 16 << 20)
    except FileNotFoundError:
        return []
    names = dict.fromkeys(one for pair in _LOGGED.findall(text) for one in pair if one != _NONE)
    if len(names) > MOST_LOGGED:
        raise Unclear("the log of the branch is too long")
    return [oid for name in names if repository.objects.has(oid := bytes.fromhex(name.decode()))]


_READERS: dict[str, Callable[[SnapshotScope, GitCommand, Sequence[str]], None]] = {
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
