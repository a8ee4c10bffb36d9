"""Paths that a sentence names -> effects on files; only where verb and path are plain."""

from __future__ import annotations

import re

from interlock.analysis.lexicon.lists import Patterns, WordLists
from interlock.analysis.prose.clauses import Tokens
from interlock.analysis.prose.embedded import MARK
from interlock.analysis.prose.english.clause import EnglishClause, thing_of

_PATTERNS = Patterns("files")
_LISTS = WordLists("files")

_PATH = re.compile(
    r"^(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w@%+=:,./\\*~$-]*$|^~$|^\.(?:git|ssh|env|aws|kube|gnupg|config|venv|bashrc|zshrc|npmrc)\b[\w./-]*$"
)
_FILE = re.compile(r"^(?:[\w@+-]+/)*[\w@+.-]*\w\.[A-Za-z]\w{0,9}$|^(?:[\w@+.-]+/){1,}[\w@+.*-]*$|^\*\.\w{1,6}$")
_DIRECTORIES = (
    (re.compile(r"\bhome (?:directory|folder|dir)\b|\b(?:my|the user's|entire) home\b"), "~"),
    (
        re.compile(
            r"\broot (?:directory|folder|filesystem|file system|dir)\b|\b(?:entire|whole) (?:file ?system|system drive|server disk)\b"
        ),
        "/",
    ),
    (
        re.compile(
            r"\b(?:working|current|project|source|repo|repository|this) (?:directory|folder|dir|tree|checkout|copy)\b"
        ),
        ".",
    ),
)
_FOLDER = re.compile(r"\b(?:folder|directory|dir|tree|recursively|everything|contents|whatever)\b")
_OVERWRITES = re.compile(r"\b(?:overwrit|clobber|replac|truncat)\w*")
_READS = re.compile(
    r"^(?:i'?m |i will |now |first |then )*(?:read|reading|open|opening|view|viewing|cat|print|printing|show|showing|load|loading|inspect|inspecting|check|checking)\b"
)
_WRITES = re.compile(
    r"^(?:i'?m |i will |now |first |then )*(?:writ|sav|creat|add|append|updat|edit|modify|insert|chang|put)\w*"
)
_NO_FILES = re.compile(r"\b(?:branch|branches|tag|repo|repository|bucket|image|namespace|package|table|issue)\b")
_NAMED_FOLDER = re.compile(r"\b(?:the|whole|entire|my|our) ([\w./~-]*[\w]) (?:directory|folder|dir)\b")
_PLACES = re.compile(
    r"[/\\~*.]|director|folder|\b(?:dir|home|tree|checkout|copy)\b|file ?system|drive|disk"
)  # one is in every clause about files
_MOST = 20


def file_effects(words: Tokens, clause: EnglishClause) -> list[tuple[str, ...]]:
    """What the clause does to the files that it names."""
    if clause.denied or not _PLACES.search(clause.text):
        return []
    text = (
        clause.text
        if MARK not in clause.text
        else " ".join([word for word in clause.text.split(" ") if MARK not in word])
    )
    if _PATTERNS.sends.match(text) and _PATTERNS.outward.search(text):
        return [("act_leak", path, "secret") for path in _paths(words)[:_MOST] if _PATTERNS.secret.search(path)]
    if clause.shield == "look":
        return [("read", path) for path in _paths(words)[:_MOST]] if _READS.match(text) else []
    if clause.shield == "make":
        return (
            [("write", path) for path in _paths(words)[:_MOST] if not (_ADDS.match(text) and _RC.search(path))]
            if _WRITES.match(text) and clause.head in _OWN
            else []
        )
    if (
        clause.acts
        and clause.acts[0].verb in _LISTS.destroys
        and not ((thing := thing_of(words, clause)).kind in ("code", "account") and thing.direct)
    ):
        if _PATTERNS.killers.search(text):
            return _deleted(words, text, "bulk" if clause.acts[0].traits & {"bulk", "all"} else "")
        if _OVERWRITES.search(text):
            kept = [
                ("overwrite", path)
                for path in _paths(words)[:_MOST]
                if words[words.index(path) - 1].lower() not in _LISTS.within or "contents of" in text
            ]
            lost = [("act_delete", path, "one") for _, path in kept if _LOSES.search(text) and not _MADE.search(path)]
            return [*kept, *lost]
    return []


# A line more in a file of settings is no harm; what such a line runs is read elsewhere.
_ADDS = re.compile(
    r"^(?:i'?m |i will |now |first |then )*(?:add|insert|append)\w* (?:an? |one |the |some )?(?:\w+ )?(?:lines?|alias\w*|entry|entries|variables?|exports?|settings?|comments?|functions?)\b"
)
_RC = re.compile(
    r"(?:^|/)\.(?:zshrc|bashrc|profile|bash_profile|vimrc|gitconfig|inputrc|tmux\.conf|editorconfig|zprofile|bash_aliases)$"
)
# Saying that a file is overwritten says that it was there; what a build makes can be made again.
_LOSES = re.compile(r"\b(?:overwrit|clobber)\w*")
_MADE = re.compile(
    r"(?:^|/)(?:dist|build|out|target|tmp|coverage|node_modules|__snapshots__|generated|fixtures?)/|\.(?:snap|lock|min\.js|log|tmp|map)$"
)
_OWN = frozenset("write save create add insert store".split())


def _deleted(words: Tokens, text: str, bulk: str) -> list[tuple[str, ...]]:
    for pattern, place in _DIRECTORIES:
        if pattern.search(text):
            return [("delete", place, "recursive")]
    if _NO_FILES.search(text):
        return []
    named = _NAMED_FOLDER.search(text)
    if named and named[1] not in _LISTS.no_names:
        return [("delete", named[1], "recursive")]
    tree = ("recursive",) if _FOLDER.search(text) else ()
    within: frozenset[str] = (
        frozenset() if bulk and _FOLDER.search(text) else frozenset({"in", "of", "inside", "from", "within"})
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
        if (len(word) <= 300 and _PATH.match(word))
        or (len(word) <= 120 and _FILE.match(word) and _plain_file(words, word))
    ]


def _plain_file(words: Tokens, word: str) -> bool:
    """True for a file's name: not a version, a host, or owner/repository."""
    if re.fullmatch(r"[\w-]+/[\w-]+", word) or re.fullmatch(
        r"v?\d[\d.]*\w?|[\w.-]+\.(?:com|org|net|io|ai|dev|app|co|us|de)", word
    ):
        return bool(
            re.fullmatch(
                r"(?:src|lib|docs|tests?|app|build|dist|data|config|scripts|notes|public|assets|logs|tmp|backups?|uploads|migrations)/[\w-]+",
                word,
            )
        )
    return True
