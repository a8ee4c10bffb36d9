"""The work-tree files that an everyday git command may replace: ignored ones in the way of a commit, and changes that it takes back."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Sequence

from interlock.impact import BudgetExceeded, Unclear
from interlock.impact.git import Repository, repository_of
from interlock.impact.git.command import GitArguments, parse_arguments, split_git_command
from interlock.impact.survey import FileSurvey

_COMES = frozenset("checkout switch merge rebase cherry-pick revert pull am bisect stash read-tree".split())
# Commands and flags by which changes that are not committed are taken back, merged or rewritten.
_TAKES_BACK = frozenset({"apply", "am", "restore", "checkout-index"})
_TAKING_BACK = frozenset("--abort --skip --ours --theirs --merge --conflict -R --reverse --autostash".split())
_VALUED = frozenset("-m --message -X -s --strategy --strategy-option -F --file".split())
_BRANCHING = dict.fromkeys(("checkout", "switch"), frozenset("-b -B -c -C --orphan".split()))  # options with a new name
_MERGING = frozenset("-m --merge -f --force -p --patch".split())  # with these a checkout takes changes back too
_LEFT = re.compile(rb"checkout: moving from (\S+) to \S+$", re.MULTILINE)
_UNKNOWN = frozenset({"pull", "am"})  # commands that bring what is not here yet
_UPSTREAM = frozenset({"merge", "rebase"})


def replaced_files(base: str, words: Sequence[str], survey: FileSurvey) -> list[str]:
    """Empty where there is no repository, or where looking takes too long for everyday work."""
    if not os.path.isdir(base) or "-h" in words or "--help" in words:
        return []
    try:
        folders, name, rest = split_git_command(words, strict=False)
        repository = repository_of(os.path.realpath(os.path.join(base, *folders)), survey.budget)
        if repository is None or name not in _COMES | _TAKES_BACK:
            return []
        paths = dict.fromkeys(_paths(repository, name, rest, survey))
    except (BudgetExceeded, Unclear):
        return []
    return [path for path in paths if os.path.lexists(path) and not os.path.isdir(path)]


def _paths(repository: Repository, name: str, rest: Sequence[str], survey: FileSurvey) -> Iterator[str]:
    given = parse_arguments(rest, valued=_BRANCHING.get(name, _VALUED))
    if name == "stash" and given.names[:1] not in (("pop",), ("apply",), ("branch",)):
        return
    if name in _TAKES_BACK or given.flags & _TAKING_BACK or (name in _BRANCHING and not _MERGING.isdisjoint(rest)):
        yield from _changed(repository)
    if name not in _COMES:
        return
    if name in _UNKNOWN or "FETCH_HEAD" in given.names:
        # Every file that Git does not have: what comes may have any name.
        every = FileSurvey(survey.budget, base=survey.base, home=survey.home, own=survey.own)
        every.below(repository.top)
        yield from every.lost
        return
    head = repository.history.head()
    for commit in _coming(repository, name, given):
        for path in _added(repository, head, commit):
            if path not in repository.index.entries:
                yield os.path.join(repository.top, path)


def _coming(repository: Repository, name: str, given: GitArguments) -> Iterator[bytes]:
    words = [*given.names, *(flag.partition("=")[2] for flag in given.flags if flag.startswith("--onto="))]
    if name == "stash":
        words = ["refs/stash"]
    elif not words and name in _UPSTREAM:
        words = ["@{u}"]
    for part in (part for word in words for part in re.split(r"\.{2,3}", word)):
        for one in _left(repository) if part in ("-", "@{-1}") else _named(repository, part):
            yield one
            if name == "stash":
                with contextlib.suppress(Unclear):
                    yield from repository.history.commit(one).parents


def _named(repository: Repository, word: str) -> list[bytes]:
    history = repository.history
    with contextlib.suppress(Unclear):
        if (found := history.resolve(word)) is not None:
            return [found]
    name = history.branch().removeprefix("refs/heads/") if word in ("@{u}", "@{upstream}") else word
    remote = ((ref, oid) for ref, oid in history.refs().items() if ref.startswith("refs/remotes/"))
    return history.tips(oid for ref, oid in remote if ref.endswith(f"/{name}"))


def _left(repository: Repository) -> list[bytes]:
    found = _LEFT.findall(repository.history.read_file(repository.own, "logs", "HEAD"))
    return _named(repository, os.fsdecode(found[-1])) if found else []


def _added(repository: Repository, old: bytes | None, new: bytes) -> Iterator[str]:
    """Folders with the same content are not read."""
    history = repository.history
    todo = [("", history.commit(old).tree if old is not None else None, history.commit(new).tree)]
    while todo:
        prefix, before, after = todo.pop()
        if before == after:
            continue
        known = {name: (mode, oid) for mode, name, oid in repository.entries(before)} if before else {}
        for mode, name, oid in repository.entries(after):
            was = known.get(name)
            if mode == 0o40000:
                todo.append((f"{prefix}{name}/", was[1] if was is not None and was[0] == 0o40000 else None, oid))
            elif was is None or was[0] == 0o40000:
                yield f"{prefix}{name}"


def _changed(repository: Repository) -> Iterator[str]:
    for path, entry in repository.index.entries.items():
        full = os.path.join(repository.top, path)
        repository.budget.entry()
        try:
            found = os.lstat(full)
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) and not repository.index.clean(entry, full, found):
            yield full
