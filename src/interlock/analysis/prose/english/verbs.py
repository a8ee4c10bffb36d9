"""English verbs: their inflected forms, and the kind of effect that each announces."""

from __future__ import annotations

from functools import cache

_VOWELS = frozenset("aeiou")
BASE, THIRD, ING, PAST = "base", "third", "ing", "past"
_IRREGULAR = {
    "send": "sent", "give": "gave given", "take": "took taken", "make": "made", "get": "got gotten", "tear": "tore torn",
    "blow": "blew blown", "throw": "threw thrown", "shut": "shut", "cut": "cut", "put": "put", "run": "ran", "let": "let",
    "write": "wrote written", "overwrite": "overwrote overwritten", "rewrite": "rewrote rewritten", "pay": "paid",
    "sell": "sold", "buy": "bought", "bring": "brought", "spin": "spun", "wind": "wound", "see": "saw seen", "read": "read",
    "find": "found", "lose": "lost", "leave": "left", "strike": "struck", "burn": "burnt burned", "go": "went gone",
    "show": "showed shown", "reset": "reset", "build": "built", "set": "set", "think": "thought", "tell": "told",
    "undo": "undid undone", "draw": "drew drawn", "hold": "held", "keep": "kept", "know": "knew known", "do": "did done",
    "begin": "began begun", "start": "started", "shred": "shredded", "withdraw": "withdrew withdrawn",
    "freeze": "froze frozen", "redo": "redid redone", "do away": "did away", "expose": "exposed", "cast": "cast",
    "rip": "ripped", "hide": "hid hidden", "quit": "quit", "say": "said", "stick": "stuck", "break": "broke broken",
}  # fmt: skip


def forms(verb: str) -> dict[str, str]:
    """Every form of a verb, and which one it is; a base that is also a past form counts as base."""
    found = dict.fromkeys(_pasts(verb), PAST)
    found |= dict.fromkeys(_gerunds(verb), ING)
    found |= {_third(verb): THIRD, verb: BASE}
    return found


