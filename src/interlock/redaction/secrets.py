"""Recognises a secret by its own shape, by the name that announces it, and by its value; spares references and placeholders."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.packs import own_words

WORDS = own_words("redaction/secrets.toml")
_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))"
_ANY = lazy_regex(
    lambda: _EDGE + "(?:" + "|".join(f"(?P<{kind}>{shape})" for shape, kind in WORDS.table("shapes").items()) + ")"
)
_TELLS = lazy_regex(lambda: "|".join(WORDS.in_order("tells")))
# Only text like the inside of a key is removed: a command between the two marks stays visible.
_PRIVATE_KEY = lazy_regex(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<inside>"
    r"(?:(?:\s|\\[nr])*+(?:[A-Za-z0-9+/=]{40,}+|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [A-Za-z0-9,./ -]{0,80}+(?=[\n\\])))*+"
    r"(?:(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{1,76}(?=(?:\s|\\[nr]){0,8}(?:=[A-Za-z0-9+/]{4}(?:\s|\\[nr]){0,8})?-----END ))?"
    r"(?:(?:\s|\\[nr]){0,8}=[A-Za-z0-9+/]{4})?(?:(?:\s|\\[nr]){0,8}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?)"
)
_CONFIRMATION = lazy_regex(r"(?<![A-Za-z0-9])(?:conf|quota_continue)_([A-Za-z0-9_-]{32,64})(?![A-Za-z0-9_-])")
_CODE = lazy_regex(r"(?<![A-Za-z0-9-])[A-Z2-7]{2,26}(?:-[A-Z2-7]{1,8}){0,12}(?![A-Za-z0-9-])")
_CODE_LENGTH = 26  # base32 for 128 bits (C-44)
_HEX = lazy_regex(r"(?:0x)?[0-9a-fA-F-]+")
_TOKEN_CHARACTERS = lazy_regex(r"[A-Za-z0-9+/_=.~-]+")


def placeholder(kind: str) -> str:
    return f"<secret:{kind}>"


def redact_shapes(text: str) -> str:
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(_private_key, text)
    if _TELLS.search(text):
        text = _ANY.sub(lambda found: placeholder(str(found.lastgroup)), text)
    if "conf_" in text or "quota_continue_" in text:
        text = _CONFIRMATION.sub(_confirmation, text)
    return _CODE.sub(_code, text)


def random_looking(text: str, least: int = 16) -> bool:
    if len(text) < least or not _TOKEN_CHARACTERS.fullmatch(text) or text.startswith(("/", "./", "../", "~/")):
        return False
    return sum(map(str.isdigit, text)) >= 2 and sum(map(str.isalpha, text)) >= 2 and entropy(text) >= 3.0


def hexadecimal(text: str) -> bool:
    """A digest or a uuid: those name things."""
    return _HEX.fullmatch(text) is not None


def entropy(text: str) -> float:
    """Bits a character, by how often each occurs."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _private_key(found: re.Match[str]) -> str:
    """A mark with no key behind it stays."""
    return found[0] if len(found["inside"].strip()) < 16 else placeholder("private_key")


def _confirmation(found: re.Match[str]) -> str:
    drawn = found[1] != found[1].lower() and found[1] != found[1].upper() and entropy(found[1]) > 3.5
    return placeholder("confirmation_token") if drawn else found[0]


def _code(found: re.Match[str]) -> str:
    code = found[0].replace("-", "")
    mixed = sum(map(str.isdigit, code)) >= 2 and len(set(code)) > 8
    return placeholder("code") if len(code) == _CODE_LENGTH and mixed else found[0]


