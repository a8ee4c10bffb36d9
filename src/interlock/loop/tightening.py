"""The policy and mode that govern an agent: the operator's, tightened by the agent's own side, never loosened (AE-08, R-12)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.canonical_json import normal_name
from interlock.error_codes import LoopProblem
from interlock.model import AgentRef
from interlock.policy.load import own_text, policy_data
from interlock.policy.overrides import LoopRules, apply_all_rules
from interlock.policy.policy import MODES, PolicyError, policy_of
from interlock.runtime import InForce
from interlock.runtime.memory import STRICTNESS
from interlock.runtime.state import State

INTERFACE = "mcp"
ADAPTER = "adapter:"  # the interface of adapters; their names follow
IGNORED = "TIGHTENING_ONLY"  # the warning's code


class Tightening(Struct, frozen=True):
    """Rules and mode of an agent-side file or flag: the agent's claim, so they only tighten."""

    rules: LoopRules = field(default_factory=LoopRules)
    mode: str = ""
    ignored: tuple[str, ...] = ()  # the parts that do not count, in sentences

    @property
    def warnings(self) -> list[dict[str, str]]:
        return [{"code": IGNORED, "message": words, "severity": "medium"} for words in self.ignored]


NO_TIGHTENING = Tightening()


def parse_tightening(state: State, policy: str = "", mode: str = "") -> Tightening:
    """Parses a policy file's text and a `--safety-mode`; refuses an unreadable policy."""
    if not policy and not mode:
        return NO_TIGHTENING
    found, loosens = _parse_policy(policy) if policy else (NO_TIGHTENING, False)
    if policy and policy == own_text(state.policy):
        found, loosens = NO_TIGHTENING, False  # the daemon's own: it counts as it is
    ignored = ["autoApprove of a policy the operator does not use is ignored"] if loosens else []
    if mode and mode not in MODES:  # an unknown word means enforcing, with a warning
        ignored.append(f"unknown safety mode {mode[:40]!r}: enforcing is used")
        mode = "enforcing"
    wanted = max((word for word in (mode, found.mode) if word), key=STRICTNESS.__getitem__, default="")
    if wanted and STRICTNESS[wanted] < STRICTNESS[state.mode]:
        ignored.append(f"safety mode {wanted} would loosen {state.mode} and is ignored")
        wanted = ""
    return Tightening(found.rules, wanted, tuple(ignored))


class Connection(Struct, frozen=True):
    tight: Tightening = NO_TIGHTENING
    door: str = INTERFACE
    strength: str = ""


PLAIN_CONNECTION = Connection()


def governing(state: State, agent: AgentRef, via: Connection) -> InForce:
    by, tight, door = state.in_force, via.tight, via.door
    own = by.loops.agents.get(normal_name(agent.name))
    row = state.baseline.agent(agent.principal, agent.name) if own else None
    # A name is proved by the token that an operator gave to it; anybody can claim one.
    proved = row is not None and bool(row.token_hash) and not row.revoked_at
    rules = [replace(own, proved=proved)] if own else []
    served = door.removeprefix(ADAPTER).split(",") if door.startswith(ADAPTER) and by.loops.adapters else ()
    rules += [found for name in served if (found := by.loops.adapters.get(name))]
    rules += [tight.rules] if tight.rules else []
    mode = tight.mode if tight.mode and STRICTNESS[tight.mode] > STRICTNESS[by.mode] else by.mode
    return by.under(apply_all_rules(by.policy, rules), mode, tuple(rules))


@lru_cache(maxsize=64)
def _parse_policy(text: str) -> tuple[Tightening, bool]:
    """What a policy tightens, and whether it also holds rules that would loosen."""
    try:
        data = policy_data(text)
        policy = policy_of(data, "given")
    except (PolicyError, ValueError, RecursionError) as error:
        words = f"The policy that was given cannot be used: {error}"[:300]
        raise LoopProblem("VALIDATION_INVALID_VALUE", words, {"param_name": "policy"}) from None
    loop = data["loop"] if isinstance(data.get("loop"), Mapping) else {}
    rules = LoopRules(
        policy.loop.max_autonomous_steps if "maxAutonomousSteps" in data or "max_autonomous_steps" in loop else None,
        policy.tolerance if "riskTolerance" in data or "tolerance" in data else "",
        replace(policy.patterns, allow=()),
    )
    return Tightening(rules, policy.mode), bool(policy.patterns.allow)
