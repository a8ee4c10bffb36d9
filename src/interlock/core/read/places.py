"""Which kind of place a path is, told from its text alone."""

from __future__ import annotations

import re
from functools import lru_cache

from interlock.core.read.facts import HOLE, QUOTED, without_holes

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

_SYSTEM = frozenset(
    "bin boot dev etc lib lib32 lib64 opt proc run sbin srv sys usr var lost+found library system applications private "
    "nix snap cores mnt media volumes data".split()
)
_WINDOWS_SYSTEM = frozenset({"windows", "program files", "program files (x86)", "programdata", "recovery", "system32"})
_USR_PARTS = frozenset("bin lib lib64 sbin local share include libexec".split())
_VAR_PARTS = frozenset("lib log mail spool www backups db opt".split())
_BUILD = re.compile(
    r"node_modules|bower_components|dist|build|out|output|target|bin|obj|debug|release|\.next|\.nuxt|\.svelte-kit|\.output|"
    r"\.venv|venv|\.?env\d*|\.tox|\.nox|\.eggs|.*\.egg-info|__pycache__|.*\.py[codx]|\.terraform|\.gradle|\.parcel-cache|\.turbo|\.vite|"
    r"\.angular|\.expo|\.docusaurus|\.vercel|\.serverless|\.aws-sam|cdk\.out|coverage|htmlcov|\.nyc_output|\.coverage.*|"
    r"cmake-build-.*|build-.*|.*[-_.]build|_build|deps|pods|deriveddata|vendor|_site|public/build|storybook-static|site|"
    r"test-results?|playwright-report|.*\.(o|obj|a|so|class|pyc|pyo|gch|d|tsbuildinfo|whl)|zig-out|zig-cache|elm-stuff|"
    r"\.dart_tool|\.bundle|\.stack-work|dist-newstyle|result|generated|gen|\.generated|typings|artifacts?|wheels?|\*\.egg-info|"
    r"bazel-.*|\.mypy_cache|\.ruff_cache|\.pytest_cache|\.eslintcache|\.cache|\.sass-cache|\.rpt2_cache.*|tmp|temp|\.tmp|"
    r"package-lock\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|cargo\.lock|gemfile\.lock|composer\.lock|uv\.lock|"
    r"reports?|lcov\.info|junit\.xml|\.ipynb_checkpoints|\.ds_store|thumbs\.db|.*\.min\.(js|css)|.*\.map|__snapshots__|\.pnpm-store|\.yarn",
    re.IGNORECASE,
)
# Names that mean build output anywhere; the others above only do inside a project.
_BUILD_ANYWHERE = re.compile(
    r"node_modules|dist|build|target|\.next|\.nuxt|\.venv|venv|\.tox|\.nox|__pycache__|.*\.py[cod]|\.terraform|\.gradle|\.turbo|\.vite|"
    r"coverage|htmlcov|cmake-build-.*|deriveddata|\.mypy_cache|\.ruff_cache|\.pytest_cache|.*\.(o|obj|class|pyc)",
    re.IGNORECASE,
)
_CACHE = re.compile(r".*cache.*|\.npm|\.nuget|\.m2|\.ivy2|\.cargo/registry|\.gradle|\.yarn|\.pnpm-store|\.bundle", re.IGNORECASE)
_LOG = re.compile(r".*\.(log|logs|out|err)(\.\d+|\.gz)?|logs?|nohup\.out|npm-debug\.log.*", re.IGNORECASE)
_SCRATCH = re.compile(
    r".*\.(tmp|temp|swp|swo|bak|orig|rej|pid|lock|old)|.*~|scratch.*|tmp[-_.].*|.*[-_.]tmp|temp[-_.].*|.*[-_.]temp|core(\.\d+)?", re.IGNORECASE
)
_BACKUP = re.compile(r".*(backup|bak|snapshot|dumps?|archive)s?.*", re.IGNORECASE)
_SECRET = re.compile(
    r"(.*/)?(\.ssh(/(id_[a-z0-9_*?]+|.*\.pem|authorized_keys|identity|.*_key|\*))?|\.aws(/(credentials|config))?|\.netrc|_netrc|\.pgpass|\.gnupg(/.*)?|"
    r"\.git-credentials|\.docker/config\.json|\.kube(/config)?|\.npmrc|\.pypirc|\.config/gcloud(/.*)?|\.azure(/.*)?|\.vault-token|"
    r"\.config/gh/hosts\.yml|\.password-store(/.*)?|\.mozilla(/.*)?|\.config/(google-chrome|chromium|bravesoftware|microsoft-edge)(/.*)?|library/application support/(google/chrome|firefox)(/.*)?|library/keychains(/.*)?|"
    r".*/(login data|cookies|login keychain.*|login\.keychain-db)|\.terraform\.d/credentials.*|"
    r"\.env(\.(local|prod|production|staging|development|dev|secrets?))?|[^/]*\.(pem|p12|pfx|jks|keystore|kdbx|ppk)|id_(rsa|ed25519|ecdsa|dsa)|"
    r"credentials(\.json)?|secrets?\.(ya?ml|json|toml|env|txt)|service[-_]account.*\.json|\.secrets?|htpasswd|\.htpasswd)",
    re.IGNORECASE,
)
_SYSTEM_SECRET = re.compile(r"/etc/(shadow|gshadow|sudoers|sudoers\.d/.*|ssl/private(/.*)?|krb5\.keytab)-?|/proc/[^/]+/(environ|mem)|/var/run/secrets/.*|/run/secrets/.*")
_NOT_SECRET = re.compile(r".*\.(pub|example|sample|template|dist|md)|.*\.env\.(test|ci)", re.IGNORECASE)
_SHELL_CONFIG = re.compile(
    r"\.(bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|kshrc|cshrc|tcshrc|login|inputrc|bash_aliases|"
    r"bash_history|zsh_history|vimrc|tmux\.conf|gitconfig|xinitrc|xprofile)|\.config/(fish|nvim|git|systemd|autostart)(/.*)?",
    re.IGNORECASE,
)
_GUARD = re.compile(r"(.*/)?(\.?interlockd?(/.*|\.toml|\.db|\.sock)?|interlock\.(toml|db|sock)(-wal|-shm)?)", re.IGNORECASE)
_AGENT_CONFIG = re.compile(
    r"(.*/)?(\.claude(/(settings(\.local)?\.json|hooks(/.*)?|plugins(/.*)?|managed-settings\.json|CLAUDE\.md)?)?|\.claude\.json|\.codex(/(config\.toml|hooks\.json|rules(/.*)?|requirements\.toml)?)?|"
    r"\.gemini(/(settings\.json|policies(/.*)?|config/hooks\.json)?)?|\.cursor(/(hooks\.json|mcp\.json|cli\.json)?)?|\.copilot(/(settings\.json|hooks(/.*)?)?)?|"
    r"\.github/hooks(/.*)?|\.github/copilot(/.*)?|\.config/opencode(/.*)?|\.opencode(/.*)?|opencode\.jsonc?|\.codeium(/.*)?|\.windsurf(/.*)?|"
    r"\.cline(/.*)?|\.kiro(/.*)?|\.factory(/.*)?|\.config/devin(/.*)?|\.devin(/.*)?|\.mcp\.json|"
    r"etc/(github-copilot|cursor|windsurf|claude-code)(/.*)?)",
    re.IGNORECASE,
)
_USER_DATA = frozenset(
    "documents desktop pictures photos music videos movies downloads public library mail work projects code src dev repos "
    ".ssh .aws .gnupg .config .kube .local .thunderbird .mozilla .password-store onedrive dropbox".split()
)
_SINKS = frozenset("null stdout stderr stdin tty zero random urandom full fd console ptmx pts shm".split())
_TEMP = re.compile(r"/tmp|/var/tmp|/dev/shm|/private/tmp|/private/var/folders|/var/folders|/run/user/\d+", re.IGNORECASE)
_DEVICE = re.compile(
    r"/dev/((sd|hd|vd|xvd)[a-z*?\[\]]+\d*|nvme\d*.*|mmcblk\d*.*|r?disk\d*.*|mapper/.*|md\d+|dm-\d+|loop\d+|sr\d+|nbd\d+|zvol/.*|disk/.*|mem|kmem|port|mtd.*|[^/]+/(root|home|data|swap)[^/]*)",
    re.IGNORECASE,
)
_WINDOWS_DEVICE = re.compile(r"\\\\[.?]\\(physicaldrive\d+|[a-z]:).*|//[.?]/(physicaldrive\d+|[a-z]:).*", re.IGNORECASE)
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://.*|[\w.@-]+:(?!\\).*")
_DRIVE = re.compile(r"([a-zA-Z]):(?=$|[\\/])")
_HOMES = re.compile(r"/(home|users|root|export/home|var/home)(/([^/]+))?(/.*)?$", re.IGNORECASE)
_ALL_BUT = re.compile(r"[!@*+?]\(.*\)\*?")
_WSL_DRIVE = re.compile(r"/(?:mnt|cygdrive)/([a-z])(?=/|$)")
_GLOB_PART = re.compile(r"\[[^\]/]*\]|[*?]")
_GLOB_ALL = frozenset({"*", ".*", "{*,.*}", ".[!.]*", "..?*", "**", "*.*", ".??*", "**/*", "?*", "{,.}*", "[!.]*"})


