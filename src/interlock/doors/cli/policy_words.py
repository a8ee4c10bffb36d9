"""A policy -> lines for a person, and JSON: what each level asks for, and everything else that it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.core.explain import Line, Part
from interlock.core.model import Level, Requirement
from interlock.core.patterns import PatternSet
from interlock.core.policy import Policy
from interlock.core.replay import requirement_json


def policy_lines(policy: Policy) -> Iterator[Line]:
    """The effective policy: what it extends is in it."""
    yield Part(policy.name, "heading"), Part(f"  {policy.description}")
    if policy.extends:
        yield (Part(f"extends {policy.extends}; what follows is all of it together", "dim"),)
    yield ()
    for level in Level:
        yield Part(f"{int(level)} {level.word:<13}", f"level{int(level)}"), Part(level_words(policy, level))
    yield ()
    for name, value in setting_words(policy):
        yield Part(f"{name:<20}", "dim"), Part(value)


def level_words(policy: Policy, level: Level) -> str:
    """What one level asks for."""
    control = policy.control(level)
    said = asked_words(control.requirement)
    if control.denies:
        said = f"deny, with a ticket that asks for {said}"
    if control.irreversible is not None:
        said += f"; cannot be undone: {asked_words(control.irreversible)}, and the answer is deny, with a ticket"
    if control.relief is not None:
        said += f"; nothing would be lost: {asked_words(control.relief)}"
    if control.kept is not None:
        said += f"; kept first: {asked_words(control.kept)}"
    return said


def setting_words(policy: Policy) -> Iterator[tuple[str, str]]:
    """Everything else that a policy says, by name."""
    gate, escalate = policy.severities, policy.escalate
    human = policy.irreversible.name.lower()
    yield (
        "cannot be undone",
        f"at least {human}; from dangerous up verify" if policy.irreversible else "asks for nothing",
    )
    for lead, found in (("", policy.patterns), ("restricts: ", policy.restriction.patterns)):
        for name, globs in _patterns(found).items():
            if globs:
                yield f"{lead}{name}", ", ".join(globs)
    if policy.allowed_operations:
        yield "only", ", ".join(sorted(policy.allowed_operations))
    if policy.always_ask:
        yield "always asks", "at least confirm, also for what only reads"
    if policy.registry:
        time = f"time as the pattern says, else {_span(gate.default_cooling_off_ms / 1000)}"
        yield "registry patterns", f"ask for {time}, at most {_span(gate.max_cooling_off_ms / 1000)}"
    yield "who may answer", f"{', '.join(sorted(gate.allowed_approvers))}, unless a level names others"
    yield "a ticket waits", f"{_span(gate.auto_expire_ms / 1000)} for its answer, then it expires"
    yield "a rejection binds", _span(policy.denial_seconds)
    yield "open tickets", f"at most {policy.open_tickets} for each agent"
    if escalate.forbidden_attempts:
        window = _span(escalate.forbidden_window_seconds)
        yield "blocks", f"after {escalate.forbidden_attempts} forbidden attempts in {window}"
    yield "trust matrix", f"{policy.matrix}, for operations of adapters"


def _span(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{int(seconds // size)} {unit}"
    return f"{seconds:g} s"


def _patterns(found: PatternSet) -> dict[str, list[str]]:
    return {name: [glob.text for glob in getattr(found, name)] for name in ("deny", "approve", "allow")}


def asked_words(asked: Requirement) -> str:
    """A requirement in a few words."""
    said = [asked.word]
    if asked.approvers:
        said.append(f"by {' or '.join(sorted(asked.approvers))}")
    if asked.quorum > 1:
        said.append(f"by {asked.quorum} people")
    if asked.reauth:
        said.append("with a fresh sign-in")
    if asked.cooling_seconds:
        said.append(f"after {_span(asked.cooling_seconds)}")
    return ", ".join(said)


def policy_json(policy: Policy) -> dict[str, Any]:
    """The same for programs."""

    def control(level: Level) -> dict[str, Any]:
        found = policy.control(level)
        extra = {"relief": found.relief, "kept": found.kept, "irreversible": found.irreversible}
        return {
            **requirement_json(found.requirement),
            "denies": found.denies,
            **{key: requirement_json(value) for key, value in extra.items() if value is not None},
        }

    return {
        "name": policy.name,
        "description": policy.description,
        "extends": policy.extends or None,
        "levels": {level.word: control(level) for level in Level},
        "irreversible": policy.irreversible.name.lower(),
        "patterns": _patterns(policy.patterns),
        "restrictions": _patterns(policy.restriction.patterns),
        "matrix": policy.matrix,
        "denial_seconds": policy.denial_seconds,
        "open_tickets": policy.open_tickets,
        "cases": len(policy.cases),
    }
