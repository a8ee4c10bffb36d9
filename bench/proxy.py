"""Measures the proxy: a call of the same MCP server through `interlock proxy` and directly, in turns in one run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.http import served

CALLS, TURN = 1_000, 25
SERVER = """
import json, sys
for line in sys.stdin.buffer:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {"content": [{"type": "text", "text": json.dumps(asked.get("params"))}]}
    if asked["method"] == "tools/list":
        result = {"tools": [{"name": "get_note", "inputSchema": {"type": "object"}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
CALL: dict[str, Any] = {"name": "get_note", "arguments": {"title": "the list for Friday", "number": 3}}


@dataclass
class Talk:
    """A server, or a proxy in front of one."""

    process: subprocess.Popen[bytes]
    number: int = 0
    times: dict[str, list[float]] = field(default_factory=dict)

    def ask(self, method: str, params: Any) -> bytes:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.number += 1
        asked = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        line = json.dumps(asked).encode() + b"\n"
        began = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        self.times.setdefault(method, []).append(time.perf_counter() - began)
        assert b"isError" not in said and b'"error"' not in said, said
        return said

    def at(self, method: str, share: float) -> float:
        taken = sorted(self.times[method])
        return taken[int(len(taken) * share)] * 1e3


@contextmanager
def talk(*words: str) -> Iterator[tuple[Talk, float]]:
    """One that lists its tools, and how long that took from its start."""
    began = time.perf_counter()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        made = Talk(process)
        made.ask("tools/list", {})
        try:
            yield made, time.perf_counter() - began
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)


def main() -> None:
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place)
        stack.enter_context(served(folder, ""))
        (folder / "server.py").write_text(SERVER)
        server = [sys.executable, str(folder / "server.py")]
        proxy = [sys.executable, "-m", "interlock", "proxy", "--config", str(folder / "interlock.toml")]
        direct, alone = stack.enter_context(talk(*server))
        proxied, ready = stack.enter_context(talk(*proxy, "--trust", "validated", "--", *server))
        for one in (direct, proxied):  # what is imported and remembered first
            for _ in range(TURN):
                one.ask("tools/call", CALL)
            one.times.clear()
        for _ in range(CALLS // TURN):
            for one in (direct, proxied):
                for _ in range(TURN):
                    one.ask("tools/call", CALL)
                    one.ask("ping", {})
        report(direct, proxied)
        print(f"start-up until the tools are listed: {ready * 1e3:.0f} ms (directly {alone * 1e3:.0f} ms)")


def report(direct: Talk, proxied: Talk) -> None:
    print(
        f"\none call of a tool that answers at once\n\n{'':<34}{'p50':>11}{'p90':>11}{'added p50':>13}{'x direct':>10}"
    )
    for method, name in (("tools/call", "a call, judged and recorded"), ("ping", "a message that only passes")):
        base = direct.at(method, 0.5)
        for what, one in (("directly", direct), ("through the proxy", proxied)):
            half, most = one.at(method, 0.5), one.at(method, 0.9)
            label = f"{name}" if one is proxied else f"{method} {what}"
            print(f"{label:<34}{half:>8.3f} ms{most:>8.3f} ms{half - base:>10.3f} ms{half / base:>10.1f}")
    print("aim: at most 0.4 ms added to a call")


if __name__ == "__main__":
    main()
