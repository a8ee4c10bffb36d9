"""Converts stored objects to their JSON on the wire; tokens, digests and seals stay here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from interlock.audit.verify import AuditVerdict
from interlock.engine import undoing
from interlock.model import AgentRef, Category, Level, TicketState, requirement_json
from interlock.policy.impact import impact_words
from interlock.policy.policy import Control, Policy
from interlock.policy.registry import CATEGORIES, Severity
from interlock.records import AgentRow, Approval, AuditRow, Block, Figures, Grant, OperatorRow, Snapshot, Ticket
from interlock.runtime.adapter_trust import review_due
from interlock.runtime.adapters import LoadedAdapter
from interlock.runtime.state import State
from interlock.snapshots import UndoPlan, UndoResult, change_json
from interlock.times import iso

Json = dict[str, Any]


def wire_state(ticket: Ticket) -> str:
    """R-4: `approved` until it is reported executed."""
    if ticket.state is TicketState.SPENT and not ticket.executed_at:
        return TicketState.APPROVED.value
    return ticket.state.value


def wire_fields(row: object, names: str, optional: str = "", **made: Any) -> Json:
    """Named fields in camel case, and optional ones that have a value; `made` are values of its own.

    Times are written in ISO 8601, levels as words. What is not named stays here.
    """
    there = [*names.split(","), *(name for name in optional.split(",") if name and getattr(row, name))]
    return {
        name if name in made else _camel_case(name): made[name] if name in made else _plain(name, getattr(row, name))
        for name in there
    }


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _plain(name: str, value: Any) -> Any:
    if name in ("at", "since") or name.endswith(("_at", "_until", "_seen")):
        return iso(value) if value is not None else None
    if isinstance(value, Level):
        return value.word
    return list(value) if isinstance(value, tuple) else value


def ticket_json(ticket: Ticket, approvals: Iterable[Approval]) -> Json:
    body = wire_fields(
        ticket,
        "id,state,level,level_name,irreversible,title,reason,action,findings,factors,agent,door,requirement,approvals"
        ",severity,categories,opened_at,expires_at,strength",
        "patterns,cooling_ends_at,decided_at,spent_at,executed_at,decided_by,decision_reason,outcome",
        state=wire_state(ticket),
        level=int(ticket.level),
        level_name=ticket.level.word,
        action=dict(ticket.action),
        findings=[dict(finding) for finding in ticket.findings],
        patterns=[dict(pattern) for pattern in ticket.patterns],
        agent=agent_ref_json(ticket.agent),
        requirement=requirement_json(ticket.requirement),
        approvals=[wire_fields(approval, "operator,channel,at,verdict") for approval in approvals],
    )
    blast = impact_words(ticket.factors)
    return body | ({"blast": blast} if blast else {})


def agent_ref_json(agent: AgentRef) -> Json:
    return wire_fields(agent, "principal,name,session")


def grant_json(grant: Grant) -> Json:
    names = "id,effect,targets,ceiling,environment,remaining,principal,name,session,digests,by,why"
    return wire_fields(grant, f"{names},created_at,expires_at", "revoked_at,revoked_by")


def agent_json(row: AgentRow) -> Json:
    given = {"trust_tier": row.trust_tier, "token": bool(row.token_hash)}
    return wire_fields(row, "principal,name,trust_tier,token", "first_seen,last_seen,revoked_at", **given)


def block_json(block: Block) -> Json:
    return wire_fields(block, "principal,name,reason,since,by", "lifted_at,lifted_by")


def operator_json(row: OperatorRow) -> Json:
    names = "name,roles,teams,service,key_id,created_at,created_by,disabled"
    return wire_fields(row, names, "disabled_at", disabled=bool(row.disabled_at))


def policy_json(policy: Policy) -> Json:
    """What an agent may know beforehand: the requirement of each level, and the patterns."""
    return wire_fields(policy, "name,description,matrix,open_tickets") | {
        "levels": {level.word: _control(policy.levels[level]) for level in Level},
        "irreversible": policy.irreversible.word,
        "patterns": policy.patterns.texts,
        "restrictions": policy.restriction.patterns.texts,
    }


def _control(control: Control) -> Json:
    body = {"requirement": requirement_json(control.requirement), "denies": control.denies}
    return body | {key: requirement_json(one) for key, one in control.replacements.items()}


def figures_json(figures: Figures) -> Json:
    """The specification's metrics object, with all keys."""
    categories = sorted(Category, key=lambda category: (category not in CATEGORIES, category.value))
    return wire_fields(
        figures,
        "total_checked,destructive_detected,blocked_by_cooling,blocked_by_approval,approved,rejected,expired,executed"
        ",bySeverity,byCategory",
        bySeverity={severity.word: figures.by_severity.get(severity.word, 0) for severity in Severity},
        byCategory={category.value: figures.by_category.get(category.value, 0) for category in categories},
    )


