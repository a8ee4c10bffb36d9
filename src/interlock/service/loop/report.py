"""What does an agent report, and how did it stand just before? One step, and one look at its executions."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.core.loop import OUTCOMES, Count, Pause, Verdict
from interlock.core.loop_names import counted_as, operation_named
from interlock.core.model import AgentRef, Human, Tier, intent
from interlock.core.records import Challenge, Execution, Ticket
from interlock.core.redact import redact_text
from interlock.ports import Tx
from interlock.service.identity import identified
from interlock.service.loop.problem import LoopProblem
from interlock.service.loop.running import current, freed, in_force, live, nothing_runs
from interlock.service.request import Judged, Request, Stepping
from interlock.service.state import State

RECORD = "record_execution_step"
SAID = 500  # characters of a description or finding that the record keeps


@dataclass(frozen=True, slots=True)
class Step:
    """What an agent reports: how the step before ended, and what it is about to do."""

    hint: str
    description: str = ""
    outcome: str = ""
    findings: str = ""
    risk: int | None = None  # the agent's own word; it only raises (C-45)
    cwd: str = ""


@dataclass(slots=True)
class Report:
    """One try to answer a step: what was seen before it, and what came of it."""

    state: State
    agent: AgentRef
    step: Step
    execution: Execution
    pause: Pause | None  # what the agent waits for
    same: bool  # this is the step that is held
    blocked: str  # why its principal is, where that is enforced
    operation: str  # that the hint names
    counted: str  # what repetition is counted by
    verdict: Verdict = Verdict.REFUSE
    tier: Tier = Tier.ADVISORY
    after: Execution | None = None
    challenge: Challenge | None = None
    waited: Ticket | None = None  # what the pause is about
    confirmation: dict[str, str] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def count(self) -> Count:
        """This step's number, and how many there may be."""
        return Count(self.execution.steps + 1, self.execution.max_steps)

    @property
    def allows(self) -> str:
        """What a person's yes gives where the steps have run out (C-20)."""
        quota, id = self.execution.quota, self.execution.id
        return (
            f"a yes allows {quota} more steps of execution {id}" if quota > 1 else f"a yes allows one more step of {id}"
        )

    @property
    def stepping(self) -> Stepping:
        """What the decision has to know."""
        step, pause = self.step, self.pause
        words = f"{pause.reason or 'a step is held'} (waits for {pause.id})" if pause is not None else ""
        human = Human(pause.human) if pause is not None and self.same else Human.NONE
        if self.same and human is Human.NONE:  # it only cools off, which the policy asks for by itself
            words = ""
        return Stepping(
            left=self.execution.max_steps - self.execution.steps,
            previous=step.outcome,
            repeats=int(self.execution.tally.get(self.counted, 0)),
            cumulative=self.execution.risk,
            pause=words,
            pause_human=human,
            more=self.execution.quota,
            told={
                "number": self.count.step,
                **{
                    key: redact_text(value)[:SAID]
                    for key, value in (
                        ("outcome", step.outcome),
                        ("description", step.description),
                        ("findings", step.findings),
                    )
                    if value
                },
            },
        )


def checked(step: Step) -> Step:
    """The step, its hint without outer blanks; refuses one that says nothing, and values that nobody knows."""
    hint = step.hint.strip() if isinstance(step.hint, str) else ""
    if not any(unicodedata.category(char)[0] not in "CZ" for char in hint):
        words = "Missing required parameter 'next_action_hint': say in detail which action comes next"
        raise LoopProblem("VALIDATION_MISSING_PARAM", words, {"param_name": "next_action_hint", "operation": RECORD})
    if step.outcome and step.outcome not in OUTCOMES:
        raise _invalid("outcome", f"one of {', '.join(OUTCOMES)}")
    if step.risk is not None and (isinstance(step.risk, bool) or not 0 <= step.risk <= 100):
        raise _invalid("risk_score", "a whole number from 0 to 100")
    return replace(step, hint=hint)


def seen(state: State, agent: AgentRef, step: Step) -> Report:
    """How the agent stands; refuses one that runs nothing in this session."""
    now, action = state.clock.now(), intent(step.hint, step.cwd)
    enforcing = state.mode == "enforcing"

    def look(tx: Tx) -> tuple[Execution, Pause | None, str]:
        found = live(tx, agent)
        mine = current(tx, agent, found)
        if mine is None:
            raise nothing_runs(agent)
        held = in_force(tx, agent, found, now) if enforcing else None
        block = tx.block(agent.principal) if enforcing else None  # also one that another replica made just now
        pause = held[1] if held else None
        return freed(tx, mine, now) if enforcing else mine, pause, block.reason if block else ""

    execution, pause, blocked = state.store.read(look)
    judgement, titles = state.reader.read(action)
    same = False
    if pause is not None:
        judged = Judged(Request(action, agent, ""), judgement, titles, None, now)
        same = pause.digest == identified(state, judged).digest
    operation = operation_named(step.hint, titles)
    counted = counted_as(step.hint, titles)
    return Report(state, agent, step, execution, pause, same, blocked, operation or RECORD, counted)


def _invalid(name: str, expected: str) -> LoopProblem:
    details = {"param_name": name, "expected": expected}
    return LoopProblem("VALIDATION_INVALID_VALUE", f"Parameter '{name}' takes {expected}", details)
