"""Content that is nothing, and content that goes over what is there."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.analysis.operations.operation import read_operation
from recording_report import Recorder

LOST: list[tuple[str, dict[str, Any]]] = [
    ("confluence_update_page", {"id": 1, "body": ""}),
    ("replace_security_group_rules", {"id": "sg", "rules": []}),
    ("update_acl", {"entries": [], "replace_all": True, "mode": "replace"}),
    ("set_team_members", {"team": "sre", "members": []}),
    ("blob.copy", {"source": "empty.bin", "destination": "prod-backup/db.bak", "overwrite": "true"}),
    ("replace_document", {"id": "pricing", "content": {}}),
    ("write_file", {"path": "/etc/nginx/nginx.conf", "content": ""}),
    ("move_file", {"source": "new.db", "destination": "/data/main.db", "force": True}),
]
KEPT: list[tuple[str, dict[str, Any]]] = [
    ("create_document", {"title": "x", "content": ""}),
    ("update_event", {"id": 1, "description": ""}),
    ("update_note", {"id": 1, "text": ""}),
    ("set_labels", {"issue": 1, "labels": []}),
    ("set_filters", {"filters": []}),
    ("update_page", {"id": 1, "old_str": "a", "new_str": ""}),
    ("write_file", {"path": "src/pkg/__init__.py", "content": ""}),
    ("write_file", {"path": "/tmp/x.txt", "content": ""}),
    ("copy_file", {"source": "dist/a.js", "destination": "build/a.js", "overwrite": True}),
    ("upload_file", {"local_path": "a.png", "remote_path": "images/a.png", "overwrite": True}),
]


def verbs(name: str, params: dict[str, Any]) -> set[object]:
    out = Recorder()
    read_operation(name, params, "", out)
    return {one[0] for one in out.told}


@pytest.mark.parametrize(("name", "params"), LOST)
def test_what_is_lost(name: str, params: dict[str, Any]) -> None:
    assert verbs(name, params) & {"act_delete", "act_unconfigure", "truncate"}


@pytest.mark.parametrize(("name", "params"), KEPT)
def test_what_is_not(name: str, params: dict[str, Any]) -> None:
    assert not verbs(name, params) & {"act_delete", "act_unconfigure", "truncate"}
