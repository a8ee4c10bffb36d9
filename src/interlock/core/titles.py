"""An action and its facts -> the names under which an operator's pattern can meet it (C-12, C-35, R-8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.core.model import Action, Kind
from interlock.core.read.facts import Command, Effect, Fact
from interlock.core.read.lexicon import split_name
from interlock.core.registry import normalised

Argv = tuple[str, ...]
_NOWHERE = re.compile(r"\d*>>?\s*(?:/dev/null\b|&\d)|&>\s*/dev/null\b")
_LONGEST = 400  # characters of one title
_MOST = 200

# What an announced act is called, whichever words announced it.
_CALLED = {
    "act_delete": "delete", "act_revoke": "revoke", "act_terminate": "terminate", "act_invalidate": "invalidate",
    "act_unconfigure": "disable", "act_block": "ban", "act_pay": "refund", "act_account": "delete", "act_override": "bypass",
    "act_escalate": "grant", "act_leak": "leak", "act_run": "run", "act_rewrite": "force_push", "act_disk": "wipe",
    "sql_drop": "drop", "sql_truncate": "truncate", "sql_delete": "delete", "sql_update": "update", "store_drop": "drop",
    "store_delete": "delete",
}  # fmt: skip
_OBJECTS = ("database", "schema", "table", "column", "collection", "index", "view", "user")
# The argument that a tool's pattern speaks of: `Bash:git push*`, `Write:/etc/*`.
_ARGUMENTS = ("command", "cmd", "script", "file_path", "path", "notebook_path", "url", "query", "pattern", "prompt")


@dataclass(frozen=True, slots=True)
class Titles:
    """What one action is called; `single` when it is one act and nothing beside it."""

    operations: tuple[str, ...] = ()  # words joined by `_`
    commands: tuple[Argv, ...] = ()
    tools: tuple[tuple[str, str], ...] = ()  # tool and argument
    single: bool = False
    cut: bool = False  # it goes by more names than are listed, or longer ones


def titles(action: Action, facts: Sequence[Fact]) -> Titles:
    """Every name of an action; what is only quoted, denied or described in it is none of them."""
    commands = [(fact.program, *fact.words) for fact in facts if isinstance(fact, Command)]
    effects = [fact for fact in facts if isinstance(fact, Effect)]
    names = [*_own_names(action), *(name for effect in effects for name in _effect_names(effect))]
    operations, runs = dict.fromkeys(name for name in names if name), tuple(dict.fromkeys(commands))
    return Titles(
        operations=tuple(dict.fromkeys(name[:_LONGEST] for name in operations))[:_MOST],
        commands=runs[:_MOST],
        tools=tuple(_tools(action, commands)),
        single=_is_single(action, commands, effects)
        and not any(isinstance(fact, Command) and fact.env for fact in facts),
        cut=len(operations) > _MOST or len(runs) >= _MOST or any(len(name) > _LONGEST for name in operations),
    )


def _own_names(action: Action) -> list[str]:
    if action.kind in (Kind.OPERATION, Kind.TOOL):
        words = [word for segment in split_name(action.text) for word in segment]
        return [normalised(action.text), "_".join(words), *_resource(action, "_".join(words))]
    if action.kind is Kind.INTENT:
        from interlock.core.read.prose.asserted import asserted

        return ["_".join(words) for words in asserted(action.text)]
    return []


def _resource(action: Action, name: str) -> list[str]:
    """`drop` upon the resource `users table`: both words together."""
    resource = action.fields.get("resource")
    return [f"{name}_{normalised(resource)}"] if isinstance(resource, str) and resource else []


def _effect_names(effect: Effect) -> list[str]:
    """`delete_all_records`, `drop_table_users_production`: what an effect is called by its verb and its traits."""
    verb = _CALLED.get(effect.verb)
    if verb is None:
        return []
    whole = "all" in effect.traits or "unfiltered" in effect.traits
    objects = [word for word in _OBJECTS if word in effect.traits]
    target = normalised(effect.target).strip("_")
    words = [
        verb,
        *(["all"] if whole else objects[:1]),
        target,
        *(["production"] if "production" in effect.traits else []),
    ]
    return ["_".join(word for word in words if word)]


def _tools(action: Action, commands: Iterable[Argv]) -> list[tuple[str, str]]:
    """The tool and what it is given; every command of a shell counts by itself as well."""
    if action.kind is Kind.COMMAND:
        given = [("Bash", action.text.strip())]
    elif action.kind is Kind.TOOL:
        given = [(action.text, _argument(action.fields.get("input")))]
    elif action.kind is Kind.OPERATION:
        given = [(action.text, _argument(action.fields.get("params")))]
    else:
        given = []
    shells = [("Bash", " ".join(argv)) for argv in commands]
    return list(dict.fromkeys([*given, *shells]))[:_MOST]


def _argument(given: object) -> str:
    if not isinstance(given, Mapping):
        return ""
    values: Mapping[str, Any] = given
    return next((values[key] for key in _ARGUMENTS if isinstance(values.get(key), str)), "")


def _redirects(action: Action) -> bool:
    """`git status > notes.txt` is more than a git status; what goes nowhere is not."""
    text = action.text if action.kind is Kind.COMMAND else _argument(action.fields.get("input"))
    return action.kind in (Kind.COMMAND, Kind.TOOL) and ">" in _NOWHERE.sub("", text)


def _is_single(action: Action, commands: Sequence[Argv], effects: Sequence[Effect]) -> bool:
    """True for one command and what it does by itself, or one operation that carries nothing else (C-11)."""
    if any(effect.verb == "unreadable" for effect in effects) or _redirects(action):
        return False
    if action.kind is Kind.COMMAND:
        return len(commands) == 1 and not any(
            mark in action.text for mark in ("\n", ";", "&", "|", "`", "$(", "<(", ">(")
        )
    announced = [effect for effect in effects if effect.verb.startswith("act_")]
    if action.kind is Kind.INTENT:
        return len(commands) + len(announced) <= 1 and len(effects) - len(announced) <= 1
    return not commands or (action.kind is Kind.TOOL and len(commands) == 1)
