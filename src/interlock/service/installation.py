"""What tells this installation from every other: the key of its digests and the key that signs its record."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from interlock.keys import SigningKey, checkpoint_key, installation_key
from interlock.keys.files import CHECKPOINTS, INSTALLATION
from interlock.ports import StoreError, Tx

SETTING = "installation"  # the keys that a shared database was first used with, by their marks


class OtherKeys(StoreError):
    """A shared database is used with other keys: no replica would find what another one holds."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The keys of one state folder."""

    digest_key: bytes = field(repr=False)
    checkpoint: SigningKey = field(repr=False)
    folder: Path = Path()

    @classmethod
    def open(cls, folder: Path) -> Installation:
        """The keys in a folder; makes them the first time."""
        return cls(installation_key(folder), checkpoint_key(folder), folder)

    def agree(self, tx: Tx) -> None:
        """Leaves the marks of these keys in a database that has none; refuses one that has others."""
        said, ours = tx.setting(SETTING), self._marks()
        if said is None:
            return tx.save_setting(SETTING, json.dumps(ours))
        known = _known(said)
        wrong = [name for name, mark in ours.items() if known.get(name) != mark]
        if wrong:
            raise OtherKeys(
                f"it is used with other keys than {' and '.join(wrong)} in {self.folder}: copy {INSTALLATION} and {CHECKPOINTS}"
                " from the state folder of a replica that runs on it, mode 0600, and start again"
            )
        return None

    def _marks(self) -> dict[str, str]:
        """What may be known of the keys: 32 random bytes cannot be guessed from a hash."""
        mark = hashlib.sha256(b"interlock installation key\0" + self.digest_key).hexdigest()[:32]
        return {INSTALLATION: mark, CHECKPOINTS: self.checkpoint.key_id}


def _known(said: str) -> dict[str, str]:
    """Marks that cannot be read are nobody's."""
    try:
        known = json.loads(said)
    except ValueError:
        return {}
    return known if isinstance(known, dict) else {}
