"""Matches facts against rules -> findings; rules are indexed, so neither their number nor their order matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from interlock.analysis.facts import Command, Effect, Fact
from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns
from interlock.analysis.programs import Program
from interlock.analysis.rules import Clause, Rule, pattern
from interlock.analysis.shell import show_command
from interlock.analysis.shell.options import CommandOptions, options
from interlock.analysis.shell.programs import HANDLERS, asks_for_help
from interlock.model import Category, Finding, Level

if TYPE_CHECKING:
    from interlock.analysis.prose.classifier import IntentClassifier

Entry = tuple[Rule, Clause, tuple[str, ...]]  # the last: the one subcommand of the clause that this entry is for
_NO_PROGRAM = Program()
_SAFE, _REVERSIBLE, _DESTRUCTIVE, _DANGEROUS = Level.SAFE, Level.REVERSIBLE, Level.DESTRUCTIVE, Level.DANGEROUS
_READS = frozenset({"read", "sql_read", "store_read"})
_ANY = "*"
_DISPOSABLE = frozenset({"build", "cache", "log", "temp"})
# One of these is destructive; a list of them, known only at run time, is bulk and so dangerous.
_BULK = frozenset({
    Category.DATA_DELETION, Category.RESOURCE_TERMINATION, Category.ACCESS_REVOCATION, Category.CREDENTIAL_INVALIDATION,
    Category.ACCOUNT_ACTION, Category.COMMUNICATION_BLOCK, Category.FINANCIAL_ACTION, Category.CONFIG_DESTRUCTION,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rulebook:
    """All rules, findable by program and first word, or by effect and place."""

    rules: Mapping[str, Rule]
    programs: Mapping[str, Program]
    by_program: Mapping[str, Mapping[str, Sequence[Entry]]]
    by_effect: Mapping[tuple[str, str], Sequence[Entry]]
    targets: Mapping[tuple[str, str], tuple[str, ...]]  # every target that a clause of by_effect names
    patterns: NamePatterns = BUILT_IN_PATTERNS  # of names
    opinion: Callable[[], IntentClassifier] | None = None  # for intents that no rule matches; built on first use

    @classmethod
    def of(cls, rules: Iterable[Rule], programs: Mapping[str, Program]) -> Rulebook:
        by_program: dict[str, dict[str, list[Entry]]] = {}
        by_effect: dict[tuple[str, str], list[Entry]] = {}
        named = {rule.id: rule for rule in rules}
        for rule in named.values():
            for clause in rule.when:
                for program in clause.program:
                    for sub in clause.subcommand or ((),):
                        by_program.setdefault(program, {}).setdefault(_key(sub), []).append((rule, clause, sub))
                for verb in clause.effect:
                    for place in clause.place or {""}:
                        by_effect.setdefault((verb, place), []).append((rule, clause, ()))
        targets = {key: _target_patterns(entries) for key, entries in by_effect.items()}
        return cls(MappingProxyType(named), MappingProxyType(dict(programs)), by_program, by_effect, targets)


def _target_patterns(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The target patterns of these clauses, each once."""
    asked = (text for _, clause, _ in entries for text in (*clause.target, *clause.no_target))
    return tuple(dict.fromkeys(asked))


def _key(words: Sequence[str]) -> str:
    """Where a subcommand is filed: its first word, or its second behind a `*`; `delete-*` by its verb."""
    if not words:
        return _ANY
    if words[0] != _ANY:
        return _word_key(words[0])
    return f"* {_word_key(words[1])}" if len(words) > 1 and words[1] != _ANY else _ANY


def _word_key(word: str) -> str:
    if "*" not in word:
        return word
    head, dash, _ = word.partition("-")
    return f"{head}-*" if dash and "*" not in head else _ANY


def _keys(operands: Sequence[str]) -> list[str]:
    """Every place where a rule for these operands can be filed."""
    keys = [_ANY]
    for position, word in enumerate(operands[:2]):
        before = "* " if position else ""
        keys += [before + word, before + _ANY]
        if "-" in word:
            keys.append(f"{before}{word.partition('-')[0]}-*")
    return keys


@dataclass(slots=True)
class Classified:
    """The result of the rules: findings, worst first, and the level of everything that no rule matches."""

    findings: list[Finding] = field(default_factory=list)
    floor: Level = _SAFE


