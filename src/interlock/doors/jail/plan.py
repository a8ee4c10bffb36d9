"""★ An agent, its hooks, this user and what is granted -> the jail: what is fixed, hidden and kept in place, and the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import interlock
from interlock.config import Config
from interlock.doors.jail import switches
from interlock.doors.jail.grants import GRANTS, places, pointed, variables
from interlock.doors.jail.mounts import How, World
from interlock.service.jails import FOLDER, JOURNAL, SOCKET

# Of what is hidden with /run, this much is needed to find other machines and programs.
_NEEDED = "/run/systemd/resolve /run/resolvconf /run/NetworkManager/resolv.conf /run/nscd /run/current-system /run/opengl-driver /run/host"
_SYSTEM = ("/run", "/var/run")
_ABSTRACT = frozenset({"x11", "dbus"})
_FIXED_ONLY = "startup"  # is read by everybody and written by nobody


@dataclass(frozen=True, slots=True)
class Situation:
    """Who starts what, and where."""

    config: Config
    home: Path
    cwd: Path
    command: Sequence[str]
    environ: Mapping[str, str]
    granted: Collection[str] = ()

    @property
    def runtime(self) -> Path:
        """The user's runtime folder."""
        return Path(self.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")


@dataclass(slots=True)
class Jail:
    """What the agent gets."""

    world: World
    state: Path
    runtime: Path
    cwd: Path
    command: Sequence[str]
    environ: dict[str, str]
    abstract: bool = False  # whether sockets without a path stay in reach: a display's, or a bus's, that was granted
    fixed: list[str] = field(
        default_factory=list
    )  # the files that decide about hooks, as they have to be found in its mounts


def planned(at: Situation) -> Jail:
    """The jail. What is hidden comes first, then what is let in again, then what stays in its place."""
    world = World()
    withheld = [word for word in GRANTS if word not in at.granted]
    for path in (
        *map(Path, _SYSTEM),
        *_reached(withheld, at),
    ):  # whatever listens in /run is out of reach, known or not
        world.put(path, How.HIDE)
    let_in = [at.home, at.cwd, *_code(), *map(Path, _NEEDED.split()), *_sockets(at), *_reached(at.granted, at)]
    for path in let_in:
        world.put(path, How.KEEP)
    for path in let_in[:2]:
        world.pin(path)
    _state(world, at)
    for name in at.config.channels.files:  # what opens the ways to people
        world.put(Path(at.config.path).parent / Path(name).expanduser(), How.HIDE)
    startup = places(_FIXED_ONLY, at.home, at.runtime) if _FIXED_ONLY in withheld else ()
    for path in (*_code(), *_settings(at.config), *startup):
        world.fix(path)
    fixed = _hooks(world, at)
    away = {name for word in withheld for name in variables(word, at.environ)} | at.config.channels.variables
    environ = {name: value for name, value in at.environ.items() if name not in away}
    abstract = not _ABSTRACT.isdisjoint(at.granted)
    return Jail(world, at.config.folder.resolve(), at.runtime, at.cwd.resolve(), at.command, environ, abstract, fixed)


def _reached(words: Iterable[str], at: Situation) -> Iterator[Path]:
    """Where what these words stand for can be reached."""
    for word in words:
        if word != _FIXED_ONLY:
            yield from places(word, at.home, at.runtime)
            yield from pointed(word, at.environ)


def _code() -> list[Path]:
    """What a hook runs: this program, and the Python that it was installed for."""
    found = [Path(interlock.__file__).parent, Path(sys.prefix), Path(sys.executable).parent]
    base = Path(sys.base_prefix)
    return [*found, base] if base.is_relative_to(Path.home()) else found


def _settings(config: Config) -> list[Path]:
    named = [Path(name).expanduser() for name in config.adapters]
    return [*([Path(config.path)] if config.path else []), *config.rule_files, *named]


def _sockets(at: Situation) -> list[Path]:
    """The daemon's sockets, where they are not in the state folder."""
    paths = {at.config.socket_path, at.config.agents_socket}
    return [path for path in sorted(paths) if path.parent.resolve() != at.config.folder.resolve()]


def _state(world: World, at: Situation) -> None:
    """Of the state folder, the hook client, the socket, and a place for what hooks decide while no daemon answers."""
    state = at.config.folder.resolve()
    world.pin(state)
    world.put(state, How.HIDE)
    world.put(state / "bin", How.FIX)
    world.put(state / FOLDER, How.FIX)
    world.put(state / FOLDER / JOURNAL, How.KEEP)
    if at.config.socket_path.parent.resolve() == state:
        world.put(state / at.config.socket_path.name, How.LINK, f"{FOLDER}/{SOCKET}")


def _hooks(world: World, at: Situation) -> list[str]:
    """Fixes every file that decides about the hooks of a guarded agent; answers those with hooks."""
    found = switches.guarded(at.config, at.home, at.cwd)
    fixed = {path for paths in found.values() for path in paths}
    for word in found:
        fixed.update(path for path in switches.files(word, at.home, at.cwd) if path.exists())
    for path in sorted(fixed):
        world.fix(path)
    return sorted({str(path.resolve()) for path in fixed})