@lru_cache(maxsize=4096)
def resolve(path: str, cwd: str) -> str:
    """The path from the root, `~` or a drive, with `.` and `..` worked out; forward slashes throughout."""
    text = f"./{path[1:]}" if path.startswith(QUOTED) else path
    if _DRIVE.match(text) or "\\" in text:
        text = text.replace("\\", "/")
    base = cwd.replace("\\", "/") if "\\" in cwd or _DRIVE.match(cwd) else cwd
    if text.startswith(("/", "~")) or _DRIVE.match(text) or text.startswith(HOLE):
        full = text
    elif text == "" or not base:
        full = text
    else:
        full = f"{base.rstrip('/')}/{text}"
    return _normal(full)


def _normal(path: str) -> str:
    parts: list[str] = []
    absolute = path.startswith("/")
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if parts and parts[-1] != "..":
                parts.pop()
            elif not absolute:
                parts.append(part)
            continue
        parts.append(part)
    body = "/".join(parts)
    return f"/{body}" if absolute else body or "."


@lru_cache(maxsize=4096)
def place(path: str, cwd: str = "", home: str = "") -> str:
    """The kind of place that `path` names when used in `cwd`."""
    if not path:
        return "unknown"
    if path.startswith(QUOTED):
        path = f"./{path[1:]}"
    if _WINDOWS_DEVICE.fullmatch(path):
        return "device"
    if HOLE in path:
        guess = _unknown(path, cwd)
        if guess:
            return guess
    if _is_remote(path):
        return "remote"
    home = home or home_of(cwd)
    full, everything = _stem(resolve(path, cwd))
    if home and (full == home or full.startswith(home + "/")):
        full = "~" + full[len(home) :]
    found = _by_position(full, resolve(cwd or ".", ""), home, everything, path)
    return found


