"""Exemptions from a requirement: grants, relief by impact or the journal, operators' patterns, trusted agents (R-5, R-6, R-14), an operator's pause."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Command, Effect, Fact, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import describe, program_set, word_set
from interlock.analysis.rules import Rulebook
from interlock.model import Assessment, Category, Human, Level, Requirement
from interlock.policy.circumstances import Circumstances, Contribution, PolicyInput
from interlock.policy.impact import INSPECTABLE_RULES, JOURNAL, RELIEF_PREFIX, count_words, size_words
from interlock.policy.patterns import covers

# Parts that an auto-approving pattern exempts from, and parts that a harmless impact exempts from.
# GK-04: a confirm pattern outranks the first.
_AUTO_APPROVABLE = frozenset({"level", "unkept", "tier", "severity", "tolerance", "always_ask"})
_IMPACT_EXEMPT = frozenset({"level", "irreversible", "tier", "tolerance"})
_JOURNAL_EXEMPT = _IMPACT_EXEMPT | {"cumulative"}  # however much it is, all of it can be had back
_NEVER_GRANTED = frozenset("deny blocked allowlist steps outcome start never matrix_deny match_failure pause".split())
CONFIRM_PATTERN = "confirm_pattern"
SNAPSHOT = "a snapshot was taken first"
_NEVER_IMPACT_EXEMPT = frozenset(Category) - {
    Category.DATA_DELETION, Category.RESOURCE_TERMINATION, Category.CONFIG_DESTRUCTION, Category.DISK_DESTRUCTION,
    Category.HISTORY_REWRITE,
}  # fmt: skip


Parts = list[Contribution]
# The parts that remain, and a factor where some went; asked only where the circumstances speak for it.
Exemption = Callable[[Parts, PolicyInput], tuple[Parts, str]]


def by_grant(parts: Parts, case: PolicyInput) -> tuple[Parts, str]:
    """What a grant covers up to its ceiling; nothing that cannot be read."""
    level = max(case.assessment.level, case.at.claimed_level or 0)
    if level > case.at.grant_ceiling or case.assessment.unreadable:
        return parts, ""
    factor = f"granted: {case.at.granted}"
    return _without(parts, lambda part: part.name not in _NEVER_GRANTED and not part.requirement.blocked, factor)


def by_confirmation(parts: Parts, case: PolicyInput) -> tuple[Parts, str]:
    """Patterns that a person confirmed for this session, for single actions up to level 2."""
    known = case.at.confirmed_patterns
    if not case.named.single or case.assessment.level > Level.DESTRUCTIVE or case.assessment.unreadable:
        return parts, ""
    words = f"confirmed for this session: {', '.join(sorted(known))}"
    return _without(parts, lambda part: part.name == CONFIRM_PATTERN and part.pattern in known, words)


def by_snapshot(parts: Parts, case: PolicyInput) -> tuple[Parts, str]:
    """A verified snapshot of files or file databases, taken first."""
    kept = case.at.snapshot
    restorable = INSPECTABLE_RULES | {rule for rule in word_set("ephemeral_rules") if rule.startswith("data.")}
    if kept is None or any(one.rule not in restorable for one in case.assessment.harmful):
        return parts, ""
    what = f"{kept.id}, {count_words(kept.files, 'file')}, {size_words(kept.bytes)}"
    return _relieve(parts, case, "kept", "copied first", f"{SNAPSHOT} ({what})")


def by_journal(parts: Parts, case: PolicyInput) -> tuple[Parts, str]:
    """It can restore all of the harm, however much that is."""
    return _relieve(parts, case, "kept", "kept by the journal", JOURNAL, _JOURNAL_EXEMPT)


def by_impact(parts: Parts, case: PolicyInput) -> tuple[Parts, str]:
    """An inspection that found nothing to lose for good."""
    return _relieve(parts, case, "relief", "nothing would be lost", f"what would be lost is {case.at.loss.value}")


def by_pattern(parts: Parts, case: PolicyInput) -> tuple[Parts, str]:
    """An operator's pattern that covers all of a reversible action up to level 2 (R-5, R-6)."""
    if case.assessment.level > Level.DESTRUCTIVE or case.assessment.irreversible:
        return parts, ""
    allowed = covers((*case.policy.patterns.allow, *case.policy.restriction.patterns.allow), case.named)
    return _without(parts, _auto_approved, f"auto-approved by pattern {allowed[0].label}") if allowed else (parts, "")


def by_trust_tier(parts: Parts, case: PolicyInput) -> tuple[Parts, str]:
    """The trust tier of an agent, below level 4 (R-14)."""
    if case.assessment.level >= Level.FORBIDDEN:
        return parts, ""
    return _without(parts, _only_waits, f"trust tier {case.at.trust_tier} skips cooling-off and confirmation")


