"""Counts what a git command would discard: uncommitted changes, untracked files, commits, stashes, pushed refs; one reader a subcommand."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace

from interlock.impact import Unclear, blob_id, read_contents
from interlock.impact.git import IndexEntry
from interlock.impact.git import command as meaning
from interlock.impact.git.command import (
    CheckoutScope,
    GitCommand,
    folders,
    is_within,
    open_git_command,
    parse_arguments,
)
from interlock.impact.git.ignore import IgnoreRule
from interlock.impact.survey import FileSurvey, ImpactTally

_LEASE = "--force-with-lease"
_DELETED = ("refs/tags/", "refs/heads/")
_KINDS = {"tags": "tag", "heads": "branch"}
_PLAIN = frozenset({"-u", "--set-upstream", "--no-verify", "--force-if-includes"})
# Branches that others work on, whoever pushed last.
_SHARED = re.compile(
    r"(?:main|master|trunk|develop|development|dev|stable|next|staging|production|prod|gh-pages|(?:release|hotfix)s?\b.*)",
    re.IGNORECASE,
)
# Settings by which a push means more than the branch that is checked out.
_ODD = re.compile(
    r"^\s*(?:push\s*=|mirror\s*=\s*true|pushdefault\s*=|pushremote\s*=|default\s*=\s*matching)|^\s*\[include",
    re.IGNORECASE | re.MULTILINE,
)
_REMOTE = re.compile(r'^\[branch "(.+)"\][^\[]*?^\s*remote\s*=\s*(\S+)', re.MULTILINE)


def push_losses(deed: GitCommand, rest: Sequence[str]) -> None:
    """Tells what the remote had when it was last asked; raises Unclear where no lease proves that it has no more, or the branch is not the session's."""
    words = parse_arguments(rest, valued=("-o", "--push-option"))
    if words.flags == {"--delete"} and len(words.names) == 2:
        _own_ref(deed, *words.names)
        return
    source, remote, branch = _meant(deed, words.names)
    lease = [flag for flag in words.flags if flag.partition("=")[0] == _LEASE]
    old = deed.history.ref(f"refs/remotes/{remote}/{branch}")
    new = deed.history.resolve(source)
    if old is None or new is None or not deed.repository.objects.has(old):
        raise Unclear("what the remote has now cannot be seen from here")
    dropped = len(deed.history.beyond([old], [new]))
    deed.tally.note(f"the remote had {dropped} commit{'s' if dropped != 1 else ''} that this drops")
    strange = words.flags - _PLAIN - set(lease)
    if len(lease) != 1 or strange or words.paths or not _expects(deed, lease[0], branch, old):
        raise Unclear("what the remote has now cannot be seen from here")
    if _shared(deed, remote, branch) or not _own(deed, branch):
        raise Unclear("the branch may have the work of others")
    deed.tally.note(f"the old commit is here: {old.hex()[:12]}")
    deed.tally.kept += 1


def _own_ref(deed: GitCommand, remote: str, ref: str) -> None:
    """A tag or a branch at the remote: this session made it, and pushed it there; of a branch, what the remote had last is here."""
    own, (_, kind, name) = deed.standing.own, ref.split("/", 2) if ref.startswith(_DELETED) else ("", "", "")
    made = _KINDS.get(kind, "")
    if not made or not own.ref(deed.repository, made, name) or not own.ref(deed.repository, "pushed", name, remote):
        raise Unclear("it may be somebody else's")
    if made == "branch":
        old = deed.history.ref(f"refs/remotes/{remote}/{name}")
        if old is None or not deed.repository.objects.has(old) or _shared(deed, remote, name):
            raise Unclear("the branch may have the work of others")
        deed.tally.note(f"the old commit is here: {old.hex()[:12]}")
    deed.tally.found = True
    deed.tally.kept += 1


def _meant(deed: GitCommand, names: Sequence[str]) -> tuple[str, str, str]:
    """What is pushed, where to, and as which branch."""
    here = deed.history.branch().removeprefix("refs/heads/")
    if len(names) == 2:
        remote, (source, _, branch) = names[0], names[1].partition(":")
        source = source.removeprefix("refs/heads/")
        branch = (branch or (here if source == "HEAD" else source)).removeprefix("refs/heads/")
        if not source or not branch or source.startswith("+") or branch.startswith("refs/"):
            raise Unclear("what the remote has now cannot be seen from here")
        return source, remote, branch
    settings = os.fsdecode(read_contents(os.path.join(deed.repository.shared, "config"), deed.budget, 1 << 20))
    for place in (".gitconfig", ".config/git/config"):
        path = os.path.join(deed.standing.home, place)
        if deed.standing.home and os.path.isfile(path):
            settings += "\n" + os.fsdecode(read_contents(os.path.realpath(path), deed.budget, 1 << 20))
    if len(names) > 1 or not here or _ODD.search(settings):
        raise Unclear("what is pushed is not known here")
    remotes = [remote for name, remote in _REMOTE.findall(settings) if name == here]
    return here, names[0] if names else (remotes[0] if remotes else "origin"), here


