"""Text that hides behind an encoding -> the text."""

from __future__ import annotations

import base64
import codecs
import zlib
from collections.abc import Callable, Sequence

from interlock.core.read.facts import known
from interlock.core.read.inline.python.values import MAX_TEXT, UNKNOWN, Value, marked, text_of, traits_of

_HIDING = {
    "rot13": "rot_13",
    "rot_13": "rot_13",
    "hex": "hex",
    "hex_codec": "hex",
    "base64": "base64",
    "base64_codec": "base64",
}
_CHARSETS = frozenset(
    {"utf-8", "utf8", "ascii", "latin-1", "latin1", "utf-16", "utf-16-le", "unicode_escape", "cp1252"}
)


def transcode(value: str | bytes, name: str, args: Sequence[Value]) -> Value:
    """`value.encode(…)` and `value.decode(…)`; a text with holes passes through as it is."""
    codec = text_of(args[0]).lower() if args else "utf-8"
    if codec.replace("-", "_") in _HIDING:
        return decode_with(value, codec) if name == "decode" or "rot" in codec else UNKNOWN
    if codec not in _CHARSETS:
        return UNKNOWN
    if isinstance(value, str):
        return value.encode(codec) if name == "encode" and known(value) and not traits_of(value) else value
    return value.decode(codec, "replace") if name == "decode" else value


def decode_with(value: Value, codec: str) -> Value:
    """codecs.decode, for the codecs that hide text and for character sets."""
    kind = _HIDING.get(codec.lower().replace("-", "_"), "")
    if kind == "rot_13" and isinstance(value, str):
        return marked(codecs.decode(value, "rot_13"), value)
    if kind == "hex":
        return bytes.fromhex(text_of(value))
    if kind == "base64":
        return unbase(base64.b64decode)(value)
    return transcode(value, "decode", (codec,)) if isinstance(value, (str, bytes)) else UNKNOWN


def unbase(decode: Callable[[bytes], bytes]) -> Callable[..., Value]:
    """A decoder of base64 and its like that takes text and bytes, and refuses what is not known."""

    def decoded(value: Value, *_: Value) -> Value:
        if isinstance(value, str) and not known(value):
            return UNKNOWN
        return decode(value.encode() if isinstance(value, str) else bytes(value))

    return decoded


def inflate(bits: int) -> Callable[..., Value]:
    """A decompressor that stops before it fills the memory."""

    def inflated(value: Value, *_: Value) -> Value:
        return zlib.decompressobj(bits).decompress(bytes(value), MAX_TEXT)

    return inflated
