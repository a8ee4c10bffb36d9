"""Which kind of place a path is, told from its text and the working directory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from interlock.analysis.facts import QUOTED, hole
from interlock.analysis.places import known_places, place, resolve

CWD = "/home/dev/app"

PATHS = [
    ("/", "root"), ("/*", "root"), ("//", "root"), ("/.", "root"), ("/home/..", "root"), ("/*/", "root"), ("C:\\", "root"), ("c:/", "root"),
    ("../../../..", "root"), ("/{*,.*}", "root"),
    ("~", "home"), ("~/", "home"), ("~/*", "home"), ("~/.", "home"), ("/home/dev", "home"), ("/home", "home"), ("/home/*", "home"), ("/root", "home"),
    ("/Users/ann", "home"), ("~ann", "home"), ("..", "home"), ("../", "home"), ("/home/ann", "home"), ("C:\\Users\\ann", "home"),
    ("/etc", "system"), ("/etc/", "system"), ("/usr", "system"), ("/usr/lib", "system"), ("/var/*", "system"), ("/bin", "system"), ("/e?c", "system"),
    ("/boot", "system"), ("C:\\Windows", "system"), ("/var/lib", "system"),
    ("/etc/passwd", "system_part"), ("/etc/nginx/nginx.conf", "system_part"), ("/usr/share/doc", "system_part"), ("/var/lib/postgresql", "system_part"),
    ("/home/ann/notes", "other_home"), ("~ann/notes", "other_home"),
    ("~/notes.txt", "home_part"), ("~/Documents", "user_data"), ("~/Pictures", "user_data"), ("~/.config", "user_data"),
    ("~/.ssh/id_rsa", "secret"), ("~/.aws/credentials", "secret"), (".env", "secret"), ("/etc/shadow", "secret"), ("server.pem", "secret"),
    ("~/.ssh/id_rsa.pub", "home_part"), (".env.example", "source"),
    ("~/.bashrc", "shell_config"), ("~/.zshrc", "shell_config"),
    ("~/.config/interlock/config.toml", "guard"), ("/etc/interlock/policy.toml", "guard"),
    ("~/.claude/settings.json", "agent_config"), (".claude/settings.json", "agent_config"), ("~/.codex/config.toml", "agent_config"),
    (".", "project"), ("./", "project"), ("*", "project"), ("./*", "project"), ("/home/dev/app", "project"), ("../app", "project"), ("src/..", "project"),
    (".git", "git"), (".git/index", "git"), ("sub/.git", "git"), (".git/hooks/pre-commit", "git_hook"),
    ("src", "source"), ("src/main.py", "source"), ("README.md", "source"), ("*.py", "source"), ("src/*", "source"), ("drop_table.sql", "source"),
    ("node_modules", "build"), ("./dist", "build"), ("web/node_modules/x", "build"), ("target/debug", "build"), (".venv", "build"), ("a.pyc", "build"),
    ("~/.cache", "cache"), ("~/.npm", "cache"),
    ("app.log", "log"), ("logs/a", "log"),
    ("/tmp/x", "temp"), ("/tmp/*", "temp"), ("/var/tmp/x", "temp"), ("/dev/shm/x", "temp"), ("a.swp", "temp"), ("/tmp/../tmp/x", "temp"),
    ("backup.tar", "backup"), ("/srv/backups", "backup"),
    ("/mnt/disk", "volume"), ("/media/ann/usb", "volume"), ("/Volumes/Disk", "volume"),
    ("/dev/sda", "device"), ("/dev/nvme0n1", "device"), ("/dev/mapper/root", "device"), ("/dev/disk2", "device"), ("\\\\.\\PhysicalDrive0", "device"),
    ("/dev/null", "sink"), ("/dev/stdout", "sink"), ("/dev/tty", "sink"),
    ("s3://bucket/x", "remote"), ("host:/x", "remote"), ("user@host:x", "remote"),
    ("/nowhere/x", "other"), ("../other", "home_part"),
    ("", "unknown"), (hole(), "unknown"), (hole("X"), "unknown"), (f"{hole('X')}/*", "unknown_root"), (f"{hole('X')}/", "unknown_root"),
    ("C:\\Users\\u\\AppData\\Local\\Temp\\x", "temp"), ("/mnt/c/Users/u/AppData/Local/Temp/x", "temp"), ("/c/Users/u/AppData/Local/Temp/x", "temp"),
    ("C:/Users/u/AppData/Local/Temp", "other_home"), ("C:/Users/u/AppData/Local/Temp/../../Documents", "other_home"),
    (f"{hole('TMPDIR')}/x", "temp"), (f"{hole('BUILD_DIR')}", "unknown"), (f"/tmp/{hole()}", "temp"), (f"{hole('X')}/node_modules", "build"),
    (f"{QUOTED}~", "temp"), (f"{QUOTED}~/notes", "source"),
]  # fmt: skip


@each(("path", "expected"), PATHS)
def test_a_path_is_the_place_it_names(path: str, expected: str) -> None:
    assert place(path, CWD) == expected


ELSEWHERE = [
    ("*", "/", "root"),
    (".", "/", "root"),
    ("*", "/etc", "system"),
    ("*", "/home/dev", "home"),
    ("notes", "/home/dev", "home_part"),
    ("..", "/srv/app/deep", "above"),
    ("../..", "/srv/app/deep", "system"),
    ("/srv/app", "/srv/app/deep", "above"),
    ("*", "/srv/app", "project"),
    ("src", "/srv/app", "source"),
    ("src", "", "source"),
    ("..", "", "above"),
    ("*", "/tmp/work", "temp"),
    ("src", "C:\\Users\\dev\\repo", "source"),
    ("..\\..", "C:\\Users\\dev\\repo", "home"),
]


@each(("path", "cwd", "expected"), ELSEWHERE)
def test_the_working_directory_decides_what_a_relative_path_is(path: str, cwd: str, expected: str) -> None:
    assert place(path, cwd) == expected


@pytest.mark.parametrize(
    ("path", "cwd", "full"),
    [
        ("a/../b", "/x", "/x/b"),
        ("/a/./b//c/", "/x", "/a/b/c"),
        ("../../..", "/x", "/"),
        ("~/a", "/x", "~/a"),
        ("..", "", ".."),
        ("", "/x", "."),
        ("a\\b", "C:\\x", "C:/x/a/b"),
    ],
)
def test_dots_are_worked_out(path: str, cwd: str, full: str) -> None:
    assert resolve(path, cwd) == full


@given(
    st.text(st.sampled_from("/.~*ab\\: \u202e\0"), max_size=30) | st.text(max_size=30),
    st.sampled_from(["", "/", CWD, "C:\\x"]),
)
def test_every_text_is_some_place(path: str, cwd: str) -> None:
    assert place(path, cwd) in known_places()
