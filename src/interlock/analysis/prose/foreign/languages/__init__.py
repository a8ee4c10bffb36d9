"""The vocabulary of a language besides English: its shape, loanwords shared by all, and word finding without spaces; one file each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from msgspec import Struct, field

NOUNS: Mapping[str, str] = {
    "data": "topic topics dump dumps queue queues kafka rabbitmq sqs inbox sharepoint onedrive dropbox gdrive drive dataset datasets excel csv"
    " branch branches stash commit commits wiki confluence jira changeset export playlist partitions blob mailbox tickets leads index records"
    " pvcs wal binlog shard shards savegame savegames nextcloud",
    "data database": "elasticsearch opensearch clickhouse cassandra mongodb postgresql mariadb sqlite dynamodb firestore firebase supabase cosmosdb"
    " rds aurora snowflake bigquery redshift neo4j influxdb mysql postgres oracle mongo redis memcached keyspace db database databases warehouse"
    " datalake",
    "data table": "collection collections",
    "data bucket": "bucket buckets s3 minio gcs s3-bucket s3-buckets blobstore",
    "data volume": "pvc volume volumes lvm raid ebs",
    "data repository": "repo repos repository repositories",
    "data backup": "backup backups snapshot snapshots velero restic veeam",
    "resource": "server servers vm vms ec2 instance instances container containers pod pods deployment deployments daemonset statefulset namespace"
    " namespaces lambda droplet droplets host hosts node nodes vpc stack stacks nginx apache plc scada gateway proxy worker workers vps"
    " loadbalancer",
    "resource cluster": "cluster clusters kubernetes k8s eks gke aks",
    "safety": "firewall iptables ufw firewalld selinux apparmor waf mfa 2fa antivirus edr defender crowdstrike captcha fail2ban siem rate-limit"
    " interlock interlocks failsafe guardrail guardrails watchdog healthcheck",
    "credential": "token tokens api-key api-keys apikey apikeys accesskey vault secret secrets keystore jwt credentials password passwords ssh-key"
    " ssh-keys kubeconfig wallet keepass xkeyfile xsecret",
    "config": "dns webhook webhooks cron crontab terraform tfstate sudoers htaccess xconfigfile haproxy",
    "log audit_log": "auditlog auditlogs audit-log audit-logs syslog auditd cloudtrail xlogfile",
    "access": "vpn sso ldap",
    "disk": "ssd hdd usb nvme nas",
    "device": "router routers switch firmware iot",
    "code": "import imports readme docstring changelog refactor lint linter typo pr alias playground mock mocks fixture fixtures endpoint frontend css html string"
    " strings regex enum wrapper hook hooks sprint breakpoint debugger",
    "scrap": "node_modules cache caches tmp dist xscrapfile venv localhost",
    "money": "paypal stripe iban bitcoin btc eth crypto",
}
VERBS: Mapping[str, str] = {
    "destroy": "drop truncate delete",
    "wipe": "wipe purge flush flushall flushdb",
    "reset": "reset",
    "stop": "kill shutdown destroy",
    "rewrite history": "force-push forcepush",
    "grant admin": "xopenmode",
    "format": "xformat",
}
ROLES: Mapping[str, str] = {"trial": "xdryrun dry-run"}
# What the name of a file stands for; each is read as the word beside it.
_FILES = (
    ("xkeyfile", r"\.(?:pem|key|p12|pfx|kdbx|jks)$|id_(?:rsa|ed25519|ecdsa)|^\.?env$|\.env(?:\.\w+)?$|credentials(?:\.\w+)?$|\.pgpass$|\.aws/"),
    ("xlogfile", r"/var/log|auth\.log|audit\.log|secure\.log|\.bash_history|\.zsh_history|lastlog|wtmp"),
    ("xscrapfile", r"node_modules|__pycache__|\.venv|\.next(?:/|$)|\.cache|^/tmp/|\.pytest_cache|^(?:dist|build|target|out|coverage)/?$"),
    ("xconfigfile", r"\.(?:conf|cfg|cnf|ini|htaccess)$|/etc/[\w./-]*\w|pg_hba|sudoers|fstab|crontab"),
    ("xforce", r"^--force$"),
    ("xdryrun", r"^--?(?:dry-?run|whatif|what-if|simulate)$"),
    ("xworld", r"^0\.0\.0\.0(?:/0)?$|^::/0$"),
    ("xformat", r"^mkfs(?:\.\w+)?$"),
    ("xopenmode", r"^0?777$"),
)  # fmt: skip
_NAMES = tuple((word, re.compile(pattern)) for word, pattern in _FILES)
HINTS = re.compile(
    r"\.(?:pem|key|p12|pfx|kdbx|jks|env|log|conf|cfg|cnf|ini|aws|venv|next|cache|htaccess|pgpass|bash_h|zsh_h|pytest)|id_(?:rsa|ed|ec)"
    r"|node_modules|__pyc|777|/(?:var/log|tmp/|etc/)|pg_hba|credentials|(?:dist|build|target|out|coverage)/|lastlog|wtmp|mkfs|--dry|--sim|-[Ww]hat|--what|--force|0\.0\.0\.0|::/0"
)


def with_files_as_words(text: str) -> str:
    """The text with the names of telling files replaced by the word that they are read as."""
    return " ".join(map(_word, text.split(" "))) if HINTS.search(text) else text


def _word(token: str) -> str:
    name = token.strip("\"'`“”«»,;:!?()").rstrip(".").lower()
    if not name or len(name) > 200:
        return token
    return next((word for word, pattern in _NAMES if pattern.search(name)), token)


_OWN = ("\ue000", *map(chr, range(0xE200, 0xE300)))  # marks, and what idioms were replaced by


class Pieces:
    """Words that are found where they stand, the longest first; one in Latin letters has to stand alone."""

    def __init__(self, names: Iterable[str]) -> None:
        self.begun: dict[str, tuple[str, ...]] = {}
        for name in sorted({*names, *_OWN}, key=len, reverse=True):
            self.begun[name[0]] = (*self.begun.get(name[0], ()), name)

    def at(self, text: str, place: int) -> str:
        """The word that begins here, or nothing."""
        for name in self.begun.get(text[place : place + 1], ()):
            if text.startswith(name, place) and (not name.isascii() or _stands_alone(text, place, name)):
                return name
        return ""

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Where each word stands; none is inside another."""
        place = 0
        while place < len(text):
            name = self.at(text, place)
            if name:
                yield place, name
            place += len(name) or 1


