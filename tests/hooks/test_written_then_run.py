"""A file that a session wrote by whatever means counts for the later call that runs, imports or tests it."""

from __future__ import annotations

from cases import each
from interlock.analysis.assess import join_judgements, judge
from interlock.analysis.rules.load import load
from interlock.analysis.targets.written_files import inherited_judgement
from interlock.hooks.written_files import WrittenFiles
from interlock.model import Action, command, tool

RULES = load()
HERE = "/home/dev/app"
WIPE = 'import shutil; shutil.rmtree("/home/dev/docs")'


def level(writes: Action, run: str) -> int:
    """Of a command, in a session that made this call before; nothing can be read from the disk."""
    files, action = WrittenFiles(), command(run, HERE)
    files.remember("s", writes, RULES, None)
    own = judge(action, RULES)
    more = inherited_judgement(files.dangerous("s"), action, own, {})
    return int((join_judgements(own, more, RULES) if more is not None else own).assessment.level)


WRITES = [
    ("cat > {0} <<'EOF'\n{1}\nEOF", "a here-document"),
    ("cat <<'EOF' > {0}\n{1}\nEOF", "a here-document behind its target"),
    ("tee {0} > /dev/null <<'EOF'\n{1}\nEOF", "tee"),
    ("echo '{1}' > {0}", "echo"),
    ("printf '%s\\n' '{1}' >> {0}", "printf"),
    ("mkdir -p tools && echo '{1}' | tee {0}", "a pipe"),
]
RUNS = [
    ("conftest.py", "pytest -q"),
    ("tests/conftest.py", "python3 -m pytest tests"),
    ("sitecustomize.py", "python3 -c 'print(1)'"),
    ("sitecustomize.py", "PYTHONPATH=. python3 app.py"),
    ("test_users.py", "pytest"),
    ("helper.py", "python3 -c 'import helper'"),
    ("tools/wipe.py", "python3 tools/wipe.py"),
]


@each("path, run", RUNS)
def test_what_a_shell_call_wrote_counts_where_it_runs(path: str, run: str) -> None:
    for how, name in WRITES:
        assert level(command(how.format(path, WIPE), HERE), run) >= 3, name
    assert level(tool("Write", {"file_path": f"{HERE}/{path}", "content": WIPE}, HERE), run) >= 3


@each("path, run", [("conftest.py", "ls"), ("sitecustomize.py", "node app.js"), ("notes.txt", "pytest"), ("/tmp/x/conftest.py", "pytest")])  # fmt: skip
def test_it_counts_for_nothing_else(path: str, run: str) -> None:
    assert level(command(f"echo '{WIPE}' > {path}", HERE), run) <= 1


def test_what_is_only_shown_is_not_written() -> None:
    assert level(command(f"echo '{WIPE}' > /dev/null; grep rmtree conftest.py", HERE), "pytest") <= 1
