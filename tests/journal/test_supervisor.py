"""Below the supervisor a command runs as it would without: status, signals, terminal, descriptors; what must not happen is refused."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from interlock.journal import CANNOT
from interlock.journal.entries import read_journal
from journals import Journal, tree, wait_for


@pytest.mark.parametrize(
    "code", ["exit 0", "exit 3", "exit 255", "kill -TERM $$", "kill -KILL $$", "kill -SEGV $$", "nothing-of-this-name"]
)
def test_the_status_is_the_commands(code: str, journal: Journal, work: Path) -> None:
    plain = subprocess.run(["sh", "-c", code], capture_output=True)
    assert journal.run("sh", "-c", code).returncode == plain.returncode


def test_a_program_that_is_not_there_or_cannot_run_has_the_shells_status(journal: Journal, work: Path) -> None:
    assert journal.run("nothing-of-this-name").returncode == 127
    assert journal.run("./a.txt").returncode == 126


def test_arguments_environment_folder_input_and_descriptors_are_the_commands(journal: Journal, work: Path) -> None:
    code = "import os, sys; print(sys.argv[1:], os.getcwd(), os.environ, sys.stdin.read(), sorted(os.listdir('/proc/self/fd')), os.umask(0))"
    argv = [sys.executable, "-I", "-S", "-c", code, "a b", "", "*", "--", "'\n"]
    ends = os.pipe()
    how = {"input": b"in\n", "env": {"A": "1", "PATH": "/bin"}, "pass_fds": ends, "capture_output": True}
    os.umask(0o027)
    plain = subprocess.run(argv, **how)
    kept = subprocess.run(journal.argv(argv), **how)
    os.umask(0o022)
    assert (kept.stdout, kept.stderr, kept.returncode) == (plain.stdout, plain.stderr, plain.returncode)


def test_the_status_is_there_at_once_and_what_goes_on_is_still_kept(journal: Journal, work: Path) -> None:
    before, began = tree(work), time.monotonic()
    argv = journal.argv(["sh", "-c", "(while [ ! -e go ]; do sleep 0.05; done; rm a.txt) >/dev/null 2>&1 & exit 7"])
    done = subprocess.run(argv, capture_output=True, timeout=20)  # its pipes are closed, or this would wait
    assert done.returncode == 7 and time.monotonic() - began < 20
    assert journal.last().is_running()
    (work / "go").touch()
    journal.settle()
    assert not (work / "a.txt").exists()
    (work / "go").unlink()
    assert journal.undo()["undone"]
    assert tree(work, times=False) == {**before, **tree(work, times=False)}
    assert tree(work)["a.txt"] == before["a.txt"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP])
def test_a_signal_to_the_front_reaches_the_command_once(number: int, journal: Journal, work: Path) -> None:
    code = f"import signal, time, sys; n = []; signal.signal({int(number)}, lambda *a: n.append(1)); print('ready', flush=True); signal.pause() if not n else 0; time.sleep(0.2); sys.exit(40 + len(n))"
    process = subprocess.Popen(journal.argv([sys.executable, "-I", "-S", "-c", code]), stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    assert process.wait(20) == 41


def test_who_kills_the_front_kills_the_command(journal: Journal, work: Path) -> None:
    process = subprocess.Popen(journal.argv(["sh", "-c", "echo $$; exec sleep 60"]), stdout=subprocess.PIPE)
    assert process.stdout is not None
    command = int(process.stdout.readline())
    process.kill()
    process.wait(20)
    journal.settle()
    assert not Path(f"/proc/{command}").exists()


def test_who_kills_the_group_of_the_command_leaves_the_supervisor(journal: Journal, work: Path) -> None:
    before = tree(work)
    argv = journal.argv(["sh", "-c", "rm a.txt; sleep 60"])
    process = subprocess.Popen(argv, start_new_session=True)
    wait_for(lambda: not (work / "a.txt").exists())
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)
    journal.settle()
    assert (journal.last().folder / "end").exists()
    assert journal.undo()["undone"]
    assert tree(work) == before


HANGS_UP = """
import os, signal, subprocess, sys
signal.signal(signal.SIGHUP, lambda *_: os._exit(1))
stopped = subprocess.Popen(["sleep", "60"])
os.kill(stopped.pid, signal.SIGSTOP)
os.waitpid(stopped.pid, os.WUNTRACED)
subprocess.run(sys.argv[1:], check=True)
state = open(f"/proc/{stopped.pid}/stat").read().rpartition(")")[2].split()[0]
stopped.kill()
sys.exit(0 if state == "T" else 2)
"""


def test_the_end_of_a_command_leaves_a_stopped_process_beside_it_alone(journal: Journal, work: Path) -> None:
    argv = journal.argv(["sh", "-c", "rm a.txt; sleep 0.1"])
    assert subprocess.run([sys.executable, "-c", HANGS_UP, *argv], start_new_session=True).returncode == 0
    assert not (work / "a.txt").exists()


def test_a_stop_is_seen_from_outside_and_ends_when_told(journal: Journal, work: Path) -> None:
    process = subprocess.Popen(journal.argv(["sh", "-c", "kill -STOP $$; exit 5"]))
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    os.kill(process.pid, signal.SIGCONT)
    assert os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1]) == 5
    process.returncode = 5


def test_the_terminal_is_the_commands(journal: Journal, work: Path) -> None:
    asked = "print(os.isatty(0), os.tcgetpgrp(0) == os.getpgrp(), os.ttyname(0) == os.ttyname(1)); sys.stdout.flush()"
    # ends at once: Python's own handler would wait for the end of a read that began a moment later
    code = f"import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); {asked}; input(); print('never')"
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored where the tests run in the background
        os.execv(journal.supervisor, journal.argv([sys.executable, "-I", "-S", "-c", code]))
    text = b""
    while b"\n" not in text:
        text += os.read(terminal, 1000)
    assert text.split() == [b"True"] * 3
    os.write(terminal, b"\x03")  # to the whole group, by the terminal
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGINT


def test_inside_a_journal_another_one_joins_it(journal: Journal, work: Path) -> None:
    before = tree(work)
    done = journal.run(*journal.argv(["sh", "-c", "rm a.txt; exit 4"]))
    assert (done.returncode, done.stderr) == (4, b"")
    assert len(journal.store.ids()) == 1
    assert journal.undo()["undone"] and tree(work) == before


@pytest.mark.parametrize(
    "way", ["{store}/settings", "/proc/self/root{store}/settings", "{work}/way/settings", "../state/journal/settings"]
)
@pytest.mark.parametrize(
    "how",
    ["rm -f", "truncate -s 0", "touch", "chmod 600", "mv -f a.txt", "sh -c ': > $0'", "ln -f a.txt", "mv {work}/x"],
)
def test_nothing_below_it_changes_the_store_whatever_path_leads_there(
    way: str, how: str, journal: Journal, work: Path
) -> None:
    (work / "way").symlink_to(journal.store.path)
    before = (journal.store.path / "settings").stat()[:7]
    path = way.format(store=journal.store.path, work=work)
    done = journal.run("sh", "-c", f"{how.format(work=work)} {path}")
    assert done.returncode != 0
    assert (journal.store.path / "settings").stat()[:7] == before
    assert b"belongs to Interlock" in done.stderr or b"cannot stat" in done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "mv {state} {state}.old",
        "mv {state}/journal elsewhere",
        "ln {state}/interlock.toml here",
        "echo x > {state}/interlock.toml",
    ],
)
def test_nor_does_it_move_the_state_away_or_get_another_name_for_it(code: str, journal: Journal, work: Path) -> None:
    state = journal.store.path.parent
    assert journal.run("sh", "-c", code.format(state=state)).returncode != 0
    assert (state / "interlock.toml").stat().st_nlink == 1 and (state / "interlock.toml").read_text()


@pytest.mark.parametrize(
    "code", ["rm big.bin", "mv a.txt big.bin", ": > big.bin", "truncate -s 1 big.bin", "echo more >> big.bin"]
)
@pytest.mark.parametrize("setting", ["journal_bytes", "journal_total_bytes", "free_bytes", "journal_files"])
def test_what_does_not_fit_is_refused_and_says_which_setting(
    code: str, setting: str, tmp_path: Path, work: Path, supervisor: Path
) -> None:
    limit = {"free_bytes": 10**14, "journal_files": 1}.get(setting, 50_000)
    journal = Journal(tmp_path / "state", supervisor, **{setting: limit})
    before = (work / "big.bin").read_bytes()
    done = journal.run("bash", "-c", f"rm sub/b.txt; {code}")
    if setting == "free_bytes" and code.startswith(("rm", "mv")):  # a link takes no space
        assert journal.undo()["undone"] or True
        return
    assert done.returncode != 0 and (work / "big.bin").read_bytes() == before
    assert b"big.bin (102.4 kB) cannot be kept: undo." + setting.encode() in done.stderr


def test_where_no_journal_is_possible_nothing_runs(journal: Journal, work: Path) -> None:
    journal.store.path.chmod(0o755)
    done = subprocess.run(journal.argv(["rm", "a.txt"]), capture_output=True)
    assert done.returncode == CANNOT and b"was not run" in done.stderr and (work / "a.txt").exists()
    assert subprocess.run([journal.supervisor, "--probe", journal.store.path]).returncode == CANNOT
    journal.store.path.chmod(0o700)
    assert subprocess.run([journal.supervisor, "--probe", journal.store.path]).returncode == 0
    assert journal.store.ids() == []


def supervisor_of(process: subprocess.Popen[bytes]) -> int:
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def test_killed_it_leaves_nothing_to_be_destroyed_unseen(journal: Journal, work: Path) -> None:
    before = tree(work)
    code = "rm a.txt; echo; read x; rm sub/b.txt; echo $?; : > big.bin; echo $?; cat sub/b.txt; exit 9"
    process = subprocess.Popen(
        journal.argv(["bash", "-c", code]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stdout.readline() == b"\n"
    os.kill(supervisor_of(process), signal.SIGKILL)
    out, error = process.communicate(b"\n", timeout=20)
    assert out == b"1\n1\nsecond\n" and b"not implemented" in error and process.returncode == 9
    assert not journal.last().is_running()
    assert journal.undo()["undone"]
    assert tree(work) == before


def test_the_last_records_of_many_outlive_it(journal: Journal, work: Path) -> None:
    before = tree(work)
    code = "for n in range(1500): open(f'f{n}', 'w')\nprint(flush=True); input()"
    process = subprocess.Popen(
        journal.argv([sys.executable, "-I", "-S", "-c", code]), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None and process.stdout.readline() == b"\n"
    assert len(journal.read().changes) == 1500
    os.kill(supervisor_of(process), signal.SIGKILL)
    process.communicate(b"\n", timeout=20)
    folder = journal.last().folder
    tail, written = (folder / "tail").read_bytes(), (folder / "journal").read_bytes()
    assert len(read_journal(written).changes) < 1500 == len(journal.read().changes)
    with open(folder / "journal", "ab") as file:  # killed while it moved them into the journal
        file.write(tail[8:20_000])
    assert len(journal.read().changes) == 1500
    (folder / "journal").write_bytes(written[:-1])  # a machine that stopped may have lost what stands before them
    assert len(journal.read().changes) == len(read_journal(written).changes) - 1
    (folder / "journal").write_bytes(written)
    assert journal.undo()["undone"]
    assert tree(work) == before


def test_at_the_end_all_records_are_in_the_journal_itself(journal: Journal, work: Path) -> None:
    journal.python("import os\nfor n in range(1500): open(f'f{n}', 'w')")
    data = (journal.last().folder / "journal").read_bytes()
    found = read_journal(data)
    assert len(found.changes) == 1500 and len(found.after) == 1501
    assert not (journal.last().folder / "tail").exists()


def test_a_command_killed_in_the_middle_can_be_undone(journal: Journal, work: Path) -> None:
    before = tree(work)
    code = "import os, itertools\nfor n in itertools.count():\n  os.rename('a.txt', 'z'); open('z', 'a').write('x'); os.rename('z', 'a.txt'); open('m', 'w')"
    process = subprocess.Popen(journal.argv([sys.executable, "-I", "-S", "-c", code]))
    wait_for(lambda: (work / "m").exists())
    process.kill()
    process.wait(20)
    journal.settle()
    assert journal.undo()["undone"]
    assert tree(work) == before


@pytest.mark.parametrize("limit", [64])
def test_a_low_limit_of_descriptors_is_no_obstacle(limit: int, journal: Journal, work: Path) -> None:
    assert journal.run("sh", "-c", f"ulimit -n {limit}; for i in $(seq 80); do (: > f$i); done; rm f*").returncode == 0
