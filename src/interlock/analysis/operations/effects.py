"""Looks up the effect of a verb on an object, in the words of the rules, with the traits that the object adds."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.analysis.lexicon import ADMIN_WORDS, EVERYDAY, deed_nouns, object_kind
from interlock.analysis.lexicon.lists import WordLists
from interlock.analysis.lexicon.load import english
from interlock.analysis.operations.names import NamedAct

_LISTS = WordLists("effects")

CHANGE, READ = "act_change", "act_read"
HARMLESS = frozenset({CHANGE, READ, "act_send", "act_vague"})

# The trait that an object gives to whatever happens to it.
_TRAITS: Mapping[str, tuple[str, ...]] = {
    "database": ("database",), "schema": ("schema",), "table": ("table",), "volume": ("volume",), "bucket": ("bucket",),
    "cluster": ("cluster",), "namespace": ("cluster",), "repository": ("repository",), "organization": ("organization",),
    "project": ("project",), "backup": ("backup",), "audit": ("audit_log",), "physical": ("physical",),
}  # fmt: skip

_U = "undoable"
_STORES = ("database", "schema", "table", "volume", "bucket", "repository", "data", "backup", "audit")
_HOSTS = ("machine", "cluster", "namespace", "project")

# What an object of a name is in the table of effects: its kind there, and the trait that makes it a special one.
_THINGS: Mapping[str, tuple[str, str]] = {
    "database": ("data", "database"), "schema": ("data", "schema"), "table": ("data", "table"), "volume": ("data", "volume"),
    "bucket": ("data", "bucket"), "repository": ("data", "repository"), "backup": ("data", "backup"), "audit": ("log", "audit_log"),
    "machine": ("resource", ""), "cluster": ("resource", "cluster"), "namespace": ("resource", "cluster"), "project": ("resource", "project"),
    "person": ("account", ""), "organization": ("account", "organization"), "physical": ("machine", ""), "light": ("code", ""),
    "human_mail": ("message", ""),
}  # fmt: skip
# How a name is parsed -> the kind of verb, for verbs that are none of the lexicon.
_KINDS: Mapping[str, str] = {
    "delete": "destroy", "terminate": "terminate", "stop": "disable", "archive": "archive", "revoke": "revoke", "annul": "annul", "seize": "seize",
    "invalidate": "invalidate", "reset": "reset", "block": "block", "account": "offboard", "pay": "pay", "cancel": "cancel", "override": "bypass",
    "grant": "grant", "send": "send", "leak": "export", "rollback": "rollback", "format": "format", "rewrite": "rewrite",
}  # fmt: skip


_BLOCKLISTS = frozenset("blocklist blacklist denylist banlist".split())
_PLANS = frozenset("upgrade downgrade change switch renew".split())
_QUIET = frozenset({"update", "install", "push", "run", "start", "turn"})
_CODE = frozenset({"firmware", "bootloader"})
_PASSING = frozenset("temp tmp temporary cache cached scratch".split())
# remove_from_group, delete_from_table: by what something is taken out of.
_OUT_OF = {
    **dict.fromkeys(("access", "organization", "person", "project", "repository", "account"), "act_revoke"),
    **dict.fromkeys(("database", "table", "schema", "bucket", "volume", "backup", "audit"), "act_delete"),
}
_HALTS = frozenset({"stop", "cancel"})
CLOUD = frozenset(
    "gcp google gcloud azure aws cloud supabase firebase vercel heroku cloudflare neon terraform pulumi tofu cdk cloudformation".split()
)
_PUTTING = frozenset({"create", "change", "read", "restore", "send"})
_REBUILDS = frozenset("rebuild reinstall reprovision reimage reflash".split())
_EVERYWHERE = frozenset("all everything everywhere everyone".split())
_ROLLED = frozenset("deployment deployments process processes function production prod".split())
_SECRET_VALUES = frozenset("secret secrets password passwords passphrase credential credentials".split())
_SHARED_HISTORY = frozenset("history branch branches main master commits commit".split())


def deed(act: NamedAct, reach: frozenset[str] = frozenset()) -> tuple[str, tuple[str, ...]]:
    """The act's verb among the rules' words, and its traits; `reach` says how far it goes."""
    if act.kind in _HALTS and act.noun in deed_nouns():  # cancel_deletion, disable_delete
        return CHANGE, ()
    verb = _verb(act, reach)
    if verb in HARMLESS:
        return _raised(act, verb)
    traits = [*_TRAITS.get(act.object, ())]
    if act.verb in _LISTS.gentle or english().kinds[_kind(act) or "destroy"].adds == _U:
        traits.append(_U)
    if act.verb in _LISTS.total and verb == "act_delete" and act.object in (*_STORES, *_HOSTS, "disk", ""):
        traits.append("all")
    if act.noun == "rg":  # a resource group goes with all that is in it
        traits.append("all")
    if (
        act.object == "data"
        and act.noun in ("log", "logs", "trail")
        and not {"audit", "security", "access"}.isdisjoint(act.phrase)
    ):
        traits.append("audit_log")
    return verb, tuple(traits)


def _verb(act: NamedAct, reach: frozenset[str]) -> str:
    if (act.verb in ("archive", "unlink") and act.noun in EVERYDAY) or (act.verb == "pause" and act.noun in _ROLLED):
        return CHANGE
    if not act.kind and act.noun == "post" and not _LISTS.social.isdisjoint(act.phrase):
        return "act_send"  # twitter_post
    if act.verb in _REBUILDS and act.noun in _LISTS.boxes:
        return "act_delete"
    if act.noun == "legalhold" and (act.kind not in _PUTTING or act.verb in ("release", "lift")):
        return "act_override"
    if act.verb in _LISTS.back and not {"factory", "factorydefaults"}.isdisjoint((*act.phrase, *act.beside)):
        return "act_disk"
    if (
        act.verb in ("rotate", "logout", "signout", "expire", "invalidate")
        and not _EVERYWHERE.isdisjoint((act.noun, *act.phrase[:1]))
        and len(act.phrase) < 2
    ):
        return "act_invalidate"
    if act.verb == "flush" and act.noun == "dns":
        return CHANGE
    if act.kind == "delete" and act.object == "data" and not _PASSING.isdisjoint(act.phrase):
        return CHANGE
    if act.verb in ("send", "wire", "withdraw") and (act.noun in _LISTS.cash or act.phrase[:1] == ("transaction",)):
        return "act_pay"
    if act.kind in ("terminate", "stop") and act.noun in _LISTS.own and not _LISTS.tried.isdisjoint(act.phrase):
        return CHANGE  # what a developer has started
    if act.kind == "cancel" and act.noun in _LISTS.gatherings:
        return "act_delete"
    if act.kind == "delete" and act.phrase[:1] == ("by",):
        return "act_delete"  # delete_by_query
    if act.verb == "overwrite" and act.object == "data":
        return "act_delete"  # seed-DL names overwrite_file destructive
    if act.kind == "block" and not _LISTS.refused.isdisjoint(act.phrase):
        return "act_block"
    if act.kind == "create" and not _BLOCKLISTS.isdisjoint((*act.phrase, *act.beside)):
        return "act_block"
    if act.verb in ("delete", "destroy") and act.noun in _LISTS.defined:
        return "act_delete"
    if act.verb == "fire" and act.object == "person":
        return "act_account"
    if act.verb == "skip" and act.noun in ("tests", "review", "reviews", "hooks", "ci"):
        return "act_override"
    if act.kind == "rollback" and (act.noun in ("migration", "migrations") or "snapshot" in act.beside):
        return "act_delete"
    if act.verb == "unsubscribe" and not {"all", "everyone", "customers", "users", "subscribers"}.isdisjoint(
        act.phrase
    ):
        return "act_block"
    if act.verb == "release" and act.noun in _LISTS.held:
        return "act_terminate"
    if act.object == "disk" and (act.verb in _LISTS.blanks or act.kind == "reset"):
        return "act_disk"
    if act.verb == "format" and act.noun in ("drive", "drives", "filesystem", "storage"):
        return "act_disk"
    if act.verb in ("remove", "delete", "kick") and act.object == "person" and act.beside:
        return "act_revoke"
    if act.kind == "delete" and act.beside and not act.phrase:
        return _OUT_OF.get(object_kind(act.beside)[0], CHANGE)
    return _looked_up(act, reach)


def _kind(act: NamedAct) -> str:
    return english().kind_of(act.verb, _KINDS.get(act.kind, ""))


def _looked_up(act: NamedAct, reach: frozenset[str]) -> str:
    """The effect by the table that sentences ask as well."""
    if act.kind == "read":
        return READ
    kind = _kind(act)
    if not kind:
        return CHANGE
    if act.object == "light" and act.verb in _EVEN_LIGHT:
        return _EVEN_LIGHT[act.verb]
    thing, trait = _THINGS.get(act.object, (act.object, ""))
    if kind == "send" and act.noun in _LISTS.messages:
        thing = "message"
    effect = english().effect(kind, thing, reach | {trait} if trait else reach, named=True)[0]
    if effect == CHANGE and act.kind == "send" and thing in _SENT and not trait:
        return "act_send"
    return READ if effect == CHANGE and act.kind == "leak" else effect


# Verbs that do harm even to small things: a job, a build, a draft.
_EVEN_LIGHT = {
    "kill": "act_terminate",
    "terminate": "act_terminate",
    "trash": "act_delete",
    "overwrite": "act_delete",
    "wipe": "act_delete",
}
_SENT = frozenset({"", "data", "money", "event", "code"})  # several of these are a mass mailing


def _raised(act: NamedAct, verb: str) -> tuple[str, tuple[str, ...]]:
    """Harmless verbs that are not harmless here: make_admin, rewrite_history, enable_bypass."""
    if act.kind in ("create", "change", "grant") and _is_admin(act):
        return "act_escalate", ()
    if act.object == "physical" and act.verb in _LISTS.moves and (act.verb not in _QUIET or act.noun in _CODE):
        return "act_terminate", ("physical", _U)
    if act.verb in ("set", "move", "increase", "change") and not _LISTS.hazards.isdisjoint((*act.phrase, act.noun)):
        return "act_terminate", ("physical", _U)
    if (
        act.kind in ("create", "change")
        and not {"forwarding", "autoforward"}.isdisjoint(act.phrase)
        and "port" not in act.phrase
    ):
        return "act_leak", ()
    if (
        act.verb in ("raise", "increase", "set", "lift")
        and act.noun == "limit"
        and {"credit", "spending"} & set(act.phrase)
    ):
        return "act_override", ()
    if act.kind == "read" and act.verb in _LISTS.shows and _is_secret(act.phrase):
        return "read", ("secret", "shown")
    if is_broadcast(act):
        return "act_send", ()
    if act.kind == "change" and not {"nameserver", "nameservers"}.isdisjoint(act.phrase):
        return "act_unconfigure", ()
    if act.verb == "scale" and "zero" in act.beside:
        return "act_terminate", (_U,)
    if _is_order(act):
        return "act_pay", ()
    if act.verb in ("sync", "synchronize", "mirror", "reconcile") and "delete" in act.phrase:
        return "act_delete", ("bulk",)
    if act.verb == "rewrite" and not _SHARED_HISTORY.isdisjoint(act.phrase):
        return "act_rewrite", ()
    if act.verb in ("enable", "activate", "allow") and not {"bypass", "override"}.isdisjoint(act.phrase):
        return "act_override", ()
    if act.verb in ("make", "set", "open", "share") and act.phrase and act.phrase[-1] in ("public", "publicly"):
        return "act_escalate", ()
    if (act.verb == "allow" and "all" in act.phrase) or (act.verb == "open" and act.object == "safety"):
        return "act_escalate", ()
    return verb, ()


def _is_secret(phrase: tuple[str, ...]) -> bool:
    return (bool(phrase) and phrase[-1] in _SECRET_VALUES) or phrase[-2:] in (("private", "key"), ("secret", "value"))


def is_broadcast(act: NamedAct) -> bool:
    """publish_post, post_to_linkedin, create_tweet: said to everybody, in somebody's name."""
    if not act.kind and act.noun == "post" and not _LISTS.social.isdisjoint(act.phrase):
        return True
    if act.verb in ("tweet", "broadcast", "blast") or (act.verb == "publish" and act.noun in _LISTS.out_loud):
        return True
    said = (*act.phrase, *act.beside)
    return act.verb in ("post", "publish", "create", "send", "submit", "share") and not _LISTS.social.isdisjoint(said)