def _stands_alone(text: str, place: int, name: str) -> bool:
    before, after = text[place - 1 : place], text[place + len(name) : place + len(name) + 1]
    return not (before.isascii() and before.isalpha()) and not (after.isascii() and after.isalpha())


Entry = tuple[str, str, tuple[str, ...]]  # (role, kind, traits); role: verb, look, make, noun, scope, never, asked…

# Roles of single words; verbs, nouns and scope words have kinds and traits besides.
_ROLES = (
    "look", "make", "do", "launch", "fetch", "never", "without", "weak", "because", "asked", "that", "means", "joints", "will", "was", "unless", "also", "trial",
    "past_trial", "outside", "personal",
)  # fmt: skip
_ASIDES = (
    "unless",
    "outside",
    "personal",
    "past_trial",
    "without",
    "weak",
    "that",
    "means",
)  # a word can be these besides something else
HEADS = ("verb", "look", "make", "do", "launch", "fetch")  # what can govern a clause


class Language(Struct, frozen=True):
    """The words of a language, in lower case and without accents; `word*` stands for everything that begins so."""

    code: str
    common: str  # words that tell the language
    verbs: Mapping[str, str]  # kind of act -> verbs
    nouns: Mapping[str, str]  # "kind trait" -> nouns
    scope: Mapping[str, str]  # trait -> words
    look: str  # verbs that only look
    make: str  # verbs that make something recoverable
    never: str  # denials
    asked: str  # words that begin a question or a condition
    joints: str  # words that join two acts
    without: str = ""  # denials of a thing rather than of an act
    because: str = ""  # words that begin a reason
    weak: str = ""  # denials of the next word alone
    that: str = ""  # words that begin what was said, thought or tested
    means: str = ""  # words before what something is done with
    quiet: str = ""  # words that mean nothing here, but have others inside them
    now: str = ""  # forms that end like a report and are none
    links: str = ""  # words between a thing and what it is for
    head: str = "first"  # which verb governs: first, last or any
    noun: str = "first"  # which noun is the object
    past: str = r"(?!)"  # how a reported or passive form ends, accents kept
    will: str = ""  # words with which a passive form announces
    was: str = ""  # words with which it reports
    unless: str = ""  # what may be missing without denying the act: a backup, a question
    do: str = ""  # verbs that leave it to the next word what is done
    launch: str = ""  # verbs that run a program
    fetch: str = ""  # verbs that download one
    also: str = ""  # what is named before was not all of it
    trial: str = ""  # nothing happens but a rehearsal
    past_trial: str = ""  # the rehearsal is over
    outside: str = ""  # where strangers read, or what nobody has vouched for
    personal: str = ""  # what makes data somebody's own
    empty: str = ""  # words that say nothing about what is done
    idioms: Mapping[str, str] = field(default_factory=dict)  # "role kind traits" -> a pattern over plain words
    pairs: Mapping[str, str] = field(
        default_factory=dict
    )  # kind or role -> "verb+particle", where the particle stands apart
    alone: Mapping[str, str] = field(default_factory=dict)  # "role kind" -> particles that need no verb
    clitic: str = ""  # pronouns that hang at the end of a verb
    plural: str = r"(?!)"  # how a noun ends that means many
    compound: bool = False  # the last part of a long word says what it is
    capitals: bool = False  # nouns begin with a capital letter
    spaced: bool = True  # words have spaces between them

    def entries(self) -> Iterator[tuple[str, Entry]]:
        """Every word with what it is."""
        for kind, words in self.verbs.items():
            yield from ((word, ("verb", kind, ())) for word in words.split())
        for name, words in self.nouns.items():
            kind, _, trait = name.partition(" ")
            yield from ((word, ("noun", kind, tuple(trait.split()))) for word in words.split())
        for trait, words in self.scope.items():
            yield from ((word, ("scope", "", (trait,))) for word in words.split())
        yield from ((word, ("quiet", "", ())) for word in self.quiet.split())
        for role in _ROLES:
            yield from ((word, (role, "", ())) for word in getattr(self, role).split())


