"""A command's text -> its assessment, or the error that stands for one."""

from __future__ import annotations

from dataclasses import dataclass

from interlock import assess
from interlock.core.model import Assessment
from interlock.core.read import FileReader


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Why there is no assessment; whoever gets this denies."""

    error: str


def judge(text: str, cwd: str, files: FileReader | None = None) -> Assessment | Unjudged:
    """What the command would do; an unexpected error is an answer too, and never a pass."""
    try:
        return assess(text, cwd, files)
    except Exception as error:
        return Unjudged(f"could not be judged: {type(error).__name__}: {error}"[:300])
