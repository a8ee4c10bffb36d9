"""Groovy, R, awk and Vim source -> its effects, by the tokens of each."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import takewhile

from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.lexing import CodeToken, Part, Splice, TooDeep, balanced
from interlock.analysis.code.library import library, words
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.results import index, result
from interlock.analysis.code.program.values import UNKNOWN, LibraryCall, Sym, Value, path_of, text_of
from interlock.analysis.code.program.walk import ProgramEffects, ProgramWalk, is_bare_shell
from interlock.analysis.code.token_parser import TokenParser, branch, by_tokens, dialect_of, params
from interlock.analysis.facts import Report, hole, known, without_holes

# -- Groovy

_INNER = re.compile(r"\$([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")


def _splice(raw: str, at: int) -> tuple[Part, int] | None:
    if raw.startswith("${", at):
        end = balanced(raw, at + 1)
        return Splice(raw[at + 2 : end - 1]), end
    found = _INNER.match(raw, at)
    return (Splice(found[1]), found.end()) if found else None


def _block(parser: TokenParser) -> ast.expr:
    closer, start = parser.mates[parser.at], parser.at + 1
    first = parser.tokens[start : min(closer, start + 8)]
    head = list(takewhile(lambda token: token.kind == "name" or token.is_op(*",.<>=?"), first))
    behind = parser.tokens[start + len(head)]
    named = ["it"]
    if behind.is_op("->"):
        named = [token.text for token in head if token.kind == "name"][-1:]
        start += len(head) + 1
    parser.names.update(named)
    with parser.within(start, closer, closer + 1):
        return nodes.closure(named, nodes.returning(parser.sequence()))


def _new(parser: TokenParser) -> ast.expr:
    name = ""
    while parser.token.kind == "name" or parser.is_op("."):
        name = parser.next().text
    if parser.is_op("["):
        parser.at = parser.mates[parser.at] + 1
        return ast.List(parser.arguments()[0]) if parser.is_op("{") else nodes.NOTHING
    given = parser.arguments() if parser.is_op("(") else ([], [])
    return nodes.call(f"{name}.new", *given)


def _bare(parser: TokenParser, token: CodeToken) -> int:
    named = parser.token.kind == "name"
    printed = named and (token.text in ("println", "print") or parser.ahead(1).text == ":")
    if parser.token.spaced and (printed or parser.token.kind in ("text", "number")):
        return 2
    return 0 if parser.is_op("{") and (token.parts or token.text in words("groovy")["steps"]) else -1


read_groovy = CodeLanguage("Groovy", "groovy", by_tokens("groovy", splice=_splice, bare=_bare, block=_block)).read


# -- R


def _function(parser: TokenParser) -> ast.expr:
    given = params(parser)
    parser.names.update(given)
    return nodes.closure(given, nodes.returning(branch(parser)))


def _evaluated(call: LibraryCall) -> Value:
    given = call.get(0)
    if path_of(given) == "parsed":
        call.world.execute(given.args[0])
    return Sym("?")


def _item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
    """`[[1]]` is `[1]`, and a negative number leaves an item out."""
    place = key[0] if isinstance(key, list) and len(key) == 1 else key
    if not isinstance(owner, list) or not isinstance(place, int) or isinstance(place, bool) or place == 0:
        return UNKNOWN
    return index(owner, place - 1) if place > 0 else [*owner[: -place - 1], *owner[-place:]]


read_r = CodeLanguage(
    "R",
    "r",
    by_tokens("r"),
    {
        "paste": lambda call: result("join_rest", [call.named.get("sep", " "), *call.args]),
        "paste0": lambda call: result("join_rest", ["", *call.args]),
        "eval evalq": _evaluated,
    },
    lambda name: None if name == "NULL" else UNKNOWN,
    own_item=_item,
    first=1,
).read


# -- awk: its effects besides printing


_REDIRECTS = frozenset({">", ">>", "|", "|&"})
_TCP = re.compile(r"/inet[46]?/(?:tcp|udp)/[^/]*/([^/]+)/([^/]+)")


def read_awk(source: str, out: Report, given: Mapping[str, str] = {}) -> None:
    """`given` are the variables of -v."""
    _AWK.read(source, out, {f"${name}": value for name, value in given.items()})


def _parse_awk(source: str) -> nodes.Program:
    """Only the rules for its begin and its end surely run."""
    parser = TokenParser(dialect_of("awk"), source)
    made: list[ast.stmt] = []
    while parser.at < parser.stop:
        before, sure = parser.at, parser.skip("BEGIN", "END")
        if parser.is_op("{"):
            block = parser.block()
            made += block if sure else nodes.maybe(block)
        else:
            made += parser.statement()
        parser.at = max(parser.at, before + 1)
    return made, True


def _awk_print(parser: TokenParser) -> ast.expr:
    formats = parser.tokens[parser.at - 1].text == "printf"
    printed: list[ast.expr] = []
    while parser.at < parser.stop and not parser.is_op(*_REDIRECTS, ";", "}") and parser.token.kind != "end":
        printed.append(parser.expression(2))
        if not parser.skip(","):
            break
    if len(printed) == 1 and isinstance(printed[0], ast.List):  # in brackets
        printed = printed[0].elts
    if formats:
        printed = [nodes.call("sprintf", printed)]
    if not parser.is_op(*_REDIRECTS):
        return nodes.several(printed)
    sign = nodes.text(parser.next().text)
    return nodes.call("<print>", [sign, parser.expression(parser.dialect.adjacent), *printed])


def _getline(parser: TokenParser) -> ast.expr:
    if parser.token.kind == "var" or parser.is_word("$"):
        parser.operand()
    return nodes.call("<getline>", [], [nodes.named("file", parser.operand())] if parser.skip("<") else [])


def _indirect(parser: TokenParser) -> ast.expr:
    """gawk's @name(…) calls the function whose name is in a variable."""
    name = ast.Name(f"${parser.next().text}")
    return nodes.call("<chosen>", [name, *parser.arguments()[0]]) if parser.is_op("(") else nodes.NOTHING


