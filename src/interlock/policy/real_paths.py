"""Adds the real places of an action's paths to its facts, marks Interlock's own files and processes among them, and detects tampering (R-9)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import re2
from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.assess import Judgement, join_judgements
from interlock.analysis.facts import HOLE, QUOTED, Command, Effect, Fact, known, show_command
from interlock.analysis.places import place
from interlock.analysis.programs.load import describe, program_set
from interlock.analysis.rules import Rulebook
from interlock.model import Action, Kind
from interlock.policy.match_names import MatchNames, with_real_paths
from interlock.policy.patterns import compile_pattern

if TYPE_CHECKING:
    from interlock.ports import Access

# Traits of an effect on: the path that a link leads to, an own file, a folder that holds one, settings that call the hook.
RESOLVED = "resolved"
OWN = "own"
HOLDS = "holds"
HOOKED = "hooked"
AMONG = "interlock among others"  # target of a signal that also reaches the daemon
PATH_VERBS = frozenset("delete truncate overwrite write append move chmod chown read run_script".split())
_AWAY = frozenset({"remote", "container"})
_LINK_ITSELF = frozenset({"delete", "move"})  # done to a link, not to what it leads to
_WHOLE = frozenset({"delete", "move"})  # done to a folder and all that is in it
_GLOB = re.compile(r"[*?\[]")
_PORT = re.compile(r"\d{2,5}")

Resolve = Callable[[Sequence[tuple[str, bool]]], Sequence[str]]
"""Absolute paths, and whether a link at their end is followed -> where they really lead."""


class Process(Struct, frozen=True):
    pid: int
    group: int = 0
    name: str = ""
    line: str = ""


class OwnAssets(Struct, frozen=True):
    """What of this machine is Interlock's own; a folder stands for all that is in it."""

    paths: tuple[str, ...] = ()
    processes: tuple[Process, ...] = ()
    ports: frozenset[int] = frozenset()


class Standpoint(Struct, frozen=True):
    cwd: str = ""
    home: str = ""
    real_cwd: str = ""
    real_home: str = ""

    def whole(self, path: str) -> str:
        """Empty where it is not known from the root."""
        if path == "~" or path.startswith("~/"):
            path = f"{self.home}{path[1:]}" if self.home.startswith("/") else ""
        return path if path.startswith("/") else ""

    def straight(self, path: str, real: str) -> bool:
        """Links above its folder or the home do not count."""
        ways = ((self.cwd, self.real_cwd), (self.home, self.real_home))
        return real == path or any(
            old and new and f"{path}/".startswith(f"{old}/") and real == new + path[len(old) :] for old, new in ways
        )


MOST_AT_ONCE = 20  # paths that are resolved while others wait
_NEAR = ("/tmp", "/var/tmp")


class NotAtOnce(Exception):
    """Paths on other disks, or too many, to resolve while others wait."""


def resolve_paths(
    rules: Rulebook,
    guarded: OwnAssets,
    action: Action,
    judgement: Judgement,
    named: MatchNames,
    home: str,
    access: Access | None,
    hook_files: Sequence[str] = (),
    at_once: bool = False,
) -> tuple[Judgement, MatchNames]:
    """Adds the effects on resolved paths; raises NotAtOnce where that may take long.

    `access` is None where the paths may be those of another machine.
    """
    at = Standpoint(_absolute(action.cwd), _absolute(home))
    found = paths_in(judgement.facts, at)
    processes = [] if access is None else list(own_processes(judgement.facts, guarded, access.read))
    if not found:
        return (_joined(rules, judgement, processes), named) if processes else (judgement, named)
    pairs = [(path, follow) for _, path, follow in found]
    led, elsewhere = [(fact, path, path) for fact, path, _ in found], []
    if access is not None and access.resolve is not None:
        if at_once:
            _check_near(pairs, at)
        *real, real_cwd, real_home = access.resolve([*pairs, (at.cwd, True), (at.home, True)])
        led = [(fact, path, there) for (fact, path, _), there in zip(found, real, strict=True)]
        elsewhere = list(redirected_effects(led, replace(at, real_cwd=real_cwd, real_home=real_home)))
    facts = [*elsewhere, *own_files(led, guarded, hook_files), *processes]
    if not facts:
        return judgement, named
    if elsewhere:
        by_path = {one.path: one for one in elsewhere}
        reached = [(fact.target, by_path[there]) for fact, _, there in led if there in by_path]
        named = with_real_paths(named, action, reached)
    return _joined(rules, judgement, facts), named


def _absolute(path: str) -> str:
    return path.rstrip("/") if path.startswith("/") else ""


def _check_near(pairs: Sequence[tuple[str, bool]], at: Standpoint) -> None:
    near = tuple(f"{folder}/" for folder in (at.cwd, at.home, *_NEAR) if folder)
    if len(pairs) > MOST_AT_ONCE or not all(f"{path}/".startswith(near) for path, _ in pairs):
        raise NotAtOnce


