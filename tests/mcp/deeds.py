"""What an agent reports over MCP and what a person does about it: the words that tests of this folder share."""

from __future__ import annotations

import re
from typing import Any

from servers import Servers, Talk

READ = "reading docs/setup.md to check the install steps"  # nothing to ask about
RESET = "executing shell command: git reset --hard HEAD~3"  # destructive: a confirm
FORCE = "executing shell command: git push --force origin main"  # dangerous: a verification
WIPE = "executing shell command: rm -rf / --no-preserve-root"  # the danger zone
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def step(talk: Talk, name: str, hint: str = READ, **more: Any) -> dict[str, Any]:
    """The data of a reported step."""
    said = talk.create("record_execution_step", element_name=name, next_action_hint=hint, **more)
    assert said["success"], said
    return dict(said["data"])


def told(talk: Talk, name: str, hint: str = READ, **more: Any) -> dict[str, Any]:
    """The directive of a reported step."""
    return dict(step(talk, name, hint, **more)["autonomy"])


def goes_on(envelope: dict[str, Any]) -> bool:
    """Whether an answer lets the agent act."""
    data = envelope.get("data") or {}
    started = "max_autonomous_steps" in data and data.get("status") == "running"
    return bool(envelope["success"] and (started or data.get("autonomy", {}).get("continue") is True))


def challenge_in(directive: dict[str, Any]) -> str:
    """OOB-05: the id of the challenge that a directive names."""
    notes = directive.get("notifications", ())
    found = [str(note["metadata"]["verificationId"]) for note in notes if "verificationId" in note.get("metadata", {})]
    assert found and UUID4.fullmatch(found[0]), directive
    return found[0]


def shown(servers: Servers, challenge: str) -> str:
    """The code, as an operator has it shown."""
    here, headers = servers.daemon.here(), servers.operator()
    answer = here.post(f"/api/v1/challenges/{challenge}/reveal", json={}, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["code"])


def free(servers: Servers, *principals: str) -> None:
    """An operator lifts the blocks of these principals, or all there are."""
    here, headers = servers.daemon.here(), servers.operator()
    for one in here.get("/api/v1/blocks", headers=headers).json()["blocks"]:
        if not one.get("liftedAt") and (not principals or one["principal"] in principals):
            url = f"/api/v1/blocks/{one['principal']}"
            answer = here.delete(url, params={"reason": "a test is over"}, headers=headers)
            assert answer.status_code == 200, answer.text


def record(servers: Servers, event: str) -> list[dict[str, Any]]:
    """What the record says of an event."""
    here, headers = servers.daemon.here(), servers.operator()
    answer = here.get("/api/v1/audit", params={"event": event, "limit": 500}, headers=headers)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["records"])
