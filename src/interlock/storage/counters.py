"""Counts agents' history while it happens, so that a limit check costs the same after a million actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from interlock.model import AgentRef, Level
from interlock.policy.digest import normal_name
from interlock.records import ANSWERED_WITHIN, AgentTotals, Counts, Figures, HistoryEntry
from interlock.storage import Transaction, stored_text
from interlock.storage.rows import RecordTable, name_key, placeholders

DEEDS = RecordTable("deeds", HistoryEntry, by_name=True)

HOUR = 3600
FORBIDDEN_WINDOW = 600
_SLOTS = 128  # minutes in the ring: more than an hour
_ENOUGH = 1000  # forbidden attempts are not counted further
_SEVERITIES = {Level.DESTRUCTIVE: "medium", Level.DANGEROUS: "high", Level.FORBIDDEN: "critical"}

_TALLY = """
ON CONFLICT (principal, name_key, operation, slot) DO UPDATE SET
  deeds = CASE WHEN excluded.minute > tallies.minute THEN 0 ELSE tallies.deeds END + excluded.deeds,
  points = CASE WHEN excluded.minute > tallies.minute THEN 0 ELSE tallies.points END + excluded.points,
  minute = CASE WHEN excluded.minute > tallies.minute THEN excluded.minute ELSE tallies.minute END
