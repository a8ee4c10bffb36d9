"""Every branch, handler, loop and function of a program is read, in whatever way its language writes them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from cases import each
from interlock.analysis.read import _reader
from recording_report import Recorder

FORMS = tomllib.loads((Path(__file__).parent / "forms.toml").read_text())["form"]


@each(("language", "code", "does"), [(form["language"], form["code"], form["does"]) for form in FORMS])
def test_every_part_of_a_program_is_read(language: str, code: str, does: list[str]) -> None:
    out = Recorder()
    _reader(language)(code, out)
    assert [" ".join(fact) for fact in out.told] == does
