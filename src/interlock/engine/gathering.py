"""Gathers what a decision needs: digest and effect keys, the store's knowledge of the agent and its ticket, and the impact."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from interlock.adapters.danger import reached_escalation
from interlock.adapters.local_servers import only_touches_files
from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Effect
from interlock.approvals import denials, signed_orders, tickets
from interlock.approvals.confirmations import SESSION
from interlock.approvals.denials import ALLOW, DENY, rejections
from interlock.approvals.grant_coverage import find_covering
from interlock.approvals.grants import is_signed
from interlock.approvals.statements import suffices_alone
from interlock.canonical_json import digest
from interlock.engine.decide import NOTHING_GATHERED, Gathered, World
from interlock.engine.preview import suppose
from interlock.identity import home_of
from interlock.impact import inspection
from interlock.model import Level, Requirement
from interlock.policy.circumstances import Circumstances
from interlock.policy.effect_key import EffectKey, effect_keys, everyday_keys
from interlock.policy.exemptions import journal_restores
from interlock.policy.load import project_rules
from interlock.policy.overrides import LoopRules, apply_all_rules
from interlock.policy.patterns import PatternSet, covers, hits
from interlock.policy.real_paths import STOPPING, tampering
from interlock.ports import Tx
from interlock.records import Grant
from interlock.redaction import redact_text
from interlock.runtime import Judged, operation_name
from interlock.runtime.declarations import HOOK, find_difference
from interlock.runtime.state import State

_NEVER = ("unreadable", "self_protection", "unknown")  # in rules whose findings no user can judge
_OF_STEP = ("steps_left", "previous", "repeats", "cumulative", "starting", "pause", "pause_human")  # circumstances
_LOCAL = "git."  # these rules find losses in the working copy; losses at a remote are level 3


def gather_world(state: State, judged: Judged) -> World:
    world = known_world(state, judged, state.store.read(lambda tx: gather(tx, state, judged)))
    journaled = judged.request.journaled and not runs_elsewhere(judged)
    if journaled and journal_restores(judged.judgement, judged.in_force.rules):
        return replace(world, at=replace(world.at, journaled=True))
    question = _question(judged)
    return replace(world, at=_inspect(judged, world.at, question), question=question) if question else world


def known_world(state: State, judged: Judged, found: Gathered = NOTHING_GATHERED) -> World:
    """As far as memory knows it, and what was gathered from the store."""
    roster = state.sessions.roster
    people = roster.people if roster is not None else {}
    return World(circumstances(state, judged, found), found, people)


def gather(tx: Tx, state: State, judged: Judged) -> Gathered:
    request, agent, now = judged.request, judged.agent, judged.now
    shown = request.step is not None and any(channel.name == DIALOG for channel in state.channels)
    promptable = request.may_prompt and _is_judged_by_user(judged)
    window = judged.policy.escalate.forbidden_window_seconds
    if request.token:
        ticket = tickets.ticket_of(tx, request.token)
    else:
        ticket = tx.ticket(request.pending) if request.pending else tx.live_ticket(judged.digest, agent)
    return Gathered(
        ticket=ticket,
        approvals=tuple(tx.approvals(ticket.id)) if ticket else (),
        shown=ticket is None or tickets.shows_action(ticket, judged),
        proof=state.proof_of(ticket, agent.session, now) if ticket else None,
        block=tx.block(agent.principal),
        agent=signed_orders.with_signed_tier(state, tx, tx.agent(agent.principal, agent.name))
        if state.shared
        else None,
        met=denials.find_denial(tx, state, judged, ticket),
        grants=tuple(
            one
            for one in tx.grants(now)
            if find_covering((one,), agent, judged.effect_keys, judged.assessment, judged.digest, now)
            and is_signed(state, one)
        ),
        counts=tx.counts(agent, operation_name(request), request.execution, now, window),
        nobody=state.sessions.roster is None and not shown and not any(not row.disabled_at for row in tx.operators()),
        promptable=promptable,
        user=promptable or agent.session.startswith(SESSION),  # an MCP client may have one
        wait=tickets.TOKEN_FAILURES.wait(tx, agent.principal, now) if request.token else 0,
    )


def _is_judged_by_user(judged: Judged) -> bool:
    """Whether everything was readable, and irreversible losses lie in the agent's folder."""
    assessment, cwd = judged.assessment, judged.action.cwd
    if any(word in finding.rule for finding in assessment.findings for word in _NEVER):
        return False
    if not assessment.irreversible:
        return True
    local = all(finding.rule.startswith(_LOCAL) for finding in assessment.findings)
    keys, below = judged.effect_keys, posixpath.normpath(cwd) + "/" if cwd.strip("/") else "\0"
    return bool(keys) and all(
        posixpath.normpath(key.path).startswith(below) if key.path and not key.place else local for key in keys
    )


