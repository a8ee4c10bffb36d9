"""What is a server called, and what tells it from another one of that name?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from urllib.parse import urlsplit

from interlock.doors.proxy.gate import Behind
from interlock.doors.proxy.running import Place

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STARTERS = frozenset(
    "npx uvx bunx pnpx node nodejs deno bun python python3 python2 py uv pipx run tool exec dlx pnpm yarn npm docker podman cmd env".split()
)
_GENERIC = frozenset("index main server cli app dist build bin src lib out start run mod".split())
_SUFFIXES = (".py", ".js", ".mjs", ".cjs", ".ts", ".exe", ".cmd", ".sh")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)")


class SettingError(ValueError):
    """Settings that nobody can use; the message says which."""


def place(
    name: str,
    trust: str,
    command: Sequence[str] = (),
    url: str = "",
    header_files: Iterable[Path] = (),
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Place:
    """Where a server is; raises SettingError for a name or an address that cannot be used."""
    if url and urlsplit(url).scheme not in ("http", "https"):
        raise SettingError(f"--url: expected http://… or https://…, got {url[:80]!r}")
    name = name or (_of_url(url) if url else _of_command(command))
    if not NAME.fullmatch(name):
        raise SettingError(f"--name: expected 1 to 64 of A-Z, a-z, 0-9, -, _ and ., got {name[:80]!r}")
    words = _without_query(url) if url else json.dumps(list(command), ensure_ascii=False)
    found = {key: value for file in header_files for key, value in _headers(file)}
    return Place(Behind(name, words, trust), tuple(command), url, {**(headers or {}), **found}, dict(env or {}))


def _of_command(command: Sequence[str]) -> str:
    """`npx -y @scope/server-memory@1.2` -> `server-memory`."""
    for word in command:
        short = _short(word)
        if short.lower() in _GENERIC:  # …/server-memory/dist/index.js
            short = next(
                (part for part in map(_short, PurePath(word).parts[-2::-1]) if part.lower() not in _GENERIC), short
            )
        if short and not word.startswith("-") and short.lower() not in _STARTERS and "=" not in word:
            return short
    return _short(command[0]) if command else ""


def _short(word: str) -> str:
    short = PurePath(word.replace("\\", "/")).name.partition("@")[0]
    for suffix in _SUFFIXES:
        short = short.removesuffix(suffix)
    return re.sub(r"[^A-Za-z0-9._-]", "-", short).lstrip("._-")[:64]


def _of_url(url: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", urlsplit(url).hostname or "").lstrip("._-")[:64]


def _without_query(url: str) -> str:
    """What tells servers apart; a query may be a secret, and a secret changes."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _headers(path: Path) -> Iterable[tuple[str, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _HEADER.fullmatch(line.strip())
        if found is None:
            raise SettingError(f"{path}:{number}: expected `Name: value`")
        yield found[1], found[2]
