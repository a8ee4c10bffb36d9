"""The Undo pages: what was kept is listed page by page, shown for what it is, and brought back by nobody who may not."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from browser_window import Window, signed_in_window
from console_visitor import PAYLOADS, ConsoleVisitor, foreign_markup, page_text, visit_console
from daemons import PASSPHRASE, QUICK
from interlock.audit.chain import event_body
from interlock.console.pages.undo import PAGE, shown_changes
from interlock.identity.operators import add_operator, sign_in
from interlock.journal.build import ready
from interlock.records import UNDONE, Snapshot
from interlock.snapshots import UndoChange, change_json

HOME = "/console/undo"
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleVisitor]:
    with visit_console(tmp_path_factory.mktemp("undo")) as found:
        yield found


def kept(here: ConsoleVisitor, number: int, **more: object) -> Snapshot:
    """A row of something that was kept, whose files are not there."""
    state = here.app.state
    id = "u_" + "a" * 7 + "".join(LETTERS[number >> shift & 31] for shift in (10, 5, 0))
    at = here.app.clock.now() - 10_000 + number
    row = Snapshot(id, at, "uid:1000", "claude", "s1", "/home/dev/app", f"rm -rf part{number}", "0" * 64, 3, 4_100_000)
    row = replace(row, machine=state.snapshots.machine, **more)  # type: ignore[arg-type]
    state.store.write(lambda tx: tx.add_snapshot(row))
    return row


def test_what_was_kept_is_listed_the_newest_first_page_by_page(here: ConsoleVisitor) -> None:
    assert "Nothing to undo yet" in here.said(HOME)
    rows = [kept(here, number) for number in range(PAGE + 2)]
    page = here.said(HOME)
    assert page.index(f"part{PAGE + 1}") < page.index(f"part{PAGE}") and "part0 " not in page
    assert "3 4.1 MB 7 days" in page and "claude" in page
    (older,) = here.links(HOME, f"{HOME}?before=")
    assert "part0 " in here.said(older) and f"part{PAGE + 1}" not in here.said(older)
    assert f'hx-get="{older}"' in here.page(older)  # what comes by itself is the same page
    assert f"/console/undo/{rows[-1].id}" in here.links(HOME, f"{HOME}/u_")
    assert "Nothing older" in here.said(f"{HOME}?before=1") and here.window.get(f"{HOME}?before=x").status_code == 200


def test_a_snapshot_says_for_what_it_was_taken_and_why_it_cannot_be_brought_back(here: ConsoleVisitor) -> None:
    row = kept(here, 900)
    said = here.said(f"{HOME}/{row.id}")
    for part in (
        "rm -rf part900",
        "uid:1000, calls itself claude",
        "/home/dev/app",
        "3 files, 4.1 MB",
        "UTC",
        row.digest,
    ):
        assert part in said
    assert "It cannot be restored" in said and f'action="{HOME}' not in here.page(f"{HOME}/{row.id}")
    answer = here.window.form(f"{HOME}/{row.id}", {"sure": "yes"})
    assert answer.status_code == 409 and "Not undone" in answer.text


def test_without_the_box_nothing_is_tried(here: ConsoleVisitor) -> None:
    row = kept(here, 901)
    before = len(here.app.state.store.read(lambda tx: tx.audit_head("main")).body)  # type: ignore[union-attr]
    for fields in ({}, {"sure": "no"}, {"force": "yes"}):
        assert here.window.form(f"{HOME}/{row.id}", fields).status_code == 422
    assert len(here.app.state.store.read(lambda tx: tx.audit_head("main")).body) == before  # type: ignore[union-attr]


def test_what_was_undone_or_is_not_there_is_said_to_be(here: ConsoleVisitor) -> None:
    row = kept(here, 902, state=UNDONE, ended_at=here.app.clock.now(), ended_by="ana")
    said = here.said(f"{HOME}/{row.id}")
    assert "undone by ana" in said and "Undo…" not in said and "It cannot" not in said
    assert here.window.form(f"{HOME}/{row.id}", {"sure": "yes"}).status_code == 404
    for id in ("u_zzzzzzzzzz", "x", "u_../../x"):
        assert here.window.get(f"{HOME}/{id}").status_code == 404


def test_a_viewer_sees_what_was_kept_and_brings_nothing_back(here: ConsoleVisitor) -> None:
    row = kept(here, 903)
    _, session = sign_in(here.app.state, "ana", PASSPHRASE, "cli")
    add_operator(here.app.state, session, "vic", PASSPHRASE, ("viewer",), kdf=QUICK)
    window, _ = signed_in_window(here.app, "vic")
    assert row.id not in window.get(HOME).text.replace(f'data-item="{row.id}"', "")
    assert "rm -rf part903" in window.get(f"{HOME}/{row.id}").text
    assert "It cannot be restored" not in window.get(f"{HOME}/{row.id}").text  # nobody looked
    assert window.form(f"{HOME}/{row.id}", {"sure": "yes"}).status_code == 403
    assert Window(here.app).get(HOME).status_code == 303


def test_nothing_that_agents_wrote_runs(here: ConsoleVisitor) -> None:
    for number, payload in enumerate(PAYLOADS):
        row = kept(
            here, 950 + number, command=payload, name=payload[:60], cwd=payload, principal=payload, digest=payload
        )
        for path in (HOME, f"{HOME}/{row.id}"):
            assert foreign_markup(here.page(path)) == [], payload


def test_a_diff_is_coloured_by_what_comes_and_goes() -> None:
    change = UndoChange("/x", "replace", diff="--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n")
    (found,) = shown_changes({"changes": [change_json(change)], "total": 1})["changes"]
    assert [kind for kind, _ in found["lines"]] == ["", "", "dim", "del", "add", ""]
    gone = {"changes": [change_json(UndoChange("/x", "delete"))], "total": 3}
    assert shown_changes(gone)["changes"][0]["lines"] == [] and shown_changes(gone)["more"] == 2


def test_the_record_of_an_action_leads_to_what_was_kept_of_it(here: ConsoleVisitor) -> None:
    row = kept(here, 980)
    state, now = here.app.state, here.app.clock.now()
    told = event_body(now, "undo.refused", "ana", {"snapshot": row.id, "digest": row.digest, "reason": "later work"})
    state.store.write(lambda tx: state.recorder.now(tx, "undo.refused", told))
    record = here.record(event="undo.refused", text=row.id)
    assert f"/console/undo/{row.id}" in here.links(record, HOME)
    assert "later work" in page_text(here.page(record))


@pytest.mark.slow("compiles the journal's supervisor")
def test_a_journaled_action_is_listed_shown_and_undone(here: ConsoleVisitor, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("the only copy\n")
    program, store = ready(here.app.config)
    subprocess.run([program, store.path, "--label", "claude", "--", "rm", file], check=True)
    (id,) = store.ids()
    assert store.journal(id).wait(60)
    listed = f"{HOME}?before={time.time() + 1}"  # the rows of the other tests are of another time
    assert f"rm {file}" in here.said(listed) and f"{HOME}/{id}" in here.links(listed, f"{HOME}/j_")
    page = here.said(f"{HOME}/{id}")
    assert "create" in page and "+the only copy" in page
    assert here.window.form(f"{HOME}/{id}", {}).status_code == 422 and not file.exists()
    answer = here.window.form(f"{HOME}/{id}", {"sure": "yes"})
    assert answer.status_code == 200 and "The files are as they were" in answer.text
    assert file.read_text() == "the only copy\n"
    assert "undone" in here.said(f"{HOME}/{id}") and here.window.get(f"{HOME}/j_aaaaaaaaaa").status_code == 404
