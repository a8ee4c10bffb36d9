"""Where else does a file exist? In Git as it is, nowhere, or it can be made again; and everything below a folder, file by file."""

from __future__ import annotations

import os
import stat

from interlock.looker.budget import Budget, Unclear
from interlock.looker.opened import blob_id
from interlock.looker.repository import Repository, repository_of
from interlock.looker.tally import Tally

REGENERABLE = frozenset(
    "node_modules bower_components target dist build out __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .venv venv .eggs "
    ".next .nuxt .svelte-kit .turbo .parcel-cache .gradle .cache coverage htmlcov .nyc_output .coverage cmake-build-debug "
    "cmake-build-release DerivedData .terraform .dart_tool .angular storybook-static".split()
)
_MADE = (".pyc", ".pyo", ".o", ".obj", ".class", ".egg-info", ".tsbuildinfo", ".log.gz")
TEMP = ("/tmp", "/var/tmp")


class Standing:
    """Looks at files one by one, and remembers which repository a folder belongs to."""

    def __init__(self, tally: Tally, budget: Budget, temp: tuple[str, ...] = TEMP, base: str = "/") -> None:
        self.tally, self.budget, self.base = tally, budget, base
        self.temp = tuple(os.path.realpath(one) for one in temp)
        self._repositories: dict[str, Repository | None] = {}

    def tree(self, path: str) -> None:
        """Everything below a path that would be deleted; raises OSError for what cannot be looked into."""
        todo = [path]
        while todo:
            at = todo.pop()
            self.budget.entry()
            found = os.lstat(at)
            if not stat.S_ISDIR(found.st_mode):
                self.file(at, found)
            elif os.path.basename(at) == ".git":
                self.tally.lost(f"{self._name(at)} (the repository with its history)", 0)
            elif not self._made_again(at):
                self.tally.found = True
                with os.scandir(at) as entries:
                    todo += [entry.path for entry in entries]

    def file(self, path: str, found: os.stat_result) -> None:
        """One file that would be deleted, emptied or replaced."""
        mode = found.st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISREG(mode) and not found.st_size):
            self.tally.nothing()
        elif not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            raise Unclear(f"{os.path.basename(path)} is no ordinary file")
        elif self._kept(path, found):
            self.tally.recoverable(found.st_size)
        else:
            self.tally.lost(self._name(path), found.st_size)

    def repository(self, folder: str) -> Repository | None:
        """The repository of a real folder."""
        if folder not in self._repositories:
            holder = os.path.dirname(folder)
            if folder != "/" and not os.path.lexists(os.path.join(folder, ".git")):
                self._repositories[folder] = self.repository(holder)
            else:
                self._repositories[folder] = repository_of(folder, self.budget)
        return self._repositories[folder]

    def _kept(self, path: str, found: os.stat_result) -> bool:
        if f"{os.sep}.git{os.sep}" in path:
            return False
        repository = self.repository(os.path.dirname(path))
        if repository is None:
            return any(path.startswith(f"{one}/") for one in self.temp)
        inside = repository.inside(path)
        if os.path.basename(path) == ".git":  # of a work tree or submodule: the repository itself is elsewhere
            return True
        entry = repository.index.entries.get(inside)
        if (
            entry is not None
        ):  # by its content: times say what Git was told, and a filter may have stored something else
            return blob_id(path, found, self.budget) == entry.oid and repository.objects.has(entry.oid)
        return _regenerable(inside) and repository.ignored(inside)

    def _made_again(self, folder: str) -> bool:
        """A whole folder that Git ignores and that is made again by a program; it is not walked."""
        if os.path.basename(folder) not in REGENERABLE:
            return False
        repository = self.repository(os.path.dirname(folder))
        if repository is None:
            return False
        inside = repository.inside(folder)
        if not repository.ignored(inside, True) or any(
            name.startswith(f"{inside}/") for name in repository.index.entries
        ):
            return False
        self.tally.kept += 1
        self.tally.note(f"{self._name(folder)} is ignored by Git and can be made again")
        return True

    def _name(self, path: str) -> str:
        inside = os.path.relpath(path, self.base)
        return path if inside.startswith("..") else inside


def _regenerable(inside: str) -> bool:
    return inside.endswith(_MADE) or any(part in REGENERABLE for part in inside.split("/"))
