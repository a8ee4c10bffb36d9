"""The request that an interface makes of the engine, the judged action read from it, cached where no script counts, and the rules and policy in force."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.assess import Judgement, judge
from interlock.analysis.read import BUDGET, FileReader
from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import load
from interlock.analysis.targets.provenance import NOTHING_CREATED, Provenance
from interlock.analysis.targets.written_files import WrittenFile
from interlock.config import Config
from interlock.config.settings import HookSettings, ImpactSettings, PauseSettings, SnapshotSettings
from interlock.model import NOTHING, Action, AgentRef, Assessment, Confidential, Human, Json, Kind, Level
from interlock.policy.circumstances import AdapterContext, Circumstances
from interlock.policy.effect_key import EffectKey
from interlock.policy.match_names import MatchNames, match_names
from interlock.policy.overrides import LoopRules, LoopSettings
from interlock.policy.policy import Policy
from interlock.policy.real_paths import OwnAssets
from interlock.policy.registry import Registry, RegistryMatch
from interlock.ports import NO_ACCESS, Access
from interlock.redaction import redact_text

if TYPE_CHECKING:
    from interlock.runtime.servers import ServerClaim


class InForce(Struct, frozen=True):
    """The rules, policy, mode and settings that decisions are made by; replaced as a whole."""

    rules: Rulebook
    policy: Policy
    mode: str = "enforcing"
    registry: Registry = field(default_factory=Registry)
    policy_hash: str = ""
    rulebook_hash: str = ""
    own_assets: OwnAssets = OwnAssets()
    applied_rules: tuple[LoopRules, ...] = ()  # rules that tightened the policy for one call
    challenge_seconds: float = 300.0  # OOB-08
    loops: LoopSettings = LoopSettings()  # AE-08
    hooks: HookSettings = HookSettings()
    impact: ImpactSettings = ImpactSettings()
    undo: SnapshotSettings = SnapshotSettings()
    pauses: PauseSettings = PauseSettings()

    def under(self, policy: Policy, mode: str, applied_rules: tuple[LoopRules, ...] = ()) -> InForce:
        """`applied_rules` are the rules that changed the policy."""
        if policy is self.policy and mode == self.mode:
            return self
        return replace(self, policy=policy, mode=mode, applied_rules=applied_rules or self.applied_rules)


class Overtaken(Exception):
    """The state that a request was read from changed before its answer was saved; nothing was saved."""


class StepContext(Struct, frozen=True):
    """What the loop knows about a step, or the start of an execution."""

    steps_left: int | None = None  # without a person, this one included
    previous: str = ""
    repeats: int = 0
    cumulative: int = 0
    starting: bool = False
    pause: str = ""
    pause_human: Human = Human.NONE
    told: Json = NOTHING  # the loop's part of the audit record
    more: int = 0  # steps that an approval adds once the limit is reached


class Request(Confidential, Struct, frozen=True):
    HIDDEN = ("token",)

    action: Action
    agent: AgentRef
    door: str
    resource: str = ""
    pending: str = ""  # a ticket's id
    token: str = ""  # a confirmation token, as it came
    execution: str = ""
    digest_fields: Collection[str] | None = None
    claimed_risk: int | None = None
    claimed_level: Level | None = None
    adapter_context: AdapterContext | None = None
    adapter: str = ""
    server: ServerClaim | None = None
    access: Access = NO_ACCESS
    runs_as: str = ""  # the principal whose user runs it, if not the caller's
    local: bool = False  # made on this machine, whatever its principal is called
    hook_files: tuple[str, ...] = ()
    provenance: Provenance = NOTHING_CREATED  # created by its session, as far as is known
    written: tuple[WrittenFile, ...] = ()  # by its session, and dangerous to run
    operation: str = ""  # its name, where the action does not say it
    step: StepContext | None = None
    may_prompt: bool = False  # whether the agent's own prompt may answer a confirm that its user can judge
    journaled: bool = False  # it will run below the journal, which keeps the local files that it changes
    spend: bool = True  # whether an allow uses up its approval; else the decision is `unspent`
    strength: str = ""  # isolation of the caller, where the interface knows more than the principal shows
    in_force: InForce | None = None  # that governs this one call, where its interface tightens what the process has

    @property
    def owner(self) -> str:
        """The principal whose files the action changes."""
        return self.runs_as or self.agent.principal


class Judged(Struct, frozen=True):
    request: Request
    judgement: Judgement
    named: MatchNames
    registry_match: RegistryMatch | None
    now: float
    in_force: InForce
    isolation: str = ""
    digest: str = ""
    effect_keys: tuple[EffectKey, ...] = ()

    @property
    def action(self) -> Action:
        return self.request.action

    @property
    def agent(self) -> AgentRef:
        return self.request.agent

    @property
    def assessment(self) -> Assessment:
        return self.judgement.assessment

    @property
    def policy(self) -> Policy:
        return self.in_force.policy

    @property
    def severity(self) -> str:
        """Seed 003's severity: the registry's where a pattern has one, else the level's (C-32)."""
        if self.registry_match and self.registry_match.severity is not None:
            return self.registry_match.severity.word
        return ("", "", "medium", "high", "critical")[self.assessment.level]


