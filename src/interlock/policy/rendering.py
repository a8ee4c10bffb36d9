"""Renders a policy for people and as JSON, and warns of every setting that weakens it (R-14)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import asdict

from interlock.analysis.display_text import Line, StyledText, mid_sentence
from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns
from interlock.model import ADMIN, ANYBODY, Human, Level, Requirement, requirement_json, requirement_words
from interlock.policy.policy import Policy, Severities


def policy_lines(policy: Policy) -> Iterator[Line]:
    yield StyledText(policy.name, "heading"), StyledText(f"  {policy.description}")
    if policy.extends:
        yield (StyledText(f"extends {policy.extends}; what follows is all of it together", "dim"),)
    yield ()
    for level in Level:
        yield StyledText(f"{int(level)} {level.word:<13}", f"level{int(level)}"), StyledText(level_words(policy, level))
    yield ()
    for name, value in setting_words(policy):
        yield StyledText(f"{name:<24}", "dim"), StyledText(value)


def level_words(policy: Policy, level: Level) -> str:
    control = policy.levels[level]
    words = requirement_words(control.requirement)
    sentences = [_denied(words) if control.denies else _sentence(words)]
    if control.irreversible is not None:
        sentences.append(f"If it cannot be undone: {mid_sentence(_denied(requirement_words(control.irreversible)))}.")
    eased = {"nothing would be lost": control.relief, "a copy can be taken first": control.kept}
    for requirement in dict.fromkeys(one for one in eased.values() if one is not None):
        when = " or ".join(words for words, one in eased.items() if one == requirement)
        of = "it is a database made for tests or by this session, and " if level is Level.FORBIDDEN else ""
        sentences.append(f"If {of}{when}: {requirement_words(requirement)}.")
    return " ".join(sentences)


def setting_words(policy: Policy) -> Iterator[tuple[str, str]]:
    yield "what cannot be undone", _IRREVERSIBLE[policy.irreversible]
    for lead, found in (("", policy.patterns), ("of tools, ", policy.restriction.patterns)):
        for name, globs in found.texts.items():
            if globs:
                yield f"{lead}{_PATTERNS[name]}", ", ".join(globs)
    if policy.allowed_operations:
        yield "nothing but", ", ".join(sorted(policy.allowed_operations))
    if policy.always_ask:
        yield "everything asks", "Somebody confirms every action, also one that only reads."
    if policy.registry:
        gate = policy.severities
        usual, most = _span(gate.default_cooling_off_ms / 1000), _span(gate.max_cooling_off_ms / 1000)
        words = f"waits as long as the pattern requires, {usual} where it names no time, at most {most}."
        yield "names of operations", f"A name that matches a registry pattern {words}"
    who = _people(policy.severities.allowed_approvers)
    yield "who may answer", _sentence(f"{who}, unless a level names others")
    expires, again = _span(policy.severities.auto_expire_ms / 1000), _span(policy.denial_seconds)
    yield "nobody answers", f"After {expires} the request expires, and nothing ran."
    words = f"The same stays refused in that session, and for {again} in other sessions in that place."
    yield "somebody says no", words
    yield "at most", f"{policy.open_tickets} requests of one session wait at a time."
    if policy.escalate.forbidden_attempts:
        tries, window = policy.escalate.forbidden_attempts, _span(policy.escalate.forbidden_window_seconds)
        words = f"An agent that tries {tries} forbidden actions within {window} is blocked until an operator lifts it."
        yield "blocks", words
    yield "adapters", _MATRICES.get(policy.matrix, policy.matrix)


_IRREVERSIBLE = {
    Human.NONE: "It asks for no more than anything else.",
    Human.CONFIRM: "Somebody has to confirm it at least; from dangerous up an operator has to sign for it.",
    Human.APPROVE: "An operator has to approve it at least; from dangerous up one has to sign for it.",
    Human.VERIFY: "An operator has to sign for it.",
}
_PATTERNS = {"deny": "always denied", "approve": "always asks an operator", "allow": "needs no confirmation"}
_MATRICES = {
    "floor": "Their operations also pass the table of trust and danger, and never ask for less than this policy does.",
    "spec": "Their operations pass the published table of trust and danger alone.",
}


def _span(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{int(seconds // size)} {unit}"
    return f"{seconds:g} s"


def _people(names: Iterable[str]) -> str:
    called = {ANYBODY: "an operator", ADMIN: "an admin"}
    each = dict.fromkeys(called.get(name, name.replace(":", " ")) for name in sorted(names) or [ANYBODY])
    return " or ".join(each)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _denied(words: str) -> str:
    """A no that a ticket can turn."""
    return f"The call is denied, and a request waits in its place. {_sentence(words)}"


def policy_json(policy: Policy) -> dict[str, Any]:
    def control(level: Level) -> dict[str, Any]:
        found = policy.levels[level]
        replacements = {key: requirement_json(one) for key, one in found.replacements.items()}
        return {**requirement_json(found.requirement), "denies": found.denies, **replacements}

    return {
        "name": policy.name,
        "description": policy.description,
        "extends": policy.extends or None,
        "levels": {level.word: control(level) for level in Level},
        "irreversible": policy.irreversible.word,
        "patterns": policy.patterns.texts,
        "restrictions": policy.restriction.patterns.texts,
        "matrix": policy.matrix,
        "denial_seconds": policy.denial_seconds,
        "open_tickets": policy.open_tickets,
        "cases": len(policy.cases),
    }


_MODES = {
    "monitoring": "everything passes, blocked agents included; the record says what would have happened",
    "logging": "everything passes; it is recorded, and nothing is evaluated",
    "disabled": "everything passes; it is recorded, and nothing is evaluated",
}


def policy_warnings(policy: Policy, mode: str = "enforcing", patterns: NamePatterns = BUILT_IN_PATTERNS) -> list[str]:
    lax = [f'safetyLoop.mode = "{mode}": {_MODES[mode]}'] if mode in _MODES else []
    return [*lax, *_of_policy(policy), *_of_patterns(patterns), *severity_warnings(policy.severities)]


def severity_warnings(gate: Severities) -> list[str]:
    tiers = ", ".join(sorted(gate.bypass_for_trust_tiers))
    brief = min(gate.default_cooling_off_ms, gate.max_cooling_off_ms) < 30_000
    warnings = {
        "gate.enabled = false: nothing is held": not gate.enabled,
        "gate.requireApprovalForCritical = false: critical actions pass without a human": not gate.require_approval_for_critical,
        "gate.blockOnMatchFailure = false: what cannot be matched passes": not gate.block_on_match_failure,
        f"gate.bypassForTrustTiers = [{tiers}]: these agents skip cooling-off and confirmation": bool(tiers),
        "cooling-off is under 30 s: hardly time for a veto": brief,
    }
    return [words for words, holds in warnings.items() if holds]


def _of_policy(policy: Policy) -> Iterator[str]:
    named = f"policy {policy.name!r}"
    held = {level for level, control in policy.levels.items() if control.requirement != Requirement() or control.denies}
    free = [level.word for level in Level if level >= Level.DESTRUCTIVE and level not in held]
    if free:
        yield f"{named}: the levels {', '.join(free)} ask for nothing; only patterns and what cannot be approved stop an action"
    if policy.cooling_frees_irreversible:
        yield f"{named}: time alone frees what cannot be undone"
    off = ", ".join(f"escalation.{name}" for name, value in asdict(policy.escalate).items() if value is None)
    if off:
        yield f'{named}: {off} = "off": much of the same asks for nothing more'
    if policy.restriction.scope == "session":
        yield f"{named}: one approval of a confirm pattern answers it for a whole session"


def _of_patterns(patterns: NamePatterns) -> Iterator[str]:
    for name in ("dangerous", "forbidden"):
        gone = [glob for glob in getattr(BUILT_IN_PATTERNS, name) if glob not in getattr(patterns, name)]
        if gone:
            yield f"danger_patterns.replace = true: {name} lacks the built-in {', '.join(gone)}"
    wide = [glob for glob in patterns.exempt if "*" in glob]
    if wide:
        yield f"danger_patterns.safe: every name that {', '.join(wide)} matches counts as safe, whatever it says"
