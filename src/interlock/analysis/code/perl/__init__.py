"""Perl source -> its effects; `-n`, `-p` and `-i` are the caller's."""

from __future__ import annotations

import ast

from interlock.analysis.code import token_parser as tokens
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.lexing import CodeToken
from interlock.analysis.code.library import library, words
from interlock.analysis.code.performing import open_mode
from interlock.analysis.code.performing.programs import shell_line
from interlock.analysis.code.perl.lexing import begin_line, splice, take
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.objects import LibraryCall, ProgramFunction
from interlock.analysis.code.program.paths import items, tree
from interlock.analysis.code.program.values import UNKNOWN, Marked, Sym, Value, text_of
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.code.token_parser import TokenParser, by_tokens
from interlock.analysis.facts import hole

_TOPIC = "$_"


# -- words with an own syntax


def _sub(parser: TokenParser) -> ast.expr:
    title = parser.token.text if parser.token.kind == "name" else ""
    parser.at += bool(title)
    given = tokens.params(parser)
    if not parser.is_op("{"):
        return nodes.NOTHING
    made = nodes.function(given, nodes.returning(parser.block()), title, rest="" if given else "@_")
    return nodes.Body([made]) if title else nodes.Closure(made)


def _foreach(parser: TokenParser) -> ast.expr:
    while parser.skip("my", "our", "local", "state"):
        pass
    named = parser.token.text if parser.token.kind == "var" else _TOPIC
    parser.at += parser.token.kind == "var"
    if not parser.is_op("("):
        return nodes.NOTHING
    if any(token.kind == "op" and token.text == ";" for token in parser.tokens[parser.at : parser.mates[parser.at]]):
        return tokens.for_loop(parser)
    over = _flat([parser.group()])
    body = parser.block() if parser.is_op("{") else []
    return nodes.as_expression(nodes.loop(nodes.name(named), over, body))


def _flat(given: list[ast.expr]) -> ast.expr:
    return nodes.call("<list>", given)


def _over_list(parser: TokenParser) -> ast.expr:
    """map, grep, sort: the block is read with each item of the list."""
    word = parser.tokens[parser.at - 1].text
    with tokens.unbracketed(parser):
        block = parser.block() if parser.is_op("{") else None
        parser.skip(",")
        args, _ = parser.bare_arguments(2)
    if block is None:
        block, args = [ast.Expr(args[0])] if args else [], args[1:]
    over = _flat(args)
    if word == "map":
        pair = ast.comprehension(target=nodes.name(_TOPIC), iter=over, ifs=[], is_async=0)
        return ast.ListComp(nodes.as_expression(block), [pair])
    each = nodes.loop(nodes.name(_TOPIC), nodes.name("<list>"), block)
    return nodes.Body([*nodes.assign(nodes.name("<list>"), over), *each, ast.Expr(nodes.name("<list>"))])


def _print(parser: TokenParser) -> ast.expr:
    """print to a handle writes to what was opened under it."""
    handle: ast.expr = nodes.NOTHING
    with tokens.unbracketed(parser):
        named = parser.token.kind in ("name", "var") and parser.token.text in parser.names
        if parser.is_op("{"):
            handle = nodes.name(parser.ahead(1).text)
            parser.at = parser.mates[parser.at] + 1
        elif named and parser.ahead(1).kind not in ("op", "end"):
            handle = nodes.name(parser.token.text)
            parser.at += 1
        return nodes.call("<print>", [handle, *parser.bare_arguments(2)[0]])


def _run_block(parser: TokenParser) -> ast.expr:
    """eval and do: a block, or the text or the file that is run."""
    word = parser.tokens[parser.at - 1].text
    if parser.is_op("{"):
        return nodes.as_expression(parser.block())
    args, _ = parser.arguments() if parser.is_op("(") else parser.bare_arguments(1)
    return nodes.call(word, args[:1] or [nodes.name(_TOPIC)] * (word in words("perl")["topical"]))


def _system(parser: TokenParser) -> ast.expr:
    """system and exec: a block before the list names the program that really runs."""
    if parser.is_op("{"):
        program = nodes.as_expression(parser.block())
        args, _ = parser.bare_arguments(2)
        return nodes.call("<start>", [program, *args[1:]])
    return nodes.call("system", parser.arguments()[0] if parser.is_op("(") else parser.bare_arguments(2)[0])


def _return(parser: TokenParser) -> ast.expr:
    args = parser.bare_arguments(2)[0] if not parser.is_word("if", "unless") else []
    return nodes.Body([ast.Return(args[0] if len(args) == 1 else ast.List(args))])


