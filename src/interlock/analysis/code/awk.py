"""awk programs -> their effects besides printing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from interlock.analysis.code.lexing import CodeToken, Scanner, Unparsed, mates, scan, template
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import MAX_TEXT, text_of
from interlock.analysis.code.program.walk import is_bare_shell
from interlock.analysis.facts import Report, hole, known, without_holes

_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+")
_OPERATORS = tuple(("**= || && |& >> == != <= >= ++ -- += -= *= /= %= ^= !~ **").split())
_PRINTS = frozenset({"print", "printf"})
_ENDS = frozenset({";", "}", "{"})
_UNENDED = frozenset({",", "{", "&&", "||", "do", "else"})  # a line behind these goes on in the next
_TCP = re.compile(r"/inet[46]?/(?:tcp|udp)/[^/]*/([^/]+)/([^/]+)")


def read_awk(source: str, out: Report, given: Mapping[str, str] | None = None) -> None:
    """Tell which commands an awk program runs and which files it writes; `given` are the variables of -v."""
    try:
        tokens = scan(source, _one, lambda scanner: scanner.last.text not in _UNENDED, "#")
        _Program(tokens, mates(tokens), out, given or {}).read()
    except (Unparsed, RecursionError, MemoryError, ValueError, LookupError):
        out.unreadable("Awk that does not parse", "syntax")


def _one(scanner: Scanner) -> None:
    char = scanner.peek()
    if scanner.starts("\\\n"):
        scanner.at += 2
    elif char == '"':
        scanner.emit("text", char, template(scanner.delimited()) or ("",))
    elif char == "/" and not _ends_value(scanner.last):
        _regex(scanner)
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group())
    elif found := scanner.take(_NAME):
        scanner.emit("name", found.group())
    else:
        scanner.operator(_OPERATORS)


def _regex(scanner: Scanner) -> None:
    """A regular expression; a slash inside a bracket expression does not end it."""
    scanner.at += 1
    in_set = False
    while scanner.more and (scanner.peek() != "/" or in_set) and scanner.peek() != "\n":
        if scanner.peek() == "\\":
            scanner.at += 1
        elif scanner.peek() == "[":
            in_set = "]" in scanner.source[scanner.at + 2 :].split("\n", 1)[0]
        elif scanner.peek() == "]":
            in_set = False
        scanner.at += 1
    if scanner.peek() != "/":
        raise Unparsed("no closing '/'")
    scanner.at += 1
    scanner.emit("regex", "/")


def _ends_value(token: CodeToken) -> bool:
    if token.kind == "name":
        return token.text not in ("print", "printf", "return", "in", "case")
    return (
        token.kind in ("number", "text", "regex")
        or token.text in (")", "]")
        or (token.text == "$" and token.kind != "op")
    )


class _Program:
    """The tokens of a program and what is known about its variables."""

    def __init__(
        self, tokens: list[CodeToken], pairs: Mapping[int, int], out: Report, given: Mapping[str, str]
    ) -> None:
        self.tokens, self.pairs, self.out = tokens, pairs, out
        self.names: dict[str, tuple[str, int]] = {name: (value, -1) for name, value in given.items()}
        self.block = 0
        self.sockets: list[str] = []
        self.runs = 0

    def read(self) -> None:
        start = 0
        for index, token in enumerate(self.tokens):
            if token.kind == "end" or (token.kind == "op" and token.text in _ENDS):
                self._statement(start, index)
                start = index + 1
                self.block += token.text in ("{", "}")
        self._statement(start, len(self.tokens))
        if self.sockets and self.runs:
            self.out.effect("reverse_shell", self.sockets[0])

    def _is(self, index: int, *texts: str) -> bool:
        return (
            index < len(self.tokens) and self.tokens[index].kind in ("op", "name") and self.tokens[index].text in texts
        )

    def _statement(self, start: int, stop: int) -> None:
        prints = -1
        for index in range(start, stop):
            self.out.step()
            token = self.tokens[index]
            if token.kind == "name" and token.text in _PRINTS:
                prints = index
            elif self._is(index, "system") and self._is(index + 1, "("):
                self._command(self.concat(index + 2, self.pairs[index + 1]))
            elif self._is(index, "|", "|&"):
                self._pipe(index, prints, start, stop)
            elif self._is(index, ">", ">>") and prints >= 0 and self._outside(prints, index):
                self._write(index, stop, prints)
            elif self._is(index, "<") and (self._is(index - 1, "getline") or self._is(index - 2, "getline")):
                self._source(self.concat(index + 1, self._operand_end(index + 1, stop)))
            elif self._is(index, "=") and index > start and self.tokens[index - 1].kind == "name":
                self._assign(self.tokens[index - 1].text, self.concat(index + 1, self._value_end(index + 1, stop)))
            elif (
                token.kind == "op"
                and token.text.endswith("=")
                and token.text[:1] in "+-*/%^"
                and self.tokens[index - 1].kind == "name"
            ):
                self.names[self.tokens[index - 1].text] = (hole(), self.block)
            elif (
                token.kind == "op" and token.text == "@" and index + 1 < stop and self.tokens[index + 1].kind == "name"
            ):
                self._indirect(index)

    def _indirect(self, index: int) -> None:
        """gawk's @name(…) calls the function whose name is in a variable."""
        if self._is(index + 2, "("):
            chosen = self.names.get(self.tokens[index + 1].text, (hole(), 0))[0]
            if chosen == "system":
                self._command(self.concat(index + 3, self.pairs[index + 2]))
            elif not known(chosen):
                self.out.unreadable("a function chosen at run time", "command")

    def _outside(self, start: int, stop: int) -> bool:
        """True when no bracket is open between the two."""
        index = start
        while index < stop:
            index = self.pairs.get(index, index) + 1
        return index == stop

    def _pipe(self, index: int, prints: int, start: int, stop: int) -> None:
        if self._is(index + 1, "getline"):
            self._command(self.concat(self._left_operand(start, index), index))
        elif prints >= 0:
            self._sink(self.concat(index + 1, self._value_end(index + 1, stop)), self.concat(prints + 1, index))

    def _sink(self, command: str, printed: str) -> None:
        """What is printed into a bare shell is what the shell runs."""
        self._command(printed if is_bare_shell(command) else command)

    def _left_operand(self, start: int, stop: int) -> int:
        """Where the expression before a pipe begins."""
        index = stop - 1
        closers = {close: opener for opener, close in self.pairs.items()}
        while index >= start:
            token = self.tokens[index]
            if token.kind == "op" and index in closers:
                index = closers[index] - 1
                continue
            if (token.kind == "op" and token.text != "$") or (
                token.kind == "name" and token.text in ("while", "if", "print", "return")
            ):
                break
            index -= 1
        return index + 1

    def _value_end(self, index: int, stop: int) -> int:
        while index < stop and not self._is(index, ";", ")", ",", "|", "|&", ">", ">>", "?", "&&", "||", "<"):
            index = self.pairs.get(index, index) + 1
        return min(index, stop)

    def _operand_end(self, index: int, stop: int) -> int:
        return min(self.pairs.get(index, index) + 1, stop)

    def _assign(self, name: str, value: str) -> None:
        before = self.names.get(name)
        differs = before is not None and before[1] not in (self.block, -1) and before[0] != value
        self.names[name] = (hole() if differs else value, self.block)

    def _command(self, value: str) -> None:
        found = _TCP.match(value)
        if found:
            self.sockets.append(f"{found[1]}:{found[2]}")
        elif not without_holes(value) and self.sockets:
            self.runs += 1
        elif value.strip():
            self.out.shell(value)

    def _write(self, index: int, stop: int, prints: int) -> None:
        printed = self.concat(prints + 1, index)
        empty = prints + 1 < index and known(printed) and not printed.strip()
        path = self.concat(index + 1, self._value_end(index + 1, stop))
        if not path.startswith(("/dev/std", "/dev/tty", "/dev/null", "/dev/fd/")):
            appends = self.tokens[index].text == ">>"
            self.out.effect("append" if appends else "truncate" if empty else "write", path)

    def _source(self, path: str) -> None:
        if known(path) and path not in ("-", "/dev/stdin"):
            self.out.effect("read", path)

    def concat(self, start: int, stop: int) -> str:
        """The text that operands side by side make."""
        parts: list[str] = []
        index = start
        while index < stop:
            self.out.step()
            value, index = self._operand(index, stop)
            parts.append(value)
        return "".join(parts)[:MAX_TEXT]

    def _operand(self, index: int, stop: int) -> tuple[str, int]:
        token = self.tokens[index]
        if token.kind == "text":
            return "".join(part for part in token.parts if isinstance(part, str)), index + 1
        if token.kind == "number":
            return token.text, index + 1
        if token.kind == "op" and token.text == "(":
            close = self.pairs[index]
            return self.concat(index + 1, close), close + 1
        if token.kind == "op" and token.text == "$":
            return hole("field"), self.pairs.get(index + 1, index + 1) + 1
        if token.kind == "name":
            return self._named(index, token.text)
        return (" " if token.text == "," else hole()), index + 1

    def _named(self, index: int, name: str) -> tuple[str, int]:
        if self._is(index + 1, "("):
            close = self.pairs[index + 1]
            return self._function(name, index + 2, close), close + 1
        if self._is(index + 1, "["):
            close = self.pairs[index + 1]
            key = self.concat(index + 2, close)
            return hole(key if name == "ENVIRON" and known(key) else name), close + 1
        return self.names.get(name, (hole(name), 0))[0], index + 1

    def _function(self, name: str, start: int, stop: int) -> str:
        args: list[str] = []
        while start < stop:
            end = start
            while end < stop and not self._is(end, ","):
                end = self.pairs.get(end, end) + 1
            args.append(self.concat(start, end))
            start = end + 1
        if name == "sprintf" and args:
            return text_of(result("format", args))
        if name in ("tolower", "toupper") and args:
            return text_of(result("lower" if name == "tolower" else "upper", args[:1]))
        return hole()
