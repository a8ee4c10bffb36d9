"""Where else does a file exist? In Git as it is, nowhere, or it can be made again; and everything below a folder, file by file."""

from __future__ import annotations

import os
import stat

from interlock.looker.budget import Budget, Unclear
from interlock.looker.made import Own
from interlock.looker.opened import blob_id
from interlock.looker.repository import Repository, repository_of
from interlock.looker.tally import Tally

REGENERABLE = frozenset(
    "node_modules bower_components target dist build out __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .venv venv .eggs "
    ".next .nuxt .svelte-kit .turbo .parcel-cache .gradle .cache coverage htmlcov .nyc_output .coverage cmake-build-debug "
    "cmake-build-release DerivedData .terraform .dart_tool .angular storybook-static TestResults StrykerOutput .godot .ipynb_checkpoints "
    ".docusaurus .expo .vite .output .swc bin obj".split()
)
# Names that mean so only beside the project file of what makes them.
_BESIDE = {"bin": (".csproj", ".fsproj", ".vbproj"), "obj": (".csproj", ".fsproj", ".vbproj")}
_MADE = (".pyc", ".pyo", ".o", ".obj", ".class", ".egg-info", ".tsbuildinfo", ".log.gz")
TEMP = ("/tmp", "/var/tmp")


class Standing:
    """Looks at files one by one, and remembers which repository a folder belongs to."""

    def __init__(
        self,
        tally: Tally,
        budget: Budget,
        temp: tuple[str, ...] = TEMP,
        base: str = "/",
        own: Own | None = None,
        home: str = "",
    ) -> None:
        self.tally, self.budget, self.base, self.home = tally, budget, base, home
        self.own = own if own is not None else Own.of((), budget)
        self.temp = tuple(os.path.realpath(one) for one in temp)
        self._caches = (f"{os.path.realpath(home)}/.cache/",) if home else ()
        self._repositories: dict[str, Repository | None] = {}

    def tree(self, path: str) -> None:
        """Everything below a path that would be deleted; raises OSError for what cannot be looked into."""
        self.budget.entry()
        found = os.lstat(path)
        todo = [path] if stat.S_ISDIR(found.st_mode) else []
        if not todo:
            self.file(path, found)
        while todo:
            folder = todo.pop()
            if os.path.basename(folder) == ".git":
                self.tally.lost(f"{self._name(folder)} (the repository with its history)", 0)
                self.tally.repositories += 1
            elif not self.made_again(folder):
                self.tally.found = True
                todo += self._folder(folder)

    def _folder(self, folder: str) -> list[str]:
        """Looks at the files of a folder, and gives back the folders in it."""
        inner = []
        with os.scandir(folder) as entries:
            for entry in entries:
                self.budget.entry()
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.path)
                else:
                    self.file(entry.path, entry.stat(follow_symlinks=False), folder)
        return inner

    def file(self, path: str, found: os.stat_result, folder: str = "", worked: bool = False) -> None:
        """One file that would be deleted, emptied or replaced; of one that is worked on, what was committed is enough."""
        mode = found.st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISREG(mode) and not found.st_size):
            self.tally.nothing()
        elif not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            raise Unclear(f"{os.path.basename(path)} is no ordinary file")
        elif (worked and self._tracked(path)) or self._kept(path, found, folder or os.path.dirname(path)):
            self.tally.recoverable(found.st_size)
        elif self.own.file(path, found):
            self.tally.recoverable(found.st_size)
            self.tally.note("made by this session")
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

    def _tracked(self, path: str) -> bool:
        repository = self.repository(os.path.dirname(path))
        return repository is not None and repository.inside(path) in repository.index.entries

    def _kept(self, path: str, found: os.stat_result, folder: str) -> bool:
        if "/.git/" in path:
            return False
        repository = self.repository(folder)
        if repository is None:
            return path.startswith(self._caches) or any(path.startswith(f"{one}/") for one in self.temp)
        inside = repository.inside(path)
        if os.path.basename(path) == ".git":  # of a work tree or submodule: the repository itself is elsewhere
            return True
        entry = repository.index.entries.get(inside)
        if (
            entry is not None
        ):  # by its content: times say what Git was told, and a filter may have stored something else
            return blob_id(path, found, self.budget) == entry.oid and repository.objects.has(entry.oid)
        return _regenerable(inside) and repository.ignored(inside)

    def made_again(self, folder: str) -> bool:
        """A whole folder that Git ignores and that is made again by a program; it is not walked."""
        name = os.path.basename(folder)
        if name not in REGENERABLE or (name in _BESIDE and not _has(os.path.dirname(folder), _BESIDE[name])):
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
    return inside.endswith(_MADE) or any(part in REGENERABLE and part not in _BESIDE for part in inside.split("/"))


def _has(folder: str, endings: tuple[str, ...]) -> bool:
    """Whether a project file of that kind is there."""
    with os.scandir(folder) as entries:
        return any(entry.name.endswith(endings) for entry in entries)
