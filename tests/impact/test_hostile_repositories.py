"""A repository that wants to run something, to hang whoever looks, or to lie: nothing runs, every look ends, and nothing is known."""

from __future__ import annotations

import os
import socket
import stat
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.impact.inspector import MAX_REQUEST
from interlock.impact.warm_child import WarmInspector
from interlock.model import Loss
from repositories import files, git, inspection_request, inspector, repository, request_effect

EVERY = [
    "rm src", "rm *", "rm .", "empty src/a.py", "git reset --hard", "git reset --hard HEAD~1", "git checkout -- .", "git restore .",
    "git switch -f feature", "git clean -fdx", "git rm -rf .", "git stash drop", "git branch -D feature", "git push --force origin main",
    "git worktree remove --force ../tree",
]  # fmt: skip


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return repository(tmp_path / "app")


def _script(own: Path) -> tuple[Path, Path]:
    """A program that leaves a trace, and the trace."""
    canary, script = own.parent / "canary", own.parent / "run.sh"
    script.write_text(f"#!/bin/sh\necho ran >> {canary}\ncat\n")
    script.chmod(0o755)
    return script, canary


def _settings(own: Path, script: Path) -> None:
    values = {
        "core.fsmonitor": str(script), "core.hooksPath": str(script.parent / "hooks"), "core.pager": str(script), "core.editor": str(script),
        "core.sshCommand": str(script), "core.askPass": str(script), "core.alternateRefsCommand": str(script), "core.gitProxy": str(script),
        "filter.evil.clean": str(script), "filter.evil.smudge": str(script), "filter.evil.process": str(script),
        "diff.evil.textconv": str(script), "diff.evil.command": str(script), "diff.external": str(script), "merge.evil.driver": str(script),
        "alias.reset": f"!{script}", "alias.status": f"!{script}", "credential.helper": f"!{script}", "gpg.program": str(script),
        "remote.origin.url": f"ext::{script}", "remote.origin.uploadpack": str(script), "uploadpack.packObjectsHook": str(script),
        "include.path": str(script.parent / "more"), "log.showSignature": "true", "status.showUntrackedFiles": "all",
    }  # fmt: skip
    for name, value in values.items():
        git(own, "config", name, value)
    (script.parent / "more").write_text(f"[core]\n\tfsmonitor = {script}\n")
    files(own, {".gitattributes": "* filter=evil diff=evil merge=evil\n"})
    for folder in (script.parent / "hooks", own / ".git/hooks"):
        folder.mkdir(exist_ok=True)
        for name in (
            "post-checkout",
            "pre-commit",
            "reference-transaction",
            "post-index-change",
            "fsmonitor-watchman",
            "query-watchman",
        ):
            (folder / name).write_text(script.read_text())
            (folder / name).chmod(0o755)


def test_nothing_that_a_repository_configures_is_run(own: Path, look: WarmInspector) -> None:
    script, canary = _script(own)
    _settings(own, script)
    for name in ("src/a.py", "src/b.py"):
        os.utime(own / name, (1, 1))  # so that contents have to be compared
    for command in EVERY:
        look(inspection_request(own, request_effect(command)))
    assert not canary.exists()
    assert (
        look(inspection_request(own, request_effect("rm src"))).loss is Loss.RECOVERABLE
    )  # and it is looked at all the same


def test_a_filter_that_stores_something_else_than_the_file_makes_no_copy_of_it(own: Path, look: WarmInspector) -> None:
    git(own, "config", "filter.evil.clean", "echo nothing")
    files(own, {".gitattributes": "notes.txt filter=evil\n"})
    git(own, "add", "notes.txt")
    git(own, "commit", "-qm", "kept, as it seems")
    assert git(own, "status", "--short", "notes.txt") == ""
    for command in ("rm notes.txt", "git rm -f notes.txt", "git reset --hard HEAD~1", "empty notes.txt"):
        assert look(inspection_request(own, request_effect(command))).names == ("notes.txt",), command


def _fifo(path: Path) -> None:
    if path.is_dir():
        path.rename(path.with_name("aside"))
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _socket(path: Path) -> None:
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(path.parent)  # the name of a socket is short
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