def _expects(deed: GitCommand, lease: str, branch: str, old: bytes) -> bool:
    """Whether the lease is for the commit that is known here: by itself, or because it names that one."""
    _, given, value = lease.partition("=")
    if not given:
        return True
    name, named, expected = value.partition(":")
    return name.removeprefix("refs/heads/") == branch and (not named or deed.history.resolve(expected) == old)


def _shared(deed: GitCommand, remote: str, branch: str) -> bool:
    try:
        head = read_contents(
            os.path.join(deed.repository.shared, "refs", "remotes", remote, "HEAD"), deed.budget, 4_096
        )
    except OSError:
        head = b""
    return bool(_SHARED.fullmatch(branch)) or os.fsdecode(head).strip() == f"ref: refs/remotes/{remote}/{branch}"


def _own(deed: GitCommand, branch: str) -> bool:
    own = deed.standing.own
    return own.ref(deed.repository, "branch", branch) or own.ref(deed.repository, "pushed", branch)


_CHANGES = "discard the changes of"


def git_losses(base: str, words: Sequence[str], standing: FileSurvey, after: Sequence[str] = ()) -> bool:
    """Adds what the command would throw away; False where there is no repository; raises Unclear where it cannot be told."""
    found = open_git_command(base, words, standing, _READERS, after)
    if found is None:
        return False
    deed, name, rest = found
    _READERS[name](deed, rest)
    return True


def _reset(deed: GitCommand, rest: Sequence[str]) -> None:
    names = parse_arguments(rest).names
    if names == ("ORIG_HEAD",) and deed.history.resolve("ORIG_HEAD") is None:
        deed.tally.note("there is no such commit")
        return
    if "fetch" in deed.after and names:
        _reset_to_anything(deed, rest)
        return
    target = meaning.reset_scope(deed, rest).source
    _changes(deed, None, True, target)
    head = deed.history.head()
    if target is not None and head is not None and target != head:
        _overwritten(deed, target, None)
        _commits_off(deed, head, target)
    _nothing_else(deed)


def _reset_to_anything(deed: GitCommand, rest: Sequence[str]) -> None:
    """To a commit that is fetched first, and so not known: all that is there and not in Git could be replaced."""
    words = parse_arguments(rest)
    words.only({"--hard"})
    if not words.has("--hard") or len(words.names) > 1 or words.paths:
        raise Unclear("this reset is not known here")
    beside = ImpactTally()
    standing = FileSurvey(beside, deed.budget, (), deed.repository.top)
    _untracked(replace(deed, tally=beside, standing=standing), "", True, True, folders(deed.repository.index.entries))
    if beside.only:
        raise Unclear(f"{beside.names[0]} is not in Git, and what is fetched may take its place")
    _changes(deed, None, True, None, unknown=True)
    head = deed.history.head()
    if head is not None:
        others = deed.history.tips(oid for name, oid in deed.history.refs().items() if name.startswith("refs/tags/"))
        _count_commits(deed, head, deed.history.beyond([head], others), others)
    _nothing_else(deed)


def _checkout(deed: GitCommand, rest: Sequence[str]) -> None:
    _replaced(deed, meaning.checkout_scope(deed, rest))


def _switch(deed: GitCommand, rest: Sequence[str]) -> None:
    _replaced(deed, meaning.switch_scope(deed, rest))


def _restore(deed: GitCommand, rest: Sequence[str]) -> None:
    _replaced(deed, meaning.restore_scope(deed, rest))


def _replaced(deed: GitCommand, meant: CheckoutScope) -> None:
    """Changes go, and the files of another commit come; the commit that was checked out stays in the log."""
    _changes(deed, meant.under, meant.staged, meant.source)
    if meant.source is not None:
        _overwritten(deed, meant.source, meant.under)
    _nothing_else(deed)


