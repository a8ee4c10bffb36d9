"""Chains of calls on object mappers (Active Record, Sequel, Mongoid, Eloquent, Django, SQLAlchemy) -> effects on rows and tables."""

from __future__ import annotations

import re
from functools import cache

from interlock.analysis.code.library import words
from interlock.analysis.code.program.objects import LibraryCall, label, links
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, text_of
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import hole

_ALWAYS = re.compile(r"\s*\(*\s*(?:(\d+)\s*=\s*\1|true|'(\w*)'\s*=\s*'\2')\s*\)*\s*", re.IGNORECASE)


_LISTS = ("deletes_all", "deletes", "updates", "creates", "truncates", "query_deletes")


@cache
def row_changes() -> frozenset[str]:
    """The names of methods that change rows, or decide which."""
    known = words("rows")
    return frozenset({"where"}).union(*(known[title] for title in _LISTS))


def change_rows(walk: ProgramWalk, call: LibraryCall, kind: str) -> Value:
    """Tell what a call changes in a table; UNKNOWN when it is no such call."""
    if not isinstance(call.owner, Sym):
        return UNKNOWN
    if kind == "queries":
        return _change_queried(walk, call)
    chain = call.owner.path.replace("()", "").split(".")
    chain = [part for part in chain if part != "new"] if kind == "eloquent" else chain  # made there, not found
    known = words("rows")
    first = call.get(0)
    if call.name == "where" and len(call.args) == 1 and not call.named and _ALWAYS.fullmatch(text_of(first)):
        return call.owner  # a filter that lets everything through
    if chain[0] in known["other"] or not chain[0]:
        return UNKNOWN
    models = [part for part in chain if part[:1].isupper() and part not in ("App", "Models")]
    model = _table(call.owner) or "::".join(models[:3])
    narrow = any(part not in known["whole"] for part in chain[1:] if not part[:1].isupper())
    about_rows = any(part in known["finders"] for part in chain[1:])
    about_rows = about_rows or (bool(call.args) and chain[0][:1].isupper() and len(chain) == 1)
    if call.name in known["deletes_all"] and (model or call.name not in known["deletes"]):
        narrow = narrow or (call.name.endswith("_by") and bool(call.given()))
        return _tell(walk, "sql_delete", model or chain[-1], narrow)
    if call.name in known["deletes"] and model and about_rows:
        return _tell(walk, "sql_delete", model, narrow or bool(call.args))
    if call.name in known["updates"] and model and (call.name == "update_all" or about_rows):
        return _tell(walk, "sql_update", model, narrow)
    if call.name in known["truncates"] and model:
        return _tell(walk, "sql_truncate", model, True)
    if call.name in known["creates"] and model:
        _tell(walk, "sql_write", model, True)
        return Sym(f"{call.owner.path}.create()")
    return UNKNOWN


def _change_queried(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`User.objects.filter(…).delete()`, `session.query(User).update(…)`: the chain after the model narrows the rows, or does not."""
    known = words("rows")
    deletes, updates = call.name in known["query_deletes"], call.name in known["updates"]
    verb = "sql_delete" if deletes else "sql_update"
    chain = links(call.owner) if deletes or updates else []
    for at, link in enumerate(chain):
        name = link.name.removesuffix("()")
        if name in known["queries"] and "." in link.path:
            narrow = any(later.name.removesuffix("()") in known["narrows"] for later in chain[:at])
            model = link.args[0] if link.path.endswith("()") and link.args else link.owner
            target = hole() if link.path.endswith("()") and not link.args else label(model)
            if verb == "sql_update" and (name != "objects" or not call.named):
                return UNKNOWN
            return _tell(walk, verb, target, narrow)
    return UNKNOWN


def _tell(walk: ProgramWalk, verb: str, target: str, filtered: bool) -> Value:
    walk.world.effect(verb, target, *(() if filtered else ("unfiltered",)))
    return Sym("?")


def _table(owner: Sym) -> str:
    """The table that a query builder was given."""
    for link in links(owner):
        if link.args and link.path.removesuffix("()").endswith(("DB.table", "Capsule.table", "Db.table")):
            return text_of(link.args[0])
    return ""
