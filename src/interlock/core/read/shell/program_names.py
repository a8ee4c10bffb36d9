"""A command's first word -> the program that it names; nothing when that cannot be told."""

from __future__ import annotations

import fnmatch
import re
import unicodedata

from interlock.core.read.facts import HOLE

_GLOB = re.compile(r"[?*\[]")
_TARGETS_OF_GLOBS = "rm dd mkfs shred sudo wipefs bash sh zsh dash python python3 perl ruby node curl wget nc ncat cat chmod chown mv find kill".split()


def program_name(word: str) -> str:
    """The base name that decides what runs; nothing when it cannot be known."""
    if HOLE in word:
        tail = word.rpartition("/")[2]
        if HOLE in tail or "/" not in word:
            return ""
        word = tail
    name = word.rpartition("/")[2]
    if "\\" in name:
        name = name.rpartition("\\")[2]
    if is_disguised(name):
        return ""
    name = name.lower()
    name = name[:-4] if name.endswith((".exe", ".cmd", ".bat", ".com")) else name
    return _matched(name) if _GLOB.search(name) else name


def is_unreadable(word: str) -> bool:
    """True for a first word that names a program, but which one only running it would tell."""
    return HOLE in word or not word.strip("*?") or is_disguised(word)  # in the root there are only folders


def is_disguised(name: str) -> bool:
    """Control characters, or letters that only look like others: what a person reads is not what the shell gets."""
    if name.isascii():
        return not name.isprintable()
    return any(unicodedata.category(char) == "Cc" for char in name) or unicodedata.normalize("NFKC", name).isascii()


def _matched(program: str) -> str:
    """A glob as program name (`/bin/r?`): the most harmful program that it can be."""
    if not program.strip("*?"):
        return ""
    if not any(char.isalnum() for char in program):
        return program
    for name in _TARGETS_OF_GLOBS:
        if fnmatch.fnmatchcase(name, program):
            return name
    return program
