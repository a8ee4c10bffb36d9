"""Python source -> its effects; parses text that is indented as a whole or written for Python 2, and skips functions nothing can call."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator

from interlock.analysis.code.program.expressions import EXPRESSIONS
from interlock.analysis.code.program.functions import invoke
from interlock.analysis.code.program.statements import FLOW, STATEMENTS
from interlock.analysis.code.program.uncalled import read_uncalled
from interlock.analysis.code.program.walk import ProgramEffects, ProgramWalk, Semantics
from interlock.analysis.code.python.calls import HANDLED, answer
from interlock.analysis.code.python.names import IMPORTS, attribute, item, look_up
from interlock.analysis.facts import Report

__all__ = ["read_python"]


MAX_SOURCE = 100_000
_LONG_WORD = re.compile(r"\b\w{65,}")  # padding: it takes no time to parse, and what comes after it is still read
_LANGUAGE = Semantics(
    "Python", {**STATEMENTS, **FLOW, **IMPORTS}, EXPRESSIONS, invoke, answer, HANDLED, look_up, attribute, item
)

# Python that does not parse does not run; but a newer Python may parse more than this one, so what could do harm is told.
_RISKY = re.compile(r"import|exec|eval|open|os\.|remove|unlink|rmtree|system|popen|subprocess|!|%")


def read_python(source: str, out: Report) -> None:
    """Report what this source would do; what is too long, nests too deeply or does not parse is unreadable."""
    if len(source) > MAX_SOURCE and len(_LONG_WORD.sub("", source)) > MAX_SOURCE:
        out.unreadable("more Python than is read", "budget")
        return
    # parsing cannot be interrupted, so its likely cost is paid before it starts
    out.step(1 + len(source) // 256 + sum(map(source.count, "\n(=")))
    try:
        tree = parse(source)
        if tree is None:
            if _RISKY.search(source):
                out.unreadable("Python that does not parse", "syntax")
            return
        _read(tree, ProgramWalk(out, _LANGUAGE, ProgramEffects(out)))
    except (RecursionError, MemoryError):
        out.unreadable("Python nested too deeply", "nesting")


def _read(tree: ast.Module, walk: ProgramWalk) -> None:
    try:
        walk.block(tree.body)
        read_uncalled(tree, walk)
    finally:
        walk.world.close()


# Read as Python 3.11, an escape like "\d" raises only a warning that is not printed, so the process's warning
# filters, which threads share, stay as they are; newer syntax gets a second look. `1if x` still prints one line.
_VERSIONS = tuple(dict.fromkeys([(3, 11), sys.version_info[:2]]))

_STATEMENT = re.compile(r"(?m)(^[ \t]*|[;:][ \t]*)(print|exec)[ \t]+(?:>>[^,;\n]*,)?([^=(\s;][^;\n]*)")
_BARE_PRINT = re.compile(r"(?m)^([ \t]*)print[ \t]*$")
_OLD_EXCEPT = re.compile(r"(?m)^([ \t]*except[ \t]+[^,:\n]+),[ \t]*(\w+)[ \t]*:")
_OLD_OCTAL = re.compile(r"(?<![\w.])0([0-7]{2,6})(?![\w.])")


def parse(source: str) -> ast.Module | None:
    """The tree of a source, or None where it is no Python; raises MemoryError where it nests too deeply."""
    for spelling in _spellings(source):
        for version in _VERSIONS:
            try:
                return ast.parse(spelling, feature_version=version)
            except SyntaxError as error:
                if "too many nested" in str(error):
                    raise MemoryError from error
            except ValueError:
                continue
    return None


def _spellings(source: str) -> Iterator[str]:
    yield source
    flush = textwrap.dedent(source).strip()
    if flush != source:
        yield flush
    modern = _modern(flush)
    if modern != flush:
        yield modern


def _modern(source: str) -> str:
    """Python 2's statements as Python 3 writes them."""
    source = _OLD_EXCEPT.sub(r"\1 as \2:", _BARE_PRINT.sub(r"\1print()", source))
    return _STATEMENT.sub(r"\1\2(\3)", _OLD_OCTAL.sub(r"0o\1", source))
