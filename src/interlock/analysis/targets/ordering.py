"""Orders the steps and effects of a command line, so that a later one cannot excuse an earlier one."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

from msgspec import Struct

from interlock.analysis.facts import HOLE, QUOTED, Command, Effect, Fact, known, show_command
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.lexicon import split_name
from interlock.analysis.programs.load import describe, program_set, word_set
from interlock.analysis.programs.objects import certain_objects, in_repository
from interlock.analysis.shell.syntax.nodes import (
    AndOr,
    Background,
    Branches,
    Expression,
    Node,
    ShellFunction,
    ShellGroup,
    ShellLoop,
    ShellPipeline,
    SimpleCommand,
)
from interlock.model import Action, Kind, Span

Key = tuple[str, Span | None]  # of a finding: subject and span

# Variables that redirect a program or a word to another place.
_REDIRECTING = lazy_regex(
    r"HOME|CDPATH|GLOBIGNORE|IFS|PATH|ENV|BASH\w*|SHELLOPTS|(?:PG|MYSQL|MARIADB|REDIS|MONGO|SQLITE|DATABASE|DB|GIT|DOCKER|COMPOSE|RAILS|RACK"
    r"|NODE|DJANGO|FLASK|APP|MIX|TMP)\w*"
)
_MANY = 5_000  # nodes of one line


class CommandLine(Struct, frozen=True):
    starts: tuple[int, ...] = ()  # of the steps; empty where they do not run in order
    set_apart: bool = False  # a variable is set that could redirect later commands
    certain: tuple[tuple[int, str], ...] = ()  # the start of a command, and `yes`, or `last` for a pipe

    def until(self, facts: Sequence[Fact], harmful: Collection[Key]) -> list[Fact]:
        """The facts up to the step of the last harmful effect."""
        places = [number for number, fact in enumerate(facts) if fact_key(fact) in harmful]
        if not places or not self.starts:
            return list(facts)
        last, step = places[-1], max(self._step(facts[number].span) for number in places)
        return [fact for number, fact in enumerate(facts) if number <= last or self._step(fact.span) <= step]

    def _step(self, span: Span | None) -> int:
        return sum(start <= span[0] for start in self.starts) if span is not None else 0

    def sure(self, fact: Command) -> str:
        """`yes` where it succeeds with the line, `last` for a pipe whose last stage decides, else empty."""
        return dict(self.certain).get(fact.span[0], "") if fact.span is not None else ""


NOT_READ = CommandLine(set_apart=True)  # nothing is known of its order, so nothing is excused by it


def command_line(nodes: Sequence[Node], whole: bool) -> CommandLine:
    """No steps where it is not `whole`, too long, or where a part runs in the background."""
    if whole and len(nodes) == 1 and isinstance(nodes[0], SimpleCommand) and nodes[0].words:
        return CommandLine((nodes[0].span[0],), False, _certain(nodes))
    inner = [one for node in nodes for one in _inner(node)]
    bare = [one for one in inner if isinstance(one, SimpleCommand) and not one.words]
    set_apart = any(_REDIRECTING.fullmatch(assigned.name) for one in bare for assigned in one.assigns)
    certain = _certain(nodes) if whole else ()
    if not whole or len(inner) > _MANY or any(isinstance(one, Background) for one in inner):
        return CommandLine((), set_apart, certain)
    steps = [step for node in nodes for step in (node.nodes if isinstance(node, AndOr) else [node])]
    starts = [_start(step) for step in steps]
    known = tuple(start for start in starts if start is not None)
    return CommandLine(known if len(known) == len(starts) else (), set_apart, certain)


def _start(node: Node) -> int | None:
    return min((one.span[0] for one in _inner(node) if isinstance(one, SimpleCommand | ShellFunction)), default=None)


def _inner(node: Node) -> Iterator[Node]:
    todo: list[Node] = [node]
    while todo:
        one = todo.pop()
        yield one
        todo += _parts(one)


def _parts(node: Node) -> list[Node]:
    match node:
        case ShellPipeline(inner) | AndOr(inner) | ShellGroup(inner):
            return inner
        case Branches():
            return [*node.head, *(one for body in node.bodies for one in body)]
        case ShellLoop():
            return [*node.head, *node.body]
        case ShellFunction(_, one) | Background(one):
            return [one]
        case SimpleCommand() | Expression():
            return []


def _certain(nodes: Sequence[Node]) -> tuple[tuple[int, str], ...]:
    """Commands that only `&&` joins; none where one may give later words another meaning."""
    if len(nodes) != 1:
        return ()
    chain: list[Node] = [nodes[0]]
    if isinstance(nodes[0], AndOr):
        chain = nodes[0].nodes if set(nodes[0].operators) == {"&&"} else []
    found: list[tuple[int, str]] = []
    for one in chain:
        first = one.stages[0] if isinstance(one, ShellPipeline) else one
        if not isinstance(first, SimpleCommand) or first.negated:
            continue
        if first.words and first.words[0].literal in program_set("shell_state"):
            return ()
        found.append((first.span[0], "last" if isinstance(one, ShellPipeline) else "yes"))
    return tuple(found)


_FOLLOWS = frozenset({"-L", "-H", "-follow"})
# Effects after which a place may have any content.
_REPLACING = frozenset({"move", "unreadable", "run_script", "run_download"})
CLONE = "clone"  # kind of the address and the folder of a `git clone`
_FETCHING = frozenset("--all --tags -a -t -p --prune -P --prune-tags".split())


def commands_of(facts: Sequence[Fact]) -> list[Command]:
    return [fact for fact in facts if isinstance(fact, Command)]


def fact_key(fact: Fact) -> Key:
    return (fact.subject if isinstance(fact, Effect) else show_command(fact.program, fact.words), fact.span)


def is_undisturbed(facts: Sequence[Fact], accused: Collection[Key], answered: Collection[Key] = ()) -> bool:
    """No earlier step could change the targets of the accused ones: no move, no link, one Git command.

    `answered` are accused facts whose targets are not files of this machine.
    """
    commands, searches = commands_of(facts), program_set("searches")
    changing = {fact_key(fact) for fact in commands if may_replace_files(fact) and fact.program not in searches}
    harmless = (
        one for one in commands if earlier_git_change(one, commands) is not None or _clones(one, facts, accused)
    )
    changing -= {*map(fact_key, harmless), *answered}
    harmful = [fact for fact in commands if fact_key(fact) in accused and fact_key(fact) not in answered]
    first = next((number for number, fact in enumerate(harmful) if fact_key(fact) in changing), len(harmful))
    effects: dict[Key, list[Effect]] = {}
    for one in facts:
        if isinstance(one, Effect):
            effects.setdefault(fact_key(one), []).append(one)
    if any(one.verb in _REPLACING and key not in answered for key, found in effects.items() for one in found):
        return False
    if any(fact.program in searches and not _finds(fact, accused) for fact in commands):
        return False
    if any(fact.env for fact in harmful) or not changing <= set(accused):
        return False
    later = [effects.get(fact_key(fact)) for fact in harmful[first + 1 :]]
    effects_later = [one for found in later for one in found or ()]
    # Files of this very folder: no link can stand in their path.
    direct = all(later) and all(one.verb == "delete" and not set("/*?[{~") & set(one.target) for one in effects_later)
    return direct or _links_apart(harmful[first:], effects)


def _clones(fact: Command, facts: Sequence[Fact], accused: Collection[Key]) -> bool:
    """Only the folder of a `git clone` is deleted, or an entry of it, never followed as a link."""
    made = [one.name for one in certain_objects(fact, ("create",)) if one.kind == CLONE]
    if len(made) != 2 or fact.via or fact.env or set("*?[{") & set(made[1]):
        return False
    folder = posixpath.normpath(made[1])
    targets = [one for one in facts if isinstance(one, Effect) and fact_key(one) in accused]
    return all(
        one.verb == "delete"
        and not one.target.endswith("/")
        and not set("*?[{") & set(one.target)
        and folder in (posixpath.normpath(one.target), posixpath.dirname(posixpath.normpath(one.target)))
        for one in targets
    )


def _links_apart(commands: Sequence[Command], effects: Mapping[Key, Sequence[Effect]]) -> bool:
    """All create links, none in the path of another one: the target of a link was not inspected."""
    places: list[str] = []
    for fact in commands:
        names = [word for word in fact.words if not word.startswith("-")]
        flags = {letter for word in fact.words if word.startswith("-") for letter in word[1:]}
        links = effects.get(fact_key(fact), ())
        if not links or not all("link" in one.traits for one in links):
            return False
        if len(names) != 2 or not flags <= set("sfnvT") or not all(map(known, names)):
            return False
        places.append(posixpath.normpath(names[1]))
    return not any(one == other or other.startswith(f"{one}/") for one, other in permutations(places, 2))


def _finds(fact: Command, accused: Collection[Key]) -> bool:
    """It only prints or deletes, follows no links and runs no other program."""
    return not _FOLLOWS & set(fact.words) and (
        fact_key(fact) in accused
        or not {"-exec", "-execdir", "-ok", "-okdir"} & set(fact.words)
        or find_delete_query(fact) is not None
    )


def earlier_git_changes(facts: Sequence[Fact]) -> list[str]:
    commands = commands_of(facts)
    return list(dict.fromkeys(word for one in commands if (word := earlier_git_change(one, commands)) is not None))


def earlier_git_change(fact: Command, commands: Sequence[Command]) -> str | None:
    """`fetch` for remote refs only; before a branch is deleted also `pull`, `move` and `branch`."""
    if not in_repository(fact) or fact.env or not fact.words or HOLE in "".join(fact.words):
        return None
    name, rest = fact.words[0], fact.words[1:]
    flags = {word for word in rest if word.startswith("-")} - {"-q", "--quiet"}
    names = [word for word in rest if not word.startswith("-")]
    if name == "fetch" and flags <= _FETCHING and ":" not in "".join(names):
        return "fetch"
    changes = {
        "pull": name == "pull" and flags == {"--ff-only"} and len(names) <= 2,
        "move": name in ("checkout", "switch") and not flags and len(names) == 1,
        "branch": name == "branch" and not flags and 1 <= len(names) <= 2,
    }
    found = next((word for word, holds in changes.items() if holds), None)
    return found if found and _only_branches(commands) else None


def _only_branches(commands: Sequence[Command]) -> bool:
    """Whether Git destroys only branches, so that files of the work tree do not matter."""
    deleting = [one for one in commands if in_repository(one) and one.words[:1] == ("branch",) and "-D" in one.words]
    others = [one for one in commands if one.program not in program_set("neutral") and not in_repository(one)]
    return bool(deleting) and not others and not any(one.program in program_set("deletes") for one in commands)


def may_replace_files(fact: Fact) -> bool:
    """What a build puts in the place of a target is new, and can be built again."""
    if not isinstance(fact, Command):
        return False
    if neutral := describe(fact.program).neutral:
        first = next((word for word in fact.words if not word.startswith("-")), "")
        return first not in neutral and fact.words[:1] not in [(word,) for word in neutral]
    wraps = "wrapper" in fact.traits and fact.program in program_set("transparent")
    return fact.program not in program_set("neutral") and not wraps


_AWAY = frozenset({"remote", "container"})
_STORES = ("sql_", "store_")


def happens_elsewhere(action: Action, facts: Sequence[Fact], accused: Collection[Key]) -> bool:
    """Whether an effect happens in a place that its target does not name."""
    effects = [fact for fact in facts if isinstance(fact, Effect) and fact_key(fact) in accused]
    commands = commands_of(facts)
    return any(
        not _AWAY.isdisjoint(effect.traits)
        or any(word in program_set("other_root") for step in effect.via for word in step.split()[:1])
        or _connected(action, effect, commands)
        for effect in effects
    )


def runs_here(step: str) -> bool:
    """In this folder and with the same words."""
    return step.removesuffix(" -c") in program_set("transparent")


def _connected(action: Action, effect: Effect, commands: Sequence[Command]) -> bool:
    if not effect.verb.startswith(_STORES):
        return False
    if commands:  # an earlier command may set the database, too
        return len(commands) > 1 or any(map(_names_a_place, commands))
    given = action.fields.get("params") or action.fields.get("input")
    if not isinstance(given, Mapping) or action.kind not in (Kind.OPERATION, Kind.TOOL):
        return False
    words = [[word for part in split_name(str(key)) for word in part] for key in given]
    return any(found[-1] in word_set("placing_parameters") for found in words if found)


def _names_a_place(command: Command) -> bool:
    given = [word for word in command.words if word not in word_set("placeless_options")]
    return bool(command.env) or len(given) > 1 or any(word.startswith("-") or " " not in word.strip() for word in given)


_NAMES = {"-name": False, "-iname": True}
_EXPRESSION = ("-", "(", "!")  # what begins it
_IDLE_TESTS = frozenset({"-print", "-depth", "-mount", "-xdev", "-prune"})
SEARCHED = ("find -exec",)  # the way to a command that a `find` runs
_REMOVAL_FLAGS = lazy_regex(r"-[rRfv]+|--")


def searches_in(facts: Sequence[Fact]) -> dict[Span | None, Mapping[str, Any]]:
    """The `find` commands that only run a deletion, by their place; none that a loop repeats."""
    found = [fact for fact in commands_of(facts) if "-exec" in fact.words]
    places = [fact.span for fact in found]
    queries = {fact.span: find_delete_query(fact) for fact in found if places.count(fact.span) == 1}
    return {span: query for span, query in queries.items() if query is not None}


def search_behind(effect: Effect, searches: Mapping[Span | None, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return searches.get(effect.span) if effect.via == SEARCHED and effect.verb == "delete" else None


def find_delete_query(fact: Command) -> Mapping[str, Any] | None:
    """What a `find` that only deletes searches for; None where it has other tests."""
    words = _before_deletion(fact.words) if fact.program == "find" else None
    if words is None or not all(map(known, fact.words)) or fact.env:
        return None
    root = words.pop(0) if words and not words[0].startswith(_EXPRESSION) else "."
    if words and not words[0].startswith(_EXPRESSION):  # another root
        return None
    found: dict[str, Any] = {"root": root, "name": "", "icase": False, "type": "", "depth": [0, -1]}
    found |= {"trees": True} if fact.words[-1] != "-delete" else {}
    while words:
        word = words.pop(0)
        if word in _IDLE_TESTS:
            continue
        if not words or not _add_test(found, word, words.pop(0)):
            return None
    return found if found["name"] and not any(QUOTED in one for one in (found["root"], found["name"])) else None


def _before_deletion(words: Sequence[str]) -> list[str] | None:
    """None where a `find` does anything else."""
    if words[-1:] == ("-delete",):
        return list(words[:-1])
    at = words.index("-exec") if "-exec" in words else len(words)
    program, *flags = words[at + 1 : -2] or ("",)
    removes = program in program_set("deletes") and all(map(_REMOVAL_FLAGS.fullmatch, flags))
    return list(words[:at]) if removes and words[-2:] in (("{}", "+"), ("{}", ";")) else None


def _add_test(found: dict[str, Any], word: str, value: str) -> bool:
    """False for an unknown test, and for a second name or type."""
    if word in _NAMES and not found["name"]:
        found["name"], found["icase"] = value, _NAMES[word]
    elif word == "-type" and value in ("f", "d", "l") and not found["type"]:
        found["type"] = value
    elif word in ("-maxdepth", "-mindepth") and value.isdecimal() and len(value) < 4:
        found["depth"][word == "-maxdepth"] = int(value)
    else:
        return False
    return True
