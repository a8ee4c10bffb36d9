"""Perl source -> its tokens, with quotes of any kind, regexes and here-documents told apart from code, and its effects; `-n`, `-p` and `-i` are the caller's."""

from __future__ import annotations

import ast
import re
import textwrap

from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.lexing import CodeToken, Part, Scanner, Splice, Unparsed, balanced, literal, template
from interlock.analysis.code.library import flattened, library, words
from interlock.analysis.code.performing import open_mode
from interlock.analysis.code.performing.running import shell_line
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.paths import tree
from interlock.analysis.code.program.values import (
    UNKNOWN,
    LibraryCall,
    Marked,
    ProgramFunction,
    Sym,
    Value,
    path_of,
    text_of,
)
from interlock.analysis.code.token_parser import TokenParser, by_tokens, for_loop, params, unbracketed
from interlock.analysis.facts import hole

_TOPIC = "$_"
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:::|')[A-Za-z_]\w*)*(?:::)?")
_HEREDOC = re.compile(r"<<(~?)(?:\"([^\"\n]*)\"|'(?P<plain>[^'\n]*)'|`(?P<ticks>[^`\n]*)`|([A-Za-z_]\w*))")
_DOCUMENTATION = re.compile(r"=[A-Za-z].*?(?:\n=cut[^\n]*|\Z)", re.DOTALL)
_SPACE = re.compile(r"\s*")
_FLAGS = re.compile(r"[a-zA-Z]*")
_SUBSCRIPT = re.compile(r"(?:->)?(?=[\[{][\w$'\"-])")
_SPLICED = re.compile(r"\$(?:\w+(?:::\w+)*|[&!@0])|@\w+(?:::\w+)*")


def _begin_line(scanner: Scanner) -> None:
    """Steps over here-documents that the line before announced, and documentation."""
    scanner.at, scanner.resume = max(scanner.at, scanner.resume), 0
    scanner.take(_DOCUMENTATION)


def _take(scanner: Scanner) -> bool:
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
    return not scanner.last.ends_value(words("perl")["before_operands"])


def _word(scanner: Scanner, word: str) -> None:
    if word in ("__END__", "__DATA__"):
        scanner.at = len(scanner.source)
        return
    before = scanner.last
    as_name = before.is_op("->") or (before.text == "sub" and before.kind == "name")
    rest = scanner.source[scanner.at : scanner.at + 40]
    nxt = rest.lstrip()[:2]
    plain = not nxt or nxt[0] in ",;)_" or nxt[0].isalnum() or nxt == "=>" or (before.text == "{" and nxt[0] == "}")
    if word in words("perl")["quotes"] and not as_name and not plain and not (rest[:1].isspace() and nxt[0] in "#="):
        scanner.take(_SPACE)
        _quoted(scanner, word)
    elif before.is_op("{") and scanner.peek() == "}" and len(scanner.tokens) > 1:
        holder = scanner.tokens[-2]
        scanner.emit("text" if holder.kind == "var" or holder.text in ("->", "]", "}") else "name", word)
    else:
        scanner.emit("op" if word in words("perl")["compares"] and not _operand(scanner) else "name", word)


def _quoted(scanner: Scanner, kind: str) -> None:
    delimiter = scanner.peek()
    raw = scanner.delimited()
    if kind == "q":
        scanner.emit("text", literal(raw, delimiter))
    elif kind == "qw":
        scanner.emit("words", raw)
    elif kind in ("qq", "qx"):
        parts = (literal(raw),) if kind == "qx" and delimiter == "'" else template(raw, _splice)
        scanner.emit("ticks" if kind == "qx" else "text", raw, parts)
    elif kind in ("m", "qr"):
        scanner.take(_FLAGS)
        scanner.emit("regex", "m", map(Splice, re.findall(r"\(\?\??\{(.*?)\}\)", raw) if "(?" in raw else ()))
    else:
        _substitution(scanner, kind, delimiter)


def _substitution(scanner: Scanner, kind: str, delimiter: str) -> None:
    scanner.at -= delimiter not in "([{<"
    scanner.take(_SPACE)
    replacement = scanner.delimited()
    flags = scanner.take(_FLAGS)
    runs = kind == "s" and flags and "e" in flags.group()
    found = [Splice(replacement)] if runs else template(replacement, _splice) if kind == "s" else []
    code = [part for part in found if isinstance(part, Splice)]
    scanner.emit("regex", kind, [part for part in code if runs or part.code.startswith(("@{", "${"))])