def _awk_function(parser: TokenParser) -> nodes.Made:
    title, given = parser.next().text, params(parser)
    return [nodes.function(given, parser.block() if parser.is_op("{") else [], title)]


def _field(parser: TokenParser) -> nodes.Made:
    return [ast.Expr(parser.operand()), ast.Expr(ast.Name("$field"))]


# -- calls that no table describes


def _print_to(call: LibraryCall) -> Value:
    """What is printed into a bare shell is what the shell runs."""
    sign, where, *printed = call.args
    path, text = text_of(where), text_of(result("join", [" ", printed]))
    if sign in ("|", "|&"):
        _run_awk(call.world, text if is_bare_shell(path) else path)
    elif not path.startswith(("/dev/std", "/dev/tty", "/dev/null", "/dev/fd/")):
        empty = bool(printed) and known(text) and not text.strip()
        call.world.effect("append" if sign == ">>" else "truncate" if empty else "write", path)
    return Sym("?")


def _getline_from(call: LibraryCall) -> Value:
    for command in call.args:
        _run_awk(call.world, text_of(command))
    path = text_of(call.named.get("file", "-"))
    if known(path) and path not in ("-", "/dev/stdin"):
        call.world.effect("read", path)
    return Sym("?")


def _run_awk(world: ProgramEffects, command: str) -> None:
    """What comes over a connection and is run makes it a reverse shell."""
    found = _TCP.match(command)
    if found:
        world.peer = f"{found[1]}:{found[2]}"
    elif not without_holes(command) and world.peer:
        world.shells += 1
    elif command.strip():
        world.shell(command)


_AWK = CodeLanguage("Awk", "awk", _parse_awk, {"<print>": _print_to, "<getline>": _getline_from}, holes("$"))


# -- Vim and ex commands: their effects outside the editor


_RANGE = re.compile(r"(?:[%.$]|\d+|'\w|/(?:[^/\\]|\\.)*/|[-+,;]\d*)*")
_MODIFIER = re.compile(
    r"(?:sil(?:e(?:n(?:t)?)?)?|noa(?:utocmd)?|verb(?:ose)?|keepalt|keepjumps|unsilent|tab|vert(?:ical)?|bot(?:right)?)\b!?\s*"
)
_WORD = re.compile(r"[A-Za-z]+\d?")
_CALLED = re.compile(r"[A-Za-z_][\w:#]*(?=\s*\()")
_STRING = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"\\\n]|\\.)*\"")
_LEVELS = 5

