"""JSON with one reading: what two readers could take for different things is refused, at every boundary alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.agents.hook_protocol import MalformedInput
from interlock.agents.hook_protocol import parse as parse_hook
from interlock.proxy.messages import AmbiguousMessage, parse_message
from interlock.strict_json import UnclearJson, as_written, decoder, number
from interlock.web.errors import HttpProblem
from interlock.web.json_body import parse_json

UNCLEAR = {
    '{"a": 1, "b": {"c": 1, "c": 2}}': "the key 'c' is given twice",
    '{"a": NaN}': "NaN is no number of JSON",
    '{"a": -Infinity}': "-Infinity is no number of JSON",
    '{"a": 1e999}': "a number is too large",
    '{"a": ' + "1" * 401 + "}": "a number is too long",
}


@pytest.mark.parametrize("text, words", UNCLEAR.items(), ids=UNCLEAR.values())
def test_what_has_two_readings_is_refused_with_its_reason(text: str, words: str) -> None:
    with pytest.raises(UnclearJson, match=f"^{words}$"):
        decoder(number).decode(text)


@pytest.mark.parametrize("text", UNCLEAR, ids=UNCLEAR.values())
def test_hooks_and_proxied_messages_refuse_it_alike(text: str) -> None:
    with pytest.raises(MalformedInput):
        parse_hook(text.encode())
    with pytest.raises(AmbiguousMessage):
        parse_message(text.encode())


@pytest.mark.parametrize("text", [text for text in UNCLEAR if "e999" not in text])
def test_a_request_is_refused_alike_but_keeps_a_large_fraction_as_text(text: str) -> None:
    with pytest.raises(HttpProblem):
        parse_json(text.encode())
    assert parse_json(b'{"a": 1e999}') == {"a": "1e999"}


@pytest.mark.parametrize("value", [{"a": [1, -2.5, True, None, "é"]}, [], "x", 0, {"1": 1, "": {}}])
def test_everything_else_is_read_as_by_any_reader(value: Any) -> None:
    assert decoder(number).decode(json.dumps(value)) == value


def test_fractions_can_stay_as_they_were_written() -> None:
    assert decoder(as_written).decode("[1.50, 1e2, 3]") == ["1.50", "1e2", 3]


def test_a_hundred_thousand_keys_with_a_late_duplicate_take_no_square_of_time() -> None:
    keys = ",".join(f'"{number}":0' for number in range(100_000))
    with pytest.raises(UnclearJson, match="'99999'"):
        decoder(number).decode(f'{{{keys},"99999":1}}')
