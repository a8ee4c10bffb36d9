"""Runs a program, a script file or a command line from PowerShell, and reports what follows from it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.analysis.facts import known, without_holes
from interlock.analysis.powershell.values import PsObject, PsReading, Script, Value, plain, source_url, texts
from interlock.analysis.programs.languages import input_language
from interlock.analysis.programs.load import shipped_programs
from interlock.analysis.windows import (
    SCRIPTED,
    cmd_line,
    download_in,
    hand_over,
    plain_holes,
    program_name,
    report_script,
    runs_input,
    saved_download,
)

RUN_TIME = "text made at run time is run"
_PIECE = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_CMD_SWITCH = re.compile(r"/[ck]", re.IGNORECASE)


def run_value(session: PsReading, value: Value) -> list[Value]:
    """Run a value as code: a block, or a text that is PowerShell."""
    if isinstance(value, Script):
        return session.run_block(session, value, {})
    if isinstance(value, list) and any(isinstance(item, Script) for item in value):
        return [made for item in value for made in run_value(session, item)]
    given = [value.note] if isinstance(value, PsObject) and value.kind == "script" else texts(value)
    if (url := source_url(value)) is not None or (url := _first_url(given)) is not None:
        session.commanded = True
        session.out.effect("run_download", url)
        return []
    made: list[Value] = []
    text = "\n".join(given) if isinstance(value, list) else ""
    codes = [text] if text else given
    if not all(known(one) for one in codes):
        session.commanded = True
        session.out.unreadable(RUN_TIME, "payload")
    for one in codes:
        if without_holes(one).strip():
            made += session.run_text(session, one)
    return made


def _first_url(given: Sequence[str]) -> str | None:
    return next((url for text in given if (url := download_in(text)) is not None), None)


def run_program(session: PsReading, program: str, words: Sequence[str], piped: Sequence[Value] = ()) -> None:
    """Reports a program, and reads the files and texts that it is given, where they are known."""
    out, name = session.out, program_name(program)
    if (url := session.files.url_among(program, words) or download_in(program)) is not None:
        out.effect("run_download", url)
    if not without_holes(name).strip(".\\/"):
        session.commanded = True
        out.unreadable("a program whose name is made at run time is run", "command")
        return
    given = [plain_holes(word) for word in words]
    if (saved := saved_download(name, given)) is not None:
        session.files.download(saved[1], saved[0])
    if name == "cmd" and (text := after_switch(given)) is not None:
        out.code("cmd", text)
        return
    if run_script(session, program):
        return
    if (described := shipped_programs().get(name)) is not None and "by_cmd" in described.reader:
        out.code("cmd", cmd_line([name, *given]))
    else:
        out.run([name, *given])
    _read_piped(session, name, given, piped)


def run_script(session: PsReading, program: str) -> bool:
    """A script file that is run; its text is read where that can be had."""
    script = session.files.script(program, (".ps1",))
    if script is None:
        return False

    def read(text: str) -> None:
        if script.language == "powershell":
            session.run_text(session, text)
        else:
            session.out.code(script.language, text)

    session.files.run_script(script, read)
    return True


def after_switch(words: Sequence[str]) -> str | None:
    """The text that `cmd /c` is given."""
    for at, word in enumerate(words):
        if _CMD_SWITCH.match(word):
            return " ".join([word[2:], *words[at + 1 :]]).strip()
    return None


def _read_piped(session: PsReading, name: str, words: Sequence[str], piped: Sequence[Value]) -> None:
    given = [text for value in piped for text in texts(value)]
    if not given:
        return
    if name in SCRIPTED:
        report_script(name, "\n".join(given), session.out)
    if not runs_input(name, words):
        return
    language = input_language(name)
    if (url := _first_url(given)) is not None:
        session.out.effect("run_download", url)
    elif all(known(text) for text in given):
        hand_over(language, "\n".join(given), session.out)
    elif language != "sql":
        session.out.unreadable(RUN_TIME, "payload")


def split_line(text: str) -> list[str]:
    """A command line cut into words at blanks, with quoted parts as one word."""
    return [found.group(1) if found.group(1) is not None else found.group(2) for found in _PIECE.finditer(text)]


def run_line(session: PsReading, text: Value) -> None:
    """Run a command line: a program and its words in one text."""
    words = split_line(plain(text))
    if words:
        run_program(session, words[0], words[1:])
