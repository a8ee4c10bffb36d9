"""Shell text -> nodes, in one linear pass that never backtracks and keeps what it could read of broken text."""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.core.read.shell.nodes import (
    AndOr,
    Arithmetic,
    Assignment,
    Background,
    Branches,
    Expression,
    Function,
    Group,
    Loop,
    Node,
    Part,
    Pipeline,
    Redirect,
    Simple,
    Substitution,
    Text,
    Variable,
    Word,
)

MAX_DEPTH = 60

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_PLAIN = re.compile(r"[^\s'\"\\$`|&;<>()?*+@!]+")
_GLOB = re.compile(r"[?*+@!]+")
_QUOTED = re.compile(r'[^"\\$`]+')
_RESERVED = re.compile(r"(?:if|while|until|for|case|select|function|coproc|time|\{|\[\[|!)(?=[\s;&|()<>]|$)")
_CLOSING = re.compile(r"(?:then|do|done|fi|esac|else|elif|\})(?=[\s;&|()<>]|$)")
_REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|>|<)")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]\n]{0,200})\])?(\+?)=")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED_NAME = re.compile(r"[A-Za-z_]\w*|\d+|[@*#?$!-]")
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//|/#|/%|/|\^\^?|,,?|@[A-Za-z]|:")
_DECLARE = frozenset({"declare", "local", "export", "readonly", "typeset"})
_ANSI = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ANSI_CODE = re.compile(r"x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.", re.DOTALL)


