"""Redacts secrets that their context announces: a name, a flag, a URL, or the program that takes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import shipped_programs
from interlock.redaction.secrets import (
    STEMS,
    WORDS,
    hexadecimal,
    is_no_secret,
    is_plural_name,
    is_weak_name,
    kind_of,
    literal,
    placeholder,
    random_looking,
    value_at,
)

_NAME = lazy_regex(
    r"(?<![A-Za-z0-9_.<-])(?P<dashes>-{0,2})(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,99})"
    r"(?P<close>\\{0,4}[\"'`]?\]?)[ \t]{0,8}(?P<sep>=>|:=|={1,3}|:(?![:/])|(?P<gap>[ \t]))"
    r"[ \t]{0,8}(?P<line>\\?\n[ \t]{0,8})?"
)
_SCHEME = lazy_regex(
    r"(?:Bearer|Basic|Token|Digest|ApiKey|Negotiate|AWS4-HMAC-SHA256|Bot|key)[ \t]{1,4}", re.IGNORECASE
)
_BEARER = lazy_regex(
    r"(?<![A-Za-z0-9_-])(?P<keep>(?:bearer|basic)[ \t]{1,4})(?P<secret>[A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE
)
_USERINFO = lazy_regex(
    r"(?<![A-Za-z0-9+.-])(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,24}://)(?P<user>[^\s/:@\"'<>`]{0,256})(?P<rest>:[^\s/\"'<>`]{0,512})?@"
)
_DSN = lazy_regex(
    r"(?<![^\s\"'=])(?P<keep>[A-Za-z0-9_.-]{1,64}:)(?P<secret>[^\s\"'<>`]{1,256})(?P<after>@(?:tcp|unix|udp)?\()"
)
_PROSE = lazy_regex(
    r"(?<![A-Za-z0-9_<-])(?P<keep>(?P<word>(?:api[ -]?|access[ -]|secret[ -]|auth[ -])?(?:token|key|secret|password|passphrase|credential)s?)"
    r"[ \t]{1,4}(?:(?:is|was|=|to|of|:|set[ \t]to)[ \t]{1,4})?[\"'`]?)(?P<secret>[^\s\"'`<>;,|&()]{6,512})",
    re.IGNORECASE,
)
_IDENTIFIED = lazy_regex(
    r"(?P<keep>\bIDENTIFIED(?: WITH [A-Za-z0-9_']{1,40})? (?:BY|AS)(?: PASSWORD)? {1,4})(?=[\"'])", re.IGNORECASE
)


def redact_contexts(text: str) -> str:
    if "://" in text:
        text = _USERINFO.sub(_userinfo, text)
    if "@" in text and "(" in text:
        text = _DSN.sub(lambda found: found["keep"] + placeholder("password") + found["after"], text)
    text = redact_programs(text)
    if not STEMS.search(text):
        return text
    text = _each(text, _NAME, _named)
    text = _each(text, _IDENTIFIED, lambda found, _: (found.end(), "password"))
    text = _BEARER.sub(_bearer, text)
    return _PROSE.sub(_prose, text)


def _each(text: str, pattern: re.Pattern[str], secret: Callable[[re.Match[str], str], tuple[int, str] | None]) -> str:
    """Replaces each value that a match announces; the inside of one is not searched again."""
    out, at = [], 0
    for found in pattern.finditer(text):
        if found.start() < at:
            continue
        if (announced := secret(found, text)) is None:
            continue
        start, kind = announced
        before = text[max(found.start() - 1, 0) : found.start()]
        header = before if before in ("'", '"') else ""  # the quote that a whole header stands in
        span = value_at(text, start, header if ":" in found[0] else "", kind)
        if span is not None:
            out += [text[at : span[0]], placeholder(kind)]
            at = span[1]
    return "".join(out) + text[at:]


def _named(found: re.Match[str], text: str) -> tuple[int, str] | None:
    name = found["name"]
    kind = kind_of(name)
    if not kind:
        return None
    start = found.end()
    if found["gap"]:
        return (start, kind) if _spaced(found, text) else None
    if found["line"] and found["sep"] == ":" and not found["close"]:
        return None  # a heading, and what stands under it
    scheme = _SCHEME.match(text, start)
    if scheme and kind in ("authorization", "token", "api_key"):
        start = scheme.end()
    value = literal(text, start)
    if value.lower() in WORDS.common or (value.isdigit() and is_plural_name(name)):
        return None
    if is_weak_name(name) and not _settled(name.lower(), value, found["sep"]):
        return None
    return start, kind


def _spaced(found: re.Match[str], text: str) -> bool:
    """A blank is enough after a flag, before a quoted value as in SQL, and before what was drawn at random."""
    after = text[found.end() : found.end() + 1]
    if found["dashes"]:
        return after not in ("", "-", "\n") and not is_weak_name(found["name"])
    if "_" in found["name"] and random_looking(literal(text, found.end())):
        return True
    return after in ("'", '"') and not found["close"] and found["name"].lower() in ("password", "passphrase")


def _settled(name: str, value: str, sep: str) -> bool:
    if not value or value.isdigit():
        return name in ("pin", "otp", "totp", "mfa") and sep != ":" and len(value) >= 4
    if name == "pwd":
        return not value.startswith(("/", "~", ".", "$", "%"))
    if name == "sig":
        return sep == "=" and len(value) >= 20
    if name in ("key", "keys", "auth", "bearer", "shadow"):
        return random_looking(value, 20) and not hexadecimal(value)
    return sep != ":" or not value.isalpha()


def _userinfo(found: re.Match[str]) -> str:
    user, rest = found["user"], found["rest"]
    if rest is None or rest == ":":
        kept = placeholder("token") if random_looking(user) else user
        return f"{found['scheme']}{kept}{rest or ''}@"
    if rest[1:2] == "$" or rest.startswith(":{"):  # a reference
        return found[0]
    return f"{found['scheme']}{user}:{placeholder('password')}@"


def _bearer(found: re.Match[str]) -> str:
    secret = found["secret"]
    hit = any(map(str.isdigit, secret)) or "=" in secret or (len(secret) > 24 and not secret.isalpha())
    return found["keep"] + placeholder("authorization") if hit else found[0]


def _prose(found: re.Match[str]) -> str:
    secret, word = found["secret"].rstrip(".:!?"), found["word"].lower()
    doubtful = word in ("key", "keys", "tokens")
    kind = kind_of(word.replace(" ", "_").replace("-", "_")) or "token"
    if "password" in word or "passphrase" in word:
        hit = re.search(r"\b(?:is|was|to|=|:)[ \t\"'`]+$", found["keep"]) is not None and _mixed(secret)
    else:
        hit = random_looking(secret) and not (doubtful and hexadecimal(secret))
    if not hit or secret.startswith(("$", "/", "./", "http", "sha256:", "sha512:", "sha1:", "pdact_")):
        return found[0]
    return found["keep"] + placeholder(kind) + found["secret"][len(secret) :]


def _mixed(secret: str) -> bool:
    kinds = (str.isalpha, str.isdigit, lambda character: not character.isalnum())
    return sum(any(map(kind, secret)) for kind in kinds) >= 2 and secret.lower() not in WORDS.common


_WORD = r"(?:'[^'\n]{0,512}'|\"(?:[^\"\\\n$`]|\\.){0,512}\"|[^\s'\"|;&<>()$`]{1,512})"


@cache
def secret_programs() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Those that take a secret in an option of one letter, the longest names first."""
    taking = shipped_programs().written("secrets")
    names = sorted(taking, key=lambda name: (-len(name), name))
    return {name: {form: tuple(flags) for form, flags in taking[name].items()} for name in names}


