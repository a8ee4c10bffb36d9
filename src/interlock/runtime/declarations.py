"""Steps that agents declared in the loop's open executions, compared with the calls they make."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct, field

from interlock.canonical_json import normal_name
from interlock.model import AgentRef, Level, intent
from interlock.policy.circumstances import Contribution
from interlock.policy.declared_steps import DeclaredStep, compare_with_declared, declared_step
from interlock.redaction import redact_text
from interlock.runtime import put_bounded

if TYPE_CHECKING:
    from interlock.runtime import Judged
    from interlock.runtime.state import State

# A call comes from a hook or a proxy, a report from an MCP connection, and only the principal is proved to be the same. So a call
# belongs to an execution where the principal is that agent's alone (a token's), where its session has reported under that name, or,
# behind a proxy, where it has that name. All other calls are compared with nothing.

HOOK, PROXY = "hook", "proxy"  # interfaces that see the calls themselves; a hook sees calls to the loop as well
MOST = 1_000  # executions, and sessions, in memory
HINTS = 3  # steps of an execution that a call may belong to: calls run beside each other, and late
HINT_LENGTH = 120  # characters of a call in the message
_SHARED = "uid:"  # how a principal begins that several agents may have

Key = tuple[str, str, str]


class Declarations(Struct):
    """Steps reported in this process; after a restart, comparison resumes with the next report."""

    executions: dict[Key, deque[DeclaredStep]] = {}
    _names: dict[tuple[str, str], str] = {}  # principal, session of a call
    _failed: dict[tuple[str, str], str] = {}  # principal, name -> the last call
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def opened(self, agent: AgentRef) -> None:
        with self._lock:
            put_bounded(self.executions, _key(agent), deque(maxlen=HINTS), MOST)

    def reported(self, agent: AgentRef, hint: DeclaredStep) -> None:
        if (key := _key(agent)) not in self.executions:
            self.opened(agent)
        with self._lock:
            self.executions.setdefault(key, deque(maxlen=HINTS)).append(hint)

    def closed(self, agent: AgentRef) -> None:
        with self._lock:
            self.executions.pop(_key(agent), None)

    def linked(self, principal: str, session: str, name: str) -> None:
        if session and name:
            with self._lock:
                put_bounded(self._names, (principal, session), normal_name(name), MOST)

    def failed(self, agent: AgentRef, words: str) -> None:
        """The next step's answer mentions it."""
        with self._lock:
            name = self._names.get((agent.principal, agent.session), "")
            if any(key[:2] == (agent.principal, name) for key in self.executions):
                put_bounded(self._failed, (agent.principal, name), redact_text(words)[:HINT_LENGTH], MOST)

    def failure(self, agent: AgentRef) -> str:
        """The call that failed since the last step, once."""
        with self._lock:
            return self._failed.pop((agent.principal, normal_name(agent.name)), "")

    def steps_of(self, agent: AgentRef, door: str) -> Sequence[DeclaredStep] | None:
        """None where the caller has no open execution."""
        if not self.executions:
            return None
        with self._lock:
            name = self._names.get((agent.principal, agent.session), "")
            if not name and door == PROXY:
                name = normal_name(agent.name)
            exclusive = not agent.principal.startswith(_SHARED)
            found = [
                hints
                for (principal, own, _), hints in self.executions.items()
                if principal == agent.principal and (exclusive or own == name)
            ]
            return list(chain.from_iterable(found)) if found else None


def report(state: State, agent: AgentRef, hint: str, cwd: str) -> None:
    """Whatever the answer: it is the agent's claim about its next call."""
    action = intent(hint, cwd)
    state.declarations.reported(agent, declared_step(action, state.reader.read(action)[0]))


def find_difference(state: State, judged: Judged) -> Contribution | None:
    """None for calls outside the loop."""
    request = judged.request
    if request.door not in (HOOK, PROXY) or judged.assessment.level is Level.SAFE:
        return None
    hints = state.declarations.steps_of(request.agent, request.door)
    if hints is None:
        return None
    return compare_with_declared(request.action, judged.judgement, hints, judged.in_force.loops.mismatch)


def _key(agent: AgentRef) -> Key:
    return agent.principal, normal_name(agent.name), agent.session
