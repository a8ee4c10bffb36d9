"""Settings among the parameters, at any depth -> effects: deletion, expiry, disabled protection, public access, forwarding."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import object_kind, verb_kind
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.named_effects import NamedAct
from interlock.analysis.operations.effects import CLOUD, Deed, ended_by, ending, rights_to_all
from interlock.analysis.operations.effects import deed as deed_of
from interlock.analysis.operations.names import Words
from interlock.analysis.operations.params import NOTHING as NO_SENSE
from interlock.analysis.operations.params import PLAIN, Sense, sense, squash, truth, walk

_PATTERNS = Patterns("settings")
_LISTS = WordLists("settings")

_OFF = frozenset(
    "false off disabled disable no none suspended inactive essentially_off permissive never 0 deactivated paused unprotected".split()
)
_ON = frozenset("true on enabled enable yes 1 active".split())
_SWITCHES = _OFF | _ON
_NETWORKS = ("prefix", "address", "addresses", "range", "ranges", "cidr", "ip", "ips", "source")
_RIGHTS = ("role", "policy", "permission", "access", "group", "privilege", "name", "grant", "scope", "level")
_ACCOUNTS = ("accountid", "account_id", "accountids", "account_ids", "valuestoadd")
_NOTHING = re.compile(r"[$€£]?0+(?:\.0+)?")
_MOST_TEXT = 20_000
_FEW = 3  # words of a name; more are a sentence


def settings_of(words: Words, act: NamedAct, params: Mapping[str, Any]) -> list[Deed]:
    """Every deed that the settings make of an act which is not one by its name."""
    if not params or act.kind == "read":
        return []
    return _Settings(words, act).read(params)


class _Settings:
    """The settings of one operation, read one by one."""

    def __init__(self, words: Words, act: NamedAct) -> None:
        self.words, self.act = words, act
        self.configures = not act.kind or act.verb in _LISTS.configures
        self.changes = self.configures or act.kind in ("change", "grant")
        self.ends = not act.verb or act.verb in _LISTS.sets
        self.sets_up = act.kind in ("grant", "create", "change")
        self.grants = self.configures or self.sets_up
        self.found: list[Deed] = []

    def read(self, params: Mapping[str, Any]) -> list[Deed]:
        """The deeds, in the order in which the settings stand."""
        deletions = 0
        keeps = not _LISTS.keeping.isdisjoint(self.words)
        for key, value, depth, above in walk(params):
            if depth < 0:
                break
            keeps = keeps or "etention" in key or "xpir" in key
            if not isinstance(value, PLAIN) and isinstance(value, Mapping):
                deletions += self._mapping(key, value, key == above)
                continue
            if isinstance(value, str) and above[-1:].lower() == "s" and _is_deletion(key, value, above):
                deletions += (
                    self.act.verb not in _LISTS.telling and self.act.object != "audit" and "test" not in self.words
                )
            self._setting(key, value, above)
            about = self.configures and squash(above) in _LISTS.fields if depth else self.ends
            if about and (verb := ending(self.act, squash(key), value)):
                self._ended(verb, self.act.object, self.act.noun)
        if deletions:
            self.found.append(("act_delete", ("bulk",) if deletions > 1 else ()))
        if keeps and (self.configures or (self.act.kind == "create" and self.act.noun not in _LISTS.built)):
            self.found += expires(self.words, params)
        self._pair(params)
        if self.sets_up and self.act.object in ("access", "config", "bucket") and rights_to_all(params):
            self.found.append(("act_escalate", ()))
        return self.found

    def _mapping(self, key: str, value: Mapping[str, Any], listed: bool) -> int:
        """A mapping may name a setting and its value; in a list it may be a deletion: {"DeleteRequest": {…}}."""
        self._pair(value)
        return sum(
            isinstance(inner, str)
            and isinstance(item, Mapping)
            and inner.lower().startswith(("delete", "\u0024delete"))
            for inner, item in list(value.items())[:3]
            if listed and len(value) <= 2
        )

    def _pair(self, mapping: Mapping[str, Any]) -> None:
        """{"key": "require_mfa", "value": false}."""
        if not self.configures or len(mapping) > 12:
            return
        named = state = None
        for key, value in mapping.items():
            short = squash(key)
            if short in _LISTS.names and isinstance(value, str) and len(value) < 60:
                named = value
            elif short in _LISTS.states and not isinstance(value, (Mapping, list)):
                state = value
        if named is None or state is None or len(named.split()) > _FEW:
            return
        said = sense(named)
        if (said.guards and is_off(state)) or (said.lifts and is_on(state)):
            self.found.append(("act_override", ()))

    def _setting(self, key: str, value: object, above: str) -> None:
        if isinstance(value, str):
            if len(value) < 20 and value.strip().lower() in _SWITCHES:
                self._switch(key, value, above)
            elif "@" in value[:200]:
                self._forward(key, value)
            if self.grants:
                self._text(key, value, above)
        elif isinstance(value, (list, tuple)):
            self._forward(key, value)
            for item in value[:50] if self.grants else ():
                if isinstance(item, str):
                    self._text(key, item, above)
        else:
            self._switch(key, value, above)
            if self.configures and isinstance(value, (int, float)) and not isinstance(value, bool):
                self._number(squash(key), value)

    def _switch(self, key: str, value: object, above: str) -> None:
        """Something is switched on or off."""
        said = sense(key)
        if said is not NO_SENSE:
            self._said(said, value)
        short = squash(key)
        if self.act.kind in ("change", "") and is_on(value) and (verb := ended_by(short)):
            self._ended(verb, self.act.object, self.act.noun)
        if not self.configures or not is_off(value):
            return
        if short in _LISTS.states:
            if sense("_".join(self.words[:8])).guards or (above and sense(above).guards):
                self.found.append(("act_override", ()))
        elif short in ("private", "isprivate") and value is not None:
            if self.act.object in _LISTS.owned or not {"repo", "repository"}.isdisjoint(self.words):
                self.found.append(("act_escalate", ()))
        elif "logging" in short and not _LISTS.watched.isdisjoint(self.words):
            self.found.append(("act_override", ()))

    def _said(self, said: Sense, value: object) -> None:
        yes = truth(value) is True
        if said.deletes and yes:
            self._deletion(said)
        elif (said.guards and self.configures and is_off(value)) or (
            said.lifts and yes and (self.changes or said.words[0] in ("bypass", "dangerously", "skip"))
        ):
            self.found.append(("act_override", ()))
        elif said.opens and yes and (self.configures or self.act.kind == "grant"):
            if len(said.words) > 1 or self.act.object in _LISTS.owned or self.act.kind == "grant":
                self.found.append(("act_escalate", ()))
        elif said.opens and yes and self.act.verb in _LISTS.puts_out:
            self.found.append(("act_send", ("published",)))
        elif said.ends and yes and self.act.kind in ("change", ""):
            kind, noun = object_kind(said.words[1:])
            self._ended(said.ends, kind or self.act.object, noun if kind else self.act.noun)

    def _ended(self, verb: str, kind: str, noun: str) -> None:
        act = self.act
        self.found.append(deed_of(NamedAct(verb_kind(verb), verb, act.phrase, kind, noun, act.beside, act.at)))

    def _forward(self, key: str, value: object) -> None:
        """Mail that goes to somebody else as well, from now on."""
        if (
            self.act.kind != "send"
            and not _LISTS.mails.isdisjoint(self.words)
            and sense(key).forwards
            and _is_address(value)
        ):
            self.found.append(("act_leak", ()))

    def _deletion(self, said: Sense) -> None:
        if "destroy" in said.words and (
            not CLOUD.isdisjoint(self.words) or not {"tfe", "tfc", "stack", "infra"}.isdisjoint(self.words)
        ):
            self.found.append(("act_terminate", ("all", "project")))
        else:
            self.found.append(
                ("act_delete", ("bulk",) if said.many or "cluster" in self.words or "pool" in self.words else ())
            )

    def _text(self, key: str, value: str, above: str) -> None:
        """A value that lets everybody in, or lets somebody do everything."""
        word, low = value.strip().lower(), key.lower()
        if len(value) > 200 or word[:1] == "{" or "\n" in word:
            self._long(key, value)
        elif self._opens(low, word) or self._gives(above, low, word) or self._grants(squash(key), word, squash(above)):
            self.found.append(("act_escalate", ()))
        elif squash(key) in _LISTS.public_keys and word == "public" and self._puts_out():
            self.found.append(("act_send", ("published",)))
        elif self.changes and squash(key) in _LISTS.verdicts and word in _LISTS.lets_by:
            self.found.append(("act_override", ()))
        elif word.endswith(_LISTS.in_order("mailboxes")) and (self.act.kind == "grant" or self.act.object == "access"):
            self.found.append(("act_escalate", ("shared",)))
        elif self.configures and squash(key) in _LISTS.costs and _NOTHING.fullmatch(word):
            self.found.append(("act_pay", ()))

    def _puts_out(self) -> bool:
        return self.act.verb in _LISTS.puts_out or self.act.noun in _LISTS.out_loud

    def _opens(self, key: str, word: str) -> bool:
        """True for a network or a name that stands for everybody."""
        inward = _LISTS.outward.isdisjoint(self.words)
        if word in _LISTS.world:
            return inward and "dest" not in key and "/" in word
        if word in _LISTS.rights and self.configures:
            return sense(key).opens
        if word == "all" and key.endswith(_ACCOUNTS):
            return self.grants
        if word == "*":
            return inward and "source" in key and key.endswith(_NETWORKS)
        sure = self.configures or self.act.kind == "grant" or self.act.object in ("access", "config")
        return word in _LISTS.anybody and (sure or word.startswith(("all", "system:")))

    def _grants(self, key: str, word: str, above: str) -> bool:
        """Admin rights for somebody, or something opened to everybody; even something new not to the whole network."""
        kind, thing, right = self.act.kind, self.act.object, squash(word)
        if not self.sets_up or (above and above not in _LISTS.holders):
            return False
        if (
            key in _LISTS.admin_keys
            and (kind == "grant" or thing in ("access", "person", "account", "config", "credential", ""))
            and any(admin in right for admin in _LISTS.admin)
        ):
            return "readonly" not in right
        opens = kind != "create" or thing == "access" or "/" in word or word.startswith("all")
        outward = "egress" in self.act.phrase or "outbound" in self.act.phrase
        return opens and key in _LISTS.public_keys and word in _LISTS.public and not outward

    def _gives(self, above: str, key: str, word: str) -> bool:
        """True where the name says that somebody gets a right, and the value that it is all of them."""
        if _LISTS.all_rights.isdisjoint((word, word.rpartition("/")[2])) or not any(part in key for part in _RIGHTS):
            return False
        named = self.act.object == "access" or not _LISTS.access.isdisjoint(self.words)
        return named or "role" in above.lower() + key

    def _long(self, key: str, value: str) -> None:
        """A document in a string: a policy in JSON, a manifest in YAML."""
        if squash(key) not in _LISTS.manifests and "policy" not in key.lower():
            return
        text = value[:_MOST_TEXT]
        if text.lstrip()[:1] == "{":
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):
                return
            if isinstance(parsed, Mapping) and rights_to_all(parsed):
                self.found.append(("act_escalate", ()))
        elif "RoleBinding" in text and (
            "cluster-admin" in text or "system:anonymous" in text or "system:unauthenticated" in text
        ):
            self.found.append(("act_escalate", ()))

    def _number(self, key: str, value: float) -> None:
        """Zero of what runs stops it; zero of a price, or all of it off, gives it away."""
        if value == 0 and key in _LISTS.counts and not key.startswith("min"):
            self.found.append(("act_terminate", ("undoable",)))
        elif (value == 0 and (key in _LISTS.prices or key.endswith("price"))) or (
            value == 100 and key in _LISTS.discounts
        ):
            self.found.append(("act_pay", ()))


def _is_deletion(key: str, value: str, above: str) -> bool:
    """{"Changes": [{"Action": "DELETE", …}]}; a rule of a lifecycle is another matter."""
    return squash(key) in _LISTS.changes and value[:6].lower() == "delete" and squash(above) != "rules"


def _is_address(value: object) -> bool:
    """True for an address of mail, or for several."""
    items = value if isinstance(value, (list, tuple)) else (value,)
    return any(isinstance(item, str) and "@" in item and " " not in item.strip() for item in items[:20])


def is_off(value: object) -> bool:
    """True for a value that switches off."""
    if isinstance(value, str):
        return value.strip().lower() in _OFF
    return value is False or value is None or (isinstance(value, int) and value == 0)


def is_on(value: object) -> bool:
    """True for a value that switches on."""
    if isinstance(value, str):
        return value.strip().lower() in _ON
    return value is True or value == 1


_SOON = 8 * 86_400  # seconds: what is deleted within a week was never to be kept
_SHORT = 86_400
_HOUR = 3600
_PER: Mapping[str, float] = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, "": 86_400}
_AMOUNT = re.compile(r"\s*(\d{1,15})\s*(ms|min|s|m|h|d|w|)[a-z]{0,8}\s*$", re.IGNORECASE)
_BORN = ("creat", "updat", "insert", "birth", "timestamp", "modif")


def expires(words: tuple[str, ...], params: Mapping[str, Any]) -> list[Deed]:
    """The deletions that a rule of keeping brings soon."""
    about = not _LISTS.keeping.isdisjoint(words)
    named = deletes = passing = passes = born = False
    soonest = float("inf")
    for key, value, depth, above in walk(params):
        if depth < 0:
            break
        short, upper = squash(key), squash(above)
        if about and isinstance(value, str) and short in ("attributename", "attribute", "field", "column"):
            named = named or value.lower().startswith(_BORN)
        if isinstance(value, str) and short in _LISTS.kept_under:
            passing = passing or bool(value and _PATTERNS.passing.search(value[:200]))
        said = str(value).lower()[:12]
        if "expiration" in (short, upper) or short == "delete" or said in ("delete", "expire", "purge"):
            deletes = True
        if short.startswith("expireafter") and isinstance(value, (int, float)) and 0 < value <= _HOUR:
            passes = True
        born = born or (upper in ("keys", "key", "fields") and short.startswith(_BORN))
        counted = short in _LISTS.ages or short in ("period", "value")
        seconds = _seconds(short, value, "retention" in short or (about and counted))
        if seconds is not None and "abort" not in upper and "transition" not in upper and "noncurrent" not in upper:
            if seconds <= _SHORT and ("retention" in short or ("retention" in words and counted)):
                return [("act_delete", ("bulk",))]
            soonest = min(soonest, seconds)
    if named or (passes and born) or (about and deletes and (soonest < _SHORT or (soonest < _SOON and not passing))):
        return [("act_delete", ("bulk",))]
    return []


def _seconds(key: str, value: object, counts: bool) -> float | None:
    """How long a value says, in seconds."""
    if not counts or isinstance(value, bool) or value is None:
        return None
    unit = next((unit for ending, unit in _ENDINGS if key.endswith(ending)), "")
    if isinstance(value, (int, float)):
        return value * _PER[unit]
    found = _AMOUNT.match(value) if isinstance(value, str) else None
    return float(found[1]) * _PER[found[2].lower() or unit] if found else None


_ENDINGS = (("ms", "ms"), ("seconds", "s"), ("secs", "s"), ("minutes", "min"), ("hours", "h"), ("weeks", "w"))


def out_of_bounds(name: str, input: Mapping[str, Any], out: Report) -> None:
    """A call that asks to run without what usually holds it back."""
    for key, value in list(input.items())[:200]:
        short, word = squash(key), str(value).lower()[:40] if isinstance(value, str) else ""
        asked = short in _LISTS.unguarded or short.startswith(("bypass", "dangerously"))
        refused = short in ("usesandbox", "requireapproval") and truth(value) is False
        opened = short in ("sandbox", "sandboxmode") and word in ("danger-full-access", "none", "off", "disabled")
        if (asked and truth(value)) or refused or opened or (short == "sandboxpermissions" and "escalated" in word):
            out.effect("act_override", f"sandbox of {name}"[:200], "forced")
