"""Assigns variables, also by `declare`, `local`, `export` and `read`; runs the values that some program runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.analysis.facts import APPROXIMATE, hole, known
from interlock.analysis.programs.load import shipped_variables, word_set
from interlock.analysis.programs.options import options, valued
from interlock.analysis.shell import TERMINAL, Stream, Where, command_fact, expand
from interlock.analysis.shell.loose_text import read_loose_variable
from interlock.analysis.shell.syntax.nodes import Assignment, ShellVariable, SimpleCommand
from interlock.analysis.shell.variables import calculate, computed, evaluate, subscript_of

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell

_IMPLIED = {"export": "x", "readonly": "r"}
_GLOBAL = frozenset({"export", "readonly"})


Letters = tuple[frozenset[str], frozenset[str]]  # attributes that a declaration sets, and those that it removes


def letters_of(program: str, words: Sequence[str]) -> Letters:
    given, taken = ("".join(word[1:] for word in words if word.startswith(sign)) for sign in "-+")
    return frozenset(given + _IMPLIED.get(program, "")), frozenset(taken)


def begin_declaration(shell: Shell, program: str, name: str, letters: Letters) -> None:
    """Before its value is set, a name gets a scope of its own, and attributes that convert the value."""
    given, taken = letters
    if shell.scopes and program not in _GLOBAL and "g" not in given and name not in shell.scopes[-1]:
        shell.scopes[-1][name] = shell.variables.pop(name, None)
        shell.references.pop(name, None)
        shell.attributes.pop(name, None)
    shell.attributes[name] = (shell.attributes.get(name, frozenset()) | (given & _CONVERTING)) - taken


_CONVERTING = frozenset("iluxnA")


def end_declaration(shell: Shell, name: str, letters: Letters) -> None:
    """A name that is read-only from now on keeps its value."""
    if "r" in letters[0] and not shell.unsure:
        shell.attributes[name] |= {"r"}


def declare_words(shell: Shell, program: str, words: Sequence[str]) -> None:
    letters = letters_of(program, words)
    if program not in _GLOBAL and "f" in letters[0]:
        return
    for word in words:
        if word[:1] in ("-", "+"):
            continue
        left, equals, value = word.partition("=")
        if subscript := subscript_of(left):
            evaluate(subscript, shell)
        name = left.partition("[")[0].rstrip("+")
        if not name.isidentifier():
            continue
        begin_declaration(shell, program, name, letters)
        if equals and value.startswith("(") and not subscript:
            shell.run_in(value)  # declare -a 'a=($(x))' reads its words again
        if equals and "n" in letters[0]:
            refer(shell, name, value)
        elif equals:
            before = (shell.lookup(name) or [""])[0] if left.endswith("+") else ""
            shell.assign(name, [before + value])
        elif shell.scopes and name not in shell.variables and program not in _GLOBAL:
            shell.variables[name] = [hole(name)]  # no value yet
        end_declaration(shell, name, letters)


def refer(shell: Shell, name: str, target: str) -> None:
    """declare -n: the name stands for another one, whose subscript runs when used."""
    evaluate(subscript_of(target), shell)
    shell.references[name] = target


def convert_values(shell: Shell, name: str, items: list[str]) -> list[str]:
    letters = shell.attributes[name]
    if "i" in letters:
        return [computed(item, shell, name) for item in items]
    change = str.lower if "l" in letters else str.upper if "u" in letters else str
    return list(map(change, items))


def leave_scope(shell: Shell) -> None:
    for name, value in shell.scopes.pop().items():
        for table in (shell.attributes, shell.references, shell.choices, shell.variables):
            table.pop(name, None)
        if value is not None:
            shell.variables[name] = value


def bare_operand(node: SimpleCommand) -> str:
    """The variable that is the one operand, without quotes; `$` for any other, empty where it is quoted."""
    if len(node.words) != 2 or any(getattr(part, "quoted", True) for part in node.words[1].parts):
        return ""
    first, *more = node.words[1].parts
    return first.name if isinstance(first, ShellVariable) and not first.operator and not more else "$"


def assign_read(shell: Shell, words: Sequence[str], stdin: Stream, env: Sequence[tuple[str, str]] = ()) -> None:
    """-a NAME: an array of all parts."""
    found = options(words, valued("-d -n -N -t -p -u -i -a"))
    if APPROXIMATE in stdin.taints or ("\\" in stdin.text and not found.has("-r")):
        shell.guess()
    names = found.operands or (["REPLY"] if not found.all("-a") else [])
    lines = stdin.text.splitlines() if stdin is not TERMINAL else []
    between = dict(env).get("IFS", next(iter(shell.variables.get("IFS", ())), None))
    if len(lines) != 1:
        values = [hole()] * len(names)
    else:
        parts = _split(lines[0], between, len(names) - 1) if len(names) > 1 else lines
        values = [*parts, *[""] * (len(names) - len(parts))]
    for name, value in zip(names, values):
        evaluate(subscript_of(name), shell)
        shell.assign(name.partition("[")[0], [value])
    for name in found.all("-a"):
        shell.variables[name] = _split(lines[0], between, -1) if len(lines) == 1 else [hole()]


def _split(line: str, between: str | None, most: int) -> list[str]:
    if between is None or between.isspace():
        return line.split(None, most)
    if not between or not known(between):
        return [hole() if between else line]
    return re.split(f"[{re.escape(between)}]", line, maxsplit=max(most, 0))


def assign_all(shell: Shell, assigns: Sequence[Assignment]) -> None:
    for item in assigns:
        value = assigned_value(shell, item)
        if item.index:
            evaluate(item.index, shell)
        if item.name == "BASH_ALIASES" and item.index:
            shell.aliases[item.index] = shell.text(item.value)
        shell.assign(item.name, value)
        if item.index and not item.index.isdigit():  # an associative array's values, each under its own name
            shell.variables[f"{item.name}[{item.index}]"] = [shell.text(item.value)]
        for key, word in zip(item.keys, item.items or ()):
            if key:
                evaluate(key, shell)
                shell.variables[f"{item.name}[{key}]"] = [shell.text(word)]
        run = (shipped_variables()["runs"], word_set("startup_variables"), word_set("prompts"))
        if any(item.name in names for names in run):
            run_variables(shell, [(item.name, "".join(value[:1]))], shell.where)


def assigned_value(shell: Shell, item: Assignment) -> list[str]:
    if item.items is not None:
        value = [field for word in item.items for field in expand.fields(word, shell)]
        return [*(shell.lookup(item.name) or []), *value] if item.append else value
    value_text = shell.text(item.value)
    before = shell.lookup(item.name) or [""]
    if item.index:
        number = calculate(item.index, shell)
        if number is None or not 0 <= number < 64:
            return [value_text]
        padded = [*before, *[""] * (number + 1 - len(before))]
        padded[number] = value_text
        return padded
    return [before[0] + value_text] if item.append else [value_text]


def declare(shell: Shell, words: Sequence[str], assigns: Sequence[Assignment]) -> None:
    program, letters = words[0], letters_of(words[0], words[1:])
    for item in assigns:
        begin_declaration(shell, program, item.name, letters)
        if "n" in letters[0]:
            refer(shell, item.name, shell.text(item.value))
        else:
            assign_all(shell, [item])
        end_declaration(shell, item.name, letters)


_LOADS_CODE = re.compile(r"(?:^|\s)(?:--(?:require|import)[=\s]\s*[./~]|-[reM])")  # a file, and no package


def run_variables(shell: Shell, env: Sequence[tuple[str, str]], where: Where, exported: bool = True) -> None:
    """Values that some program runs; of those not exported, only what this shell itself runs."""
    for name, value in env:
        inside = where.inside(f"{name}=")
        if value and exported:
            read_loose_variable(shell.job(name, [value], where), name, value)
        if name in shipped_variables()["runs"] and value and not expand.is_unknown(value):
            shell.nested(value.lstrip("|").replace("%s", ""), inside)
        elif name in word_set("prompts"):
            evaluate(value, shell)
        elif name.startswith("BASH_FUNC_"):
            shell.nested(f"f {value}; f", inside)
        elif name in ("LD_PRELOAD", "DYLD_INSERT_LIBRARIES"):
            shell.session.facts.append(command_fact("ld_preload", [value], where))
        elif name in ("BASH_ENV", "ENV") and value:
            shell.run(["source", value], inside)
        elif name in ("NODE_OPTIONS", "RUBYOPT", "PERL5OPT") and _LOADS_CODE.search(value):
            shell.job(name, [value], where).effect("run_script", value, "carried")