def _joined(rules: Rulebook, judgement: Judgement, facts: Sequence[Fact]) -> Judgement:
    return join_judgements(judgement, Judgement(judgement.assessment, (), tuple(facts)), rules)


def paths_in(facts: Sequence[Fact], at: Standpoint) -> list[tuple[Effect, str, bool]]:
    """With the path to resolve, and whether a link at its end is followed."""
    found = []
    for fact in facts:
        if not isinstance(fact, Effect) or fact.verb not in PATH_VERBS or _AWAY & fact.traits:
            continue
        for path in dict.fromkeys((fact.path, _as_written(fact, at.cwd))):
            if HOLE not in path and QUOTED not in path and (whole := at.whole(path)):
                found.append((fact, whole, fact.verb not in _LINK_ITSELF and "link" not in fact.traits))
    return found


def _as_written(fact: Effect, cwd: str) -> str:
    """`link/../x` leads out of where the link leads, which no text tells: the path before its `..` are worked out."""
    if ".." not in fact.target or not known(fact.target):
        return ""
    return fact.target if fact.target.startswith(("/", "~")) else posixpath.join(cwd, fact.target)


def redirected_effects(led: Sequence[tuple[Effect, str, str]], at: Standpoint) -> Iterator[Effect]:
    for fact, path, there in led:
        if not at.straight(posixpath.normpath(path), there):
            where = place(there, at.real_cwd or at.cwd, at.real_home or at.home)
            yield replace(fact, target=there, path=there, place=where, traits=fact.traits | {RESOLVED})


def own_files(led: Sequence[tuple[Effect, str, str]], guarded: OwnAssets, hooked: Sequence[str]) -> Iterator[Effect]:
    """Also on folders that hold them, and on settings that call its hook."""
    for fact, path, there in led:
        if fact.verb in ("read", "run_script"):
            continue
        rights = fact.verb in ("chmod", "chown")
        whole = fact.verb in _WHOLE or (rights and "recursive" in fact.traits)
        for one in (posixpath.normpath(path), there):
            if any(_within(one, own) for own in guarded.paths):
                yield replace(fact, place="guard", path=one, traits=fact.traits | {OWN, RESOLVED})
            elif whole and (own := next((own for own in guarded.paths if _within(own, one)), "")):
                yield replace(fact, place="guard", target=own, path=one, traits=fact.traits | {HOLDS, RESOLVED})
            if any(_within(one, own) for own in hooked):
                where = "guard" if rights else "agent_config"
                yield replace(fact, place=where, path=one, traits=fact.traits | {HOOKED, RESOLVED})


def _within(path: str, folder: str) -> bool:
    """A glob on either side stands for what it fits."""
    if path == folder or path.startswith(f"{folder.rstrip('/')}/"):
        return True
    if _GLOB.search(path):
        return fnmatchcase(folder, path) and folder.count("/") == path.count("/")
    depth = folder.count("/") + 1
    return bool(_GLOB.search(folder)) and fnmatchcase("/".join(path.split("/")[:depth]), folder)


def own_processes(
    facts: Sequence[Fact], guarded: OwnAssets, pid_in: Callable[[str], str | None] | None
) -> Iterator[Effect]:
    if not guarded.processes:
        return
    reads = [fact.path or fact.target for fact in facts if isinstance(fact, Effect) and fact.verb == "read"]
    for fact in facts:
        if _AWAY & fact.traits:
            continue
        if isinstance(fact, Effect) and fact.verb == "kill":
            if _hits(fact.target, guarded) or (HOLE * 2 in fact.target and _reads_pid(reads, guarded, pid_in)):
                yield replace(fact, target="interlock")
            elif _found_by_name(fact.target, guarded):
                yield replace(fact, target=AMONG)
        elif isinstance(fact, Command) and (target := _signals(fact, guarded)):
            yield Effect("kill", target, "", fact.traits, fact.span, fact.via, show_command(fact.program, fact.words))


def _hits(target: str, guarded: OwnAssets) -> bool:
    numbers = {int(word) for word in target.split() if word.lstrip("-").isdigit()}
    if any(one.pid in numbers or (one.group > 1 and -one.group in numbers) for one in guarded.processes):
        return True
    by_port = "lsof:" in target or "fuser:" in target
    return by_port and any(int(port) in guarded.ports for port in _PORT.findall(target))


def _found_by_name(target: str, guarded: OwnAssets) -> bool:
    """The words of `$(pgrep -f serve)` that name the processes."""
    found = re.search(f"{HOLE}(pgrep|pidof):([^{HOLE}]*)", target)
    return found is not None and any(_named(found[1], found[2].split(":"), one) for one in guarded.processes)


def _reads_pid(paths: Sequence[str], guarded: OwnAssets, pid_in: Callable[[str], str | None] | None) -> bool:
    pids = {str(one.pid) for one in guarded.processes}
    return pid_in is not None and any((pid_in(path) or "").strip() in pids for path in paths)


