"""What operators laid down beforehand: grants, registry patterns, settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.core.records import Grant
from interlock.ports import Change, StoreError
from interlock.stores.rows import Table, from_json, to_json
from interlock.stores.seam import Session, original

GRANTS = Table("grants", Grant, key=("id",))

PROBE = "probe"  # a setting that is written to see whether that works; nobody has to hear of it
_GOOD = "revoked_at = 0 AND remaining > 0 AND expires_at > ?"


class Permissions:
    """The part of a transaction that is about what is allowed or known in advance."""

    db: Session

    def grants(self, now: float) -> list[Grant]:
        """The grants that still count."""
        return GRANTS.find(self.db, f"WHERE {_GOOD} ORDER BY created_at, id", (now,))

    def grant(self, id: str) -> Grant | None:
        return GRANTS.first(self.db, "WHERE id = ?", (id,))

    def save_grant(self, grant: Grant) -> None:
        """Adds a grant; one that is there can only be revoked, or lose uses: what was signed stays."""
        self.db.execute(
            f"{GRANTS.insert} ON CONFLICT (id) DO UPDATE SET "
            "remaining = CASE WHEN excluded.remaining < grants.remaining THEN excluded.remaining ELSE grants.remaining END, "
            "revoked_by = CASE WHEN grants.revoked_at = 0 THEN excluded.revoked_by ELSE grants.revoked_by END, "
            "revoked_at = CASE WHEN grants.revoked_at = 0 THEN excluded.revoked_at ELSE grants.revoked_at END",
            GRANTS.values(grant),
        )

    def use_grant(self, id: str, now: float) -> bool:
        """Takes one use; False when there is none left."""
        sql = f"UPDATE grants SET remaining = remaining - 1 WHERE id = ? AND {_GOOD} RETURNING id"
        return bool(self.db.execute(sql, (id, now)))

    def patterns(self) -> list[Mapping[str, Any]]:
        return [from_json(body) for (body,) in self.db.execute("SELECT body FROM patterns ORDER BY id")]

    def save_pattern(self, pattern: Mapping[str, Any]) -> None:
        """Adds or replaces a pattern; refuses one without an id."""
        id = pattern.get("id")
        if not isinstance(id, str) or not id:
            raise StoreError(f"pattern: expected an id, got {id!r}")
        self.db.execute(
            "INSERT INTO patterns (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
            (id, to_json(pattern)),
        )
        self.db.changed.append(Change.PATTERNS)

    def delete_pattern(self, id: str) -> bool:
        gone = bool(self.db.execute("DELETE FROM patterns WHERE id = ? RETURNING id", (id,)))
        if gone:
            self.db.changed.append(Change.PATTERNS)
        return gone

    def setting(self, key: str) -> str | None:
        found = self.db.execute('SELECT value FROM settings WHERE "key" = ?', (key,))
        return original(found[0][0]) if found else None

    def save_setting(self, key: str, value: str) -> None:
        self.db.execute(
            'INSERT INTO settings ("key", value) VALUES (?, ?) ON CONFLICT ("key") DO UPDATE SET value = excluded.value',
            (key, value),
        )
        if key != PROBE:
            self.db.changed.append(Change.SETTING + key[:200])  # what is announced may not be long
