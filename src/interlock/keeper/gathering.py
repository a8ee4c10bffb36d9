"""A question about deeds -> its scope: files here, git commands by their own readers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.keeper.git_scope import git
from interlock.keeper.scope import Scope
from interlock.looker.budget import Unclear
from interlock.looker.look import paths_of
from interlock.looker.targets import real, whole

_GLOB = frozenset("*?[")


def scope_of(question: Mapping[str, Any], scope: Scope) -> list[str]:
    """Fills the scope, and gives the folders back; raises Unclear for what is not fully understood."""
    bases = [str(base) for base in question["bases"]]
    if not bases or not all(base.startswith("/") for base in bases):
        raise Unclear("the folder is not known")
    for deed in question["deeds"]:
        verb = str(deed["verb"])
        if verb == "git":
            words, after = ([str(word) for word in deed.get(name, ())] for name in ("words", "after"))
            if not sum(git(base, words, scope, after) for base in bases):
                raise Unclear("there is no repository")
        elif verb in _FILES:
            _FILES[verb](deed, _meant(deed, bases, scope), scope)
            _led(deed, bases, scope)
        else:
            raise Unclear(f"what {verb} changes is not known here")
    return [os.path.realpath(base) for base in bases]


def _meant(deed: Mapping[str, Any], bases: Sequence[str], scope: Scope) -> list[str]:
    """The paths that are there; without any, those that come into being."""
    found = sorted(dict.fromkeys(paths_of(deed, bases, scope.home, scope.budget)))
    if found or "found" in deed or _GLOB & set(str(deed["target"])):
        return found
    return [os.path.realpath(whole(base, str(deed["target"]), scope.home)) for base in bases]


def _deleted(deed: Mapping[str, Any], paths: Sequence[str], scope: Scope) -> None:
    for path in paths:
        if "found" in deed:  # a search deletes a folder only when nothing is left in it
            scope.path(path)
        elif os.path.lexists(path):
            scope.tree(path)
            _holder(deed, path, scope)


def _holder(deed: Mapping[str, Any], path: str, scope: Scope) -> None:
    """What deletes everything in a folder may delete the folder."""
    holder = os.path.dirname(path)
    if str(deed["target"]).endswith("*") and os.stat(holder).st_uid == os.geteuid() and not scope.folder.own(holder):
        scope.path(holder)


def _led(deed: Mapping[str, Any], bases: Sequence[str], scope: Scope) -> None:
    """Nor is it known whether a link that leads to such a folder stays: `find link -delete` takes the link."""
    target = str(deed["target"]).rstrip("*").rstrip("/")
    if deed["verb"] == "delete" and str(deed["target"]).endswith("*") and not _GLOB & set(target):
        for path in (real(whole(base, target, scope.home)) for base in bases if target):
            if os.path.islink(path):
                scope.path(path)


def _emptied(deed: Mapping[str, Any], paths: Sequence[str], scope: Scope) -> None:
    _written(paths, scope, "empty")


def _overwritten(deed: Mapping[str, Any], paths: Sequence[str], scope: Scope) -> None:
    _written(paths, scope, "")


def _written(paths: Sequence[str], scope: Scope, leaves: str) -> None:
    """What is written goes through links; a program that renames replaces the link itself: both are kept."""
    for path in paths:
        behind = os.path.realpath(path)
        if os.path.isdir(behind):
            raise Unclear(f"{os.path.basename(path)} is no ordinary file")
        scope.path(behind, leaves=leaves)
        if behind != path:
            scope.path(path)


def _database(deed: Mapping[str, Any], paths: Sequence[str], scope: Scope) -> None:
    for path in paths:
        behind = os.path.realpath(path)
        if not os.path.isfile(behind):
            raise Unclear("there is no such database")
        scope.databases[behind] = None


_FILES: dict[str, Callable[[Mapping[str, Any], Sequence[str], Scope], None]] = {
    "delete": _deleted,
    "truncate": _emptied,
    "overwrite": _overwritten,
    "database": _database,
}
