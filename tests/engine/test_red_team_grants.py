"""What one grant or one operator's pattern covers is not what an agent makes of it: other places, decoys, detours, restarts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gate import Gate
from interlock import maintenance
from interlock.approvals import answers, grants
from interlock.audit.chain import entry
from interlock.audit.proof import verify_chains
from interlock.identity import agents, operators
from interlock.identity.sessions import SignInRefused
from interlock.impact.files import real_paths
from interlock.model import Action, AgentRef, command, operation, tool

W = "/home/dev/app"
ALLOW = {"safe": "allow", "reversible": "allow", "destructive": "allow", "dangerous": "allow", "forbidden": "allow"}
GRANT = {"effect": "destroy", "targets": ["/srv/media/**"], "why": "cleanup", "count": 1, "ceiling": "dangerous"}


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(tmp_path / "s")
    gate.enrol()
    yield gate
    gate.close()


def under(folder: Path, **policy: Any) -> Gate:
    """A gate that asks for nothing but what these keys ask for."""
    whole = {"name": "p", "irreversible": "off", "tiers": False, "registry": False, "levels": ALLOW, **policy}
    (folder / "p.json").write_text(json.dumps(whole))
    return Gate(folder / "s", policy={"use": str(folder / "p.json")})


# Grants


def test_a_grant_that_is_used_up_is_not_revived_by_editing_its_row_while_nothing_runs(gate: Gate) -> None:
    grants.add_grant(gate.state, gate.sign_in(), GRANT)
    assert gate.ask(command("rm -rf /srv/media/a", "/srv")).allowed
    with sqlite3.connect(gate.folder / "state.db") as db:
        db.execute("UPDATE grants SET remaining = 1")
    db.close()
    gate.restart()
    gate.sign_in()
    assert not gate.ask(command("rm -rf /srv/media/b", "/srv")).allowed
    assert len(gate.records("grant_used")) == 1


PLACES = {  # what was granted, and the same effect on the same target at another place
    "a machine": ("rm -rf /srv/x", ["ssh web2 rm -rf /srv/x", "sudo chroot /mnt rm -rf /srv/x"]),
    "a container": ("rm -rf /srv/x", ["docker exec prod rm -rf /srv/x", "kubectl exec web -- rm -rf /srv/x"]),
    "a database": (
        "psql -c 'DROP TABLE users'",
        [
            "psql -h db2 -c 'DROP TABLE users'", "psql shop -c 'DROP TABLE users'", "PGHOST=db2 psql -c 'DROP TABLE users'",
            "export PGHOST=db2; psql -c 'DROP TABLE users'", "psql postgres://db2/shop -c 'DROP TABLE users'",
            "psql -hdb2 -c 'DROP TABLE users'", "mysql --host=db2 -e 'DROP TABLE users'",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_a_grant_for_one_place_covers_no_other(gate: Gate, name: str) -> None:
    here, there = PLACES[name]
    ticket = gate.held(command(here, "/srv"))
    offered = grants.suggest_grant(gate.state, ticket.id)
    terms = {**offered, "name": "", "session": "", "ceiling": "forbidden", "why": "x", "count": 50}
    assert not terms["digests"]
    grants.add_grant(gate.state, gate.sign_in(), terms)
    assert gate.ask(command(here, "/srv"), AgentRef("uid:1000", "other")).allowed
    for number, text in enumerate(there):
        assert not gate.ask(command(text, "/srv"), AgentRef("uid:1000", f"n{number}")).allowed, text


@pytest.mark.parametrize(
    "action",
    [
        command("ssh web1 rm -rf /srv/x", "/srv"),
        command("psql -h db1 -c 'DROP TABLE users'", "/srv"),
        operation("execute_sql", {"query": "DROP TABLE users", "database": "shop"}),
    ],
    ids=["ssh", "psql", "operation"],
)
def test_what_happens_elsewhere_is_granted_as_the_very_same_action(gate: Gate, action: Action) -> None:
    offered = grants.suggest_grant(gate.state, gate.held(action).id)
    grants.add_grant(gate.state, gate.sign_in(), {**offered, "why": "x"})
    assert offered["digests"] and offered["effect"] == "remove"
    assert gate.ask(action).allowed
    assert not gate.ask(action).allowed


def test_a_grant_for_one_folder_covers_none_that_only_begins_alike(gate: Gate) -> None:
    grants.add_grant(gate.state, gate.sign_in(), {**GRANT, "targets": ["/srv/media/a"], "count": 9})
    assert not gate.ask(command("rm -rf /srv/media/a*", "/srv")).allowed
    assert gate.ask(command("rm -rf /srv/media/a/", "/srv")).allowed
    assert gate.ask(command("rm -rf /srv/media/a/*", "/srv")).allowed


def test_two_targets_that_are_the_same_at_their_beginning_are_two(gate: Gate) -> None:
    long = f"https://api.example.com/{'a' * 150}"
    offered = grants.suggest_grant(gate.state, gate.held(command(f"curl -X DELETE {long}/1")).id)
    grants.add_grant(gate.state, gate.sign_in(), {**offered, "why": "x", "count": 9})
    assert not gate.ask(command(f"curl -X DELETE {long}/2")).allowed
    assert gate.ask(command(f"curl -s -X DELETE {long}/1")).allowed


# Patterns

INTO_ETC: list[dict[str, Any]] = [
    {"file_path": "/etc/motd"}, {"path": "/etc/motd"}, {"filename": "/etc/motd"}, {"target_file": "/etc/motd"},
    {"command": "ls", "file_path": "/etc/motd"}, {"path": "notes.md", "file_path": "/etc/motd"}, {"path": ["notes.md", "/etc/motd"]},
    {"edits": [{"file_path": "notes.md"}, {"file_path": "/etc/motd"}]}, {"file_path": "/tmp/../etc/motd"}, {"file_path": "//etc/motd"},
    {"file_path": "../../../etc/motd"}, {"file_path": "/etc/./motd"}, {"file_path": "/ETC/motd"},
]  # fmt: skip


@pytest.mark.parametrize("given", INTO_ETC, ids=json.dumps)
def test_a_denied_path_is_denied_however_it_is_given(tmp_path: Path, given: dict[str, Any]) -> None:
    gate = under(tmp_path, patterns={"deny": ["Write:/etc/*"]})
    assert gate.ask(tool("Write", {"file_path": "/srv/etc/motd", "content": "/etc/motd"}, W)).allowed
    assert gate.ask(tool("Write", {**given, "content": "x"}, W)).outcome == "block"
    gate.close()


def test_a_denied_host_is_denied_beside_a_decoy_and_in_any_case(tmp_path: Path) -> None:
    gate = under(tmp_path, patterns={"deny": ["WebFetch:https://evil.example/*"]})
    assert gate.ask(tool("WebFetch", {"url": "https://good.example/x"}, W)).allowed
    for given in ({"url": "https://EVIL.example/x"}, {"path": "a", "url": "https://evil.example/x"}):
        assert gate.ask(tool("WebFetch", given, W)).outcome == "block", given
    gate.close()


OUTSIDE: list[Action] = [
    tool("Write", {"file_path": "tmp/../src/x"}, W), tool("Write", {"file_path": "tmp/a", "path": "src/x"}, W),
    tool("Write", {"path": "tmp/a", "file_path": "src/x"}, W), tool("Write", {"path": ["tmp/a", "src/x"]}, W),
    command("mv tmp/../src /tmp/x", W), tool("Bash", {"command": "mv tmp/../src /tmp/x"}, W), command("mv tmp/.. /tmp/x", W),
]  # fmt: skip


def test_an_auto_approving_pattern_leads_nowhere_else_by_dots_or_a_second_argument(tmp_path: Path) -> None:
    gate = under(tmp_path, always_ask=True, patterns={"allow": ["Write:tmp/*", "Bash:mv tmp/*", "mv tmp/*", "Read:*"]})
    for inside in (
        tool("Write", {"file_path": "tmp/x"}, W),
        command("mv tmp/a tmp/b", W),
        tool("Read", {"path": "../x"}, W),
    ):
        assert gate.ask(inside).allowed, inside
    for number, action in enumerate(OUTSIDE):
        assert not gate.ask(action, AgentRef("uid:1", f"n{number}")).allowed, action
    gate.close()


# Words that people type


def test_a_passphrase_that_was_typed_for_a_name_is_in_no_record(gate: Gate) -> None:
    for name in ("Correct horse 47 battery", "ann"):
        with pytest.raises(SignInRefused):
            operators.sign_in(gate.state, name, "wrong wrong wrong", "cli")
    said = [json.loads(row.body)["by"] for row in gate.records("verify_failed")]
    assert said == [operators.NOBODY, "ann"]
    assert b"horse 47" not in b"".join(file.read_bytes() for file in gate.folder.glob("state.db*")).lower()


def test_a_secret_in_a_reason_or_an_outcome_is_in_no_table(gate: Gate) -> None:
    words = "see postgres://shop:kingfisher77@db/shop, PGPASSWORD=kingfisher77"
    push = command("git push --force origin main", W)
    answers.approve(gate.state, gate.sign_in(), gate.held(push).id, words)
    ticket = gate.ask(push).ticket
    assert ticket is not None
    answers.report_execution(gate.state, ticket.agent, ticket.id, words)
    answers.reject(gate.state, gate.sign_in(), gate.held(command("git push --force origin dev", W)).id, words)
    grants.add_grant(gate.state, gate.sign_in(), {**GRANT, "why": words})
    agents.block(gate.state, gate.sign_in(), "uid:7", words)
    agents.unblock(gate.state, gate.sign_in(), "uid:7", words)
    agents.set_mode(gate.state, gate.sign_in(), "monitoring", words)
    assert b"kingfisher77" not in b"".join(file.read_bytes() for file in gate.folder.glob("state.db*"))


# A no to one thing is a no to what goes with it

WIDER = [
    "rm -rf .",
    "rm -rf /home/dev/app",
    "rm -rf /home/dev",
    "rm -rf da*",
    "rm -rf dat?",
    "find . -delete",
    "rm -rf src data",
]
BESIDE = ["rm -rf /home/dev/app/data2", "rm -rf src", "chmod -R 777 /home/dev/app"]


def test_what_was_rejected_is_not_had_by_asking_for_more(gate: Gate) -> None:
    ticket = gate.held(command("rm -rf data", W))
    answers.reject(gate.state, gate.sign_in(), ticket.id, "we need it")
    for number, text in enumerate(WIDER):
        found = gate.ask(command(text, W), AgentRef("uid:1000", f"n{number}", f"s{number}"))
        assert found.outcome in ("deny", "block") and "retry.same_effect" in str(found.factors), text


def test_a_rejection_binds_nothing_beside_it(gate: Gate) -> None:
    ticket = gate.held(command("rm -rf data", W))
    answers.reject(gate.state, gate.sign_in(), ticket.id, "we need it")
    for number, text in enumerate(BESIDE):
        found = gate.ask(command(text, W), AgentRef("uid:1000", f"n{number}", f"s{number}"))
        assert "retry.same_effect" not in str(found.factors), text


# The record


def test_records_of_a_writer_that_never_wrote_show_and_are_signed_by_nobody(gate: Gate) -> None:
    gate.ask(command("git push --force origin main", W))
    gate.state.recorder.flush()
    forged = entry("forged", None, gate.clock.now(), "unblock", {"principal": "uid:1000"}, "", "", "")
    names = list(forged.__struct_fields__)
    with sqlite3.connect(gate.folder / "state.db") as db:
        values = [getattr(forged, name) for name in names]
        db.execute(f"INSERT INTO audit ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", values)
    db.close()
    maintenance.sign_record(gate.state)
    found = verify_chains(gate.state)
    assert [(fault.writer, fault.what) for fault in found.faults] == [("forged", "foreign")]
    assert "forged" not in str(gate.store.read(lambda tx: tx.checkpoints()))


def test_a_record_whose_end_was_cut_off_denies_and_says_what_to_do(gate: Gate) -> None:
    gate.ask(command("git push --force origin main", W))
    with sqlite3.connect(gate.folder / "state.db") as db:
        db.execute("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)")
    db.close()
    found = gate.ask(command("git push --force origin dev", W))
    assert found.outcome == "deny" and "cut off" in found.reason and "put a copy of the state back" in found.reason


# Links


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A project whose `notes` has a file, and links that lead to its source and to somebody's keys."""
    project = tmp_path / "project"
    for folder in ("notes", "src", "keys"):
        (project / folder).mkdir(parents=True)
        (project / folder / "x").write_text("x\n")
    (project / "notes" / "link").symlink_to(project / "src")
    (project / "notes" / "one").symlink_to(project / "src" / "x")
    return project


