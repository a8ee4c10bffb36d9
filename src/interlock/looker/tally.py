"""What was found so far, file by file and commit by commit -> what would be gone."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.core.loss import MISSING, NAMES, Seen
from interlock.core.model import Loss


@dataclass(slots=True)
class Tally:
    """Counts what a look meets."""

    verb: str = "delete"
    files: int = 0
    bytes: int = 0
    only: int = 0
    names: list[str] = field(default_factory=list)
    kept: int = 0  # things that can be had back
    commits: int = 0
    safe: int = 0
    gone: int = 0  # commits, stashes and the like that cannot
    repositories: int = 0  # with their history
    found: bool = False  # something was there to look at
    absent: bool = False  # something was looked for, and for certain is not there
    notes: dict[str, None] = field(default_factory=dict)
    problem: str = ""

    def lost(self, name: str, size: int) -> None:
        """A file whose content exists nowhere else."""
        self._file(size)
        self.only += 1
        if len(self.names) < NAMES:
            self.names.append(name)

    def recoverable(self, size: int) -> None:
        """A file whose content is kept elsewhere, or can be made again."""
        self._file(size)
        self.kept += 1

    def nothing(self) -> None:
        """A file without content."""
        self._file(0)

    def note(self, words: str) -> None:
        self.found = True
        self.notes[words] = None

    def unclear(self, problem: str) -> None:
        self.problem = self.problem or problem

    def _file(self, size: int) -> None:
        self.found = True
        self.files += 1
        self.bytes += size

    def seen(self) -> Seen:
        problem = self.problem or ("" if self.found or self.absent else MISSING)
        if not self.found and not problem:
            self.notes[MISSING] = None
        return Seen(
            self._loss(problem),
            self.verb,
            self.files,
            self.bytes,
            self.only,
            tuple(self.names),
            self.commits,
            self.safe,
            tuple(self.notes)[:NAMES],
            problem,
            self.repositories,
        )

    def _loss(self, problem: str) -> Loss:
        if self.only or self.gone:
            return Loss.LOST
        if problem:
            return Loss.UNKNOWN
        return Loss.RECOVERABLE if self.kept or self.commits else Loss.NONE
