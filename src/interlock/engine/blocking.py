"""Blocks a principal for attacking the guard, too many forbidden attempts, or the danger zone where the policy says so (R-9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interlock.approvals import Resolution
from interlock.audit.chain import event_body
from interlock.identity import home_of
from interlock.model import AgentRef, Level
from interlock.policy.declared_steps import MISMATCH, UNDECLARED
from interlock.policy.evaluate import DANGER_ZONE, TAMPERING, PolicyResult
from interlock.policy.self_protection import tampering
from interlock.ports import Tx
from interlock.records import Block, Counts

if TYPE_CHECKING:
    from interlock.runtime import Judged
    from interlock.runtime.state import State


def attack(judged: Judged) -> str:
    """How an action attacks the guard itself, in words; where files can be read, settings that run our hook count."""
    request = judged.request
    files, home = request.files, request.action.home or home_of(request.agent.principal)

    def read(path: str) -> str | None:
        return files(f"{home}{path[1:]}" if path.startswith("~/") else path) if files else None

    return tampering(request.action, judged.judgement, read if files is not None else None)


def block_for(tx: Tx, state: State, judged: Judged, counts: Counts, weighed: PolicyResult, held: Resolution) -> str:
    """Blocks the caller where this answer calls for it, and returns why; only in enforcing mode, and never a person."""
    if held.outcome == "allow" or state.mode != "enforcing" or judged.request.agent.person:
        return ""
    reason = (
        _tampering(judged, weighed) or _undeclared(weighed) or _danger_zone(weighed) or _too_many(state, judged, counts)
    )
    agent = judged.request.agent
    if not reason or tx.block(agent.principal) is not None:
        return ""
    block = Block(agent.principal, reason, judged.now, "interlock", agent.name)
    tx.save_block(block)
    details = {"principal": agent.principal, "name": agent.name, "reason": reason}
    state.recorder.now(tx, "block", event_body(judged.now, "block", "interlock", details))
    state.remember_block(block)
    return reason


def block_now(state: State, agent: AgentRef, reason: str, alert: Mapping[str, Any]) -> bool:
    """Records an alert and blocks its principal; False where it is blocked already, or nothing is enforced."""

    def work(tx: Tx) -> bool:
        now = state.clock.now()
        state.recorder.now(tx, "alert", event_body(now, "alert", "interlock", alert))
        if tx.block(agent.principal) is not None or state.mode != "enforcing":
            return False
        block = Block(agent.principal, reason, now, "interlock", agent.name)
        tx.save_block(block)
        details = {"principal": agent.principal, "name": agent.name, "reason": reason}
        state.recorder.now(tx, "block", event_body(now, "block", "interlock", details))
        state.remember_block(block)
        return True

    return state.store.write(work)


def _tampering(judged: Judged, weighed: PolicyResult) -> str:
    """Self-protection as a reason; not for a step, whose agent the loop stops by a challenge."""
    words = next((part.words for part in weighed.parts if part.name == TAMPERING), "")
    return "" if judged.request.step is not None else words and f"an action that {words}"


def _undeclared(weighed: PolicyResult) -> str:
    """An unreported or misreported action, where the configuration blocks for it."""
    found = next((p for p in weighed.parts if p.name in (UNDECLARED, MISMATCH) and p.requirement.blocked), None)
    return f"{found.name}: {found.words}" if found is not None else ""


def _danger_zone(weighed: PolicyResult) -> str:
    return "an action in the danger zone" if any(part.name == DANGER_ZONE for part in weighed.parts) else ""


def _too_many(state: State, judged: Judged, counts: Counts) -> str:
    escalate = state.policy.escalate
    most = escalate.forbidden_attempts
    if most is None or judged.judgement.assessment.level < Level.FORBIDDEN or counts.forbidden + 1 < most:
        return ""
    return f"{_NUMBERS.get(most, str(most))} forbidden attempt{'' if most == 1 else 's'} in {_time(escalate.forbidden_window_seconds)}"


_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}


def _time(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    if rest:
        return f"{seconds} seconds"
    return "ten minutes" if minutes == 10 else f"{minutes} minute{'' if minutes == 1 else 's'}"
