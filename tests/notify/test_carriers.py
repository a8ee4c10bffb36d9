"""What takes messages to people: where its address comes from, what it says when it fails, and what nobody gets to see."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.config.channels import ChannelRoute, ChannelSettings
from interlock.notify import ConsoleAddress, Message, desktop, notice_message
from interlock.notify.apprise import Apprise
from interlock.notify.channels import open_configured_channels, open_implied_channel
from interlock.notify.desktop import APPLE, NOTIFY_SEND, WINDOWS, Desktop, notifier
from interlock.notify.webhook import Webhook
from interlock.ports import OpenChannel, Undelivered
from message_servers import http_receiver

KEY = "a key of the receiver 0123456789"
URL = "https://hooks.example.com/services/T0KEN99"
# A program that keeps what it was started with and what it read.
STAND_IN = """#!{python}
import os, pathlib, sys
pathlib.Path({out!r}).write_text("\\0".join([*sys.argv[1:], "STDIN", sys.stdin.read(), "ENV", *os.environ]))
sys.exit({code})
"""


def message(words: str = "the daemon was down") -> Message:
    return notice_message(
        "note_1", "alert", words, ConsoleAddress("http://localhost:7310", head=f"main:7:{'a' * 64}"), 1.8e9
    )


def opened(
    way: ChannelRoute, folder: Path, environ: Mapping[str, str] | None = None, agents: str | None = None
) -> OpenChannel:
    [one] = open_configured_channels((way,), folder, environ or {}, agents)
    return one


def kept(folder: Path, name: str, text: str, mode: int = 0o600) -> str:
    (folder / name).write_text(text)
    (folder / name).chmod(mode)
    return name


def test_address_and_key_come_from_files_beside_the_configuration_or_from_the_environment(tmp_path: Path) -> None:
    from_files = ChannelRoute(
        "a", "webhook", url_file=kept(tmp_path, "u", f"{URL}\n"), secret_file=kept(tmp_path, "k", KEY)
    )
    from_environ = ChannelRoute("a", "webhook", url_env="HOOK_URL", secret_env="HOOK_KEY")
    for one in (opened(from_files, tmp_path), opened(from_environ, tmp_path, {"HOOK_URL": URL, "HOOK_KEY": KEY})):
        assert isinstance(one.carrier, Webhook) and one.address == "https://hooks.example.com/…"
        assert "T0KEN99" not in repr(one) and KEY not in repr(one)


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (
            ChannelRoute("a", "webhook", url_env="NOT_THERE", secret_file="k"),
            "url_env: the daemon's environment has no NOT_THERE",
        ),
        (ChannelRoute("a", "webhook", url_file="none", secret_file="k"), "url_file: none cannot be read: No such file"),
        (
            ChannelRoute("a", "webhook", url_file="open", secret_file="k"),
            "url_file: others can read open; chmod 600 it",
        ),
        (ChannelRoute("a", "webhook", url_file="empty", secret_file="k"), "url_file: empty is empty"),
        (
            ChannelRoute("a", "webhook", url_file="u", secret_file="short"),
            "the secret is too short: at least 16 characters",
        ),
        (
            ChannelRoute("a", "webhook", url_file="plain", secret_file="k"),
            "expected https://…: http:// only on this machine",
        ),
        (ChannelRoute("a", "apprise", url_file="u2"), "Apprise does not know such an address"),
        (ChannelRoute("a", "desktop"), "there is no desktop here"),
    ],
)
def test_a_channel_that_cannot_be_used_says_why_and_not_its_secret(
    tmp_path: Path, way: ChannelRoute, said: str
) -> None:
    kept(tmp_path, "u", URL), kept(tmp_path, "k", KEY), kept(tmp_path, "open", URL, 0o644)
    kept(tmp_path, "empty", " \n"), kept(tmp_path, "short", "T0KEN99"), kept(tmp_path, "u2", "bogus://T0KEN99")
    kept(tmp_path, "plain", "http://hooks.example.com/T0KEN99")
    one = opened(way, tmp_path)
    assert one.carrier is None and said in one.problem and "T0KEN99" not in one.problem


def test_a_daemon_that_an_agent_started_sends_no_code(tmp_path: Path) -> None:
    way = ChannelRoute(
        "a", "webhook", url_file=kept(tmp_path, "u", URL), secret_file=kept(tmp_path, "k", KEY), private=True
    )
    assert opened(way, tmp_path).way.private and not opened(way, tmp_path, agents="claude started it").way.private


def test_a_webhook_that_does_not_answer_is_not_waited_for_long() -> None:
    import threading

    with http_receiver() as stuck:
        stuck.hangs = threading.Event()
        with pytest.raises(Undelivered, match=r"no answer within 0\.2 s") as failed:
            Webhook(stuck.url, KEY, 0.2).send(message())
        assert not failed.value.hopeless


@pytest.mark.parametrize(
    ("environ", "platform", "told"),
    [
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus"}, "linux", False),  # a session, and no screen
        ({}, "linux", False),
        ({}, "darwin", True),
        ({}, "win32", False),
    ],
)
def test_a_desktop_is_told_without_being_configured_where_there_is_one(
    environ: dict[str, str], platform: str, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.notify.desktop.is_system_program", lambda path: True)  # as if it were installed
    opened = open_implied_channel(ChannelSettings(), environ, platform)
    assert [one.way.name for one in opened] == (["desktop"] if told else [])
    assert open_implied_channel(ChannelSettings(desktop="off"), environ, platform) == []


def test_apprise_says_the_status_and_nothing_of_the_address() -> None:
    heard, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(heard), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with http_receiver(500) as broken:
            way = Apprise(f"json://robot:T0KEN99@127.0.0.1:{broken.port}/T0KEN99")
            with pytest.raises(Undelivered) as failed:
                way.send(message())
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert "answered 500" in str(failed.value) and "T0KEN99" not in str(failed.value) + heard.getvalue()


def test_apprise_follows_no_redirect() -> None:
    with (
        http_receiver() as elsewhere,
        http_receiver(302, location=f"{elsewhere.url}/x") as sends_on,
        pytest.raises(Undelivered),
    ):
        Apprise(f"json://127.0.0.1:{sends_on.port}/x").send(message())
    assert len(sends_on.got) == 1 and elsewhere.got == []


# The desktop


def stand_in(folder: Path, code: int = 0) -> Path:
    path = folder / "program"
    path.write_text(STAND_IN.format(python=sys.executable, out=str(folder / "said"), code=code))
    path.chmod(0o700)
    return path


@pytest.mark.parametrize("program", [NOTIFY_SEND, APPLE, WINDOWS], ids=["notify-send", "osascript", "powershell"])
def test_a_notification_runs_nothing_that_its_words_hold(tmp_path: Path, program: desktop.Notifier) -> None:
    """With a stand-in at its place: what it would be started with, and what it would read."""
    hostile = "--help \"x\" \\ $(touch y) `id` <b>bold</b> 'quoted'"
    made = Desktop(replace(program, path=str(stand_in(tmp_path))), {"DISPLAY": ":9", "LD_PRELOAD": "/x.so"})
    made.send(message(hostile))
    given, _, rest = (tmp_path / "said").read_text().partition("STDIN\0")
    read, _, environ = rest.partition("\0ENV\0")
    assert "LD_PRELOAD" not in environ
    if program is NOTIFY_SEND:
        assert given.split("\0")[2] == "--" and "&lt;b&gt;" in given and "$(touch y)" in given and not read
    else:
        assert "touch" not in given and read.count("\n") == 1
        assert "touch" not in read if program is WINDOWS else '\\"x\\" \\\\' in read


def test_a_notification_that_cannot_be_shown_says_so(tmp_path: Path) -> None:
    with pytest.raises(Undelivered, match="it ended with 3"):
        Desktop(replace(NOTIFY_SEND, path=str(stand_in(tmp_path, 3))), {}).send(message())
    with pytest.raises(Undelivered, match="cannot be started"):
        Desktop(replace(NOTIFY_SEND, path=str(tmp_path / "none")), {}).send(message())


def test_without_a_desktop_there_is_no_notification() -> None:
    assert notifier({}, "linux") is None and notifier({}, "win32") is WINDOWS
