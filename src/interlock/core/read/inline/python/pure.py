"""Functions without effect: what they give."""

from __future__ import annotations

import base64
import binascii
import html
import json
import posixpath
import re
import shlex
import urllib.parse
import zlib
from collections.abc import Callable, Mapping, Sequence

from interlock.core.read.facts import hole, known
from interlock.core.read.inline.python.encodings import decode_with, inflate, unbase
from interlock.core.read.inline.python.modules import environment
from interlock.core.read.inline.python.operators import operate
from interlock.core.read.inline.python.paths import join_path, parent_of
from interlock.core.read.inline.python.values import (
    UNKNOWN,
    Sym,
    Value,
    computed,
    concat,
    flat,
    made_from,
    marked,
    text_of,
)


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
