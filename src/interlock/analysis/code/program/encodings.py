"""Results of calls that encode and decode: bytes, character sets, and codecs that hide a text."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from interlock.analysis.code.program.values import MAX_TEXT, UNKNOWN, Sym, Value, computed, marked, text_of, traits_of
from interlock.analysis.facts import known


def plain(value: Value) -> str:
    text = text_of(value)
    if not known(text) or isinstance(value, Sym):
        raise ValueError("not known")
    return text


def substituted(text: str, new: str, pattern: str, flags: str) -> str:
    """Refuses a pattern that cannot be followed."""
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


def _unbase64(raw: bytes) -> bytes:
    digits = b"".join(raw.split()).translate(bytes.maketrans(b"-_", b"+/")).rstrip(b"=")
    return base64.b64decode(digits + b"=" * (-len(digits) % 4))


_DECODERS: Mapping[str, Callable[[bytes], bytes]] = {
    "base64": _unbase64,
    **{f"base{size}": getattr(base64, f"b{size}decode") for size in (16, 32, 85)},
    "ascii85": base64.a85decode,
    "hex": lambda raw: binascii.unhexlify(b"".join(raw.split())),
    "rot13": lambda raw: codecs.decode(raw.decode(), "rot_13").encode(),
    # zlib's or gzip's
    "inflated": lambda raw: zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(raw, MAX_TEXT),
}
_CODECS = {"rot_13": "rot13", "hex_codec": "hex", "base64_codec": "base64", "base64url": "base64"}
_HIDING = frozenset({"base64", "hex"})
_CHARSETS = frozenset(
    "utf_8 utf8 ascii latin_1 latin1 utf_16 utf_16_le unicode_escape cp1252 binary ucs2 utf16le".split()
)


def _codec(name: Value) -> str:
    """What can be none is an option of something else."""
    word = text_of(name).lower().replace("-", "_") if isinstance(name, (str, Sym)) else "utf8"
    return _CODECS.get(word, word)


def _decoded(name: str, value: Value, *_: Value) -> bytes:
    raw = bytes(value) if isinstance(value, (bytes, bytearray, list)) else plain(value).encode()
    return _DECODERS[name](raw)


def _decode(value: Value, codec: Value = "utf-8", *_: Value) -> Value:
    name = _codec(codec)
    if name in _DECODERS:
        return _decoded(name, value)
    if isinstance(value, (list, tuple)):
        return bytes(int(one) & 255 for one in value)
    if name not in _CHARSETS:
        return UNKNOWN
    return bytes(value).decode(name, "replace") if isinstance(value, (bytes, bytearray)) else value


def _encode(value: Value, codec: Value = "utf-8", *_: Value) -> Value:
    name = _codec(codec)
    if name in _HIDING:
        raw = value if isinstance(value, bytes) else plain(value).encode("utf-8", "replace")
        return marked(base64.b64encode(raw).decode() if name == "base64" else raw.hex(), value)
    if name == "rot13":
        return _decode(value, "rot13")
    if name not in _CHARSETS:
        return UNKNOWN
    return value.encode(name) if isinstance(value, str) and known(value) and not traits_of(value) else value


def _bytes(value: Value = b"", *_: Value) -> Value:
    if isinstance(value, str):
        return value.encode() if known(value) else value
    return bytes(value) if isinstance(value, (list, tuple, bytes, bytearray)) and computed(value) else UNKNOWN


def _digits(value: Value, base: Value = 10, *_: Value) -> Value:
    number, written = abs(int(value)), ""
    if base == 10 or not 2 <= int(base) <= 36 or number >= 1 << 64:
        return text_of(value)
    while number:
        written = "0123456789abcdefghijklmnopqrstuvwxyz"[number % int(base)] + written
        number //= int(base)
    return ("-" if value < 0 else "") + (written or "0")


ENCODINGS: Mapping[str, Callable[..., Value]] = {
    **{name: lambda value, *_, name=name: marked(text_of(_decoded(name, value)), value) for name in _DECODERS},
    **{f"{name}_bytes": partial(_decoded, name) for name in _DECODERS},
    "bytes": _bytes,
    "decode": _decode,
    "encode": _encode,
    "encoded": lambda value, codec="utf8", *_: _encode(value, codec) if _codec(codec) in _HIDING else text_of(value),
    "to_base64": lambda value, *_: _encode(value, "base64"),
    "digits": _digits,
}
