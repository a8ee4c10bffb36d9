"""Perl text -> tokens: quotes of any kind, regexes, here-documents and POD told apart from code."""

from __future__ import annotations

import re
import textwrap

from interlock.analysis.code.lexing import CodeToken, Part, Scanner, Splice, Unparsed, balanced, literal, template
from interlock.analysis.code.library import words

_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:::|')[A-Za-z_]\w*)*(?:::)?")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?")
_VARIABLE = re.compile(r"[$@%&](?:::)?[A-Za-z_]\w*(?:::\w+)*|\$[0-9]+|@_|\$(?:\^\w|[!@/\\,;.&`'+\"0<>()\[\]|?-])")
_WRAPPED = re.compile(r"([$@%])\{\s*(\^?\w+)\s*\}")
_HEREDOC = re.compile(r"<<(~?)(?:\"([^\"\n]*)\"|'(?P<plain>[^'\n]*)'|`(?P<ticks>[^`\n]*)`|([A-Za-z_]\w*))")
_ANGLE = re.compile(r"<([^<>=\n ][^<>\n]*|)>")
_POD = re.compile(r"=[A-Za-z]\w*")
_TEST = re.compile(r"-[a-zA-Z](?=\s+[$\"'/\w]|[$\"'(])(?!\w)")
_QUOTES = frozenset(("q qq qx qw m qr s tr y").split())
_FLAGS = re.compile(r"[a-zA-Z]*")
_SPLICED = re.compile(r"\$(?:\w+(?:::\w+)*|[&!@0])|@\w+(?:::\w+)*")
_OPERATORS = tuple(
    (
        "<=> **= ||= &&= //= ... <<= >>= -> ++ -- ** =~ !~ == != <= >= && || // .. :: += -= *= /= .= %= x= &= "
        "|= ^= << >> => $# @$ %$ $$"
    ).split()
)

_Waiting = tuple[int, re.Match[str]]  # the place of a here-document, and what announced it


def scan(source: str) -> list[CodeToken]:
    """The tokens of a Perl program; text that never ends is refused."""
    scanner = Scanner(source)
    waiting: list[_Waiting] = []
    scanner.skip_block(_POD, "=cut")
    while scanner.more:
        if scanner.skip_space():
            continue
        if scanner.peek() == "\n":
            scanner.at += 1
            scanner.spaced = True
            _fill(scanner, waiting)
            scanner.skip_block(_POD, "=cut")
        elif scanner.peek() == "#":
            scanner.skip_line()
        elif not _one(scanner, waiting):
            break
    if waiting:
        raise Unparsed("no here-document")
    return scanner.tokens


def _one(scanner: Scanner, waiting: list[_Waiting]) -> bool:
    """Take one token; False at the end of the program."""
    char, operand = scanner.peek(), not scanner.last.ends_value(words("perl")["before_operands"])
    if char in "'\"`":
        quoted(scanner, {"'": "q", '"': "qq", "`": "qx"}[char])
    elif char == "<" and operand and (found := scanner.take(_HEREDOC)):
        waiting.append((len(scanner.tokens), found))  # it begins on the next line
        scanner.emit("text", "")
    elif char == "<" and operand and (found := scanner.take(_ANGLE)):
        if re.fullmatch(r"\$?\w*", found[1]):
            scanner.emit("name", "readline")
        else:
            scanner.emit("glob", found[1], template(found[1], splice))
    elif char == "/" and operand:
        quoted(scanner, "m")
    elif char == "-" and operand and scanner.take(_TEST):
        scanner.emit("op", "!")
    elif (char == "$" or (char in "@%&" and operand)) and (found := scanner.take(_WRAPPED)):
        scanner.emit("var", found[1] + found[2])
    elif (char == "$" or (char in "@%&" and operand)) and (found := scanner.take(_VARIABLE)):
        scanner.emit("name" if char == "&" else "var", found.group().lstrip("&"))
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group().replace("_", ""))
    elif found := scanner.take(_NAME):
        return _word(scanner, found.group())
    else:
        scanner.operator(_OPERATORS)
    return True


