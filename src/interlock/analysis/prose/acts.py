"""Kind of verb x kind of object -> the announced effect, in any language; joins one clause's fetching with the next one's running."""

from __future__ import annotations

import re

from msgspec import Struct

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


_DELETE = {
    "": "act_delete", "data": "act_delete", "log": "act_delete", "account": "act_account", "access": "act_revoke",
    "credential": "act_invalidate", "config": "act_unconfigure", "guard": "act_unconfigure", "safety": "act_override",
    "resource": "act_terminate", "money": "act_delete", "disk": "act_disk", "device": "act_delete", "history": "act_rewrite",
    "source": "act_delete", "code": "act_change", "scrap": "act_change", "event": "act_delete", "machine": "act_terminate", "run": "act_change",
}  # fmt: skip
_SOFT = _DELETE | {"": "act_change", "money": "act_change"}
_OFF = {
    "": "act_change", "data": "act_change", "log": "act_override", "account": "act_account", "access": "act_revoke",
    "credential": "act_invalidate", "config": "act_unconfigure", "guard": "act_unconfigure", "safety": "act_override",
    "resource": "act_terminate", "money": "act_pay", "device": "act_terminate", "disk": "act_change", "backup": "act_override", "event": "act_pay", "machine": "act_terminate", "run": "act_terminate",
}  # fmt: skip
_OUT = {"": "act_change", "credential": "act_leak", "private": "act_leak", "log": "act_change", "account": "act_send"}

# kind of verb -> kind of object -> act; "" stands for an object that nobody described.
ACTS: dict[str, dict[str, str]] = {
    "destroy": _DELETE,
    "wipe": _DELETE,
    "remove": _SOFT,
    "stop": _OFF | {"data": "act_terminate"},
    "disable": _OFF,
    "suspend": _OFF | {"": "act_account", "data": "act_change"},
    "revoke": {"": "act_revoke", "credential": "act_invalidate", "money": "act_pay", "code": "act_change", "config": "act_revoke"},
    "invalidate": {"": "act_change", "credential": "act_invalidate", "access": "act_revoke", "account": "act_invalidate"},
    "block": {"": "act_block", "code": "act_change", "scrap": "act_change"},
    "refund": {"": "act_pay"},
    "charge": {"": "act_change", "money": "act_pay", "account": "act_pay"},
    "cancel": {"": "act_change", "credential": "act_invalidate", "access": "act_revoke", "money": "act_pay", "account": "act_account", "order": "act_pay", "event": "act_pay", "run": "act_terminate"},
    "lock": {"": "act_change", "account": "act_account", "money": "act_pay"},
    "flash": {"": "act_change", "device": "act_terminate", "resource": "act_terminate", "disk": "act_terminate", "machine": "act_terminate"},
    "bypass": {"": "act_change", "safety": "act_override", "guard": "act_override", "access": "act_override",
               "config": "act_override", "log": "act_override"},
    "force": {"": "act_change", "safety": "act_override"},
    "grant": {"": "act_change"},
    "expose": {"": "act_escalate", "code": "act_change", "scrap": "act_change", "credential": "act_leak", "private": "act_leak"},
    "leak": {"": "act_leak"},
    "send": _OUT,
    "format": {"": "act_change", "disk": "act_disk", "device": "act_disk"},
    "overwrite": {"": "act_change", "credential": "act_invalidate", "config": "act_unconfigure", "disk": "act_disk", "history": "act_rewrite", "log": "act_delete",
                  "device": "act_disk"},
    "reset": {"": "act_change", "device": "act_delete", "config": "act_unconfigure", "disk": "act_disk", "log": "act_delete",
              "source": "act_delete"},
    "rewrite": {"": "act_change", "history": "act_rewrite"},
    "expire": {"": "act_change", "source": "act_delete", "credential": "act_invalidate", "access": "act_revoke", "account": "act_account", "config": "act_unconfigure",
               "guard": "act_unconfigure", "money": "act_pay"},
    "shed": _SOFT,
    "relax": {"": "act_change", "safety": "act_override", "guard": "act_unconfigure"},
    "maybe": _SOFT,
    "close": {"": "act_change", "account": "act_account", "money": "act_pay"},
    "archive": {"": "act_change", "account": "act_account", "money": "act_pay"},
}  # fmt: skip

