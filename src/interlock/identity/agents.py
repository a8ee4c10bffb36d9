"""Manages agents: tokens, trust tiers and blocks, and the mode of the installation; every change is recorded."""

from __future__ import annotations

import secrets

from msgspec.structs import replace

from interlock.approvals import challenges, signed_orders
from interlock.canonical_json import normal_name
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.operators import require_admin
from interlock.identity.sessions import OperatorSession
from interlock.policy.policy import MODES
from interlock.ports import Tx
from interlock.records import AgentRow, Block
from interlock.redaction import hash_token, redact_text
from interlock.runtime.memory import MODE_SETTING
from interlock.runtime.state import State


def add_agent(state: State, by: OperatorSession, name: str, trust_tier: str = "") -> tuple[str, AgentRow]:
    """The token is shown once; only a fingerprint is stored."""
    if not normal_name(name):
        raise AnswerRefused("an agent needs a name", "VALIDATION_MISSING_PARAM")
    token, now = "agt_" + secrets.token_urlsafe(32), state.clock.now()
    row = AgentRow(f"agent:{secrets.token_hex(8)}", name, trust_tier, now, 0.0, hash_token(token))

    def work(tx: Tx) -> None:
        tx.save_agent(row)
        signed_orders.order_tier(state, tx, by, row)
        details = {"principal": row.principal, "name": name, "trust_tier": trust_tier}
        state.recorder.event(tx, "agent_change", by.operator, details)

    state.store.write(work)
    state.baseline.agent_changed(row)
    return token, row


def agent_of(state: State, token: str) -> AgentRow | None:
    mark = hash_token(token)
    row = state.store.read(lambda tx: tx.agent_by_token(mark))
    if row and not state.shared:  # a row that no operator command wrote identifies no agent
        row = state.baseline.agent(row.principal, row.name)
    return row if row and row.token_hash == mark and not row.revoked_at else None


def change_agent(
    state: State, by: OperatorSession, principal: str, name: str, trust_tier: str | None = None, revoked: bool = False
) -> AgentRow:
    """The trust tier takes an admin (R-14); refuses to revoke a token that nobody has."""
    if trust_tier:
        require_admin(state, by)

    def work(tx: Tx) -> AgentRow:
        now = state.clock.now()
        before = tx.agent(principal, name) or AgentRow(principal, name, first_seen=now)
        if revoked and not before.token_hash:
            raise NotFound(f"no agent {principal!r} named {name!r} has a token; `interlock agents` lists them")
        tier = before.trust_tier if trust_tier is None else trust_tier
        after = replace(before, trust_tier=tier, revoked_at=now if revoked else before.revoked_at)
        tx.save_agent(after)
        if trust_tier is not None:
            signed_orders.order_tier(state, tx, by, after)
        details = {"principal": principal, "name": name, "trust_tier": after.trust_tier, "revoked": revoked}
        state.recorder.event(tx, "agent_change", by.operator, details)
        return after

    changed = state.store.write(work)
    state.baseline.agent_changed(changed)
    return changed


def block(state: State, by: OperatorSession, principal: str, reason: str) -> Block:
    """Under all its names (OOB-10)."""
    found = Block(principal, redact_text(reason) or "blocked by an operator", state.clock.now(), by.operator)

    def work(tx: Tx) -> None:
        tx.save_block(found)
        state.recorder.event(tx, "block", by.operator, {"principal": principal, "reason": found.reason})

    state.store.write(work)
    state.remember_block(found)
    state.changed()
    return found


def unblock(state: State, by: OperatorSession, principal: str, reason: str = "") -> Block:
    """Approves nothing (R-10)."""

    def work(tx: Tx) -> Block:
        now, why = state.clock.now(), state.blocked(principal)
        found = tx.block(principal) or (Block(principal, why, now, "interlock") if why else None)
        if found is None:  # also where its row was deleted outside Interlock
            raise NotFound(f"{principal!r} is not blocked")
        lifted = replace(found, lifted_at=now, lifted_by=by.operator)
        tx.save_block(lifted)
        challenges.end(tx, state, principal, challenges.BLOCK, how=challenges.ANSWERED)
        signed_orders.save_order(state, tx, by, *signed_orders.lift_of(found))
        state.recorder.event(tx, "unblock", by.operator, {"principal": principal, "reason": redact_text(reason)})
        return lifted

    lifted = state.store.write(work)
    state.remember_block(lifted)
    state.changed()
    return lifted


def set_mode(state: State, by: OperatorSession, mode: str, reason: str = "") -> None:
    """Changes the mode at run time; admins only, and recorded (R-12)."""
    if mode not in MODES:
        raise AnswerRefused(f"no mode {mode!r}; known: {', '.join(MODES)}", "VALIDATION_INVALID_VALUE")
    require_admin(state, by)
    before = state.mode

    def work(tx: Tx) -> None:
        tx.save_setting(MODE_SETTING, mode)
        signed_orders.save_order(state, tx, by, signed_orders.MODE, mode)
        details = {"before": before, "after": mode, "reason": redact_text(reason)}
        state.recorder.event(tx, "mode_change", by.operator, details)

    state.store.write(work)
    state.enforce(mode=mode)
    state.changed()
    state.tell("mode", None, f"{by.operator} changed the mode from {before} to {mode}")