def home_of(cwd: str) -> str:
    """One's own home, as far as the working directory tells it."""
    found = re.match(r"(/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:/Users/[^/]+)(/|$)", cwd.replace("\\", "/"), re.IGNORECASE)
    return found[1] if found else ""


def _is_remote(path: str) -> bool:
    return bool(_REMOTE.fullmatch(path)) and not _DRIVE.match(path)


def _stem(full: str) -> tuple[str, bool]:
    """The path without a trailing match-everything glob, and whether there was one."""
    everything = False
    while True:
        head, _, tail = full.rpartition("/")
        if (tail in _GLOB_ALL or _ALL_BUT.fullmatch(tail)) and (head or full.startswith("/") or tail == full):
            everything = True
            full = head or ("/" if full.startswith("/") else ".")
            continue
        return full, everything


_HOLE_NAMES = (
    (re.compile(r"(?i).*(TMP|TEMP|SCRATCH|SANDBOX).*"), "temp"),
    (re.compile(r"(?i).*(CACHE).*"), "cache"),
    (re.compile(r"(?i).*(BUILD|DIST|OUT|OUTPUT|TARGET|ARTIFACTS?|COVERAGE|VENV|VIRTUAL_ENV)(_?(DIR|PATH|FOLDER))?"), "build"),
    (re.compile(r"(?i).*(BACKUP|DUMP).*"), "backup"),
)


def _unknown(path: str, cwd: str) -> str:
    """What an unknown path may be, by the name of what is unknown and by what is known of it."""
    tail = without_holes(path).replace("\\", "/")
    if path.startswith(HOLE):
        name = path[1 : path.find(HOLE, 1)]
        for named, where in _HOLE_NAMES:
            if name and named.fullmatch(name):
                return where
        rest = tail.strip("/")
        last = rest.rpartition("/")[2]
        if last and last not in _GLOB_ALL and _BUILD.fullmatch(last):
            return "build"
        if rest in ("", ".") or rest in _GLOB_ALL:
            return "unknown_root" if tail.startswith("/") else "unknown"
        return "unknown"
    head = path[: path.find(HOLE)]
    if _TEMP.match(resolve(head, cwd)):
        return "temp"
    return "" if "/" in head.strip("./") or head.startswith(("~", "/")) else "unknown"


