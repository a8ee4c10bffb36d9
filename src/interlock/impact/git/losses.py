"""Counts what a git command would discard: uncommitted changes, untracked files, commits, stashes, pushed refs; one reader a subcommand."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from interlock.impact import Unclear, blob_id
from interlock.impact.git import UNTRACKED
from interlock.impact.git import command as git_command
from interlock.impact.git.command import GitCommand, is_within, parse_arguments
from interlock.impact.survey import FileSurvey
from interlock.model import Json

_LEASE = "--force-with-lease"
_KINDS = {"tags": "tag", "heads": "branch"}
_PLAIN = frozenset({"-u", "--set-upstream", "--no-verify", "--force-if-includes"})
# Branches that others work on, whoever pushed last.
_SHARED = re.compile(
    r"(?:main|master|trunk|develop|development|dev|stable|next|staging|production|prod|gh-pages|(?:release|hotfix)s?\b.*)",
    re.IGNORECASE,
)


def push_losses(command: GitCommand) -> None:
    """Raises Unclear where no lease proves that the remote has no more than at the last fetch, or the branch is not the session's."""
    words = command.arguments(valued=("-o", "--push-option"))
    if words.flags == {"--delete"} and len(words.names) == 2:
        _check_deleted_ref(command, *words.names)
        return
    history, own = command.history, command.survey.own
    remote, branch, old, new = git_command.push_target(command, words.names)
    lease = [flag for flag in words.flags if flag.partition("=")[0] == _LEASE]
    if not command.repository.objects.has(old):
        raise Unclear(git_command.NOT_VISIBLE)
    dropped = len(history.beyond([old], [new]))
    command.tally.note(f"the remote had {dropped} commit{'s' if dropped != 1 else ''} that this drops")
    strange = words.flags - _PLAIN - set(lease)
    if len(lease) != 1 or strange or words.paths or not _expects(command, lease[0], branch, old):
        raise Unclear(git_command.NOT_VISIBLE)
    ours = any(own.ref(command.repository, kind, branch) for kind in ("branch", "pushed"))
    if _is_shared(command, remote, branch) or not ours:
        raise Unclear("the branch may have the work of others")
    command.tally.note(f"the old commit is here: {old.hex()[:12]}")
    command.tally.restorable += 1


def _check_deleted_ref(command: GitCommand, remote: str, ref: str) -> None:
    """That this session created and pushed it, and that a branch's last known commit is here."""
    own, repository, (kind, _, name) = command.survey.own, command.repository, ref.removeprefix("refs/").partition("/")
    created = _KINDS.get(kind, "") if ref.startswith("refs/") else ""
    if not created or not own.ref(repository, created, name) or not own.ref(repository, "pushed", name, remote):
        raise Unclear("it may be somebody else's")
    if created == "branch":
        old = command.history.ref(f"refs/remotes/{remote}/{name}")
        if old is None or not repository.objects.has(old) or _is_shared(command, remote, name):
            raise Unclear("the branch may have the work of others")
        command.tally.note(f"the old commit is here: {old.hex()[:12]}")
    command.tally.found = True
    command.tally.restorable += 1


def _expects(command: GitCommand, lease: str, branch: str, old: bytes) -> bool:
    _, given, value = lease.partition("=")
    name, named, expected = value.partition(":")
    ours = name.removeprefix("refs/heads/") == branch and (not named or command.history.resolve(expected) == old)
    return not given or ours


def _is_shared(command: GitCommand, remote: str, branch: str) -> bool:
    head = command.history.read_file(command.repository.shared, "refs", "remotes", remote, "HEAD")
    return bool(_SHARED.fullmatch(branch)) or os.fsdecode(head).strip() == f"ref: refs/remotes/{remote}/{branch}"


def git_losses(effect: Json, bases: Sequence[str], survey: FileSurvey) -> None:
    """Raises Unclear where the loss is not known."""
    for command in git_command.git_commands(effect, bases, survey, _READERS):
        _READERS[command.name](command)


