"""A record's body -> one line for a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from interlock.core.times import iso
from interlock.service.replaying import agent, title

_SKIPPED = frozenset({"timestamp", "by", "digest", "key_id", "statement", "proof"})


def told(body: Mapping[str, Any]) -> str:
    """One line of what a record says."""
    if "danger_level" in body:
        ticket = f"  {body['ticket']}" if body.get("ticket") else ""
        return f"{body.get('decision', '')}  {title(body)}  ({body.get('level', '')}; {agent(body)}){ticket}"
    if "token_id" in body:
        return token_told(body)
    by = f"by {body['by']}" if body.get("by") else ""
    return ": ".join(filter(None, (by, details_told(body))))


def details_told(body: Mapping[str, Any]) -> str:
    """What somebody did, but for who and when."""
    given = {key: value for key, value in body.items() if key not in _SKIPPED and value not in ("", None, [], {})}
    reason = given.pop("reason", None)
    said = [_short(reason)] if reason is not None else []  # what somebody said comes first
    return ", ".join((*said, *(f"{key} {_moment(key, value)}" for key, value in given.items())))


def token_told(body: Mapping[str, Any]) -> str:
    """What became of a confirmation token, which is named by its fingerprint."""
    context = body.get("client_context")
    context = context if isinstance(context, Mapping) else {}
    said = [f"{body.get('outcome', '')} for {body.get('operation', '')} through {body.get('adapter_name', '')}"]
    said += [
        f"{word} {context[key]}" for key, word in (("session_id", "session"), ("user_id", "by")) if context.get(key)
    ]
    said += [str(body["failure_reason"])] if body.get("failure_reason") else []
    mark = str(body["token_id"])
    return f"{', '.join(said)}  ({mark[:19]}{'…' if len(mark) > 19 else ''})"


def _moment(key: str, value: object) -> str:
    """A value; seconds since 1970 as a time."""
    if key.endswith("_at") and isinstance(value, int | float) and 0 < value < 1e11:
        return f"{iso(float(value))[:19]}Z"
    return _short(value)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
