"""Detects tampering with the guard: its process, its files, or the settings that call it; such an attempt blocks (R-9)."""

# Held and not blocked: what only asks an operator's command for something (our own answers name those commands), an `interlock.toml`
# that is not known to be in force, a service elsewhere that has the name, and settings that do not run our hook or keep it.

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Effect
from interlock.model import Action, Kind
from interlock.policy.real_paths import AMONG, HOLDS, OWN

KILL_FOUND = "self_protection.kill_found"
STOPPING = frozenset({"self_protection.stop_guard", KILL_FOUND, "self_protection.disarm"})
REMOVES = frozenset({"delete", "truncate", "overwrite", "move"})
CHANGES = REMOVES | {"write", "append", "chmod", "chown"}
_OWN = re.compile(
    r"(?i)(.*/)?(\.interlock|\.config/interlock|\.local/(share|state)/interlock|(etc|run|var/lib)/interlock)(/.*)?"
)
_EDITS = ("old_string", "old_str", "edits", "diff", "patch")  # fields of a tool that changes a part of a file
_HOOKS = re.compile(r"(?i)hook|interlock|tooluse|before_?tool")


def tampering(action: Action, judgement: Judgement, files: Callable[[str], str | None] | None) -> str:
    """What an action does to Interlock itself, in words; empty for any other action. `files` reads settings files."""
    return next(_found(action, judgement, files), "")


def _found(action: Action, judgement: Judgement, files: Callable[[str], str | None] | None) -> Iterator[str]:
    among = {fact.subject for fact in judgement.facts if isinstance(fact, Effect) and fact.target == AMONG}
    if any(
        finding.rule in STOPPING and not (finding.rule == KILL_FOUND and finding.subject in among)
        for finding in judgement.assessment.findings
    ):
        yield "stops the guard or takes it away"
    for fact in judgement.facts:
        if not isinstance(fact, Effect) or fact.verb not in CHANGES:
            continue
        if fact.place == "guard" and _is_own(fact):
            yield f"changes the guard's own files ({fact.target or fact.path})"
        if fact.place == "agent_config" and files is not None and _runs_hook(files(fact.path)):
            if not _keeps_hook(action, fact):
                yield f"changes the settings that call the guard ({fact.target or fact.path})"


def _is_own(fact: Effect) -> bool:
    """One of its files, by where this installation has them or by its usual name; not a folder that happens to hold one."""
    return OWN in fact.traits or (HOLDS not in fact.traits and bool(_OWN.fullmatch(fact.path or fact.target)))


def _runs_hook(text: str | None) -> bool:
    return text is not None and (CLIENT in text or ROUTE in text)


def _keeps_hook(action: Action, fact: Effect) -> bool:
    """Whether a file that calls the guard still does afterwards: a part is changed and it is another one, or the whole has our hook in it."""
    given = action.fields.get("input") if action.kind is Kind.TOOL else None
    if fact.verb != "write" or not isinstance(given, Mapping):
        return False
    texts = " ".join(_texts(given))
    return not _HOOKS.search(texts) if any(key in given for key in _EDITS) else _runs_hook(texts)


def _texts(value: Any) -> Iterator[str]:
    """Every text of a tool's input but for paths, which name what is changed and not how."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if "path" not in str(key):
                yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


CLIENT = "interlock-hook"  # the file name of the hook client; an entry that runs it is ours


ROUTE = "/api/v1/hook/"  # the daemon's route for HTTP hooks; an entry that posts to it is ours
