"""Install, then uninstall: every byte as it was, whatever was there and whatever happened in between."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agents.jsonc_text import files
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import EFFORT
from interlock.agents import HookClient, agent, words
from interlock.config import Config, config_of
from interlock.install import files as register
from interlock.install.changes import diff, files_of, install, plan_install, plan_uninstall, uninstall
from interlock.install.discovery import agents_on_machine, hooked_files
from interlock.install.files import FileProblem

JSON = [word for word in words() if agent(word).places("user", Path("/h"), Path("/p"))[0].form in ("json", "jsonc")]


class Machine:
    """A home, a project and a state folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.config: Config = config_of({"store": {"url": f"sqlite://{folder}/state"}}, environ={})
        self.client = HookClient(str(folder / "state" / "bin" / "interlock-hook"))

    def tree(self) -> dict[str, bytes]:
        """Everything that is there, by path; folders too."""
        found = {}
        for root in (self.home, self.project):
            for path in root.rglob("*"):
                found[str(path)] = b"folder" if path.is_dir() else path.read_bytes()
        return found

    def install(self, word: str, scope: str = "user", client: HookClient | None = None) -> list[str]:
        chosen = client or self.client
        changes, refused = plan_install([(agent(word), chosen)], scope, self.home, self.project, self.config)
        assert refused == []
        return [install(change, self.config) for change in changes if change.needed]

    def uninstall(self, word: str, scope: str = "user") -> int:
        changes, refused = plan_uninstall(files_of([agent(word)], scope, self.home, self.project), self.config)
        assert refused == []
        for change in changes:
            uninstall(change, self.config)
        return len(changes)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@contextmanager
def some_machine() -> Iterator[Machine]:
    folder = Path(tempfile.mkdtemp())
    try:
        yield Machine(folder)
    finally:
        shutil.rmtree(folder)


SCOPED = [
    (word, scope)
    for word in words()
    for scope in ("user", "project")
    if agent(word).places(scope, Path("/home"), Path("/project"))
]


@pytest.mark.parametrize(("word", "scope"), SCOPED)
def test_where_nothing_was_nothing_stays(machine: Machine, word: str, scope: str) -> None:
    assert machine.install(word, scope)
    assert machine.install(word, scope) == []  # a second time there is nothing to do
    assert {one.agent.word for one in hooked_files(machine.config, machine.home, machine.project)} == {word}
    assert machine.uninstall(word, scope)
    assert machine.tree() == {} and register.registered_files(machine.config) == ()