def _zero(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def _itself(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(path.name)


def _huge(path: Path) -> None:
    path.unlink(missing_ok=True)
    with path.open("wb") as out:
        out.truncate(1 << 40)  # sparse


def _noise(path: Path) -> None:
    path.chmod(stat.S_IRUSR | stat.S_IWUSR) if path.exists() else None
    path.write_bytes(bytes(range(256)) * 400)


@pytest.mark.parametrize("spoil", [_fifo, _socket, _zero, _itself, _huge, _noise])
@pytest.mark.parametrize(
    "name", [".git/index", ".git/HEAD", ".git/config", ".git/packed-refs", ".git/refs/heads/feature", ".gitignore", ".git/logs/HEAD", ".git/shallow",
             ".git/objects/info/alternates", ".git/commondir", ".git/info/exclude"]
)  # fmt: skip
def test_a_file_of_git_that_is_none_hangs_nobody_and_frees_nothing(
    own: Path, look: WarmInspector, name: str, spoil: Callable[[Path], None]
) -> None:
    (own / "src/a.py").write_text("changed\n")
    spoil(own / name)
    for command in ("git reset --hard", "git clean -fd", "rm src", "rm notes.txt"):
        assert look(inspection_request(own, request_effect(command))).loss in (Loss.LOST, Loss.UNKNOWN), (name, command)


@pytest.mark.parametrize("spoil", [_fifo, _socket, _zero, _itself])
def test_odd_files_in_the_work_tree_are_never_opened(
    own: Path, look: WarmInspector, spoil: Callable[[Path], None]
) -> None:
    spoil(own / "src/a.py")
    for command in EVERY:
        look(inspection_request(own, request_effect(command)))
    assert look(inspection_request(own, request_effect("git reset --hard"))).loss is Loss.LOST


def test_folders_that_link_to_themselves_end(own: Path, look: WarmInspector) -> None:
    (own / "src/up").symlink_to("..")
    (own / "src/here").symlink_to(".")
    for command in ("rm **/*.py", "rm src", "git clean -fdx", "rm src/up/src/up/src/a.py", "rm */*/*/*/*/*"):
        assert look(inspection_request(own, request_effect(command))).problem in ("", "nothing of it is there"), command


def test_names_that_look_like_paths_options_or_patterns_are_names(own: Path, look: WarmInspector) -> None:
    names = ["--hard", "-rf", "a\nb", "x;y", "$(touch canary)", "*", "[", "\udcff", "~", "a'b"]
    for name in names:
        (own / "data" / os.fsdecode(name.encode("utf-8", "surrogateescape"))).write_text("x")
    seen = look(inspection_request(own, request_effect("rm data")))
    assert seen.only == len(names) + 1 and "\n" not in seen.words


@pytest.mark.parametrize(
    ("target", "made"), [("/etc", "gitdir: /etc\n"), ("nothing", "gitdir: /nonexistent\n"), ("many", "gitdir: a\ngitdir: b\n"), ("empty", "")]
)  # fmt: skip
def test_a_git_file_that_points_elsewhere_frees_nothing(
    tmp_path: Path, look: WarmInspector, target: str, made: str
) -> None:
    files(tmp_path / "w", {".git": made, "a.txt": "x\n"})
    for command in ("rm a.txt", "git reset --hard", "git clean -fd"):
        assert look(inspection_request(tmp_path / "w", request_effect(command))).loss in (Loss.LOST, Loss.UNKNOWN)


def test_a_folder_that_claims_to_be_the_work_tree_of_another_repository_frees_nothing(
    own: Path, look: WarmInspector
) -> None:
    git(own, "worktree", "add", "-q", str(own.parent / "tree"), "feature")
    claim = own.parent / "claim"
    files(claim, {".git": (own.parent / "tree/.git").read_text(), "kept.txt": "kept\n", "notes.txt": "x\n"})
    assert look(inspection_request(claim, request_effect("git reset --hard"))).loss is Loss.UNKNOWN
    assert look(inspection_request(claim, request_effect("rm kept.txt"))).loss is Loss.UNKNOWN


@pytest.mark.parametrize("setting", ["core.worktree=/", "core.bare=true", "extensions.partialClone=origin", "core.sparseCheckout=true"])  # fmt: skip
def test_a_repository_whose_settings_make_it_another_one_frees_nothing(
    own: Path, look: WarmInspector, setting: str
) -> None:
    name, _, value = setting.partition("=")
    with (own / ".git/config").open("a") as out:
        section, _, key = name.partition(".")
        out.write(f"[{section}]\n\t{key} = {value}\n")
    assert look(inspection_request(own, request_effect("git reset --hard"))).loss is Loss.UNKNOWN
    assert look(inspection_request(own, request_effect("rm kept.txt"))).loss is Loss.UNKNOWN


def test_borrowed_objects_count_and_a_circle_of_lenders_ends(own: Path, look: WarmInspector, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(own), "borrower")
    assert look(inspection_request(tmp_path / "borrower", request_effect("rm src"))).loss is Loss.RECOVERABLE
    (own / ".git/objects/info").mkdir(exist_ok=True)
    (own / ".git/objects/info/alternates").write_text(f"{tmp_path}/borrower/.git/objects\n")
    assert look(inspection_request(tmp_path / "borrower", request_effect("rm src"))).loss is Loss.RECOVERABLE


def test_an_object_that_unpacks_without_end_is_cut(own: Path, look: WarmInspector) -> None:
    oid = git(own, "rev-parse", "HEAD").strip()
    path = own / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    path.write_bytes(zlib.compress(b"commit 1\0" + b"\0" * (64 << 20), 1))
    assert look(inspection_request(own, request_effect("git reset --hard HEAD"))).loss is Loss.UNKNOWN


def test_more_than_may_be_looked_at_is_unknown(own: Path, look: WarmInspector) -> None:
    crowd = own / "crowd"
    crowd.mkdir()
    for number in range(300):
        (crowd / str(number)).touch()
    for command in ("rm crowd", "rm crowd/*", "git clean -fd", "rm **/nothing"):
        seen = look(inspection_request(own, request_effect(command), entries=200))
        assert (seen.loss, seen.problem) in (
            (Loss.UNKNOWN, "there is too much of it"),
            (Loss.LOST, "there is too much of it"),
        )


def test_a_file_that_grows_while_it_is_read_is_not_what_git_has(own: Path, look: WarmInspector) -> None:
    path, begun, ended = own / "kept.txt", threading.Event(), threading.Event()

    def grow() -> None:
        while not ended.is_set():
            with path.open("ab") as out:
                out.write(b"x" * 65_536)
            begun.set()
            if path.stat().st_size > 200 << 20:
                path.write_bytes(b"")
            time.sleep(0.001)

    thread = threading.Thread(target=grow)
    thread.start()
    assert begun.wait(20)
    try:
        for _ in range(5):
            assert look(inspection_request(own, request_effect("rm kept.txt"))).loss is not Loss.RECOVERABLE
    finally:
        ended.set()
        thread.join()


def test_a_look_that_overruns_is_killed_and_the_next_one_is_answered(own: Path) -> None:
    files(own, {".gitignore": f"{'*a' * 40}b\n", "a" * 200: "x\n"})  # a pattern that takes for ever to compare
    with inspector() as look:
        look(inspection_request(own, request_effect("rm kept.txt")))
        first = look._child.pid
        seen = look(inspection_request(own, request_effect("git clean -fd"), ms=300))
        assert (seen.loss, seen.problem) == (Loss.UNKNOWN, "it takes too long")
        assert look(inspection_request(own, request_effect("rm kept.txt"))).loss is Loss.RECOVERABLE
        assert look._child.pid not in (None, first)


def test_an_answer_is_never_taken_for_that_of_a_later_request(own: Path) -> None:
    files(own, {"only.txt": "nowhere else\n"})
    with inspector() as look:
        long = {**inspection_request(own, request_effect("rm kept.txt")), "strayed": ["x" * MAX_REQUEST]}
        assert look(long).loss is Loss.UNKNOWN
        assert look(inspection_request(own, request_effect("rm kept.txt"))).loss is Loss.RECOVERABLE
        assert look(inspection_request(own, request_effect("rm only.txt"))).loss is Loss.LOST


def test_a_child_that_is_killed_or_stopped_from_outside_frees_nothing(own: Path) -> None:
    import signal

    with inspector() as look:
        look(inspection_request(own, request_effect("rm kept.txt")))
        assert look._child.pid is not None
        os.kill(look._child.pid, signal.SIGSTOP)
        assert look(inspection_request(own, request_effect("rm kept.txt"), ms=200)).loss is Loss.UNKNOWN
        assert look(inspection_request(own, request_effect("rm kept.txt"))).loss is Loss.RECOVERABLE
        os.kill(look._child.pid, signal.SIGKILL)
        assert look(inspection_request(own, request_effect("rm kept.txt"))).loss in (Loss.RECOVERABLE, Loss.UNKNOWN)


def test_the_child_holds_nothing_of_the_daemon(own: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INTERLOCK_SECRET", "hunter2")
    with (tmp_path / "state").open("w") as held, inspector() as look:
        os.set_inheritable(held.fileno(), True)
        look(inspection_request(own, request_effect("rm kept.txt")))
        place = Path(f"/proc/{look._child.pid}")
        if os.getuid() != 0:  # nobody else of the same user may look into it
            with pytest.raises(PermissionError):
                (place / "environ").read_bytes()
            return
        assert b"hunter2" not in (place / "environ").read_bytes()
        handles = {os.readlink(one) for one in (place / "fd").iterdir()}
        assert all(one == "/dev/null" or one.startswith("socket:") for one in handles), handles
        assert (place / "cwd").resolve() == Path("/")
