"""What inline code prints, when it prints constants: `python -c "print('…')" | sh`."""

from __future__ import annotations

import re

from interlock.core.read.shell.session import UNKNOWN, Stream

_PLAIN_PRINT = re.compile(
    r"""\s*(?:print|puts|console\.log|echo|process\.stdout\.write)\s*\(?\s*(["'])((?:(?!\1)[^\\]|\\.)*)\1\s*\)?\s*;?\s*""",
    re.DOTALL,
)
_AWK = re.compile(r"""\s*BEGIN\s*\{\s*print((?:\s*"[^"\\]*")+)\s*;?\s*\}\s*""")
_JQ = re.compile(r'\s*"([^"\\]*)"\s*')
_PACKED = re.compile(r"""\s*print\s*\(?\s*pack\s*\(?\s*["']H\*["']\s*,\s*["']([0-9a-fA-F]+)["']\s*\)?\s*\)?\s*;?\s*""")
_HEX = re.compile(r"""\s*print\(\s*bytes\.fromhex\(\s*["']([0-9a-fA-F]+)["']\s*\)\.decode\(\s*\)\s*\)\s*;?\s*""")
_BASE64 = re.compile(
    r""".*\bprint\(\s*(?:base64\.b64decode|b64decode|atob)\(\s*b?["']([A-Za-z0-9+/=]+)["']\s*\)(?:\.decode\([^)]*\))?\s*\)\s*;?\s*""",
    re.DOTALL,
)


def printed(language: str, codes: list[str]) -> Stream:
    """The text that one short program prints; unknown for anything that is not plainly a constant."""
    if len(codes) != 1 or len(codes[0]) > 4000:
        return UNKNOWN
    code = codes[0]
    plain = _PLAIN_PRINT.fullmatch(code)
    if plain:
        from interlock.core.read.shell.decode import unescape

        return Stream(unescape(plain[2]))
    constant = _AWK.fullmatch(code) if language == "awk" else _JQ.fullmatch(code) if language == "jq" else None
    if constant:
        return Stream("".join(re.findall(r'"([^"]*)"', constant[0])))
    packed = _PACKED.fullmatch(code) or _HEX.fullmatch(code)
    if packed:
        return Stream(bytes.fromhex(packed[1][: len(packed[1]) // 2 * 2]).decode("utf-8", "replace"))
    encoded = _BASE64.fullmatch(code)
    if encoded:
        from interlock.core.read.shell.decode import decode_base64

        return Stream(decode_base64(encoded[1]) or "")
    return UNKNOWN