def audit_json(row: AuditRow) -> Json:
    try:
        body = json.loads(row.body)
    except ValueError:  # not written by Interlock
        body = row.body
    return wire_fields(row, "writer,seq,at,event,body,prev,hash,rulebook,policy", body=body)


def verdict_json(verdict: AuditVerdict) -> Json:
    return wire_fields(
        verdict,
        "ok,records,faults,notes,proved,unproved,proved_until,touches,touched_until",
        records=verdict.rows,
        faults=[wire_fields(fault, "writer,seq,what,words,since", since=fault.since) for fault in verdict.faults],
        proved=dict(verdict.proved),
    )


def adapter_json(state: State, loaded: LoadedAdapter, whole: bool) -> dict[str, Any]:
    """The file's path is for operators only."""
    adapter = loaded.adapter
    standing = state.adapters.standing_of(loaded, state.clock.now())
    kept = state.adapters.kept.get(adapter.name)
    if kept is not None and kept.mark != loaded.mark and loaded.kind == "server":
        kept = None  # of another server of that name
    proved = kept is not None and kept.proved(state.sessions.seal_key())
    body = {
        "name": adapter.name,
        "kind": loaded.kind,
        "version": adapter.version,
        "trust": standing.trust.word,
        "claimed": adapter.trust.level.word,
        "why": standing.why,
        "operations": len(adapter.operations),
        "history": [
            {"from": one.before.word, "to": one.after.word, "at": iso(one.at), "by": one.by, "reason": one.reason}
            for one in (kept.record.history if kept and proved else ())
        ],
    }
    body |= review_due(state, loaded)
    if adapter.trust.certification is not None:
        found = adapter.trust.certification
        ends = {"expires_at": iso(found.expires_at)} if found.expires_at is not None else {}
        body["certification"] = {"authority": found.authority, "certificate_id": found.certificate_id, **ends}
    body |= {"mark": loaded.mark} if loaded.kind == "server" else {}
    return body | ({"file" if loaded.kind == "adapter" else "starts": loaded.path} if whole else {})


def snapshot_json(row: Snapshot) -> Json:
    return wire_fields(
        row,
        "id,at,principal,agent,session,cwd,command,files,bytes,state,machine",
        "undoes,ended_at,ended_by",
        agent=row.name,
        cwd=_escape(row.cwd),
        command=_escape(row.command),
    )


def undo_plan_json(found: undoing.PlannedUndo) -> Json:
    return _changes_json(found.snapshot, found.plan) | {"later": found.plan.later}


def _changes_json(snapshot: Snapshot, found: UndoPlan | UndoResult) -> Json:
    return {
        "snapshot": snapshot_json(snapshot),
        "changes": [
            {key: _escape(value) if isinstance(value, str) else value for key, value in change_json(change).items()}
            for change in found.changes
        ],
        "total": found.total or len(found.changes),
        "say": list(map(_escape, found.say)),
        "problem": found.problem,
    }


def _escape(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def undo_result_json(found: undoing.UndoOutcome) -> Json:
    undone = found.undone
    body = _changes_json(found.snapshot, undone) | {"undone": undone.done, "refused": undone.refused}
    return body | ({"undoableAs": undone.as_id} if undone.as_id else {})
