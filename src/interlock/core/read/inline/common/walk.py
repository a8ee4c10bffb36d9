"""What does this program do: one pass that follows values through tokens and tells every call to its dialect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from interlock.core.read.facts import Report
from interlock.core.read.inline.common.arguments import bracketed, unbracketed
from interlock.core.read.inline.common.dialect import PAIRS, Body, Call, Dialect, Notes, Source, dotted
from interlock.core.read.inline.common.lexing import NOTHING, SEPARATORS, Token, Unparsed, mates
from interlock.core.read.inline.common.loops import following_loop, statement_end
from interlock.core.read.inline.common.operands import operand
from interlock.core.read.inline.common.operators import combine
from interlock.core.read.inline.common.values import (
    EMPTY,
    UNKNOWN,
    Value,
    listed,
    same_or_unknown,
    unknown,
)

DEEPEST = 40  # expressions inside each other
_IMPLIED = frozenset({"it", "_1"})  # what a block without parameters calls its first argument


class Walk:
    """A position in a program and what is known there."""

    def __init__(self, dialect: Dialect, out: Report) -> None:
        self.dialect = dialect
        self.out = out
        self.names: dict[str, Value] = {}
        self.functions: dict[str, int] = {}
        self.bodies: list[Body] = []
        self.ran: set[int] = set()
        self.active: list[int] = []
        self.notes = Notes()
        self.source = Source((), {})
        self.at = self.stop = self.depth = 0
        self.returned: Value | None = None
        self.free: dict[tuple[int, int], tuple[int, int]] = {}

    # moving

    @property
    def token(self) -> Token:
        return self.ahead(0)

    def ahead(self, count: int) -> Token:
        index = self.at + count
        return self.source.tokens[index] if index < self.stop else NOTHING

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
        closer = self.source.mates[self.at]
        with self.within(self.at + 1, min(closer, self.stop), closer + 1):
            yield

    @contextmanager
    def branch(self, own: bool = False) -> Iterator[None]:
        """Code that may or may not run: what it changes is not known afterwards; `own` names end with it."""
        before = self.names
        self.names = dict(before)
        try:
            yield
        finally:
            inner, self.names = self.names, dict(before)
            for name, value in inner.items():
                if name in before:
                    self.names[name] = same_or_unknown(before[name], value)
                elif not own:
                    self.names[name] = value

    # programs

    def program(self, source: str) -> Value:
        """Read a whole text; answers with the value of its last statement."""
        tokens = self.dialect.scan(source)
        saved = (self.source, self.at, self.stop, self.free)
        self.source = Source(tuple(tokens), mates(tokens))
        self.at, self.stop, self.free = 0, len(tokens), {}
        try:
            values = self.sequence()
        finally:
            self.source, self.at, self.stop, self.free = saved
        return values[-1] if values else EMPTY

    def leftovers(self) -> None:
        """Read the functions that nothing called: something outside may."""
        done = 0
        while done < len(self.bodies):
            if done not in self.ran:
                self.run(done, ())
            done += 1

    def sequence(self) -> list[Value]:
        """Statements or items, up to the end of this range."""
        values: list[Value] = []
        while self.at < self.stop:
            if self.token.kind == "end" or (self.token.kind == "op" and self.token.text in SEPARATORS):
                self.at += 1
                continue
            before = self.at
            values.append(self.statement())
            self.at = max(self.at, before + 1)
        return values

    def statement(self) -> Value:
        """One statement; a loop that follows it is read before it."""
        loop = following_loop(self) if self.dialect.loops else 0
        if not loop:
            return self.expression()
        start, end = self.at, statement_end(self, loop)
        with self.within(loop + 1, end, end):
            values = self.sequence()
        with self.branch(), self.within(start, loop, end):
            self.names[self.dialect.topic] = listed(values).each()
            return self.expression()

    # expressions

    def expression(self, level: int = 0) -> Value:
        """One expression whose operators bind at least as tightly as `level`."""
        self.out.step()
        self.sink()
        start = self.at
        value = operand(self)
        while self.token.kind in ("op", "name"):
            rank = self.dialect.binary.get(self.token.text)
            if rank is None or rank < level:
                break
            value = combine(self, start, value, rank)
        self.depth -= 1
        return value

    def sink(self, levels: int = 1) -> None:
        """Go further in; refuses what is nested too deeply."""
        self.depth += levels
        if self.depth > DEEPEST:
            raise Unparsed("too deep")

    def is_noise(self, token: Token) -> bool:
        return token.kind == "name" and token.text in self.dialect.noise

    def group(self) -> Value:
        """What is between brackets: one value, or a list."""
        opener, has_pairs = self.token.text, False
        closer = self.source.mates[self.at]
        index = self.at + 1
        commas = 0
        while index < closer:
            token = self.source.tokens[index]
            has_pairs = has_pairs or (token.kind == "op" and token.text == "=>")
            commas += token.kind == "op" and token.text == ","
            index = self.source.mates.get(index, index) + 1
        with self.inside():
            if opener == "{":
                with self.branch():
                    values = self.sequence()
            else:
                values = self.sequence()
        if opener == "(" and len(values) == 1 and not commas:
            return values[0]
        made = listed(values)
        return replace(made, ref=PAIRS) if has_pairs and opener == "{" else made

    def variable(self, name: str) -> Value:
        return self.names[name] if name in self.names else self.dialect.variable(name)

    def arguments(self) -> tuple[Value, ...]:
        """The arguments between the brackets here; names with values are gathered into one, which comes last."""
        with self.inside():
            return bracketed(self)

    def bare_arguments(self, count: int) -> tuple[Value, ...]:
        """Arguments without brackets: none, one, or as many as commas join."""
        return unbracketed(self, count)

    # calls

    def called(self, value: Value, args: tuple[Value, ...]) -> Value:
        """A call of a value: a function written here, or one whose name is known."""
        if value.body >= 0:
            return self.run(value.body, args)
        if value.ref:
            owner, _, name = value.ref.rpartition(".")
            return self.invoke(Call(name, args, Value(ref=owner) if owner else None))
        if value.known and not value.many:
            return self.invoke(Call(value.text.lstrip("\\"), args))
        if args:
            self.out.unreadable("a function chosen at run time", "command")
        return UNKNOWN

    def invoke(self, call: Call) -> Value:
        """Tell the dialect of a call; functions among the arguments are read with what they would get."""
        self.out.step()
        body = self.functions.get(call.name) if call.on is None or call.on.ref in ("self", "this", "$this") else None
        if body is not None:
            return self.run(body, self._deeper(call, body))
        value = self.dialect.call(self, call)
        for arg in call.args:
            if arg.body >= 0 and arg.body not in self.ran:
                self.run(arg.body, self._given(call))
        if value is not None:
            return value
        on = call.on or UNKNOWN
        return Value(ref=call.path, url=on.url, traits=on.traits)

    def _given(self, call: Call) -> tuple[Value, ...]:
        if call.plain:
            return (listed(call.plain).each(),)
        if call.on is None:
            return ()
        one = call.on.each()
        return (replace(one, ref=dotted(call.on.ref, "each"), traits=call.on.traits) if call.on.ref else one,)

    def _deeper(self, call: Call, index: int) -> tuple[Value, ...]:
        """The arguments; a function that calls itself walks down whatever it is given."""
        body = self.bodies[index]
        inner = body.source.tokens[body.start : body.stop]
        own = any(token.kind == "name" and token.text == call.name for token in inner)
        return tuple(value.also("recursive") for value in call.args) if own else call.args

    def keep(self, params: tuple[str, ...], start: int, stop: int) -> Value:
        """Remember the code of a function."""
        self.bodies.append(Body(self.source, params, start, stop))
        return Value(body=len(self.bodies) - 1)

    def parameters(self) -> tuple[str, ...]:
        """The variables between the brackets here, stepped over."""
        closer = self.source.mates[self.at]
        names = tuple(token.text for token in self.source.tokens[self.at : closer] if token.kind == "var")
        self.at = closer + 1
        return names

    def define(self, name: str, params: tuple[str, ...]) -> Value:
        """Remember the block here, stepped over, as a function: under its name, if it has one."""
        closer = self.source.mates[self.at]
        value = self.keep(params, self.at + 1, closer)
        self.at = closer + 1
        if name:
            self.functions[name] = value.body
        return value

    def run(self, index: int, args: tuple[Value, ...]) -> Value:
        """Read the code of a function with these arguments."""
        if index in self.active or len(self.active) >= 6:
            return UNKNOWN
        self.ran.add(index)
        self.active.append(index)
        body = self.bodies[index]
        saved = (self.source, self.at, self.stop, self.returned, self.depth)
        self.source, self.at, self.stop, self.returned = body.source, body.start, body.stop, None
        shadowed = {name: self.names[name] for name in (*body.params, "@_") if name in self.names}
        try:
            with self.branch(own=True):
                for place, name in enumerate(body.params):
                    place = 0 if name in _IMPLIED else place
                    self.names[name] = args[place] if place < len(args) else unknown(name)
                self.names["@_"] = listed(args) if args else computed_args()
                values = self.sequence()
            result = self.returned or (values[-1] if values else EMPTY)
        finally:
            self.source, self.at, self.stop, self.returned, self.depth = saved
            self.names.update(shadowed)
            self.active.pop()
        return result


def computed_args() -> Value:
    """The arguments of a function that nothing is known to call."""
    return Value(many=True)
