"""What an action is after, whatever tool or language would reach it; and which grants cover that."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.approvals.grant_coverage import find_covering
from interlock.model import Action, AgentRef, Level, command, intent, operation, tool
from interlock.policy.effect_key import effect_keys
from interlock.records import Grant

RULES = load()
AGENT = AgentRef("uid:1000", "claude", "s1")


def after(action: Action) -> tuple[str, ...]:
    judged = judge(action, RULES)
    return tuple(map(str, effect_keys(action, judged.facts, judged.assessment)))


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
def test_one_target_however_it_is_reached(action: Action) -> None:
    assert "remove:/srv/data" in after(action)


def test_a_plus_and_a_flag_force_the_same_push() -> None:
    texts = ("git push --force origin main", "git push -f origin main", "git push origin +main")
    assert len({after(command(text, "/w")) for text in texts}) == 1


@each(
    ("text", "key"),
    [
        ("git push https://github.com/a/b.git +main", "remove~:branch_github.com/a/b/main @ /w"),
        ("git branch -f main x", "remove~:branch_main @ /w"),
        ("git branch -M old", "remove~:branch_old @ /w"),
        ("git update-ref -d refs/heads/x", "remove~:branch_x @ /w"),
        ("git worktree remove --force wt", "remove~:/w/wt"),
        ("git rm -f a.txt", "remove~:/w/a.txt"),
        ("git submodule deinit -f lib", "remove~:submodule_lib @ /w"),
        ("git filter-branch --all", "remove~:history @ /w"),
        ("git reflog expire --expire=now --all", "remove~:reflog @ /w"),
        ("git read-tree -u --reset HEAD", "remove~:worktree /w"),
        ("git --git-dir=/srv/x/.git clean -fd", "remove~:untracked /srv/x"),
    ],
)
def test_a_git_command_has_the_key_of_what_it_takes_away(text: str, key: str) -> None:
    assert after(command(text, "/w")) == (key,)


def test_everyday_work_has_no_key() -> None:
    assert after(command("git status")) == () and after(command("npm install")) == ()


def test_a_program_that_names_no_target_is_its_own_text_in_its_own_place() -> None:
    assert after(command("npm publish --tag next", "/w")) == ("run~:npm next publish @ /w",)


GRANT = Grant(
    "g", "remove", ("/srv/data", "/srv/media/**", "/srv/dumps/*.sql"), Level.DANGEROUS, "ann", "cleanup", 0.0, 100.0
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
        ("rm -rf /srv/data /srv/other", False),  # every effect has to be covered
        ("rm -rf /srv/data && terraform destroy -auto-approve", False),
        ("chmod -R 777 /srv/data", False),  # another effect
        ('rm -rf /srv/data "$MORE"', False),  # what cannot be read
    ],
)
def test_a_grant_covers_effects_on_targets_and_nothing_else(text: str, covered: bool) -> None:
    judged = judge(command(text, "/srv"), RULES)
    found = find_covering(
        [GRANT],
        AGENT,
        effect_keys(command(text, "/srv"), judged.facts, judged.assessment),
        judged.assessment,
        "v1:x",
        1.0,
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
    after_it = effect_keys(action, judged.facts, judged.assessment)
    assert find_covering([GRANT], AGENT, after_it, judged.assessment, "v1:x", 1.0) is GRANT
    assert find_covering([replace(GRANT, **change)], AGENT, after_it, judged.assessment, "v1:x", 1.0) is None  # type: ignore[arg-type]


@each(
    ("effect", "target", "action", "covered"),
    [
        ("destroy", "/srv/data", command("rm -rf /srv/data", "/w"), True),  # as earlier versions signed it
        ("destroy", "user_a_b_example_com", operation("delete_document", {"user": "a.b@example.com"}), False),
        ("close", "user_7", operation("delete_user", {"id": 7}, cwd="/w"), True),
        ("close", "user_a_b_example_com", operation("delete_user", {"email": "a.b@example.com"}), True),
        ("remove", "user_7", operation("delete_user", {"id": 7}, cwd="/w"), True),
        ("remove", "user_7 @ /w", operation("delete_user", {"id": 7}, cwd="/w/src"), True),
        ("remove", "user_7 @ /w", operation("delete_user", {"id": 7}, cwd="/v"), False),
        ("remove", "user_7", operation("delete_user", {"id": 8}, cwd="/w"), False),
        ("stop", "vm_web_1", operation("terminate_vm", {"vm": "web-1"}, cwd="/w"), True),
        ("stop", "deployment_web", operation("delete_deployment", {"name": "web", "namespace": "shop"}), False),
        ("remove", "branch_main", operation("delete_branch", {"branch": "main"}, cwd="/w"), True),
        (
            "remove",
            "branch_main",
            command("git branch -D main", "/w"),
            False,
        ),  # a program's words: only the very same action
        ("remove", "infrastructure_*", command("terraform destroy", "/w"), False),
        ("open", "/srv/data", command("chmod -R 777 /srv/data", "/w"), True),
    ],
)
def test_a_grant_compares_effect_target_and_place(effect: str, target: str, action: Action, covered: bool) -> None:
    grant = replace(GRANT, effect=effect, targets=(target,))
    judged = judge(action, RULES)
    keys = effect_keys(action, judged.facts, judged.assessment)
    assert (find_covering([grant], AGENT, keys, judged.assessment, "v1:x", 1.0) is grant) is covered, [*map(str, keys)]


def test_a_frozen_plan_covers_its_digests_and_asks_again_on_drift() -> None:
    plan = replace(GRANT, effect="", targets=(), digests=("v1:a", "v1:b"))
    judged = judge(command("rm -rf /srv/data", "/srv"), RULES)
    assert find_covering([plan], AGENT, (), judged.assessment, "v1:a", 1.0) is plan
    assert find_covering([plan], AGENT, (), judged.assessment, "v1:c", 1.0) is None


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
def test_one_target_has_one_key_in_whatever_words_and_tool(action: Action) -> None:
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
def test_another_target_has_another_key(action: Action) -> None:
    assert WEB_1 not in after(action) and after(action)


def test_each_of_several_targets_has_a_key_of_its_own() -> None:
    assert after(operation("terminate_vms", {"ids": ["web-1", "web-2"]})) == (WEB_1, "stop:vm_web_2")


def test_a_list_that_is_too_long_to_name_fits_no_grant() -> None:
    many = after(operation("terminate_vms", {"ids": [f"web-{number}" for number in range(100)]}))
    assert WEB_1 in many and any(key.endswith(":?") for key in many)


def test_a_table_has_one_key_in_a_tool_and_in_sql() -> None:
    tools = [operation("drop_table", {"table": "users"}), operation("execute_sql", {"sql": "DROP TABLE users"})]
    assert {after(action) for action in tools} == {("remove:users",)}


def test_what_is_declared_harmful_without_a_harmful_name_is_told_apart_by_its_params() -> None:
    def declared(**params: object) -> Action:
        return operation("sync_things", params, "execute", "", Level.DESTRUCTIVE)

    assert after(declared(thing="a")) == after(declared(thing="A", note="again")) == ("operation:sync_things_a",)
    assert after(declared(thing="b")) == ("operation:sync_things_b",)


def test_long_values_are_told_apart_by_their_ends() -> None:
    one, other = (operation("delete_record", {"id": "x" * 300 + end}) for end in "ab")
    assert after(one) != after(other)
