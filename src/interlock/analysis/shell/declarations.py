"""Declares variables as `declare`, `local`, `export` and `readonly` do: attributes, scope and the text that a subscript runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.analysis.facts import hole
from interlock.analysis.shell.arithmetic import calculate, evaluate, subscript_of

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell

DECLARING = frozenset({"declare", "typeset", "local", "export", "readonly"})
_IMPLIED = {"export": "x", "readonly": "r"}
_GLOBAL = frozenset({"export", "readonly"})


def letters_of(program: str, words: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes that the options of a declaration set, and those that they remove."""
    given = "".join(word[1:] for word in words if len(word) > 1 and word[0] == "-")
    taken = "".join(word[1:] for word in words if len(word) > 1 and word[0] == "+")
    return frozenset(given + _IMPLIED.get(program, "")), frozenset(taken)


def begin(shell: Shell, program: str, name: str, words: Sequence[str]) -> None:
    """What a declaration does to a name before its value is set: a scope of its own, and attributes that convert the value."""
    given, taken = letters_of(program, words)
    if shell.scopes and program not in _GLOBAL and "g" not in given and name not in shell.scopes[-1]:
        shell.scopes[-1][name] = shell.variables.pop(name, None)
        shell.references.pop(name, None)
        shell.attributes.pop(name, None)
    kept = (shell.attributes.get(name, frozenset()) | (given & _CONVERTING)) - taken
    if kept:
        shell.attributes[name] = kept
    else:
        shell.attributes.pop(name, None)


_CONVERTING = frozenset("iluxnA")


def end(shell: Shell, program: str, name: str, words: Sequence[str]) -> None:
    """What a declaration does once the value is set: it stays the value where the name is read-only from now on."""
    if "r" in letters_of(program, words)[0] and not shell.unsure:
        shell.attributes[name] = shell.attributes.get(name, frozenset()) | {"r"}


def declare_words(shell: Shell, program: str, words: Sequence[str]) -> None:
    """Declare the names and assignments among a declaration's words that the text itself does not spell as assignments."""
    if program not in _GLOBAL and "f" in letters_of(program, words)[0]:
        return
    for word in words:
        if word[:1] in ("-", "+"):
            continue
        left, equals, value = word.partition("=")
        subscript = subscript_of(left)
        if subscript:
            evaluate(subscript, shell)
        name = left.partition("[")[0].rstrip("+")
        if not name.isidentifier():
            continue
        begin(shell, program, name, words)
        if equals and value.startswith("(") and not subscript:
            shell.run_in(value)  # declare -a 'a=($(x))' reads its words again
        if equals and "n" in letters_of(program, words)[0]:
            refer(shell, name, value)
        elif equals:
            before = (shell.lookup(name) or [""])[0] if left.endswith("+") else ""
            shell.assign(name, [before + value])
        elif shell.scopes and name not in shell.variables and program not in _GLOBAL:
            shell.variables[name] = [hole(name)]  # no value yet
        end(shell, program, name, words)


def refer(shell: Shell, name: str, target: str) -> None:
    """declare -n: the name stands for another one, whose subscript runs when it is used."""
    evaluate(subscript_of(target), shell)
    shell.references[name] = target


def converted(shell: Shell, name: str, items: list[str]) -> list[str]:
    """A value as the attributes of its variable convert it: evaluated as a number, or in one case."""
    letters = shell.attributes[name]
    if "i" in letters:
        for item in items:
            evaluate(item, shell)
        numbers = [calculate(item, shell) for item in items]
        return [hole(name) if number is None else str(number) for number in numbers]
    if "l" in letters:
        return [item.lower() for item in items]
    return [item.upper() for item in items] if "u" in letters else items


def leave_scope(shell: Shell) -> None:
    """Give the variables that a function declared for itself the values that they had outside of it."""
    for name, value in shell.scopes.pop().items():
        shell.attributes.pop(name, None)
        shell.references.pop(name, None)
        shell.choices.pop(name, None)
        if value is None:
            shell.variables.pop(name, None)
        else:
            shell.variables[name] = value