def _reset(command: GitCommand) -> None:
    names, history = command.arguments().names, command.history
    if names == ("ORIG_HEAD",) and history.resolve("ORIG_HEAD") is None:
        command.tally.note("there is no such commit")
        return
    if "fetch" in command.after and names:
        _reset_to_anything(command)
        return
    target = git_command.reset_scope(command).source
    _count_changes(command, None, True, target)
    head = history.head()
    if target is not None and head is not None and target != head:
        _count_overwritten(command, target, None)
        others = history.tips(oid for name, oid in history.refs().items() if name != history.branch())
        _count_commits(command, head, history.beyond([head], [target]), [target, *others])
    _note_if_nothing(command)


def _reset_to_anything(command: GitCommand) -> None:
    """Any file that is not in Git could be replaced."""
    git_command.reset_names(command)
    beside = FileSurvey(command.repository.budget, base=command.repository.top)
    _count_untracked(git_command.untracked_paths(command), beside)
    if beside.tally.only:
        raise Unclear(f"{beside.tally.names[0]} is not in Git, and what is fetched may take its place")
    _count_changes(command, None, True, None, unknown=True)
    history = command.history
    if (head := history.head()) is not None:
        others = history.tips(oid for name, oid in history.refs().items() if name.startswith("refs/tags/"))
        _count_commits(command, head, history.beyond([head], others), others)
    _note_if_nothing(command)


def _count_replaced(command: GitCommand) -> None:
    """The commit checked out before stays in the reflog."""
    meant = git_command.CHECKOUTS[command.name](command)
    _count_changes(command, meant.under, meant.staged, meant.source)
    if meant.source is not None:
        _count_overwritten(command, meant.source, meant.under)
    _note_if_nothing(command)


def _rm(command: GitCommand) -> None:
    under = git_command.rm_paths(command)
    command.tally.verb, committed = "delete", command.repository.committed
    for path, full, entry in git_command.tracked_paths(command, under, deletes=True):
        if not os.path.lexists(full):
            continue
        found, known = os.lstat(full), committed.get(path, UNTRACKED)[1]
        if known == entry.oid == blob_id(full, found, command.repository.budget):
            command.tally.recoverable(found.st_size)
        else:
            command.tally.lost(path, found.st_size)


def _clean(command: GitCommand) -> None:
    _count_untracked(git_command.cleaned_paths(command), command.survey)
    _note_if_nothing(command, "there is nothing untracked")


def _count_untracked(paths: Iterable[tuple[str, os.stat_result, bool]], survey: FileSurvey) -> None:
    for path, found, whole in paths:
        if not stat.S_ISDIR(found.st_mode):
            survey.file(path, found)
        elif whole:
            survey.tree(path)


def _stash(command: GitCommand) -> None:
    if command.arguments().names[:1] in (("drop",), ("clear",)) and command.history.ref("refs/stash") is None:
        command.tally.note("there is no stash")
        return
    names, kept = git_command.dropped_stashes(command), command.history.stashes()
    count = len(kept) if names[0] == "clear" else 1
    command.tally.gone += count
    which = f": {kept[-1][:100]}" if count == 1 and len(names) == 1 else ""
    command.tally.note(f"would discard {count} {'stash' if count == 1 else 'stashes'}{which}")


def _branch(command: GitCommand) -> None:
    rest, history = command.rest, command.history
    there = [word for word in rest if word.startswith("-") or history.ref(f"refs/heads/{word}") is not None]
    if len(there) < len(rest):
        parse_arguments(rest, known={"-D"})
        command.tally.note("there is no such branch")
        if all(word.startswith("-") for word in there):
            return
    names, refs = git_command.deleted_branches(replace(command, rest=there)), history.refs()
    for name in names:
        _count_branch_commits(command, refs, refs[name], names)


def _count_branch_commits(command: GitCommand, refs: dict[str, bytes], tip: bytes, going: Sequence[str]) -> None:
    history, head = command.history, command.history.head()
    moving = bool(command.after & {"fetch", "pull"})  # what is known of remotes may be something else by then
    held = [head] if head is not None and not command.after & {"move", "pull"} else []
    others = history.tips(
        oid for name, oid in refs.items() if name not in going and not (moving and name.startswith("refs/remotes/"))
    )
    off = history.beyond([tip], held or others)
    _count_commits(command, tip, off, [*others, *held])
    command.tally.found = True
    if not off:
        command.tally.note("the branch is merged" if held else "other branches hold all of it")