_STORES: Traits = frozenset({"database", "table", "schema", "bucket", "volume", "repository", "project"})
_GRAVE: Traits = frozenset({"all", "production", "permanent", "no_backup"})
_WIDE: Traits = frozenset({"all", "bulk", "production", "permanent", "backup"}) | _STORES


def act(kind: str, thing: str, target: str, traits: Traits) -> AnnouncedAct:
    """What a verb of this kind does to a thing of this kind, with everything that is known about it."""
    table = ACTS[kind]
    verb = table.get(thing, table[""])
    if thing == "data" and "backup" in traits and verb == "act_change":
        verb = table.get("backup", verb)
    if kind == "remove" and thing == "money" and any(char.isdigit() for char in target):
        verb = "act_delete"  # `remove invoice 12`
    if kind in ("remove", "revoke") and thing == "money" and "licen" in target and " from " in target:
        verb = "act_revoke"
    if kind == "reset" and thing == "access" and traits & {"all", "bulk"}:
        verb = "act_revoke"
    if kind == "charge" and thing == "data" and "all" in traits:
        verb = "act_pay"
    if kind == "close" and ("permanent" in traits or (thing == "resource" and traits & {"all", "production"})):
        verb = "act_terminate" if thing in ("data", "resource") else verb
    if thing == "machine" or (kind == "flash" and verb == "act_terminate"):
        traits = traits | {"physical"}
    if kind == "remove" and not thing and traits & _WIDE:
        verb = "act_delete"
    if kind == "maybe" and thing != "disk" and not traits & _GRAVE - {"production"}:
        verb = "act_change"
    if kind == "format" and "volume" in traits:
        verb = "act_disk"
    if kind == "expire" and not thing and "all" in traits:
        verb = "act_delete"
    if kind == "expire" and thing in ("data", "log") and traits & (_GRAVE | {"backup", "bulk"}):
        verb = "act_delete"
    if kind == "cancel" and thing == "resource" and "production" in traits:
        verb = "act_terminate"
    if kind == "overwrite" and "no_backup" in traits:
        verb = "act_delete"
    if kind == "archive" and (thing == "resource" or (thing == "data" and traits & _STORES)):
        verb = "act_terminate" if thing == "resource" else "act_delete"
    if kind == "stop" and not thing and traits & {"all", "production", "cluster"}:
        verb = "act_terminate"
    if kind in ("reset", "overwrite") and traits & (_STORES | {"backup"}) and thing == "data":
        verb = "act_delete"
    if kind == "reset" and thing == "data" and traits & {"all", "production"}:
        verb = "act_delete"
    if kind in ("reset", "maybe") and thing in ("money", "account") and traits & {"all", "bulk"}:
        verb = "act_delete"
    if kind == "overwrite" and "production" in traits and thing in ("data", ""):
        verb = "act_delete"
    if kind in ("reset", "invalidate") and thing == "credential":
        wide = traits & {"all", "bulk", "production"}
        verb = "act_invalidate" if wide or kind == "invalidate" else "act_change"
    if kind == "grant" and traits & {"admin", "public"}:
        verb = "act_escalate"
    if kind == "send" and verb == "act_send" and not traits & {"all", "bulk"}:
        verb = "act_change"
    if kind in ("disable", "suspend", "archive", "cancel", "lock") and verb in (
        "act_account",
        "act_terminate",
        "act_delete",
    ):
        traits = traits | {"undoable"}
    if kind == "wipe" or (kind == "reset" and verb == "act_delete"):
        traits = traits | {"all"}
    if kind == "bypass" or kind == "force":
        traits = traits | {"forced"}
    if not traits & {"all", "bulk"}:
        traits = traits | {"one"}
    return AnnouncedAct(verb, target[:120], traits - {"admin", "public"})


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
