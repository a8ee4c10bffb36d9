"""1.5 and 1.8 where an operator asks for more than the matrix: DL-10, TL-04, TL-08, and what is set for an adapter (AE-08), both eras."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from deeds import told
from served_adapters import World, code, served
from servers import ERAS, Talk, fresh

pytestmark = pytest.mark.xdist_group("mcp")
POLICY = """
name = "careful"
extends = "default"
[loop]
start = "allow"
[trust_policy]
minimum_trust_for_writes = "validated"
minimum_trust_for_deletes = "community_reviewed"
allow_untested_introspection = false
require_confirmation_below = "community_reviewed"
"""
SETTINGS = """
[limits]
challenge_seconds = 90
[loop.adapter.things]
requiresApproval = ["list_*"]
maxAutonomousSteps = 4
"""
FILES = {"things": {"trust": "validated"}, "fresh": {"trust": "untested"}, "made": {"trust": "generated"}}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("trust")
    (folder / "policy.toml").write_text(POLICY)
    with served(folder, FILES, SETTINGS, str(folder / "policy.toml")) as made:
        yield made


@pytest.fixture(scope="module", params=list(ERAS))
def asked(world: World, request: pytest.FixtureRequest) -> Talk:
    return world.talk(str(request.param))


def tickets(world: World, operation: str) -> list[dict[str, object]]:
    found = world.servers.daemon.here().get("/api/v1/tickets", headers=world.servers.operator()).json()["tickets"]
    return [one for one in found if operation in str(one["title"])]


def test_tl_08_an_operator_asks_for_more_trust_than_the_matrix(asked: Talk) -> None:
    assert code(asked.call("made_mcp_aql_create", "create_thing", title="one")).startswith("PERMISSION_")
    gone = asked.call("things_mcp_aql_delete", "delete_thing", id="t1")  # the matrix alone would ask
    assert code(gone) == "PERMISSION_TRUST_LEVEL_INSUFFICIENT"
    assert gone["error"]["details"]["required_trust"] == "community_reviewed"
    assert gone["error"]["details"]["actual_trust"] == "validated"
    quiet = asked.call("fresh_mcp_aql_read", "introspect", query="operations")
    assert code(quiet) == "PERMISSION_TRUST_LEVEL_INSUFFICIENT"
    below = asked.call("things_mcp_aql_create", "create_thing", title="one")  # reversible, and asked about all the same
    assert code(below) == "CONFIRMATION_REQUIRED"


def test_dl_10_time_and_a_new_sign_in_stand_between_a_confirmation_and_its_run(world: World, asked: Talk) -> None:
    """The file is raised for a while: below that, this operator lets it delete nothing."""
    here, headers = world.servers.daemon.here(), world.servers.operator()

    def trust(level: str, reason: str = "read by two") -> int:
        body = {"level": level, "reason": reason}
        return int(here.put("/api/v1/adapters/things/trust", json=body, headers=headers).status_code)

    assert trust("community_reviewed") == 200
    try:
        held = asked.call("things_mcp_aql_delete", "remove_thing", id=f"t-{asked.kind}")
        assert code(held) == "CONFIRMATION_REQUIRED"
        token = held["confirmation"]["token"]
        (ticket,) = [one for one in tickets(world, "remove_thing") if f"t-{asked.kind}" in str(one["action"])]
        assert ticket["requirement"]["cooling_seconds"] == 30 and ticket["requirement"]["reauth"] is True  # type: ignore[index]
        assert str(ticket["door"]) == "adapter:things"
        fresh_headers = world.servers.daemon.sign_in()  # a sign-in of just now
        answer = here.post(f"/api/v1/tickets/{ticket['id']}/approve", json={}, headers=fresh_headers)
        assert answer.status_code == 200, answer.text
        early = asked.call("things_mcp_aql_delete", "remove_thing", id=f"t-{asked.kind}", _confirmation=token)
        assert early["success"] is False  # it still cools off, whatever was agreed to
    finally:
        assert trust("validated") == 200


def test_tl_04_a_look_counts_for_a_week_and_saying_the_level_again_is_another_look(world: World, asked: Talk) -> None:
    def info() -> dict[str, object]:
        return dict(asked.call("things_mcp_aql_read", "introspect", query="adapter_info")["data"]["trust"])

    here, headers = world.servers.daemon.here(), world.servers.operator()
    body = {"level": "validated", "reason": "the tests ran again"}
    answer = here.put("/api/v1/adapters/things/trust", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    found = info()
    assert found["overdue"] is False and str(found["revalidate_by"]) > time.strftime("%Y-%m-%d", time.gmtime())
    assert answer.json()["history"][-1]["reason"] == "the tests ran again"
    low = {"level": "generated", "reason": "looked"}
    assert here.put("/api/v1/adapters/made/trust", json=low, headers=headers).status_code != 200  # nothing to validate


def test_ae_08_oob_08_the_loop_beside_adapters_has_their_settings_and_the_daemons_times(asked: Talk) -> None:
    loop = asked.call("mcp_aql_read", "introspect", query="operations")["data"]["_protocol"]["safety_loop"]
    assert loop["challenge_seconds"] == 90
    name = fresh()
    begun = asked.call("mcp_aql_execute", "execute_agent", element_name=name)
    assert begun["data"]["max_autonomous_steps"] == 4
    assert told(asked, name, "list_files of the project")["continue"] is False
    asked.call("mcp_aql_execute", "abort_execution", element_name=name)
