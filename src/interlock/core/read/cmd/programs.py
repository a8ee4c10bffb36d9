"""What happens when cmd.exe runs a program or a file?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from interlock.core.read.cmd.session import Session
from interlock.core.read.cmd.words import Line
from interlock.core.read.facts import hole, without_holes
from interlock.core.read.windows import (
    INTERPRETERS,
    SCRIPTS,
    download_in,
    downloaded,
    first_url,
    hand_over,
    plain_holes,
    program_name,
    report_diskpart,
    saved_by,
    suffix,
)

ITSELF = re.compile(r'"?%~?[a-z]*0"?$', re.IGNORECASE)


def run_program(session: Session, line: Line) -> str:
    """Any other program: told to the rules, and followed where it is a file that was made here."""
    program, words = line.words[0], [plain_holes(word) for word in line.words[1:]]
    name = program_name(program)
    if (url := session.files.url_among(program, line.words[1:]) or download_in(program)) is not None:
        session.out.effect("run_download", url)
    if not without_holes(name).strip(".\\/"):
        if not ITSELF.match(program):
            session.out.unreadable("a program whose name is made at run time is run", "command")
        return hole("output")
    if (saved := saved_by(name, words)) is not None:
        session.files.download(saved[1], saved[0])
    if not _run_script(session, program):
        session.out.run([name, *words])
    if name == "diskpart":
        _read_diskpart(session, words, line.inputs)
    for path in line.inputs if name in INTERPRETERS else ():
        _read_input(session, name, path)
    fetched = first_url(words) if name in ("curl", "wget") and saved is None else ""
    return downloaded(fetched) if fetched else hole("output")


def _run_script(session: Session, program: str) -> bool:
    """A script file that is run; its text is read when it was written here."""
    written = next((end for end in ("", ".bat", ".cmd") if session.files.text(program + end) is not None), None)
    language = SCRIPTS.get(suffix(program + (written or "")))
    if language is None:
        return False
    session.out.effect("run_script", plain_holes(program))
    if written is None:
        return True
    text = session.files.text(program + written) or ""
    if language == "cmd":
        session.run_text(session, text)
    else:
        session.out.code(language, text)
    return True


def _read_diskpart(session: Session, words: Sequence[str], inputs: Sequence[str]) -> None:
    scripts = [following for word, following in pairwise(words) if word.lower() == "/s"]
    for path in [*scripts, *inputs]:
        if (text := session.files.text(path)) is not None:
            report_diskpart(text, session.out)
        else:
            session.out.unreadable("a diskpart script that is not known here", "payload")


def _read_input(session: Session, name: str, path: str) -> None:
    text = session.files.text(path)
    if text is not None and INTERPRETERS[name] == "cmd":
        session.run_text(session, text)
    elif text is not None:
        hand_over(INTERPRETERS[name], text, session.out)
    elif path != "nul":
        session.out.effect("run_script", plain_holes(path))
