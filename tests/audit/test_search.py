"""A search through the record finds what fits, page by page, each record once, and says where it stopped."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gate import Gate
from interlock.audit.search import Place, RecordPage, RecordQuery, describe_record, find_record, search
from interlock.model import command
from interlock.ports import Tx
from interlock.records import AuditQuery


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path / "state")
    made.enrol()
    yield made
    made.close()


def pages(gate: Gate, wanted: RecordQuery, page: int, most: int = 4_000) -> list[RecordPage]:
    found: list[RecordPage] = []
    before: Place | None = None
    while True:
        found.append(search(gate.state, wanted, before, page, most))
        before = found[-1].older
        if before is None:
            return found


@pytest.mark.parametrize("page", [1, 2, 7, 1000])
def test_pages_of_any_size_have_every_record_once_the_newest_first(gate: Gate, page: int) -> None:
    for number in range(9):
        gate.ask(command(f"cat file{number}"))
        gate.clock.forward(number % 3)  # several are of one moment
    found = [entry.row for part in pages(gate, RecordQuery(), page) for entry in part.entries]
    kept = gate.store.read(lambda tx: tx.audit(AuditQuery(newest_first=True)))
    assert found == kept and len(kept) > 9


def test_more_records_of_one_moment_than_are_read_at_once_are_no_obstacle(gate: Gate) -> None:
    for number in range(450):
        gate.ask(command(f"cat file{number}"))
    found = [entry for part in pages(gate, RecordQuery(attempts=True), 60) for entry in part.entries]
    assert len(found) == len({entry.id for entry in found}) == 450


def test_a_search_that_read_enough_stops_and_goes_on_from_there(gate: Gate) -> None:
    gate.ask(command("git push --force origin main"))
    for _ in range(30):
        gate.clock.forward(1)
        gate.ask(command("ls"))
    first = search(gate.state, RecordQuery(level=3), None, 10, most=20)
    assert first.entries == () and first.cut and first.looked == 20
    parts = pages(gate, RecordQuery(level=3), 10, most=20)
    assert [entry.level for part in parts for entry in part.entries] == [3]


def test_a_record_is_found_by_its_number_and_nothing_else_is(gate: Gate) -> None:
    gate.ask(command("ls"))
    entries = search(gate.state, RecordQuery(attempts=True)).entries
    assert find_record(gate.state, entries[0].row.writer, entries[0].row.seq) == entries[0]
    assert find_record(gate.state, "main", 10_000) is None
    assert find_record(gate.state, "", 0) is None


def test_a_search_waits_for_records_that_are_just_being_written(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, write = threading.Event(), threading.Event(), gate.store.write

    def slow(work: Callable[[Tx], object]) -> object:
        begun.set()
        go_on.wait(60)
        return write(work)

    gate.ask(command("cat notes.txt"))
    before = len(gate.store.read(lambda tx: tx.audit(AuditQuery())))
    monkeypatch.setattr(gate.state.recorder.store, "write", slow)
    with ThreadPoolExecutor(2) as pool:
        pool.submit(gate.state.recorder.flush)
        begun.wait(60)
        searching = pool.submit(search, gate.state, RecordQuery(), None, 1_000)
        with contextlib.suppress(TimeoutError):  # it is answered at once where nobody waits
            searching.result(0.2)
        go_on.set()
        assert len(searching.result(60).entries) == before + 1


RUN = {
    "plan": "plan_1", "command": "du -sh *\nls", "cwd": "/srv", "risk": "low", "understood": False, "edited": True,
    "place": "terminal", "ticket": "pdact_1", "kept": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"by": "ana", **RUN},
            "by ana: runs du -sh * ls  (low risk, edited; in /srv, at the terminal; ticket pdact_1; plan_1)",
        ),
        ({"by": "ana", "plan": "plan_1", "characters": 3}, "by ana: 3 characters typed into its command  (plan_1)"),
        (
            {"plan": "plan_1", "status": "success", "exit": 0, "seconds": 2},
            "ended in success with 0 after 2 s  (plan_1)",
        ),
        (
            {"plan": "plan_1", "status": "failure", "exit": 2, "seconds": 2, "journal": "j_1"},
            "ended in failure with 2 after 2 s; `interlock undo j_1` takes back what it changed  (plan_1)",
        ),
    ],
)
def test_a_plan_on_the_record_reads_as_a_sentence(body: dict[str, object], words: str) -> None:
    assert describe_record(body) == words
