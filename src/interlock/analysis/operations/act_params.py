"""Refines the effect of an operation whose name leaves it open by the operation's parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from interlock.analysis.lexicon import object_kind, objects, split_name, verb_kind
from interlock.analysis.lexicon.lists import WordLists
from interlock.analysis.operations.effects import CHANGE
from interlock.analysis.operations.effects import deed as deed_of
from interlock.analysis.operations.names import NamedAct
from interlock.analysis.operations.params import pairs, squash, truth

_LISTS = WordLists("act_params")

Deed = tuple[str, tuple[str, ...]]
_KINDS = "kind type resourcetype resource objecttype object entity entitytype targettype scope".split()
_ADMIN = ("admin", "owner", "root", "superuser", "sudo", "fullaccess", "poweruser")
_SIZES = ("replicas", "desiredcount", "count", "desiredcapacity", "size", "instances", "mininstances")
_MIRRORS = frozenset("sync synchronize mirror reconcile copy replicate".split())
_DISCARDS = frozenset("discard delete loser duplicate duplicates remove mergeanddelete".split())
_TRADE = frozenset({"symbol", "side"})
_STATES = frozenset("status state accountstatus lifecycle userstatus".split())
_ENTITIES = {  # what the entities of a home are
    **dict.fromkeys("light fan media_player climate humidifier vacuum scene input_boolean remote".split(), "light"),
    **dict.fromkeys("alarm_control_panel siren".split(), "safety"),
    **dict.fromkeys("lock cover valve".split(), "physical"),
}
_CLUSTERS = frozenset("namespace cluster release kubecontext".split())
_RUNNING = frozenset("machine cluster database".split())
_REDIRECTS = frozenset("update edit change set modify patch replace".split())
_SWITCHES = frozenset("enabled active enable isactive on".split())
_ENDED: Mapping[str, str] = {
    "suspended": "suspend", "banned": "ban", "deleted": "delete", "disabled": "disable", "terminated": "terminate", "cancelled": "cancel",
    "canceled": "cancel", "closed": "close", "revoked": "revoke", "deactivated": "deactivate", "blocked": "block", "locked": "lock",
    "offboarded": "offboard", "refunded": "refund", "void": "void", "voided": "void", "inactive": "deactivate", "paid": "pay",
    "deprovisioned": "deprovision", "archived": "archive", "decommissioned": "decommission", "retired": "retire", "expired": "terminate",
    **dict.fromkeys("removed trashed trash purged erased destroyed wiped softdeleted pendingdeletion deleting".split(), "delete"),
}  # fmt: skip
_DELETED = frozenset("delete deleted deletion destroy purge removal".split())  # DELETE_REQUESTED, pending_deletion
# A field that says when, or that, something was deleted; the labels that put a message into the bin.
_GONE = re.compile(
    r"(?:is|in|soft|has|moveto|to)?(?:deleted|trashed|trash|removed|binned)(?:at|on|date|time)?|deletiontimestamp"
)
_ENDED_FLAG = re.compile(
    r"(?:is|has)?(archived?|suspended|suspend|banned|deactivated?|disabled|terminated?|revoked?|deprovisioned|offboarded)(?:at|on)?"
)
_BINS = frozenset("trash bin deleteditems deleted recyclebin".split())
_OUTWARD = frozenset({"egress", "outbound"})
_REFS = frozenset("ref refs reference references branch tag".split())
_HARD = frozenset({"hard", "--hard", "true"})


def with_object(act: NamedAct, keys: Mapping[str, Any]) -> NamedAct:
    """Where the name has no object, the parameters may: {"kind": "deployment"}, {"table": "users"}."""
    if act.object or act.kind in ("read", "create") or not keys:
        return act
    entity = keys.get("entityid")
    if isinstance(entity, str) and (kind := _ENTITIES.get(entity.partition(".")[0])):
        return NamedAct(act.kind, act.verb, act.phrase, kind, entity[:40], act.beside, act.at)
    for key in _KINDS:
        value = keys.get(key)
        if isinstance(value, str) and 0 < len(value) < 60:
            kind, noun = object_kind(tuple(word for words in split_name(value) for word in words))
            if kind:
                return NamedAct(act.kind, act.verb, act.phrase, kind, noun, act.beside, act.at)
    if act.phrase and act.phrase[-1] not in _LISTS.generic:
        return act
    for key in keys:
        base = key.removesuffix("ids").removesuffix("id").removesuffix("name").removesuffix("identifier") or key
        kind = objects().get(base, "light")
        if kind in ("light", "safety"):
            continue
        if kind in ("table", "database", "schema", "bucket") and _LISTS.narrow & keys.keys():
            kind, base = "data", "row"
        return NamedAct(act.kind, act.verb, act.phrase, kind, base, act.beside, act.at)
    return act


def by_params(act: NamedAct, deed: Deed, keys: Mapping[str, Any], traits: set[str]) -> Deed:
    """The deed, or the one that its parameters make of it."""
    if not keys:
        return deed
    if deed[0] == "act_leak" and act.verb in ("set", "update", "toggle") and truth(keys.get("enabled")) is False:
        return CHANGE, ()  # forwarding is switched off
    if (
        "forced" in traits
        and not _REFS.isdisjoint(act.phrase)
        and act.verb in ("update", "set", "push", "move", "edit", "patch")
    ):
        return "act_rewrite", ()
    if (
        act.verb in ("sync", "synchronize")
        and "forced" in traits
        and not _LISTS.models.isdisjoint((*act.phrase, act.noun, act.object))
    ):
        return "act_delete", ("bulk",)
    if act.kind in ("grant", "create", "change") and deed[0] == CHANGE and _grants(act, keys):
        return "act_escalate", ()
    if act.verb == "uninstall" and ("production" in traits or not _CLUSTERS.isdisjoint(keys)):
        return "act_terminate", ()
    if act.verb in ("update", "post", "write") and _deletes_by_query(keys):
        return "act_delete", ("all",)
    if act.verb in ("restart", "reboot", "bounce") and "production" in traits and act.object in _RUNNING:
        return "act_terminate", ("undoable",)
    if act.verb in _REDIRECTS and "dns" in (act.noun, *act.phrase) and not _LISTS.points.isdisjoint(keys):
        return "act_unconfigure", ()
    if act.verb in ("scale", "resize") and any(_is_zero(keys.get(key)) for key in _SIZES):
        return "act_terminate", ("undoable",)
    if act.verb == "reset" and "git" in (*act.phrase, act.noun):
        traits.discard("permanent")
        hard = str(keys.get("mode", keys.get("hard", ""))).lower()[:10] in _HARD
        return ("act_delete", ()) if hard else (CHANGE, ())
    if (deed[0] == CHANGE or act.verb == "load") and (found := _spoils(act, keys, traits)):
        return found
    if act.verb == "push" and "forced" in traits:
        return "act_rewrite", ()
    if act.kind == "leak" and _goes_out(act, keys):
        return "act_leak", ()
    if act.verb in _LISTS.spends and _LISTS.money_keys & keys.keys():
        return "act_pay", ()
    if (
        "unfiltered" in traits
        and not act.noun.startswith("filter")
        and act.verb in ("update", "set", "modify", "patch")
    ):
        return "act_unconfigure", ("all",)
    return deed


def _deletes_by_query(keys: Mapping[str, Any]) -> bool:
    """`{"delete": {"query": "*:*"}}`: an update that deletes everything it finds."""
    for body in (keys, keys.get("body"), keys.get("payload"), keys.get("data")):
        found = body.get("delete") if isinstance(body, Mapping) else None
        if isinstance(found, Mapping) and found.get("query") in ("*:*", "*", {"match_all": {}}):
            return True
    return False


def _spoils(act: NamedAct, keys: Mapping[str, Any], traits: set[str]) -> Deed | None:
    """What a change does besides: it deletes, replaces, keeps nothing, ends or switches off."""
    for key, value in keys.items():
        if truth(value) is True and key in _LISTS.deletes:
            return "act_delete", ("bulk",) if act.verb in _MIRRORS or key in _LISTS.losses else ()
        if key == "clean" and truth(value) is True and act.verb in ("restore", "import", "load", "recover"):
            return "act_delete", ("bulk",)
        if (
            key in _LISTS.modes
            and isinstance(value, str)
            and value.strip().lower() in _LISTS.replaces
            and act.verb in _LISTS.loads
        ):
            return "act_delete", ("bulk",)
        if (
            truth(value) is False
            and (key in _LISTS.guards or key.endswith(("protection", "protected")))
            and act.kind == "change"
        ):
            return "act_override", ()
    migrates = "migration" in (act.noun, act.noun[:-1]) or act.verb == "migrate"
    if str(keys.get("direction", "")).lower()[:8] in ("down", "rollback") and migrates:
        return "act_delete", ()
    restores = act.verb in ("restore", "recover") or (act.verb in _LISTS.loads and _is_store(act, traits))
    if "overwrite" in keys and truth(keys["overwrite"]) and restores:
        return "act_delete", ("forced",)
    if any(truth(keys.get(key)) is True for key in _ANEW) and (
        migrates or act.verb in _LISTS.begins or _is_store(act, traits)
    ):
        return "act_delete", ("bulk",)
    if (
        truth(keys.get("dryrun")) is False
        and act.object != "light"
        and not _LISTS.tidies.isdisjoint((act.verb, *act.phrase))
    ):
        if _LISTS.tidied.isdisjoint((act.verb, *act.phrase)):
            return "act_delete", ("bulk",)  # what it would delete is deleted
    if act.verb == "merge" and _DISCARDS & keys.keys():
        return "act_delete", ()
    if act.verb == "unsubscribe" and (traits & {"all", "bulk"} or "list" in keys):
        return "act_block", ()
    if _keeps_nothing(act, keys):
        return "act_unconfigure", ()
    if act.verb in ("book", "checkout", "subscribe", "reserve", "order", "request") and _LISTS.paid & keys.keys():
        return "act_pay", ()
    if act.object in ("money", "") and keys.keys() >= _TRADE:
        return "act_pay", ()
    return _ends(act, keys, traits)


def _goes_out(act: NamedAct, keys: Mapping[str, Any]) -> bool:
    """export_customers {"to": "https://…"}: people's data, to somewhere else."""
    people = act.object in ("person", "account", "database", "table", "credential") or not _LISTS.people.isdisjoint(
        act.phrase
    )
    to = [
        keys[key]
        for key in ("to", "url", "destination", "target", "email", "webhook", "dest")
        if isinstance(keys.get(key), str)
    ]
    return people and any("://" in value[:12] or "@" in value or "public" in value for value in to)


