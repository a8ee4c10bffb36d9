"""The nouns that every package shares, as immutable values: Action, Level, Finding, Assessment, Requirement, Decision."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct, to_builtins
from msgspec.structs import asdict

if TYPE_CHECKING:
    from interlock.policy.circumstances import Contribution
    from interlock.records import Ticket

Json = Mapping[str, Any]
NOTHING: Json = MappingProxyType({})
Span = tuple[int, int]  # start and end offset in the action's own text
Seconds = float  # an int where they are whole, as `times.seconds_of` makes them: what was sealed as 30 is not 30.0


class WordedEnum(IntEnum):
    @property
    def word(self) -> str:
        return self.name.lower()


class Level(WordedEnum):
    """How much harm an action can do (DL-01)."""

    SAFE = 0
    REVERSIBLE = 1
    DESTRUCTIVE = 2
    DANGEROUS = 3
    FORBIDDEN = 4


class Trust(WordedEnum):
    """How far an adapter or a server is trusted, lowest first (TL-01)."""

    UNTESTED = 0
    GENERATED = 1
    VALIDATED = 2
    COMMUNITY_REVIEWED = 3
    CERTIFIED = 4


TRUSTS = MappingProxyType({trust.word: trust for trust in Trust})


class Tier(StrEnum):
    """The safety tier of a score, by the normative cuts (AE-06)."""

    ADVISORY = "advisory"
    CONFIRM = "confirm"
    VERIFY = "verify"
    DANGER_ZONE = "danger_zone"


TIER_TOPS = (30, 60, 85)  # the last scores of the first three tiers
_TIERS = tuple(Tier)


def tier_of(score: int) -> Tier:
    return _TIERS[bisect_left(TIER_TOPS, score)]


class Category(StrEnum):
    """The kind of harm: the eight of X-05 and five of our own."""

    DATA_DELETION = "data_deletion"
    ACCESS_REVOCATION = "access_revocation"
    RESOURCE_TERMINATION = "resource_termination"
    CREDENTIAL_INVALIDATION = "credential_invalidation"
    CONFIG_DESTRUCTION = "config_destruction"
    COMMUNICATION_BLOCK = "communication_block"
    FINANCIAL_ACTION = "financial_action"
    ACCOUNT_ACTION = "account_action"
    PRIVILEGE_ESCALATION = "privilege_escalation"
    REMOTE_CODE_EXECUTION = "remote_code_execution"
    EXFILTRATION = "exfiltration"
    DISK_DESTRUCTION = "disk_destruction"
    HISTORY_REWRITE = "history_rewrite"


class Kind(StrEnum):
    COMMAND = "command"
    OPERATION = "operation"
    TOOL = "tool"
    INTENT = "intent"


class Loss(StrEnum):
    NONE = "none"
    RECOVERABLE = "recoverable"
    LOST = "lost"
    UNKNOWN = "unknown"


class Human(WordedEnum):
    NONE = 0
    CONFIRM = 1
    APPROVE = 2
    VERIFY = 3


class TicketState(StrEnum):
    """The state of a ticket, in the words of the wire (X-07)."""

    COOLING = "pending_cooling"
    WAITING = "pending_approval"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    SPENT = "executed"


PERSON = "person:"  # prefix of the principal of an operator's own plan; no interface authenticates an agent as one


class Confidential:
    """Beside Struct: the text of such a value leaves out the fields named in `HIDDEN`."""

    __slots__ = ()
    __struct_fields__: tuple[str, ...]
    HIDDEN: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in self.HIDDEN)
        return f"{type(self).__name__}({', '.join(shown)})"


class AgentRef(Struct, frozen=True):
    """The caller: authenticated by the interface (`principal`), and merely claimed (the rest)."""

    principal: str
    name: str = ""
    session: str = ""
    parent: str = ""

    @property
    def person(self) -> bool:
        """A signed-in operator with a plan of their own."""
        return self.principal.startswith(PERSON)


class Witness(Struct, frozen=True):
    path: str
    sha256: str


class Action(Struct, frozen=True):
    kind: Kind
    fields: Mapping[str, Any]
    cwd: str = ""
    witnesses: tuple[Witness, ...] = ()
    home: str = ""  # of the calling process, where the interface knows it: the meaning of `~`

    @property
    def text(self) -> str:
        return str(self.fields.get(_TEXT_FIELD[self.kind], ""))

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters of an operation, or the input of a tool."""
        given = self.fields.get("params") or self.fields.get("input")
        return given if isinstance(given, Mapping) else NOTHING


