"""Rows that stores keep: tickets, approvals, operators, agents, grants, snapshots, loop state, audit, deliveries. Times are seconds since 1970."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from interlock.model import NOTHING, AgentRef, Json, Level, Requirement, TicketState

OPEN_STATES = (TicketState.COOLING, TicketState.WAITING)


class Ticket(Struct, frozen=True):
    """A held action, bound to its digest, spent once. Its state is an index: only signed approvals allow."""

    id: str  # pdact_…
    digest: str
    agent: AgentRef
    state: TicketState
    requirement: Requirement
    opened_at: float
    expires_at: float  # until when a human can answer; once approved, until when it can be spent
    level: Level
    irreversible: bool = False
    cooling_ends_at: float = 0.0
    title: str = ""  # one line for a person, without secrets
    reason: str = ""
    action: Json = NOTHING  # as judged, without secrets
    findings: tuple[Json, ...] = ()
    factors: tuple[str, ...] = ()
    effect_keys: tuple[str, ...] = ()  # effect, target and place, as text: what a denial binds
    door: str = ""
    operation: str = ""
    adapter: str = ""
    adapter_trust: str = "none"
    params_hash: str = ""
    token_hash: str = ""  # of its confirmation token, conf_…
    shown_hash: str = ""  # of the text shown to a person
    severity: str = ""
    categories: tuple[str, ...] = ()
    patterns: tuple[Json, ...] = ()  # registry matches, as on the wire
    policy: str = ""
    rulebook: str = ""
    execution: str = ""
    strength: str = "plain"  # isolation between the gate and the caller
    witnesses: tuple[Json, ...] = ()
    decided_at: float = 0.0
    decided_by: str = ""
    decision_reason: str = ""
    spent_at: float = 0.0
    executed_at: float = 0.0
    outcome: str = ""
    seal: str = ""  # binds digest and times, so that a row whose cooling-off was shortened frees nothing
    version: int = 0  # compare-and-set

    def __str__(self) -> str:
        return f"{self.id} ({self.state.value}): {self.title}"

    @property
    def open(self) -> bool:
        return self.state in OPEN_STATES


class Approval(Struct, frozen=True):
    """One operator's signed statement about one ticket, stored byte for byte."""

    ticket: str
    operator: str
    verdict: str  # approve or reject
    statement: str  # canonical JSON
    signature: str  # hex
    key_id: str
    channel: str
    at: float
    expires_at: float
    reauth: bool = False  # with step-up


class OperatorRow(Struct, frozen=True):
    """An operator or an enrolled service; sealed, so that a row edited outside Interlock is refused."""

    name: str
    public_key: str  # hex, Ed25519
    key_id: str
    salt: str  # hex
    kdf: str  # argon2id:t,m,p
    wrapped: str  # the seal's key under this operator's passphrase
    roles: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    service: bool = False
    created_at: float = 0.0
    created_by: str = ""
    disabled_at: float = 0.0
    seal: str = ""


class Credential(Struct, frozen=True):
    """A passkey or an authenticator of an operator; sealed, except for its counter and last use."""

    id: str
    operator: str
    kind: str  # passkey or totp
    public: Json = NOTHING
    created_at: float = 0.0
    used_at: float = 0.0
    counter: int = 0  # of a passkey its own, of an authenticator the last time step that was used
    seal: str = ""
    name: str = ""
    how: str = ""  # the channel of its registration
    source: str = ""  # of its registration
    active_at: float = 0.0  # valid from then on
    removed_at: float = 0.0


class SealedSession(Struct, frozen=True):
    """A session, a set-up link or a ceremony that replicas share; only its token and an unlocked daemon open the box."""

    mark: str  # hash of the token
    kind: str
    owner: str  # an operator; empty for a ceremony
    box: str
    seen_at: float
    ends_at: float


class AgentRow(Struct, frozen=True):
    """Its trust tier is set by an operator."""

    principal: str
    name: str
    trust_tier: str = ""
    first_seen: float = 0.0
    last_seen: float = 0.0
    token_hash: str = ""  # of its agent token, where it has one
    revoked_at: float = 0.0
    settings: Json = NOTHING


