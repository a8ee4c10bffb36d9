"""Classifies a path by its text alone: system, home, project, build output, cache, secret, device."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from functools import lru_cache

from interlock.analysis.facts import HOLE, QUOTED, without_holes
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.packs import own_words

_NAMES = own_words("analysis/place_names.toml")


def known_places() -> frozenset[str]:
    return _NAMES.kinds


def _listed(key: str, before: str = "", flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return lazy_regex(lambda: f"{before}({'|'.join(_NAMES.in_order(key))})", flags)


BUILD = _listed("build")
BUILD_ANYWHERE = _listed("build_anywhere")  # the others only mean that inside a project
CACHE = _listed("cache")
LOG = _listed("log")
SCRATCH = _listed("scratch")
BACKUP = _listed("backup")
SECRET = _listed("secret", "(.*/)?")
SECRET_COPY = lazy_regex(
    r"(.+?)(?:[.-](?:bak|old|orig|backup|save|copy|\d+)|~|\.(?:gz|bz2|xz|zst|zip|tar|tgz|7z|b64))+", re.IGNORECASE
)
SYSTEM_SECRET = _listed("system_secret", flags=0)
NOT_SECRET = _listed("not_secret")
START_FILE = _listed("start_file", r"\.")
SHELL_CONFIG = _listed("shell_config")
GUARD = _listed("guard", "(.*/)?")
AGENT_CONFIG = _listed("agent_config", "(.*/)?")
TEMP = _listed("temp")
DEVICE = _listed("device", "/dev/")
WINDOWS_DEVICE = _listed("windows_device")
REMOTE = lazy_regex(r"[a-z][a-z0-9+.-]*://.*|[\w.@-]+:(?!\\).*")
DRIVE = lazy_regex(r"([a-zA-Z]):(?=$|[\\/])")
HOMES = lazy_regex(r"/(home|users|root|export/home|var/home)(/([^/]+))?(/.*)?$", re.IGNORECASE)
ALL_BUT = lazy_regex(r"[!@*+?]\(.*\)\*?")
WSL_DRIVE = lazy_regex(r"/(?:mnt|cygdrive)/([a-z])(?=/|$)")
_GLOB_MARKS = frozenset("*?[")
GLOB_PART = lazy_regex(r"\[[^\]/]*\]|[*?]")


def is_secret(path: str) -> bool:
    """Whether a path is, by its name, a file or folder of keys and credentials."""
    if SYSTEM_SECRET.fullmatch(path) is not None:
        return True
    if SECRET.fullmatch(path) is not None:
        return NOT_SECRET.fullmatch(path) is None
    copied = SECRET_COPY.fullmatch(path)
    return copied is not None and SECRET.fullmatch(copied[1]) is not None and NOT_SECRET.fullmatch(copied[1]) is None


def resolve(path: str, cwd: str) -> str:
    """The path from the root, `~` or a drive, with `.` and `..` worked out; forward slashes throughout."""
    text = f"./{path[1:]}" if path.startswith(QUOTED) else path
    if text.startswith("/System/Volumes/Data/"):  # the real place of /Users on macOS
        text = text[20:]
    text = text.replace("\\", "/")
    base = cwd.replace("\\", "/")
    whole = text.startswith(("/", "~", HOLE)) or text == "" or not base or (text[1:2] == ":" and DRIVE.match(text))
    return _normal(text if whole else f"{base.rstrip('/')}/{text}")


def _normal(path: str) -> str:
    if "//" not in path and "/." not in path and path[:1] not in ("", ".") and path[-1] != "/":
        return path  # most are
    parts: list[str] = []
    absolute = path.startswith("/")
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", ".") and not (part == ".." and absolute):
            parts.append(part)
    body = "/".join(parts)
    return f"/{body}" if absolute else body or "."


def place(path: str, cwd: str = "", home: str = "") -> str:
    return _place_kept(path, cwd, home) if len(path) <= _CACHED else _place(path, cwd, home)


def _place(path: str, cwd: str, home: str) -> str:
    if not path:
        return "unknown"
    if path.startswith(QUOTED):
        path = f"./{path[1:]}"
    if WINDOWS_DEVICE.fullmatch(path):
        return "device"
    if HOLE in path and (guess := _unknown(path, cwd)):
        return guess
    if REMOTE.fullmatch(path) and not DRIVE.match(path):
        return "remote"
    home = home or home_of(cwd)
    if path.startswith("~/") and ".." in path and home and home != "~":
        path = home + path[1:]
    full = _stem(_bounded(resolve(path, cwd)))
    if home and (full == home or full.startswith(home + "/")):
        full = "~" + full[len(home) :]
    return _by_position(full, resolve(cwd or ".", ""), home)


_CACHED = 300  # characters of a path whose place is cached
_place_kept = lru_cache(maxsize=4096)(_place)


def _bounded(full: str) -> str:
    """With no more parts, and no longer ones, than a disk can have: their names decide, not their number."""
    if len(full) <= _CACHED:
        return full
    parts = [part[:255] for part in full.split("/")]
    return "/".join(parts if len(parts) <= 40 else [*parts[:20], *parts[-20:]])


def home_of(cwd: str) -> str:
    """The user's home, as far as the working directory shows it."""
    found = _HOME_OF.match(cwd.replace("\\", "/")) if cwd else None
    return found[1] if found else ""


