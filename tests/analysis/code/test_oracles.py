"""What a reader predicts of a generated program is what the program does to the files around it, under the real interpreter."""

from __future__ import annotations

import random
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from interlock.analysis.read import _reader
from recording_report import Recorder

PROGRAMS = 200  # in all
STEPS = 6


class Spelling(NamedTuple):
    """How one language says what the generator wants."""

    interpreter: str
    suffix: str
    start: str
    steps: dict[str, str]  # P and Q stand for values
    join: str
    set: str  # V gets P
    variable: str
    function: str  # F does BODY to V
    call: str
    loop: str  # BODY for V in P and Q
    condition: str  # BODY, always


SPELLINGS = {
    "python": Spelling(
        sys.executable, ".py", "import os, shutil, sys",
        {
            "delete": "os.remove(P)", "tree": "shutil.rmtree(P)", "write": 'open(P, "w").write("x")',
            "append": 'open(P, "a").write("x")', "empty": 'open(P, "w").close()', "move": "os.rename(P, Q)",
            "copy": "shutil.copy(P, Q)", "rights": "os.chmod(P, 0o600)",
        },
        "({} + {})", "V = P", "V", "def F(V):\n    BODY", "F(P)", "for V in [P, Q]:\n    BODY", "if len(sys.argv) < 99:\n    BODY",
    ),
    "javascript": Spelling(
        "node", ".js", 'const fs = require("fs");',
        {
            "delete": "fs.unlinkSync(P);", "tree": "fs.rmSync(P, {recursive: true});", "write": 'fs.writeFileSync(P, "x");',
            "append": 'fs.appendFileSync(P, "x");', "empty": 'fs.writeFileSync(P, "");', "move": "fs.renameSync(P, Q);",
            "copy": "fs.copyFileSync(P, Q);", "rights": "fs.chmodSync(P, 0o600);",
        },
        "({} + {})", "let V = P;", "V", "function F(V) { BODY }", "F(P);", "for (const V of [P, Q]) { BODY }",
        "if (process.argv.length < 99) { BODY }",
    ),
    "perl": Spelling(
        "perl", ".pl", "use File::Copy; use File::Path;",
        {
            "delete": "unlink(P);", "tree": "rmtree(P);", "write": 'open(my $h, ">", P); print $h "x"; close($h);',
            "append": 'open(my $h, ">>", P); print $h "x"; close($h);', "empty": 'open(my $h, ">", P); close($h);',
            "move": "rename(P, Q);", "copy": "copy(P, Q);", "rights": "chmod(0600, P);",
        },
        "({} . {})", "my $V = P;", "$V", "sub F { my $V = shift; BODY }", "F(P);", "foreach my $V (P, Q) { BODY }",
        "if (@ARGV < 99) { BODY }",
    ),
    "tcl": Spelling(
        "tclsh", ".tcl", "",
        {
            "delete": "file delete P", "tree": "file delete -force P", "write": "set h [open P w]; puts $h x; close $h",
            "append": "set h [open P a]; puts $h x; close $h", "empty": "close [open P w]", "move": "file rename P Q",
            "copy": "file copy P Q", "rights": "file attributes P -permissions 0600",
        },
        "{}{}", "set V P", "$V", "", "", "", "if {$argc < 99} { BODY }",
    ),
    "ruby": Spelling(
        "ruby", ".rb", 'require "fileutils"',
        {
            "delete": "File.delete(P)", "tree": "FileUtils.rm_rf(P)", "write": 'File.write(P, "x")',
            "append": 'File.open(P, "a") { |h| h.write("x") }', "empty": 'File.write(P, "")', "move": "File.rename(P, Q)",
            "copy": "FileUtils.cp(P, Q)", "rights": "File.chmod(0600, P)",
        },
        "({} + {})", "V = P", "V", "def F(V)\n  BODY\nend", "F(P)", "[P, Q].each do |V|\n  BODY\nend", "if ARGV.length < 99\n  BODY\nend",
    ),
    "php": Spelling(
        "php", ".php", "<?php",
        {
            "delete": "unlink(P);", "write": 'file_put_contents(P, "x");', "append": 'file_put_contents(P, "x", FILE_APPEND);',
            "empty": 'file_put_contents(P, "");', "move": "rename(P, Q);", "copy": "copy(P, Q);", "rights": "chmod(P, 0600);",
        },
        "({} . {})", "$V = P;", "$V", "function F($V) { BODY }", "F(P);", "foreach ([P, Q] as $V) { BODY }",
        "if ($argc < 99) { BODY }",
    ),
    "lua": Spelling(
        "lua", ".lua", "",
        {
            "delete": "os.remove(P)", "write": 'do local h = io.open(P, "w"); h:write("x"); h:close() end',
            "append": 'do local h = io.open(P, "a"); h:write("x"); h:close() end', "move": "os.rename(P, Q)",
        },
        "({} .. {})", "local V = P", "V", "function F(V) BODY end", "F(P)", "for _, V in ipairs({P, Q}) do BODY end",
        "if #arg < 99 then BODY end",
    ),
}  # fmt: skip


