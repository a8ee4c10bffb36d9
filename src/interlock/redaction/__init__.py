"""Replaces secrets by typed placeholders in anything that is written or shown."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from interlock.model import Action, Span
from interlock.redaction.contexts import argument_kinds, redact_contexts, redact_pair, secret_programs
from interlock.redaction.secrets import (
    WORDS,
    hexadecimal,
    is_no_secret,
    is_plural_name,
    is_weak_name,
    kind_of,
    placeholder,
    random_looking,
    redact_shapes,
)

MAX_DEPTH = 64
TOO_DEEP = "<nested too deep>"
_ROUNDS = 8
_LEAST = 5  # characters; nothing shorter holds a name and a secret
_LEAST_KEY = 14  # characters of a name that could be a secret itself
_FLAG = re.compile(r"--?([A-Za-z][A-Za-z0-9_.-]{0,60})")
_FINGERPRINT = re.compile(r"(?:sha256|sha512|sha1|v1):[0-9a-f]{40,128}")


def hash_token(token: str) -> str:
    """Tokens are long and random, so one round is enough."""
    return hashlib.sha256(b"interlock token\0" + token.encode("utf-8", "surrogatepass")).hexdigest()


def redact_text(text: str) -> str:
    """Done again it changes nothing."""
    return _redacted(text) if len(text) >= _LEAST and _suspicious(text) else text


def redact_around(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Not of these spans: harm in the place of a secret has to stay visible."""
    whole = redact_text(text)
    places = [(max(0, start), min(end, len(text))) for start, end in spans if start < end]
    if whole == text or all(redact_text(text[start:end]) in whole for start, end in places):
        return whole
    edges = sorted({0, len(text), *(edge for place in places for edge in place)})
    return "".join(redact_text(text[start:end]) for start, end in pairwise(edges))


def redact(value: Any) -> Any:
    """Tables become dicts, everything else keeps its form."""
    return _clean(value, "", 0, _suspicious("\n".join(_texts(value, 0))))


def action_json(action: Action, marks: Iterable[Span] = ()) -> dict[str, Any]:
    """In its stored form: without secrets, but with the harm at these marks."""
    fields = {key: value for key, value in action.fields.items() if value not in (None, "", {})}
    plain = json.loads(json.dumps(fields, default=json_default))
    kept = redact({"kind": action.kind.value, **plain, **({"cwd": action.cwd} if action.cwd else {})})
    if marks and fields.get("command") == action.text:
        kept["command"] = redact_around(action.text, marks)
    return dict(kept)


def json_default(value: Any) -> Any:
    if hasattr(value, "items"):
        return dict(value)
    return sorted(value) if isinstance(value, frozenset | set) else str(value)


def has_no_secret(text: str) -> bool:
    """JSON included; a quick check that errs on the safe side."""
    return "\\" not in text and not _suspicious(text)


def _redacted(text: str) -> str:
    for _ in range(_ROUNDS):
        before = text
        text = redact_shapes(redact_contexts(text))
        if text == before:
            break
    return text


def _suspicious(text: str) -> bool:
    try:
        return _signs().search(text) is not None
    except UnicodeEncodeError:  # lone surrogates
        return True


@cache
def _signs() -> Any:
    import re2

    programs = "|".join(map(re.escape, secret_programs()))
    stems, tells = ("|".join(WORDS.in_order(name)) for name in ("stems", "tells"))
    plain = (
        r"://|@[a-z]*\(|--(?:proxy-)?user|sudo|stdin|-fd|chpasswd|--from-literal|conf_|quota_continue_|[A-Z2-7-]{26}"
    )
    return re2.compile(rf"(?i:{stems})|{tells}|(?:{programs})\s|{plain}")


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items() if depth < MAX_DEPTH else ():
            if isinstance(key, str) and len(key) >= _LEAST_KEY:
                yield key
            yield from _texts(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value if depth < MAX_DEPTH else ():
            yield from _texts(item, depth + 1)


def _clean(value: Any, kind: str, depth: int, doubt: bool) -> Any:
    """All of it is removed where `kind` is set, because its name announced a secret."""
    if isinstance(value, str):
        if kind:
            return _hidden(value, kind)
        return redact_text(value) if doubt else value
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return placeholder(kind) if kind else value
    if depth >= MAX_DEPTH:
        return TOO_DEEP
    if isinstance(value, Mapping):
        return _table(value, kind, depth, doubt)
    if isinstance(value, (list, tuple)):
        cleaned = _list(list(value), kind, depth, doubt)
        return cleaned if isinstance(value, list) else tuple(cleaned)
    return redact_text(str(value))


def _hidden(value: str, kind: str) -> str:
    return value if is_no_secret(value) or _FINGERPRINT.fullmatch(value) else placeholder(kind)


def _table(value: Mapping[Any, Any], kind: str, depth: int, doubt: bool) -> dict[Any, Any]:
    out = {}
    named = _named_value(value) if doubt and not kind else ""
    for key, item in value.items():
        name = redact_text(key) if doubt and isinstance(key, str) and len(key) >= _LEAST_KEY else key
        while name in out:
            name = f"{name}'"
        inner = kind or (_announced(key, item) if isinstance(key, str) else "")
        out[name] = _clean(item, named if named and str(key).lower() == "value" else inner, depth + 1, doubt)
    return out


def _named_value(value: Mapping[Any, Any]) -> str:
    """`{name: DB_PASSWORD, value: x}`: the kind of secret that such a pair holds."""
    for key in ("name", "key", "Name", "Key"):
        name = value.get(key)
        if isinstance(name, str) and len(name) < 200 and kind_of(name) and not is_weak_name(name):
            return kind_of(name)
    return ""


def _announced(key: str, item: Any) -> str:
    """A number under a plural is a count, and a doubtful name needs a value that settles it."""
    kind = kind_of(key)
    if not kind or isinstance(item, bool):
        return ""
    if isinstance(item, int):
        return "" if is_plural_name(key) or is_weak_name(key) else kind
    if not is_weak_name(key):
        return kind
    name = key.lower()
    if not isinstance(item, str):
        return ""
    if name in ("pass", "pin", "otp", "totp", "mfa"):
        return kind if item else ""
    if name == "pwd":
        return kind if not item.startswith(("/", "~", ".", "$")) else ""
    settled = (":" in item and name == "auth") or (random_looking(item, 20) and not hexadecimal(item))
    return kind if settled else ""


def _list(items: list[Any], kind: str, depth: int, doubt: bool) -> list[Any]:
    if kind or not doubt or not items or not isinstance(items[0], str):
        return [_clean(item, kind, depth + 1, doubt) for item in items]
    name = items[0]
    if len(items) == 2 and len(name) < 100 and kind_of(name) and not is_weak_name(name):  # a header, a variable
        return [name, _clean(items[1], kind_of(name), depth + 1, doubt)]
    words = [item if isinstance(item, str) else "" for item in items]
    given = argument_kinds(words)
    return [
        _argument(item, given.get(at, ""), words[at - 1] if at else "")
        if isinstance(item, str)
        else _clean(item, "", depth + 1, doubt)
        for at, item in enumerate(items)
    ]


def _argument(word: str, given: str, before: str) -> str:
    flag = _FLAG.fullmatch(before)
    if flag and not word.startswith("--") and (kind := kind_of(flag[1])) and not is_weak_name(flag[1]):
        return _hidden(word, kind)
    if given == "all":
        return _hidden(word, "password")
    if given == "glued":
        return word[:2] + _hidden(word[2:], "password")
    return redact_pair(word) if given == "pair" else redact_text(word)