_HOME_OF = lazy_regex(r"(/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:/Users/[^/]+)(/|$)", re.IGNORECASE)


def _stem(full: str) -> str:
    """Without a trailing glob for everything: to delete all in it is to delete it."""
    head, slash, tail = full.rpartition("/")
    while tail in _NAMES.everything or ALL_BUT.fullmatch(tail):
        full = head or slash or "."
        head, slash, tail = full.rpartition("/")
    return full


_TEMP_VARIABLES = frozenset({"TMPDIR", "TMP", "TEMP"})  # set by the system itself, or read with a default


def _unknown(path: str, cwd: str) -> str:
    """By what is known of a path; the name of a variable says nothing of its value."""
    tail = without_holes(path).replace("\\", "/")
    if path.startswith(HOLE):
        if path[1 : path.find(HOLE, 1)] in _TEMP_VARIABLES:
            return "temp"
        rest = tail.strip("/")
        last = rest.rpartition("/")[2]
        if last and last not in _NAMES.everything and BUILD.fullmatch(last):
            return "build"
        root = tail.startswith("/") and (rest in ("", ".") or rest in _NAMES.everything)
        return "unknown_root" if root else "unknown"
    head = path[: path.find(HOLE)]
    if TEMP.match(resolve(head, cwd)):
        return "temp"
    return "" if "/" in head.strip("./") or head.startswith(("~", "/")) else "unknown"


def _by_position(full: str, cwd: str, home: str) -> str:
    lower = full.lower()
    own = lower == ".interlock" or any(mark in lower for mark in _NAMES.own_files)  # and no project of that name
    if own and GUARD.fullmatch(lower.lstrip("/~").lstrip("/")):
        return "guard"
    if full == "/" or _is_drive_root(full):
        return "root"
    if lower.startswith(("/dev/", "/dev\\")):
        return _device(full)
    if TEMP.match(lower):  # an agent's settings are its settings there, too
        return "agent_config" if AGENT_CONFIG.fullmatch(lower) else "temp"
    if full.startswith("~"):
        return _in_home(full[1:].lstrip("/"), cwd.replace(home, "~", 1) if home else cwd, full)
    if SYSTEM_SECRET.fullmatch(lower):
        return "secret"
    if homes := HOMES.match(full):
        return _in_homes(homes, full, cwd)
    if inside := _inside(full, cwd):
        return inside
    if full.startswith("/") or re.match(r"[A-Za-z]:", full):
        return _absolute(full)
    return _in_project(full)


def _is_drive_root(full: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z]:/?", full))


def _device(full: str) -> str:
    name = full[5:].split("/")[0]
    if DEVICE.fullmatch(full):
        return "device"
    if full.lower().startswith("/dev/shm/"):
        return "temp"
    if name in _NAMES.sinks or name.startswith(("tty", "pts", "tcp", "udp", "fd")):
        return "sink"
    return "device" if name else "system"


def _in_home(rest: str, cwd: str, full: str) -> str:
    if not rest:
        return "home"
    if not full.startswith("~/"):  # ~other/…
        tail = full.partition("/")[2]
        return "home" if not tail else "secret" if is_secret(tail) else "other_home"
    if is_secret(rest):
        return "secret"
    if AGENT_CONFIG.fullmatch(rest):
        return "agent_config"
    if START_FILE.fullmatch(rest):
        return "shell_config"
    if inside := _inside(full, cwd):
        return inside
    if SHELL_CONFIG.fullmatch(rest):
        return "shell_config"
    first, _, more = rest.partition("/")
    last = rest.rpartition("/")[2]
    kept = rest.lower().startswith((".cargo/registry", "library/caches", ".local/share/trash", ".trash"))
    if kept or CACHE.fullmatch(first) or CACHE.fullmatch(last):
        return "cache"
    if "appdata/local/temp" in rest.lower():
        return "temp"
    if any(BUILD_ANYWHERE.fullmatch(part) for part in rest.split("/")[1:]):
        return "build"
    if BACKUP.fullmatch(last):
        return "backup"
    if first.lower() in _NAMES.user_data and not more:
        return "user_data"
    return "home_part"


def _in_homes(found: re.Match[str], full: str, cwd: str) -> str:
    """A path in a home that is not known to be the user's own."""
    user, rest = ("root", full[5:]) if found[1].lower() == "root" else (found[3], found[4] or "")
    if not user or not rest.strip("/"):
        return "home"
    if inside := _inside(full, cwd):
        return inside
    own = _in_home(rest.lstrip("/"), cwd, "~" + rest)
    return own if own in ("secret", "agent_config", "cache", "build", "shell_config") else "other_home"


