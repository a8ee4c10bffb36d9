"""Where does the value end that a name announced, and is it a secret itself or only a reference to one?"""

from __future__ import annotations

import re

MAX_VALUE = 8192  # characters; what is longer is cut in two secrets
_OPEN = re.compile(r"(?:[fFrRbBuU]{1,2}|\$)?(?P<slashes>\\{0,4})(?P<quote>[\"'`])")
_BARE = re.compile(  # up to what ends a shell word, a pair of a query or a pair of a list
    r"(?:[^\s\"'`&;|<>(){}\[\]\\,]|,(?![ \t]{0,4}[A-Za-z_][A-Za-z0-9_.-]{0,60}[=:])|\\(?![nrt\"'`\\])[^\n])+"
)
_MORE = re.compile(r"[A-Za-z0-9_@%+=./!#^*~?-]+")  # of the same shell word, behind a quote
_REFERENCE = re.compile(
    r"(?:(?:Bearer|Basic|Token) )?\$[A-Z_][A-Z0-9_]*|(?:(?:Bearer|Basic|Token) )?\$\{[^}]*\}.*|\$\(.*|\$[0-9@*?#]|%[A-Z_][A-Z0-9_]*%|\{\{.*\}\}.*|\{[A-Za-z_][A-Za-z0-9_.]*\}|%\(?[a-z_]*\)?s|\?|:[a-z_]+"
    r"|(?:vault|file|op|gsm|secretsmanager)://.*|env:[A-Z_]+|arn:aws:.*|(?:process\.env|os\.environ|os\.getenv|ENV|secrets|vars|self|this|config|settings|args)[.\[][A-Za-z_.\"'\[\]]*",
    re.DOTALL,
)
_CALLED = re.compile(r"[A-Za-z0-9_.]+|[^$]*\$")  # what a bracket behind it makes a call or a command
_RUNS = re.compile(r"\$\([^)]|`[^`\n]+`")  # a command in the value: a person has to see it
_COMMAND = re.compile(r"\S[\s$;|&<>]+\S|[${]")  # more than one word
_HIDDEN = re.compile(r"[*•x]{3,}|\.+|<secret:[a-z0-9_]+>|<[a-z]+(?:[ _-][a-z]+)*>|\[[A-Z_ ]+\]|REDACTED")
_HEADER_END = re.compile(r"[^\n\"'|&<>()`$\\]+")


def value_at(text: str, start: int, header_quote: str, kind: str) -> tuple[int, int] | None:
    """The span of the value that begins here; None where there is none to hide."""
    if start >= len(text):
        return None
    opened = _OPEN.match(text, start)
    if opened is not None:
        return _quoted(text, opened)
    if header_quote or kind == "cookie":
        return _header(text, start, header_quote)
    found = _BARE.match(text, start, start + MAX_VALUE)
    if found is None or text.startswith(("${", "$("), start):
        return None
    end = _shortened(text, start, found.end())
    value = text[start:end]
    if spared(value) or (text[end : end + 1] in ("(", "{") and _CALLED.fullmatch(value)):
        return None
    return start, _word_end(text, end)


def literal(text: str, start: int) -> str:
    """The value that begins here, without its quotes."""
    opened = _OPEN.match(text, start)
    if opened is not None:
        begin, end = opened.end(), _closing(text, opened)
        return text[begin:end]
    found = _BARE.match(text, start, start + MAX_VALUE)
    return text[start : _shortened(text, start, found.end())] if found else ""


def spared(value: str) -> bool:
    """Whether a value is no secret: empty, a reference, or hidden already."""
    return not value.strip() or _REFERENCE.fullmatch(value) is not None or _HIDDEN.fullmatch(value) is not None


def _quoted(text: str, opened: re.Match[str]) -> tuple[int, int] | None:
    start, end = opened.end(), _closing(text, opened)
    value = text[start:end]
    if spared(value) or (opened["quote"] != "'" and _RUNS.search(value)):
        return None
    if opened["quote"] == "`" and _COMMAND.search(value):  # what a shell runs, and no quote at all
        return None
    if not text.startswith(opened["slashes"] + opened["quote"], end):  # the quote does not end
        return start, end
    after = end + len(opened["slashes"]) + 1
    tail = _MORE.match(text, after)
    return (start, end) if tail is None else (start, _word_end(text, tail.end()))


def _closing(text: str, opened: re.Match[str]) -> int:
    """Where the closing quote stands, or where the value has to end without one."""
    mark = opened["slashes"] + opened["quote"]
    limit = min(len(text), opened.end() + MAX_VALUE)
    at = opened.end()
    while (at := text.find(mark, at, limit)) >= 0:
        if opened["slashes"] or opened["quote"] == "'" or not _escaped(text, at, opened.end()):
            return at
        at += 1
    line = text.find("\n", opened.end(), limit)
    return line if line >= 0 else limit


def _escaped(text: str, at: int, floor: int) -> bool:
    slashes = 0
    while at - slashes - 1 >= floor and text[at - slashes - 1] == "\\":
        slashes += 1
    return slashes % 2 == 1


def _header(text: str, start: int, quote: str) -> tuple[int, int] | None:
    """The rest of a header: to the quote that it stands in, else to the end of its line."""
    end = text.find(quote, start, start + MAX_VALUE) if quote else -1
    if end < 0:
        found = _HEADER_END.match(text, start, start + MAX_VALUE)
        end = found.end() if found else start
    value = text[start:end].rstrip("\\")
    if spared(value.strip()) or _RUNS.search(value) or "\n" in value:
        return None
    return start, start + len(value.rstrip())


def _shortened(text: str, start: int, end: int) -> int:
    """Without the mark that ends a sentence."""
    while end > start + 1 and text[end - 1] in ",.:":
        end -= 1
    return end


def _word_end(text: str, end: int) -> int:
    """The end of a shell word that goes on with a quoted piece."""
    for _ in range(8):
        opened = _OPEN.match(text, end)
        if opened is None or opened["slashes"] or opened["quote"] == "`":
            return end
        close = _closing(text, opened)
        if not text.startswith(opened["quote"], close) or _RUNS.search(text, opened.end(), close):
            return end
        end = close + 1
        more = _MORE.match(text, end)
        end = more.end() if more else end
    return end
