"""`interlock proxy adopt`: a client's file goes through the proxy, and comes back to the letter."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from interlock.agents.hook_files import json_or_empty
from interlock.agents.jsonc import EditError
from interlock.proxy.adoption import ProxyCommand, adopt_json, adopt_toml

PROXY = ProxyCommand("/opt/inter lock/bin/python", "validated")
CLAUDE = """{
  "mcpServers": {
    "memory": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-memory"],
      "env": {"MEMORY_FILE_PATH": "/data/m.json"}
    },
    "bare": {"command": "/opt/bare"},
    "empty": {"command": "x", "args": []},
    "far": {"type": "http", "url": "https://far.example/mcp"},
    "own": {"command": "/usr/bin/interlock", "args": ["mcp"]}
  },
  "other": [1, 2.50, {"servers": 3}]
}
"""
VSCODE = """{
  // my servers
  "servers": {
    "files": {
      "type": "stdio", /* local */
      "command": "node", // the runtime
      "args": [
        // the script
        "${workspaceFolder}/server.js",
        "--root", "/srv",
      ],
    },
  },
  "inputs": [],
}
"""
NESTED = '{"projects":{"/home/u/app":{"mcpServers":{"a b":{"command":"uvx","args":["x"]}}}},"mcpServers":{"z":{"command":"y"}}}'
CODEX = """model = "o5" # the model

[mcp_servers.memory]
command = "npx" # node
args = [
  "-y",  # yes
  "@modelcontextprotocol/server-memory",
]
env = { KEY = "v" }

[mcp_servers."with space"]
command = 'uvx'

[mcp_servers."with space".env]
A = "command = 'no'"

[profiles.x]
command = "not a server"
"""


@pytest.mark.parametrize("text", [CLAUDE, VSCODE, NESTED, CLAUDE.replace("\n", "\r\n"), "\ufeff" + NESTED])
def test_json_goes_through_the_proxy_and_comes_back_to_the_letter(text: str) -> None:
    once = adopt_json(text, PROXY)
    assert once.changed
    assert adopt_json(once.text, PROXY).text == once.text
    assert adopt_json(once.text, PROXY).changed == []
    back = adopt_json(once.text, None)
    assert back.text == text
    assert back.changed == once.changed


def test_toml_goes_through_the_proxy_and_comes_back_to_the_letter() -> None:
    once = adopt_toml(CODEX, PROXY)
    assert once.changed == ["memory", "with space"]
    assert adopt_toml(once.text, PROXY).text == once.text
    assert "# yes" in once.text and "# node" in once.text
    found = tomllib.loads(once.text)
    assert found["mcp_servers"]["memory"]["args"][-3:] == ["npx", "-y", "@modelcontextprotocol/server-memory"]
    assert found["profiles"]["x"]["command"] == "not a server"
    assert adopt_toml(once.text, None).text == CODEX.replace("'uvx'", '"uvx"')


def test_what_is_started_is_a_proxy_by_its_absolute_path_with_the_same_server_behind_it() -> None:
    once = adopt_json(CLAUDE, PROXY)
    entry = json_or_empty(once.text)["mcpServers"]["memory"]
    assert entry["command"] == "/opt/inter lock/bin/python"
    words = ["-I", "-m", "interlock", "proxy", "--name", "memory", "--trust", "validated", "--", "npx", "-y"]
    assert entry["args"] == [*words, "@modelcontextprotocol/server-memory"]
    assert entry["env"] == {"MEMORY_FILE_PATH": "/data/m.json"}
    assert set(once.left) == {"far", "own"}
    assert "no command" in once.left["far"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"mcpServers": {}}', '{"mcpServers": 1}', '{"mcpServers": {"a": {}, "a": {}}}', "{'a': 1}"],
)
def test_a_broken_file_is_refused(text: str) -> None:
    with pytest.raises(EditError):
        adopt_json(text, PROXY)


@pytest.mark.parametrize("text", ["", "[mcp_servers", "a = 1", "mcp_servers = 2"])
def test_broken_toml_is_refused(text: str) -> None:
    with pytest.raises(EditError):
        adopt_toml(text, PROXY)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "interlock", "proxy", "adopt", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def test_the_command_shows_a_diff_keeps_a_backup_and_goes_back(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(VSCODE)
    dry = run(str(path), "--dry-run")
    assert dry.returncode == 0 and '+      "command": ' in dry.stdout
    assert path.read_text() == VSCODE
    assert run(str(path)).returncode == 2, "without a terminal it takes --yes"
    done = run(str(path), "--yes")
    assert done.returncode == 0, done.stderr
    assert json_or_empty(path.read_text())["servers"]["files"]["command"] == sys.executable
    (backup,) = tmp_path.glob("mcp.json.interlock-backup-*")
    assert backup.read_text() == VSCODE
    again = run(str(path), "--yes")
    assert "Nothing to change." in again.stdout
    assert run(str(path), "--undo", "--yes").returncode == 0
    assert path.read_text() == VSCODE


def test_a_file_that_is_broken_or_missing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    assert "no such file" in run(str(path), "--yes").stderr
    path.write_text('{"mcpServers": {\n "a" {}}}')
    said = run(str(path), "--yes")
    assert said.returncode == 1
    assert "line 2, column 6" in said.stderr
    assert json.dumps("a") in path.read_text()


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { a = { command = "x" } }',
        '[mcp_servers]\na.command = "x"\na.args = ["q"]\n[other]\n[mcp_servers.b]\ncommand = "y" # why\n',
        '[mcp_servers.a]\r\ncommand = "x"\r\n\r\n[mcp_servers.a.env]\r\nK = "v"\r\n',
        '[mcp_servers.a]\nargs = []\ncommand = "x"\n# end',
    ],
    ids=["inline", "dotted", "crlf", "empty"],
)
def test_toml_is_adopted_however_its_servers_are_written(text: str) -> None:
    once = adopt_toml(text, PROXY)
    assert {one["command"] for one in tomllib.loads(once.text)["mcp_servers"].values()} == {PROXY.python}
    assert adopt_toml(once.text, None).text == text
