"""The tables `[planner]` and `[plan]`: which planner is used, and when a plan has to be confirmed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from interlock.config.settings import one_of, whole
from interlock.problems import Problems

PLANNER_KEYS = frozenset({"use", "host", "model", "key_env", "seconds"})
PLAN_KEYS = frozenset({"confirmMediumRisk", "run_in_console", "run_from_elsewhere", "max_minutes", "output_bytes"})
AUTO, OLLAMA, MOCK = "auto", "ollama", "mock"
PLANNERS = (AUTO, OLLAMA, "openai_compatible", MOCK)
OLLAMA_HOST, OLLAMA_MODEL = "http://127.0.0.1:11434", "llama3.2"
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


class PlannerSettings(Struct, frozen=True):
    """The table `[planner]`."""

    use: str = AUTO  # an operator chooses once, where something listens at Ollama's default address
    host: str = OLLAMA_HOST
    model: str = OLLAMA_MODEL
    key_env: str = ""  # the environment variable with the key, for an endpoint that needs one
    seconds: int = 60  # to wait for an answer

    @property
    def open(self) -> bool:
        """Whether the planner was left to chance: any program may listen on Ollama's default port of this machine."""
        return self.use == AUTO and self.host == OLLAMA_HOST

    @property
    def here(self) -> bool:
        """Whether requests stay on this machine."""
        return (urlsplit(self.host).hostname or "") in _HERE

    @property
    def warnings(self) -> tuple[str, ...]:
        if self.here or not self.host.startswith("http:"):
            return ()
        return (f"planner.host: requests go to {urlsplit(self.host).hostname} unencrypted",)


class PlanSettings(Struct, frozen=True):
    """The table `[plan]`."""

    confirm_medium_risk: bool = True  # 2.12: confirmMediumRisk
    run_in_console: bool = True  # whether the daemon runs plans from the console's Ask page
    run_from_elsewhere: bool = False  # also for a browser that comes through console.public_url
    max_minutes: int = 60  # that a command may run in the console
    output_bytes: int = 262_144  # of its output that are stored

    def wire(self) -> dict[str, Any]:
        """The settings under the keys of the file."""
        return {
            "confirmMediumRisk": self.confirm_medium_risk,
            "run_in_console": self.run_in_console,
            "run_from_elsewhere": self.run_from_elsewhere,
            "max_minutes": self.max_minutes,
            "output_bytes": self.output_bytes,
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        found = []
        if not self.confirm_medium_risk:
            found.append("plan.confirmMediumRisk = false: medium-risk plans run without a box to tick")
        if self.run_from_elsewhere:
            found.append(
                "plan.run_from_elsewhere: an operator who signs in from another machine can run commands on this one"
            )
        return tuple(found)


def planner_of(table: Mapping[str, Any], problems: Problems) -> PlannerSettings:
    """The settings of the table; errors go to `problems`."""
    plain, where = PlannerSettings(), ("planner",)
    return PlannerSettings(
        one_of(table, "use", PLANNERS, plain.use, where, problems),
        _host(table, problems),
        problems.text(table, "model", where) or plain.model,
        _variable(table, problems),
        whole(table, "seconds", where, plain.seconds, 1, 600, problems),
    )


def plan_of(table: Mapping[str, Any], problems: Problems) -> PlanSettings:
    """The settings of the table; errors go to `problems`."""
    plain, where = PlanSettings(), ("plan",)
    return PlanSettings(
        problems.flag(table, "confirmMediumRisk", where, plain.confirm_medium_risk),
        problems.flag(table, "run_in_console", where, plain.run_in_console),
        problems.flag(table, "run_from_elsewhere", where, plain.run_from_elsewhere),
        whole(table, "max_minutes", where, plain.max_minutes, 1, 1_440, problems),
        whole(table, "output_bytes", where, plain.output_bytes, 1_024, 4_194_304, problems),
    )


def _host(table: Mapping[str, Any], problems: Problems) -> str:
    url = (problems.text(table, "host", ("planner",)) or OLLAMA_HOST).strip().rstrip("/")
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fits = False
    if not fits or parts.username or parts.query or parts.fragment:
        problems.error(
            ("planner", "host"), "host: expected http://… or https://…, without a user, a query or a fragment"
        )
        return OLLAMA_HOST
    return url


def _variable(table: Mapping[str, Any], problems: Problems) -> str:
    """The name of a variable; refuses a key itself, which does not belong into a file that agents can read."""
    if table.get("key_env", "") == "":
        return ""
    name = problems.text(table, "key_env", ("planner",))
    if name and not _VARIABLE.fullmatch(name):
        problems.error(("planner", "key_env"), "key_env: expected the name of an environment variable, not a key")
        return ""
    return name
