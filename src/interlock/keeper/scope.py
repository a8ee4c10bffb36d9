"""Everything whose state an action may change: paths, branches, databases, and what nothing but these holds."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field

from interlock.keeper.folder import Folder
from interlock.keeper.manifest import Remote
from interlock.keeper.places import Places
from interlock.looker.budget import Budget, Unclear
from interlock.looker.repository import Repository
from interlock.looker.standing import Standing
from interlock.looker.tally import Tally
from interlock.looker.targets import made_up


@dataclass(slots=True)
class Touched:
    """What changes of one repository beside its files: branches with what becomes of them, and what only they hold."""

    repository: Repository
    refs: dict[str, str] = field(default_factory=dict)
    tips: dict[bytes, None] = field(default_factory=dict)
    blobs: dict[bytes, None] = field(default_factory=dict)


@dataclass(slots=True)
class Scope:
    """Collects what has to be kept; more than a deed changes is harmless, less is not."""

    budget: Budget
    places: Places
    folder: Folder
    home: str = ""
    trees: dict[str, None] = field(default_factory=dict)
    paths: dict[str, tuple[str, str]] = field(default_factory=dict)  # with role, and what is left there
    touched: dict[str, Touched] = field(default_factory=dict)
    databases: dict[str, None] = field(default_factory=dict)
    remotes: list[Remote] = field(default_factory=list)
    _standing: Standing | None = None

    @property
    def standing(self) -> Standing:
        if self._standing is None:
            self._standing = Standing(Tally(), self.budget, (), home=self.home)
        return self._standing

    def path(self, path: str, role: str = "", leaves: str = "") -> None:
        self.budget.entry()
        if made_up(path):
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
        if made_up(path):
            raise Unclear("it is no ordinary file system")
        self.trees[path] = None

    def git(self, repository: Repository) -> Touched:
        return self.touched.setdefault(repository.own, Touched(repository))
