"""★ Answers one tool call with one envelope: validated, put to the daemon, counted, performed; anything but a yes is a no."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.adapters.levels import level_from_name
from interlock.analysis.display_text import short_id
from interlock.client import DaemonClient, NoDaemon, find_daemon, path_segment
from interlock.client.connection import DaemonLink
from interlock.config import Config
from interlock.error_codes import LoopProblem, codes, confirmation_hint
from interlock.loop.protocol.envelope import ProtocolReply, refusal
from interlock.loop.protocol.gatekeeper import route
from interlock.loop.protocol.introspection import INTROSPECTION
from interlock.loop.protocol.surface import DataWithWarnings, Handler, OperationCall, ProtocolCaller, Surface
from interlock.loop.protocol.surface import call as answer_call
from interlock.loop.protocol.tools import ToolNaming, list_tools
from interlock.mcp import tool_preamble
from interlock.mcp.adapters.catalog import (
    AdapterFiles,
    LoopSurface,
    OfferedOperation,
    ServedAdapter,
    adapter_surface,
    inference_warning,
    loop_surface,
    rows_of,
)
from interlock.mcp.adapters.http_client import Performer
from interlock.mcp.adapters.requests import AdapterUnusable
from interlock.mcp.server import build_server
from interlock.mcp.stdio import ServerOptions, SocketBackend, serve
from interlock.model import TRUSTS, Json, Trust
from interlock.policy.policy import MODES, Policy
from interlock.strict_json import list_in, table_in

SILENT = "Interlock's daemon does not answer, so nothing is done. A person starts it with 'interlock serve'."


class AdapterCaller(Struct, frozen=True):
    """Asks the daemon, as an agent of this name in this server's session."""

    daemon: DaemonClient
    agent: str
    session: str

    def evaluate(self, adapter: str, operation: str, crude: str, params: Json, token: str) -> str:
        """The ticket that was spent, if any; raises LoopProblem unless it is allowed."""
        body = {
            "adapter": adapter,
            "operation": operation,
            "crude": crude.upper(),
            "params": {**params, "_confirmation": token} if token else params,
            "agent": {"name": self.agent, "session": self.session},
        }
        allowed, reply = self._ask("/evaluate", body)
        if not allowed:
            raise _refusal(reply, adapter, operation)
        return str(reply.get("pendingId", ""))

    def check_quota(
        self, adapter: str, operation: str, file: str, token: str = "", count: bool = False
    ) -> list[dict[str, Any]]:
        """The warnings; raises LoopProblem where the quota is used up."""
        body = {"adapter": adapter, "operation": operation, "file": file, "token": token, "count": count}
        allowed, reply = self._ask("/quota", body | {"agent": self.agent, "session": self.session})
        if allowed:
            return list(reply.get("warnings", ()))
        found = failure_of(reply)
        if again := found.details.get("confirmation_token"):  # 2.9: a retry carries it, so it stands beside the error
            until = found.details.get("expires_at", "")
            found.confirmation = {"token": again, "expires_at": until, "message": found.message}
        raise found

    def adapter_status(self, adapter: str) -> Json:
        """Empty for an adapter that the daemon does not know."""
        status, found = self.ask("GET", f"/quota?adapter={path_segment(adapter)}")
        return found if status == 200 else {}

    def report_outcome(self, ticket: str, outcome: str) -> None:
        """A failure to report is ignored."""
        if ticket:
            body = {"outcome": outcome, "agent": self.agent}
            self.ask("POST", f"/tickets/{path_segment(ticket)}/executed", body)

    def ask(self, method: str, path: str, body: Json | None = None) -> tuple[int, Json]:
        """The daemon's status and reply; 0 where there is none."""
        try:
            answer = self.daemon.ask(method, path, body)
        except NoDaemon:
            return 0, {}
        return answer.status, answer.body if isinstance(answer.body, Mapping) else {}

    def _ask(self, path: str, body: Json) -> tuple[bool, Json]:
        """Whether the daemon allows it, and its reply; without one, nothing is done."""
        status, reply = self.ask("POST", path, body)
        if not status:
            raise LoopProblem("PERMISSION_DENIED", SILENT, {"reason": "no answer"})
        return status == 200 and reply.get("allowed") is True, reply


def failure_of(body: Any) -> LoopProblem:
    """An unreadable reply is a refusal."""
    error = table_in(body, "error")
    if not error:
        return LoopProblem("INTERNAL_ERROR", "The daemon's answer cannot be read, so nothing is done")
    code, words = str(error.get("code", "")), str(error.get("message", ""))
    confirmation = table_in(body, "confirmation") or None
    return LoopProblem(code if code in codes() else "INTERNAL_ERROR", words, table_in(error, "details"), confirmation)


