"""A user's file is replaced whole or not at all, with its mode and its owner, behind every link."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from interlock.install.files import FileProblem, FileState, back_up, read_state, remove_file, replace_file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_gets_the_mode_that_it_needs_and_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "hooks.json"
    made = replace_file(read_state(path), b"{}", 0o644)
    assert (path.read_bytes(), mode(path), made) == (b"{}", 0o644, [tmp_path / "a", tmp_path / "a" / "b"])
    remove_file(read_state(path), tuple(made))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o644, 0o400])
def test_an_old_file_keeps_its_mode_and_so_does_its_backup(tmp_path: Path, bits: int) -> None:
    path = tmp_path / "settings.json"
    path.write_text("old")
    path.chmod(bits)
    kept = back_up(read_state(path), "20260101T000000Z")
    replace_file(read_state(path), b"new", 0o644)
    assert (path.read_bytes(), mode(path)) == (b"new", bits)
    assert (kept.read_bytes(), mode(kept), kept.name) == (
        b"old",
        bits,
        "settings.json.interlock-backup-20260101T000000Z",
    )


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_an_old_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("old")
    os.chown(path, 12345, 54321)
    replace_file(read_state(path), b"new", 0o644)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "settings.json", tmp_path / "settings.json"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to(real)
    replace_file(read_state(link), b"new", 0o644)
    assert link.is_symlink() and real.read_bytes() == b"new"
    assert sorted(path.name for path in real.parent.iterdir()) == ["settings.json"]


def test_a_link_that_leads_nowhere_yet_is_followed(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to(tmp_path / "dotfiles" / "settings.json")
    replace_file(read_state(link), b"new", 0o644)
    assert link.is_symlink() and link.read_bytes() == b"new"


def test_a_file_that_changed_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("old")
    seen = read_state(path)
    path.write_text("somebody else's")
    for act in (lambda: replace_file(seen, b"new", 0o644), lambda: remove_file(seen)):
        with pytest.raises(FileProblem, match="changed just now"):
            act()
    assert path.read_text() == "somebody else's" and [path.name for path in tmp_path.iterdir()] == ["settings.json"]


def test_a_file_that_appeared_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    seen = read_state(tmp_path / "settings.json")
    (tmp_path / "settings.json").write_text("somebody else's")
    with pytest.raises(FileProblem, match="changed just now"):
        replace_file(seen, b"new", 0o644)


def test_backups_of_the_same_second_do_not_overwrite_each_other(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text("one")
    first = back_up(read_state(path), "now")
    path.write_text("two")
    second = back_up(read_state(path), "now")
    assert (first.read_text(), second.read_text()) == ("one", "two")


def test_what_cannot_be_a_settings_file_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    for name, words in (("folder", "not a regular file"), ("pipe", "not a regular file"), ("a", "a: ")):
        with pytest.raises(FileProblem, match=words):
            read_state(tmp_path / name)
    with pytest.raises(FileProblem, match="line 2: not UTF-8"):
        _ = FileState(tmp_path / "x", b"{}\n\xff").text


def test_a_folder_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileProblem):
        replace_file(read_state(tmp_path / "file" / "x" / "hooks.json"), b"", 0o644)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
