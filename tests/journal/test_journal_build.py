"""The supervisor is built once for its sources; where there can be no journal, one sentence says why and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.config import Config, config_of
from interlock.journal import build
from interlock.journal.build import is_built, problem_of, store_of, supervisor_of
from journals import settle


@pytest.fixture
def config(tmp_path: Path, supervisor: Path) -> Config:
    """With a supervisor that is built."""
    made = config_of({"store": {"url": f"sqlite://{tmp_path}/state"}}, environ={})
    to = supervisor_of(made)
    to.parent.mkdir(parents=True)
    for path in (supervisor, supervisor.with_suffix(".sources")):
        (to.parent / path.name).write_bytes(path.read_bytes())
        (to.parent / path.name).chmod(0o700)
    return made


def test_a_journal_that_works_leaves_nothing_behind_when_it_is_tried(config: Config) -> None:
    assert problem_of(config) == ""
    settle(store_of(config))
    assert store_of(config).ids() == []


def test_other_sources_make_another_supervisor(config: Config) -> None:
    supervisor_of(config).with_suffix(".sources").write_text("others")
    assert not is_built(supervisor_of(config)) and "`interlock install`" in problem_of(config)


@pytest.mark.parametrize(
    "said, words",
    [
        ("this system allows no journal (seccomp): Invalid argument", "Linux 5.9"),
        ("the memory of processes cannot be read: Operation not permitted", "ptrace_scope"),
        ("/home/me/.local/state/interlock/journal: Permission denied", "yours alone"),
        ("", "interlock journal --probe"),
    ],
)
def test_what_the_supervisor_refuses_comes_with_a_remedy(config: Config, said: str, words: str) -> None:
    line = f"interlock: the command was not run: {said}" if said else ""
    supervisor_of(config).write_text(f"#!/bin/sh\necho '{line}' >&2\nexit 125\n")
    found = problem_of(config)
    assert words in found and said in found and "\n" not in found


def test_without_a_compiler_it_says_what_to_install(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor_of(config).unlink()
    monkeypatch.setattr(build, "_COMPILERS", ())
    monkeypatch.setenv("PATH", "/nowhere")
    assert problem_of(config).startswith("install a C compiler")


def test_a_store_that_cannot_be_made_is_named(config: Config, tmp_path: Path) -> None:
    store_of(config).path.write_text("in the way")
    assert str(store_of(config).path) in problem_of(config)


def test_switched_off_it_says_so_and_nothing_is_tried(tmp_path: Path) -> None:
    off = config_of({"store": {"url": f"sqlite://{tmp_path}/state"}, "undo": {"journal": False}}, environ={})
    assert "undo.journal" in problem_of(off) and list(tmp_path.iterdir()) == []
