"""Which policy and mode count for this agent? The operator's, with their settings for it, and whatever its own side tightens (AE-08, R-12)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from interlock.core.digest import normal_name
from interlock.core.loop_rules import LoopRules, Ruled, ruled
from interlock.core.model import AgentRef
from interlock.core.policy import MODES
from interlock.core.policy_form import PolicyError, policy_of
from interlock.policybook import toml
from interlock.service.loop.problem import LoopProblem
from interlock.service.memory import STRICTNESS
from interlock.service.state import State

LONGEST = 1_000_000  # characters of a policy
ADAPTER = "adapter:"  # how the door of adapters is called, with their names behind it


@dataclass(frozen=True, slots=True)
class Tightened:
    """What an agent-side file or flag asks for; it is an agent's word, so it only ever tightens."""

    rules: LoopRules = field(default_factory=LoopRules)
    mode: str = ""
    said: tuple[str, ...] = ()  # what of it does not count, in words

    @property
    def warnings(self) -> list[dict[str, str]]:
        """The same, as an envelope carries it."""
        return [{"code": IGNORED, "message": words, "severity": "medium"} for words in self.said]


NOT_TIGHTENED = Tightened()
IGNORED = "TIGHTENING_ONLY"  # the warning's code


def tightened(state: State, policy: str = "", mode: str = "") -> Tightened:
    """What the text of a policy file and a `--safety-mode` come to; refuses a policy that cannot be read."""
    if not policy and not mode:
        return NOT_TIGHTENED
    found, loosens = _parsed(policy) if policy else (NOT_TIGHTENED, False)
    if policy and policy == state.policy.source.partition("\0")[0]:  # behind it comes what it extends
        found, loosens = NOT_TIGHTENED, False  # the daemon's own: it counts as it is
    said = ["autoApprove of a policy the operator does not use is ignored"] if loosens else []
    if mode and mode not in MODES:  # an unknown word is enforcing, and said
        said.append(f"unknown safety mode {mode[:40]!r}: enforcing is used")
        mode = "enforcing"
    wanted = max((word for word in (mode, found.mode) if word), key=STRICTNESS.__getitem__, default="")
    if wanted and STRICTNESS[wanted] < STRICTNESS[state.mode]:
        said.append(f"safety mode {wanted} would loosen {state.mode} and is ignored")
        wanted = ""
    return Tightened(found.rules, wanted, tuple(said))


def governing(state: State, agent: AgentRef, door: str, tight: Tightened = NOT_TIGHTENED) -> State:
    """The service under the policy and the mode that count for this agent."""
    own = state.loops.agents.get(normal_name(agent.name))
    rules: list[Ruled] = [(own, _proved(state, agent))] if own else []
    served = door.removeprefix(ADAPTER).split(",") if door.startswith(ADAPTER) and state.loops.adapters else ()
    rules += [(found, False) for name in served if (found := state.loops.adapters.get(name))]
    rules += [(tight.rules, False)] if tight.rules else []
    policy = ruled(state.policy, rules)
    mode = tight.mode if tight.mode and STRICTNESS[tight.mode] > STRICTNESS[state.mode] else state.mode
    return state.under(policy, mode, tuple(rules))


def _proved(state: State, agent: AgentRef) -> bool:
    """A name is proved by the token that an operator gave to it; anybody can claim one."""
    row = state.pins.agent(agent.principal, agent.name)
    return row is not None and bool(row.token_hash) and not row.revoked_at


@lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[Tightened, bool]:
    """What a policy tightens, and whether it also says what would loosen."""
    try:
        if len(text) > LONGEST:
            raise ValueError("longer than any policy is")
        data = json.loads(text) if text.lstrip().startswith("{") else toml(text)
        policy = policy_of(data, "given")
    except (PolicyError, ValueError, RecursionError) as error:
        words = f"The policy that was given cannot be used: {error}"[:300]
        raise LoopProblem("VALIDATION_INVALID_VALUE", words, {"param_name": "policy"}) from None
    loop = data.get("loop", {}) if isinstance(data.get("loop", {}), Mapping) else {}
    rules = LoopRules(
        policy.max_autonomous_steps if "maxAutonomousSteps" in data or "max_autonomous_steps" in loop else None,
        policy.tolerance if _says(data, "riskTolerance", "tolerance") else "",
        replace(policy.patterns, allow=()),
    )
    return Tightened(rules, policy.mode), bool(policy.patterns.allow)


def _says(data: Mapping[str, Any], *keys: str) -> bool:
    return any(key in data for key in keys)
