"""Rules: what is looked for, generated from the packs; one rule with its examples run, any input tried on it, a pack checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from interlock.core.classify import Rulebook
from interlock.core.decide import judge
from interlock.core.model import Level
from interlock.doors.cli.rule_words import clause_words, example_words
from interlock.doors.console.shelf import Shelved, examples, pack_words, problems, shelved
from interlock.doors.console.trying import KINDS, action_of, given, plain_text, tried
from interlock.doors.console.visit import Answer, Invalid, NotHere, Page, Route, Visit
from interlock.policybook import toml
from interlock.rulebook import build, failures, joined

HOME = "/console/rules"
LONGEST = 100_000  # characters of a pack that is checked
MOST = 300  # rules that are listed
_WORDS = {level.word: level for level in Level}


def listing(visit: Visit) -> Answer:
    """All packs, or the rules that a search finds."""
    asked = {name: plain_text(visit.query.get(name, ""))[:200].strip() for name in ("q", "pack", "level")}
    every = shelved(visit.context)
    found = [one for one in every.values() if _wanted(one, asked)] if any(asked.values()) else []
    values = {
        "asked": asked,
        "searched": any(asked.values()),
        "found": found[:MOST],
        "count": len(found),
        "total": len(every),
        "packs": _packs(every.values()),
        "about": pack_words(visit.context),
        "levels": list(_WORDS),
        "mark": visit.context.state.rulebook_hash,
        "changed": sum(one.changed for one in every.values()),
        "patterns": tuple(visit.context.state.registry),
    }
    return Page("rules/_found.html" if visit.part else "rules/rules.html", values)


def _wanted(one: Shelved, asked: dict[str, str]) -> bool:
    rule = one.rule
    if asked["pack"] and one.pack != asked["pack"]:
        return False
    if asked["level"] and rule.level.word != asked["level"]:
        return False
    category = rule.category.value if rule.category else ""
    text = f"{rule.id} {rule.reason} {rule.instead} {category}".casefold()
    return all(word in text for word in asked["q"].casefold().split())


def _packs(rules: Iterable[Shelved]) -> list[tuple[str, int, Level]]:
    """Name, how many rules, the worst of them."""
    each = list(rules)
    count = Counter(one.pack for one in each)
    worst = {pack: max(one.rule.level for one in each if one.pack == pack) for pack in count}
    return [(pack, count[pack], worst[pack]) for pack in sorted(count)]


def one(visit: Visit) -> Answer:
    """One rule, and what becomes of its examples now."""
    found, rules = _found(visit), visit.context.state.rules
    rule = found.rule
    values = {
        "one": found,
        "clauses": [clause_words(clause) for clause in rule.when],
        "examples": [(example_words(each.action), each) for each in examples(rule, rules)],
        "problems": problems(rule, rules) if rule.match else [],
        "kinds": KINDS,
        "fields": given({}),
        **_UNTRIED,
    }
    return Page("rules/rule.html", values)


_UNTRIED: dict[str, Any] = {"found": None, "error": "", "fires": False, "alone": False}


def try_one(visit: Visit) -> Answer:
    """Any input against one rule: whether it fires, and whether that is what decides."""
    shelf, rules = _found(visit), visit.context.state.rules
    try:
        found = tried(visit.context.state, action_of(visit.form))
    except Invalid as error:
        return Page("rules/_tried.html", {**_UNTRIED, "one": shelf, "error": str(error), "known": ()})
    alone = Rulebook.of([shelf.rule], rules.programs)
    hit = judge(found.action, replace(alone, patterns=rules.patterns)).assessment
    values = {
        "one": shelf,
        "found": found,
        "error": "",
        "fires": any(finding.rule == shelf.rule.id for finding in found.assessment.findings),
        "alone": any(finding.rule == shelf.rule.id for finding in hit.findings),
        "known": rules.rules,
    }
    return Page("rules/_tried.html", values)


def _found(visit: Visit) -> Shelved:
    id = visit.params["id"]
    found = shelved(visit.context).get(id)
    if found is None:
        raise NotHere(f"there is no rule {id[:80]}")
    return found


def check_page(visit: Visit) -> Answer:
    return Page("rules/check.html", {"pack": "", **_UNCHECKED})


_UNCHECKED: dict[str, Any] = {"error": "", "book": None, "wrong": (), "count": 0}


def check(visit: Visit) -> Answer:
    """A pack that somebody writes: every problem of it, with its examples judged beside the rules in force."""
    text = plain_text(visit.form.get("pack", ""))
    values = {"pack": text, **_UNCHECKED, **_checked(visit, text)}
    return Page("rules/_checked.html" if visit.part else "rules/check.html", values)


def _checked(visit: Visit, text: str) -> dict[str, Any]:
    if not text.strip() or len(text) > LONGEST:
        return {"error": "there is nothing to check yet" if not text.strip() else f"longer than {LONGEST} characters"}
    rules = visit.context.state.rules
    try:
        book = build([toml(text)])
        whole = replace(joined(_without(rules, book), book), patterns=rules.patterns)
    except (TypeError, AttributeError):
        return {"error": "this is no pack: rules stand in [[rule]], programs in [program.name]"}
    except (ValueError, RecursionError) as error:  # a RuleError, or no TOML
        return {"error": str(error)}
    if not book.rules:
        return {"error": "there is no [[rule]] in it"}
    count = sum(len(rule.match) + len(rule.spare) for rule in book.rules.values())
    return {"book": book, "wrong": failures(book, whole), "count": count}


def _without(rules: Rulebook, book: Rulebook) -> Rulebook:
    """The rules in force without those that the pack words anew: an edited copy of a pack is checked in its place."""
    kept = [rule for id, rule in rules.rules.items() if id not in book.rules]
    programs = {name: program for name, program in rules.programs.items() if name not in book.programs}
    return Rulebook.of(kept, programs)


ROUTES = (
    Route("GET", HOME, listing),
    Route("GET", f"{HOME}/check", check_page),
    Route("POST", f"{HOME}/check", check),
    Route("GET", f"{HOME}/{{id}}", one),
    Route("POST", f"{HOME}/{{id}}/try", try_one),
)
