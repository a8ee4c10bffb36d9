"""Adapters known to this daemon: their trust in force, and the context that they add to a request."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interlock.adapters import Adapter, AdapterOperationSpec, AdapterProblem, AdapterReading, levels, read_file
from interlock.adapters.danger import DangerBlock
from interlock.adapters.trust import HIGHEST_CLAIM, TrustRecord, current_trust
from interlock.config import Config, ConfigError
from interlock.model import NOTHING, Kind, Level, Trust, operation
from interlock.policy.circumstances import AdapterContext
from interlock.policy.trust_matrix import AdapterCall
from interlock.runtime import put_bounded

if TYPE_CHECKING:
    from interlock.runtime import Request
    from interlock.runtime.state import State

INTROSPECT = "introspect"
_MOST_SERVERS, _MOST_TWINS = 200, 20


class LoadedAdapter(Struct, frozen=True):
    adapter: Adapter
    path: str
    mark: str  # the file's hash
    warnings: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return "server" if self.adapter.type == "server" else "adapter"

    @property
    def origin(self) -> str:
        return "proxy" if self.kind == "server" else "file"


class TrustEntry(Struct, frozen=True):
    """An operator's decision about an adapter's trust: of which file, and when; sealed against forgery."""

    record: TrustRecord
    mark: str
    at: float
    text: str = ""
    seal: str = ""

    def proved(self, seal_key: bytes | None) -> bool:
        """False while no operator has signed in."""
        if seal_key is None:
            return False
        return hmac.compare_digest(trust_seal(self.text, seal_key).encode(), self.seal.encode("utf-8", "replace"))


class AdapterStanding(Struct, frozen=True):
    trust: Trust
    why: str = ""
    spoken: bool = False  # whether an operator has decided about it


def trust_seal(text: str, seal_key: bytes) -> str:
    return hmac.new(seal_key, b"interlock adapter\0" + text.encode(), hashlib.sha256).hexdigest()


def read_adapters(config: Config) -> tuple[LoadedAdapter, ...]:
    """Raises ConfigError with every file that is missing or broken, and the lines."""
    found: dict[str, LoadedAdapter] = {}
    wrong: list[str] = []
    for name in config.adapters:
        path = _path(config, name)
        try:
            reading = read_file(path)
        except OSError as error:
            problem = AdapterProblem(0, "", f"cannot be read: {error.strerror or error}", True)
            reading = AdapterReading(None, (problem,))
        said: tuple[list[str], list[str]] = [], []
        for problem in reading.problems:
            said[problem.error].append(f"{path}{f':{problem.line}' if problem.line else ''}: {problem.message}")
        wrong += said[True]
        adapter = reading.adapter
        if adapter is None or not reading.usable:
            continue
        if adapter.name in found:
            wrong.append(f"{path}: adapter {adapter.name!r} is there already, in {found[adapter.name].path}")
        found[adapter.name] = LoadedAdapter(adapter, str(path), reading.mark, tuple(said[False]))
    if wrong:
        raise ConfigError("adapters.files: " + "; ".join(wrong))
    return tuple(found.values())


class Adapters:
    """Every adapter by its name; `adapter_trust` stores the operators' decisions."""

    def __init__(
        self, loaded: Sequence[LoadedAdapter] = (), seal_key: Callable[[], bytes | None] = lambda: None
    ) -> None:
        self._seal_key = seal_key
        self.stale = False  # another process changed something
        self.loaded: Mapping[str, LoadedAdapter] = MappingProxyType({one.adapter.name: one for one in loaded})
        self.servers: dict[str, dict[str, LoadedAdapter]] = {}  # behind proxies: by name, and by how they are started
        self.kept: dict[str, TrustEntry] = {}
        self.recorded: dict[str, tuple[float, Trust]] = {}  # what the record says last: when, and how far

    def meet(self, server: LoadedAdapter) -> None:
        """Trust is stale where a server is new; the oldest are forgotten."""
        name = server.adapter.name
        same = self.servers.get(name, {})
        if same.get(server.mark) == server:
            return
        put_bounded(same, server.mark, server, _MOST_TWINS)
        put_bounded(self.servers, name, same, _MOST_SERVERS)
        self.stale = True

    def knows(self, server: LoadedAdapter) -> bool:
        return self.servers.get(server.adapter.name, {}).get(server.mark) == server

    @property
    def names(self) -> list[str]:
        return [*self.loaded, *(name for name in list(self.servers) if name not in self.loaded)]

    def found(self, name: str) -> tuple[LoadedAdapter, ...]:
        """One adapter, or every server reported under this name."""
        if name in self.loaded:
            return (self.loaded[name],)
        return tuple(self.servers.get(name, {}).values())

    def standing(self, name: str, now: float) -> AdapterStanding:
        if name not in self.loaded:
            return AdapterStanding(Trust.UNTESTED, f"no adapter {name!r} is loaded")
        return self.standing_of(self.loaded[name], now)

    def standing_of(self, loaded: LoadedAdapter, now: float) -> AdapterStanding:
        """The trust in force; an unproved entry can only lower it."""
        name = loaded.adapter.name
        spoken = name in self.kept or name in self.recorded
        claim, why = current_trust(loaded.adapter.trust, now)
        if claim > HIGHEST_CLAIM:
            claim, why = HIGHEST_CLAIM, f"its {loaded.origin} says {claim.word}, which counts once an operator agrees"
        kept = self.kept.get(name)
        at, level = self.recorded.get(name, (0.0, Trust.CERTIFIED))
        if kept is None or kept.at < at:
            why = why if claim <= level else "the record says so, and the stored entry is gone"
            return AdapterStanding(min(claim, level), why, spoken)
        key = self._seal_key()
        reason = "its trust entry was altered outside Interlock"
        if kept.proved(key):
            if kept.mark == loaded.mark:
                return AdapterStanding(*current_trust(kept.record, now), spoken)
            reason = f"its {loaded.origin} is not the one that operators decided about"
        elif key is None:
            reason = "its trust entry counts once an operator has run `interlock unlock`"
        why = reason if claim < kept.record.level else why
        return AdapterStanding(min(claim, kept.record.level, level), why, spoken)


