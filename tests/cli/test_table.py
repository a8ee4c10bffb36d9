"""Tables on a terminal: what agents called themselves, and people asked for, moves no cursor."""

from __future__ import annotations

import io

import pytest

from interlock.cli.output import print_table

NAMES = ["\x1b[2J\x1b[Hclaude", "a\rb", "\x1b]0;title\x07", "\u202egnp.exe", "one\ntwo", "\x9b31m"]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("out", [io.StringIO, Screen])
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_nothing_in_a_cell_acts_on_the_terminal(
    out: type[io.StringIO], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    screen = out()
    print_table(["name", "last"], [[name, "x"], ["y", name]], screen)
    said = screen.getvalue()
    assert not set(said) & set("\x1b\r\x07\u202e\x9b") and len(said.rstrip().split("\n")) <= 6
