"""One journal keeps what an agent in a jail changes, call by call; its supervisor stays outside."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hook_client import claude_input
from interlock.config import load_config
from interlock.identity.isolation import runs_below
from interlock.journal.build import store_of, supervisor_of
from interlock.journal.entries import ActionJournal, read_journal
from interlock.journal.store import JournalStore
from interlock.journal.undo import JournalUndo
from jails import Home
from journals import processes, wait_for

pytestmark = [
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is missing"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing"),
    pytest.mark.xdist_group("jail"),
]
# An agent: starts a shell for each command that it is given, and waits for it.
AGENT = "import subprocess, sys\nfor text in sys.argv[1:]: subprocess.run(['bash', '-c', text])"


@pytest.fixture
def work(home: Home) -> Path:
    for name in ("a", "b", "c"):
        (home.project / name).write_text(f"only copy of {name}\n")
    return home.project


@pytest.fixture
def undo(home: Home) -> JournalUndo:
    return JournalUndo(load_config(home.folder / "interlock.toml", {}))


@pytest.fixture
def store(home: Home) -> JournalStore:
    """The store, emptied."""
    found = store_of(load_config(home.folder / "interlock.toml", {}))
    shutil.rmtree(found.path / "actions", ignore_errors=True)
    (found.path / "actions").mkdir(mode=0o700, parents=True)
    return found


def agent(home: Home, *texts: str) -> str:
    done = home.run('exec "$@"', sys.executable, "-I", "-S", "-c", AGENT, *texts)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commands(store: JournalStore) -> dict[str, str]:
    """The last word of each action's command, and its id."""
    wait_for(lambda: not any(action.running for action in store.actions()))
    return {(action.command or ("between",))[-1]: action.id for action in store.actions()}


def journal_of(store: JournalStore, id: str) -> ActionJournal:
    with store.journal(id).mapped() as data:
        return read_journal(data)


def test_each_call_is_an_action_of_its_own_and_undone_alone(
    home: Home, work: Path, store: JournalStore, undo: JournalUndo
) -> None:
    agent(home, "rm a", "echo more >> b; mv c d", "rm b")
    kept = commands(store)
    assert set(kept) == {"rm a", "echo more >> b; mv c d", "rm b"}
    rows = {row["id"]: row for row in undo.rows()}
    assert rows[kept["rm a"]]["cwd"] == str(work) and rows[kept["rm a"]]["agent"] == "sh"
    assert undo.undo(kept["rm a"], False)["undone"] and (work / "a").read_text() == "only copy of a\n"
    assert undo.undo(kept["rm b"], False)["undone"] and (work / "b").read_text() == "only copy of b\nmore\n"
    assert undo.undo(kept["echo more >> b; mv c d"], True)["undone"]
    assert sorted(path.name for path in work.glob("?")) == ["a", "b", "c"]
    assert (work / "b").read_text() == "only copy of b\n"


def test_what_happens_between_calls_is_undone_on_its_own(
    home: Home, work: Path, store: JournalStore, undo: JournalUndo
) -> None:
    code = "import os, subprocess; os.unlink('a'); subprocess.run(['sh', '-c', 'rm b']); os.unlink('c')"
    assert home.run('exec "$@"', sys.executable, "-I", "-S", "-c", code).returncode == 0
    wait_for(lambda: len(list(store.actions())) == 3)
    last, call, first = (action.id for action in store.actions())
    assert [row["command"] for row in undo.rows()] == ["(between calls)", "sh -c 'rm b'", "(between calls)"]
    assert undo.undo(last, False)["undone"] and [path.name for path in work.glob("?")] == ["c"]
    assert undo.undo(first, False)["undone"] and sorted(path.name for path in work.glob("?")) == ["a", "c"]
    assert undo.undo(call, False)["undone"] and (work / "b").exists()


def test_the_supervisor_is_built_where_it_is_missing(home: Home, work: Path, store: JournalStore) -> None:
    supervisor_of(load_config(home.folder / "interlock.toml", {})).unlink()
    agent(home, "rm a")
    wait_for(lambda: commands(store).keys() == {"rm a"})


def test_a_process_that_left_its_call_belongs_to_the_call_that_names_the_file(
    home: Home, work: Path, store: JournalStore
) -> None:
    orphan = "import os, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  time.sleep(.3); os.unlink(chr(97)); os.unlink(chr(98))\n  os._exit(0)\n os._exit(0)"
    first = f'{sys.executable} -I -S -c "{orphan}"'
    agent(home, first, "echo > c; sleep 0.8; : rm a")
    kept = commands(store)

    def paths(id: str) -> set[str]:
        return {Path(change.states[0].path).name for change in journal_of(store, id).changes}

    assert paths(kept["echo > c; sleep 0.8; : rm a"]) == {"a", "c"} and paths(kept["between"]) == {"b"}


# An agent that makes two calls at once, and waits for what the second leaves behind.
BUSY = """import os, subprocess, sys, time
for call in [subprocess.Popen(['bash', '-c', text]) for text in sys.argv[1:]]: call.wait()
open('end', 'w').close()
while os.path.exists('late'): time.sleep(0.01)
"""


