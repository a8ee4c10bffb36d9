"""What is whoever asked told beside a yes? That a level came from a name alone (2.11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interlock.core.hold import Held
from interlock.core.model import Kind, Level
from interlock.core.named import inferred_level

if TYPE_CHECKING:
    from interlock.service.request import Judged
    from interlock.service.state import State

INFERRED = "DANGER_LEVEL_INFERRED"


def warnings_of(state: State, judged: Judged, held: Held) -> tuple[Mapping[str, Any], ...]:
    """The notices of an allowed operation; none where it is held, which says why itself."""
    request, level = judged.request, judged.judgement.assessment.level
    if held.outcome != "allow" or level < Level.DANGEROUS:
        return ()
    if request.adapted is not None:
        return tuple(notice for notice in request.adapted.warnings if notice["code"] == INFERRED)
    action = request.action
    name = request.operation or (action.text if action.kind in (Kind.OPERATION, Kind.TOOL) else "")
    found = inferred_level(name, str(action.fields.get("crude") or ""), level, state.rules.patterns) if name else None
    return (found.as_json(),) if found is not None else ()