_ANEW = ("reset", "recreate", "fresh", "wipefirst", "cleanslate", "fromscratch", "startfresh")
_STORES = frozenset("database table schema volume bucket cluster".split())


def _is_store(act: NamedAct, traits: set[str]) -> bool:
    stored = act.object in _STORES or (
        act.object == "data" and act.noun in ("data", "dataset", "records", "rows", "index")
    )
    return stored or "production" in traits


def _keeps_nothing(act: NamedAct, keys: Mapping[str, Any]) -> bool:
    """A retention of nothing deletes what is kept."""
    if act.kind not in ("change", "create"):
        return False
    named = str(keys.get("key") or keys.get("setting") or keys.get("name") or "").lower()[:80]
    about = "retention" in (*act.phrase, act.noun) or "retention" in named
    return any(
        ("retention" in key or (about and key in ("value", "days", "period")))
        and (_is_zero(value) or value in ("0d", "0s"))
        for key, value in keys.items()
    )


def _ends(act: NamedAct, keys: Mapping[str, Any], traits: set[str]) -> Deed | None:
    """update_user {"status": "suspended"}, set_mfa {"enabled": false}."""
    if act.verb and act.verb not in _LISTS.sets:
        return None
    for key, value in keys.items():
        if verb := ending(act, key, value):
            return deed_of(NamedAct(verb_kind(verb), verb, act.phrase, act.object, act.noun, act.beside, act.at))
        if (
            key in _SWITCHES
            and truth(value) is False
            and "production" in traits
            and not _LISTS.flags.isdisjoint(act.phrase)
        ):
            return "act_unconfigure", ("undoable",)
    return None


