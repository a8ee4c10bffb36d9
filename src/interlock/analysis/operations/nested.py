"""Operations, jobs and instructions to other agents that are named in an operation's parameters -> their effects."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any

from msgspec.structs import replace

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import split_name, verbs
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.operations.names import NamedAct, parse_name
from interlock.analysis.operations.params import MAX_VALUES, PLAIN, Keys, bounded, each, parsed, short_keys, squash
from interlock.analysis.operations.payloads import is_command, reads_as_command, text_of
from interlock.analysis.operations.requests import URL_KEYS, is_request
from interlock.analysis.operations.tools import built_in

_PATTERNS = Patterns("nested")
_LISTS = WordLists("nested")
_MAPS = WordMaps("nested")

Call = tuple[str, Mapping[str, Any]]  # the name of an operation, and its parameters
PARAMS = tuple(
    "params arguments args input parameters toolinput payload kwargs variables toolargs toolparameters functionargs".split()
)
_UNNAMED = NamedAct()
_naming = cache(lambda: _LISTS.names | _LISTS.batches | _LISTS.beside | {"change"})
_unpassed = cache(lambda: _LISTS.names | {"cmd", "command"})  # parameters that name a call
_RUINOUS = ("delete", "terminate", "reset")  # kinds of verbs
_LONGEST = 120  # characters of a name
_DEEPEST = 8  # of what is searched for calls


def nested_calls(act: NamedAct, params: Mapping[str, Any], keys: Keys) -> list[Call]:
    if _naming().isdisjoint(keys) and all(isinstance(value, PLAIN) for value in keys.values()):
        return []
    told = act.kind in ("create", "read") and (act.object == "audit" or act.noun in _LISTS.written)
    act = replace(act, kind="") if act.verb == "audit" and act.noun in _LISTS.sinks else act  # audit_device
    if told or (act.kind == "read" and act.verb not in _LISTS.moves):
        return []
    # what is written to be read or kept holds data
    document = act.kind in _LISTS.writes and not _LISTS.kept.isdisjoint((act.noun, *act.phrase))
    batches = _LISTS.batches | (_LISTS.documents if not _LISTS.jobs.isdisjoint(act.phrase) else frozenset())
    items = [params, *chain(*(each(keys[key]) for key in sorted(batches & keys.keys())))]
    calls = [call for item in items if isinstance(item, Mapping) for call in _calls_beside(act, short_keys(item), item)]
    return [*([] if document else calls_inside(params, act)), *(call for call in calls if _is_call(*call, slice(1)))]


def _is_call(name: str, params: Mapping[str, Any], acts: slice) -> bool:
    """True for a tool of the agents, and for a name of which one of these clauses, or a parameter beside it, has a verb."""
    keys = short_keys(params)
    ruins = any(verbs().get(text.lower()) in _RUINOUS for text in keys.texts(("verb", "action", "operation", "op")))
    return ruins or bool(built_in(name, keys)) or any(act.kind for act in parse_name(split_name(name))[1][acts])


def calls_inside(params: Mapping[str, Any], act: NamedAct = _UNNAMED) -> list[Call]:
    """Every call under any key, at any depth: a name beside its parameters, a tool's name before them, a command line."""
    found: list[Call] = []
    loose = act.kind not in _LISTS.puts or act.verb in _LISTS.calls  # what is made may have a name of its own
    left, level = MAX_VALUES, deque([("", params, 0)])
    while level and left > 0:
        key, value, depth = level.popleft()
        value = parsed(value)
        calls: list[Call] = []
        inner: Iterable[tuple[str, Any]] = ()
        if isinstance(value, Mapping):
            if call := _call_of(value, depth, loose, act.kind):
                calls = [call]
            else:
                inner = short_keys(value).items()
        elif isinstance(value, (list, tuple)):  # command lines, or ["shell", {"command": …}]
            lines = value if key in _LISTS.batches and (loose or key == "commands") else ()
            texts = [text for text in lines if isinstance(text, str) and " " in text.strip() and reads_as_command(text)]
            calls, inner = [("shell", {"command": text}) for text in texts], ((key, item) for item in value)
            if len(value) == 2 and _is_name(value[0]) and isinstance(value[1], Mapping):
                calls, inner = [(_plain_name(value[0]), value[1])], ()
        else:
            continue
        found += calls[:left]
        left -= len(calls) + 1
        if depth < _DEEPEST:
            level.extend((name, item, depth + 1) for name, item in inner if not isinstance(item, (int, float)))
    return [call for call in found if _is_call(*call, slice(1))]


def _call_of(value: Mapping[str, Any], depth: int, loose: bool, kind: str) -> Call | None:
    """The call that a mapping is: {"recipient_name": "functions.exec", "parameters": {…}}."""
    keys = short_keys(value)
    names = _LISTS.methods if not depth else _LISTS.call_names | _LISTS.names if loose else _LISTS.names
    given, asks = _own_params(keys), is_request(keys)
    if given is not None and "properties" not in given and not asks:  # the schema of a call is no call
        names = names | {"name"} if "arguments" in keys and depth else names
        for key in sorted(names & keys.keys()):
            if _is_name(keys[key]) and _is_call(name := _plain_name(keys[key].strip()), given, slice(None)):
                return name, given
    # {"do": "bash", "with": "rm -rf …"}: whatever stands beside the name of a tool that runs text is text for it
    tool = next((text for text in map(str.lower, keys.texts(keys)) if text in _LISTS.tells), "")
    runs = any(is_command(key) and item for key, item in keys.items()) or (
        tool and any(len(text_of(item).split()) > 1 for item in keys.values())
    )
    if depth and (asks or (loose and kind != "read" and runs)):
        return f"run_{tool}" if tool else "run", value
    return None


