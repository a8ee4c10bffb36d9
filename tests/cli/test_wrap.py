"""Words on a terminal break between words; what is copied from it does not break at all."""

from __future__ import annotations

import os
import pty

import pytest

from interlock.analysis.display_text import Line, StyledText
from interlock.cli.output import paint, print_table, wrap_lines

ROW: Line = (
    StyledText("Isolation ", "dim"),
    StyledText("agents are the same user: mistakes are stopped and tampering shows"),
)


def text(lines: list[Line], width: int) -> list[str]:
    return ["".join(part.text for part in line).rstrip() for line in wrap_lines(lines, width)]


def test_a_long_line_breaks_between_words_and_goes_on_below_them() -> None:
    assert text([ROW], 40) == [
        "Isolation agents are the same user:",
        "          mistakes are stopped and",
        "          tampering shows",
    ]
    assert text([ROW], 200) == text([ROW], 0) == ["".join(part.text for part in ROW)]


def test_commands_marked_texts_and_long_words_stay_in_one_piece() -> None:
    command = (StyledText("    rm -rf " + "folder " * 20, "command"),)
    marked = [(StyledText("    "), StyledText("echo hello; " * 10)), (StyledText("    "), StyledText("^" * 11, "mark"))]
    path = (StyledText("Store     ", "dim"), StyledText("sqlite://" + "/deep" * 20))
    for lines in ([command], marked, [path]):
        broken = [line.strip() for line in text(lines, 60)]
        assert all(line[-1].text.strip() in " ".join(broken) for line in lines)
    assert len(text([command], 60)) == 1 and len(text(marked, 60)) == 2


def test_nothing_is_lost_and_every_style_stays() -> None:
    line = (
        StyledText("Denied:", "deny"),
        StyledText(" deletes the whole system, "),
        StyledText("a home", "heading"),
        StyledText(" directory " * 9),
    )
    found = list(wrap_lines([line], 40))
    words = " ".join("".join(part.text for part in one) for one in found).split()
    assert words == "".join(part.text for part in line).split() and len(found) > 2
    assert {part.style for one in found for part in one} == {"deny", "", "heading"}


@pytest.mark.parametrize(("columns", "lines"), [("60", 2), ("200", 1), ("x", 1)])
def test_only_a_terminal_whose_width_is_known_breaks_lines(
    columns: str, lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    screen, terminal = pty.openpty()
    with os.fdopen(screen, "rb", buffering=0) as seen, os.fdopen(terminal, "w") as out:
        paint([ROW], out)
        assert seen.read(4096).count(b"\n") == lines


def test_an_id_in_a_table_can_be_copied_however_narrow_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    screen, terminal = pty.openpty()
    with os.fdopen(screen, "rb", buffering=0) as seen, os.fdopen(terminal, "w") as out:
        row = ["u_k3v7q2mzpa", "12 min ago", "kept", "302, 1.1 KB", "claude-code", "git checkout -- src/app.py"]
        print_table(["id", "when", "state", "files", "agent", "command"], [row], out)
        out.flush()
        assert b"u_k3v7q2mzpa" in seen.read(65_536)