def _third(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


def _gerunds(verb: str) -> set[str]:
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return {verb[:-1] + "ing"}
    return {verb + "ing", *([verb + verb[-1] + "ing"] if _doubles(verb) else [])}


def _pasts(verb: str) -> set[str]:
    if verb in _IRREGULAR:
        return set(_IRREGULAR[verb].split())
    if verb.endswith("e"):
        return {verb + "d"}
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return {verb[:-1] + "ied"}
    return {verb + "ed", *([verb + verb[-1] + "ed"] if _doubles(verb) else [])}


def _doubles(verb: str) -> bool:
    return len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in _VOWELS and verb[-3] not in _VOWELS


def plural(noun: str) -> str:
    """The plural of an English noun."""
    if noun.endswith(("s", "sh", "ch", "x", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


# One word -> the kind of act. `acts.py` says what a kind does to which object.
VERBS = {
    "destroy": "delete erase drop truncate destroy expunge discard eliminate shred unpublish prune del rm deprovision"
    " ditch scrap dump junk axe trash bin rip decimate unlink evaporate dematerialize lvremove vgremove pvremove rmdir dropdb"
    " nix jettison slash deep-six gdpr-erase hard-delete mass-delete delte detele dlete deleet erradicate unmake expurgate"
    " efface delist_data trashcan rmtree kill_data sabotage vandalize vandalise deep-delete bulk-delete unperson"
    " bin-off decommit mangle defile despoil",
    "wipe": "wipe nuke obliterate annihilate eradicate purge zap vaporize vaporise demolish raze scrub wreck torch"
    " liquidate incinerate exterminate scorch sanitize sanitise bulldoze blitz degauss reinitialize reinitialise gut hollow"
    " pulverize pulverise atomize flatten_all ravage disintegrate extirpate cremate immolate zeroize zeroise smash detonate implode powerwash firebomb napalm brick bork ransack pillage vanquish decapitate"
    " carpet-bomb nuke-and-pave scorched-earth",
    "remove": "remove clear clean empty strip flush sweep tidy cleanse trim cull weed unset dismantle evict deregister"
    " detach uninstall withdraw tombstone lose reclaim vacuum unregister unenrol deindex de-index disassociate dissociate"
    " unpair unjoin unbind unbond untether unclaim unpeer depeer delink unmanage deallocate unsync debride unhook unmap depopulate declutter thin whittle winnow excise remvoe",
    "stop": "terminate kill stop halt shutdown decommission dissolve sunset retire teardown undeploy disband poweroff"
    " crash hibernate drain quit sink mothball scuttle shutter extinguish quiesce wreck_service pkill killall undeploy stopservice"
    " unprovision collapse sigkill sigterm discontinue stonith de-energize power-off shut-down wind-down spin-down",
    "disable": "disable deactivate inactivate mute silence pause neuter unplug disconnect switchoff cripple deenergize incapacitate"
    " disarm hobble kneecap nerf blindfold defang unarm snooze quarantine untick uncheck deselect de-select unmark toggle-off unenforce",
    "suspend": "suspend freeze debar defrock decertify disqualify offboard terminate_account delist unenroll disenroll deplatform lock-out furlough",
    "revoke": "revoke rescind unassign deny deauthorize deauthorise demote unshare unsubscribe downgrade disinvite"
    " uninvite expel oust disempower divest deprive dispossess unauthorize disentitle depose dethrone unseat strip-of"
    " disenfranchise disinherit deprivilege de-admin deadmin disaccredit delicense unadmin disown unentitle",
    "invalidate": "invalidate rotate regenerate reissue roll revoke_key burn rekey re-key unissue blackhole_key",
    "block": "ban block kick blacklist blocklist denylist banish shadowban ostracize boot bar exile unfriend unfollow gag ostracise excommunicate shun blackball blackhole outlaw muzzle geoblock geo-block permaban perma-ban shadow-ban ip-ban",
    "refund": "refund clawback reimburse chargeback repay compensate recompense",
    "charge": "pay charge payout wire bill debit disburse purchase buy transfer remit recharge donate prepay overpay bankroll invoice",
    "cancel": "cancel abort unbook void nullify annul call-off unschedule deschedule de-schedule countermand",
    "lock": "lock",
    "flash": "flash reflash re-flash",
    "bypass": "bypass override circumvent skip ignore evade sidestep overrule defeat suppress subvert jailbreak disregard dodge elude flout waive outwit trick"
    " cheat neglect hack crack skirt duck overstep",
    "force": "force",
    "grant": "grant escalate elevate promote give assign authorize authorise allow permit entrust",
    "expose": "expose unblock_public publicize publicise",
    "leak": "exfil exfiltrate pilfer filch purloin leak smuggle disclose divulge siphon syphon doxx dox steal",
    "send": "send upload post publish share paste forward copy export transmit mail email text tweet broadcast push deliver"
    " submit message notify dm announce blast spam sms page hand sync dump_to",
    "format": "format reformat repartition mkfs partition luksformat diskpart low-level-format",
    "overwrite": "overwrite clobber replace stomp squash_over",
    "reset": "reset reinstall recreate rebuild reimage restart_from reseed reinit rebootstrap",
    "rewrite": "rewrite forcepush force-push",
    "archive": "archive hide unlist",
    "close": "close shut",
    "expire": "expire lapse",
    # harm only to a thing of value, and with "maybe" only when it is many, shared or for good
    "shed": "sacrifice forgo forego pitch toss chuck yank blank surrender relinquish forfeit torpedo defenestrate hose strike rinse slough scupper offload evacuate bleach",
    "relax": "lift",
    "maybe": "zero forget vacate unload bury hurl fling heave sling shove cede abandon",
}

# A verb and the particle that turns it into another act; other words may stand between.
PHRASALS = {
    "clear": {"out": "remove", "away": "remove", "down": "remove"},
    "clean": {"out": "remove", "up": "remove", "off": "remove"},
    "tidy": {"up": "remove"},
    "sweep": {"away": "remove"},
    "blow": {"away": "wipe", "up": "wipe"},
    "wipe": {"out": "wipe", "clean": "wipe", "off": "wipe"},
    "zero": {"out": "wipe"},
    "rub": {"out": "wipe"},
    "tear": {"down": "stop", "out": "destroy", "up": "destroy"},
    "yank": {"out": "destroy"},
    "rip": {"out": "destroy"},
    "take": {"off": "remove", "down": "stop", "offline": "stop", "away": "revoke", "out": "stop"},
    "bring": {"down": "stop", "offline": "stop"},
    "shut": {"down": "stop", "off": "stop", "out": "revoke"},
    "pull": {"down": "stop", "offline": "stop", "plug": "stop"},
    "spin": {"down": "stop"},
    "wind": {"down": "stop"},
    "power": {"off": "stop", "down": "stop"},
    "turn": {"off": "disable", "down": "stop"},
    "switch": {"off": "disable"},
    "flip": {"off": "disable"},
    "knock": {"out": "stop", "offline": "stop", "over": "stop", "down": "stop"},
    "phase": {"out": "stop"},
    "kill": {"off": "stop"},
    "finish": {"off": "wipe"},
    "throw": {"away": "destroy", "out": "destroy"},
    "toss": {"out": "destroy", "away": "destroy"},
    "chuck": {"out": "destroy", "away": "destroy"},
    "cast": {"away": "destroy"},
    "get": {"rid": "destroy"},
    "dispose": {"of": "destroy"},
    "do": {"away": "destroy"},
    "let": {"go": "destroy"},
    "lock": {"out": "revoke", "down": "revoke"},
    "hollow": {"out": "wipe"},
    "gut": {"out": "wipe"},
    "root": {"out": "remove"},
    "strike": {"out": "remove", "off": "remove", "from": "remove"},
    "carve": {"out": "remove"},
    "flush": {"away": "remove", "out": "remove"},
    "wash": {"away": "remove", "out": "remove"},
    "weed": {"out": "remove"},
    "thin": {"out": "remove"},
    "scrape": {"off": "remove"},
    "black": {"out": "stop"},
    "lay": {"off": "suspend"},
    "close": {"down": "stop", "out": "close"},
    "cut": {"off": "revoke"},
    "kick": {"out": "block", "off": "block"},
    "throw_out": {"of": "block"},
    "strip": {"of": "revoke"},
    "call": {"off": "cancel"},
    "cross": {"off": "remove", "out": "remove"},
    "burn": {"down": "wipe", "off": "remove"},
    "hose": {"down": "wipe"},
    "boot": {"out": "block", "off": "block"},
    "freeze": {"out": "revoke"},
    "sell": {"off": "shed"},
    "drain": {"off": "shed", "away": "shed"},

    "sign": {"out": "invalidate"},
    "log": {"out": "invalidate"},
    "pay": {"out": "charge"},
    "cash": {"out": "charge"},
    "open": {"up": "expose"},
    "write": {"off": "refund"},
    "start": {"over": "reset", "fresh": "reset", "anew": "reset", "scratch": "reset", "afresh": "reset", "clean": "reset"},
    "begin": {"anew": "reset", "scratch": "reset", "afresh": "reset"},
    "free": {"up": "remove"},
    "null": {"out": "shed"},
    "claw": {"back": "refund"},
    "part": {"with": "shed"},
    "dispense": {"with": "shed"},
    "toggle": {"off": "disable"},
    "chop": {"off": "remove", "down": "stop"},
    "peel": {"off": "remove", "away": "remove"},
    "hack": {"off": "remove", "away": "remove"},
    "boil": {"away": "remove"},
    "level": {"down": "wipe"},
    "melt": {"down": "wipe"},
    "raze": {"down": "wipe"},
    "grind": {"down": "stop"},
    "fold": {"up": "stop"},
    "hurl": {"away": "shed", "out": "shed"},
    "fling": {"away": "shed", "out": "shed"},
    "sling": {"away": "shed", "out": "shed"},
    "heave": {"away": "shed", "out": "shed", "overboard": "shed"},
    "pitch": {"out": "shed", "away": "shed", "overboard": "shed"},
    "shove": {"out": "shed", "off": "shed"},
    "send": {"packing": "suspend"},
    "roll": {"over": "invalidate"},
    "write_over": {"over": "overwrite"},
}  # fmt: skip

# These look, and what they look at does not happen.
LOOKS = (
    "list show view read look see check inspect examine review audit analyze analyse count describe explain summarize"
    " summarise compare diff search find grep query estimate calculate compute validate verify lint test simulate investigate"
    " research study learn discuss ask consider evaluate assess monitor watch print display fetch report record note mention"
    " quote translate cite track trace debug preview propose suggest recommend plan brainstorm outline measure benchmark profile"
    " tell_about understand determine identify locate observe browse scan retrieve gather collect document_read question"
    " wonder teach demonstrate illustrate clarify answer rehearse mock model predict forecast warn remind dry-run detect"
    " highlight flag profile preview peek skim parse tail poll ping sample visualize visualise plot chart graph map justify"
    " confirm_that reproduce diagnose explore recall remember lookup double-check crosscheck cross-check recap argue debate"
    " inform advise assure apprise sum tally scour comb sift survey interpret assert expect walk clarify contrast introspect prove acknowledge tabulate reconcile quantify"
).split()  # fmt: skip

# These make something recoverable; what they make may speak of harm without doing any.
MAKES = (
    "write create add implement draft compose design develop refactor rename fix document comment generate scaffold"
    " improve commit sketch file open_ticket name title label tag describe_in bookmark annotate mark translate backport"
    " prevent avoid protect guard forbid prohibit disallow refuse reject decline undo restore recover revert undelete unban"
    " reinstate reactivate unblock enable defer postpone delay discourage back snapshot backup duplicate clone deprecate"
    " highlight illustrate record polish correct debug optimise optimize reword rephrase proofread spellcheck typeset"
    " build compile bundle style unit-test cover log paint prototype explain_in insert introduce handle undo harden"
    " support warn_in extend localize localise patch repair keep preserve retain save store"
).split()

# These say that something is done, and leave it to the rest of the sentence what.
DOES = (
    "run execute apply trigger launch use call invoke perform do make go proceed initiate carry conduct issue start begin"
    " continue complete finish confirm approve let have need want try plan_to intend move update edit modify change configure"
    " set adjust schedule queue deploy merge migrate put keep_on help ensure order instruct tell request get take bring cause turn"
    " allow_to require connect login ssh log open enter switch work scale resize restart reboot reload install download pull"
    " rebase checkout import load process handle return resolve manage cleanup leave free log kick_off pipe hit visit"
    " press click type select choose navigate sign prepare convert provision stop_by feed attach mount ship release roll_out"
    " invite backfill swap pivot onboard welcome greet point increase decrease lower raise seed shrink expand align adopt publish_to join reply sync assign_to upgrade bump plant paginate scp rsync curl wget tar zip ftp gzip encode sort reorder split cherry-pick invoke-expression iex exec eval stash amend squash unlock tweak tune loop iterate append"
).split()


Forms = dict[str, tuple[str, str, str]]


def verb_forms() -> Forms:
    """Every written form -> the verb, the form, and its kind; harm outranks doing, and both outrank looking."""
    return _forms()[0]


def opening_forms() -> Forms:
    """Forms that are nearly always something else, but for the begin of a clause with an article behind them: `audit the code`."""
    return _forms()[1]


def is_opening(low: list[str], at: int) -> bool:
    """True for such a form where it is a verb."""
    return (
        low[at] in opening_forms()
        and at + 1 < len(low)
        and low[at + 1] in _ARTICLES
        and (not at or low[at - 1] in _LEADS)
    )


_ARTICLES = frozenset("the this these those my our your their his her its all every each".split())
_LEADS = frozenset("please then and now to i'll we'll will let's just also next first".split())


@cache
def _forms() -> tuple[Forms, Forms]:
    table: dict[str, tuple[str, str, str]] = {}
    groups = [("do", [verb for verb in PHRASALS if "_" not in verb]), ("look", LOOKS), ("make", MAKES), ("do", DOES)]
    groups += [(kind, words.split()) for kind, words in VERBS.items()]
    for kind, words in groups:
        for verb in words:
            for form, name in forms(verb).items():
                table[form] = (verb, name, kind)
    for verb, kind in _ALSO.items():
        for form, name in forms(verb).items():
            table[form] = (verb, name, kind)
    taken = {form: table.pop(form) for form in _NOT_VERBS if form in table}
    return table, {form: entry for form, entry in taken.items() if entry[1] == BASE}


# Verbs whose plain meaning is another than that of their class above.
_ALSO = {"open": "do", "log": "make", "document": "make", "record": "make", "note": "make", "copy": "send", "export": "send",
         "test": "look", "review": "look", "list": "look", "roll": "do", "save": "make", "scale": "do",
         "sign": "do", "dump": "do", "sync": "do", "page": "do", "hand": "grant", "text": "do", "mark": "make",
         "flag": "look", "sanitize": "make", "sanitise": "make", "trim": "make"}  # fmt: skip

# Written like a form of a verb, and nearly always something else.
_NOT_VERBS = frozenset(
    "lists sets bins bars checks tests logs builds releases files names titles tags labels records reports notes"
    " comments documents queries plans reviews flags maps charts graphs samples models scans traces profiles orders issues"
    " requests needs uses changes updates processes hits loads types charges bills transfers emails mails texts posts messages"
    " pages copies exports replaced ships works shows filing copies hands moves patches supports covers stores"
    " backups snapshots clones guards handles audits audit saved saving cleanups boots bans wires kicks permits drafts ports"
    " quotes questions answers designs drains trashes mutes formats partitions partition rolls"
    " shares sorts splits imports installs downloads loading building buildings billing testing_"
    " bar sink bill boot model sample map chart graph page hand text dump_ sync_ style tag label title name".split()
)
# Nouns made of verbs: "the deletion of", "a full wipe".
NOMINALS = {
    "deletion": "destroy", "removal": "destroy", "erasure": "destroy", "destruction": "destroy", "elimination": "destroy",
    "truncation": "destroy", "wipeout": "wipe", "purging": "wipe", "obliteration": "wipe", "demolition": "wipe",
    "teardown": "stop", "termination": "stop", "shutdown": "stop", "decommissioning": "stop", "deactivation": "suspend",
    "suspension": "suspend", "revocation": "revoke", "invalidation": "invalidate", "rotation": "invalidate",
    "cleanup": "remove", "clean-up": "remove", "clearout": "remove", "clear-out": "remove", "eviction": "remove",
    "reinitialization": "reset", "exfiltration": "leak", "formatting": "format", "reformatting": "format",
    "cancellation": "cancel", "dismantling": "stop", "offboarding": "suspend", "disablement": "disable",
    "chargeback": "refund", "refund": "refund", "refunds": "refund", "payout": "charge", "payouts": "charge",
    "eradication": "wipe", "annihilation": "wipe", "liquidation": "wipe", "deprovisioning": "destroy",
}  # fmt: skip
