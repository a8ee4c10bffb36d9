"""An operation of an adapter -> the action to judge, and what its adapter says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.adapters import AdapterError, load
from interlock.core.circumstances import Adapted as Told
from interlock.core.danger import message
from interlock.core.levels import EffectiveLevel, effective_level
from interlock.core.model import Action, operation
from interlock.core.named import call_facts, named_level
from interlock.core.trust import CLAIMED
from interlock.core.trust_gate import Call


@dataclass(frozen=True, slots=True)
class Adapted:
    """An operation as its adapter has it."""

    action: Action
    adapter: str
    trust: str
    level: EffectiveLevel
    told: Told  # what the trust matrix is asked with
    message: str = ""
    claimed: str = ""  # where a daemon would trust it less


def adapted(path: str, name: str, params: Mapping[str, Any], cwd: str) -> Adapted:
    """The operation `name` of the adapter in a file; raises AdapterError when there is no such thing."""
    adapter = load(Path(path))
    found = adapter.operation(name)
    if found is None:
        known = ", ".join(sorted(item.name for item in adapter.operations))
        raise AdapterError(f"{path}: no operation {name!r}; known: {known}")
    variables = {
        "params": dict(params),
        **call_facts(name, params, found.category),
        "agent": "",
        "adapter": adapter.name,
    }
    level = effective_level(found.claims, named_level, adapter.trust.level, variables=variables)
    block = found.danger
    words = message(block.confirmation_message, params) if block and block.confirmation_message else ""
    action = operation(name, params, found.category, cwd, level.level)
    trust = adapter.trust.level
    told = Told(Call(name, level.level, trust, found.category, reasons=level.reasons), block)
    claimed = f"a daemon counts {CLAIMED.word} at most until an operator agrees" if trust > CLAIMED else ""
    return Adapted(action, adapter.name, trust.word, level, told, words, claimed)
