"""PHP text -> tokens: strings, here-documents, comments, and the text outside of `<?php … ?>`."""

from __future__ import annotations

import re

from interlock.analysis.code.lexing import (
    CodeToken,
    Part,
    Scanner,
    Splice,
    balanced,
    heredoc_body,
    literal,
    template,
    unescape,
)

_NAME = re.compile(r"\\?[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*(?:\\[A-Za-z_][\w]*)*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?")
_VARIABLE = re.compile(r"\$[A-Za-z_]\w*")
_HEREDOC = re.compile(r"<<<[ \t]*(?:'(\w+)'|\"(\w+)\"|(\w+))[ \t]*\r?\n")
_CAST = re.compile(r"\(\s*(?:int|integer|float|string|bool|boolean|array|object)\s*\)")
_INNER = re.compile(r"\$[A-Za-z_]\w*(?:->\w+|\[[\w$'\" -]*\])?")
_KEPT = frozenset('nrtvefx$\\"u01234567')
_OPERATORS = tuple(
    (
        "<=> === !== **= ??= ... <<= >>= ?-> -> :: ++ -- ** == != <> <= >= && || ?? += -= *= /= .= %= &= |= ^= << >> =>"
    ).split()
)


def scan(source: str) -> list[CodeToken]:
    """The tokens of PHP code, with or without its opening tag."""
    scanner = Scanner(source)
    opening = source.find("<?")
    if opening >= 0 and not source[:opening].strip():
        scanner.at = opening
    while scanner.more:
        if scanner.skip_space() or _comment(scanner):
            continue
        if scanner.peek() == "\n":
            scanner.at += 1
            scanner.spaced = True
        else:
            _one(scanner)
    return scanner.tokens


def _comment(scanner: Scanner) -> bool:
    if scanner.starts("/*"):
        scanner.skip_past("*/")
    elif scanner.starts("//") or (scanner.peek() == "#" and scanner.peek(1) != "["):
        end = re.compile(r"\?>|\n").search(scanner.source, scanner.at)
        scanner.at = end.start() if end else len(scanner.source)
    else:
        return False
    return True


def _one(scanner: Scanner) -> None:
    char = scanner.peek()
    if char == "'":
        scanner.emit("text", "'", (literal(scanner.delimited()),))
    elif char in '"`':
        raw = scanner.delimited("{$")
        scanner.emit("ticks" if char == "`" else "text", raw, template(raw, splice, _escape) or ("",))
    elif scanner.starts("<<<") and (found := scanner.take(_HEREDOC)):
        mark = found[1] or found[2] or found[3]
        body, scanner.at = _body(scanner, mark)
        body = body.removesuffix("\n")
        scanner.emit("text", body, (body,) if found[1] else template(body, splice, _escape) or ("",))
    elif scanner.starts("?>"):
        _leave(scanner)
    elif scanner.starts("<?"):
        scanner.at += 5 if scanner.starts("<?php") else 3 if scanner.starts("<?=") else 2
        scanner.emit("end", ";")
    elif found := scanner.take(_VARIABLE):
        scanner.emit("var", found.group())
    elif char == "(" and scanner.take(_CAST):
        scanner.spaced = True
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group().replace("_", ""))
    elif found := scanner.take(_NAME):
        scanner.emit("name", found.group().rpartition("\\")[2])
    else:
        scanner.operator(_OPERATORS)


def _body(scanner: Scanner, mark: str) -> tuple[str, int]:
    """The here-document; its mark may be followed by more code on the same line."""
    found = re.compile(rf"^[ \t]*{mark}\b", re.MULTILINE).search(scanner.source, scanner.at)
    end = found.end() if found else scanner.at  # without a mark nothing is left to read, and that is refused
    return heredoc_body(scanner.source[:end], scanner.at, mark, True)[0], end


def _leave(scanner: Scanner) -> None:
    """Step over the text between `?>` and the next `<?`."""
    end = scanner.source.find("<?", scanner.at)
    scanner.at = len(scanner.source) if end < 0 else end
    scanner.emit("end", ";")


def _escape(raw: str, at: int) -> tuple[str, int]:
    nxt = raw[at + 1 : at + 2]
    return unescape(raw, at) if nxt and nxt in _KEPT else ("\\" + nxt, at + 2)


def splice(raw: str, at: int) -> tuple[Part, int] | None:
    """The variable or code that begins inside a double-quoted text."""
    if raw.startswith("{$", at):
        end = balanced(raw, at)
        return Splice(raw[at + 1 : end - 1]), end
    if raw.startswith("${", at):
        end = balanced(raw, at + 1)
        return Splice("$" + raw[at + 2 : end - 1].strip("\"' ")), end
    found = _INNER.match(raw, at)
    return (Splice(found.group()), found.end()) if found else None