def _count_commits(command: GitCommand, tip: bytes, off: set[bytes], kept: Sequence[bytes]) -> None:
    if not off:
        return
    tally, rest = command.tally, command.history.beyond([tip], kept)
    tally.found = True
    tally.commits += len(off)
    tally.safe += len(off - rest)
    if rest and tip.hex().encode() in command.history.read_file(command.repository.own, "logs", "HEAD"):
        tally.note("the log of this work tree still names them")
    else:
        tally.gone += len(rest)


def _tag(command: GitCommand) -> None:
    names, refs = git_command.dropped_tags(command), command.history.refs()
    kept = command.history.tips(oid for one, oid in refs.items() if one not in names)
    command.tally.found = True
    for name in names:
        _count_unheld(command, command.history.tips([refs[name]]), kept)


def _count_unheld(command: GitCommand, tips: Sequence[bytes], kept: Sequence[bytes]) -> None:
    head = command.history.head()
    if tips and (count := len(command.history.beyond(tips, [*kept, *([head] if head is not None else [])]))):
        command.tally.gone += count
        command.tally.note(f"would drop {count} commit{'s' if count > 1 else ''} that nothing else holds")


def _worktree(command: GitCommand) -> None:
    if "prune" in command.rest:
        heads = [head for _, head in git_command.linked_work_trees(command) if head is not None]
        _count_unheld(command, heads, command.history.tips(command.history.refs().values()))
        command.tally.found = True
        return
    path, tree = git_command.removed_work_tree(command)
    committed, history = tree.committed, command.history
    if any(committed.get(name, UNTRACKED)[1] != entry.oid for name, entry in tree.index.entries.items()):
        raise Unclear("the work tree has changes that are not committed")
    if (head := tree.history.head()) is not None:  # one that no branch names goes with the log of its work tree
        command.tally.gone += len(history.beyond([head], history.tips(history.refs().values())))
    command.survey.tree(path)


def _count_changes(
    command: GitCommand, under: Sequence[str] | None, staged: bool, target: bytes | None, unknown: bool = False
) -> None:
    """Changes that exist only in the work tree and, with `staged`, only in the index.

    Git keeps files that it takes for unchanged; where the target differs it replaces them, so that the content itself is compared.
    """
    repository, budget = command.repository, command.repository.budget
    command.tally.verb = "discard the changes of"
    if repository.index.merging:
        raise Unclear("a merge is under way")
    tree = repository.committed if staged else {}
    coming = repository.tree(target) if target is not None else None
    for path, full, entry in git_command.tracked_paths(command, under):
        found = None
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = os.lstat(full)
        unchanged = not staged or tree.get(path, UNTRACKED)[1] == entry.oid
        if unchanged and found is not None:
            stays = not unknown and (coming is None or coming.get(path, UNTRACKED)[1] == entry.oid)
            clean = stays and repository.index.clean(entry, full, found)
            unchanged = clean or (not stays and blob_id(full, found, budget) == entry.oid)
        if not unchanged:
            command.tally.lost(path, found.st_size if found else entry.size)


def _count_overwritten(command: GitCommand, target: bytes, under: Sequence[str] | None) -> None:
    repository = command.repository
    for path in repository.tree(target):
        if path in repository.index.entries or not is_within(path, under):
            continue
        try:
            found = os.lstat(os.path.join(repository.top, path))
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            found = None
        if found is None or stat.S_ISDIR(found.st_mode):
            raise Unclear(f"something untracked is in the way of {path}")
        command.tally.lost(path, found.st_size)


def _note_if_nothing(command: GitCommand, words: str = "there are no uncommitted changes") -> None:
    if not command.tally.files:
        command.tally.note(words)


_READERS: dict[str, Callable[[GitCommand], None]] = {
    "reset": _reset,
    **dict.fromkeys(git_command.CHECKOUTS, _count_replaced),
    "rm": _rm,
    "clean": _clean,
    "stash": _stash,
    "branch": _branch,
    "worktree": _worktree,
    "tag": _tag,
    "push": push_losses,
}
