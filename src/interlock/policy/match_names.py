"""Derives the names under which an operator's pattern matches an action (C-12, C-35, R-8)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from posixpath import join, normpath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.confusables import plain
from interlock.analysis.facts import Command, Effect, Fact
from interlock.analysis.lexicon import split_name, vocabulary
from interlock.analysis.programs.load import word_table
from interlock.model import Action, Kind
from interlock.policy.registry import normalise_action

Argv = tuple[str, ...]
_NOWHERE = re.compile(r"\d*>>?\s*(?:/dev/null\b|&\d)|&>\s*/dev/null\b")
_JOINS = re.compile(r"[\n;&|`]|[$<>]\(")  # begins another command
_LONGEST = 400  # characters of one name
_MOST = 200

_OBJECTS = tuple("database schema table column collection index view user".split())
# The arguments that a tool's pattern matches: `Bash:git push*`, `Write:/etc/*`; where it has one of the first, the last do not count.
_FIRST = tuple(
    "command cmd script file_path path notebook_path absolute_path filepath filename file target_file url uri".split()
)
_LAST = ("query", "pattern", "prompt")
_COMMANDS, _PATHS = frozenset(_FIRST[:3]), _FIRST[3:-2]
_DEEPEST = 4  # lists and tables within each other


class MatchNames(Struct, frozen=True):
    """`single` when it is one command or operation and nothing else."""

    operations: tuple[str, ...] = ()  # words joined by `_`
    commands: tuple[Argv, ...] = ()
    tools: tuple[tuple[str, str], ...] = ()  # tool and argument
    single: bool = False
    cut: bool = False  # it has more names than are listed, or longer ones
    places: tuple[tuple[str, str], ...] = ()  # tool and argument as meant, where written in another way
    reached: tuple[Argv, ...] = ()  # the commands, with what a link leads to in place of the path that they name
    strays: bool = False  # a path of it leads through a link to another place than it names


def match_names(action: Action, facts: Sequence[Fact]) -> MatchNames:
    """Every name of an action; ignores what it only quotes, denies or describes."""
    commands = [(fact.program, *fact.words) for fact in facts if isinstance(fact, Command)]
    effects = [fact for fact in facts if isinstance(fact, Effect)]
    names = (*_own_names(action), *map(_effect_name, effects))
    operations, runs = dict.fromkeys(filter(None, names)), tuple(dict.fromkeys(commands))
    given, longest = _tool_arguments(action), max(map(len, operations), default=0)
    cut = max(len(operations), len(given)) > _MOST or len(runs) >= _MOST or longest > _LONGEST
    single = _is_single(action, commands, effects) and not any(isinstance(f, Command) and f.env for f in facts)
    return MatchNames(
        operations=tuple(dict.fromkeys([name[:_LONGEST] for name in operations]))[:_MOST],
        commands=runs[:_MOST],
        tools=tuple(dict.fromkeys([*given, *(("Bash", " ".join(argv)) for argv in commands)]))[:_MOST],
        single=single,
        cut=cut,
        places=tuple(_places(action)),
    )


def with_real_paths(named: MatchNames, action: Action, effects: Sequence[tuple[str, Effect]]) -> MatchNames:
    """`effects` are paths as written that lead through links, with the effect on the real target."""
    reached = [
        tuple(effect.path if word == written else word for word in argv)
        for written, effect in effects
        for argv in named.commands
        if written in argv
    ]
    tools = [(action.text, effect.path) for _, effect in effects] if action.kind is Kind.TOOL else []
    tools += [("Bash", " ".join(argv)) for argv in reached]
    places = tuple(dict.fromkeys((*named.places, *tools)))
    return replace(named, places=places[:_MOST], reached=tuple(dict.fromkeys(reached))[:_MOST], strays=True)


def _own_names(action: Action) -> list[str]:
    if action.kind in (Kind.OPERATION, Kind.TOOL):
        name = "_".join(word for segment in split_name(action.text) for word in segment)
        resource = action.fields.get("resource")  # `drop` upon `users table`: both words together
        both = [f"{name}_{normalise_action(resource)}"] if isinstance(resource, str) and resource else []
        return [normalise_action(action.text), name, *both]
    if action.kind is Kind.INTENT:
        from interlock.analysis.prose import announced_clauses  # 24 modules, for prose alone

        return ["_".join(words) for words in announced_clauses(action.text)]
    return []


def _effect_name(effect: Effect) -> str:
    """`delete_all_records`, `drop_table_users_production`: by its verb and its traits."""
    verb = word_table("effect_names").get(effect.verb)
    if verb is None:
        return ""
    whole = "all" in effect.traits or "unfiltered" in effect.traits
    thing = "all" if whole else next((word for word in _OBJECTS if word in effect.traits), "")
    words = (
        verb,
        thing,
        normalise_action(effect.target).strip("_"),
        "production" if "production" in effect.traits else "",
    )
    return "_".join(filter(None, words))


def _tool_arguments(action: Action) -> list[tuple[str, str]]:
    """The tool with each of its arguments, so that a decoy argument hides nothing."""
    if action.kind is Kind.COMMAND:
        return [("Bash", action.text.strip())]
    if action.kind not in (Kind.TOOL, Kind.OPERATION):
        return []
    return [(action.text, text) for text in _arguments(_body(action)) or [""]]


def _body(action: Action) -> Any:
    return action.fields.get("input" if action.kind is Kind.TOOL else "params")


def _places(action: Action) -> list[tuple[str, str]]:
    """The tool without look-alike letters and its paths resolved, where they are written differently: `/tmp/../etc/x` is `/etc/x`."""
    body = _body(action)
    if action.kind not in (Kind.TOOL, Kind.OPERATION) or not isinstance(body, Mapping):
        return []
    name = plain(action.text, vocabulary())  # a tool whose name only looks like another one's
    found = [(name, text) for text in _arguments(body) or [""]] if name != action.text else []
    for text in _arguments(body, _PATHS)[:_MOST]:
        if "://" not in text and (action.cwd or text.startswith("/")):
            path = normpath(join(action.cwd or "/", text)).replace("//", "/")
            found += [(action.text, path)] if path != text else []
    return list(dict.fromkeys(found))


def _arguments(given: object, names: Sequence[str] = (*_FIRST, *_LAST)) -> list[str]:
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    waiting: list[tuple[object, int]] = [(given, 0)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, Mapping) and depth < _DEEPEST:
            values: Mapping[Any, Any] = item
            for key, value in values.items():
                if key in found:
                    found[key] |= dict.fromkeys(_texts(value, key in _COMMANDS))
                waiting.append((value, depth + 1))
        elif isinstance(item, list | tuple) and depth < _DEEPEST:
            waiting += [(inner, depth + 1) for inner in item]
    first = [text for name in names if name in _FIRST for text in found[name]]
    return first or [text for name in names if name in _LAST for text in found[name]]


def _texts(value: object, argv: bool) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    words = [word for word in value if isinstance(word, str) and word] if isinstance(value, list | tuple) else []
    return [" ".join(words)] if argv and words else words


def _redirects(action: Action) -> bool:
    """`git status > notes.txt` is more than a git status; what goes nowhere is not."""
    if action.kind not in (Kind.COMMAND, Kind.TOOL):
        return False
    text = action.text if action.kind is Kind.COMMAND else " ".join(_arguments(_body(action)))
    return ">" in text and ">" in _NOWHERE.sub("", text)


def _is_single(action: Action, commands: Sequence[Argv], effects: Sequence[Effect]) -> bool:
    """One command and what it does by itself, or one operation that carries nothing else (C-11)."""
    if any(effect.verb == "unreadable" for effect in effects) or _redirects(action):
        return False
    if action.kind is Kind.COMMAND:
        return len(commands) == 1 and _JOINS.search(action.text) is None
    announced = [effect for effect in effects if effect.verb.startswith("act_")]
    if action.kind is Kind.INTENT:
        return len(commands) + len(announced) <= 1 and len(effects) - len(announced) <= 1
    return not commands or (action.kind is Kind.TOOL and len(commands) == 1)
