"""Random trees, changed by random programs of every kind and killed at random moments: the undo is exact to the last bit."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import random_program
from effort import EFFORT
from forked_child import in_child
from journals import Journal, tree

HERE = Path(__file__).parent
EXAMPLES = 2 * EFFORT
PR_CAPBSET_DROP, CAPABILITIES = 24, 0x20080522
CALLS = "60"

LINES = {  # of one program each; {a} and {b} are names of the tree
    "git": (
        "git init -q .", "git add -A", "git commit -qm 1 --allow-empty", "git checkout -qf -b {a}", "git checkout -qf -",
        "git rm -rfq --ignore-unmatch {a}", "git clean -qfdx {a}", "git stash -qu", "git stash pop -q", "git mv -f {a} {b}",
        "git reset -q --hard", "git gc -q --prune=now", "echo x >> {a}", "git merge -q {a}", "git checkout -qf HEAD~1 -- .",
    ),
    "sqlite": (
        "sqlite3 {a} 'create table if not exists t(x); insert into t values (randomblob(9000))'", "sqlite3 {a} 'delete from t; vacuum'",
        "sqlite3 {a} 'drop table t'", "sqlite3 {a} '.backup {b}'", "sqlite3 {a} 'pragma journal_mode=wal; insert into t values (1)'",
        "sqlite3 {a} .dump > {b}", "sqlite3 {b} < {a}",
    ),
    "tar": (
        "tar cf {a} {b}", "tar xf {a}", "tar xf {a} --unlink-first --recursive-unlink", "tar rf {a} {b}", "tar cf {a} --remove-files {b}",
        "tar czf {a} {b} a c", "tar xf {a} --overwrite --strip-components=1", "tar xf {a} -C {b} --keep-newer-files",
    ),
    "rsync": (
        "rsync -a {a}/ {b}/", "rsync -a --delete {a}/ {b}/", "rsync -a --inplace {a} {b}", "rsync -a --remove-source-files {a} {b}/",
        "rsync -ab {a}/ {b}/", "rsync -rt --delete-excluded --exclude a {a}/ {b}/",
    ),
    "coreutils": (
        "cp -a {a} {b}", "cp -rf --remove-destination {a} {b}", "mv -f {a} {b}", "mv -T {a} {b}", "ln -sfn {a} {b}", "ln -f {a} {b}",
        "install -D -m 755 {a} {b}", "rm -rf {a}", "truncate -s 9 {a}", "split -b 100 {a} {b}", "shred -u {a}", "dd if={a} of={b} bs=10 seek=3",
        "find . -name {a} -delete", "touch -d 2001-01-01 {a}", "chmod -R a-w {a}", "sed -i s/a/b/ {a}", "sort -o {a} {b}", "tee {a} < {b}",
    ),
}  # fmt: skip
SETTING = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\nexec 2>&-\n"


@pytest.fixture(scope="session")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A static program that makes random calls; no library stands between it and the kernel."""
    to = tmp_path_factory.mktemp("random") / "random_calls"
    subprocess.run(["cc", "-static", "-O1", "-o", to, HERE / "random_calls.c"], check=True)
    to.parent.chmod(0o755)
    return to


def script(kind: str, seed: int) -> str:
    """Random command lines of one program."""
    chance = random.Random(f"{kind} {seed}")
    names = [*random_program.NAMES[:4], "a/b", "c/d"]
    lines = [chance.choice(LINES[kind]).format(a=chance.choice(names), b=chance.choice(names)) for _ in range(12)]
    return SETTING + "\n".join([*LINES["git"][:3], *lines] if kind == "git" else lines) + "\n:"


def program(kind: str, seed: int, static: Path) -> list[str | Path]:
    """The command of a kind."""
    if kind == "python":
        return [sys.executable, "-I", "-S", "-B", Path(random_program.__file__), f"{seed}", CALLS]
    if kind == "static":
        return [static, f"{seed}", CALLS]
    tool = {"sqlite": "sqlite3", "coreutils": "cp"}.get(kind, kind)
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is missing")
    return (
        ["node", HERE / "random_calls.mjs", f"{seed}", CALLS] if kind == "node" else ["bash", "-c", script(kind, seed)]
    )


