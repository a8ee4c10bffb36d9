"""What operators and agents send, but for evaluate: every key known, every length bounded."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from interlock.core.policy import MODES
from interlock.core.registry import CATEGORIES
from interlock.core.trust import TRUSTS

Word = Annotated[str, Field(min_length=1, max_length=200)]
Words = Annotated[str, Field(max_length=500)]
Label = Annotated[str, Field(min_length=1, max_length=64)]
Labels = Annotated[list[Label], Field(max_length=50)]
Secret = Annotated[str, Field(min_length=1, max_length=1024, json_schema_extra={"format": "password"})]
CATEGORY_PATTERN = f"^({'|'.join(sorted(CATEGORIES))})$"
TRUST_PATTERN = f"^({'|'.join(TRUSTS)})$"
MODE_PATTERN = f"^({'|'.join(MODES)})$"


class Body(BaseModel):
    """An object that refuses what it does not know."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Reason(Body):
    reason: Words = ""


class Rejection(Body):
    reason: Annotated[str, Field(min_length=1, max_length=500)]


class Outcome(Body):
    outcome: Annotated[str, Field(min_length=1, max_length=500, description="what became of the action")]
    agent: Annotated[str, Field(max_length=200, description="the name the ticket was opened under")] = ""


class Resume(Body):
    operator: Annotated[str, Field(max_length=200, description="who it has to be; empty: whoever signed in")] = ""


class SignIn(Body):
    operator: Label
    passphrase: Secret
    channel: Annotated[str, Field(pattern="^[a-z][a-z0-9_-]{0,39}$")] = "http"


class Passphrase(Body):
    passphrase: Secret


class Mode(Body):
    mode: Annotated[str, Field(pattern=MODE_PATTERN)]
    reason: Words = ""


class NewPause(Body):
    seconds: Annotated[int, Field(ge=1, le=86_400)]
    reason: Annotated[str, Field(min_length=1, max_length=500)]


class NewJail(Body):
    pid: Annotated[int, Field(ge=2, description="the first process of its PID namespace, as it is numbered outside")]
    program: Annotated[str, Field(min_length=1, max_length=200)]
    grants: Labels = []
    fixed: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=4096)]],
        Field(max_length=200, description="files that it must not be able to write"),
    ] = []


class HookChange(Body):
    change: Annotated[str, Field(pattern="^(installed|removed)$")]
    agent: Label
    scope: Annotated[str, Field(pattern="^(project|user|system)$")]
    files: Annotated[list[Annotated[str, Field(min_length=1, max_length=4096)]], Field(min_length=1, max_length=20)]


class Acceptance(Body):
    reason: Annotated[str, Field(min_length=1, max_length=500)]
    mark: Annotated[str, Field(max_length=64, description="which of several servers of one name is meant")] = ""


class TrustChange(Acceptance):
    level: Annotated[str, Field(pattern=TRUST_PATTERN)]


class MetServer(Body):
    server: Annotated[dict[str, Any], Field(description="as in evaluate")]
    tools: Annotated[
        dict[str, Annotated[str, Field(min_length=1, max_length=64)]],
        Field(max_length=2_000, description="the tools that it lists, each with a hash of its description"),
    ] = {}


class NewAgent(Body):
    name: Word
    trust_tier: Annotated[str, Field(max_length=64)] = ""


class AgentChange(Body):
    principal: Word
    name: Annotated[str, Field(max_length=200)] = ""
    trust_tier: Annotated[str, Field(max_length=64)] | None = None
    revoked: bool = False


class NewBlock(Body):
    principal: Word
    reason: Annotated[str, Field(min_length=1, max_length=500)]


class NewOperator(Body):
    name: Label
    passphrase: Secret
    roles: Labels = []
    teams: Labels = []
    service: bool = False


class OperatorChange(Body):
    roles: Labels | None = None
    teams: Labels | None = None
    disabled: bool | None = None


class FirstOperator(Body):
    row: Annotated[dict[str, Any], Field(description="the sealed row that the terminal made")]
    seal_key: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="hex")]


class Undoing(Body):
    force: Annotated[bool, Field(description="whether later work is overwritten")] = False


class NewGrant(Body):
    effect: Annotated[str, Field(max_length=100)] = ""
    targets: Annotated[list[Annotated[str, Field(min_length=1, max_length=4096)]], Field(max_length=100)] = []
    environment: Annotated[str, Field(max_length=100)] = ""
    ceiling: Annotated[str, Field(pattern="^(safe|reversible|destructive|dangerous|forbidden)$")] = "destructive"
    count: Annotated[int, Field(ge=1, le=1_000)] = 1
    seconds: Annotated[int, Field(ge=1, le=7 * 86_400)] = 3_600
    why: Annotated[str, Field(min_length=1, max_length=500)]
    principal: Annotated[str, Field(max_length=200)] = ""
    name: Annotated[str, Field(max_length=200)] = ""
    session: Annotated[str, Field(max_length=200)] = ""
    digests: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100)] = []


class NewStanding(Body):
    verdict: Annotated[str, Field(pattern="^(allow|deny)$")]
    pattern: Annotated[str, Field(min_length=1, max_length=300)]
    why: Annotated[str, Field(max_length=500)] = ""
    seconds: Annotated[int, Field(ge=0, le=366 * 86_400, description="0: until it is taken back")] = 0


class NewPattern(Body):
    """Seed 003's fields."""

    id: Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$")]
    pattern: Annotated[str, Field(min_length=1, max_length=1_000)]
    category: Annotated[str, Field(pattern=CATEGORY_PATTERN)]
    severity: Annotated[str, Field(pattern="^(low|medium|high|critical)$")]
    description: Annotated[str, Field(max_length=500)] = ""
    requiresConfirmation: bool = True
    coolingOffMs: Annotated[int, Field(ge=0, le=86_400_000)] = 0
    requiresHumanApproval: bool = False
    canRollback: bool | None = None
    undo: Annotated[str, Field(max_length=500)] = ""
