"""Verifies signed approval statements against a requirement; database columns beside a signature prove nothing."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice

from msgspec import Struct, json
from msgspec.structs import asdict

from interlock.canonical_json import dump_json, normal_name
from interlock.model import ANYBODY, Human, Level, Requirement
from interlock.records import Approval, Ticket
from interlock.times import seconds_left

VERSION = 1
APPROVE, REJECT = "approve", "reject"
CONSOLE = "console"  # the channel of a browser's session
ADMIN, VIEWER = "admin", "viewer"  # roles; a viewer reads only
MAX_TEXT = 4096
MAX_APPROVALS = 256  # of one ticket; with more, nothing is agreed to
SKEW_SECONDS = 60  # how far the clock of another replica may be ahead
_NONCE = re.compile(r"[0-9a-f]{32,128}")

LOCKED = "nobody has unlocked this daemon since it started: an operator signs in (`interlock unlock`, or POST /api/v1/session)"

Verify = Callable[[str, bytes, str], bool]  # key id, what was signed, signature in hex


class StatementError(ValueError):
    """It does not count; the message says why."""


class RosterEntry(Struct, frozen=True):
    name: str
    keys: frozenset[str]  # key ids
    roles: frozenset[str] = frozenset()
    teams: frozenset[str] = frozenset()
    service: bool = False
    disabled: bool = False


class Statement(Struct, frozen=True, forbid_unknown_fields=True):
    v: int
    ticket: str
    digest: str
    operator: str
    verdict: str
    channel: str
    shown: str  # hash of what they were shown
    issued_at: int
    expires_at: int
    nonce: str  # hex
    reauth: bool  # signed in anew for this
    requirement: str  # hash of what was asked for


class Agreement(Struct, frozen=True):
    satisfied: bool
    reason: str
    by: tuple[str, ...] = ()


def statement_text(
    ticket: Ticket,
    *,
    operator: str,
    verdict: str,
    channel: str,
    issued_at: float,
    expires_at: float,
    nonce: str,
    reauth: bool = False,
) -> str:
    """The canonical text to sign; refuses what `parse_statement` would refuse."""
    said = Statement(
        v=VERSION,
        ticket=ticket.id,
        digest=ticket.digest,
        operator=normal_name(operator),
        verdict=verdict,
        channel=channel,
        shown=ticket.shown_hash,
        issued_at=int(issued_at),
        expires_at=int(expires_at),
        nonce=nonce,
        reauth=reauth,
        requirement=requirement_hash(ticket.requirement),
    )
    text = dump_json(asdict(said))
    parse_statement(text)
    return text


def parse_statement(text: str) -> Statement:
    """Refuses an unknown, missing or doubled key, a wrong type and any other spelling."""
    if len(text) > MAX_TEXT:
        raise StatementError(f"statement: {len(text)} characters, at most {MAX_TEXT}")
    try:
        said = json.decode(text, type=Statement)
        spelled = dump_json(asdict(said))
    except (ValueError, RecursionError) as error:
        raise StatementError(f"statement: not the JSON of one: {error}"[:200]) from None
    for key in ("ticket", "digest", "operator", "channel", "shown", "requirement"):
        if not getattr(said, key):
            raise StatementError(f"statement.{key}: empty")
    if said.v != VERSION:
        raise StatementError(f"statement.v: expected {VERSION}, got {said.v}")
    if said.verdict not in (APPROVE, REJECT):
        raise StatementError(f"statement.verdict: expected {APPROVE} or {REJECT}, got {said.verdict!r:.80}")
    if not _NONCE.fullmatch(said.nonce):
        raise StatementError("statement.nonce: expected at least 32 hex digits")
    if said.expires_at <= said.issued_at:
        raise StatementError("statement.expires_at: not after issued_at")
    if spelled != text:
        raise StatementError("statement: not in canonical form")
    return said


def requirement_hash(requirement: Requirement) -> str:
    """A hash of the requirement, so that it cannot be lowered afterwards."""
    asked = {**asdict(requirement), "approvers": sorted(requirement.approvers), "human": int(requirement.human)}
    return hashlib.sha256(dump_json(asked).encode()).hexdigest()


class TicketProof(Struct, frozen=True):
    """What a process itself knows, and the roster that checks the statements."""

    problem: str = ""  # why it is not spent, whoever agreed
    cooling_since: float | None = None  # None where only the store knows
    code: bool = False  # a person entered its code
    user: bool = False  # the client's own user confirmed it in this session; unattested
    people: Mapping[str, RosterEntry] | None = None  # None while nobody has unlocked the roster
    verify: Verify = lambda key_id, data, signature: False


def unmet(proof: TicketProof, ticket: Ticket, approvals: Iterable[Approval], asked: Requirement, now: float) -> str:
    """The ticket's own columns are not trusted."""
    if proof.problem:
        return proof.problem
    whole = ticket.requirement.join(asked)
    if whole.cooling_seconds and proof.cooling_since is not None:
        if wait := math.ceil(seconds_left(proof.cooling_since + whole.cooling_seconds, now)):
            return f"it is cooling for {wait} s more"
    if whole.human is Human.NONE:
        return ""  # only cooling-off was required
    if proof.code and whole.open_to_anybody:
        return ""
    if proof.user and whole.is_plain_confirm(ticket.level):
        return ""
    if proof.people is None:
        return LOCKED
    found = check_agreement(ticket, approvals, now, proof.people, proof.verify, asked=asked)
    return "" if found.satisfied else found.reason


