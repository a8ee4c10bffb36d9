"""Computes a command's output: text, decoders, plain filters, constant prints of inline code."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable

from interlock.analysis.facts import APPROXIMATE, HOLE, hole, hole_of, known, taints_in
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs import Printed
from interlock.analysis.programs.load import program_set
from interlock.analysis.programs.options import holding, options, valued
from interlock.analysis.shell import NAMED_TAINTS, UNKNOWN, Job, Stream
from interlock.analysis.shell.item_runners import find_targets
from interlock.analysis.shell.redirections import data_text
from interlock.analysis.shell.syntax.cursor import unescape
from interlock.analysis.targets.carried import carries, named_files

_DIRECTIVE = lazy_regex(r"%([-+ #0]*\d*(?:\.\d+)?)([sdqbiuxXoc%])")


def echo(job: Job) -> str:
    words = list(job.words)
    escapes, newline = job.host.dialect == "dash", True
    while words and re.fullmatch(r"-[neE]+", words[0]):
        flag = words.pop(0)
        escapes = escapes or "e" in flag
        newline = newline and "n" not in flag
    text = " ".join(words)
    return (unescape(text) if escapes else text) + ("\n" if newline else "")


_NOTHING: frozenset[str] = frozenset()
_GUESS = frozenset({APPROXIMATE})
_PLAIN_DIRECTIVE = lazy_regex(r"%(?:[sb%]|0?\d?[di])")
_PLAIN_NUMBER = lazy_regex(r"0|[1-9]\d{0,8}")


def _formatted(job: Job) -> Stream | str:
    """Approximate where a directive or number is computed more simply here."""
    words = job.words[job.words[:1] == ["--"] :]
    text, (form, *items) = printf(words), words or [""]
    plain = "%" not in _PLAIN_DIRECTIVE.sub("", form) and "\\" not in form.replace("\\n", "")
    numbers = not re.search(r"%0?\d?[di]", form) or all(map(_PLAIN_NUMBER.fullmatch, items))
    return text if plain and numbers and len(items) <= 64 else Stream(text, taints_in(text) | _GUESS)


def printf(words: list[str]) -> str:
    """The format is used again until the words are spent."""
    out, items = "", list(words[1:])
    for _ in range(64 if words else 0):
        before = len(items)
        out += _DIRECTIVE.sub(lambda found: _directive(found, items), unescape(words[0]))
        if not items or len(items) == before:
            break
    return out


def _directive(found: re.Match[str], items: list[str]) -> str:
    kind = found[2]
    if kind == "%":
        return "%"
    item = items.pop(0) if items else ("0" if kind in "dioxXu" else "")
    if kind in ("b", "c"):
        return unescape(item) if kind == "b" else item[:1]
    if kind in "xXo" and item.isdigit():
        return format(int(item[:9]), kind)
    if kind in "di" and found[1].isdigit() and _PLAIN_NUMBER.fullmatch(item):
        return item.rjust(int(found[1]), "0" if found[1][0] == "0" else " ")
    return item


def _cat(job: Job) -> Stream:
    files = job.options().operands if _has_options(job.words) else job.words
    if not files or files == ["-"]:
        return job.stdin if job.piped else UNKNOWN
    text, taints = "", _NOTHING
    for path in files:
        if path == "/dev/null":
            continue
        held = {
            "endless": path in ENDLESS,
            "secret": path.startswith("/etc/"),
            "download": job.session.fetched(job.full(path)),
        }
        taints = taints.union(carries(job, path), (name for name, holds in held.items() if holds))
        found, more = data_text(job.host, path) or (hole_of(taints), _NOTHING)
        text += found
        taints |= more
    return Stream(text, taints)


def _has_options(words: list[str]) -> bool:
    return any(word[:1] == "-" for word in words)


def _seq(job: Job) -> Stream:
    numbers = [int(word) for word in job.words if re.fullmatch(r"-?\d{1,6}", word)]
    if not numbers:
        return UNKNOWN
    items = range(numbers[0] if len(numbers) > 1 else 1, numbers[-1] + 1)
    plain = len(numbers) == len(job.words) < 3 and len(items) <= 64
    return Stream("\n".join(map(str, items[:64])), frozenset() if plain else _GUESS)


def _base_name(job: Job) -> Stream | None:
    names = job.plain_words
    word = names[0].rstrip("/").rpartition("/")[2] if names else ""
    return Stream(word.removesuffix(names[1]) if len(names) > 1 else word) if names else None


def _folder_name(job: Job) -> Stream | None:
    word = next(iter(job.plain_words), "~")
    if word in ("~", "~/"):
        return Stream("/home") if job.plain_words else None
    return Stream(word.rstrip("/").rpartition("/")[0] or ("/" if word.startswith("/") else "."))


def _environment(job: Job) -> Stream | None:
    return None if job.plain_words else Stream.holding(frozenset({"environment"}))


def _variable(job: Job) -> Stream | None:
    secret = any(SECRET_NAME.fullmatch(hole(name)) for name in job.plain_words)
    return Stream.holding(frozenset({"secret"})) if secret else _environment(job)


SECRET_NAME = lazy_regex(f"{HOLE}[A-Z_]*(SECRET|PASSWORD|PASSWD|PRIVATE_KEY|TOKEN|API_KEY)[A-Z_]*{HOLE}")


PRINTERS: dict[str, Callable[[Job], Stream | str | None]] = {
    "words": echo,
    "formatted": _formatted,
    "files": _cat,
    "found_files": lambda job: Stream("\n".join(find_targets(job.words)) + "\n", frozenset({"bulk"})),
    "listing": lambda job: Stream(
        "\n".join(one if re.search(r"[*?]", one) else f"{one.rstrip('/')}/*" for one in job.plain_words) or "*",
        frozenset({"bulk"}),
    ),
    "lines": lambda job: job.stdin if job.piped else None,
    "numbers": _seq,
    "same_name": lambda job: next(map(Stream, job.plain_words), None),  # the first operand stands for the file
    "base_name": _base_name,
    "folder_name": _folder_name,
    "here": lambda job: Stream(job.host.cwds[0] or hole("PWD")),
    "nothing": lambda job: Stream(""),
    "environment": _environment,
    "variable": _variable,
    "constant": lambda job: found if (found := constant_output("filter", job.plain_words[:1])).known else None,
    "processes": lambda job: Stream(hole(":".join([job.program, *job.words]))),  # named by how they were selected
    "repeated": lambda job: Stream(f"{' '.join(job.words) or 'y'}\n", frozenset({"endless"})),
}


def output(job: Job) -> Stream:
    taints = job.stdin.taints
    limits = job.program in program_set("limit")
    for item in job.described.prints:
        words = _words_for(item, job)
        if words is not None and (found := _printed(item, job, words, taints)) is not None:
            return Stream(found.text, found.taints - {"endless"}) if limits and found.taints else found
    taints -= {"endless"} if limits else _NOTHING
    if job.program in program_set("filter"):
        return _filtered(job, taints)
    if job.program in program_set("encoder"):
        taints = taints.union(*(carries(job, word) for word in named_files(job.words)))
        return Stream.holding(taints if ENDLESS.isdisjoint(job.words) else taints | {"endless"})
    kept = taints & NAMED_TAINTS
    return Stream.holding(kept) if kept else UNKNOWN


ENDLESS = frozenset({"/dev/zero", "/dev/urandom", "/dev/random"})


def _words_for(item: Printed, job: Job) -> list[str] | None:
    if item.starts and item.starts.isdisjoint(job.words):
        return None
    if item.any_word and not any(re.fullmatch(item.any_word, word) for word in job.words[:4]):
        return None
    if not (item.subcommand or item.any_flag or item.given or (item.no_flag and _has_options(job.words))):
        return job.words
    return next((words for _, words in holding([item], job.options())), None)


def _printed(item: Printed, job: Job, words: list[str], taints: frozenset[str]) -> Stream | None:
    if not item.by:
        known_as = item.text or (hole(item.unknown) if item.unknown else hole_of(frozenset(item.taints)))
        exact = HOLE in known_as or known_as.startswith("/tmp/")
        return Stream(known_as, frozenset(item.taints) if exact else frozenset((*item.taints, APPROXIMATE)))
    if item.subcommand:
        job = Job(job.host, job.program, words, job.where, job.stdin, job.described)
    if (decoder := DECODERS.get(item.by)) is not None:
        plain = _decoded(job, decoder)
        return None if plain is None else Stream(plain, taints)
    found = PRINTERS[item.by](job)
    if isinstance(found, str):
        named = frozenset({"secret"}) if SECRET_NAME.search(found) else frozenset()
        return Stream(found, taints_in(found) | named)
    is_name = item.by in ("base_name", "folder_name") and not _has_options(words)
    exact = found is None or is_name or item.by in _EXACT
    if found is None or (exact and not item.taints):
        return found
    return Stream(found.text, found.taints.union(item.taints) if exact else found.taints | _GUESS)


# Printers that compute what the program would print, and not only something like it.
_EXACT = frozenset("formatted files lines numbers here nothing repeated constant".split())


def _filtered(job: Job, taints: frozenset[str]) -> Stream:
    taints = taints.union(_GUESS, *(carries(job, word) for word in job.plain_words))
    text = job.stdin.text if job.piped else hole_of(taints)
    if job.program in program_set("rewriter") and HOLE not in text and "bulk" not in job.stdin.taints:
        text = _edited(job, text)
    return Stream(text, taints)


def _edited(job: Job, text: str) -> str:
    """sed 's/a/b/' and cut -cN-; other edits are not followed."""
    if columns := re.fullmatch(r"-c(\d+)-", " ".join(job.words)):
        return "".join(line[int(columns[1]) - 1 :] for line in text.splitlines(True))
    scripts = job.plain_words
    found = re.fullmatch(r"s(.)(.{1,60}?)\1(.{0,60}?)\1g?", scripts[0], re.DOTALL) if len(scripts) == 1 else None
    if found and re.fullmatch(r"\^?[\w .,:;_#@%-]*", found[2]):
        if found[2].startswith("^"):
            head, lines = found[2][1:], text.splitlines(True)
            return "".join(found[3] + line[len(head) :] if line.startswith(head) else line for line in lines)
        return text.replace(found[2], found[3])
    return text if scripts and re.fullmatch(r"\d*[dp]", scripts[0]) else hole()


_PLAIN_PRINT = lazy_regex(
    r"""\s*(?:print|puts|console\.log|echo|process\.stdout\.write)\s*\(?\s*(["'])((?:(?!\1)[^\\]|\\.)*)\1\s*\)?\s*;?\s*""",
    re.DOTALL,
)
_AWK = lazy_regex(r"""\s*BEGIN\s*\{\s*print((?:\s*"[^"\\]*")+)\s*;?\s*\}\s*""")
_PACKED = lazy_regex(r"""\s*print\s*\(?\s*pack\s*\(?\s*["']H\*["']\s*,\s*["']([0-9a-fA-F]+)["']\s*\)?\s*\)?\s*;?\s*""")
_HEX = lazy_regex(r"""\s*print\(\s*bytes\.fromhex\(\s*["']([0-9a-fA-F]+)["']\s*\)\.decode\(\s*\)\s*\)\s*;?\s*""")
_BASE64 = lazy_regex(
    r""".*\bprint\(\s*(?:base64\.b64decode|b64decode|atob)\(\s*b?["']([A-Za-z0-9+/=]+)["']\s*\)(?:\.decode\([^)]*\))?\s*\)\s*;?\s*""",
    re.DOTALL,
)


def constant_output(language: str, codes: list[str]) -> Stream:
    """Unknown unless plainly a constant."""
    if len(codes) != 1 or len(codes[0]) > 4000:
        return UNKNOWN
    code = codes[0]
    if plain := _PLAIN_PRINT.fullmatch(code):
        return Stream(unescape(plain[2]))
    if language == "filter" and (_AWK.fullmatch(code) or re.fullmatch(r'\s*"([^"\\]*)"\s*', code)):
        return Stream("".join(re.findall(r'"([^"]*)"', code)))
    if packed := _PACKED.fullmatch(code) or _HEX.fullmatch(code):
        return Stream(_from_hex(packed[1]))
    encoded = _BASE64.fullmatch(code)
    return Stream(decode_base64(encoded[1]) or "") if encoded else UNKNOWN


def _from_hex(digits: str) -> str:
    return bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")


# -- decoders

MAX_OUTPUT = 100_000
Decoder = Callable[[list[str], str], str | None]


def _decoded(job: Job, decoder: Decoder) -> str | None:
    source = job.stdin.text if job.piped else next(map(job.file_text, reversed(job.plain_words)), None)
    if source is None or not known(source) or len(source) > MAX_OUTPUT:
        return None
    try:
        return decoder(job.words, source)
    except (ValueError, zlib.error):
        return None


def _base64(words: list[str], source: str) -> str | None:
    decodes = any(re.fullmatch(r"-[a-zA-Z]*[dD][a-zA-Z]*|--d[a-z]*", word) for word in words)
    return decode_base64(source) if decodes else base64.b64encode(source.encode()).decode() + "\n"


def decode_base64(source: str) -> str | None:
    packed = re.sub(r"[^A-Za-z0-9+/=_-]", "", source).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4)).decode("utf-8", "surrogateescape")
    except ValueError:
        return None


