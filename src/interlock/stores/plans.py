"""Plans and workflows: kept, changed by whoever has them, found again by their words."""

from __future__ import annotations

from interlock.core.plan_records import PlanQuery, PlanRow, Workflow
from interlock.stores.rows import Table
from interlock.stores.seam import Session

PLANS = Table("plans", PlanRow, key=("id",))
WORKFLOWS = Table("workflows", Workflow, key=("id",))
_WORDS = ("intent", "generated", "command")


class Plans:
    """The part of a transaction that is about plans."""

    db: Session

    def plan(self, id: str) -> PlanRow | None:
        return PLANS.first(self.db, "WHERE id = ?", (id,))

    def plans(self, query: PlanQuery) -> list[PlanRow]:
        """The newest first; a text is looked for in what was asked, proposed and run."""
        wanted: list[str] = []
        params: list[str | float] = []
        for column, value in (("status", query.status), ("operator", query.operator)):
            if value:
                wanted.append(f"{column} = ?")
                params.append(value)
        if query.before:
            wanted.append("made_at < ?")
            params.append(query.before)
        if query.text:
            like = f"%{_plainly(query.text.lower())}%"
            wanted.append("(" + " OR ".join(f"lower({column}) LIKE ? ESCAPE '!'" for column in _WORDS) + ")")
            params += [like] * len(_WORDS)
        where = f"WHERE {' AND '.join(wanted)} " if wanted else ""
        return PLANS.readable(
            self.db, f"{where}ORDER BY made_at DESC, id DESC LIMIT {max(1, int(query.limit))}", params
        )

    def save_plan(self, row: PlanRow) -> None:
        self.db.execute(PLANS.upsert, PLANS.values(row))

    def workflow(self, id: str) -> Workflow | None:
        return WORKFLOWS.first(self.db, "WHERE id = ? AND removed_at = 0", (id,))

    def workflows(self) -> list[Workflow]:
        """By name, without the removed ones."""
        return WORKFLOWS.readable(self.db, "WHERE removed_at = 0 ORDER BY name, id")

    def save_workflow(self, row: Workflow) -> None:
        self.db.execute(WORKFLOWS.upsert, WORKFLOWS.values(row))


def _plainly(text: str) -> str:
    """The text as LIKE takes it for itself."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
