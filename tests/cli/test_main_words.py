"""Every word of `interlock` leads to a function that can be called with its arguments."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from argparse import ArgumentParser
from pathlib import Path

import pytest

from interlock.cli.arguments import add_arguments
from interlock.cli.main import _SHARED, COMMANDS, command_function, main
from interlock.model import TRUSTS
from repository import ROOT

DECLARED = {
    word: table
    for path in sorted((ROOT / "src" / "interlock" / "cli").glob("*/*.toml"))
    for word, table in tomllib.loads(path.read_text()).items()
}


@pytest.mark.parametrize("word", COMMANDS)
def test_every_word_has_a_module_with_its_function(word: str) -> None:
    function = command_function(word)
    inspect.signature(function).bind(["--help"])
    assert function.__module__.startswith("interlock.cli.")


def test_every_word_that_shares_a_module_is_a_command() -> None:
    assert set(_SHARED) <= set(COMMANDS)


@pytest.mark.parametrize("words", ["rules list", "rules docs", "config schema"])
def test_output_that_nobody_reads_to_its_end_is_no_error(words: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "interlock", *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""


def test_an_error_names_commands_as_they_can_be_typed_here(tmp_path: Path) -> None:
    program = tmp_path / "interlock"
    program.write_text(f"#!{sys.executable}\nimport sys\nfrom interlock.cli.main import main\nsys.exit(main())\n")
    program.chmod(0o755)
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": "/nowhere",
    }  # short enough for a socket
    said = subprocess.run(["./interlock", "status"], cwd=tmp_path, env=environ, capture_output=True, text=True).stderr
    assert "start one with `./interlock serve`" in said


def test_every_declaration_is_the_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for word, table in DECLARED.items():
        assert main([*word.split(), "--help"]) == 0, word
        shown = " ".join(capsys.readouterr().out.split())
        assert word.partition(" ")[0] in COMMANDS
        assert " ".join(table.get("about", table.get("help", "")).partition("{")[0].split())[1:] in shown, word


@pytest.mark.parametrize("key", ["exampels", "nargs"])
def test_a_misspelt_key_of_a_declaration_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=key):
        add_arguments(ArgumentParser(), {"about": "x", key: "y"})


def test_the_levels_of_trust_are_all_declared() -> None:
    assert DECLARED["adapter trust"]["level LEVEL"]["choices"] == list(TRUSTS)
