"""What one person may not say alone: not by a grant, a pause or a frozen workflow, not as a service, and not twice at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from authenticator import Authenticator
from browsers import SITE, add_passkey, enter_with_passkey, follow_setup_link, register
from gate import Gate
from interlock.approvals import grants, pausing, step_up
from interlock.error_codes import AnswerRefused
from interlock.identity import credentials, operators
from interlock.identity.console_access import role_of, set_up_link
from interlock.model import command

PUSH = command("git push --force origin main", "/home/dev/app")
DROP = command("rm -rf /srv/media/a", "/srv")
GRANT = {"effect": "destroy", "targets": ["/srv/media/**"], "why": "cleanup", "count": 3, "ceiling": "dangerous"}
ASKS: dict[str, Any] = {  # what the policy asks for, and who cannot say yes to it alone
    "two people": {"require": "approve", "quorum": 2},
    "a team": {"require": "approve", "approvers": ["team:data"]},
    "a role": {"require": "verify", "approvers": ["role:security"]},
    "somebody by name": {"require": "approve", "approvers": ["kim"]},
}


def asking(folder: Path, dangerous: object) -> Gate:
    """A gate that asks this for what is dangerous, with an admin, a developer and one of team:data."""
    levels = {
        "safe": "allow", "reversible": "allow", "destructive": "confirm", "dangerous": dangerous, "forbidden": "block",
    }  # fmt: skip
    whole = {"name": "p", "irreversible": "off", "tiers": False, "registry": False, "levels": levels}
    (folder / "p.json").write_text(json.dumps(whole))
    gate = Gate(folder / "s", policy={"use": str(folder / "p.json")})
    gate.enrol()
    gate.add("bob", "dev")
    gate.add("kim", "security", teams=("data",))
    return gate


@pytest.fixture(params=ASKS, ids=lambda name: name.replace(" ", "_"))
def gate(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Gate]:
    made = asking(tmp_path, ASKS[request.param])
    yield made
    made.close()


def test_nobody_grants_alone_what_they_could_not_approve_alone(gate: Gate) -> None:
    assert not gate.ask(DROP).allowed
    grants.add_grant(gate.state, gate.sign_in("bob"), GRANT)
    assert not gate.ask(DROP).allowed


def test_nobody_pauses_what_they_could_not_approve_alone(gate: Gate) -> None:
    pausing.pause(gate.state, gate.sign_in("bob"), 600, "let me through")
    found = gate.ask(DROP)
    assert not found.allowed and found.ticket is not None
    assert gate.ask(command("git reset --hard", "/home/dev/app")).allowed  # which anybody may confirm


@pytest.mark.parametrize("asked", ["a team", "a role", "somebody by name"])
def test_who_may_approve_it_alone_grants_it(tmp_path: Path, asked: str) -> None:
    gate = asking(tmp_path, ASKS[asked])
    grants.add_grant(gate.state, gate.sign_in("bob"), GRANT)
    grants.add_grant(gate.state, gate.sign_in("kim"), GRANT)
    assert gate.ask(DROP).allowed
    pausing.pause(gate.state, gate.sign_in("kim"), 600, "restoring by hand")
    assert gate.ask(command("rm -rf /srv/other", "/srv")).allowed
    gate.close()


def test_a_service_has_no_place_in_the_console(tmp_path: Path) -> None:
    gate = asking(tmp_path, {"require": "approve", "approvers": ["deskbot"]})
    gate.add("deskbot", service=True)
    with pytest.raises(AnswerRefused, match="the console is for people"):
        set_up_link(gate.state, gate.sign_in("deskbot"))
    assert role_of(gate.state, "deskbot") == "viewer"
    gate.close()


HIDDEN = [  # harm where a reader expects a secret: what is shown has it
    "PASSWORD=`rm -rf src` ls", "echo password=`rm -rf src`@host/x ls", "curl https://u:AAAAAAAA;rm${IFS}-rf${IFS}src@host/x",
    "eval 'TOKEN=`rm -rf src`'", "bash -c \"PASSWORD=\\`rm -rf src\\`\"", "export API_KEY=\"$(rm -rf src)\"; ls", "curl -u me:`rm -rf src` https://x",
    "git push https://u:$(rm -rf src)@h/x main", "mysql --password=`rm -rf src` -e 'select 1'", "echo --token `rm -rf src`@h x",
]  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN)
def test_no_harm_is_hidden_as_a_secret_from_whoever_approves_it(tmp_path: Path, text: str) -> None:
    gate = Gate(tmp_path)
    gate.enrol()
    ticket = gate.held(command(text, "/home/dev/app"))
    for shown in (ticket.title, str(ticket.action["command"])):
        assert "rm -rf src" in shown.replace("${IFS}", " "), shown
    gate.approve(ticket)
    assert gate.ask(command(text, "/home/dev/app")).allowed
    gate.close()


def test_a_secret_beside_the_harm_stays_one(tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    gate.enrol()
    ticket = gate.held(
        command("PASSWORD=`rm -rf src` curl -H 'Authorization: Bearer abc123def456ghi' x", "/home/dev/app")
    )
    for shown in (ticket.title, str(ticket.action["command"])):
        assert "rm -rf src" in shown and "abc123def456ghi" not in shown
    gate.close()


def test_the_line_about_a_long_command_has_the_harm_in_it(tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    gate.enrol()
    for number, text in enumerate(
        ["echo {0}; rm -rf src{1}; echo {0}", "echo token={0}; rm -rf src{1}", "ls; rm -rf src{1}"]
    ):
        ticket = gate.held(command(text.format("a" * 5000, number), "/home/dev/app"))
        assert f"rm -rf src{number}" in ticket.title and len(ticket.title) <= 300
    gate.close()


def test_of_two_links_that_are_used_at_once_one_is_the_first_way_in(tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    gate.enrol()
    one, other = follow_setup_link(gate), follow_setup_link(gate)
    first = register(gate, one, Authenticator())
    late = replace(first, id="ab" * 16)  # both were told that theirs counts at once, before either was kept
    made = credentials.add(gate.state, other, late)
    assert first.active_at <= gate.clock.now() < made.active_at
    gate.close()


def test_a_cookie_alone_grants_nothing_that_takes_a_touch(tmp_path: Path) -> None:
    gate = asking(tmp_path, "verify")
    policy = json.loads((tmp_path / "p.json").read_text())
    (tmp_path / "p.json").write_text(json.dumps(policy | {"levels": {**policy["levels"], "destructive": "verify"}}))
    gate.close()
    gate = Gate(tmp_path / "s", policy={"use": str(tmp_path / "p.json")})
    key = add_passkey(gate)
    reset = command("rm -f notes/a.txt", "/home/dev/app")
    asked = {
        "effect": "destroy",
        "targets": ["/home/dev/app/notes/*"],
        "why": "x",
        "count": 3,
        "ceiling": "destructive",
    }
    assert gate.ask(reset).outcome == "verify"
    entered = enter_with_passkey(gate, key)
    grant = grants.add_grant(gate.state, entered.visitor.session, asked)
    assert grants.is_signed(gate.state, grant) and not gate.ask(reset).allowed
    begun = step_up.grant_begin(gate.state, entered.visitor, asked, SITE)
    touch = key.get(begun["publicKey"])
    grants.add_grant(
        gate.state,
        step_up.granted(gate.state, entered.visitor, asked, step_up.Touch(begun["ceremony"], touch, SITE)),
        asked,
    )
    assert gate.ask(reset).allowed
    gate.close()


def test_people_hear_of_a_new_name_that_could_be_the_second_of_two(tmp_path: Path) -> None:
    gate, told = Gate(tmp_path), Told()
    gate.state.channels = (*gate.state.channels, told)
    gate.enrol()
    gate.add("twin", "dev", teams=("data",))
    operators.change_operator(gate.state, gate.sign_in(), "twin", disabled=True)
    assert told.heard == [
        ("operator", "ann added the operator twin (dev, team data)"),
        ("operator", "ann changed the operator twin (dev, team data, disabled)"),
    ]
    gate.close()


class Told:
    """Whoever listens."""

    name = "told"

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def tell(self, event: str, about: object, words: str) -> None:
        self.heard.append((event, words))
