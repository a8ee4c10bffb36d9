"""What opens the ways to people is out of the agent's reach in a jail: the files are hidden, the variables gone."""

from __future__ import annotations

from pathlib import Path

from interlock.config import config_of
from interlock.sandbox import GRANTS, MountMode, SandboxSituation, plan_sandbox


def test_addresses_and_keys_of_channels_are_hidden_and_taken_out_of_the_environment(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder in (home / "project", tmp_path / "state"):
        folder.mkdir(parents=True)
    for name in ("slack.url", "hook.key"):
        (home / name).write_text("a secret")
    send = [
        {"name": "team", "kind": "apprise", "url_file": "slack.url"},
        {"name": "hook", "kind": "webhook", "url_env": "ONCALL_URL", "secret_file": str(home / "hook.key")},
    ]
    data = {"store": {"url": f"sqlite://{tmp_path}/state"}, "channels": {"send": send}}
    config = config_of(data, str(home / "interlock.toml"), environ={})
    environ = {"ONCALL_URL": "https://oncall.example.com/T0KEN99", "LANG": "C"}
    jail = plan_sandbox(SandboxSituation(config, home, home / "project", ["sh"], environ))
    for name in ("slack.url", "hook.key"):
        assert jail.world.mounts[(home / name).resolve()].how is MountMode.HIDE
    assert "ONCALL_URL" not in jail.environ and jail.environ["LANG"] == "C"


def test_each_place_of_a_grant_begins_at_a_folder_that_is_known() -> None:
    assert [place for grant in GRANTS.values() for place in grant.places if place[0] not in "/~@"] == []


def test_browser_profiles_with_a_blank_in_their_path_are_hidden(tmp_path: Path) -> None:
    home = tmp_path / "home"
    profile = home / "Library" / "Application Support" / "Google" / "Chrome"
    for folder in (home / "project", tmp_path / "state", profile):
        folder.mkdir(parents=True)
    config = config_of({"store": {"url": f"sqlite://{tmp_path}/state"}}, str(home / "interlock.toml"), environ={})
    jail = plan_sandbox(SandboxSituation(config, home, home / "project", ["sh"], {}))
    assert jail.world.mounts[profile.resolve()].how is MountMode.HIDE
