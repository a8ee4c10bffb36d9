"""What a program is or does is said in `analysis/programs`, and in no Python file beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from interlock.analysis.facts import effect_verbs
from interlock.analysis.programs.load import shipped_programs
from interlock.analysis.read import LANGUAGES
from interlock.analysis.shell.builtins import HANDLERS
from repository import ROOT

SOURCE = ROOT / "src" / "interlock"
# Names of programs that are words of English, keys or methods as well, so that a text that equals one says nothing.
ORDINARY = frozenset(
    ". : [ [[ ace act alter arch as at atlas banner base64 basename batch black bridge bundle cal chamber cheat column compress console convert copilot "
    "coverage craft cursor cut date delta dialog dict diff dig dir dirs doctest dog dot drill drone drop dust env es exec expand expect explain expo "
    "expr fabric factor false fetch file find finger fly fmt fold format glow go goose groups hatch hd head help highlight history hive host http "
    "https hub id idea identify info install io ip join js just k kind less links local locate look mail make man migrate more most neon net "
    "nice nl node op open orb parallel pass passwd paste ping pr printf profile prove pt pv r readlink realpath red rename retry rev revive "
    "robot rollup root salt say scheme screen script scrub security seq service sift size sl slack snow sort spark split spring square start "
    "stat stata step strings sum swift tap tea teller time timeout toolbox touch trace translate tree true type typos units unlink v vale venv view "
    "watch west where which wipe wise yes yo zip code task tidy linear todo claude codex gemini ollama opencode aider cursor-agent hermes".split()
)
SQL_DIALECTS = frozenset("clickhouse duckdb mysql presto sqlite trino tsql".split())
BUILTINS = frozenset({"echo", "pwd"}) | HANDLERS.keys()  # commands of shells, which are words of a language
VOCABULARY = (
    ORDINARY
    | BUILTINS
    | effect_verbs()
    | frozenset(LANGUAGES)
    | SQL_DIALECTS
    | frozenset("bash dash fish sh zsh".split())
)
NAMES = frozenset(shipped_programs()) - VOCABULARY


def named_in(file: Path) -> set[str]:
    """The programs that a file compares with, or lists: literals in comparisons, collections, mappings and split texts."""
    source = file.read_text()
    if NAMES.isdisjoint(WORD.findall(source)):
        return set()
    return {word for text in literals(ast.parse(source)) for word in text if word in NAMES}


WORD = re.compile(r"[^\s\"'(),\[\]{}]+")  # a quick look, for parsing takes most of the time


def literals(tree: ast.AST) -> Iterator[list[str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Set | ast.List | ast.Tuple):
            parts = list(node.elts)
        elif isinstance(node, ast.Dict):
            parts = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Attribute) and node.attr == "split" and isinstance(node.value, ast.Constant):
            yield str(node.value.value).split()
            continue
        else:
            continue
        yield [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


@cache
def found() -> dict[str, set[str]]:
    files = (file for file in sorted(SOURCE.rglob("*.py")) if "programs" not in file.relative_to(SOURCE).parts[1:2])
    named = {str(file.relative_to(SOURCE)): named_in(file) for file in files}
    return {file: names for file, names in named.items() if names}


# Names that may stay in a file, each with the reason.
EXCEPTIONS = {
    "adapters/__init__.py": ("GET", "a method of HTTP"),
    "agents/claude_code.py": ("cp mkdir mv rm rmdir sed", "commands that a mode of the agent accepts by itself"),
    "agents/kiro.py": ("aws", "a tool of the agent"),
    "analysis/cmd/__init__.py": ("forfiles rmdir", "commands of cmd itself, and programs on files that its reader treats like them"),
    "analysis/code/javascript.py": ("prisma", "a module that is imported"),
    "analysis/code/program/paths.py": ("dirname", "a function of the language"),
    "analysis/facts.py": ("rm", "a subcommand of container engines"),
    "analysis/places.py": ("apt fd", "names of folders"),
    "analysis/powershell/__init__.py": ("curl rmdir wget", "aliases of cmdlets, beside the programs of the same name"),
    "analysis/powershell/commands.py": ("reg write-output", "the program that does the same as a cmdlet, and a cmdlet"),
    "analysis/shell/file_programs.py": ("sed", "the reader of its scripts"),
    "analysis/shell/interpreters.py": ("rm", "the program that does the same as a library"),
    "cli/judge/scan/__init__.py": ("busybox", "what a script's first line names before its program"),
    "console/__init__.py": ("GET", "a method of HTTP"),
    "hooks/evaluation.py": ("tee", "a quick look at a text"),
    "impact/git/losses.py": ("rm", "a subcommand of Git"),
    "impact/inspection.py": ("git", "a verb of effects"),
    "impact/inspector.py": ("git", "a verb of effects"),
    "install/system/__init__.py": ("systemctl", "a program that the installation runs"),
    "install/checks.py": ("docker sudo", "groups of users"),
    "install/user_service.py": ("launchctl systemctl", "programs that the installation runs"),
    "mcp/adapters/http_client.py": ("GET gzip", "a method and an encoding of HTTP"),
    "mcp/adapters/requests.py": ("GET", "a method of HTTP"),
    "policy/effect_key/__init__.py": ("rm", "a subcommand of Git"),
    "server/app.py": ("GET", "a method of HTTP"),
    "server/mcp_http.py": ("GET", "a method of HTTP"),
    "snapshots/scope.py": ("rm", "a subcommand of Git"),
    "snapshots/take.py": ("git", "a verb of effects"),
}  # fmt: skip
# Files about names: of operations, of their parameters, of what sentences speak of.
ELSEWHERE = frozenset({
    "analysis/lexicon/__init__.py",
    "analysis/operations/effects.py",
    "analysis/operations/files.py",
    "analysis/operations/payloads.py",
    "analysis/operations/tools.py",
    "analysis/prose/__init__.py",
})  # fmt: skip


def test_no_program_is_named_in_python_outside_the_descriptions() -> None:
    told = {file: sorted(names) for file, names in found().items() if file not in ELSEWHERE}
    assert told == {file: sorted(names.split()) for file, (names, _) in EXCEPTIONS.items()}


def test_a_file_that_names_no_program_is_on_no_list() -> None:
    assert found().keys() >= ELSEWHERE