def _signals(fact: Command, guarded: OwnAssets) -> str:
    """`interlock`, or that among others, by name, port or file."""
    words, own = [word for word in fact.words if known(word)], False
    if fact.program in program_set("signals_names") and "-0" not in words:
        return AMONG if any(_named(fact.program, words, one) for one in guarded.processes) else ""
    kills = any(re.fullmatch(r"-[a-zA-Z]*k[a-zA-Z]*|--kill", word) for word in words)
    if kills and fact.program in program_set("signals_users"):
        ports = {int(word.partition("/")[0]) for word in words if word.partition("/")[0].isdigit()}
        files = [word for word in words if word.startswith("/")]
        own = bool(ports & guarded.ports) or any(_within(word, path) for word in files for path in guarded.paths)
    elif fact.program in program_set("signals_numbers"):
        numbers = {int(word.lstrip(":")) for word in words if word.lstrip(":").isdigit()}
        by_port = fact.program in program_set("signals_ports") and not numbers.isdisjoint(guarded.ports)
        own = by_port or any(one.pid in numbers for one in guarded.processes)
    return "interlock" if own else ""


def _named(program: str, words: Sequence[str], process: Process) -> bool:
    names, flags, skip = [], set(), False
    for word in words:
        if skip or not word.startswith("-"):
            names += [] if skip else [word]
            skip = False
        else:
            flags.add(word)
            skip = word in describe(program).value_flags
    if program in program_set("signals_whole_names"):
        return any(name in (process.name, process.line.partition(" ")[0].rpartition("/")[2]) for name in names)
    whole = any(flag == "--full" or re.fullmatch(r"-[a-eg-z]*f[a-z]*", flag) for flag in flags)
    exact = "-x" in flags or "--exact" in flags
    return any(_fits(name, process.line if whole else process.name, exact) for name in names)


def _fits(pattern: str, text: str, exact: bool) -> bool:
    """In RE2, so that no pattern takes long; one that RE2 does not know may fit anything."""
    try:
        found = compile_pattern(pattern)
    except re2.error:
        return True
    return (found.fullmatch(text) if exact else found.search(text)) is not None


KILL_FOUND = "self_protection.kill_found"
STOPPING = frozenset({"self_protection.stop_guard", KILL_FOUND, "self_protection.disarm"})
REMOVES = frozenset({"delete", "truncate", "overwrite", "move"})
CHANGES = REMOVES | {"write", "append", "chmod", "chown"}
_OWN = re.compile(
    r"(?i)(.*/)?(\.interlock|\.config/interlock|\.local/(share|state)/interlock|(etc|run|var/lib)/interlock)(/.*)?"
)
_EDITS = ("old_string", "old_str", "edits", "diff", "patch")  # fields of a tool that changes a part of a file
_HOOKS = re.compile(r"(?i)hook|interlock|tooluse|before_?tool")


def tampering(action: Action, judgement: Judgement, files: Callable[[str], str | None]) -> str:
    """`files` reads settings files."""
    effects = [fact for fact in judgement.facts if isinstance(fact, Effect)]
    among = {(KILL_FOUND, fact.subject) for fact in effects if fact.target == AMONG}
    if any(one.rule in STOPPING and (one.rule, one.subject) not in among for one in judgement.assessment.findings):
        return "stops the guard or takes it away"
    for fact in effects:
        if fact.verb not in CHANGES:
            continue
        if fact.place == "guard" and _is_own(fact):
            return f"changes the guard's own files ({fact.target or fact.path})"
        if fact.place == "agent_config" and _runs_hook(files(fact.path)) and not _keeps_hook(action, fact):
            return f"changes the settings that call the guard ({fact.target or fact.path})"
    return ""


def _is_own(fact: Effect) -> bool:
    """By where this installation has it or by its usual name; not a folder that happens to hold one."""
    return OWN in fact.traits or (HOLDS not in fact.traits and bool(_OWN.fullmatch(fact.path or fact.target)))


def _runs_hook(text: str | None) -> bool:
    return text is not None and (CLIENT in text or ROUTE in text)


def _keeps_hook(action: Action, fact: Effect) -> bool:
    """Another part is changed, or the whole has our hook in it."""
    given = action.fields.get("input") if action.kind is Kind.TOOL else None
    if fact.verb != "write" or not isinstance(given, Mapping):
        return False
    texts = " ".join(_texts(given))
    return not _HOOKS.search(texts) if any(key in given for key in _EDITS) else _runs_hook(texts)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if "path" not in str(key):  # it names what is changed, and not how
                yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


CLIENT = "interlock-hook"  # the file name of the hook client; an entry that runs it is ours
ROUTE = "/api/v1/hook/"  # the daemon's route for HTTP hooks; an entry that posts to it is ours