def _by_position(full: str, cwd: str, home: str, everything: bool, raw: str) -> str:
    lower = full.lower()
    if _GUARD.fullmatch(lower.lstrip("/~").lstrip("/")) and "interlock" in lower and _is_guard(lower, cwd):
        return "guard"
    if full == "/" or _is_drive_root(full):
        return "root"
    if lower.startswith("/dev/") or lower.startswith("/dev\\"):
        return _device(full)
    if _TEMP.match(lower):
        return "temp"
    if full.startswith("~"):
        return _in_home(full[1:].lstrip("/"), cwd.replace(home, "~", 1) if home else cwd, full)
    if _SYSTEM_SECRET.fullmatch(lower):
        return "secret"
    homes = _HOMES.match(full)
    if homes:
        return _in_homes(homes, full, cwd)
    inside = _inside(full, cwd, everything, raw)
    if inside:
        return inside
    if full.startswith("/") or re.match(r"[A-Za-z]:", full):
        return _absolute(full, everything)
    return _in_project(full, everything)


def _is_guard(lower: str, cwd: str) -> bool:
    """Interlock's own files, not a checkout of somebody's project that happens to have the name in it."""
    return any(mark in lower for mark in ("/.interlock", "interlock.toml", "interlock.db", "interlock.sock", "/etc/interlock", ".config/interlock", "share/interlock", "run/interlock", "lib/interlock", "state/interlock", "bin/interlock")) or lower == ".interlock"


def _is_drive_root(full: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z]:/?", full))


def _device(full: str) -> str:
    name = full[5:].split("/")[0]
    if _DEVICE.fullmatch(full):
        return "device"
    if full.lower().startswith("/dev/shm/"):
        return "temp"
    if name in _SINKS or name.startswith(("tty", "pts", "tcp", "udp", "fd")):
        return "sink"
    return "device" if name else "system"


def _in_home(rest: str, cwd: str, full: str) -> str:
    """A path below one's own home."""
    if not rest:
        return "home"
    if not full.startswith("~/"):
        head, _, tail = full.partition("/")
        return "home" if not tail else "other_home"
    if _SECRET.fullmatch(rest) and not _NOT_SECRET.fullmatch(rest):
        return "secret"
    if _AGENT_CONFIG.fullmatch(rest):
        return "agent_config"
    inside = _inside(full, cwd, False, "")
    if inside:
        return inside
    if _SHELL_CONFIG.fullmatch(rest):
        return "shell_config"
    first, _, more = rest.partition("/")
    last = rest.rpartition("/")[2]
    if _CACHE.fullmatch(first) or _CACHE.fullmatch(last) or rest.lower().startswith((".cargo/registry", "library/caches", ".local/share/trash", ".trash")):
        return "cache"
    if "appdata/local/temp" in rest.lower():
        return "temp"
    if _BUILD.fullmatch(last) and more:
        return "build"
    if _BACKUP.fullmatch(last):
        return "backup"
    if first.lower() in _USER_DATA and not more:
        return "user_data"
    return "home_part"


def _in_homes(found: re.Match[str], full: str, cwd: str) -> str:
    """A path in somebody's home, when it is not known to be one's own."""
    top, user, rest = found[1].lower(), found[3], found[4]
    if top == "root":
        user, rest = "root", full[5:] or None
    if not user or not (rest or "").strip("/"):
        return "home"
    own = _in_home((rest or "").lstrip("/"), cwd, "~" + (rest or ""))
    inside = _inside(full, cwd, False, "")
    if inside:
        return inside
    return own if own in ("secret", "agent_config", "cache", "build", "shell_config") else "other_home"


