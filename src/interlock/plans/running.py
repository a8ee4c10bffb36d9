"""Runs a released plan in the daemon or at the person's terminal, and records its end; refuses input that would be executed."""

from __future__ import annotations

import os
import unicodedata

from msgspec import Struct

from interlock.analysis.facts import Command, Effect, Fact
from interlock.analysis.programs.load import describe, program_set
from interlock.analysis.shell.interpreters import is_interpreter
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.isolation import SEPARATE
from interlock.identity.sessions import OperatorSession
from interlock.model import Level, command
from interlock.plans import INVALID, USED, history
from interlock.plans.history import record_end
from interlock.plans.process import RunningCommand, environment
from interlock.plans.releasing import PlanConsent, own_principal, release
from interlock.records.plans import DAEMON, FAILURE, INTERRUPTED, NO_EXIT, RUNNING, SUCCESS, TERMINAL, PlanRow
from interlock.runtime.plan_desk import MOST_RUNNING, ReviewedPlan
from interlock.runtime.state import State

MOST_ENDED = 20  # ended processes whose output can still be followed
CANNOT_START = 126
_AGENT = "plan"  # as the journal calls who ran it
MOST_TYPED = 1_000  # characters of a line


class RunProgress(Struct, frozen=True):
    text: str
    next: int
    status: str
    exit_code: int = NO_EXIT
    seconds: float = 0.0
    cut: bool = False


def why_not_here(state: State, elsewhere: bool = False) -> str:
    """Empty where this daemon runs plans for a browser."""
    settings = state.plans.settings
    instead = "Run it with `interlock ask` at a terminal of your own, or copy the command."
    if state.strength == SEPARATE:
        return f"This daemon has a user of its own, and runs nothing as that user. {instead}"
    if state.shared:
        return f"This daemon is one of several that people share, and runs nothing. {instead}"
    if not settings.run_in_console:
        return f"Running from the console is switched off (plan.run_in_console). {instead}"
    if elsewhere and not settings.run_from_elsewhere:
        return f"You are not at this machine, and nothing is run for elsewhere (plan.run_from_elsewhere). {instead}"
    return ""


def start(state: State, by: OperatorSession, id: str, yes: PlanConsent, elsewhere: bool = False) -> ReviewedPlan:
    """As the daemon's user, in its own terminal; raises AnswerRefused or PlanHeld, and then nothing ran."""
    if why := why_not_here(state, elsewhere):
        raise AnswerRefused(why)
    plan = state.plans.of(by.operator, id)
    if not os.path.isdir(plan.cwd):
        raise AnswerRefused(f"there is no folder {plan.cwd}", INVALID)
    if sum(not one.over for one in state.plans.processes.values()) >= MOST_RUNNING:
        raise AnswerRefused(f"{MOST_RUNNING} commands are running; wait for one, or cancel it", "RATE_LIMIT_EXCEEDED")
    plan = release(state, by, id, yes, DAEMON, own_principal())
    spawn(state, plan)
    return plan


def spawn(state: State, plan: ReviewedPlan) -> RunningCommand | None:
    """None where that failed, which the history records."""
    assert plan.status == RUNNING  # only `release` makes it so
    settings = state.plans.settings
    journal = None if plan.reviewed.assessment.flags.escalates_privileges else state.plans.journal(_AGENT)

    def over(code: int, stopped: bool, output: str, cut: bool) -> None:
        try:
            undo = journal.id() if journal else ""
            record_end(state, plan.id, *_ending(code, stopped), output, cut, plan.operator, undo)
        except Exception as error:
            state.trouble(f"the end of a plan could not be stored: {error}", "store")

    below, most, seconds = journal.argv if journal else list, settings.output_bytes, settings.max_minutes * 60
    try:
        process = RunningCommand(plan.command, plan.cwd, environment(os.environ), most, seconds, over, below)
    except OSError as error:
        words = f"It could not be started: {error.strerror}"
        record_end(state, plan.id, FAILURE, CANNOT_START, words, False, plan.operator)
        return None
    with state.plans.lock:
        gone = [id for id, one in state.plans.processes.items() if one.over]
        for id in gone[:-MOST_ENDED]:
            del state.plans.processes[id]
        state.plans.processes[plan.id] = process
    return process


