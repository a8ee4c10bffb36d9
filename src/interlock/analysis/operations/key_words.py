"""The name of a parameter -> the meaning of a yes, a no or a value given under it."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from interlock.analysis.lexicon import object_kind, objects, split_name, verbs

_ERASES = frozenset(
    "delete destroy wipe purge drop truncate erase shred nuke obliterate zeroize expunge eradicate scrub format reformat".split()
)
_TAKES = frozenset("remove clear empty discard clean reset recreate prune overwrite replace flush".split())
# What is gone for good with such a verb; anything else may be a label or a filter.
_LOST = frozenset(
    """data database databases db volume volumes content contents files file backups backup snapshots snapshot source sources table tables schema
    schemas disk disks storage persistence persistent bucket objects records history orphans existing dependents children pvc pvcs pv
    everything all users accounts versions namespace messages mailbox home profile missing extraneous unmatched""".split()
)
# Words beside a verb under which it is no order to delete.
_SPARES = frozenset(
    """no not prevent skip disable without dont never avoid can could on if confirm show include exclude soft protect protection retain
    keep support supports pending mark marked is_deletable allowed policy deletable undo restore count at by log logs event events label
    labels tag tags branch cache caches duplicates duplicate na null nulls nan whitespace index_col background draft drafts message_id button
    hook hooks callback notification notifications email warn warning shadow column_level zone down point rate""".split()
)  # fmt: skip
_GUARDS = frozenset(
    """protection protections protected protect mfa 2fa totp encryption encrypted encrypt audit auditing auditlog auditlogs cloudtrail firewall waf
    versioning pitr selinux apparmor antivirus defender sandbox sandboxed moderation approval approvals captcha csrf hsts authentication auth
    authorization rbac security secure safeguard safeguards guardrail guardrails guard fraud scrubber scrubbing dlp edr guardduty immutability
    immutable legalhold antimalware backups backup recovery sso tls ssl monitoring attestation interlock quarantine lockdown
    tamper compliance verification signing cors_check ratelimit isolation autobackup geofence""".split()
)  # fmt: skip
_DEMANDS = frozenset("require requires required requirement enforce enforces enforced enforcement mandatory".split())
_DEMANDED = frozenset(
    """mfa 2fa factor review reviews reviewer reviewers approval approvals approving signature signatures signed auth login password passwords ssl tls
    https name confirmation verification encryption checks status owner owners sso token captcha admins admin secure reauth consent authentication
    commits linear conversation""".split()
)
_PREVENTED = frozenset("termination terminate deletion delete destroy destruction public overwrite".split())
_CLOSES = frozenset({"block", "restrict", "ignore", "deny"})  # BlockPublicAcls
_LIFTS = frozenset("disable skip bypass suppress unprotect deactivate ignore no without disabled off".split())
_LETS = frozenset("allow permit enable allows".split())
_LET_IN = frozenset(
    """force forced deletion deletions anonymous unauthenticated insecure unrestricted root superuser privileged unsafe bypass destructive loss
    plaintext""".split()
)
_LIFTED = _GUARDS | frozenset(
    "realtime validation validations checks check review reviews confirmation signature signatures safety".split()
)
_PUBLIC = frozenset("public publicly anonymous unauthenticated worldreadable".split())
_NOT_SWITCHES = frozenset(
    "id ids name names number at date time url email type key path arn version message description title page ui redesign banner beta label icon "
    "color tab menu view widget test tests zone region window target".split()
)
STATES = frozenset(
    "enabled enable status state mode active value level isenabled on isactive setting newvalue to".split()
)
NAMES = frozenset(
    "key name setting parameter flag feature option property attribute variable settingname parametername featurename flagname configkey policy "
    "control check".split()
)


class Sense(Struct, frozen=True):
    """What a parameter's name says."""

    words: tuple[str, ...] = ()
    deletes: bool = False  # a yes deletes
    many: bool = False  # and more than one thing
    guards: bool = False  # a no switches a protection off
    lifts: bool = False  # a yes switches a protection off
    opens: bool = False  # a yes opens it to everybody
    forwards: bool = False  # where mail goes as well
    ends: str = ""  # a yes ends something: the verb for it


NOTHING = Sense()


@lru_cache(maxsize=4096)
def sense(key: str) -> Sense:
    """What a key says, from its words."""
    words = tuple(word for segment in split_name(key) for word in segment)
    if not words or len(words) > 8:
        return NOTHING
    own = frozenset(words)
    deletes = _deletes(words, own)
    lifts = _lifts(words, own)
    guards = not lifts and _guards(words, own)
    opens = not _PUBLIC.isdisjoint(own) and own.isdisjoint(
        _CLOSES | _LIFTS | {"key", "keys", "ip", "subnet", "url", "id", "name"}
    )
    forwards = any(word.startswith(("forward", "redirect", "autoforward")) for word in words) or "delegate" in own
    ends = "" if deletes else _ends(words)
    found = Sense(words, deletes, deletes and _is_many(words), guards, lifts, opens, forwards, ends)
    return found if deletes or guards or lifts or opens or forwards or ends else NOTHING


def _deletes(words: tuple[str, ...], own: frozenset[str]) -> bool:
    if not own.isdisjoint(_SPARES):
        return False
    for position, word in enumerate(words[:3]):
        rest = words[position + 1 :]
        if word in _ERASES:
            return object_kind(rest)[0] != "light" if rest else word not in ("format", "scrub", "reformat")
        if word in _TAKES:
            return bool(rest) and not _LOST.isdisjoint(rest)
    return False


def _is_many(words: tuple[str, ...]) -> bool:
    return not _LOST.isdisjoint(words) or any(objects().get(word, "") in _STORES for word in words)


_STORES = frozenset({"database", "schema", "table", "volume", "bucket", "cluster", "backup", "project"})


def _guards(words: tuple[str, ...], own: frozenset[str]) -> bool:
    if words[0] in ("disable", "prevent", "deny", "forbid") and not own.isdisjoint(_PREVENTED):
        return True
    if words[-1] in _NOT_SWITCHES and words[-1] != "name":
        return False
    if not own.isdisjoint(_DEMANDS):
        return not own.isdisjoint(_DEMANDED)
    if not own.isdisjoint(_CLOSES) and "public" in own:
        return True
    return not own.isdisjoint(_GUARDS) and own.isdisjoint({"name", "count", "log_level", "days"})


def _lifts(words: tuple[str, ...], own: frozenset[str]) -> bool:
    if words[0] in _LETS:
        return not own.isdisjoint(_LET_IN)
    if words[0] in ("bypass", "dangerously", "insecure"):
        return True
    if words[0] in _LIFTS or words[-1] in ("disabled", "off", "bypassed", "skipped"):
        return not own.isdisjoint(_LIFTED)
    return False


_ENDING = frozenset({"terminate", "revoke", "invalidate", "account", "cancel"})
_MILD = frozenset("lock close dismiss expire logout timeout mute block deny throttle roll rotate drain evict".split())


def _ends(words: tuple[str, ...]) -> str:
    """cancel_at_period_end, revoke_tokens, terminateInstances: a yes that ends something."""
    first = words[0]
    if first in _MILD and len(words) == 1:
        return ""
    return (
        first
        if (verbs().get(first, "") in _ENDING or first in ("ban", "kick", "expel"))
        and first not in ("dismiss", "deny", "throttle", "timeout", "mute")
        else ""
    )