"""

# Uses the index of each agent's history, so that a long one costs no more than a short one.
_LAST = """
SELECT principal, name_key, (
  SELECT max(at) FROM deeds WHERE deeds.principal = figures.principal AND deeds.name_key = figures.name_key
) FROM figures WHERE figure = 'total_checked'
"""


def increment(db: Transaction, agent: AgentRef, figures: Mapping[str, int]) -> None:
    """Adds to permanent figures, in one order, so that two transactions cannot deadlock."""
    _add_figures(db, {(agent.principal, normal_name(agent.name), name): count for name, count in figures.items()})


def _add_figures(db: Transaction, figures: Mapping[tuple[str, str, str], int]) -> None:
    for chunk in _chunks(sorted(figures.items())):
        db.execute(
            f"INSERT INTO figures (principal, name_key, figure, value) VALUES {placeholders(4, len(chunk))} "
            "ON CONFLICT (principal, name_key, figure) DO UPDATE SET value = figures.value + excluded.value",
            [value for key, count in chunk for value in (*key, count)],
        )


def _chunks(rows: list[Any], size: int = 50) -> Iterable[list[Any]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def answer_figures(verdict: str, seconds: float) -> dict[str, int]:
    """The figures of one answer by a person: its count and its duration."""
    within = next((str(most) for most in ANSWERED_WITHIN if seconds <= most), "inf")
    return {f"answered:{verdict}:{within}": 1, f"answer_ms:{verdict}": max(0, int(seconds * 1000))}


class CounterQueries:
    """The part of a transaction for agents' history."""

    db: Transaction

    def add_deeds(self, deeds: Iterable[HistoryEntry]) -> None:
        """Stores history entries and counts them, per minute and permanently."""
        deeds = list(deeds)
        DEEDS.add(self.db, deeds)
        minutes: Counter[tuple[str, str, str, int]] = Counter()
        points: Counter[tuple[str, str, str, int]] = Counter()
        figures: Counter[tuple[str, str, str]] = Counter()
        for deed in deeds:
            who, minute = (deed.agent.principal, name_key(deed)), int(deed.at // 60)
            for key in ((*who, "", minute), (*who, f"o{deed.operation}", minute)):
                minutes[key] += 1
                points[key] += deed.score
            figures.update((*who, figure) for figure in _figures(deed))
        for chunk in _chunks(sorted(minutes.items())):
            self.db.execute(
                "INSERT INTO tallies (principal, name_key, operation, slot, minute, deeds, points) "
                f"VALUES {placeholders(7, len(chunk))} {_TALLY}",
                [value for key, count in chunk for value in (*key[:3], key[3] % _SLOTS, key[3], count, points[key])],
            )
        _add_figures(self.db, figures)

    def counts(
        self, agent: AgentRef, operation: str, execution: str, now: float, window: float = FORBIDDEN_WINDOW
    ) -> Counts:
        """Counts of this operation in the execution and the last hour, the risk of the execution (else of the hour), and forbidden attempts."""
        hourly, hour_points = self._hour(agent, operation, now)
        repeats, points = self._execution(execution, operation) if execution else (0, hour_points)
        return Counts(repeats=repeats, hourly=hourly, cumulative=points, forbidden=self._forbidden(agent, now - window))

    def figures(self) -> Figures:
        """The metrics of the gate, counted as things happen."""
        rows = self.db.execute("SELECT figure, CAST(sum(value) AS BIGINT) FROM figures GROUP BY figure")
        totals = {str(figure): int(value) for figure, value in rows}

        def part(prefix: str) -> dict[str, int]:
            return {name.removeprefix(prefix): totals[name] for name in sorted(totals) if name.startswith(prefix)}

        return Figures(
            **{name: totals.get(name, 0) for name in _NAMES},
            by_severity=part("severity:"),
            by_category=part("category:"),
            by_decision=part("decision:"),
            answers=part("answered:"),
            answer_ms=part("answer_ms:"),
        )

    def deeds(self, principal: str, name: str, since: float, most: int) -> list[HistoryEntry]:
        """An agent's history since then, the newest first."""
        where = "WHERE principal = ? AND name_key = ? AND at > ? ORDER BY at DESC LIMIT ?"
        return DEEDS.find(self.db, where, (principal, normal_name(name), since, most))

    def agent_totals(self) -> list[AgentTotals]:
        """The totals of every agent, the most recent first."""
        found: dict[tuple[str, str], dict[str, int]] = {}
        for principal, name, figure, value in self.db.execute(
            "SELECT principal, name_key, figure, value FROM figures ORDER BY principal, name_key, figure"
        ):
            found.setdefault((stored_text(principal), stored_text(name)), {})[str(figure)] = int(value)
        last = {
            (stored_text(principal), stored_text(name)): float(at or 0)
            for principal, name, at in self.db.execute(_LAST)
        }
        totals = [AgentTotals(*who, figures, last.get(who, 0.0)) for who, figures in found.items()]
        return sorted(totals, key=lambda one: (-one.last_at, one.principal, one.name))

    def _hour(self, agent: AgentRef, operation: str, now: float) -> tuple[int, int]:
        """This operation and all points in the last hour: whole minutes from the ring, the first one from the history."""
        who, since = (agent.principal, normal_name(agent.name)), now - HOUR
        edge = int(since // 60)
        ring = self.db.execute(
            "SELECT operation, CAST(sum(deeds) AS BIGINT), CAST(sum(points) AS BIGINT) FROM tallies "
            "WHERE principal = ? AND name_key = ? AND operation IN ('', ?) AND minute > ? GROUP BY operation",
            (*who, f"o{operation}", edge),
        )
        first = self.db.execute(
            "SELECT count(CASE WHEN operation = ? THEN 1 END), CAST(coalesce(sum(score), 0) AS BIGINT) FROM deeds "
            "WHERE principal = ? AND name_key = ? AND at > ? AND at < ?",
            (operation, *who, since, (edge + 1) * 60.0),
        )[0]
        whole = {name: (int(deeds), int(points)) for name, deeds, points in ring}
        return int(first[0]) + whole.get(f"o{operation}", (0, 0))[0], int(first[1]) + whole.get("", (0, 0))[1]

    def _execution(self, execution: str, operation: str) -> tuple[int, int]:
        row = self.db.execute(
            "SELECT count(CASE WHEN operation = ? THEN 1 END), CAST(coalesce(sum(score), 0) AS BIGINT) FROM deeds "
            "WHERE execution = ? AND execution <> ''",
            (operation, execution),
        )[0]
        return int(row[0]), int(row[1])

    def _forbidden(self, agent: AgentRef, since: float) -> int:
        """Forbidden attempts of a principal under all names since its last block was lifted; allowed actions do not count."""
        lifted = self.db.execute("SELECT max(lifted_at) FROM blocks WHERE principal = ?", (agent.principal,))[0][0]
        row = self.db.execute(
            "SELECT count(*) FROM (SELECT 1 AS one FROM deeds WHERE principal = ? AND level = 4 AND outcome <> 'allow' AND at > ? LIMIT ?) AS newest",
            (agent.principal, max(since, float(lifted or 0)), _ENOUGH),
        )[0]
        return int(row[0])


_NAMES = (
    "total_checked",
    "destructive_detected",
    "blocked_by_cooling",
    "blocked_by_approval",
    "approved",
    "rejected",
    "expired",
    "executed",
)


def _figures(deed: HistoryEntry) -> list[str]:
    """The figures that a history entry counts for."""
    severity = deed.severity or _SEVERITIES.get(deed.level, "")
    always = ["total_checked", f"decision:{deed.outcome}:{deed.level.word}"]
    if not severity:
        return always
    return [
        *always,
        "destructive_detected",
        f"severity:{severity}",
        *(f"category:{category}" for category in deed.categories),
    ]
