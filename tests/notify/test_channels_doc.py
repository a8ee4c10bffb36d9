"""docs/guide/channels.md: its tables are whole, its example can be used, and its snippet tells a real message from a forged one."""

from __future__ import annotations

import tomllib

from interlock.config import channels, config_of
from interlock.notify import ConsoleAddress, notice_message
from interlock.notify.webhook import Webhook
from message_servers import http_receiver
from pages import documented, fenced, text

PAGE = "channels.md"
KEY = "a key of the receiver 0123456789"


def test_every_key_and_every_event_is_documented() -> None:
    assert documented(PAGE, "key of a channel") == {*channels.ChannelRoute.__struct_fields__} - {"implied"}
    assert documented(PAGE, "event") == set(channels.EVENTS)


def test_the_example_can_be_used() -> None:
    [block] = fenced(text(PAGE), "toml")
    made = config_of(tomllib.loads(block), environ={"XDG_STATE_HOME": "/state"})
    assert [way.name for way in made.channels.send] == ["team", "oncall"] and made.warnings == ()


def test_the_snippet_tells_a_real_message_from_a_forged_an_altered_and_an_old_one() -> None:
    names: dict[str, object] = {}
    exec(next(block for block in fenced(text(PAGE), "python") if "is_from_interlock" in block), names)
    check = names["is_from_interlock"]
    assert callable(check)
    with http_receiver() as receiver:
        Webhook(receiver.url, KEY).send(
            notice_message("n1", "alert", "something", ConsoleAddress("http://localhost:7310"), 1.8e9)
        )
    [(headers, body)] = receiver.got
    assert check(headers, body, KEY)
    assert not check(headers, body + b" ", KEY) and not check(headers, body, "another key of the same length")
    assert not check({**headers, "x-interlock-timestamp": "1700000000"}, body, KEY)
