"""Python source -> its effects; parses text that is indented as a whole or written for Python 2."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator

from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.lexing import TooDeep, Unparsed
from interlock.analysis.code.library import library, words
from interlock.analysis.code.program.nodes import Program
from interlock.analysis.code.program.values import UNKNOWN, LibraryCall, Sym, Value, made_from
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import known

MAX_SOURCE = 100_000
_LONG_WORD = re.compile(r"\b\w{65,}")  # padding: it takes no time to parse, and what comes after it is still read


# Read as Python 3.11, an escape like "\d" raises only a warning that is not printed, so the process's warning
# filters, which threads share, stay as they are; newer syntax gets a second look. `1if x` still prints one line.
_VERSIONS = tuple(dict.fromkeys([(3, 11), sys.version_info[:2]]))

_STATEMENT = re.compile(r"(?m)(^[ \t]*|[;:][ \t]*)(print|exec)[ \t]+(?:>>[^,;\n]*,)?([^=(\s;][^;\n]*)")
_BARE_PRINT = re.compile(r"(?m)^([ \t]*)print[ \t]*$")
_OLD_EXCEPT = re.compile(r"(?m)^([ \t]*except[ \t]+[^,:\n]+),[ \t]*(\w+)[ \t]*:")
_OLD_OCTAL = re.compile(r"(?<![\w.])0([0-7]{2,6})(?![\w.])")


def _parse(source: str) -> Program:
    if len(source) > MAX_SOURCE and len(_LONG_WORD.sub("", source)) > MAX_SOURCE:
        raise Unparsed("longer than is read", "budget")
    try:
        tree = _tree(source)
    except (RecursionError, MemoryError):
        raise TooDeep from None
    if tree:
        return tree.body, True
    # Python that does not parse does not run; but another Python may parse more than this one, so what could do harm is told.
    return _without_stray_lines(source) or ([], not any(word in source for word in words("python")["risky"]))


# Read otherwise by older versions, shells, or in another encoding.
_OTHER_READING = re.compile(r"\A\s|[\t\f]|\A(?:[^\n]*\n)?[^\n]*coding")
_MOST_STRAY = 40


def _without_stray_lines(source: str) -> Program | None:
    """The tree without lines that are indented where no block begins, which no version of Python accepts; None for any other error.

    A file with such a line runs nothing at all, and an interpreter that is fed line by line goes on with the rest.
    """
    lines = source.split("\n") if not _OTHER_READING.search(source) else []
    for _ in range(_MOST_STRAY if lines else 0):
        try:
            return ast.parse("\n".join(lines), feature_version=_VERSIONS[-1]).body, True
        except IndentationError as error:
            if error.msg != "unexpected indent" or error.lineno is None:
                return None
            lines[error.lineno - 1] = ""
        except (SyntaxError, ValueError):
            return None
    return None


def _tree(source: str) -> ast.Module | None:
    """None where it is no Python; raises MemoryError where it nests too deeply."""
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
    modern = _OLD_EXCEPT.sub(r"\1 as \2:", _BARE_PRINT.sub(r"\1print()", flush))  # Python 2's statements
    modern = _STATEMENT.sub(r"\1\2(\3)", _OLD_OCTAL.sub(r"0o\1", modern))
    if modern != flush:
        yield modern


# -- what the language finds by name


def _item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
    """`vars(x)["name"]` and its like."""
    if not isinstance(owner, Sym) or not isinstance(key, str):
        return UNKNOWN
    if owner.path.endswith((".__dict__", ".__globals__")):
        return walk.language.attribute(walk, owner.owner, key)
    if owner.path == "vars()" and owner.args:
        return walk.language.attribute(walk, owner.args[0], key)
    return walk.language.look_up(walk, key) if owner.path in ("globals()", "locals()", "vars()", "") else UNKNOWN


def _import(call: LibraryCall) -> Value:
    name = call.text(0, "name")
    head = name if call.name == "import_module" else name.partition(".")[0]
    return Sym(library("python").canonical(head)) if known(name) else Sym("?")


def _getattr(call: LibraryCall) -> Value:
    owner, name = call.get(0), call.get(1)
    if isinstance(name, str) and known(name):
        return call.walk.language.attribute(call.walk, owner, name)
    if isinstance(owner, Sym) and owner.path in ("os", "shutil", "subprocess", ""):
        return Sym("<chosen>")
    return made_from(owner)


read_python = CodeLanguage(
    "Python",
    "python",
    _parse,
    {"__import__ importlib.import_module": _import, "getattr object.__getattribute__": _getattr},
    names={"__name__": "__main__"},
    own_item=_item,
    strict=True,
).read
