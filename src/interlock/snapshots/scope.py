"""Collects everything that an action may change: paths, databases, and Git's files, index, refs and logs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from interlock.impact import Unclear
from interlock.impact.git import UNTRACKED, IndexEntry, Repository
from interlock.impact.git import command as git_command
from interlock.impact.git.command import CheckoutScope, GitCommand
from interlock.impact.survey import FileSurvey
from interlock.impact.targets import is_virtual
from interlock.model import Json
from interlock.snapshots.folder import FolderHandles, SnapshotFolder
from interlock.snapshots.manifest import SavedRemoteRef

MOST_LOGGED = 5_000  # commits that one log names
_STATES = "ORIG_HEAD MERGE_HEAD MERGE_MSG MERGE_MODE MERGE_RR AUTO_MERGE CHERRY_PICK_HEAD REVERT_HEAD SQUASH_MSG"
_LOGGED = re.compile(rb"^([0-9a-f]{40}) ([0-9a-f]{40}) ", re.MULTILINE)
_NONE = b"0" * 40
_UNMOVED = frozenset({"branch", "clean", "rm", "stash", "worktree"})  # which a fetch before them does not affect


class RepositoryScope(Struct):
    """The refs of one repository that change, their new values, and what only they hold."""

    repository: Repository
    refs: dict[str, str] = {}
    tips: dict[bytes, None] = {}
    blobs: dict[bytes, None] = {}


class SnapshotScope(Struct, dict=True):
    """More than an action changes is harmless, less is not."""

    places: FolderHandles
    folder: SnapshotFolder
    home: str = ""
    trees: dict[str, None] = {}
    paths: dict[str, tuple[str, str]] = {}  # with role, and what the action leaves there
    repositories: dict[str, RepositoryScope] = {}
    databases: dict[str, None] = {}
    remotes: list[SavedRemoteRef] = []

    @cached_property
    def survey(self) -> FileSurvey:
        return FileSurvey(self.places.budget, home=self.home)

    def path(self, path: str, role: str = "", leaves: str = "") -> None:
        self.paths.setdefault(self._ordinary(path), (role, leaves))

    def below(self, top: str, path: str) -> None:
        """Adds a path, with the folders between it and a top, which may be deleted with it."""
        holder = os.path.dirname(path)
        while holder != top and holder.startswith(f"{top}/") and holder not in self.paths:
            self.path(holder)
            holder = os.path.dirname(holder)
        found = self.places.stat(path)
        (self.tree if found is not None and stat.S_ISDIR(found.st_mode) else self.path)(path)

    def tree(self, path: str) -> None:
        self.trees[self._ordinary(path)] = None

    def _ordinary(self, path: str) -> str:
        self.places.budget.entry()
        if is_virtual(path):
            raise Unclear("it is no ordinary file system")
        return path

    def git(self, repository: Repository) -> RepositoryScope:
        return self.repositories.setdefault(repository.own, RepositoryScope(repository))

    def hold(self, repository: Repository, *commits: bytes | None) -> None:
        """Adds commits that only the snapshot may refer to later."""
        self.git(repository).tips |= {commit: None for commit in commits if commit is not None}

    def add_blobs(self, repository: Repository, tree: Repository) -> None:
        """Those that only the index of a work tree holds."""
        blobs, committed = self.git(repository).blobs, tree.committed
        for path, entry in tree.index.entries.items():
            known = committed.get(path, UNTRACKED)[1] == entry.oid
            if not known and not entry.submodule and tree.objects.has(entry.oid):
                blobs[entry.oid] = None


def add_git_command(effect: Json, bases: Sequence[str], scope: SnapshotScope) -> None:
    """Raises Unclear where it cannot be told what the command may change."""
    for command in git_command.git_commands(effect, bases, scope.survey, _READERS):
        if command.after and command.name not in _UNMOVED and any(not word.startswith("-") for word in command.rest):
            raise Unclear("which commit comes is not known yet")
        _READERS[command.name](scope, command)


def _reset(scope: SnapshotScope, command: GitCommand) -> None:
    meant = git_command.reset_scope(command)
    if meant.source is not None:
        if branch := command.history.branch():
            scope.git(command.repository).refs[branch] = meant.source.hex()
        else:
            scope.path(f"{command.repository.own}/HEAD", "head", meant.source.hex())
        scope.hold(command.repository, command.history.head())
    _add_replaced(scope, command, meant)


def _checkout(scope: SnapshotScope, command: GitCommand) -> None:
    meant = git_command.CHECKOUTS[command.name](command)
    if meant.under is None and meant.source is not None:
        branch = f"refs/heads/{meant.named}"
        leaves = f"ref: {branch}" if command.history.ref(branch) is not None else meant.source.hex()
        scope.path(f"{command.repository.own}/HEAD", "head", leaves)
        scope.hold(command.repository, command.history.head())
    _add_replaced(scope, command, meant)


def _add_replaced(scope: SnapshotScope, command: GitCommand, meant: CheckoutScope) -> None:
    """Tracked files that differ from the target, and untracked ones where the target has a file."""
    repository = command.repository
    if repository.index.merging:
        raise Unclear("a merge is under way")
    if meant.staged:
        meant = replace(meant, source=meant.source or command.history.head())
        add_index(scope, repository, meant.source)
    coming = repository.tree(meant.source) if meant.source is not None else None
    for path, full, entry in git_command.tracked_paths(command, meant.under):
        stays = coming is None or coming.get(path) == (entry.mode, entry.oid)
        if not stays or not _as_known(scope, command, entry, full):
            scope.below(repository.top, full)
    for path in coming or {}:
        if path not in repository.index.entries and git_command.is_within(path, meant.under):
            scope.below(repository.top, os.path.join(repository.top, path))
    if meant.under is None:
        for name in _STATES.split():
            scope.path(f"{repository.own}/{name}", "state")
        if os.path.isdir(sequencer := f"{repository.own}/sequencer"):
            scope.tree(sequencer)


def _as_known(scope: SnapshotScope, command: GitCommand, entry: IndexEntry, full: str) -> bool:
    found = scope.places.stat(full)
    if found is None or stat.S_IFMT(found.st_mode) != stat.S_IFMT(entry.mode) or entry.mtime == (0, 0):
        return False  # without a time it is only going to be added, and Git writes it anew
    if stat.S_ISREG(found.st_mode) and (found.st_mode ^ entry.mode) & 0o100:
        return False
    return command.repository.index.clean(entry, full, found)


def add_index(scope: SnapshotScope, repository: Repository, source: bytes | None = None) -> None:
    """An index means nothing with another commit, so that this is added too, with contents that only the index holds."""
    history = repository.history
    scope.path(f"{repository.own}/index", "index", source.hex() if source is not None else "")
    scope.path(f"{repository.own}/HEAD", "head")
    if branch := history.branch():
        scope.git(repository).refs.setdefault(branch, (history.head() or b"").hex())
    scope.add_blobs(repository, repository)


def _rm(scope: SnapshotScope, command: GitCommand) -> None:
    add_index(scope, command.repository)
    for _, full, _ in git_command.tracked_paths(command, git_command.rm_paths(command), deletes=True):
        scope.below(command.repository.top, full)


def _clean(scope: SnapshotScope, command: GitCommand) -> None:
    for path, _, whole in git_command.cleaned_paths(command):
        (scope.tree if whole else scope.path)(path)


def _stash(scope: SnapshotScope, command: GitCommand) -> None:
    git_command.dropped_stashes(command)
    scope.path(log := f"{command.repository.shared}/logs/refs/stash", "stash")
    scope.hold(command.repository, *logged_commits(command.repository, log), command.history.ref("refs/stash"))


def _branch(scope: SnapshotScope, command: GitCommand) -> None:
    repository = command.repository
    for name in git_command.deleted_branches(command):
        _delete_ref(scope, command, name)
        scope.path(log := f"{repository.shared}/logs/{name}", "log")
        scope.hold(repository, *logged_commits(repository, log))
    scope.path(f"{repository.shared}/config", "config")


def _tag(scope: SnapshotScope, command: GitCommand) -> None:
    for name in git_command.dropped_tags(command):
        _delete_ref(scope, command, name)


def _worktree(scope: SnapshotScope, command: GitCommand) -> None:
    if "prune" in command.rest:
        for own, head in git_command.linked_work_trees(command):
            scope.path(os.path.dirname(own))
            scope.tree(own)
            scope.hold(command.repository, head)
        return
    path, tree = git_command.removed_work_tree(command)
    if not tree.own.startswith(f"{tree.shared}/worktrees/"):
        raise Unclear("there is no such work tree")
    scope.tree(path)
    scope.path(os.path.dirname(tree.own))
    scope.tree(tree.own)
    scope.hold(command.repository, tree.history.head(), *logged_commits(tree, f"{tree.own}/logs/HEAD"))
    scope.add_blobs(command.repository, tree)


def _push(scope: SnapshotScope, command: GitCommand) -> None:
    """The commit that the lease expects can be pushed again."""
    words = command.arguments(valued=("-o", "--push-option"))
    leased = any(flag.partition("=")[0] == "--force-with-lease" for flag in words.flags)
    forced = words.has("-f", "--force") or any(name.startswith("+") for name in words.names)
    if not leased or forced or len(words.names) != 2 or words.paths:
        raise Unclear(git_command.NOT_VISIBLE)
    remote, name, old, new = git_command.push_target(command, words.names)
    scope.hold(command.repository, old)
    scope.remotes.append(SavedRemoteRef(command.repository.own, remote, name, old.hex(), new.hex()))


def _delete_ref(scope: SnapshotScope, command: GitCommand, name: str) -> None:
    scope.git(command.repository).refs[name] = ""
    scope.hold(command.repository, command.history.ref(name))


def logged_commits(repository: Repository, path: str) -> list[bytes]:
    text = repository.history.read_file(path)
    names = dict.fromkeys(one for pair in _LOGGED.findall(text) for one in pair if one != _NONE)
    if len(names) > MOST_LOGGED:
        raise Unclear("the log of the branch is too long")
    return [oid for name in names if repository.objects.has(oid := bytes.fromhex(name.decode()))]


_READERS: dict[str, Callable[[SnapshotScope, GitCommand], None]] = {
    "reset": _reset,
    **dict.fromkeys(git_command.CHECKOUTS, _checkout),
    "rm": _rm,
    "clean": _clean,
    "stash": _stash,
    "branch": _branch,
    "worktree": _worktree,
    "tag": _tag,
    "push": _push,
}
