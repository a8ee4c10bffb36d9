"""Commands, statements, requests and quotations inside a sentence -> marks in the sentence, and what they stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from interlock.core.read.prose.programs import PLAIN, PROGRAMS, SUBCOMMANDS

MARK = "\ue000"  # a private character; normalising took all others of its kind away
_FIRST = 0xE100
_MOST = 200


@dataclass(frozen=True, slots=True)
class Embedded:
    """Something in another language than the sentence's own."""

    kind: str  # shell, sql, http, call, quote
    text: str
    extra: str = ""


_TICKS = re.compile(r"```(?:[a-z]*\n)?([^`]{1,4000})```|`([^`\n]{1,2000})`")
_QUOTES = re.compile(
    r"\"([^\"\n]{1,2000})\"|“([^”\n]{1,2000})”|«([^»\n]{1,2000})»|„([^“”\n]{1,2000})[“”]|「([^」\n]{1,2000})」"
    r"|(?<![\w'])'([^'\n]{1,200}(?:'\w[^'\n]{0,200}){0,3})'(?!\w)|‘([^’\n]{1,500})’"
)
_NAME = r"[\w.\"`\[\]$-]+"
_SQL = re.compile(
    rf"\b(?:DROP\s+(?:TABLE|DATABASE|SCHEMA|VIEW|INDEX|USER|ROLE|COLUMN|KEYSPACE|COLLECTION)\s+(?:IF\s+EXISTS\s+)?{_NAME}"
    rf"|TRUNCATE\s+(?:TABLE\s+)?{_NAME}|DELETE\s+FROM\s+{_NAME}|UPDATE\s+{_NAME}\s+SET\s+\S+\s*=|ALTER\s+TABLE\s+{_NAME}\s+\w+"
    rf"|GRANT\s+[A-Z, ]+\s+(?:ON|TO)\s+{_NAME}|REVOKE\s+[A-Z, ]+\s+(?:ON|FROM)\s+{_NAME}|INSERT\s+INTO\s+{_NAME}"
    rf"|SELECT\s+[^;]{{1,200}}?\s+FROM\s+{_NAME}|FLUSHALL|FLUSHDB)"
)
_SQL_LOWER = re.compile(
    r"\b(?:drop\s+(?:table|database|schema)\s+(?:if\s+exists\s+)?(?!if\b|for\b|from\b|in\b|on\b|and\b|then\b|the\b)\w+"
    r"|truncate\s+table\s+(?!the\b|for\b|from\b|in\b|on\b|and\b)\w+|delete\s+from\s+(?!the\b|a\b|all\b|our\b|my\b|this\b|every\b|each\b)\w+"
    r"|update\s+\w+\s+set\s+\w+\s*=)(?=[\s;.,)]|$)[^\n]*",
    re.IGNORECASE,
)
_SQL_ENDS = re.compile(
    r"\s+(?:on|in|via|using|to|because|so|then|before|after|as|against|and\s+(?:then|run|restart|re\w+|drop|delete|remove)|for)\s"
    r"(?=[a-z])(?!\s*[A-Z]{2})|[.!?](?:\s|$)|\s+—\s"
)
_HTTP = re.compile(
    r"\b(DELETE|PUT|POST|PATCH)\s+(?:(?:request|call)\s+)?(?:(?:to|against|on|for|at)\s+)?((?:https?://|/)[^\s,;\"')]+)"
    r"|\b(delete|put|post|patch)\s+(?:request|call)\s+(?:to|against|on|for|at)\s+((?:https?://|/)[^\s,;\"')]+)"
)
_BOMB = re.compile(r"(?:\b\w{1,30}|:)\s?\(\)\s?\{[^}\n]{1,60}\}\s?;\s?(?:\w{1,30}|:)")
_CALL = re.compile(
    r"(^\s*|[:;,]\s|\b(?:call|calling|calls|invoke|invoking|run|running|execute|executing|trigger|triggering|then|and|using|use|via|with)\s+)"
    r"((?:\w{1,40}\.)?(?:[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,8}|[a-z][a-z0-9]{0,40}(?:[A-Z][a-z0-9]{0,40}){1,8}))\(([^()\n]{0,400}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?)\)"
)
_ARGUMENT = re.compile(r"([\w-]{1,40})[\"']?\s?[=:]\s?(?:\"([^\"]{0,400})\"|'([^']{0,400})'|([^,)}\s]{1,100}))")
_WORD = re.compile(r"\S+")
_ENDS = re.compile(
    r"[,;]?\s+(?:to|because|so|in|and|then|before|after|on|for|from|as|since|which|that|but|with|while|when|until|against|instead"
    r"|inside|via|or|is|was|were|does|do|incident|command|commands|afterwards|anyway|now|again|via|at|it|instead|followed|over"
    r"|across|again|if|unless|once|using|will|would|should|can|did|had|actually)(?=[\s?.,;:]|$)|[,:]\s|\.\s|\n|\)|\s[—–]\s|;\s+(?=[A-Z]|\w+ing\b)"
)  # fmt: skip
_SHAPE = re.compile(r"^-{1,2}\w|[/~*=:@]|^\.\.?$|^\w+\.\w+$|^\$")
_BEFORE = re.compile(
    r"(?:^|[:;(,>]|\b(?:run|running|runs|execute|executing|exec|using|use|with|via|command|invoke|invoking|then|and|by|issue|issuing|type"
    r"|typing|call|calling|do|doing|through|now|shell|launch|launching|just|please|start|starting|first|next|sudo|will|not|does|a|the|plain"
    r"|never|apply|applying))\s*$",
    re.IGNORECASE,
)


