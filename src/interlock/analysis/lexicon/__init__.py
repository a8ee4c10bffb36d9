"""English words of names and parameters: kinds of verbs, kinds of objects and words of scope; splits names into words."""

from __future__ import annotations

import re
from functools import lru_cache

from interlock.analysis.confusables import plain

MAX_NAME = 400  # characters of a name that are read
MAX_WORDS = 40

# What a verb does; `lexical` because what it does to whom is decided by the object (deeds.py).
_VERBS = {
    "read": """get list search count check introspect read find fetch show describe view query lookup preview validate
        diff plan simulate explain inspect examine analyze analyse compare summarize summarise estimate calculate compute
        verify monitor watch trace browse peek tail head cat ls stat exists ping probe poll retrieve scan detect predict
        recommend suggest classify audit review measure benchmark profile evaluate lint parse render translate convert
        encode decode hash tokenize is are has have can was were should does did will may needs need quote forecast
        enumerate discover debug whoami download observe ask think reason reflect select filter grep glob locate print
        display report log test help info status health assess rank score extract tell whatif visualize chart plot
        iter iterate each sample sum avg aggregate identify track load see study dryrun typecheck transcribe""",
    "create": """create add insert new register post upload make build generate compose draft write define declare
        open prepare introduce provision initialize initialise init spawn launch clone copy duplicate fork import
        save store record snapshot backup book subscribe invite comment reply attach annotate design append""",
    "change": """put alter failover unpair update set edit rename toggle configure assign tag label move modify change patch upsert replace adjust
        enable activate turn switch mark pin star schedule reschedule sync synchronize mirror reconcile refresh restart reboot redeploy
        deploy release publish push pull commit merge rebase install upgrade migrate start resume run execute exec
        invoke call trigger apply perform process handle submit request confirm approve accept complete finalize
        finish queue enqueue retry rerun rebuild reinstall reflash reindex recalculate scale resize increase decrease bump promote
        link join connect mount bind map route redirect forward sort order arrange resolve reopen follow unfollow like
        unlike unpin unstar click press type scroll hover drag tap swipe navigate visit focus wait sleep notify remind
        remember index convert optimize compress vacuum reload toggle protect harden secure encrypt sign
        abort prevent avoid reject acknowledge snooze deduplicate trim stash cherrypick stage unstage fix repair patch debug play train crop
        transform normalize manage control do issue commit begin initiate fire checkout capture raise lift disengage takeoff cut trip land place flash vent dispense administer inject engage detonate ignite anonymize pseudonymize""",
    "restore": """undelete restore unban unsuspend reinstate recover unblock unmute unarchive reactivate reenable undo
        unlock unquarantine undrop rehydrate uncordon untrash unvoid revive resurrect renew extend redo untruncate
        unrevoke unhide unexpire""",
    "delete": """delete destruct remove destroy erase purge wipe obliterate expunge nuke annihilate eradicate eliminate
        exterminate vaporize incinerate shred scrub discard yank wipeout trash dispose prune empty del rm rmdir rmtree drop truncate
        unlink zap flush clear clean cleanup reap gc unset cull sweep wreck raze demolish overwrite zero zeroize
        forget deregister unregister unpublish uninstall retract redact strip expurgate axe ditch unsave 
        delist depublish evaporate blank deindex tombstone harddelete multidelete batchdelete scrap jettison unmake liquefy
        dewrite extirpate efface nullout vanquish pulverize""",
    "terminate": """terminate kill decommission deprovision teardown dismantle retire sunset shutdown poweroff
        undeploy deallocate brick degauss evict evacuate drain cordon abandon scuttle halt unprovision decom deboard disassemble
        deorbit desubscribe takedown end""",
    "stop": "stop suspend pause hibernate freeze deactivate disable detach disconnect unmount unmap unbind offline turnoff",
    "archive": "archive shelve mothball hide",
    "revoke": """dismiss sever revoke unassign unshare deauthorize unauthorize deny demote disown uninvite
        unjoin disassociate dissociate divest deprive unfriend untrust disinherit disqualify decertify delink""",
    "annul": """annul rescind nullify abolish repudiate forfeit lapse renounce relinquish surrender abrogate quash vacate disclaim countermand
        disavow unsign""",
    "seize": "confiscate seize expropriate foreclose garnish repossess impound embargo clawback",
    "invalidate": "invalidate expire rotate logout signout deauthenticate rekey roll regenerate",
    "reset": "reset reimage reprovision reinitialize reinitialise reinit reformat recreate flushall flushdb factoryreset",
    "block": "ban block kick eject unenroll disenroll blackhole sinkhole nullroute excommunicate debar blackball ostracize deport disbar unsubscribe expel mute blacklist blocklist denylist quarantine banish boot silence gag shadowban throttle timeout",
    "account": "offboard disband dissolve deplatform close lock furlough sack",
    "pay": """refund payout pay charge chargeback transfer withdraw wire remit disburse debit purchase buy sell trade
        donate void reverse writeoff cashout reimburse settle liquidate bid stake redeem invoice swap burn mint
        short unstake bridge tip credit deposit topup bet wager gamble defund concede overpay prepay""",
    "cancel": "cancel",
    "override": "override bypass force skip ignore circumvent suppress overrule waive unprotect disarm defeat evade relax loosen weaken sidestep neutralize",
    "grant": "grant become elevate escalate impersonate assume sudo authorize allow permit expose unrestrict share delegate",
    "send": "send email mail broadcast message tweet sms announce blast dm text",
    "leak": "exfiltrate leak export dump",
    "rollback": "rollback revert downgrade",
    "format": "format partition repartition mkfs",
    "rewrite": "rewrite squash amend forcepush",
}  # fmt: skip

