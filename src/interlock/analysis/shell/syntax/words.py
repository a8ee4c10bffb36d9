"""Parses words into parts: text, double quotes, every form of `$`, backticks, process substitution."""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.analysis.shell.syntax.cursor import (
    ShellCursor,
    ansi,
    arithmetic_end,
    backtick_end,
    balanced,
    escape,
    single,
    subscript_end,
)
from interlock.analysis.shell.syntax.nodes import Arithmetic, Part, ShellText, ShellVariable, ShellWord, Substitution

_PLAIN = re.compile(r"[^\s'\"\\$`|&;<>()?*+@!]+")
_GLOB = re.compile(r"[?*+@!]+")
_QUOTED = re.compile(r'[^"\\$`]+')
_DOCUMENT = re.compile(r"[^\\$`]+")
_BRACED = re.compile(r"[^'\"\\$`}/:]+")
_BACKTICK_ESCAPE = re.compile(r"\\([\\`$])")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED_NAME = re.compile(r"[A-Za-z_]\w*|\d+|[@*#?$!-]")
_ALL_OF = re.compile(r"[*@]")
_HASH_IS_NAME = re.compile(r"#[}:#%/^,-]")
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//|/#|/%|/|\^\^?|,,?|@[A-Za-z]|:")
_SECOND = {"/": "/", "//": "/", "/#": "/", "/%": "/", ":": ":"}  # what stands before an operator's second argument


def word(cursor: ShellCursor) -> ShellWord:
    """The word that starts here; without parts when none does."""
    cursor.step(1)
    start = cursor.pos
    parts: list[Part] = []
    text = cursor.text
    while cursor.pos < cursor.size:
        found = _PLAIN.match(text, cursor.pos)
        if found:
            parts.append(ShellText(found[0], False))
            cursor.pos = found.end()
            if cursor.pos >= cursor.size:
                break
        char = text[cursor.pos]
        reader = _WORD_PARTS.get(char)
        if reader is not None:
            reader(cursor, parts)
        elif char in "<>" and text.startswith("(", cursor.pos + 1) and not (parts and char == ">"):
            cursor.pos += 2
            parts.append(Substitution(cursor.enclosed(), True, char))
        elif char == "(" and cursor.dialect == "zsh" and parts:
            parts.append(ShellText(balanced(cursor), False))
        else:
            break
    parts = _merged(parts)
    only = parts[0] if len(parts) == 1 else None
    literal = only.text if isinstance(only, ShellText) and not only.quoted else None
    return ShellWord(parts, start + cursor.base, cursor.pos + cursor.base, literal)


def expansions(cursor: ShellCursor) -> list[Part]:
    parts: list[Part] = []
    while cursor.pos < cursor.size:
        if found := cursor.match(_DOCUMENT):
            parts.append(ShellText(found[0], True))
        else:
            _quoted_special(cursor, parts, "\\$`")
    return _merged(parts)


def _merged(parts: list[Part]) -> list[Part]:
    """Neighbouring texts of one kind as one: most words then have one part."""
    if len(parts) < 2:
        return parts
    out: list[Part] = [parts[0]]
    for part in parts[1:]:
        last = out[-1]
        if isinstance(part, ShellText) and isinstance(last, ShellText) and part.quoted == last.quoted:
            out[-1] = ShellText(last.text + part.text, part.quoted)
        else:
            out.append(part)
    return out


def _globs(cursor: ShellCursor, parts: list[Part]) -> None:
    found = cursor.match(_GLOB)
    assert found is not None
    literal = found[0]
    if cursor.at("("):  # an extended glob: !(keep|this)
        literal += balanced(cursor)
    parts.append(ShellText(literal, False))


def _double(cursor: ShellCursor, parts: list[Part]) -> None:
    opened = cursor.pos
    cursor.pos += 1
    parts.append(ShellText("", True))
    while cursor.pos < cursor.size:
        if found := cursor.match(_QUOTED):
            parts.append(ShellText(found[0], True))
        elif cursor.take('"'):
            return
        else:
            _quoted_special(cursor, parts, '"\\$`')
    cursor.refuse("a double quote is not closed", opened)


def _quoted_special(cursor: ShellCursor, parts: list[Part], escapable: str) -> None:
    char = cursor.text[cursor.pos]
    if char == "$":
        _dollar(cursor, parts, True)
    elif char == "`":
        _backtick(cursor, parts, True)
    else:
        after = cursor.text[cursor.pos + 1 : cursor.pos + 2]
        cursor.pos += 2
        if after != "\n":
            parts.append(ShellText(after if after and after in escapable else "\\" + after, True))


