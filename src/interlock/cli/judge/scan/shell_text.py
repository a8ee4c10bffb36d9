"""Shell text with its line numbers, out of scripts, build files, Dockerfiles, package.json and crontabs."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.facts import hole
from interlock.analysis.programs.load import reads_posix
from interlock.strict_json import table_in

TABLES = tomllib.loads(Path(__file__).with_name("sources.toml").read_text("utf-8"))
_TEMPLATE = re.compile(
    r"\$\{\{[^\n]{0,300}?\}\}|\$\[\[[^\n]{0,300}?\]\]|<<[ ]?(?:parameters|pipeline|matrix)\.[^\n>]{0,100}>>"
)


class Snippet(Struct, frozen=True):
    text: str
    lines: tuple[int, ...]  # the file's line for each line of the text
    cwd: str = ""  # where it would run, when the file says so

    def line_at(self, offset: int) -> int:
        return self.lines[min(self.text.count("\n", 0, offset), len(self.lines) - 1)]


def snippet(text: str, first: int) -> Snippet:
    return Snippet(text, tuple(range(first, first + text.count("\n") + 1)))


def shell_script(text: str) -> list[Snippet]:
    return [snippet(text, 1)]


def join_snippets(parts: Sequence[Snippet]) -> Snippet:
    lines = tuple(line for part in parts for line in part.lines)
    return Snippet("\n".join(part.text for part in parts), lines, parts[0].cwd)


def in_language(language: str, piece: Snippet) -> Snippet:
    text = f"{language} <<'INTERLOCK_END'\n{piece.text}\nINTERLOCK_END"
    return Snippet(text, (piece.lines[0], *piece.lines, piece.lines[-1]), piece.cwd)


def without_templates(text: str) -> str:
    """`${{ github.ref }}` as a plain word of the same length: unknown, and without effect."""
    return _TEMPLATE.sub(lambda found: "template".ljust(len(found[0]), "_")[: len(found[0])], text)


_PROCESS = re.compile(r"^([A-Za-z0-9_-]+):\s*(\S.*)$")


def procfile(text: str) -> list[Snippet]:
    lines = ((number, _PROCESS.match(line)) for number, line in enumerate(text.split("\n"), 1))
    return [snippet(process[2], number) for number, process in lines if process]


def package_json(text: str) -> list[Snippet]:
    found = []
    place = max(0, text.find('"scripts"'))
    for name, command in table_in(_json(text), "scripts").items():
        if isinstance(command, str):
            place = _place_of(text, name, command, place)
            line = text.count("\n", 0, place) + 1
            found.append(Snippet(command, (line,) * (command.count("\n") + 1)))
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _place_of(text: str, name: str, command: str, start: int) -> int:
    """`start` itself where a script's spelling is unusual."""
    for spelled in (json.dumps(name, ensure_ascii=False), json.dumps(name)):
        for key in re.compile(re.escape(spelled) + r"\s*:\s*").finditer(text, start):
            try:
                value, _ = json.JSONDecoder().raw_decode(text, key.end())
            except ValueError:
                continue
            if value == command:
                return key.end()
    return start


_FIELD = r"[0-9A-Za-z*,/?#LW~-]+"
_JOB = re.compile(rf"^\s*(?:@\w+|{_FIELD}(?:[ \t]+{_FIELD}){{4}})[ \t]+(\S.*)$")
_SETTING = re.compile(r"^\s*[A-Za-z_]\w*\s*=")
_USER = re.compile(r"(root|www-data|nobody|daemon|[a-z_][a-z0-9_-]*)[ \t]+(\S.*)$")

_PERCENT = re.compile(r"(?<!\\)%")


def crontab(text: str, system: bool = False) -> list[Snippet]:
    """A line that starts with a well-known user's name is read as a system's."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        job = None if line.lstrip().startswith("#") or _SETTING.match(line) else _JOB.match(line)
        if job:
            user = _USER.match(job[1])
            command = user[2] if user and (system or user[1] in TABLES["cron_users"]) else job[1]
            # cron takes what follows the first % for standard input
            found.append(snippet(_PERCENT.split(command, maxsplit=1)[0].replace("\\%", "%"), number))
    return found


def system_crontab(text: str) -> list[Snippet]:
    return crontab(text, system=True)


_ASSIGN = re.compile(r"^\s*(?:export\s+|override\s+|private\s+)*([A-Za-z_][\w.-]*)\s*(::?:?=|\?=|\+=|!=|=)\s*(.*)$")
_REFERENCE = re.compile(r"\$\(([\w.-]+)\)|\$\{([\w.-]+)\}|\$\$|\$([@<^+*?%|])|\$\(shell\s|\$\([a-z-]+\s")
_RULE = re.compile(r"^[^\s#=:][^#=:]*::?(?!=)([^=#]*)$")
_TARGET_SHELL = re.compile(r"\$\(shell\s+")
_CONDITIONS = frozenset({"ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"})
_MARKS = "@-+ \t"


def makefile(text: str) -> list[Snippet]:
    """Each recipe line with the file's own variables filled in; and what `$(shell …)` runs."""
    variables = {**TABLES["make_variables"], **_variables(text)}
    found: list[Snippet] = []
    recipe: list[Snippet] = []
    in_rule = in_define = False
    one_shell = re.search(r"^\.ONESHELL:", text, re.MULTILINE) is not None
    for number, line in [*_logical_lines(text), (0, "")]:
        if line.startswith("\t") and in_rule and not in_define:
            recipe.append(snippet(expand_variables(line.lstrip(_MARKS), variables), number))
            continue
        found += [join_snippets(recipe)] if one_shell and recipe else recipe
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
    return found


