"""Replays recorded decisions: which agree byte for byte, which differ, which cannot be replayed; compares two policies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from interlock.analysis.assess import Judgement, assess, judge
from interlock.analysis.classify import classify
from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import rulebook_hash
from interlock.audit.chain import Attempt, attempt_body, body_of
from interlock.audit.decision_entries import ReplayError, facts_of, inputs_of
from interlock.audit.search import agent_words, is_attempt, record_title
from interlock.canonical_json import canonical_json, simplify
from interlock.config import Config, policy_mark
from interlock.engine.preview import suppose
from interlock.model import Action, AgentRef, Assessment, Kind, Level
from interlock.policy.circumstances import Circumstances
from interlock.policy.evaluate import PolicyResult
from interlock.policy.match_names import MatchNames, match_names
from interlock.policy.overrides import applied_rules_of, apply_all_rules
from interlock.policy.policy import Policy
from interlock.policy.registry_controls import add_registry_findings
from interlock.records import AuditRow
from interlock.redaction import redact
from interlock.runtime import InForce, rules_of

AGREES, DIFFERS, CANNOT = "agrees", "differs", "cannot"
MOST_CHANGES = 1_000  # kept in full; the others are counted
# What judging and weighing alone decide; the rest of a record is what the store knew at that moment.
_MADE = tuple("danger_level level irreversible score tier findings factors requirement".split())
_MADE_SHORTLY = ("danger_level", "level", "irreversible", "score", "decision")  # of everyday work
_SECRET = "<secret:"


class Replayed(Struct, frozen=True):
    judgement: Judgement
    weighed: PolicyResult
    named: MatchNames
    word: str


class ReplayedDecision(Struct, frozen=True):
    row: AuditRow
    verdict: str
    why: str = ""  # it cannot be replayed
    word: str = ""  # the outcome under the given rules and policy
    differences: Mapping[str, tuple[Any, Any]] = {}  # key -> recorded, replayed


class ChangedAnswer(Struct, frozen=True):
    """One recorded action under two policies."""

    row: AuditRow
    title: str
    agent: str
    level: Level
    before: str
    after: str
    why: str

    @classmethod
    def of(cls, row: AuditRow, body: Mapping[str, Any], before: Replayed, after: Replayed, why: str) -> ChangedAnswer:
        level = after.judgement.assessment.level
        return cls(row, record_title(body), agent_words(body), level, before.word, after.word, why)


class Comparison(Struct):
    records: int = 0
    same: int = 0
    changed: Counter[tuple[str, str]] = field(default_factory=Counter)
    changes: list[ChangedAnswer] = []
    cannot: Counter[str] = field(default_factory=Counter)  # why -> how many


def replay_policy(config: Config) -> InForce:
    """The rules and policy of a configuration, with the hashes that records name them by."""
    policy, rules = config.effective_policy(), rules_of(config)
    return InForce(rules, policy, policy_hash=policy_mark(config, policy), rulebook_hash=rulebook_hash(rules))


def replay_record(row: AuditRow, by: InForce) -> ReplayedDecision:
    body = body_of(row)
    try:
        made = replay_decision(body, by.rules, by.policy)
    except ReplayError as error:
        return ReplayedDecision(row, CANNOT, str(error))
    if why := _other_rules(row, by):
        return ReplayedDecision(row, CANNOT, why, made.word)
    differences = _differences(body, made)
    if differences and _SECRET in canonical_json(body.get("facts")):
        return ReplayedDecision(row, CANNOT, "secrets were taken out of what was judged", made.word, differences)
    return ReplayedDecision(row, DIFFERS if differences else AGREES, "", made.word, differences)


def compare_policies(rows: Iterable[AuditRow], rules: Rulebook, one: Policy, other: Policy) -> Comparison:
    """Attempts that cannot be replayed are counted by reason."""
    found = Comparison()
    for row in filter(is_attempt, rows):
        found.records += 1
        body = body_of(row)
        try:
            before, after = replay_decision(body, rules, one), replay_decision(body, rules, other)
        except ReplayError as error:
            found.cannot[str(error)] += 1
            continue
        if before.word == after.word:
            found.same += 1
            continue
        found.changed[before.word, after.word] += 1
        if len(found.changes) < MOST_CHANGES:
            why = after.weighed.reason() or before.weighed.reason()
            found.changes.append(ChangedAnswer.of(row, body, before, after, why))
    return found


def assess_record(body: Mapping[str, Any], rules: Rulebook) -> Assessment | None:
    """None where its record is incomplete."""
    try:
        if isinstance(body.get("facts"), Mapping):
            facts = facts_of(body["facts"])
            return assess(facts, classify(facts, rules), rules.programs)
        return judge(_action(body.get("judged")), rules).assessment
    except ReplayError:
        return None


def replay_decision(body: Mapping[str, Any], rules: Rulebook, policy: Policy) -> Replayed:
    """Replays a decision from its recorded facts; everyday work from the action itself."""
    rules_then = applied_rules_of(body.get("loop_rules"))
    if rules_then is None:
        raise ReplayError("the record does not say which settings this agent had")
    policy = apply_all_rules(policy, rules_then)  # AE-08
    if isinstance(body.get("facts"), Mapping):
        return replay_inputs(body["facts"], rules, policy)
    if isinstance(body.get("judged"), Mapping):
        return _judge_again(body, body["judged"], rules, policy)
    raise ReplayError("the record keeps no facts")


def _judge_again(body: Mapping[str, Any], given: Mapping[str, Any], rules: Rulebook, policy: Policy) -> Replayed:
    asked: list[str] = []
    action, level = _action(given), body.get("claimed_level")
    try:
        claimed = None if level is None else Level(level)
        at = Circumstances(mode=body["mode"], claimed_risk=body.get("claimed_risk"), claimed_level=claimed)
    except (KeyError, TypeError, ValueError) as error:
        raise _unclear(error) from None
    judged = judge(action, rules, asked.append)  # returns None, and collects the scripts that were requested
    seen = judged.assessment
    if (seen.level, seen.score) != (body.get("danger_level"), body.get("score")) and (asked or body.get("resolved")):
        raise ReplayError(f"it depended on {'what a script contained' if asked else 'where a link led'}")
    return _replayed(judged, match_names(action, judged.facts), InForce(rules, policy), at)


def replay_inputs(given: Mapping[str, Any], rules: Rulebook, policy: Policy) -> Replayed:
    """Raises ReplayError where the record is incomplete."""
    facts, named, at = inputs_of(given)
    judged = Judgement(assess(facts, classify(facts, rules), rules.programs), facts=facts)
    return _replayed(add_registry_findings(judged, at.registry_match, rules), named, InForce(rules, policy), at)


def _replayed(judged: Judgement, named: MatchNames, by: InForce, at: Circumstances) -> Replayed:
    outcome = suppose(judged, named, by, at)
    return Replayed(judged, outcome.weighed, named, outcome.held.outcome)


def _action(given: Any) -> Action:
    try:
        fields, home = MappingProxyType(dict(given["fields"])), str(given.get("home", ""))
        return Action(Kind(given["kind"]), fields, str(given["cwd"]), home=home)
    except (KeyError, TypeError, ValueError) as error:
        raise _unclear(error) from None


def _unclear(error: Exception) -> ReplayError:
    return ReplayError(f"the record does not say what was judged: {type(error).__name__} {error}"[:200])


def _other_rules(row: AuditRow, by: InForce) -> str:
    """Why a difference would prove nothing: other rules or another policy."""
    for what, then, now in ("rulebook", row.rulebook, by.rulebook_hash), ("policy", row.policy, by.policy_hash):
        if then != now:
            return f"it was decided by another {what} ({then[:12] or 'unknown'}) than the one at hand ({now[:12]})"
    return ""


def _differences(body: Mapping[str, Any], made: Replayed) -> dict[str, tuple[Any, Any]]:
    keys = _MADE if "facts" in body else _MADE_SHORTLY
    written = {**_written(made), "decision": made.word}
    whole = {key: value for key, value in body.items() if key not in keys}
    whole = redact(simplify(whole | {key: written[key] for key in keys if key in written}))
    pairs = {key: (body.get(key), whole.get(key)) for key in keys}
    return {key: pair for key, pair in pairs.items() if canonical_json(pair[0]) != canonical_json(pair[1])}


def _written(made: Replayed) -> dict[str, Any]:
    seen, weighed = made.judgement.assessment, made.weighed
    attempt = Attempt(
        at=0.0,
        adapter_name="",
        operation="",
        level=seen.level,
        outcome="denied",
        agent=AgentRef(""),
        irreversible=seen.irreversible,
        score=seen.score,
        tier=seen.tier.value,
        factors=(*seen.factors, *weighed.factors),
        findings=tuple(finding.rule for finding in seen.findings),
        requirement=weighed.requirement,
    )
    return attempt_body(attempt)
