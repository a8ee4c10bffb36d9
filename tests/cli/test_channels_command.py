"""`interlock channels` by a person at a real terminal, before a real daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from desk import Desk
from message_servers import Receiver, http_receiver

TOML = """
[[channels.send]]
name = "hook"
kind = "webhook"
url_file = "hook.url"
secret_file = "hook.key"
[[channels.send]]
name = "boss"
kind = "apprise"
url_file = "not-there"
after_seconds = 90
"""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with http_receiver() as made:
        yield made


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[Desk]:
    folder: Path = tmp_path_factory.mktemp("channels")
    for name, text in (("hook.url", f"{receiver.url}/T0KEN99"), ("hook.key", "a key of 16 characters")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
    made = Desk(folder, TOML)
    made.open()
    yield made
    made.stop()


@pytest.mark.slow("a daemon, and a sign-in for each command, with a slow hash")
def test_a_person_sees_the_channels_and_has_one_tested(desk: Desk, receiver: Receiver) -> None:
    said, code = desk.signed("channels", "test", "hook")
    assert code == 0 and "hook: sent. Look whether it is there." in said
    assert receiver.bodies()[-1]["event"] == "test" and receiver.paths[-1] == "/T0KEN99"
    said, code = desk.signed("channels", "test", "boss")
    assert code == 1 and "boss: not sent: url_file: not-there cannot be read" in said
    said, code = desk.signed("channels")
    assert code == 0 and "T0KEN99" not in said
    for words in ("console", "hook", "at once", "ready", "after 90 s", "cannot be used", "boss: url_file: not-there"):
        assert words in said, words
    status = json.loads(desk.program("status", "--json").stdout)
    assert any("channel boss: url_file: not-there cannot be read" in words for words in status["problems"])


def test_a_program_without_a_terminal_has_nothing_tested(desk: Desk, receiver: Receiver) -> None:
    before = len(receiver.got)
    run = desk.program("channels", "test", "hook")
    assert run.returncode == 1 and "terminal" in run.stderr and len(receiver.got) == before
