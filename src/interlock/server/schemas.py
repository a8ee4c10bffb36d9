"""JSON schemas of the API for the OpenAPI document, from the tables of schemas.toml; refuses an unknown type."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.config.plans import PLANNERS
from interlock.error_codes import codes
from interlock.model import TRUSTS, Json
from interlock.policy.plan_review import RISKS
from interlock.policy.policy import MODES
from interlock.records import STATES
from interlock.records.plans import STATUSES
from interlock.snapshots import WHATS
from interlock.web.evaluate_body import LEVELS

Schema = dict[str, Any]
_WORDS = {
    "claimed_level": LEVELS,
    "error_code": sorted(codes()),
    "plan_status": [*STATUSES, "starting"],
    "planner_name": ["", *PLANNERS],
    "risk": RISKS,
    "run_status": [*STATUSES, "held"],
    "safety_mode": MODES,
    "snapshot_state": STATES,
    "trust": TRUSTS,
    "undo_kind": sorted(WHATS),
}  # of enums that are declared where they are used
_NOTES = frozenset({"like", "describes", "one_of", "about"})  # keys of a table that are no types


@cache
def tables() -> Json:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@cache
def schemas() -> Mapping[str, Schema]:
    enum, part, schema = (tables()[name] for name in ("enum", "part", "schema"))
    enums = {**{name: words.split() for name, words in enum.items()}, **_WORDS}
    plain = tables()["plain"] | {name: {"type": "string", "enum": list(words)} for name, words in enums.items()}
    names = [*plain, *part, *schema]
    if len(names) > len(set(names)):
        raise ValueError(f"schemas.toml: {max(names, key=names.count)!r} is the name of two types")
    found = _SchemaTables(plain, part, schema)
    return {"text": plain["text"], **{name: found.table(table) for name, table in schema.items()}}


class _SchemaTables(Struct, frozen=True):
    plain: Mapping[str, Schema]
    parts: Mapping[str, Json]
    named: Json

    def table(self, table: Json) -> Schema:
        fields = self._fields(table)
        properties = {name.rstrip("?"): field for name, field in fields.items()}
        made = {"type": "object", "properties": properties, "additionalProperties": False}
        if "one_of" in table:
            kinds = [{"required": [name]} for name in table["one_of"].split()]
            return {**made, "description": table["about"], "oneOf": kinds}
        return {**made, "required": sorted(name for name in fields if not name.endswith("?"))}

    def _fields(self, table: Json) -> dict[str, Schema]:
        found = self._fields(self.parts[table["like"]]) if "like" in table else {}
        words = table.get("describes", {})
        for kind, names in table.items():
            for name in names.split() if kind not in _NOTES else ():
                said = words.get(name.rstrip("?"))
                found[name] = self._type(kind) | ({"description": said} if said else {})
        return found

    def _type(self, kind: str) -> Schema:
        if kind.endswith(" | null"):
            return {"anyOf": [self._type(kind.removesuffix(" | null")), {"type": "null"}]}
        if kind.startswith("["):
            return {"type": "array", "items": self._type(kind[1:-1])}
        if kind.startswith("{"):
            return {"type": "object", "additionalProperties": self._type(kind[1:-1])}
        if kind in self.named:
            return {"$ref": f"#/components/schemas/{kind}"}
        return self.table(self.parts[kind]) if kind in self.parts else self.plain[kind]
