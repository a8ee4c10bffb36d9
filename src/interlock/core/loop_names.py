"""What is the operation of a hint called? The one it names, or the command it runs, in the form that operations have (LC-05)."""

from __future__ import annotations

import hashlib
import re

from interlock.core.read.confusables import plain
from interlock.core.read.lexicon import VOCABULARY, split_name
from interlock.core.read.operation_names import may_be_operation
from interlock.core.titles import Titles

_WORD = re.compile(r"(?<![\w./-])[A-Za-z][\w.:/-]*\w")
_SUBCOMMAND = re.compile(r"[a-z][a-z-]{1,30}")  # no values: what is given to a command may be a secret
_OTHER = re.compile(r"[^a-z0-9]+")
_LOOKED_AT = 2_000  # characters
_LONGEST = 100


def operation_named(hint: str, named: Titles) -> str:
    """The operation or the command that a hint names; empty where it is only prose."""
    if named.commands:
        program, *words = named.commands[0]
        return _form("_".join([program, *words[:1]]) if words and _SUBCOMMAND.fullmatch(words[0]) else program)
    for found in _WORD.finditer(plain(hint[:_LOOKED_AT], VOCABULARY)):
        if not may_be_operation(found[0]):
            continue
        name = _form("_".join(word for segment in split_name(found[0]) for word in segment))
        if any(title == name or title.startswith(f"{name}_") for title in named.operations):
            return name
    return ""


def counted_as(hint: str, named: Titles) -> str:
    """What repetition is counted by: the operation, or the verb and the noun of what is announced; as a hash, for it is kept."""
    title = named.operations[0] if named.operations else hint.casefold()
    what = operation_named(hint, named) or "_".join(_form(title).split("_")[:2])
    return hashlib.sha256(what.encode()).hexdigest()[:16]


def _form(name: str) -> str:
    """Lowercase words with `_` between them, beginning with a letter."""
    return _OTHER.sub("_", name.rpartition("/")[2].lower()).strip("_0123456789")[:_LONGEST]
