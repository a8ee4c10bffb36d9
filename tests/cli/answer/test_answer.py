"""A person answers what an agent asked, at a terminal of their own, through a real daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from desk import PASSPHRASE, WRONG_AGAIN, Desk
from interlock.analysis.display_text import short_id
from interlock.client import ApiError


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    desk.open()
    yield desk
    desk.stop()


def test_an_approval_shows_exactly_what_is_approved_and_lets_it_happen_once(desk: Desk) -> None:
    command = "ssh db1 rm -rf /srv/one"
    ticket = desk.evaluate(command)["pendingId"]
    shown, code = desk.signed("approve", ticket, "--reason", "it is mine")
    assert code == 0, shown
    for words in (
        ticket, command, "3 dangerous", "cannot be undone", "Deletes a directory", "calls itself claude", "/home/dev/app",
        "an operator has to approve after a fresh sign-in", "Approved: the agent may do this once",
    ):  # fmt: skip
        assert words in shown
    assert PASSPHRASE not in shown
    assert shown.index(command) < shown.index("Passphrase")  # before anything is signed
    assert desk.evaluate(command)["allowed"] is True
    assert desk.evaluate(command)["allowed"] is False


def test_the_third_yes_to_the_same_says_which_grant_would_have_answered_it(desk: Desk) -> None:
    for time in range(3):
        ticket = desk.evaluate("kubectl delete deploy again")["pendingId"]
        shown, code = desk.signed("approve", ticket)
        assert code == 0, shown
        assert ("interlock grants add" in shown) is (time == 2)
        assert desk.evaluate("kubectl delete deploy again")["allowed"] is True
    assert "You approved similar actions 3 times." in shown
    assert f"interlock grants add --from {ticket} --any-session" in " ".join(shown.split())


def test_a_wrong_passphrase_approves_nothing(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/two")["pendingId"]
    shown, code = desk.signed("approve", ticket, passphrase="not the passphrase", more=WRONG_AGAIN)
    assert code == 1 and "interlock approve: the name or the passphrase is wrong" in shown
    assert desk.evaluate("ssh db1 rm -rf /srv/two")["allowed"] is False


def test_a_slip_of_the_finger_is_no_reason_to_begin_anew(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/slip")["pendingId"]
    more = [(r"2 more tries(?s:.*)Passphrase of ana: ", PASSPHRASE)]
    shown, code = desk.signed("approve", ticket, passphrase="correct hrose battery", more=more)
    assert code == 0, shown
    assert desk.evaluate("ssh db1 rm -rf /srv/slip")["allowed"] is True


def test_at_an_agents_terminal_nothing_is_approved(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/two")["pendingId"]
    shown, code = desk.person("approve", ticket, env={"CLAUDECODE": "1"})
    assert code == 1 and "agent's terminal: the environment has CLAUDECODE" in shown and "Passphrase" not in shown


def test_a_passphrase_is_not_taken_from_a_pipe_an_argument_or_the_environment(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/two")["pendingId"]
    run = desk.program("approve", ticket, "--operator", "ana", given=f"{PASSPHRASE}\n" * 3)
    assert run.returncode == 1 and "stdin is not a terminal" in run.stderr
    assert desk.program("approve", ticket, "--passphrase", PASSPHRASE).returncode == 2
    assert desk.evaluate("ssh db1 rm -rf /srv/two")["allowed"] is False


def test_no_token_is_left_anywhere(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/three")["pendingId"]
    desk.signed("approve", ticket)
    for path in desk.folder.rglob("*"):
        if path.is_file():
            assert b"ses_" not in path.read_bytes() and PASSPHRASE.encode() not in path.read_bytes(), path
    desk.evaluate("ssh db1 rm -rf /srv/three")


def test_a_rejection_needs_a_reason_and_the_agent_reads_it(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/four")["pendingId"]
    assert desk.program("reject", ticket).returncode == 2
    shown, code = desk.signed("reject", ticket, "--reason", "archive it instead")
    assert code == 0 and "Rejected" in shown
    assert "archive it instead" in desk.evaluate("ssh db1 rm -rf /srv/four")["reason"]
    shown, code = desk.person("approve", ticket)
    assert code == 1 and "is rejected; it cannot be approved" in shown


def test_whoever_gives_no_reason_is_asked_for_it_after_the_ticket_was_shown(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/why")["pendingId"]
    typed = [
        ("rm -rf /srv/why.*Why \\(the agent reads it\\): ", "use a migration"),
        ("Passphrase of ana: ", PASSPHRASE),
    ]
    shown, code = desk.person("reject", ticket, "--operator", "ana", answers=typed)
    assert code == 0 and "Rejected" in shown
    assert "use a migration" in desk.evaluate("ssh db1 rm -rf /srv/why")["reason"]
    shown, code = desk.person("unblock", "uid:7", answers=[("Why: ", "")])
    assert code == 2 and "--reason" in shown


def test_an_approval_of_what_is_approved_says_so(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/twice")["pendingId"]
    assert desk.signed("approve", ticket)[1] == 0
    shown, code = desk.person("approve", ticket)
    assert code == 1 and f"ticket {short_id(ticket)} is approved already" in shown


def test_an_approval_is_taken_back_before_it_is_used(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/five")["pendingId"]
    assert desk.signed("approve", ticket)[1] == 0
    shown, code = desk.signed("revoke", ticket, "--reason", "wrong folder")
    assert code == 0 and "Revoked" in shown
    assert desk.evaluate("ssh db1 rm -rf /srv/five")["allowed"] is False


def test_what_ones_own_agents_wait_for_is_listed_without_a_sign_in(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/two")["pendingId"]
    listed = desk.program("pending")
    assert (
        listed.returncode == 0
        and short_id(ticket) in listed.stdout
        and "in /home/dev/app" in listed.stdout
        and "ssh db1 rm -rf /srv/two" in listed.stdout
    )
    assert ticket in [one["id"] for one in json.loads(desk.program("pending", "--json").stdout)]
    shown = desk.program("show", ticket)
    assert shown.returncode == 0 and "waiting for an answer" in shown.stdout
    assert json.loads(desk.program("show", ticket, "--json").stdout)["id"] == ticket


def test_what_steers_a_terminal_is_spelled_out(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/six # \x1b[2J\u202e nothing to see")["pendingId"]
    shown = desk.program("show", ticket).stdout
    assert "\x1b" not in shown and "\u202e" not in shown and "\\x1b[2J\\u202e nothing to see" in shown
    desk.signed("reject", ticket, "--reason", "no")


def test_another_users_ticket_takes_a_sign_in_and_a_yes(desk: Desk) -> None:
    shown, code = desk.signed("agents", "add", "ci-bot")
    assert code == 0
    token = next(word for word in shown.split() if word.startswith("agt_"))
    ticket = desk.evaluate("ssh db1 rm -rf /srv/seven", token)["pendingId"]
    assert "stdin is not a terminal" in desk.program("show", ticket).stderr
    listed, code = desk.signed("pending")
    assert code == 0 and short_id(ticket) in listed
    said, code = desk.signed("approve", ticket, more=[(r"Approve exactly this\? \[y/N\] ", "n")])
    assert code == 1 and "ssh db1 rm -rf /srv/seven" in said and "nothing was answered" in said
    said, code = desk.signed("approve", ticket, more=[(r"Approve exactly this\? \[y/N\] ", "y")])
    assert code == 0 and desk.evaluate("ssh db1 rm -rf /srv/seven", token)["allowed"] is True


def test_where_no_terminal_is_a_program_is_told_that_an_operator_has_to_sign_in(desk: Desk) -> None:
    said = desk.program("show", "pdact_unknown").stderr
    for words in (
        "no agent of your own user has a ticket 'pdact_unknown'",
        "an operator has to sign in",
        "POST /api/v1/session",
    ):
        assert words in said
    said = desk.program("agents").stderr
    assert "an operator has to sign in for this, and stdin is not a terminal" in said and "agent's terminal" not in said


def test_a_ticket_that_was_used_is_neither_revoked_nor_rejected(desk: Desk) -> None:
    desk.agent = {"name": "used", "session": "used"}
    ticket = desk.evaluate("ssh db1 rm -rf /srv/used")["pendingId"]
    desk.signed("approve", ticket)
    assert desk.evaluate("ssh db1 rm -rf /srv/used")["allowed"] is True
    for argv in (("revoke", ticket), ("reject", ticket, "--reason", "too late")):
        said, code = desk.person(*argv)  # no passphrase is asked for
        assert code == 1 and "is approved and used; it cannot be" in said


@pytest.mark.slow("a daemon and nine sign-ins, each with a slow hash")
def test_of_several_people_each_is_told_how_many_are_missing(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(
        'extends = "default"\n[levels]\ndangerous = { require = "verify", approvers = ["team:data"], quorum = 2 }\n'
    )
    desk = Desk(tmp_path, '[policy]\nuse = "two.toml"\n')
    desk.open()
    try:
        for name in ("ben", "kim"):
            new = [(rf"New passphrase of {name}[^\n]*: ", PASSPHRASE), ("again: ", PASSPHRASE)]
            assert desk.signed("operator", "add", name, "--team", "data", more=new)[1] == 0
        ticket = desk.evaluate("ssh db1 rm -rf /srv/quorum")["pendingId"]
        assert "needs verify by team:data" in desk.program("pending").stdout
        said, code = desk.signed("approve", ticket, name="ben")
        assert code == 0 and "Signed. It may run once 1 more of team:data has approved; 1 of 2 so far (ben)." in said
        said, code = desk.signed("approve", ticket, name="ben")
        assert code == 0 and "Your approval was there already. It may run once 1 more of team:data" in said
        said, code = desk.signed("approve", ticket, name="kim")
        assert code == 0 and "Approved: the agent may do this once" in said
    finally:
        desk.stop()


def test_waiting_ends_with_the_answer(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/eight")["pendingId"]
    assert desk.program("wait", ticket, "--timeout", "1s").returncode == 10
    desk.signed("reject", ticket, "--reason", "not now")
    waited = desk.program("wait", ticket)
    assert waited.returncode == 20 and "rejected by ana: not now" in waited.stdout
    assert desk.program("wait", "pdact_unknown").returncode == 1


def test_a_list_can_go_into_a_pipe(desk: Desk) -> None:
    shown, code = desk.signed("audit", "verify", "--json", script='"$@" | cat')
    assert code == 0 and '"ok": true' in shown


def test_an_agents_own_socket_answers_no_operator_command(desk: Desk) -> None:
    ticket = desk.evaluate("ssh db1 rm -rf /srv/two")["pendingId"]
    for path in (f"/tickets/{ticket}/approve", f"/tickets/{ticket}/reject", "/grants", "/blocks", "/operators"):
        with pytest.raises(ApiError):
            desk.daemon.post(path, {"reason": "please"})


@pytest.mark.slow("a daemon is started twice")
def test_after_a_restart_somebody_unlocks(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.open()
    ticket = desk.evaluate("ssh db1 rm -rf /srv/one")["pendingId"]
    desk.signed("approve", ticket)
    desk.stop()
    desk.start()
    try:
        assert "nobody signed in since the start" in desk.program("status").stdout
        assert desk.evaluate("ssh db1 rm -rf /srv/one")["allowed"] is False
        shown, code = desk.signed("unlock")
        assert code == 0 and "Unlocked" in shown
        assert "unlocked" in desk.program("status").stdout
        assert desk.evaluate("ssh db1 rm -rf /srv/one")["allowed"] is True
    finally:
        desk.stop()


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk at which nothing waits but what a test asks for."""
    desk = Desk(tmp_path_factory.mktemp("quiet"))
    desk.open()
    yield desk
    desk.stop()


