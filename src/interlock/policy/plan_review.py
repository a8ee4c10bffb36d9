"""Rates the risk of a plan and the boxes to tick before it runs: the worse of the planner's claims and our reading (seed 004)."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable

from msgspec import Struct

from interlock.analysis.wire import plan_risk, safety_flags
from interlock.model import Assessment, Flags, Level, Witness

LOW, MEDIUM, HIGH = "low", "medium", "high"
RISKS = (LOW, MEDIUM, HIGH)
BOXES = {word: f"I understand the risks of this {word}-risk command." for word in (MEDIUM, HIGH)}
SECRET_PREFIX = "<secret:"  # how a placeholder begins that stands for a secret
# Seed 004 calls these high whatever they are pointed at; by the effective command, however it was wrapped.
_DESTROYS = re.compile(
    r"(?:\S*/)?(?:mkfs(?:\.\w+)?|dd|shred|wipefs)\b"
    r"|(?:\S*/)?rm (?=(?:.* )?-(?:\w*[rR]|-recursive\b))(?=(?:.* )?-(?:\w*f|-force\b))"
)
_OPENS = re.compile(r"(?:\S*/)?chmod (?=(?:.* )?-(?:\w*R|-recursive\b)).*\b0?777\b")
# A planner may return SQL in place of a command.
_SQL = re.compile(r"\s*(?:drop|truncate|delete\s+from|alter|grant|revoke|update\s+\S+\s+set)\s", re.IGNORECASE)


class PlannerClaims(Struct, frozen=True):
    """A planner's claims about its own command; they can only raise its risk."""

    risk: str = LOW
    flags: Flags = Flags()


class Draft(Struct, frozen=True):
    """A planner's answer, in order; every word of it is a stranger's."""

    command: str
    explanation: str = ""
    assumptions: tuple[str, ...] = ()
    confidence: float | None = None
    expected_effect: str = ""
    claims: PlannerClaims = PlannerClaims()
    notes: tuple[str, ...] = ()  # what was missing or odd in it


class Risk(Struct, frozen=True):
    word: str
    flags: Flags
    warnings: tuple[str, ...] = ()  # X-09's strings

    def box(self, confirm_medium: bool) -> str:
        """Nothing for low, and for medium where the setting is off; high always."""
        return "" if self.word == MEDIUM and not confirm_medium else BOXES.get(self.word, "")


def risk(text: str, assessment: Assessment, claims: PlannerClaims | None) -> Risk:
    """The worse of both; a flag that the planner left out follows the assessment."""
    claimed = claims or PlannerClaims()
    steps = [step.text for step in assessment.steps]
    destroys = _SQL.match(text) is not None or any(_DESTROYS.match(step) for step in steps)
    listed = HIGH if destroys or any(_OPENS.match(step) for step in steps) else LOW
    flags = _either(assessment.flags, claimed.flags)
    if destroys:
        flags = _either(flags, Flags(destructive=True, requires_confirmation=True))
    words = (listed, plan_risk(assessment), claimed.risk, _by_flags(claimed.flags))
    word = max(words, key=lambda word: RISKS.index(word) if word in RISKS else len(RISKS))
    return Risk(word, flags, tuple(safety_flags(flags)))


def plan_mark(
    key: bytes, plan: str, command: str, cwd: str, risk: Risk, level: Level, witnesses: Iterable[Witness]
) -> str:
    """Another text, folder, risk or script gives another one."""
    seen = sorted((one.path, one.sha256) for one in witnesses)
    shown = [plan, command, cwd, risk.word, int(level), list(risk.warnings), seen]
    text = json.dumps(shown, ensure_ascii=True, separators=(",", ":"))
    return hmac.new(key, b"plan\0" + text.encode(), hashlib.sha256).hexdigest()


def same_mark(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def _by_flags(flags: Flags) -> str:
    """Seed 004's own rule; what only touches files may read them."""
    if flags.destructive or flags.escalates_privileges:
        return HIGH
    return MEDIUM if flags.requires_confirmation else LOW


def _either(one: Flags, other: Flags) -> Flags:
    return Flags(*(getattr(one, name) or getattr(other, name) for name in Flags.__struct_fields__))
