"""Text that a program runs is read as what it is; text that it only shows, searches or keeps is not."""

from __future__ import annotations

from interlock.analysis.programs.load import shipped_programs
from interlock.analysis.shell.programs import READERS


def test_every_reader_that_a_description_names_exists_and_is_used() -> None:
    assert {program.reader for program in shipped_programs().values()} - {""} == set(READERS)