_TEXT_FIELD = MappingProxyType({**{kind: kind.value for kind in Kind}, Kind.INTENT: "hint"})


def command(text: str, cwd: str = "") -> Action:
    return Action(Kind.COMMAND, MappingProxyType({"command": text}), cwd)


def operation(
    name: str, params: Mapping[str, Any], crude: str = "", cwd: str = "", declared: Level | None = None
) -> Action:
    """A named operation that is about to be called; `crude` is its category where the caller knows it.

    `declared` is the level that an adapter's declaration comes to, by the trust it has; it replaces the meaning of the name.
    """
    fields = {"operation": name, "params": params, "crude": crude, "declared": declared}
    return Action(Kind.OPERATION, MappingProxyType(fields), cwd)


def tool(name: str, given: Mapping[str, Any], cwd: str = "") -> Action:
    return Action(Kind.TOOL, MappingProxyType({"tool": name, "input": given}), cwd)


def intent(hint: str, cwd: str = "") -> Action:
    return Action(Kind.INTENT, MappingProxyType({"hint": hint}), cwd)


class Finding(Struct, frozen=True):
    rule: str
    level: Level
    irreversible: bool
    reason: str
    category: Category | None = None
    span: Span | None = None
    subject: str = ""  # the effective command or effect that it fired on
    instead: str = ""
    undo: str = ""
    approvable: bool = True
    requirement: str = ""
    quoted: bool = False  # a command inside a sentence that says more


def finding_json(finding: Finding) -> dict[str, Any]:
    found = to_builtins(finding)
    del found["quoted"]
    return {"id": found.pop("rule"), **found, "span": list(finding.span) if finding.span else None}


def finding_factor(rule: str, reason: str) -> str:
    """A finding as a factor. The id comes last: `ssh.read_secret: Reads` would look like a secret and its value."""
    return f"{reason.removesuffix('.')} ({rule})"


class Flags(Struct, frozen=True):
    """The five booleans of a plan (X-09)."""

    destructive: bool = False
    touches_files: bool = False
    touches_network: bool = False
    escalates_privileges: bool = False
    requires_confirmation: bool = False


class EffectiveCommand(Struct, frozen=True):
    text: str
    via: tuple[str, ...] = ()
    span: Span | None = None


class Assessment(Struct, frozen=True):
    """A pure function of an action and the rules."""

    level: Level
    irreversible: bool
    score: int
    tier: Tier
    flags: Flags
    findings: tuple[Finding, ...] = ()
    factors: tuple[str, ...] = ()
    steps: tuple[EffectiveCommand, ...] = ()

    @property
    def approvable(self) -> bool:
        return all(finding.approvable for finding in self.findings)

    @property
    def harmful(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.level >= Level.DESTRUCTIVE]

    @property
    def unreadable(self) -> bool:
        return any("unreadable" in finding.rule for finding in self.findings)

    @property
    def categories(self) -> frozenset[Category]:
        return frozenset(finding.category for finding in self.findings if finding.category)

    @property
    def worst(self) -> Finding | None:
        return max(self.findings, key=lambda finding: finding.level, default=None)

    @property
    def can_rollback(self) -> bool:
        """X-08: the AND over everything that fired."""
        return not self.irreversible


ANYBODY = "human"  # as an approver: any operator who is a person
ADMIN = "role:admin"  # as an approver: an operator with that role


class Requirement(Struct, frozen=True):
    """What must happen before an action may run; joined field by field, so that order cannot matter."""

    cooling_seconds: Seconds = 0
    human: Human = Human.NONE
    approvers: frozenset[str] = frozenset()
    quorum: int = 0
    reauth: bool = False
    blocked: bool = False

    def join(self, other: Requirement) -> Requirement:
        return Requirement(
            cooling_seconds=max(self.cooling_seconds, other.cooling_seconds),
            human=max(self.human, other.human),
            approvers=self.approvers | other.approvers,
            quorum=max(self.quorum, other.quorum),
            reauth=self.reauth or other.reauth,
            blocked=self.blocked or other.blocked,
        )

    @property
    def open_to_anybody(self) -> bool:
        """Whether one person may answer it, whoever it is, without a fresh sign-in."""
        return not (self.approvers - {ANYBODY} or self.quorum > 1 or self.reauth or self.blocked)

    def is_plain_confirm(self, level: Level) -> bool:
        """Whether it is only a confirm, by anybody, at level 2 or below."""
        return self.human is Human.CONFIRM and self.open_to_anybody and level <= Level.DESTRUCTIVE

    @property
    def word(self) -> str:
        if self.blocked:
            return "block"
        if self.human is not Human.NONE:
            return self.human.word
        return "cool_off" if self.cooling_seconds else "allow"


