"""What install writes for each agent: every tool, fail-closed where the agent can be told to, and what switches it off."""

from __future__ import annotations

import json
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from cases import each
from interlock.agents import SCOPES, HookClient, HookFile, agent, words
from interlock.agents.jsonc import EditError
from interlock.analysis.places import place
from interlock.hooks import integrity

HOME, PROJECT = Path("/home/u"), Path("/home/u/app")
CLIENT = HookClient("/opt/i/interlock-hook")
WRITTEN = {  # what each agent reads, by its documentation
    ("claude-code", "user"): "/home/u/.claude/settings.json",
    ("claude-code", "project"): "/home/u/app/.claude/settings.json",
    ("codex", "user"): "/home/u/.codex/hooks.json",
    ("codex", "project"): "/home/u/app/.codex/hooks.json",
    ("codex", "system"): "/etc/codex/requirements.toml",
    ("gemini", "user"): "/home/u/.gemini/settings.json",
    ("gemini", "project"): "/home/u/app/.gemini/settings.json",
    ("cursor", "user"): "/home/u/.cursor/hooks.json",
    ("cursor", "project"): "/home/u/app/.cursor/hooks.json",
    ("copilot", "user"): "/home/u/.copilot/hooks/interlock.json",
    ("copilot", "project"): "/home/u/app/.github/hooks/interlock.json",
    ("copilot", "system"): "/etc/github-copilot/policy.d/interlock.json",
    ("opencode", "user"): "/home/u/.config/opencode/plugins/interlock.js",
    ("opencode", "project"): "/home/u/app/.opencode/plugins/interlock.js",
    ("windsurf", "user"): "/home/u/.codeium/windsurf/hooks.json",
    ("windsurf", "project"): "/home/u/app/.windsurf/hooks.json",
    ("kiro", "user"): "/home/u/.kiro/hooks/interlock.json",
    ("kiro", "project"): "/home/u/app/.kiro/hooks/interlock.json",
    ("devin", "user"): "/home/u/.config/devin/config.json",
    ("devin", "project"): "/home/u/app/.devin/hooks.v1.json",
    ("droid", "user"): "/home/u/.factory/settings.json",
    ("droid", "project"): "/home/u/app/.factory/settings.json",
    ("cline", "user"): "/home/u/Documents/Cline/Hooks/PreToolUse",
    ("cline", "project"): "/home/u/app/.clinerules/hooks/PreToolUse",
    ("amp", "user"): "/home/u/.config/amp/plugins/interlock.ts",
    ("amp", "project"): "/home/u/app/.amp/plugins/interlock.ts",
    ("kimi", "user"): "/home/u/.kimi/config.toml",
    ("hermes", "user"): "/home/u/.hermes/config.yaml",
    ("grok", "user"): "/home/u/.grok/hooks/interlock.json",
    ("grok", "project"): "/home/u/app/.grok/hooks/interlock.json",
    ("antigravity", "user"): "/home/u/.gemini/config/hooks.json",
    ("antigravity", "project"): "/home/u/app/.agents/hooks.json",
    ("pi", "user"): "/home/u/.pi/agent/extensions/interlock.ts",
    ("pi", "project"): "/home/u/app/.pi/extensions/interlock.ts",
}


def written(word: str, scope: str = "user", client: HookClient = CLIENT) -> Any:
    place = agent(word).places(scope, HOME, PROJECT)[0]
    text = agent(word).installed(place, None, client)
    return {"toml": tomllib.loads, "yaml": yaml.safe_load}.get(place.form, json.loads)(text)


@each(("word", "scope"), WRITTEN, ids=lambda value: value)
def test_each_file_is_where_the_agent_reads_it(word: str, scope: str) -> None:
    assert str(agent(word).places(scope, HOME, PROJECT)[0].path) == WRITTEN[word, scope]


def test_every_agent_has_a_project_and_a_user_scope() -> None:
    assert {word for word, scope in WRITTEN if scope == "user"} == set(words())
    for word in words():
        assert agent(word).places("nowhere", HOME, PROJECT) == ()


@each(
    "home, project",
    [("/home/u", "/home/u/app"), ("/home/u", "/srv/app"), ("/tmp/h", "/tmp/p"), ("/data/h", "/var/tmp/p")],
)
def test_every_file_that_calls_a_hook_is_known_as_such_wherever_it_is(home: str, project: str) -> None:
    for word in words():
        for scope in SCOPES:
            for one in agent(word).places(scope, Path(home), Path(project)):
                assert place(str(one.path), project, home) == "agent_config", one.path