def check_agreement(
    ticket: Ticket,
    approvals: Iterable[Approval],
    now: float,
    roster: Mapping[str, RosterEntry],
    verify: Verify,
    *,
    asked: Requirement | None = None,
) -> Agreement:
    """Whether these statements satisfy what the ticket asks for, and what is `asked` now; at least one is always needed.

    `roster` is by normal name. The ticket's state is not looked at.
    """
    # What makes a statement count:
    # 1. it has the one canonical form;
    # 2. the roster knows the operator, who is not disabled;
    # 3. it is signed by a key that the roster holds for them: no column of the row is believed;
    # 4. it names this ticket, this digest, what is shown and what is asked for;
    # 5. it is in force;
    # 6. the operator may, and signed in anew where that is asked for;
    # 7. nobody who may said no; one person counts once.
    demands = (ticket.requirement,) if asked is None else (ticket.requirement, asked)
    heard = tuple(islice(approvals, MAX_APPROVALS + 1))
    if len(heard) > MAX_APPROVALS:  # a flood must not bury a rejection
        return Agreement(False, f"more than {MAX_APPROVALS} statements about ticket {ticket.id}")
    services = _services(roster)
    yes: dict[str, str] = {}  # operator -> key id
    refused = ""  # the last problem
    for approval in heard:
        try:
            said, person = _signed(approval, roster, verify)  # 1-3
            if said.ticket != ticket.id:  # 4
                raise StatementError(f"about ticket {said.ticket!r:.80}, not {ticket.id!r:.80}")
            if said.verdict == REJECT and any(may_answer(person, one.approvers, services) for one in demands):  # 7
                return Agreement(False, f"rejected by {person.name}")
            _bound(said, ticket)  # 4
            _in_force(said, now)  # 5
            _enough(said, person, ticket, demands, services)  # 6
        except StatementError as error:
            refused = str(error)
        else:
            yes.setdefault(person.name, approval.key_id)  # 7
    return _counted(demands, yes, refused)


def may_answer(person: RosterEntry, approvers: Collection[str], services: Collection[str] = ()) -> bool:
    """Whether this person is among the approvers.

    `human` and an empty list are any person, but only where no role, team or person is named beside it: requirements are
    joined by union, and a join must not open to everybody what only an admin may approve. A service counts when it is named.
    """
    if person.disabled or is_only_viewer(person):
        return False
    named = {normal_name(who) for who in approvers} - {ANYBODY}
    if person.name in named:
        return True
    if person.service:
        return False
    if not named - set(services):
        return ANYBODY in {normal_name(who) for who in approvers} or not named
    held = {f"role:{normal_name(role)}" for role in person.roles} | {
        f"team:{normal_name(team)}" for team in person.teams
    }
    return bool(held & named)