def _here_document(scanner: Scanner, found: re.Match[str]) -> None:
    mark = next(group for group in found.groups()[1:] if group is not None)
    begin = scanner.resume or scanner.source.find("\n", scanner.at)
    indent = r"[ \t]*" if found[1] else ""
    end = re.compile(rf"^{indent}{re.escape(mark)}(?=;?\r?$)", re.M).search(scanner.source, begin + 1)
    if begin < 0 or end is None:
        raise Unparsed
    body = scanner.source[begin + 1 : end.start()]
    body = textwrap.dedent(body) if found[1] else body
    parts = (body,) if found["plain"] is not None else template(body, _splice)
    scanner.emit("text" if found["ticks"] is None else "ticks", body, parts)
    scanner.resume = end.end()


def _splice(raw: str, at: int) -> tuple[Part, int] | None:
    if raw.startswith(("${", "@{"), at):
        end = balanced(raw, at + 1)
        return Splice(raw[at:end]), _subscripts(raw, end)
    found = _SPLICED.match(raw, at)
    if not found:
        return None
    end = _subscripts(raw, found.end())
    return Splice(raw[at:end]), end


def _subscripts(raw: str, at: int) -> int:
    while found := _SUBSCRIPT.match(raw, at):
        try:
            at = balanced(raw, found.end())
        except Unparsed:
            break
    return at


def _sub(parser: TokenParser) -> nodes.Made:
    title = parser.next().text if parser.token.kind == "name" else ""
    given = params(parser)
    if not parser.is_op("{"):
        return nodes.NOTHING
    made = nodes.function(given, nodes.returning(parser.block()), title, rest="" if given else "@_")
    return [made] if title else nodes.Closure(made)


def _foreach(parser: TokenParser) -> nodes.Made:
    parser.skip("my", "our", "local", "state")
    named = parser.next().text if parser.token.kind == "var" else _TOPIC
    if not parser.is_op("("):
        return nodes.NOTHING
    if any(token.is_op(";") for token in parser.tokens[parser.at : parser.mates[parser.at]]):
        return for_loop(parser)
    over = nodes.call("<list>", [parser.group()])
    return nodes.loop(ast.Name(named), over, parser.block() if parser.is_op("{") else [])


def _over_list(parser: TokenParser) -> nodes.Made:
    word = parser.tokens[parser.at - 1].text
    with unbracketed(parser):
        block = parser.block() if parser.is_op("{") else None
        parser.skip(",")
        args, _ = parser.bare_arguments(2)
    if block is None:
        block, args = [ast.Expr(args[0])] if args else [], args[1:]
    over = nodes.call("<list>", args)
    if word == "map":
        pair = ast.comprehension(target=ast.Name(_TOPIC), iter=over, ifs=[], is_async=0)
        return ast.ListComp(nodes.as_expression(block), [pair])
    each = nodes.loop(ast.Name(_TOPIC), ast.Name("<list>"), block)
    return [*nodes.assign(ast.Name("<list>"), over), *each, ast.Expr(ast.Name("<list>"))]


def _print(parser: TokenParser) -> ast.expr:
    handle: ast.expr = nodes.NOTHING
    with unbracketed(parser):
        named = parser.token.kind in ("name", "var") and parser.token.text in parser.names
        if parser.is_op("{"):
            handle = ast.Name(parser.ahead(1).text)
            parser.at = parser.mates[parser.at] + 1
        elif named and parser.ahead(1).kind not in ("op", "end"):
            handle = ast.Name(parser.next().text)
        return nodes.call("<print>", [handle, *parser.bare_arguments(2)[0]])


def _run_block(parser: TokenParser) -> nodes.Made:
    word = parser.tokens[parser.at - 1].text
    if parser.is_op("{"):
        return parser.block()
    args, _ = parser.arguments() if parser.is_op("(") else parser.bare_arguments(1)
    return nodes.call(word, args[:1] or [ast.Name(_TOPIC)] * (word in parser.dialect.topical))