@settings(max_examples=60 * EFFORT, deadline=None)
@given(st.sampled_from(JSON), st.data())
def test_what_was_there_comes_back_byte_for_byte(word: str, data: st.DataObject) -> None:
    text = data.draw(files(comments=word == "gemini", versioned=1 if word in ("cursor", "copilot") else None))
    with some_machine() as machine:
        path = agent(word).places("user", machine.home, machine.project)[0].path
        path.parent.mkdir(parents=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        before = machine.tree()
        changes, refused = plan_install(
            [(agent(word), machine.client)], "user", machine.home, machine.project, machine.config
        )
        if refused:  # a file that has its hooks in another form is left alone
            assert machine.tree() == before
            return
        for change in changes:
            install(change, machine.config)
        assert machine.tree() != before
        assert machine.uninstall(word) == len(changes)
        assert machine.tree() == before


@pytest.mark.parametrize("text", ["", "\n", "  \r\n", "{}", "{ }", "\ufeff{}\n"])
@pytest.mark.parametrize("word", JSON)
def test_a_file_that_says_nothing_comes_back_too(machine: Machine, word: str, text: str) -> None:
    path = agent(word).places("user", machine.home, machine.project)[0].path
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    before = machine.tree()
    backup = machine.install(word)[0]
    assert Path(backup).read_bytes() == text.encode()
    machine.uninstall(word)
    assert machine.tree() == before


def settings_of(machine: Machine, text: str = '{"model": "opus"}\n') -> Path:
    path = machine.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_what_somebody_added_in_between_stays(machine: Machine) -> None:
    path = settings_of(machine)
    machine.install("claude-code")
    path.write_text(path.read_text().replace('"opus"', '"opus", "theme": "dark"'))
    machine.uninstall("claude-code")
    assert path.read_text() == '{"model": "opus", "theme": "dark"}\n'


def test_what_somebody_added_before_a_second_install_stays(machine: Machine) -> None:
    path = settings_of(machine)
    machine.install("claude-code")
    path.write_text(path.read_text().replace('"opus"', '"opus", "theme": "dark"'))
    machine.install("claude-code", client=HookClient("/elsewhere/interlock-hook"))
    machine.uninstall("claude-code")
    assert path.read_text() == '{"model": "opus", "theme": "dark"}\n'


def test_a_second_install_goes_back_to_what_was_before_the_first(machine: Machine) -> None:
    path = settings_of(machine, '{\n"model":   "opus"}')
    before = machine.tree()
    machine.install("claude-code")
    machine.install("claude-code", client=HookClient("/elsewhere/interlock-hook"))
    assert path.read_text().count("interlock-hook") == 4
    machine.uninstall("claude-code")
    assert machine.tree() == before


def test_a_backup_that_somebody_touched_is_not_gone_back_to(machine: Machine) -> None:
    path = settings_of(machine)
    backup = Path(machine.install("claude-code")[0])
    backup.write_text('{"hooks": "mine"}')
    machine.uninstall("claude-code")
    assert path.read_text() == '{"model": "opus"}\n' and backup.exists()


def test_hooks_come_out_of_a_file_that_the_register_does_not_know(machine: Machine) -> None:
    path = settings_of(machine)
    machine.install("claude-code")
    register.register_path(machine.config).unlink()
    assert machine.uninstall("claude-code") == 1
    assert path.read_text() == '{"model": "opus"}\n'


def test_a_broken_register_hides_no_hooks(machine: Machine) -> None:
    machine.install("claude-code")
    for text in ("{", "[]", '{"hooks": [7, {"agent": "x"}]}', '{"hooks": {}}'):
        register.register_path(machine.config).write_text(text)
        assert [one.agent.word for one in hooked_files(machine.config, machine.home, machine.project)] == [
            "claude-code"
        ]


def test_hooks_that_are_gone_are_told_of(machine: Machine) -> None:
    machine.install("claude-code")
    path = machine.home / ".claude" / "settings.json"
    for text, words_ in (("{}", "are gone"), ("{", "line 1"), (None, "are gone")):
        path.unlink() if text is None else path.write_text(text)
        found = hooked_files(machine.config, machine.home, machine.project)
        assert len(found) == 1 and words_ in found[0].problem and str(path) in found[0].problem


def test_a_project_is_found_again_from_anywhere(machine: Machine) -> None:
    machine.install("gemini", "project")
    found = hooked_files(machine.config, machine.home, machine.home)
    assert [(one.agent.word, one.scope, one.project) for one in found] == [("gemini", "project", machine.project)]


@pytest.mark.parametrize(
    "text", ["{", '{"hooks": []}', "[]", '{"a": 1, "a": 2}', '{"hooks": {"PreToolUse": 7}}', "\xff"]
)
def test_a_broken_file_is_refused_with_its_place_and_left_alone(machine: Machine, text: str) -> None:
    path = settings_of(machine)
    path.write_bytes(text.encode("latin-1"))
    before = machine.tree()
    changes, refused = plan_install(
        [(agent("claude-code"), machine.client)], "user", machine.home, machine.project, machine.config
    )
    assert changes == [] and str(path) in refused[0].words and "line 1" in refused[0].words
    assert machine.tree() == before


def test_an_agent_without_the_scope_says_so(machine: Machine) -> None:
    changes, refused = plan_install(
        [(agent("opencode"), machine.client)], "system", machine.home, machine.project, machine.config
    )
    assert changes == [] and refused[0].words == "OpenCode has no place for hooks with --system"


def test_the_diff_shows_the_whole_change_and_nothing_else(machine: Machine) -> None:
    settings_of(machine, '{\n  "model": "opus"\n}\n')
    changes, _ = plan_install(
        [(agent("claude-code"), machine.client)], "user", machine.home, machine.project, machine.config
    )
    lines = diff(changes[0])
    gone = [line for line in lines if line.startswith("-") and not line.startswith("---")]
    assert gone == ['-  "model": "opus"'] and '+  "model": "opus",' in lines


def test_what_changed_between_the_question_and_the_answer_is_not_written_over(machine: Machine) -> None:
    path = settings_of(machine)
    changes, _ = plan_install(
        [(agent("claude-code"), machine.client)], "user", machine.home, machine.project, machine.config
    )
    path.write_text('{"model": "sonnet"}')
    with pytest.raises(FileProblem, match="changed just now"):
        install(changes[0], machine.config)
    assert machine.tree() == {str(path.parent): b"folder", str(path): b'{"model": "sonnet"}'}


def test_agents_are_found_by_their_folders(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert agents_on_machine(machine.home) == []
    for folder in (".claude", ".config/opencode", ".codeium/windsurf"):
        (machine.home / folder).mkdir(parents=True)
    assert [found.word for found, _ in agents_on_machine(machine.home)] == ["claude-code", "opencode", "windsurf"]


def test_agents_are_found_by_their_programs(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    program = machine.home / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(machine.home))
    assert agents_on_machine(machine.home) == [(agent("codex"), str(program))]