class _View:
    """A command's words, sorted once for all clauses."""

    __slots__ = ("command", "found", "lines", "words")

    def __init__(self, command: Command, program: Program) -> None:
        self.command = command
        words = list(command.words)
        if program.slash_flags or _is_cmdlet(command):
            words = [_windows_word(word, program.slash_flags) for word in words]
        self.words = words
        self.lines = "\n".join(word.replace("\n", " ") for word in words)  # one line a word, for the patterns
        self.found: CommandOptions = options(words, program.value_flags, behind=program.behind)

    def has(self, flag: str) -> bool:
        name, equals, value = flag.partition("=")
        if not equals:
            return self.found.has(name)
        if value in self.found.values.get(name, ()) or flag in self.words:
            return True
        return any(a == name and b == value for a, b in zip(self.words, self.words[1:], strict=False))

    def has_exactly(self, flag: str) -> bool:
        """As `has`, but no abbreviations: what spares must be spelled out."""
        if "=" in flag:
            return self.has(flag)
        return (flag in self.found.flags or flag in self.found.values) and not self._negated(flag)

    def is_dry(self, flags: Sequence[str]) -> bool:
        """True when one of these is really given as an option, and neither switched off by its last value nor by --no-…"""
        for flag in flags:
            name, equals, value = flag.partition("=")
            if not name.startswith(("-", "/")):
                if name in self.found.operands:
                    return True
                continue
            if name not in self.found.flags or self._negated(name):
                continue
            given = self.found.values.get(name, [""])[-1]
            if given == value if equals else given.lower() not in _OFF:
                return True
        return False

    def _negated(self, flag: str) -> bool:
        return flag.startswith("--") and f"--no-{flag[2:]}" in self.found.flags


_OFF = frozenset({"false", "no", "0", "none", "off"})


def _windows_word(word: str, slashes: bool) -> str:
    if slashes and word.startswith("/") and len(word) > 1 and word.count("/") == 1:
        return word.lower()
    return word.lower() if word.startswith("-") else word


def classify(facts: Iterable[Fact], book: Rulebook) -> Classified:
    """Every finding of every fact; a fact that no rule knows counts as reversible, one that only reads as safe."""
    out = Classified()
    seen: set[tuple[str, str, object]] = set()
    elevated: list[tuple[Level, Fact]] = []
    for fact in facts:
        found, floor = _of_command(fact, book) if isinstance(fact, Command) else _of_effect(fact, book)
        if floor > out.floor:
            out.floor = floor
        level = floor
        for rule in found:
            subject = show_command(fact.program, fact.words) if isinstance(fact, Command) else fact.subject
            key = (rule.id, subject, fact.span)
            if key not in seen:
                seen.add(key)
                finding = _finding(rule, fact, subject)
                level = max(level, finding.level)
                out.findings.append(finding)
        if "privileged" in fact.traits:
            elevated.append((level, fact))
    for effect in _elevations(elevated):
        out.findings += [_finding(rule, effect, effect.subject) for rule in _of_effect(effect, book)[0]]
    if len(out.findings) > 1:
        out.findings.sort(key=lambda finding: (-finding.level, finding.span or (0, 0), finding.rule))
    return out


def _elevations(used: Sequence[tuple[Level, Fact]]) -> Iterable[Effect]:
    """R-20: other rights raise what they are used for by one level, not beyond dangerous; the worst at each place of the text."""
    worst: dict[object, tuple[Level, Fact]] = {}
    for level, fact in [(level, fact) for level, fact in used if level or "wrapper" not in fact.traits] or used:
        if level >= worst.get(fact.span, (_SAFE,))[0]:
            worst[fact.span] = (level, fact)
    for level, fact in worst.values():
        subject = show_command(fact.program, fact.words) if isinstance(fact, Command) else fact.subject
        raised = frozenset({f"level_{min(level + 1, int(_DANGEROUS))}"})
        yield Effect("elevate", traits=raised, span=fact.span, via=fact.via, subject=subject)


def _finding(rule: Rule, fact: Fact, subject: str) -> Finding:
    bulk = rule.level is _DESTRUCTIVE and "bulk" in fact.traits and rule.category in _BULK
    if bulk and isinstance(fact, Effect) and fact.place in _DISPOSABLE:
        bulk = False
    return Finding(
        rule.id,
        _DANGEROUS if bulk else rule.level,
        rule.irreversible,
        f"{rule.reason} It does so for a whole list." if bulk else rule.reason,
        rule.category,
        fact.span,
        subject,
        rule.instead,
        rule.undo,
        rule.approvable,
        rule.requirement,
    )