def ending(act: NamedAct, key: str, value: object) -> str:
    """The verb for a field whose value ends or deletes what the act is about; nothing for any other."""
    if verb := _ending(key, value):
        if verb == "archive" and act.noun in _BINNED:
            return "delete"
        return verb if verb == "delete" or act.object in _LISTS.owned else ""
    switch = key in _SWITCHES or key.endswith(("enabled", "active"))
    return "disable" if switch and truth(value) is False and act.object in _SWITCHED_OFF else ""


def _ending(key: str, value: object) -> str:
    """The verb for a state or a flag that ends something: status "suspended", trashed true, deleted_at with a date."""
    if key in _STATES and isinstance(value, str):
        words = {word for part in split_name(value[:60]) for word in part}
        return _ENDED.get(squash(value)) or ("delete" if not words.isdisjoint(_DELETED) else "")
    if truth(value) is False or value in (None, "", 0) or isinstance(value, Mapping):
        return ""
    if key in _LISTS.adds_labels:
        labels = value if isinstance(value, (list, tuple)) else (value,)
        return "delete" if any(squash(label) in _BINS for label in labels[:50]) else ""
    dated = isinstance(value, (str, int, float)) and key.endswith(("at", "on", "date", "time", "stamp"))
    if truth(value) is not True and not dated:
        return ""
    if _GONE.fullmatch(key):
        return "delete"
    found = _ENDED_FLAG.fullmatch(key)
    return _ENDED.get(found[1], found[1]) if found else ""


