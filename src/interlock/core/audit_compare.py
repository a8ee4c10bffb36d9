"""Is what somebody kept elsewhere still in the record, as it was? What was signed cannot show that an older copy was put back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.core.records import AuditRow


@dataclass(frozen=True, slots=True)
class Compared:
    """Records of an export that the record has, those that were let go by age, and the first that is gone or another one."""

    same: int = 0
    pruned: int = 0
    gone: str = ""  # WRITER/NUMBER
    words: str = ""

    @property
    def ok(self) -> bool:
        return not self.gone


def compared(kept: Iterable[AuditRow], now: Iterable[AuditRow]) -> Compared:
    """The export against the record; only the front of a chain may be missing, for that is what pruning takes."""
    here: dict[str, dict[int, str]] = {}
    for row in now:
        here.setdefault(row.writer, {})[row.seq] = row.hash
    firsts = {writer: min(chain) for writer, chain in here.items()}
    same = pruned = 0
    for row in kept:
        found = here.get(row.writer, {}).get(row.seq)
        if found == row.hash:
            same += 1
        elif found is None and row.seq < firsts.get(row.writer, 0):
            pruned += 1
        else:
            words = "is not in the record any more" if found is None else "is another one in the record"
            return Compared(same, pruned, f"{row.writer}/{row.seq}", words)
    return Compared(same, pruned)
