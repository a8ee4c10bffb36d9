"""`EffectKey`: family of an effect, resolved target and place; how two of them relate, and the text that stores keep."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import product

from msgspec import Struct

from interlock.analysis.lazy_regex import lazy_regex

REMOVE, WRITE, SEND, STOP, GRANT, RUN = "remove", "write", "send", "stop", "grant", "run"
UNKNOWN = "?"
# Of the Git repository in a folder: changed files, and files that Git does not have.
WORKTREE, UNTRACKED = "worktree ", "untracked "
_ALL = "_*"  # `branch_*`: every branch
_SEPARATOR = " @ "
_ESCAPED = " \\@ "
_BROAD = "~"  # behind the family: no grant by target covers it
_GLOB = lazy_regex(r"[*?\[]")
_HOME = lazy_regex(r"(?:/home/[^/]+|/Users/[^/]+|/root)(?=/|$)")
_HOST = lazy_regex(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/\s]*@)?([^:/\s?#]+)", re.IGNORECASE)

# The families by the names that earlier versions stored and signed.
EARLIER = {
    "destroy": REMOVE, "rewrite": REMOVE, "close": REMOVE, "open": GRANT, "escalate": GRANT, "tell": SEND, "sql_update": WRITE,
    "sql_alter": WRITE, "sql_write": WRITE, "store_write": WRITE, "sql_kill": STOP,
}  # fmt: skip


class Relation(StrEnum):
    """How the target of an action relates to a denied one."""

    SAME = "same"
    INSIDE = "inside"
    AROUND = "around"


class EffectKey(Struct, frozen=True, eq=False):
    """One effect on one target in one place.

    `place` is empty for what the target itself locates on this machine, a folder for what belongs to a project, and else a name:
    a host, a container, a cluster with its namespace, a database.
    """

    family: str
    target: str
    place: str = ""
    grantable: bool = True  # False: more words may matter, so only the very same action is granted

    def __eq__(self, other: object) -> bool:
        """What may be granted is no part of it."""
        return isinstance(other, EffectKey) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> tuple[str, str, str]:
        return self.family, self.target, self.place

    @property
    def known(self) -> bool:
        """Two unknown targets need not be the same."""
        return self.target != UNKNOWN and bool(self.family)

    @property
    def path(self) -> str:
        return self.target if self.target.startswith("/") else ""

    @property
    def in_a_folder(self) -> bool:
        return not self.place or self.place.startswith("/")

    @property
    def anchored(self) -> bool:
        """Whether it means the same wherever its agent works."""
        return bool(self.place) or self.target.startswith(("/", "~", WORKTREE, UNTRACKED)) or "://" in self.target

    def __str__(self) -> str:
        """What stores keep; `parse` reads it."""
        family = self.family if self.grantable else f"{self.family}{_BROAD}"
        target = self.target.replace(_SEPARATOR, _ESCAPED)
        return f"{family}:{target}{_SEPARATOR}{self.place}" if self.place else f"{family}:{target}"


def parse(text: str) -> EffectKey:
    """Also by the words of earlier versions; what is none has no known target."""
    family, colon, rest = text.partition(":")
    target, _, place = rest.partition(_SEPARATOR)
    if not colon or not family or not target:
        return EffectKey(RUN, UNKNOWN, "", False)
    grantable = not family.endswith(_BROAD)
    family = family.removesuffix(_BROAD)
    return EffectKey(EARLIER.get(family, family), target.replace(_ESCAPED, _SEPARATOR), place, grantable)


def relation(denied: EffectKey, asked: EffectKey) -> Relation | None:
    """None where the effects or targets differ."""
    if denied.family != asked.family or not denied.known or not asked.known:
        return None
    if _same_place(denied.place, asked.place) or _unsaid(denied, asked):
        if asked.family == SEND and _host(denied.target) == _host(asked.target) != "":
            return Relation.SAME
        return _targets(denied.target, asked.target)
    if _holds(asked, denied):
        return Relation.AROUND
    return Relation.INSIDE if _holds(denied, asked) else None


def nearest(denied: Iterable[EffectKey], asked: Iterable[EffectKey]) -> Relation | None:
    """The closest relation of any two; the same target comes first."""
    found = {relation(one, other) for one, other in product(denied, asked)}
    return next((one for one in Relation if one in found), None)


def _same_place(one: str, other: str) -> bool:
    """A project's folder and its `src` are one place."""
    if one == other:
        return True
    (one, _, part), (other, _, rest) = one.partition("#"), other.partition("#")
    if part != rest or not one.startswith("/") or not other.startswith("/"):
        return False
    return one == other or _below(one, other) or _below(other, one)


def _unsaid(denied: EffectKey, asked: EffectKey) -> bool:
    """Whether one of them has no folder and no path, so that it may be the other's."""
    both = denied, asked
    return not all(one.place for one in both) and all(one.in_a_folder and not _split(one.target)[1] for one in both)


def _below(path: str, folder: str) -> bool:
    return folder != "/" and path.startswith(f"{folder}/")


def _holds(outer: EffectKey, inner: EffectKey) -> bool:
    """`namespace_shop` of a cluster holds all that is in the namespace; `database_shop` of a host its tables; a repository its refs."""
    kind, _, name = outer.target.partition("_")
    if kind == "repo":
        return bool(name) and inner.place == f"repository:{name}"
    held = kind in ("namespace", "database") and bool(name)
    return held and inner.place == f"{outer.place.rstrip('/')}/{name}"


def _targets(denied: str, asked: str) -> Relation | None:
    if denied == asked:
        return Relation.SAME
    (kind, one), (other_kind, other) = _split(denied), _split(asked)
    if not one or not other:
        return _either_in(denied, asked, _listed)
    if one.startswith("~") != other.startswith("~"):  # `~/x` and `/home/dev/x` alike
        one, other = _HOME.sub("~", one, count=1), _HOME.sub("~", other, count=1)
    if kind == other_kind:
        return Relation.SAME if one == other else _either_in(one, other, _inside)
    if not kind:  # a path was denied: Git's own ways to it, and `git clean` of a folder around it
        if one == other or _inside(other, one):
            return Relation.INSIDE
        return Relation.AROUND if other_kind == UNTRACKED and _inside(one, other) else None
    if not other_kind:  # the whole folder that a refused change of a repository is about
        return Relation.AROUND if one == other or _inside(one, other) else None
    return None


def _split(target: str) -> tuple[str, str]:
    kind = next((kind for kind in (WORKTREE, UNTRACKED) if target.startswith(kind)), "")
    path = target.removeprefix(kind)
    return (kind, path) if path.startswith(("/", "~")) or "://" in path else ("", "")


def _either_in(denied: str, asked: str, lies_in: Callable[[str, str], bool]) -> Relation | None:
    if lies_in(asked, denied):
        return Relation.INSIDE
    return Relation.AROUND if lies_in(denied, asked) else None


def _inside(path: str, outer: str) -> bool:
    return path.startswith(f"{outer.rstrip('/')}/") or (bool(_GLOB.search(outer)) and fnmatchcase(path, outer))


def _listed(name: str, outer: str) -> bool:
    """`branch_*` takes in `branch_main`."""
    return outer.endswith(_ALL) and name.startswith(outer[:-1])


def _host(target: str) -> str:
    found = _HOST.match(target) if ":/" in target else None
    return found[1].casefold() if found else ""


READS = frozenset({"read", "fetch", "sql_read", "store_read"})
# None of these names an effect and a target.
SILENT = frozenset({"act_read", "act_change", "act_vague", "declared", "unreadable"})
