"""Names of well-known places: system directories, build output, caches, secrets, settings."""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.packs import load_words

# Every place a path can be. A rule that names another one is refused.
PLACES = frozenset({
    "root",            # / or a drive's root
    "home",            # a whole home directory, or the folder of all homes
    "system",          # a top-level system directory, or everything in it
    "system_part",     # something below a system directory
    "other_home",      # something below another user's home
    "home_part",       # something below one's own home
    "user_data",       # Documents, Pictures and the like; a dot folder that holds settings or keys
    "secret",          # keys, credentials, .env
    "shell_config",    # ~/.bashrc and the like
    "guard",           # Interlock's own files
    "agent_config",    # where coding agents keep settings and hooks
    "project",         # the working directory itself, or everything in it
    "above",           # a directory that contains the working directory
    "git",             # .git, or something in it
    "git_hook",        # .git/hooks/…
    "source",          # something in the project that nothing regenerates
    "build",           # what a build regenerates
    "cache",
    "log",
    "temp",
    "backup",
    "volume",          # a mounted volume
    "device",          # a block device
    "sink",            # /dev/null and other harmless devices
    "remote",          # s3://…, host:path
    "other",           # an absolute path elsewhere
    "unknown",         # cannot be known
    "unknown_root",    # unknown, and the root if the unknown part is empty: "$X"/*
})  # fmt: skip

SYSTEM = frozenset(
    "bin boot dev etc lib lib32 lib64 opt proc run sbin srv sys usr var lost+found library system applications private "
    "nix snap cores mnt media volumes data".split()
)
SYSTEM_CORE = frozenset("bin boot dev etc lib lib32 lib64 proc sbin sys usr".split())
WINDOWS_SYSTEM = frozenset({"windows", "program files", "program files (x86)", "programdata", "recovery", "system32"})
USR_PARTS = frozenset("bin lib lib64 sbin local share include libexec".split())
VAR_PARTS = frozenset("lib log mail spool www backups db opt".split())


class PlaceNames(Struct, frozen=True, forbid_unknown_fields=True):
    """The patterns of `place_names.toml`, by the place that they mean."""

    build: tuple[str, ...]
    build_anywhere: tuple[str, ...]
    cache: tuple[str, ...]
    log: tuple[str, ...]
    scratch: tuple[str, ...]
    secret: tuple[str, ...]
    system_secret: tuple[str, ...]
    not_secret: tuple[str, ...]
    start_file: tuple[str, ...]
    agent_config: tuple[str, ...]


@cache
def _names() -> PlaceNames:
    return load_words("analysis/place_names.toml", PlaceNames)


def _listed(key: str, before: str = "", flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """A regular expression for any of the patterns under a key, behind what may stand before them."""
    return lazy_regex(lambda: f"{before}({'|'.join(getattr(_names(), key))})", flags)


BUILD = _listed("build")
BUILD_ANYWHERE = _listed("build_anywhere")  # the others only mean that inside a project
CACHE = _listed("cache")
LOG = _listed("log")
SCRATCH = _listed("scratch")
BACKUP = lazy_regex(r".*(backup|bak|snapshot|dumps?|archive)s?.*", re.IGNORECASE)
SECRET = _listed("secret", "(.*/)?")
SECRET_COPY = lazy_regex(
    r"(.+?)(?:[.-](?:bak|old|orig|backup|save|copy|\d+)|~|\.(?:gz|bz2|xz|zst|zip|tar|tgz|7z|b64))+", re.IGNORECASE
)
SYSTEM_SECRET = _listed("system_secret", flags=0)
NOT_SECRET = _listed("not_secret")
START_FILE = _listed("start_file", r"\.")
SHELL_CONFIG = lazy_regex(r"\.config/(fish|nvim|git|systemd|autostart)(/.*)?", re.IGNORECASE)
GUARD = lazy_regex(
    r"(.*/)?(\.?interlockd?(/.*|\.toml|\.db|\.sock)?|interlock\.(toml|db|sock)(-wal|-shm)?)", re.IGNORECASE
)
AGENT_CONFIG = _listed("agent_config", "(.*/)?")
USER_DATA = frozenset(
    "documents desktop pictures photos music videos movies downloads public library mail work projects code src dev repos "
    ".ssh .aws .gnupg .config .kube .local .thunderbird .mozilla .password-store onedrive dropbox".split()
)
SINKS = frozenset("null stdout stderr stdin tty zero random urandom full fd console ptmx pts shm".split())
TEMP = lazy_regex(
    r"/(tmp|var/tmp|dev/shm|private/tmp|private/var/tmp|private/var/folders|var/folders|run/user/\d+)(?![^/])",
    re.IGNORECASE,
)
DEVICE = lazy_regex(
    r"/dev/((sd|hd|vd|xvd)[a-z*?\[\]]+\d*|nvme\d*.*|mmcblk\d*.*|r?disk\d*.*|mapper/.*|md\d+|dm-\d+|loop\d+|sr\d+|nbd\d+|zvol/.*|disk/.*|mem|kmem|port|mtd.*|[^/]+/(root|home|data|swap)[^/]*)",
    re.IGNORECASE,
)
WINDOWS_DEVICE = lazy_regex(r"\\\\[.?]\\(physicaldrive\d+|[a-z]:).*|//[.?]/(physicaldrive\d+|[a-z]:).*", re.IGNORECASE)
REMOTE = lazy_regex(r"[a-z][a-z0-9+.-]*://.*|[\w.@-]+:(?!\\).*")
DRIVE = lazy_regex(r"([a-zA-Z]):(?=$|[\\/])")
HOMES = lazy_regex(r"/(home|users|root|export/home|var/home)(/([^/]+))?(/.*)?$", re.IGNORECASE)
ALL_BUT = lazy_regex(r"[!@*+?]\(.*\)\*?")
WSL_DRIVE = lazy_regex(r"/(?:mnt|cygdrive)/([a-z])(?=/|$)")
GLOB_PART = lazy_regex(r"\[[^\]/]*\]|[*?]")
GLOB_ALL = frozenset({"*", ".*", "{*,.*}", ".[!.]*", "..?*", "**", "*.*", ".??*", "**/*", "?*", "{,.}*", "[!.]*"})


def is_secret(path: str) -> bool:
    """Whether a path is, by its name, a file or folder of keys and credentials."""
    if SYSTEM_SECRET.fullmatch(path) is not None:
        return True
    if SECRET.fullmatch(path) is not None:
        return NOT_SECRET.fullmatch(path) is None
    copied = SECRET_COPY.fullmatch(path)
    return copied is not None and SECRET.fullmatch(copied[1]) is not None and NOT_SECRET.fullmatch(copied[1]) is None
