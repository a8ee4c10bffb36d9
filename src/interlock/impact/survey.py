"""Counts the files and commits that would be lost: committed, regenerable, created in this session, or existing nowhere else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field

from interlock.impact import Budget, BudgetExceeded, Unclear, blob_id
from interlock.impact.git import Repository, repository_of
from interlock.impact.targets import real_path
from interlock.model import Json, Loss
from interlock.policy.impact import MISSING, NAMES, Impact


class ImpactTally(Struct):
    verb: str = "delete"
    files: int = 0
    bytes: int = 0
    only: int = 0
    names: list[str] = []
    restorable: int = 0  # things that can be restored from elsewhere
    presumed: int = 0  # of these, how many only by a name and because Git ignores them
    commits: int = 0
    safe: int = 0
    gone: int = 0  # commits, stashes and the like that cannot
    repositories: int = 0  # with their history
    found: bool = False
    absent: bool = False  # some target certainly does not exist
    notes: dict[str, None] = {}
    problem: str = ""

    def lost(self, name: str, size: int) -> None:
        """Its content exists nowhere else."""
        self._file(size)
        self.only += 1
        if len(self.names) < NAMES:
            self.names.append(name)

    def recoverable(self, size: int) -> None:
        """Its content exists elsewhere, or can be regenerated."""
        self._file(size)
        self.restorable += 1

    def note(self, words: str) -> None:
        self.found = True
        self.notes[words] = None

    def _file(self, size: int) -> None:
        self.found = True
        self.files += 1
        self.bytes += size

    def impact(self) -> Impact:
        problem = self.problem or ("" if self.found or self.absent else MISSING)
        if not self.found and not problem:
            self.notes[MISSING] = None
        loss = Loss.UNKNOWN if problem else Loss.RECOVERABLE if self.restorable or self.commits else Loss.NONE
        return Impact(
            Loss.LOST if self.only or self.gone else loss, self.verb, self.files, self.bytes, self.only, tuple(self.names),
            self.commits, self.safe, tuple(self.notes)[:NAMES], problem, self.repositories, self.presumed,
        )  # fmt: skip


MOST = 2_000


def file_mark(found: os.stat_result) -> str:
    """Another file of that name, or one changed since, has another mark."""
    return f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


class SessionFiles(Struct):
    files: dict[str, list[Json]]  # by the last part of their names
    refs: list[Json]
    budget: Budget
    _relied_on: set[str] = set()  # files whose copies were let go
    _gone: set[str] = set()

    @classmethod
    def of(cls, things: Sequence[Json], budget: Budget) -> SessionFiles:
        files: dict[str, list[Json]] = {}
        for thing in things[:MOST]:
            if thing["kind"] == "file":
                files.setdefault(os.path.basename(str(thing["name"])), []).append(thing)
        return cls(files, [one for one in things[:MOST] if one["kind"] != "file"], budget)

    def file(self, path: str, found: os.stat_result) -> bool:
        """Whether this session created this version; for a copy, also whether its source is still the same."""
        self._gone.add(path)
        same = (thing for thing in self._named(path) if thing.get("mark") == file_mark(found))
        return stat.S_ISREG(found.st_mode) and any(self._is_intact_copy(thing, path, found) for thing in same)

    def created(self, path: str) -> bool:
        """Whether this session created a file of this name, whatever is in it now."""
        return any(True for _ in self._named(path))

    def _named(self, path: str) -> Iterator[Json]:
        for thing in self.files.get(os.path.basename(path), ()):
            if real_path(os.path.join(str(thing.get("base", "/")), str(thing["name"]))) == path:
                yield thing

    @property
    def lost_with_its_copy(self) -> bool:
        return bool(self._relied_on & self._gone)

    def ref(self, repository: Repository, kind: str, name: str, remote: str = "") -> bool:
        """To that remote, where one is named."""
        return any(
            one["kind"] == kind
            and one["name"] == name
            and remote in ("", one.get("source", ""))
            and self._same(repository, str(one["base"]))
            for one in self.refs
        )

    def _is_intact_copy(self, thing: Json, path: str, found: os.stat_result) -> bool:
        if not thing.get("source"):
            return True
        source = os.path.realpath(os.path.join(str(thing.get("base", "/")), str(thing["source"])))
        try:
            there = os.lstat(source)
        except OSError:
            return False
        if there.st_size != found.st_size or os.path.samestat(there, found):
            return False
        self._relied_on.add(source)
        mark = blob_id(source, there, self.budget)
        return mark is not None and mark == blob_id(path, found, self.budget)

    def _same(self, repository: Repository, base: str) -> bool:
        other = repository_of(os.path.realpath(base), self.budget) if os.path.isdir(base) else None
        return other is not None and other.shared == repository.shared


REGENERABLE = frozenset(
    "node_modules bower_components target dist build out __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .venv venv .eggs "
    ".next .nuxt .svelte-kit .turbo .parcel-cache .gradle .cache coverage htmlcov .nyc_output .coverage cmake-build-debug "
    "cmake-build-release DerivedData .terraform .dart_tool .angular storybook-static TestResults StrykerOutput .godot .ipynb_checkpoints "
    ".docusaurus .expo .vite .output .swc bin obj".split()
)
# Names that are regenerable only beside a project file of the tool that generates them.
_NEEDS_PROJECT = dict.fromkeys(("bin", "obj"), (".csproj", ".fsproj", ".vbproj"))
_GENERATED = (".pyc", ".pyo", ".o", ".obj", ".class", ".egg-info", ".tsbuildinfo", ".log.gz")
TEMP = ("/tmp", "/var/tmp")


class FileSurvey(Struct, dict=True):
    budget: Budget
    tally: ImpactTally = field(default_factory=ImpactTally)
    temp: tuple[str, ...] = ()
    base: str = "/"
    home: str = ""
    own: SessionFiles = field(default_factory=lambda: SessionFiles({}, [], Budget(0.0)))
    lost: list[str] = []  # files whose content exists nowhere else
    _repositories: dict[str, Repository | None] = {}

    @cached_property
    def _passing(self) -> tuple[str, ...]:
        caches = [f"{os.path.realpath(self.home)}/.cache/"] if self.home else []
        return (*(f"{os.path.realpath(one)}/" for one in self.temp), *caches)

    def tree(self, path: str) -> None:
        """Raises OSError for an unreadable folder."""
        self.budget.entry()
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode):
            self.below(path, deletes=True)
        else:
            self.file(path, found)

    def below(self, path: str, deletes: bool = False) -> None:
        """What Git keeps for itself is only deleted."""
        todo = [path]
        while todo:
            folder = todo.pop()
            if os.path.basename(folder) == ".git":
                if deletes:
                    self.tally.lost(f"{self._name(folder)} (the repository with its history)", 0)
                    self.tally.repositories += 1
                continue
            if (deletes or folder != path) and self.is_regenerable(folder):
                continue
            self.tally.found = True
            with os.scandir(folder) as entries:
                for entry in entries:
                    self.budget.entry()
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    else:
                        self.file(entry.path, entry.stat(follow_symlinks=False), folder)

    def file(self, path: str, found: os.stat_result, folder: str = "") -> None:
        mode = found.st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISREG(mode) and not found.st_size):
            self.tally._file(0)  # without content
        elif not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            raise Unclear(f"{os.path.basename(path)} is no ordinary file")
        elif self._is_recoverable(path, found, folder or os.path.dirname(path)):
            self.tally.recoverable(found.st_size)
        elif self.own.file(path, found):
            self.tally.recoverable(found.st_size)
            self.tally.note("made by this session")
        else:
            self.tally.lost(self._name(path), found.st_size)
            self.lost.append(path)

    def repository(self, folder: str) -> Repository | None:
        if folder not in self._repositories:
            above = folder != "/" and not os.path.lexists(os.path.join(folder, ".git"))
            found = self.repository(os.path.dirname(folder)) if above else repository_of(folder, self.budget)
            self._repositories[folder] = found
        return self._repositories[folder]

    def _is_recoverable(self, path: str, found: os.stat_result, folder: str) -> bool:
        if "/.git/" in path:
            return False
        repository = self.repository(folder)
        if repository is None:
            return path.startswith(self._passing)
        inside = repository.inside(path)
        if os.path.basename(path) == ".git":  # of a work tree or submodule: the repository itself is elsewhere
            return True
        entry = repository.index.entries.get(inside)
        if entry is not None:  # by its content: times say what Git was told, and a filter may have stored another one
            return blob_id(path, found, self.budget) == entry.oid and repository.objects.has(entry.oid)
        made = any(part in REGENERABLE and part not in _NEEDS_PROJECT for part in inside.split("/"))
        if not (made or inside.endswith(_GENERATED)) or not repository.ignored(inside):
            return False
        self.tally.presumed += 1
        return True

    def is_regenerable(self, folder: str) -> bool:
        """A tagged cache, packages with their lock file, or a build that Git ignores."""
        name, holder = os.path.basename(folder), os.path.dirname(folder)
        proved = _is_proved(folder, name)
        if not proved:
            project = _NEEDS_PROJECT.get(name)
            if name not in REGENERABLE or (project and not any(one.endswith(project) for one in os.listdir(holder))):
                return False
            repository = self.repository(holder)
            if repository is None or not is_ignored_whole(repository, folder):
                return False
            self.tally.presumed += 1
        self.tally.restorable += 1
        why = "can be made again" if proved else "is ignored by Git and can be regenerated"
        self.tally.note(f"{self._name(folder)} {why}")
        return True

    def _name(self, path: str) -> str:
        inside = os.path.relpath(path, self.base)
        return path if inside.startswith("..") else inside


# Folders of packages, and the lock files beside them from which they are installed again.
_LOCKS = {
    "node_modules": "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb".split(),
    "Pods": ["Podfile.lock"],
    "vendor": ["composer.lock", "go.sum"],
    "deps": ["mix.lock"],
    **dict.fromkeys((".venv", "venv"), "uv.lock poetry.lock pdm.lock Pipfile.lock requirements.txt".split()),
}
_MOST = 100  # folders that a journal is told to leave out
_CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"


def _is_proved(folder: str, name: str) -> bool:
    """Tagged as a cache, or packages that a lock file beside the folder names."""
    if name in _LOCKS and any(os.path.isfile(f"{os.path.dirname(folder)}/{lock}") for lock in _LOCKS[name]):
        return "venv" not in name or os.path.isfile(f"{folder}/pyvenv.cfg")
    try:
        with open(f"{folder}/CACHEDIR.TAG", "rb") as tag:
            return stat.S_ISREG(os.fstat(tag.fileno()).st_mode) and tag.read(len(_CACHE_TAG)) == _CACHE_TAG
    except OSError:
        return False


def folders_made_again(cwd: str, budget: Budget) -> list[str]:
    """Above it too, up to the top of its repository; those that Git ignores whole and that are proved regenerable.

    None where the repository is not understood, or that takes too long.
    """
    try:
        repository = repository_of(os.path.realpath(cwd), budget)
        if repository is None:
            return []
        parts = list(filter(None, repository.inside(os.path.realpath(cwd)).split("/")))
        folders = ["/".join([repository.top, *parts[:count]]) for count in range(len(parts) + 1)]
        names = [f"{folder}/{name}" for folder in folders for name in sorted(REGENERABLE | _LOCKS.keys())]
        budget.entry(len(names))
        proved = [path for path in names if os.path.isdir(path) and _is_proved(path, os.path.basename(path))]
        return [path for path in proved if not os.path.islink(path) and is_ignored_whole(repository, path)][:_MOST]
    except (OSError, Unclear, BudgetExceeded):
        return []


def is_ignored_whole(repository: Repository, folder: str) -> bool:
    inside = repository.inside(folder)
    tracked = any(name.startswith(f"{inside}/") for name in repository.index.entries)
    return repository.ignored(inside, True) and not tracked
