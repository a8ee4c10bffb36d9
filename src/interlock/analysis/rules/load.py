"""Loads the rule packs on disk into one rulebook, indexed by program and effect."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from interlock.analysis.packs import Pack, PackError, folder_digest, load_packs, read_pack
from interlock.analysis.programs import extend_program
from interlock.analysis.programs.load import build_programs, shipped_programs
from interlock.analysis.rules import Rule, Rulebook, build_rule

if TYPE_CHECKING:
    from interlock.analysis.facts import Fact
    from interlock.analysis.opinion import Opinion

SHIPPED = Path(__file__).parent


def load(*extra: Path) -> Rulebook:
    """The shipped packs and any others; refuses the whole when one rule is wrong."""
    book = _built(folder_digest(SHIPPED))
    return join_rulebooks(book, load_files(extra)) if extra else book


@lru_cache(maxsize=1)
def _built(digest: str) -> Rulebook:
    """Built anew only when a pack has changed."""
    return replace(Rulebook.of(load_packs(SHIPPED, _checked, kept=Rule), shipped_programs()), opinion=_opinion)


@cache
def _opinion() -> Opinion:
    from interlock.analysis.opinion import Opinion, Weights

    names = ("intents", "intents_foreign")
    return Opinion(*(Weights.of((SHIPPED / f"{name}.weights").read_bytes()) for name in names))


def rulebook_hash(book: Rulebook) -> str:
    """One hash over every rule and program: which rules a record was judged by. Examples judge nothing."""
    whole = {"rules": book.rules, "programs": book.programs, "patterns": book.patterns}
    text = json.dumps(whole, default=_plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """What JSON does not know, with one order for what has none."""
    if isinstance(value, Rule):
        value = replace(value, match=(), spare=())
    if isinstance(value, Struct):
        return asdict(value)
    return sorted(value, key=repr) if isinstance(value, frozenset) else dict(value)


def join_rulebooks(first: Rulebook, second: Rulebook) -> Rulebook:
    """Refused when they share an id; what the second says of a program adds to the first's description."""
    for rule in second.rules:
        if rule in first.rules:
            raise PackError(f"rule {rule}: the id is taken")
    added = {name: extend_program(first.programs.get(name), program) for name, program in second.programs.items()}
    whole = Rulebook.of([*first.rules.values(), *second.rules.values()], {**first.programs, **added})
    return replace(whole, opinion=_opinion)


def load_files(files: Iterable[Path]) -> Rulebook:
    """Only these packs, with their examples."""
    return build_rulebook([read_pack(path) for path in files])


def build_rulebook(packs: Sequence[Pack]) -> Rulebook:
    """Raises PackError on a duplicate id or anything else that is wrong."""
    rules: dict[str, Rule] = {}
    for pack in packs:
        if unknown := set(pack) - {"rule", "program"}:
            raise PackError(f"unknown table {sorted(unknown)[0]!r}; known: program, rule")
        for data in pack.get("rule", ()):
            rule = build_rule(data)
            if rule.id in rules:
                raise PackError(f"rule {rule.id}: the id is taken")
            rules[rule.id] = rule
    return replace(Rulebook.of(rules.values(), dict(build_programs(packs))), opinion=_opinion)


def _checked(packs: Sequence[Pack]) -> Sequence[Rule]:
    return [replace(rule, match=(), spare=()) for rule in build_rulebook(packs).rules.values()]


def example_failures(book: Rulebook, full: Rulebook) -> list[str]:
    """Examples that break their promise when judged by `full`, and clauses that none reaches."""
    from interlock.analysis.assess import judge

    wrong: list[str] = []
    for rule in book.rules.values():
        judged = [(action, judge(action, full)) for action in rule.match]
        for action, judgement in judged:
            seen = judgement.assessment
            if rule.level and rule.id not in {finding.rule for finding in seen.findings}:
                wrong.append(f"rule {rule.id}: does not match {action.text!r}")
            elif not rule.level and seen.level:
                wrong.append(f"rule {rule.id}: {action.text!r} is not safe")
        for action in rule.spare:
            if rule.id in {finding.rule for finding in judge(action, full).assessment.findings}:
                wrong.append(f"rule {rule.id}: matches {action.text!r}, which it should spare")
        wrong += _unreached(rule, [judgement.facts for _, judgement in judged], full)
    return wrong


def _unreached(rule: Rule, facts: Sequence[Sequence[Fact]], full: Rulebook) -> Iterator[str]:
    from interlock.analysis.classify import classify

    if rule.level and len(rule.when) == 1:  # any example that matches reaches it
        return
    for number, clause in enumerate(rule.when, 1):
        alone = Rulebook.of([replace(rule, when=(clause,), level=max(rule.level, type(rule.level)(1)))], full.programs)
        if not any(classify(some, alone).findings for some in facts):
            yield f"rule {rule.id}: no example reaches clause {number}"
