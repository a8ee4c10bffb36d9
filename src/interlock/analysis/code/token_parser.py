"""Tokens of a language without a usable grammar (Groovy, R) -> the form that all languages share."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct, field

from interlock.analysis.code.grammar import binary
from interlock.analysis.code.lexing import NOTHING, SEPARATORS, CodeToken, Unparsed, mates
from interlock.analysis.code.program import nodes

DEEPEST = 40  # expressions inside each other
_ASSIGNS = frozenset({"=", ":=", "<-", "<<-", "->"})
_COMPARES = frozenset({"==", "!=", "<=", ">=", "===", "!==", "~="})
_CHOICES = frozenset({"||", "or", "//", "??", "?:"})

Given = tuple[list[ast.expr], list[ast.keyword]]


class TokenDialect(Struct, frozen=True):
    """How the tokens of one language make expressions."""

    scan: Callable[[str], list[CodeToken]]
    operators: Mapping[str, int]  # how tightly each binds
    members: frozenset[str]
    joins: frozenset[str]
    forms: Mapping[str, Callable[[TokenParser], ast.expr]] = field(default_factory=dict)  # words with an own syntax
    noise: frozenset[str] = frozenset()  # words that are stepped over
    bare: Callable[[TokenParser, CodeToken], int] = lambda parser, token: (
        -1
    )  # arguments without brackets: -1 no call, 0 none, 1 many
    block: Callable[[TokenParser], ast.expr] | None = None  # a block that is handed to the call before it
    callee: Callable[[str], ast.expr] = lambda word: nodes.path(word.replace("::", "."))


def parse_tokens(dialect: TokenDialect, source: str) -> tuple[ast.Module, bool]:
    """The program; raises Unparsed where it is none."""
    parser = TokenParser(dialect, dialect.scan(source))
    return ast.Module(parser.sequence(), []), True


class TokenParser:
    """A position among the tokens of a program."""

    def __init__(self, dialect: TokenDialect, tokens: list[CodeToken], depth: int = 0) -> None:
        self.dialect = dialect
        self.tokens = tokens
        self.mates = mates(tokens)
        self.at, self.stop, self.depth = 0, len(tokens), depth
        self.names: set[str] = set()  # what the program assigns to

    # moving

    @property
    def token(self) -> CodeToken:
        return self.ahead(0)

    def ahead(self, count: int) -> CodeToken:
        index = self.at + count
        return self.tokens[index] if index < self.stop else NOTHING

    def is_op(self, *texts: str) -> bool:
        return self.token.kind == "op" and self.token.text in texts

    def is_word(self, *texts: str) -> bool:
        return self.token.kind == "name" and self.token.text in texts

    def skip(self, *texts: str) -> bool:
        """Step over an operator or word if it stands here."""
        if self.token.kind in ("op", "name", "end") and self.token.text in texts:
            self.at += 1
            return True
        return False

    @contextmanager
    def within(self, start: int, stop: int, after: int) -> Iterator[None]:
        """Read only the tokens from `start` to `stop`, then go on at `after`."""
        saved, self.at, self.stop = self.stop, start, stop
        try:
            yield
        finally:
            self.at, self.stop = after, saved

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Read what is between the bracket here and its mate."""
        closer = self.mates[self.at]
        with self.within(self.at + 1, min(closer, self.stop), closer + 1):
            yield

    def sink(self, levels: int = 1) -> None:
        """Go further in; refuses what is nested too deeply."""
        self.depth += levels
        if self.depth > DEEPEST:
            raise Unparsed("nested too deeply", "nesting")

    # statements

    def sequence(self) -> list[ast.stmt]:
        """Statements, up to the end of this range."""
        made: list[ast.stmt] = []
        while self.at < self.stop:
            if self.token.kind == "end" or (self.token.kind == "op" and self.token.text in SEPARATORS):
                self.at += 1
                continue
            before = self.at
            made += nodes.as_statements(self.expression())
            self.at = max(self.at, before + 1)
        return made

    def block(self) -> list[ast.stmt]:
        """The statements between the braces here."""
        self.sink()
        with self.inside():
            made = self.sequence()
        self.depth -= 1
        return made

    # expressions

    def expression(self, level: int = 0) -> ast.expr:
        """One expression whose operators bind at least as tightly as `level`."""
        self.sink()
        start = self.at
        value = self.operand()
        while self.token.kind in ("op", "name"):
            rank = self.dialect.operators.get(self.token.text)
            if rank is None or rank < level:
                break
            value = self._combined(start, value, rank)
        self.depth -= 1
        return value

    def operand(self) -> ast.expr:
        """One operand with everything that is hung on it: members, indexes, calls."""
        start, token = self.at, self.token
        if token.kind == "op":
            return self._bracket_or_prefix(start, token)
        if token.kind == "end":
            return nodes.NOTHING
        if token.kind == "name":
            return self._hung(start, self._word())
        self.at += 1
        return self._hung(start, nodes.number(token.text) if token.kind == "number" else self._filled(token))

    def _filled(self, token: CodeToken) -> ast.expr:
        if not token.parts:
            return nodes.text(token.text)
        return nodes.joined([part if isinstance(part, str) else self._spliced(part.code) for part in token.parts])

    def _spliced(self, code: str) -> ast.expr:
        """Code inside a text."""
        self.sink(4)
        inner = TokenParser(self.dialect, self.dialect.scan(code), self.depth)
        inner.names = self.names
        self.depth -= 4
        return nodes.as_expression(inner.sequence())

    def _bracket_or_prefix(self, start: int, token: CodeToken) -> ast.expr:
        if token.text in ("(", "[", "{"):
            return self._hung(start, self.group())
        if token.text in SEPARATORS:
            return nodes.NOTHING
        self.at += 1
        if self.at >= self.stop:
            return nodes.NOTHING
        self.sink()
        value = self.operand()
        self.depth -= 1
        if token.text == "-":
            return ast.UnaryOp(ast.USub(), value)
        return ast.UnaryOp(ast.Not(), value) if token.text in ("!", "~", "#") else value

    def group(self) -> ast.expr:
        """What is between brackets: one value, a list, pairs, or a block."""
        opener, closer = self.token.text, self.mates[self.at]
        pairs = commas = False
        index = self.at + 1
        while index < closer:
            token = self.tokens[index]
            pairs = pairs or (token.kind == "op" and token.text == "=>")
            commas = commas or (token.kind == "op" and token.text == ",")
            index = self.mates.get(index, index) + 1
        if opener == "{" and not pairs:
            return nodes.as_expression(self.block())
        with self.inside():
            args, named = self._until_end()
        if pairs and not args:
            return ast.Dict([nodes.text(one.arg or "") for one in named], [one.value for one in named])
        values = [*args, *(one.value for one in named)]
        return values[0] if opener == "(" and len(values) == 1 and not commas else ast.List(values)

    # words, members and calls

    def _word(self) -> ast.expr:
        """A name: a form of the language, a call, or a value."""
        token = self.token
        if self.ahead(1).kind == "op" and self.ahead(1).text == "=>":
            self.at += 1
            return nodes.text(token.text)
        form = self.dialect.forms.get(token.text)
        self.at += 1
        if form is not None:
            return form(self)
        if token.text in self.dialect.noise:
            follows = self.at < self.stop and not (self.token.kind == "op" and self.token.text in (*SEPARATORS, "="))
            return self.operand() if follows else nodes.NOTHING
        callee = self.dialect.callee(token.text)
        if self.is_op("(") and not (self.token.spaced and token.text in self.names):
            return self._called(callee, self.arguments())
        if token.text in self.names:
            return nodes.name(token.text)
        count = self.dialect.bare(self, token)
        return self._called(callee, self._bare_arguments(count)) if count >= 0 else callee

    def _called(self, callee: ast.expr, given: Given) -> ast.expr:
        args, named = given
        if self.dialect.block is not None and self.is_op("{"):
            args = [*args, self.dialect.block(self)]
        return nodes.call(callee, args, named)

    def _hung(self, start: int, value: ast.expr) -> ast.expr:
        """The value after the members, indexes and calls that follow it."""
        while self.at < self.stop and self.token.kind == "op":
            token = self.token
            if token.text in self.dialect.members:
                self.at += 1
                value = self._member(value)
            elif token.text == "[" and not token.spaced:
                value = self._indexed(value)
            elif token.text == "(" and not token.spaced and self.at - start >= 1:
                value = self._called(value, self.arguments())
            else:
                break
        return value

    def _indexed(self, value: ast.expr) -> ast.expr:
        key = self.group()
        return nodes.item(value, key.elts[0] if isinstance(key, ast.List) and len(key.elts) == 1 else key)

    def _member(self, value: ast.expr) -> ast.expr:
        token = self.token
        if token.kind not in ("name", "text"):
            return value
        self.at += 1
        owner = nodes.member(value, token.text)
        if self.is_op("(") and not self.token.spaced:
            return self._called(owner, self.arguments())
        count = self.dialect.bare(self, CodeToken("name", token.text, (".",)))
        if count >= 0:
            return self._called(owner, self._bare_arguments(count))
        return self._called(owner, ([], [])) if self.dialect.block is not None and self.is_op("{") else owner

    def arguments(self) -> Given:
        """The arguments between the brackets here."""
        with self.inside():
            return self._until_end()

    def _until_end(self) -> Given:
        args: list[ast.expr] = []
        named: list[ast.keyword] = []
        while self.at < self.stop:
            if self.token.kind == "end" or self.is_op(","):
                self.at += 1
                continue
            before = self.at
            self._argument(args, named)
            self.at = max(self.at, before + 1)
        return args, named

    def _bare_arguments(self, many: int) -> Given:
        """Arguments without brackets: none, or as many as commas join."""
        args: list[ast.expr] = []
        named: list[ast.keyword] = []
        while many and self.at < self.stop:
            before = self.at
            self._argument(args, named)
            if self.at == before and args:
                args.pop()
            if not self.skip(","):
                break
        return args, named

    def _argument(self, args: list[ast.expr], named: list[ast.keyword]) -> None:
        value = self.expression(1)
        if not self.skip("=>"):
            args.append(value)
        elif isinstance(value, ast.Constant):
            named.append(nodes.named(str(value.value), self.expression(1)))
        else:
            args += [value, self.expression(1)]

    # operators

    def _combined(self, start: int, left: ast.expr, rank: int) -> ast.expr:
        sign, sign_at = self.token.text, self.at
        self.at += 1
        if sign in _ASSIGNS:
            right = self.expression(rank)
            left, right = (right, left) if sign == "->" else (left, right)
            return self._assigned(left, right)
        if sign == "?":
            yes = self.expression(1)
            self.skip(":")
            return ast.IfExp(left, yes, self.expression(rank))
        right = self.expression(rank + 1)
        if sign == "<<":
            return nodes.call(nodes.member(left, "<<"), [right])
        if sign == "|>":
            return nodes.piped(left, right)
        if sign.endswith("=") and sign not in _COMPARES and sign_at > start:
            return self._assigned(left, binary(sign[:-1], left, right, self.dialect.joins, _CHOICES))
        return binary(".." if sign == ":" else sign, left, right, self.dialect.joins, _CHOICES)

    def _assigned(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.List):
            target = ast.Tuple(target.elts)
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self.names.add(node.id)
        return nodes.as_expression(nodes.assign(target, value))


# -- words whose syntax languages share -------------------------------------------------------------------------------


def branch(parser: TokenParser) -> list[ast.stmt]:
    """A block, or one statement in its place."""
    return parser.block() if parser.is_op("{") else nodes.as_statements(parser.expression())


def if_else(parser: TokenParser) -> ast.expr:
    """if (test) …, with what follows `else`."""
    test = parser.group() if parser.is_op("(") else parser.expression()
    body = branch(parser)
    return nodes.as_expression(nodes.branch(test, body, branch(parser) if parser.skip("else") else []))


def while_loop(parser: TokenParser) -> ast.expr:
    """while (test) …; a loop without a test is repeated for ever."""
    test = parser.group() if parser.is_op("(") else ast.Constant(True)
    return nodes.as_expression(nodes.repeat(test, branch(parser)))


def skip_statement(parser: TokenParser) -> ast.expr:
    """What a statement says that does nothing."""
    while parser.at < parser.stop and not _ends(parser.token):
        parser.at += 1
    return nodes.NOTHING


def _ends(token: CodeToken) -> bool:
    return token.kind == "end" or (token.kind == "op" and token.text == ";")
