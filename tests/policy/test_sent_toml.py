"""TOML that others send: read where it is one, refused before the parser is kept busy."""

from __future__ import annotations

import pytest

from interlock.policy.load import toml

BUSY = [
    "a." * 100_000 + "b = 1",
    "[" + "a." * 100_000 + "b]",
    "x = {" + "a." * 100_000 + "b = 1}",
    '"\\"".' + "a." * 100_000 + 'b = 1 # "',
    "\n".join("a." * 3_000 + f"b{number} = 1" for number in range(100)),
    "a = " + "[" * 100_000,
    "a = " + "{a = " * 100_000,
]


@pytest.mark.parametrize("text", BUSY, ids=range(len(BUSY)))
def test_what_would_keep_the_parser_busy_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"too many dots|too deep"):
        toml(text)


def test_a_table_is_read() -> None:
    text = 'a.b.c = 1\nallow = ["www.example.com", "10.0.0.1"]\n[x.y]\nz = """\n' + "." * 2_000 + '\n"""\n'
    assert toml(text)["a"]["b"]["c"] == 1 and len(toml(text)["x"]["y"]["z"]) == 2_001


def test_what_is_no_table_is_said() -> None:
    with pytest.raises(ValueError, match="Invalid value"):
        toml("a = ")
