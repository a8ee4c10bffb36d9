"""What a command runs is read, wherever it stands, and its content is part of what is approved: a change afterwards is another action."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from msgspec.structs import replace

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.canonical_json import digest
from interlock.model import Action, AgentRef, Kind

RULES = load()
HERE = "/home/dev/app"
SHELL = "rm -rf /home/dev/docs\n"
PYTHON = 'import shutil\nshutil.rmtree("/home/dev/docs")\n'
SQL = "DROP TABLE users;\n"
NODE = "require('fs').rmSync('/home/dev/docs', {recursive: true})\n"
RUBY = "require 'fileutils'\nFileUtils.rm_rf('/home/dev/docs')\n"
RECIPE = f"wipe:\n\t{SHELL}"
JSON = '{"scripts": {"wipe": "rm -rf /home/dev/docs"}}'

FORMS: list[tuple[str, dict[str, str]]] = [
    ("bash run.sh", {"run.sh": SHELL}),
    ("bash < run.sh", {"run.sh": SHELL}),
    ("cat run.sh | sh", {"run.sh": SHELL}),
    ("source env.sh", {"env.sh": SHELL}),
    ("bash run.sh", {"run.sh": "source lib/x.sh\n", "lib/x.sh": SHELL}),
    ("psql shop < drop.sql", {"drop.sql": SQL}),
    ("psql shop -f drop.sql", {"drop.sql": SQL}),
    ("psql shop -c '\\i drop.sql'", {"drop.sql": SQL}),
    ("psql shop -f a.sql", {"a.sql": "\\ir sub/drop.sql\n", "sub/drop.sql": SQL}),
    ("sqlite3 a.db '.read drop.sql'", {"drop.sql": SQL}),
    ("sqlite3 a.db < in.sql", {"in.sql": ".read drop.sql\n", "drop.sql": SQL}),
    ("mysql shop -e 'source drop.sql'", {"drop.sql": SQL}),
    ("python3 < x.py", {"x.py": PYTHON}),
    ("python3 -m tool", {"tool.py": PYTHON}),
    ("python3 -m pkg", {"pkg/__main__.py": PYTHON}),
    ("python3 -m pkg.tool", {"pkg/tool.py": PYTHON}),
    ("python3 pkg", {"pkg/__main__.py": PYTHON}),
    ("python3 tools/x.py", {"tools/x.py": "import helper\n", "tools/helper.py": PYTHON}),
    ("python3 x.py", {"x.py": "import os, pkg.helper as h\n", "pkg/__init__.py": "", "pkg/helper.py": PYTHON}),
    ("python3 x.py", {"x.py": "from pkg import (\n    helper,\n)\n", "pkg/helper.py": PYTHON}),
    ("python3 x.py", {"x.py": "import a\n", "a.py": "from b import go\ngo()\n", "b.py": f"import shutil\ndef go():\n    {PYTHON.splitlines()[1]}\n"}),
    ("python3 pkg/x.py", {"pkg/x.py": "from . import y\n", "pkg/y.py": PYTHON}),
    ("python3 x.py", {"x.py": "import json\n", "json.py": PYTHON}),
    ("python3 -c 'import helper'", {"helper.py": PYTHON}),
    ("node x.js", {"x.js": "const w = require('./lib/wipe')\n", "lib/wipe.js": NODE}),
    ("node x.mjs", {"x.mjs": "import './wipe.js'\n", "wipe.js": NODE}),
    ("node .", {"index.js": NODE}),
    ("ruby x.rb", {"x.rb": "require_relative 'wipe'\n", "wipe.rb": RUBY}),
    ("uv run x.py", {"x.py": PYTHON}),
    ("uv run --script x", {"x": PYTHON}),
    ("uv run -m pkg", {"pkg/__main__.py": PYTHON}),
    ("uv run python x.py", {"x.py": PYTHON}),
    ("make wipe", {"Makefile": RECIPE}),
    ("make wipe", {"Makefile": "-include a.mk\n", "a.mk": "include b.mk\n", "b.mk": RECIPE}),
    ("make -C sub wipe", {"sub/Makefile": "include rules.mk\n", "sub/rules.mk": RECIPE}),
    ("just wipe", {"justfile": f"wipe:\n    {SHELL}"}),
    ("npm run wipe", {"package.json": JSON}),
    ("npm --prefix sub run wipe", {"sub/package.json": JSON}),
    ("npm run all", {"package.json": '{"scripts": {"all": "bash x.sh"}}', "x.sh": SHELL}),
    ("bun run wipe", {"package.json": JSON}),
    ("deno task wipe", {"deno.json": '{\n// all of it\n"tasks": {"wipe": "rm -rf /home/dev/docs"}}'}),
    ("deno task all", {"deno.json": '{"tasks": {"all": {"dependencies": ["w"]}, "w": {"command": "rm -rf /home/dev/docs"}}}'}),
    ("composer wipe", {"composer.json": JSON}),
    ("composer run-script all", {"composer.json": '{"scripts": {"all": ["@php -v", "@wipe"], "wipe": ["rm -rf /home/dev/docs"]}}'}),
    ("composer install", {"composer.json": '{"scripts": {"post-install-cmd": ["rm -rf /home/dev/docs"]}}'}),
    ("tox -e wipe", {"tox.ini": f"[testenv:wipe]\ncommands =\n    - {SHELL}"}),
    ("tox", {"tox.ini": f"[tox]\nenvlist = a\n[testenv]\ncommands = {SHELL}"}),
    ("rake wipe", {"Rakefile": "task :wipe do\n  sh 'rm -rf /home/dev/docs'\nend\n"}),
    ("rake all", {"Rakefile": f"task all: [:first] do\nend\nnamespace :x do\n  task :first do\n    {RUBY.splitlines()[1]}\n  end\nend\n"}),
    ("git wipe", {".git/config": "[core]\n\tbare = false\n[alias]\n\twipe = !rm -rf /home/dev/docs\n"}),
    ("git -C sub undo", {".git/config": '[alias]\n\tundo = "!f() { rm -rf /home/dev/docs; }; f"\n'}),
    ("git nuke", {"~/.gitconfig": "[alias]\n  nuke = push --force origin main\n"}),
    ("./git status", {"git": f"#!/bin/sh\n{SHELL}"}),
    ("./ls", {"ls": f"#!/usr/bin/env python3\n{PYTHON}"}),
]  # fmt: skip


def seen(text: str, files: Mapping[str, str]) -> tuple[int, set[str], str]:
    """The level of a command, the files that it depends on, and the digest that an approval is for."""
    there = {posixpath.join(HERE, path.replace("~", "/home/dev")): content for path, content in files.items()}
    action = Action(Kind.COMMAND, {"command": text}, cwd=HERE)
    found = judge(action, RULES, there.get)
    paths = {witness.path.removeprefix(f"{HERE}/") for witness in found.witnesses}
    return (
        int(found.assessment.level),
        paths,
        digest(replace(action, witnesses=found.witnesses), AgentRef("a"), bytes(32)),
    )


@each("text, files", FORMS)
def test_what_a_command_runs_is_read_and_bound_to_its_approval(text: str, files: dict[str, str]) -> None:
    level, paths, approved = seen(text, files)
    assert level >= 2 and paths == files.keys()
    for path in files:
        assert seen(text, {**files, path: f"{files[path]}\n"})[2] != approved


@each(
    "text, files",
    [
        ("python3 x.py", {"x.py": "import helper\nhelper.show()\n", "helper.py": f"import shutil\ndef show(): pass\ndef wipe():\n    {PYTHON.splitlines()[1]}\n"}),
        ("python3 x.py", {"x.py": "import helper\n", "helper.py": f"import shutil\nif __name__ == '__main__':\n    {PYTHON.splitlines()[1]}\n"}),
        ("python3 x.py", {"x.py": "import sys\n", "sys.py": PYTHON}),
        ("node x.js", {"x.js": "const { show } = require('./lib')\n", "lib.js": "const fs = require('fs')\nexports.wipe = () => fs.rmSync('/home/dev/docs', {recursive: true})\n"}),
        ("make all", {"Makefile": "include r.mk\nall:\n\techo\n", "r.mk": RECIPE}),
        ("deno task test", {"deno.json": '{"tasks": {"wipe": "rm -rf /home/dev/docs", "test": "deno test"}}'}),
        ("composer test", {"composer.json": '{"scripts": {"wipe": "rm -rf /home/dev/docs", "test": "phpunit"}}'}),
        ("tox -e test", {"tox.ini": f"[testenv:wipe]\ncommands = {SHELL}\n[testenv:test]\ncommands = pytest {{posargs}}\n"}),
        ("rake test", {"Rakefile": f"task :wipe do\n  {RUBY.splitlines()[1]}\nend\ntask :test do\n  sh 'rspec'\nend\n"}),
        ("git status", {".git/config": "[alias]\n\tstatus = !rm -rf /home/dev/docs\n"}),
        ("git st", {".git/config": "[alias]\n\tst = status -sb\n"}),
    ],
)  # fmt: skip
def test_what_stands_beside_it_and_does_not_run_is_no_harm(text: str, files: dict[str, str]) -> None:
    assert seen(text, files)[0] <= 1
