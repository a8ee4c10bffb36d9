"""What did a human confirm for a whole session? Restriction patterns of one tool, until their time is over (seed 002's approvalPolicy)."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from interlock.core.digest import normal_name
from interlock.core.model import Action, AgentRef, Kind, Level
from interlock.core.ticket import BY_TIME
from interlock.core.waive import CONFIRM_PATTERN

if TYPE_CHECKING:
    from interlock.core.decision import Decision
    from interlock.core.policy import Restriction
    from interlock.core.weigh import Weighed
    from interlock.service.request import Judged

SECONDS = 3_600  # where the policy names no time
MOST = 10_000
Session = tuple[str, str, str]  # principal, name, session


class Confirmed:
    """Kept in this process alone: a restart, a reject and a revoke forget it, and another replica asks by itself."""

    def __init__(self) -> None:
        self._until: dict[tuple[Session, str, str], float] = {}  # pattern and tool
        self._lock = threading.Lock()

    def patterns(self, agent: AgentRef, action: Action, now: float) -> frozenset[str]:
        """The patterns that need not be confirmed again for this tool; none for an agent that claims no session."""
        if not self._until or not agent.session:
            return frozenset()
        who, tool = _session(agent), tool_of(action)
        with self._lock:
            return frozenset(
                pattern
                for (session, pattern, of), until in self._until.items()
                if (session, of) == (who, tool) and now < until
            )

    def remember(self, restriction: Restriction, judged: Judged, weighed: Weighed, decision: Decision) -> None:
        """After a ticket that a human answered was spent: what its patterns asked for is answered for the session."""
        agent, level, ticket = judged.request.agent, judged.judgement.assessment.level, decision.ticket
        if restriction.scope != "session" or not agent.session or level > Level.DESTRUCTIVE:
            return
        if not decision.allowed or ticket is None or ticket.decided_by in ("", BY_TIME):
            return
        asked = [part.pattern for part in weighed.parts if part.name == CONFIRM_PATTERN and part.pattern]
        self._put(
            _session(agent), asked, tool_of(judged.request.action), judged.now, restriction.ttl_seconds or SECONDS
        )

    def forget(self, agent: AgentRef) -> None:
        """Everything that was confirmed for this session: somebody said no to it."""
        who = _session(agent)
        with self._lock:
            self._until = {key: until for key, until in self._until.items() if key[0] != who}

    def _put(self, who: Session, patterns: Iterable[str], tool: str, now: float, seconds: int) -> None:
        with self._lock:
            for pattern in patterns:
                self._until[who, pattern, tool] = now + seconds
            if len(self._until) > MOST:
                live = {key: until for key, until in self._until.items() if now < until}
                self._until = dict(list(live.items())[-MOST:])


def tool_of(action: Action) -> str:
    """The tool that a pattern speaks of; a command is the shell's."""
    if action.kind is Kind.COMMAND:
        return "Bash"
    return action.text if action.kind in (Kind.TOOL, Kind.OPERATION) else action.kind.value


def _session(agent: AgentRef) -> Session:
    return agent.principal, normal_name(agent.name), agent.session
