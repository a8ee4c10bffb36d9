"""One pass over the tokens of a program that follows values and arguments and hands every call to its dialect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from interlock.analysis.code.dialect import PAIRS, CodeCall, CodeDialect, CodeSource, FunctionBody, Notes, dotted
from interlock.analysis.code.lexing import NOTHING, SEPARATORS, CodeToken, Unparsed, mates
from interlock.analysis.code.operands import combine, operand
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, listed, same_or_unknown, unknown
from interlock.analysis.facts import Report

DEEPEST = 40  # expressions inside each other
_IMPLIED = frozenset({"it", "_1"})  # what a block without parameters calls its first argument


class CodeWalk:
    """A position in a program and what is known there."""

    def __init__(self, dialect: CodeDialect, out: Report) -> None:
        self.dialect = dialect
        self.out = out
        self.names: dict[str, Value] = {}
        self.functions: dict[str, int] = {}
        self.bodies: list[FunctionBody] = []
        self.ran: set[int] = set()
        self.active: list[int] = []
        self.notes = Notes()
        self.source = CodeSource((), {})
        self.at = self.stop = self.depth = 0
        self.returned: Value | None = None
        self.free: dict[tuple[int, int], tuple[int, int]] = {}

    # moving

    @property
    def token(self) -> CodeToken:
        return self.ahead(0)

    def ahead(self, count: int) -> CodeToken:
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
        self.source = CodeSource(tuple(tokens), mates(tokens))
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

    def is_noise(self, token: CodeToken) -> bool:
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
            return self.invoke(CodeCall(name, args, Value(ref=owner) if owner else None))
        if value.known and not value.many:
            return self.invoke(CodeCall(value.text.lstrip("\\"), args))
        if args:
            self.out.unreadable("a function chosen at run time", "command")
        return UNKNOWN

    def invoke(self, call: CodeCall) -> Value:
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

    def _given(self, call: CodeCall) -> tuple[Value, ...]:
        if call.plain:
            return (listed(call.plain).each(),)
        if call.on is None:
            return ()
        one = call.on.each()
        return (replace(one, ref=dotted(call.on.ref, "each"), traits=call.on.traits) if call.on.ref else one,)

    def _deeper(self, call: CodeCall, index: int) -> tuple[Value, ...]:
        """The arguments; a function that calls itself walks down whatever it is given."""
        body = self.bodies[index]
        inner = body.source.tokens[body.start : body.stop]
        own = any(token.kind == "name" and token.text == call.name for token in inner)
        return tuple(value.also("recursive") for value in call.args) if own else call.args

    def keep(self, params: tuple[str, ...], start: int, stop: int) -> Value:
        """Remember the code of a function."""
        self.bodies.append(FunctionBody(self.source, params, start, stop))
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


_ANY = 1000


def bracketed(walk: CodeWalk) -> tuple[Value, ...]:
    """Everything up to the end of this range."""
    plain: list[Value] = []
    pairs: list[Value] = []
    while walk.at < walk.stop:
        if walk.token.kind == "end" or walk.is_op(","):
            walk.at += 1
            continue
        before = walk.at
        _one(walk, 1, plain, pairs)
        walk.at = max(walk.at, before + 1)
    return _with_options(plain, pairs)


def unbracketed(walk: CodeWalk, count: int) -> tuple[Value, ...]:
    """No argument, one, or as many as commas join."""
    plain: list[Value] = []
    pairs: list[Value] = []
    while len(plain) + len(pairs) < (count if count < 2 else _ANY) and walk.at < walk.stop:
        before = walk.at
        _one(walk, 6 if count == 1 else 1, plain, pairs)
        if walk.at == before:
            plain.pop()
        if count < 2 or not walk.is_op(","):
            break
        walk.at += 1
    return _with_options(plain, pairs)


def _one(walk: CodeWalk, level: int, plain: list[Value], pairs: list[Value]) -> None:
    value = walk.expression(level)
    if walk.skip("=>"):
        pairs += [value, walk.expression(1)]
    else:
        plain.append(value)


def _with_options(plain: list[Value], pairs: list[Value]) -> tuple[Value, ...]:
    return (*plain, replace(listed(pairs), ref=PAIRS)) if pairs else tuple(plain)


_NO_STATEMENT_BEFORE = frozenset({"}", "->", "{", ",", "=", "("})


def following_loop(walk: CodeWalk) -> int:
    """The token of the loop; 0 if there is none. A stretch that was found free of them is not searched again."""
    place = (id(walk.source), walk.stop)
    first, last = walk.free.get(place, (0, 0))
    if first <= walk.at < last:
        return 0
    loop, end = _find(walk)
    if not loop:
        walk.free[place] = (walk.at, end)
    return loop


def _find(walk: CodeWalk) -> tuple[int, int]:
    index = walk.at + 1
    while index < walk.stop:
        token = walk.source.tokens[index]
        if _ends(token):
            return 0, index
        if token.kind == "name" and token.text in walk.dialect.loops:
            before = walk.source.tokens[index - 1]
            return (0, index) if before.kind == "op" and before.text in _NO_STATEMENT_BEFORE else (index, index)
        index = walk.source.mates.get(index, index) + 1
    return 0, walk.stop


def statement_end(walk: CodeWalk, index: int) -> int:
    """Where the statement that goes on at `index` ends."""
    while index < walk.stop and not _ends(walk.source.tokens[index]):
        index = walk.source.mates.get(index, index) + 1
    return min(index, walk.stop)


def _ends(token: CodeToken) -> bool:
    return token.kind == "end" or (token.kind == "op" and token.text == ";")