def is_only_viewer(person: RosterEntry) -> bool:
    return person.roles == frozenset({VIEWER})


def is_approver(people: Mapping[str, RosterEntry], operator: str, approvers: Collection[str]) -> bool:
    person = people.get(operator)
    return person is not None and may_answer(person, approvers, _services(people))


def _services(people: Mapping[str, RosterEntry]) -> frozenset[str]:
    return frozenset(name for name, one in people.items() if one.service)


def suffices_alone(people: Mapping[str, RosterEntry], operator: str, asked: Requirement) -> bool:
    return asked.quorum <= 1 and is_approver(people, operator, asked.approvers)


def needs_reauth(requirement: Requirement) -> bool:
    """Asked for by itself, or because the operator has to be verified."""
    return requirement.reauth or requirement.human >= Human.VERIFY


def _signed(approval: Approval, roster: Mapping[str, RosterEntry], verify: Verify) -> tuple[Statement, RosterEntry]:
    said = parse_statement(approval.statement)
    person = roster.get(said.operator)
    if person is None or person.name != said.operator:
        raise StatementError(f"no operator {said.operator!r:.80}")
    if person.disabled:
        raise StatementError(f"operator {person.name} is disabled")
    if approval.key_id not in person.keys:
        raise StatementError(f"key {approval.key_id!r:.80} is not a key of {person.name}")
    if not verify(approval.key_id, approval.statement.encode(), approval.signature):
        raise StatementError(f"not signed by {person.name}")
    return said, person


def _bound(said: Statement, ticket: Ticket) -> None:
    if said.digest != ticket.digest:
        raise StatementError("about another action than the ticket's")
    if said.shown != ticket.shown_hash:
        raise StatementError("the operator was shown something else")
    if said.requirement != requirement_hash(ticket.requirement):
        raise StatementError("the ticket asked for something else when it was signed")


def _in_force(said: Statement, now: float) -> None:
    if now >= said.expires_at:
        raise StatementError(f"expired {int(now - said.expires_at)} s ago")
    if said.issued_at > now + SKEW_SECONDS:
        raise StatementError(f"issued {int(said.issued_at - now)} s from now")


def _enough(
    said: Statement, person: RosterEntry, ticket: Ticket, demands: Iterable[Requirement], services: Collection[str]
) -> None:
    """Refuses also a browser session's statement about a dangerous action without step-up."""
    if said.verdict != APPROVE:
        raise StatementError(f"{person.name} did not approve, and may not reject")
    for demand in demands:
        if not may_answer(person, demand.approvers, services):
            raise StatementError(f"{person.name} is not among the approvers: {_names(demand)}")
        if needs_reauth(demand) and not said.reauth:
            raise StatementError(f"{person.name} did not sign in anew for it")
    if ticket.level >= Level.DANGEROUS and said.channel == CONSOLE and not said.reauth:
        raise StatementError(f"{said.operator} was signed in, and not asked anew for it")


def _counted(demands: tuple[Requirement, ...], yes: Mapping[str, str], refused: str) -> Agreement:
    """One person counts once, and so does one key."""
    have = len(set(yes.values()))
    needed = max(1, *(demand.quorum for demand in demands))
    if any(demand.blocked for demand in demands):
        return Agreement(False, "nobody may approve this", tuple(yes))
    if have >= needed:
        return Agreement(True, f"approved by {', '.join(yes)}", tuple(yes))
    who = " and ".join(dict.fromkeys(_names(demand) for demand in demands))
    anew = " with a new sign-in" if any(needs_reauth(demand) for demand in demands) else ""
    last = f" (not counted: {refused})" if refused else ""
    return Agreement(False, f"{have} of {needed} approved; asked for: {who}{anew}{last}", tuple(yes))


def _names(demand: Requirement) -> str:
    return ", ".join(sorted(demand.approvers)) or ANYBODY