def _plain_name(name: str) -> str:
    """Without the namespace that a model's own tools have: functions.exec, default_api.exec."""
    space, _, rest = name.rpartition(".")
    return rest if space in _LISTS.namespaces else name


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) < _LONGEST and " " not in value.strip()


def _own_params(keys: Keys) -> Mapping[str, Any] | None:
    given = (parsed(keys[key]) for key in PARAMS if key in keys)
    # {"method": "eth_sendTransaction", "params": [{…}]}
    first = (value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value for value in given)
    return next((value for value in first if isinstance(value, Mapping)), None)


def _calls_beside(act: NamedAct, keys: Keys, params: Mapping[str, Any]) -> Iterator[Call]:
    """manage_user {"action": "delete"} deletes a user: calls that a parameter of the operation itself names."""
    named = _unpassed() | ({"type"} if "action" in (act.noun, *act.phrase[-1:]) else frozenset())
    named |= {"change"} if act.verb == "alter" else frozenset()
    for key in sorted(named & keys.keys()):
        value = keys[key]
        ruins = verbs().get(str(value).lower()) in _RUINOUS or not _LISTS.driven.isdisjoint((act.noun, *act.phrase))
        asks = str(value).lower() in (_LISTS.asked if URL_KEYS.isdisjoint(keys) else (*_LISTS.asked, "delete"))
        asks = asks or (
            key == "method" and str(value).lower() != "delete" and str(value).isalpha() and str(value).islower()
        )
        if (key in _LISTS.lines and not ruins) or (key in _LISTS.requests and asks):
            continue  # a command line, the method of a request or of a payment; {"cmd": "purge"} names an operation
        if isinstance(value, str) and 0 < value.count(" ") < 4 and verbs().get(value.split(" ")[0].lower()) in _RUINOUS:
            value = "_".join(value.split(" ")[:2])  # alter_table {"action": "DROP COLUMN"}
        if _is_name(value):
            given = given_params(keys, params)
            known = parse_name(split_name(value))[1]
            nouns = [word for word in act.phrase if word not in _LISTS.empty]  # say what it is about, where it does not
            whole = built_in(value, short_keys(given)) or not nouns or (known and known[0].object)
            yield value if whole else "_".join((value, *nouns)), given
    service, domain = keys.get("service"), keys.get("domain")
    called = (isinstance(domain, str) and domain.isidentifier()) or (act.verb in _LISTS.calls and act.noun == "service")
    if isinstance(service, str) and called:  # {"domain": "lock", "service": "unlock"}
        domain = str(domain or service.partition(".")[0])[:40]
        yield f"{service.rpartition('.')[2]}_{_MAPS.domains.get(domain, domain)}"[:_LONGEST], {}
    *places, order = keys.text("topic").split("/")
    if places and order in _LISTS.orders_on:  # site/pdu/7/outlet/set {"payload": "OFF"}
        held = parsed(next((keys[key] for key in ("payload", "message", "msg") if key in keys), None))
        yield f"set_{'_'.join(places[-3:])}"[:_LONGEST], held if isinstance(held, Mapping) else {"state": held}
    name, words = keys.get("name"), {act.verb, *act.phrase}  # call_tool, and tools/call
    calls = not words.isdisjoint(_LISTS.calls) and not words.isdisjoint(_LISTS.called)
    if calls and isinstance(name, str) and _LISTS.names.isdisjoint(keys):
        yield name, given_params(keys, {})


def given_params(keys: Keys, outer: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a call is given: under a key of its own, or beside its name."""
    if (own := _own_params(keys)) is not None:
        return own
    return {key: value for key, value in outer.items() if isinstance(key, str) and squash(key) not in _unpassed()}


def read_order(words: tuple[str, ...], keys: Keys, out: Report) -> bool:
    """Reads what another agent is told; True when there was an order."""
    agent = not _LISTS.agents.isdisjoint(words) or words == ("task",) or "subagenttype" in keys
    if not (agent or ("agent" in keys and "task" in words)) or not _LISTS.makers.isdisjoint(words):
        return False
    defines = not _LISTS.defines.isdisjoint(words) and "task" not in words
    told = [key for key in _LISTS.in_order("orders") if " " in keys.text(key).strip()]
    spared = ("description", "instructions") if defines else ("description",)
    told = [key for key in told if key not in spared] or [key for key in told[:1] if key not in spared[1:]]
    for key in told[:4]:
        out.code("prose", bounded(keys[key], out))
    return bool(told)


def started_jobs(words: tuple[str, ...], verb: str, keys: Keys) -> list[str]:
    if _LISTS.started.isdisjoint(words) or _LISTS.starts.isdisjoint((verb, *words)) or "test" in words:
        return []
    named = (text.strip() for text in keys.texts(_LISTS.in_order("job_keys")))
    jobs = [_PATTERNS.ending.sub("", name.rpartition("/")[2]) for name in named if _PATTERNS.plain_name.fullmatch(name)]
    found = [job.replace(" ", "_") for job in jobs if not _PATTERNS.spared.search(job)]
    for name, item in chain(*(given.items() for given in keys.mappings(*_LISTS.in_order("inputs")))):
        chosen = item.strip().lower() if isinstance(item, str) else ""
        if verbs().get(chosen) in _RUINOUS and squash(name).endswith(_LISTS.in_order("choices")):
            found.append(f"{chosen}_environment")
    return found
