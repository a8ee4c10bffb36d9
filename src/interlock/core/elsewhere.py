"""Would this happen at another place than its target says? On another machine, in a container, in a database that a connection names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from interlock.core.model import Action, Kind, Span
from interlock.core.read.facts import Command, Effect, Fact
from interlock.core.read.lexicon import split_name

_AWAY = frozenset({"remote", "container"})
_ROOTS = frozenset(
    "chroot arch-chroot nsenter unshare systemd-nspawn proot bwrap".split()
)  # other roots for the same path
_STORES = ("sql_", "store_")
# What a client is given beside its statement that says nothing of where it goes.
_PLAIN = frozenset("-c -e -q -X -A -t -x -N -s -B --command --execute --quiet --no-psqlrc".split())
# Last words of a parameter that says where.
_PLACES = frozenset(
    "host hostname server cluster database databases db dbname catalog schema connection connections dsn datasource source endpoint "
    "url uri project instance account region profile env environment tenant workspace branch port socket target".split()
)


def elsewhere(action: Action, facts: Sequence[Fact], accused: Collection[tuple[str, Span | None]]) -> bool:
    """Whether anything that is held against the action happens where its target alone does not say."""
    effects = [fact for fact in facts if isinstance(fact, Effect) and (fact.subject, fact.span) in accused]
    commands = [fact for fact in facts if isinstance(fact, Command)]
    return any(_away(effect) or _connected(action, effect, commands) for effect in effects)


def _away(effect: Effect) -> bool:
    return bool(effect.traits & _AWAY) or any(word in _ROOTS for step in effect.via for word in step.split()[:1])


def _connected(action: Action, effect: Effect, commands: Sequence[Command]) -> bool:
    """Whether a statement goes to a database that is named beside it."""
    if not effect.verb.startswith(_STORES):
        return False
    if commands:  # a setting of a command before it may say where, too
        return len(commands) > 1 or any(map(_names_a_place, commands))
    return action.kind in (Kind.OPERATION, Kind.TOOL) and _params_name_a_place(action)


def _names_a_place(command: Command) -> bool:
    given = [word for word in command.words if word not in _PLAIN]
    return bool(command.env) or len(given) > 1 or any(word.startswith("-") or " " not in word.strip() for word in given)


def _params_name_a_place(action: Action) -> bool:
    given = action.fields.get("params") or action.fields.get("input")
    keys = [str(key) for key in given] if isinstance(given, Mapping) else []
    return any(words[-1] in _PLACES for key in keys if (words := [w for part in split_name(key) for w in part]))