def _of_command(command: Command, book: Rulebook) -> tuple[list[Rule], Level]:
    index = book.by_program.get(command.program)
    if index is None and "." in command.program:
        index = book.by_program.get(f"{command.program.partition('.')[0]}.*")
    by_verb = book.by_program.get(f"{command.program.partition('-')[0]}-*") if _is_cmdlet(command) else None
    known = by_verb is not None or index is not None or command.program in book.programs or command.program in HANDLERS
    if index is None:
        index = book.by_program.get(_ANY, {}) if not known else {}
    wrapper = "wrapper" in command.traits
    program = book.programs.get(command.program, _NO_PROGRAM)
    if not wrapper and asks_for_help(command.program, command.words, "windows" in command.traits):
        return [], _SAFE
    view = _View(command, program)
    rules = list(_matching(_entries(index, view), view))
    if not rules and by_verb is not None:  # a cmdlet of which no rule says more than its verb does
        rules = list(_matching(_entries(by_verb, view), view))
    dry = bool(program.dry_run) and view.is_dry(program.dry_run)
    harmful = [rule for rule in rules if rule.level > _SAFE and not (dry and rule.level >= _DESTRUCTIVE)]
    if harmful or wrapper or len(harmful) < len(rules):
        return harmful, _SAFE
    return [], _REVERSIBLE


def _entries(index: Mapping[str, Sequence[Entry]], view: _View) -> list[Entry]:
    return [entry for key in dict.fromkeys(_keys(view.found.operands)) for entry in index.get(key, ())]


def _is_cmdlet(command: Command) -> bool:
    """Verb-Noun, in text for a Windows shell."""
    return "-" in command.program and "windows" in command.traits


def _matching(entries: Iterable[Entry], view: _View) -> Iterable[Rule]:
    """The rules of which an entry holds, each once."""
    operands = view.found.operands
    found: dict[str, Rule] = {}
    for rule, clause, sub in entries:
        if rule.id not in found and _starts(operands, sub) and _command_matches(clause, len(sub), view):
            found[rule.id] = rule
    return found.values()


def _command_matches(clause: Clause, taken: int, view: _View) -> bool:
    if not clause.trait <= view.command.traits or not clause.no_trait.isdisjoint(view.command.traits):
        return False
    words = len(view.found.operands) - taken
    if words < clause.min_words or 0 <= clause.max_words < words:
        return False
    if clause.any_flag and not any(view.has(flag) for flag in clause.any_flag):
        return False
    if clause.all_flags and not all(view.has(flag) for flag in clause.all_flags):
        return False
    if clause.no_flag and any(view.has_exactly(flag) for flag in clause.no_flag):
        return False
    if clause.any_word and not pattern(clause.any_word)(view.lines):
        return False
    if clause.all_words and not all(pattern((text,))(view.lines) for text in clause.all_words):
        return False
    if clause.no_word and pattern(clause.no_word)(view.lines):
        return False
    if clause.no_line and "\n" not in (line := " ".join(view.words)) and pattern(clause.no_line)(line):
        return False
    if clause.any_env:
        return bool(pattern(clause.any_env)("\n".join(f"{name}={value}" for name, value in view.command.env)))
    return True


def _starts(operands: Sequence[str], words: Sequence[str]) -> bool:
    if len(operands) < len(words):
        return False
    for have, want in zip(operands, words, strict=False):
        if "*" in want:
            head, _, tail = want.partition("*")
            if not (have.startswith(head) and have.endswith(tail) and len(have) >= len(head) + len(tail)):
                return False
        elif have != want:
            return False
    return True


def _of_effect(effect: Effect, book: Rulebook) -> tuple[list[Rule], Level]:
    rules = dict(_by_effect(effect, effect.place, book))
    if effect.place:
        rules |= _by_effect(effect, "", book)
    if rules or effect.verb in _READS or effect.place == "sink":
        return [rule for rule in rules.values() if rule.level > _SAFE], _SAFE
    return [], _REVERSIBLE


def _by_effect(effect: Effect, place: str, book: Rulebook) -> Iterable[tuple[str, Rule]]:
    """The rules for this effect that are filed under a kind of place."""
    key, traits = (effect.verb, place), effect.traits
    asked = book.targets.get(key)
    named = bool(asked and pattern(asked)(effect.target))  # most targets match no pattern, so one test is enough
    for rule, clause, _ in book.by_effect.get(key, ()):
        if clause.trait <= traits and clause.no_trait.isdisjoint(traits) and _effect_matches(clause, effect, named):
            yield rule.id, rule


def _effect_matches(clause: Clause, effect: Effect, named: bool) -> bool:
    """Whether the effect has the place and target of the clause; `named`: some clause names its target."""
    if effect.place in clause.no_place:
        return False
    if not named:
        return not clause.target
    if clause.target and not pattern(clause.target)(effect.target):
        return False
    return not (clause.no_target and pattern(clause.no_target)(effect.target))
