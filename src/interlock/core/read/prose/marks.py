"""The mark that stands in a sentence for something embedded, and what it stands for."""

from __future__ import annotations

from dataclasses import dataclass

MARK = "\ue000"  # a private character; normalising took all others of its kind away


@dataclass(frozen=True, slots=True)
class Embedded:
    """Something in another language than the sentence's own."""

    kind: str  # shell, sql, code, http, call, json, quote
    text: str
    extra: str = ""  # the language of code, the verb of a request, the arguments of a call