def circumstances(state: State, judged: Judged, found: Gathered) -> Circumstances:
    request = judged.request
    agent, lasts = request.agent, judged.policy.restriction.scope == "session"
    block = request.adapter_context.block if request.adapter_context else None
    step = reached_escalation(block, found.counts.hourly) if block else None
    paused_by, paused_to = state.paused(judged.now)
    row = found.agent if state.shared else state.baseline.agent(agent.principal, agent.name)  # not an edited row
    at = Circumstances(
        mode=judged.in_force.mode,
        blocked=found.block.reason if found.block else state.blocked(agent.principal),
        trust_tier=row.trust_tier if row is not None else "",
        adapter_context=request.adapter_context,
        registry_match=judged.registry_match,
        repeats=found.counts.repeats,
        hourly=found.counts.hourly,
        cumulative=found.counts.cumulative,
        claimed_risk=request.claimed_risk,
        claimed_level=request.claimed_level,
        earlier_denial=denials.denial_requirement(found.met),
        escalated=(step.level, step.message) if step else None,
        confirmed_patterns=state.confirmations.patterns(agent, request.action, judged.now) if lasts else frozenset(),
        tampering=attack(judged),
        mismatch=find_difference(state, judged) if state.declarations.executions else None,
        paused_by=paused_by,
        paused_to=paused_to,
    )
    return replace(at, **{name: getattr(request.step, name) for name in _OF_STEP}) if request.step else at


def attack(judged: Judged) -> str:
    """How an action attacks the guard itself; where files can be read, settings that run our hook count."""
    request, judgement = judged.request, judged.judgement
    if judgement.once("quiet", lambda: _is_quiet(judgement)):
        return ""
    files = request.access.read

    def read(path: str) -> str | None:
        home = request.action.home or home_of(request.agent.principal)
        return files(f"{home}{path[1:]}" if path.startswith("~/") else path) if files else None

    return tampering(request.action, judgement, read)


def _is_quiet(judgement: Judgement) -> bool:
    changes = any(isinstance(fact, Effect) for fact in judgement.facts)
    return not changes and all(finding.rule not in STOPPING for finding in judgement.assessment.findings)


DIALOG = "dialog"  # the channel that shows codes without a sign-in


def _question(judged: Judged) -> inspection.Inspection | None:
    request = judged.request
    if (request.access.inspect is None and request.access.snapshot is None) or runs_elsewhere(judged):
        return None
    if judged.assessment.level < Level.DESTRUCTIVE:
        return changed_targets(judged)
    own = request.server is not None or (request.door == HOOK and inspection.is_own_tool(request.action))
    return inspection.inspection_of(request.action, judged.judgement, request.provenance, own)


def _inspect(judged: Judged, at: Circumstances, question: inspection.Inspection) -> Circumstances:
    inspect = judged.request.access.inspect
    if inspect is None:
        return at
    if judged.assessment.level < Level.DESTRUCTIVE:
        impact = inspection.run_inspection(question, inspect)
        return replace(at, impact=impact, unkept=inspection.unkept_words(question, impact))
    return inspection.with_impact(at, question, inspect, judged.in_force.impact.exempt)


def changed_targets(judged: Judged) -> inspection.Inspection | None:
    """Existing files that everyday work changes, if a snapshot of them can be taken."""
    request, by = judged.request, judged.in_force
    able = request.access.snapshot is not None and request.access.inspect is not None and by.undo.enabled
    if not able or by.mode != "enforcing" or runs_elsewhere(judged) or request.journaled:
        return None
    question = inspection.change_inspection(request.action, judged.judgement, request.provenance)
    if question is None or request.owner != f"uid:{os.getuid()}":
        return question
    deeds = tuple(deed for deed in question.deeds if _may_exist(deed, question.bases, question.home))
    return replace(question, deeds=deeds) if deeds else None


