"""Expands cmd.exe words (variables, quotes, carets, redirections), and the state of one reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from interlock.analysis.facts import hole, known
from interlock.analysis.windows import RelocatedReport, WrittenTexts, place

MAX_TEXT = 100_000

_PERCENT = re.compile(r"%(~[A-Za-z]*)?([0-9*])|%([^%\s:=\"&|<>]+)(:[^%\r\n]{0,200})?%|%%")
_BANG = re.compile(r"!([^!\s:=\"&|<>]+)(:[^!\r\n]{0,200})?!")
_LOOP = re.compile(r"(?:%%|%(?![A-Za-z0-9_]+%))(~[A-Za-z]*)?([A-Za-z?#])")
_CUT = re.compile(r":~(-?\d{1,6})(?:,(-?\d{1,6}))?$")
_REDIRECT = re.compile(r"([0-9]?)(>>|>|<)(&[0-9])?")


class CmdLine(Struct):
    """One command, ready to run."""

    words: list[str] = field(default_factory=list)
    quoted: list[bool] = field(default_factory=list)
    outputs: list[tuple[str, bool]] = field(default_factory=list)  # file, whether appended
    inputs: list[str] = field(default_factory=list)
    text: str = ""  # the words as written, redirections left out


def expand(raw: str, names: Mapping[str, str], loops: Mapping[str, str]) -> str:
    """The text with its variables expanded; an unknown one is a hole."""
    text = _LOOP.sub(lambda found: _loop(found, loops), raw) if loops else raw
    if "%" in text:
        text = _PERCENT.sub(lambda found: _percent(found, names), text)
    if "!" in text and any(f"!{name}" in text.lower() for name in names):
        text = _BANG.sub(lambda found: _filled(names, found.group(1), found.group(2)), text)
    return text if len(text) <= MAX_TEXT else hole()


def _loop(found: re.Match[str], loops: Mapping[str, str]) -> str:
    value = loops.get(found.group(2))
    return found.group() if value is None else value.strip('"') if found.group(1) else value


def _percent(found: re.Match[str], names: Mapping[str, str]) -> str:
    if found.group() == "%%":
        return "%"
    if found.group(2) is not None:
        here = found.group(1) is not None and found.group(2) == "0" and "n" not in found.group(1)
        return ".\\" if here else hole(found.group()[1:])
    return _filled(names, found.group(3), found.group(4))


def _filled(names: Mapping[str, str], name: str, change: str | None) -> str:
    value = names.get(name.lower(), _DYNAMIC.get(name.lower(), place(name)))
    return _changed(value, change) if change else value


_DYNAMIC = {"cd": ".", "__cd__": ".\\", "date": hole("DATE"), "time": hole("TIME"), "random": hole("RANDOM")}


def _changed(value: str, change: str) -> str:
    """`%NAME:~start,length%` and `%NAME:old=new%`."""
    cut = _CUT.match(change)
    if cut:
        if not known(value):
            return hole()
        start = int(cut.group(1))
        rest = value[start:] if start >= 0 or -start <= len(value) else value
        if cut.group(2) is None:
            return rest
        return rest[: int(cut.group(2))]
    old, mark, new = change[1:].partition("=")
    if not mark or not old:
        return value
    if old.startswith("*"):
        at = value.lower().find(old[1:].lower())
        return value if at < 0 else new + value[at + len(old) - 1 :]
    return re.sub(re.escape(old), lambda _: new, value, flags=re.IGNORECASE)


def split(text: str, step: Callable[[], None]) -> CmdLine:
    """The words and redirections of one command."""
    line, word, quoted, started, kept = CmdLine(), list[str](), False, False, list[str]()
    at = 0
    while at < len(text):
        letter = text[at]
        if letter == "^" and at + 1 < len(text):
            at += 2 if text[at + 1] != "\r" else 3
            letter = text[at - 1]
            if letter != "\n":
                word.append(letter)
                kept.append(letter)
                started = True
            continue
        if letter == '"':
            end = text.find('"', at + 1)
            end = len(text) if end < 0 else end
            word.append(text[at + 1 : end])
            kept.append(text[at : end + 1])
            quoted, started = True, True
            at = end + 1
            continue
        found = _REDIRECT.match(text, at)
        if found and (not found.group(1) or not started):
            at = _redirect(line, text, found)
            continue
        if letter.isspace():
            if started:
                _push(line, word, quoted)
                word, quoted, started = [], False, False
                step()
        else:
            word.append(letter)
            started = True
        kept.append(letter)
        at += 1
    if started:
        _push(line, word, quoted)
    line.text = "".join(kept).strip()
    return line


def _push(line: CmdLine, word: list[str], quoted: bool) -> None:
    line.words.append("".join(word))
    line.quoted.append(quoted)


def _redirect(line: CmdLine, text: str, found: re.Match[str]) -> int:
    """Note where a redirection leads; return where the text goes on."""
    if found.group(3):
        return found.end()
    target = _TARGET.match(text, found.end())
    path = target.group(1).replace('"', "").replace("^", "") if target else ""
    if path and path.lower().rstrip(":") != "nul":
        if found.group(2) == "<":
            line.inputs.append(path)
        else:
            line.outputs.append((path, found.group(2) == ">>"))
    elif path and found.group(2) == "<":
        line.inputs.append("nul")
    return target.end() if target else found.end()


_TARGET = re.compile(r'\s*((?:"[^"]*"?|\^.|[^\s"^<>])+)')


class CmdReading(Struct):
    """The known variables and files, and the report."""

    out: RelocatedReport
    run_text: Callable[[CmdReading, str], str]  # reads a text in this session, gives what it prints
    run_line: Callable[[CmdReading, CmdLine], str]
    files: WrittenTexts
    names: dict[str, str] = field(default_factory=dict)
    loops: dict[str, str] = field(default_factory=dict)
    deep: set[str] = field(default_factory=set)  # values of `for /r`, which stand for a whole tree
    depth: int = 0
    rounds: int = 0
    goes_back: bool = False
