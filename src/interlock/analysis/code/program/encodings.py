"""Results of calls that encode and decode: bytes, character sets, and codecs that hide a text."""

from __future__ import annotations

import base64
import binascii
import codecs
import zlib
from collections.abc import Callable, Mapping

from interlock.analysis.code.program.values import MAX_TEXT, UNKNOWN, Sym, Value, computed, marked, text_of, traits_of
from interlock.analysis.facts import known


def plain(value: Value) -> str:
    """The text of a value that is known; refuses another."""
    text = text_of(value)
    if not known(text) or isinstance(value, Sym):
        raise ValueError("not known")
    return text


def _raw(value: Value) -> bytes:
    return plain(value).encode() if isinstance(value, str) else bytes(value)


def _decoder(decode: Callable[[bytes], bytes]) -> Callable[..., Value]:
    return lambda value, *_: decode(_raw(value))


def _inflate(value: Value, *_: Value) -> Value:
    return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(bytes(value), MAX_TEXT)  # zlib's or gzip's


_BYTES: Mapping[str, Callable[..., Value]] = {
    "base64_bytes": _decoder(lambda raw: base64.b64decode(raw.translate(bytes.maketrans(b"-_", b"+/")))),
    "base32_bytes": _decoder(base64.b32decode),
    "base16_bytes": _decoder(base64.b16decode),
    "base85_bytes": _decoder(base64.b85decode),
    "ascii85_bytes": _decoder(base64.a85decode),
    "hex_bytes": _decoder(lambda raw: binascii.unhexlify(b"".join(raw.split()))),
    "inflated": _inflate,
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


ENCODINGS: Mapping[str, Callable[..., Value]] = {**_BYTES, "bytes": _bytes, "decode": _decode, "encode": _encode}
