"""Operations, jobs and instructions to other agents that are named in an operation's parameters -> their effects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import split_name, verbs
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.lexicon.named_effects import NamedAct
from interlock.analysis.operations.names import parse_name
from interlock.analysis.operations.params import MAX_TEXT, PLAIN, short_keys, squash
from interlock.analysis.operations.requests import is_request

_PATTERNS = Patterns("nested")
_LISTS = WordLists("nested")
_MAPS = WordMaps("nested")

Reader = Callable[[str, Mapping[str, Any]], None]  # reads one operation, a level deeper
_NAMES = frozenset(
    "operation operationname operationid methodname apiname action verb op tool toolname function functionname task mutation intent "
    "recipientname recipient".split()
)
PARAMS = (
    "params", "arguments", "args", "input", "parameters", "toolinput", "payload", "kwargs", "variables", "toolargs", "toolparameters",
    "functionargs",
)  # fmt: skip
# What names a call at any depth, where its parameters stand beside it.
_CALL_NAMES = _NAMES | frozenset("name method call command api endpoint toolid functionid id type".split())
_BATCHES = frozenset(
    "changes operations actions calls requests steps tasks batch commands mutations toolcalls tooluses invocations jobs cmds queue".split()
)
# Without one of these, no other operation is named.
_NAMING = _NAMES | _BATCHES | {"service", "name", "type", "cmd", "command"}
_DOMAINS: Mapping[str, str] = {"lock": "door", "cover": "garage"}
_MOST = 100
_DEEPEST = 8  # of what is searched for calls


def read_nested(act: NamedAct, params: Mapping[str, Any], keys: Mapping[str, Any], reader: Reader) -> bool:
    """Reads every operation that is named; True when there was one."""
    if act.kind == "read" and act.verb != "query":
        return False
    if _NAMING.isdisjoint(keys) and all(isinstance(value, PLAIN) for value in keys.values()):
        return False
    if act.kind in ("create", "read") and (act.object == "audit" or act.noun in _LISTS.written):
        return False
    found = not _is_document(act) and _calls_inside(act, params, reader)
    found = _one(act, keys, params, reader) or found
    for key in sorted(_BATCHES & keys.keys()):
        value = keys[key]
        for item in value[:_MOST] if isinstance(value, (list, tuple)) else ():
            if isinstance(item, Mapping):
                inner = short_keys(item)
                found = _one(act, inner, item, reader) or found
                name = inner.get("name")
                if isinstance(name, str) and not _NAMES & inner.keys() and not inner.keys().isdisjoint(PARAMS):
                    found = _inside(name, given_params(inner, {}), reader) or found
    return found


def read_calls(params: Mapping[str, Any], reader: Reader) -> bool:
    """Reads every call that stands anywhere in the parameters of a tool whose own name says nothing of it."""
    return _calls_inside(NamedAct("", "", (), "", ""), params, reader)


def _is_document(act: NamedAct) -> bool:
    """Something to be read or kept is written: what it holds is data."""
    return act.kind in ("create", "change", "send", "restore") and not _LISTS.kept.isdisjoint((act.noun, *act.phrase))


def _calls_inside(act: NamedAct, params: Mapping[str, Any], reader: Reader) -> bool:
    """Reads every call under any key, at any depth: a name beside its parameters, a tool's name before them, a command line."""
    loose = act.kind not in _LISTS.puts or act.verb in _LISTS.calls  # what is made may have a name of its own
    found, left, level = False, _MOST, [("", params, 0)]
    while level and left:
        key, value, depth = level.pop(0)
        value = _parsed(value) if isinstance(value, str) else value
        inner: list[tuple[str, Any]] = []
        if isinstance(value, Mapping):
            inner = [(squash(name), item) for name, item in list(value.items())[:_MOST]]
            calls = [(str(name), item) for name, item in list(value.items())[:_MOST] if _runs(name, item)]
            names = _LISTS.methods if not depth else _CALL_NAMES if loose else _NAMES
            if (named := _named_call(value, names)) is not None:
                calls, inner = [named], []
            elif depth and is_request(dict(inner)):
                reader("http_request", value)
                found, inner = True, []
            elif depth and loose and act.kind != "read" and (told := _told(dict(inner))):
                calls, inner = told, []
            elif depth and loose:
                calls += [("shell", {"command": item}) for name, item in inner if name in _LISTS.lines and item]
        elif isinstance(value, (list, tuple)):
            if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], Mapping) and " " not in value[0]:
                calls = [(_plain_name(value[0]), value[1])]
            else:
                to_do = loose or key == "commands"
                calls = [("shell", {"command": text}) for text in value[:_MOST] if to_do and _is_line(key, text)]
                inner = [(key, item) for item in value[:_MOST]]
        else:
            continue
        for name, its in calls[:left]:
            found = _inside(name, its, reader) or found
        left -= len(calls) + 1
        level += [(name, item, depth + 1) for name, item in inner if depth < _DEEPEST and _may_hold(item)]
    return found


