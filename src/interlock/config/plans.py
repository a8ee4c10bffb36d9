"""The tables `[planner]` and `[plan]`: which planner is used, and when a plan has to be confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal, get_args
from urllib.parse import urlsplit

from msgspec import Struct, field

from interlock.config.values import THIS_MACHINE, planner_host, variable_name
from interlock.schema import says

PlannerName = Literal["auto", "ollama", "openai_compatible", "mock"]
PLANNERS: tuple[str, ...] = get_args(PlannerName)
AUTO: Final = "auto"
OLLAMA, MOCK = "ollama", "mock"
OLLAMA_HOST, OLLAMA_MODEL = "http://127.0.0.1:11434", "llama3.2"


class PlannerSettings(Struct, frozen=True):
    use: Annotated[
        PlannerName, says("who makes [plans](../guide/ask.md#planners); `auto`: an operator chooses once")
    ] = AUTO
    host: Annotated[
        str,
        says(
            "where it is asked",
            weakened_by="another machine over `http:`: what people ask crosses the network in the open",
            read=planner_host,
        ),
    ] = OLLAMA_HOST
    model: Annotated[str, says("the model")] = OLLAMA_MODEL
    key_env: Annotated[
        str,
        says(
            "the environment variable of the daemon that has the key; the key itself does not belong into this file",
            read=variable_name,
        ),
    ] = ""
    seconds: Annotated[int, says("how long an answer is waited for", 1, 600)] = 60

    @property
    def open(self) -> bool:
        """Left to chance: any program may listen on Ollama's default port of this machine."""
        return self.use == AUTO and self.host == OLLAMA_HOST

    @property
    def here(self) -> bool:
        """Whether requests stay on this machine."""
        return (urlsplit(self.host).hostname or "") in THIS_MACHINE

    @property
    def warnings(self) -> Iterator[str]:
        if not self.here and self.host.startswith("http:"):
            yield f"planner.host: requests go to {urlsplit(self.host).hostname} unencrypted"


class PlanSettings(Struct, frozen=True):
    confirm_medium_risk: Annotated[  # 2.12
        bool,
        says(
            "a [medium-risk plan](../guide/ask.md#the-plan) has a box to tick; a high-risk one always has",
            weakened_by="`false`",
        ),
    ] = field(default=True, name="confirmMediumRisk")
    run_in_console: Annotated[bool, says("the daemon runs what its Ask page was told to, as its own user")] = True
    run_from_elsewhere: Annotated[
        bool,
        says(
            "also for a browser that came by `console.public_url`",
            weakened_by="`true`: whoever signs in from elsewhere can run commands on this machine",
        ),
    ] = False
    max_minutes: Annotated[int, says("how long such a command may run", 1, 1_440)] = 60
    output_bytes: Annotated[int, says("how much of its output is kept while it is followed", 1_024, 4_194_304)] = (
        262_144
    )

    @property
    def warnings(self) -> Iterator[str]:
        if not self.confirm_medium_risk:
            yield "plan.confirmMediumRisk = false: medium-risk plans run without a box to tick"
        if self.run_from_elsewhere:
            yield "plan.run_from_elsewhere: an operator who signs in from another machine can run commands on this one"
