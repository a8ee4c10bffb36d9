"""Grants, standing answers and registry patterns: parses, signs, revokes and spends them; an unsigned or altered row grants nothing."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from interlock.approvals import signed_orders
from interlock.approvals.denials import ALLOW, DENY, FOREVER, SETTING, STANDING, parse_answers
from interlock.approvals.grant_coverage import AT, narrow_grant
from interlock.audit.chain import AuditEvent, body_of, event_body
from interlock.canonical_json import canonical_json
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.operators import require_admin
from interlock.identity.passkey_proofs import PREFIX, proof_fields
from interlock.identity.sessions import OperatorSession
from interlock.model import Level
from interlock.policy.effect_key.key import RUN
from interlock.policy.patterns import Glob, PatternSyntax
from interlock.policy.registry import Pattern, PatternError
from interlock.ports import Tx
from interlock.records import AuditQuery, AuditRow, Grant
from interlock.redaction import redact_text
from interlock.runtime import Judged
from interlock.runtime.state import State

MOST_SECONDS = 7 * 86_400
MOST_USES = 1_000
INVALID = "VALIDATION_INVALID_VALUE"
_OF_TOUCHES = frozenset({"digest", "nonce", "reauth"})
REAUTH = {"reauth": True}  # beside the terms: whoever signs was asked anew for them
_KEYS = frozenset("effect targets environment ceiling count seconds why principal name session digests".split())


def add_grant(state: State, by: OperatorSession, given: Mapping[str, Any]) -> Grant:
    """Refuses an empty target list, a star for everything, and level 4 from anybody but an admin."""
    grant = _signed(state, by, parse_grant(state, by, given))
    if grant.ceiling is Level.FORBIDDEN:
        require_admin(state, by)
    touched = _touched(json.loads(grant.statement), grant)  # for later verification of the record
    return _save(state, by, grant, proof_fields(grant) if touched else {})


def _save(state: State, by: OperatorSession, grant: Grant, proof: Mapping[str, str]) -> Grant:
    def work(tx: Tx) -> None:
        tx.save_grant(grant)
        if grant.effect in STANDING:
            tx.save_setting(SETTING, f"{grant.id} {grant.created_at!r}")
        state.recorder.event(tx, "grant", by.operator, {"grant": grant.id, "terms": grant_terms(grant), **proof})

    state.store.write(work)
    return grant


def _signed(state: State, by: OperatorSession, grant: Grant) -> Grant:
    """In a browser, dangerous terms take a passkey touch for exactly these."""
    if by.granted:
        if _lasting(by.granted) != _lasting(grant):
            raise AnswerRefused("you were asked anew for other terms than these; sign again")
        return by.granted
    anew = not by.cookie and by.stepped_up(state.clock.now())
    if grant.ceiling >= Level.DANGEROUS and not anew:
        proof = "touch of your passkey for exactly these terms" if by.cookie else "fresh sign-in"
        raise AnswerRefused(f"a grant for dangerous actions takes a {proof}")
    return signed_terms(grant, by, REAUTH if anew else None)


def signed_terms(grant: Grant, by: OperatorSession, beside: Mapping[str, Any] | None = None) -> Grant:
    text = statement_of(grant, beside)
    return replace(grant, statement=text, signature=by.unlocked.sign(text), key_id=by.unlocked.key_id)


def statement_of(grant: Grant, touch: Mapping[str, Any] | None = None) -> str:
    """The text to sign: the terms, and for a passkey the parts of its challenge."""
    return canonical_json({**grant_terms(grant), "id": grant.id, **(touch or {})})


def touch_of(grant: Grant, nonce: str) -> dict[str, Any]:
    """What a fresh sign-in adds to the terms; a session's key cannot sign it."""
    return {"digest": f"grant {grant.id}", "nonce": nonce, "reauth": True}


def _touched(said: Mapping[str, Any], grant: Grant) -> bool:
    return grant.key_id.startswith(PREFIX) and said.get("reauth") is True


def _lasting(grant: Grant) -> dict[str, Any]:
    return {**grant_terms(grant), "expires_at": 0}


def revoke_grant(state: State, by: OperatorSession, id: str) -> Grant:
    """A standing denial only for its author or an admin, anything else for any operator."""

    def work(tx: Tx) -> Grant:
        if (found := tx.grant(id)) is None:
            raise NotFound(f"no grant {id!r}")
        now = state.clock.now()
        if found.effect == DENY and found.by != by.operator and not state.sessions.is_admin(by.operator):
            raise AnswerRefused(f"{found.by} denied this: they take it back, or an admin does")
        gone = replace(found, revoked_at=now, revoked_by=by.operator)
        tx.save_grant(gone)
        if found.effect in STANDING:
            tx.save_setting(SETTING, f"{found.id} revoked {now!r}")
        state.baseline.revoke(id)
        state.recorder.event(tx, "grant_revoked", by.operator, {"grant": id})
        return gone

    gone = state.store.write(work)
    if gone.effect in STANDING:
        state.standing.drop(id)
        state.changed()
    return gone


