"""Registry of destructive actions by name: pattern, severity and category (X-05, X-06, X-08)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.confusables import plain
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.lexicon import vocabulary
from interlock.model import Category, Level

MAX_ACTION = 10_000  # characters of an action that are matched
MAX_COOLING_MS = 300_000
_ID = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
_OTHER = lazy_regex(r"[^a-z0-9]+")
_CAMEL = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])")
_VERBS = "(?:delete|drop|truncate|purge|ban|block|kick|mute|suspend|lock|revoke|terminate|archive)"
_UNDONE = lazy_regex(rf"(?<![a-z0-9])un{_VERBS}", re.IGNORECASE)  # undelete_table deletes no table
_MEANS_UNDOING = lazy_regex(rf"un[(?:]*{_VERBS}", re.IGNORECASE)  # a pattern that is about unlock_account itself


class Severity(IntEnum):
    """How severe a destructive action is."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3

    @property
    def word(self) -> str:
        return self.name.lower()

    @property
    def level(self) -> Level:
        """C-32, R-21: low, medium, high, critical are reversible, destructive, dangerous, forbidden."""
        return Level(self + 1)


# The eight categories; our own five are no part of a registry.
CATEGORIES = frozenset({
    Category.DATA_DELETION, Category.ACCESS_REVOCATION, Category.RESOURCE_TERMINATION, Category.CREDENTIAL_INVALIDATION,
    Category.CONFIG_DESTRUCTION, Category.COMMUNICATION_BLOCK, Category.FINANCIAL_ACTION, Category.ACCOUNT_ACTION,
})  # fmt: skip


class PatternError(ValueError):
    """An invalid pattern; the message names it and its error."""


class MatchFailure(Exception):
    """The action could not be matched; the caller has to block it."""


class Pattern(Struct, frozen=True):
    """One kind of destructive action; refuses an unknown severity or category, and what is no expression."""

    id: str
    pattern: str
    category: Category
    severity: Severity
    description: str = ""
    requires_confirmation: bool = True
    cooling_off_ms: int = 0
    requires_human_approval: bool = False
    can_rollback: bool | None = None  # only what is declared counts
    undo: str = ""

    def __post_init__(self) -> None:
        where = f"pattern {self.id!r}"
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise PatternError(f"{where}: an id is letters, digits and _ . : -, such as custom_wipe_cache")
        if not isinstance(self.pattern, str) or not self.pattern.strip():
            raise PatternError(f"{where}: pattern is {self.pattern!r}, expected an expression")
        if self.category not in CATEGORIES:
            raise PatternError(f"{where}: category {self.category!r}; known: {', '.join(sorted(CATEGORIES))}")
        if not isinstance(self.severity, Severity):
            raise PatternError(f"{where}: severity {self.severity!r}; known: {_severities()}")
        if isinstance(self.cooling_off_ms, bool) or not isinstance(self.cooling_off_ms, int) or self.cooling_off_ms < 0:
            raise PatternError(f"{where}: coolingOffMs is {self.cooling_off_ms!r}, expected milliseconds from 0 up")
        for name in ("requires_confirmation", "requires_human_approval", "can_rollback"):
            if not isinstance(getattr(self, name), bool) and (name, getattr(self, name)) != ("can_rollback", None):
                raise PatternError(f"{where}: {name} is {getattr(self, name)!r}, expected true or false")
        for name in ("description", "undo"):
            if not isinstance(getattr(self, name), str):
                raise PatternError(f"{where}: {name} is {getattr(self, name)!r}, expected text")
        if _search(self.pattern, where)(""):
            raise PatternError(f"{where}: pattern {self.pattern!r} matches everything")

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Pattern:
        """The pattern that `data` describes, with the keys of the wire or of the file; refuses an unknown key."""
        name = data.get("id", "?")
        values: dict[str, Any] = {}
        for key, value in data.items():
            field = _WIRE.get(key, key)
            if field not in _FIELDS:
                raise PatternError(f"pattern {name!r}: unknown key {key!r}; known: {', '.join(sorted(_WIRE.values()))}")
            if field in values:
                raise PatternError(f"pattern {name!r}: {field} is given twice")
            values[field] = value
        for key in ("id", "pattern", "category", "severity"):
            if key not in values:
                raise PatternError(f"pattern {name!r}: {key} is missing")
        values["category"] = _category(name, values["category"])
        values["severity"] = _severity(name, values["severity"])
        return cls(**values)

    @property
    def wire(self) -> dict[str, Any]:
        """The pattern in the wire's words."""
        words = {"category": self.category.value, "severity": self.severity.word}
        return {key: getattr(self, field) for key, field in _WIRE.items()} | words


