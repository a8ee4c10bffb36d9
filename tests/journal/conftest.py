"""What the tests of the journal share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from journals import Journal, built


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if sys.platform != "linux":
        for item in items:
            item.add_marker(pytest.mark.skip(reason="the journal is Linux's"))


@pytest.fixture(scope="session")
def supervisor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("supervisor"))


@pytest.fixture
def journal(tmp_path: Path, supervisor: Path) -> Journal:
    return Journal(tmp_path / "state", supervisor)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a little of everything, which is also the current one."""
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "a.txt").write_text("first\n")
    (folder / "big.bin").write_bytes(bytes(range(256)) * 400)
    (folder / "sub/b.txt").write_text("second\n")
    (folder / "sub/c.txt").write_text("third\n")
    (folder / "link").symlink_to("a.txt")
    os.link(folder / "sub/c.txt", folder / "twin.txt")
    os.setxattr(folder / "a.txt", "user.note", b"mine")
    (folder / "a.txt").chmod(0o640)
    for number, path in enumerate(sorted(folder.rglob("*"), reverse=True)):
        os.utime(path, ns=(10**18 + number, 10**18 + number * 10**9 + 7), follow_symlinks=False)
    monkeypatch.chdir(folder)
    return folder
