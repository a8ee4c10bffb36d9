"""Python text -> its tree, for text that is indented as a whole or was written for Python 2 as well."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator

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