HERE = [name for name, one in SPELLINGS.items() if shutil.which(one.interpreter)]  # those that this machine has


class Step(NamedTuple):
    kind: str
    targets: list[str]
    code: str


def value(spelling: Spelling, path: str, chance: random.Random) -> str:
    cut = chance.randrange(1, len(path))
    pieces = (f'"{path[:cut]}"', f'"{path[cut:]}"')
    if spelling.suffix == ".tcl":
        return f'"{path}"'
    return spelling.join.format(*pieces) if chance.random() < 0.5 else f'"{path}"'


def fill(form: str, **values: str) -> str:
    return re.sub(r"\b(?:P|Q|V|F|BODY)\b", lambda found: values[found[0]], form)


def step(spelling: Spelling, number: int, chance: random.Random) -> Step:
    """One step of a program, on files of its own, wrapped in a variable, a function, a loop or a condition."""
    kind = chance.choice(sorted(spelling.steps))
    first, second, name, title = f"a{number}x", f"b{number}x", f"v{number}", f"f{number}"
    p, q = value(spelling, first, chance), value(spelling, second, chance)
    body = spelling.steps[kind]
    inner = fill(body, P=fill(spelling.variable, V=name), Q=q)
    targets = [first, second] if re.search(r"\bQ\b", body) else [first]
    way = chance.choice(["plain", "variable", "function", "loop", "condition"])
    if way == "variable":
        return Step(kind, targets, fill(spelling.set, V=name, P=p) + "\n" + inner)
    if way == "function" and spelling.function:
        made = fill(spelling.function, V=name, F=title, BODY=inner)
        return Step(kind, targets, made + "\n" + fill(spelling.call, F=title, P=p))
    if way == "loop" and spelling.loop and len(targets) == 1:
        return Step(kind, [first, second], fill(spelling.loop, V=name, P=p, Q=q, BODY=inner))
    code = fill(body, P=p, Q=q)
    return Step(kind, targets, fill(spelling.condition, BODY=code) if way == "condition" else code)


def programs(language: str) -> list[list[Step]]:
    """Programs of a language, of which no two touch the same files or use the same names."""
    chance = random.Random(f"{language} 7")
    firsts = range(0, STEPS * -(-PROGRAMS // len(HERE)), STEPS)
    return [[step(SPELLINGS[language], first + at, chance) for at in range(STEPS)] for first in firsts]


def prepare(folder: Path, steps: list[Step]) -> None:
    for one in steps:
        paths = one.targets if len(one.targets) == 1 or one.kind not in ("move", "copy") else one.targets[:1]
        for path in paths:
            if one.kind == "tree":
                (folder / path).mkdir()
                (folder / path / "leaf").write_text("old")
            else:
                (folder / path).write_text("old")
                (folder / path).chmod(0o644)


Files = dict[str, tuple[str, int]]


def files(folder: Path) -> Files:
    return {
        str(path.relative_to(folder)): (path.read_text(), stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
        if path.is_file()
    }


def happened(before: Files, after: Files) -> set[tuple[str, str]]:
    gone = {("gone", path) for path in before.keys() - after.keys()}
    changed = {("changed", path) for path in after if before.get(path, ("", 0))[0] != after[path][0]}
    return gone | changed | {("rights", path) for path in after if path in before and before[path][1] != after[path][1]}


MEANS = {"delete": "gone", "move": "gone", "write": "changed", "overwrite": "changed", "append": "changed", "truncate": "changed",
         "chmod": "rights"}  # fmt: skip


def predicted(language: str, code: str, before: Files) -> set[tuple[str, str]]:
    out = Recorder()
    _reader(language)(code, out)
    found = set()
    for verb, target, *traits in (fact for fact in out.told if len(fact) > 1):
        if verb in MEANS and "recursive" in traits:
            found |= {(MEANS[verb], path) for path in before if path.startswith(f"{target}/")}
        elif verb in MEANS:
            found.add((MEANS[verb], target))
    return found


@pytest.mark.parametrize("language", HERE)
def test_a_reader_predicts_what_the_interpreter_does(language: str, tmp_path: Path) -> None:
    spelling, made, folder = SPELLINGS[language], programs(language), tmp_path / "files"
    folder.mkdir()
    for steps in made:
        prepare(folder, steps)
    before = files(folder)
    script = tmp_path / f"all{spelling.suffix}"
    script.write_text("\n".join([spelling.start, *(step.code for steps in made for step in steps)]) + "\n")
    subprocess.run([spelling.interpreter, str(script)], cwd=folder, check=True, timeout=60, capture_output=True)
    seen = happened(before, files(folder))
    for steps in made:
        text = "\n".join([spelling.start, *(step.code for step in steps)])
        own = {target for step in steps for target in step.targets}
        assert predicted(language, text, before) == {one for one in seen if one[1].partition("/")[0] in own}, text