_WIRE = {
    "id": "id", "pattern": "pattern", "category": "category", "severity": "severity", "description": "description",
    "requiresConfirmation": "requires_confirmation", "coolingOffMs": "cooling_off_ms",
    "requiresHumanApproval": "requires_human_approval", "canRollback": "can_rollback", "undo": "undo",
}  # fmt: skip
_FIELDS = frozenset(_WIRE.values())


def _severities() -> str:
    return ", ".join(severity.word for severity in Severity)


def _category(name: object, word: object) -> Category:
    try:
        return Category(str(word))
    except ValueError:
        raise PatternError(f"pattern {name!r}: category {word!r}; known: {', '.join(sorted(CATEGORIES))}") from None


def _severity(name: object, word: object) -> Severity:
    for severity in Severity:
        if word is severity or word == severity.word:
            return severity
    raise PatternError(f"pattern {name!r}: severity {word!r}; known: {_severities()}")


def _re2() -> Any:
    import re2  # loaded by whatever judges, and not by commands that only load a configuration

    return re2


def _options() -> Any:
    options = _re2().Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    options.case_sensitive = False
    return options


def _search(expression: str, where: str) -> Callable[[str], object]:
    """The expression as a case-insensitive search; RE2, so that no pattern can hang."""
    re2 = _re2()
    try:
        found: Callable[[str], object] = re2.compile(expression, _options()).search
    except re2.error as error:
        detail = error.args[0] if error.args else error
        words = detail.decode() if isinstance(detail, bytes) else str(detail)
        raise PatternError(f"{where}: pattern {expression!r}: {words}") from None
    return found


class RegistryMatch(Struct, frozen=True):
    """The patterns that match one action; `failure` is the reason why they could not be determined."""

    patterns: tuple[Pattern, ...] = ()
    max_cooling_ms: int = MAX_COOLING_MS
    failure: str = ""
    blocked: bool = False  # matching failed, and what cannot be matched must not run

    def __bool__(self) -> bool:
        return bool(self.patterns) or self.blocked

    def registered(self) -> RegistryMatch:
        """Without the built-in patterns: what operators registered themselves (R-26)."""
        return replace(self, patterns=tuple(one for one in self.patterns if one.id not in BUILT_IN_IDS))

    @property
    def severity(self) -> Severity | None:
        """The worst one."""
        return max((pattern.severity for pattern in self.patterns), default=None)

    @property
    def level(self) -> Level:
        if self.blocked:
            return Level.FORBIDDEN
        return self.severity.level if self.severity is not None else Level.SAFE

    @property
    def categories(self) -> frozenset[Category]:
        return frozenset(pattern.category for pattern in self.patterns)

    @property
    def cooling_ms(self) -> int:
        """The longest cooling-off, capped."""
        return min(max((pattern.cooling_off_ms for pattern in self.patterns), default=0), self.max_cooling_ms)

    @property
    def requires_approval(self) -> bool:
        return any(pattern.requires_human_approval for pattern in self.patterns)

    @property
    def requires_confirmation(self) -> bool:
        return any(pattern.requires_confirmation for pattern in self.patterns)

    @property
    def can_rollback(self) -> bool:
        """X-08: only when every matched pattern can."""
        return bool(self.patterns) and all(pattern.can_rollback for pattern in self.patterns)

    @property
    def undo(self) -> tuple[str, ...]:
        """How to take it back, where that is possible at all."""
        return tuple(pattern.undo for pattern in self.patterns if pattern.undo) if self.can_rollback else ()


