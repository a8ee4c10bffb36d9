"""kill -9 on eight real daemons with real load over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from invariants import STANDS
from killed_daemons import Folder, kill_in_folders
from killed_services import warm

pytestmark = pytest.mark.xdist_group("faults")

FOLDERS, AT_ONCE, LIVES = 4, 2, 2  # `make soak` kills two hundred


@pytest.mark.slow(why="8 daemons are really started, put under load and killed")
def test_what_eight_killed_daemons_acknowledged_is_there_once_and_provable(tmp_path: Path) -> None:
    known = warm()
    folders = [Folder(tmp_path / str(number), number, known) for number in range(FOLDERS)]
    assert kill_in_folders(folders, LIVES, AT_ONCE) == []
    assert sum(folder.lives for folder in folders) == 8
    done = {word: sum(len(folder.said.tickets[word]) for folder in folders) for word in STANDS}
    assert min(done.values()) > 0, f"too little was done to mean anything: {done}"