_Code = list[ast.stmt]


def _vim_line(line: str, level: int) -> _Code:
    if level > _LEVELS:
        raise TooDeep
    made: _Code = []
    rest: str | None = line
    while rest and rest.strip():
        rest = rest.lstrip(": \t")
        while found := _MODIFIER.match(rest):
            rest = rest[found.end() :].lstrip(": ")
        rest = _RANGE.sub("", rest, count=1).lstrip()
        word = _WORD.match(rest)
        if rest.startswith("!"):
            return made + _does("<shell>", rest[1:])
        if word is None:
            rest = _at_bar(rest)[1]
        else:
            named, rest = _vim_command(word.group(), rest[word.end() :], level)
            made += named
    return made


def _vim_command(name: str, rest: str, level: int) -> tuple[_Code, str | None]:
    kind = dialect_of("vim").commands.get(name, "")
    if kind[:1] == "<":
        return _does(kind, rest.strip(" !") if kind == "<shell>" else rest), None
    if kind in ("on_matches", "on_each"):
        return _vim_line(_on_matches(rest) if kind == "on_matches" else rest, level + 1), None
    if kind == "program" and rest.strip(" !"):
        return [], None
    if kind in ("read", "write"):
        return _read_or_write(kind, rest)
    if kind == "keys":
        return _vim_line(rest.partition(":")[2].replace("\\<CR>", "\n").split("\n")[0], level + 1), None
    own, after = (rest, None) if kind == "whole_line" else _at_bar(rest)
    called = frozenset(_CALLED.findall(own))
    evaluates = kind in ("execute", "evaluate")
    reaches = evaluates or not (called.isdisjoint(_VIM_CALLS) and called.isdisjoint(library("vim").calls))
    made = TokenParser(dialect_of("vim"), own).sequence() if reaches else []
    return [ast.Expr(nodes.call("execute", [nodes.as_expression(made)]))] if kind == "execute" else made, after


def _does(name: str, text: str) -> _Code:
    return [ast.Expr(nodes.call(name, [nodes.text(text.strip())]))]


def _on_matches(rest: str) -> str:
    rest = rest.lstrip("! ")
    if not rest:
        return ""
    end = re.compile(rf"(?:[^\\{re.escape(rest[0])}]|\\.)*{re.escape(rest[0])}").match(rest, 1)
    return rest[end.end() :] if end else ""


def _read_or_write(kind: str, rest: str) -> tuple[_Code, str | None]:
    stripped = rest.strip()
    if stripped.startswith("!") and (rest[:1].isspace() or kind == "read"):
        return _does("<shell>", stripped[1:]), None
    target, after = _at_bar(rest)
    target = target.strip().lstrip("!").strip()
    if target.startswith(">>"):
        return _does("<append>", target[2:]), after
    return _does("<write>", target) if kind == "write" and target not in ("", "%") else [], after


def _at_bar(rest: str) -> tuple[str, str | None]:
    """The first bar that is neither escaped nor in a text."""
    at = 0
    while at < len(rest):
        if found := _STRING.match(rest, at):
            at = found.end()
        elif rest[at] == "|":
            return rest[:at], rest[at + 1 :].lstrip("|")
        else:
            at += 1 + (rest[at] == "\\")
    return rest, None


# -- calls that no table describes


def _execute(call: LibraryCall) -> Value:
    text = call.text(0)
    if text.lstrip(": ").startswith(hole()[0]):
        call.world.unreadable("a Vim command made at run time", "command")
    else:
        call.walk.block(_vim_line(text, 0))
    return Sym("?")


def _delete(call: LibraryCall) -> Value:
    call.world.touch("delete", call.get(0), *["recursive"] * ("rf" in call.text(1)))
    return Sym("?")


_VIM_CALLS = {"execute": _execute, "delete": _delete}
read_vim = CodeLanguage(
    "Vim",
    "vim",
    lambda source: ([made for line in source.split("\n") for made in _vim_line(line, 0)], True),
    _VIM_CALLS,
    holes("$"),
).read
