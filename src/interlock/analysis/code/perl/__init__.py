"""Perl source -> its effects."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.analysis.code import effects
from interlock.analysis.code.dialect import CodeDialect
from interlock.analysis.code.lexing import CodeToken
from interlock.analysis.code.perl.calls import CALLS, call_perl
from interlock.analysis.code.perl.lexing import scan
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, computed, listed, text, unknown
from interlock.analysis.code.walk import CodeWalk
from interlock.analysis.facts import Report, hole

BINARY = {
    "or": 0, "and": 0, "xor": 0, "=": 1, ".=": 1, "+=": 1, "-=": 1, "*=": 1, "/=": 1, "x=": 1, "||=": 1, "&&=": 1,
    "//=": 1, "|=": 1, "**=": 1, "%=": 1, "^=": 1, "&=": 1, "?": 2, "..": 3, "...": 3, "||": 4, "//": 4, "&&": 4,
    "|": 5, "^": 5, "&": 5, "==": 6, "!=": 6, "<=>": 6, "eq": 6, "ne": 6, "cmp": 6, "<": 6, ">": 6, "<=": 6,
    ">=": 6, "lt": 6, "gt": 6, "le": 6, "ge": 6, "<<": 7, ">>": 7, "+": 8, "-": 8, ".": 8, "*": 9, "/": 9, "%": 9,
    "x": 9, "=~": 10, "!~": 10, "**": 11,
}  # fmt: skip
_NOISE = frozenset(
    (
        "my our local state if unless elsif else while until do continue BEGIN END INIT CHECK given when "
        "default not scalar wantarray strict warnings"
    ).split()
)
_UNARY = frozenset(
    (
        "rmdir chdir defined ref lc uc lcfirst ucfirst chr ord hex oct shift pop length chroot readlink stat "
        "lstat exit quotemeta int sleep umask chomp chop close closedir readdir require undef exists fileno "
        "localtime rand caller readline decode_base64 getc eof alarm lock untie each keys values"
    ).split()
)
_NULLARY = frozenset(("fork wait time times getppid next last redo __FILE__ __PACKAGE__ cwd getcwd").split())


def read_perl(source: str, out: Report) -> None:
    """Tell what a Perl program does; `-n`, `-p` and `-i` are the caller's."""
    effects.read(PERL, source, out, {"$_": Value((hole("_"),), traits=frozenset({"bulk"}))})


def _variable(name: str) -> Value:
    if name in ("%ENV", "$ENV"):
        return Value(ref="ENV", many=False)
    if name.startswith(("@", "%")):
        return computed(name[1:])
    return unknown(name.lstrip("$"))


# words that read their own operands


def _sub(walk: CodeWalk) -> Value:
    name = walk.token.text if walk.token.kind == "name" else ""
    walk.at += bool(name)
    params = walk.parameters() if walk.is_op("(") else ()
    return walk.define(name, params) if walk.is_op("{") else UNKNOWN


def _foreach(walk: CodeWalk) -> Value:
    while walk.is_word("my", "our", "local", "state"):
        walk.at += 1
    name = "$_"
    if walk.token.kind == "var":
        name = walk.token.text
        walk.at += 1
    if not walk.is_op("("):
        return EMPTY
    over = walk.group()
    over = over if over.many else listed([over])
    if not walk.is_op("{"):
        return EMPTY
    with walk.branch():
        walk.names[name] = over.each()
        return walk.group()


def _over_list(walk: CodeWalk) -> Value:
    """map, grep, sort: the list is read first, then the block with each of its items."""
    bracket = walk.is_op("(")
    stop = walk.source.mates[walk.at] if bracket else walk.stop
    walk.at += bracket
    with walk.within(walk.at, stop, stop + bracket):
        if not walk.is_op("{"):
            args = walk.bare_arguments(2)
            made = listed(args[1:])
        else:
            block, closer = walk.at, walk.source.mates[walk.at]
            walk.at = closer + 1
            walk.skip(",")
            made = listed(walk.bare_arguments(2))
            after = walk.at
            with walk.branch(), walk.within(block + 1, closer, after):
                walk.names["$_"] = made.each()
                results = walk.sequence()
            made = _mapped(made, results)
        after = walk.at
    walk.at = after + bracket if not bracket else stop + 1
    return made


def _mapped(items: Value, results: list[Value]) -> Value:
    if items.traits or not items.known:
        return items
    return replace(listed(results[-1:]), either=False) if results and results[-1].known else items


def _print(walk: CodeWalk) -> Value:
    """print to a handle writes to what was opened under it."""
    if walk.is_op("("):
        with walk.inside():
            return _print(walk)
    handle = EMPTY
    if walk.is_op("{"):
        handle = walk.names.get(walk.ahead(1).text, EMPTY)
        walk.at = walk.source.mates[walk.at] + 1
    elif (
        walk.token.kind in ("name", "var") and walk.token.text in walk.names and walk.ahead(1).kind not in ("op", "end")
    ):
        handle = walk.names[walk.token.text]
        walk.at += 1
    effects.written(walk, handle, walk.bare_arguments(2))
    return UNKNOWN