def _gunzip(words: list[str], source: str) -> str | None:
    """Never more than MAX_OUTPUT."""
    packed = source.encode("utf-8", "surrogateescape")
    return zlib.decompressobj(47).decompress(packed, MAX_OUTPUT).decode("utf-8", "surrogateescape")


def _base32(words: list[str], source: str) -> str | None:
    packed = re.sub(r"\s", "", source).rstrip("=")
    return base64.b32decode(packed + "=" * (-len(packed) % 8)).decode("utf-8", "replace")


def _hex(words: list[str], source: str) -> str | None:
    if not any("r" in word for word in words if word.startswith("-")):
        return None
    return _from_hex("".join(re.findall(r"[0-9a-fA-F]", source.replace("0x", ""))))


def _tr(words: list[str], source: str) -> str | None:
    flags = "".join(word for word in words if re.match("-.", word))
    sets = [_char_set(word) for word in words if not re.match("-.", word)]
    if "d" in flags and sets:
        return source.translate(dict.fromkeys(map(ord, sets[0])))
    if len(sets) < 2 or not sets[1] or "c" in flags.lower():
        return source if "s" in flags else None
    to = sets[1] + sets[1][-1] * max(0, len(sets[0]) - len(sets[1]))
    return source.translate({ord(a): b for a, b in zip(sets[0], to)})


