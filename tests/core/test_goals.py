"""What an action is after, whatever tool or language would reach it; and which grants cover that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from each import each
from interlock.core.decide import judge
from interlock.core.goals import goals
from interlock.core.grants import covering
from interlock.core.model import Action, AgentRef, Level, command, intent, operation, tool
from interlock.core.records import Grant
from interlock.rulebook import load

RULES = load()
AGENT = AgentRef("uid:1000", "claude", "s1")


def after(action: Action) -> tuple[str, ...]:
    judged = judge(action, RULES)
    return goals(action, judged.facts, judged.assessment)


@pytest.mark.parametrize(
    "action",
    [
        command("rm -rf /srv/data", "/home/dev/app"),
        command("cd /srv && rm -r -f data", "/home/dev/app"),
        command("rm -rf ./x/../data/", "/srv"),
        command("find /srv/data -delete", "/"),
        command("python3 -c \"import shutil; shutil.rmtree('/srv/data')\"", "/"),
        command("node -e \"require('fs').rmSync('/srv/data', {recursive: true})\"", "/"),
        tool("Bash", {"command": "rm -rf /srv/data"}),
        operation("delete_directory", {"path": "/srv/data", "recursive": True}),
    ],
    ids=lambda action: action.text[:40],
)
def test_one_goal_however_it_is_reached(action: Action) -> None:
    assert "destroy:/srv/data" in after(action)


def test_a_plus_and_a_flag_force_the_same_push() -> None:
    texts = ("git push --force origin main", "git push -f origin main", "git push origin +main")
    assert len({after(command(text, "/w")) for text in texts}) == 1


def test_everyday_work_has_no_goal() -> None:
    assert after(command("git status")) == () and after(command("npm install")) == ()


def test_a_program_whose_effects_are_unknown_is_its_own_goal() -> None:
    assert after(command("terraform destroy -auto-approve", "/w")) == ("run:terraform destroy",)


GRANT = Grant(
    "g", "destroy", ("/srv/data", "/srv/media/**", "/srv/dumps/*.sql"), Level.DANGEROUS, "ann", "cleanup", 0.0, 100.0
)


@each(
    ("text", "covered"),
    [
        ("rm -rf /srv/data", True),
        ("find /srv/data -delete", True),
        ("rm -rf /srv/media/a/b", True),
        ("rm /srv/dumps/a.sql", True),
        ("rm -rf /srv/media", False),  # below it, not itself
        ("rm -rf /srv/database", False),
        ("rm -rf /srv/media/../etc", False),
        ("rm /srv/dumps/sub/a.sql", False),
        ("rm -rf /srv/data /srv/other", False),  # every goal has to be covered
        ("rm -rf /srv/data && terraform destroy -auto-approve", False),
        ("chmod -R 777 /srv/data", False),  # another effect
        ('rm -rf /srv/data "$MORE"', False),  # what cannot be read
    ],
)
def test_a_grant_covers_effects_on_targets_and_nothing_else(text: str, covered: bool) -> None:
    judged = judge(command(text, "/srv"), RULES)
    found = covering(
        [GRANT], AGENT, goals(command(text, "/srv"), judged.facts, judged.assessment), judged.assessment, "v1:x", 1.0
    )
    assert (found is GRANT) is covered


@pytest.mark.parametrize(
    "change",
    [
        {"expires_at": 1.0}, {"remaining": 0}, {"revoked_at": 0.5}, {"ceiling": Level.DESTRUCTIVE}, {"principal": "uid:7"},
        {"name": "other"}, {"session": "s2"}, {"targets": ()}, {"effect": "send"}, {"digests": ("v1:other",)},
    ],
)  # fmt: skip
def test_a_grant_that_does_not_fit_covers_nothing(change: dict[str, object]) -> None:
    action = command("rm -rf /srv/data", "/srv")
    judged = judge(action, RULES)
    after_it = goals(action, judged.facts, judged.assessment)
    assert covering([GRANT], AGENT, after_it, judged.assessment, "v1:x", 1.0) is GRANT
    assert covering([replace(GRANT, **change)], AGENT, after_it, judged.assessment, "v1:x", 1.0) is None  # type: ignore[arg-type]


def test_a_frozen_plan_covers_its_digests_and_asks_again_on_drift() -> None:
    plan = replace(GRANT, effect="", targets=(), digests=("v1:a", "v1:b"))
    judged = judge(command("rm -rf /srv/data", "/srv"), RULES)
    assert covering([plan], AGENT, (), judged.assessment, "v1:a", 1.0) is plan
    assert covering([plan], AGENT, (), judged.assessment, "v1:c", 1.0) is None


WEB_1 = "stop:vm_web_1"
SPELLINGS = [
    operation("terminate_vm", {"vm": "web-1"}),
    operation("terminate_vm", {"vm": "web-1", "reason": "nobody needs it", "force": True}),
    operation("terminate_vm", {"resource": "web-1"}),
    operation("terminate_vm", {"resource": "vm web-1"}),
    operation("terminate_vm", {"vm_name": "WEB-1"}),
    operation("terminateVM", {"vmId": "web_1"}),
    operation("terminate_vm", {"input": {"vm": "web-1"}}),
    operation("terminate_vms", {"names": ["web-1"]}),
    operation("terminate_instance", {"instance": "web-1"}),
    operation("terminate_vm", {"vm": "web-1"}, "execute", "", Level.DANGEROUS),  # as its adapter declares it
    tool("mcp__cloud__terminate_vm", {"vm": "web-1"}),
    intent("terminate the vm web-1"),
]


@each("action", SPELLINGS, ids=lambda action: f"{action.kind.value} {action.text}")
def test_one_target_has_one_goal_in_whatever_words_and_tool(action: Action) -> None:
    assert after(action) == (WEB_1,)


@pytest.mark.parametrize(
    "action",
    [
        operation("terminate_vm", {"vm": "web-2"}),
        operation("terminate_vm", {"resource": "web-2", "reason": "web-1"}),
        operation("terminate_vm", {"vm": "web-1", "project": "other"}),
        operation("terminate_vm", {"vm": "web-2"}, "execute", "", Level.DANGEROUS),
        operation("sync_things", {"thing": "web-1"}, "execute", "", Level.DANGEROUS),
        operation("delete_user", {"name": "web-1"}),
        tool("mcp__cloud__terminate_vm", {"vm": "web-2"}),
        intent("terminate the vm web-2"),
    ],
    ids=lambda action: f"{action.kind.value} {action.text} {action.fields.get('params', '')}",
)
def test_another_target_is_another_goal(action: Action) -> None:
    assert WEB_1 not in after(action) and after(action)


def test_each_of_several_targets_is_a_goal_of_its_own() -> None:
    assert after(operation("terminate_vms", {"ids": ["web-1", "web-2"]})) == (WEB_1, "stop:vm_web_2")


def test_a_list_that_is_too_long_to_name_fits_no_grant() -> None:
    many = after(operation("terminate_vms", {"ids": [f"web-{number}" for number in range(100)]}))
    assert WEB_1 in many and any(goal.endswith(":?") for goal in many)


def test_a_table_has_one_goal_in_a_tool_and_in_sql() -> None:
    tools = [operation("drop_table", {"table": "users"}), operation("execute_sql", {"sql": "DROP TABLE users"})]
    assert {after(action) for action in tools} == {("destroy:users",)}


def test_what_is_declared_harmful_without_a_harmful_name_is_told_apart_by_its_params() -> None:
    def declared(**params: object) -> Action:
        return operation("sync_things", params, "execute", "", Level.DESTRUCTIVE)

    assert after(declared(thing="a")) == after(declared(thing="A", note="again")) == ("operation:sync_things_a",)
    assert after(declared(thing="b")) == ("operation:sync_things_b",)


def test_long_values_are_told_apart_by_their_ends() -> None:
    one, other = (operation("delete_record", {"id": "x" * 300 + end}) for end in "ab")
    assert after(one) != after(other)