# Nouns that name a deed: `process_refund`, `schedule_key_deletion`.
_DEED_NOUNS = {
    "deletion": "delete", "removal": "delete", "erasure": "delete", "destruction": "delete", "purge": "delete",
    "wipe": "delete", "truncation": "delete", "deprovisioning": "terminate", "termination": "terminate",
    "teardown": "terminate", "decommissioning": "terminate", "shutdown": "terminate", "eviction": "terminate",
    "poweroff": "terminate", "revocation": "revoke", "rotation": "invalidate", "invalidation": "invalidate",
    "suspension": "stop", "deactivation": "stop", "closure": "account", "offboarding": "account", "ban": "block",
    "refund": "pay", "refunds": "pay", "payout": "pay", "payouts": "pay", "chargeback": "pay", "payment": "pay",
    "payments": "pay", "transfer": "pay", "withdrawal": "pay", "cancellation": "cancel", "reset": "reset",
    "transfers": "pay", "charges": "pay", "withdrawals": "pay", "cleanup": "delete", "drop": "delete", "delete": "delete", "charge": "pay", "purchase": "pay", "override": "override",
    "bypass": "override", "rollback": "rollback", "disbursement": "pay", "remittance": "pay",
}  # fmt: skip

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

_OBJECTS = {
    "database": "database databases db dbs rds keyspace firestore datastore warehouse redis mongo postgres mysql sqlite dynamodb",
    "schema": "schema schemas",
    "table": "table tables collection collections tablespace dataset datasets",
    "data": """data record records row rows file files document documents doc docs message messages item items issue
        issues comment comments note notes page pages entry entries folder folders directory directories dir dirs photo
        photos image images video videos media attachment attachments object objects task tasks ticket tickets event
        events post posts post article articles report reports dashboard dashboards card cards board boards list lists
        contact contacts lead leads deal deals product products asset assets resource resources artifact artifacts
        branch branches release releases commit commits mailbox inbox email emails mail thread threads channel
        channels stash worktree index indexes indices queue queues topic topics stream streams column
        columns view views log logs history path paths blob blobs vector vectors
        embedding embeddings calendar calendars notebook notebooks sheet sheets spreadsheet worksheet cell cells range
        block blocks relation relations entity entities memory memories observation observations 
        values package packages version versions model models library content story stories playlist 
        recording recordings conversation conversations submission submissions campaign campaigns survey 
        pii everything milestone wiki gist annotation annotations feed drive bin recyclebin trash trashbin""",
    "volume": "volume volumes pv pvc pvcs ebs filesystem filesystems",
    "bucket": "bucket buckets s3",
    "cluster": "cluster clusters nodegroup nodegroups",
    "namespace": "namespace namespaces",
    "repository": "repository repositories repo repos",
    "organization": """organization organizations organisation organisations org orgs enterprise company workspace
        workspaces tenant tenants guild""",
    "project": "project projects environment environments env stack stacks infrastructure infra terraform pulumi tofu cdk cloudformation rg site sites",
    "backup": "backup backups snapshot snapshots restorepoint pitr savepoint archive archives replica replicas vault",
    "audit": "audit audits cloudtrail trail auditlog auditlogs auditing siem",
    "credential": """key keys token tokens secret secrets credential credentials password passwords passwd certificate
        certificates cert certs session sessions apikey apikeys passkey passkeys pat oauth jwt cookie cookies keypair
        passphrase ca kms cmk""",
    "access": """permission permissions access role roles privilege privileges grant grants scope scopes policybinding
        rolebinding clusterrolebinding collaborator collaborators member members membership memberships acl acls admin
        admins administrator owner owners rights authorization authorizations entitlement entitlements license licenses
        licence seat seats maintainer group groups ownership guest guests participant participants""",
    "machine": """instance instances server servers vm vms container containers pod pods service services deployment
        deployments helmrelease helmreleases node nodes process processes daemon function functions lambda lambdas linode linodes droplet droplets host hosts
        machine machines app apps application applications worker workers loadbalancer balancer gateway vpc subnet vnet
        broker endpoint endpoints nic interface daemonset statefulset replicaset cronjob machineset runner runners
        system systems production prod ec2 eks ecs fargate autoscaling asg fleet connection connections 
        distribution backend frontend website domain domains mainframe kubernetes k8s
        datacenter vmss appservice elb alb nlb nat igw helm""",
    "config": """config configs configuration configurations setting settings policy policies rule rules dns zone zones
        recordset webhook webhooks alarm alarms monitor monitors route routes flag flags cron pipeline pipelines
        workflow workflows trigger triggers schedule schedules hook hooks secretmap configmap configmaps crd ingress
        securitygroup sg listener listeners integration integrations plugin plugins parameter parameters template
        templates variable variables registry preset profile profiles automation automations iptables nacl constraint
        constraints lifecycle retention""",
    "person": """employment user users customer customers employee employees subscriber subscribers person people client clients
        contractor contractors staff student students patient patients player players identity identities principal
        sender senders vendor vendors merchant merchants ip ips number follower followers attendee 
        bot bots iam team teams author seller buyer driver""",
    "account": "account accounts subaccount subaccounts login logins serviceaccount serviceaccounts acct",
    "money": """payment payments invoice invoices subscription subscriptions order orders charge charges payout payouts
        refund refunds booking bookings reservation reservations appointment appointments shipment shipments flight
        flights hotel hotels ticketing rental contract contracts transaction transactions bill bills fund funds money balance balances wallet wallets
        deposit deposits payroll salary salaries coupon coupons credit credits purchase
        trip trips trade trades position positions mandate stock stocks crypto coin coins bitcoin giftcard
        paycheck expense expenses fee fees penalty penalties debt debts loan loans wage wages mortgage lease leases claim claims premium premiums escrow
        dispute disputes eth btc usdc usdt ether ethereum sol bet bid shares nft nfts""",
    "safety": """validation approval approvals safety check checks mfa 2fa totp otp protection protections guard guards
        guardrail guardrails limit limits ratelimit sandbox firewall firewalls auditing monitoring alert alerts alerting
        antivirus encryption safeguard safeguards lockdown waf verification captcha authentication auth security
        moderation compliance gate gates signature signatures sso detection defender
        edr selinux tls ssl logging guardduty legalhold versioning lock locks interlock quota quotas restriction
        restrictions """,
    "light": """label labels reaction reactions tag tags star stars pin pins bookmark bookmarks whitespace background
        highlight highlights formatting cache caches cdn filter filters form forms selection screen cart badge badges
        notification notifications button buttons field fields toast tab tabs window dialog tooltip theme mode draft
        drafts clipboard timer timers reminder reminders cursor console canvas animation animations overlay menu sidebar
        microphone mic speaker accents duplicates spaces punctuation html text string strings noise style styles layer mark marks marker
        placeholder like likes vote votes follow input inputs output buffer buffers viewport breakpoint breakpoints
        watcher watchers tmp temp temporary scratch prefix suffix newline newlines bom blanks outliers stopwords emoji
        date currency time sound music track audio playback typing counter
        pullrequest polling tracking build builds job jobs run runs download downloads upload uploads query queries request
        requests telemetry debug autoplay nulls ansi color colour margin
        padding shape dark title description headers header footer banner popup preference preferences avatar alias
        aliases meeting meetings call calls light lights lamp lamps bulb bulbs tv television fan led""",
    "disk": "disk disks partition partitions factory hdd ssd usb sdcard device devices laptop phone lun raid zpool",
    "physical": """car cars tesla door doors valve valves breaker breakers pump pumps circuit circuits reactor turbine conveyor furnace boiler elevator trunk
        sprinkler sprinklers robot robots vehicle vehicles drone drones engine engines garage sluice firmware bootloader plc ecu actuator
        actuators motor motors barrier relay relays medication dose insulin infusion siren crane ventilator generator oven stove heater
        substation grid missile rocket rockets brake brakes coil coils power thruster thrusters deadbolt smartlock""",
    "human_mail": "newsletter newsletters sms announcement announcements",
}  # fmt: skip
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
PROTECTIVE = frozenset("protection lock guard prevention policy hold safeguard restriction".split())