def is_signed(state: State, grant: Grant) -> bool:
    """Whether an operator who is still entitled signed it; an edited row grants nothing."""
    sessions = state.sessions
    if not state.baseline.is_in_force(grant) or (grant.ceiling is Level.FORBIDDEN and not sessions.is_admin(grant.by)):
        return False
    if not sessions.has_signed(grant.by, grant.key_id, grant.statement, grant.signature):
        return False
    said, now = json.loads(grant.statement), json.loads(statement_of(grant))
    touched = _touched(said, grant)
    if grant.ceiling >= Level.DANGEROUS and grant.key_id.startswith(PREFIX) and not touched:
        return False
    beside = _OF_TOUCHES if touched else frozenset(REAUTH)
    terms = {key: value for key, value in said.items() if key not in beside}
    return {**terms, "count": 0} == {**now, "count": 0} and grant.remaining <= int(said["count"])


def use_grant(state: State, grant: Grant) -> bool:
    """Takes one of the signed uses, whatever the row says is left."""
    return state.shared or state.baseline.use(grant, int(json.loads(grant.statement)["count"]))


def grant_use_entry(grant: Grant, judged: Judged) -> AuditEvent:
    details = {"grant": grant.id, "digest": judged.digest}
    return "grant_used", event_body(judged.now, "grant_used", judged.agent.principal, details)


def suggest_grant(state: State, ticket: str) -> dict[str, object]:
    if (found := state.store.read(lambda tx: tx.ticket(ticket))) is None:
        raise NotFound(f"no ticket {ticket!r}")
    return narrow_grant(found)


def add_pattern(state: State, by: OperatorSession, given: Mapping[str, Any]) -> Pattern:
    try:
        pattern = Pattern.of(given)
        state.registry.register(pattern)
    except PatternError as error:
        raise AnswerRefused(str(error), INVALID) from None

    def work(tx: Tx) -> None:
        tx.save_pattern(pattern.wire)
        state.recorder.event(tx, "pattern_change", by.operator, {"registered": pattern.wire})

    try:
        state.store.write(work)
    except BaseException:
        with contextlib.suppress(PatternError):
            state.registry.unregister(pattern.id)
        raise
    state.changed()
    return pattern


def remove_pattern(state: State, by: OperatorSession, id: str) -> Pattern:
    """Takes an admin, since it lowers protection."""
    require_admin(state, by)
    known = next((pattern for pattern in state.registry if pattern.id == id), None)
    if known is None:
        raise NotFound(f"no pattern {id!r}")

    def work(tx: Tx) -> None:
        tx.delete_pattern(id)
        signed_orders.order_removal(state, tx, by, id)
        state.recorder.event(tx, "pattern_change", by.operator, {"unregistered": id})

    state.store.write(work)
    with contextlib.suppress(PatternError):  # the change feed may have removed it already
        state.registry.unregister(id)
    state.changed()
    return known


def parse_grant(state: State, by: OperatorSession, given: Mapping[str, Any]) -> Grant:
    """Neither signed nor saved."""
    if unknown := sorted(set(given) - _KEYS):
        raise _refused(f"unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}", "VALIDATION_UNKNOWN_PARAM")
    if given.get("effect") in STANDING:
        raise _refused("a pattern is allowed or denied with /standing")
    effect, targets, digests = given.get("effect", ""), given.get("targets", []), given.get("digests", [])
    _texts("targets", targets)
    _texts("digests", digests)
    if not digests and (not isinstance(effect, str) or not effect or not targets):
        raise _refused("effect and targets are needed, or the digests of a plan", "VALIDATION_MISSING_PARAM")
    if effect == RUN and not digests:
        raise _refused("the effect of a program is not known by its name; grant the digest of a ticket (--from TICKET)")
    if any(target.partition(AT)[0].strip("*/ ") == "" for target in targets):
        raise _refused("a target for everything is none")
    level = next((level for level in Level if level.word == given.get("ceiling", "destructive")), None)
    if level is None:
        raise _refused(f"no level {given.get('ceiling')!r}")
    why = given.get("why", "")
    if not isinstance(why, str) or not why.strip():
        raise _refused("say why", "VALIDATION_MISSING_PARAM")
    count, seconds = _number(given, "count", 1, MOST_USES), _number(given, "seconds", 3600, MOST_SECONDS)
    now = state.clock.now()
    return Grant(
        state.new_id("grant_"), effect, tuple(targets), level, by.operator, redact_text(why)[:500], now, now + seconds, remaining=count,
        digests=tuple(digests),
        environment=str(given.get("environment", "")), principal=str(given.get("principal", "")),
        name=str(given.get("name", "")), session=str(given.get("session", "")),
    )  # fmt: skip


