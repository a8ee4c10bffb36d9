"""A wrapped call is its original in all that a shell can tell, is read back only from the exact form, and can be undone."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.journal import JournalError
from interlock.journal.undo import JournalUndo, wrapping_problem
from interlock.journal.wrapping import (
    SHELLS,
    Wrapper,
    call_word,
    front_of,
    leave_out,
    prepare_wrapping,
    take_mark,
)
from journals import Journal, tree

WRAPPER = Wrapper("/home/u/state dir/bin/interlock-journaled")


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_text_is_read_back_as_it_was(text: str) -> None:
    assert WRAPPER.original(WRAPPER.wrap(text, "claude-code", "toolu_1")) == text


def test_the_inner_text_of_a_forged_call_is_known() -> None:
    wrapped = WRAPPER.wrap("rm a", "claude-code", "toolu_1")
    assert WRAPPER.original(wrapped.replace("toolu_1", "toolu_2")) == "rm a"
    assert WRAPPER.original(wrapped.replace("rm a", "rm b")) == "rm b"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + " ",
        lambda text: text + "; rm b",
        lambda text: text.replace("'rm a'", '"rm a"'),
        lambda text: text.replace("'rm a'", "'rm a' x"),
        lambda text: text.replace(". ", "source ", 1),
        lambda text: text.replace("/home/u", "/home/v"),
        lambda text: " " + text,
    ],
)
def test_any_other_form_is_an_ordinary_command(change) -> None:
    assert not WRAPPER.original(change(WRAPPER.wrap("rm a", "claude-code", "toolu_1")))


def test_a_call_id_that_is_no_plain_word_is_replaced() -> None:
    assert call_word("toolu_01.a:b-c") == "toolu_01.a:b-c"
    for id in ("'; rm -rf ~ '", "../x", ".", "a/b", "x" * 100, ""):
        assert re.fullmatch("[0-9a-f]{32}", call_word(id))


class WrappedShell:
    """A shell that runs texts wrapped and plain, in one folder."""

    def __init__(self, shell: str, journal: Journal, work: Path) -> None:
        front = journal.store.path.parent / "bin" / "interlock-journaled"
        values = {
            "@PROGRAM@": str(journal.supervisor),
            "@STORE@": str(journal.store.path),
            "@FOLDER@": str(front.parent),
            "@MARKS@": str(front.parent / "calls"),
        }
        (front.parent / "calls").mkdir(parents=True, exist_ok=True)
        for source in SHELLS.iterdir():
            text = source.read_text()
            for name, value in values.items():
                text = text.replace(name, value)
            (front.parent / source.name).write_text(text)
        self.shell, self.journal, self.work, self.wrapper = shell, journal, work, Wrapper(str(front))

    def run(self, text: str, before: str = "", wrapped: bool = True, stdin: str = "") -> tuple[int, str, str]:
        """Status, output and error of an agent's line: its set-up, the call by `eval`, and the report of the final folder."""
        call = self.wrapper.wrap(text, "claude-code", "toolu_1") if wrapped else text
        quoted = call.replace("'", "'\"'\"'")
        line = f"{before}\neval '{quoted}'\necho status $? folder $PWD"
        done = subprocess.run(
            [self.shell, "-c", line], cwd=self.work, input=stdin, capture_output=True, text=True, timeout=60
        )
        self.journal.settle()
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(params=["bash", "zsh"])
def shell(request: pytest.FixtureRequest, journal: Journal, work: Path) -> WrappedShell:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is missing")
    return WrappedShell(request.param, journal, work)