VERBS: dict[str, str] = {word: kind for kind, words in _VERBS.items() for word in words.split()}
OBJECTS: dict[str, str] = {word: kind for kind, words in reversed(_OBJECTS.items()) for word in words.split()}
DEED_NOUNS = _DEED_NOUNS
VOCABULARY = frozenset({*VERBS, *OBJECTS, *ALL_WORDS, *BULK_WORDS, *PERMANENT_WORDS, *FORCE_WORDS, *PRODUCTION_WORDS})
SPLIT_VERBS = tuple(
    "delete drop truncate destroy wipe purge remove terminate revoke reset erase list get create update disable".split()
)

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
    text = plain(name[:MAX_NAME], VOCABULARY)
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
        elif word in VERBS or word in OBJECTS or len(word) < 7:
            out.append(word)
        else:
            out += _halves(word)
    return tuple(out)


def _halves(word: str) -> list[str]:
    for verb in SPLIT_VERBS:
        rest = word[len(verb) :]
        if word.startswith(verb) and (rest in OBJECTS or rest in ALL_WORDS):
            return [verb, rest]
    return [word]


def verb_kind(word: str) -> str:
    """What kind of verb a word is, or nothing."""
    return VERBS.get(word, "")


def object_kind(words: tuple[str, ...]) -> tuple[str, str]:
    """The kind of the object that a noun phrase names, and its head noun; the head is its last telling word."""
    for word in reversed(words):
        if word in _PASS and len(words) > 1:
            continue
        kind = OBJECTS.get(word, "")
        if word in _HOSTS_OF_DATA and any(OBJECTS.get(other) == "database" for other in words):
            kind = "database"  # delete_db_instance
        return kind, word
    for word in reversed(words):  # nothing but words that say little
        if word in OBJECTS:
            return OBJECTS[word], word
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
