"""Exemptions from a requirement: grants, relief by impact or the journal, operators' patterns, trusted agents (R-5, R-6, R-14), an operator's pause."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Command, Effect, Fact, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import describe, program_set
from interlock.analysis.rules import Rulebook
from interlock.analysis.targets.ephemeral import RULES
from interlock.model import Assessment, Category, Finding, Human, Level, Loss, Requirement, Span
from interlock.policy.circumstances import Circumstances, Contribution, level_words
from interlock.policy.impact import INSPECTABLE_RULES, JOURNAL, RELIEF_PREFIX, count_words, size_words
from interlock.policy.match_names import MatchNames
from interlock.policy.patterns import covers
from interlock.policy.policy import Policy

# Parts that an auto-approving pattern exempts from, and parts that a harmless impact exempts from.
_AUTO_APPROVABLE = frozenset(
    {"level", "unkept", "tier", "severity", "tolerance", "always_ask"}
)  # GK-04: a confirm pattern outranks it
_IMPACT_EXEMPT = frozenset({"level", "irreversible", "tier", "tolerance"})
_JOURNAL_EXEMPT = _IMPACT_EXEMPT | {"cumulative"}  # however much it is, all of it can be had back
_NEVER_GRANTED = frozenset(
    {"deny", "blocked", "allowlist", "steps", "outcome", "start", "never", "matrix_deny", "match_failure", "pause"}
)
_UNREADABLE = "unreadable"
CONFIRM_PATTERN = "confirm_pattern"
SNAPSHOT = "a snapshot was taken first"
_NEVER_IMPACT_EXEMPT = frozenset({
    Category.PRIVILEGE_ESCALATION, Category.REMOTE_CODE_EXECUTION, Category.EXFILTRATION, Category.CREDENTIAL_INVALIDATION,
    Category.ACCOUNT_ACTION, Category.FINANCIAL_ACTION, Category.ACCESS_REVOCATION, Category.COMMUNICATION_BLOCK,
})  # fmt: skip


def apply_exemptions(
    parts: list[Contribution], assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances
) -> tuple[list[Contribution], list[str]]:
    """The parts that remain, and a factor for each exemption that removed some."""
    remaining, exemptions = parts, []
    unreadable = any(_UNREADABLE in finding.rule for finding in assessment.findings)
    if at.granted and max(assessment.level, at.claimed_level or 0) <= at.grant_ceiling and not unreadable:
        remaining, gone = _without(
            remaining, lambda part: part.name not in _NEVER_GRANTED and not part.requirement.blocked
        )
        exemptions += [f"granted: {at.granted}"] if gone else []
    if at.confirmed_patterns and named.single and assessment.level <= Level.DESTRUCTIVE and not unreadable:
        remaining, gone = _without(
            remaining, lambda part: part.name == CONFIRM_PATTERN and part.pattern in at.confirmed_patterns
        )
        exemptions += [f"confirmed for this session: {', '.join(sorted(at.confirmed_patterns))}"] if gone else []
    harmless = at.loss in (Loss.NONE, Loss.RECOVERABLE)
    exempt = (harmless or at.snapshot is not None) and not unreadable and not _beyond_inspection(assessment, at)
    if exempt and at.snapshot is not None and at.snapshot.verified and _on_disk(assessment):
        remaining, gone = _exempt_by_impact(remaining, assessment, policy.levels[assessment.level].kept, "copied first")
        what = f"{at.snapshot.id}, {count_words(at.snapshot.files, 'file')}, {size_words(at.snapshot.bytes)}"
        exemptions += [f"{RELIEF_PREFIX}{SNAPSHOT} ({what})"] if gone else []
    if at.journaled and not unreadable and not _beyond_inspection(assessment, at):
        kept = policy.levels[assessment.level].kept
        remaining, gone = _exempt_by_impact(remaining, assessment, kept, "kept by the journal", _JOURNAL_EXEMPT)
        exemptions += [f"{RELIEF_PREFIX}{JOURNAL}"] if gone else []
    if exempt and harmless:
        remaining, gone = _exempt_by_impact(
            remaining, assessment, policy.levels[assessment.level].relief, "nothing would be lost"
        )
        exemptions += [f"{RELIEF_PREFIX}what would be lost is {at.loss.value}"] if gone else []
    globs = (*policy.patterns.allow, *policy.restriction.patterns.allow)
    allowed = covers(globs, named) if globs else ()
    if allowed and assessment.level <= Level.DESTRUCTIVE and not assessment.irreversible:
        remaining, gone = _without(remaining, _auto_approved)
        exemptions += [f"auto-approved by pattern {allowed[0].label}"] if gone else []
    if (
        at.trust_tier
        and at.trust_tier in policy.severities.bypass_for_trust_tiers
        and assessment.level < Level.FORBIDDEN
    ):
        remaining, gone = _without(remaining, _only_waits)
        exemptions += [f"trust tier {at.trust_tier} skips cooling-off and confirmation"] if gone else []
    return remaining, exemptions


def _beyond_inspection(assessment: Assessment, at: Circumstances) -> bool:
    """Whether no inspection and no snapshot can exempt it: rights, other machines, secrets, the guard itself; everything forbidden except ephemeral databases (R-23)."""
    return any(
        finding.category in _NEVER_IMPACT_EXEMPT
        or finding.rule.startswith("self_protection.")
        or (finding.level >= Level.FORBIDDEN and not (at.ephemeral and finding.rule in RULES))
        for finding in assessment.findings
        if finding.level >= Level.DESTRUCTIVE
    )


def _on_disk(assessment: Assessment) -> bool:
    """Whether every finding is about files or file databases, which a snapshot can restore."""
    restorable = INSPECTABLE_RULES | {rule for rule in RULES if rule.startswith("data.")}
    return all(finding.rule in restorable for finding in assessment.findings if finding.level >= Level.DESTRUCTIVE)


def _auto_approved(part: Contribution) -> bool:
    """R-6: confirmation, tier and cooling; not a registry pattern that requires approval."""
    approval = part.name == "severity" and part.requirement.human > Human.CONFIRM
    return part.name in _AUTO_APPROVABLE and not part.requirement.blocked and not approval


def _only_waits(part: Contribution) -> bool:
    """R-14: cooling-off and confirmation; a new sign-in is neither."""
    requirement = part.requirement
    return (
        not requirement.blocked
        and not requirement.reauth
        and requirement.human <= Human.CONFIRM
        and part.name not in _NEVER_GRANTED
    )


def _exempt_by_impact(
    parts: list[Contribution],
    assessment: Assessment,
    instead: Requirement | None,
    why: str,
    names: frozenset[str] = _IMPACT_EXEMPT,
) -> tuple[list[Contribution], bool]:
    if instead is None:
        return parts, False
    remaining, gone = _without(parts, lambda part: part.name in names)
    if gone and instead != Requirement():
        remaining = [*remaining, Contribution("level", instead, f"{level_words(assessment)} ({why})")]
    return remaining, gone


def _without(parts: list[Contribution], goes: Callable[[Contribution], bool]) -> tuple[list[Contribution], bool]:
    remaining = [part for part in parts if not goes(part)]
    return remaining, len(remaining) != len(parts)


PAUSED = "paused_by_operator"  # the factor's name, and the record's
GUARD = "self_protection."  # rules about the guard itself


class OperatorPause(Struct, frozen=True):
    """An operator's pause: by whom, why, from when to when, and up to which level actions pass."""

    by: str
    reason: str
    since: float
    until: float
    ceiling: Level = Level.DANGEROUS  # an admin's reaches further, as their approval does

    def at(self, now: float) -> bool:
        """Whether it is in force; not before it began, even if the clock was set back."""
        return self.since <= now < self.until


