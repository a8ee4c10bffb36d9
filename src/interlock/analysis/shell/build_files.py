"""Build files and script lists: the commands behind `make target`, `npm run x`, `just x`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from interlock.analysis.facts import hole
from interlock.analysis.places import resolve
from interlock.analysis.programs import Program
from interlock.analysis.programs.options import options, parse
from interlock.analysis.shell import UNKNOWN, Job, Reader, Stream

MAX_TARGETS = 20
_RULE = re.compile(r"^([A-Za-z0-9_./%$(){}\- ]+?)\s*:(?![=])\s*([^=;#]*)(?:;(.*))?$")
_ASSIGN = re.compile(r"^(?:export\s+|override\s+)?([A-Za-z_]\w*)\s*(?::{0,3}=|\?=|\+=)\s*(.*)$")
_REFERENCE = re.compile(r"\$[({]([A-Za-z_]\w*)[)}]")
_SHELL_CALL = re.compile(r"\$\(shell ([^()\n]+)\)|^\w+\s*!=\s*(.+)$", re.MULTILINE)
_MAKE_FILES = ("GNUmakefile", "makefile", "Makefile")


def make_targets(job: Job, program: Program) -> Stream | None:
    """make [-C dir] [-f file] [VAR=value] [target…]"""
    found = parse(program, job.words)
    targets = [word for word in found.operands if "=" not in word]
    given = dict(word.split("=", 1) for word in found.operands if "=" in word)
    folder = found.value("-C", "--directory")
    for text in found.all("--eval", "-E"):
        _Make(job, text, given).run(targets)
    if found.has("-n", "--dry-run", "--just-print", "-q", "--question", "-p"):
        return None
    if found.value("-f", "--file") == "-" and job.stdin is not None:
        if "download" in job.stdin.taints:
            job.effect("run_download", "the network")
            return None
        _Make(job, job.stdin.text, given).run(targets)
        return None
    named = found.all("-f", "--file", "--makefile")
    for name in named or _MAKE_FILES:
        if address := job.host.session.fetched(resolve(f"{folder or '.'}/{name}", job.host.cwds[0])):
            job.effect("run_download", address)
            return None
        makefile = job.file_text(f"{folder}/{name}" if folder else name)
        if makefile is not None:
            _Make(job, makefile, given).run(targets)
            return None
    for target in targets:
        job.effect("run_script", f"{job.program} {target}")
    return None


class _Make:
    """One makefile: its variables, and the recipe lines and needs of each target."""

    def __init__(self, job: Job, text: str, given: dict[str, str]) -> None:
        self.job = job
        self.variables: dict[str, str] = {}
        self.rules: dict[str, tuple[list[str], list[str]]] = {}
        self.first = ""
        current: list[str] = []
        for call in _SHELL_CALL.finditer(text):
            job.shell_text(call[1] or call[2], "make $(shell)")
        for line in text.replace("\\\n", " ").splitlines()[:5000]:
            job.step()
            if line.startswith("\t") and current:
                for name in current:
                    self.rules[name][1].append(line[1:])
                continue
            current = self._line(line) if line.strip() and not line.startswith("#") else current
        self.variables.update(given)

    def _line(self, line: str) -> list[str]:
        assigned = _ASSIGN.match(line)
        if assigned:
            self.variables[assigned[1]] = assigned[2].strip()
            return []
        rule = _RULE.match(line)
        if not rule:
            return []
        names = self.expand(rule[1]).split()
        for name in names:
            needs, recipe = self.rules.setdefault(name, ([], []))
            needs += self.expand(rule[2]).split()
            if rule[3]:
                recipe.append(rule[3])
            if not self.first and not name.startswith("."):
                self.first = name
        return names

    def expand(self, text: str) -> str:
        for _ in range(5):
            replaced = _REFERENCE.sub(lambda found: self.variables.get(found[1], f"${{{found[1]}}}"), text)
            if replaced == text:
                break
            text = replaced[:10_000]
        return text

    def run(self, targets: Sequence[str]) -> None:
        todo = list(targets) or [self.first]
        done: set[str] = set()
        while todo and len(done) < MAX_TARGETS:
            target = todo.pop(0)
            if target in done:
                continue
            done.add(target)
            needs, recipe = self.rules.get(target, ([], []))
            todo += needs
            for line in recipe:
                text = self.expand(line.lstrip("@-+ ")).replace("$@", target).replace("$$", "$")
                self.job.shell_text(text, f"{self.job.program} {target}")
            if target not in self.rules and target in targets:
                self.job.effect("run_script", f"{self.job.program} {target}")


def read_package_script(job: Job, name: str) -> bool:
    """The script of that name in package.json; True when it was found and read."""
    text = job.file_text("package.json")
    try:
        scripts = json.loads(text).get("scripts", {}) if text else {}
    except (ValueError, AttributeError, RecursionError):
        scripts = {}
    found = False
    if isinstance(scripts, dict):
        scripts = {
            **scripts,
            **{key[13:]: value for key, value in job.host.session.files.items() if key.startswith("package.json#")},
        }
    for step in (f"pre{name}", name, f"post{name}"):
        command = scripts.get(step) if isinstance(scripts, dict) else None
        if isinstance(command, str):
            found = True
            job.shell_text(command, f"{job.program} run {step}")
    if not found:
        job.effect("run_script", f"{job.program} run {name}")
    return found


_LIFECYCLE = frozenset({"test", "start", "stop", "restart", "build", "dev", "lint"})


def package_scripts(job: Job, program: Program) -> Stream | None:
    """npm run x, yarn x, pnpm x, npm test: the script in package.json."""
    words = parse(program, job.words, stop_at_operand=True).operands
    if not words:
        return None
    if words[:2] == ["pkg", "set"]:
        for word in words[2:]:
            name, equals, value = word.removeprefix("scripts.").partition("=")
            if equals and word.startswith("scripts."):
                job.host.session.files[f"package.json#{name}"] = value
        return None
    if words[0] in ("run", "run-script", "rum", "urn"):
        rest = options(words[1:], stop_at_operand=True).operands
        if rest:
            if not read_package_script(job, rest[0]) and len(rest) > 1:  # a script is often named like its program
                job.run([word for word in rest if word != "--"], f"{job.program} run")
            return UNKNOWN
    elif words[0] in ("install", "i", "ci", "add") and "package.json" in " ".join(job.host.session.files):
        for name in ("preinstall", "install", "postinstall", "prepare"):
            text = job.host.session.files.get(resolve("package.json", job.host.cwds[0]))
            if text and f'"{name}"' in text:
                read_package_script(job, name)
    elif words[0] in _LIFECYCLE or (program.own_words and words[0] not in program.own_words):
        if job.file_text("package.json") is not None:
            read_package_script(job, words[0])
            return UNKNOWN
        if words[0] not in _LIFECYCLE:
            job.effect("run_script", f"{job.program} run {words[0]}")
            return job.host.run(words, job.where.inside(job.program), None)
    return None


_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*)(?:\s+[^:]*)?:(?!=)(.*)$")


def recipes(job: Job, program: Program) -> Stream | None:
    """just x: the recipe in the justfile."""
    found = parse(program, job.words)
    if found.has("-l", "--list", "-n", "--dry-run", "--show", "--summary", "--evaluate"):
        return None
    text = next(
        (text for name in ("justfile", "Justfile", ".justfile") if (text := job.file_text(name)) is not None), None
    )
    names = [word for word in found.operands if "=" not in word][:1] or [""]
    if text is None:
        job.effect("run_script", f"{job.program} {names[0]}")
        return None
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    current = ""
    for line in text.splitlines()[:5000]:
        job.step()
        if line[:1] in (" ", "\t") and current:
            recipes[current].append(line.strip().lstrip("@-"))
            continue
        recipe = _RECIPE.match(line)
        if recipe:
            current = recipe[1]
            recipes[current], needs[current] = [], recipe[2].split()
    todo = [names[0] or next(iter(recipes), "")]
    done: set[str] = set()
    while todo and len(done) < MAX_TARGETS:
        name = todo.pop(0)
        if name in done:
            continue
        done.add(name)
        todo += [need for need in needs.get(name, ()) if need in recipes]
        body = "\n".join(re.sub(r"\{\{\s*([\w]+)\s*\}\}", lambda m: hole(m[1]), line) for line in recipes.get(name, ()))
        if body:
            job.shell_text(body, f"{job.program} {name}")
    return None


READERS: dict[str, Reader] = {"make_targets": make_targets, "package_scripts": package_scripts, "recipes": recipes}