def _rm(deed: GitCommand, rest: Sequence[str]) -> None:
    under = meaning.rm_paths(deed, rest)
    deed.tally.verb = "delete"
    for path, entry in deed.repository.index.entries.items():
        full = os.path.join(deed.repository.top, path)
        if not is_within(path, under) or not os.path.lexists(full):
            continue
        if entry.submodule:
            raise Unclear(f"{path} is a submodule")
        found = os.lstat(full)
        deed.budget.entry()
        if deed.repository.committed(path) == entry.oid == blob_id(full, found, deed.budget):
            deed.tally.recoverable(found.st_size)
        else:
            deed.tally.lost(path, found.st_size)


def _clean(deed: GitCommand, rest: Sequence[str]) -> None:
    under, every, nested = meaning.clean_scope(deed, rest)
    tracked = folders(deed.repository.index.entries)
    spared = meaning.clean_exclusions(rest)
    for start in under:
        _untracked(deed, start, every, nested, tracked, spared)
    _nothing_else(deed, "there is nothing untracked")


def _untracked(
    deed: GitCommand, start: str, every: bool, nested: bool, tracked: set[str], spared: Sequence[IgnoreRule] = ()
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


def _stash(deed: GitCommand, rest: Sequence[str]) -> None:
    if parse_arguments(rest).names[:1] in (("drop",), ("clear",)) and deed.history.ref("refs/stash") is None:
        deed.tally.note("there is no stash")
        return
    names, kept = meaning.dropped_stashes(deed, rest), deed.history.stashes()
    count = len(kept) if names[0] == "clear" else 1
    deed.tally.gone += count
    which = f": {kept[-1][:100]}" if count == 1 and len(names) == 1 else ""
    deed.tally.note(f"would throw away {count} {'stash' if count == 1 else 'stashes'}{which}")


def _branch(deed: GitCommand, rest: Sequence[str]) -> None:
    there = [word for word in rest if word.startswith("-") or deed.history.ref(f"refs/heads/{word}") is not None]
    if len(there) < len(rest):
        parse_arguments(rest).only({"-D"})
        deed.tally.note("there is no such branch")
    if all(word.startswith("-") for word in there) and there != list(rest):
        return
    names, refs = meaning.deleted_branches(deed, there), deed.history.refs()
    for name in names:
        _ref_off(deed, refs, refs[name], names)


def _commits_off(deed: GitCommand, head: bytes, target: bytes) -> None:
    """The branch moves back: what of it does something else hold?"""
    history, refs = deed.history, deed.history.refs()
    off = history.beyond([head], [target])
    others = history.tips(oid for name, oid in refs.items() if name != history.branch())
    _count_commits(deed, head, off, [target, *others])


def _ref_off(deed: GitCommand, refs: dict[str, bytes], tip: bytes, going: Sequence[str]) -> None:
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


def _count_commits(deed: GitCommand, tip: bytes, off: set[bytes], kept: Sequence[bytes]) -> None:
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


def _worktree(deed: GitCommand, rest: Sequence[str]) -> None:
    path, tree = meaning.removed_work_tree(deed, rest)
    if any(tree.committed(name) != entry.oid for name, entry in tree.index.entries.items()):
        raise Unclear("the work tree has changes that are not committed")
    head = tree.history.head()
    if head is not None:  # one that no branch names goes with the log of its work tree
        kept = deed.history.tips(deed.history.refs().values())
        deed.tally.gone += len(deed.history.beyond([head], kept))
    deed.standing.tree(path)


def _changes(
    deed: GitCommand, under: Sequence[str] | None, staged: bool, target: bytes | None, unknown: bool = False
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
        if not is_within(path, under):
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


def _unchanged(deed: GitCommand, entry: IndexEntry, path: str, found: os.stat_result, stays: bool) -> bool:
    if stays:
        return deed.repository.index.clean(entry, path, found, deed.budget)
    return blob_id(path, found, deed.budget) == entry.oid


def _overwritten(deed: GitCommand, target: bytes, under: Sequence[str] | None) -> None:
    """Untracked files that the files of a commit would replace."""
    repository = deed.repository
    for path in repository.tree(target):
        if path in repository.index.entries or not is_within(path, under):
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


def _nothing_else(deed: GitCommand, words: str = "there are no uncommitted changes") -> None:
    if not deed.tally.files:
        deed.tally.note(words)


_READERS: dict[str, Callable[[GitCommand, Sequence[str]], None]] = {
    "reset": _reset,
    "checkout": _checkout,
    "switch": _switch,
    "restore": _restore,
    "rm": _rm,
    "clean": _clean,
    "stash": _stash,
    "branch": _branch,
    "worktree": _worktree,
    "push": push_losses,
}