def reason_to_hold(assessment: Assessment, ceiling: Level, tampers: bool = False) -> str:
    """The reason why a pause does not cover an action; empty where it does."""
    if not assessment.approvable:
        return "nobody may approve this"
    if tampers or any(f.rule.startswith(GUARD) and f.level >= Level.DESTRUCTIVE for f in assessment.findings):
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
_CHANGING = frozenset({"delete", "truncate", "overwrite", "write", "move", "chmod", "chown"})


def journal_restores(judged: Judgement, book: Rulebook) -> bool:
    """Whether nothing but local files is at stake; False for what cannot be read, other places, rights, secrets and everything forbidden."""
    harmful = [finding for finding in judged.assessment.findings if finding.level >= Level.DESTRUCTIVE]
    stores = {fact.span for fact in judged.facts if _changes_database_file(fact)}
    kept = [one for one in harmful if _is_of_files(one, book) or (one.rule.startswith("data.") and one.span in stores)]
    files = {(one.subject, one.span) for one in kept}
    return (
        judged.assessment.level < Level.FORBIDDEN
        and bool(files)
        and all(one in kept or _is_same(one, files) for one in harmful)
        and not any(map(_is_out_of_reach, judged.facts))
    )


def _is_of_files(finding: Finding, book: Rulebook) -> bool:
    rule = book.rules.get(finding.rule)
    return rule is not None and rule.files


def _changes_database_file(fact: Fact) -> bool:
    """Whether a client keeps its tables in a local file, and its statements go to no other place."""
    if not isinstance(fact, Command) or "store" not in describe(fact.program).place or "piped" in fact.traits:
        return False
    return all(known(word) and not _OTHER_STORE.search(word) for word in fact.words)


def _is_same(finding: Finding, files: set[tuple[str, Span | None]]) -> bool:
    """Whether a finding by a word of the command line is about what another one found on its files."""
    return finding.rule == "generic.delete" and (finding.subject, finding.span) in files


def _is_out_of_reach(fact: Fact) -> bool:
    if fact.traits & _AWAY or any(word in program_set("other_root") for step in fact.via for word in step.split()[:1]):
        return True
    if not isinstance(fact, Effect) or fact.verb not in _CHANGING:
        return False
    dotted = fact.place == "user_data" and "/." in fact.path  # it may hold keys
    return fact.place in _NOT_FILES_ALONE or dotted
