"""Seed 003's DestructiveGate: its names, settings and nine steps on the common evaluation path (2.10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, Unpack

from msgspec import Struct, field
from msgspec.structs import fields

from interlock.client import NoDaemon, find_daemon
from interlock.config import Config, config_of, state_folder
from interlock.model import Confidential, Decision, Human
from interlock.policy.policy import Severities
from interlock.policy.registry import Registry
from interlock.records import Ticket
from interlock.schema import shown_table
from interlock.sdk import GateError, SignedInSession
from interlock.sdk.gate import PATIENCE, Folder, Gate, GateRegistry, folder_url
from interlock.sdk.in_process import InProcessBackend, open_in_process


class GateAnswer(Confidential, Struct, frozen=True):
    """The answer in the seed's words; true only when the action may run."""

    HIDDEN = ("decision",)

    allowed: bool
    reason: str
    pending_id: str | None = None
    wait_ms: int | None = None
    requires_approval: bool = False
    approvers: tuple[str, ...] = ()
    denied_patterns: tuple[Mapping[str, Any], ...] = ()
    can_rollback: bool = False
    decision: Decision = field(default_factory=lambda: Decision("deny", ""))

    def __bool__(self) -> bool:
        return self.allowed


class SeedSettings(TypedDict, total=False):
    """The seed's settings; `Severities` has their meaning and defaults."""

    enabled: bool
    default_cooling_off_ms: int
    max_cooling_off_ms: int
    require_approval_for_critical: bool
    allowed_approvers: Iterable[str]
    auto_expire_ms: int
    bypass_for_trust_tiers: Iterable[str]
    block_on_match_failure: bool


class DestructiveGate:
    """A gate by the names of actions alone: in this process, by these settings, in a state folder of its own."""

    def __init__(
        self, *, folder: Folder = None, registry: Registry | None = None, **given: Unpack[SeedSettings]
    ) -> None:
        """Opens; raises GateError where another process decides in that folder, and ConfigError for invalid settings."""
        config = settings(folder, **given)
        self._gate = Gate._over(open_in_process(config, registry, silence=_own_store(config)))

    def evaluate(self, agent: str, action: str, resource: str = "", pending_id: str | None = None) -> GateAnswer:
        """A retry names the pending action that has cooled or was approved."""
        given = {"operation": action, "resource": resource or None, "pending_id": pending_id}
        return _answer(self._gate.for_agent(agent).evaluate(**given))  # type: ignore[arg-type]

    def sign_in(self, name: str, passphrase: str) -> SignedInSession:
        return self._gate.sign_in(name, passphrase)

    def approve(self, pending_id: str, session: SignedInSession, reason: str = "") -> Ticket:
        """A person's approval, signed; a name alone approves nothing."""
        return self._gate.approve(pending_id, session, reason)

    def reject(self, pending_id: str, session: SignedInSession, reason: str) -> Ticket:
        return self._gate.reject(pending_id, session, reason)

    def pending(self, pending_id: str) -> Ticket:
        """A pending action as it stands; `state` has the seed's words."""
        return self._backend().ticket(pending_id)

    def executed(self, pending_id: str, outcome: str = "done") -> Ticket:
        backend = self._backend()
        return backend.executed(pending_id, backend.ticket(pending_id).agent.name, outcome[:500])

    def trust(self, agent: str, tier: str, session: SignedInSession) -> None:
        """Gives an agent a trust tier, by an admin; what it skips is up to `bypass_for_trust_tiers` (R-14)."""
        self._backend().trust(session, agent, tier)

    def get_metrics(self) -> dict[str, Any]:
        """The seed's figures, with its names."""
        return self._gate.metrics()

    @property
    def registry(self) -> GateRegistry:
        return self._gate.registry

    def close(self) -> None:
        self._gate.close()

    def __enter__(self) -> DestructiveGate:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _backend(self) -> InProcessBackend:
        backend = self._gate._shared.backend()
        assert isinstance(backend, InProcessBackend)
        return backend


def settings(folder: Folder = None, **given: Unpack[SeedSettings]) -> Config:
    """The configuration for the seed's settings; each one is validated."""
    keys = {one.name: one.encode_name for one in fields(Severities)}
    said = {
        keys.get(name, name): list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value
        for name, value in given.items()
    }
    place = folder_url(folder if folder is not None else state_folder())
    return config_of({"store": {"url": place}, "policy": {"use": "spec"}, "gate": shown_table(Severities()) | said})


def _own_store(config: Config) -> str:
    """The reason why no daemon decides here; raises GateError where one does, because it would not know these settings."""
    try:
        find_daemon(config).ask("GET", "/status", None, PATIENCE)
    except NoDaemon as error:
        return str(error)
    words = "by its own settings: set [gate] there and use Gate, or give folder="
    raise GateError(f"a daemon decides in {config.folder}, {words}")


def _answer(decision: Decision) -> GateAnswer:
    asked, held = decision.requirement, not decision.allowed
    human = held and asked.human > Human.NONE
    return GateAnswer(
        allowed=decision.allowed,
        reason=decision.reason,
        pending_id=decision.ticket.id if decision.ticket else None,
        wait_ms=round(decision.wait_seconds * 1000) or None,
        requires_approval=human,
        approvers=tuple(sorted(asked.approvers) or ("human",)) if human else (),
        denied_patterns=tuple(dict(pattern) for pattern in decision.patterns) if held else (),
        can_rollback=decision.can_rollback,
        decision=decision,
    )