class ShellSyntax(ValueError):
    """Text that a shell would refuse; `at` is where."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.at = at


class TooDeep(ShellSyntax):
    """Nested deeper than anything a person writes."""


def parse(text: str, step: Callable[[int], None], dialect: str = "bash") -> tuple[list[Node], list[ShellSyntax]]:
    """The nodes of a text, and what is wrong with it; never raises on any text (but `step` may)."""
    parser = Parser(text, step, dialect)
    nodes: list[Node] = []
    errors: list[ShellSyntax] = []
    while True:
        parser.kept = []
        try:
            nodes += parser.nodes(stop="")
            if parser.pos >= len(text):
                return nodes, errors
            raise ShellSyntax(f"unexpected {text[parser.pos]!r}", parser.pos)
        except ShellSyntax as error:
            nodes += parser.kept
            errors.append(error)
        # Go on behind the next line end: a shell that reads its input by lines does so too.
        after = text.find("\n", max(parser.pos, errors[-1].at))
        if after < 0 or isinstance(errors[-1], TooDeep) or len(errors) >= 50:
            return nodes, errors
        parser.restart(after + 1)


class Parser:
    """A position in a text, and the methods that read on from it."""

    def __init__(self, text: str, step: Callable[[int], None], dialect: str, base: int = 0, depth: int = 0) -> None:
        self.text = text
        self.size = len(text)
        self.pos = 0
        self.step = step
        self.dialect = dialect
        self.base = base
        self.depth = depth
        self.waiting: list[tuple[Redirect, str, bool, bool]] = []  # here-documents whose text follows the line
        self.kept: list[Node] = []  # simple commands read since the last restart, for when the text is broken

    def restart(self, at: int) -> None:
        self.pos = at
        self.depth = 0
        self.waiting = []

    # -- lists ------------------------------------------------------------------------------------------

    def nodes(self, stop: str) -> list[Node]:
        """Commands up to the character `stop` or a closing word; leaves that unread."""
        found: list[Node] = []
        while True:
            self._separators()
            if self.pos >= self.size or self.text[self.pos] == stop or _CLOSING.match(self.text, self.pos):
                return found
            if self.text[self.pos] in ");":
                if self.text.startswith(";;", self.pos) or self.text.startswith(";&", self.pos) or stop:
                    return found
                raise ShellSyntax(f"unexpected {self.text[self.pos]!r}", self.pos)
            node = self._and_or()
            self._blank()
            if self._at("&") and not self._at("&&"):
                self.pos += 1
                node = Background(node)
            found.append(node)

    def _separators(self) -> None:
        while self.pos < self.size:
            self._blank()
            if self.pos >= self.size:
                return
            char = self.text[self.pos]
            if char == "\n":
                self._newline()
            elif char == "#":
                end = self.text.find("\n", self.pos)
                self.pos = self.size if end < 0 else end
            elif char == ";" and not self.text.startswith((";;", ";&"), self.pos):
                self.pos += 1
            else:
                return

    def _blank(self) -> None:
        found = _BLANK.match(self.text, self.pos)
        if found:
            self.pos = found.end()

    def _at(self, text: str) -> bool:
        return self.text.startswith(text, self.pos)

    def _newline(self) -> None:
        self.pos += 1
        waiting, self.waiting = self.waiting, []
        for redirect, end, quoted, tabs in waiting:
            redirect.body = self._here_document(end, quoted, tabs)

    def _lines(self) -> None:
        """Line ends and comments, where a command goes on behind them."""
        while True:
            self._blank()
            if self._at("\n"):
                self._newline()
            elif self._at("#"):
                end = self.text.find("\n", self.pos)
                self.pos = self.size if end < 0 else end
            else:
                return

    def _and_or(self) -> Node:
        nodes = [self._pipeline()]
        operators: list[str] = []
        while True:
            self._blank()
            operator = self.text[self.pos : self.pos + 2]
            if operator not in ("&&", "||"):
                return AndOr(nodes, operators) if operators else nodes[0]
            self.pos += 2
            self._lines()
            operators.append(operator)
            nodes.append(self._pipeline())

    def _pipeline(self) -> Node:
        self._blank()
        stages = [self._command()]
        while True:
            self._blank()
            if not self._at("|") or self._at("||"):
                return Pipeline(stages) if len(stages) > 1 else stages[0]
            self.pos += 2 if self._at("|&") else 1
            self._lines()
            stages.append(self._command())

    # -- commands ---------------------------------------------------------------------------------------

    def _command(self) -> Node:
        self.step(1)
        self._blank()
        if self.pos >= self.size:
            raise ShellSyntax("a command is missing at the end", self.pos)
        if self._at("(("):
            arithmetic = self._arithmetic_command()
            if arithmetic:
                return arithmetic
        if self.text[self.pos] == "(":
            self.pos += 1
            group = Group(self._enclosed(")"), subshell=True)
            group.redirects = self._redirects()
            return group
        found = _RESERVED.match(self.text, self.pos)
        if found:
            return self._compound(found[0])
        return self._simple()

    def _enclosed(self, stop: str) -> list[Node]:
        self._deeper()
        body = self.nodes(stop)
        self.depth -= 1
        self._expect(stop)
        return body

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep("nested too deeply", self.pos)

    def _expect(self, text: str) -> None:
        self._separators() if text.isalpha() or text == "}" else self._blank()
        if not self._at(text):
            got = self.text[self.pos : self.pos + 10] or "the end"
            raise ShellSyntax(f"expected {text!r}, got {got!r}", self.pos)
        self.pos += len(text)

    def _compound(self, word: str) -> Node:
        start = self.pos
        self.pos += len(word)
        if word == "!" or word == "time":
            self._blank()
            while word == "time" and re.compile(r"(?:-p|--)(?=\s)").match(self.text, self.pos):
                self.pos += 2
                self._blank()
            if self.pos >= self.size or self.text[self.pos] in ";\n&|)":
                return Simple([], [], [], (start + self.base, self.pos + self.base))
            return self._command()
        self._deeper()
        node = _COMPOUNDS[word](self)
        self.depth -= 1
        if isinstance(node, (Group, Branches, Loop)):
            node.redirects = self._redirects()
        return node

    def _body(self, *closers: str) -> list[Node]:
        body = self.nodes(stop="")
        self._separators()
        found = _CLOSING.match(self.text, self.pos)
        if not found or found[0] not in closers:
            raise ShellSyntax(f"expected {' or '.join(closers)}", self.pos)
        return body

    def _take_closing(self) -> str:
        found = _CLOSING.match(self.text, self.pos)
        if not found:
            raise ShellSyntax("unexpected end", self.pos)
        self.pos = found.end()
        return found[0]

    def _if(self) -> Node:
        head: list[Node] = []
        bodies: list[list[Node]] = []
        closing = "elif"
        while closing == "elif":
            head += self._body("then")
            self._take_closing()
            bodies.append(self._body("elif", "else", "fi"))
            closing = self._take_closing()
        if closing == "else":
            bodies.append(self._body("fi"))
            self._take_closing()
        return Branches(head, bodies)

    def _while(self) -> Node:
        head = self._body("do")
        self._take_closing()
        body = self._body("done")
        self._take_closing()
        return Loop(body, head)

    def _for(self) -> Node:
        self._blank()
        if self._at("(("):
            arithmetic = self._arithmetic_command()
            head: list[Node] = [arithmetic] if arithmetic else []
            return Loop(self._do_body(), head)
        name = self._word().literal or ""
        self._lines()
        items: list[Word] | None = None
        if re.compile(r"in(?=[\s;])").match(self.text, self.pos):
            self.pos += 2
            items = []
            while True:
                self._blank()
                if self.pos >= self.size or self.text[self.pos] in ";\n&|)":
                    break
                if (self._at("<") and not self._at("<(")) or self._at(">"):
                    raise ShellSyntax("unexpected redirection", self.pos)
                items.append(self._word())
        else:
            items = [Word([Variable("@", True)], self.pos, self.pos)]
        return Loop(self._do_body(), name=name, items=items)

    def _do_body(self) -> list[Node]:
        self._separators()
        if self._at("{"):
            self.pos += 1
            body = self._body("}")
        else:
            self._expect("do")
            body = self._body("done")
        self._take_closing()
        return body

    def _case(self) -> Node:
        self._blank()
        subject = self._word()
        self._lines()
        self._expect("in")
        bodies: list[list[Node]] = []
        words = [subject]
        while True:
            self._separators()
            if re.compile(r"esac(?=[\s;&|()<>]|$)").match(self.text, self.pos):
                self.pos += 4
                return Branches([], bodies, words)
            self._patterns()
            bodies.append(self.nodes(stop=")"))
            self._separators()
            for end in (";;&", ";;", ";&"):
                if self._at(end):
                    self.pos += len(end)
                    break
            else:
                if not self._at("esac"):
                    raise ShellSyntax("expected ;; or esac", self.pos)

    def _patterns(self) -> None:
        self._blank()
        if self._at("("):
            self.pos += 1
        while True:
            self._blank()
            if self.pos >= self.size:
                raise ShellSyntax("a case pattern is not closed", self.pos)
            if self._at(")"):
                self.pos += 1
                return
            if self._at("|"):
                self.pos += 1
                continue
            before = self.pos
            self._word()
            if self.pos == before:
                raise ShellSyntax("a case pattern cannot be read", self.pos)

    def _group(self) -> Node:
        body = self._body("}")
        self._take_closing()
        return Group(body, subshell=False)

    def _function(self) -> Node:
        start = self.pos
        self._blank()
        name = self._word().literal or ""
        self._blank()
        if self._at("("):
            self.pos += 1
            self._expect(")")
        return self._function_body(name, start)

    def _function_body(self, name: str, start: int) -> Node:
        self._deeper()
        self._lines()
        body = self._command()
        self.depth -= 1
        return Function(name, body, (start + self.base, self.pos + self.base))

    def _coproc(self) -> Node:
        self._blank()
        named = re.compile(r"[A-Za-z_]\w*[ \t]+(?=[{(])").match(self.text, self.pos)
        if named:
            self.pos = named.end()
        return Background(self._command())

    def _test(self) -> Node:
        words: list[Word] = []
        while True:
            self._lines()
            if self.pos >= self.size:
                raise ShellSyntax("[[ is not closed", self.pos)
            if self._at("]]"):
                self.pos += 2
                return Expression(words)
            if self.text[self.pos] in "|&;<>()":
                self.pos += 1
                continue
            words.append(self._word())

    def _arithmetic_command(self) -> Node | None:
        """`(( … ))`; None when it turns out to be a subshell in a subshell."""
        end = self._arithmetic_end(self.pos + 2)
        if end < 0:
            return None
        inner = self._inner(self.text[self.pos + 2 : end], self.pos + 2)
        self.pos = end + 2
        return Expression([Word(inner._expansions(), end, end)])

    def _arithmetic_end(self, start: int) -> int:
        """Where `))` closes; -1 when parentheses say that this is no arithmetic."""
        depth = 0
        for found in _PAREN_OR_QUOTE.finditer(self.text, start):
            char = found[0]
            if char == "(":
                depth += 1
            elif char == ")":
                if depth == 0:
                    return found.start() if self.text.startswith("))", found.start()) else -1
                depth -= 1
            elif char in "\n;" and depth == 0 and char == "\n":
                continue
        return -1

    def _simple(self) -> Node:
        start = self.pos
        words: list[Word] = []
        assigns: list[Assignment] = []
        redirects: list[Redirect] = []
        declares = False
        text = self.text
        while True:
            self._blank()
            if self.pos >= self.size:
                break
            char = text[self.pos]
            if char in "|;)\n" or (char == "&" and not self._at("&>")):
                break
            if char == "#":
                break
            if char in "<>&" or char.isdigit() or char == "{":
                redirect = self._redirect()
                if redirect:
                    redirects.append(redirect)
                    continue
            if char == "(":
                if len(words) == 1 and not assigns and words[0].literal is not None:
                    self.pos += 1
                    self._expect(")")
                    return self._function_body(words[0].literal or "", start)
                raise ShellSyntax("unexpected '('", self.pos)
            if not words or declares:
                assignment = self._assignment()
                if assignment:
                    assigns.append(assignment)
                    continue
            before = self.pos
            words.append(self._word())
            if self.pos == before:
                raise ShellSyntax(f"unexpected {char!r}", self.pos)
            if len(words) == 1:
                declares = words[0].literal in _DECLARE
        if not words and not assigns and not redirects:
            raise ShellSyntax("a command is missing", self.pos)
        node = Simple(words, assigns, redirects, (start + self.base, self.pos + self.base))
        self.kept.append(node)
        return node

    def _assignment(self) -> Assignment | None:
        found = _ASSIGN.match(self.text, self.pos)
        if not found:
            return None
        self.pos = found.end()
        name, index, append = found[1], found[2] or "", found[3] == "+"
        if self._at("("):
            self.pos += 1
            return Assignment(name, None, self._array(), append)
        if self.pos >= self.size or self.text[self.pos] in " \t\r\n;|&)":
            return Assignment(name, Word([], self.pos, self.pos), None, append, index)
        return Assignment(name, self._word(), None, append, index)

    def _array(self) -> list[Word]:
        items: list[Word] = []
        while True:
            self._lines()
            if self.pos >= self.size:
                raise ShellSyntax("an array is not closed", self.pos)
            if self._at(")"):
                self.pos += 1
                return items
            if self.text[self.pos] in ";|&<>(" and not self._at("<("):
                raise ShellSyntax("an array cannot be read", self.pos)
            found = re.compile(r"\[[^\]\n]{0,200}\]=").match(self.text, self.pos)
            if found:
                self.pos = found.end()
                if self.pos < self.size and self.text[self.pos] in " \t\r\n)":
                    continue
            items.append(self._word())

    # -- redirections -----------------------------------------------------------------------------------

    def _redirects(self) -> list[Redirect]:
        found: list[Redirect] = []
        while True:
            self._blank()
            redirect = self._redirect() if self.pos < self.size else None
            if not redirect:
                return found
            found.append(redirect)

    def _redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self.text, self.pos)
        if not found or (found[2] in ("<", ">") and self.text.startswith("(", found.end())):
            return None
        self.pos = found.end()
        operator = found[2]
        self._blank()
        if self.pos >= self.size or self.text[self.pos] in ";|&)\n":
            raise ShellSyntax(f"{operator} goes nowhere", self.pos)
        before = self.pos
        target = self._word()
        if self.pos == before:
            raise ShellSyntax(f"{operator} goes nowhere", self.pos)
        redirect = Redirect(operator, target, found[1] or "")
        if operator in ("<<", "<<-"):
            quoted = any(not isinstance(part, Text) or part.quoted for part in target.parts)
            end = "".join(part.text for part in target.parts if isinstance(part, Text))
            redirect.body = Word([], self.pos, self.pos)
            self.waiting.append((redirect, end, quoted, operator == "<<-"))
        return redirect

    def _here_document(self, end: str, quoted: bool, tabs: bool) -> Word:
        """The lines up to the one that is `end`; the rest of the text when none is."""
        start = self.pos
        lines: list[str] = []
        while self.pos < self.size:
            stop = self.text.find("\n", self.pos)
            line = self.text[self.pos :] if stop < 0 else self.text[self.pos : stop]
            self.pos = self.size if stop < 0 else stop + 1
            bare = line.lstrip("\t") if tabs else line
            if bare.rstrip("\r") == end:
                break
            lines.append(bare)
        text = "\n".join(lines) + "\n" if lines else ""
        if quoted:
            return Word([Text(text, True)], start, self.pos)
        inner = self._inner(text, start)
        return Word(inner._expansions(), start, self.pos)

    # -- words ------------------------------------------------------------------------------------------

    def _inner(self, text: str, at: int) -> Parser:
        self._deeper()
        inner = Parser(text, self.step, self.dialect, self.base + at, self.depth)
        self.depth -= 1
        inner.kept = self.kept
        return inner

    def _word(self) -> Word:
        self.step(1)
        start = self.pos
        parts: list[Part] = []
        text = self.text
        while self.pos < self.size:
            found = _PLAIN.match(text, self.pos)
            if found:
                parts.append(Text(found[0], False))
                self.pos = found.end()
                if self.pos >= self.size:
                    break
            char = text[self.pos]
            reader = _WORD_PARTS.get(char)
            if reader is None:
                if char in "<>" and text.startswith("(", self.pos + 1) and not (parts and char == ">"):
                    parts.append(self._process(char))
                    continue
                if char == "(" and self.dialect == "zsh" and parts:
                    parts.append(Text(self._balanced(), False))
                    continue
                break
            reader(self, parts)
        return Word(_merged(parts), start + self.base, self.pos + self.base)

    def _globs(self, parts: list[Part]) -> None:
        found = _GLOB.match(self.text, self.pos)
        assert found is not None
        self.pos = found.end()
        literal = found[0]
        if self._at("("):  # an extended glob: !(keep|this)
            literal += self._balanced()
        parts.append(Text(literal, False))

    def _balanced(self) -> str:
        start = self.pos
        depth = 0
        for found in _PAREN_OR_QUOTE.finditer(self.text, self.pos):
            if found[0] == "(":
                depth += 1
            elif found[0] == ")":
                depth -= 1
                if depth == 0:
                    self.pos = found.end()
                    return self.text[start : self.pos]
            elif found[0] == "\n":
                break
        raise ShellSyntax("a parenthesis is not closed", start)

    def _single(self, parts: list[Part]) -> None:
        end = self.text.find("'", self.pos + 1)
        if end < 0:
            raise ShellSyntax("a single quote is not closed", self.pos)
        parts.append(Text(self.text[self.pos + 1 : end], True))
        self.pos = end + 1

    def _double(self, parts: list[Part]) -> None:
        opened = self.pos
        self.pos += 1
        parts.append(Text("", True))
        while self.pos < self.size:
            found = _QUOTED.match(self.text, self.pos)
            if found:
                parts.append(Text(found[0], True))
                self.pos = found.end()
                continue
            char = self.text[self.pos]
            if char == '"':
                self.pos += 1
                return
            self._quoted_special(char, parts, '"\\$`')
        raise ShellSyntax("a double quote is not closed", opened)

    def _quoted_special(self, char: str, parts: list[Part], escapable: str) -> None:
        if char == "\\":
            after = self.text[self.pos + 1 : self.pos + 2]
            self.pos += 2
            if after == "\n":
                return
            parts.append(Text(after if after in escapable and after else "\\" + after, True))
        elif char == "$":
            self._dollar(parts, quoted=True)
        else:
            self._backtick(parts, quoted=True)

    def _expansions(self) -> list[Part]:
        """The whole text as a here-document reads it: expansions, but no quotes."""
        parts: list[Part] = []
        pattern = re.compile(r"[^\\$`]+")
        while self.pos < self.size:
            found = pattern.match(self.text, self.pos)
            if found:
                parts.append(Text(found[0], True))
                self.pos = found.end()
                continue
            self._quoted_special(self.text[self.pos], parts, "\\$`")
        return _merged(parts)

    def _escape(self, parts: list[Part]) -> None:
        after = self.text[self.pos + 1 : self.pos + 2]
        if after == "\r" and self.text[self.pos + 2 : self.pos + 3] == "\n":
            self.pos += 3
            return
        self.pos += 2
        if after == "":
            parts.append(Text("\\", True))
        elif after != "\n":
            parts.append(Text(after, True))

    def _backtick(self, parts: list[Part], quoted: bool = False) -> None:
        start = self.pos + 1
        end = start
        while True:
            end = self.text.find("`", end)
            if end < 0:
                raise ShellSyntax("a backtick is not closed", self.pos)
            slashes = 0
            while self.text[end - 1 - slashes] == "\\" and end - 1 - slashes >= start:
                slashes += 1
            if slashes % 2 == 0:
                break
            end += 1
        raw = self.text[start:end]
        inner = self._inner(re.sub(r"\\([\\`$])", r"\1", raw) if "\\" in raw else raw, start)
        body = inner.nodes(stop="")
        if inner.pos < inner.size:
            raise ShellSyntax("backticks cannot be read", start)
        parts.append(Substitution(body, quoted))
        self.pos = end + 1

    def _process(self, direction: str) -> Part:
        self.pos += 2
        return Substitution(self._enclosed(")"), True, direction)

    def _dollar_unquoted(self, parts: list[Part]) -> None:
        self._dollar(parts, quoted=False)

    def _dollar(self, parts: list[Part], quoted: bool) -> None:
        after = self.text[self.pos + 1 : self.pos + 2]
        if after == "(":
            self._substitution(parts, quoted)
        elif after == "{":
            self._braced(parts, quoted)
        elif after == "'" and not quoted:
            self._ansi(parts)
        elif after == '"' and not quoted:
            self.pos += 1
            self._double(parts)
        elif after == "[":
            self._old_arithmetic(parts)
        else:
            found = _NAME.match(self.text, self.pos + 1)
            if found:
                parts.append(Variable(found[0], quoted))
                self.pos = found.end()
            else:
                parts.append(Text("$", quoted))
                self.pos += 1

    def _old_arithmetic(self, parts: list[Part]) -> None:
        end = self.text.find("]", self.pos)
        if end < 0:
            raise ShellSyntax("$[ is not closed", self.pos)
        inner = self._inner(self.text[self.pos + 2 : end], self.pos + 2)
        parts.append(Arithmetic(inner.text, inner._expansions()))
        self.pos = end + 1

    def _substitution(self, parts: list[Part], quoted: bool) -> None:
        if self._at("$(("):
            end = self._arithmetic_end(self.pos + 3)
            if end >= 0:
                inner = self._inner(self.text[self.pos + 3 : end], self.pos + 3)
                parts.append(Arithmetic(inner.text, inner._expansions()))
                self.pos = end + 2
                return
        self.pos += 2
        parts.append(Substitution(self._enclosed(")"), quoted))

    def _braced(self, parts: list[Part], quoted: bool) -> None:
        opened = self.pos
        self.pos += 2
        if self.pos < self.size and self.text[self.pos] in " \t\n|":  # ${ command; } runs in this shell
            self.pos += self._at("|")
            self._deeper()
            body = self._body("}")
            self._take_closing()
            self.depth -= 1
            parts.append(Substitution(body, quoted))
            return
        variable = self._braced_name(quoted)
        if not self._at("}"):
            found = _OPERATOR.match(self.text, self.pos)
            if not found:
                raise ShellSyntax("a ${ cannot be read", opened)
            variable.operator = found[0]
            self.pos = found.end()
            self._deeper()
            if found[0] in ("/", "//", "/#", "/%"):
                variable.argument = self._braced_word("/}", quoted)
                if self._at("/"):
                    self.pos += 1
                    variable.second = self._braced_word("}", quoted)
            elif found[0] == ":":
                variable.argument = self._braced_word(":}", quoted)
                if self._at(":"):
                    self.pos += 1
                    variable.second = self._braced_word("}", quoted)
            else:
                variable.argument = self._braced_word("}", quoted)
            self.depth -= 1
        self._close_brace(opened)
        parts.append(variable)

    def _braced_name(self, quoted: bool) -> Variable:
        variable = Variable("", quoted)
        if self._at("#") and not re.compile(r"#[}:#%/^,-]").match(self.text, self.pos):
            variable.length = True
            self.pos += 1
        elif self._at("!") and not self._at("!}"):
            variable.indirect = True
            self.pos += 1
        found = _BRACED_NAME.match(self.text, self.pos)
        if not found:
            raise ShellSyntax("a ${ cannot be read", self.pos)
        variable.name = found[0]
        self.pos = found.end()
        if self._at("["):
            end = self.text.find("]", self.pos)
            if end < 0:
                raise ShellSyntax("a [ is not closed", self.pos)
            variable.index = self.text[self.pos + 1 : end]
            self.pos = end + 1
        if variable.indirect and self.pos < self.size and self.text[self.pos] in "*@":
            self.pos += 1
        return variable

    def _close_brace(self, opened: int) -> None:
        if not self._at("}"):
            raise ShellSyntax("a ${ is not closed", opened)
        self.pos += 1

    def _braced_word(self, stops: str, quoted: bool) -> Word:
        """The argument of `${x:-…}`, up to one of `stops` that is not quoted."""
        start = self.pos
        parts: list[Part] = []
        plain = re.compile(r"[^'\"\\$`}/:]+")
        while self.pos < self.size and self.text[self.pos] not in stops:
            found = plain.match(self.text, self.pos)
            if found:
                parts.append(Text(found[0], quoted))
                self.pos = found.end()
                continue
            char = self.text[self.pos]
            if (char == "'" and quoted) or char in "/:}":
                parts.append(Text(char, quoted))
                self.pos += 1
            elif char == "$":
                self._dollar(parts, quoted)
            else:
                _WORD_PARTS[char](self, parts)
        return Word(_merged(parts), start + self.base, self.pos + self.base)

    def _ansi(self, parts: list[Part]) -> None:
        """$'…' with its escapes worked out."""
        pos = self.pos + 2
        text = self.text
        out: list[str] = []
        while True:
            end = pos
            while end < self.size and text[end] not in "'\\":
                end += 1
            out.append(text[pos:end])
            if end >= self.size:
                raise ShellSyntax("a $' is not closed", self.pos)
            if text[end] == "'":
                break
            code = _ANSI_CODE.match(text, end + 1)
            if code:
                out.append(_ansi_char(code[0]))
                pos = code.end()
            else:
                after = text[end + 1 : end + 2]
                out.append(_ANSI.get(after, "\\" + after))
                pos = end + 2
        parts.append(Text("".join(out), True))
        self.pos = end + 1


_PAREN_OR_QUOTE = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[()\n]", re.DOTALL)


def _ansi_char(code: str) -> str:
    if code[0] == "c":
        return chr(ord(code[1]) & 0x1F)
    value = int(code[1:], 16) if code[0] in "xuU" else int(code, 8) & 0xFF
    return chr(value) if value <= 0x10FFFF else ""


def _merged(parts: list[Part]) -> list[Part]:
    """Neighbouring texts of one kind as one, so that most words have one part."""
    if len(parts) < 2:
        return parts
    out: list[Part] = [parts[0]]
    for part in parts[1:]:
        last = out[-1]
        if isinstance(part, Text) and isinstance(last, Text) and part.quoted == last.quoted:
            out[-1] = Text(last.text + part.text, part.quoted)
        else:
            out.append(part)
    return out


_WORD_PARTS: dict[str, Callable[[Parser, list[Part]], None]] = {
    "'": Parser._single,
    '"': Parser._double,
    "\\": Parser._escape,
    "`": Parser._backtick,
    "$": Parser._dollar_unquoted,
    **dict.fromkeys("?*+@!", Parser._globs),
}

_COMPOUNDS: dict[str, Callable[[Parser], Node]] = {
    "if": Parser._if,
    "while": Parser._while,
    "until": Parser._while,
    "for": Parser._for,
    "select": Parser._for,
    "case": Parser._case,
    "{": Parser._group,
    "function": Parser._function,
    "coproc": Parser._coproc,
    "[[": Parser._test,
}