_PARTS = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
STEMS = lazy_regex(lambda: "|".join(WORDS.in_order("stems")), re.IGNORECASE)


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The kind of secret that a name announces, in any case style; empty when it announces none."""
    return "" if "<secret:" in name else _kind(tuple(_words(name)))


def is_weak_name(name: str) -> bool:
    """`pass` may count tests, `pwd` may be a folder."""
    words = _words(name)
    return len(words) == 1 and words[0] in WORDS.weak


def is_plural_name(name: str) -> bool:
    words = _words(name)
    return bool(words) and words[-1] in WORDS.plural


def _kind(words: tuple[str, ...]) -> str:
    while words and (words[-1].isdigit() or (words[-1] in WORDS.trailing and len(words) > 1)):
        words = words[:-1]
    if not words:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("key", "keys"):
        return "secret_key" if "secret" in words else WORDS.table("keys").get(before, "" if before else "key")
    if last in ("pass", "auth"):
        return "password" if last == "pass" else "authorization"
    if last in ("token", "tokens") and before in WORDS.pages:
        return ""
    if last == "signature" and "amz" in words:
        return "signature"
    if last == "hash" and before in ("password", "passwd"):
        return "password_hash"
    kinds = WORDS.table("nouns")
    glued = () if last.startswith("no") else WORDS.in_order("glued")  # NOPASSWD of sudoers
    return kinds.get(last) or next((kinds[noun] for noun in glued if last.endswith(noun)), "")


def _words(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(name[-200:])]


MAX_VALUE = 8192  # characters; what is longer is cut in two secrets
_OPEN = lazy_regex(r"(?:[fFrRbBuU]{1,2}|\$)?(?P<slashes>\\{0,4})(?P<quote>[\"'`])")
_BARE = lazy_regex(  # up to what ends a shell word, a pair of a query or a pair of a list
    r"(?:[^\s\"'`&;|<>(){}\[\]\\,]|,(?![ \t]{0,4}[A-Za-z_][A-Za-z0-9_.-]{0,60}[=:])|\\(?![nrt\"'`\\])[^\n])+"
)
_MORE = lazy_regex(r"[A-Za-z0-9_@%+=./!#^*~?-]+")  # of the same shell word, behind a quote
_REFERENCE = lazy_regex(lambda: "|".join(WORDS.in_order("references")), re.DOTALL)
_CALLED = lazy_regex(r"[A-Za-z0-9_.]+|[^$]*\$")  # what a bracket behind it makes a call or a command
_RUNS = lazy_regex(r"\$\([^)]|`[^`\n]+`")  # a command in the value: a person has to see it
_COMMAND = lazy_regex(r"\S[\s$;|&<>]+\S|[${]")  # more than one word
_HIDDEN = lazy_regex(lambda: "|".join(WORDS.in_order("hidden")))
_HEADER_END = lazy_regex(r"[^\n\"'|&<>()`$\\]+")


def value_at(text: str, start: int, header_quote: str, kind: str) -> tuple[int, int] | None:
    if start >= len(text):
        return None
    if opened := _OPEN.match(text, start):
        return _quoted(text, opened)
    if header_quote or kind == "cookie":
        return _header(text, start, header_quote)
    if (found := _BARE.match(text, start, start + MAX_VALUE)) is None or text.startswith(("${", "$("), start):
        return None
    end = _shortened(text, start, found.end())
    value = text[start:end]
    if is_no_secret(value) or (text[end : end + 1] in ("(", "{") and _CALLED.fullmatch(value)):
        return None
    return start, _word_end(text, end)


def literal(text: str, start: int) -> str:
    if opened := _OPEN.match(text, start):
        return text[opened.end() : _closing(text, opened)]
    found = _BARE.match(text, start, start + MAX_VALUE)
    return text[start : _shortened(text, start, found.end())] if found else ""


def is_no_secret(value: str) -> bool:
    return not value.strip() or _REFERENCE.fullmatch(value) is not None or _HIDDEN.fullmatch(value) is not None


def _quoted(text: str, opened: re.Match[str]) -> tuple[int, int] | None:
    start, end = opened.end(), _closing(text, opened)
    value = text[start:end]
    if is_no_secret(value) or (opened["quote"] != "'" and _RUNS.search(value)):
        return None
    if opened["quote"] == "`" and _COMMAND.search(value):  # what a shell runs, and no quote at all
        return None
    if not text.startswith(opened["slashes"] + opened["quote"], end):  # the quote does not end
        return start, end
    after = end + len(opened["slashes"]) + 1
    tail = _MORE.match(text, after)
    return (start, end) if tail is None else (start, _word_end(text, tail.end()))


def _closing(text: str, opened: re.Match[str]) -> int:
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
    if is_no_secret(value.strip()) or _RUNS.search(value) or "\n" in value:
        return None
    return start, start + len(value.rstrip())


def _shortened(text: str, start: int, end: int) -> int:
    return start + max(1, len(text[start:end].rstrip(",.:")))


def _word_end(text: str, end: int) -> int:
    for _ in range(8):
        if (opened := _OPEN.match(text, end)) is None or opened["slashes"] or opened["quote"] == "`":
            return end
        close = _closing(text, opened)
        if not text.startswith(opened["quote"], close) or _RUNS.search(text, opened.end(), close):
            return end
        end = close + 1
        more = _MORE.match(text, end)
        end = more.end() if more else end
    return end