def _texts(name: str, value: object) -> None:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value) or len(value) > 100:
        raise _refused(f"{name}: expected a list of no more than 100 texts", "VALIDATION_INVALID_TYPE")


def _number(given: Mapping[str, Any], key: str, default: int, most: int) -> int:
    value = given.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise _refused(f"{key}: expected a whole number from 1 to {most}, got {value!r:.40}")
    return value


def _refused(words: str, code: str = INVALID) -> AnswerRefused:
    return AnswerRefused(f"grant: {words}", code)


def grant_terms(grant: Grant) -> dict[str, Any]:
    return {
        "effect": grant.effect, "targets": list(grant.targets), "environment": grant.environment, "ceiling": grant.ceiling.word,
        "count": grant.remaining, "expires_at": int(grant.expires_at), "why": grant.why, "principal": grant.principal,
        "name": grant.name, "session": grant.session, "digests": list(grant.digests), "by": grant.by,
    }  # fmt: skip


MOST_STANDING = 200  # answers that count at a time
_RECORDED = 20_000


def load_answers(state: State, tx: Tx) -> None:
    """The record counts more than a row: a deleted denial stands, a restored allow does not."""
    revoked = {str(body_of(row).get("grant")) for row in _records(tx, "grant_revoked")}
    standing = (grant for grant in tx.grants(state.clock.now()) if grant.effect in STANDING)
    found = {grant.id: grant for grant in standing if grant.id not in revoked}
    for row in _records(tx, "grant"):
        said = body_of(row)
        terms, id = said.get("terms"), str(said.get("grant", ""))
        if isinstance(terms, Mapping) and terms.get("effect") == DENY and id not in revoked and id not in found:
            found[id] = _recorded(id, terms, row.at)
    state.standing.answers = parse_answers(found.values())


def _records(tx: Tx, event: str) -> list[AuditRow]:
    return tx.audit(AuditQuery(event=event, limit=_RECORDED, newest_first=True))


def _recorded(id: str, terms: Mapping[str, object], at: float) -> Grant:
    targets, until = terms.get("targets"), terms.get("expires_at")
    patterns = tuple(map(str, targets)) if isinstance(targets, list) else ()
    ends = float(until) if isinstance(until, int | float) else FOREVER
    return Grant(id, DENY, patterns, Level.FORBIDDEN, str(terms.get("by", "")), str(terms.get("why", "")), at, ends)


def parse_answer(state: State, by: OperatorSession, verdict: str, pattern: str, why: str, seconds: int = 0) -> Grant:
    """Neither signed nor saved; refuses a pattern that matches nothing, or everything."""
    if verdict not in STANDING:
        raise AnswerRefused(f"no verdict {verdict!r:.40}; known: {', '.join(sorted(STANDING))}", INVALID)
    try:
        glob = Glob.of(pattern)
    except PatternSyntax as error:
        raise AnswerRefused(str(error), INVALID) from None
    if not glob.body.strip("*? /") and (glob.tool.lower() in ("", "bash") or "*" in glob.tool):
        raise AnswerRefused(f"pattern {pattern!r}: a pattern for everything is none", INVALID)
    now = state.clock.now()
    ceiling = Level.DESTRUCTIVE if verdict == ALLOW else Level.FORBIDDEN
    until = now + seconds if seconds else FOREVER
    said = redact_text(why.strip())[:500] or "no reason was given"
    return Grant(state.new_id("grant_"), verdict, (glob.text,), ceiling, by.operator, said, now, until)


def add_answer(state: State, by: OperatorSession, verdict: str, pattern: str, why: str, seconds: int = 0) -> Grant:
    """Signs and saves an answer; an allow takes a fresh sign-in."""
    grant = parse_answer(state, by, verdict, pattern, why, seconds)
    if len(state.standing.answers) >= MOST_STANDING:
        some = "revoke some (`interlock allow --list`)"
        raise AnswerRefused(f"there are {MOST_STANDING} standing answers already; {some}")
    if verdict == ALLOW and (by.cookie or not by.stepped_up(state.clock.now())):
        raise AnswerRefused("a standing yes takes a fresh sign-in")
    grant = _save(state, by, signed_terms(grant, by), {})
    state.standing.put(grant)
    state.changed()
    return grant
