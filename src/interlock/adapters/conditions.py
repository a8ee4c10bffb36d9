"""Compiles the text of a `when:` condition, bounded at load; a condition that cannot be evaluated counts as true."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from interlock.analysis.packs import own_words

MAX_CHARACTERS = 500
MAX_NESTING = 20
MAX_DEPTH = 32  # of the values of a condition: deeper ones overflow the evaluator's stack
MAX_VALUES = 10_000
MAX_TEXT = 1_000_000  # characters in all values together

FACTS = ("production_env", "bulk_operation", "no_backup")
VARIABLES = ("params", *FACTS, "agent", "adapter")
_WORDS = own_words("adapters/words.toml")
_MACRO = re.compile(r"\b(all|exists|exists_one|map|filter)\s*\(")
# Raw texts first: in them a backslash is a backslash, so that none can hide what follows.
_TEXT = re.compile(
    r"""(?:[rR][bB]?|[bB][rR])(?:\"{3}(?s:.*?)\"{3}|'{3}(?s:.*?)'{3}|"[^"\n]*"|'[^'\n]*')"""
    r"""|[bB]?(?:\"{3}(?s:\\.|[^\\])*?\"{3}|'{3}(?s:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|//[^\n]*"""
)


class ConditionError(ValueError):
    """An invalid condition; the message gives the error."""


class Condition(Struct, frozen=True, eq=False):
    text: str
    program: Any  # of the CEL library

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class ConditionResult(Struct, frozen=True):
    true: bool
    error: str = ""


def compile_condition(text: str) -> Condition:
    """Raises ConditionError for what is too long, too deep, loops, or names what does not exist."""
    _check_size(text)
    import cel  # 150 ms, and needed only where an adapter has a condition

    try:
        program = cel.compile(text)
    except (ValueError, RecursionError) as error:
        raise ConditionError(f"is no CEL expression: {_first_words(error)}") from None
    _check_names(program.variables(), [*VARIABLES, *_WORDS.in_order("types")], "variable")
    _check_names(filter(str.isidentifier, program.functions()), _WORDS.in_order("functions"), "function")
    return Condition(text, program)


def evaluate_condition(condition: Condition, variables: Mapping[str, Any]) -> ConditionResult:
    """Whether the condition is true of these variables; an error of any kind counts as true (R-13)."""
    if not _bounded(variables):
        return ConditionResult(True, "the values are too many or too deep to evaluate")
    try:
        result = condition.program.execute({name: variables[name] for name in VARIABLES if name in variables})
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # the evaluator's own panics are not Exceptions
        return ConditionResult(True, _first_words(error))
    if isinstance(result, bool):
        return ConditionResult(result)
    return ConditionResult(True, f"is not true or false but {str(result)[:60]!r}")


def _check_size(text: str) -> None:
    if not text.strip():
        raise ConditionError("is empty")
    if len(text) > MAX_CHARACTERS:
        raise ConditionError(f"has {len(text)} characters, at most {MAX_CHARACTERS}")
    bare = _TEXT.sub(" ", text)
    if macro := _MACRO.search(bare):
        raise ConditionError(f"loops with {macro[1]}(); conditions can only use single values")
    depth = deepest = bare.count("?")  # each `? :` nests to the right
    for letter in bare:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    if deepest > MAX_NESTING:
        raise ConditionError(f"is nested deeper than {MAX_NESTING}")


def _check_names(used: Iterable[str], known: Sequence[str], what: str) -> None:
    for name in used:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise ConditionError(f"names the unknown {what} {name!r}; {hint}")


def _bounded(variables: Mapping[str, Any]) -> bool:
    """Without recursion, which deep values would overflow."""
    left, letters = MAX_VALUES, MAX_TEXT
    stack: list[tuple[Any, int]] = [(variables, 0)]
    while stack:
        value, depth = stack.pop()
        left -= 1
        if isinstance(value, str):
            letters -= len(value)
        if left < 0 or letters < 0 or depth > MAX_DEPTH:
            return False
        if isinstance(value, Mapping):
            stack.extend((item, depth + 1) for pair in value.items() for item in pair)
        elif isinstance(value, list | tuple):
            if len(value) > left:
                return False
            stack.extend((item, depth + 1) for item in value)
    return True


def _first_words(error: BaseException) -> str:
    said = str(error).replace("\n", " ")
    if isinstance(error, KeyError):
        return f"there is no {said}"
    said = re.sub(r"^Failed to parse expression '.*?': ERROR: <input>:1:", "column ", said, count=1)
    return said[:120].split(" expecting {")[0].split("| ")[0].strip()
