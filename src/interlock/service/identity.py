"""Which action is this, and what is it after? What a ticket, a grant and a refusal are bound to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from interlock.analysis.effect_key import EffectKey, effect_keys, everyday_keys
from interlock.core.digest import digest
from interlock.core.model import Level
from interlock.core.redact import redact_text
from interlock.service.denials import rejections
from interlock.service.request import Judged
from interlock.service.state import State

_TOKENS = frozenset({"_confirmation", "_quota_continue"})
_ADAPTER = "\0adapter"


def identified(state: State, judged: Judged) -> Judged:
    """The action with its digest and its effect keys; those of everyday work only where a denial could bind them."""
    request, judgement = judged.request, judged.judgement
    fields = _exact({key: _whole(value) for key, value in request.action.fields.items()})
    if request.adapter:  # CT-05: the same operation elsewhere is another one
        fields[_ADAPTER] = request.adapter
    action = replace(request.action, witnesses=judgement.witnesses, fields=fields)
    mark = digest(action, request.agent, state.installation.digest_key, request.judged)
    return replace(judged, digest=mark, effect_keys=keys_of(state, judged))


def keys_of(state: State, judged: Judged) -> tuple[EffectKey, ...]:
    """What it does to what, where, without its secrets; of everyday work only where its principal was told no."""
    action, judgement = judged.request.action, judged.judgement
    if judgement.assessment.level >= Level.DESTRUCTIVE:
        found = effect_keys(action, judgement.facts, judgement.assessment)
    elif rejections(state, judged):
        found = everyday_keys(action, judgement.facts)
    else:
        return ()
    return tuple(replace(one, target=redact_text(one.target), place=redact_text(one.place)) for one in found)


def _whole(value: Any) -> Any:
    """Params whose names begin with `_` are read like all others, so they count like all others; but for what carries a token."""
    if not isinstance(value, Mapping):
        return value
    private = {key for key in value if isinstance(key, str) and key.startswith("_")} - _TOKENS
    return {f"\0{key}" if key in private else key: item for key, item in value.items()}  # no door takes a NUL


def _exact(value: Any) -> Any:
    """A digest takes no floats, whose spelling is nobody's; here each stands as the one text that Python writes for it."""
    if isinstance(value, float):
        return {"\0float": repr(value)}  # no caller can send that key: a NUL is refused at every door
    if isinstance(value, Mapping):
        return {key: _exact(item) for key, item in value.items()}
    return [_exact(item) for item in value] if isinstance(value, list | tuple) else value
