"""The queue's cards: one for a deed however often it is tried, the most urgent first."""

from __future__ import annotations

from pathlib import Path

from interlock.core.model import Level
from interlock.doors.console.colour import coloured, runs
from visited import looking


def test_the_same_deed_in_other_words_is_one_card_that_says_what_the_last_try_changed(tmp_path: Path) -> None:
    with looking(tmp_path) as here:
        held = here.ask("rm -rf src")
        assert here.ask("rm -r src")["decision"] == "deny"
        page = here.page("/console/queue")
        assert page.count(f'data-item="{held["pendingId"]}"') == 1
        assert "tried 2 times" in page
        assert '<span class="del">- rm -rf src</span>' in page and '<span class="add">+ rm -r src</span>' in page
        assert "tried 2 times" in here.page(f"/console/tickets/{held['pendingId']}")


def test_what_was_tried_once_says_nothing_of_tries(tmp_path: Path) -> None:
    with looking(tmp_path) as here:
        here.ask("rm -rf src")
        assert "tried" not in here.page("/console/queue")


def test_the_greater_harm_comes_first(tmp_path: Path) -> None:
    with looking(tmp_path) as here:
        small, great = here.ask("rm notes.txt"), here.ask("terraform destroy -auto-approve")
        page = here.page("/console/queue")
        assert page.index(great["pendingId"]) < page.index(small["pendingId"])
        assert f"level-{int(Level.FORBIDDEN)}" in page


def test_colours_leave_nothing_out_and_mark_the_harm() -> None:
    text = "cd /srv && sudo rm -rf 'a b' \"c\nd\" # all of it\nFOO=1 ls"
    pieces = coloured(text, [(11, 28)])
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.text for piece in pieces if piece.kind == "program"] == ["cd", "sudo", "ls"]
    marked = ["".join(piece.text for piece in group) for is_marked, group in runs(pieces) if is_marked]
    assert marked == ["sudo rm -rf 'a b'"]


def test_a_mark_outside_the_text_is_no_error() -> None:
    assert "".join(piece.text for piece in coloured("ls", [(-5, 1), (1, 99), (7, 9)])) == "ls"


def test_after_five_approvals_in_two_minutes_the_targets_name_is_typed(tmp_path: Path) -> None:
    with looking(tmp_path, policy={"use": "default"}, limits={"session_minutes": 60}) as here:

        def approved(number: int, **more: str) -> int:
            path = f"/console/tickets/{here.ask(f'rm note{number}.txt')['pendingId']}/approve"
            return here.window.form(path, more).status_code

        assert [approved(number) for number in range(5)] == [303] * 5
        assert approved(5) == 422
        assert "Type <code>note5.txt</code>" in here.page("/console/queue")
        assert approved(5, typed="note5.txt") == 303
        here.later(121)
        assert approved(6) == 303
