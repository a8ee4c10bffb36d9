"""Build files and script lists: the commands behind `make target`, `npm run x`, `just x`, `tox -e x` and their like."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from interlock.analysis.facts import hole
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import word_set
from interlock.analysis.programs.options import CommandOptions, options
from interlock.analysis.shell import UNKNOWN, Job, Reader, Stream

MAX_TARGETS = 20
_REFERENCE = lazy_regex(r"\$[({]([A-Za-z_]\w*)[)}]")
MOST_INCLUDED = 20


def make_targets(job: Job) -> None:
    found = job.options()
    with job.within(found.value("-C", "--directory")):
        _run_make(job, found)


def _run_make(job: Job, found: CommandOptions) -> None:
    targets = [word for word in found.operands if "=" not in word]
    given = dict(word.split("=", 1) for word in found.operands if "=" in word)
    for rules in found.all("--eval", "-E"):
        _Make(job, rules, given).run(targets)
    if found.has("-n", "--dry-run", "--just-print", "-q", "--question", "-p"):
        return
    if found.value("-f", "--file") == "-" and job.piped:
        if (makefile := job.text_to_run()) is not None:
            _Make(job, makefile, given).run(targets)
        return
    for name in found.all("-f", "--file", "--makefile") or ("GNUmakefile", "makefile", "Makefile"):
        if job.runs_download(name):
            return
        if (makefile := job.file_text(name)) is not None:
            _Make(job, _with_included(job, makefile), given).run(targets)
            return
    for target in targets:
        job.effect("run_script", f"{job.program} {target}")


def _with_included(job: Job, text: str) -> str:
    texts, done = [text], set[str]()
    for one in texts:
        for name in " ".join(re.findall(r"(?m)^(?:-|s)?include[ \t]+(.+)$", one)).split():
            if name not in done and len(done) < MOST_INCLUDED:
                done.add(name)
                texts.append(job.file_text(name) or "")
    return "\n".join(texts)


Task = tuple[list[str], list[str]]  # the tasks that one needs, and its texts


def _run_tasks(tasks: Mapping[str, Task], wanted: Sequence[str], run: Callable[[str, str], object]) -> None:
    todo, done = list(wanted), set[str]()
    while todo and len(done) < MAX_TARGETS:
        name = todo.pop(0)
        if name not in done and name in tasks:
            done.add(name)
            todo += tasks[name][0]
            for text in tasks[name][1]:
                run(name, text)


class _Make:
    def __init__(self, job: Job, text: str, given: dict[str, str]) -> None:
        self.job = job
        self.variables: dict[str, str] = {}
        self.rules: dict[str, Task] = {}
        current: list[str] = []
        for call in re.finditer(r"(?m)\$\(shell ([^()\n]+)\)|^\w+\s*!=\s*(.+)$", text):
            job.shell_text(call[1] or call[2], "make $(shell)")
        for line in _lines(job, text):
            if line.startswith("\t") and current:
                for name in current:
                    self.rules[name][1].append(line[1:])
            elif line.strip() and not line.startswith("#"):
                current = self._line(line)
        self.variables.update(given)

    def _line(self, line: str) -> list[str]:
        if assigned := re.match(r"^(?:export\s+|override\s+)?([A-Za-z_]\w*)\s*(?::{0,3}=|\?=|\+=)\s*(.*)$", line):
            self.variables[assigned[1]] = assigned[2].strip()
            return []
        if not (rule := re.match(r"^([A-Za-z0-9_./%$(){}\- ]+?)\s*:(?![=])\s*([^=;#]*)(?:;(.*))?$", line)):
            return []
        names = self.expand(rule[1]).split()
        for name in names:
            needs, recipe = self.rules.setdefault(name, ([], []))
            needs += self.expand(rule[2]).split()
            recipe += filter(None, [rule[3]])
        return names

    def expand(self, text: str) -> str:
        for _ in range(5):
            replaced = _REFERENCE.sub(lambda found: self.variables.get(found[1], f"${{{found[1]}}}"), text)
            if replaced == text:
                break
            text = replaced[:10_000]
        return text

    def run(self, targets: Sequence[str]) -> None:
        _run_tasks(self.rules, targets or [name for name in self.rules if not name.startswith(".")][:1], self._run_line)
        for target in targets:
            if target not in self.rules:
                self.job.effect("run_script", f"{self.job.program} {target}")

    def _run_line(self, target: str, line: str) -> None:
        text = self.expand(line.lstrip("@-+ ")).replace("$@", target).replace("$$", "$")
        self.job.shell_text(text, f"{self.job.program} {target}")


def _lines(job: Job, text: str | None) -> Iterator[str]:
    for line in (text or "").replace("\\\n", " ").splitlines()[:5000]:
        job.step()
        yield line


def _json_table(job: Job, path: str, key: str) -> dict[str, Any]:
    """Lines of comments left out; empty where there is none."""
    text = job.file_text(path)
    try:
        found = json.loads(re.sub(r"(?m)^[ \t]*//.*$", "", text)).get(key) if text else None
    except (ValueError, AttributeError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def read_package_script(job: Job, name: str) -> bool:
    """True when it was found."""
    changed = {key[13:]: value for key, value in job.session.files.items() if key.startswith("package.json#")}
    scripts = _json_table(job, "package.json", "scripts") | changed
    steps = [step for step in (f"pre{name}", name, f"post{name}") if isinstance(scripts.get(step), str)]
    for step in steps:
        job.shell_text(scripts[step], f"{job.program} run {step}")
    if not steps:
        job.effect("run_script", f"{job.program} run {name}")
    return bool(steps)


def read_deno_task(job: Job, name: str) -> None:
    tasks = _json_table(job, "deno.json", "tasks") or _json_table(job, "deno.jsonc", "tasks")
    if name not in tasks:
        read_package_script(job, name)
        return
    made: dict[str, Task] = {}
    for one, task in tasks.items():
        parts = task if isinstance(task, dict) else {"command": task}
        text = parts.get("command")
        made[one] = list(map(str, parts.get("dependencies", ()))), [text] if isinstance(text, str) else []
    _run_tasks(made, [name], lambda one, text: job.shell_text(text, f"deno task {one}"))


_COMPOSED = {"install": ("install-cmd", "autoload-dump"), "update": ("update-cmd", "autoload-dump"), "dump-autoload": ("autoload-dump",)}  # fmt: skip


def composer_scripts(job: Job) -> Stream | None:
    found = job.options(stop_at_operand=True)
    words = found.operands
    if not words:
        return None
    with job.within(found.value("-d", "--working-dir")):
        scripts = _json_table(job, "composer.json", "scripts")
        if words[0] in ("run-script", "run"):
            names = options(words[1:], stop_at_operand=True).operands[:1]
            if names and names[0] not in scripts:
                job.effect("run_script", f"composer {names[0]}")
        else:
            steps = [f"{when}-{event}" for event in _COMPOSED.get(words[0], ()) for when in ("pre", "post")]
            names = steps if steps or words[0] not in scripts else [words[0]]
        made: dict[str, Task] = {}
        for name, said in scripts.items():  # `@other` is one that is needed, `Class::method` nothing that can be read
            lines = [line for line in (said if isinstance(said, list) else [said]) if isinstance(line, str)]
            called = {line: line[1:].split(" ")[0] for line in lines if line.startswith("@")}
            own = [line.removeprefix("@") for line in lines if called.get(line) not in scripts]
            made[name] = [*called.values()], [line for line in own if "::" not in line.split(" ")[0]]
        _run_tasks(made, names, lambda name, line: job.shell_text(line, f"composer {name}"))
    return UNKNOWN if set(names) & scripts.keys() else None


def tox_commands(job: Job) -> None:
    found = job.options()
    if found.has("-l", "--listenvs", "-a", "--listenvs-all", "--showconfig", "--notest", "-n"):
        return
    sections: dict[str, dict[str, list[str]]] = {}
    setting: list[str] = []
    for line in _lines(job, job.file_text(found.value("-c", "--conf") or "tox.ini")):
        if head := re.match(r"^\[([^\]]+)\][ \t]*$", line):
            section = sections[head[1]] = {}
        elif (named := re.match(r"^([A-Za-z_]+)[ \t]*=[ \t]*(.*)$", line)) and sections:
            setting = section.setdefault(named[1], [named[2]])
        elif line[:1] in (" ", "\t"):
            setting.append(line.strip())
    given = ",".join(found.all("-e", "--env")) or ",".join(sections.get("tox", {}).get("envlist", ()))
    own = [f"testenv:{one.strip()}" for one in given.split(",")]
    for name in own if given and sections.keys() >= set(own) else ["testenv", *own]:
        section = sections.get(name, {})
        for line in [line for key in ("commands_pre", "commands", "commands_post") for line in section.get(key, ())]:
            job.shell_text(re.sub(r"\{([^{}]*)\}", lambda one: hole(one[1]), line.lstrip("- ")), f"tox {name}")


def rake_tasks(job: Job) -> None:
    found = job.options()
    names = found.all("-f", "--rakefile") or ("Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb")
    tasks: dict[str, Task] = {}
    block: list[str] | None = None
    indent = ""
    for line in _lines(job, job.first_text(names)):
        if block is not None and line.startswith(f"{indent}end"):
            block = None
        elif block is not None:
            block[0] += f"{line}\n"
        elif head := re.match(r"^([ \t]*)(?:multi)?task[ \t(]+[:'\"]?([\w:]*\w)['\"]?(.*?)\bdo\b", line):
            indent, block = head[1], [""]
            tasks[head[2]] = (re.findall(r"[:'\"]([\w:]+)", head[3]), block)
    wanted = [word.partition("[")[0].rpartition(":")[2] for word in found.operands if "=" not in word]
    _run_tasks(tasks, wanted or ["default"], lambda name, text: job.code("ruby", text, f"rake {name}"))


def package_scripts(job: Job) -> Stream | None:
    found = job.options(stop_at_operand=True)
    with job.within(found.value("--prefix", "-C", "--dir", "--cwd")):
        return _run_package_script(job, found.operands)


def _run_package_script(job: Job, words: list[str]) -> Stream | None:
    if not words:
        return None
    if words[:2] == ["pkg", "set"]:
        for word in words[2:]:
            if found := re.fullmatch(r"scripts\.(.*?)=(.*)", word, re.DOTALL):
                job.session.files[f"package.json#{found[1]}"] = found[2]
    elif words[0] in ("run", "run-script", "rum", "urn"):
        rest = options(words[1:], stop_at_operand=True).operands
        if rest:
            if not read_package_script(job, rest[0]) and len(rest) > 1:  # a script is often named like its program
                job.run([word for word in rest if word != "--"], f"{job.program} run")
            return UNKNOWN
    elif words[0] in ("install", "i", "ci", "add") and "package.json" in " ".join(job.session.files):
        for name in ("preinstall", "install", "postinstall", "prepare"):
            if f'"{name}"' in (job.written_text("package.json") or ""):
                read_package_script(job, name)
    elif words[0] in word_set("lifecycle") or (job.described.own_words and words[0] not in job.described.own_words):
        if job.file_text("package.json") is not None:
            read_package_script(job, words[0])
            return UNKNOWN
        if words[0] not in word_set("lifecycle"):
            job.effect("run_script", f"{job.program} run {words[0]}")
            return job.host.run(words, job.where.inside(job.program))
    return None


def recipes(job: Job) -> None:
    found = job.options()
    if found.has("-l", "--list", "-n", "--dry-run", "--show", "--summary", "--evaluate"):
        return
    text = job.first_text(("justfile", "Justfile", ".justfile"))
    name = next((word for word in found.operands if "=" not in word), "")
    if text is None:
        job.effect("run_script", f"{job.program} {name}")
        return
    tasks: dict[str, Task] = {}
    lines: list[str] = []
    for line in _lines(job, text):
        if line[:1] in (" ", "\t") and tasks:
            lines[:] = ["\n".join([*lines, _FILLED.sub(lambda found: hole(found[1]), line.strip().lstrip("@-"))])]
        elif recipe := re.match(r"^@?([A-Za-z_][\w-]*)(?:\s+[^:]*)?:(?!=)(.*)$", line):
            lines = []
            tasks[recipe[1]] = recipe[2].split(), lines
    _run_tasks(tasks, [name or next(iter(tasks), "")], lambda name, text: job.shell_text(text, f"{job.program} {name}"))


_FILLED = lazy_regex(r"\{\{\s*([\w]+)\s*\}\}")

READERS: dict[str, Reader] = {
    "make_targets": make_targets,
    "package_scripts": package_scripts,
    "recipes": recipes,
    "composer_scripts": composer_scripts,
    "tox_commands": tox_commands,
    "rake_tasks": rake_tasks,
}
