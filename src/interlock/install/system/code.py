"""Copies Interlock's code where only root can change it; refuses files and folders that others can write."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator, Set
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from interlock.agents import CLIENT

MARK = "interlock-code"  # the file that says which code this is
_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_LAUNCHER = """\
#!{python} -I
import sys
from interlock.cli.main import main
sys.exit(main())
"""


class NoCode(Exception):
    """The code cannot be put where only root can change it; the message says why."""


def system_python() -> Path:
    """A Python of this version that only root can change and everybody can run."""
    own = Path(os.path.realpath(sys.executable))
    tried = []
    for place in dict.fromkeys((own, Path("/usr/bin") / _VERSION, Path("/usr/local/bin") / _VERSION)):
        why = why_writable(place) or why_unreachable(place)
        if not why:
            return place
        tried.append(why)
    raise NoCode(f"no {_VERSION} that only root can change and everybody can run: {'; '.join(tried)}")


def code_mark() -> str:
    """A hash that tells this code from another: the package, its parts' versions, the Python."""
    found = hashlib.sha256(f"{_VERSION} {system_python()}".encode())
    package = _package()
    for path in sorted(path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        found.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    for one in sorted(_needed(), key=lambda one: one.name):
        found.update(f"{one.name} {one.version}\0".encode())
    return found.hexdigest()


def is_installed(folder: Path) -> bool:
    """Whether this very code is in the folder."""
    try:
        return (folder / MARK).read_text("ascii").strip() == code_mark()
    except OSError:
        return False


def copy_code(folder: Path) -> None:
    """Puts the code there in one move; refuses a folder that others can change or put something else in the place of."""
    if why := why_writable(folder.parent):
        raise NoCode(why)
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
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _fill(new: Path, final: Path) -> None:
    """As `python -m venv` would, without a way to install more."""
    base, site = system_python(), new / "lib" / _VERSION / "site-packages"
    site.mkdir(parents=True)
    (new / "bin").mkdir()
    (new / "bin" / "python").symlink_to(base)
    version = ".".join(map(str, sys.version_info[:3]))
    (new / "pyvenv.cfg").write_text(
        f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {version}\n"
    )
    for one in _needed():
        _copy_parts(one, site)
    shutil.copytree(_package(), site / "interlock", symlinks=False)
    _plain(new)
    client = final / "bin" / CLIENT
    if client.is_file():  # agents call it at this moment
        shutil.copy2(client, new / "bin" / CLIENT)
    launcher = new / "bin" / "interlock"
    launcher.write_text(_LAUNCHER.format(python=final / "bin" / "python"))
    launcher.chmod(0o755)
    (new / MARK).write_text(code_mark() + "\n")


def _copy_parts(one: Distribution, site: Path) -> None:
    """The files of a distribution, but for its programs."""
    for file in one.files or ():
        source, target = Path(str(one.locate_file(file))), site / str(file)
        if (
            ".." in Path(str(file)).parts
            or not source.is_file()
            or (one.name == "interlock" and source.suffix == ".pth")
        ):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _plain(folder: Path) -> None:
    """Root's, for everybody to read; whatever the modes and owners were where it came from."""
    for root, folders, files in os.walk(folder):
        for place in [Path(root, name) for name in (*folders, *files)]:
            os.chown(place, 0, 0, follow_symlinks=False)
            if not place.is_symlink():
                place.chmod(
                    0o755 if place.is_dir() or (os.access(place, os.X_OK) and place.stat().st_mode & 0o100) else 0o644
                )


def _package() -> Path:
    import interlock

    return Path(str(interlock.__file__)).parent


def _needed() -> list[Distribution]:
    """Interlock and everything that it requires, as it is installed here."""
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
            continue  # for another system, or another version of Python
        asked.setdefault(name, set()).update(extras)
        waiting += _required(found[name], asked[name])
    if "interlock" not in found:
        raise NoCode("this Interlock was not installed as a package; pip install it first")
    return list(found.values())


def _required(one: Distribution, extras: Set[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """What a distribution requires by itself, and for these of its extras."""
    for line in one.requires or ():
        head, _, marker = line.partition(";")
        wanted = set(_EXTRA.findall(marker))
        if (name := _NAME.match(head)) and (not wanted or wanted & extras):
            more = frozenset(extra.strip() for extra in (name[2] or "").split(",") if extra.strip())
            yield name[1].lower().replace("_", "-"), more


def why_writable(path: Path) -> str:
    """Why somebody else than root could change what stands here, in words; nothing where nobody can. Links are followed, each on its way."""
    for place in _way(path):
        try:
            found = place.lstat()
        except OSError as error:
            return f"{place}: {error.strerror}"
        if why := _owned(place, found):
            return why
    return ""


def why_unreachable(path: Path) -> str:
    """Why another user could not run what stands here; nothing where anybody can."""
    for place in _way(path):
        try:
            if not stat.S_ISLNK(place.lstat().st_mode) and not place.stat().st_mode & stat.S_IXOTH:
                return f"{place} is closed to other users"
        except OSError as error:
            return f"{place}: {error.strerror}"
    return ""


def why_writable_inside(folder: Path) -> str:
    """The same for everything below a folder."""
    for root, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            place = Path(root, name)
            if why := _owned(place, place.lstat()):
                return why
    return ""


def _owned(place: Path, found: os.stat_result) -> str:
    if found.st_uid != 0:
        return f"{place} belongs to user {found.st_uid}, not to root"
    if stat.S_ISLNK(found.st_mode):
        return ""
    sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX  # nobody can move what is root's in it
    writers = found.st_mode & (0o002 if found.st_gid == 0 else 0o022)
    return f"{place} can be written by others than root" if writers and not sticky else ""


def _way(path: Path) -> Iterator[Path]:
    """The path, what is above it, and wherever links on it lead."""
    seen: set[Path] = set()
    waiting = [Path(os.path.abspath(path))]
    while waiting and len(seen) < 256:
        place = waiting.pop()
        for step in (*reversed(place.parents), place):
            if step in seen:
                continue
            seen.add(step)
            yield step
            if step.is_symlink():
                waiting.append(Path(os.path.abspath(step.parent / os.readlink(step))))
