"""The JavaScript plugins, loaded by a real node: a call goes on only at the client's explicit word."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from interlock.agents import HookClient, agent
from interlock.agents.facts import all_facts, plugin_text

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

OPENCODE = """
import { Interlock } from "./plugin.mjs"
const hooks = await Interlock({ directory: "/home/u/app", worktree: "/home/u" })
const input = { tool: "bash", sessionID: "o-1", callID: "c-1", args: { command: "ls" } }
const args = ARGS
const said = {}
try { await hooks["tool.execute.before"](input, { args }); said.before = "ran" } catch (error) { said.before = error.message }
const output = { title: "", output: "files", metadata: {} }
try { await hooks["tool.execute.after"](input, output) } catch (error) { said.after = error.message }
console.log(JSON.stringify({ ...said, output: output.output }))
"""
AMP = """
import plugin from "./plugin.mjs"
const handlers = {}
plugin({ on: (name, handler) => { handlers[name] = handler } })
const event = { tool: "Bash", input: { cmd: "ls" }, toolUseID: "t-1", thread: { id: "T-1" } }
const answer = await handlers["tool.call"](event, {})
await handlers["tool.result"](event, {})
console.log(JSON.stringify(answer))
"""


def client(folder: Path, body: str) -> HookClient:
    """A hook client that is a shell script."""
    path = folder / "a folder" / "interlock-hook"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return HookClient(str(path))


def run(folder: Path, plugin: str, driver: str, args: str = '{ command: "ls" }') -> Any:
    (folder / "plugin.mjs").write_text(plugin)
    (folder / "driver.mjs").write_text(driver.replace("ARGS", args))
    done = subprocess.run([NODE or "node", "driver.mjs"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def opencode(folder: Path, chosen: HookClient, limit: float = 20, args: str = '{ command: "ls" }') -> Any:
    return run(folder, plugin_text(all_facts()["opencode"], limit, chosen), OPENCODE, args)


ALLOW = """cat >/dev/null; printf '%s' '{"decision":"allow"}'"""


def test_the_plugin_sends_the_call_and_goes_on_when_told_to(tmp_path: Path) -> None:
    chosen = client(
        tmp_path,
        f"""cat >"{tmp_path}/seen-$2"; echo "$# $1 $2 ${{HOME:-no-home}}" >"{tmp_path}/argv"; printf '{{"decision":"allow"}}'""",
    )
    said = run(
        tmp_path,
        agent("opencode").installed(agent("opencode").places("user", tmp_path, tmp_path)[0], None, chosen),
        OPENCODE,
    )
    assert said == {"before": "ran", "output": "files"}
    sent = (tmp_path / "seen-tool.execute.before").read_bytes()
    assert (tmp_path / "argv").read_text() == "2 opencode tool.execute.after no-home\n"
    event = agent("opencode").decode(sent, "tool.execute.before")
    assert (event.problem, event.session, event.cwd, event.calls[0].id) == ("", "o-1", "/home/u/app", "c-1")
    assert event.calls[0].action.text == "ls"
    after = agent("opencode").decode((tmp_path / "seen-tool.execute.after").read_bytes())
    assert after.kind == "after" and after.calls[0].action == event.calls[0].action


def test_the_reason_of_a_deny_is_thrown(tmp_path: Path) -> None:
    reply = agent("opencode").broken("Held: rewrites history. Approve ticket t1.")
    (tmp_path / "out").write_bytes(reply.stdout)
    chosen = client(tmp_path, f"""cat >/dev/null; cat "{tmp_path}/out"; exit {reply.exit}""")
    assert opencode(tmp_path, chosen)["before"] == "Held: rewrites history. Approve ticket t1."


@pytest.mark.parametrize(
    "body",
    [
        "cat >/dev/null",
        "cat >/dev/null; echo allow",
        "cat >/dev/null; printf '{}'",
        """cat >/dev/null; printf '{"decision":"deny"}'""",
        """cat >/dev/null; printf '{"decision":"ALLOW"}'""",
        """cat >/dev/null; printf '[{"decision":"allow"}]'""",
        """cat >/dev/null; printf '"allow"'; echo noise""",
        """cat >/dev/null; printf '{"decision":"allow"}'; exit 1""",
        """cat >/dev/null; printf '{"decision":"allow"}'; exit 2""",
        """cat >/dev/null; printf '{"decision":"allow"}'; kill -9 $$""",
        """cat >/dev/null; printf '{"decision":"allow"}{"decision":"deny"}'""",
        "exit 127",
        "cat >/dev/null; head -c 3000000 /dev/zero",
    ],
)
def test_anything_but_an_explicit_allow_throws(tmp_path: Path, body: str) -> None:
    assert opencode(tmp_path, client(tmp_path, body))["before"] != "ran"


def test_a_missing_client_throws(tmp_path: Path) -> None:
    assert "cannot be run" in opencode(tmp_path, HookClient("/nowhere/interlock-hook"))["before"]


def test_a_client_that_hangs_throws_in_time(tmp_path: Path) -> None:
    assert "in time" in opencode(tmp_path, client(tmp_path, "exec sleep 600"), limit=0.5)["before"]


def test_a_client_that_does_not_read_still_counts(tmp_path: Path) -> None:
    assert opencode(tmp_path, client(tmp_path, """printf '{"decision":"allow"}'"""))["before"] == "ran"


@pytest.mark.parametrize("args", ["(() => { const a = {}; a.a = a; return a })()", "{ n: 10n }"])
def test_arguments_that_cannot_be_sent_throw(tmp_path: Path, args: str) -> None:
    assert opencode(tmp_path, client(tmp_path, ALLOW), args=args)["before"] != "ran"


def test_context_reaches_the_model_with_the_output(tmp_path: Path) -> None:
    chosen = client(
        tmp_path,
        """cat >/dev/null; [ "$2" = tool.execute.before ] && printf '{"decision":"allow","context":"Ticket t1 is approved."}' || printf '{"decision":"allow"}'""",
    )
    assert opencode(tmp_path, chosen) == {"before": "ran", "output": "files\n\nTicket t1 is approved."}


def test_amp_is_told_in_its_own_words(tmp_path: Path) -> None:
    at = agent("amp").places("user", tmp_path, tmp_path)[0]
    gone = agent("amp").installed(at, None, HookClient("/nowhere/interlock-hook"))
    assert run(tmp_path, gone, AMP)["action"] == "reject-and-continue"
    chosen = client(tmp_path, f"""cat >"{tmp_path}/seen"; printf '{{"decision":"allow"}}'""")
    assert run(tmp_path, agent("amp").installed(at, None, chosen), AMP) == {"action": "allow"}
    event = agent("amp").decode((tmp_path / "seen").read_bytes())
    assert (event.kind, event.session, event.problem, event.calls[0].action.text) == ("after", "T-1", "", "ls")


def test_somebody_elses_plugin_is_not_written_over(tmp_path: Path) -> None:
    from interlock.agents.jsonc import EditError

    for word in ("opencode", "amp", "pi"):
        at = agent(word).places("project", tmp_path, tmp_path)[0]
        with pytest.raises(EditError, match="another plugin"):
            agent(word).installed(at, "export const Mine = async () => ({})", HookClient("/x/interlock-hook"))
        assert agent(word).removed(at, "export const Mine = 1") == "export const Mine = 1"
        ours = agent(word).installed(at, None, HookClient("/x/interlock-hook"))
        assert agent(word).installed(at, ours, HookClient("/x/interlock-hook")) == ours
        assert agent(word).removed(at, ours) is None
