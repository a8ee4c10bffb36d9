"""All rules, findable by program and first word, or by effect and place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct, field

from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns
from interlock.analysis.programs import Program
from interlock.analysis.rules import Clause, Rule

if TYPE_CHECKING:
    from interlock.analysis.prose.classifier import IntentClassifier

ANY = "*"
Words = tuple[str, ...]
# The one subcommand of the clause that an entry is for; and the same where having been found does not prove that it is given.
Entry = tuple[Rule, Clause, Words, Words]
Index = Mapping[Words, Sequence[Entry]]  # the entries of one program, by the words under which `keys_of` finds them


class Rulebook(Struct, frozen=True):
    """The rules, and the programs that they ask about. What is found by program is indexed when it is first asked for."""

    rules: Mapping[str, Rule]
    programs: Mapping[str, Program]
    by_program: Mapping[str, Sequence[tuple[Rule, Clause]]]
    by_effect: Mapping[tuple[str, str], Sequence[tuple[Rule, Clause]]]
    targets: Mapping[tuple[str, str], tuple[str, ...]]  # every target that a clause of by_effect names
    patterns: NamePatterns = BUILT_IN_PATTERNS  # of names
    opinion: Callable[[], IntentClassifier] | None = None  # for intents that no rule matches; built on first use
    indexes: dict[str, Index] = field(default_factory=dict)

    @classmethod
    def of(cls, rules: Iterable[Rule], programs: Mapping[str, Program]) -> Rulebook:
        by_program: dict[str, list[tuple[Rule, Clause]]] = {}
        by_effect: dict[tuple[str, str], list[tuple[Rule, Clause]]] = {}
        named = {rule.id: rule for rule in rules}
        for rule in named.values():
            for clause in rule.when:
                for program in clause.program:
                    by_program.setdefault(program, []).append((rule, clause))
                for verb in clause.effect:
                    for place in clause.place or {""}:
                        by_effect.setdefault((verb, place), []).append((rule, clause))
        targets = {key: _target_patterns(entries) for key, entries in by_effect.items()}
        return cls(MappingProxyType(named), programs, by_program, by_effect, targets)

    def of_program(self, name: str) -> Index | None:
        """The clauses that name this program; None where none does."""
        index = self.indexes.get(name)
        if index is None and name in self.by_program:
            index = self.indexes[name] = _index(self.by_program[name])
        return index


def _index(clauses: Iterable[tuple[Rule, Clause]]) -> Index:
    index: dict[Words, list[Entry]] = {}
    for rule, clause in clauses:
        for sub in clause.subcommand or ((),):
            key = _key(sub)
            index.setdefault(key, []).append((rule, clause, sub, () if key == sub else sub))
    return index


def _target_patterns(entries: Iterable[tuple[Rule, Clause]]) -> tuple[str, ...]:
    """The target patterns of these clauses, each once."""
    asked = (text for _, clause in entries for text in (*clause.target, *clause.no_target))
    return tuple(dict.fromkeys(asked))


def _key(words: Words) -> Words:
    """Where a subcommand is filed: by its first two words; `delete-*` by its verb, and what begins with a pattern as any."""
    return tuple(_word_key(word) for word in words[:2])


def _word_key(word: str) -> str:
    if "*" not in word:
        return word
    head, dash, _ = word.partition("-")
    return f"{head}-*" if dash and "*" not in head else ANY


def keys_of(operands: Sequence[str]) -> list[Words]:
    """Every place where a rule for these operands can be filed."""
    if not operands:
        return [()]
    first = _keys(operands[0])
    if len(operands) == 1:
        return [(), *[(one,) for one in first]]
    second = _keys(operands[1])
    return [(), *[(one,) for one in first], *[(one, two) for one in first for two in second]]


def _keys(word: str) -> list[str]:
    if word == ANY:
        return [ANY]
    return [ANY, word, f"{word.partition('-')[0]}-*"] if "-" in word else [ANY, word]