def follow(state: State, by: OperatorSession, id: str, start: int) -> RunProgress:
    """A run's new output and state; of one that ended longer ago, as the history has it."""
    row = state.store.read(lambda tx: tx.plan(id))
    if row is None or row.operator != by.operator:
        raise NotFound(f"no plan {id!r:.80} of yours")
    text, at, cut = row.output if start == 0 else "", len(row.output), row.cut
    if process := state.plans.processes.get(id):
        (text, at), cut = process.output(start), process.cut
    return RunProgress(text, at, row.status, row.exit_code, seconds_of(state, row), cut)


def seconds_of(state: State, row: PlanRow) -> float:
    return max(0.0, (row.ended_at or state.clock.now()) - row.started_at) if row.started_at else 0.0


def cancel(state: State, by: OperatorSession, id: str) -> None:
    state.plans.of(by.operator, id)
    _running_here(state, id).cancel()


def _running_here(state: State, id: str) -> RunningCommand:
    if (process := state.plans.processes.get(id)) is None or process.over:
        raise AnswerRefused("this command is not running here")
    return process


def type_line(state: State, by: OperatorSession, id: str, text: str, elsewhere: bool = False) -> None:
    """Refuses input that would run as a command, for nobody reviewed it."""
    if why := why_not_here(state, elsewhere):
        raise AnswerRefused(why)
    plan = state.plans.of(by.operator, id)
    if len(text) > MOST_TYPED or any(unicodedata.category(sign) == "Cc" for sign in text):
        raise AnswerRefused(f"type one line of at most {MOST_TYPED} characters", INVALID)
    if any(map(_reads_commands, state.reader.read(command(plan.command, plan.cwd), None)[0].facts)):
        why = "what is typed into this would run, and nobody reviewed it"
        raise AnswerRefused(f"{why}: make a plan of it, or use your terminal")
    if state.reader.read(command(text, plan.cwd), None)[0].assessment.level >= Level.DESTRUCTIVE:
        why = "a shell that reads this would destroy something"
        raise AnswerRefused(f"{why}: make a plan of it, or use your own terminal")
    process = _running_here(state, id)
    details = {"plan": id, "characters": len(text)}  # what was typed may be a password
    state.recorder.event_alone("plan_input", by.operator, details)
    if not process.type(text):
        raise AnswerRefused("the command takes no input now")


def release_to_terminal(
    state: State, by: OperatorSession, id: str, yes: PlanConsent, pid: int = 0, runs_as: str = ""
) -> ReviewedPlan:
    """Lets a plan run at the person's own terminal, by the process `pid`, which reports its end with `done` or loses its lease.

    `runs_as` is that process's user, as the kernel reports it; targets of a terminal on another machine are not inspected or saved here.
    """
    plan = release(state, by, id, yes, TERMINAL, runs_as)
    history.watch_terminal(state, plan.id, pid)
    return plan


def end_at_terminal(state: State, by: OperatorSession, id: str, code: int, stopped: bool = False) -> PlanRow:
    row = state.store.read(lambda tx: tx.plan(id))
    if row is None or row.operator != by.operator or row.place != TERMINAL:
        raise NotFound(f"no plan {id!r:.80} of yours runs at a terminal")
    if row.status not in (RUNNING, INTERRUPTED) or row.exit_code != NO_EXIT:
        raise AnswerRefused(f"this plan is {row.status}", USED)
    after = record_end(state, id, *_ending(code, stopped), "", False, by.operator)
    assert after is not None
    return after


def stop_all(state: State) -> None:
    with state.plans.lock:
        processes = [one for one in state.plans.processes.values() if not one.over]
    for process in processes:
        process.cancel()
    for process in processes:
        process.wait(8)


def _ending(code: int, stopped: bool) -> tuple[str, int]:
    """As a shell has it: 128 and its number for a signal."""
    return INTERRUPTED if stopped else SUCCESS if code == 0 else FAILURE, 128 - code if code < 0 else code


def _reads_commands(fact: Fact) -> bool:
    """Typed input could run in this part of a command; an unreadable one counts."""
    if isinstance(fact, Effect):
        return fact.verb == "unreadable"
    if not isinstance(fact, Command):
        return False
    for one in describe(fact.program).carries:
        if one.stdin == "shell" and one.any_flag:
            return not set(one.any_flag).isdisjoint(fact.words)
    name = fact.program.rstrip("0123456789.") or fact.program  # python3.12
    return is_interpreter(fact.program) or not {fact.program, name}.isdisjoint(program_set("interactive"))
