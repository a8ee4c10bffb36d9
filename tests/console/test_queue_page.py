"""The queue's cards: one for a deed however often it is tried, the most urgent first."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from console_visitor import visit_console
from interlock.approvals import first_state
from interlock.console.cards import card_of, highlight, runs
from interlock.console.pages.queue import MOST
from interlock.console.replies import environment
from interlock.model import Human, Level, Requirement, TicketState
from interlock.records import Ticket
from stored_records import ticket


def test_the_same_deed_in_other_words_is_one_card_that_says_what_the_last_try_changed(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        held = here.ask("rm -rf src")
        assert here.ask("rm -r src")["decision"] == "verify"
        page = here.page("/console/queue")
        assert page.count(f'data-item="{held["pendingId"]}"') == 1
        assert "tried 2 times" in page
        assert '<span class="del">- rm -rf src</span>' in page and '<span class="add">+ rm -r src</span>' in page
        assert "tried 2 times" in here.page(f"/console/tickets/{held['pendingId']}")


def test_what_was_tried_once_says_nothing_of_tries(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        here.ask("rm -rf src")
        assert "tried" not in here.page("/console/queue")


def test_the_greater_harm_comes_first(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        small, great = here.ask("rm notes.txt"), here.ask("terraform destroy -auto-approve")
        page = here.page("/console/queue")
        assert page.index(great["pendingId"]) < page.index(small["pendingId"])
        assert f"level-{int(Level.FORBIDDEN)}" in page


def test_more_than_a_page_holds_are_said_to_be_there_and_not_counted_without_end(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        state, now = here.app.state, here.app.clock.now()
        made = [ticket(f"pdact_{n}", digest=f"{n}", opened_at=now, expires_at=now + 60) for n in range(MOST)]
        state.store.write(lambda tx: [tx.open_ticket(one, MOST + 1) for one in made[:-1]])
        assert "More wait than" not in here.page("/console/queue")
        state.store.write(lambda tx: tx.open_ticket(made[-1], MOST + 1))
        page = here.page("/console/queue")
        assert f"Only the newest {MOST} are shown" in page and page.index("Only the newest") < page.index("pdact_")
        assert ">99+</span>" in page and here.page("/console/queue/count", hx_request="true").strip() == "99+"


def test_a_card_says_who_has_to_agree_in_words() -> None:
    asked = Requirement(human=Human.VERIFY, approvers=frozenset({"role:admin"}))
    assert card_of(ticket("t1", requirement=asked)).needs == "an admin has to approve after a fresh sign-in"


def test_a_card_says_unless_you_object_only_where_time_alone_frees_it() -> None:
    """R-21."""
    held = '{% from "queue/_card.html" import held %}{{ held(card, "", 1000.0, False) }}'
    alone, human = Requirement(30), Requirement(30, Human.APPROVE)
    pages = {
        state: environment().from_string(held).render(card=card_of(one))
        for state, asked in (("cooling", alone), ("waiting", human))
        for one in [ticket("t1", level=Level.DESTRUCTIVE, requirement=asked, opened_at=1000.0, cooling_ends_at=1030.0)]
        for one in [replace(one, state=first_state(one))]
    }
    assert "unless you object" in pages["cooling"] and "Approve once" not in pages["cooling"]
    assert "unless you object" not in pages["waiting"] and "Approve once" in pages["waiting"]
    assert "at the earliest" in pages["waiting"] and "expires in" in pages["waiting"]


def test_a_long_harm_is_cut_where_that_can_be_seen() -> None:
    long = f"rm -rf {'deep/' * 90}"
    action = {"kind": "command", "command": long}
    [said] = card_of(ticket("t1", action=action, findings=({"subject": long, "level": 3},))).shown.harm
    assert len(said.text) == 200 and said.text.endswith("…")


def test_a_card_says_what_was_seen_and_why_it_could_not_be_kept() -> None:
    card = card_of(ticket("t1", factors=("looked: would delete 9 files, 2 GB", "not kept: it is more than 200 MB")))
    assert card.blast == "would delete 9 files, 2 GB" and card.no_snapshot == "it is more than 200 MB"
    page = environment().from_string('{% from "queue/_card.html" import facts %}{{ facts(card) }}').render(card=card)
    assert "<dt>No snapshot</dt><dd>it is more than 200 MB</dd>" in page
    assert card_of(ticket("t2")).no_snapshot == ""


def test_colours_leave_nothing_out_and_mark_the_harm() -> None:
    text = "cd /srv && sudo rm -rf 'a b' \"c\nd\" # all of it\nFOO=1 ls"
    pieces = highlight(text, [(11, 28)])
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.text for piece in pieces if piece.kind == "program"] == ["cd", "sudo", "ls"]
    marked = ["".join(piece.text for piece in group) for is_marked, group in runs(pieces) if is_marked]
    assert marked == ["sudo rm -rf 'a b'"]


def test_a_mark_outside_the_text_is_no_error() -> None:
    assert "".join(piece.text for piece in highlight("ls", [(-5, 1), (1, 99), (7, 9)])) == "ls"


def test_after_five_approvals_in_two_minutes_the_targets_name_is_typed(tmp_path: Path) -> None:
    with visit_console(tmp_path, policy={"use": "default"}, limits={"session_minutes": 60}) as here:

        def approved(number: int, **more: str) -> int:
            path = f"/console/tickets/{here.ask(f'rm note{number}.txt')['pendingId']}/approve"
            return here.window.form(path, more).status_code

        assert [approved(number) for number in range(5)] == [303] * 5
        assert approved(5) == 422
        assert "Type <code>note5.txt</code>" in here.page("/console/queue")
        assert approved(5, typed="note5.txt") == 303
        here.later(121)
        assert approved(6) == 303


def test_a_tickets_own_page_goes_on_with_its_answer_and_an_unused_approval_is_taken_back(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        id = here.ask("git branch -D old")["pendingId"]
        place = f"/console/tickets/{id}"
        page = here.page(place)
        assert f'data-live="tickets" hx-get="{place}"' in page and "Revoke the approval" not in page
        assert here.window.form(f"{place}/approve").status_code == 303
        part = here.part(place)
        assert "<html" not in part and "Approved by <b>ana</b> on" in part and "Revoke the approval" in part
        assert here.window.form(f"{place}/revoke").status_code == 422  # why?
        assert here.window.form(f"{place}/revoke", {"reason": "a slip"}).headers["location"] == place
        assert here.ask("git branch -D old")["decision"] != "allow"
        said = here.said(place)
        assert "Rejected by ana on" in said and "a slip" in said


def test_an_approval_that_was_used_says_so(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        id = here.ask("git branch -D old")["pendingId"]
        here.window.form(f"/console/tickets/{id}/approve")
        assert here.ask("git branch -D old")["decision"] == "allow"
        said = here.said(f"/console/tickets/{id}")
        assert "Approved by ana on" in said and ", used on" in said and "Revoke the approval" not in said


def test_harm_in_a_long_command_and_letters_that_look_like_others_are_said_beside_it(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        here.ask(f"echo {'a' * 500}; rm -rf src; echo {'b' * 500}")
        here.ask("rm -rf /srv/\u0430pp", "another")
        page = here.page("/console/queue")
        assert page.index("<mark>rm -rf src</mark>") < page.index("As it was written") < page.index("a" * 500)
        said = here.said("/console/queue")
        assert "cyrillic small letter a (U+0430)" in said


def test_a_card_leads_with_what_would_run_and_has_the_text_as_it_was_written_below(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        coded = base64.b64encode(b"rm -rf /srv/data").decode()
        id = here.ask(f"echo {coded} | base64 -d | sh")["pendingId"]
        for path in ("/console/queue", f"/console/tickets/{id}", here.record(text="base64", level="3")):
            page = here.page(path)
            lead = page.index('<mark>rm -rf /srv/data</mark> <span class="via">inside sh</span>')
            assert lead < page.index("As it was written") < page.index(coded, page.index("As it was written"))


def test_an_operation_is_one_line_with_its_parameters_on_cards_and_in_lists(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        asked = {"agent": {"name": "bot"}, "operation": "delete_user", "params": {"id": 5, "who": "ana"}}
        here.app.call("POST", "/api/v1/evaluate", asked, here.agent)
        for path in ("/console/queue", "/console/live", "/console/audit"):
            assert 'delete_user(id=5,who="ana")' in "".join(here.said(path).split())


def test_the_tab_counts_what_waits_and_a_script_is_told_of_the_newest(tmp_path: Path) -> None:
    with visit_console(tmp_path) as here:
        assert here.window.get("/console/queue/newest").json() == {"count": ""}
        assert "<title>Queue · Interlock</title>" in here.page("/console/queue")
        id = here.ask("bash -c 'rm -rf /srv/data'")["pendingId"]
        found = here.window.get("/console/queue/newest").json()
        assert found["count"] == "1" and found["id"] == id and found["words"].endswith("rm -rf /srv/data")
        assert "<title>(1) Live · Interlock</title>" in here.page("/console/live")


def test_what_only_people_free_is_not_said_to_run_by_itself() -> None:
    cooling: dict[str, Any] = {
        "state": TicketState.COOLING,
        "opened_at": 10.0,
        "cooling_ends_at": 99.0,
        "expires_at": 900.0,
    }
    asked = Requirement(cooling_seconds=60, human=Human.APPROVE)
    both, alone = ticket("t1", requirement=asked, **cooling), ticket("t2", requirement=Requirement(60), **cooling)
    assert not card_of(both).cooling and card_of(alone).cooling
    assert "at the earliest" in drawn(both) and "unless you object" not in drawn(both)
    assert "unless you object" in drawn(alone)


def test_a_card_says_the_patterns_severity_and_description() -> None:
    pattern = {"id": "drop-staging", "description": "Drops the database of the demo", "severity": "medium"}
    page = drawn(ticket("t1", patterns=(pattern,), severity="medium"))
    assert "medium severity" in page and "Drops the database of the demo" in page


def test_cannot_be_undone_is_not_said_of_what_can_be_had_back() -> None:
    looked = "looked: would delete 3 files, 9 bytes; all of it can be had back"
    assert "cannot be undone" in drawn(ticket("t1", irreversible=True))
    assert "cannot be undone" not in drawn(ticket("t1", irreversible=True, factors=(looked,)))


def drawn(held: Ticket) -> str:
    """One card."""
    template = '{% from "queue/_card.html" import held %}{{ held(card, "", 20.0, False) }}'
    return environment().from_string(template).render(card=card_of(held))