STATE = """
shopt -s expand_aliases extglob nullglob 2>/dev/null; setopt null_glob extended_glob 2>/dev/null
set -o noclobber
greet() { echo "hello $1 $plain ${list[*]}"; }
plain="two  words
and a line"; list=(1 '2 3'); export SHOWN=yes
alias say='echo said'
"""
TEXTS = {
    "functions": "greet you; echo ${#list[@]} $SHOWN $#",
    "aliases": "say this",
    "options": "echo none*; echo x > kept; echo y > kept; set -o | grep -c 'noclobber *on'",
    "folder": "cd sub; pwd",
    "status": "(exit 7)",
    "exit": "cd sub; exit 3",
    "exec": "exec false",
    "stdin": "read line; echo got $line; cat",
    "streams": "echo out; echo err >&2; ls > listed; cat listed | wc -l",
    "heredoc": "cat <<EOF\n$plain 'quoted' \\$HOME\nEOF",
    "quotes": """printf '%s|' "it's" 'a "b"' $'c\\td'""",
    "syntax": "echo 'unfinished",
    "errexit": "set -e; false; echo never",
    "background": "sleep 0.05 & wait; echo waited",
    "removed": "rm -r sub && ls",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_wrapped_call_is_as_the_plain_one(text: str, shell: WrappedShell, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", shell.work, copy], check=True)
    wrapped = shell.run(text, STATE, stdin="first\nsecond\n")
    shell.work.rename(tmp_path / "wrapped")
    copy.rename(shell.work)
    plain = shell.run(text, STATE, wrapped=False, stdin="first\nsecond\n")
    assert wrapped[:2] == plain[:2]
    assert bool(wrapped[2]) == bool(plain[2])
    assert tree(tmp_path / "wrapped", times=False) == tree(shell.work, times=False)


def test_the_wrapped_call_has_the_terminal_of_the_plain_one(shell: WrappedShell) -> None:
    said = []
    for wrapped in (True, False):
        text = "test -t 0 && test -t 1 && test -t 2 && : > /dev/tty"
        line = shell.wrapper.wrap(text, "claude-code", "c") if wrapped else text
        done = pty.spawn([shell.shell, "-c", line], lambda ours: os.read(ours, 4096), lambda _: b"")
        said.append(os.waitstatus_to_exitcode(done))
    assert said == [0, 0]


def test_a_signal_ends_the_wrapped_call_as_the_plain_one(shell: WrappedShell) -> None:
    said = []
    for wrapped in (True, False):
        text = "echo ready; sleep 30; echo never"
        line = shell.wrapper.wrap(text, "claude-code", "c") if wrapped else text
        with subprocess.Popen(
            [shell.shell, "-c", line], stdout=subprocess.PIPE, cwd=shell.work, start_new_session=True
        ) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            os.killpg(process.pid, signal.SIGTERM)
            said.append((process.stdout.read(), process.wait(30)))
        shell.journal.settle()
    assert said == [(b"", -signal.SIGTERM)] * 2


def test_nothing_of_the_wrapping_is_left_in_the_agents_shell(shell: WrappedShell) -> None:
    _, out, _ = shell.run("true", before="", wrapped=True)
    assert out == f"status 0 folder {shell.work}\n"
    line = f"{shell.wrapper.wrap('true', 'claude-code', 'c')}; set | grep -v EXECUTION | grep -c ^_interlock; ls /proc/self/fd | wc -l"
    plain = line.replace(shell.wrapper.wrap("true", "claude-code", "c"), "true")
    outputs = [
        subprocess.run([shell.shell, "-c", one], capture_output=True, text=True, cwd=shell.work).stdout
        for one in (line, plain)
    ]
    assert outputs[0] == outputs[1]


def test_what_a_wrapped_call_destroys_comes_back_and_the_list_shows_the_original(shell: WrappedShell) -> None:
    before = tree(shell.work)
    text = "cd sub && rm -rf $(ls -A) ../a.txt; : > ../big.bin"
    assert shell.run(text)[0] == 0
    (row,) = JournalUndo(shell.journal.config).rows()
    assert (row["command"], row["agent"], row["call"]) == (text, "claude-code", "toolu_1")
    assert shell.journal.undo().get("undone")
    assert tree(shell.work) == before


def test_folders_that_are_made_again_are_left_out(shell: WrappedShell) -> None:
    again = shell.work / "two words"
    again.mkdir()
    (again / "module.js").write_text("made again\n")
    before = tree(shell.work / "sub")
    leave_out(shell.wrapper.front, "toolu_1", [str(again), "no\nfolder"])
    assert shell.run("rm -r sub 'two words'", "set -eu")[0] == 0
    assert take_mark(shell.wrapper.front, "toolu_1")
    assert shell.journal.undo().get("undone")
    assert tree(shell.work / "sub") == before and not (again / "module.js").exists()
    assert os.listdir(Path(shell.wrapper.front).parent / "calls") == []


def test_a_call_that_ran_leaves_one_mark(shell: WrappedShell) -> None:
    assert not take_mark(shell.wrapper.front, "toolu_1")
    shell.run("true", "set -eu -o noclobber")
    assert take_mark(shell.wrapper.front, "toolu_1") and not take_mark(shell.wrapper.front, "toolu_1")


def test_in_another_shell_nothing_is_run(journal: Journal, work: Path) -> None:
    dash = shutil.which("dash")
    if dash is None:
        pytest.skip("dash is missing")
    code, _, err = WrappedShell(dash, journal, work).run("rm a.txt")
    assert code == 125 and "the command was not run" in err and (work / "a.txt").exists()


def test_where_the_store_cannot_be_used_nothing_is_run(shell: WrappedShell) -> None:
    shell.journal.store.path.chmod(0o755)
    code, out, err = shell.run("rm a.txt")
    assert code == 125 and not out and "the command was not run" in err and (shell.work / "a.txt").exists()


def test_everything_for_wrapped_calls_is_made_and_tried_once(journal: Journal) -> None:
    shutil.copytree(journal.supervisor.parent, journal.config.folder / "bin", dirs_exist_ok=True)
    front = prepare_wrapping(journal.config)
    assert (
        front == front_of(journal.config) and str(journal.store.path) in (front.parent / "journaled.bash").read_text()
    )
    assert wrapping_problem(journal.config) == ""
    assert JournalUndo(journal.config).rows() == []


def test_a_user_whose_shell_is_another_has_no_wrapped_calls(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    entry = pwd.getpwuid(0)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: pwd.struct_passwd((*entry[:6], "/usr/bin/fish")))
    with pytest.raises(JournalError, match="fish"):
        prepare_wrapping(journal.config)
