"""Measures commands below the journal's supervisor beside the same commands without it, in one run, each the best of several."""

from __future__ import annotations

import os
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

ROUNDS = 5
FILES = 5_000
BYTES = 2_000


@dataclass(frozen=True)
class Load:
    """One command, what has to be there before each run of it, and how much longer it may take."""

    name: str
    argv: list[str]
    prepare: Callable[[Path], None]
    aim: float


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        config = config_of({"store": {"url": f"sqlite://{place}/state"}, "undo": {"free_bytes": 0}}, "", {})
        program, store = ready(config)
        print(f"Best of {ROUNDS}, in milliseconds, {FILES:,} files of {BYTES:,} bytes where files are meant\n")
        print(f"{'':<36}{'plain':>10}{'journal':>10}{'x':>8}{'aim':>8}{'supervisor':>14}")
        for load in loads(place):
            row(load, place / "work", program, store)
        listing(config)


def row(load: Load, work: Path, program: Path, store: JournalStore) -> None:
    plain, kept, memory = [], [], 0
    for _ in range(ROUNDS):
        plain.append(timed(load, work, [])[0])
        seconds, used = timed(load, work, [str(program), str(store.path), "--"])
        kept.append(seconds)
        memory = max(memory, used)
        settle(store)
    best, other = min(plain) * 1000, min(kept) * 1000
    print(f"{load.name:<36}{best:>10.1f}{other:>10.1f}{other / best:>8.2f}{load.aim:>8.2f}{memory / 1024:>11.1f} MB")


def timed(load: Load, work: Path, before: list[str]) -> tuple[float, int]:
    """The seconds that a run takes, and the largest size of its supervisor in KB."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    load.prepare(work)
    os.sync()
    start = time.perf_counter()
    process = subprocess.Popen([*before, *load.argv], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    largest = watch(process) if before else 0
    code = process.wait()
    seconds = time.perf_counter() - start
    assert code == 0, load.name
    return seconds, largest


def watch(process: subprocess.Popen[bytes]) -> int:
    largest = 0
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        try:
            for child in children.read_text().split():
                lines = Path(f"/proc/{child}/status").read_text().splitlines()
                largest = max(largest, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM")))
        except (OSError, ValueError):
            pass
        time.sleep(0.01)
    return largest


def settle(store: JournalStore) -> None:
    """Ends and forgets every action, so that each run meets an empty store."""
    for id in store.ids():
        store.journal(id).wait(60)
        shutil.rmtree(store.path / "actions" / id, ignore_errors=True)


def loads(place: Path) -> list[Load]:
    """The commands, with what they need made once."""
    packed = place / "packages.tar"
    tree(place / "packages")
    subprocess.run(["tar", "cf", packed, "-C", place, "packages"], check=True)
    repository(place / "repository")
    sources(place / "sources")
    suite(place / "suite")
    build = "for f in *.c; do cc -O1 -c $f || exit 1; done; cc -o all *.o"
    return [
        Load("install: unpack packages", ["tar", "xf", str(packed)], lambda work: None, 3.0),
        Load("install: unpack over packages", ["tar", "xf", str(packed)], lambda work: copy(place / "packages", work / "packages"), 3.0),
        Load("remove packages: rm -rf", ["rm", "-rf", "packages"], lambda work: copy(place / "packages", work / "packages"), 3.0),
        Load("git checkout of another branch", ["git", "checkout", "-q", "other"], lambda work: copy(place / "repository", work), 3.0),
        Load("C build", ["sh", "-c", build], lambda work: copy(place / "sources", work), 1.1),
        Load("tests that only read", [sys.executable, "-B", "-m", "unittest", "-q"], lambda work: copy(place / "suite", work), 1.1),
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
    """The list of undoable actions where one of them has 100,000 entries."""
    program, store = ready(config)
    folder = store.path.parent.parent / "many"
    folder.mkdir()
    code = "for n in range(100_000): open(f'{n}', 'w')"
    subprocess.run([program, store.path, "--", sys.executable, "-S", "-c", code], cwd=folder, check=True)
    store.journal(store.ids()[0]).wait(60)
    start = time.perf_counter()
    JournalUndo(config).rows()
    listed = time.perf_counter() - start
    plan = JournalUndo(config).plan(store.ids()[0])
    print(
        f"\nundo --list with {plan['total']:,} entries: {listed * 1000:.1f} ms; planning that undo {time.perf_counter() - start - listed:.1f} s"
    )


if __name__ == "__main__":
    main()
