"""Results of functions and methods without effect: texts, bytes, paths and encodings."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import json
import posixpath
import re
import shlex
import urllib.parse
import zlib
from collections.abc import Callable, Mapping, Sequence

from interlock.analysis.code.program.values import (
    MAX_TEXT,
    UNKNOWN,
    Sym,
    Value,
    computed,
    concat,
    fill,
    flat,
    join_path,
    made_from,
    marked,
    operate,
    parent_of,
    text_of,
    traits_of,
    with_name,
    with_suffix,
)
from interlock.analysis.code.python.names import environment
from interlock.analysis.facts import hole, known

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


def pure(path: str, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """What a function without effect gives; UNKNOWN when it is no such function or the arguments are not known."""
    work = PURE.get(path)
    if work is None:
        return UNKNOWN
    try:
        return work(*args, **named)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError, zlib.error):
        return UNKNOWN


# -- texts and numbers -----------------------------------------------------------------------------------------------


def _same_text(value: Value = "", *_: Value, **__: Value) -> Value:
    return value if isinstance(value, (str, bytes, Sym)) else text_of(value)


def _as_str(value: Value = "", *_: Value, **__: Value) -> Value:
    if isinstance(value, Sym):
        return value
    return str(value) if computed(value) and not isinstance(value, (str, bytes)) else text_of(value)


def _as_int(value: Value, base: Value = 10) -> Value:
    return int(text_of(value), base) if isinstance(value, (str, bytes)) and len(value) < 300 else int(value)


def _as_bytes(value: Value = b"", *_: Value) -> Value:
    if isinstance(value, str):
        return value.encode() if known(value) else value
    return bytes(value) if isinstance(value, (list, tuple, bytes, bytearray)) and computed(value) else UNKNOWN


def _from_hex(value: Value) -> Value:
    return bytes.fromhex(text_of(value))


def _expanded(path: Value) -> Value:
    return marked(re.sub(r"\$\{?(\w{1,64})\}?", lambda m: environment(m.group(1)), text_of(path)), path)


def _temporary(*_: Value, **__: Value) -> Value:
    return f"/tmp/tmp{hole()}"


def _shell_join(words: Value) -> Value:
    texts = [text_of(word) for word in words]
    return concat([" ".join(shlex.quote(text) if known(text) else text for text in texts)])


_TEXTS: Mapping[str, Callable[..., Value]] = {
    **dict.fromkeys(["os.path.expanduser", "os.path.abspath", "os.path.realpath", "os.path.normpath"], _same_text),
    **dict.fromkeys(["os.path.relpath", "os.fspath", "os.fsencode", "os.fsdecode", "textwrap.dedent"], _same_text),
    **dict.fromkeys(["sqlalchemy.text", "sqlalchemy.sql.text", "psycopg2.sql.SQL", "psycopg.sql.SQL"], _same_text),
    **dict.fromkeys(["tempfile.mkdtemp", "tempfile.mktemp", "tempfile.TemporaryDirectory"], _temporary),
    "os.path.join": join_path,
    "pathlib.Path": join_path,
    "pathlib.Path.home": lambda: "~",
    "pathlib.Path.cwd": lambda: ".",
    "os.getcwd": lambda: ".",
    "os.path.expandvars": _expanded,
    "os.path.dirname": lambda path: parent_of(text_of(path)),
    "os.path.basename": lambda path: marked(posixpath.basename(text_of(path)), path),
    "tempfile.gettempdir": lambda: "/tmp",
    "shlex.split": lambda text, *_, **__: [marked(word, text) for word in shlex.split(text_of(text))],
    "shlex.quote": lambda text: text,
    "shlex.join": _shell_join,
    "str": _as_str,
    "chr": chr,
    "ord": lambda value: ord(value) if len(value) == 1 else UNKNOWN,
    "int": _as_int,
    "len": lambda value: len(value) if computed(value) else UNKNOWN,
    "bytes": _as_bytes,
    "bytearray": _as_bytes,
    "bytes.fromhex": _from_hex,
    "bytearray.fromhex": _from_hex,
    "operator.add": lambda one, other: operate("Add", one, other),
}

# -- lists -----------------------------------------------------------------------------------------------------------


def _items(value: Value = ()) -> Value:
    found = flat(value)
    return made_from(value) if found is None else found


def _tuple(value: Value = ()) -> Value:
    found = _items(value)
    return tuple(found) if isinstance(found, list) else found


def _sorted(value: Value, **_: Value) -> Value:
    return sorted(value) if computed(value) and isinstance(value, (list, tuple)) else _items(value)


def _reversed(value: Value) -> Value:
    found = _items(value)
    return found[::-1] if isinstance(found, list) else found


def _range(*args: Value) -> Value:
    made = range(*args)
    return list(made) if len(made) <= 64 else UNKNOWN


def _pairs(*values: Value) -> Value:
    lists = [flat(value) for value in values]
    return UNKNOWN if None in lists else [tuple(row) for row in zip(*(found or [] for found in lists), strict=False)]


def _numbered(value: Value, start: Value = 0) -> Value:
    found = flat(value)
    return [(UNKNOWN, made_from(value))] if found is None else list(enumerate(found, start))


def _as_dict(value: Value = (), **named: Value) -> Value:
    return made_from(value) if isinstance(value, Sym) else {**dict(value), **named}


_LISTS: Mapping[str, Callable[..., Value]] = {
    "list": _items,
    "tuple": _tuple,
    "set": _items,
    "sorted": _sorted,
    "reversed": _reversed,
    "range": _range,
    "zip": _pairs,
    "enumerate": _numbered,
    "dict": _as_dict,
    "tqdm.tqdm": lambda value, *_, **__: value,
    "iter": lambda value, *_: value,
    "next": lambda value, *_: value[0] if isinstance(value, list) and value else UNKNOWN,
    "itertools.chain": lambda *lists: [item for part in lists for item in flat(part) or [UNKNOWN]],
}

# -- encodings -------------------------------------------------------------------------------------------------------

_ENCODINGS: Mapping[str, Callable[..., Value]] = {
    **dict.fromkeys(["base64.b64decode", "base64.decodebytes", "base64.standard_b64decode"], unbase(base64.b64decode)),
    "base64.urlsafe_b64decode": unbase(base64.urlsafe_b64decode),
    "base64.b32decode": unbase(base64.b32decode),
    "base64.b16decode": unbase(base64.b16decode),
    "base64.b85decode": unbase(base64.b85decode),
    "base64.a85decode": unbase(base64.a85decode),
    "binascii.unhexlify": unbase(binascii.unhexlify),
    "binascii.a2b_hex": unbase(binascii.unhexlify),
    "binascii.a2b_base64": unbase(binascii.a2b_base64),
    "codecs.decode": lambda value, codec="utf-8": decode_with(value, text_of(codec)),
    "codecs.encode": lambda value, codec="utf-8": decode_with(value, codec) if "rot" in codec else UNKNOWN,
    "zlib.decompress": inflate(zlib.MAX_WBITS),
    "gzip.decompress": inflate(zlib.MAX_WBITS | 16),
    "urllib.parse.unquote": lambda value, *_: urllib.parse.unquote(text_of(value)),
    "html.unescape": lambda value: html.unescape(text_of(value)),
    "json.loads": lambda value: json.loads(value) if len(value) < 10_000 else UNKNOWN,
}

PURE: Mapping[str, Callable[..., Value]] = {**_TEXTS, **_LISTS, **_ENCODINGS}


_Method = Callable[[Value, Sequence[Value], Mapping[str, Value]], Value]


def text_method(text: str | bytes, name: str, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """What a method of a text or a path gives; UNKNOWN when it cannot be known."""
    method = _OF_BOTH.get(name) or (_OF_STR.get(name) if isinstance(text, str) else None)
    try:
        if method is not None:
            return method(text, args, named)
        if name in _PLAIN and all(map(computed, args)):
            made = getattr(text, name)(*args)
            return marked(made, text) if isinstance(made, str) else made
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError):
        pass
    return UNKNOWN


def _join(text: Value, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    items = flat(args[0])
    if items is None:
        return marked(hole(), args[0])
    glued = concat(part for item in items for part in (text, item))
    return marked(glued[len(text) :], glued) if isinstance(glued, str) else glued


def _replace(text: Value, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    source, old, new = text_of(text), text_of(args[0]), text_of(args[1])
    room = source.count(old) * len(new) <= MAX_TEXT
    return marked(source.replace(old, new), text, *args) if room and known(old) else UNKNOWN


def _itself(text: Value, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    return text


_OF_BOTH: Mapping[str, _Method] = {
    "join": _join,
    "replace": _replace,
    "decode": lambda text, args, named: transcode(text, "decode", args),
    "encode": lambda text, args, named: transcode(text, "encode", args),
}
_OF_STR: Mapping[str, _Method] = {
    "format": fill,
    "joinpath": lambda text, args, named: join_path(text, *args),
    "__truediv__": lambda text, args, named: join_path(text, *args),
    "with_name": lambda text, args, named: with_name(text, text_of(args[0])),
    "with_suffix": lambda text, args, named: with_suffix(text, text_of(args[0])),
    **dict.fromkeys(["expanduser", "resolve", "absolute", "as_posix", "__str__", "__fspath__", "path"], _itself),
}
_PLAIN = frozenset({
    "lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "title", "capitalize", "swapcase",
    "casefold", "removeprefix", "removesuffix", "partition", "rpartition", "hex", "startswith", "endswith", "find",
    "index", "count", "isdigit", "translate",
})  # fmt: skip