def test_claude_code_blocks_when_the_hook_fails() -> None:
    data = written("claude-code")
    assert set(data["hooks"]) == {"PreToolUse", "PostToolUse", "PostToolUseFailure", "ConfigChange"}
    for event, groups in data["hooks"].items():
        assert groups[0].get("matcher", "*") == "*"
        handler = groups[0]["hooks"][0]
        assert handler == {
            "type": "command",
            "command": "/opt/i/interlock-hook",
            "args": ["claude-code", event],
            "timeout": 300,
            "onFailure": "block",
        }


def test_claude_code_can_post_to_the_daemon_instead() -> None:
    handler = written("claude-code", client=HookClient("/opt/i/interlock-hook", "http://127.0.0.1:7999/"))["hooks"][
        "PreToolUse"
    ][0]["hooks"][0]
    assert handler == {
        "type": "http",
        "url": "http://127.0.0.1:7999/api/v1/hook/claude-code?event=PreToolUse",
        "timeout": 300,
        "onFailure": "block",
    }
    place = agent("claude-code").places("user", HOME, PROJECT)[0]
    posting = agent("claude-code").installed(place, "{}", HookClient("/opt/i/interlock-hook", "http://127.0.0.1:7999"))
    running = agent("claude-code").installed(place, posting, CLIENT)
    assert "http" not in running and agent("claude-code").removed(place, posting) == "{}"
    assert [word for word in words() if agent(word).posts] == ["claude-code"]


def test_codex_gets_every_tool_in_both_of_its_formats() -> None:
    for scope in ("user", "system"):
        group = written("codex", scope)["hooks"]["PreToolUse"][0]
        assert group["matcher"] == ".*"
        assert group["hooks"] == [
            {"type": "command", "command": "/opt/i/interlock-hook codex PreToolUse || exit 2", "timeout": 300}
        ]
    assert "/hooks" in agent("codex").places("user", HOME, PROJECT)[0].note


def test_gemini_counts_in_milliseconds() -> None:
    group = written("gemini")["hooks"]["BeforeTool"][0]
    assert (group["matcher"], group["hooks"][0]["timeout"]) == ("*", 300_000)


def test_cursor_fails_closed_on_every_gating_event() -> None:
    data = written("cursor")
    assert data["version"] == 1 and {"preToolUse", "beforeShellExecution", "beforeMCPExecution"} <= set(data["hooks"])
    assert all(
        entry["failClosed"] is True and "matcher" not in entry
        for entries in data["hooks"].values()
        for entry in entries
    )


def test_copilot_is_given_no_longer_than_it_waits() -> None:
    data = written("copilot")
    assert data["version"] == 1 and data["hooks"]["preToolUse"][0]["timeoutSec"] == agent("copilot").limit_seconds == 30
    assert all("matcher" not in entry for entries in data["hooks"].values() for entry in entries)


def test_windsurf_hooks_each_kind_of_tool() -> None:
    assert {"pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use"} <= set(
        written("windsurf")["hooks"]
    )


def test_kiro_and_devin_and_droid_get_every_tool() -> None:
    assert all("matcher" not in entry and entry["enabled"] for entry in written("kiro")["hooks"])
    assert written("devin", "project")["PreToolUse"][0]["matcher"] == ".*"
    assert written("devin")["hooks"]["PreToolUse"][0]["matcher"] == ".*"
    assert written("droid")["hooks"]["PreToolUse"][0]["matcher"] == "*"


def test_droid_gets_a_hooks_file_only_where_one_is(tmp_path: Path) -> None:
    assert len(agent("droid").places("user", tmp_path, tmp_path)) == 1
    (tmp_path / ".factory").mkdir()
    (tmp_path / ".factory" / "hooks.json").write_text("{}")
    places = agent("droid").places("user", tmp_path, tmp_path)
    assert [place.path.name for place in places] == ["settings.json", "hooks.json"]
    flat = agent("droid").installed(places[1], '{"Stop": []}', CLIENT)
    nested = agent("droid").installed(places[1], '{"hooks": {}}', CLIENT)
    assert "PreToolUse" in json.loads(flat) and "PreToolUse" in json.loads(nested)["hooks"]