def is_system_folder(cwd: str) -> bool:
    """A directory of system files, where no project is."""
    first, _, more = cwd.strip("/").lower().partition("/")
    return cwd.startswith("/") and (first in _NAMES.system_core or (not more and first in _NAMES.system))


def _inside(full: str, cwd: str) -> str:
    """At, above or below the working directory; nothing when it is elsewhere."""
    if not cwd or cwd == "." or is_system_folder(cwd):  # `cd /etc && rm -rf *` is no work in a project
        return ""
    if full == cwd:
        return "project"
    if cwd in ("/", "~") or ((home := HOMES.fullmatch(cwd)) and not home[4]):
        return ""  # a home or the root is no project, and nothing in it is regenerated
    if cwd.startswith(full.rstrip("/") + "/"):
        top = "/" not in full.strip("/~") or HOMES.match(full)
        return "" if top or re.fullmatch(r"[a-z]:/users(/[^/]+)?", full, re.IGNORECASE) else "above"
    inner = cwd.rstrip("/") + "/"
    return _in_project(full[len(inner) :]) if full.startswith(inner) else ""


def _in_project(rest: str) -> str:
    if rest in (".", "") or rest in _NAMES.everything:
        return "project"
    parts = rest.split("/")
    if rest.startswith(".."):
        return "above" if all(part == ".." for part in parts) else _artefact(parts, "other")
    if ".git" in parts:
        return "git_hook" if "hooks" in parts[parts.index(".git") :] else "git"
    if is_secret(rest):
        return "secret"
    if AGENT_CONFIG.fullmatch(rest):
        return "agent_config"
    return _artefact(parts, "source")


def _artefact(parts: list[str], otherwise: str) -> str:
    last = parts[-1]
    build = BUILD if otherwise == "source" else BUILD_ANYWHERE
    if any(map(build.fullmatch, parts)) or build.fullmatch(GLOB_PART.sub("x", last)):
        return "build"
    if any(map(CACHE.fullmatch, parts)):
        return "cache"
    if any(map(LOG.fullmatch, parts)):
        return "log"
    if SCRATCH.fullmatch(last):
        return "temp"
    return "backup" if BACKUP.fullmatch(last) else otherwise


def _absolute(full: str) -> str:
    if drive := WSL_DRIVE.match(full):
        full = f"{drive[1]}:{full[drive.end() :] or '/'}"
        if _is_drive_root(full):
            return "root"
    lower = full.lower()
    parts = [part for part in re.sub(r"^[a-z]:", "", lower).split("/") if part]
    if ".git" in parts:
        return "git"
    first = parts[0] if parts else ""
    if re.match(r"[a-z]:", lower):
        if first == "users":
            return "home" if len(parts) <= 2 else _artefact(parts, "other_home")
        if first in _NAMES.windows_system:
            return "system" if len(parts) <= 2 else "system_part"
        return _artefact(parts, "other")
    if is_secret(lower.lstrip("/")):
        return "secret"
    if AGENT_CONFIG.fullmatch(lower.lstrip("/")):
        return "agent_config"
    if first in ("mnt", "media", "volumes") and len(parts) > 1:
        return "volume" if len(parts) == 2 or (len(parts) == 3 and first == "media") else _artefact(parts[2:], "other")
    if first in _NAMES.system or not _GLOB_MARKS.isdisjoint(first):
        return _system(first, parts)
    kind = _artefact(parts, "other")
    return "system" if kind == "other" and len(parts) == 1 and first in ("app", "workspace") else kind


def _system(first: str, parts: list[str]) -> str:
    if (parts[:2] == ["var", "cache"] and len(parts) > 2) or parts[:4] == ["var", "lib", "apt", "lists"]:
        return "cache"
    if not _GLOB_MARKS.isdisjoint(first):
        return "system" if fnmatch.filter(("home", "root", "users", *_NAMES.system), first) else "other"
    if len(parts) == 1 or "/".join(parts) in _NAMES.system_parts:
        return "system"
    kind = _artefact(parts[1:], "system_part") if first in ("var", "opt", "srv", "data") else ""
    return kind if kind in ("cache", "log", "backup", "build") else "system_part"


def is_folder(target: str, cwd: str = "", home: str = "") -> bool:
    """Plainly names a folder, in which a copy makes files."""
    return target.endswith("/") or target in (".", "..") or place(target, cwd, home) in ("home", "root")


_PATTERNED = re.compile(rf"[*?\[{HOLE}]")


def named_in(folder: str, sources: Iterable[str], ends: str = "/") -> list[str]:
    """The files that a copy makes; none where the name of a source is not known."""
    names = [re.split(f"[{ends}]", source)[-1] for source in sources]
    if any(name in ("", ".", "..") or _PATTERNED.search(name) for name in names):
        return []
    return [f"{folder.rstrip('/')}/{name}" for name in names]
