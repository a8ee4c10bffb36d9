"""Standing answers: patterns that operators allow or deny until they take them back; signed as grants are, and tried on the record first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.core.circumstances import Circumstances
from interlock.core.codes import Refused
from interlock.core.loop_rules import LoopRules, Ruled, owned, ruled
from interlock.core.model import Level, Requirement
from interlock.core.patterns import Glob, PatternSet, PatternSyntax, covers, hits
from interlock.core.project import project_rules
from interlock.core.records import AuditQuery, AuditRow, Grant
from interlock.core.redact import redact_text
from interlock.core.standing import ALLOW, DENY, FOREVER, SETTING, STANDING, readable
from interlock.core.weigh import weigh
from interlock.ports import Tx
from interlock.service.alone import alone
from interlock.service.granting import grant_terms, holds, signed_terms
from interlock.service.record import body_of, deed
from interlock.service.request import Judged
from interlock.service.sessions import OperatorSession
from interlock.service.state import State

MOST = 200  # that count at a time
_RECORDED = 20_000


def load(state: State, tx: Tx) -> None:
    """What the store says; what the record says counts more than a row: a no that was deleted stands, a yes that was put back does not."""
    revoked = {str(body_of(row).get("grant")) for row in _records(tx, "grant_revoked")}
    rows = {grant.id: grant for grant in tx.grants(state.clock.now()) if grant.effect in STANDING}
    found = {id: grant for id, grant in rows.items() if id not in revoked}
    for row in _records(tx, "grant"):
        said = body_of(row)
        terms, id = said.get("terms"), str(said.get("grant", ""))
        if isinstance(terms, Mapping) and terms.get("effect") == DENY and id not in revoked and id not in found:
            found[id] = _recorded(id, terms, row.at)
    state.standing.answers = readable(found.values())


def _records(tx: Tx, event: str) -> list[AuditRow]:
    return tx.audit(AuditQuery(event=event, limit=_RECORDED, newest_first=True))


def _recorded(id: str, terms: Mapping[str, object], at: float) -> Grant:
    """A no, as its record tells it."""
    targets = terms.get("targets")
    patterns = tuple(map(str, targets)) if isinstance(targets, list) else ()
    until = terms.get("expires_at")
    ends = float(until) if isinstance(until, int | float) else FOREVER
    return Grant(id, DENY, patterns, Level.FORBIDDEN, str(terms.get("by", "")), str(terms.get("why", "")), at, ends)


def proposed(state: State, by: OperatorSession, verdict: str, pattern: str, why: str, seconds: int = 0) -> Grant:
    """The answer that somebody describes, neither signed nor kept; refuses a pattern that says nothing, or everything."""
    if verdict not in STANDING:
        raise Refused(f"no verdict {verdict!r:.40}; known: {', '.join(sorted(STANDING))}", "VALIDATION_INVALID_VALUE")
    try:
        glob = Glob.of(pattern)
    except PatternSyntax as error:
        raise Refused(str(error), "VALIDATION_INVALID_VALUE") from None
    shell = glob.tool.lower() in ("", "bash") or "*" in glob.tool
    if not glob.body.strip("*? /") and (shell or not glob.tool):
        raise Refused(f"pattern {pattern!r}: a pattern for everything is none", "VALIDATION_INVALID_VALUE")
    now = state.clock.now()
    ceiling = Level.DESTRUCTIVE if verdict == ALLOW else Level.FORBIDDEN
    until = now + seconds if seconds else FOREVER
    said = redact_text(why.strip())[:500] or "no reason was given"
    return Grant(state.new_id("grant_"), verdict, (glob.text,), ceiling, by.operator, said, now, until)


def add(state: State, by: OperatorSession, verdict: str, pattern: str, why: str, seconds: int = 0) -> Grant:
    """Signs and keeps an answer; what loosens takes a fresh sign-in."""
    grant = proposed(state, by, verdict, pattern, why, seconds)
    if len(state.standing.answers) >= MOST:
        raise Refused(f"there are {MOST} standing answers already; revoke some (`interlock allow --list`)")
    if verdict == ALLOW and (by.cookie or not by.stepped_up(state.clock.now())):
        raise Refused("a standing yes takes a fresh sign-in")
    grant = signed_terms(grant, by)
    details = {"grant": grant.id, "terms": grant_terms(grant)}

    def work(tx: Tx) -> None:
        tx.save_grant(grant)
        tx.save_setting(SETTING, f"{grant.id} {grant.created_at!r}")
        state.recorder.now(tx, "grant", deed(grant.created_at, "grant", by.operator, details))

    state.store.write(work)
    state.standing.put(grant)
    state.changed()
    return grant


def governed(state: State, judged: Judged) -> State:
    """The service under what the project's file and standing answers say of this action; itself where they say nothing."""
    rules = list(_rules(state, judged))
    if not rules:
        return state
    return state.under(ruled(state.policy, rules), state.mode, (*state.ruled, *rules))


def _rules(state: State, judged: Judged) -> Iterator[Ruled]:
    request, named = judged.request, judged.named
    if request.project is not None and request.action.cwd:
        yield from project_rules(request.project(request.action.cwd))
    if not state.standing.answers:
        return
    denied = [glob for _, glob in state.standing.of(DENY, judged.now)]
    for glob in denied if named.cut else hits(denied, named):  # what was not compared may be what a pattern means
        yield owned(LoopRules(patterns=PatternSet(deny=(glob,))), glob.origin), True
    for grant, glob in state.standing.of(ALLOW, judged.now):
        if covers((glob,), named) and _counts(state, judged, grant):
            yield owned(LoopRules(patterns=PatternSet(allow=(glob,))), glob.origin), True
            return


def _counts(state: State, judged: Judged, grant: Grant) -> bool:
    """Whether somebody who may really signed this yes, and could have given it alone."""
    request = judged.request
    at = Circumstances(mode=state.mode, adapted=request.adapted, matched=judged.matched)
    asked = weigh(judged.judgement.assessment, judged.named, state.policy, at).requirement
    return asked != Requirement() and alone(state, grant.by, asked) and holds(state, grant)
