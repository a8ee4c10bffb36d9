"""Operations, jobs and instructions to other agents that are named in an operation's parameters -> their effects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import VERBS, split_name
from interlock.analysis.operations.names import NamedAct, parse_name
from interlock.analysis.operations.params import MAX_TEXT, short_keys, squash

Reader = Callable[[str, Mapping[str, Any]], None]  # reads one operation, a level deeper
_NAMES = frozenset(
    "operation operationname operationid methodname apiname action verb op tool toolname function functionname task mutation intent".split()
)
_PARAMS = ("params", "arguments", "args", "input", "parameters", "toolinput", "payload", "kwargs", "variables")
_BATCHES = frozenset("changes operations actions calls requests steps tasks batch commands mutations toolcalls".split())
_NAMING = _NAMES | _BATCHES | {"service", "name", "type"}  # without one of these, no other operation is named
_CALLS = frozenset("call invoke execute run use".split())
_CALLED = frozenset("tool tools function functions operation operations action actions api method".split())
_EMPTY = frozenset("manage operation action management admin".split())
_DOMAINS: Mapping[str, str] = {"lock": "door", "cover": "garage"}
_WRITTEN = frozenset(
    "test tests case scenario template log logs event events audit history".split()
)  # what is said of an act
_MOST = 100


def read_nested(act: NamedAct, params: Mapping[str, Any], keys: Mapping[str, Any], reader: Reader) -> bool:
    """Reads every operation that is named; True when there was one."""
    if _NAMING.isdisjoint(keys) or (act.kind == "read" and act.verb != "query"):
        return False
    if act.kind in ("create", "read") and (act.object == "audit" or act.noun in _WRITTEN):
        return False
    found = _one(act, keys, params, reader)
    for key in sorted(_BATCHES & keys.keys()):
        value = keys[key]
        for item in value[:_MOST] if isinstance(value, (list, tuple)) else ():
            if isinstance(item, Mapping):
                inner = short_keys(item)
                found = _one(act, inner, item, reader) or found
                name = inner.get("name")
                if isinstance(name, str) and not _NAMES & inner.keys() and not inner.keys().isdisjoint(_PARAMS):
                    found = _inside(name, _params(inner, {}), reader) or found
    return found


def _one(act: NamedAct, keys: Mapping[str, Any], params: Mapping[str, Any], reader: Reader) -> bool:
    found = False
    named = _NAMES | {"type"} if "action" in (act.noun, *act.phrase[-1:]) else _NAMES
    for key in sorted(named & keys.keys()):
        value = keys[key]
        if value == "off" and "power" in act.phrase:
            value = "poweroff"
        if isinstance(value, str) and 0 < len(value) < 120 and " " not in value.strip():
            inner = _params(keys, params)
            found = _inside(value if _is_tool(value, inner) else _title(value, act), inner, reader) or found
    service = keys.get("service")
    if (
        act.verb in _CALLS and act.noun == "service" and isinstance(service, str)
    ):  # {"domain": "lock", "service": "unlock"}
        verb, _, domain = service.rpartition(".")[2], "", str(keys.get("domain", service.partition(".")[0]))[:40]
        found = _inside(f"{verb}_{_DOMAINS.get(domain, domain)}"[:120], {}, reader) or found
    name = keys.get("name")
    if isinstance(name, str) and _calls(act) and not _NAMES & keys.keys():
        found = _inside(name, _params(keys, {}), reader) or found
    return found


def _calls(act: NamedAct) -> bool:
    """call_tool, and tools/call: what is called is named in the parameters."""
    words = {act.verb, *act.phrase}
    return not words.isdisjoint(_CALLS) and not words.isdisjoint(_CALLED)


def _title(value: str, act: NamedAct) -> str:
    """manage_user {"action": "delete"} deletes a user."""
    known = parse_name(split_name(value))[1]
    nouns = [word for word in act.phrase if word not in _EMPTY]
    return value if not nouns or (known and known[0].object) else "_".join((value, *nouns))


def _inside(name: str, params: Mapping[str, Any], reader: Reader) -> bool:
    acts = parse_name(split_name(name))[1]
    if (not acts or not acts[0].kind) and not _is_tool(name, params):
        return False
    reader(name, params)
    return True


def _is_tool(name: str, params: Mapping[str, Any]) -> bool:
    from interlock.analysis.operations.tools import is_built_in

    return is_built_in(name, params, "")


def _params(keys: Mapping[str, Any], outer: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in _PARAMS:
        value = keys.get(key)
        if isinstance(value, Mapping):
            return value
        if isinstance(value, str) and value.lstrip().startswith("{") and len(value) < MAX_TEXT:
            try:
                parsed = json.loads(value)
            except (ValueError, RecursionError):
                continue
            if isinstance(parsed, Mapping):
                return parsed
    return {key: value for key, value in outer.items() if isinstance(key, str) and squash(key) not in _NAMES}


_AGENTS = frozenset(
    """agent agents subagent subagents delegate handoff dispatch orchestrate orchestrator swarm crew teammate assistant subtask copilot devin codex
    claude worker""".split()
)
_ORDERS = (
    "prompt", "instructions", "instruction", "task", "goal", "objective", "message", "taskdescription", "request", "query", "input", "assignment",
    "mission", "directive", "work", "todo", "brief", "ask", "userprompt", "description", "text",
)  # fmt: skip
_DEFINES = frozenset(
    "create update define register configure edit set".split()
)  # there, instructions say what an agent is
_MAKERS = frozenset(
    "list get describe show read search find status wait cancel stop delete kill terminate output result assign unassign log transcribe rate center ticket heartbeat".split()
)
_STARTS = frozenset(
    "run trigger start build execute launch dispatch invoke make queue enqueue schedule rerun retry play call submit kick fire deploy".split()
)
_JOBS = (
    "script", "scriptname", "target", "job", "jobname", "playbook", "playbookname", "workflow", "workflowid", "workflowname", "pipeline", "pipelinename",
    "recipe", "dag", "dagid", "runbook", "runbookname", "automation", "procedure", "taskname", "task", "goal", "rule", "statemachine", "name", "template",
    "templatename", "jobtemplate", "makefiletarget", "npmscript", "documentname",
)  # fmt: skip
_STARTED = frozenset(
    "script job playbook workflow pipeline make target recipe dag runbook npm yarn pnpm task automation procedure template gradle just rake flow action "
    "build jenkins airflow rundeck actions awx tower".split()
)
_PLAIN_NAME = re.compile(r"[\w.:/@+-]{3,100}(?: [\w.:/@+-]{1,40}){0,5}")
_ENDING = re.compile(r"\.(?:ya?ml|sh|bash|py|js|ts|rb|ps1|json|toml|sql)$")
_TRIES = re.compile(
    r"(?:^|[\W_])(?:tests?|spec|lint|check|e2e|unit|dry|plan|preview|storybook|verify|validate|docs?)(?:$|[\W_])",
    re.IGNORECASE,
)
_SPARED = re.compile(
    r"(?:^|[\W_])(?:cache|dist|build|node_modules|clean|coverage|tmp|temp|artifacts?)(?:$|[\W_])", re.IGNORECASE
)


_INPUTS = ("variables", "inputs", "parameters", "extravars", "params", "environment", "env", "vars")
_CHOICES = ("action", "operation", "command", "task", "mode")


def read_order(words: tuple[str, ...], keys: Mapping[str, Any], out: Report) -> bool:
    """Reads what another agent is told; True when there was an order."""
    agent = (
        not _AGENTS.isdisjoint(words)
        or words == ("task",)
        or "subagenttype" in keys
        or ("agent" in keys and "task" in words)
    )
    if not agent or not _MAKERS.isdisjoint(words):
        return False
    told = [key for key in _ORDERS if key != "instructions" or _DEFINES.isdisjoint(words) or "task" in words]
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
    if _STARTED.isdisjoint(words) or (_STARTS.isdisjoint(words) and verb not in _STARTS) or "test" in words:
        return False
    found = False
    for key in _JOBS:
        value = keys.get(key)
        if not isinstance(value, str) or not _PLAIN_NAME.fullmatch(value.strip()):
            continue
        name = _ENDING.sub("", value.strip().rpartition("/")[2])
        if not _TRIES.search(name) and not _SPARED.search(name):
            reader(name.replace(" ", "_"))
            found = True
    for key in _INPUTS:
        value = keys.get(key)
        for name, item in list(value.items())[:50] if isinstance(value, Mapping) else ():
            if (
                squash(name).endswith(_CHOICES)
                and isinstance(item, str)
                and VERBS.get(item.strip().lower(), "") in ("delete", "terminate", "reset")
            ):
                reader(f"{item.strip().lower()}_environment")
                found = True
    return found
