"""Languages without a usable grammar: their tokens, and how these bind, by the tables of this folder."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from interlock.analysis.code.lexing import READS, SPACE, CodeToken, Kind, Part, Scanner, Splicer, Unparsed, template
from interlock.analysis.code.library import words
from interlock.analysis.code.program import nodes
from interlock.analysis.packs import Pack, PackError, convert_pack, each_name, load_packs

if TYPE_CHECKING:
    from interlock.analysis.code.token_parser import TokenParser

Form = Callable[["TokenParser"], nodes.Made]  # a word with a syntax of its own
_SHIPPED = Path(__file__).parent
_ADJACENT = "<adjacent>"  # stands among the operators for values that are put together side by side
_MATE, _PATTERN = "<mate>", "<pattern>"  # close a text with the mate of its delimiter, or a regular expression


class TokenRule(Struct, frozen=True, forbid_unknown_fields=True):
    opens: str
    kind: Kind | None = None  # without one it is stepped over
    closes: str = ""  # ends it, with the groups of the pattern
    nested: str = ""  # begins code that may hold what closes it
    reads: Literal["raw", "plain", "doubled_single", "escapes", "code"] = "raw"
    gives: str = ""  # stands for it, with the groups of the pattern
    operand: bool = False  # only where a value may begin


class TokenTable(Struct, frozen=True, forbid_unknown_fields=True):
    language: str
    tokens: tuple[TokenRule, ...]  # of those that match, the first counts
    precedence: tuple[str, ...]  # operators from the loosest on, those that bind alike in one text
    signs: str = ""  # other operators of more than one character
    members: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()  # operators that put texts together
    forms: Mapping[str, str] = {}  # words with a syntax of their own
    commands: Mapping[str, str] = {}  # words that begin a line, with their kind
    operands_after: frozenset[str] = frozenset()  # what else a value follows
    label: str = "=>"  # between the name of an argument and its value
    lines: bool = True  # the end of a line ends a statement
    topic: str = ""  # the variable that a loop behind a statement sets
    braces: bool = False  # `$x{key}` is an index
    fields: bool = False  # a member without brackets is no call


class TokenDialect(Struct, dict=True, eq=False):
    """One language: its table, and what only code can say of it."""

    key: str
    form: Callable[[str], Form | None]
    splice: Splicer | None = None  # code inside a text
    take: Callable[[Scanner], bool] = lambda scanner: False  # tokens that no pattern tells
    begin_line: Callable[[Scanner], None] = lambda scanner: None
    # arguments without brackets that a word has: -1 no call, 0, 1, 2 many
    bare: Callable[[TokenParser, CodeToken], int] = lambda parser, token: -1
    block: Callable[[TokenParser], ast.expr] | None = None  # a block that is handed to the call before it
    callee: Callable[[str], ast.expr] = ast.Name

    def __post_init__(self) -> None:
        table = self.table = load_packs(_SHIPPED, check_tables, f"{self.key}.toml", TokenTable)[0]
        self.operators = {sign: rank for rank, alike in enumerate(table.precedence) for sign in alike.split()}
        self.adjacent = self.operators.pop(_ADJACENT, 0)
        self.forms = {word: self.form(name) for word, name in each_name(table.forms).items()}
        if None in self.forms.values():
            raise PackError(f"{self.key}: a form is none of {sorted(set(table.forms.values()))}")
        self.commands = each_name(table.commands)
        self.noise, self.loops, self.topical, before = (
            words(self.key).get(kind, frozenset()) for kind in ("noise", "loops", "topical", "before_operands")
        )
        self.keywords = frozenset((*self.forms, *self.noise, *self.operators))
        self.operands_after = before or self.keywords | table.operands_after
        self.patterns = [re.compile(rule.opens, re.DOTALL) for rule in table.tokens]
        self.first = [self._first(operand) for operand in (False, True)]

    def _first(self, operand: bool) -> re.Pattern[str]:
        """The last group that matched tells the rule of a token."""
        table = self.table
        signs = (*self.operators, *table.members, *table.signs.split(), table.label)
        known = sorted((re.escape(sign) for sign in signs if not sign.isalpha()), key=len, reverse=True)
        rules = [f"(?P<r{at}>{rule.opens})" for at, rule in enumerate(table.tokens) if operand or not rule.operand]
        return re.compile("|".join([*rules, f"(?P<sign>{'|'.join(known)}|.)"]), re.DOTALL)

    def scan(self, source: str) -> Scanner:
        """Raises Unparsed where a text or a bracket has no end."""
        scanner = Scanner(source)
        self.begin_line(scanner)
        while scanner.more:
            if scanner.take(SPACE):
                scanner.spaced = True
            elif scanner.peek() == "\n":
                scanner.at += 1
                scanner.spaced = True
                self.begin_line(scanner)
                last = scanner.last
                goes_on = scanner.around in ("(", "[") or (last.kind == "op" and last.text not in ")]}{")
                if self.table.lines and not goes_on:
                    scanner.emit("end", ";")
            elif not self.take(scanner):
                self._take(scanner)
        if scanner.opened:
            raise Unparsed
        return scanner

    def _take(self, scanner: Scanner) -> None:
        found = scanner.take(self.first[not scanner.last.ends_value(self.operands_after)])
        assert found and found.lastgroup is not None
        if found.lastgroup == "sign":
            scanner.emit("op", found[0])
            return
        at = int(found.lastgroup[1:])
        rule, pattern = self.table.tokens[at], self.patterns[at]
        if pattern.groups:
            found = pattern.match(scanner.source, found.start()) or found
        text = found[found.lastindex or 0]
        if rule.closes in (_MATE, _PATTERN):
            scanner.at -= 1
            text = scanner.delimited(rule.nested) if rule.closes == _MATE else scanner.pattern()
        elif rule.closes:
            text = scanner.up_to(found.expand(rule.closes))
        if rule.kind == "var" and found[0] in self.keywords:
            scanner.emit("name", found[0])
        elif rule.kind is not None:
            parts: Sequence[Part] = ()
            if rule.reads in ("escapes", "code"):
                parts = template(text, self.splice if rule.reads == "code" else None)
            elif rule.kind in ("text", "ticks"):
                parts = (READS[rule.reads](text),)
            scanner.emit(rule.kind, found.expand(rule.gives) if rule.gives else text, parts)


def check_tables(packs: Sequence[Pack]) -> Sequence[TokenTable]:
    return [convert_pack("dialects", pack, TokenTable) for pack in packs]
