"""Ruby text -> tokens: strings, symbols, percent literals, regexes and here-documents; `end` becomes a bracket."""

from __future__ import annotations

import re

from interlock.analysis.code.lexing import CodeToken, Heredocs, Part, Scanner, Splice, balanced, literal, template

_NAME = re.compile(r"[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*(?:[?!](?![=~]))?")
_LABEL = re.compile(r"([A-Za-z_]\w*[?!]?):(?![:\w\"'])|([A-Za-z_]\w*):(?=[\w\"'\[{$@])(?!:)")
_SYMBOL = re.compile(r":([A-Za-z_]\w*[?!=]?|\[\]=?|<<|[+*/<>=~!-]+)")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|0o[0-7_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?")
_VARIABLE = re.compile(r"@{1,2}[A-Za-z_]\w*|\$(?:[A-Za-z_]\w*|[0-9!@&~`'+*$?:\"<>,./\\;-])")
_HEREDOC = re.compile(r"<<([-~]?)(?:\"([^\"\n]*)\"|'(?P<plain>[^'\n]*)'|`(?P<ticks>[^`\n]*)`|([A-Z_]\w*))")
_COMMENT = re.compile(r"=begin")
_PERCENT = re.compile(r"%([qQwWiIxrs]?)(?=[(\[{<|!/^~-])")
_FLAGS = re.compile(r"[a-z]*")
_CHARACTER = re.compile(r"\?(?:\\.|\w)(?!\w)")
_OPERATORS = tuple(
    ("<=> === **= ||= &&= ... <<= >>= &. -> ** =~ !~ == != <= >= && || .. :: += -= *= /= %= &= |= ^= << >> =>").split()
)
_OPENERS = frozenset(("if unless while until case begin class module for").split())
_MODIFIERS = frozenset({"if", "unless", "while", "until"})  # after a value they belong to its statement
_HEADS = frozenset(("then else do begin ensure and or not in").split())
_BEFORE_OPERANDS = frozenset(
    (
        "if unless while until and or not return puts print when in do then else elsif case yield system exec "
        "raise p require"
    ).split()
)


def scan(source: str) -> list[CodeToken]:
    """The tokens of a Ruby program, every `end` turned into the bracket that it is."""
    scanner = Scanner(source)
    documents = Heredocs(scanner, splice)
    scanner.skip_block(_COMMENT, "=end")
    while scanner.more:
        if scanner.skip_space():
            continue
        if scanner.starts("\\\n"):
            scanner.at += 2
        elif scanner.peek() == "\n":
            _new_line(scanner, documents)
        elif scanner.peek() == "#":
            scanner.skip_line()
        elif scanner.starts("__END__") and scanner.source[scanner.at - 1 : scanner.at] in ("", "\n"):
            break
        else:
            _one(scanner, documents)
    documents.finish()
    return _bracketed(scanner.tokens)


def _new_line(scanner: Scanner, documents: Heredocs) -> None:
    scanner.at += 1
    scanner.emit("end", "\n")
    documents.fill()
    scanner.skip_block(_COMMENT, "=end")


def _one(scanner: Scanner, documents: Heredocs) -> None:
    char = scanner.peek()
    operand = not scanner.last.ends_value(_BEFORE_OPERANDS)
    command = (
        scanner.last.kind == "name" and scanner.spaced and not scanner.source[scanner.at + 1 : scanner.at + 2].isspace()
    )
    if char in "'\"`":
        _quoted(scanner, char)
    elif char == "<" and (operand or command) and (found := scanner.take(_HEREDOC)):
        documents.announce(found)
    elif char == "/" and (operand or command):
        raw = scanner.delimited("#{")
        scanner.take(_FLAGS)
        scanner.emit("regex", "m", _code_in(raw))
    elif char == "%" and (operand or command) and (found := scanner.take(_PERCENT)):
        _percent(scanner, found[1])
    elif char == "?" and operand and (found := scanner.take(_CHARACTER)):
        scanner.emit("text", found.group()[-1])
    elif char in "@$" and (found := scanner.take(_VARIABLE)):
        scanner.emit("var", found.group())
    elif found := scanner.take(_NUMBER):
        scanner.emit("number", found.group().replace("_", ""))
    elif scanner.last.text != "?" and (found := _label(scanner)):
        scanner.emit("text", found[1] or found[2])
        scanner.emit("op", "=>")
    elif found := scanner.take(_NAME):
        scanner.emit("name", found.group())
    elif char == ":" and not scanner.starts("::") and operand | scanner.spaced | (scanner.last.text == "("):
        _symbol(scanner)
    else:
        scanner.operator(_OPERATORS)


def _label(scanner: Scanner) -> re.Match[str] | None:
    """A `name:` that gives an argument its name, not one side of `a ? b : c`."""
    recent = [token.text for token in scanner.tokens[-6:]]
    return None if "?" in recent else scanner.take(_LABEL)


def _quoted(scanner: Scanner, char: str) -> None:
    raw = scanner.delimited("" if char == "'" else "#{")
    parts = (literal(raw),) if char == "'" else template(raw, splice)
    if (
        char != "`"
        and scanner.peek() == ":"
        and scanner.peek(1) != ":"
        and "?" not in [token.text for token in scanner.tokens[-6:]]
    ):
        scanner.at += 1
        scanner.emit("text", raw, parts or ("",))
        scanner.emit("op", "=>")
        return
    scanner.emit("ticks" if char == "`" else "text", raw, parts or ("",))


def _percent(scanner: Scanner, kind: str) -> None:
    opener = scanner.peek()
    raw = scanner.delimited("" if kind in ("q", "w", "i", "s") else "#{")
    if kind in ("w", "W", "i", "I"):
        scanner.emit("words", raw)
    elif kind == "r":
        scanner.take(_FLAGS)
        scanner.emit("regex", "m", _code_in(raw))
    elif kind in ("q", "s"):
        scanner.emit("text", raw, (literal(raw, opener),))
    else:
        scanner.emit("ticks" if kind == "x" else "text", raw, template(raw, splice) or ("",))


def _symbol(scanner: Scanner) -> None:
    if scanner.starts(':"') or scanner.starts(":'"):
        scanner.at += 1
        _quoted(scanner, scanner.peek())
    elif found := scanner.take(_SYMBOL):
        scanner.emit("text", found[1])
    else:
        scanner.operator(_OPERATORS)


def _code_in(raw: str) -> list[Part]:
    return [part for part in template(raw, splice) if isinstance(part, Splice)]


def splice(raw: str, at: int) -> tuple[Part, int] | None:
    """The code that begins inside a double-quoted text."""
    if not raw.startswith("#", at):
        return None
    if raw.startswith("#{", at):
        end = balanced(raw, at + 1)
        return Splice(raw[at + 2 : end - 1]), end
    found = _VARIABLE.match(raw, at + 1)
    return (Splice(found.group()), found.end()) if found else None


def _bracketed(tokens: list[CodeToken]) -> list[CodeToken]:
    """The tokens with a brace before every construct that ends with `end`, and line ends only where they count."""
    made: list[CodeToken] = []
    pending = 0  # loops whose own `do` opens nothing
    header = False  # a `def` whose body begins at the end of the line
    depth = 0
    goes_on = _goes_on(tokens)
    for index, token in enumerate(tokens):
        before = made[-1] if made else CodeToken("end", "")
        if token.kind == "op":
            depth += (token.text in "([{") - (token.text in ")]}")
        if token.kind == "end" and (index in goes_on or _leaves_open(before)):
            continue
        if token.kind != "name" or (before.text in (".", "&.", "::", "def") and before.kind in ("op", "name")):
            made.append(token)
            if header and token.kind == "op" and token.text == "=" and before.text in (")",):
                header = False
            elif header and _ends_header(tokens, index, token, depth):
                made.append(CodeToken("op", "{"))
                header = False
            pending = 0 if token.kind == "end" else pending
            continue
        text = token.text
        if text == "end":
            made.append(CodeToken("op", "}"))
        elif text == "do" and pending:
            pending -= 1
            made.append(CodeToken("end", ";"))
        elif text == "do":
            made.append(CodeToken("op", "{"))
        elif text in _OPENERS and not (text in _MODIFIERS and before.ends_value(_HEADS)):
            made += [CodeToken("op", "{"), token]
            pending += text in ("while", "until", "for")
        else:
            header = header or text == "def"
            made.append(token)
    return made


def _ends_header(tokens: list[CodeToken], index: int, token: CodeToken, depth: int) -> bool:
    if depth:
        return False
    if token.kind == "end" or (token.kind == "op" and token.text == ";"):
        return True
    following = tokens[index + 1] if index + 1 < len(tokens) else token
    return token.kind == "op" and token.text == ")" and not (following.kind == "op" and following.text == "=")


def _leaves_open(before: CodeToken) -> bool:
    """True when what ends the line waits for more in the next one."""
    return before.kind == "op" and before.text not in (")", "]", "}", "|", "{")


def _goes_on(tokens: list[CodeToken]) -> set[int]:
    """The line ends behind which a `.` goes on with the statement."""
    found: set[int] = set()
    dotted = False
    for index in range(len(tokens) - 1, -1, -1):
        if tokens[index].kind != "end":
            dotted = tokens[index].kind == "op" and tokens[index].text in (".", "&.")
        elif dotted:
            found.add(index)
    return found
