"""Coding agents: the nouns of their hooks (event, call, verdict, output, file), and the registry: a file here is an agent, named by its word."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from interlock.model import Action
from interlock.policy.real_paths import CLIENT as CLIENT
from interlock.policy.real_paths import ROUTE as ROUTE

if TYPE_CHECKING:
    from interlock.agents.rewriting import Rewriting

SCOPES = ("project", "user", "system")
STATUS_LINE = "interlock.cli.guard.statusline"  # the module that a status line of ours runs
GATING = frozenset({"before", "permission"})  # the kinds of event that an answer can stop


class AgentCall(Struct, frozen=True):
    """One tool call, before or after it runs."""

    tool: str  # the agent's own name for it
    input: Mapping[str, Any]
    action: Action  # what is judged, built from the judged fields only
    judged: frozenset[str]  # names of the fields that count for the digest; never empty
    id: str = ""  # where the agent gives calls an id


class Event(Struct, frozen=True):
    """An event that an agent reported to its hook."""

    kind: str  # before | after | failed | permission | config | session | other
    name: str  # the agent's own event name
    calls: tuple[AgentCall, ...] = ()
    session: str = ""
    cwd: str = ""
    parent: str = ""  # the agent that this one is a subagent of, where it is named
    transcript: str = ""
    asks: bool = False  # whether a prompt of this client reaches a human for this call
    problem: str = ""  # a missing or malformed field that the judgement needs; the reason of the denial
    outcome: str = ""  # of a call that has run: `failed` or `unknown` where the agent reports it
    pair: str = ""  # an id that two events of the same call share
    mode: str = ""  # the agent's permission mode, where it says one


class RewrittenCall(Struct, frozen=True):
    """The new input of an allowed call."""

    input: Mapping[str, Any]  # the fields that change
    whole: Mapping[str, Any]  # all of it
    asked: bool  # the agent's own rules would ask about the original, or may
    reason: str = ""  # for the prompt that shows the new input
    id: str = ""  # of the call, in its new text


class HookVerdict(Struct, frozen=True):
    """The answer, before it is encoded for an agent."""

    word: str  # allow | ask | deny; anything else is a deny
    reason: str = ""  # for a human or the model
    context: str = ""  # for the model, beside an allow
    notice: str = ""  # for the person at the agent, where it can show one
    rewrite: RewrittenCall | None = None  # beside an allow


class HookOutput(Struct, frozen=True):
    """The output that the hook client replays."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit: int = 0


class HookFile(Struct, frozen=True):
    """A file that install writes."""

    path: Path
    form: str = "json"  # json | jsonc | toml | yaml | plugin | script
    mode: int = 0o644
    note: str = ""  # the step that the user has to take before the agent uses it
    status: bool = False  # whether a status line may be set there: a file of one person


class HookClient(Struct, frozen=True):
    """How a hook reaches Interlock: the client by its absolute path, or the daemon by URL where the agent can post."""

    path: str
    url: str = ""  # the daemon's address without a path; empty for the client
    status: str = ""  # the shell command that prints a status line, where an agent shows one

    def __post_init__(self) -> None:
        if not self.path.startswith("/") or self.path.rpartition("/")[2] != CLIENT:
            raise ValueError(f"hook client: expected an absolute path that ends in /{CLIENT}, got {self.path!r}")
        if any(ord(char) < 32 or ord(char) == 127 for char in self.path):
            raise ValueError(f"hook client: control character in {self.path!r}")

    def argv(self, word: str, event: str) -> list[str]:
        """The command without a shell."""
        return [self.path, word, event]

    def shell(self, word: str, event: str) -> str:
        """The shell command; a client that is missing or crashes exits with 2, which blocks."""
        return f"{shlex.join(self.argv(word, event))} || exit 2"

    def post(self, word: str, event: str) -> str:
        """The address for an HTTP hook."""
        return f"{self.url.rstrip('/')}{ROUTE}{word}?event={event}"


class AgentDialect(Protocol):
    """One coding agent: its dialect, and the files that install writes."""

    word: str
    title: str
    limit_seconds: float  # how long the agent waits for a hook, as install writes it
    posts: bool  # whether its hooks can be HTTP requests
    state: tuple[str, ...]  # folders below the home in which it keeps its own sessions: no undo of a call is about them
    keeps_folder: bool  # whether a call runs where the last one ended, while its hooks name the folder of the start

    @property
    def rewrites(self) -> Rewriting | None:
        """How it takes rewritten calls; None where it takes none."""

    def decode(self, data: bytes, event: str = "") -> Event:
        """Decodes hook input; never raises: malformed input is an event with a problem."""

    def encode(self, event: Event, verdict: HookVerdict) -> HookOutput:
        """Encodes the verdict in exactly the agent's format, with nothing else on stdout."""

    def broken(self, reason: str) -> HookOutput:
        """The agent's denial where the event itself could not be determined."""

    def places(self, scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
        """The files that install writes for a scope; none where the agent has no such scope."""

    def installed(self, place: HookFile, text: str | None, client: HookClient) -> str:
        """The file's new text: idempotent, and all else in it stays; raises `EditError` for a file it cannot read."""

    def removed(self, place: HookFile, text: str) -> str | None:
        """The file without our hooks; None when nothing else was in it."""

    def disablers(self, home: Path, project: Path) -> list[str]:
        """A description of each setting found that disables hooks."""


_PARTS = frozenset(
    "calls claude_permissions hook_files hook_protocol jsonc plugin rewriting toml_edit yaml_edit".split()
)


class UnknownAgent(LookupError):
    """A word that names no agent; the message lists the known ones."""


@cache
def words() -> tuple[str, ...]:
    """The words of all agents, in order."""
    names = {path.stem for path in Path(__file__).parent.glob("[a-z]*.py")} - _PARTS
    return tuple(sorted(name.replace("_", "-") for name in names))


@cache
def agent(word: str) -> AgentDialect:
    """The agent of a word; refuses any other."""
    if word not in words():
        raise UnknownAgent(f"no agent {word!r}; known: {', '.join(words())}")
    found: AgentDialect = importlib.import_module(f"interlock.agents.{word.replace('-', '_')}").AGENT
    return found


__all__ = [
    "AgentCall",
    "AgentDialect",
    "Event",
    "HookClient",
    "HookFile",
    "HookOutput",
    "HookVerdict",
    "RewrittenCall",
    "UnknownAgent",
    "agent",
    "words",
]
