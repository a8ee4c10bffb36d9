"""Decodes known text as base64 -d, xxd -r, rev, tr, gunzip and openssl would."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable

from interlock.analysis.facts import known
from interlock.analysis.programs.options import options, valued
from interlock.analysis.shell import Job

MAX_OUTPUT = 100_000
Decoder = Callable[[list[str], str], str | None]


_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "\\": "\\",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "r": "\r",
    "v": "\v",
    "'": "'",
    '"': '"',
}


_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|0?[0-7]{1,3}|[ntrabefv\\'\"c])")


def unescape(text: str) -> str:
    """Backslash escapes as printf and echo -e read them."""

    def char(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "xu" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        return _ESCAPES.get(code, "")

    return _ESCAPE.sub(char, text) if "\\" in text else text


def decode_output(job: Job, decoder: Decoder) -> str | None:
    """What a decoder prints of known input."""
    source = job.stdin.text if job.stdin is not None else None
    if source is None:
        files = [word for word in job.words if not word.startswith("-")]
        source = job.file_text(files[-1]) if files else None
    if source is None or not known(source) or len(source) > MAX_OUTPUT:
        return None
    return decoder(job.words, source)


def _base64(words: list[str], source: str) -> str | None:
    if not any(re.fullmatch(r"-[a-zA-Z]*[dD][a-zA-Z]*|--d[a-z]*", word) for word in words):
        return base64.b64encode(source.encode()).decode() + "\n"
    return decode_base64(source)


def decode_base64(source: str) -> str | None:
    """The text in a base64 text, None when it is not one."""
    packed = re.sub(r"[^A-Za-z0-9+/=_-]", "", source).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4)).decode("utf-8", "surrogateescape")
    except (ValueError, binascii.Error):
        return None


def _gunzip(words: list[str], source: str) -> str | None:
    """gunzip, zcat, gzip -d on text that is known; never more than MAX_OUTPUT."""
    try:
        return (
            zlib.decompressobj(47)
            .decompress(source.encode("utf-8", "surrogateescape"), MAX_OUTPUT)
            .decode("utf-8", "surrogateescape")
        )
    except (zlib.error, ValueError):
        return None


def _base32(words: list[str], source: str) -> str | None:
    try:
        packed = re.sub(r"\s", "", source).rstrip("=")
        return base64.b32decode(packed + "=" * (-len(packed) % 8)).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return None


def _hex(words: list[str], source: str) -> str | None:
    if not any("r" in word for word in words if word.startswith("-")):
        return None
    digits = "".join(re.findall(r"[0-9a-fA-F]", re.sub(r"0x", "", source)))
    try:
        return bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")
    except ValueError:
        return None


def _rev(words: list[str], source: str) -> str:
    return "\n".join(line[::-1] for line in source.split("\n"))


def _tr(words: list[str], source: str) -> str | None:
    flags = [word for word in words if word.startswith("-") and len(word) > 1]
    sets = [_char_set(word) for word in words if not (word.startswith("-") and len(word) > 1)]
    if any("d" in flag for flag in flags) and sets:
        return "".join(char for char in source if char not in sets[0])
    if len(sets) < 2 or not sets[1] or any("c" in flag or "C" in flag for flag in flags):
        return source if any("s" in flag for flag in flags) else None
    to = sets[1] + sets[1][-1] * max(0, len(sets[0]) - len(sets[1]))
    return source.translate({ord(a): b for a, b in zip(sets[0], to, strict=False)})


_CLASSES = {
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:digit:]": "0-9",
    "[:space:]": " \t\n",
    "[:alpha:]": "A-Za-z",
    "[:blank:]": " \t",
}


def _char_set(word: str) -> str:
    for name, span in _CLASSES.items():
        word = word.replace(name, span)
    word = unescape(word.strip("[]") if word.startswith("[") and "-" in word else word)
    return re.sub(
        r"(.)-(.)",
        lambda m: "".join(map(chr, range(ord(m[1]), min(ord(m[2]), ord(m[1]) + 300) + 1))),
        word,
        flags=re.DOTALL,
    )


def _paste(words: list[str], source: str) -> str | None:
    """paste -s: the lines as one."""
    found = options(words, valued("-d --delimiters"))
    if not found.has("-s", "--serial"):
        return None
    between = unescape(found.value("-d", "--delimiters") or "\t")[:1]
    return between.join(source.splitlines()) + "\n"


def _openssl(words: list[str], source: str) -> str | None:
    text = " ".join(words)
    if ("base64" in text or "-a" in words) and "-d" in words and not re.search(r"-(aes|des|k|pass)", text):
        return decode_base64(source)
    return None


DECODERS: dict[str, Decoder] = {
    "decoded_base64": _base64,
    "decoded_base32": _base32,
    "decoded_hex": _hex,
    "reversed_lines": _rev,
    "decompressed": _gunzip,
    "mapped_characters": _tr,
    "deciphered": _openssl,
    "joined_lines": _paste,
}