def commands(data: Any) -> Iterator[str]:
    """Every shell command of ours in a file."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key in ("command", "bash") and isinstance(value, str) and "||" in value:
                yield value
            yield from commands(value)
    elif isinstance(data, list):
        for item in data:
            yield from commands(item)


@pytest.mark.parametrize("word", ["codex", "gemini", "cursor", "copilot", "windsurf", "kiro", "devin", "droid"])
def test_a_client_that_is_gone_or_crashes_blocks(word: str, tmp_path: Path) -> None:
    path = tmp_path / "it's here" / "interlock-hook"
    path.parent.mkdir()
    found = list(commands(written(word, client=HookClient(str(path)))))
    assert found
    for body, exit in ((None, 2), ("exit 1", 2), ("kill -9 $$", 2), ("cat; exit 0", 0), ("cat >&2; exit 2", 2)):
        if body is not None:
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(0o755)
        done = subprocess.run(["sh", "-c", found[0]], input=b"{}", capture_output=True)
        assert done.returncode == exit, body
    path.write_text('#!/bin/sh\necho "$1 $2 $#"\n')
    told = {subprocess.run(["sh", "-c", line], capture_output=True, text=True).stdout.split()[0] for line in found}
    assert told == {word}


def test_clines_script_cancels_when_the_client_is_gone(tmp_path: Path) -> None:
    place = HookFile(tmp_path / "PreToolUse", "script", 0o755)
    path = tmp_path / "o'dd dir" / "interlock-hook"
    place.path.write_text(agent("cline").installed(place, None, HookClient(str(path))))
    place.path.chmod(place.mode)
    gone = subprocess.run([str(place.path)], capture_output=True, text=True)
    assert gone.returncode == 0 and json.loads(gone.stdout)["cancel"] is True
    path.parent.mkdir()
    path.write_text('#!/bin/sh\ncat; echo "$1 $2"\n')
    path.chmod(0o755)
    assert (
        subprocess.run([str(place.path)], input="x ", capture_output=True, text=True).stdout == "x cline PreToolUse\n"
    )
    with pytest.raises(EditError, match="not ours"):
        agent("cline").installed(place, "#!/bin/sh\necho mine\n", CLIENT)
    assert agent("cline").removed(place, place.path.read_text()) is None
    assert agent("cline").removed(place, "#!/bin/sh\n") == "#!/bin/sh\n"


def test_hermes_blocks_when_the_client_is_gone_or_crashes(tmp_path: Path) -> None:
    path = tmp_path / "it's here" / "interlock-hook"
    path.parent.mkdir()
    entry = written("hermes", client=HookClient(str(path)))["hooks"]["pre_tool_call"][0]
    assert entry["fail_closed"] is True and entry["timeout"] == 300 and "matcher" not in entry
    argv = shlex.split(entry["command"])  # it starts the words themselves, without a shell
    for body in (None, "exit 1", "echo half; kill -9 $$", "echo '{}'; exit 2"):
        if body is not None:
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(0o755)
        done = subprocess.run(argv, input=b"{}", capture_output=True)
        assert json.loads(done.stdout)["decision"] == "block" and done.returncode == 2, body
    path.write_text('#!/bin/sh\ncat; echo " $1 $2"\n')
    done = subprocess.run(argv, input=b"x", capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"x hermes pre_tool_call")


def test_hermes_is_given_consent_to_each_command_in_every_profile(tmp_path: Path) -> None:
    (tmp_path / ".hermes" / "profiles" / "coder").mkdir(parents=True)
    (tmp_path / ".hermes" / "profiles" / "note.txt").touch()
    chosen, places = agent("hermes"), agent("hermes").places("user", tmp_path, tmp_path)
    folders = [tmp_path / ".hermes", tmp_path / ".hermes" / "profiles" / "coder"]
    assert [place.path.parent for place in places] == [folders[0], folders[0], folders[1], folders[1]]
    other = '{"approvals": [{"event": "pre_tool_call", "command": "/home/u/mine.sh", "approved_at": "2026-01-01T00:00:00Z"}]}'
    for config, consent in (places[:2], places[2:]):
        hooks = yaml.safe_load(chosen.installed(config, None, CLIENT))["hooks"]
        text = chosen.installed(consent, other, CLIENT)
        agreed = {(one["event"], one["command"]) for one in json.loads(text)["approvals"]}
        assert agreed >= {(event, entry["command"]) for event, (entry,) in hooks.items()}
        assert len(agreed) == 3 and chosen.removed(consent, text) == other


def test_a_profile_of_hermes_that_came_later_is_found(tmp_path: Path) -> None:
    for name in ("coder", "writer"):
        (tmp_path / ".hermes" / "profiles" / name).mkdir(parents=True)
    place = agent("hermes").places("user", tmp_path, tmp_path)[2]
    place.path.write_text(agent("hermes").installed(place, None, CLIENT))
    (words,) = agent("hermes").disablers(tmp_path, tmp_path)
    assert "profiles/writer/config.yaml: a profile without hooks" in words


def test_a_consent_that_is_taken_back_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "home_of", lambda principal: str(tmp_path))
    chosen, files = agent("hermes"), integrity.HookFiles()
    config, consent = chosen.places("user", tmp_path, tmp_path)
    config.path.parent.mkdir()
    for one in (config, consent):
        one.path.write_text(chosen.installed(one, None, CLIENT))
    paths = [str(one.path) for one in (config, consent)]
    assert files.changes(paths) == []
    consent.path.write_text("{}")
    assert files.changes(paths) == [f"{consent.path} no longer runs Interlock's hook"]


@pytest.mark.parametrize(("name", "value"), [("HERMES_SAFE_MODE", "1"), ("HERMES_HOME", "/opt/data")])
def test_hermes_without_its_hooks_is_found(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert name in agent("hermes").disablers(tmp_path, tmp_path)[0]
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / ".hermes" / "profiles" / "coder"))
    assert not any("HERMES_HOME" in words for words in agent("hermes").disablers(tmp_path, tmp_path))


@pytest.mark.parametrize(
    "path",
    ["interlock-hook", "/x/other", "./interlock-hook", "/x/interlock-hook\n", "/x/\ninterlock-hook/interlock-hook"],
)
def test_a_client_is_named_by_its_absolute_path(path: str) -> None:
    with pytest.raises(ValueError, match="hook client"):
        HookClient(path)


OFF = [
    ("claude-code", "home/.claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks is true"),
    ("claude-code", "app/.claude/settings.local.json", '{"disableAllHooks": true}', "disableAllHooks is true"),
    ("claude-code", "app/.claude/settings.json", "{ broken", "cannot be read"),
    ("codex", "home/.codex/config.toml", "[features]\nhooks = false\n", "features.hooks is false"),
    ("codex", "app/.codex/config.toml", "[features\n", "cannot be read"),
    ("codex", "home/.codex/hooks.json", "[]", "cannot be read"),
    ("gemini", "home/.gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled is false"),
    ("gemini", "app/.gemini/settings.json", '{/* x */ "hooksConfig": {"disabled": ["interlock"]}}', "names our hook"),
    ("cursor", "app/.cursor/hooks.json", '{"hooks": {}}', "version is not 1"),
    ("copilot", "app/.github/copilot/settings.json", '{"disableAllHooks": true}', "disableAllHooks is true"),
    ("windsurf", "app/.windsurf/hooks.json", "{", "cannot be read"),
    (
        "kiro",
        "home/.kiro/hooks/interlock.json",
        '{"hooks": [{"name": "interlock-PreToolUse", "enabled": false, "action": {"command": "/x/interlock-hook kiro"}}]}',
        "enabled false",
    ),
    ("droid", "home/.factory/settings.json", '{"hooksDisabled": true}', "hooksDisabled is true"),
    ("opencode", "app/opencode.json", "{", "cannot be read"),
    ("devin", "app/.devin/hooks.v1.json", "{", "cannot be read"),
]


@pytest.mark.parametrize(("word", "path", "text", "words"), OFF, ids=lambda value: str(value)[:40])
def test_what_switches_hooks_off_is_found(word: str, path: str, text: str, words: str, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "app"
    assert agent(word).disablers(home, project) == []
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    found = agent(word).disablers(home, project)
    assert len(found) == 1 and words in found[0] and str(file) in found[0]


def test_opencode_without_plugins_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_PURE", "1")
    assert "OPENCODE_PURE" in agent("opencode").disablers(tmp_path, tmp_path)[0]


@pytest.mark.parametrize("word", words())
def test_an_agents_own_sessions_are_folders_apart_from_its_settings(word: str) -> None:
    for name in agent(word).state:
        assert not Path(name).is_absolute() and len(Path(name).parts) > 1
        assert not any(one.path.is_relative_to(HOME / name) for one in agent(word).places("user", HOME, PROJECT))
