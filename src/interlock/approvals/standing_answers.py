"""Standing answers: signed patterns that operators allow or deny until revoked; a deleted denial still stands."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.approvals.denials import ALLOW, DENY, FOREVER, SETTING, STANDING, parse_answers
from interlock.approvals.grants import grant_terms, signed_terms
from interlock.audit.chain import body_of, event_body
from interlock.error_codes import AnswerRefused
from interlock.identity.sessions import OperatorSession
from interlock.model import Level
from interlock.policy.patterns import Glob, PatternSyntax
from interlock.ports import Tx
from interlock.records import AuditQuery, AuditRow, Grant
from interlock.redaction import redact_text
from interlock.runtime.state import State

MOST = 200  # that count at a time
_RECORDED = 20_000


def load(state: State, tx: Tx) -> None:
    """Loads standing answers; the record counts more than a row: a deleted denial stands, a restored allow does not."""
    revoked = {str(body_of(row).get("grant")) for row in _records(tx, "grant_revoked")}
    rows = {grant.id: grant for grant in tx.grants(state.clock.now()) if grant.effect in STANDING}
    found = {id: grant for id, grant in rows.items() if id not in revoked}
    for row in _records(tx, "grant"):
        said = body_of(row)
        terms, id = said.get("terms"), str(said.get("grant", ""))
        if isinstance(terms, Mapping) and terms.get("effect") == DENY and id not in revoked and id not in found:
            found[id] = _recorded(id, terms, row.at)
    state.standing.answers = parse_answers(found.values())


def _records(tx: Tx, event: str) -> list[AuditRow]:
    return tx.audit(AuditQuery(event=event, limit=_RECORDED, newest_first=True))


def _recorded(id: str, terms: Mapping[str, object], at: float) -> Grant:
    """A denial, restored from its record."""
    targets = terms.get("targets")
    patterns = tuple(map(str, targets)) if isinstance(targets, list) else ()
    until = terms.get("expires_at")
    ends = float(until) if isinstance(until, int | float) else FOREVER
    return Grant(id, DENY, patterns, Level.FORBIDDEN, str(terms.get("by", "")), str(terms.get("why", "")), at, ends)


def parse_answer(state: State, by: OperatorSession, verdict: str, pattern: str, why: str, seconds: int = 0) -> Grant:
    """Parses an answer, neither signed nor saved; refuses a pattern that matches nothing, or everything."""
    if verdict not in STANDING:
        raise AnswerRefused(
            f"no verdict {verdict!r:.40}; known: {', '.join(sorted(STANDING))}", "VALIDATION_INVALID_VALUE"
        )
    try:
        glob = Glob.of(pattern)
    except PatternSyntax as error:
        raise AnswerRefused(str(error), "VALIDATION_INVALID_VALUE") from None
    shell = glob.tool.lower() in ("", "bash") or "*" in glob.tool
    if not glob.body.strip("*? /") and (shell or not glob.tool):
        raise AnswerRefused(f"pattern {pattern!r}: a pattern for everything is none", "VALIDATION_INVALID_VALUE")
    now = state.clock.now()
    ceiling = Level.DESTRUCTIVE if verdict == ALLOW else Level.FORBIDDEN
    until = now + seconds if seconds else FOREVER
    said = redact_text(why.strip())[:500] or "no reason was given"
    return Grant(state.new_id("grant_"), verdict, (glob.text,), ceiling, by.operator, said, now, until)


def add_answer(state: State, by: OperatorSession, verdict: str, pattern: str, why: str, seconds: int = 0) -> Grant:
    """Signs and saves an answer; an allow takes a fresh sign-in."""
    grant = parse_answer(state, by, verdict, pattern, why, seconds)
    if len(state.standing.answers) >= MOST:
        raise AnswerRefused(f"there are {MOST} standing answers already; revoke some (`interlock allow --list`)")
    if verdict == ALLOW and (by.cookie or not by.stepped_up(state.clock.now())):
        raise AnswerRefused("a standing yes takes a fresh sign-in")
    grant = signed_terms(grant, by)
    details = {"grant": grant.id, "terms": grant_terms(grant)}

    def work(tx: Tx) -> None:
        tx.save_grant(grant)
        tx.save_setting(SETTING, f"{grant.id} {grant.created_at!r}")
        state.recorder.now(tx, "grant", event_body(grant.created_at, "grant", by.operator, details))

    state.store.write(work)
    state.standing.put(grant)
    state.changed()
    return grant