P = "/srv/project"  # where the project is taken to be: below /tmp nothing is worth a question


def reached(gate: Gate, action: Action, number: int, there: Path) -> bool:
    """Whether it passes, asked by another agent each time: a refusal counts for the next try."""

    def resolve(pairs: Sequence[tuple[str, bool]]) -> list[str]:
        found = real_paths([(path.replace(P, str(there), 1), follow) for path, follow in pairs])
        return [path.replace(str(there), P, 1) for path in found]

    return gate.ask(action, AgentRef("uid:1000", f"n{number}", f"s{number}"), resolve=resolve).allowed


def test_a_grant_for_a_folder_reaches_through_no_link_and_no_dots(gate: Gate, notes: Path) -> None:
    terms = {"effect": "destroy", "targets": [f"{P}/notes/*", f"{P}/notes/link/*"], "why": "x", "count": 50}
    grants.add_grant(gate.state, gate.sign_in(), {**terms, "ceiling": "dangerous"})
    rows = [
        ("rm notes/x", True),
        ("rm notes/one", True),  # the link alone
        ("rm notes/../src/x", False),
        ("rm notes/link/x", False),
        ("rm notes/link/../keys/x", False),
        (f"rm {P}/notes/link/x", False),
        ("truncate -s 0 notes/one", False),
        ("cd notes/link && rm x", False),
        ("python3 -c \"import os; os.remove('notes/link/x')\"", False),
    ]
    found = [reached(gate, command(text, P), number, notes) for number, (text, _) in enumerate(rows)]
    assert found == [passes for _, passes in rows]


def test_an_operators_pattern_for_a_folder_reaches_through_no_link(tmp_path: Path, notes: Path) -> None:
    patterns = {
        "allowPatterns": ["Write:*/notes/*", "Bash:rm notes/*", "rm notes/*"],
        "denyPatterns": [f"Read:{P}/src/*"],
    }
    asks = {**ALLOW, "reversible": "confirm", "destructive": "confirm"}
    gate = under(tmp_path, levels=asks, externalRestrictions=patterns)
    gate.enrol()
    write = {"content": "y"}
    rows = [
        (tool("Write", {"file_path": f"{P}/notes/x", **write}, P), True),
        (tool("Write", {"file_path": f"{P}/notes/link/x", **write}, P), False),
        (tool("Write", {"file_path": f"{P}/notes/one", **write}, P), False),
        (tool("Read", {"file_path": f"{P}/src/x"}, P), False),
        (tool("Read", {"file_path": f"{P}/notes/link/x"}, P), False),
        (tool("Read", {"file_path": f"{P}/notes/x"}, P), True),
    ]
    found = [reached(gate, action, number, notes) for number, (action, _) in enumerate(rows)]
    gate.close()
    assert found == [passes for _, passes in rows]
