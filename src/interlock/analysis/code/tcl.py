"""Tcl and Expect scripts -> their effects."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable

from msgspec import Struct

from interlock.analysis.code import library
from interlock.analysis.code.language import CodeLanguage, holes
from interlock.analysis.code.lexing import ESCAPE, TooDeep, Unparsed, balanced, unescape
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.paths import listing
from interlock.analysis.code.program.values import LibraryCall, Sym, Value, tagged, text_of
from interlock.analysis.facts import hole, known

_BLANK = re.compile(r"[ \t]*(?:\\\n[ \t]*)*")
_WORD_END, _QUOTE, _NEVER = re.compile(r"[ \t\n;]|\\\n"), re.compile('"'), re.compile(r"(?!)")
_PLAIN = re.compile(r'[^\\$\["\s;]+')
_VARIABLE = re.compile(r"\$(?:\{([^}]{0,200})\}|((?:::)?\w+(?:::\w+)*)(\([^()\s]*\))?)")
_OPERATOR = re.compile(r"(2?(?:>>?|<<?)&?|\|&?)(@?)(.*)", re.DOTALL)  # of exec, with what may stand behind it
_DEEPEST = 12

_Body = list[ast.stmt]


class _Word(Struct, frozen=True):
    """Its text where that is constant; a braced one may be code."""

    value: ast.expr
    level: int
    text: str = ""
    braced: bool = False

    def code(self) -> _Body:
        return _code(self.text, self.level + 1)


def _code(source: str, level: int) -> _Body:
    if level > _DEEPEST:
        raise TooDeep
    made: _Body = []
    at = 0
    while at < len(source):
        words, at = _words(source, at, level)
        if words:
            made += _command(words)
    return made


def _words(source: str, at: int, level: int) -> tuple[list[_Word], int]:
    words: list[_Word] = []
    while (blank := _BLANK.match(source, at)) and (at := blank.end()) < len(source) and source[at] not in "\n;":
        if source[at] == "#" and not words:
            end = source.find("\n", at)
            return [], len(source) if end < 0 else end + 1
        word, at = _word(source, at + 3 * source.startswith("{*}", at), level)
        words.append(word)
    return words, at + 1


def _word(source: str, at: int, level: int) -> tuple[_Word, int]:
    if source.startswith("{", at):
        end = balanced(source, at, "{", "}", "")
        return _Word(nodes.text(source[at + 1 : end - 1]), level, source[at + 1 : end - 1], True), end
    quoted = source.startswith('"', at)
    parts, at = _pieces(source, at + quoted, level, _QUOTE if quoted else _WORD_END)
    if quoted and at >= len(source):
        raise Unparsed
    value = parts[0] if len(parts) == 1 and isinstance(parts[0], ast.expr) else nodes.joined(parts)
    return _Word(value, level, str(value.value) if isinstance(value, ast.Constant) else ""), at + quoted


def _pieces(source: str, at: int, level: int, end: re.Pattern[str]) -> tuple[list[str | ast.expr], int]:
    parts: list[str | ast.expr] = []
    while at < len(source) and not end.match(source, at):
        if found := _PLAIN.match(source, at):
            parts.append(found[0])
        elif found := ESCAPE.match(source, at):
            parts.append(unescape(found))
        elif found := _VARIABLE.match(source, at):
            name, key = found[1] or found[2] or "", found[3] or ""
            parts.append(hole(key[1:-1]) if name in ("env", "::env") and key else ast.Name(f"${name}{key}"))
        elif source[at] == "[":
            close = balanced(source, at, "[", "]", "")
            parts.append(nodes.as_expression(_code(source[at + 1 : close - 1], level + 1)))
            at = close
            continue
        else:
            parts.append(source[at])
        at = found.end() if found else at + 1
    return parts, at


def _command(words: list[_Word]) -> _Body:
    name, rest = words[0].text.removeprefix("::"), words[1:]
    if name in _FORMS:
        return _FORMS[name](rest)
    unknown = name not in library.words("tcl")["data"] and name not in library.library("tcl").calls
    # braced words of an unknown command may be code
    blocks = [one for word in rest if unknown and word.text.strip() for one in _maybe(word)]
    title = f"{name}.{rest.pop(0).text}" if name in ("file", "interp", "string") and rest else name
    args = [word.value for word in rest if word.text not in ("-force", "--")]
    if name in library.words("tcl")["on_lists"]:
        args[:1] = [nodes.call("<items>", args[:1])]
    if title in ("file.rename", "file.copy"):  # of several, the last is where they go
        args = [ast.List(args[:-1]), *args[-1:]]
    forced = [nodes.named("force", ast.Constant(True))] if any(word.text == "-force" for word in rest) else []
    if not name:
        title, args = "<chosen>", [words[0].value, *args]
    return [*blocks, ast.Expr(nodes.call(title, args, forced))]


def _maybe(word: _Word) -> _Body:
    return nodes.maybe(word.code()) if word.braced else []


def _body(words: list[_Word]) -> _Body:
    return [one for word in words for one in (word.code() if word.braced else [ast.Expr(word.value)])]


def _test(word: _Word) -> ast.expr:
    """It is no command, though one may stand in it."""
    return nodes.several([word.value, *_inside(word), nodes.CONDITION])


def _inside(word: _Word) -> list[ast.expr]:
    return [part for part in _pieces(word.text, 0, word.level, _NEVER)[0] if isinstance(part, ast.expr)]


def _set(words: list[_Word]) -> _Body:
    name = ast.Name(f"${words[0].text}" if words else "?")
    return nodes.assign(name, words[1].value) if len(words) > 1 else [ast.Expr(name)]


def _if(words: list[_Word]) -> _Body:
    plain = [word for word in words if word.braced or word.text not in ("then", "else")]
    if len(plain) < 2:
        return _body(plain)
    test, body, *rest = plain
    other = _if(rest[1:]) if rest and rest[0].text == "elseif" else _body(rest[:1])
    return nodes.branch(_test(test), _body([body]), other)


def _for(words: list[_Word]) -> _Body:
    tests = [_test(word) for word in words[1:2]]
    return [*_body(words[:1]), *nodes.repeat(nodes.several(tests), _body([*words[3:], *words[2:3]]))]


def _foreach(words: list[_Word]) -> _Body:
    if len(words) < 3:
        return _body(words[-1:])
    over = nodes.call("<items>", [words[1].value])
    return nodes.loop(ast.Name(f"${words[0].text}"), over, _body(words[-1:]))


def _cases(words: list[_Word]) -> _Body:
    inner = [_words(word.text.replace("\n", " "), 0, word.level)[0] for word in words if word.braced]
    return [made for found in inner for word in found for made in _maybe(word)]


def _eval(words: list[_Word]) -> _Body:
    if all(isinstance(word.value, ast.Constant) for word in words):
        return _code(" ".join(word.text for word in words), 1 + max((word.level for word in words), default=0))
    parts = [part for word in words for part in (" ", word.value)]
    return [ast.Expr(nodes.call("eval", [nodes.joined(parts[1:])]))]


def _exec(words: list[_Word]) -> _Body:
    argv = [word for word in words if word.text not in library.words("tcl")["switches"]]
    if not any(_OPERATOR.match(word.text) for word in argv):
        return [ast.Expr(nodes.call("exec", [word.value for word in argv]))] if argv else []
    line: list[str | ast.expr] = []
    for word in argv:
        sign = _OPERATOR.match(word.text)
        if sign is None:
            line += [" ", shlex.quote(word.text) if isinstance(word.value, ast.Constant) else word.value]
        elif not sign[2]:  # a channel of the program is none of the shell's
            line += [" ", sign[1].replace("<<", "<<<"), *([" ", shlex.quote(sign[3])] if sign[3] else ())]
    return [ast.Expr(nodes.call("system", [nodes.joined(line[1:])]))]


def _proc(words: list[_Word]) -> _Body:
    if len(words) < 3:
        return []
    params = [f"${name}" for name in words[1].text.split()]
    return [nodes.function(params, nodes.returning(_body(words[2:])), words[0].text)]


_FORMS: dict[str, Callable[[list[_Word]], _Body]] = {
    "set": _set,
    "if": _if,
    "while": lambda words: nodes.repeat(_test(words[0]), _body(words[1:])) if words else [],
    "for": _for,
    "foreach": _foreach,
    **dict.fromkeys(["switch", "expect"], _cases),
    **dict.fromkeys(["eval", "uplevel"], _eval),
    "exec": _exec,
    "spawn": lambda words: [*_exec(words), *nodes.assign(ast.Name("<spawned>"), ast.Constant(True))],
    "proc": _proc,
    "expr": lambda words: [ast.Expr(one) for word in words for one in (word.value, *_inside(word))],
    "return": lambda words: [ast.Return(nodes.several([word.value for word in words]))],
}


def _items(call: LibraryCall) -> Value:
    value = call.get(0)
    if isinstance(value, str):
        return value.split() if known(value) else [tagged(value, "bulk")]
    return value


def _send(call: LibraryCall) -> Value:
    """What Expect types into a shell runs."""
    text = text_of(call.args[-1]).strip() if call.args else ""
    if text and call.walk.scope.find("<spawned>"):
        call.world.shell(text)
    return Sym("?")


read_tcl = CodeLanguage(
    "Tcl",
    "tcl",
    lambda source: (_code(source, 0), True),
    {
        "<items>": _items,
        "glob": lambda call: listing(*(one for one in call.args if not text_of(one).startswith("-"))),
        "send exp_send": _send,
    },
    holes("$"),
).read
