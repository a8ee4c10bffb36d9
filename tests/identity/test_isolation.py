"""How strong the wall around a caller is, by what the kernel says of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from daemons import in_process_daemon
from interlock.identity import start_of
from interlock.identity.isolation import JAILED, PLAIN, SEPARATE, JailedRun, Jails, NotJailed, isolation_of, verify_jail


def test_another_user_is_separate_and_root_is_not(tmp_path: Path) -> None:
    other = os.getuid() + 1000
    with in_process_daemon(tmp_path) as found:
        assert isolation_of(found.state, f"uid:{other}", os.getpid()) == SEPARATE
        assert [isolation_of(found.state, who) for who in ("uid:0", f"uid:{os.getuid()}", "agent:x", "uid:x", "")] == [
            PLAIN
        ] * 5


def test_what_descends_from_the_first_process_of_a_jail_is_jailed_and_nothing_else(tmp_path: Path) -> None:
    """Also when its number was given to another process meanwhile."""
    with in_process_daemon(tmp_path) as found:
        who = f"uid:{os.getuid()}"
        child = subprocess.Popen(["sleep", "600"])
        try:
            found.state.jails.add(JailedRun(os.getpid(), start_of(os.getpid()), "sh"))
            assert isolation_of(found.state, who, child.pid) == JAILED
            assert isolation_of(found.state, who, os.getppid()) == PLAIN
            found.state.jails.add(JailedRun(os.getpid(), start_of(os.getpid()) + 1, "sh"))
            assert isolation_of(found.state, who, child.pid) == PLAIN
            assert found.state.jails.running() == []
        finally:
            child.kill()
            child.wait()


def test_a_new_daemon_knows_the_jails_that_still_run(tmp_path: Path) -> None:
    before = Jails()
    before.load(tmp_path)
    before.add(JailedRun(os.getpid(), start_of(os.getpid()), "claude", ("docker",), 5.0))
    after = Jails()
    after.load(tmp_path)
    assert after.running() == before.running() != []
    (tmp_path / "jails.json").write_text('[{"pid": "x"}, 3, {"pid": 1, "start": 1, "grants": []}, null]')
    odd = Jails()
    odd.load(tmp_path)
    assert odd.running() == []


def test_a_process_that_is_in_no_jail_is_not_taken_for_one(tmp_path: Path) -> None:
    for pid, words in ((os.getpid(), "PID namespace"), (2**22 - 1, "no process")):
        with pytest.raises(NotJailed, match=words):
            verify_jail(pid, os.getuid(), tmp_path, [])
