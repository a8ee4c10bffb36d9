"""Extracts the shell text of recipes from Makefiles and justfiles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from interlock.analysis.facts import hole
from interlock.cli.judge.scan.shell_text import Snippet, join_snippets, snippet

_ASSIGN = re.compile(r"^\s*(?:export\s+|override\s+|private\s+)*([A-Za-z_][\w.-]*)\s*(::?:?=|\?=|\+=|!=|=)\s*(.*)$")
_REFERENCE = re.compile(r"\$\(([\w.-]+)\)|\$\{([\w.-]+)\}|\$\$|\$([@<^+*?%|])|\$\(shell\s|\$\([a-z-]+\s")
_RULE = re.compile(r"^[^\s#=:][^#=:]*::?(?!=)([^=#]*)$")
_TARGET_SHELL = re.compile(r"\$\(shell\s+")
_CONDITIONS = frozenset({"ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"})
_MARKS = "@-+ \t"
_ROUNDS = 4
_BUILT_IN = MappingProxyType(
    {
        "MAKE": "make",
        "RM": "rm -f",
        "SHELL": "/bin/sh",
        "CURDIR": ".",
        "CC": "cc",
        "CXX": "c++",
        "CPP": "cc -E",
        "AR": "ar",
        "AS": "as",
        "LD": "ld",
    }
)


def makefile(text: str) -> list[Snippet]:
    """Each recipe line, continuations included, with the file's own variables filled in; and what `$(shell …)` runs."""
    variables = {**_BUILT_IN, **_variables(text)}
    found: list[Snippet] = []
    recipe: list[Snippet] = []
    in_rule = in_define = False
    one_shell = re.search(r"^\.ONESHELL:", text, re.MULTILINE) is not None
    for number, line in _logical_lines(text):
        if line.startswith("\t") and in_rule and not in_define:
            recipe.append(snippet(expand_variables(line.lstrip(_MARKS), variables), number))
            continue
        found += _recipe(recipe, one_shell)
        recipe = []
        word = line.split(None, 1)[0] if line.strip() else ""
        in_define = word == "define" or (in_define and word != "endef")
        if not word or word.startswith("#") or word in _CONDITIONS or in_define:
            continue
        head, _, inline = line.partition(" #")[0].partition(";")
        in_rule = bool(_RULE.match(head.rstrip())) and not _ASSIGN.match(line)
        if in_rule and inline.strip():
            recipe.append(snippet(expand_variables(inline.strip(), variables), number))
        found += _run_at_once(line, number, variables)
    return found + _recipe(recipe, one_shell)


def _recipe(lines: list[Snippet], one_shell: bool) -> list[Snippet]:
    return [join_snippets(lines)] if one_shell and lines else lines


def _run_at_once(line: str, number: int, variables: Mapping[str, str]) -> Iterator[Snippet]:
    """What make itself runs while it reads the file."""
    assigned = _ASSIGN.match(line)
    if assigned and assigned[2] == "!=":
        yield snippet(expand_variables(assigned[3], variables), number)
    elif _TARGET_SHELL.search(line):
        yield snippet(": " + expand_variables(line[line.index("$(shell") :], variables), number)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations, which stay in the text: the shell reads them too."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        first = at
        while lines[at].endswith("\\") and at + 1 < len(lines):
            at += 1
        at += 1
        yield first + 1, "\n".join(lines[first:at])


def _variables(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for _, line in _logical_lines(text):
        assigned = None if line.startswith(("\t", "#")) else _ASSIGN.match(line)
        if assigned and assigned[2] != "!=":
            value = assigned[3].split(" #", 1)[0].replace("\\\n", " ").strip()
            found[assigned[1]] = (
                f"{found[assigned[1]]} {value}" if assigned[2] == "+=" and assigned[1] in found else value
            )
    return found


def expand_variables(text: str, variables: Mapping[str, str]) -> str:
    """Make's own references filled in, and what is left for the shell as the shell would see it."""
    for _ in range(_ROUNDS):
        once = _REFERENCE.sub(lambda found: _fill_reference(found, variables), text)
        if once == text or len(once) > 20_000:
            break
        text = once
    return _REFERENCE.sub(lambda found: _last(found, variables), text).replace("\0", "$")


def _fill_reference(found: re.Match[str], variables: Mapping[str, str]) -> str:
    name = found[1] or found[2]
    return variables[name] if name and name in variables else "\0" if found[0] == "$$" else found[0]


def _last(found: re.Match[str], variables: Mapping[str, str]) -> str:
    name = found[1] or found[2]
    if name:
        return hole(name)
    if found[3]:
        return "target"
    if found[0].startswith("$(shell"):
        return "$("
    return "$(: "  # a function of make; what it gives is not known, and it does nothing


_SET = re.compile(r"^(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*(?:\"([^\"]*)\"|'([^']*)')\s*$")
_HEADER = re.compile(r"^@?([A-Za-z_][\w-]*)(?:\s[^:]*)?:(?!=)")
_BRACES = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


def justfile(text: str) -> list[Snippet]:
    """Each recipe line, which has its own shell; a recipe that starts with #! is one script."""
    variables = {name: double or single for line in text.split("\n") for name, double, single in _SET.findall(line)}
    found: list[Snippet] = []
    recipe: list[Snippet] = []
    named = False
    for number, line in [*_logical_lines(text), (0, "end")]:
        if line[:1] in (" ", "\t") and named:
            if line.strip():
                recipe.append(snippet(_expand_just(line.strip(), variables), number))
            continue
        if line.strip() and not line.startswith("#"):
            found += _just_recipe(recipe)
            recipe, named = [], bool(_HEADER.match(line))
    return found


def _just_recipe(lines: list[Snippet]) -> list[Snippet]:
    if lines and lines[0].text.startswith("#!"):
        return [join_snippets(lines)] if re.search(r"\b(ba|z|k|da)?sh\b", lines[0].text) else []
    return [Snippet(line.text.lstrip("@-"), line.lines) for line in lines]


def _expand_just(text: str, variables: Mapping[str, str]) -> str:
    return _BRACES.sub(lambda found: variables.get(found[1], hole(re.sub(r"\W+", "_", found[1]))), text)
