"""Validates a reported step, names its operation (LC-05) and reads the state of the agent's executions before it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.confusables import plain
from interlock.analysis.lexicon import split_name, vocabulary
from interlock.analysis.operations.names import may_be_operation
from interlock.engine.gathering import identify
from interlock.error_codes import LoopProblem
from interlock.loop import agents
from interlock.loop.state import REFUSE, LoopVerdict, Pause
from interlock.model import AgentRef, Human, Tier, intent
from interlock.policy.match_names import MatchNames
from interlock.ports import Tx
from interlock.records import Challenge, Execution, Ticket
from interlock.redaction import redact_text
from interlock.runtime import InForce, Judged, Request, StepContext
from interlock.runtime.state import State

_WORD = re.compile(r"(?<![\w./-])[A-Za-z][\w.:/-]*\w")
_SUBCOMMAND = re.compile(r"[a-z][a-z-]{1,30}")  # no values: what is given to a command may be a secret
_OTHER = re.compile(r"[^a-z0-9]+")
_HINT_CHARS = 2_000  # that are searched for a name
_LONGEST = 100
RECORD = "record_execution_step"
TEXT_CHARS = 500  # of a description or finding that the record stores


def operation_name(hint: str, named: MatchNames) -> str:
    """Empty for mere prose."""
    if named.commands:
        program, *words = named.commands[0]
        return _form("_".join([program, *words[:1]]) if words and _SUBCOMMAND.fullmatch(words[0]) else program)
    for found in _WORD.finditer(plain(hint[:_HINT_CHARS], vocabulary())):
        if not may_be_operation(found[0]):
            continue
        name = _form("_".join(word for segment in split_name(found[0]) for word in segment))
        if any(f"{known}_".startswith(f"{name}_") for known in named.operations):
            return name
    return ""


def repetition_key(hint: str, named: MatchNames) -> str:
    """The operation, or the hint's verb and noun; hashed, for it is stored."""
    name = named.operations[0] if named.operations else hint.casefold()
    what = operation_name(hint, named) or "_".join(_form(name).split("_")[:2])
    return hashlib.sha256(what.encode()).hexdigest()[:16]


def _form(name: str) -> str:
    return _OTHER.sub("_", name.rpartition("/")[2].lower()).strip("_0123456789")[:_LONGEST]


class ReportedStep(Struct, frozen=True):
    """And how the previous step ended."""

    hint: str
    description: str = ""
    outcome: str = ""
    findings: str = ""
    risk: int | None = None  # the agent's own estimate; it only raises (C-45)
    cwd: str = ""


class StepReport(Struct):
    """One attempt to answer a step."""

    state: State
    by: InForce  # that governs the agent
    agent: AgentRef
    step: ReportedStep
    execution: Execution
    pause: Pause | None  # what the agent waits for
    same: bool  # this is the held step
    blocked: str  # why its principal is, where that is enforced
    operation: str  # that the hint names
    repetition: str  # the key by which repetition is counted
    verdict: LoopVerdict = REFUSE
    tier: Tier = Tier.ADVISORY
    after: Execution | None = None
    challenge: Challenge | None = None
    awaited: Ticket | None = None  # the ticket of the pause
    confirmation: dict[str, str] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def allows(self) -> str:
        more = f"{self.execution.quota} more steps of execution" if self.execution.quota > 1 else "one more step of"
        return f"a yes allows {more} {self.execution.id}"

    @property
    def context(self) -> StepContext:
        step, run, pause = self.step, self.execution, self.pause
        human = Human(pause.human) if pause and self.same else Human.NONE
        cools = self.same and human is Human.NONE  # only that, which the policy asks for by itself
        words = f"{pause.reason or 'a step is held'} (waits for {pause.id})" if pause and not cools else ""
        given = {"outcome": step.outcome, "description": step.description, "findings": step.findings}
        texts = {key: redact_text(value)[:TEXT_CHARS] for key, value in given.items() if value}
        return StepContext(
            steps_left=run.max_steps - run.steps,
            previous=step.outcome,
            repeats=int(run.tally.get(self.repetition, 0)),
            cumulative=run.risk,
            pause=words,
            pause_human=human,
            more=run.quota,
            told={"number": run.steps + 1, **texts},
        )


def validate_step(step: ReportedStep) -> ReportedStep:
    """Refuses a hint without anything visible."""
    hint = step.hint.strip() if isinstance(step.hint, str) else ""
    if not any(unicodedata.category(char)[0] not in "CZ" for char in hint):
        words = "Missing required parameter 'next_action_hint': say in detail which action comes next"
        raise LoopProblem("VALIDATION_MISSING_PARAM", words, {"param_name": "next_action_hint", "operation": RECORD})
    return replace(step, hint=hint)


def read_report(state: State, by: InForce, agent: AgentRef, step: ReportedStep) -> StepReport:
    """Refuses an agent that runs nothing in this session."""
    now, action = state.clock.now(), intent(step.hint, step.cwd)
    enforcing = by.mode == "enforcing"

    def work(tx: Tx) -> tuple[Execution, Pause | None, str]:
        found = tx.executions(agent, live=True)
        if (mine := agents.current_execution(tx, agent, found)) is None:
            raise agents.no_execution_error(agent)
        held = agents.pause_in_force(tx, agent, found, now) if enforcing else None
        block = tx.block(agent.principal) if enforcing else None  # also one that another replica made just now
        pause = held[1] if held else None
        return agents.lift_ended_pause(tx, mine, now) if enforcing else mine, pause, block.reason if block else ""

    execution, pause, blocked = state.store.read(work)
    judgement, names = state.reader.read(action)
    judged = Judged(Request(action, agent, ""), judgement, names, None, now, by)
    same = pause is not None and pause.digest == identify(state, judged).digest
    name, key = operation_name(step.hint, names) or RECORD, repetition_key(step.hint, names)
    return StepReport(state, by, agent, step, execution, pause, same, blocked, name, key)
