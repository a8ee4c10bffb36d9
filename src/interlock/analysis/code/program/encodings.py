"""Results of calls that encode and decode: bytes, character sets, and codecs that hide a text."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable, Mapping
from importlib import import_module

from interlock.analysis.code.program.values import MAX_TEXT, UNKNOWN, Sym, Value, computed, marked, text_of, traits_of
from interlock.analysis.facts import known


def plain(value: Value) -> str:
    """The text of a value that is known; refuses another."""
    text = text_of(value)
    if not known(text) or isinstance(value, Sym):
        raise ValueError("not known")
    return text


def substituted(text: str, new: str, pattern: str, flags: str) -> str:
    """The text with what a regular expression finds replaced; refuses a pattern that cannot be followed."""
    re2 = import_module("re2")  # linear time whatever the pattern is
    if len(pattern) > 500 or not known(new):
        raise ValueError("not followed")
    options = "".join(flag for flag in "ims" if flag in flags)
    new = re.sub(r"\$([1-9])", r"\\\1", new.replace("\\", r"\\").replace("$&", r"\0"))
    quiet = re2.Options()
    quiet.log_errors = False
    try:
        found = re2.compile(f"(?{options})" * bool(options) + pattern, quiet)
        return str(found.sub(new, text, 0 if "g" in flags else 1))
    except re2.error as error:
        raise ValueError("no such pattern") from error


def _decoder(decode: Callable[[bytes], bytes]) -> Callable[..., Value]:
    return lambda value, *_: decode(plain(value).encode() if isinstance(value, str) else bytes(value))


_BYTES: Mapping[str, Callable[..., Value]] = {
    "base64_bytes": _decoder(lambda raw: base64.b64decode(raw.translate(bytes.maketrans(b"-_", b"+/")))),
    "base32_bytes": _decoder(base64.b32decode),
    "base16_bytes": _decoder(base64.b16decode),
    "base85_bytes": _decoder(base64.b85decode),
    "ascii85_bytes": _decoder(base64.a85decode),
    "hex_bytes": _decoder(lambda raw: binascii.unhexlify(b"".join(raw.split()))),
    # zlib's or gzip's
    "inflated": _decoder(lambda raw: zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(raw, MAX_TEXT)),
}


def _rot13(value: Value, *_: Value) -> Value:
    return marked(codecs.decode(plain(value), "rot_13"), value)


_CHARSETS = frozenset("utf_8 utf8 ascii latin_1 latin1 utf_16 utf_16_le unicode_escape cp1252".split())
_CODECS: Mapping[str, Callable[..., Value]] = {
    **dict.fromkeys(["rot13", "rot_13"], _rot13),
    **dict.fromkeys(["hex", "hex_codec"], _BYTES["hex_bytes"]),
    **dict.fromkeys(["base64", "base64_codec"], _BYTES["base64_bytes"]),
}


def _decode(value: Value, codec: Value = "utf-8", *_: Value) -> Value:
    """Bytes as text, or what a codec had hidden; a text with holes passes as it is."""
    name = text_of(codec).lower().replace("-", "_")
    if name in _CODECS:
        return _CODECS[name](value)
    if name not in _CHARSETS:
        return UNKNOWN
    return bytes(value).decode(name, "replace") if isinstance(value, (bytes, bytearray)) else value


def _encode(value: Value, codec: Value = "utf-8", *_: Value) -> Value:
    name = text_of(codec).lower().replace("-", "_")
    if name.startswith("rot"):
        return _decode(value, name)
    if name not in _CHARSETS:
        return UNKNOWN
    return value.encode(name) if isinstance(value, str) and known(value) and not traits_of(value) else value


def _bytes(value: Value = b"", *_: Value) -> Value:
    if isinstance(value, str):
        return value.encode() if known(value) else value
    return bytes(value) if isinstance(value, (list, tuple, bytes, bytearray)) and computed(value) else UNKNOWN


def _decoded(value: Value, encoding: Value = "utf8", *_: Value) -> Value:
    """Bytes, given as numbers or as a text in some encoding."""
    if isinstance(value, (list, tuple)):
        return "".join(chr(int(one) & 255) for one in value)
    work = {"base64": "base64_bytes", "base64url": "base64_bytes", "hex": "hex_bytes"}.get(text_of(encoding))
    raw = "".join(plain(value).split()).rstrip("=") if work else ""
    return _BYTES[work](raw + "=" * (-len(raw) % 4 * (work[0] == "b"))).decode("utf-8", "replace") if work else value


def _encoded(value: Value, encoding: Value = "utf8", *_: Value) -> Value:
    if encoding not in ("base64", "hex"):
        return value
    raw = plain(value).encode("utf-8", "replace")
    return marked(base64.b64encode(raw).decode() if encoding == "base64" else raw.hex(), value)


def _digits(value: Value, base: Value = 10, *_: Value) -> Value:
    """A number written to some base."""
    number, written = abs(int(value)), ""
    if base == 10 or not 2 <= int(base) <= 36 or number >= 1 << 64:
        return text_of(value)
    while number:
        written = "0123456789abcdefghijklmnopqrstuvwxyz"[number % int(base)] + written
        number //= int(base)
    return ("-" if value < 0 else "") + (written or "0")


ENCODINGS: Mapping[str, Callable[..., Value]] = {
    **_BYTES,
    "bytes": _bytes,
    "decode": _decode,
    "encode": _encode,
    "decoded": _decoded,
    "encoded": _encoded,
    "base64": lambda value, *_: _decoded(value, "base64"),
    "hex": lambda value, *_: _decoded(value, "hex"),
    "rot13": _rot13,
    "to_base64": lambda value, *_: _encoded(value, "base64"),
    "digits": _digits,
}
