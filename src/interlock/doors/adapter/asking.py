"""May this operation be performed? The daemon is asked each time; what it does not allow, in words that can be read, is not done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.doors.adapter.failing import Failure, failure_of
from interlock.doors.client import Answer, Daemon, NoDaemon
from interlock.service.loop.problem import how_confirmed

SILENT = "Interlock's daemon does not answer, so nothing is done. A person starts it with 'interlock serve'."


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks: an agent by the name it has here, in the session that this server made."""

    daemon: Daemon
    agent: str
    session: str

    def passage(self, adapter: str, operation: str, crude: str, params: Mapping[str, Any], token: str) -> str:
        """The ticket that was spent, if one was; raises Failure unless the answer is a plain yes."""
        given = {**params, "_confirmation": token} if token else dict(params)
        body = {
            "adapter": adapter,
            "operation": operation,
            "crude": crude.upper(),
            "params": given,
            "agent": {"name": self.agent, "session": self.session},
        }
        answer = self._ask("POST", "/evaluate", body)
        said = answer.body if isinstance(answer.body, Mapping) else {}
        if answer.status == 200 and said.get("allowed") is True:
            return str(said.get("pendingId", ""))
        raise _refusal(said, adapter, operation)

    def room(
        self, adapter: str, operation: str, file: str, token: str = "", count: bool = False
    ) -> list[dict[str, Any]]:
        """Warnings, where the service may be asked once more; raises Failure where it may not."""
        body = {"adapter": adapter, "operation": operation, "file": file, "token": token, "count": count}
        answer = self._ask("POST", "/quota", body | {"agent": self.agent, "session": self.session})
        said = answer.body if isinstance(answer.body, Mapping) else {}
        if answer.status == 200 and said.get("allowed") is True:
            return list(said.get("warnings", ()))
        raise _paused(failure_of(said))

    def standing(self, adapter: str) -> Mapping[str, Any]:
        """Trust, limits and quotas as the daemon has them; nothing for an adapter that it does not know."""
        try:
            found = self.daemon.ask("GET", f"/quota?adapter={_quoted(adapter)}")
        except NoDaemon:
            return {}
        return found.body if found.status == 200 and isinstance(found.body, Mapping) else {}

    def done(self, ticket: str, outcome: str) -> None:
        """Tells what became of a ticket that was spent; nothing depends on it."""
        try:
            self.daemon.ask("POST", f"/tickets/{_quoted(ticket)}/executed", {"outcome": outcome, "agent": self.agent})
        except NoDaemon:
            return

    def _ask(self, method: str, path: str, body: Mapping[str, Any]) -> Answer:
        try:
            return self.daemon.ask(method, path, body)
        except NoDaemon:
            raise Failure("PERMISSION_DENIED", SILENT, {"reason": "no answer"}) from None


def _refusal(said: Mapping[str, Any], adapter: str, operation: str) -> Failure:
    """The daemon's no, in the words of seed 000's 4.3 and 4.4 where they fit."""
    found = failure_of(said)
    if found.code == "PERMISSION_DANGER_LEVEL_DENIED" and "danger_level" in found.details:
        level, trust = found.details["danger_level"], found.details.get("adapter_trust")
        found.message = f"Operation '{operation}' (danger: {level}) denied for adapter trust level '{trust}'"
    elif found.code == "PERMISSION_TRUST_LEVEL_INSUFFICIENT" and "actual_trust" in found.details:
        trust, needed = found.details["actual_trust"], found.details.get("required_trust")
        found.message = f"Operation '{operation}' needs adapter trust level '{needed}'; '{adapter}' is '{trust}'"
    elif found.code == "CONFIRMATION_REQUIRED" and said.get("pendingId"):
        found.message = how_confirmed(str(said["pendingId"])[:80])
    elif found.code == "PERMISSION_DENIED" and isinstance(said.get("reason"), str):
        found.details.setdefault("reason", said["reason"][:500])
    return found


def _paused(found: Failure) -> Failure:
    """2.9: what a retry carries stands beside the error as well."""
    token = found.details.get("confirmation_token")
    if token:
        found.confirmation = {
            "token": token,
            "expires_at": found.details.get("expires_at", ""),
            "message": found.message,
        }
    return found


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")