class Lifted:
    """A text in which everything embedded was replaced by a mark."""

    def __init__(self, text: str) -> None:
        self.found: list[Embedded] = []
        self.full = False  # there was more than can be kept
        text = _TICKS.sub(lambda m: self._ticked((m[1] or m[2] or "").strip()), text)
        text = _BOMB.sub(lambda m: self._mark(Embedded("shell", m[0])), text)
        text = _CALL.sub(lambda m: m[1] + self._mark(Embedded("call", m[2], m[3])), text)
        text = _QUOTES.sub(self._quoted, text)
        text = _HTTP.sub(lambda m: self._mark(Embedded("http", m[2] or m[4], m[1] or m[3])), text)
        self.text = self._commands(self._statements(text))

    def _mark(self, thing: Embedded) -> str:
        if len(self.found) >= _MOST:
            self.full = True
            return " "
        self.found.append(thing)
        return f" {MARK}{chr(_FIRST + len(self.found) - 1)} "

    def of(self, token: str) -> Embedded:
        return self.found[ord(token[1]) - _FIRST]

    def _ticked(self, text: str) -> str:
        shape = shape_of(text)
        return (
            self._mark(Embedded(shape, text))
            if shape
            else f" {text} "
            if " " not in text
            else self._mark(Embedded("quote", text))
        )

    def _quoted(self, match: re.Match[str]) -> str:
        text = next(group for group in match.groups() if group is not None).strip()
        if match.start() == 0 and match.end() >= len(
            match.string.rstrip(" .!")
        ):  # all of it in quotes is not a quotation
            return f" {text} "
        if MARK in text or (" " not in text and len(text) <= 60):
            return f" {text} "
        return self._mark(Embedded((shape_of(text) and f"quoted_{shape_of(text)}") or "quote", text))

    def _statements(self, text: str) -> str:
        for pattern in (_SQL, _SQL_LOWER):
            start, pieces = 0, []
            while match := pattern.search(text, start):
                end = _sql_end(text, match.end() if pattern is _SQL else match.start() + 12)
                pieces += [
                    text[start : match.start()],
                    self._mark(Embedded("sql", text[match.start() : end].strip(" ;"))),
                ]
                start = max(end, match.start() + 1)
            text = "".join(pieces) + text[start:]
        return text

    def _commands(self, text: str) -> str:
        pieces, start = [], 0
        for match in _WORD.finditer(text):
            if match.start() < start or not _starts_command(text, match):
                continue
            end = _command_end(text, match)
            pieces += [text[start : match.start()], self._mark(Embedded("shell", text[match.start() : end]))]
            start = end
        return "".join(pieces) + text[start:]


def arguments(text: str) -> dict[str, str]:
    """`table=\"users\", force=true` as names and values; a lone value is called by none of them."""
    found = {name: quoted or single or plain for name, quoted, single, plain in _ARGUMENT.findall(text)}
    return found or ({"value": text.strip("\"' ")} if text.strip() else {})


def _sql_end(text: str, at: int) -> int:
    """Where the statement ends: several statements with `;` between them are one piece."""
    end = _SQL_ENDS.search(text, at)
    return end.start() if end else len(text)


def _command_end(text: str, match: re.Match[str]) -> int:
    end = _ENDS.search(text, match.end())
    stop = end.start() if end else len(text)
    while stop > match.end() and text[stop - 1] in ".,;:?!)'\"" and text[stop - 2] not in " /.":
        stop -= 1
    return stop


def _starts_command(text: str, match: re.Match[str]) -> bool:
    """True for a program's name with something behind it that no sentence would have there."""
    program = match[0].rpartition("/")[2].strip("(\"'").removesuffix(".exe")
    if program not in PROGRAMS and program not in PLAIN and not program.startswith(("mkfs.", "./")):
        return False
    following = _WORD.match(text, match.end() + 1) if match.end() + 1 < len(text) else None
    after = following[0].rstrip(".,;:?!)") or following[0] if following else ""
    if MARK in after:
        return False
    before = text[max(0, match.start() - 16) : match.start()]
    if program == "format" and after.startswith("/dev/"):
        return False  # a sentence: no shell knows this one
    if program in PLAIN:
        return bool(after) and bool(_SHAPE.search(after)) and bool(_BEFORE.search(before)) and not after.endswith(":")
    if program in PROGRAMS and not after:
        return program in ("dropdb", "reboot", "poweroff", "mkfs") and bool(_BEFORE.search(before))
    return bool(_SHAPE.search(after)) or after in SUBCOMMANDS or (program == "dropdb" and after.isidentifier())


def shape_of(text: str) -> str:
    """The language of a text that stands alone: sql, shell, or nothing when it is only words."""
    if _SQL.match(text) or _SQL_LOWER.match(text):
        return "sql"
    match = _WORD.match(text)
    if match is None:
        return ""
    program = match[0].rpartition("/")[2]
    if (
        program in PROGRAMS
        or (program in PLAIN and _starts_command(text, match))
        or program.startswith(("mkfs.", "./"))
    ):
        return "shell"
    return "shell" if re.match(r"(?:\w+=\S* )?sudo |:\(\)|\w+ .*\|\s*(?:ba|z)?sh\b", text) else ""
