"""An action -> its assessment, or the error that stands for one."""

from __future__ import annotations

from dataclasses import dataclass

from interlock import assess
from interlock.core.model import Action, Assessment, Kind
from interlock.core.read import FileReader


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Why there is no assessment; whoever gets this denies."""

    error: str


def judge(action: Action, files: FileReader | None = None) -> Assessment | Unjudged:
    """What the action would do; an unexpected error is an answer too, and never a pass."""
    try:
        if action.kind is Kind.COMMAND:  # by its text, so that the cache serves it
            return assess(action.text, action.cwd, files)
        return assess(action, files=files)
    except Exception as error:
        return Unjudged(f"could not be judged: {type(error).__name__}: {error}"[:300])
