"""`interlock prompt`: one command a line, explained."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from interlock.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("ls\n", ["$ ls", "Allowed: "]),
        ("rm -rf /", ["Denied: "]),
        ("\n\nhelp\n", ["cd DIR"]),
        ("exit\nrm -rf /\n", []),
        ("cd /no/such\n", ["no directory '/no/such'"]),
        ("cd / && ls\n", ["$ cd / && ls"]),
        ("'\n", ["$ '"]),
        ("", []),
    ],
)
def test_each_line_is_answered(typed: str, said: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert main(["prompt"]) == 0
    out = capsys.readouterr().out
    assert all(part in out for part in said) and bool(said) == bool(out)


def test_cd_changes_where_commands_are_read(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.sh").write_text("git push --force")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"cd {tmp_path}\nbash x.sh\n"))
    main(["prompt"])
    assert "git.force_push" in capsys.readouterr().out
