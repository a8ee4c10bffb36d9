"""kill -9 on services in this program's own processes: 54 of them, at any moment from the first file on."""

from __future__ import annotations

from pathlib import Path

import pytest

from effort import EFFORT
from invariants import STANDS
from killed_services import Folder, live_and_die, warm

pytestmark = pytest.mark.xdist_group("faults")

FOLDERS, AT_ONCE, LIVES = 6 * EFFORT, 2, 9


@pytest.mark.slow(why="54 processes are really started, put under load and killed")
def test_what_54_killed_services_acknowledged_is_there_once_and_provable(tmp_path: Path) -> None:
    known = warm()
    folders = [Folder(tmp_path / str(number), seed=number) for number in range(FOLDERS)]
    for first in range(0, FOLDERS, AT_ONCE):
        some = folders[first : first + AT_ONCE]
        for _ in range(LIVES):
            live_and_die(some, known)
            for folder in some:
                assert folder.broken(known) == [], f"{folder.folder.name}, process {folder.lives}"
    assert sum(folder.lives for folder in folders) == 54 * EFFORT
    done = {word: sum(len(folder.said.tickets[word]) for folder in folders) for word in STANDS}
    assert min(done.values()) > 0, f"too little was done to mean anything: {done}"
