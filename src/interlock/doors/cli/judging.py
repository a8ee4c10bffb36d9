"""A command's text -> its assessment, or the error that stands for one."""

from __future__ import annotations

from dataclasses import dataclass

from interlock import assess
from interlock.core.model import Assessment
from interlock.core.read import FileReader

_WORTH_KEEPING = 4096  # longer texts are not cached: they would fill the memory, and do not come twice


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Why there is no assessment; whoever gets this denies."""

    error: str


def judge(text: str, cwd: str, files: FileReader | None = None) -> Assessment | Unjudged:
    """What the command would do; an unexpected error is an answer too, and never a pass."""
    if files is None and len(text) > _WORTH_KEEPING:
        files = _no_files
    try:
        return assess(text, cwd, files)
    except Exception as error:
        return Unjudged(f"could not be judged: {type(error).__name__}: {error}"[:300])


def _no_files(path: str) -> str | None:
    return None