_LINE = lazy_regex(
    lambda: rf"(?<![\w.<-])(?P<program>{'|'.join(map(re.escape, secret_programs()))})(?P<rest>[ \t][^\n|;&]*)"
)
_LONG_USER = lazy_regex(rf"(?P<keep>(?<!\S)--(?:proxy-)?user(?:=|[ \t]{{1,4}}))(?P<word>{_WORD})")
_FED = lazy_regex(
    rf"(?P<keep>(?<![\w-])(?:echo|printf)(?:[ \t]+-[neE]{{1,3}})?[ \t]+(?:['\"]%s(?:\\n)?['\"][ \t]+)?)(?P<word>{_WORD})(?P<after>[ \t]{{0,8}}\|[ \t]{{0,8}}"
    r"(?:(?:/usr)?/?(?:bin/)?sudo[ \t](?:[^|;&\n]{0,40}[ \t])?-(?:[A-Za-z]{0,4}S)|[^|;&\n]{1,80}--(?:password|token|passphrase|pass)-?(?:stdin|fd[ =]0)))"
)
_CHPASSWD = lazy_regex(
    rf"(?P<keep>(?<![\w-])echo[ \t]+)(?P<word>{_WORD})(?P<after>[ \t]{{0,8}}\|[ \t]{{0,8}}(?:sudo[ \t]+)?chpasswd)"
)
_PASSIN = lazy_regex(r"(?P<keep>(?<!\S)-?-?pass(?:in|out|word)?[ =]pass:)(?P<word>[^\s'\"|;&<>()`$]{1,256})")
_HTPASSWD = lazy_regex(
    rf"(?P<keep>(?<![\w-])htpasswd[ \t]+-[A-Za-z]{{0,6}}b[A-Za-z]{{0,6}}[ \t]+\S{{1,256}}[ \t]+\S{{1,128}}[ \t]+)(?P<word>{_WORD})"
)
_LITERAL = lazy_regex(rf"(?P<keep>--from-literal(?:=|[ \t]{{1,4}})['\"]?[A-Za-z0-9_.-]{{1,128}}=)(?P<word>{_WORD})")