def _beyond_inspection(assessment: Assessment, at: Circumstances) -> bool:
    """Rights, other machines, secrets, the guard itself; everything forbidden except ephemeral databases (R-23)."""
    return any(
        finding.category in _NEVER_IMPACT_EXEMPT
        or finding.rule.startswith(GUARD)
        or (finding.level >= Level.FORBIDDEN and not (at.ephemeral and finding.rule in word_set("ephemeral_rules")))
        for finding in assessment.harmful
    )


def _auto_approved(part: Contribution) -> bool:
    """R-6: confirmation, tier and cooling; not a registry pattern that requires approval."""
    approval = part.name == "severity" and part.requirement.human > Human.CONFIRM
    return part.name in _AUTO_APPROVABLE and not part.requirement.blocked and not approval


def _only_waits(part: Contribution) -> bool:
    """R-14: cooling-off and confirmation; a new sign-in is neither."""
    asked = part.requirement
    lasting = asked.blocked or asked.reauth or asked.human > Human.CONFIRM
    return not lasting and part.name not in _NEVER_GRANTED


def _relieve(
    parts: Parts, case: PolicyInput, by: str, why: str, factor: str, names: frozenset[str] = _IMPACT_EXEMPT
) -> tuple[Parts, str]:
    """Puts a level's lower requirement (`by`) in place of those that the harm itself asks for."""
    level = case.assessment.level
    instead = getattr(case.policy.levels[level], by)
    if instead is None or case.assessment.unreadable or _beyond_inspection(case.assessment, case.at):
        return parts, ""
    remaining, found = _without(parts, lambda part: part.name in names, f"{RELIEF_PREFIX}{factor}")
    if found and instead != Requirement():
        what = next((part.words for part in parts if part.name == "level"), f"{level.word} action")
        remaining = [*remaining, Contribution("level", instead, f"{what} ({why})")]
    return remaining, found


def _without(parts: Parts, goes: Callable[[Contribution], bool], factor: str) -> tuple[Parts, str]:
    remaining = [part for part in parts if not goes(part)]
    return remaining, factor if len(remaining) != len(parts) else ""


PAUSED = "paused_by_operator"  # the factor's name, and the record's
GUARD = "self_protection."  # rules about the guard itself


class OperatorPause(Struct, frozen=True):
    by: str
    reason: str
    since: float
    until: float
    ceiling: Level = Level.DANGEROUS  # an admin's reaches further, as their approval does

    def at(self, now: float) -> bool:
        """Not before it began, even if the clock was set back."""
        return self.since <= now < self.until


def reason_to_hold(assessment: Assessment, ceiling: Level, tampers: bool = False) -> str:
    if not assessment.approvable:
        return "nobody may approve this"
    if tampers or any(finding.rule.startswith(GUARD) for finding in assessment.harmful):
        return "it touches the guard itself"
    if assessment.level > ceiling:
        return f"{assessment.level.word} actions take an admin"
    return ""


# What lies there gives rights away, runs by itself, or belongs to others: that the file could be restored is not enough.
_NOT_FILES_ALONE = frozenset(
    "root home system system_part other_home secret shell_config guard agent_config git_hook device remote".split()
)
_AWAY = frozenset({"remote", "container", "privileged"})
_OTHER_STORE = lazy_regex(r"://|\bmd:|\battach\b(?!\s+(?:database\s+|if\s+not\s+exists\s+)*'[^':=]*')", re.IGNORECASE)
_CHANGING = frozenset("delete truncate overwrite write move chmod chown".split())


def journal_restores(judged: Judgement, book: Rulebook) -> bool:
    """Whether only local files are at stake; not for what cannot be read, other places, rights, secrets and everything forbidden."""
    harmful = judged.assessment.harmful
    stores = {fact.span for fact in judged.facts if _changes_database_file(fact)}
    kept = [
        one
        for one in harmful
        if (one.rule in book.rules and book.rules[one.rule].files)
        or (one.rule.startswith("data.") and one.span in stores)
    ]
    files = {(one.subject, one.span) for one in kept}
    return (
        judged.assessment.level < Level.FORBIDDEN
        and bool(files)
        and all(one in kept or (one.rule == "generic.delete" and (one.subject, one.span) in files) for one in harmful)
        and not any(map(_is_out_of_reach, judged.facts))
    )


def _changes_database_file(fact: Fact) -> bool:
    if not isinstance(fact, Command) or "store" not in describe(fact.program).place or "piped" in fact.traits:
        return False
    return all(known(word) and not _OTHER_STORE.search(word) for word in fact.words)


def _is_out_of_reach(fact: Fact) -> bool:
    if fact.traits & _AWAY or any(word in program_set("other_root") for step in fact.via for word in step.split()[:1]):
        return True
    if not isinstance(fact, Effect) or fact.verb not in _CHANGING:
        return False
    return fact.place in _NOT_FILES_ALONE or (fact.place == "user_data" and "/." in fact.path)  # it may hold keys
