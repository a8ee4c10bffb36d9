"""The hook client in Python, where none could be compiled: asks the daemon, else evaluates in process."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPException, HTTPResponse

from interlock.agents import HookOutput
from interlock.agents import agent as agent_of
from interlock.client import NoDaemon, SocketConnection
from interlock.config import Config
from interlock.engine import fallback
from interlock.install.client_build import limit_of

MOST_ANSWER = 4 << 20


def main(argv: Sequence[str]) -> int:
    """Runs with the fallback's arguments, `FOLDER CONFIGURATION AGENT EVENT`, and the agent's JSON on stdin."""
    return fallback.run(argv, ask_daemon)


def ask_daemon(word: str, event: str, data: bytes, config: Config) -> HookOutput | None:
    """The daemon's answer; None where no daemon of ours answers."""
    seconds = limit_of(word, config)
    headers = {
        "Content-Type": "application/json",
        "Connection": "close",
        "Interlock-Event": event,
        "Interlock-Limit": str(int(seconds * 1000)),
    }
    if home := fallback.agent_home():
        headers["Interlock-Home"] = os.fsencode(home).decode("latin-1")
    try:
        with closing(SocketConnection(config.agents_socket, seconds)) as connection:
            connection.request("POST", f"/api/v1/hook/{agent_of(word).word}", data, headers)
            return _reply(connection.getresponse())
    except (OSError, HTTPException, NoDaemon, ValueError):
        return None


def _reply(answer: HTTPResponse) -> HookOutput | None:
    body = answer.read(MOST_ANSWER + 1)
    code, first = answer.getheader("Interlock-Exit"), answer.getheader("Interlock-Stdout")
    if answer.status != 200 or code is None or first is None or len(body) > MOST_ANSWER:
        return None
    exit, split = int(code), int(first)
    if not 0 <= exit <= 255 or not 0 <= split <= len(body):
        return None
    return HookOutput(body[:split], body[split:], exit)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
