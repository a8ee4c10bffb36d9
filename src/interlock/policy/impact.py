"""Impact of an action: what its inspected targets would really lose (blast radius), in words, as JSON, and among the factors of a decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, to_builtins

from interlock.analysis.display_text import visible
from interlock.model import Loss
from interlock.redaction import redact_text

# The beginnings of factors.
IMPACT_PREFIX = "looked: "
RELIEF_PREFIX = "relief: "
JOURNAL = "the journal keeps what it changes"  # the exemption of a call that runs below the journal
ESCALATION_PREFIX = "raised: "
NO_SNAPSHOT_PREFIX = "not kept: "
MISSING = "nothing of it is there"
RECOVERABLE = "all of it can be had back"
IRRECOVERABLE = "cannot be undone"
_ORDINARY = "not undone by ordinary means"
NAMES = 5  # listed at most
_LONGEST = 80  # characters of one name
_UNITS = ("KB", "MB", "GB", "TB")
_FIGURES = tuple("files bytes only commits safe repositories presumed".split())


class Impact(Struct, frozen=True):
    loss: Loss = Loss.UNKNOWN
    verb: str = "delete"
    files: int = 0
    bytes: int = 0
    only: int = 0  # files whose content exists nowhere else
    names: tuple[str, ...] = ()  # of the first of them
    commits: int = 0  # that go with it
    safe: int = 0  # of those, how many something else holds
    notes: tuple[str, ...] = ()
    problem: str = ""  # why there is no better answer
    repositories: int = 0  # that go as a whole, with their history
    presumed: int = 0  # of what can be had back, how much only by the name of a build and because Git ignores it

    @property
    def telling(self) -> bool:
        return bool(self.files or self.commits or self.notes)

    @property
    def missing(self) -> bool:
        return not self.files and not self.commits and MISSING in (self.problem, *self.notes)

    @property
    def words(self) -> str:
        """One sentence without a full stop; names come from the agent and are made visible."""
        parts = [part for part in (self._files(), self._only(), self._commits(), *self.notes) if part]
        parts += [f"what would be lost is not known: {self.problem}"] if self.problem else []
        return redact_text("; ".join(parts))

    def _files(self) -> str:
        if not self.files:
            return ""
        back = f"; {RECOVERABLE}" if self.loss is Loss.RECOVERABLE and self.bytes else ""
        return f"would {self.verb} {count_words(self.files, 'file')}, {size_words(self.bytes)}{back}"

    def _only(self) -> str:
        if not self.only:
            return ""
        which = "it exists" if self.files == 1 else "they exist"
        if self.only < self.files:
            which = f"{self.only:,} of them exist{'s' if self.only == 1 else ''}"
        names = [visible(name)[:_LONGEST] for name in self.names]
        more = self.only - len(names)
        return f"{which} nowhere else: {', '.join(names)}" + (f" and {more:,} more" if more > 0 else "")

    def _commits(self) -> str:
        if not self.commits:
            return ""
        rest = self.commits - self.safe
        held = f"{rest:,} of them no other branch holds" if rest else "other branches hold all of them"
        if self.commits == 1:
            held = "no other branch holds it" if rest else "another branch holds it"
        return f"would take {count_words(self.commits, 'commit')} off; {held}"


def count_words(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size_words(count: int) -> str:
    if count < 1000:
        return count_words(count, "byte")
    value, units = count / 1000, list(_UNITS)
    while value >= 1000 and len(units) > 1:
        value = value / 1000
        del units[0]
    return f"{value:.{int(value < 100)}f} {units[0]}"


def impact_words(factors: Iterable[str]) -> str:
    return next(_behind(IMPACT_PREFIX, factors), "")


def snapshot_problem(factors: Iterable[str]) -> str:
    return next(_behind(NO_SNAPSHOT_PREFIX, factors), "")


def escalation_reasons(factors: Iterable[str]) -> tuple[str, ...]:
    return tuple(_behind(ESCALATION_PREFIX, factors))


def _behind(prefix: str, factors: Iterable[str]) -> Iterator[str]:
    return (factor.removeprefix(prefix) for factor in factors if factor.startswith(prefix))


def recoverable(factors: Iterable[str]) -> bool:
    """Even if the rules call such actions irreversible."""
    return RECOVERABLE in impact_words(factors)


def undo_words_after(words: str, factors: Iterable[str]) -> str:
    """The words without `cannot be undone`, where an inspection found everything recoverable."""
    return words.replace(IRRECOVERABLE, _ORDINARY) if IRRECOVERABLE in words and recoverable(factors) else words


def impact_json(impact: Impact) -> dict[str, Any]:
    body = {name: value for name, value in to_builtins(impact).items() if value}
    return {**body, "loss": impact.loss.value, "verb": impact.verb}


def impact_of(data: Mapping[str, Any]) -> Impact:
    """May come from a process of the agent's user; raises ValueError, KeyError and TypeError."""
    figures = {name: data.get(name, 0) for name in _FIGURES}
    if any(type(one) is not int or one < 0 for one in figures.values()):
        raise ValueError("no number")
    return Impact(
        Loss(data["loss"]),
        str(data.get("verb", "delete"))[:40],
        names=tuple(str(name)[:400] for name in data.get("names", ())[:NAMES]),
        notes=tuple(str(note)[:200] for note in data.get("notes", ())[:NAMES]),
        problem=str(data.get("problem", ""))[:200],
        **figures,
    )


# The rules whose harm is visible on the disk; no inspection exempts from a finding of any other rule.
INSPECTABLE_RULES = frozenset(
    "filesystem.delete_tree filesystem.delete_file filesystem.empty_file filesystem.overwrite_file filesystem.overwrite_data "
    "filesystem.overwrite_settings git.reset_hard git.clean "
    "git.discard_changes git.drop_stash git.force_branch git.force_push_with_lease".split()
)
