"""The effects predicted of generated programs are those that the journal records while the real interpreter runs them."""

from __future__ import annotations

import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from effort import EFFORT
from interlock.analysis.facts import Effect
from interlock.analysis.read import read
from interlock.journal import JournalError
from interlock.journal.entries import ActionJournal, StateRole
from interlock.model import command
from journals import Journal, built

PROGRAMS = 200  # in all
STEPS = 6
SPELLINGS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "programs.toml").read_text())
HERE = [language for language, one in SPELLINGS.items() if shutil.which(one["command"])]  # those that this machine has

Seen = set[tuple[str, str]]  # an effect's verb and the path of its target
Files = dict[str, tuple[str, int]]  # content and mode by path


class Step(NamedTuple):
    kind: str
    first: str
    second: str
    is_there: bool  # the second file of two, or the file that is written
    code: str


def fill(form: str, **values: str) -> str:
    return re.sub(r"\b(?:P|Q|V|F|BODY)\b", lambda found: values.get(found[0], found[0]), form)


def value(spelling: dict[str, Any], path: str, chance: random.Random) -> str:
    form, cut = chance.choice(spelling["value"]), chance.randrange(1, len(path))
    return re.sub("[AB]", lambda found: path[:cut] if found[0] == "A" else path[cut:], form)


def step(spelling: dict[str, Any], number: int, chance: random.Random) -> Step:
    """One step of a program, on files of its own, plain or wrapped in a variable, a function, a loop or a condition."""
    kind = chance.choice(sorted(spelling["steps"]))
    first, second, names = f"a{number}x", f"b{number}x", {"V": f"v{number}", "F": f"f{number}"}
    p, q = (value(spelling, path, chance) for path in (first, second))
    form, way = chance.choice(spelling["steps"][kind]), chance.choice(["BODY", *spelling["ways"].values()])
    if way == "BODY":
        code = fill(form, P=p, Q=q)
    else:
        code = fill(way, P=p, BODY=fill(form, P=fill(spelling["variable"], **names), Q=q), **names)
    return Step(kind, first, second, chance.random() < 0.5, code)


