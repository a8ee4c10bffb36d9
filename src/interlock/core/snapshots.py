"""What is kept of a snapshot beside its files: for which action it was taken, what its manifest's hash is, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

KEPT, UNDONE, PRUNED = "kept", "undone", "pruned"
STATES = (KEPT, UNDONE, PRUNED)
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"  # of an id behind its `u_`
PREFIX, LETTERS = "u_", 10


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One snapshot; secrets are taken out of its command."""

    id: str  # u_…
    at: float
    principal: str
    name: str
    session: str
    cwd: str
    command: str
    digest: str  # SHA-256 of its manifest, as it was when it was verified
    files: int = 0
    bytes: int = 0
    state: str = KEPT
    machine: str = ""  # where its files are
    undoes: str = ""  # the snapshot that was brought back when this one was taken; empty for an agent's action
    ended_at: float = 0.0  # when it was undone or pruned
    ended_by: str = ""


@dataclass(frozen=True, slots=True)
class SnapshotQuery:
    """Which snapshots somebody looks for: the newest first; an empty word means any."""

    state: str = ""
    principal: str = ""
    machine: str = ""
    actions: bool = False  # only those of an agent's actions, none that an undo took
    before: float = 0.0
    limit: int = 50


def new_id(random: bytes) -> str:
    """An id made of ten random bytes."""
    return PREFIX + "".join(ALPHABET[byte % len(ALPHABET)] for byte in random[:LETTERS])
