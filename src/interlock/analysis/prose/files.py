"""Paths that a sentence names -> effects on files; only where verb and path are plain."""

from __future__ import annotations

import re

from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.prose.clauses import Tokens
from interlock.analysis.prose.embedded import MARK
from interlock.analysis.prose.english.clause import EnglishClause, thing_of

_PATTERNS = Patterns("files")
_LISTS = WordLists("files")

_FILE = re.compile(r"^(?:[\w@+-]+/)*[\w@+.-]*\w\.[A-Za-z]\w{0,9}$|^(?:[\w@+.-]+/){1,}[\w@+.*-]*$|^\*\.\w{1,6}$")
_OVERWRITES = re.compile(r"\b(?:overwrit|clobber|replac|truncat)\w*")
_MOST = 20
_PLACES = {"home": "~", "root": "/", "here": "."}


def file_effects(words: Tokens, clause: EnglishClause) -> list[tuple[str, ...]]:
    """What the clause does to the files that it names."""
    if clause.denied or not _PATTERNS.places.search(clause.text):
        return []
    text = clause.text
    if MARK in text:
        text = " ".join([word for word in text.split(" ") if MARK not in word])
    if _PATTERNS.sends.match(text) and _PATTERNS.outward.search(text):
        return [("act_leak", path, "secret") for path in _paths(words)[:_MOST] if _PATTERNS.secret.search(path)]
    if clause.shield == "look":
        return [("read", path) for path in _paths(words)[:_MOST]] if _PATTERNS.reads.match(text) else []
    if clause.shield == "make":
        return (
            [
                ("write", path)
                for path in _paths(words)[:_MOST]
                if not (_PATTERNS.adds.match(text) and _PATTERNS.rc.search(path))
            ]
            if _PATTERNS.writes.match(text) and clause.head in _LISTS.own
            else []
        )
    if (
        clause.acts
        and clause.acts[0].verb in _LISTS.destroys
        and not ((thing := thing_of(clause)).kind in ("code", "account") and thing.direct)
    ):
        if _PATTERNS.killers.search(text):
            return _deleted(words, text, "bulk" if clause.acts[0].traits & {"bulk", "all"} else "")
        if _OVERWRITES.search(text):
            kept = [
                ("overwrite", path)
                for path in _paths(words)[:_MOST]
                if words[words.index(path) - 1].lower() not in _LISTS.within or "contents of" in text
            ]
            lost = [
                ("act_delete", path, "one")
                for _, path in kept
                if _LOSES.search(text) and not _PATTERNS.made.search(path)
            ]
            return [*kept, *lost]
    return []


# Saying that a file is overwritten says that it was there; what a build makes can be made again.
_LOSES = re.compile(r"\b(?:overwrit|clobber)\w*")


def _deleted(words: Tokens, text: str, bulk: str) -> list[tuple[str, ...]]:
    if directory := _PATTERNS.directories.search(text):
        return [("delete", _PLACES[directory.lastgroup or "here"], "recursive")]
    if _PATTERNS.no_files.search(text):
        return []
    named = _PATTERNS.named_folder.search(text)
    if named and named[1] not in _LISTS.no_names:
        return [("delete", named[1], "recursive")]
    tree = ("recursive",) if _PATTERNS.folder.search(text) else ()
    within: frozenset[str] = (
        frozenset() if bulk and _PATTERNS.folder.search(text) else frozenset({"in", "of", "inside", "from", "within"})
    )
    return [
        ("delete", path, *(tree or (("recursive",) if _is_folder(path) else ())))
        for path in _paths(words)[:_MOST]
        if words[words.index(path) - 1].lower() not in within
    ]


_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def _is_folder(path: str) -> bool:
    path = path.replace("\\", "/") if _DRIVE.match(path) else path
    name = path.rstrip("/").rpartition("/")[2]
    return (
        path.endswith("/")
        or path in ("~", "/", ".", "..")
        or name in (".git", ".ssh", ".aws", ".kube")
        or ((path.startswith(("/", "~")) or _DRIVE.match(path) is not None) and "." not in name)
    )


def _paths(words: Tokens) -> list[str]:
    return [
        word
        for word in words
        if (len(word) <= 300 and _PATTERNS.path.match(word))
        or (len(word) <= 120 and _FILE.match(word) and _is_file(word))
    ]


def _is_file(word: str) -> bool:
    """False for a version, a host, or owner/repository."""
    return not _PATTERNS.no_file.fullmatch(word) or _PATTERNS.in_folder.fullmatch(word) is not None
