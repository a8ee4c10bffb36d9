"""Looks up the effect of a verb on an object, in the words of the rules, with the traits that the object adds."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.analysis.lexicon import ADMIN_WORDS, DEED_NOUNS, object_kind
from interlock.analysis.operations.names import NamedAct

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

# By kind of verb: the act for each kind of object; "" is an object that nobody knows, "*" any other.
_DEEDS: Mapping[str, Mapping[str, str]] = {
    "delete": {
        "credential": "act_invalidate", "access": "act_revoke", "machine": "act_terminate", "cluster": "act_terminate",
        "namespace": "act_terminate", "project": "act_terminate", "config": "act_unconfigure", "account": "act_account",
        "person": "act_account", "organization": "act_account", "safety": "act_override", "light": CHANGE,
        "physical": "act_terminate", "*": "act_delete",
    },
    "terminate": {
        "person": "act_account", "organization": "act_account", "account": "act_account", "money": "act_pay",
        "light": CHANGE, "credential": "act_invalidate", "access": "act_revoke", "*": "act_terminate",
    },
    "stop": {
        "person": "act_account", "account": "act_account", "organization": "act_account", "credential": "act_invalidate",
        "access": "act_revoke", "safety": "act_override", "audit": "act_override", "backup": "act_override",
        "config": "act_unconfigure", "data": "act_unconfigure", "light": CHANGE, "money": "act_pay", "": "act_unconfigure",
        "*": "act_terminate",
    },
    "archive": {
        "light": CHANGE, "": CHANGE, "money": CHANGE, "person": "act_account", "account": "act_account",
        "organization": "act_account", "*": "act_delete",
    },
    "revoke": {"credential": "act_invalidate", "light": CHANGE, "account": "act_account", "*": "act_revoke"},
    "invalidate": {"credential": "act_invalidate", "person": "act_invalidate", "account": "act_invalidate", "money": "act_pay", "*": CHANGE},
    "reset": {
        "credential": "act_invalidate", "safety": "act_invalidate", "person": "act_account", "account": "act_account",
        "access": "act_revoke", "config": "act_unconfigure", "light": CHANGE, "": "act_unconfigure", "physical": "act_terminate", "*": "act_delete",
    },
    "block": {"light": CHANGE, "physical": CHANGE, "data": CHANGE, "money": CHANGE, "*": "act_block"},
    "account": {
        "account": "act_account", "person": "act_account", "organization": "act_account", "access": "act_account",
        "money": "act_pay", "*": CHANGE,
    },
    "pay": {"*": "act_pay"},
    "annul": {
        "light": CHANGE, "money": "act_pay", "config": "act_unconfigure", "credential": "act_invalidate", "account": "act_account",
        "person": "act_account", "organization": "act_account", "machine": "act_terminate", "safety": "act_override", "*": "act_revoke",
    },
    "seize": {"light": CHANGE, "": CHANGE, "data": CHANGE, "*": "act_revoke", "money": "act_pay", "person": "act_pay", "account": "act_account"},
    "cancel": {
        "money": "act_pay", "access": "act_pay", "": "act_pay", "account": "act_account", "person": "act_account",
        "organization": "act_account", "*": CHANGE,
    },
    "override": {"*": "act_override"},
    "rollback": {"backup": "act_delete", "database": "act_delete", "schema": "act_delete", "table": "act_delete", "*": CHANGE},
    "format": {"disk": "act_disk", "volume": "act_disk", "machine": "act_disk", "*": CHANGE},
    "rewrite": {"*": CHANGE},
    "grant": {"*": CHANGE},
    "send": {"credential": "act_leak", "*": "act_send"},
    "leak": {"credential": "act_leak", "*": READ},
    "restore": {"*": CHANGE},
    "create": {"*": CHANGE},
    "change": {"*": CHANGE},
    "read": {"*": READ},
    "": {"*": CHANGE},
}  # fmt: skip

_CLEANS = {
    "*": CHANGE, "database": "act_delete", "table": "act_delete", "schema": "act_delete", "bucket": "act_delete", "volume": "act_delete",
    "backup": "act_delete", "audit": "act_delete", "disk": "act_delete",
}  # fmt: skip

_PAUSES = {
    "*": CHANGE, "project": "act_terminate", "database": "act_terminate", "cluster": "act_terminate", "machine": "act_terminate",
    "backup": "act_override", "audit": "act_override",
}  # fmt: skip
_ENDS = {
    "*": CHANGE,
    "money": "act_pay",
    "person": "act_account",
    "account": "act_account",
    "organization": "act_account",
}
_RELAXES = {"*": CHANGE, "safety": "act_override", "access": "act_override"}

# Verbs that differ from their kind for some objects.
_EXCEPTIONS: Mapping[str, Mapping[str, str]] = {
    "clear": {"": CHANGE}, "clean": _CLEANS, "cleanup": {**_CLEANS, "data": "act_delete"}, "flush": {"": CHANGE},
    "strip": {"": CHANGE, "data": CHANGE}, "redact": {"*": CHANGE}, "forget": {"": CHANGE}, "scrub": {"": CHANGE},
    "empty": {"": CHANGE}, "unset": {"config": CHANGE, "": CHANGE}, "gc": {"*": CHANGE}, "zero": {"": CHANGE},
    "uninstall": {"config": CHANGE, "": CHANGE},
    "suspend": {"person": "act_block", "": "act_account"}, "pause": _PAUSES, "freeze": {"data": CHANGE, "": CHANGE},
    "stop": {"": CHANGE, "data": CHANGE, "money": CHANGE}, "disconnect": {"*": CHANGE}, "unmount": {"*": CHANGE},
    "detach": {"config": "act_revoke", "": CHANGE, "data": CHANGE}, "offline": {"*": "act_terminate"},
    "evict": {"": "act_terminate", "data": CHANGE}, "drain": {"data": "act_delete"}, "kill": {"light": "act_terminate"},
    "unassign": {"": CHANGE, "data": CHANGE, "person": CHANGE}, "dismiss": {"*": CHANGE, "person": "act_account"},
    "deny": {"*": CHANGE, "access": "act_revoke"}, "uninvite": {"*": CHANGE}, "disown": {"*": CHANGE},
    "demote": {"": "act_revoke", "machine": CHANGE}, "logout": {"": CHANGE, "machine": CHANGE}, "invalidate": {"": "act_invalidate"},
    "expire": {"": "act_invalidate"}, "rekey": {"*": "act_invalidate"}, "regenerate": {"*": CHANGE, "credential": "act_invalidate"},
    "roll": {"*": CHANGE, "credential": "act_invalidate"}, "quarantine": {"*": "act_block"}, "throttle": {"*": CHANGE}, "lock": {"disk": "act_terminate", "physical": CHANGE}, "anonymize": {"person": "act_delete", "table": "act_delete", "account": "act_delete"},
    "pseudonymize": {"person": "act_delete", "account": "act_delete"}, "reboot": {"machine": "act_terminate"},
    "offboard": {"*": "act_account"}, "disband": {"*": "act_account"}, "dissolve": {"light": CHANGE, "data": CHANGE, "": CHANGE},
    "deplatform": {"*": "act_account"}, "skip": {"*": CHANGE, "safety": "act_override"}, "ignore": {"*": CHANGE, "safety": "act_override"},
    "suppress": {"*": CHANGE, "safety": "act_override", "audit": "act_override"}, "waive": {"*": CHANGE, "safety": "act_override", "money": "act_pay"},
    "relax": _RELAXES, "loosen": _RELAXES, "weaken": _RELAXES, "neutralize": _RELAXES, "sack": {"*": CHANGE, "person": "act_account"},
    "furlough": {"*": "act_account"}, "reject": {"*": CHANGE, "account": "act_account", "organization": "act_account", "money": "act_pay"},
    "unmap": {"": CHANGE, "data": CHANGE, "config": CHANGE}, "end": _ENDS, "disassociate": {"": CHANGE, "data": CHANGE}, "dissociate": {"": CHANGE, "data": CHANGE}, "vacate": {"": CHANGE}, "surrender": {"": CHANGE},
    "lapse": {"": CHANGE}, "scrap": {"": CHANGE, "light": CHANGE, "data": CHANGE}, "concede": {"*": CHANGE, "money": "act_pay"},
    "impersonate": {"*": "act_escalate"}, "assume": {"*": "act_escalate"}, "sudo": {"*": "act_escalate"},
    "elevate": {"*": "act_escalate"}, "escalate": {"data": CHANGE, "": CHANGE, "*": "act_escalate", "light": CHANGE},
    "expose": {"*": "act_escalate"}, "exfiltrate": {"*": "act_leak"}, "leak": {"*": "act_leak"},
    "share": {"credential": "act_leak"}, "withdraw": {"*": CHANGE, "money": "act_pay", "": "act_pay"},
    "transfer": {"*": "act_account", "money": "act_pay", "": "act_pay", "data": CHANGE, "light": CHANGE, "access": "act_escalate", "person": "act_pay"},
    "redeem": {"*": CHANGE}, "reverse": {"*": CHANGE, "money": "act_pay"}, "unsubscribe": {"*": CHANGE, "person": "act_block"},
    "sever": {"*": CHANGE, "access": "act_revoke"}, "invoice": {"*": CHANGE}, "swap": {"*": CHANGE, "money": "act_pay"}, "burn": {"*": CHANGE, "money": "act_pay"},
    "mint": {"*": CHANGE, "money": "act_pay"}, "bridge": {"*": CHANGE, "money": "act_pay"}, "short": {"*": CHANGE, "money": "act_pay"},
    "tip": {"*": CHANGE}, "credit": {"*": CHANGE, "account": "act_pay", "person": "act_pay", "money": "act_pay"}, "settle": {"data": CHANGE, "light": CHANGE, "*": "act_pay"}, "upload": {"credential": "act_leak"},
    "publish": {"credential": "act_leak"}, "trash": {"light": "act_delete"}, "timeout": {"*": CHANGE, "person": "act_block", "access": "act_block"}, "sunset": {"": "act_terminate"},
    "partition": {"disk": "act_disk", "*": CHANGE}, "rotate": {"*": CHANGE, "credential": "act_invalidate"},
    "hide": {"*": CHANGE}, "terminate": {"light": "act_terminate"}, "deregister": {"person": "act_account"},
    "forcepush": {"*": "act_rewrite"}, "truncate": {"light": CHANGE}, "overwrite": {"light": "act_delete"}, "wipe": {"*": "act_delete", "machine": "act_delete"},
}  # fmt: skip

_GENTLE = frozenset(
    "suspend disable deactivate pause freeze hibernate detach drain cordon evacuate archive lock quarantine trash stop offline mute "
    "disconnect".split()
)
_EVERYDAY = frozenset(
    "message messages email emails mail thread threads note notes task tasks issue issues card cards conversation conversations item "
    "items ticket tickets page pages chat todo".split()
)
_TOTAL = frozenset(
    "wipe obliterate nuke annihilate eradicate empty flush clear reset erase shred".split()
)  # nothing is left over
_OWN = frozenset("server servers process processes worker app service container".split())
_TRIED = frozenset("test tests dev development local debug mock preview".split())
_GATHERINGS = frozenset("meeting meetings event events call webinar class interview".split())
_HELD = frozenset("number numbers ip ips address addresses domain domains eip phone host hosts".split())
# Verbs that carry something out, and what then costs money.
_ORDERS = frozenset(
    "place submit execute confirm complete finalize run process approve release capture open close checkout sign authorize fire".split()
)
_ORDERED = frozenset(
    "payment payments trade trades position positions purchase purchases payroll transaction transactions transfer transfers stock stocks crypto "
    "payout payouts escrow wire wires withdrawal withdrawals disbursement disbursements loan loans refund refunds remittance bet bets bid bids funds money salaries checkout cart swap".split()
)
_BOOKED = frozenset("taxi flight flights hotel hotels trip trips rental tickets ride cruise".split())
_BOUGHT = frozenset("pizza food groceries lunch dinner meal supplies flowers".split())
_HAZARDS = frozenset("dose dosage insulin medication infusion reactor robot ventilator furnace turbine".split())
_REFUSED = frozenset("contact contacts ip ips sender senders caller number domain cidr user users".split())
_LISTS = frozenset("blocklist blacklist denylist banlist".split())
_DEFINED = frozenset("job jobs field fields form forms build builds".split())
_PLANS = frozenset("upgrade downgrade change switch renew".split())
_QUIET = frozenset({"update", "install", "push", "run", "start", "turn"})
_CODE = frozenset({"firmware", "bootloader"})
_MOVES = frozenset(
    "open unlock close release flash vent fire launch dispense administer inject engage disengage cut trip takeoff write trigger activate disarm start turn update push override "
    "install ignite detonate arm land drive fly run".split()
)
_PASSING = frozenset("temp tmp temporary cache cached scratch".split())
_CASH = frozenset(
    "money funds payment payments crypto bitcoin coins salary payroll eth btc usdc usdt ether sol ethereum transaction transactions giftcard".split()
)
# remove_from_group, delete_from_table: by what something is taken out of.
_OUT_OF = {
    **dict.fromkeys(("access", "organization", "person", "project", "repository", "account"), "act_revoke"),
    **dict.fromkeys(("database", "table", "schema", "bucket", "volume", "backup", "audit"), "act_delete"),
}
_BLANKS = frozenset("wipe erase shred zero zeroize clear empty nuke".split())
_HALTS = frozenset({"stop", "cancel"})
CLOUD = frozenset(
    "gcp google gcloud azure aws cloud supabase firebase vercel heroku cloudflare neon terraform pulumi tofu cdk cloudformation".split()
)
_PUTTING = frozenset({"create", "change", "read", "restore", "send"})
_BACK = frozenset("revert restore return rollback set reset recover revive".split())
_REBUILDS = frozenset("rebuild reinstall reprovision reimage reflash".split())
_BOXES = frozenset(
    "server servers linode linodes droplet droplets vm vms instance instances machine machines host hosts os node nodes laptop workstation".split()
)
_EVERYWHERE = frozenset("all everything everywhere everyone".split())
_ROLLED = frozenset("deployment deployments process processes function production prod".split())
_SOCIAL = frozenset(
    "tweet tweets tweeting twitter linkedin facebook instagram tiktok reddit youtube mastodon bluesky threads reel social toot".split()
)
_OUT_LOUD = frozenset(
    "post posts tweet story reel article blog press announcement newsletter podcast statement".split()
)
_SHARED_HISTORY = frozenset("history branch branches main master commits commit".split())


def deed(act: NamedAct) -> tuple[str, tuple[str, ...]]:
    """The act's verb among the rules' words, and its traits."""
    if act.kind in _HALTS and act.noun in DEED_NOUNS:  # cancel_deletion, disable_delete
        return CHANGE, ()
    verb = _verb(act)
    if verb in HARMLESS:
        return _raised(act, verb)
    traits = [*_TRAITS.get(act.object, ())]
    if act.verb in _GENTLE:
        traits.append(_U)
    if act.verb in _TOTAL and verb == "act_delete" and act.object in (*_STORES, *_HOSTS, "disk", ""):
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


def _verb(act: NamedAct) -> str:
    if (act.verb in ("archive", "unlink") and act.noun in _EVERYDAY) or (act.verb == "pause" and act.noun in _ROLLED):
        return CHANGE
    if not act.kind and act.noun == "post" and not _SOCIAL.isdisjoint(act.phrase):
        return "act_send"  # twitter_post
    if act.verb in _REBUILDS and act.noun in _BOXES:
        return "act_delete"
    if act.noun == "legalhold" and (act.kind not in _PUTTING or act.verb in ("release", "lift")):
        return "act_override"
    if act.verb in _BACK and not {"factory", "factorydefaults"}.isdisjoint((*act.phrase, *act.beside)):
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
    if act.verb in ("send", "wire", "withdraw") and (act.noun in _CASH or act.phrase[:1] == ("transaction",)):
        return "act_pay"
    if act.kind in ("terminate", "stop") and act.noun in _OWN and not _TRIED.isdisjoint(act.phrase):
        return CHANGE  # what a developer has started
    if act.kind == "cancel" and act.noun in _GATHERINGS:
        return "act_delete"
    if act.kind == "delete" and act.phrase[:1] == ("by",):
        return "act_delete"  # delete_by_query
    if act.kind == "block" and not _REFUSED.isdisjoint(act.phrase):
        return "act_block"
    if act.kind == "create" and not _LISTS.isdisjoint((*act.phrase, *act.beside)):
        return "act_block"
    if act.verb in ("delete", "destroy") and act.noun in _DEFINED:
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
    if act.verb == "release" and act.noun in _HELD:
        return "act_terminate"
    if act.object == "disk" and (act.verb in _BLANKS or act.kind == "reset"):
        return "act_disk"
    if act.verb == "format" and act.noun in ("drive", "drives", "filesystem", "storage"):
        return "act_disk"
    if act.verb in ("remove", "delete", "kick") and act.object == "person" and act.beside:
        return "act_revoke"
    if act.kind == "delete" and act.beside and not act.phrase:
        return _OUT_OF.get(object_kind(act.beside)[0], CHANGE)
    own = _EXCEPTIONS.get(act.verb, {})
    found = own.get(act.object) or own.get("*")
    if found:
        return found
    table = _DEEDS.get(act.kind, _DEEDS[""])
    return table.get(act.object) or table["*"]


def _raised(act: NamedAct, verb: str) -> tuple[str, tuple[str, ...]]:
    """Harmless verbs that are not harmless here: make_admin, rewrite_history, enable_bypass."""
    if act.kind in ("create", "change", "grant") and _is_admin(act):
        return "act_escalate", ()
    if act.object == "physical" and act.verb in _MOVES and (act.verb not in _QUIET or act.noun in _CODE):
        return "act_terminate", ("physical", _U)
    if act.verb in ("set", "move", "increase", "change") and not _HAZARDS.isdisjoint((*act.phrase, act.noun)):
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


def is_broadcast(act: NamedAct) -> bool:
    """publish_post, post_to_linkedin, create_tweet: said to everybody, in somebody's name."""
    if not act.kind and act.noun == "post" and not _SOCIAL.isdisjoint(act.phrase):
        return True
    if act.verb in ("tweet", "broadcast", "blast") or (act.verb == "publish" and act.noun in _OUT_LOUD):
        return True
    said = (*act.phrase, *act.beside)
    return act.verb in ("post", "publish", "create", "send", "submit", "share") and not _SOCIAL.isdisjoint(said)


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
    if act.verb in ("book", "order", "request", "reserve") and act.noun in _BOOKED | _BOUGHT:
        return True
    if act.verb in _PLANS and act.noun in ("plan", "subscription", "tariff"):
        return True
    if act.verb == "deploy" and act.noun == "contract":
        return True
    if act.verb in ("sign", "accept") and act.noun in ("contract", "contracts", "loan", "lease"):
        return True
    return act.verb in _ORDERS and act.noun in _ORDERED and "draft" not in act.phrase


def _is_admin(act: NamedAct) -> bool:
    if act.noun in ADMIN_WORDS or (act.beside and act.beside[-1] in ADMIN_WORDS):
        return True
    return act.object in ("person", "account", "access") and not ADMIN_WORDS.isdisjoint(act.phrase)