def planted(folder: Path, seed: int) -> Path:
    """A random tree, which is also the current folder."""
    folder.mkdir()
    os.chdir(folder)
    random_program.plant(random.Random(f"tree {seed}"))
    return folder


def check_undo(journal: Journal, work: Path, argv: list[str | Path]) -> None:
    """The undo of a command, and the undo of that, are exact."""
    before = tree(work)
    done = journal.run(*argv)
    assert done.returncode == 0, done.stderr
    after = tree(work)
    if after == before and not journal.store.ids():
        return
    first = journal.undo()
    assert first.get("undone"), first
    assert tree(work) == before
    if "undoableAs" in first:
        assert journal.undo(first["undoableAs"]).get("undone")
        assert tree(work) == after


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("seed", range(EXAMPLES))
@pytest.mark.parametrize("kind", ["python", "static", "node", *LINES])
def test_whatever_a_program_does_its_undo_and_the_undo_of_that_are_exact(
    kind: str, seed: int, journal: Journal, place: Path, static: Path
) -> None:
    check_undo(journal, planted(place / "work", seed), program(kind, seed, static))


def give_up_rights() -> None:
    """What root may do beyond other users is over for this process: the modes of its own files hold for it too."""
    libc = ctypes.CDLL(None, use_errno=True)
    for right in range(64):
        libc.prctl(PR_CAPBSET_DROP, right, 0, 0, 0)
    assert libc.capset(ctypes.byref((ctypes.c_uint32 * 2)(CAPABILITIES, 0)), ctypes.byref((ctypes.c_uint32 * 6)())) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run without rights already")
@pytest.mark.parametrize("seed", range(EXAMPLES))
@pytest.mark.parametrize("kind", ["python", "static", "coreutils"])
def test_it_is_exact_where_modes_keep_their_own_user_out(
    kind: str, seed: int, journal: Journal, place: Path, static: Path
) -> None:
    def trial() -> str:
        give_up_rights()
        check_undo(journal, planted(place / "work", seed), program(kind, seed, static))
        return "exact"

    assert in_child(trial) == "exact"


def supervisor_of(process: subprocess.Popen[bytes]) -> int:
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def kill_supervisor(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError, IndexError):
        os.kill(supervisor_of(process), signal.SIGKILL)


KILLS: dict[str, Callable[[subprocess.Popen[bytes]], None]] = {
    "command": lambda process: process.kill(),
    "supervisor": kill_supervisor,
}


@pytest.mark.parametrize("seed", range(EXAMPLES))
@pytest.mark.parametrize("who", KILLS)
def test_killed_at_any_moment_everything_until_then_can_be_undone(
    who: str, seed: int, journal: Journal, place: Path, static: Path
) -> None:
    work = planted(place / "work", seed)
    before = tree(work)
    process = subprocess.Popen(journal.argv([static, str(seed), "100000"]), stderr=subprocess.DEVNULL)
    time.sleep(random.Random(seed).uniform(0.01, 0.15))
    KILLS[who](process)
    process.wait(60)
    journal.settle()
    assert all(action.command for action in journal.store.actions())
    if journal.store.ids() and journal.read().changes:
        assert journal.undo().get("undone")
    assert tree(work) == before


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_an_undo_killed_at_any_moment_is_taken_back_and_done_again(
    seed: int, journal: Journal, place: Path, static: Path
) -> None:
    work = planted(place / "work", seed)
    before = tree(work)
    assert journal.run(static, str(seed), "300").returncode == 0
    after, first = tree(work), journal.last().id
    restore = [sys.executable, "-I", "-B", "-m", "interlock.journal.restore", journal.store.path, first, ""]
    process = subprocess.Popen(journal.argv(restore), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until_changed(journal, first, random.Random(seed).randrange(1, 20))
    process.kill()
    process.wait(60)
    journal.settle()
    killed = next((action.id for action in journal.store.actions()), first)
    if killed != first:
        taken_back = journal.undo(killed)
        assert taken_back.get("undone"), taken_back
    assert tree(work) == after
    assert journal.undo(first).get("undone")
    assert tree(work) == before


def wait_until_changed(journal: Journal, first: str, count: int) -> None:
    """Waits until a later action has made so many changes, or has ended."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if journal.last().id != first and (not journal.last().is_running() or len(journal.read().changes) >= count):
            return