def _inside(full: str, cwd: str, everything: bool, raw: str) -> str:
    """A path at, above or below the working directory; nothing when it is elsewhere."""
    if not cwd or cwd == ".":
        return ""
    if full == cwd:
        return "project"
    if cwd in ("/", "~") or _HOMES.fullmatch(cwd) and not (_HOMES.fullmatch(cwd) or [""])[4]:
        return ""  # a home or the root is no project, and nothing in it is regenerated
    if cwd.startswith(full.rstrip("/") + "/"):
        homes = _HOMES.match(full)
        top = full.strip("/~").split("/")
        return "" if homes or len(top) <= 1 or re.fullmatch(r"[a-z]:/users(/[^/]+)?", full, re.IGNORECASE) else "above"
    if full.startswith(cwd.rstrip("/") + "/"):
        return _in_project(full[len(cwd.rstrip("/")) + 1 :], everything)
    return ""


def _in_project(rest: str, everything: bool) -> str:
    """A path relative to the working directory."""
    if rest in (".", "") or rest in _GLOB_ALL:
        return "project"
    if rest.startswith(".."):
        parts = rest.split("/")
        return "above" if all(part == ".." for part in parts) else _artefact(parts, "other")
    parts = rest.split("/")
    if ".git" in parts:
        return "git_hook" if "hooks" in parts[parts.index(".git") :] else "git"
    if _SECRET.fullmatch(rest) and not _NOT_SECRET.fullmatch(rest):
        return "secret"
    if _AGENT_CONFIG.fullmatch(rest):
        return "agent_config"
    return _artefact(parts, "source")


def _artefact(parts: list[str], otherwise: str) -> str:
    """Build output, cache, log or scratch by the names on the way; else `otherwise`."""
    last = parts[-1]
    build = _BUILD if otherwise == "source" else _BUILD_ANYWHERE
    if any(build.fullmatch(part) for part in parts) or build.fullmatch(_GLOB_PART.sub("x", last)):
        return "build"
    if any(_CACHE.fullmatch(part) for part in parts):
        return "cache"
    if any(_LOG.fullmatch(part) for part in parts):
        return "log"
    if _SCRATCH.fullmatch(last):
        return "temp"
    if _BACKUP.fullmatch(last):
        return "backup"
    return otherwise


def _absolute(full: str, everything: bool) -> str:
    """An absolute path that is neither in a home nor in the project."""
    drive = _WSL_DRIVE.match(full)
    if drive:
        full = f"{drive[1]}:{full[drive.end() :] or '/'}"
        if _is_drive_root(full):
            return "root"
    lower = full.lower()
    parts = [part for part in re.sub(r"^[a-z]:", "", lower).split("/") if part]
    if any(mark in parts for mark in (".git",)):
        return "git"
    first = parts[0] if parts else ""
    if re.match(r"[a-z]:", lower):
        if first == "users":
            return "home" if len(parts) <= 2 else _artefact(parts, "other_home")
        if first in _WINDOWS_SYSTEM:
            return "system" if len(parts) <= 2 else "system_part"
        return _artefact(parts, "other")
    if _SECRET.fullmatch(lower.lstrip("/")) and not _NOT_SECRET.fullmatch(lower):
        return "secret"
    if _AGENT_CONFIG.fullmatch(lower.lstrip("/")):
        return "agent_config"
    if first in ("mnt", "media", "volumes") and len(parts) > 1:
        return "volume" if len(parts) == 2 or len(parts) == 3 and first == "media" else _artefact(parts[2:], "other")
    if first in _SYSTEM or "*" in first or "?" in first or "[" in first:
        return _system(first, parts, everything)
    kind = _artefact(parts, "other")
    return "system" if kind == "other" and len(parts) == 1 and not everything and first in ("app", "workspace") else kind


def _system(first: str, parts: list[str], everything: bool) -> str:
    if "*" in first or "?" in first or "[" in first:
        return _glob_system(first)
    if len(parts) == 1:
        return "system"
    if first == "usr" and len(parts) == 2 and parts[1] in _USR_PARTS or first == "var" and len(parts) == 2 and parts[1] in _VAR_PARTS:
        return "system"
    kind = _artefact(parts[1:], "system_part") if first not in ("etc", "boot", "usr", "bin", "lib", "sbin", "sys", "proc") else "system_part"
    return kind if kind in ("cache", "log", "backup", "build") and first in ("var", "opt", "srv", "data") else "system_part"


def _glob_system(first: str) -> str:
    """A glob in the first part, such as /h?me or /et[c]: whatever it can match."""
    import fnmatch

    names = ("home", "root", "users", *sorted(_SYSTEM))
    return "system" if any(fnmatch.fnmatchcase(name, first) for name in names) else "other"