def _open(parser: TokenParser) -> ast.expr:
    """open HANDLE, MODE, PATH: a file, or a pipe from or to a command."""
    with tokens.unbracketed(parser):
        give = nodes.declare if parser.skip("my") else nodes.assign
        parser.skip("our", "local")
        handle = parser.token.text
        if parser.token.kind in ("name", "var"):
            parser.at += 1
        parser.skip(",")
        args = parser.bare_arguments(2)[0]
    parser.names.add(handle)
    return nodes.as_expression(give(nodes.name(handle), nodes.call("<open>", args)))


def _bare(parser: TokenParser, token: CodeToken) -> int:
    named = token.text.rpartition("::")[2]
    if token.parts or named in words("perl")["nullary"]:
        return 0 if token.parts or named in ("fork", "cwd", "getcwd") else -1
    follows = _operand_follows(parser.token)
    if named in words("perl")["unary"]:
        return 1 if follows else 0
    if named in library("perl").calls:
        return 2 if follows else 0
    starts = parser.token.kind in ("text", "var", "words", "number", "glob")
    return 2 if starts and named not in parser.names else -1


def _operand_follows(token: CodeToken) -> bool:
    if token.kind == "op":
        return token.text in ("(", "[", "{", "\\", "-", "@$", "%$", "$$", "!", "$#", "<")
    if token.kind == "name":
        return token.text not in ("if", "unless", "or", "and", "for", "foreach", "while", "until", "x", "xor")
    return token.kind != "end"


def _callee(word: str) -> ast.expr:
    """A function by its own name, whatever package it is called through."""
    own = word.rpartition("::")[2]
    return nodes.name(own) if own in library("perl").calls else nodes.path(word.replace("::", "."))


# -- calls that no table describes


def _opened(walk: ProgramWalk, call: LibraryCall) -> Value:
    if not call.args:
        return Sym("?")
    mode, rest = text_of(call.get(0)).strip(), call.args[1:]
    if not rest:
        if mode.startswith("|") or mode.endswith("|"):
            return shell_line(walk, mode.strip("|").strip(), call)
        path = mode.lstrip("+<> ")
        how = mode[: len(mode) - len(path)].strip() or "r"
        return Sym("?") if path.startswith("&") else walk.world.open(path, open_mode([how]))
    if mode in ("-|", "|-"):
        return walk.call(Sym("system"), rest, {})
    if "&" in mode or (isinstance(rest[0], Sym) and rest[0].path.startswith("socket")):
        return Sym("?")
    return walk.world.open(rest[0], open_mode([mode.partition(":")[0].strip()]))


def _shift(walk: ProgramWalk, call: LibraryCall) -> Value:
    """The next argument of this function."""
    given = call.args[0] if call.args else walk.scope.find("@_")
    if not isinstance(given, list) or not given:
        return hole()
    if not call.args and len(given) > 1:
        walk.scope.set("@_", given[1:])
    return given[0]


def _find(walk: ProgramWalk, call: LibraryCall) -> Value:
    """File::Find: the function gets every file below the directories."""
    parts = [one for given in call.args for one in (given.values() if isinstance(given, dict) else [given])]
    wanted = [one for one in parts if isinstance(one, ProgramFunction)] or list(walk.defined)
    listed = [one for given in call.args if not isinstance(given, dict) for one in items(given)]
    places = [one for one in listed if isinstance(one, str)]
    for file in tree(*places):
        for name in (_TOPIC, "$File::Find::name", "$File::Find::dir"):
            walk.scope.set(name, file)
        for func in wanted:
            walk.call(func, [file], {})
    walk.scope.set(_TOPIC, Marked(hole("_"), {"bulk"}))
    return Sym("?")


def _variable(name: str) -> Value:
    if name in ("%ENV", "$ENV"):
        return library("perl").reach("%ENV")
    if name[:1] in ("@", "%"):
        return [Marked(hole(name[1:]), {"bulk"})]
    return hole(name[1:]) if name.startswith("$") else UNKNOWN


_OWN = (_sub, _foreach, _over_list, _print, _run_block, _return, _open, _system)
read_perl = CodeLanguage(
    "Perl",
    "perl",
    by_tokens("perl", *_OWN, splice=splice, take=take, begin_line=begin_line, bare=_bare, callee=_callee),
    {"<open>": _opened, "shift": _shift, **dict.fromkeys(["find", "finddepth"], _find)},
    _variable,
    {_TOPIC: Marked(hole("_"), {"bulk"})},
).read
