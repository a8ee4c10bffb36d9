"""★ Plans the sandbox of an agent: mounts, environment, grants; its guard stays out of reach."""

from __future__ import annotations

import fcntl
import glob
import os
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import IntEnum
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, toml

import interlock
from interlock.agents import SCOPES, agent, words
from interlock.config import Config
from interlock.identity.isolation import FOLDER, JOURNAL, SOCKET
from interlock.install.discovery import hooked_files
from interlock.journal.build import supervisor_of

EMPTY = b"{}\n"


def guarded_files(at: SandboxSituation) -> dict[str, set[Path]]:
    found: dict[str, set[Path]] = {}
    for one in hooked_files(at.config, at.home, at.cwd):
        if not one.problem:
            found.setdefault(one.agent.word, set()).add(one.place.path)
    return found


def missing_files(word: str, project: Path) -> Iterator[Path]:
    """They could switch the hooks off once somebody creates them."""
    return (project / name for name in agent(word).placeholders if not os.path.lexists(project / name))


def agent_of_program(program: str) -> str:
    name = os.path.basename(program)
    return next((word for word in words() if name in agent(word).programs), "")


class Placeholders(Struct):
    """The last sandbox that needs one removes it."""

    folders: list[Path] = []
    held: dict[Path, int] = {}

    def make(self, paths: Iterable[Path]) -> list[str]:
        problems = []
        for path in paths:
            try:
                self._make(path)
            except OSError as error:
                problems.append(f"{path} could be created by the agent: {error.strerror or error}")
        return problems

    def _make(self, path: Path) -> None:
        for folder in [one for one in reversed(path.parents) if not one.exists()]:
            folder.mkdir()
            self.folders.append(folder)
        with suppress(FileExistsError), path.open("xb") as file:  # another sandbox may have been quicker
            file.write(EMPTY)
        self.held[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        fcntl.flock(self.held[path], fcntl.LOCK_SH | fcntl.LOCK_NB)

    def remove(self) -> None:
        """If nobody changed them and no other sandbox needs them."""
        while self.held:
            path, handle = self.held.popitem()
            with suppress(OSError):
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.pread(handle, len(EMPTY) + 1, 0) == EMPTY:
                        path.unlink()
                finally:
                    os.close(handle)
        for folder in reversed(self.folders):
            with suppress(OSError):
                folder.rmdir()


class MountMode(IntEnum):
    """Modes in the order of strictness: of two at one path the higher counts."""

    KEEP = 0  # as outside, but cannot be renamed or removed
    FIX = 1  # read-only
    HIDE = 2  # empty
    LINK = 3  # a link created in a hidden folder


class SandboxMount(Struct, frozen=True):
    path: Path
    how: MountMode
    folder: bool = True
    target: str = ""  # of a link


class SandboxMounts(Struct):
    """The mounts by path; all paths are real ones."""

    mounts: dict[Path, SandboxMount] = {}
    notes: list[str] = []  # for the person

    def put(self, path: Path, how: MountMode, target: str = "") -> None:
        """A stricter mode stays; ignores a missing path, except for a link."""
        if how is not MountMode.LINK:
            path = path.resolve()
            if not os.path.exists(path) or str(path) == "/":  # also where it may not be read
                return
        known = self.mounts.get(path)
        if known is None or known.how < how:
            self.mounts[path] = SandboxMount(path, how, path.is_dir(), target)

    def pin(self, path: Path) -> None:
        """Folders on the way become mounts, and links are in a fixed folder, so that nothing is renamed."""
        for folder, name in _path_steps(path):
            entry = folder / name
            if not os.access(folder, os.W_OK):
                continue
            if entry.is_symlink():
                # Nothing is created or renamed in a folder with links, and its files and folders stay writable.
                self.put(folder, MountMode.FIX)
                for other in folder.iterdir():
                    if stat.S_IFMT(other.lstat().st_mode) in (stat.S_IFDIR, stat.S_IFREG):
                        self.put(other, MountMode.KEEP)
                self.notes.append(f"{entry} is a symbolic link, so nothing new can be created in {folder}")
            elif entry.is_dir():
                nearest = next((self.mounts[one].how for one in (entry, *entry.parents) if one in self.mounts), None)
                self.put(entry, MountMode.HIDE if nearest is MountMode.HIDE else MountMode.KEEP)

    def fix(self, path: Path) -> None:
        self.pin(path)
        self.put(path, MountMode.FIX)

    def in_order(self) -> list[SandboxMount]:
        """Outer ones first, so that an inner one is not covered."""
        return sorted(self.mounts.values(), key=lambda one: (one.how is MountMode.LINK, len(one.path.parts), one.path))


def _path_steps(path: Path) -> Iterator[tuple[Path, str]]:
    folder, names = Path("/"), list(Path(os.path.abspath(path)).parts[1:])
    for _ in range(255):
        if not names:
            return
        name = names.pop(0)
        if name == "..":
            folder = folder.parent
            continue
        yield folder, name
        entry = folder / name
        if entry.is_symlink():
            target = Path(os.readlink(entry))
            names = [*(target.parts[1:] if target.is_absolute() else target.parts), *names]
            folder = Path("/") if target.is_absolute() else folder
        else:
            folder = entry


class SandboxGrant(Struct, frozen=True, forbid_unknown_fields=True):
    words: str
    places: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


GRANTS: Mapping[str, SandboxGrant] = MappingProxyType(
    toml.decode(Path(__file__).with_name("grants.toml").read_bytes(), type=dict[str, SandboxGrant])
)


def _places(word: str, at: SandboxSituation) -> Iterator[Path]:
    for place in GRANTS[word].places:
        text = place.replace("{uid}", str(os.getuid()))
        beginning = {"~": str(at.home), "@": str(at.runtime)}.get(text[0], "")
        pattern = f"{glob.escape(beginning)}{text[1:]}" if beginning else text
        yield from (Path(found) for found in sorted(glob.glob(pattern, include_hidden=True)))


def _variables(word: str, environ: Mapping[str, str]) -> list[str]:
    return [name for name in environ if any(fnmatchcase(name, known) for known in GRANTS[word].variables)]


# Parts of the hidden /run that are needed to find other machines and programs.
_NEEDED = "/run/systemd/resolve /run/resolvconf /run/NetworkManager/resolv.conf /run/nscd /run/current-system /run/opengl-driver /run/host"
_ABSTRACT = frozenset({"x11", "dbus"})
_FIXED_ONLY = "startup"  # stays readable, and only writing is granted


class SandboxSituation(Struct, frozen=True):
    config: Config
    home: Path
    cwd: Path
    command: Sequence[str]
    environ: Mapping[str, str]
    granted: Collection[str] = ()

    @property
    def runtime(self) -> Path:
        return Path(self.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")


class SandboxPlan(Struct):
    world: SandboxMounts
    state: Path
    runtime: Path
    cwd: Path
    command: Sequence[str]
    environ: dict[str, str]
    abstract: bool = False  # whether sockets without a path stay in reach: a display's, or a bus's, that was granted
    fixed: list[str] = []  # files that decide about hooks, as its mounts have to have them
    supervisor: str = ""  # the journal's, as it has to be found in there


def plan_sandbox(at: SandboxSituation) -> SandboxPlan:
    """Hidden paths first, then those that stay visible, then the fixed ones."""
    world, config = SandboxMounts(), at.config
    withheld = [word for word in GRANTS if word not in at.granted]
    for path in (Path("/run"), Path("/var/run"), *_grant_paths(withheld, at)):  # what listens in /run, known or not
        world.put(path, MountMode.HIDE)
    sockets = sorted({config.socket_path, config.agents_socket})
    away = [path for path in sockets if path.parent.resolve() != config.folder.resolve()]
    visible = [at.home, at.cwd, *_code(), *map(Path, _NEEDED.split()), *away, *_grant_paths(at.granted, at)]
    for path in visible:
        world.put(path, MountMode.KEEP)
    for path in visible[:2]:
        world.pin(path)
    _state(world, at)
    for name in config.channels.files:  # what opens the ways to people
        world.put(Path(config.path).parent / Path(name).expanduser(), MountMode.HIDE)
    startup = _places(_FIXED_ONLY, at) if _FIXED_ONLY in withheld else ()
    named = [Path(name).expanduser() for name in config.adapters]
    for path in (*_code(), *([Path(config.path)] if config.path else []), *config.rule_files, *named, *startup):
        world.fix(path)
    fixed = _hooks(world, at)
    unset = {name for word in withheld for name in _variables(word, at.environ)} | config.channels.variables
    environ = {name: value for name, value in at.environ.items() if name not in unset}
    abstract = not _ABSTRACT.isdisjoint(at.granted)
    state, cwd, program = (path.resolve() for path in (config.folder, at.cwd, supervisor_of(config)))
    return SandboxPlan(world, state, at.runtime, cwd, at.command, environ, abstract, fixed, str(program))


def _grant_paths(words: Iterable[str], at: SandboxSituation) -> Iterator[Path]:
    for word in words:
        if word == _FIXED_ONLY:
            continue
        yield from _places(word, at)
        for name in _variables(word, at.environ):
            value = at.environ[name]
            for part in (value, *value.split(",")):
                path = part.partition("path=")[2] or part.removeprefix("unix://").removeprefix("unix:")
                if path.startswith("/") and os.path.lexists(path):
                    yield Path(path)


def _code() -> list[Path]:
    found = [Path(interlock.__file__).parent, Path(sys.prefix), Path(sys.executable).parent]
    base = Path(sys.base_prefix)
    return [*found, base] if base.is_relative_to(Path.home()) else found


def _state(world: SandboxMounts, at: SandboxSituation) -> None:
    """Hides all but the hook client, the socket, and the journal of hooks while no daemon answers."""
    state = at.config.folder.resolve()
    world.pin(state)
    world.put(state, MountMode.HIDE)
    world.put(state / "bin", MountMode.FIX)
    world.put(state / FOLDER, MountMode.FIX)
    world.put(state / FOLDER / JOURNAL, MountMode.KEEP)
    if at.config.socket_path.parent.resolve() == state:
        world.put(state / at.config.socket_path.name, MountMode.LINK, f"{FOLDER}/{SOCKET}")


def _hooks(world: SandboxMounts, at: SandboxSituation) -> list[str]:
    found = guarded_files(at)
    fixed = {path for paths in found.values() for path in paths}
    for one in map(agent, found):
        places = (place.path for scope in SCOPES for place in one.places(scope, at.home, at.cwd))
        fixed.update(path for path in (*places, *one.settings_files(at.home, at.cwd)) if path.exists())
    for path in sorted(fixed):
        world.fix(path)
    return sorted({str(path.resolve()) for path in fixed})
