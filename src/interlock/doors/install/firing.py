"""A handler and a payload -> what the hook answered, run as the agent runs it: argv or shell, stdin, environment."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

from interlock.agents import Agent, Reply
from interlock.doors.install.handlers import Handler

_MOST_BYTES = 4 << 20
_DRIVERS = {
    "opencode": """
const plugin = await import("./plugin.mjs")
const hooks = await plugin.Interlock({ directory: call.cwd, worktree: call.cwd })
const ask = () => hooks["tool.execute.before"]({ tool: call.tool, sessionID: call.session_id, callID: call.call_id }, { args: call.args })
""",
    "amp": """
const plugin = await import("./plugin.mjs")
const handlers = {}
plugin.default({ on: (name, handler) => { handlers[name] = handler } })
process.chdir(call.cwd)
const event = { tool: call.tool, input: call.args, toolUseID: call.call_id, thread: { id: call.session_id } }
const ask = async () => {
  const answer = await handlers["tool.call"](event, {})
  if (answer?.action !== "allow") throw new Error(answer?.message ?? "refused")
}
""",
}
_DRIVE = """
const call = JSON.parse(process.env.INTERLOCK_CALL)
%s
const said = { decision: "allow" }
const start = performance.now()
try { await ask() } catch (error) { said.decision = "deny"; said.reason = String(error.message) }
console.log(JSON.stringify({ ms: performance.now() - start, said }))
"""


class DidNotFire(Exception):
    """A hook that cannot be run at all, in words."""


@dataclass(frozen=True, slots=True)
class Fired:
    """One answer, and how long it took."""

    reply: Reply
    milliseconds: float


def fire(agent: Agent, handler: Handler, payload: bytes, cwd: Path, more: Mapping[str, str]) -> Fired:
    """Runs the handler once; raises DidNotFire where there is nothing to run or it does not end in the agent's time."""
    if handler.how == "url":
        return _posted(handler.words[0], payload, agent.limit_seconds)
    if handler.how == "plugin":
        return _loaded(agent, Path(handler.words[0]), payload, cwd)
    argv = {
        "argv": list(handler.words),
        "script": list(handler.words),
        "bash": [shutil.which("bash") or "bash", "-c", *handler.words],
        "shell": ["/bin/sh", "-c", *handler.words],
    }[handler.how]
    start = time.perf_counter()
    out, err, code = _run(argv, payload, cwd, {**os.environ, **more}, agent.limit_seconds)
    return Fired(Reply(out, err, code), (time.perf_counter() - start) * 1000)


def _run(argv: list[str], given: bytes, cwd: Path, env: Mapping[str, str], seconds: float) -> tuple[bytes, bytes, int]:
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
    except OSError as error:
        raise DidNotFire(f"{argv[0]} cannot be run: {error.strerror}") from None
    try:
        out, err = process.communicate(given, seconds)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise DidNotFire(f"no answer within {seconds:g} s, which is all that the agent waits") from None
    return out[:_MOST_BYTES], err[:_MOST_BYTES], process.returncode


def _posted(url: str, payload: bytes, seconds: float) -> Fired:
    """The request that an HTTP hook is; no proxy, and only what says 200 is an answer."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    start = time.perf_counter()
    try:
        connection = kind(parts.hostname or "", parts.port, timeout=seconds)
        try:
            connection.request("POST", f"{parts.path}?{parts.query}", payload, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            body = answer.read(_MOST_BYTES)
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        raise DidNotFire(f"{parts.scheme}://{parts.netloc} does not answer: {error}") from None
    if not 200 <= answer.status < 300:
        raise DidNotFire(f"{parts.scheme}://{parts.netloc} answered {answer.status}")
    said = b"" if body.strip() == b"{}" else body  # what is nothing on stdout is an empty object here
    return Fired(Reply(said), (time.perf_counter() - start) * 1000)


def _loaded(agent: Agent, plugin: Path, payload: bytes, cwd: Path) -> Fired:
    """The plugin in a real node, called as the agent calls it; the answer in the words that the plugin reads from us."""
    node = shutil.which("node") or shutil.which("bun")
    if node is None:
        raise DidNotFire("the plugin is JavaScript, and there is no node here to try it with")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plugin.mjs").write_bytes(plugin.read_bytes())
        driver = Path(folder) / "driver.mjs"
        driver.write_text(_DRIVE % _DRIVERS[agent.word], "utf-8")
        env = {**os.environ, "INTERLOCK_CALL": payload.decode()}
        out, err, code = _run([node, str(driver)], b"", cwd, env, agent.limit_seconds + 10)
    try:
        found = json.loads(out)
        said = found["said"]
        allowed = said["decision"] == "allow"
        reply = Reply(json.dumps(said).encode(), b"" if allowed else str(said["reason"]).encode(), 0 if allowed else 2)
        return Fired(reply, float(found["ms"]))
    except (ValueError, KeyError, TypeError):
        last = (err.decode("utf-8", "replace").strip().splitlines() or [f"exit code {code}"])[-1]
        raise DidNotFire(f"the plugin cannot be loaded: {last[:200]}") from None
