"""Perl text -> tokens: quotes of any kind, regexes, here-documents and POD told apart from code."""

from __future__ import annotations

import re
import textwrap

from interlock.analysis.code.lexing import CodeToken, Part, Scanner, Splice, Unparsed, balanced, literal, template
from interlock.analysis.code.library import words

_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:::|')[A-Za-z_]\w*)*(?:::)?")
_HEREDOC = re.compile(r"<<(~?)(?:\"([^\"\n]*)\"|'(?P<plain>[^'\n]*)'|`(?P<ticks>[^`\n]*)`|([A-Za-z_]\w*))")
_DOCUMENTATION = re.compile(r"=[A-Za-z].*?(?:\n=cut[^\n]*|\Z)", re.DOTALL)
_SPACE = re.compile(r"\s*")
_QUOTES = frozenset(("q qq qx qw m qr s tr y").split())
_COMPARES = frozenset({"x", "eq", "ne", "lt", "gt", "le", "ge", "cmp"})
_FLAGS = re.compile(r"[a-zA-Z]*")
_SPLICED = re.compile(r"\$(?:\w+(?:::\w+)*|[&!@0])|@\w+(?:::\w+)*")


def begin_line(scanner: Scanner) -> None:
    """Step over the here-documents that the line before announced, and over documentation."""
    scanner.at, scanner.resume = max(scanner.at, scanner.resume), 0
    scanner.take(_DOCUMENTATION)


def take(scanner: Scanner) -> bool:
    """Take a token that only what stands before it tells: a quoted text, a regular expression, a here-document, a word."""
    if found := scanner.take(_NAME):
        _word(scanner, found[0])
    elif scanner.peek() not in "</" or not _operand(scanner):
        return False
    elif scanner.peek() == "/":
        _quoted(scanner, "m")
    elif found := scanner.take(_HEREDOC):
        _here_document(scanner, found)
    else:
        return False
    return True


def _operand(scanner: Scanner) -> bool:
    """Whether a value may begin here."""
    return not scanner.last.ends_value(words("perl")["before_operands"])


def _word(scanner: Scanner, word: str) -> None:
    if word in ("__END__", "__DATA__"):
        scanner.at = len(scanner.source)
        return
    before = scanner.last
    as_name = (before.kind == "op" and before.text == "->") or (before.text == "sub" and before.kind == "name")
    if word in _QUOTES and not as_name and _opens_quote(scanner, before):
        scanner.take(_SPACE)
        _quoted(scanner, word)
    elif before.kind == "op" and before.text == "{" and scanner.peek() == "}" and len(scanner.tokens) > 1:
        holder = scanner.tokens[-2]
        scanner.emit("text" if holder.kind == "var" or holder.text in ("->", "]", "}") else "name", word)
    else:
        scanner.emit("op" if word in _COMPARES and not _operand(scanner) else "name", word)


def _opens_quote(scanner: Scanner, before: CodeToken) -> bool:
    rest = scanner.source[scanner.at : scanner.at + 40]
    nxt = rest.lstrip()[:2]
    if not nxt or nxt[0] in ",;)_" or nxt[0].isalnum() or nxt == "=>" or (before.text == "{" and nxt[0] == "}"):
        return False
    return not (rest[:1].isspace() and nxt[0] in "#=")


def _quoted(scanner: Scanner, kind: str) -> None:
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
    scanner.take(_SPACE)
    replacement = scanner.delimited()
    flags = scanner.take(_FLAGS)
    runs = kind == "s" and flags is not None and "e" in flags.group()
    scanner.emit("regex", kind, [Splice(replacement)] if runs else _code_in(replacement) if kind == "s" else [])


def _code_in(replacement: str) -> list[Part]:
    found = [part for part in template(replacement, splice) if isinstance(part, Splice)]
    return [part for part in found if part.code.startswith(("@{", "${"))]


def _here_document(scanner: Scanner, found: re.Match[str]) -> None:
    """Take the lines behind this one; a mark in single quotes keeps code out, one in ticks makes a command."""
    mark = next(group for group in found.groups()[1:] if group is not None)
    begin = scanner.resume or scanner.source.find("\n", scanner.at)
    indent = r"[ \t]*" if found[1] else ""
    end = re.compile(rf"^{indent}{re.escape(mark)}(?=;?\r?$)", re.M).search(scanner.source, begin + 1)
    if begin < 0 or end is None:
        raise Unparsed(f"no end of here-document {mark!r}")
    body = scanner.source[begin + 1 : end.start()]
    body = textwrap.dedent(body) if found[1] else body
    scanner.emit(
        "text" if found["ticks"] is None else "ticks",
        body,
        (body,) if found["plain"] is not None else template(body, splice) or ("",),
    )
    scanner.resume = end.end()


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