def test_the_only_ticket_needs_no_name_and_the_only_operator_neither(quiet: Desk) -> None:
    for word in ("approve", "show"):
        assert "nothing waits for an answer" in quiet.person(word)[0]
    ticket = quiet.evaluate("ssh db1 rm -rf /srv/only")["pendingId"]
    assert json.loads(quiet.program("show", "--json").stdout)["id"] == ticket
    shown, code = quiet.person("approve", answers=[("/srv/only(?s:.*)Passphrase of ana: ", PASSPHRASE)])
    assert code == 0 and "Approved" in shown and "Operator" not in shown
    assert quiet.evaluate("ssh db1 rm -rf /srv/only")["allowed"] is True


def test_a_prefix_is_looked_up_before_the_passphrase_is_asked_for(quiet: Desk) -> None:
    ids = [str(quiet.evaluate(f"ssh db1 rm -rf /srv/p{at}")["pendingId"]) for at in range(2)]
    for given in ((), ("pdact_",), ("zzzzzz",), ("pdact_zzzz",), ("not an id",)):
        shown, code = quiet.person("approve", *given)
        assert code in (1, 2) and "Passphrase" not in shown, given
        if given not in (("pdact_",), ("not an id",)):
            assert all(short_id(id) in shown for id in ids) and "/srv/p1" in shown and "/home/dev/app" in shown
    shown, code = quiet.signed("approve", ids[0].removeprefix("pdact_")[:8])
    assert code == 0, shown
    shown, code = quiet.signed("revoke", f"{short_id(ids[0])}…")
    assert code == 0 and "Revoked" in shown
    assert quiet.program("wait", short_id(ids[0])).returncode == 20
    assert json.loads(quiet.program("show", short_id(ids[0]), "--json").stdout)["state"] == "rejected"


