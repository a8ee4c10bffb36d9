"""Whatever is done to files, an undo brings them back byte for byte: random trees with odd names, modes and links x what destroys them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from file_trees import (
    EXAMPLES,
    NOW,
    PATIENT,
    access_list,
    describe_tree,
    extended_attributes,
    fresh_snapshot_id,
    set_attribute,
)
from interlock.snapshots.client import WarmSnapshotter

NAMES = [
    b"a", b"b.txt", b"-rf", b"two words", b"line\nbreak", "é日".encode(), b"\xff\xfe", b"*", b"it's", b".hidden", b"~", b"$HOME", b"node_modules", b"x" * 200,
]  # fmt: skip
CONTENTS = [b"", b"one\n", b"\0\xff\x80binary", b"long " * 4_000, b"large" * 60_000]
OWNER = 0o700 if os.geteuid() else 0  # what others than root need for reading and changing their own
MODES = [mode | OWNER & 0o400 for mode in (0o644, 0o600, 0o755, 0o400, 0o000, 0o4755)]
FOLDERS = [mode | OWNER for mode in (0o755, 0o700, 0o555, 0o1777)]


@dataclass(frozen=True)
class Node:
    """One thing of a tree: in which folder, what, how."""

    holder: int
    name: bytes
    kind: str
    content: bytes
    mode: int
    folder_mode: int
    marked: bool


nodes = st.builds(
    Node,
    st.integers(0, 20), st.sampled_from(NAMES), st.sampled_from(["file", "file", "folder", "link", "twin"]),
    st.sampled_from(CONTENTS), st.sampled_from(MODES), st.sampled_from(FOLDERS), st.booleans(),
)  # fmt: skip


def grown(top: bytes, given: list[Node]) -> list[bytes]:
    """The tree on the disk; every path of it, with what is to be destroyed first."""
    folders, files, every = [top], [], []
    for node in given:
        path = os.path.join(folders[node.holder % len(folders)], node.name)
        if os.path.lexists(path):
            continue
        if node.kind == "folder":
            os.mkdir(path)
            folders.append(path)
        elif node.kind == "link":
            os.symlink(node.content[:40].strip(b"\0") or b"nowhere", path)
        elif node.kind == "twin" and files:
            os.link(files[0], path)
        else:
            with open(path, "wb") as out:
                out.write(node.content)
            os.chmod(path, node.mode)
            files.append(path)
        every.append(path)
        if node.marked and node.kind in ("file", "folder"):
            set_attribute(path, "user.note", node.content[:40] + b"x")
            set_attribute(
                path, "system.posix_acl_access", access_list(7, node.mode | (OWNER if node.kind == "folder" else 0))
            )
            if node.kind == "folder":
                set_attribute(path, "system.posix_acl_default", access_list(8, 0o640 | OWNER))
    for number, folder in enumerate(folders[1:]):
        os.chmod(folder, FOLDERS[number % len(FOLDERS)])
    for path in every:
        os.utime(path, ns=(10**18, 10**18 + len(path)), follow_symlinks=False)
    return every


Deeds = list[dict[str, Any]]


def _run(*words: bytes | str) -> None:
    subprocess.run(words, capture_output=True, check=False)


def _deed(verb: str) -> Callable[[bytes, bytes], Deeds]:
    return lambda path, other: [{"verb": verb, "target": os.fsdecode(path)}]


def _moved(path: bytes, other: bytes) -> Deeds:
    return [{"verb": "overwrite", "target": os.fsdecode(path)}, {"verb": "delete", "target": os.fsdecode(other)}]


# What is done, whether it takes folders too, and as which deeds Interlock knows it.
ACTS: dict[str, tuple[bool, Callable[[bytes, bytes], Deeds], tuple[str, ...]]] = {
    "rm -rf": (True, _deed("delete"), ("rm", "-rf", "--", "$1")),
    "rm": (False, _deed("delete"), ("rm", "-f", "--", "$1")),
    "find -delete": (True, _deed("delete"), ("find", "$1", "-delete")),
    "> file": (False, _deed("truncate"), ("bash", "-c", ': > "$1"', "bash", "$1")),
    "truncate": (False, _deed("truncate"), ("truncate", "-s", "0", "$1")),
    "cp over": (False, _deed("overwrite"), ("cp", "-f", "--", "$2", "$1")),
    "cat over": (False, _deed("overwrite"), ("bash", "-c", 'cat "$2" > "$1"', "bash", "$1", "$2")),
    "tee": (False, _deed("overwrite"), ("bash", "-c", 'echo new | tee "$1"', "bash", "$1")),
    "mv over": (False, _moved, ("mv", "-f", "--", "$2", "$1")),
}


@settings(max_examples=EXAMPLES * 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(nodes, min_size=1, max_size=14),
    st.sampled_from(sorted(ACTS)),
    st.integers(0, 30),
    st.integers(0, 30),
    st.booleans(),
)
def test_a_tree_is_what_it_was_after_an_undo_and_the_undo_can_be_undone(
    keep: WarmSnapshotter, given: list[Node], name: str, number: int, other: int, settled: bool
) -> None:
    folders, deeds_of, words = ACTS[name]
    place = Path(tempfile.mkdtemp(prefix="undo"))
    try:
        top = os.fsencode(place) + b"/tree"
        os.mkdir(top)
        every = [path for path in grown(top, given) if folders or not os.path.isdir(path)]
        if not every:
            return
        one, two = every[number % len(every)], every[other % len(every)]
        if one == two and "$2" in words:
            return
        before = describe_tree(place)
        kept = keep.take({"bases": [str(place)], "deeds": deeds_of(one, two)}, fresh_snapshot_id(), NOW, PATIENT)
        if b"*" in one + two and not kept.verified:
            return  # a name that is a pattern stands for more, of which not everything is a file
        assert kept.verified, kept
        _run(*({"$1": one, "$2": two}.get(word, word) for word in words))
        after = describe_tree(place)
        if settled:
            assert keep.settle(kept.id)
        undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest, force=not settled)
        assert undone.done, undone
        whole = name in ("> file", "truncate", "cat over", "tee")  # other names of a file that comes back stay its own
        assert _shown(describe_tree(place), whole) == _shown(before, whole), name
        assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).total == 0
        if undone.as_id:
            assert keep.undo(undone.as_id, fresh_snapshot_id(), NOW, undone.as_digest).done
            assert _shown(describe_tree(place), False) == _shown(after, False), name
    finally:
        _run("chmod", "-R", "u+rwx", os.fsencode(place))
        shutil.rmtree(place, ignore_errors=True)


def _shown(found: dict[str, Any], twins: bool) -> dict[str, Any]:
    return found if twins else {key: value for key, value in found.items() if key != "="}


def test_two_names_of_one_file_that_were_both_emptied_come_back_at_once(keep: WarmSnapshotter, tmp_path: Path) -> None:
    for name in ("a.txt", "keep.txt"):
        (tmp_path / name).write_text("one\n")
    os.link(tmp_path / "a.txt", tmp_path / "b.txt")
    before = describe_tree(tmp_path)
    deeds = [{"verb": "truncate", "target": name} for name in ("a.txt", "b.txt")]
    kept = keep.take({"bases": [str(tmp_path)], "deeds": deeds}, fresh_snapshot_id(), NOW, PATIENT)
    (tmp_path / "a.txt").write_text("")
    undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
    assert undone.done and describe_tree(tmp_path) == before, undone


def test_a_file_that_was_moved_here_and_has_other_names_keeps_its_own_times(
    keep: WarmSnapshotter, tmp_path: Path
) -> None:
    for number, name in enumerate(("a.txt", "b.txt")):
        (tmp_path / name).write_text("the same\n")
        os.utime(tmp_path / name, ns=(0, 10**18 + number))
    os.link(tmp_path / "b.txt", tmp_path / "other.txt")
    before = describe_tree(tmp_path)
    deeds = [{"verb": "overwrite", "target": "a.txt"}, {"verb": "delete", "target": "b.txt"}]
    kept = keep.take({"bases": [str(tmp_path)], "deeds": deeds}, fresh_snapshot_id(), NOW, PATIENT)
    os.rename(tmp_path / "b.txt", tmp_path / "a.txt")
    undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest, force=True)
    assert undone.done and _shown(describe_tree(tmp_path), False) == _shown(before, False), undone


def test_a_link_to_a_folder_comes_back_after_a_search_that_took_it(keep: WarmSnapshotter, tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved/a.txt").write_text("a\n")
    (tmp_path / "src").symlink_to("moved")
    before = describe_tree(tmp_path)
    kept = keep.take({"bases": [str(tmp_path)], "deeds": [{"verb": "delete", "target": "src/**"}]}, fresh_snapshot_id(), NOW, PATIENT)  # fmt: skip
    _run("find", str(tmp_path / "src"), "-delete")
    assert describe_tree(tmp_path) != before
    assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).done and describe_tree(tmp_path) == before


def test_attributes_and_access_lists_come_back_and_a_plan_names_them(keep: WarmSnapshotter, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    path = work / "sub/a.txt"
    path.write_text("a\n")
    one, folder = os.fsencode(path), os.fsencode(work / "sub")
    if not set_attribute(one, "user.origin", b"scanner"):
        pytest.skip("a file system with extended attributes is missing")
    set_attribute(one, "system.posix_acl_access", access_list(7))
    set_attribute(folder, "system.posix_acl_default", access_list(8))
    before = describe_tree(work)
    kept = keep.take(
        {"bases": [str(work)], "deeds": [{"verb": "delete", "target": "sub"}]}, fresh_snapshot_id(), NOW, PATIENT
    )
    assert kept.verified
    for name in extended_attributes(one):
        os.removexattr(one, name)
    path.chmod(int(before["sub/a.txt"][1], 8))
    set_attribute(one, "user.other", b"1")
    plan = keep.plan(kept.id, kept.digest)
    assert [(change.path, change.what) for change in plan.changes] == [(str(path), "attributes")]
    undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
    assert undone.done and describe_tree(work) == before
    shutil.rmtree(work / "sub")
    assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).done and describe_tree(work) == before
    assert "user.origin" in extended_attributes(one)


def test_of_a_snapshot_that_knows_nothing_of_attributes_none_are_taken_away(
    keep: WarmSnapshotter, tmp_path: Path
) -> None:
    work, path = tmp_path, tmp_path / "a.txt"
    path.write_text("a\n")
    kept = keep.take(
        {"bases": [str(work)], "deeds": [{"verb": "delete", "target": "a.txt"}]}, fresh_snapshot_id(), NOW, PATIENT
    )
    manifest = Path(keep.folder) / f"snapshots/{kept.id}.json"
    body = json.loads(manifest.read_text())
    for entry in body["entries"]:
        entry.pop("attributes", None)
    manifest.chmod(0o600)
    manifest.write_text(json.dumps(body))
    set_attribute(os.fsencode(path), "user.origin", b"scanner")
    assert keep.plan(kept.id).total == 0
