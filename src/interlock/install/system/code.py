"""Copies Interlock's code where only root can change it; refuses files and folders that others can write."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Set
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from interlock.agents import CLIENT
from interlock.problems import ExpectedError

MARK = "interlock-code"  # the file that identifies the code
_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_HIDDEN = tuple(map(Path, ("/home", "/root", "/run/user")))  # by the unit's ProtectHome
_LAUNCHER = """\
#!{python} -I
import sys
from interlock.cli.main import main
sys.exit(main())
"""


class CannotSetUp(ExpectedError):
    """A step of an installation failed; the message is a sentence for a person."""


def system_python() -> Path:
    """A Python of this version that only root can change and everybody can run."""
    own = Path(os.path.realpath(sys.executable))
    tried = []
    for place in dict.fromkeys((own, Path("/usr/bin") / _VERSION, Path("/usr/local/bin") / _VERSION)):
        why = why_writable(place) or why_unreachable(place)
        if not why:
            return place
        tried.append(why)
    raise CannotSetUp(f"no {_VERSION} that only root can change and everybody can run: {'; '.join(tried)}")


def code_mark() -> str:
    found = hashlib.sha256(f"{_VERSION} {system_python()}".encode())
    package = _package()
    for path in sorted(path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        found.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    for one in sorted(_distributions(), key=lambda one: one.name):
        found.update(f"{one.name} {one.version}\0".encode())
    return found.hexdigest()


def is_installed(folder: Path) -> bool:
    try:
        return (folder / MARK).read_text("ascii").strip() == code_mark()
    except OSError:
        return False


def copy_code(folder: Path) -> None:
    """Whole or not at all; refuses a folder that others can change or replace."""
    if why := why_writable(folder.parent):
        raise CannotSetUp(why)
    new, old = folder.with_name(folder.name + ".new"), folder.with_name(folder.name + ".old")
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    mask = os.umask(0o022)
    try:
        _fill(new, folder)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    finally:
        os.umask(mask)
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)


def _fill(new: Path, final: Path) -> None:
    base, site = system_python(), new / "lib" / _VERSION / "site-packages"
    site.mkdir(parents=True)
    (new / "bin").mkdir()
    (new / "bin" / "python").symlink_to(base)
    version = ".".join(map(str, sys.version_info[:3]))
    settings = f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {version}\n"
    (new / "pyvenv.cfg").write_text(settings)
    for one in _distributions():
        _copy_parts(one, site)
    shutil.copytree(_package(), site / "interlock", symlinks=False)
    _make_readable(new)
    client = final / "bin" / CLIENT
    if client.is_file():  # agents may be running it
        shutil.copy2(client, new / "bin" / CLIENT)
    launcher = new / "bin" / "interlock"
    launcher.write_text(_LAUNCHER.format(python=final / "bin" / "python"))
    launcher.chmod(0o755)
    (new / MARK).write_text(code_mark() + "\n")


def _copy_parts(one: Distribution, site: Path) -> None:
    for file in one.files or ():
        source, target = Path(str(one.locate_file(file))), site / str(file)
        own_path = one.name == "interlock" and source.suffix == ".pth"
        if source.is_file() and not own_path and ".." not in Path(str(file)).parts:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def _make_readable(folder: Path) -> None:
    for root, folders, files in os.walk(folder):
        for place in [Path(root, name) for name in (*folders, *files)]:
            os.chown(place, 0, 0, follow_symlinks=False)
            if not place.is_symlink():
                place.chmod(0o755 if place.is_dir() or place.stat().st_mode & 0o100 else 0o644)


def _package() -> Path:
    import interlock

    return Path(str(interlock.__file__)).parent


def _distributions() -> list[Distribution]:
    found: dict[str, Distribution] = {}
    asked: dict[str, set[str]] = {}
    waiting = [("interlock", frozenset[str]())]
    while waiting:
        name, extras = waiting.pop()
        if name in found and extras <= asked[name]:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # for another platform or Python version
        asked.setdefault(name, set()).update(extras)
        waiting += _requirements(found[name], asked[name])
    if "interlock" not in found:
        raise CannotSetUp("this Interlock was not installed as a package; pip install it first")
    return list(found.values())


def _requirements(one: Distribution, extras: Set[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for line in one.requires or ():
        head, _, marker = line.partition(";")
        wanted = set(_EXTRA.findall(marker))
        if (name := _NAME.match(head)) and (not wanted or wanted & extras):
            more = frozenset(extra.strip() for extra in (name[2] or "").split(",") if extra.strip())
            yield name[1].lower().replace("_", "-"), more


def why_writable(path: Path) -> str:
    """Why someone other than root could change this path; empty where nobody can. Follows every link."""
    return _first_problem(path, _ownership_problem)


def _first_problem(path: Path, problem: Callable[[Path], str]) -> str:
    for place in _path_chain(path):
        try:
            if why := problem(place):
                return why
        except OSError as error:
            return f"{place}: {error.strerror}"
    return ""


def why_unreachable(path: Path) -> str:
    """Why the daemon's service could not run this path; empty where it can."""
    return _first_problem(path, _reach_problem)


def _reach_problem(place: Path) -> str:
    if place in _HIDDEN:
        return f"{place} is hidden from services"
    closed = not stat.S_ISLNK(place.lstat().st_mode) and not place.stat().st_mode & stat.S_IXOTH
    return f"{place} is closed to other users" if closed else ""


def why_writable_inside(folder: Path) -> str:
    below = (Path(root, name) for root, folders, files in os.walk(folder) for name in (*folders, *files))
    return next(filter(None, map(_ownership_problem, below)), "")


def _ownership_problem(place: Path) -> str:
    found = place.lstat()
    if found.st_uid != 0:
        return f"{place} belongs to user {found.st_uid}, not to root"
    if stat.S_ISLNK(found.st_mode):
        return ""
    sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX  # sticky: nobody can move root's files in it
    writers = found.st_mode & (0o002 if found.st_gid == 0 else 0o022)
    return f"{place} can be written by others than root" if writers and not sticky else ""


def _path_chain(path: Path) -> Iterator[Path]:
    visited: set[Path] = set()
    waiting = [Path(os.path.abspath(path))]
    while waiting and len(visited) < 256:
        place = waiting.pop()
        for step in (*reversed(place.parents), place):
            if step in visited:
                continue
            visited.add(step)
            yield step
            if step.is_symlink():
                waiting.append(Path(os.path.abspath(step.parent / os.readlink(step))))
