"""MCP servers behind proxies: their trust, their declared annotations, and whether their tools still match the pinned ones."""

# A server has a trust level as an adapter has: the same levels, store and command. A proxy's claim about its server counts up to
# `validated`; it is bound to the server's start command, so that no other server can take its name.

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interlock.adapters import Adapter
from interlock.adapters.local_servers import is_local_command, only_touches_files
from interlock.adapters.trust import TrustRecord
from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Effect
from interlock.canonical_json import json_table
from interlock.model import Action, Level, Trust
from interlock.policy.circumstances import AdapterContext
from interlock.policy.trust_matrix import AdapterCall
from interlock.redaction import redact_text
from interlock.runtime.adapter_trust import ensure_known
from interlock.runtime.adapters import LoadedAdapter, enrich_from_adapter, raise_trust_hint

if TYPE_CHECKING:
    from interlock.ports import Access, Tx
    from interlock.runtime import InForce, Request
    from interlock.runtime.state import State

TYPE = "server"
CHANGED = "server.changed"
PINNED_TOOLS = "server.tools:"  # and the server's name and mark
MOST_TOOLS = 2_000
_SHOWN = 300  # characters of how a server is started
DESTRUCTIVE, READ_ONLY = "destructive", "read_only"  # what the annotations of a tool can claim
HINTS = frozenset({DESTRUCTIVE, READ_ONLY})
UNSTATED = ", or whoever starts its proxy vouches for it there (`interlock proxy --trust validated`)"
SAYS_SO = "the server's own annotations say that it destroys"


class ServerClaim(Struct, frozen=True):
    """A proxy's claim about the server behind it and the called tool."""

    name: str
    mark: str  # a hash of its start command
    words: str = ""  # the same for a person
    claim: Trust = Trust.UNTESTED
    raised: Level = Level.SAFE  # at least: a tool that is not listed, or is not what it was
    why: str = ""
    hints: frozenset[str] = frozenset()
    stated: bool = True  # whether somebody stated `claim`; False for the default

    @property
    def loaded(self) -> LoadedAdapter:
        return _loaded(self.name, self.mark, self.words, self.claim)

    @property
    def here(self) -> bool:
        """Whether it runs on this machine and works on its files, as far as its command shows."""
        return _here(self.words)

    @property
    def destroys(self) -> bool:
        return DESTRUCTIVE in self.hints

    def labelled(self, action: Action) -> Action:
        """Adds the category READ to a call whose local server says that the tool only reads: one signal of two (C-01)."""
        if READ_ONLY not in self.hints or not self.here:
            return action
        return replace(action, fields=MappingProxyType({**action.fields, "crude": "READ"}))


_here = lru_cache(maxsize=1_000)(is_local_command)


@lru_cache(maxsize=1_000)
def _loaded(name: str, mark: str, words: str, claim: Trust) -> LoadedAdapter:
    shown = redact_text(words)[:_SHOWN]
    return LoadedAdapter(Adapter(name, TYPE, "", shown, {}, (), TrustRecord(claim)), shown, mark)


class ServerStanding(Struct, frozen=True):
    trust: Trust
    note: str = ""
    changed: tuple[str, ...] = ()  # tools that differ from the pinned ones


def enrich(state: State, request: Request, now: float) -> Request:
    """Of an adapter or a server; the caller's own claims are ignored."""
    server = request.server
    if request.adapter_context is not None:
        return request
    if server is None:
        return enrich_from_adapter(state, request, now)
    standing = state.adapters.standing_of(server.loaded, now)
    action = server.labelled(request.action)
    claimed = not server.stated and not standing.spoken
    call = AdapterCall(action.text, Level.SAFE, standing.trust, introspection=action is not request.action and claimed)
    note = raise_trust_hint(server.name, standing, TYPE) + (UNSTATED if claimed else "")
    why = server.why or (SAYS_SO if server.destroys else "")
    adapted = AdapterContext(call, note=note, notices=(why,) if why else ())
    return replace(request, action=action, adapter=server.name, adapter_context=adapted)


def declared_effects(by: InForce, server: ServerClaim, access: Access, own: Judgement) -> Judgement | None:
    """The annotations as a fact to classify with the call's own facts; None where the call itself is at least as severe.

    A tool that only overwrites files is judged by those files, as an agent's own tool is, where they can be inspected and copied first.
    """
    level, keeps = server.raised, access.inspect is not None and access.snapshot is not None and by.undo.enabled
    if server.destroys and not (keeps and server.here and only_touches_files(own.facts)):
        level = max(level, Level.DESTRUCTIVE)
    if own.assessment.level >= level:
        return None
    fact = Effect("declared", server.name, traits=frozenset({f"level_{int(level)}"}))
    return replace(own, facts=(fact,), witnesses=())


def server_standing(
    state: State, server: ServerClaim, tools: Mapping[str, str] | None, principal: str
) -> ServerStanding:
    """Blocks on the store."""
    ensure_known(state, server)
    found = state.adapters.standing_of(server.loaded, state.clock.now())
    changed = _check_pins(state, server, tools, principal) if tools else ()
    return ServerStanding(found.trust, raise_trust_hint(server.name, found, TYPE), changed)


def accept_tools(state: State, by: str, server: LoadedAdapter, reason: str) -> None:
    """The next listing is pinned instead."""

    def work(tx: Tx) -> None:
        tx.save_setting(_key(server), json.dumps({}))
        state.recorder.event(tx, "server_change", by, {"server": server.adapter.name, "reason": reason})

    state.store.write(work)
    state.alerts.pop(f"{CHANGED} {server.adapter.name}", None)


def _check_pins(state: State, server: ServerClaim, tools: Mapping[str, str], principal: str) -> tuple[str, ...]:
    """Pins new tools."""
    known = state.store.read(lambda tx: _pins(tx, server.loaded))
    changed = tuple(sorted(name for name, mark in tools.items() if known.get(name, mark) != mark))
    fresh = {name: mark for name, mark in tools.items() if name not in known}
    if fresh or changed:
        state.store.write(lambda tx: _save_pins(tx, state, server, fresh, changed, principal))
    key, words = f"{CHANGED} {server.name}", f"tools of server {server.name} have changed: {', '.join(changed)[:300]}"
    if changed and state.alerts.get(key) != words:
        state.alerts[key] = words
        state.tell("alert", None, words)
    return changed


def _save_pins(
    tx: Tx, state: State, server: ServerClaim, fresh: Mapping[str, str], changed: Iterable[str], principal: str
) -> None:
    if fresh:
        pinned = {**_pins(tx, server.loaded), **fresh}
        tx.save_setting(_key(server.loaded), json.dumps(dict(list(pinned.items())[:MOST_TOOLS]), sort_keys=True))
    if changed:
        details = {"kind": CHANGED, "server": server.name, "tools": list(changed)[:50], "principal": principal}
        state.recorder.event(tx, "alert", "interlock", details)


def _key(server: LoadedAdapter) -> str:
    return f"{PINNED_TOOLS}{server.adapter.name}:{server.mark}"


def _pins(tx: Tx, server: LoadedAdapter) -> dict[str, str]:
    return {name: str(mark) for name, mark in json_table(tx.setting(_key(server)) or "").items()}
