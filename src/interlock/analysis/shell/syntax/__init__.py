"""Parses shell text into nodes in one linear pass; keeps what it could read of broken text."""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.analysis.shell.syntax.compound import COMPOUNDS, arithmetic_command, function_body
from interlock.analysis.shell.syntax.cursor import (
    CLOSING,
    MAX_DEPTH,
    Grammar,
    HereDocument,
    ShellCursor,
    ShellSyntax,
    ShellTooDeep,
    is_escaped,
)
from interlock.analysis.shell.syntax.nodes import (
    AndOr,
    Assignment,
    Background,
    Branches,
    Expression,
    Node,
    ShellGroup,
    ShellLoop,
    ShellPipeline,
    ShellRedirect,
    ShellText,
    ShellWord,
    SimpleCommand,
)
from interlock.analysis.shell.syntax.words import expansions, word

__all__ = ["DECLARING", "MAX_DEPTH", "ShellSyntax", "ShellTooDeep", "parse", "parse_document"]

MAX_ERRORS = 50

_RESERVED = re.compile(r"(?:if|while|until|for|case|select|function|coproc|time|\{|\[\[|!)(?=[\s;&|()<>]|$)")
_BASH_ONLY = frozenset({"[[", "coproc", "select"})  # plain words to a POSIX shell
_TIME_OPTION = re.compile(r"(?:-p|--)(?=\s)")
# A word that stands for itself and what may follow it, as most words do; all others are read part by part.
_BARE = re.compile(r"([^\s'\"\\$`|&;<>()#][^\s'\"\\$`|&;<>()]*+)(?:[ \t]+|(?=[\n;|&)]|\Z))")
_MAY_ASSIGN = re.compile(r"[=\[]")
_REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|>|<)")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]\n]{0,200})\])?(\+?)=")
_ARRAY_INDEX = re.compile(r"\[([^\]\n]{0,200})\]=")
_QUOTE = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)
DECLARING = frozenset({"declare", "local", "export", "readonly", "typeset"})


def parse(text: str, step: Callable[[int], None], dialect: str = "bash") -> tuple[list[Node], list[ShellSyntax]]:
    """The nodes, and what is wrong with the text; never raises (but `step` may)."""
    cursor = ShellCursor(text, step, dialect, _GRAMMAR)
    nodes: list[Node] = []
    errors: list[ShellSyntax] = []
    while True:
        try:
            nodes += _nodes(cursor, "")
            if cursor.pos >= cursor.size:
                return nodes, errors
            cursor.refuse(f"unexpected {text[cursor.pos]!r}")
        except ShellSyntax as error:
            nodes += cursor.kept
            errors.append(error)
        # Go on behind the next line end: a shell that reads its input by lines does so too.
        after = text.find("\n", max(cursor.pos, errors[-1].at))
        if after < 0 or isinstance(errors[-1], ShellTooDeep) or len(errors) >= MAX_ERRORS:
            return nodes, errors
        cursor.restart(after + 1)


def parse_document(text: str, step: Callable[[int], None], dialect: str = "bash") -> ShellWord:
    """Its expansions only; none where it cannot be read."""
    try:
        parts = expansions(ShellCursor(text, step, dialect, _GRAMMAR))
    except ShellSyntax:
        parts = [ShellText(text, True)]
    return ShellWord(parts, 0, len(text))


# -- lists


def _nodes(cursor: ShellCursor, stop: str) -> list[Node]:
    """Up to the character `stop` or a closing word, left unread."""
    found: list[Node] = []
    text = cursor.text
    while True:
        cursor.separators()
        char = cursor.peek()
        if char in ("", stop) or CLOSING.match(text, cursor.pos):
            return found
        if char in ");":
            if stop or text.startswith((";;", ";&"), cursor.pos):
                return found
            cursor.refuse(f"unexpected {char!r}")
        node = _and_or(cursor)
        if cursor.take("&"):  # one: two of them join
            node = Background(node)
        found.append(node)
        if cursor.pos >= cursor.size:
            return found


def _and_or(cursor: ShellCursor) -> Node:
    nodes = [_pipeline(cursor)]
    operators: list[str] = []
    while (operator := cursor.text[cursor.pos : cursor.pos + 2]) in ("&&", "||"):
        cursor.pos += 2
        cursor.lines()
        operators.append(operator)
        nodes.append(_pipeline(cursor))
    return AndOr(nodes, operators) if operators else nodes[0]


