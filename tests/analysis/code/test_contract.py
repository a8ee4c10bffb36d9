"""The same deed has the level that the shell gives it, in whatever language it is written."""

from __future__ import annotations

import json
import shlex
import tomllib
from functools import cache
from pathlib import Path

import pytest

from interlock import assess
from interlock.analysis.read import LANGUAGES
from interlock.model import tool

CWD, HOME = "/home/me/app", "/home/me"
DEEDS = tomllib.loads((Path(__file__).parent / "deeds.toml").read_text())
REFERENCE = DEEDS["shell"]
KEY = f"{HOME}/.ssh/id_rsa"

# For each deed, a target that makes it harmful and one that does not.
TARGETS = {
    "copy": (KEY, "notes.txt"),
    "move": ("/etc/hosts", "notes.txt"),
    "delete": ("/etc/passwd", "/tmp/x.txt"),
    "tree": ("/etc", "/tmp/build"),
    "overwrite": ("/etc/passwd", "out.txt"),
    "append": (f"{HOME}/.bashrc", "log.txt"),
    "rights": ("/etc", "out.txt"),
    "read": (KEY, "README.md"),
    "send": (KEY, "notes.txt"),
    "environment": ("",),
    "fetch_run": ("https://get.example/i.sh", "http://localhost:8000/i.sh"),
    "run": ("rm -rf /etc", "git status"),
    "eval": ("/etc", "/tmp/build"),
    "sql": ("DROP TABLE users", "SELECT 1"),
    "spawn": ("rm -rf /etc", "git status"),
    "kill": ("-1", "4321"),
}
# Languages that are no program of their own: statements, stores, sentences, editors.
NOT_CODE = frozenset("mongo sql redis cql cypher memcached prose orders other vim".split())


@cache
def level(text: str) -> int:
    return int(assess(text, CWD).level)


def level_of(language: str, code: str) -> int:
    if language != "tool":
        return level(carried(language, code))
    name, _, given = code.partition(" ")
    return int(assess(tool(name, json.loads(given), CWD)).level)


def carried(language: str, code: str) -> str:
    way = DEEDS[language]["way"]
    return way.replace("%", code if "EOF" in way else shlex.quote(code))


def differences(language: str, deed: str) -> list[str]:
    """The targets for which the language and the shell disagree."""
    found = []
    for target in TARGETS[deed]:
        wanted = level(carried("shell", REFERENCE[deed].replace("{}", target)))
        got = level_of(language, DEEDS[language][deed].replace("{}", target))
        if got != wanted:
            found.append(f"{language} {deed} {target}: level {got}, in the shell {wanted}")
    return found


CELLS = [(language, deed) for language in DEEDS if language != "shell" for deed in TARGETS]


def test_the_same_deed_has_the_same_level_in_every_language() -> None:
    wrong = [differences(language, deed) for language, deed in CELLS if deed in DEEDS[language]]
    assert [line for found in wrong for line in found] == []


def test_a_deed_that_is_only_a_comment_is_none() -> None:
    for language, deed in CELLS:
        code = DEEDS[language].get(deed, "").replace("{}", TARGETS[deed][0])
        if code and language in LANGUAGES:
            quiet = DEEDS[language]["comment"] + code.replace("\n", " ")
            assert level(carried(language, quiet)) == level(carried(language, DEEDS[language]["comment"] + "x")), quiet


@pytest.mark.parametrize("language", [language for language in DEEDS if language != "shell"])
def test_every_language_says_each_deed_or_that_it_has_no_means_for_it(language: str) -> None:
    given = DEEDS[language]
    assert (given.keys() & TARGETS.keys()) | set(given.get("absent", ())) == TARGETS.keys()
    assert not given.keys() & set(given.get("absent", ()))


def test_every_language_that_is_read_has_a_row() -> None:
    assert LANGUAGES.keys() - NOT_CODE - DEEDS.keys() == set()


# A file or folder that the program makes in the temp folder, and removes again.
TEMPORARY = {
    "shell": 'rm -rf "$(mktemp -d)"',
    "python": "import tempfile, shutil; shutil.rmtree(tempfile.mkdtemp())",
    "javascript": "const fs = require('fs'); const d = fs.mkdtempSync('x-'); fs.rmSync(d, {recursive: true})",
    "ruby": "require 'tmpdir'; FileUtils.rm_rf(Dir.mktmpdir)",
    "php": "unlink(tempnam(sys_get_temp_dir(), 'x'));",
    "perl": "use File::Temp qw(tempdir); use File::Path; rmtree(tempdir());",
    "lua": "os.remove(os.tmpname())",
    "elixir": 'File.rm_rf!(Path.join(System.tmp_dir!(), "x"))',
    "groovy": "File.createTempDir().deleteDir()",
    "r": "unlink(tempfile(), recursive = TRUE)",
    "julia": "rm(mktempdir(), recursive = true)",
    "java": 'File f = File.createTempFile("a", "b"); f.delete();',
    "go": 'd, _ := os.MkdirTemp("", "x"); os.RemoveAll(d)',
    "csharp": "Directory.Delete(Directory.CreateTempSubdirectory().FullName, true);",
}


@pytest.mark.parametrize("language", TEMPORARY)
def test_what_a_program_made_in_the_temp_folder_it_may_remove(language: str) -> None:
    assert level(carried(language, TEMPORARY[language])) == 1
