"""One operation of an adapter file for `explain`: its action, effective level and what the trust matrix is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock.adapters import AdapterError, load
from interlock.adapters.danger import message
from interlock.adapters.levels import call_facts, effective_level, level_from_name
from interlock.adapters.trust import HIGHEST_CLAIM
from interlock.analysis.display_text import Lines, labelled
from interlock.model import Action, operation
from interlock.policy.circumstances import AdapterContext
from interlock.policy.trust_matrix import AdapterCall


def resolve_operation(path: str, asked: Action) -> tuple[Action, AdapterContext, dict[str, Any], str]:
    """The action, the trust matrix's input, what is shown of both, and a sentence where a daemon would trust it less."""
    adapter, name, params = load(Path(path)), asked.fields["operation"], asked.fields["params"]
    found = adapter.operation(name)
    if found is None:
        known = ", ".join(sorted(item.name for item in adapter.operations))
        raise AdapterError(f"{path}: no operation {name!r}; known: {known}")
    trust, block = adapter.trust.level, found.danger
    facts = call_facts(name, params, found.category)
    variables = {"params": dict(params), **facts, "agent": "", "adapter": adapter.name}
    level = effective_level(found.claims, level_from_name, trust, variables=variables)
    words = message(block.confirmation_message, params) if block and block.confirmation_message else ""
    action = operation(name, params, found.category, asked.cwd, level.level)
    context = AdapterContext(AdapterCall(name, level.level, trust, found.category, reasons=level.reasons), block)
    claimed = f"a daemon counts {HIGHEST_CLAIM.word} at most until an operator agrees" if trust > HIGHEST_CLAIM else ""
    shown = {
        "name": adapter.name, "trust": trust.word, "level_from": level.source, "reasons": list(level.reasons),
        "confirmation_message": words, "warnings": [notice.as_json() for notice in level.warnings],
    }  # fmt: skip
    return action, context, shown, claimed


def operation_lines(shown: Mapping[str, Any], claimed: str) -> Lines:
    lead = f"{shown['name']}, trust {shown['trust']}; level from {shown['level_from']}"
    rows = [lead, claimed, *shown["reasons"], *(notice["message"] for notice in shown["warnings"])]
    for at, words in enumerate(filter(None, rows)):
        yield labelled("" if at else "Adapter", words)
    if shown["confirmation_message"]:
        yield labelled("Asks", shown["confirmation_message"])
