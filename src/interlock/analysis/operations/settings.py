"""Settings among the parameters, at any depth -> effects: deletion, expiry, disabled protection, public access, forwarding."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import object_kind, verb_kind
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.named_effects import NamedAct
from interlock.analysis.operations.effects import CLOUD, Deed, deed, ended_by, ending, rights_to_all
from interlock.analysis.operations.names import Words
from interlock.analysis.operations.params import PLAIN, Entry, Sense, sense, squash, truth, walk

_PATTERNS = Patterns("settings")
_LISTS = WordLists("settings")

_MOST_TEXT = 20_000
_OVERRIDE: Deed = ("act_override", ())
_ESCALATE: Deed = ("act_escalate", ())
_PUBLISH: Deed = ("act_send", ("published",))
_PAY: Deed = ("act_pay", ())
_FREE = re.compile(r"0+(?:\.0+)?")


def settings_of(words: Words, act: NamedAct, params: Mapping[str, Any], entries: list[Entry]) -> list[Deed]:
    """Every deed that the settings make of an act which is not one by its name."""
    return [] if act.kind == "read" else _Settings(words, act).read(params, entries)


class _Settings:
    """The settings of one operation, read one by one."""

    def __init__(self, words: Words, act: NamedAct) -> None:
        self.words, self.act = words, act
        self.configures = not act.kind or act.verb in _LISTS.configures
        self.sets_up = act.kind in ("grant", "create", "change")
        self.changes = self.configures or act.kind in ("change", "grant")
        self.opens = self.configures or act.kind == "grant"
        self.puts_out = act.verb in _LISTS.puts_out or act.noun in _LISTS.out_loud
        self.inward = _LISTS.outward.isdisjoint(words)
        self.found: list[Deed] = []

    def read(self, params: Mapping[str, Any], entries: list[Entry]) -> list[Deed]:
        """The deeds, in the order in which the settings stand."""
        act, deletions = self.act, 0
        keeps = not _LISTS.keeping.isdisjoint(self.words)
        self._pair(params)
        for short, key, value, depth, above in entries:
            keeps = keeps or "retention" in short or "expir" in short
            if not isinstance(value, PLAIN) and isinstance(value, Mapping):
                self._pair(value)
                deletions += self._listed_deletions(value) if key == above and len(value) <= 2 else 0
                continue
            if isinstance(value, str) and above[-1:].lower() == "s":
                deletions += self._is_deletion(short, value, squash(above))
            self._setting(key, short, value, above)
            about = self.configures and squash(above) in _LISTS.fields if depth else act.verb in _LISTS.sets
            if (about or not act.verb) and (verb := ending(act, short, value)):
                self._ended(verb, act.object, act.noun)
        if deletions:
            self.found.append(("act_delete", ("bulk",) if deletions > 1 else ()))
        if keeps and (self.configures or (act.kind == "create" and act.noun not in _LISTS.built)):
            self.found += expires(self.words, entries)
        if self.sets_up and act.object in ("access", "config", "bucket") and rights_to_all(entries):
            self.found.append(_ESCALATE)
        return self.found

    def _is_deletion(self, key: str, value: str, above: str) -> bool:
        """{"Changes": [{"Action": "DELETE", …}]}; a rule of a lifecycle is another matter."""
        told = self.act.verb in _LISTS.telling or self.act.object == "audit" or "test" in self.words
        return key in _LISTS.changes and value[:6].lower() == "delete" and above != "rules" and not told

    @staticmethod
    def _listed_deletions(item: Mapping[str, Any]) -> int:
        """In a list a mapping may be a deletion: {"DeleteRequest": {…}}."""
        return sum(
            str(key).lower().startswith(("delete", "$delete")) and isinstance(held, Mapping)
            for key, held in item.items()
        )

    def _pair(self, mapping: Mapping[str, Any]) -> None:
        """{"key": "require_mfa", "value": false}."""
        if not self.configures or len(mapping) > 12:
            return
        named = state = None
        for key, value in mapping.items():
            short = squash(key)
            if short in _LISTS.names and isinstance(value, str) and value.count(" ") < 3:  # more words are a sentence
                named = value[:60]
            elif short in _LISTS.states and isinstance(value, PLAIN):
                state = value
        if named is not None and state is not None:
            said = sense(named)
            if (said.guards and is_off(state)) or (said.lifts and is_on(state)):
                self.found.append(_OVERRIDE)

    def _setting(self, key: str, short: str, value: object, above: str) -> None:
        if isinstance(value, (list, tuple)):
            for text in value[:50]:
                if isinstance(text, str):
                    self._word(key, short, text, above)
            if self.configures and not value and short in _LISTS.required:
                self.found.append(_OVERRIDE)
        elif isinstance(value, str):
            if value.strip().lower() in _LISTS.off or value.strip().lower() in _LISTS.on:
                self._switch(key, short, value, above)
            self._word(key, short, value, above)
        else:
            if not value or value == 1:
                self._switch(key, short, value, above)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self._number(short, value)

    def _switch(self, key: str, short: str, value: object, above: str) -> None:
        """Something is switched on or off."""
        self._said(sense(key), value)
        if self.act.kind in ("change", "") and is_on(value) and (verb := ended_by(short)):
            self._ended(verb, self.act.object, self.act.noun)
        if not self.configures or not is_off(value):
            return
        if short in _LISTS.states:
            if sense("_".join(self.words[:8])).guards or sense(above).guards:
                self.found.append(_OVERRIDE)
        elif short in ("private", "isprivate"):
            owned = self.act.object in _LISTS.owned or not {"repo", "repository"}.isdisjoint(self.words)
            if owned and value is not None:
                self.found.append(_ESCALATE)
        elif "logging" in short and not _LISTS.watched.isdisjoint(self.words):
            self.found.append(_OVERRIDE)

    def _said(self, said: Sense, value: object) -> None:
        """What a yes or a no means under a name that says something."""
        if said.guards and self.configures and is_off(value):
            self.found.append(_OVERRIDE)
        elif truth(value) is not True:
            return
        elif said.deletes:
            whole = not CLOUD.isdisjoint(self.words) or not _LISTS.stacks.isdisjoint(self.words)
            many = said.many or not {"cluster", "pool"}.isdisjoint(self.words)
            all_of_it: Deed = ("act_terminate", ("all", "project"))
            self.found.append(
                all_of_it if whole and "destroy" in said.words else ("act_delete", ("bulk",) if many else ())
            )
        elif said.lifts and (self.changes or said.words[0] in ("bypass", "dangerously", "skip")):
            self.found.append(_OVERRIDE)
        elif said.opens and self.opens:
            if len(said.words) > 1 or self.act.object in _LISTS.owned or self.act.kind == "grant":
                self.found.append(_ESCALATE)
        elif said.opens and self.act.verb in _LISTS.puts_out:
            self.found.append(_PUBLISH)
        elif said.ends and self.act.kind in ("change", ""):
            kind, noun = object_kind(said.words[1:])
            self._ended(said.ends, kind or self.act.object, noun if kind else self.act.noun)

    def _ended(self, verb: str, kind: str, noun: str) -> None:
        act = self.act
        self.found.append(deed(NamedAct(verb_kind(verb), verb, act.phrase, kind, noun, act.beside, act.at)))

    def _word(self, key: str, short: str, value: str, above: str) -> None:
        """A value that forwards mail, lets everybody in, lets somebody do everything, or gives something away."""
        act, word = self.act, value.strip().lower()
        if "@" in word and " " not in word and act.kind != "send":
            if not _LISTS.mails.isdisjoint(self.words) and sense(key).forwards:
                self.found.append(("act_leak", ()))
        if not (self.configures or self.sets_up):
            return
        if ("{" in value or ":" in value) and _PATTERNS.open_rules.search(value[:_MOST_TEXT]):
            self.found.append(_ESCALATE)
        elif len(value) > 200 or word[:1] == "{" or "\n" in word:
            if _gives_all(key, short, value[:_MOST_TEXT]):
                self.found.append(_ESCALATE)
        elif self._opens(key.lower(), word) or self._gives(short, word, above) or self._admits(short, word, above):
            self.found.append(_ESCALATE)
        elif (word == "public" and _says_who(short) and self.puts_out) or self._is_live(short, word):
            self.found.append(_PUBLISH)
        elif self.changes and short in _LISTS.verdicts and word in _LISTS.lets_by:
            self.found.append(_OVERRIDE)
        elif word.endswith(_LISTS.in_order("mailboxes")) and (act.kind == "grant" or act.object == "access"):
            self.found.append(("act_escalate", ("shared",)))
        elif self.configures and _is_price(short) and _FREE.fullmatch(word):
            self.found.append(_PAY)

    def _is_live(self, key: str, word: str) -> bool:
        """{"status": "published"}."""
        return key.endswith("status") and word in ("publish", "published") and (self.configures or self.puts_out)

    def _opens(self, key: str, word: str) -> bool:
        """True for a network or a name that stands for everybody."""
        if word in _LISTS.world:
            return self.inward and "dest" not in key and "/" in word
        if word in ("*", "internet"):
            return self.inward and "source" in key and key.endswith(_LISTS.in_order("networks"))
        if word == "all" and squash(key) in _LISTS.accounts:
            return True
        if word in _LISTS.rights:
            return self.configures and sense(key).opens
        sure = self.opens or self.act.object in ("access", "config") or word.startswith(("all", "system:"))
        return word in _LISTS.anybody and sure

    def _gives(self, key: str, word: str, above: str) -> bool:
        """True where the name says that somebody gets a right, and the value that it is all of them."""
        if word.rpartition("/")[2] not in _LISTS.all_rights or not any(part in key for part in _LISTS.right_keys):
            return False
        named = self.act.object == "access" or not _LISTS.access.isdisjoint(self.words)
        return named or "role" in above.lower() + key

    def _admits(self, key: str, word: str, above: str) -> bool:
        """Admin rights for somebody, or something opened to everybody; even something new not to the whole network."""
        kind, thing, right = self.act.kind, self.act.object, squash(word)
        if not self.sets_up or (above and squash(above) not in _LISTS.holders):
            return False
        if key in _LISTS.admin_keys and (kind == "grant" or thing in _LISTS.admitted or not thing):
            if any(admin in right for admin in _LISTS.admin):
                return "readonly" not in right
        opens = kind != "create" or thing == "access" or "/" in word or word.startswith("all")
        return opens and _says_who(key) and word in _LISTS.public and self.inward

    def _number(self, key: str, value: float) -> None:
        """Zero of what runs stops it; zero of a price, or all of it off, gives it away."""
        if value == 100 and key in _LISTS.discounts and (self.configures or self.act.kind == "create"):
            self.found.append(_PAY)
        elif value == 0 and self.configures:
            if key in _LISTS.counts:
                self.found.append(("act_terminate", ("undoable",)))
            elif _is_price(key):
                self.found.append(_PAY)


def _says_who(key: str) -> bool:
    """True for a parameter that says who may see or use something."""
    return key in _LISTS.public_keys or any(piece in key for piece in _LISTS.seen_by)


def _is_price(key: str) -> bool:
    return key in _LISTS.prices or key.endswith("price")


def _gives_all(key: str, short: str, text: str) -> bool:
    """True for a document in a string that gives all rights: a policy in JSON, a manifest in YAML."""
    if short not in _LISTS.manifests and "policy" not in key.lower():
        return False
    if text.lstrip()[:1] != "{":
        return "RoleBinding" in text and any(right in text for right in _LISTS.bound)
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(parsed, Mapping) and rights_to_all(walk(parsed))


def is_off(value: object) -> bool:
    """True for a value that switches off."""
    return value.strip().lower() in _LISTS.off if isinstance(value, str) else not value


def is_on(value: object) -> bool:
    """True for a value that switches on."""
    return value.strip().lower() in _LISTS.on if isinstance(value, str) else value == 1


_SOON = 8 * 86_400  # seconds: what is deleted within a week was never to be kept
_SHORT = 86_400
_HOUR = 3600
_PER: Mapping[str, float] = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, "": 86_400}
_ENDINGS = (("ms", "ms"), ("seconds", "s"), ("secs", "s"), ("minutes", "min"), ("hours", "h"), ("weeks", "w"))
_AMOUNT = re.compile(r"\s*(\d{1,15})\s*(ms|min|s|m|h|d|w|)[a-z]{0,8}\s*$", re.IGNORECASE)
_BORN = ("creat", "updat", "insert", "birth", "timestamp", "modif")


def expires(words: Words, entries: list[Entry]) -> list[Deed]:
    """The deletions that a rule of keeping brings soon."""
    about = not _LISTS.keeping.isdisjoint(words)
    named = deletes = passing = passes = born = False
    soonest = float("inf")
    for short, _, value, _, above in entries:
        upper, said = squash(above), value.lower() if isinstance(value, str) else ""
        named = named or (about and short in _LISTS.columns and said.startswith(_BORN))
        passing = passing or (short in _LISTS.kept_under and _PATTERNS.passing.search(said[:200]) is not None)
        deletes = deletes or "expiration" in (short, upper) or "delete" in (short, said) or said in ("expire", "purge")
        if short.startswith("expireafter") and isinstance(value, (int, float)):
            passes = 0 < value <= _HOUR
        born = born or (upper in ("keys", "key", "fields") and short.startswith(_BORN))
        seconds = _seconds(short, value) if "retention" in short or (about and short in _LISTS.ages) else None
        if seconds is not None and not any(other in upper for other in ("abort", "transition", "noncurrent")):
            if seconds <= _SHORT and ("retention" in short or "retention" in words):
                return [("act_delete", ("bulk",))]
            soonest = min(soonest, seconds)
    soon = about and deletes and (soonest < _SHORT or (soonest < _SOON and not passing))
    return [("act_delete", ("bulk",))] if named or (passes and born) or soon else []


def _seconds(key: str, value: object) -> float | None:
    """How long a value says, in seconds."""
    unit = next((unit for ending, unit in _ENDINGS if key.endswith(ending)), "")
    found = _AMOUNT.match(str(value)) if not isinstance(value, bool) else None
    return float(found[1]) * _PER[found[2].lower() or unit] if found else None


def out_of_bounds(name: str, keys: Mapping[str, Any], out: Report) -> None:
    """A call that asks to run without what usually holds it back."""
    for key in filter(_is_bound, keys):
        said = truth(keys[key])
        word = str(keys[key]).lower()[:40] if said is None else "yes" if said else "no"
        if f"{key}={word}" in _LISTS.unbound or "escalated" in word or (said and key not in _LISTS.bounds):
            out.effect("act_override", f"sandbox of {name}"[:200], "forced")


@lru_cache(maxsize=4096)
def _is_bound(key: str) -> bool:
    """True for a parameter that may say that a call runs without what holds it back."""
    return key in _LISTS.unguarded or key in _LISTS.bounds or key.startswith(("bypass", "dangerously"))
