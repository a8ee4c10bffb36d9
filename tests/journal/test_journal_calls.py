"""Every call of the table is seen, kept before it happens, and undone to the last bit; what cannot be seen is refused."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from journals import Journal, processes, table, tree

HERE = Path(__file__).parent
TABLE = table()
PROGRAM = (HERE / "each_call.c").read_text()


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of these tests, static: no library stands between them and the kernel."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("each_call", "foreign_call"):
        subprocess.run(["cc", "-static", "-O1", "-o", folder / name, HERE / f"{name}.c"], check=True)
    return folder


def test_every_call_of_the_table_has_a_row_in_the_program_below() -> None:
    assert set(re.findall(r"^ +ROW\((\w+),", PROGRAM, re.MULTILINE)) == set(TABLE)


@pytest.mark.parametrize("call", TABLE)
def test_what_a_call_changes_is_kept_before_and_undone(call: str, journal: Journal, work: Path, programs: Path) -> None:
    if "chown" in call and os.geteuid():
        pytest.skip("root is missing")
    before = tree(work)
    done = journal.run(programs / "each_call", call)
    if done.returncode in (2, 77):
        pytest.skip("this machine has no such call")
    assert done.returncode == 0, done.stderr
    assert tree(work) != before
    assert call in {change.call for change in journal.read().changes}
    assert journal.undo()["undone"]
    assert tree(work) == before


def test_a_call_that_cannot_be_seen_is_not_there(journal: Journal, work: Path, programs: Path) -> None:
    lines = journal.run(programs / "foreign_call").stdout.decode().splitlines()
    assert {line.split()[1] for line in lines} == {str(errno.ENOSYS)}
    assert (work / "a.txt").exists()


REACHED = {
    "through a link": "open('link', 'w')",
    "through a folder that is a link": "os.symlink('sub', 'other'); os.unlink('other/b.txt')",
    "through a link that leads nowhere yet": "os.symlink('later', 'gone'); open('gone', 'w').write('x')",
    "by a detour": "os.unlink('sub/../sub/./b.txt')",
    "from another folder": "os.chdir('sub'); os.truncate('../a.txt', 0)",
    "by a descriptor of the same process": "f = os.open('a.txt', os.O_RDONLY); open(f'/proc/self/fd/{f}', 'w')",
    "by /dev/fd": "f = os.open('a.txt', os.O_RDONLY); os.dup2(f, 77); open('/dev/fd/77', 'w')",
    "by /dev/stdin": "f = os.open('a.txt', os.O_RDONLY); os.dup2(f, 0); open('/dev/stdin', 'w')",
    "by the folder in /proc": "os.unlink('/proc/self/cwd/a.txt')",
    "by a thread": "import threading; t = threading.Thread(target=os.unlink, args=('a.txt',)); t.start(); t.join()",
    "in folders that one descriptor stands for in turn": "for n, f in (('sub', 'b.txt'), ('.', 'a.txt'), ('sub', 'c.txt')): os.dup2(os.open(n, 0), 77); os.unlink(f, dir_fd=77)",
    "below a folder that is open": "f = os.open('.', 0); os.unlink('sub/b.txt', dir_fd=f); os.unlink('sub/c.txt', dir_fd=f); os.unlink('a.txt', dir_fd=f)",
    "by a thread with descriptors of its own": "import ctypes, threading\ndef run(): assert not ctypes.CDLL(None).unshare(0x400); os.dup2(os.open('sub', 0), 77); os.unlink('b.txt', dir_fd=77)\nos.dup2(os.open('.', 0), 77); os.unlink('a.txt', dir_fd=77); t = threading.Thread(target=run); t.start(); t.join(); os.unlink('big.bin', dir_fd=77)",
    "by a grandchild that is nobody's": "import time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(.1); os.unlink('a.txt')",
    "through memory": "import mmap; f = open('a.txt', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[:5] = b'AAAAA'; m.flush()",
    "as a sparse file": "f = open('hole', 'w'); f.truncate(1 << 28); f.close(); os.truncate('big.bin', 1 << 28)",
    "as a file without a name that gets one": "f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600); os.link(f'/proc/self/fd/{f}', 'named', src_dir_fd=f, follow_symlinks=True)",
    "to a file that its owner may not read": "os.chmod('a.txt', 0); os.unlink('a.txt')",
    "twice": "open('a.txt', 'w').write('1'); open('a.txt', 'w').write('2'); os.unlink('a.txt'); open('a.txt', 'w').write('3')",
    "by its other name": "open('twin.txt', 'a').write('more'); os.unlink('sub/c.txt')",
    "by a new name": "os.link('a.txt', 'new'); open('new', 'w'); os.unlink('new')",
    "in a folder that was moved": "os.rename('sub', 'moved'); os.unlink('moved/b.txt'); os.rename('moved', 'empty/m')",
    "in a folder that is made, filled and removed": "os.mkdir('n'); os.rename('a.txt', 'n/a'); os.unlink('n/a'); os.rmdir('n')",
    "by calls that fail": "[e(f) for e in (lambda f: f,) for f in ()]; import contextlib\nfor f in (lambda: os.rmdir('sub'), lambda: os.rename('sub', 'sub/x'), lambda: os.mkdir('a.txt')):\n  with contextlib.suppress(OSError): f()\nos.chmod('a.txt', 0o600)",
    "by a rename that replaces nothing": "import ctypes; r = ctypes.CDLL(None).renameat2; assert r(-100, b'a.txt', -100, b'big.bin', 1) and not r(-100, b'a.txt', -100, b'n', 1)",
    "by renames among many folders": "for k in range(4):\n  for i in range(4): os.makedirs(f'm{i}', exist_ok=True); open(f'm{i}/n', 'w').close()\n  os.mkdir(f'o{k}'); os.rename(f'm{k}/n', f'o{k}/n')\nos.rename('a.txt', 'o1/n')",
    "by an exchange of a folder and a file": "import ctypes; assert not ctypes.CDLL(None).renameat2(-100, b'sub', -100, b'a.txt', 2); open('a.txt/b.txt', 'w'); os.unlink('sub')",
    "by links over something": "os.system('ln -f sub/b.txt a.txt; ln -sf sub big.bin; ln -sfn nowhere link; ln -s x sub/b.txt; ln a.txt sub/c.txt')",
    "by a mode that keeps its user out": "os.unlink('sub/b.txt'); os.chmod('sub', 0)",
    "with a name that is no text": "open(b'\\xff\\n', 'w').write('x'); os.rename('a.txt', b'\\xfe')",
}  # fmt: skip


@pytest.mark.parametrize("code", REACHED.values(), ids=REACHED)
def test_a_file_is_kept_however_it_is_reached(code: str, journal: Journal, work: Path) -> None:
    before = tree(work)
    done = journal.python(f"import os\n{code}")
    assert done.returncode == 0, done.stderr
    assert tree(work) != before
    assert journal.undo()["undone"]
    assert tree(work) == before


ACL = b"\2\0\0\0" + b"".join(
    tag.to_bytes(2, "little") + b"\6\0" + who.to_bytes(4, "little")
    for tag, who in ((1, 2**32 - 1), (2, 1234), (4, 2**32 - 1), (16, 2**32 - 1), (32, 2**32 - 1))
)


@pytest.mark.parametrize("line", ["rm -rf a.txt sub", "chmod -R 700 . && echo > a.txt", "mv sub/b.txt a.txt; rm -r sub", "cp --remove-destination sub/b.txt a.txt"])  # fmt: skip
def test_access_lists_and_special_modes_come_back(line: str, journal: Journal, work: Path) -> None:
    (work / "a.txt").chmod(0o6751)
    (work / "sub").chmod(0o3770)
    os.setxattr(work / "a.txt", "system.posix_acl_access", ACL)
    os.setxattr(work / "sub", "system.posix_acl_default", ACL)
    if os.geteuid() == 0:
        os.chown(work / "sub/b.txt", 1234, 4321)
    before = tree(work)
    assert journal.run("sh", "-c", line).returncode == 0
    assert journal.undo()["undone"]
    assert tree(work) == before


def test_reading_and_what_is_no_file_leave_nothing(journal: Journal, work: Path) -> None:
    os.mkfifo(work / "pipe")
    code = "import os, socket; open('a.txt').read(); open('/dev/null', 'w'); os.open('pipe', os.O_RDWR); open('/proc/self/comm', 'w').write('x'); os.listdir()"
    assert journal.python(code).returncode == 0
    assert journal.store.ids() == []


def test_a_folder_named_at_the_start_is_not_kept_but_for_what_moves_in(journal: Journal, work: Path) -> None:
    options = ["--skip", str(work / "sub")]
    assert journal.run("rm", "sub/b.txt", options=options).returncode == 0
    assert journal.store.ids() == []
    before = tree(work)
    assert journal.run("sh", "-c", "mv a.txt sub/kept; rm sub/kept", options=options).returncode == 0
    assert journal.undo()["undone"]
    assert tree(work)["a.txt"] == before["a.txt"]


def test_each_entry_says_which_process_it_was_of_and_who_started_that(journal: Journal, work: Path) -> None:
    journal.run("sh", "-c", "sh -c 'rm a.txt; :'; :")
    names = processes(journal.last())
    process = names[journal.read().changes[0].pid]
    chain = [process.path]
    while (process := names.get(process.dev, process)) and process.path != chain[-1]:
        chain.append(process.path)
    assert chain[0] == "rm" and chain[1] == "sh"
    assert all(process.ino > 0 for process in names.values())


def test_a_content_is_kept_once_and_a_new_file_not_at_all(journal: Journal, work: Path) -> None:
    code = "import os\nfor _ in range(50): open('a.txt', 'w').write('x'); open('n', 'w').write('y' * 9000); os.rename('n', 'm'); os.unlink('m')"
    journal.python(code)
    kept = [state for change in journal.read().changes for state in change.states if state.content and state.kind == 1]
    assert [state.path for state in kept] == [str(work / "a.txt")]


def test_a_removed_file_is_linked_and_one_that_somebody_writes_to_is_copied(journal: Journal, work: Path) -> None:
    writer = open(work / "big.bin", "r+b")  # noqa: SIM115
    (work / "other.bin").write_bytes(b"o" * 100_000)
    journal.run("rm", "big.bin", "other.bin")
    kept = {
        Path(state.path).name: state.content.name for change in journal.read().changes for state in change.states[:1]
    }
    assert kept == {"big.bin": "COPIED", "other.bin": "LINKED"} or set(kept.values()) == {"CLONED"}
    writer.write(b"later")
    writer.close()
    assert journal.undo()["undone"]
    assert (work / "big.bin").read_bytes() == bytes(range(256)) * 400


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has another root")
def test_paths_are_those_of_the_callers_root(journal: Journal, work: Path) -> None:
    before = tree(work)
    journal.python(
        f"import os; os.chroot({str(work)!r}); os.chdir('/sub'); os.unlink('/a.txt'); os.symlink('/link', 'l'); open('l', 'w')"
    )
    assert not (work / "a.txt").exists() or not (work / "a.txt").read_bytes()
    assert journal.undo()["undone"]
    assert tree(work) == before


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="root becomes another user")
def test_it_needs_no_privilege(tmp_path: Path, work: Path, supervisor: Path) -> None:
    place = Path("/tmp") / f"journal-{os.getpid()}"
    place.mkdir(mode=0o700)
    try:
        journal = Journal(place / "state", supervisor)
        program = place / "supervisor"
        program.write_bytes(supervisor.read_bytes())
        program.chmod(0o755)
        (place / "w").mkdir()
        (place / "w/a").write_text("mine")
        for path in [place, *place.rglob("*")]:
            os.chown(path, 65534, 65534)
        argv = [program, journal.store.path, "--", "sh", "-c", "rm a; id -u"]
        done = subprocess.run(argv, user=65534, group=65534, extra_groups=[], capture_output=True, cwd=place / "w")
        assert (done.returncode, done.stdout) == (0, b"65534\n"), done.stderr
        journal.settle()
        assert [change.call for change in journal.read().changes] == ["unlinkat"]
    finally:
        subprocess.run(["rm", "-rf", place], check=True)
