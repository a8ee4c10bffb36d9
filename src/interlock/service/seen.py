"""Who asks here, and how do they stand?"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.core.digest import normal_name
from interlock.core.loop import KEPT_LIVE
from interlock.core.records import NOTHING, AgentRow, AgentTotals, Execution, Json
from interlock.ports import Tx
from interlock.service.state import State

MOST_RUNS = 1_000  # of each kind that are not over


@dataclass(frozen=True, slots=True)
class Seen:
    """One agent: what is kept of it, and how it stands now."""

    principal: str
    name: str
    row: AgentRow | None
    totals: AgentTotals | None
    block: str  # why it is blocked
    run: Execution | None  # that is not over

    @property
    def checked(self) -> int:
        return int(self._figures.get("total_checked", 0))

    @property
    def stopped(self) -> int:
        """What did not go through at once, whatever became of it."""
        decided = [(name, count) for name, count in self._figures.items() if name.startswith("decision:")]
        return sum(int(count) for name, count in decided if not name.startswith("decision:allow:"))

    @property
    def last_at(self) -> float:
        return max(self.totals.last_at if self.totals else 0.0, self.row.last_seen if self.row else 0.0)

    @property
    def _figures(self) -> Json:
        return self.totals.figures if self.totals else NOTHING


def seen(state: State) -> list[Seen]:
    """Everybody who has a token, asked for something, runs something or is blocked: the blocked first, then whoever did last."""
    state.recorder.flush()

    def work(tx: Tx) -> tuple[list[AgentRow], list[AgentTotals], list[Execution]]:
        runs = [run for status in KEPT_LIVE for run in tx.executions(status=status, most=MOST_RUNS)]
        return tx.agents(), tx.agent_totals(), runs

    rows, totals, runs = state.store.read(work)
    row_of = {(row.principal, normal_name(row.name)): row for row in rows}
    total_of = {(one.principal, one.name): one for one in totals}
    run_of = {(run.agent.principal, normal_name(run.agent.name)): run for run in reversed(runs)}
    known = dict.fromkeys((*total_of, *row_of, *run_of))
    blocked, proved = dict(state.blocks), {principal for principal, _ in known}
    known |= dict.fromkeys((principal, "") for principal in blocked if principal not in proved)
    found = [Seen(*who, row_of.get(who), total_of.get(who), blocked.get(who[0], ""), run_of.get(who)) for who in known]
    return sorted(found, key=lambda one: (not one.block, -one.last_at, one.principal, one.name))