def entry_of(name: str) -> Entry:
    """`verb grant admin`, `scope all`, `look`: what a name in a table stands for."""
    role, *rest = name.split()
    if role == "scope":
        return role, "", tuple(rest)
    return role, rest[0] if rest else "", tuple(rest[1:])


class Vocabulary:
    """A language's words, findable; an exact word outranks a stem, a longer stem a shorter one."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.exact: dict[str, list[Entry]] = {}
        self.stems: dict[str, list[tuple[str, Entry]]] = {}
        for word, entry in language.entries():
            if word.endswith("*"):
                self.stems.setdefault(word[:3], []).append((word[:-1], entry))
            else:
                self.exact.setdefault(word, []).append(entry)
        for stems in self.stems.values():
            stems.sort(key=lambda pair: -len(pair[0]))
        self.past, self.plural = re.compile(language.past), re.compile(language.plural)
        self.clitic = re.compile(language.clitic) if language.clitic else None
        self.idiom_entries = [entry_of(name) for name in language.idioms]
        self.idioms = _idioms(language)
        self.particles = _particles(language)
        self.alone = {word: entry_of(name) for name, words in language.alone.items() for word in words.split()}
        self.now, self.links = frozenset(language.now.split()), frozenset(language.links.split())
        self.empty = _empty(language)
        if not language.spaced:
            self.pieces = Pieces({*(word.rstrip("*") for word, _ in language.entries()), *loans()})

    def find(self, word: str) -> list[Entry]:
        """What a word is; several things at once are possible."""
        found = self.exact.get(word, [])
        if any(entry[0] not in _ASIDES for entry in found):
            return found
        longest = 0
        entries: list[Entry] = []
        for stem, entry in self.stems.get(word[:3], ()):
            if len(stem) < longest:
                break
            if word.startswith(stem):
                longest = len(stem)
                entries.append(entry)
        return found + entries or loans().get(word, [])

    def find_whole(self, word: str) -> list[Entry]:
        """What a word is, pronouns at its end taken off and the last part of a compound considered."""
        entries = self.find(word)
        if not entries and self.clitic:
            bare = self.clitic.sub("", word)
            entries = self.find(bare) if bare != word else entries
        if self.language.compound:
            if not entries and "ge" in word[:6]:
                entries = self.find(word.replace("ge", "", 1))
            if len(word) > 7 and word not in self.exact:
                return self._compound(word, entries)
        return entries

    def _compound(self, word: str, entries: list[Entry]) -> list[Entry]:
        """The noun that the last part of a word is, with what its first part says about how much."""
        tail = self._tail(word, 5 if any(entry[0] in HEADS for entry in entries) else 4)
        return [entry for entry in entries if entry[0] in ("scope", "unless")] + tail if tail else entries

    def _tail(self, word: str, least: int) -> list[Entry]:
        """The noun at the end of a compound word; none when a stem explains all of it."""
        known = next(
            (stem for stem, entry in self.stems.get(word[:3], ()) if entry[0] == "noun" and word.startswith(stem)), ""
        )
        if len(word) - len(known) < 5:
            return []
        for at in range(max(3, len(known)), min(len(word) - least + 1, 24)):
            found = [entry for entry in self.find(word[at:]) if entry[0] == "noun"]
            if found:
                return found
        return []


@cache
def loans() -> dict[str, list[Entry]]:
    """Words of the trade that are the same in every language."""
    table: dict[str, list[Entry]] = {}
    for role, words in ROLES.items():
        for word in words.split():
            table[word] = [(role, "", ())]
    for names, role in ((NOUNS, "noun"), (VERBS, "verb")):
        for name, words in names.items():
            for word in words.split():
                table.setdefault(word, []).append(entry_of(f"{role} {name}"))
    return table


def _idioms(language: Language) -> re.Pattern[str] | None:
    if not language.idioms:
        return None
    edges = (r"(?<!\S)(?:", r")(?!\S)") if language.spaced else ("(?:", ")")
    named = (f"(?P<i{number}>{pattern})" for number, pattern in enumerate(language.idioms.values()))
    return re.compile(edges[0] + "|".join(named) + edges[1])


def _particles(language: Language) -> dict[str, list[tuple[str, Entry]]]:
    """A particle -> the stems of the verbs that it belongs to."""
    table: dict[str, list[tuple[str, Entry]]] = {}
    for name, pairs in language.pairs.items():
        for pair in pairs.split():
            stem, _, particle = pair.partition("+")
            table.setdefault(particle, []).append((stem, entry_of(name)))
    return table


def _empty(language: Language) -> re.Pattern[str]:
    """Matches a text in which no word says anything."""
    names = sorted(language.empty.split(), key=len, reverse=True)
    words = (
        "|".join(re.escape(name[:-1]) + r"\w*" if name.endswith("*") else re.escape(name) for name in names) or "(?!)"
    )
    if language.spaced:
        return re.compile(rf"\W*(?:(?:{words})(?:\W+|$))+$")
    return re.compile(rf"(?:(?:{words})|[\W\d])+$")
