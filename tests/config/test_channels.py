"""`[channels]`: every key checked, no secret repeated, and what weakens it is said."""

from __future__ import annotations

from typing import Any

import pytest

from cases import each
from interlock.config import ConfigError, config_of, effective_settings
from interlock.config.channels import (  # fmt: skip
    ALERT,
    BY_DEFAULT,
    CREDENTIAL,
    EVENTS,
    EXPIRED,
    HELD,
    WAITING,
    ChannelRoute,
    public_address,
    wrong_webhook,
)
from interlock.model import Level

HOOK: dict[str, Any] = {"name": "hook", "kind": "webhook", "url_file": "u", "secret_file": "k"}
SECRET = "T0KEN99"


def config(*send: dict[str, Any], **more: Any) -> Any:
    return config_of({"channels": {"send": list(send), **more}}, environ={"XDG_STATE_HOME": "/state"})


@each(
    ("send", "said"),
    [
        ({"kind": "webhook"}, "name is missing"),
        ({**HOOK, "kind": "pigeon"}, "kind: expected one of apprise, desktop, webhook, got 'pigeon'"),
        ({**HOOK, "name": "Not a word"}, "expected a word such as 'oncall'"),
        ({**HOOK, "name": "console"}, "expected a word such as 'oncall'"),
        ({**HOOK, "urll": "x"}, "unknown key 'urll'"),
        ({**HOOK, "url_env": "U"}, "expected one of url_file, url_env and url, got url_env, url_file"),
        ({"name": "a", "kind": "apprise"}, "expected one of url_file, url_env and url, got none"),
        ({**HOOK, "secret_file": ""}, "expected one of secret_file and secret_env, got none"),
        ({"name": "a", "kind": "apprise", "url_env": "U", "secret_env": "S"}, "only webhooks are signed"),
        ({"name": "a", "kind": "apprise", "url_env": "not a name"}, "expected the name of an environment variable"),
        ({"name": "d", "kind": "desktop", "url": "x"}, "the desktop has no address"),
        ({"name": "d", "kind": "desktop", "private": True}, "use channels.dialog"),
        ({**HOOK, "events": []}, "empty: name the events that are sent here"),
        ({**HOOK, "events": ["everything"]}, "got 'everything'"),
        ({**HOOK, "level": "bad"}, "level: expected one of safe"),
        ({**HOOK, "after_seconds": -1}, "expected a whole number from 0 to 86400"),
        ({**HOOK, "per_minute": 0}, "expected a whole number from 1 to 60"),
        ({**HOOK, "url_file": "", "url": f"http://h.example/{SECRET}"}, "http:// only on this machine"),
        ({**HOOK, "url_file": "", "url": f"https://u:{SECRET}@h.example/"}, "a password in the address"),
        ({**HOOK, "url_file": "", "url": f"ftp://h/{SECRET}"}, "expected https://"),
    ],
)
def test_a_wrong_channel_is_refused_and_no_address_is_repeated(send: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        config(send)
    assert said in str(refused.value) and SECRET not in str(refused.value)


def test_two_channels_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two channels are named 'hook'"):
        config(HOOK, HOOK)


def test_what_is_shown_of_a_channel_can_be_read_again_and_opens_nothing() -> None:
    made = config(
        {**HOOK, "after_seconds": 60, "level": "dangerous", "events": ["held"]},
        {"name": "team", "kind": "apprise", "url": f"slack://{SECRET}/{SECRET}/{SECRET}/#ops", "private": True},
    )
    shown = effective_settings(made)["channels"]
    assert SECRET not in repr(shown) and SECRET not in repr(made)
    assert shown["send"][1]["url"] == "slack://…"
    again = config(*shown["send"])
    assert again.channels.send[0] == made.channels.send[0]
    assert "agents of the same user can read" in " ".join(made.warnings) and "private: codes" in " ".join(made.warnings)


@pytest.mark.parametrize("event", EVENTS)
def test_a_channel_that_is_told_later_hears_what_can_be_answered_and_what_concerns_everybody(event: str) -> None:
    at_once, later = ChannelRoute("a", "webhook"), ChannelRoute("b", "webhook", after_seconds=60)
    assert at_once.wants(event) == (event in BY_DEFAULT)
    assert later.wants(event) == (event in {*WAITING, CREDENTIAL, EXPIRED})


def test_a_channel_hears_only_of_the_events_and_levels_that_it_names() -> None:
    one = ChannelRoute("a", "webhook", events=(HELD,), level=Level.DANGEROUS)
    assert one.wants(HELD, Level.FORBIDDEN) and not one.wants(HELD, Level.DESTRUCTIVE) and not one.wants(ALERT)


@pytest.mark.parametrize(
    ("url", "kind", "shown"),
    [
        (f"https://hooks.example.com/services/{SECRET}", "webhook", "https://hooks.example.com/…"),
        (f"https://u:{SECRET}@hooks.example.com/x", "webhook", "https://hooks.example.com/…"),
        (f"tgram://{SECRET}/1", "apprise", "tgram://…"),
        ("", "desktop", ""),
        (f"https://[{SECRET}", "webhook", "…"),
    ],
)
def test_an_address_is_shown_without_what_could_be_a_secret(url: str, kind: str, shown: str) -> None:
    assert public_address(url, kind) == shown


@pytest.mark.parametrize(
    "url", ["https://h.example/x", "http://127.0.0.1:8080/x", "http://localhost/x", "http://[::1]/x"]
)
def test_a_webhook_is_https_or_of_this_machine(url: str) -> None:
    assert wrong_webhook(url) == ""