def _run_at_once(line: str, number: int, variables: Mapping[str, str]) -> Iterator[Snippet]:
    assigned = _ASSIGN.match(line)
    if assigned and assigned[2] == "!=":
        yield snippet(expand_variables(assigned[3], variables), number)
    elif _TARGET_SHELL.search(line):
        yield snippet(": " + expand_variables(line[line.index("$(shell") :], variables), number)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations, which stay in the text: the shell reads them too."""
    lines = text.split("\n")
    first = 0
    for at, line in enumerate(lines, 1):
        if not line.endswith("\\") or at == len(lines):
            yield first + 1, "\n".join(lines[first:at])
            first = at


def _variables(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for _, line in _logical_lines(text):
        assigned = None if line.startswith(("\t", "#")) else _ASSIGN.match(line)
        if assigned and assigned[2] != "!=":
            value = assigned[3].split(" #", 1)[0].replace("\\\n", " ").strip()
            adds = assigned[2] == "+=" and assigned[1] in found
            found[assigned[1]] = f"{found[assigned[1]]} {value}" if adds else value
    return found


def expand_variables(text: str, variables: Mapping[str, str]) -> str:
    """What is left is for the shell, as the shell would see it."""
    for _ in range(4):
        once = _REFERENCE.sub(lambda found: _fill_reference(found, variables), text)
        if once == text or len(once) > 20_000:
            break
        text = once
    return _REFERENCE.sub(_last, text).replace("\0", "$")


def _fill_reference(found: re.Match[str], variables: Mapping[str, str]) -> str:
    return variables.get(found[1] or found[2], "\0" if found[0] == "$$" else found[0])


def _last(found: re.Match[str]) -> str:
    if name := found[1] or found[2]:
        return hole(name)
    if found[3]:
        return "target"
    # Else a function of make; what it gives is not known, and it does nothing.
    return "$(" if found[0].startswith("$(shell") else "$(: "


_SET = re.compile(r"^(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*(?:\"([^\"]*)\"|'([^']*)')\s*$")
_HEADER = re.compile(r"^@?([A-Za-z_][\w-]*)(?:\s[^:]*)?:(?!=)")
_BRACES = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


def justfile(text: str) -> list[Snippet]:
    """Each recipe line, which has its own shell; a recipe that starts with #! is one script."""
    variables = {one[1]: one[2] or one[3] or "" for one in map(_SET.match, text.split("\n")) if one}
    found: list[Snippet] = []
    recipe: list[Snippet] = []
    named = False

    def fill(one: re.Match[str]) -> str:
        return variables.get(one[1], hole(re.sub(r"\W+", "_", one[1])))

    for number, line in [*_logical_lines(text), (0, "end")]:
        if line[:1] in (" ", "\t") and named:
            if line.strip():
                recipe.append(snippet(_BRACES.sub(fill, line.strip()), number))
            continue
        if line.strip() and not line.startswith("#"):
            found += _just_recipe(recipe)
            recipe, named = [], bool(_HEADER.match(line))
    return found


def _just_recipe(lines: list[Snippet]) -> list[Snippet]:
    if lines and lines[0].text.startswith("#!"):
        return [join_snippets(lines)] if re.search(r"\b(ba|z|k|da)?sh\b", lines[0].text) else []
    return [Snippet(line.text.lstrip("@-"), line.lines) for line in lines]


_INSTRUCTION = re.compile(r"^\s*([A-Za-z]+)\s+(.*)$", re.DOTALL)
_FLAGS = re.compile(r"^(?:--[a-z-]+(?:=\S+)?\s+)+")
_HEREDOC = re.compile(r"<<-?\s*([\"']?)([A-Za-z_]\w*)\1")
_PAIR = re.compile(r"([A-Za-z_]\w*)=(\"(?:[^\"\\]|\\.)*\"|'[^']*'|(?:[^\s\\]|\\.)+)")
_SHEBANG = re.compile(r"#!\s*\S*?(?:env\s+)?([\w.]+)\s*$")
_NO_INSTRUCTION = re.compile(r"\s*(?:#|$)")
_RUNS = frozenset({"RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK"})