def normalise_action(action: str) -> str:
    """X-06: lower case, and `_` for everything that is neither letter nor digit."""
    return _OTHER.sub("_", action.lower())


_SHORT = 1_000  # characters; a set gives up silently where its tables grow too large, so longer texts are searched one by one


class _Set:
    """Many patterns that are searched in one pass."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._searches = {pattern.id: _search(pattern.pattern, pattern.id) for pattern in patterns}
        self._ids = list(self._searches)
        self._set = _re2().Set.SearchSet(_options())
        for pattern in patterns:
            self._set.Add(pattern.pattern)
        if self._ids:
            self._set.Compile()

    def find(self, texts: Iterable[str]) -> set[str]:
        """The ids of the patterns that match any of the texts."""
        return {id for text in texts for id in self._found(text)} if self._ids else set()

    def _found(self, text: str) -> Iterable[str]:
        if len(text) > _SHORT:
            return [id for id, search in self._searches.items() if search(text)]
        return [self._ids[at] for at in self._set.Match(text) or ()]


_Compiled = tuple[object, dict[str, Pattern], _Set, _Set]  # since which change, and all patterns in one scan


class Registry:
    """The patterns of one installation, by id; the built-in ones are in it unless others are given."""

    def __init__(self, patterns: Iterable[Pattern] | None = None) -> None:
        self._change = object()  # another one after each change, as other threads may be matching meanwhile
        self._sets: _Compiled | None = None
        if patterns is not None:
            self._patterns = {}
            for pattern in patterns:
                self.register(pattern)

    @cached_property
    def _patterns(self) -> dict[str, Pattern]:
        """The patterns by id; the built-in ones are made when they are first needed."""
        return {pattern.id: pattern for pattern in built_in()}

    def register(self, pattern: Pattern | Mapping[str, Any]) -> None:
        """Adds a pattern, or what describes one; refuses an id that is taken."""
        made = pattern if isinstance(pattern, Pattern) else Pattern.of(pattern)
        if made.id in self._patterns or self._patterns.setdefault(made.id, made) is not made:
            raise PatternError(f"pattern {made.id!r}: the id is taken")
        self._change = object()

    def unregister(self, id: str) -> Pattern:
        """Takes a pattern out; refuses an id that is not there."""
        gone = self._patterns.pop(id, None)
        if gone is None:
            raise PatternError(f"no pattern {id!r}")
        self._change = object()
        return gone

    def list(self) -> tuple[Pattern, ...]:
        return tuple(self._patterns.values())

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self.list())

    def __len__(self) -> int:
        return len(self._patterns)

    def match(self, action: str, max_cooling_ms: int = MAX_COOLING_MS) -> RegistryMatch:
        """The patterns that match an action, as written, normalised and with camel case split; raises MatchFailure when that cannot be determined."""
        if not isinstance(action, str):
            raise MatchFailure(f"the action is {action!r}, expected text")
        if len(action) > MAX_ACTION:
            raise MatchFailure(f"the action has {len(action)} characters, no more than {MAX_ACTION} are matched")
        try:
            raw = action.encode("utf-8", "replace").decode()
            _, patterns, ordinary, undoing = self._compiled()
            ids = ordinary.find(_spellings(_UNDONE.sub("undone", raw))) | undoing.find(_spellings(raw))
        except Exception as error:
            raise MatchFailure(f"the action could not be matched: {error}") from error
        return RegistryMatch(tuple(pattern for id, pattern in patterns.items() if id in ids), max_cooling_ms)

    def _compiled(self) -> _Compiled:
        """The patterns as they are now, ready to be searched, and apart from them those that mean an undoing themselves."""
        found, change = self._sets, self._change
        if found is None or found[0] is not change:
            patterns = dict(self._patterns)
            means = {id for id, pattern in patterns.items() if _MEANS_UNDOING.search(pattern.pattern)}
            ordinary = _Set([pattern for id, pattern in patterns.items() if id not in means])
            found = self._sets = (change, patterns, ordinary, _Set([patterns[id] for id in patterns if id in means]))
        return found

    def check(
        self, action: str, max_cooling_ms: int = MAX_COOLING_MS, block_on_match_failure: bool = True
    ) -> RegistryMatch:
        """As `match`, but a failure is an answer too: it blocks, unless `blockOnMatchFailure` is off."""
        try:
            return self.match(action, max_cooling_ms)
        except MatchFailure as failure:
            return RegistryMatch((), max_cooling_ms, str(failure), block_on_match_failure)


def _spellings(text: str) -> tuple[str, ...]:
    """The text as it is, normalised, with its humps split, and so again in the letters that it seems to be written in."""
    seen = (text,) if text.isascii() else (text, plain(text, vocabulary()))
    spelled = [(one, normalise_action(one), normalise_action(_CAMEL.sub("_", one))) for one in seen]
    return tuple(dict.fromkeys(chain.from_iterable(spelled)))


_C, _S = Category, Severity
# (id, expression, category, severity, cooling-off in ms, description, undo): the nine of the specification word for word, and
# those that its tables of categories and severities name; these match whole words only (delete_pod, not delete_podcast).
_BUILT_IN: tuple[tuple[str, str, Category, Severity, int, str, str], ...] = (
    ("drop_database", "(drop|delete|truncate)_(database|db|schema)", _C.DATA_DELETION, _S.CRITICAL, 300_000, "Deletes a whole database or schema.", ""),
    ("drop_table", "(drop|delete|truncate)_table", _C.DATA_DELETION, _S.HIGH, 120_000, "Deletes or empties a table.", ""),
    ("bulk_delete", "bulk_delete|mass_delete|delete_all|purge", _C.DATA_DELETION, _S.HIGH, 60_000, "Deletes many records at once.", ""),
    ("file_delete", "file_delete|(delete|remove)_(files?|folders?|director(y|ies)|documents?)", _C.DATA_DELETION, _S.MEDIUM, 30_000, "Deletes a file or a folder.", ""),
    ("record_delete", "(delete|remove|erase)_(records?|rows?|items?|entry|entries|objects?|messages?)", _C.DATA_DELETION, _S.MEDIUM, 30_000, "Deletes single records.", ""),
    ("backup_delete", "(delete|remove|destroy|expire)_(all_)?(backup|snapshot)s?", _C.DATA_DELETION, _S.HIGH, 120_000, "Deletes backups or snapshots.", ""),
    ("wipe_data", "(wipe|erase|shred|destroy)_(data|database|disk|device|volume|bucket|storage)s?", _C.DATA_DELETION, _S.CRITICAL, 300_000, "Wipes a device or a store.", ""),
    ("revoke_all_access", r"revoke_all(_\w+)?_(access|permissions|roles)|remove_all_(access|permissions|users|members)", _C.ACCESS_REVOCATION, _S.CRITICAL, 180_000, "Takes access away from everybody.", "Grant the rights again from the audit trail."),
    ("remove_admin", "(remove|revoke|demote)_(admin|owner|administrator)s?", _C.ACCESS_REVOCATION, _S.HIGH, 60_000, "Takes an administrator's rights away.", "Grant the role again."),
    ("remove_user_access", "(remove|revoke)_(user_)?(access|permission|role|member)s?", _C.ACCESS_REVOCATION, _S.MEDIUM, 30_000, "Takes one right from one person.", "Grant the right again."),
    ("terminate_production", "terminate_production|shutdown_prod|kill_prod", _C.RESOURCE_TERMINATION, _S.CRITICAL, 300_000, "Ends production.", ""),
    ("terminate_vm", "terminate_(vm|instance|server)", _C.RESOURCE_TERMINATION, _S.HIGH, 120_000, "Terminates a machine.", ""),
    ("delete_cluster", "(delete|destroy|terminate)_(cluster|namespace|environment|stack)s?", _C.RESOURCE_TERMINATION, _S.CRITICAL, 300_000, "Destroys a cluster or an environment.", ""),
    ("delete_container", "(delete|remove|kill|stop)_(container|pod|service|deployment)s?", _C.RESOURCE_TERMINATION, _S.MEDIUM, 30_000, "Ends a container or a service.", "Deploy it again from its definition."),
    ("rotate_all_secrets", "rotate_all_secrets|invalidate_all_tokens", _C.CREDENTIAL_INVALIDATION, _S.CRITICAL, 300_000, "Invalidates every credential.", ""),
    ("revoke_api_key", "revoke_api_key|invalidate_token", _C.CREDENTIAL_INVALIDATION, _S.HIGH, 60_000, "Invalidates a credential.", ""),
    ("delete_secret", "(delete|remove|destroy)_(secret|api_key|key|certificate|credential)s?", _C.CREDENTIAL_INVALIDATION, _S.HIGH, 60_000, "Deletes a credential.", ""),
    ("delete_policy", "(delete|remove|drop)_(policy|policies|rules?|firewall_rules?|acls?)", _C.CONFIG_DESTRUCTION, _S.HIGH, 60_000, "Deletes a policy or a rule.", "Create it again from the saved definition."),
    ("clear_config", "(clear|reset|delete|wipe)_(configs?|configuration|settings)", _C.CONFIG_DESTRUCTION, _S.HIGH, 60_000, "Clears configuration.", ""),
    ("delete_dns", "(delete|remove)_(dns|zone|domain|route)s?", _C.CONFIG_DESTRUCTION, _S.HIGH, 60_000, "Deletes names or routes.", ""),
    ("ban_user", "(ban|block|kick|mute)_(user|member|account|sender)s?", _C.COMMUNICATION_BLOCK, _S.MEDIUM, 30_000, "Cuts somebody off.", "Unban them."),
    ("suspend_user", "suspend_(user|member)s?", _C.COMMUNICATION_BLOCK, _S.MEDIUM, 30_000, "Suspends somebody.", "Unsuspend them."),
    ("process_refund", "(process|issue|create)_(refund|chargeback|payout)s?|refund_(all|orders?|payments?|customers?)", _C.FINANCIAL_ACTION, _S.HIGH, 60_000, "Pays money out.", ""),
    ("cancel_subscription", "cancel_(subscription|order|contract|plan|membership)s?", _C.FINANCIAL_ACTION, _S.MEDIUM, 30_000, "Cancels something that is paid for.", "Subscribe again, where the vendor lets you."),
    ("delete_account", "delete_account|destroy_account|close_account", _C.ACCOUNT_ACTION, _S.CRITICAL, 300_000, "Closes an account for good.", ""),
    ("suspend_org", "suspend_org|disable_organization", _C.ACCOUNT_ACTION, _S.CRITICAL, 180_000, "Suspends a whole organisation.", "Reinstate the organisation."),
    ("suspend_account", "(suspend|disable|lock)_accounts?", _C.ACCOUNT_ACTION, _S.MEDIUM, 30_000, "Suspends an account.", "Reinstate the account."),
)  # fmt: skip
_UNATTENDED = frozenset({"drop_table", "process_refund"})  # a confirmation and cooling-off are enough
_PRINTED = frozenset(
    "drop_database drop_table bulk_delete terminate_production terminate_vm rotate_all_secrets revoke_api_key delete_account"
    " suspend_org".split()
)
BUILT_IN_IDS = frozenset(row[0] for row in _BUILT_IN)


def built_in() -> tuple[Pattern, ...]:
    """The patterns that every registry starts with."""
    return tuple(
        Pattern(
            id=id,
            pattern=expression if id in _PRINTED else f"(^|[^a-z0-9])({expression})([^a-z0-9]|$)",
            category=category,
            severity=severity,
            description=description,
            cooling_off_ms=cooling_ms,
            requires_human_approval=severity >= Severity.HIGH and id not in _UNATTENDED,
            can_rollback=bool(undo),
            undo=undo,
        )
        for id, expression, category, severity, cooling_ms, description, undo in _BUILT_IN
    )
