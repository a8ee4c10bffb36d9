"""Which logs are there, and of which kind is each? The places where agents and shells keep them, or the paths that were given."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from interlock.doors.rehearse import claude_log, codex_log, history
from interlock.doors.rehearse.past import LONGEST, Past, Tally

Reader = Callable[[Path, float, Tally], Iterator[Past]]
LOOKED = 50  # lines of a file until it is known what it is
_AGENTS = (
    (".claude/projects", "*/*.jsonl"),
    (".codex/sessions", "**/*.jsonl"),
    (".codex/archived_sessions", "*.jsonl"),
)
_HISTORIES = (".bash_history", ".zsh_history", ".local/share/fish/fish_history")
_NAMES = frozenset(name.rpartition("/")[2] for name in _HISTORIES)


def transcripts(home: Path) -> list[Path]:
    """The logs of agents."""
    return sorted(path for folder, pattern in _AGENTS for path in (home / folder).glob(pattern) if path.is_file())


def histories(home: Path) -> list[Path]:
    """The histories of shells."""
    return [home / name for name in _HISTORIES if (home / name).is_file()]


def given(paths: Sequence[str]) -> list[Path]:
    """The files that are named, and those below the folders that are; raises FileNotFoundError for what is not there."""
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(name).expanduser()
        if not path.exists():
            raise FileNotFoundError(f"no file or folder {name!r}")
        below = path.rglob("*") if path.is_dir() else [path]
        every = path.is_file()
        found |= dict.fromkeys(one for one in below if one.is_file() and (every or _looks_like_one(one)))
    return sorted(found)


def _looks_like_one(path: Path) -> bool:
    return path.suffix == ".jsonl" or path.name in _NAMES


def calls(path: Path, since: float, tally: Tally) -> Iterator[Past]:
    """The past calls of one file; a file that cannot be opened is named in the tally."""
    try:
        if path.stat().st_mtime < since:
            return  # nothing in it is newer than the file
        tally.files += 1
        yield from _reader(path)(path, since, tally)
    except OSError as error:
        tally.unread.append(f"{path}: {error.strerror or error}")


def _reader(path: Path) -> Reader:
    if path.name in _NAMES:
        return history.read
    with path.open("rb") as file:
        for _ in range(LOOKED):
            try:
                record = json.loads(file.readline(LONGEST))
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict) and codex_log.is_this(record):
                return codex_log.read
            if isinstance(record, dict) and claude_log.is_this(record):
                return claude_log.read
    return claude_log.read if path.suffix == ".jsonl" else history.read
