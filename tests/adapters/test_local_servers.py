"""Which servers work on this machine's files, and which calls are about files alone."""

from __future__ import annotations

import json

import pytest

from interlock.adapters.local_servers import is_local_command, only_touches_files
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.model import tool

HERE = "/home/ana/app"
RULES = load()
STARTED = [
    ("npx -y @modelcontextprotocol/server-filesystem /home/ana", True),
    ("node /opt/mcp/server-filesystem/dist/index.js /home/ana/docker-notes", True),
    ("uvx mcp-text-editor", True),
    ("python -m notes_server --root ~/remote", True),
    ("docker run -i --rm -v /home/ana:/projects mcp/filesystem /projects", False),
    ("podman run mcp/filesystem", False),
    ("ssh build npx server-filesystem /srv", False),
    ("npx -y mcp-remote https://files.example/mcp", False),
    ("uvx ssh-mcp ana@build", False),
    ("/usr/local/bin/docker-mcp", False),
    ("node /opt/github-mcp/index.js", False),
    ("kubectl exec -i pod -- server-filesystem /data", False),
]


@pytest.mark.parametrize(("command", "here"), STARTED)
def test_a_server_works_on_this_machines_files_where_its_command_leads_nowhere_else(command: str, here: bool) -> None:
    assert is_local_command(json.dumps(command.split())) is here


@pytest.mark.parametrize("words", ["https://files.example/mcp", "", "[]", '["node"', '{"a": 1}', "[1]"])
def test_what_is_no_command_works_elsewhere(words: str) -> None:
    assert not is_local_command(words)


CALLS = [
    ("write_file", {"path": "/home/ana/app/new.txt", "content": "x"}, True),
    ("write_file", {"path": "~/new.txt", "content": "x"}, True),
    ("write_file", {"path": "new.txt", "content": "x"}, False),
    ("edit_file", {"path": "/home/ana/a.txt", "edits": [{"oldText": "a", "newText": "b"}]}, True),
    ("move_file", {"source": "/home/ana/a.txt", "destination": "/home/ana/b.txt"}, True),
    ("move_file", {"source": "/home/ana/a.txt", "destination": "b.txt"}, False),
    ("delete_file", {"path": "/home/ana/a.txt"}, True),
    ("create_or_update_file", {"owner": "o", "repo": "r", "path": "src/a.py", "content": "x"}, False),
    ("write_file", {"path": "/home/ana/.bashrc", "content": "rm -rf /srv/data"}, False),
    ("run_command", {"command": "rm /home/ana/a.txt"}, False),
    ("store_note", {"id": 1}, False),
]


@pytest.mark.parametrize(("name", "given", "files"), CALLS)
def test_a_call_is_about_files_alone_where_all_that_it_does_has_a_certain_path(
    name: str, given: dict[str, object], files: bool
) -> None:
    assert only_touches_files(judge(tool(f"mcp__any__{name}", given, HERE), RULES).facts) is files
