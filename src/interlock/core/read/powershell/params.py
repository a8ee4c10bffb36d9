"""PowerShell parameter lists -> their names and defaults."""

from __future__ import annotations

import re

from interlock.core.read.powershell.expression import read_operand, skip_attribute
from interlock.core.read.powershell.tree import Expr, Param, Trouble
from interlock.core.read.powershell.words import Cursor

_NAME = re.compile(r"\$\{?([\w:]+)\}?")
_PARAM = re.compile(r"param\s*\(", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\[[A-Za-z_][\w.]*\s*\(")
_PARAM_TYPE = re.compile(r"\[[\w.+\[\],\s`]+\]")


def read_params(cursor: Cursor) -> tuple[Param, ...]:
    """The parameters that a block or script starts with, if it does."""
    start = cursor.pos
    cursor.skip_lines("\r\n;")
    while cursor.match(re.compile(r"using\b[^\r\n;]*", re.IGNORECASE)):
        cursor.skip_lines("\r\n;")
    while cursor.look(_ATTRIBUTE):
        skip_attribute(cursor)
        cursor.skip_lines()
    found = cursor.look(_PARAM)
    if not found:
        cursor.pos = start
        return ()
    cursor.pos = found.end() - 1
    return read_param_list(cursor)


def read_param_list(cursor: Cursor) -> tuple[Param, ...]:
    """The parameters between parentheses."""
    params: list[Param] = []
    cursor.expect("(")
    with cursor.deeper():
        cursor.skip_lines()
        while not cursor.take(")"):
            params.append(_param(cursor))
            cursor.skip_lines()
            if not cursor.take(",") and not cursor.at(")"):
                raise Trouble("a parameter list has no end")
            cursor.skip_lines()
    return tuple(params)


def _param(cursor: Cursor) -> Param:
    while cursor.at("["):
        if cursor.look(_ATTRIBUTE):
            skip_attribute(cursor)
        elif not cursor.match(_PARAM_TYPE):
            raise Trouble("a type has no end")
        cursor.skip_lines()
    found = cursor.match(_NAME)
    if not found:
        raise Trouble("a parameter without a name")
    cursor.skip_lines()
    default: Expr | None = None
    if cursor.take("="):
        cursor.skip_lines()
        default = read_operand(cursor)
    return Param(found.group(1).lower(), default)