def operation_name(request: Request) -> str:
    return request.operation or counted_name(request.action)


def counted_name(action: Action) -> str:
    """The name that an action is counted under: an operation's name, or a command's program."""
    if action.kind in (Kind.OPERATION, Kind.TOOL):
        return action.text[:200]
    first = (action.text.split(None, 1) or [""])[0]
    name, given, _ = first.partition("=")  # `PGPASSWORD=… psql`: a variable's value may be a secret
    return f"{action.kind.value}:{redact_text(f'{name}{given}'[:100])}"


def session_of(agent: AgentRef) -> str:
    return agent.session or f"{agent.principal}/{agent.name}"


def put_bounded(table: dict[Any, Any], key: Any, value: Any, most: int) -> None:
    """The oldest keys go first; a known one is never away in between."""
    table[key] = value
    while len(table) > most:
        table.pop(next(iter(table)), None)


def put_newest(table: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    """The same, but a known key becomes the newest."""
    table[key] = value
    table.move_to_end(key)
    put_bounded(table, key, value, most)


MOST_JUDGEMENTS = 2_048
AT_ONCE = 2_000  # steps of reading, some ten milliseconds, that others may wait for
LONGEST_CACHED = 2_000  # characters; longer texts are not cached, so that the cache stays small
MOST_FIELDS = 20  # of a call that is cached

Read = tuple[Judgement, MatchNames]
Key = tuple[Kind, str, str, str]
Decided = TypeVar("Decided")


class Scripts(Struct):
    files: FileReader
    used: bool = False
    texts: dict[str, str] = {}

    def __call__(self, path: str) -> str | None:
        self.used = True
        text = self.files(path)
        if text is not None:
            self.texts[path] = text
        return text


class ActionReader:
    """Judges with one rulebook, and caches judgements that depend on no script."""

    def __init__(self, rules: Rulebook) -> None:
        self.rules = rules
        self._known: dict[Key, tuple[Read, bool]] = {}  # and whether a script reader was given and not used

    def read(self, action: Action, files: FileReader | None = None, budget: int = BUDGET) -> Read:
        """Raises BudgetSpent where the budget is too small."""
        key = _key(action)
        if key is None:
            return self._read(action, files, budget)
        known = self._known.get(key)
        if known is not None and (files is None or known[1]):
            return known[0]
        scripts = files if files is None or isinstance(files, Scripts) else Scripts(files)
        read = self._read(action, scripts, budget)
        if scripts is None or not scripts.used:
            put_bounded(self._known, key, (read, scripts is not None), MOST_JUDGEMENTS)
        return read

    def _read(self, action: Action, files: FileReader | None, budget: int) -> Read:
        judgement = judge(action, self.rules, files, budget)
        return judgement, match_names(action, judgement.facts)


def recall(judgement: Judgement, policy: Policy, at: Circumstances, decide: Callable[[], Decided]) -> Decided:
    """Decides, unless neither policy nor circumstances have changed for this judgement."""
    if at.paused_by:  # who may pause is not compared
        return decide()
    kept: list[tuple[Policy, Circumstances, Any] | None] = judgement.once("recalled", lambda: [None])
    last = kept[0]
    if last is None or last[0] is not policy or last[1] != at:
        last = kept[0] = (policy, at, decide())
    found: Decided = last[2]
    return found


def _key(action: Action) -> Key | None:
    if action.kind in (Kind.COMMAND, Kind.INTENT):
        text = action.text
        return (action.kind, text, action.cwd, action.home) if len(text) <= LONGEST_CACHED else None
    small = all(map(_is_small, action.fields.values()))
    return (action.kind, repr(action.fields), action.cwd, action.home) if small else None


def _is_small(value: Any) -> bool:
    if isinstance(value, Mapping):
        return len(value) <= MOST_FIELDS and all(map(_is_plain, chain(value, value.values())))
    return _is_plain(value)


def _is_plain(value: Any) -> bool:
    """Whether it is spelled in one way."""
    if type(value) is str:
        return len(value) <= LONGEST_CACHED
    return value is None or type(value) in (bool, int, float, Level)


def rules_of(config: Config) -> Rulebook:
    """The shipped rules and the operator's own, with the name patterns in force (R-19)."""
    return replace(load(*config.rule_files), patterns=config.danger_patterns)
