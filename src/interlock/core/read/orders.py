"""Orders among the parameters: the work another agent is told to do in words, and the job that is started by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from interlock.core.read.facts import Report
from interlock.core.read.lexicon import VERBS
from interlock.core.read.params import MAX_TEXT, squash

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