def _backtick(cursor: ShellCursor, parts: list[Part], quoted: bool = False) -> None:
    start = cursor.pos + 1
    end = backtick_end(cursor)
    inner = cursor.inner(_BACKTICK_ESCAPE.sub(r"\1", cursor.text[start:end]), start)
    body = inner.grammar.nodes(inner, "")
    if inner.pos < inner.size:
        cursor.refuse("backticks cannot be read", start)
    parts.append(Substitution(body, quoted))
    cursor.pos = end + 1


# -- $


def _dollar(cursor: ShellCursor, parts: list[Part], quoted: bool = False) -> None:
    after = cursor.text[cursor.pos + 1 : cursor.pos + 2]
    if after == "(":
        _substitution(cursor, parts, quoted)
    elif after == "{":
        _braced(cursor, parts, quoted)
    elif after == "'" and not quoted:
        ansi(cursor, parts)
    elif after == '"' and not quoted:
        cursor.pos += 1
        _double(cursor, parts)
    elif after == "[":
        _old_arithmetic(cursor, parts)
    elif found := _NAME.match(cursor.text, cursor.pos + 1):
        parts.append(ShellVariable(found[0], quoted))
        cursor.pos = found.end()
    else:
        parts.append(ShellText("$", quoted))
        cursor.pos += 1


def _old_arithmetic(cursor: ShellCursor, parts: list[Part]) -> None:
    end = cursor.text.find("]", cursor.pos)
    if end < 0:
        cursor.refuse("$[ is not closed")
    parts.append(Arithmetic(expansions(cursor.inner(cursor.text[cursor.pos + 2 : end], cursor.pos + 2))))
    cursor.pos = end + 1


def _substitution(cursor: ShellCursor, parts: list[Part], quoted: bool) -> None:
    start = cursor.pos + 3
    if cursor.at("$((") and (end := arithmetic_end(cursor, start)) >= 0:
        parts.append(Arithmetic(expansions(cursor.inner(cursor.text[start:end], start))))
        cursor.pos = end + 2
        return
    cursor.pos += 2
    parts.append(Substitution(cursor.enclosed(), quoted))


# -- ${…}


def _braced(cursor: ShellCursor, parts: list[Part], quoted: bool) -> None:
    opened = cursor.pos
    cursor.pos += 2
    if (first := cursor.peek()) and first in " \t\n|":
        cursor.take("|")  # `${ command; }` and `${| command; }`, which run in this shell
        cursor.deeper()
        parts.append(Substitution(cursor.body("}")[0], quoted))
        cursor.depth -= 1
        return
    variable = _braced_name(cursor, quoted)
    if not cursor.at("}"):
        _operator(cursor, variable, opened)
    if not cursor.take("}"):
        cursor.refuse("a ${ is not closed", opened)
    parts.append(variable)


def _braced_name(cursor: ShellCursor, quoted: bool) -> ShellVariable:
    variable = ShellVariable("", quoted)
    if cursor.at("#") and not _HASH_IS_NAME.match(cursor.text, cursor.pos):
        variable.length = True
        cursor.pos += 1
    elif cursor.at("!") and not cursor.at("!}"):
        variable.indirect = True
        cursor.pos += 1
    found = cursor.match(_BRACED_NAME)
    if not found:
        cursor.refuse("a ${ cannot be read")
    variable.name = found[0]
    if cursor.at("["):
        end = subscript_end(cursor)
        variable.index = cursor.text[cursor.pos + 1 : end]
        cursor.pos = end + 1
    if variable.indirect:
        cursor.match(_ALL_OF)
    return variable


def _operator(cursor: ShellCursor, variable: ShellVariable, opened: int) -> None:
    found = cursor.match(_OPERATOR)
    if not found:
        cursor.refuse("a ${ cannot be read", opened)
    cursor.deeper()
    second = _SECOND.get(found[0], "")
    variable.operator = found[0]
    variable.argument = _braced_word(cursor, second + "}", variable.quoted)
    if second and cursor.take(second):
        variable.second = _braced_word(cursor, "}", variable.quoted)
    cursor.depth -= 1


def _braced_word(cursor: ShellCursor, stops: str, quoted: bool) -> ShellWord:
    """Up to one of `stops` that is not quoted."""
    start = cursor.pos
    parts: list[Part] = []
    while (char := cursor.peek()) not in stops:
        if found := cursor.match(_BRACED):
            parts.append(ShellText(found[0], quoted))
        elif (char == "'" and quoted) or char in "/:}":
            parts.append(ShellText(char, quoted))
            cursor.pos += 1
        elif char == "$":
            _dollar(cursor, parts, quoted)
        else:
            _WORD_PARTS[char](cursor, parts)
    return ShellWord(_merged(parts), start, cursor.pos)


_WORD_PARTS: dict[str, Callable[[ShellCursor, list[Part]], None]] = {
    "'": single,
    '"': _double,
    "\\": escape,
    "`": _backtick,
    "$": _dollar,
    **dict.fromkeys("?*+@!", _globs),
}
