"""Sections 1.5, 1.8 and 1.12 through real clients of `interlock adapter serve`, both eras: each test names the ids that it shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from deeds import record
from served_adapters import World, code, served
from servers import ERAS, Talk

pytestmark = pytest.mark.xdist_group("mcp")
QUOTA = """\
rate_limits:
  quotas:
    limits:
      - { metric: requests_per_hour, warn: 2, pause: 3, hard_stop: 5 }
"""
FILES = {
    "things": {"trust": "validated"}, "fresh": {"trust": "untested"}, "made": {"trust": "generated"},
    "reviewed": {"trust": "community_reviewed"}, "metered2025": {"limits": QUOTA}, "metered2026": {"limits": QUOTA},
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with served(tmp_path_factory.mktemp("adapters"), FILES) as made:
        yield made


@pytest.fixture(scope="module", params=list(ERAS))
def asked(world: World, request: pytest.FixtureRequest) -> Talk:
    return world.talk(str(request.param))


def test_rl_01_rl_02_quotas_warn_pause_and_show_how_they_stand(asked: Talk) -> None:
    tool = f"metered{asked.kind[-4:]}_mcp_aql_read"
    said = [asked.call(tool, "list_things") for _ in range(4)]
    assert [one.get("warnings", [{}])[0].get("code") for one in said[:3]] == [None, *["RATE_LIMIT_QUOTA_WARNING"] * 2]
    paused = said[-1]["error"]
    assert paused["code"] == "RATE_LIMIT_QUOTA_PAUSE"
    token = paused["details"]["confirmation_token"]
    assert token.startswith("quota_continue_")  # CT-01
    assert (
        code(asked.call(tool, "list_things", _quota_continue=token)) == "PERMISSION_DENIED"
    )  # until a person armed it
    status = asked.call(tool, "introspect", query="quota_status")["data"]["quotas"]
    assert [(one["metric"], one["status"]) for one in status] == [("requests_per_hour", "paused")]


def test_dl_12_tl_01_the_matrix_holds_for_every_trust_that_a_file_can_have(world: World, asked: Talk) -> None:
    found = {
        name: (
            code(asked.call(f"{name}_mcp_aql_read", "list_things")),
            code(asked.call(f"{name}_mcp_aql_create", "create_thing", title="one")),
            code(asked.call(f"{name}_mcp_aql_delete", "delete_thing", id="t1")),
            code(asked.call(f"{name}_mcp_aql_delete", "bulk_delete_things")),
        )
        for name in ("fresh", "made", "things")
    }
    insufficient, denied, asks = (
        "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
        "PERMISSION_DANGER_LEVEL_DENIED",
        "CONFIRMATION_REQUIRED",
    )
    assert found == {
        "fresh": (insufficient, denied, denied, denied),  # C-07
        "made": ("allowed", denied, denied, denied),
        "things": ("allowed", "allowed", asks, denied),
    }


def test_dl_02_dl_04_dl_05_dl_09_the_danger_of_an_adapters_operations_is_shown(asked: Talk) -> None:
    levels = asked.call("things_mcp_aql_read", "introspect", query="operations")["data"]["_protocol"]["danger_levels"]
    words = {name: one["level"] for name, one in levels.items()}
    assert words["list_things"] == "safe" and words["create_thing"] == "reversible"  # DL-04, C-01
    assert words["delete_thing"] == "destructive" and words["bulk_delete_things"] == "dangerous"
    one = asked.call("things_mcp_aql_read", "introspect", query="operations", name="delete_thing")["data"]["danger"]
    assert one["level"] == "destructive" and one["reasons"] == ["The thing is gone"]  # DL-02
    held = asked.call("things_mcp_aql_delete", "delete_thing", id="t7")["error"]["details"]
    assert held["confirmation_message"] == "Delete thing 't7'?" and held["reasons"]  # DL-09: shown before confirming


def test_dl_10_dl_14_conditions_raise_a_level_by_what_a_call_holds(asked: Talk) -> None:
    made = asked.call("things_mcp_aql_create", "create_thing", title="one")["data"]["id"]
    changed = asked.call("things_mcp_aql_update", "update_thing", id=made, input={"title": "two"})
    assert changed["success"] and changed["data"]["title"] == "two"  # EP-14
    black = asked.call("things_mcp_aql_update", "update_thing", id=made, input={"colour": "black"})
    assert code(black) == "CONFIRMATION_REQUIRED" and black["error"]["details"]["danger_level"] == "destructive"
    later = asked.call("things_mcp_aql_delete", "remove_thing", id=made)
    assert code(later) == "CONFIRMATION_REQUIRED"  # with its cooling-off and a new sign-in


def test_dl_11_a_level_that_a_name_says_is_told(asked: Talk) -> None:
    said = asked.call("things_mcp_aql_execute", "force_sync")
    assert code(said) in ("CONFIRMATION_REQUIRED", "PERMISSION_DANGER_LEVEL_DENIED")
    assert said["error"]["details"]["danger_level"] == "dangerous"


def test_dl_07_tl_05_attempts_carry_the_trust_in_the_record(world: World, asked: Talk) -> None:
    asked.call("things_mcp_aql_delete", "delete_thing", id="t9")
    bodies = [one["body"] for one in record(world.servers, "CONFIRMATION_REQUIRED")]
    mine = [one for one in bodies if one.get("operation") == "delete_thing"]
    assert mine and mine[-1]["adapter_trust"] == "validated" and mine[-1]["adapter_name"] in ("things", "reviewed")


def test_tl_06_tl_07_trust_can_be_introspected(asked: Talk) -> None:
    info = asked.call("things_mcp_aql_read", "introspect", query="adapter_info")["data"]
    assert info["name"] == "things" and info["version"] == "1.0.0" and info["trust"]["level"] == "validated"
    higher = asked.call("reviewed_mcp_aql_read", "introspect", query="adapter_info")["data"]["trust"]
    assert (higher["level"], higher["claimed"]) == (
        "validated",
        "community_reviewed",
    )  # TL-02: a file alone does not get there
    fresh = asked.call("fresh_mcp_aql_read", "introspect", query="adapter_info")["data"]["trust"]
    assert fresh["level"] == "untested"  # TL-05


def test_tl_02_tl_03_tl_04_tl_08_a_person_promotes_by_one_step_and_demotes_at_once(world: World, asked: Talk) -> None:
    here, headers = world.servers.daemon.here(), world.servers.operator()

    def trust(level: str) -> int:
        body = {"level": level, "reason": "looked at it"}
        return here.put("/api/v1/adapters/made/trust", json=body, headers=headers).status_code

    assert trust("certified") != 200 and trust("community_reviewed") != 200  # TL-01: no skipping upward
    assert trust("untested") == 200
    said = asked.call("made_mcp_aql_read", "list_things")
    assert (
        code(said) == "PERMISSION_TRUST_LEVEL_INSUFFICIENT" and said["error"]["details"]["actual_trust"] == "untested"
    )
    assert trust("generated") == 200
    assert asked.call("made_mcp_aql_read", "list_things")["success"]
    denied = asked.call("made_mcp_aql_delete", "delete_thing", id="t1")["error"]["details"]
    assert denied["minimum_trust_required"] == "validated" and denied["adapter_trust"] == "generated"
