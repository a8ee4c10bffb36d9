"""Measures commands below the journal's supervisor beside the same commands without it, in one run, each the best of several.

Times are those of the processor, all processes together: the supervisor works only while the caller waits for it, so that they add up to
the time that passes on a machine with nothing else to do, and another program that runs meanwhile is not measured.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from interlock.config import Config, config_of
from interlock.journal.build import ready
from interlock.journal.store import JournalStore
from interlock.journal.undo import JournalUndo

ROUNDS = 3
FILES = 5_000
BYTES = 2_000
ENTRIES = 100_000


@dataclass(frozen=True)
class Load:
    """One command, what has to be there before each run of it, and how much longer it may take."""

    name: str
    argv: list[str]
    prepare: Callable[[Path], None]
    aim: float


def main() -> None:
    os.sched_setaffinity(
        0, {max(os.sched_getaffinity(0))}
    )  # caller and supervisor take turns; a move between cores is no cost of either
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        config = config_of({"store": {"url": f"sqlite://{place}/state"}, "undo": {"free_bytes": 0}}, "", {})
        program, store = ready(config)
        print(
            f"Best of {ROUNDS}, in milliseconds of the processor, {FILES:,} files of {BYTES:,} bytes where files are meant\n"
        )
        print(f"{'':<36}{'plain':>10}{'journal':>10}{'x':>8}{'aim':>8}{'supervisor':>14}")
        (place / "work").mkdir()
        for load in loads(place):
            row(load, place / "work", program, store)
        listing(config)


def row(load: Load, work: Path, program: Path, store: JournalStore) -> None:
    plain, kept, memory = [], [], 0
    for _ in range(ROUNDS):
        plain.append(timed(load, work, []))
        before = timed(load, work, [str(program), str(store.path), "--"])
        supervisor, used = settle(store)
        kept.append(before + supervisor)
        memory = max(memory, used)
    best, other = min(plain) * 1000, min(kept) * 1000
    print(
        f"{load.name:<36}{best:>10.1f}{other:>10.1f}{other / best:>8.2f}{load.aim:>8.2f}{memory / 1024:>11.1f} MB",
        flush=True,
    )


def timed(load: Load, work: Path, before: list[str]) -> float:
    """The seconds of the processor that a run takes, without those of a supervisor that outlives it."""
    # Never in the place of what was just deleted, which ext4 is slow to use again.
    work = Path(tempfile.mkdtemp(dir=work))
    load.prepare(work)
    start = children_seconds()
    subprocess.run([*before, *load.argv], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return children_seconds() - start


def settle(store: JournalStore) -> tuple[float, int]:
    """Ends and forgets every action; the seconds that they took, and the most KB that a supervisor had."""
    seconds, most = 0.0, 0
    for id in store.ids():
        stored = store.journal(id)
        stored.wait(60)
        lines = (stored.folder / "end").read_text("ascii").splitlines()
        end = {word: int(value) for word, value in (line.split() for line in lines)}
        seconds, most = seconds + (end["supervisor_us"] + end["command_us"]) / 1e6, max(most, end["kilobytes"])
        shutil.rmtree(stored.folder)
    return seconds, most


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def loads(place: Path) -> list[Load]:
    """The commands, with what they need made once."""
    packed = place / "packages.tar"
    tree(place / "packages")
    subprocess.run(["tar", "cf", packed, "-C", place, "packages"], check=True)
    repository(place / "repository")
    sources(place / "sources")
    suite(place / "suite")
    unpack = f"tar --no-same-owner --no-same-permissions -xf {packed}"  # also where root measures
    packages = f"rm -rf packages && {unpack} && chmod -R u+x packages"
    tests = f"{sys.executable} -B -m unittest -q && echo passed > result"
    build = "for f in *.c; do cc -O1 -c $f || exit 1; done; cc -o all *.o"
    return [
        Load("install: unpack packages", unpack.split(), lambda work: None, 3.0),
        Load("npm ci: remove and unpack packages", ["sh", "-c", packages], lambda work: copy(place / "packages", work / "packages"), 3.0),
        Load("remove packages: rm -rf", ["rm", "-rf", "packages"], lambda work: copy(place / "packages", work / "packages"), 3.0),
        Load("git checkout of another branch", ["git", "checkout", "-q", "other"], lambda work: copy(place / "repository", work), 3.0),
        Load("C build", ["sh", "-c", build], lambda work: copy(place / "sources", work), 1.1),
        Load("tests that only read", ["sh", "-c", tests], lambda work: copy(place / "suite", work), 1.1),
    ]  # fmt: skip


def copy(source: Path, to: Path) -> None:
    subprocess.run(["cp", "-a", f"{source}/.", to], check=True)


def tree(folder: Path) -> None:
    for number in range(FILES):
        path = folder / f"package{number // 50}" / "lib" / f"file{number}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(BYTES // 2).hex().encode())


def repository(folder: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0", *words], cwd=folder, check=True
        )

    tree(folder)
    git("init", "-q", "-b", "main", ".")
    git("add", "-A")
    git("commit", "-qm", "first")
    git("checkout", "-qb", "other")
    tree(folder)
    git("commit", "-qam", "second")
    git("checkout", "-q", "main")


def sources(folder: Path) -> None:
    folder.mkdir()
    for number in range(40):
        text = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        text += "".join(f'int f{number}_{i}(int a) {{ return printf("%d", a * {i}); }}\n' for i in range(60))
        (folder / f"part{number}.c").write_text(text)
    (folder / "main.c").write_text("int main(void) { return 0; }\n")


def suite(folder: Path) -> None:
    folder.mkdir()
    (folder / "data.txt").write_text("word " * 20_000)
    body = "".join(
        f"    def test_{i}(self): self.assertEqual(sum(len(w) for w in pathlib.Path('data.txt').read_text().split()), 80000)\n"
        for i in range(100)
    )
    (folder / "test_read.py").write_text(
        f"import unittest, pathlib, json, email, http.client\nclass T(unittest.TestCase):\n{body}"
    )


def listing(config: Config) -> None:
    """The list of undoable actions where the newest of them has many entries."""
    program, store = ready(config)
    folder = store.path.parent.parent / "many"
    folder.mkdir()
    code = f"for n in range({ENTRIES}): open(f'{{n}}', 'w')"
    subprocess.run([program, store.path, "--", sys.executable, "-S", "-c", code], cwd=folder, check=True)
    store.journal(store.ids()[0]).wait(60)
    undo = JournalUndo(config)
    print(
        f"\nWith {ENTRIES:,} entries: undo --list {timed_call(undo.rows):.1f} ms, which action is the newest {timed_call(undo.newest):.1f} ms, ",
        end="",
    )
    print(f"what its undo changes {timed_call(lambda: undo.plan(store.ids()[0])) / 1000:.1f} s")


def timed_call(call: Callable[[], object]) -> float:
    """The milliseconds of the processor that a call of ours takes."""
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1000


if __name__ == "__main__":
    main()