def requirement_json(asked: Requirement) -> dict[str, Any]:
    return {"word": asked.word, **asdict(asked), "human": asked.human.word, "approvers": sorted(asked.approvers)}


_AGREEMENT = {
    "none": "nobody needs to agree",
    "confirm": "somebody has to confirm",
    "approve": "an operator has to approve",
    "verify": "an operator has to approve after a fresh sign-in",
}


def requirement_words(asked: object) -> str:
    """Who has to agree, and what else; of a requirement, or one as JSON."""
    if isinstance(asked, Requirement):
        asked = requirement_json(asked)
    if not isinstance(asked, Mapping):
        return str(asked or "")
    human, seconds = str(asked.get("human", "none")), asked.get("cooling_seconds")
    if asked.get("blocked"):
        return "nobody can agree to this"
    if human == "none" and seconds:
        return f"it passes by itself after {seconds} s, unless an operator objects"
    said = [_AGREEMENT.get(human, human)]
    who = [str(one) for one in asked.get("approvers") or () if one != ANYBODY]
    if who == [ADMIN]:
        said = [said[0].replace("an operator", "an admin").replace("somebody", "an admin")]
    elif who:
        said.append(f"one of {', '.join(who)}" if len(who) > 1 else who[0])
    if int(asked.get("quorum") or 0) > 1:
        said.append(f"{asked['quorum']} people")
    if asked.get("reauth") and human != "verify":
        said.append("a fresh sign-in")
    return ", ".join([*said, f"{seconds} s of cooling-off"] if seconds else said)


HELD = frozenset({"cool_off", "confirm", "approve", "verify"})
_OF_NAMES = "acts."  # begins the rules that read what an action is called


class Decision(Confidential, Struct, frozen=True):
    """The answer to one action."""

    HIDDEN = ("token",)

    outcome: str  # allow, cool_off, confirm, approve, verify, block, deny
    reason: str
    assessment: Assessment | None = None
    requirement: Requirement = Requirement()
    factors: tuple[str, ...] = ()
    ticket: Ticket | None = None
    wait_seconds: Seconds = 0
    patterns: tuple[Mapping[str, Any], ...] = ()
    code: str = ""  # of the error registry, where one applies
    strength: str = "plain"
    unknown: bool = False  # the state could not be known; nothing was decided about the action itself
    token: str = ""  # the conf_… of the ticket; inert until a human arms it (C-14)
    details: Mapping[str, Any] = NOTHING
    message: str = ""  # better words than the code has by itself
    warnings: tuple[Mapping[str, Any], ...] = ()  # of an allowed action (2.11)
    parts: tuple[Contribution, ...] = ()  # of the requirement, also where the mode disregards it
    unspent: bool = False  # allowed in a preview: the approval behind it was not spent
    kept: str = ""  # the id of the snapshot taken first; `interlock undo` restores it
    weighed: tuple[str, ...] = ()  # the factors that are not the action's own
    promptable: bool = False  # its agent has a prompt of its own, and whoever sits before it can judge the action

    def __bool__(self) -> bool:
        return self.allowed

    def __str__(self) -> str:
        return f"{self.outcome}: {self.reason}"

    @property
    def allowed(self) -> bool:
        return self.outcome == "allow"

    @property
    def held(self) -> bool:
        return self.outcome in HELD

    @property
    def can_rollback(self) -> bool:
        """X-08: as the matching patterns declare; they outrank rules that judge by the name alone."""
        findings = self.assessment.findings if self.assessment is not None else ()
        counted = [one for one in findings if not (self.patterns and one.rule.startswith(_OF_NAMES))]
        return all(one.get("canRollback") for one in self.patterns) and not any(one.irreversible for one in counted)

    @property
    def instead(self) -> tuple[str, ...]:
        findings = self.assessment.findings if self.assessment else ()
        return tuple(dict.fromkeys(finding.instead for finding in findings if finding.instead))