_BINNED = frozenset("page document board channel space site".split())  # to archive one is to put it into the bin
_SWITCHED_OFF = frozenset({"safety", "audit", "person", "account", "organization"})


def _is_zero(value: object) -> bool:
    return value is not False and value in (0, "0")


def _grants(act: NamedAct, keys: Mapping[str, Any]) -> bool:
    """Admin rights for somebody, or something opened to everybody."""
    rights = act.object in ("access", "person", "account", "config", "") or act.kind == "grant"
    for key, value in keys.items():
        for item in value[:50] if isinstance(value, (list, tuple)) else (value,):
            if not isinstance(item, str) or len(item) > 200:
                continue
            word = squash(item)
            if (
                rights
                and key in _LISTS.admin_keys
                and any(admin in word for admin in _ADMIN)
                and "readonly" not in word
            ):
                return True
            if (
                key in _LISTS.public_keys
                and item.strip().lower() in _LISTS.public
                and (act.kind != "create" or act.object == "access" or _opens(item))
                and _OUTWARD.isdisjoint(act.phrase)
            ):
                return True
    return rights_to_all(keys) if act.object in ("access", "config", "bucket") else False


def rights_to_all(params: Mapping[str, Any]) -> bool:
    """A policy that lets everybody in, or somebody do everything."""
    found = [(key, value) for key, value, _ in pairs(params) if key in ("effect", "principal", "aws", "action")]
    denies = any(key == "effect" and str(value).lower()[:5] == "deny" for key, value in found)
    return not denies and any(value in ("*", ["*"]) for _, value in found)


def _opens(item: str) -> bool:
    """Even something new should not be open to the whole network."""
    return "/" in item or item.lower().startswith("all")