def _refusal(reply: Json, adapter: str, operation: str) -> LoopProblem:
    """Worded as in 4.3 and 4.4 where they apply."""
    found = failure_of(reply)
    code, details = found.code, found.details
    if code == "PERMISSION_DANGER_LEVEL_DENIED" and "danger_level" in details:
        level, trust = details["danger_level"], details.get("adapter_trust")
        found.message = f"Operation '{operation}' (danger: {level}) denied for adapter trust level '{trust}'"
    elif code == "PERMISSION_TRUST_LEVEL_INSUFFICIENT" and "actual_trust" in details:
        trust, needed = details["actual_trust"], details.get("required_trust")
        found.message = f"Operation '{operation}' needs adapter trust level '{needed}'; '{adapter}' is '{trust}'"
    elif code == "CONFIRMATION_REQUIRED" and reply.get("pendingId"):
        found.message = confirmation_hint(short_id(str(reply["pendingId"])))
    elif code == "PERMISSION_DENIED" and isinstance(reply.get("reason"), str):
        details.setdefault("reason", reply["reason"][:500])
    return found


TEACH = "Every operation is evaluated first; a held one comes back with a token only a person can arm."
_TRUST = frozenset({"trust", "file", "revalidate_by", "overdue"})  # of a status; the rest is the quota
_LONGEST = 19  # of a prefix (EP-04)


class OfferedSurface(Struct, frozen=True):
    surface: Surface
    naming: ToolNaming
    adapter: str = ""  # empty for the loop's own surface

    @property
    def tools(self) -> dict[str, str]:
        rows = self.surface.operations.values()
        return {self.naming.tool(endpoint): endpoint for endpoint in self.naming.endpoints(rows)}


class AdapterServer(Struct):
    """Answers tool calls; synchronous, for worker threads, except for the HTTP requests."""

    shelf: AdapterFiles
    asking: AdapterCaller
    performer: Performer
    config: Config
    naming: ToolNaming
    version: str = "0"
    tight: Json = field(default_factory=dict)  # tightening of the loop beyond the daemon's policy
    run: Callable[[Coroutine[Any, Any, Any]], Any] = asyncio.run
    _known: dict[str, tuple[Any, OfferedSurface]] = field(default_factory=dict)
    _statuses: dict[str, Json] = field(default_factory=dict)
    _mode: str = ""
    _policy: Policy | None = None

    def tools(self) -> list[dict[str, Any]]:
        found = self.surfaces(fresh=True)
        words = tool_preamble(self._mode, TEACH)
        return [tool for one in found for tool in list_tools(one.surface.operations, one.naming, words)]

    def call(self, tool: str, arguments: Any) -> Json:
        """`{envelope, isError}`."""
        requests = [arguments, *list_in(arguments, "operations")]  # of a batch
        introspects = any(isinstance(one, dict) and one.get("operation") == INTROSPECTION.name for one in requests)
        for one in self.surfaces(fresh=introspects):
            endpoint = one.tools.get(tool)
            if endpoint is not None:
                return self._answer(one, endpoint, arguments, introspects).wire
        details = {"operation": tool[:80], "available": sorted(name for one in self.surfaces() for name in one.tools)}
        return refusal(LoopProblem("NOT_FOUND_OPERATION", "There is no such tool here", details)).wire

    def surfaces(self, fresh: bool = False) -> list[OfferedSurface]:
        """Reloads changed files, and with `fresh` asks the daemon for each adapter's status."""
        served = self.shelf.look()
        if fresh or not self._mode:
            # Enforcing while the daemon does not answer, as nothing is allowed then.
            mode = self.asking.ask("GET", "/status")[1].get("mode")
            self._mode = mode if mode in MODES else "enforcing"
            self._statuses = {one.name: self.asking.adapter_status(one.name) for one in served}
        self._policy = self._policy or self.config.effective_policy()
        loop = LoopSurface(self._policy, self._mode, self._forward, self.config.limits.challenge_seconds)
        if len(served) < 2:
            return [self._offered(one, self.naming, loop) for one in served]
        naming = (replace(self.naming, prefix=prefix_of(self.naming.prefix, one.name)) for one in served)
        offered = [self._offered(one, named, None) for one, named in zip(served, naming)]
        return [*offered, OfferedSurface(loop_surface(loop, self.version), self.naming)]

    def _answer(self, one: OfferedSurface, endpoint: str, arguments: Any, introspects: bool) -> ProtocolReply:
        caller = ProtocolCaller("", self.asking.session, one.naming, self.config.daemon.strict_introspection)
        if introspects and one.adapter:
            try:  # TL-08: an operator may deny introspection of an untested adapter; it is harmless without a daemon
                route(one.surface.operations, INTROSPECTION.name, endpoint)
                self.asking.evaluate(one.adapter, INTROSPECTION.name, "read", {}, "")
            except LoopProblem as problem:
                if problem.details.get("reason") != "no answer":
                    return refusal(problem, closed=True)
        return answer_call(one.surface, endpoint, arguments, caller)

    def _offered(self, served: ServedAdapter, naming: ToolNaming, loop: LoopSurface | None) -> OfferedSurface:
        standing = self._statuses.get(served.name, {})
        same = standing.get("file") == served.mark  # the daemon's trust is in exactly the file that is served
        trust = TRUSTS.get(str(standing.get("trust")), Trust.UNTESTED) if same else Trust.UNTESTED
        mark = (served.mark, served.problem, self._mode, {key: standing.get(key) for key in _TRUST})
        known = self._known.get(served.name)
        if known is not None and known[0] == mark:
            return known[1]
        rows = rows_of(served, trust, self._named)
        handler = self._handler(served, rows, trust)
        surface = adapter_surface(served, rows, handler, standing, lambda _: self._quota(served.name), loop)
        made = OfferedSurface(surface, naming, served.name)
        self._known[served.name] = (mark, made)
        return made

    def _handler(self, served: ServedAdapter, rows: Mapping[str, OfferedOperation], trust: Trust) -> Handler:
        def perform(call: OperationCall) -> DataWithWarnings:
            # 1. params of its own  2. a URL of its own service  3. room in the quota  4. permission  5. the request, counted
            name, own = call.operation.name, served.service.calls[call.operation.name]
            params = rows[name].params(call.params)  # 1
            served.service.request(own, params)  # 2
            quota_token = call.given.token("_quota_continue")
            warnings = self.asking.check_quota(served.name, name, served.mark, quota_token)  # 3
            judged, crude = rows[name].judged(params), own.operation.category
            ticket = self.asking.evaluate(served.name, name, crude, judged, call.given.token())  # 4
            counted = [warnings]

            async def before() -> None:
                if served.adapter.limits:  # else the daemon, which has the same file, has nothing to count either
                    check = self.asking.check_quota
                    counted.append(await asyncio.to_thread(check, served.name, name, served.mark, "", True))

            try:
                done = self.run(self.performer.perform(served.service, name, params, before))  # 5
            except LoopProblem as problem:
                self.asking.report_outcome(ticket, problem.code)
                raise
            self.asking.report_outcome(ticket, "done")
            notices = inference_warning(served.adapter, own.operation, judged, trust, self._named)
            if not isinstance(done, dict):  # an envelope needs a table
                done = {"items": done, "count": len(done)} if isinstance(done, list) else {"value": done}
            return DataWithWarnings(done, [*notices, *counted[-1]])

        return perform

    def _forward(self, call: OperationCall) -> DataWithWarnings:
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
        status, reply = self.asking.ask("POST", "/aql", body)
        if not status:
            raise LoopProblem("PERMISSION_DENIED", "", {"reason": "no answer"})
        envelope = table_in(reply, "envelope")
        if status == 200 and envelope.get("success") is True:
            return DataWithWarnings(envelope.get("data") or {}, envelope.get("warnings") or ())
        raise failure_of(envelope or reply)

    def _quota(self, adapter: str) -> Json:
        found = self.asking.adapter_status(adapter)
        quota = {key: value for key, value in found.items() if key not in _TRUST}
        return quota or {"adapter": adapter, "api_limits": {}, "quotas": []}

    def _named(self, name: str, category: str) -> Any:
        return level_from_name(name, category, self.config.danger_patterns)