def programs(language: str, seed: int) -> list[list[Step]]:
    """Programs of a language, of which no two touch the same files or use the same names."""
    chance = random.Random(f"{language} {seed}")
    firsts = range(0, STEPS * -(-PROGRAMS // len(HERE)), STEPS)
    return [[step(SPELLINGS[language], first + at, chance) for at in range(STEPS)] for first in firsts]


def prepare(folder: Path, step: Step) -> None:
    """The files of a step: what it writes may be there, anything else is."""
    first, second = folder / step.first, folder / step.second
    if step.kind == "tree":
        (first / "sub").mkdir(parents=True)
        (first / "sub" / "leaf").write_text("old")
    elif step.is_there or step.kind not in ("write", "append"):
        first.write_text(f"old {step.first}")
    if step.is_there and step.kind in ("copy", "move"):
        second.write_text(f"old {step.second}")


# What each verb comes to in a folder that is looked at before and after.
CHANGES = {"delete": "gone", "move": "gone", "write": "changed", "overwrite": "changed", "append": "changed", "truncate": "changed",
           "chmod": "rights", "unreadable": "unreadable"}  # fmt: skip


def predicted(language: str, code: str, folder: Path, before: Files) -> Seen:
    """The changes of files that the analysis tells of a program, and the parts that it could not read."""
    found: Seen = set()
    for fact in read(command(f"{SPELLINGS[language]['command']} <<'END'\n{code}\nEND", str(folder))).facts:
        if isinstance(fact, Effect) and fact.verb in CHANGES and not fact.path.startswith("/dev/"):
            path = fact.path.removeprefix(f"{folder}/") or fact.target
            creates = CHANGES[fact.verb] == "changed" and path not in before
            verb = "write" if creates or fact.verb == "overwrite" else fact.verb
            inside = [one for one in before if "recursive" in fact.traits and one.startswith(f"{path}/")]
            found |= {(verb, one) for one in (path, *inside)}
    return found


MARKS = ("chmod", "mark")


def recorded(run: ActionJournal, folder: Path) -> Seen:
    """The effects of a run by its journal; how a file was written shows in its length."""
    found: Seen = set()
    for change in run.changes:
        states = [state for state in change.states if state.role is not StateRole.PARENT]
        mark = "chmod" if "chmod" in change.call else "mark"
        verbs = {"c": ["write"], "u": ["delete"], "m": [mark], "r": ["move", "write"]}.get(change.type, ["exchange"])
        if change.type == "w":
            left = run.after[states[0].path].size
            verbs = ["truncate" if left == 0 else "append" if left > states[0].size else "write"]
        found |= {(verb, state.path.removeprefix(f"{folder}/")) for verb, state in zip(verbs, states, strict=True)}
    # On the way to something else, an interpreter removes a file and writes it anew, or makes a folder writable.
    written = {path for verb, path in found if verb == "write"}
    changed = {path for verb, path in found if verb not in MARKS}
    return found - {("delete", path) for path in written} - {(mark, path) for mark in MARKS for path in changed}


def files(folder: Path) -> Files:
    return {
        str(path.relative_to(folder)): (path.read_text() if path.is_file() else "", stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
    }


def changed(before: Files, after: Files) -> Seen:
    """The effects of a run by the files before and after it."""
    gone = {("gone", path) for path in before.keys() - after.keys()}
    other = {("changed", path) for path in after if before.get(path, ("", 0))[0] != after[path][0]}
    return (
        gone | other | {("rights", path) for path in after.keys() & before.keys() if before[path][1] != after[path][1]}
    )


def effects(argv: list[str], folder: Path, supervisor: Path | str, before: Files) -> Seen:
    """Runs a program in a folder; what it did there, by the journal where there is one."""
    how: dict[str, Any] = {"cwd": folder, "env": {**os.environ, "TMPDIR": str(folder / "tmp")}}
    if not isinstance(supervisor, Path):
        subprocess.run(argv, check=True, timeout=60, capture_output=True, **how)
        return changed(before, files(folder))
    journal = Journal(folder.parent / "state", supervisor)
    done = journal.run(*argv, **how)
    assert done.returncode == 0, done.stderr.decode()
    return recorded(journal.read(), folder)


@pytest.fixture(scope="module")
def supervisor(tmp_path_factory: pytest.TempPathFactory) -> Path | str:
    """The journal's supervisor, or why there is none."""
    folder = tmp_path_factory.mktemp("supervisor")
    try:
        program = built(folder)
        tried = Journal(folder / "state", program).run("true")
    except (JournalError, OSError) as error:
        return str(error)
    return tried.stderr.decode() if tried.returncode else program


@pytest.mark.parametrize("seed", range(EFFORT))
@pytest.mark.parametrize("language", HERE)
def test_a_reader_predicts_what_the_interpreter_does(
    language: str, seed: int, tmp_path: Path, supervisor: Path | str
) -> None:
    start, made, folder = SPELLINGS[language]["start"], programs(language, seed), tmp_path / "files"
    (folder / "tmp").mkdir(parents=True)
    for one in (step for steps in made for step in steps):
        prepare(folder, one)
    before = files(folder)
    (tmp_path / "all").write_text("\n".join([start, *(step.code for steps in made for step in steps), ""]))
    argv = [sys.executable if language == "python" else SPELLINGS[language]["command"], str(tmp_path / "all")]
    seen = effects(argv, folder, supervisor, before)
    for steps in made:
        code = "\n".join([start, *(step.code for step in steps)])
        own = {path for step in steps for path in (step.first, step.second)}
        told = predicted(language, code, folder, before)
        if not isinstance(supervisor, Path):
            told = {(CHANGES[verb], path) for verb, path in told}
        mine = {one for one in seen if one[1].partition("/")[0] in own}
        assert told == mine, code
        seen -= mine
    assert {path.partition("/")[0] for _, path in seen} <= {"tmp"}  # what an interpreter keeps while it works
    if not isinstance(supervisor, Path):
        pytest.skip(f"the journal is missing, files were compared before and after: {supervisor}")
