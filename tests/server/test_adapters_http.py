"""Operations of adapters over HTTP: every cell of the matrix in both rulings, what trust_policy adds, and who changes trust."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adapter_files import DANGERS, LEVELS, adapter_file
from daemons import InProcessDaemon, in_process_daemon
from interlock.adapters.trust import HIGHEST_CLAIM
from interlock.model import Level, Trust
from interlock.policy.trust_matrix import PUBLISHED

# the published word, or the floor's where that asks for more; what an admin can override is held for one.
FLOOR = ("allow", "allow", "confirm", "verify", "verify")
STRICTNESS = ("allow", "confirm", "verify", "block")


@contextmanager
def app_with(
    folder: Path, trust: Trust, operations: str = LEVELS, policy: str = "default", **tables: Any
) -> Iterator[InProcessDaemon]:
    file = adapter_file(folder, operations, trust)
    with in_process_daemon(folder, adapters={"files": [str(file)]}, policy={"use": policy}, **tables) as app:
        for level in range(HIGHEST_CLAIM + 1, trust + 1):
            assert raised(app, Trust(level)).status_code == 200
        yield app


def raised(app: InProcessDaemon, level: Trust, who: str = "ana", reason: str = "looked at it") -> Any:
    body = {"level": level.word, "reason": reason}
    return app.call("PUT", "/api/v1/adapters/things/trust", body, app.sign_in(who))


def ask(app: InProcessDaemon, operation: str, **more: Any) -> dict[str, Any]:
    body = {"operation": operation, "adapter": "things", **more}
    answer = app.call("POST", "/api/v1/evaluate", body, app.agent("asker"))
    return {**answer.json(), "status": answer.status_code}


@pytest.mark.parametrize("trust", list(Trust))
@pytest.mark.parametrize("ruling", ["floor", "spec"])
def test_every_cell_of_the_matrix_in_both_rulings(tmp_path: Path, trust: Trust, ruling: str) -> None:
    with app_with(tmp_path, trust, policy={"floor": "default", "spec": "spec"}[ruling]) as app:
        for level in Level:
            published = PUBLISHED[level][trust]
            expected = "block" if published in ("deny", "introspect_only") else published
            if ruling == "floor":
                expected = max(expected, FLOOR[level], key=STRICTNESS.index)
            found = ask(app, f"sync_{level.word}")
            assert found["decision"] == expected, (level, found)
            assert found["status"] == {"allow": 200, "block": 403}.get(expected, 202)
            assert any(f"published {published}" in factor for factor in found["factors"]), found["factors"]
            if expected == "block":
                assert (
                    found["error"]["code"] == refusal(level, trust)
                    and "interlock adapter trust things" in found["reason"]
                )
            if ruling == "floor" and level is Level.FORBIDDEN and expected == "verify":
                assert found["requirement"]["approvers"] == ["role:admin"] and found["requirement"]["reauth"]
        assert ask(app, "introspect", params={"query": "operations"})["decision"] == "allow"


def refusal(level: Level, trust: Trust) -> str:
    safe = PUBLISHED[level][trust] == "introspect_only"
    return "PERMISSION_TRUST_LEVEL_INSUFFICIENT" if safe else "PERMISSION_DANGER_LEVEL_DENIED"


def test_the_policys_matrix_is_the_one_that_counts(tmp_path: Path) -> None:
    policy = tmp_path / "team.toml"
    levels = "\n".join(f'{level.word} = "allow"' for level in Level)
    for matrix, expected in (("spec", "allow"), ("floor", "verify")):
        policy.write_text(f'matrix = "{matrix}"\nirreversible = "off"\ntiers = false\n[levels]\n{levels}\n')
        (tmp_path / matrix).mkdir()
        with app_with(tmp_path / matrix, Trust.CERTIFIED, policy=str(policy)) as app:
            assert ask(app, "sync_dangerous")["decision"] == expected


def test_a_refusal_says_what_the_registry_of_errors_asks_for(tmp_path: Path) -> None:
    with app_with(tmp_path, Trust.VALIDATED) as app:
        assert ask(app, "sync_dangerous")["error"]["details"] == {
            "operation": "sync_dangerous",
            "danger_level": "dangerous",
            "adapter_trust": "validated",
            "minimum_trust_required": "community_reviewed",
            "reasons": [],
        }


@pytest.mark.parametrize(
    ("trust", "rule", "operation", "expected"),
    [
        (Trust.VALIDATED, {"minimum_trust_for_writes": "community_reviewed"}, "sync_reversible", "block"),
        (Trust.VALIDATED, {"minimum_trust_for_writes": "community_reviewed"}, "sync_safe", "allow"),
        (Trust.VALIDATED, {"minimum_trust_for_deletes": "community_reviewed"}, "sync_destructive", "block"),
        (Trust.VALIDATED, {"minimum_trust_for_deletes": "community_reviewed"}, "sync_reversible", "allow"),
        (Trust.VALIDATED, {"require_confirmation_below": "certified"}, "sync_reversible", "confirm"),
        (Trust.VALIDATED, {"require_confirmation_below": "validated"}, "sync_reversible", "allow"),
        (Trust.VALIDATED, {"strict_category_minimums": True}, "sync_destructive", "block"),
        (Trust.UNTESTED, {"allow_untested_introspection": False}, "introspect", "block"),
        (Trust.GENERATED, {"allow_untested_introspection": False}, "introspect", "allow"),
    ],
)
def test_an_operators_trust_policy_tightens(
    tmp_path: Path, trust: Trust, rule: dict[str, Any], operation: str, expected: str
) -> None:
    with app_with(tmp_path, trust, trust_policy=rule) as app:
        assert ask(app, operation)["decision"] == expected


def test_the_same_in_a_policy_file(tmp_path: Path) -> None:
    policy = tmp_path / "team.toml"
    levels = "\n".join(f'{level.word} = "confirm"' for level in Level if level > Level.REVERSIBLE)
    policy.write_text(
        f'[levels]\nsafe = "allow"\nreversible = "allow"\n{levels}\n[trust_policy]\nrequire_confirmation_below = "certified"\n'
    )
    with app_with(tmp_path, Trust.VALIDATED, policy=str(policy)) as app:
        assert ask(app, "sync_reversible")["decision"] == "confirm"


def test_an_unknown_adapter_is_untested_and_says_what_to_do(tmp_path: Path) -> None:
    with app_with(tmp_path, Trust.VALIDATED) as app:
        found = ask(app, "list_things", adapter="others", crude="READ")
        assert (found["status"], found["error"]["code"]) == (403, "PERMISSION_TRUST_LEVEL_INSUFFICIENT")
        assert "adapters.files in interlock.toml" in found["reason"]
        assert ask(app, "introspect", adapter="others")["allowed"]


def test_an_adapter_goes_with_an_operation_only(tmp_path: Path) -> None:
    with app_with(tmp_path, Trust.VALIDATED) as app:
        answer = app.call("POST", "/api/v1/evaluate", {"command": "ls", "adapter": "things"}, app.agent())
        assert answer.status_code == 400 and "does not go with" in answer.json()["error"]["message"]


def test_everything_that_a_danger_block_asks_for_happens_end_to_end(tmp_path: Path) -> None:
    with app_with(tmp_path, Trust.VALIDATED, DANGERS) as app:
        agent, ana = app.agent("asker"), app.sign_in()
        body = {"operation": "rebuild_things", "adapter": "things"}
        held = app.call("POST", "/api/v1/evaluate", body, agent).json()
        assert held["decision"] == "confirm" and held["waitMs"] == 30_000 and held["requirement"]["reauth"]
        app.clock.forward(121)
        old = app.call("POST", f"/api/v1/tickets/{held['pendingId']}/approve", {}, ana)
        assert old.status_code == 403 and "fresh sign-in" in old.text
        assert app.call("POST", f"/api/v1/tickets/{held['pendingId']}/approve", {}, app.sign_in()).status_code == 200
        assert app.call("POST", "/api/v1/evaluate", body, agent).json()["allowed"]
        many = {"operation": "sync_things", "adapter": "things", "params": {"count": 500}}
        assert app.call("POST", "/api/v1/evaluate", many, agent).json()["decision"] == "confirm"
        assert ask(app, "sync_things", params={"count": 5})["allowed"]


def test_operators_change_trust_and_agents_only_see_it(tmp_path: Path) -> None:
    with app_with(tmp_path, Trust.VALIDATED) as app:
        agent, body = app.agent(), {"level": "community_reviewed", "reason": "I say so"}
        assert app.call("PUT", "/api/v1/adapters/things/trust", body, agent).status_code == 403
        assert raised(app, Trust.COMMUNITY_REVIEWED, "bo").status_code == 403
        assert raised(app, Trust.CERTIFIED).json()["error"]["code"] == "VALIDATION_INVALID_VALUE"
        assert raised(app, Trust.COMMUNITY_REVIEWED, reason="").status_code == 400
        assert app.call("PUT", "/api/v1/adapters/nope/trust", body, app.sign_in()).status_code == 404
        made = raised(app, Trust.COMMUNITY_REVIEWED).json()
        assert (made["trust"], made["claimed"]) == ("community_reviewed", "validated") and made["file"].endswith(
            ".yaml"
        )
        (seen,) = app.call("GET", "/api/v1/adapters", headers=agent).json()["adapters"]
        assert seen["trust"] == "community_reviewed" and "file" not in seen
        assert [(step["by"], step["to"], step["reason"]) for step in seen["history"]] == [
            ("ana", "community_reviewed", "looked at it")
        ]


def test_the_record_says_how_far_an_adapter_was_trusted(tmp_path: Path) -> None:
    with app_with(tmp_path, Trust.COMMUNITY_REVIEWED) as app:
        ask(app, "sync_destructive")
        records = app.call("GET", "/api/v1/audit?limit=1000", headers=app.sign_in()).json()["records"]
        told = [row["body"] for row in records if row["body"].get("operation") == "sync_destructive"]
        assert {(body["adapter_name"], body["adapter_trust"]) for body in told if "adapter_trust" in body} == {
            ("things", "community_reviewed")
        }
