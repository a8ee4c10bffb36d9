"""What tells this installation from every other: the key of its digests and the key that signs its record."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from interlock.keys import SigningKey, checkpoint_key, installation_key


@dataclass(frozen=True, slots=True)
class Installation:
    """The keys of one state folder."""

    digest_key: bytes = field(repr=False)
    checkpoint: SigningKey = field(repr=False)

    @classmethod
    def open(cls, folder: Path) -> Installation:
        """The keys in a folder; makes them the first time."""
        return cls(installation_key(folder), checkpoint_key(folder))
