"""Assesses an action without deciding on it; an error is an Unjudged, which its caller denies."""

from __future__ import annotations

from msgspec import Struct

from interlock import assess
from interlock.analysis.read import FileReader
from interlock.model import Action, Assessment, Kind


class Unjudged(Struct, frozen=True):
    """Why there is no assessment; the caller denies."""

    error: str

    @classmethod
    def by(cls, error: Exception) -> Unjudged:
        return cls(f"could not be judged: {type(error).__name__}: {error}"[:300])


def judge(action: Action, files: FileReader | None = None) -> Assessment | Unjudged:
    try:
        if action.kind is Kind.COMMAND:  # by its text, so that the cache serves it
            return assess(action.text, action.cwd, files)
        return assess(action, files=files)
    except Exception as error:
        return Unjudged.by(error)
