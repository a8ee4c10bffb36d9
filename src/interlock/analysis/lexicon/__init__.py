"""English words of names and parameters: kinds of verbs, kinds of objects and words of scope; splits names into words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from interlock.analysis.confusables import plain
from interlock.analysis.lexicon.load import english

MAX_NAME = 400  # characters of a name that are read
MAX_WORDS = 40

# Verbs that carry a deed noun.
CARRIERS = frozenset(
    """process issue make perform do execute run trigger start initiate begin submit request confirm approve apply
    schedule force commit complete finalize enqueue queue launch invoke call fire send create authorize post""".split()
)
# Verbs that are as often nouns; they lead a name only where nothing stronger does.
WEAK = frozenset(
    """report view query index log record search snapshot backup order lock block profile status info health comment tag
    label post store import export release stage request issue commit merge map route branch trade bid charge transfer
    invoice text message email mail sms build draft design book copy fork patch short type like star pin mark link call
    run process control sample track score rank chart trigger switch mount stake tip bridge roll boot format partition
    sign form move filter share head tail cat stat will may drain capture dump archive need play burn dm help swap
    queue job schedule reset wire ban void refund kick change pool quote cleanup clean flush gc mute mint close skip pop
    strip sum load force do ask tell review audit payout chargeback pay trash order boot text launch test watch
    fire commit bind sort zero blank forget stash put cut end timeout place flash credit deposit land cut trip lapse surrender
    scrap sack""".split()
)

# Heads that say little: the noun to their left is meant.
_PASS = frozenset(
    """pair pairs set sets entry batch info details detail id ids name names by one many multiple object
    objects resource resources arn uuid number uid handle ref reference v1 v2 v3 v4 async sync now api
    request job task operation action command intent intents forcefully immediately permanently completely forever hard soft force
    recursive recursively cascade all everything every entire whole bulk batch mass selected old stale unused expired inactive
    legacy orphaned dangling first last 0 1 2 3 only safely quietly again""".split()
)

_HOSTS_OF_DATA = frozenset("instance instances cluster clusters server servers".split())

PREPOSITIONS = frozenset("from in of for to by with on at via using as into onto within inside per without if".split())
CONJUNCTIONS = frozenset("and then or".split())
ALL_WORDS = frozenset("all every everything entire whole everyone everybody everywhere".split())
BULK_WORDS = frozenset("bulk mass batch many multiple multi several batched".split())
PERMANENT_WORDS = frozenset(
    "permanently permanent irreversibly irrevocably forever hard irrecoverably unrecoverable".split()
)
FORCE_WORDS = frozenset("force forced forcefully forcibly forcible unsafe unsafely unconditionally".split())
PRODUCTION_WORDS = frozenset("production prod prd live".split())
STAGING_WORDS = frozenset("staging stage stg uat preprod".split())
NOT_PRODUCTION = frozenset("non pre not staging stg dev test sandbox nonprod preprod".split())
ADMIN_WORDS = frozenset(
    "admin admins administrator owner superuser root sudo sudoer sudoers superadmin god cluster-admin editor_all sysadmin poweruser".split()
)
EVERYDAY = frozenset(
    "message messages email emails mail thread threads note notes task tasks issue issues card cards conversation conversations item "
    "items ticket tickets page pages chat todo".split()
)  # put away every day
PROTECTIVE = frozenset("protection lock guard prevention policy hold safeguard restriction".split())

SPLIT_VERBS = tuple(
    "delete drop truncate destroy wipe purge remove terminate revoke reset erase list get create update disable".split()
)


def verbs() -> Mapping[str, str]:
    """Every verb of a name -> how the name is parsed that it leads: read, create, change, restore, delete, terminate…"""
    return english().named


def objects() -> Mapping[str, str]:
    """Every noun of a name -> the kind of object."""
    return english().name_nouns


def deed_nouns() -> Mapping[str, str]:
    """Nouns that name a deed -> how a name is parsed with it: `process_refund`, `schedule_key_deletion`."""
    return _deed_nouns()


@cache
def _deed_nouns() -> Mapping[str, str]:
    kinds = english().kinds
    return {noun: kinds[kind].name for noun, kind in english().named_nouns.items()}


@cache
def vocabulary() -> frozenset[str]:
    """The words that matter in a name."""
    return frozenset({*verbs(), *objects(), *ALL_WORDS, *BULK_WORDS, *PERMANENT_WORDS, *FORCE_WORDS, *PRODUCTION_WORDS})


_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\W\dA-Za-z_]+")
_PARTS = re.compile(r"__+|[.:/\\#>|\s]+")
_TWO = {
    ("shut", "down"): "shutdown", ("tear", "down"): "teardown", ("power", "off"): "poweroff", ("roll", "back"): "rollback",
    ("clean", "up"): "cleanup", ("log", "out"): "logout", ("sign", "out"): "signout", ("charge", "back"): "chargeback",
    ("pay", "out"): "payout", ("turn", "off"): "disable", ("switch", "off"): "disable", ("un", "ban"): "unban",
    ("un", "delete"): "undelete", ("write", "off"): "writeoff", ("spin", "down"): "terminate", ("kick", "off"): "start",
    ("opt", "out"): "unsubscribe", ("look", "up"): "lookup", ("back", "up"): "backup", ("dry", "run"): "dryrun",
    ("off", "board"): "offboard", ("shut", "off"): "shutdown", ("take", "down"): "teardown", ("set", "up"): "create",
    ("scale", "down"): "scale", ("wind", "down"): "decommission", ("cash", "out"): "cashout", ("what", "if"): "whatif",
    ("drop", "down"): "dropdown", ("drop", "in"): "dropin", ("sign", "off"): "approve", ("black", "list"): "blacklist", ("get", "rid"): "delete",
    ("blow", "away"): "delete", ("throw", "away"): "delete", ("un", "publish"): "unpublish",
    ("un", "do"): "undo", ("re", "enable"): "reenable", ("re", "activate"): "reactivate", ("lock", "out"): "ban", ("lay", "off"): "dismiss", ("secure", "erase"): "erase", ("cut", "access"): "revoke", ("wipe", "out"): "wipe", ("emergency", "stop"): "shutdown",
    ("kill", "switch"): "killswitch", ("drop", "zone"): "dropzone", ("rule", "out"): "check", ("hand", "over"): "transfer",
    ("time", "out"): "timeout", ("drag", "drop"): "drag", ("api", "key"): "apikey", ("api", "keys"): "apikeys",
    ("helm", "chart"): "helmrelease", ("helm", "charts"): "helmreleases", ("helm", "release"): "helmrelease",
    ("send", "keys"): "keystrokes", ("payroll", "run"): "payout", ("set", "inactive"): "deactivate", ("set", "disabled"): "disable", ("mark", "deleted"): "delete", ("mark", "inactive"): "deactivate",
    ("load", "balancer"): "loadbalancer", ("role", "binding"): "rolebinding", ("security", "group"): "securitygroup",
    ("service", "account"): "serviceaccount", ("node", "group"): "nodegroup", ("rate", "limit"): "ratelimit",
    ("audit", "log"): "auditlog", ("audit", "logs"): "auditlogs", ("resource", "group"): "rg", ("resource", "groups"): "rg", ("smart", "lock"): "smartlock", ("check", "out"): "checkout", ("top", "up"): "topup", ("two", "factor"): "2fa",
    ("legal", "hold"): "legalhold", ("legal", "holds"): "legalhold", ("claw", "back"): "clawback", ("pull", "request"): "pullrequest",
    ("pull", "requests"): "pullrequest", ("credit", "note"): "creditnote",
    ("gift", "card"): "giftcard", ("access", "key"): "apikey", ("access", "keys"): "apikeys", ("access", "token"): "token",
    ("access", "tokens"): "tokens", ("record", "set"): "recordset", ("restore", "point"): "restorepoint",
    ("key", "pair"): "keypair", ("sd", "card"): "sdcard", ("service", "key"): "apikey", ("drag", "and"): "drag",
}  # fmt: skip


@lru_cache(maxsize=4096)
def split_name(name: str) -> tuple[tuple[str, ...], ...]:
    """A name -> its segments, each a tuple of lower-case words: `mcp__github__deleteRepo` -> (mcp) (github) (delete, repo)."""
    text = plain(name[:MAX_NAME], vocabulary())
    segments = []
    left = MAX_WORDS
    for part in _PARTS.split(text):
        words = _joined([piece.lower() for piece in _WORD.findall(part)][:left])
        left -= len(words)
        if words:
            segments.append(words)
    return tuple(segments)


def _joined(words: list[str]) -> tuple[str, ...]:
    """Two words that are one idea become one (`shut_down`), one word that is two becomes two (`dropdatabase`)."""
    out: list[str] = []
    for word in words:
        pair = (out[-1], word) if out else ("", word)
        if pair in _TWO:
            out[-1] = _TWO[pair]
        elif word in verbs() or word in objects() or len(word) < 7:
            out.append(word)
        else:
            out += _halves(word)
    return tuple(out)


def _halves(word: str) -> list[str]:
    for verb in SPLIT_VERBS:
        rest = word[len(verb) :]
        if word.startswith(verb) and (rest in objects() or rest in ALL_WORDS):
            return [verb, rest]
    return [word]


def verb_kind(word: str) -> str:
    """What kind of verb a word is, or nothing."""
    return verbs().get(word, "")


def object_kind(words: tuple[str, ...]) -> tuple[str, str]:
    """The kind of the object that a noun phrase names, and its head noun; the head is its last telling word."""
    for word in reversed(words):
        if word in _PASS and len(words) > 1:
            continue
        kind = objects().get(word, "")
        if word in _HOSTS_OF_DATA and any(objects().get(other) == "database" for other in words):
            kind = "database"  # delete_db_instance
        return kind, word
    for word in reversed(words):  # nothing but words that say little
        if word in objects():
            return objects()[word], word
    return "", words[-1] if words else ""


def is_plural(noun: str) -> bool:
    """True for a noun that plainly names several."""
    return len(noun) > 3 and noun.endswith("s") and not noun.endswith(("ss", "us", "is", "dns", "aws", "access"))


def names_production(words: tuple[str, ...] | list[str]) -> bool:
    """True when the words name production, and not the stage before it."""
    if PRODUCTION_WORDS.isdisjoint(words):
        return False
    return any(
        word in PRODUCTION_WORDS and not (position and words[position - 1] in NOT_PRODUCTION)
        for position, word in enumerate(words)
    )
