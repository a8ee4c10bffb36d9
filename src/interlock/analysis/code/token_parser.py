"""Tokens of a language without a usable grammar (Perl, Groovy, R) -> the form that all languages share."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from itertools import pairwise
from typing import Any

from interlock.analysis.code.dialects import TokenDialect
from interlock.analysis.code.lexing import NOTHING, SEPARATORS, CodeToken, Splice, TooDeep, function_of
from interlock.analysis.code.program import nodes

DEEPEST = 40  # expressions inside each other
_TIGHTEST = 100  # binds more than any operator

Given = tuple[list[ast.expr], list[ast.keyword]]


def by_tokens(key: str, module: str = "tokenised", **hooks: Any) -> Callable[[str], nodes.Program]:
    return lambda source: (TokenParser(dialect_of(key, module, **hooks), source).sequence(), True)


@cache
def dialect_of(key: str, module: str = "tokenised", **hooks: Any) -> TokenDialect:
    return TokenDialect(
        key, lambda name: function_of(module, key, name) or function_of("token_parser", key, name), **hooks
    )


class TokenParser:
    def __init__(self, dialect: TokenDialect, source: str, depth: int = 0) -> None:
        scanned = dialect.scan(source)
        self.dialect, self.table = dialect, dialect.table
        self.tokens, self.mates = scanned.tokens, scanned.mates
        self.at, self.stop, self.depth = 0, len(self.tokens), depth
        self.names: set[str] = set()  # what the program assigns to

    # moving

    @property
    def token(self) -> CodeToken:
        return self.ahead(0)

    def ahead(self, count: int) -> CodeToken:
        index = self.at + count
        return self.tokens[index] if index < self.stop else NOTHING

    def next(self) -> CodeToken:
        self.at += 1
        return self.ahead(-1)

    def is_op(self, *texts: str) -> bool:
        return self.token.is_op(*texts)

    def is_word(self, *texts: str) -> bool:
        return self.token.kind == "name" and self.token.text in texts

    def skip(self, *texts: str) -> bool:
        if self.token.kind in ("op", "name", "end") and self.token.text in texts:
            self.at += 1
            return True
        return False

    @contextmanager
    def within(self, start: int, stop: int, after: int) -> Iterator[None]:
        saved, self.at, self.stop = self.stop, start, stop
        try:
            yield
        finally:
            self.at, self.stop = after, saved

    @contextmanager
    def inside(self) -> Iterator[None]:
        closer = self.mates[self.at]
        with self.within(self.at + 1, min(closer, self.stop), closer + 1):
            yield

    def sink(self, levels: int = 1) -> None:
        self.depth += levels
        if self.depth > DEEPEST:
            raise TooDeep

    # statements

    def sequence(self) -> list[ast.stmt]:
        return [made for _ in self.items(*SEPARATORS) for made in self.statement()]

    def items(self, *marks: str) -> Iterator[None]:
        """Stops at each item between these marks; what cannot be read is stepped over."""
        while self.at < self.stop:
            before = self.at
            if self.token.kind != "end" and not self.is_op(*marks):
                yield
            self.at = max(self.at, before + 1)

    def statement(self) -> list[ast.stmt]:
        body = nodes.as_statements(self.expression())
        while self.dialect.loops and self.skip(","):
            body += nodes.as_statements(self.expression())
        before, word = self.tokens[self.at - 1], self.token.text
        if not self.is_word(*self.dialect.loops) or before.is_op("}", "->", "{", ",", "=", "("):
            return body
        self.at += 1
        over = self.expression()
        if word in ("while", "until"):
            return nodes.repeat(over, body)
        return nodes.loop(ast.Name(self.table.topic), over, body)

    def block(self) -> list[ast.stmt]:
        with self.inside():
            return self.sequence()

    # expressions

    def expression(self, level: int = 0) -> ast.expr:
        """Its operators bind at least as tightly as `level`."""
        self.sink()
        start = self.at
        value = self.operand()
        while True:
            rank = self.dialect.operators.get(self.token.text, -1) if self.token.kind in ("op", "name") else -1
            if rank >= level:
                value = self._combined(start, value, rank)
            elif rank < 0 and 0 < self.dialect.adjacent >= level and self._is_operand():
                value = nodes.add(value, self.expression(self.dialect.adjacent + 1))
            else:
                break
        self.depth -= 1
        return value

    def _is_operand(self) -> bool:
        token = self.token
        if token.kind in ("op", "end"):
            return self.is_op("(")
        known = token.text in self.dialect.noise or token.text in self.dialect.forms
        return not (token.kind == "name" and token.text.isalpha() and known)  # a statement; with a sign, a value

    def operand(self) -> ast.expr:
        start, token = self.at, self.token
        if token.kind == "end" or self.is_op(*SEPARATORS):
            return nodes.NOTHING
        if self.is_op("(", "[", "{"):
            return self._hung(start, self.group())
        if token.kind == "name":
            return self._hung(start, self._word())
        self.at += 1
        if token.kind == "op":
            return nodes.signed(token.text, self.expression(_TIGHTEST)) if self.at < self.stop else nodes.NOTHING
        return self._hung(start, ast.Name(token.text) if token.kind == "var" else self._literal(token))

    def _literal(self, token: CodeToken) -> ast.expr:
        if token.kind == "words":
            return ast.List([nodes.text(word) for word in token.text.split()])
        if token.kind == "number":
            return nodes.number(token.text)
        if token.kind == "regex":
            code = [self._spliced(part.code) for part in token.parts if isinstance(part, Splice)]
            return nodes.call("<regex>", code)
        parts = token.parts or (token.text,)
        made = nodes.joined([part if isinstance(part, str) else self._spliced(part.code) for part in parts])
        called = {"glob": "glob", "ticks": "`"}.get(token.kind)
        return nodes.call(called, [made]) if called else made

    def _spliced(self, code: str) -> ast.expr:
        self.sink(4)
        inner = TokenParser(self.dialect, code, self.depth)
        inner.names = self.names
        self.depth -= 4
        return nodes.as_expression(inner.sequence())

    def group(self) -> ast.expr:
        opener, closer, signs = self.token.text, self.mates[self.at], set[str]()
        index = self.at + 1
        while index < closer:  # what stands inside further brackets does not count
            signs |= {self.tokens[index].text} if self.tokens[index].kind == "op" else set()
            index = self.mates.get(index, index) + 1
        if opener == "{" and "=>" not in signs:
            return nodes.as_expression(self.block())
        args, named = self.arguments()
        if named and not args:
            return ast.Dict([nodes.text(one.arg or "") for one in named], [one.value for one in named])
        values = [*args, *(one.value for one in named)]
        return values[0] if opener == "(" and len(values) == 1 and "," not in signs else ast.List(values)

    # words, members and calls

    def _word(self) -> ast.expr:
        token = self.token
        form = self.dialect.forms.get(token.text)
        self.at += 1
        if self.is_op("=>"):
            return nodes.text(token.text)
        if form:
            return nodes.as_expression(form(self))
        if token.text in self.dialect.noise:
            follows = self.at < self.stop and not self.is_op(*SEPARATORS, "=")
            return self.operand() if follows else nodes.NOTHING
        callee = self.dialect.callee(token.text)
        if self.is_op("(") and not (self.token.spaced and token.text in self.names):
            return self._called(callee, self.arguments())
        if token.text in self.names:
            return ast.Name(token.text)
        count = self.dialect.bare(self, token)
        return self._called(callee, self.bare_arguments(count)) if count >= 0 else callee

    def _called(self, callee: ast.expr, given: Given) -> ast.expr:
        args, named = given
        if self.dialect.block and self.is_op("{"):
            args = [*args, self.dialect.block(self)]
        if not args and isinstance(callee, ast.Name) and callee.id in self.dialect.topical:
            args = [ast.Name(self.table.topic)]
        return nodes.call(callee, args, named)

    def _hung(self, start: int, value: ast.expr) -> ast.expr:
        while self.at < self.stop and self.token.kind == "op":
            token = self.token
            if token.text in self.table.members:
                self.at += 1
                value = self._member(value)
            elif (token.text == "[" and (self.table.braces or not token.spaced)) or (
                token.text == "{" and self.table.braces and self.tokens[self.at - 1].kind == "var"
            ):
                value = self._indexed(start, value)
            elif token.text == "(" and not token.spaced and self.at - start >= 1 and not self.dialect.adjacent:
                value = self._called(value, self.arguments())
            else:
                break
        return value

    def _indexed(self, start: int, value: ast.expr) -> ast.expr:
        holder = self.tokens[start].text
        opener = self.token.text
        key = self.group()
        key = key.elts[0] if isinstance(key, ast.List) and len(key.elts) == 1 else key
        if isinstance(key, ast.Name) and opener == "{":
            key = nodes.text(key.id) if not key.id.startswith(("$", "@")) else key
        if self.table.braces and isinstance(value, ast.Name) and holder.startswith("$"):
            value = ast.Name(("@" if opener == "[" else "%") + holder[1:])
        return nodes.item(value, key)

    def _member(self, value: ast.expr) -> ast.expr:
        token = self.token
        if self.is_op("("):
            return self._called(value, self.arguments())
        if self.is_op("[", "{"):
            return self._indexed(self.at, value)
        if token.kind not in ("name", "var", "text"):
            return value
        self.at += 1
        if token.kind == "var":
            args, named = self.arguments() if self.is_op("(") else ([], [])
            return nodes.call("<method>", [value, ast.Name(token.text), *args], named)
        owner = nodes.member(value, token.text)
        if self.is_op("(") and not self.token.spaced:
            return self._called(owner, self.arguments())
        count = self.dialect.bare(self, CodeToken("name", token.text, (".",)))
        if count < 0 and self.table.fields:
            return self._called(owner, ([], [])) if self.dialect.block and self.is_op("{") else owner
        return self._called(owner, self.bare_arguments(max(0, count)))

    def arguments(self) -> Given:
        given: Given = [], []
        with self.inside():
            for _ in self.items(","):
                self._argument(1, *given)
        return given

    def bare_arguments(self, count: int) -> Given:
        given: Given = [], []
        while count and self.at < self.stop:
            before = self.at
            self._argument(6 if count == 1 else 1, *given)
            if self.at == before:
                given[0].pop()
            if count < 2 or not self.skip(","):
                break
        return given

    def _argument(self, level: int, args: list[ast.expr], named: list[ast.keyword]) -> None:
        token, label, behind = self.token, self.table.label, self.ahead(1)
        if token.kind in ("name", "text") and behind.is_op(label):
            self.at += 1
            value = nodes.text(token.text) if token.kind == "name" else self._literal(token)
        else:
            value = self.expression(level)
        if not self.skip(label):
            args.append(value)
        elif isinstance(value, ast.Constant):
            named.append(nodes.named(str(value.value), self.expression(1)))
        else:
            args += [value, self.expression(1)]

    # operators

    def _combined(self, start: int, left: ast.expr, rank: int) -> ast.expr:
        sign, sign_at = self.token.text, self.at
        self.at += 1
        if sign in ("=", ":=", "<-", "<<-", "->"):
            right = self.expression(rank)
            left, right = (right, left) if sign == "->" else (left, right)
            if isinstance(left, ast.Name) and self.table.braces and self.tokens[sign_at - 1].text == ")":  # my ($x) = …
                left, right = ast.Tuple([left]), nodes.call("<list>", [right])
            return self._assigned(left, right, declares=self.tokens[start].text == "my")
        if sign == "?":
            yes = self.expression(1)
            self.skip(":")
            return ast.IfExp(left, yes, self.expression(rank))
        if sign == "=~":
            changes = self.token.kind == "regex" and self.token.text != "m"
            matched = self.expression(rank + 1)
            return self._assigned(left, nodes.call("<regex>", [matched])) if changes else matched
        right = self.expression(rank + 1)
        if sign == "<<":
            return nodes.call(nodes.member(left, "<<"), [right])
        if sign.endswith("=") and sign not in ("==", "!=", "<=", ">=", "===", "!==", "~=") and sign_at > start:
            return self._assigned(left, nodes.binary(sign[:-1], left, right, self.table.joins))
        sign = ".." if sign == ":" or (sign == "..." and self.table.braces) else sign  # R's, and Perl's flip-flop
        return nodes.binary(sign, left, right, self.table.joins)

    def _assigned(self, target: ast.expr, value: ast.expr, declares: bool = False) -> ast.expr:
        if isinstance(target, ast.List):
            target = ast.Tuple(target.elts)
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self.names.add(node.id)
        give = nodes.declare if declares and isinstance(target, ast.Name) else nodes.assign
        return nodes.as_expression(give(target, value))


# -- words whose syntax several languages share


def branch(parser: TokenParser, later: bool = True) -> list[ast.stmt]:
    while later and parser.token.kind == "end" and parser.at < parser.stop:
        parser.at += 1
    return parser.block() if parser.is_op("{") else nodes.as_statements(parser.expression())


def if_else(parser: TokenParser) -> nodes.Made:
    """As a word behind a statement only its test is left to read."""
    test, body = parser.group() if parser.is_op("(") else parser.expression(), branch(parser)
    if parser.skip("elsif"):
        return nodes.branch(test, body, nodes.as_statements(if_else(parser)))
    return nodes.branch(test, body, branch(parser) if parser.skip("else") else [])


def while_loop(parser: TokenParser) -> nodes.Made:
    """It may as well end a block before it; without a test it is repeated for ever."""
    test = parser.group() if parser.is_op("(") else ast.Constant(True)
    return nodes.repeat(test, branch(parser, later=False))


def for_loop(parser: TokenParser) -> nodes.Made:
    """`x in list`, `Type x : list`, or counted, whose head is read once."""
    if not parser.is_op("("):
        return nodes.NOTHING
    closer = parser.mates[parser.at]
    words = parser.tokens[parser.at + 1 : closer]
    counted = any(token.is_op(";") for token in words)
    at = next((number for number, token in enumerate(words) if token.text in ("in", ":")), -1)
    if counted or at < 1:
        again = nodes.CONDITION if len(words) > 2 else ast.Constant(True)  # for (;;)
        return [*parser.block(), *nodes.repeat(again, branch(parser))]
    named = words[at - 1].text
    parser.names.add(named)
    with parser.within(parser.at + at + 2, closer, closer + 1):
        over = parser.expression()
    return nodes.loop(ast.Name(named), over, branch(parser))


def returned(parser: TokenParser) -> nodes.Made:
    return [ast.Return(parser.expression() if parser.token.kind != "end" else nodes.NOTHING)]


def skip_statement(parser: TokenParser) -> nodes.Made:
    while parser.at < parser.stop and not (parser.token.kind == "end" or parser.is_op(";")):
        parser.at += 1
    return nodes.NOTHING


def params(parser: TokenParser) -> list[str]:
    if not parser.is_op("("):
        return []
    with parser.inside():
        listed = parser.tokens[parser.at - 1 : parser.stop]
    return [token.text for before, token in pairwise(listed) if before.text in "(," and token.kind in ("name", "var")]


def unbracketed(parser: TokenParser) -> AbstractContextManager[None]:
    return parser.inside() if parser.is_op("(") else nullcontext()
