"""★ One call of a tool -> one envelope: checked, asked about, counted, performed; whatever is not a yes is a no."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.config import Config
from interlock.core.named import named_level
from interlock.core.policy import MODES, Policy
from interlock.core.trust import Trust
from interlock.doors.adapter.asking import Asking
from interlock.doors.adapter.calls import CannotServe
from interlock.doors.adapter.failing import Failure, failure_of
from interlock.doors.adapter.offering import Row, inferred
from interlock.doors.adapter.perform import Done, Performer
from interlock.doors.adapter.reload import Served, Shelf
from interlock.doors.adapter.surfaces import Loop, adapter_surface, loop_surface, rows_of
from interlock.doors.aql.envelope import AqlProblem, Reply, refused
from interlock.doors.aql.gatekeeper import routed
from interlock.doors.aql.introspect import INTROSPECTION
from interlock.doors.aql.surface import Call, Caller, Handler, Said, Surface
from interlock.doors.aql.surface import call as called
from interlock.doors.aql.tools import Naming, listed
from interlock.doors.client import NoDaemon
from interlock.doors.mcp.prompt import teach

TEACH = "Every operation is asked about first; a held one comes back with a token only a person can arm."
_TRUST = frozenset({"trust", "file", "revalidate_by", "overdue"})  # of a standing; the rest is its quota
_LONGEST = 19  # of a prefix (EP-04)


@dataclass(frozen=True, slots=True)
class Offered:
    """One surface, and the names of its tools."""

    surface: Surface
    naming: Naming
    adapter: str = ""  # whose it is; the loop's own where empty

    @property
    def tools(self) -> dict[str, str]:
        rows = self.surface.operations.values()
        return {self.naming.tool(endpoint): endpoint for endpoint in self.naming.endpoints(rows)}


@dataclass(slots=True)
class Serving:
    """Everything that calls are answered with; synchronous, for worker threads, but for what is performed."""

    shelf: Shelf
    asking: Asking
    performer: Performer
    config: Config
    naming: Naming
    version: str = "0"
    tight: Mapping[str, Any] = field(
        default_factory=dict
    )  # what this process asks of the loop beyond the daemon's policy
    run: Callable[[Coroutine[Any, Any, Done]], Done] = asyncio.run
    _known: dict[str, tuple[tuple[str, str, str], Offered]] = field(default_factory=dict)
    _standings: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _mode: str = ""
    _policy: Policy | None = None

    def tools(self) -> list[dict[str, Any]]:
        """The tools of every surface; their names are unique."""
        found = self.offered(fresh=True)
        words = teach(self._mode, TEACH)
        return [tool for one in found for tool in listed(one.surface.operations, one.naming, words)]

    def call(self, tool: str, arguments: Any) -> Mapping[str, Any]:
        """`{envelope, isError}`."""
        introspects = _introspects(arguments)
        for one in self.offered(fresh=introspects):
            endpoint = one.tools.get(tool)
            if endpoint is not None:
                found = self._called(one, endpoint, arguments, introspects)
                return found.wire
        details = {"operation": tool[:80], "available": sorted(name for one in self.offered() for name in one.tools)}
        return refused(AqlProblem("NOT_FOUND_OPERATION", "There is no such tool here", details)).wire

    def offered(self, fresh: bool = False) -> list[Offered]:
        """What is offered now: files that changed are read again, and where it is shown, the daemon is asked how it stands."""
        served = self.shelf.look()
        if fresh or not self._mode:
            self._mode = self._loop_mode()
            self._standings = {one.name: self.asking.standing(one.name) for one in served}
        self._policy = self._policy or self.config.effective_policy()
        loop = Loop(self._policy, self._mode, self._forwarded, self.config.limits.challenge_seconds)
        several = len(served) > 1
        found = [self._offered(one, None if several else loop, several) for one in served]
        if several:
            found.append(Offered(loop_surface(loop, self.version), self.naming))
        return found

    def _called(self, one: Offered, endpoint: str, arguments: Any, introspects: bool) -> Reply:
        caller = Caller("", self.asking.session, one.naming, self.config.strict_introspection)
        if introspects and one.adapter:
            try:
                routed(one.surface.operations, INTROSPECTION.name, endpoint)
                self._may_introspect(one.adapter)
            except AqlProblem as problem:
                return refused(problem, closed=True)
        return called(one.surface, endpoint, arguments, caller)

    def _may_introspect(self, adapter: str) -> None:
        """TL-08: an operator can keep even the questions from an untested adapter; without a daemon, questions are harmless."""
        try:
            self.asking.passage(adapter, INTROSPECTION.name, "read", {}, "")
        except Failure as failure:
            if failure.details.get("reason") != "no answer":
                raise

    def _offered(self, served: Served, loop: Loop | None, several: bool) -> Offered:
        standing = self._standings.get(served.name, {})
        trust = _trust(served, standing)
        mark = (
            served.mark,
            f"{trust.word} {standing.get('file')} {standing.get('revalidate_by')} {standing.get('overdue')} {served.problem}",
            self._mode,
        )
        known = self._known.get(served.name)
        if known is not None and known[0] == mark:
            return known[1]
        rows = rows_of(served, trust, self._named)
        surface = adapter_surface(served, rows, self._handler(served, rows, trust), standing, self._quota(served), loop)
        naming = replace(self.naming, prefix=prefix_of(self.naming.prefix, served.name)) if several else self.naming
        made = Offered(surface, naming, served.name)
        self._known[served.name] = (mark, made)
        return made

    def _handler(self, served: Served, rows: Mapping[str, Row], trust: Trust) -> Handler:
        def performed(call: Call) -> Said:
            # 1. params of its own  2. an address of its own service  3. room in the quota  4. a yes  5. the deed, counted
            name, own = call.operation.name, served.service.calls[call.operation.name]
            params = rows[name].params(call.params)  # 1
            served.service.sent(own, params)  # 2
            quota_token = _token(call, "_quota_continue")
            warnings = self.asking.room(served.name, name, served.mark, quota_token)  # 3
            judged, crude = rows[name].judged(params), own.operation.category
            ticket = self.asking.passage(served.name, name, crude, judged, call.given.confirmation)  # 4
            counted: list[list[dict[str, Any]]] = [warnings]

            async def before() -> None:
                if not served.adapter.limits:  # the daemon has the same file, so it has nothing to count either
                    return
                counted.append(await asyncio.to_thread(self.asking.room, served.name, name, served.mark, "", True))

            try:
                done = self.run(self.performer.perform(served.service, name, params, before))  # 5
            except AqlProblem as problem:
                self._report(ticket, problem.code)
                raise
            self._report(ticket, "done")
            notices = inferred(served.adapter, own.operation, judged, trust, self._named)
            return Said(_table(done.data), [*notices, *counted[-1]])

        return performed

    def _report(self, ticket: str, outcome: str) -> None:
        if ticket:
            self.asking.done(ticket, outcome)

    def _forwarded(self, call: Call) -> Said:
        """An operation of the loop, done by the daemon."""
        params = {**call.params, **call.given.private}
        body = {
            "endpoint": call.operation.endpoint,
            "arguments": {"operation": call.operation.name, "params": params},
            "session": self.asking.session,
            "mode": call.caller.naming.mode,
            "prefix": call.caller.naming.prefix,
            "adapters": [one.name for one in self.shelf.look()],
            **self.tight,
        }
        try:
            answer = self.asking.daemon.ask("POST", "/aql", body)
        except NoDaemon:
            raise Failure("PERMISSION_DENIED", "", {"reason": "no answer"}) from None
        said = answer.body if isinstance(answer.body, Mapping) else {}
        envelope = said.get("envelope")
        if answer.status == 200 and isinstance(envelope, Mapping) and envelope.get("success") is True:
            return Said(envelope.get("data") or {}, envelope.get("warnings") or ())
        raise failure_of(envelope if isinstance(envelope, Mapping) else said)

    def _quota(self, served: Served) -> Callable[[Caller], Mapping[str, Any]]:
        def status(caller: Caller) -> Mapping[str, Any]:
            found = self.asking.standing(served.name)
            return {key: value for key, value in found.items() if key not in _TRUST} or {
                "adapter": served.name,
                "api_limits": {},
                "quotas": [],
            }

        return status

    def _loop_mode(self) -> str:
        """As the daemon has it; while it is silent, nothing is allowed anyway."""
        try:
            found = self.asking.daemon.ask("GET", "/status").body
        except NoDaemon:
            return "enforcing"
        mode = found.get("mode") if isinstance(found, Mapping) else None
        return mode if mode in MODES else "enforcing"

    def _named(self, name: str, category: str) -> Any:
        return named_level(name, category, self.config.danger_patterns)


def check_names(naming: Naming, names: Sequence[str]) -> None:
    """Raises CannotServe where two adapters would have tools of the same name."""
    prefixes = [prefix_of(naming.prefix, name) for name in names] if len(names) > 1 else []
    if len(prefixes) != len(set(prefixes)) or naming.prefix in prefixes:
        raise CannotServe("two adapters would have tools of the same name; give them other names")


def prefix_of(before: str, name: str) -> str:
    """EP-04: lower-case letters, digits and underscores, short, and ends with one."""
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "adapter"
    return f"{before}{slug[: _LONGEST - 1 - len(before)].rstrip('_')}_"


def _trust(served: Served, standing: Mapping[str, Any]) -> Trust:
    """How far the daemon trusts the very file that is served."""
    if standing.get("file") != served.mark:
        return Trust.UNTESTED
    return next((one for one in Trust if one.word == standing.get("trust")), Trust.UNTESTED)


def _token(call: Call, key: str) -> str:
    given = call.given.private.get(key)
    if given is None:
        return ""
    if not isinstance(given, str):
        raise Failure(
            "VALIDATION_INVALID_TYPE", f"'{key}': expected a text", {"param_name": key, "expected_type": "string"}
        )
    return given or key


def _introspects(arguments: Any) -> bool:
    """Whether a call asks what there is, by itself or in a batch."""
    if not isinstance(arguments, dict):
        return False
    several = arguments.get("operations")
    asked = [arguments, *(several if isinstance(several, list) else [])]
    return any(isinstance(one, dict) and one.get("operation") == INTROSPECTION.name for one in asked)


def _table(data: Any) -> Mapping[str, Any]:
    """What an envelope holds is a table."""
    if isinstance(data, dict):
        return data
    return {"items": data, "count": len(data)} if isinstance(data, list) else {"value": data}