_CLASSES = {
    "[:upper:]": "A-Z", "[:lower:]": "a-z", "[:digit:]": "0-9", "[:space:]": " \t\n", "[:alpha:]": "A-Za-z", "[:blank:]": " \t",
}  # fmt: skip


def _char_set(word: str) -> str:
    for name, span in _CLASSES.items():
        word = word.replace(name, span)
    word = unescape(word.strip("[]") if word.startswith("[") and "-" in word else word)
    return re.sub(
        r"(?s)(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), min(ord(m[2]), ord(m[1]) + 300) + 1))), word
    )


def _paste(words: list[str], source: str) -> str | None:
    found = options(words, valued("-d --delimiters"))
    if not found.has("-s", "--serial"):
        return None
    return unescape(found.value("-d", "--delimiters") or "\t")[:1].join(source.splitlines()) + "\n"


def _openssl(words: list[str], source: str) -> str | None:
    text = " ".join(words)
    plain = ("base64" in text or "-a" in words) and "-d" in words and not re.search(r"-(aes|des|k|pass)", text)
    return decode_base64(source) if plain else None


DECODERS: dict[str, Decoder] = {
    "decoded_base64": _base64,
    "decoded_base32": _base32,
    "decoded_hex": _hex,
    "reversed_lines": lambda words, source: "\n".join(line[::-1] for line in source.split("\n")),
    "decompressed": _gunzip,
    "mapped_characters": _tr,
    "deciphered": _openssl,
    "joined_lines": _paste,
}