def enrich_from_adapter(state: State, request: Request, now: float) -> Request:
    """The caller's own claims are ignored."""
    loaded = state.adapters.loaded.get(request.adapter)
    if loaded is None:
        return _unknown(request)
    standing = state.adapters.standing_of(loaded, now)
    if (own := _operation(loaded.adapter, request)) is not None:
        return _known(state, request, own, standing)
    note = f"adapter {request.adapter!r} has no operation {request.action.text[:80]!r}"
    call = AdapterCall(request.action.text, Level.SAFE, standing.trust)
    return replace(request, adapter_context=AdapterContext(call, note=note, missing=True))


def _known(state: State, request: Request, own: AdapterOperationSpec, standing: AdapterStanding) -> Request:
    action, trust, patterns = request.action, standing.trust, state.rules.patterns
    params = action.fields.get("params") or NOTHING
    facts = levels.call_facts(own.name, params, own.category)
    variables = {"params": params, **facts, "agent": request.agent.name, "adapter": request.adapter}
    by_name = partial(levels.level_from_name, patterns=patterns)
    found = levels.effective_level(own.claims, by_name, trust, variables=variables)
    call = AdapterCall(own.name, found.level, trust, own.category, own.name == INTROSPECT, found.reasons)
    adapted = AdapterContext(
        call,
        own.danger,
        note=raise_trust_hint(request.adapter, standing),
        notices=tuple(one.message for one in found.warnings),
        warnings=tuple(one.as_json() for one in found.warnings),
    )
    told = operation(action.text, params, own.category, action.cwd, found.level)
    return replace(request, action=replace(told, witnesses=action.witnesses), adapter_context=adapted)


def _unknown(request: Request) -> Request:
    """Untested: it can be introspected, and nothing else."""
    action, introspects = request.action, request.action.text == INTROSPECT
    note = (
        f"no adapter {request.adapter[:80]!r} is loaded here, so it counts as untested: an operator adds its file to "
        "adapters.files in interlock.toml and starts the daemon again"
    )
    if introspects:
        action = operation(INTROSPECT, action.fields.get("params") or NOTHING, "read", action.cwd, Level.SAFE)
    call = AdapterCall(action.text, Level.SAFE, Trust.UNTESTED, introspection=introspects)
    return replace(request, action=action, adapter_context=AdapterContext(call, note=note))


def _operation(adapter: Adapter, request: Request) -> AdapterOperationSpec | None:
    """Every adapter can be introspected."""
    if request.action.kind is not Kind.OPERATION:
        return None
    own = adapter.operation(request.action.text)
    if own is None and request.action.text == INTROSPECT:
        return AdapterOperationSpec(INTROSPECT, "read", 0, danger=DangerBlock(Level.SAFE))
    return own


def raise_trust_hint(name: str, standing: AdapterStanding, what: str = "adapter") -> str:
    higher = Trust(min(standing.trust + 1, Trust.CERTIFIED))
    why = f" ({standing.why})" if standing.why else ""
    return (
        f"{what} {name!r} is {standing.trust.word}{why}: an operator who vouches for it runs "
        f"`interlock adapter trust {name} {higher.word} --reason …`"
    )


def _path(config: Config, name: str) -> Path:
    path = Path(name).expanduser()
    return path if path.is_absolute() or not config.path else Path(config.path).parent / path
