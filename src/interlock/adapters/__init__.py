"""Adapter files: read strictly, every problem with its line."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path as File

from interlock.adapters.form import read_form
from interlock.adapters.model import Adapter, Operation, Param
from interlock.adapters.yaml_lines import MARK, MAX_CHARACTERS, Written, read_text
from interlock.core.problems import Problem

__all__ = ["Adapter", "AdapterError", "Located", "Operation", "Param", "Reading", "load", "read", "read_file"]

_MARKDOWN = frozenset({".md", ".markdown", ".mdx"})


class AdapterError(ValueError):
    """An adapter that must not be used; the message lists what is wrong, line by line."""


@dataclass(frozen=True, slots=True)
class Located:
    """One problem, and the line it is on."""

    line: int
    place: str
    message: str
    error: bool

    @property
    def word(self) -> str:
        return "error" if self.error else "warning"


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading an adapter file: the adapter as far as it could be read, and what is wrong with it."""

    adapter: Adapter | None
    problems: tuple[Located, ...]
    mark: str = ""  # the hash of the file

    @property
    def usable(self) -> bool:
        return self.adapter is not None and not any(problem.error for problem in self.problems)


def read(text: str, markdown: bool | None = None) -> Reading:
    """Reads an adapter from text; Markdown is recognised by its front matter if nobody says."""
    if markdown is None:
        markdown = text.startswith("---\n") and "\n---\n" in text[4:]
    written = read_text(text, markdown)
    adapter = read_form(written)
    found = [_located(problem, written) for problem in written.problems.found]
    return Reading(adapter, tuple(sorted(found, key=lambda problem: problem.line)))


def read_file(path: File) -> Reading:
    """Reads an adapter file; raises OSError if there is none, and reads no more than the limit."""
    with path.open("rb") as file:
        raw = file.read(MAX_CHARACTERS * 4 + 1)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        return Reading(None, (Located(line, "", "is not UTF-8", True),))
    suffix = path.suffix.lower()
    reading = read(text, True if suffix in _MARKDOWN else False if suffix in (".yaml", ".yml") else None)
    return replace(reading, mark=hashlib.sha256(raw).hexdigest())


def load(path: File) -> Adapter:
    """The adapter in a file; raises AdapterError if anything in it is wrong."""
    reading = read_file(path)
    if reading.adapter is None or not reading.usable:
        errors = [problem for problem in reading.problems if problem.error]
        raise AdapterError("\n".join(f"{path}:{problem.line}: {problem.message}" for problem in errors))
    return reading.adapter


def _located(problem: Problem, written: Written) -> Located:
    keys = tuple(key for key in problem.path if not str(key).startswith(MARK))
    place = Problem(keys, "").place
    return Located(written.line(problem.path), place, problem.message, problem.error)
