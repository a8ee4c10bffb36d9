"""Paths that a sentence names -> effects on files; only where verb and path are plain."""

from __future__ import annotations

import re

from interlock.analysis.lexicon.forms import form_of
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.prose.clauses import Tokens
from interlock.analysis.prose.english import EnglishClause

_PATTERNS = Patterns("files")
_LISTS = WordLists("files")

_FILE = re.compile(r"^(?:[\w@+-]+/)*[\w@+.-]*\w\.[A-Za-z]\w{0,9}$|^(?:[\w@+.-]+/){1,}[\w@+.*-]*$|^\*\.\w{1,6}$")
_MOST = 20
_PLACES = {"home": "~", "root": "/", "here": "."}


def file_effects(words: Tokens, clause: EnglishClause) -> list[tuple[str, ...]]:
    """What the clause does to the files that it names."""
    if clause.denied or not _PATTERNS.places.search(clause.text):
        return []
    text = clause.text
    acts = next((at for at, word in enumerate(words) if form_of(word) == "third"), 0)  # not `prune.py deletes …`
    named = _paths(words[acts:])[:_MOST]
    if _PATTERNS.sends.match(text) and _PATTERNS.outward.search(text):
        return [("act_leak", path, "secret") for path in named if _PATTERNS.secret.search(path)]
    if clause.shield == "look":
        return [("read", path, "shown") for path in named] if _PATTERNS.reads.match(text) else []
    if clause.shield == "make":
        if not _PATTERNS.writes.match(text) or clause.head not in _LISTS.own:
            return []
        adds = _PATTERNS.adds.match(text)
        return [("write", path) for path in named if not (adds and _PATTERNS.rc.search(path))]
    if not clause.acts or clause.acts[0].verb not in _LISTS.destroys:
        return []
    if _PATTERNS.killers.search(text):
        return _deleted(words, named, text, bool(clause.acts[0].traits & {"bulk", "all"}))
    if not _PATTERNS.overwrites.search(text):
        return []
    if "contents of" not in text:
        named = [path for path in named if words[words.index(path) - 1].lower() not in _LISTS.within]
    # Saying that a file is overwritten says that it was there; what a build makes can be made again.
    lost = [path for path in named if not _PATTERNS.made.search(path)] if _PATTERNS.loses.search(text) else []
    return [*(("overwrite", path) for path in named), *(("act_delete", path, "one") for path in lost)]


def _deleted(words: Tokens, named: list[str], text: str, bulk: bool) -> list[tuple[str, ...]]:
    if directory := _PATTERNS.directories.search(text):
        return [("delete", _PLACES[directory.lastgroup or "here"], "recursive")]
    if _PATTERNS.no_files.search(text):
        return []
    folder = _PATTERNS.named_folder.search(text)
    if folder and folder[1] not in _LISTS.no_names:
        return [("delete", folder[1], "recursive")]
    tree = _PATTERNS.folder.search(text) is not None
    if not (bulk and tree):
        named = [path for path in named if words[words.index(path) - 1].lower() not in _LISTS.inside]
    trees = {path for path in named if tree or _PATTERNS.tree.fullmatch(path.replace("\\", "/"))}
    return [("delete", path, *(("recursive",) if path in trees else ())) for path in named]


def _paths(words: Tokens) -> list[str]:
    return [
        word
        for word in words
        if not word.isalpha()
        and len(word) <= 300
        and (_PATTERNS.path.match(word) or (len(word) <= 120 and _FILE.match(word) and not _is_other(word)))
    ]


def _is_other(word: str) -> bool:
    """True for a version, a host, or owner/repository."""
    return _PATTERNS.no_file.fullmatch(word) is not None and not _PATTERNS.in_folder.fullmatch(word)
