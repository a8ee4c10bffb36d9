"""Kind of verb x kind of object -> the announced effect, in any language; joins one clause's fetching with the next one's running."""

from __future__ import annotations

import re

from msgspec import Struct

from interlock.analysis.lexicon.load import english
from interlock.analysis.prose.english import OUTWARD, SECRETS

Traits = frozenset[str]
NOTHING: Traits = frozenset()


class AnnouncedAct(Struct, frozen=True):
    """One thing that a sentence announces."""

    verb: str
    target: str = ""
    traits: Traits = NOTHING

    @property
    def harmful(self) -> bool:
        return self.verb not in ("act_change", "act_read", "act_vague") or "mutates" in self.traits


def act(kind: str, thing: str, target: str, traits: Traits) -> AnnouncedAct:
    """What a verb of this kind does to a thing of this kind, with everything that is known about it."""
    effect, traits = english().effect(kind, thing, traits)
    if effect == "act_send" and traits.isdisjoint(_SEVERAL):
        effect = "act_change"
    if traits.isdisjoint(_SEVERAL):
        traits = traits | {"one"}
    return AnnouncedAct(effect, target[:120], traits - {"admin", "public"})


_SEVERAL: Traits = frozenset({"all", "bulk"})
_FETCHES = re.compile(
    r"\b(?:decod|unpack|decrypt|deobfuscat|decompress|gunzip)\w*\b.{0,60}\b(?:string|payload|blob|text|base64|content|script|body|attachment|message)\b|"
    r"\b(?:download|fetch|curl|wget|grab|pull|retriev|clon|get)\w*\b.{0,80}(?:\b|(?<=\s))(?:scripts?|binary|installer|payload|executable|exe|file|code|https?:|program|tool|image|package|attachment|gist|module|\S+\.(?:sh|exe|py|ps1|bin|run|deb|rpm|msi|dmg|pkg|jar|apk|bat))\b"
)
_RUNS_IT = re.compile(
    r"^(?:then |and |immediately |directly |right away |straight |just |simply )*(?:run|execut|launch|eval|start|sourc|pip|install|load|double-?click|open|invoke-expression|iex|exec)\w* (?:it|them|the|that|this|whatever)\b(?! (?:tests?|linter|build|docs?|page))"
    r"|^(?:then |and )*(?:hand|pip|feed|pass|giv|throw|send|stream)\w* (?:it|them|that|the (?:result|output|decoded \w+)) (?:\w+ly |straight |right )?(?:in|on)?to (?:a |the |an )?(?:root )?(?:sh|bash|zsh|shell|python3?|perl|node|ruby|powershell|eval|iex|interpreter)\b"
    r"|^(?:then |and )*(?:mak\w* it executable|chmod \+x)|^(?:then |and )*(?:invoke-expression|iex|exec|eval)\b"
)
_SENSITIVE = re.compile(SECRETS)
_SENDS_IT = re.compile(
    r"^(?:then |and |immediately |directly |just |simply |i |will )*(?:send|upload|post|publish|shar|past|forward|cop|export|transmit|e?-?mail|push|put|sync|stream|scp|rsync|curl|ftp|attach|hand|giv|mov|drop|beam|ship|plac|commit|mirror|stick|text|pass|append|tack|includ|embed)\w* "
    r"(?:it|them|that|this|the (?:\w+ )?(?:file|files|result|results|output|archive|dump|copy|zip|tarball|export|contents?|values?|list|lot|data))\b.{0,60}(?:"
    + OUTWARD
    + r"|\b(?:request|call|beacon|query string|pixel) to (?!localhost)\S+\.\w{2,})"
)


class Carried:
    """Remembers the clauses in front."""

    def __init__(self) -> None:
        self.before: list[str] = []

    def follow(self, text: str, speaks: bool, denied: bool) -> AnnouncedAct | None:
        """The act that this clause completes, if it does; `speaks` when the clause only speaks of something."""
        if denied:
            return None
        found: AnnouncedAct | None = None
        if not speaks and self._had(_FETCHES, _RUNS_IT, text):
            found = AnnouncedAct("act_run", text[:120])
        elif self._had(_SENSITIVE, _SENDS_IT, text):
            found = AnnouncedAct("act_leak", text[:120], frozenset({"secret"}))
        self.before = [*self.before[-_REACH:], text[:_LONGEST]]
        return found

    def _had(self, earlier: re.Pattern[str], now: re.Pattern[str], text: str) -> bool:
        return bool(self.before) and now.match(text) is not None and any(earlier.search(one) for one in self.before)


_REACH = 8  # clauses
_LONGEST = 1_000