def _is_order(act: NamedAct) -> bool:
    """place_order, confirm_payment, book_flight, checkout_cart."""
    if act.verb in ("accept", "concede", "close") and act.noun in (
        "dispute",
        "disputes",
        "chargeback",
        "chargebacks",
        "liability",
    ):
        return True
    if (act.verb == "capture" and act.noun == "order") or (
        act.verb in ("issue", "create") and act.noun == "creditnote"
    ):
        return True
    if act.verb in ("place", "submit", "confirm", "checkout") and act.noun in ("order", "orders"):
        return True
    if act.verb in ("book", "order", "request", "reserve") and act.noun in _LISTS.booked | _LISTS.bought:
        return True
    if act.verb in _PLANS and act.noun in ("plan", "subscription", "tariff"):
        return True
    if act.verb == "deploy" and act.noun == "contract":
        return True
    if act.verb in ("sign", "accept") and act.noun in ("contract", "contracts", "loan", "lease"):
        return True
    return act.verb in _LISTS.orders and act.noun in _LISTS.ordered and "draft" not in act.phrase


def _is_admin(act: NamedAct) -> bool:
    if act.noun in ADMIN_WORDS or (act.beside and act.beside[-1] in ADMIN_WORDS):
        return True
    return act.object in ("person", "account", "access") and not ADMIN_WORDS.isdisjoint(act.phrase)