class _Stage(Struct):
    settings: list[Snippet] = field(default_factory=list)
    cwd: str = "/"


def dockerfile(text: str) -> list[Snippet]:
    """RUN, CMD, ENTRYPOINT and HEALTHCHECK in both forms, with what ENV and ARG set."""
    found: list[Snippet] = []
    stage = _Stage()
    for number, body, heredocs in _instructions(text):
        instruction = _INSTRUCTION.match(body)
        if not instruction:
            continue
        word, rest = instruction[1].upper(), instruction[2]
        number += body[: instruction.start(2)].count("\n")
        if word == "ONBUILD" and (inner := _INSTRUCTION.match(rest)):
            word, rest = inner[1].upper(), inner[2]
        if word == "FROM":
            stage = _Stage()
        elif word in _RUNS:
            if piece := _run(word, rest, number, heredocs):
                found.append(replace(join_snippets([*stage.settings, piece]), cwd=stage.cwd))
        else:
            _set(stage, word, rest, number)
    return found


def _set(stage: _Stage, word: str, rest: str, number: int) -> None:
    if word in ("ENV", "ARG"):
        pairs = _PAIR.findall(rest)
        if not pairs and word == "ENV" and (old := re.match(r"(\w+)\s+(\S.*)$", rest)):
            pairs = [(old[1], shlex.quote(old[2]))]
        stage.settings += [snippet(f"{name}={value}".replace("\n", " "), number) for name, value in pairs]
    elif word == "WORKDIR" and "$" not in rest:
        folder = rest.strip().strip("\"'")
        stage.cwd = folder if folder.startswith("/") else f"{stage.cwd.rstrip('/')}/{folder}"


def _run(word: str, rest: str, number: int, heredocs: list[Snippet]) -> Snippet | None:
    if flags := _FLAGS.match(rest):
        number += flags[0].count("\n")
        rest = rest[flags.end() :]
    if word == "HEALTHCHECK":
        check = re.match(r"(?:\\\n|\s)*CMD\s+(.*)$", rest, re.DOTALL | re.IGNORECASE)
        if not check:
            return None
        number += rest[: check.start(1)].count("\n")
        rest = check[1]
    words = _json(rest.replace("\\\n", " ")) if rest.lstrip().startswith("[") else None
    if words and all(isinstance(word, str) for word in words):
        return snippet(shlex.join(words), number)
    if heredocs and _HEREDOC.match(rest.strip()) and not _HEREDOC.sub("", rest).strip():
        piece = join_snippets(heredocs)  # shell, unless its first line names another interpreter
        shebang = _SHEBANG.match(piece.text.split("\n", 1)[0])
        return in_language(shebang[1], piece) if shebang and not reads_posix(shebang[1]) else piece
    if heredocs:
        ends = [Snippet(found[2], (number,)) for found in _HEREDOC.finditer(rest)]
        parts = (part for pair in zip(heredocs, ends, strict=False) for part in pair)
        return join_snippets([snippet(rest, number), *parts])
    return snippet(rest, number)


def _instructions(text: str) -> Iterator[tuple[int, str, list[Snippet]]]:
    lines = text.split("\n")
    escape = "`" if re.match(r"#\s*escape\s*=\s*`", lines[0]) else "\\"
    numbered = enumerate(lines, 1)
    for first, start in numbered:
        if _NO_INSTRUCTION.match(start):
            continue
        parts: list[str] = []
        for line in chain([start], (line for _, line in numbered)):
            # Comments and empty lines inside an instruction are as if not there.
            part = escape if _NO_INSTRUCTION.match(line) else line.rstrip()
            parts.append(part.removesuffix(escape) + "\\" if part.endswith(escape) else part)
            if not part.endswith(escape):
                break
        body = "\n".join(parts)
        if body.endswith("\\"):
            body = body.rstrip("\\\n")
        heredocs: list[Snippet] = []
        if re.match(r"\s*(RUN|COPY|ADD|ONBUILD)\b", body, re.IGNORECASE):
            for mark in _HEREDOC.finditer(body):
                inner: list[tuple[int, str]] = []
                for at, line in numbered:
                    if line.strip() == mark[2]:
                        break
                    inner.append((at, line))
                heredocs.append(Snippet("\n".join(line for _, line in inner), tuple(at for at, _ in inner) or (first,)))
        yield first, body, heredocs
