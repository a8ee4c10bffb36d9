"""Places of a call in the chain that it ends: what made it, and the model, the table or the collection that it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import takewhile

from interlock.analysis.code.program.objects import LibraryCall, label, links
from interlock.analysis.code.program.values import Marked, Sym, Value
from interlock.analysis.facts import hole

_Words = Mapping[str, frozenset[str]]  # of object mappers, by their title


def _path(call: LibraryCall) -> str:
    return call.owner.path if isinstance(call.owner, Sym) else ""


def _made_from(call: LibraryCall, words: _Words) -> list[Value]:
    """What the call was given that made the value that this one is about."""
    made = call.owner if isinstance(call.owner, Sym) else call.get(0)
    made = made.owner if isinstance(made, Sym) and not made.args else made
    return list(made.args) if isinstance(made, Sym) else []


def _root(call: LibraryCall, words: _Words) -> list[Value]:
    """What the first call of a chain was given first."""
    chain = [link for link in links(call.owner) if _path(call).startswith(link.path) and (link.args or link.named)]
    return [*chain[-1].args, *chain[-1].named.values()][:1] if chain else []


def _label(call: LibraryCall, words: _Words) -> list[Value]:
    return [label(link) for link in links(call.owner) if not link.name.startswith("__")][:1]


def _table(call: LibraryCall, words: _Words) -> list[Value]:
    """The table or collection that a chain was told: `from("users")`, `model("User")`."""
    told = [link.args[0] for link in links(call.owner) if link.args and link.name.rstrip("()") in words["naming"]]
    return [value for value in told if isinstance(value, str)][:1]


def _title(call: LibraryCall, words: _Words) -> list[Value]:
    """The table or collection that a chain is on, by the last of its names where none was told."""
    parts = [part for part in _path(call).split(".") if part not in ("", "?") and not part.endswith("()")]
    return _table(call, words) or [part for part in parts[-1:] if part != "[]"]


def _below(call: LibraryCall, words: _Words) -> list[Value]:
    """The whole path below its root: `a.b` of `db.a.b`; one that is each of those listed is marked as such."""
    path = ".".join(takewhile(lambda part: not part.endswith("()"), _path(call).split(".")[1:]))
    return [Marked("*", {"bulk"}) if path == "*" else hole() if path == "[]" else path]


# -- object mappers: a chain begins at a model, and its links leave rows out or do not


def _links(call: LibraryCall, words: _Words) -> list[str]:
    """The names of a chain, without an object that is made for a query alone; none where it begins at no model."""
    path = _path(call).replace("()", "")
    for link in words["begins"]:
        path = path.replace(f".new.{link}", f".{link}")
    chain = path.split(".")
    return chain if chain[0] and chain[0] not in words["other"] else []


def _model(call: LibraryCall, words: _Words) -> list[Value]:
    """The model that a chain begins at, or the table that it was told."""
    chain = _links(call, words)
    named = "::".join([part for part in chain if part[:1].isupper() and part not in words["namespaces"]][:3])
    return (_table(call, words) or [named] * bool(named)) if chain else []


def _rows(call: LibraryCall, words: _Words) -> list[Value]:
    """The model of a chain that has found rows."""
    chain = _links(call, words)
    alone = bool(call.args) and chain[1:] in ([], ["new"]) and any(part[:1].isupper() for part in chain[:1])
    return _model(call, words) if alone or not words["finders"].isdisjoint(chain[1:]) else []


def _narrowing(call: LibraryCall, words: _Words) -> list[Value]:
    return [part for part in _links(call, words)[1:] if not part[:1].isupper() and part not in words["whole"]]


def _queried(call: LibraryCall, words: _Words) -> list[Value]:
    """The model of `User.objects.…` or `session.query(User).…`."""
    for link in links(call.owner):
        if link.name.removesuffix("()") in words["queries"] and "." in link.path:
            called = link.path.endswith("()")
            return [label(link.args[0] if called and link.args else link.owner) if link.args or not called else hole()]
    return []


def _query(call: LibraryCall) -> str:
    return query.path if isinstance(query := call.get(0), Sym) else ""


CHAINED: Mapping[str, Callable[[LibraryCall, _Words], list[Value]]] = {
    "from": _made_from,
    "root": _root,
    "label": _label,
    "member": lambda call, words: _label(call, words) if "." in _path(call) else [],
    "table": _table,
    "title": _title,
    "filters": lambda call, words: [
        link.args for link in links(call.owner) if link.name.lower().startswith("where") and link.args
    ],
    "below": _below,
    "model": _model,
    "mapped": lambda call, words: _model(call, words) or list(_links(call, words)[-1:]),
    "rows": _rows,
    "narrowing": _narrowing,
    "queried": _queried,
    "managed": lambda call, words: _queried(call, words) if ".objects" in _path(call) and call.named else [],
    "query_filters": lambda call, words: [
        link.name for link in links(call.owner) if link.name.removesuffix("()") in words["narrows"]
    ],
    # a query that is given first: its table, and whether it may leave rows out
    "selected": lambda call, words: [_query(call).partition(".where")[0]] if _query(call) else [],
    "selecting": lambda call, words: [".where" in _query(call) or not _query(call)[:1].isupper()],
    "given": lambda call, words: call.given(),
}