def _told(keys: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """{"do": "bash", "with": {"script": …}}: whatever stands beside the name of a tool that runs text is text for it."""
    name = next((key for key, item in keys.items() if isinstance(item, str) and item.lower() in _MAPS.tells), "")
    if not name:
        return []
    language, surely = _MAPS.tells[keys[name].lower()], keys[name].lower() not in _LISTS.vague
    texts: list[Any] = []
    for key, item in keys.items():
        held = short_keys(item) if isinstance(item, Mapping) else {key: item}
        texts += [
            text for one, text in held.items() if key != name and one not in _LISTS.about and _is_text(text, surely)
        ]
    if language == "shell":
        return [("shell", {"command": text}) for text in texts[:_MOST]]
    return [("run_code", {"language": language, "code": text}) for text in texts[:_MOST] if isinstance(text, str)]


def _is_text(value: Any, surely: bool) -> bool:
    """Text of more than one word, or a list of words; where no tool is surely meant, only what begins with a program."""
    from interlock.analysis.prose.commands import is_command

    if isinstance(value, (list, tuple)):
        words = [item for item in value[:_MOST] if isinstance(item, str)]
        return len(words) > 1 and (surely or is_command(" ".join(words)))
    return isinstance(value, str) and " " in value.strip() and (surely or is_command(value))


def _may_hold(value: Any) -> bool:
    return value[:1] in ("[", "{") if isinstance(value, str) else not isinstance(value, PLAIN)


def _is_line(key: str, text: Any) -> bool:
    """A command line in a list of things to do."""
    if not isinstance(text, str) or key not in _BATCHES or " " not in text.strip():
        return False
    from interlock.analysis.prose.commands import is_command

    return is_command(text)


def _named_call(mapping: Mapping[str, Any], names: frozenset[str]) -> tuple[str, Mapping[str, Any]] | None:
    """{"recipient_name": "functions.exec", "parameters": {…}}: the name of the call, and its parameters."""
    keys = short_keys(mapping)
    given = next((one for key in PARAMS if (one := _mapping(keys.get(key))) is not None), None)
    if given is None or "properties" in given or is_request(keys):  # the schema of a call is no call
        return None
    if "arguments" in keys and names is not _LISTS.methods:
        names = names | {"name"}
    for key in sorted(names & keys.keys()):
        name = keys[key]
        if isinstance(name, str) and 0 < len(name) < 120 and " " not in name.strip():
            name = _plain_name(name.strip())
            if _is_tool(name, given) or any(act.kind for act in parse_name(split_name(name))[1]):
                return name, given
    return None


def _plain_name(name: str) -> str:
    """Without the namespace that a model's own tools have: functions.exec, default_api.exec."""
    space, dot, rest = name.rpartition(".")
    return rest if dot and space in _LISTS.namespaces else name


def _parsed(text: str) -> Any:
    if text[:1] not in "[{" or len(text) > MAX_TEXT or not text.rstrip().endswith(("]", "}")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _mapping(value: Any) -> Mapping[str, Any] | None:
    value = _parsed(value.lstrip()) if isinstance(value, str) else value
    return value if isinstance(value, Mapping) else None


def _one(act: NamedAct, keys: Mapping[str, Any], params: Mapping[str, Any], reader: Reader) -> bool:
    found = False
    named = _NAMES | {"cmd", "command", *(("type",) if "action" in (act.noun, *act.phrase[-1:]) else ())}
    for key in sorted(named & keys.keys()):
        value = keys[key]
        if key in _LISTS.lines and verbs().get(str(value).lower()) not in ("delete", "terminate", "reset"):
            continue  # a command line; {"cmd": "purge"} names an operation
        if value == "off" and "power" in act.phrase:
            value = "poweroff"
        if isinstance(value, str) and 0 < len(value) < 120 and " " not in value.strip():
            inner = given_params(keys, params)
            found = _inside(value if _is_tool(value, inner) else _title(value, act), inner, reader) or found
    service, domain = keys.get("service"), keys.get("domain")
    called = (isinstance(domain, str) and domain.isidentifier()) or (act.verb in _LISTS.calls and act.noun == "service")
    if isinstance(service, str) and called:  # {"domain": "lock", "service": "unlock"}
        domain = str(domain or service.partition(".")[0])[:40]
        verb = service.rpartition(".")[2]
        found = _inside(f"{verb}_{_DOMAINS.get(domain, domain)}"[:120], {}, reader) or found
    name = keys.get("name")
    if isinstance(name, str) and _calls(act) and not _NAMES & keys.keys():
        found = _inside(name, given_params(keys, {}), reader) or found
    return found


def _calls(act: NamedAct) -> bool:
    """call_tool, and tools/call: what is called is named in the parameters."""
    words = {act.verb, *act.phrase}
    return not words.isdisjoint(_LISTS.calls) and not words.isdisjoint(_LISTS.called)


def _title(value: str, act: NamedAct) -> str:
    """manage_user {"action": "delete"} deletes a user."""
    known = parse_name(split_name(value))[1]
    nouns = [word for word in act.phrase if word not in _LISTS.empty]
    return value if not nouns or (known and known[0].object) else "_".join((value, *nouns))


def _inside(name: str, params: Mapping[str, Any], reader: Reader) -> bool:
    acts = parse_name(split_name(name))[1]
    if (not acts or not acts[0].kind) and not _is_tool(name, params):
        return False
    reader(name, params)
    return True


def _runs(name: object, params: object) -> bool:
    """{"Bash": {"command": …}}."""
    if not isinstance(name, str) or not isinstance(params, Mapping):
        return False
    from interlock.analysis.operations.tools import is_runner

    return is_runner(name, params)


def _is_tool(name: str, params: Mapping[str, Any]) -> bool:
    from interlock.analysis.operations.tools import is_built_in

    return is_built_in(name, params, "")


def given_params(keys: Mapping[str, Any], outer: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a call is given: under a key of its own, or beside its name."""
    for key in PARAMS:
        if (value := _mapping(keys.get(key))) is not None:
            return value
    return {key: value for key, value in outer.items() if isinstance(key, str) and squash(key) not in _UNPASSED}


_UNPASSED = _NAMES | {"cmd", "command"}
_PLAIN_NAME = re.compile(r"[\w.:/@+-]{3,100}(?: [\w.:/@+-]{1,40}){0,5}")
_ENDING = re.compile(r"\.(?:ya?ml|sh|bash|py|js|ts|rb|ps1|json|toml|sql)$")


_INPUTS = ("variables", "inputs", "parameters", "extravars", "params", "environment", "env", "vars")
_CHOICES = ("action", "operation", "command", "task", "mode")


def read_order(words: tuple[str, ...], keys: Mapping[str, Any], out: Report) -> bool:
    """Reads what another agent is told; True when there was an order."""
    agent = (
        not _LISTS.agents.isdisjoint(words)
        or words == ("task",)
        or "subagenttype" in keys
        or ("agent" in keys and "task" in words)
    )
    if not agent or not _LISTS.makers.isdisjoint(words):
        return False
    told = [
        key
        for key in _LISTS.in_order("orders")
        if key != "instructions" or _LISTS.defines.isdisjoint(words) or "task" in words
    ]
    texts = [keys[key] for key in told if isinstance(keys.get(key), str) and " " in keys[key].strip()]
    if not texts:
        return False
    if texts[0] is keys.get("description") or texts[0] is keys.get("text"):
        texts = texts[:1]
    else:
        texts = [text for text in texts if text is not keys.get("description")]
    for text in texts[:4]:
        out.code("prose", text[:MAX_TEXT])
    return True


def read_job(words: tuple[str, ...], verb: str, keys: Mapping[str, Any], reader: Callable[[str], None]) -> bool:
    """Reads the name of a script, a target, a playbook or a pipeline that is started; True when there was one."""
    if (
        _LISTS.started.isdisjoint(words)
        or (_LISTS.starts.isdisjoint(words) and verb not in _LISTS.starts)
        or "test" in words
    ):
        return False
    found = False
    for key in _LISTS.in_order("job_keys"):
        value = keys.get(key)
        if not isinstance(value, str) or not _PLAIN_NAME.fullmatch(value.strip()):
            continue
        name = _ENDING.sub("", value.strip().rpartition("/")[2])
        if not _PATTERNS.tries.search(name) and not _PATTERNS.spared.search(name):
            reader(name.replace(" ", "_"))
            found = True
    for key in _INPUTS:
        value = keys.get(key)
        for name, item in list(value.items())[:50] if isinstance(value, Mapping) else ():
            if (
                squash(name).endswith(_CHOICES)
                and isinstance(item, str)
                and verbs().get(item.strip().lower(), "") in ("delete", "terminate", "reset")
            ):
                reader(f"{item.strip().lower()}_environment")
                found = True
    return found
