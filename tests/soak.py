"""`make soak`: 200 real daemons under load, each killed at a random moment; nothing acknowledged lost, nothing spent twice."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

from invariants import STANDS
from killed_daemons import Folder, kill_in_folders
from killed_services import warm

FOLDERS, LIVES, AT_ONCE = 20, 10, 2


class Progress:
    """A line for every tenth daemon."""

    def __init__(self, folders: list[Folder]) -> None:
        self._folders, self._begun, self._lock = folders, time.monotonic(), threading.Lock()

    def __call__(self, folder: Folder) -> None:
        with self._lock:
            lives = sum(folder.lives for folder in self._folders)
            if lives % 10 == 0:
                print(f"{lives:4} daemons killed, {self.told}, {time.monotonic() - self._begun:.0f} s", flush=True)

    @property
    def told(self) -> str:
        counts = {word: sum(len(folder.said.tickets[word]) for folder in self._folders) for word in STANDS}
        return ", ".join(f"{count} {word}" for word, count in counts.items())


def main() -> int:
    known = warm()
    with tempfile.TemporaryDirectory(prefix="soak") as place:
        folders = [Folder(Path(place) / str(number), int(time.time()) + number, known) for number in range(FOLDERS)]
        progress = Progress(folders)
        found = kill_in_folders(folders, LIVES, AT_ONCE, progress)
        print(f"\n{sum(folder.lives for folder in folders)} daemons killed; callers were told: {progress.told}")
    unsure = [words for folder in folders for words in folder.unsure]
    print(f"{len(unsure)} times the state could not be known (503), and was a moment later")
    for words in [*unsure, *found]:
        print(words)
    print(
        "a promise was broken"
        if found
        else "nothing acknowledged was lost, nothing was spent twice, every chain verifies"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