class Block(Struct, frozen=True):
    """The block of a principal, until an operator lifts it (OOB-09 to OOB-11)."""

    principal: str
    reason: str
    since: float
    by: str
    name: str = ""
    challenge: str = ""
    lifted_at: float = 0.0
    lifted_by: str = ""


class Challenge(Struct, frozen=True):
    """Frees a paused or blocked agent when a human enters its code; the code itself is never here."""

    id: str
    agent: AgentRef
    kind: str  # verify or block
    reason: str
    opened_at: float
    expires_at: float
    execution: str = ""
    digest: str = ""  # of the hint that it is about
    code_hash: str = ""  # of the valid code; empty while there is none
    minted_at: float = 0.0
    state: str = "open"  # open, verified, answered, expired, aborted
    attempts: int = 0  # wrong codes
    release: str = ""  # sealed under the code


class Notification(Struct, frozen=True):
    """A notification that an agent gets with its next directive (AE-10 to AE-13)."""

    id: int
    principal: str
    name: str
    type: str
    message: str
    at: float
    metadata: Json = NOTHING
    delivered_at: float = 0.0
    cleared_at: float = 0.0


class Execution(Struct, frozen=True):
    id: str
    agent: AgentRef
    status: str
    started_at: float
    max_steps: int
    steps: int = 0  # completed
    risk: int = 0
    goal: Json = NOTHING
    finished_at: float = 0.0
    pause: Json = NOTHING
    version: int = 0
    quota: int = 0  # steps that one confirmation grants
    tally: Json = NOTHING  # operation -> how often
    ended: Json = NOTHING  # outcome, summary, reason

    @property
    def steps_left(self) -> int:
        return max(0, self.max_steps - self.steps)


class Grant(Struct, frozen=True):
    """An advance approval of an effect on targets: up to a level, a number of uses and a time."""

    id: str
    effect: str
    targets: tuple[str, ...]
    ceiling: Level
    by: str
    why: str
    created_at: float
    expires_at: float
    environment: str = ""
    remaining: int = 1
    principal: str = ""
    name: str = ""
    session: str = ""
    digests: tuple[str, ...] = ()  # of a frozen plan
    revoked_at: float = 0.0
    revoked_by: str = ""
    statement: str = ""
    signature: str = ""
    key_id: str = ""


class HistoryEntry(Struct, frozen=True):
    """One evaluated action in an agent's history, the basis of all counts."""

    agent: AgentRef
    operation: str
    level: Level
    score: int
    outcome: str
    at: float
    execution: str = ""
    effect_keys: tuple[str, ...] = ()
    severity: str = ""
    categories: tuple[str, ...] = ()


class AgentTotals(Struct, frozen=True):
    """Since its first action, by the names of the figures."""

    principal: str
    name: str  # normalised
    figures: Json
    last_at: float = 0.0


class AuditRow(Struct, frozen=True):
    """One record of the chain; `hash` covers everything else, `prev` the record before it by the same writer."""

    writer: str
    seq: int
    at: float
    event: str
    body: str  # canonical JSON, without secrets
    prev: str
    hash: str
    key_id: str = ""
    schema: int = 1
    rulebook: str = ""
    policy: str = ""


class Checkpoint(Struct, frozen=True):
    """A signed list of every writer's head, and of the last pruned record."""

    id: int
    at: float
    heads: Json  # writer -> {seq, hash}
    floors: Json  # writer -> {seq, hash}: the last pruned record
    signature: str
    key_id: str


class Counts(Struct, frozen=True):
    repeats: int = 0
    hourly: int = 0
    cumulative: int = 0
    forbidden: int = 0


class Denial(Struct, frozen=True):
    """A held or rejected effect on a target; a retry meets the same ticket (R-22)."""

    effect_key: str
    principal: str
    session: str
    ticket: str
    at: float
    until: float
    folder: str = ""  # working directory of the agent
    rejected_at: float = 0.0  # by a person; 0 while it only waits
    tries: int = 0  # in other words, since

    @property
    def key(self) -> tuple[str, str, str]:
        """Beside its principal."""
        return self.effect_key, self.session, self.ticket