def _may_exist(deed: Mapping[str, Any], bases: Sequence[str], home: str) -> bool:
    target = str(deed.get("target", "*"))
    if "found" in deed or not set("*?[").isdisjoint(target):  # a search and a pattern may find anything
        return True
    if target == "~" or target.startswith("~/"):
        target = f"{home}{target[1:]}" if home.startswith("/") else os.path.expanduser(target)
    exists = os.path.isfile if deed.get("maybe") and target != "." else os.path.lexists
    return any(exists(os.path.join(base, target)) for base in bases)


def runs_elsewhere(judged: Judged) -> bool:
    """An adapter's operation, or a server's call that does more than touch local files."""
    server = judged.request.server
    if server is not None:
        return not (server.here and only_touches_files(judged.judgement.facts))
    return judged.request.adapter_context is not None


_TOKENS = frozenset({"_confirmation", "_quota_continue"})
_ADAPTER = "\0adapter"


def identify(state: State, judged: Judged) -> Judged:
    """Adds the digest and the effect keys."""
    request = judged.request
    fields = _exact({key: _whole(value) for key, value in request.action.fields.items()})
    if request.adapter:  # CT-05: the same operation elsewhere is another one
        fields[_ADAPTER] = request.adapter
    action = replace(request.action, witnesses=judged.judgement.witnesses, fields=fields)
    mark = digest(action, request.agent, state.installation.digest_key, request.digest_fields)
    return replace(judged, digest=mark, effect_keys=effect_keys_of(state, judged))


def effect_keys_of(state: State, judged: Judged) -> tuple[EffectKey, ...]:
    """Redacted; of everyday work only where its principal has a rejection."""
    action, judgement = judged.action, judged.judgement
    if judgement.assessment.level >= Level.DESTRUCTIVE:
        found = effect_keys(action, judgement.facts, judgement.assessment)
    elif rejections(state, judged):
        found = everyday_keys(action, judgement.facts)
    else:
        return ()
    return tuple(replace(one, target=redact_text(one.target), place=redact_text(one.place)) for one in found)


def _whole(value: Any) -> Any:
    """Keeps params that begin with `_` in the digest, since they are analysed too; not those that carry a token."""
    if not isinstance(value, Mapping):
        return value
    private = {key for key in value if isinstance(key, str) and key.startswith("_")} - _TOKENS
    return {f"\0{key}" if key in private else key: item for key, item in value.items()}  # every interface refuses a NUL


def _exact(value: Any) -> Any:
    """Replaces floats, which a digest refuses, by Python's one spelling of them."""
    if isinstance(value, float):
        return {"\0float": repr(value)}  # no caller can send that key: every interface refuses a NUL
    if isinstance(value, Mapping):
        return {key: _exact(item) for key, item in value.items()}
    return [_exact(item) for item in value] if isinstance(value, list | tuple) else value


def with_overrides(state: State, judged: Judged) -> Judged:
    rules, by = list(_rules(state, judged)), judged.in_force
    if not rules:
        return judged
    policy = apply_all_rules(by.policy, rules)
    return replace(judged, in_force=by.under(policy, by.mode, (*by.applied_rules, *rules)))


def _rules(state: State, judged: Judged) -> Iterator[LoopRules]:
    request, named = judged.request, judged.named
    if request.access.project is not None and request.action.cwd:
        files = request.access.project(request.action.cwd)
        yield from project_rules(files) if files else ()
    if not state.standing.answers:
        return
    denied = [glob for _, glob in state.standing.of(DENY, judged.now)]
    for glob in denied if named.cut else hits(denied, named):  # the part that was cut off may match
        yield LoopRules(patterns=PatternSet(deny=(glob,)), origin=glob.origin, proved=True)
    for grant, glob in state.standing.of(ALLOW, judged.now):
        if covers((glob,), named) and _counts(state, judged, grant):
            yield LoopRules(patterns=PatternSet(allow=(glob,)), origin=glob.origin, proved=True)
            return


def _counts(state: State, judged: Judged, grant: Grant) -> bool:
    """Whether an entitled operator signed this allow, and could have approved alone."""
    by, adapted = judged.in_force, judged.request.adapter_context
    at = Circumstances(by.mode, adapter_context=adapted, registry_match=judged.registry_match)
    asked = suppose(judged.judgement, judged.named, by, at).weighed.requirement
    return asked != Requirement() and suffices_alone(state.sessions.people, grant.by, asked) and is_signed(state, grant)