def _pipeline(cursor: ShellCursor) -> Node:
    """Leaves the cursor behind the blanks that follow."""
    stages = [_command(cursor)]
    while True:
        cursor.blank()
        mark = cursor.text[cursor.pos : cursor.pos + 2]
        if mark[:1] != "|" or mark == "||":
            return ShellPipeline(stages) if len(stages) > 1 else stages[0]
        cursor.pos += 2 if mark == "|&" else 1
        cursor.lines()
        stages.append(_command(cursor))


# -- commands


def _command(cursor: ShellCursor) -> Node:
    negated = False
    while True:
        cursor.step(1)
        cursor.blank()
        if not (char := cursor.peek()):
            cursor.refuse("a command is missing at the end")
        if char == "(":
            # To a POSIX shell `((` opens two subshells.
            arithmetic = arithmetic_command(cursor) if cursor.at("((") and cursor.dialect != "dash" else None
            if arithmetic:
                return arithmetic
            cursor.pos += 1
            return ShellGroup(cursor.enclosed(), True, _redirects(cursor))
        found = _RESERVED.match(cursor.text, cursor.pos)
        if not found or (cursor.dialect == "dash" and found[0] in _BASH_ONLY):
            node = _simple(cursor)
        else:
            start = cursor.pos
            cursor.pos = found.end()
            if found[0] in ("!", "time"):
                negated = negated or found[0] == "!"
                cursor.blank()
                while found[0] == "time" and cursor.match(_TIME_OPTION):
                    cursor.blank()
                if cursor.peek() in ";\n&|)":  # it stands alone
                    return SimpleCommand([], [], [], (start + cursor.base, cursor.pos + cursor.base))
                continue
            cursor.deeper()
            node = COMPOUNDS[found[0]](cursor)
            cursor.depth -= 1
            if isinstance(node, (ShellGroup, Branches, ShellLoop)):
                node.redirects = _redirects(cursor)
        if negated and isinstance(node, SimpleCommand | Expression):
            node.negated = True
        return node


def _simple(cursor: ShellCursor) -> Node:
    text, base, start = cursor.text, cursor.base, cursor.pos
    words: list[ShellWord] = []
    assigns: list[Assignment] = []
    redirects: list[ShellRedirect] = []
    declares = True  # until the command's name is read, and behind `export` and its kin
    plain = 0  # words whose steps are not counted yet
    while cursor.pos < cursor.size:
        if (bare := _BARE.match(text, cursor.pos)) and not (declares and _MAY_ASSIGN.search(bare[1])):
            begin, end = bare.span(1)
            words.append(ShellWord([ShellText(bare[1], False)], begin + base, end + base, bare[1]))
            if declares:
                declares = bare[1] in DECLARING or len(words) > 1
            cursor.pos = bare.end()
            plain += 1
            continue
        cursor.blank()
        char = cursor.peek()
        if char in "|;)\n#" or (char == "&" and (cursor.dialect == "dash" or not cursor.at("&>"))):
            break
        if (char in "<>&{" or char.isdigit()) and (redirect := _redirect(cursor)):
            redirects.append(redirect)
        elif char == "(":
            name = words[0].literal if len(words) == 1 and not assigns else None
            if name is None:
                cursor.refuse("unexpected '('")
            cursor.pos += 1
            cursor.expect(")")
            return function_body(cursor, name, start)
        elif declares and (assignment := _assignment(cursor)):
            assigns.append(assignment)
        else:
            before = cursor.pos
            words.append(word(cursor))
            if cursor.pos == before:
                cursor.refuse(f"unexpected {char!r}")
            if len(words) == 1:
                declares = words[0].literal in DECLARING
    if not words and not assigns and not redirects:
        cursor.refuse("a command is missing")
    cursor.step(plain)
    node = SimpleCommand(words, assigns, redirects, (start + base, cursor.pos + base))
    cursor.kept.append(node)
    return node


# -- assignments


def _assignment(cursor: ShellCursor) -> Assignment | None:
    found = cursor.match(_ASSIGN)
    if not found:
        return None
    name, index, append = found[1], found[2] or "", found[3] == "+"
    if cursor.take("("):
        items, keys = _array(cursor)
        return Assignment(name, None, items, append, keys=keys)
    value = ShellWord([]) if cursor.peek() in " \t\r\n;|&)" else word(cursor)
    return Assignment(name, value, None, append, index)