def redact_programs(text: str) -> str:
    text = _LINE.sub(_line, text)
    if "user" in text:
        text = _LONG_USER.sub(_pair, text)
    if "|" in text and ("echo" in text or "printf" in text):
        text = _FED.sub(lambda found: _whole(found) + found["after"], text)
        text = _CHPASSWD.sub(lambda found: _pair(found) + found["after"], text)
    if "pass" in text:
        text = _PASSIN.sub(_whole, text)
        text = _HTPASSWD.sub(_whole, text)
    return _LITERAL.sub(_whole, text) if "--from-literal" in text else text


def argument_kinds(words: list[str]) -> dict[int, str]:
    """Of an argument list, which are secrets as a whole (`all`), behind a colon (`pair`) or behind their flag (`glued`)."""
    if not words:
        return {}
    program = words[0].rpartition("/")[2]
    glued, apart, pairs = _flags(program, " ".join(words[1:8]))
    out = {}
    for at, word in enumerate(words[1:], 1):
        before = words[at - 1]
        letter = before[1] if len(before) == 2 and before[0] == "-" and at > 1 else ""
        if len(word) > 2 and word[0] == "-" and word[1] in glued and word[2] != "-":
            out[at] = "glued"
        elif letter and letter in apart:
            out[at] = "all"
        elif (letter and letter in pairs) or before in ("--user", "--proxy-user"):
            out[at] = "pair"
    return out


def _flags(program: str, rest: str) -> tuple[str, str, str]:
    secrets = secret_programs().get(program, {})
    if "subcommand" in secrets and not re.search(rf"(?:^|\s)(?:{'|'.join(secrets['subcommand'])})\b", rest):
        return "", "", ""
    glued, apart, pairs = ("".join(flag[1:] for flag in secrets.get(form, ())) for form in ("glued", "apart", "pair"))
    return glued, apart, pairs


def _line(found: re.Match[str]) -> str:
    rest, gaps = found["rest"], ("", r"[ \t]{0,4}", r"[ \t]{0,4}")
    for letters, gap, hide in zip(_flags(found["program"], rest), gaps, (_whole, _whole, _pair)):
        if letters:
            rest = re.sub(rf"(?P<keep>(?<!\S)-[{letters}]{gap})(?P<word>{_WORD})", hide, rest)
    return found["program"] + rest


def _whole(found: re.Match[str]) -> str:
    word = found["word"]
    quote = word[0] if word[0] in "'\"" else ""
    inner = word.strip(quote) if quote else word
    if is_no_secret(inner) or (not quote and word.startswith("-")):
        return found["keep"] + word
    return f"{found['keep']}{quote}{placeholder('password')}{quote}"


def _pair(found: re.Match[str]) -> str:
    return found["keep"] + redact_pair(found["word"])


def redact_pair(word: str) -> str:
    """`user:password` (or `user%password`, `user,password`) without the password."""
    cut = re.match(r"[^:%,]{0,256}[:%,]", word)
    quote = word[0] if word[:1] in ("'", '"') else ""
    if cut is None or word[cut.end() : cut.end() + 2] == "//" or is_no_secret(word[cut.end() :].rstrip("'\"")):
        return word
    return cut[0] + placeholder("password") + quote