def test_reject_all_answers_everything_that_waits_with_one_sign_in(quiet: Desk) -> None:
    for at in range(3):
        quiet.evaluate(f"ssh db1 rm -rf /srv/all{at}", agent={"name": f"a{at}", "session": "s"})
    waits = len(json.loads(quiet.program("pending", "--json").stdout))
    assert quiet.program("reject", "--all", "pdact_x").returncode == 2
    more = [(rf"/srv/all2(?s:.*)Reject all {waits}\? \[y/N\] ", "y")]
    shown, code = quiet.signed("reject", "--all", "--reason", "not today", more=more)
    assert code == 0 and f"{waits} tickets rejected." in shown
    assert json.loads(quiet.program("pending", "--json").stdout) == []
    assert "not today" in quiet.evaluate("ssh db1 rm -rf /srv/all1", agent={"name": "a1", "session": "s"})["reason"]


def test_signing_in_once_unlocks_this_terminal_and_no_other(quiet: Desk) -> None:
    small = str(quiet.evaluate("git branch -D unlocked")["pendingId"])
    large = str(quiet.evaluate("git push --force origin main")["pendingId"])
    config = f"--config {quiet.config}"
    script = f'"$@"; "$1" "$2" "$3" approve {small} {config}; "$1" "$2" "$3" approve {large} {config}'
    typed = [
        (r"Passphrase of ana: ", PASSPHRASE),
        (r"For 15 min this terminal answers(?s:.*)unlocked(?s:.*)Approve exactly this\? \[y/N\] ", "y"),
        (r"Approved(?s:.*)git push --force(?s:.*)Passphrase of ana: ", PASSPHRASE),
    ]
    shown, code = quiet.person("unlock", answers=typed, script=script)
    assert code == 0, shown
    other = str(quiet.evaluate("git branch -D elsewhere")["pendingId"])
    shown, code = quiet.person("approve", other, answers=[("Passphrase of ana: ", PASSPHRASE)])
    assert code == 0, shown