def _array(cursor: ShellCursor) -> tuple[list[ShellWord], list[str]]:
    """The key of an item is empty where none is."""
    items: list[ShellWord] = []
    keys: list[str] = []
    while True:
        cursor.lines()
        if not (char := cursor.peek()):
            cursor.refuse("an array is not closed")
        if cursor.take(")"):
            return items, keys
        if char in ";|&<>(" and not cursor.at("<("):
            cursor.refuse("an array cannot be read")
        found = cursor.match(_ARRAY_INDEX)
        if found and cursor.peek() in " \t\r\n)":
            continue
        items.append(word(cursor))
        keys.append(found[1].strip("\"'") if found else "")


# -- redirections


def _redirects(cursor: ShellCursor) -> list[ShellRedirect]:
    found: list[ShellRedirect] = []
    cursor.blank()
    while redirect := _redirect(cursor):
        found.append(redirect)
        cursor.blank()
    return found


def _redirect(cursor: ShellCursor) -> ShellRedirect | None:
    found = _REDIRECT.match(cursor.text, cursor.pos)
    if not found or (found[2] in ("<", ">") and cursor.text.startswith("(", found.end())):
        return None
    if cursor.dialect == "dash" and found[2].startswith("&"):
        return None  # `x &> f` is `x &`, then `> f`
    cursor.pos = found.end()
    operator = found[2]
    cursor.blank()
    before = cursor.pos
    target = word(cursor) if cursor.peek() not in ";|&)\n" else None
    if target is None or cursor.pos == before:
        cursor.refuse(f"{operator} goes nowhere")
    if cursor.dialect == "dash" and operator == ">" and cursor.text[found.start() - 1 : found.start()] == "&":
        operator = "&>"  # meant as one, and cut in two by a POSIX shell
    redirect = ShellRedirect(operator, target, found[1] or "")
    if operator in ("<<", "<<-"):
        redirect.body = ShellWord([])
        cursor.waiting.append(_here(redirect, target, cursor.text[before : cursor.pos]))
    return redirect


def _here(redirect: ShellRedirect, target: ShellWord, raw: str) -> HereDocument:
    """The line that closes it is the word as written, unquoted: nothing in it is expanded."""
    texts = [part for part in target.parts if isinstance(part, ShellText)]
    if len(texts) == len(target.parts):
        quoted, end = any(part.quoted for part in texts), "".join(part.text for part in texts)
    else:
        quoted = _QUOTE.search(raw) is not None
        end = _QUOTE.sub(lambda found: next((text for text in found.groups() if text is not None), ""), raw)
        redirect.target = ShellWord([ShellText(end, True)])
    return HereDocument(redirect, end, quoted, redirect.operator == "<<-")


def _document(cursor: ShellCursor, here: HereDocument) -> ShellWord:
    """The rest of the text when no line closes it."""
    start = cursor.pos
    lines: list[str] = []
    while cursor.pos < cursor.size:
        stop = cursor.text.find("\n", cursor.pos)
        while not here.quoted and stop >= 0 and is_escaped(cursor.text, stop):  # it goes on with the next line
            stop = cursor.text.find("\n", stop + 1)
        line = cursor.text[cursor.pos :] if stop < 0 else cursor.text[cursor.pos : stop]
        cursor.pos = cursor.size if stop < 0 else stop + 1
        bare = line.lstrip("\t") if here.tabs else line
        if bare.rstrip("\r") == here.end or ("\\\n" in bare and bare.replace("\\\n", "") == here.end):
            break
        if cursor.depth and here.end and bare.startswith(here.end) and bare[len(here.end) :].lstrip().startswith(")"):
            cursor.pos -= len(bare) - len(here.end) + (stop >= 0)  # `EOF)` ends it too, inside $( )
            break
        lines.append(bare)
    text = "\n".join(lines) + "\n" if lines else ""
    if here.quoted:
        return ShellWord([ShellText(text, True)], start, cursor.pos)
    return ShellWord(expansions(cursor.inner(text, start)), start, cursor.pos)


_GRAMMAR = Grammar(_nodes, _command, _document)