def test_calls_at_once_and_what_they_leave_behind_are_kept_apart(
    home: Home, work: Path, store: JournalStore, undo: JournalUndo
) -> None:
    for name in ("a2", "b2", "late"):
        (work / name).write_text(f"only copy of {name}\n")
    first = "rm a; while [ ! -e go ]; do sleep 0.01; done; rm a2"
    second = "(while [ ! -e end ]; do sleep 0.01; done; rm late) & rm b; : > b2; : > go"
    done = home.run('exec "$@"', sys.executable, "-I", "-S", "-c", BUSY, first, second)
    assert done.returncode == 0, done.stderr
    kept = commands(store)
    found = {text: journal_of(store, id) for text, id in kept.items()}
    paths = {text: {Path(change.states[0].path).name for change in one.changes} for text, one in found.items()}
    assert paths == {first: {"a", "a2"}, second: {"b", "b2", "go"}, "between": {"end", "late"}}
    for text, one in found.items():
        numbers = [change.sequence for change in one.changes]
        assert numbers == sorted(set(numbers)) and all(change.at > 0 for change in one.changes)
        known = processes(store.journal(kept[text]))
        assert all(process.ino > 0 for process in known.values())
        for change in one.changes if text != "between" else ():
            chain = [known[change.pid]]
            while chain[-1].dev in known:
                chain.append(known[chain[-1].dev])
            assert "bash" in [process.path for process in chain]
    for text in (second, "between", first):
        assert undo.undo(kept[text], False)["undone"]
    assert all((work / name).read_text() == f"only copy of {name}\n" for name in ("a", "a2", "b", "b2", "late"))
    assert not (work / "go").exists() and not (work / "end").exists()


def test_the_sessions_that_the_agent_keeps_for_itself_are_left_out(home: Home, work: Path, store: JournalStore) -> None:
    log = home.folder / ".claude/projects/log.jsonl"
    log.write_text("its own\n")
    program = home.folder / "claude"
    program.symlink_to("/bin/sh")
    words = home.words(str(program), "-c", f"rm {log}; rm a")
    assert subprocess.run(words, env=home.environ, cwd=work, capture_output=True, timeout=120).returncode == 0
    wait_for(lambda: len(list(store.actions())) == 1)
    with store.journal(store.ids()[0]).mapped() as data:
        assert {change.states[0].path for change in read_journal(data).changes} == {str(work / "a")}
    assert not log.exists()
    program.unlink()


def test_a_journal_inside_joins_the_one_outside(home: Home, work: Path, store: JournalStore) -> None:
    program = Path(sys.executable).with_name("interlock")
    words = [str(program), "journal", "--config", str(home.folder / "interlock.toml")]
    code = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    done = home.run('exec "$@"', sys.executable, "-I", "-S", "-c", code, *words, "--", "rm", "a")
    assert done.returncode == 0 and not (work / "a").exists()
    assert [action.command for action in store.actions()] == [("rm", "a")]
    assert home.run('exec "$@"', *words, "--probe").returncode == 0


def test_what_only_the_jail_has_is_not_kept_and_still_works(home: Home, work: Path, store: JournalStore) -> None:
    script = "echo x > /tmp/inside && mv /tmp/inside /tmp/other && rm /tmp/other && echo 1 > /dev/null && cat /proc/self/comm && : > /dev/fd/1"
    assert agent(home, script) == "cat\n"
    assert list(store.actions()) == []


@pytest.mark.parametrize("path", ["/proc/self/fd/7", "/dev/fd/7", "/proc/self/cwd/a", "/proc/thread-self/fd/7"])
def test_descriptors_are_those_of_the_process_inside(
    home: Home, work: Path, store: JournalStore, undo: JournalUndo, path: str
) -> None:
    agent(home, f"exec 7< a; : > {path}")
    (id,) = commands(store).values()
    assert (work / "a").read_text() == ""
    assert undo.undo(id, False)["undone"] and (work / "a").read_text() == "only copy of a\n"


def test_a_killed_journal_leaves_further_changes_failing(home: Home, work: Path, store: JournalStore) -> None:
    script = "rm a; echo ready; read x; : > b; rm c; read y < b; echo $y; exit 3"
    process = subprocess.Popen(
        home.words("bash", "-c", script), env=home.environ, cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    (front,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    (supervisor,) = Path(f"/proc/{front}/task/{front}/children").read_text().split()
    os.kill(int(supervisor), signal.SIGKILL)
    out, error = process.communicate(b"\n", 60)
    assert out == b"only copy of b\n" and b"not implemented" in error and process.returncode == 3
    assert not (work / "a").exists() and (work / "c").read_text() == "only copy of c\n"


def test_the_daemon_knows_which_jails_have_a_journal(home: Home) -> None:
    found = home.folder / "state" / "jails.json"
    home.run("true")
    assert '"journal": true' in found.read_text()


def test_the_hooks_of_a_jail_do_not_ask_about_what_its_journal_keeps(home: Home, work: Path) -> None:
    kept = home.hook("git reflog expire --expire=now --all", "toolu_kept")
    mixed = home.hook("rm -rf a; git push --force origin main", "toolu_mixed")
    assert "`interlock undo` brings back" in home.run(kept).stdout
    assert '"ask"' in home.run(mixed).stdout or '"deny"' in home.run(mixed).stdout
    outside = subprocess.run(["sh", "-c", kept], env=home.environ, cwd=work, capture_output=True, text=True)
    assert '"ask"' in outside.stdout or '"deny"' in outside.stdout


def test_what_did_not_fit_into_the_journal_of_a_jail_is_asked_about(home: Home, work: Path) -> None:
    text, refused = "git stash clear", "interlock: unlink refused: /x: undo.journal_bytes"
    assert "`interlock undo` brings back" in home.run(home.hook(text, "toolu_1")).stdout
    ran = {**claude_input(text, "toolu_1", "PostToolUseFailure", cwd=str(work)), "error": refused}
    (work / "ran.json").write_text(json.dumps(ran))
    home.run(f"{home.guard.client} claude-code PostToolUseFailure < {work}/ran.json")
    assert "`interlock undo` brings back" not in home.run(home.hook(text, "toolu_2")).stdout


def test_a_jail_without_our_supervisor_has_no_journal(home: Home) -> None:
    assert not runs_below(os.getpid(), supervisor_of(load_config(home.folder / "interlock.toml", {})))