def _system(parser: TokenParser) -> ast.expr:
    """A block before the list names the program that really runs."""
    if parser.is_op("{"):
        program = nodes.as_expression(parser.block())
        args, _ = parser.bare_arguments(2)
        return nodes.call("<start>", [program, *args[1:]])
    return nodes.call("system", parser.arguments()[0] if parser.is_op("(") else parser.bare_arguments(2)[0])


def _return(parser: TokenParser) -> nodes.Made:
    args = parser.bare_arguments(2)[0] if not parser.is_word("if", "unless") else []
    return [ast.Return(args[0] if len(args) == 1 else ast.List(args))]


def _open(parser: TokenParser) -> nodes.Made:
    with unbracketed(parser):
        give = nodes.declare if parser.skip("my") else nodes.assign
        parser.skip("our", "local")
        handle = parser.token.text
        parser.at += parser.token.kind in ("name", "var")
        parser.skip(",")
        args = parser.bare_arguments(2)[0]
    parser.names.add(handle)
    return give(ast.Name(handle), nodes.call("<open>", args))


def _bare(parser: TokenParser, token: CodeToken) -> int:
    told, named = words("perl"), token.text.rpartition("::")[2]
    if token.parts or named in told["nullary"]:
        return 0 if token.parts or named in ("fork", "cwd", "getcwd") else -1
    after = parser.token
    follows = after.kind != "end"
    if after.kind in ("op", "name"):
        follows = after.text in told["signs"] if after.kind == "op" else after.text not in told["behind"]
    if named in told["unary"]:
        return int(follows)
    if named in library("perl").calls:
        return 2 * follows
    starts = after.kind in ("text", "var", "words", "number", "glob")
    return 2 if starts and named not in parser.names else -1


def _callee(word: str) -> ast.expr:
    own = word.rpartition("::")[2]
    return ast.Name(own) if own in library("perl").calls else nodes.path(word.replace("::", "."))


def _opened(call: LibraryCall) -> Value:
    if not call.args:
        return Sym("?")
    mode, rest = text_of(call.get(0)).strip(), call.args[1:]
    if not rest:
        if mode.startswith("|") or mode.endswith("|"):
            return shell_line(mode.strip("|").strip(), call)
        path = mode.lstrip("+<> ")
        how = mode[: len(mode) - len(path)].strip() or "r"
        return Sym("?") if path.startswith("&") else call.world.open(path, open_mode([how]))
    if mode in ("-|", "|-"):
        return call.walk.call(Sym("system"), rest)
    if "&" in mode or path_of(rest[0]).startswith("socket"):
        return Sym("?")
    return call.world.open(rest[0], open_mode([mode.partition(":")[0].strip()]))


def _shift(call: LibraryCall) -> Value:
    given = call.args[0] if call.args else call.walk.scope.find("@_")
    if not isinstance(given, list) or not given:
        return hole()
    if not call.args and len(given) > 1:
        call.walk.scope.set("@_", given[1:])
    return given[0]


def _find(call: LibraryCall) -> Value:
    parts = [one for given in call.args for one in (given.values() if isinstance(given, dict) else [given])]
    wanted = [one for one in parts if isinstance(one, ProgramFunction)] or list(call.walk.defined)
    places = [one for one in flattened(call.args) if isinstance(one, str)]
    for file in tree(*places):
        for name in (_TOPIC, "$File::Find::name", "$File::Find::dir"):
            call.walk.scope.set(name, file)
        for func in wanted:
            call.walk.call(func, [file])
    call.walk.scope.set(_TOPIC, Marked(hole("_"), {"bulk"}))
    return Sym("?")


def _variable(name: str) -> Value:
    if name[:1] in ("@", "%"):
        return [Marked(hole(name[1:]), {"bulk"})]
    return hole(name[1:]) if name.startswith("$") else UNKNOWN


read_perl = CodeLanguage(
    "Perl",
    "perl",
    by_tokens("perl", "perl", splice=_splice, take=_take, begin_line=_begin_line, bare=_bare, callee=_callee),
    {"<open>": _opened, "shift": _shift, "find finddepth": _find},
    _variable,
    {_TOPIC: Marked(hole("_"), {"bulk"})},
).read
