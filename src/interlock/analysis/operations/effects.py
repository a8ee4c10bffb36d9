"""Looks up the effect of a verb on an object, in the words of the rules, with the traits that the object adds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from interlock.analysis.lexicon import ADMIN_WORDS, deed_nouns, object_kind
from interlock.analysis.lexicon.lists import WordLists, WordMaps
from interlock.analysis.lexicon.load import english
from interlock.analysis.lexicon.named_effects import NamedAct

_LISTS = WordLists("effects")
_MAPS = WordMaps("effects")

CHANGE, READ = "act_change", "act_read"
HARMLESS = frozenset({CHANGE, READ, "act_send", "act_vague"})

_U = "undoable"
_STORES = ("database", "schema", "table", "volume", "bucket", "repository", "data", "backup", "audit")
_HOSTS = ("machine", "cluster", "namespace", "project")

# What an object of a name is in the table of effects: its kind there, and the trait that it gives to whatever happens to it.
_THINGS: Mapping[str, tuple[str, str]] = {
    "database": ("data", "database"), "schema": ("data", "schema"), "table": ("data", "table"), "volume": ("data", "volume"),
    "bucket": ("data", "bucket"), "repository": ("data", "repository"), "backup": ("data", "backup"), "audit": ("log", "audit_log"),
    "machine": ("resource", ""), "cluster": ("resource", "cluster"), "namespace": ("resource", "cluster"), "project": ("resource", "project"),
    "person": ("account", ""), "organization": ("account", "organization"), "physical": ("machine", "physical"), "light": ("code", ""),
    "human_mail": ("message", ""),
}  # fmt: skip


_HALTS = frozenset({"stop", "cancel"})
CLOUD = frozenset(
    "gcp google gcloud azure aws cloud supabase firebase vercel heroku cloudflare neon terraform pulumi tofu cdk cloudformation".split()
)


@lru_cache(maxsize=4096)
def deed(act: NamedAct, reach: frozenset[str] = frozenset()) -> tuple[str, tuple[str, ...]]:
    """The act's verb among the rules' words, and its traits; `reach` says how far it goes."""
    if act.kind in _HALTS and act.noun in deed_nouns():  # cancel_deletion, disable_delete
        return CHANGE, ()
    row = english().first.find(act)
    verb = row.effect if row is not None else _verb(act, reach)
    if verb in HARMLESS:
        return _raised(act, verb)
    traits = [trait for trait in (_THINGS.get(act.object, ("", ""))[1],) if trait] + list(
        row.traits if row is not None else ()
    )
    if act.verb in _LISTS.gentle or english().kinds[_kind(act) or "destroy"].adds == _U:
        traits.append(_U)
    if act.verb in _LISTS.total and verb == "act_delete" and act.object in (*_STORES, *_HOSTS, "disk", ""):
        traits.append("all")
    if (
        act.object == "data"
        and act.noun in ("log", "logs", "trail")
        and not {"audit", "security", "access"}.isdisjoint(act.phrase)
    ):
        traits.append("audit_log")
    return verb, tuple(traits)


def _verb(act: NamedAct, reach: frozenset[str]) -> str:
    if act.kind == "delete" and act.beside and not act.phrase:
        return _MAPS.out_of.get(object_kind(act.beside)[0], CHANGE)
    return _looked_up(act, reach)


def _kind(act: NamedAct) -> str:
    return english().kind_of(act.verb, _MAPS.kinds.get(act.kind, ""))


def _looked_up(act: NamedAct, reach: frozenset[str]) -> str:
    """The effect by the table that sentences ask as well."""
    if act.kind == "read":
        return READ
    kind = _kind(act)
    if not kind:
        return CHANGE
    if act.object == "light" and act.verb in _MAPS.even_light:
        return _MAPS.even_light[act.verb]
    thing, trait = _THINGS.get(act.object, (act.object, ""))
    if kind == "send" and act.noun in _LISTS.messages:
        thing = "message"
    effect = english().effect(kind, thing, reach | {trait} if trait else reach, named=True)[0]
    if effect == CHANGE and act.kind == "send" and thing in _SENT and not trait:
        return "act_send"
    return READ if effect == CHANGE and act.kind == "leak" else effect


_SENT = frozenset({"", "data", "money", "event", "code"})  # several of these are a mass mailing


def _raised(act: NamedAct, verb: str) -> tuple[str, tuple[str, ...]]:
    """Harmless verbs that are not harmless here: make_admin, rewrite_history, enable_bypass."""
    if act.kind in ("create", "change", "grant") and _is_admin(act):
        return "act_escalate", ()
    row = english().raising.find(act)
    if row is not None:
        return row.effect, row.traits
    return ("act_send", ()) if is_broadcast(act) else (verb, ())


def is_broadcast(act: NamedAct) -> bool:
    """publish_post, post_to_linkedin, create_tweet: said to everybody, in somebody's name."""
    if not act.kind and act.noun == "post" and not _LISTS.social.isdisjoint(act.phrase):
        return True
    if act.verb in ("tweet", "broadcast", "blast") or (act.verb == "publish" and act.noun in _LISTS.out_loud):
        return True
    said = (*act.phrase, *act.beside)
    return act.verb in ("post", "publish", "create", "send", "submit", "share") and not _LISTS.social.isdisjoint(said)


def _is_admin(act: NamedAct) -> bool:
    if act.noun in ADMIN_WORDS or (act.beside and act.beside[-1] in ADMIN_WORDS):
        return True
    return act.object in ("person", "account", "access") and not ADMIN_WORDS.isdisjoint(act.phrase)