def _word(scanner: Scanner, word: str) -> bool:
    if word in ("__END__", "__DATA__"):
        return False
    before = scanner.last
    as_name = (before.kind == "op" and before.text == "->") or (before.text == "sub" and before.kind == "name")
    if word in _QUOTES and not as_name and _opens_quote(scanner, before):
        while scanner.peek().isspace():
            scanner.at += 1
        quoted(scanner, word)
        return True
    if before.kind == "op" and before.text == "{" and scanner.peek() == "}" and len(scanner.tokens) > 1:
        holder = scanner.tokens[-2]
        scanner.emit("text" if holder.kind == "var" or holder.text in ("->", "]", "}") else "name", word)
        return True
    compares = word in ("x", "eq", "ne", "lt", "gt", "le", "ge", "cmp")
    operator = compares and before.ends_value(words("perl")["before_operands"])
    scanner.emit("op" if operator else "name", word)
    return True


def _opens_quote(scanner: Scanner, before: CodeToken) -> bool:
    rest = scanner.source[scanner.at : scanner.at + 40]
    nxt = rest.lstrip()[:2]
    if not nxt or nxt[0] in ",;)_" or nxt[0].isalnum() or nxt == "=>" or (before.text == "{" and nxt[0] == "}"):
        return False
    return not (rest[:1].isspace() and nxt[0] in "#=")


def quoted(scanner: Scanner, kind: str) -> None:
    """Take the quoted thing whose delimiter stands here."""
    delimiter = scanner.peek()
    raw = scanner.delimited()
    if kind == "q":
        scanner.emit("text", literal(raw, delimiter))
    elif kind == "qw":
        scanner.emit("words", raw)
    elif kind in ("qq", "qx"):
        parts = (literal(raw),) if kind == "qx" and delimiter == "'" else template(raw, splice)
        scanner.emit("ticks" if kind == "qx" else "text", raw, parts or ("",))
    elif kind in ("m", "qr"):
        flags = scanner.take(_FLAGS)
        code = re.findall(r"\(\?\??\{(.*?)\}\)", raw) if "(?" in raw else []
        scanner.emit("regex", "m", [Splice(text) for text in code] if flags else [])
    else:
        _substitution(scanner, kind, delimiter)


def _substitution(scanner: Scanner, kind: str, delimiter: str) -> None:
    scanner.at -= delimiter not in "([{<"
    while scanner.peek().isspace():
        scanner.at += 1
    replacement = scanner.delimited()
    flags = scanner.take(_FLAGS)
    runs = kind == "s" and flags is not None and "e" in flags.group()
    scanner.emit("regex", kind, [Splice(replacement)] if runs else _code_in(replacement) if kind == "s" else [])


def _code_in(replacement: str) -> list[Part]:
    found = [part for part in template(replacement, splice) if isinstance(part, Splice)]
    return [part for part in found if part.code.startswith(("@{", "${"))]


def _fill(scanner: Scanner, waiting: list[_Waiting]) -> None:
    """Take the here-documents that begin here; a mark in single quotes keeps code out, one in ticks makes a command."""
    for index, found in waiting:
        mark = next(group for group in found.groups()[1:] if group is not None)
        indent = r"[ \t]*" if found[1] else ""
        end = re.compile(rf"^{indent}{re.escape(mark)};?\r?$", re.M).search(scanner.source, scanner.at)
        if end is None:
            raise Unparsed(f"no end of here-document {mark!r}")
        body = scanner.source[scanner.at : end.start()]
        body = textwrap.dedent(body) if found[1] else body
        parts = (body,) if found["plain"] is not None else template(body, splice)
        scanner.tokens[index] = CodeToken("text" if found["ticks"] is None else "ticks", body, parts, True)
        scanner.at = end.start() + end.group().index(mark) + len(mark)
    waiting.clear()


def splice(raw: str, at: int) -> tuple[Part, int] | None:
    """The variable or code that begins inside an interpolating text."""
    if raw[at] not in "$@":
        return None
    if raw[at + 1 : at + 2] == "{":
        end = balanced(raw, at + 1)
        return Splice(raw[at:end]), _subscripts(raw, end)
    found = _SPLICED.match(raw, at)
    if not found:
        return None
    end = _subscripts(raw, found.end())
    return Splice(raw[at:end]), end


def _subscripts(raw: str, at: int) -> int:
    """The offset after the indexes that follow a variable in a text."""
    while True:
        arrow = 2 if raw.startswith("->", at) and raw[at + 2 : at + 3] in ("[", "{") else 0
        opener = raw[at + arrow : at + arrow + 1]
        inner = raw[at + arrow + 1 : at + arrow + 2]
        if opener not in ("[", "{") or not (inner.isalnum() or inner in "$_-'\""):
            return at
        try:
            at = balanced(raw, at + arrow)
        except Unparsed:
            return at