def check_names(naming: ToolNaming, names: Sequence[str]) -> None:
    """Raises AdapterUnusable where two adapters would have tools of the same name."""
    prefixes = {naming.prefix, *(prefix_of(naming.prefix, name) for name in names)}
    if len(names) > 1 and len(prefixes) <= len(names):
        raise AdapterUnusable("two adapters would have tools of the same name; give them other names")


def prefix_of(before: str, name: str) -> str:
    """EP-04: a short prefix of lower-case letters, digits and underscores that ends with an underscore."""
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "adapter"
    return f"{before}{slug[: _LONGEST - 1 - len(before)].rstrip('_')}_"


WORDS = """
The operations of this server itself are checked when they are called. CONFIRMATION_REQUIRED and RATE_LIMIT_QUOTA_PAUSE carry a
token: tell the user, wait until a person has agreed, then make the same call again with params._confirmation (of a quota:
params._quota_continue). You cannot arm a token, and a changed call needs a new one.
"""


async def serve_adapters(
    config: Config,
    config_path: Path | None,
    shelf: AdapterFiles,
    options: ServerOptions,
    agent: str,
    proxy: str | None,
    version: str,
) -> None:
    remote, performer = SocketBackend(DaemonLink(config, config_path), options), Performer(proxy=proxy)
    loop = asyncio.get_running_loop()

    def perform(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    tight = {key: value for key, value in options.wire.items() if key in ("policy", "safetyMode")}
    asking = AdapterCaller(find_daemon(config), agent, remote.session.id)
    remote.local = AdapterServer(shelf, asking, performer, config, options.naming, version, tight, perform)
    try:
        await serve(remote, build_server(remote, version, "", "interlock-adapter"), WORDS)
    finally:
        remote.close()
        await performer.close()


def say(words: str) -> None:
    """On stderr: stdout belongs to the protocol."""
    print(f"interlock adapter serve: {words}", file=sys.stderr, flush=True)
