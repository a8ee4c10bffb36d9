"""Only ordinary files are read, and none without a bound."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from interlock.impact.files import MAX_BYTES, read_bytes, read_text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"rm x\n", "rm x\n"),
        (b"", ""),
        ("é".encode(), "é"),
        (b"\xef\xbb\xbfls", "ls"),
        (b"# caf\xe9\nrm x", "# caf\xe9\nrm x"),
        (b"ls\nr\0m x", "ls\nrm x"),
        (b"\x7fELF\x02\0\0\0", None),
    ],
)
def test_scripts_are_text_whatever_their_bytes(tmp_path: Path, data: bytes, text: str | None) -> None:
    path = tmp_path / "x.sh"
    path.write_bytes(data)
    assert read_text(str(path)) == text


def test_a_link_to_an_ordinary_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_text("ls")
    (tmp_path / "link").symlink_to("x.sh")
    assert read_text(str(tmp_path / "link")) == "ls"


def test_anything_odd_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "to_device").symlink_to("/dev/zero")
    (tmp_path / "to_fifo").symlink_to("fifo")
    (tmp_path / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        odd = [*(str(tmp_path / name) for name in ("", "fifo", "to_device", "to_fifo", "loop", "s", "missing"))]
        for path in [*odd, "/dev/zero", "/proc/self/environ", "/proc/kmsg", "a\0b", "x" * 5000]:
            assert read_text(path) is None, path


@pytest.mark.parametrize("unit", [b"x", "é".encode(), "日".encode(), b"\n\0"])
def test_a_text_that_was_cut_can_be_told_by_its_length(tmp_path: Path, unit: bytes) -> None:
    path = tmp_path / "big"
    path.write_bytes(unit * MAX_BYTES * 2)
    assert len(read_text(str(path)) or "") == MAX_BYTES + 1
    assert len(read_bytes(str(path), 10) or b"") == 11