def _eval(walk: CodeWalk) -> Value:
    if walk.is_op("{"):
        return walk.group()
    bracket = walk.is_op("(")
    args = walk.arguments() if bracket else walk.bare_arguments(1)
    return effects.evaluate(walk, args[0] if args else walk.variable("$_"), "perl", "Perl")


def _system_form(walk: CodeWalk) -> Value:
    """system and exec: a block or a handle before the list names the program that really runs."""
    if walk.is_op("{"):
        program = walk.group()
        words = listed(walk.bare_arguments(2)).items
        return effects.run(walk, [text(program.text), Value(words[1:], True)])
    args = walk.arguments() if walk.is_op("(") else walk.bare_arguments(2)
    return effects.command(walk, args)


def _do(walk: CodeWalk) -> Value:
    if walk.is_op("{"):
        return walk.group()
    args = walk.bare_arguments(1)
    for value in args:
        walk.out.effect("run_script", value.text)
    return UNKNOWN


def _use(walk: CodeWalk) -> Value:
    while walk.at < walk.stop and not walk.is_op(";"):
        walk.at += 1
    return EMPTY


def _return(walk: CodeWalk) -> Value:
    values = walk.bare_arguments(2) if not walk.is_word("if", "unless") else ()
    walk.returned = listed(values) if len(values) > 1 else values[0] if values else EMPTY
    return walk.returned


def _open(walk: CodeWalk) -> Value:
    """open HANDLE, MODE, PATH: a file, or a pipe from or to a command."""
    bracket = walk.is_op("(")
    stop = walk.source.mates[walk.at] if bracket else walk.stop
    with walk.within(walk.at + bracket, stop, stop + 1 if bracket else stop):
        walk.skip("my", "our", "local")
        handle = walk.token.text
        if walk.token.kind in ("name", "var"):
            walk.at += 1
        walk.skip(",")
        args = walk.bare_arguments(2)
        after = walk.at
    walk.at = stop + 1 if bracket else after
    walk.names[handle] = _opened(walk, args)
    return UNKNOWN


def _opened(walk: CodeWalk, args: tuple[Value, ...]) -> Value:
    if not args:
        return UNKNOWN
    mode = args[0].text.strip()
    if len(args) == 1:
        if mode.startswith("|") or mode.endswith("|"):
            return effects.shell(walk, text(mode.strip("|").strip()))
        path = mode.lstrip("+<> ")
        if path.startswith("&"):
            return UNKNOWN
        return effects.opened(walk, text(path), mode[: len(mode) - len(path)].strip())
    if mode in ("-|", "|-"):
        return effects.command(walk, args[1:])
    if args[1].ref == "socket" or "&" in mode:
        return UNKNOWN
    return effects.opened(walk, args[1], mode.partition(":")[0].strip())


def _bare(walk: CodeWalk, token: CodeToken) -> int:
    name = token.text.rpartition("::")[2]
    nxt = walk.token
    if token.parts or name in _NULLARY:
        return 0 if token.parts or name in ("fork", "cwd", "getcwd") else -1
    if name in _UNARY:
        return 1 if _operand_follows(nxt) else 0
    if name in CALLS:
        return 2 if _operand_follows(nxt) else 0
    if nxt.kind in ("text", "var", "words", "number", "glob") and name not in walk.names:
        return 2
    return -1


def _operand_follows(token: CodeToken) -> bool:
    if token.kind == "op":
        return token.text in ("(", "[", "{", "\\", "-", "@$", "%$", "$$", "!", "$#", "<")
    if token.kind == "name":
        return token.text not in ("if", "unless", "or", "and", "for", "foreach", "while", "until", "x", "xor")
    return token.kind != "end"


PERL = CodeDialect(
    name="Perl",
    scan=scan,
    call=call_perl,
    binary=BINARY,
    members=frozenset({"->"}),
    joins=frozenset({"."}),
    repeats="x",
    forms={
        "sub": _sub,
        "foreach": _foreach,
        "for": _foreach,
        "map": _over_list,
        "grep": _over_list,
        "sort": _over_list,
        "print": _print,
        "say": _print,
        "printf": _print,
        "eval": _eval,
        "do": _do,
        "use": _use,
        "no": _use,
        "package": _use,
        "return": _return,
        "open": _open,
        "system": _system_form,
        "exec": _system_form,
    },
    noise=_NOISE,
    bare=_bare,
    variable=_variable,
    loops=frozenset({"for", "foreach"}),
    topic="$_",
    braces=True,
    fork="fork",
    endless=frozenset({"while", "for"}),
)
