"""An agent that means harm chooses its words: grants, refusals and patterns mean what they say, and nothing beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate import Gate
from interlock.approvals import grants
from interlock.error_codes import AnswerRefused
from interlock.model import Action, AgentRef, command, operation, tool

W = "/home/dev/app"
GRANT = {"effect": "destroy", "targets": ["/srv/media/**"], "why": "cleanup", "count": 1, "ceiling": "dangerous"}

# Grants

BEYOND: dict[str, str] = {
    "the 21st target": f"rm -rf {' '.join(f'/srv/media/{n}' for n in range(20))} /etc/app",
    "the 300th target": f"rm -rf {' '.join(f'/srv/media/{n}' for n in range(300))} /etc/app",
    "a secret read beside it": "python3 -c \"import shutil; shutil.rmtree('/srv/media/a'); print(open('/root/.ssh/id_rsa').read())\"",
    "a program beside it": "rm -rf /srv/media/a && terraform destroy -auto-approve",
    "out and back": "rm -rf /srv/media/a/../../etc",
    "a brace": "rm -rf /srv/media/{a,../../etc/app}",
    "another case": "rm -rf /srv/Media/a",
    "a variable": "rm -rf /srv/media/$X",
    "the folder itself": "rm -rf /srv/media/*",
    "a folder that begins alike": "rm -rf /srv/media2/a",
    "another way in": "cd /srv/media && rm -rf ../data",
    "other rights": "chmod -R 777 /srv/media/a",
}


def test_a_grant_covers_nothing_beyond_its_targets(gate: Gate) -> None:
    grants.add_grant(gate.state, gate.sign_in(), {**GRANT, "count": 50})
    for name, text in BEYOND.items():
        assert not gate.ask(command(text, "/srv"), AgentRef("uid:1000", name)).allowed, name
    assert gate.ask(command("rm -rf /srv/media/a > log.txt 2>/dev/null", W)).allowed


def test_a_program_with_other_flags_is_not_covered_by_its_name(gate: Gate) -> None:
    delete, session = command("kubectl delete pod web", W), gate.sign_in()
    ticket = gate.held(delete)
    with pytest.raises(AnswerRefused, match="digest"):
        grants.add_grant(gate.state, session, {**GRANT, "effect": "run", "targets": ["kubectl delete pod web"]})
    grants.add_grant(gate.state, session, {**grants.suggest_grant(gate.state, ticket.id), "why": "x", "count": 3})
    for flags in ("--namespace=production", "--all --context=prod"):
        assert not gate.ask(command(f"{delete.text} {flags}", W)).allowed, flags
    assert gate.ask(delete).allowed


# A no binds the target, and nothing beside it

UNRELATED: dict[str, tuple[Action, Action]] = {
    "another user": (operation("delete_user", {"id": 7}), operation("delete_user", {"id": 8})),
    "another document": (operation("delete_document", {"_id": "a"}), operation("delete_document", {"_id": "b"})),
    "the same log file": (command("git branch -D a > log.txt", W), command("git reset --hard > log.txt", W)),
    "another table, not in Latin": (
        command("psql -c 'DELETE FROM \"пользователи\" WHERE id = 1'", W),
        command("psql -c 'DELETE FROM \"заказы\" WHERE id = 1'", W),
    ),
    "another folder": (command("rm -rf /srv/a", W), command("rm -rf /srv/b", W)),
    "another branch": (command("git push -f origin a", W), command("git push -f origin b", W)),
}


def test_what_is_held_does_not_bind_what_only_looks_like_it(gate: Gate) -> None:
    for name, (one, other) in UNRELATED.items():
        agent = AgentRef("uid:1000", name, name)
        first, second = gate.held(one, agent), gate.ask(other, agent)
        assert second.ticket is not None and second.ticket.id != first.id, name
        assert not any(factor.startswith("retry") for factor in second.factors), name


REWORDED: dict[str, tuple[Action, Action]] = {
    "other flags": (command("rm -rf /srv/a", W), command("rm --recursive --force /srv/a/", W)),
    "behind twenty others": (
        command("rm -rf /srv/a", W),
        command(f"rm -rf {' '.join(f'/tmp/x{n}' for n in range(30))} /srv/a", W),
    ),
    "another tool": (command("rm -rf /srv/a", W), operation("delete_directory", {"path": "/srv/a"})),
    "another verb": (operation("delete_document", {"id": 5}), operation("remove_document", {"document_id": 5})),
    "a plus": (command("git push -f origin main", W), command("git push origin +main", W)),
}


def test_other_words_for_the_same_meet_the_same_ticket(gate: Gate) -> None:
    for name, (one, other) in REWORDED.items():
        agent = AgentRef("uid:1000", name, name)
        first, second = gate.held(one, agent), gate.ask(other, agent)
        assert not second.allowed and second.ticket is not None and second.ticket.id == first.id, name


# Patterns

ALLOW = dict.fromkeys(("safe", "reversible", "destructive", "dangerous", "forbidden"), "allow")
PUSHES: dict[str, Action] = {
    "behind 300 others": command("; ".join([*(f"echo {n}" for n in range(300)), "git push origin main"]), W),
    "a newline": command("ls\ngit push origin main", W),
    "another folder": command("git -C /srv push origin main", W),
    "a setting": command("git --no-pager -c a.b=c push origin main", W),
    "quoted": command("'git' \"push\" origin main", W),
    "a wrapper": command("env X=1 nohup git push origin main", W),
    "a substitution": command("echo $(git push origin main)", W),
    "an alias": command("git -c alias.x=push x origin main", W),
    "a tool": tool("Bash", {"command": "git push origin main"}),
    "a tool in another case": tool("BASH", {"command": "git push origin main"}),
    "a look-alike tool": tool("Ваsh", {"command": "git push origin main"}),
    "python": command("python3 -c \"import os; os.system('git push origin main')\"", W),
    "a here-document": command("sh <<E\ngit push origin main\nE", W),
    "a path": command("/usr/bin/git push origin main", W),
}


@pytest.mark.parametrize("pattern", ["git push*", "Bash:git push*"])
def test_a_denied_command_is_denied_wherever_it_hides(tmp_path: Path, pattern: str) -> None:
    policy = {"name": "p", "irreversible": "off", "tiers": False, "registry": False, "levels": ALLOW}
    (tmp_path / "p.json").write_text(json.dumps({**policy, "patterns": {"deny": [pattern]}}))
    gate = Gate(tmp_path / "s", policy={"use": str(tmp_path / "p.json")})
    assert gate.ask(command("git pull && git add push.sh", W)).allowed
    for name, action in PUSHES.items():
        assert not gate.ask(action).allowed, name
    gate.close()


WHOLE = ["git status", "git status --short", "git status 2>/dev/null"]
NOT_WHOLE = [
    "git status > notes.txt", "git status >> ~/.profile", "git status; id", "git status $(id)", "git status\nid", "git status <(id)",
    "git status | tee x", "PATH=/tmp/x git status", "GIT_PAGER=/tmp/x git status", "cd /tmp/x && git status", "git status <<< $(id)",
]  # fmt: skip


def test_an_auto_approving_pattern_covers_one_whole_command_and_nothing_around_it(tmp_path: Path) -> None:
    policy = {
        "name": "p",
        "always_ask": True,
        "levels": ALLOW,
        "patterns": {"allow": ["git status*", "Bash:git status*"]},
    }
    (tmp_path / "p.json").write_text(json.dumps(policy))
    gate = Gate(tmp_path / "s", policy={"use": str(tmp_path / "p.json")})
    for text in (*WHOLE, *NOT_WHOLE):
        for action in (command(text, W), tool("Bash", {"command": text}, W)):
            assert gate.ask(action, AgentRef("uid:1", text)).allowed is (text in WHOLE), action
    gate.close()


def test_what_outranks_an_auto_approving_pattern_is_not_waved_through(tmp_path: Path) -> None:
    """GK-04, R-6: a confirm pattern, and a registry pattern that asks for an approval."""
    restrictions = {"confirmPatterns": ["Bash:git branch*"], "allowPatterns": ["Bash:git *"]}
    policy = {"name": "p", "irreversible": "off", "tiers": False, "levels": {**ALLOW, "reversible": "confirm"}}
    whole = {**policy, "externalRestrictions": restrictions, "patterns": {"allow": ["rename_thing"]}}
    (tmp_path / "p.json").write_text(json.dumps(whole))
    approval = {"id": "renames", "pattern": "rename_thing", "category": "data_deletion", "severity": "medium"}
    pattern = {**approval, "requiresHumanApproval": True}
    gate = Gate(tmp_path / "s", policy={"use": str(tmp_path / "p.json")}, registry={"pattern": [pattern]})
    gate.enrol()
    assert gate.ask(command("git tag -d v1", W)).allowed
    assert not gate.ask(command("git branch -D old", W)).allowed
    assert gate.ask(operation("rename_thing", {})).outcome == "approve"
    gate.close()