class TicketQuery(Struct, frozen=True):
    """Empty means all."""

    states: tuple[TicketState, ...] = ()
    principal: str = ""
    name: str = ""
    before: float = 0.0
    limit: int = 100
    prefix: str = ""  # of the id


class AuditQuery(Struct, frozen=True):
    writer: str = ""
    after_seq: int = -1
    event: str = ""
    since: float = 0.0
    until: float = 0.0
    text: str = ""
    limit: int = 1000
    newest_first: bool = False


ANSWERED_WITHIN = (10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400)  # seconds; longer is "inf"


class Figures(Struct, frozen=True):
    """Seed 003's metrics, from stored data."""

    total_checked: int = 0
    destructive_detected: int = 0
    blocked_by_cooling: int = 0
    blocked_by_approval: int = 0
    approved: int = 0
    rejected: int = 0
    expired: int = 0
    executed: int = 0
    by_severity: Json = NOTHING
    by_category: Json = NOTHING
    by_decision: Json = NOTHING  # "outcome:level" -> how many
    answers: Json = NOTHING  # "verdict:seconds" -> answers within that time, and not within the next shorter one
    answer_ms: Json = NOTHING  # verdict -> total time to answer


KEPT, UNDONE, PRUNED = "kept", "undone", "pruned"
STATES = (KEPT, UNDONE, PRUNED)
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"  # of an id behind its `u_`
PREFIX, LETTERS = "u_", 10


class Snapshot(Struct, frozen=True):
    """Its command is stored without secrets."""

    id: str  # u_…
    at: float
    principal: str
    name: str
    session: str
    cwd: str
    command: str
    digest: str  # SHA-256 of its manifest, as it was when it was verified
    files: int = 0
    bytes: int = 0
    state: str = KEPT
    machine: str = ""  # where its files are
    undoes: str = ""  # the snapshot whose restore this one precedes; empty for an agent's action
    ended_at: float = 0.0  # when it was undone or pruned
    ended_by: str = ""


class SnapshotQuery(Struct, frozen=True):
    """The newest first; an empty word means any."""

    state: str = ""
    principal: str = ""
    machine: str = ""
    actions: bool = False  # only those of agents' actions, not those of an undo
    before: float = 0.0
    limit: int = 50


QUEUED, SENDING = "queued", "sending"
SENT, FAILED, DROPPED, NEEDLESS = "sent", "failed", "dropped", "needless"
LEASE = 180.0  # seconds for one sender; then another process may try
# Seconds before the second try, the third …; after the last one it has failed.
AGAIN = (2.0, 10.0, 30.0, 120.0, 300.0, 600.0)
ENOUGH = 2  # failed tries, after which delayed channels are notified at once


class Delivery(Struct, frozen=True):
    """Sent once, by one channel."""

    id: str  # of the subject and the channel
    channel: str
    event: str
    about: str  # a ticket, a challenge, a principal; or nothing
    words: str  # of a past event; a waiting subject is read when the message is sent
    made_at: float
    due_at: float
    state: str = QUEUED
    tries: int = 0
    reason: str = ""  # why the last try failed
    done_at: float = 0.0
    version: int = 0  # compare-and-set

    @property
    def waits(self) -> bool:
        return self.state in (QUEUED, SENDING)

    @property
    def stuck(self) -> bool:
        """It failed, was dropped, or was tried often enough."""
        return self.state in (FAILED, DROPPED) or (self.waits and bool(self.reason) and self.tries >= ENOUGH)


def claim_delivery(row: Delivery, now: float) -> Delivery:
    return replace(row, state=SENDING, tries=row.tries + 1, due_at=now + LEASE, version=row.version + 1)


def finish_delivery(row: Delivery, state: str, now: float, reason: str = "") -> Delivery:
    return replace(row, state=state, done_at=now, reason=reason, version=row.version + 1)


def fail_delivery(row: Delivery, now: float, reason: str, hopeless: bool = False) -> Delivery:
    if hopeless or row.tries > len(AGAIN):
        return finish_delivery(row, FAILED, now, reason)
    return replace(row, state=QUEUED, due_at=now + AGAIN[max(0, row.tries - 1)], reason=reason, version=row.version + 1)
