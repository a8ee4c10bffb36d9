"""Sends a harmless call through a hook as its agent would, and reads the verdict in the reply."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import cache
from http.client import HTTPException
from pathlib import Path
from pwd import struct_passwd
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from interlock.agents import AgentDialect, Event, HookOutput, HookVerdict
from interlock.agents.facts import fill_template
from interlock.client import http_connection
from interlock.install.discovery import Handler

COMMAND = "echo interlock-canary"
SESSION = "interlock-doctor"


def canary(word: str, event: str, command: str | None, cwd: str, session: str = SESSION) -> bytes | None:
    """None for an event that does not gate a shell command."""
    known = _inputs().get(word, {})
    found = known.get(event, known.get("*"))
    if found is None:
        return None
    if like := found.get("like"):  # an input with the fields of another one
        other, _, name = like.partition(".")
        found = {**_inputs()[other][name], **{key: value for key, value in found.items() if key != "like"}}
    payload = fill_template(found, {"@command": command, "@cwd": cwd, "@session": session})
    if word == "copilot":  # which sends JSON in JSON
        payload["toolArgs"] = json.dumps(payload["toolArgs"])
    return json.dumps(payload).encode()


def environment(word: str, cwd: str) -> Mapping[str, str]:
    names = _inputs().get(word, {}).get("sets", ())
    return {name: SESSION if name.endswith("_ID") else cwd for name in names}


@cache
def _inputs() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("canaries.toml").read_text("utf-8"))


_MOST_BYTES = 4 << 20
_DRIVERS = Path(__file__).with_name("drivers")  # each calls a plugin as its agent does


class DidNotFire(Exception):
    """The hook could not be run; the message says why."""


class HookReply(Struct, frozen=True):
    reply: HookOutput
    milliseconds: float


def fire(
    agent: AgentDialect,
    handler: Handler,
    payload: bytes,
    cwd: Path,
    more: Mapping[str, str],
    user: struct_passwd | None,
) -> HookReply:
    """As root also as another user; raises DidNotFire where it cannot start or is too slow."""
    if handler.how == "url":
        return _post(handler.words[0], payload, agent.limit_seconds)
    if handler.how == "plugin":
        return _run_plugin(agent, Path(handler.words[0]), payload, cwd)
    shells = {"bash": [shutil.which("bash") or "bash", "-c"], "shell": ["/bin/sh", "-c"]}
    start = time.perf_counter()
    argv = [*shells.get(handler.how, ()), *handler.words]
    out, err, code = _run(argv, payload, cwd, more, agent.limit_seconds, user)
    return HookReply(HookOutput(out, err, code), (time.perf_counter() - start) * 1000)


def _run(
    argv: list[str], given: bytes, cwd: Path, more: Mapping[str, str], seconds: float, user: struct_passwd | None = None
) -> tuple[bytes, bytes, int]:
    env: dict[str, str] = {**os.environ, **more}
    how: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    if user is not None:
        how |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        env |= {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name}
    try:
        process = subprocess.Popen(argv, cwd=cwd, env=env, start_new_session=True, **how)
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


def _post(url: str, payload: bytes, seconds: float) -> HookReply:
    """Without a proxy; only a status of 200 to 299 is an answer."""
    parts, start = urlsplit(url), time.perf_counter()
    try:
        with closing(http_connection(url, seconds)) as connection:
            connection.request("POST", f"{parts.path}?{parts.query}", payload, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            body = answer.read(_MOST_BYTES)
    except (OSError, HTTPException, ValueError) as error:
        raise DidNotFire(f"{parts.scheme}://{parts.netloc} does not answer: {error}") from None
    if not 200 <= answer.status < 300:
        raise DidNotFire(f"{parts.scheme}://{parts.netloc} answered {answer.status}")
    said = b"" if body.strip() == b"{}" else body  # an empty object stands for empty stdout
    return HookReply(HookOutput(said), (time.perf_counter() - start) * 1000)


def _run_plugin(agent: AgentDialect, plugin: Path, payload: bytes, cwd: Path) -> HookReply:
    node = shutil.which("node") or shutil.which("bun")
    if node is None:
        raise DidNotFire("the plugin is JavaScript, and there is no node here to try it with")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plugin.mjs").write_bytes(plugin.read_bytes())
        driver = Path(folder) / "driver.mjs"
        ask = (_DRIVERS / f"{agent.word}.mjs").read_text("utf-8")
        driver.write_text((_DRIVERS / "drive.mjs").read_text("utf-8").replace("@ASK@", ask), "utf-8")
        call = {"INTERLOCK_CALL": payload.decode()}
        out, err, code = _run([node, str(driver)], b"", cwd, call, agent.limit_seconds + 10)
    try:
        found = json.loads(out)
        said = found["said"]
        refused = (b"", 0) if said["decision"] == "allow" else (str(said["reason"]).encode(), 2)
        return HookReply(HookOutput(json.dumps(said).encode(), *refused), float(found["ms"]))
    except (ValueError, KeyError, TypeError):
        last = (err.decode("utf-8", "replace").strip().splitlines() or [f"exit code {code}"])[-1]
        raise DidNotFire(f"the plugin cannot be loaded: {last[:200]}") from None


BROKEN = "broken"


def verdict_of(agent: AgentDialect, event: Event, reply: HookOutput) -> str:
    """The verdict whose shape this answer has, texts aside; `broken` where none fits."""
    words = ("allow", "deny") if event.problem else ("allow", "ask", "deny")
    shapes = {word: _shape(agent.encode(event, HookVerdict(word, "because"))) for word in words}
    found = _shape(reply)
    for word in ("deny", "ask", "allow"):  # the stricter verdict where two have one shape
        if shapes.get(word) == found:
            return word
    allowed = _shape(agent.encode(event, HookVerdict("allow", context="told")))
    return "allow" if not event.problem and found == allowed else BROKEN


def _shape(reply: HookOutput) -> tuple[int, Any, bool]:
    text = reply.stdout.decode("utf-8", "replace")
    try:
        said = _bare(json.loads(text)) if text.strip() else None
    except (ValueError, RecursionError):
        said = text
    return reply.exit, said, reply.exit != 0 and bool(reply.stderr.strip())


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        texts = _inputs()["texts"]
        return {
            key: "*" if key in texts["words"] and isinstance(item, str) else _bare(item)
            for key, item in value.items()
            if key not in texts["context"]
        }
    return [_bare(item) for item in value] if isinstance(value, list) else value
