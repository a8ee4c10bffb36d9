"""Rules pages: packs in force with examples run, any input tried on a rule, a new pack checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from interlock.analysis.assess import judge
from interlock.analysis.packs import PackError
from interlock.analysis.rules import Rule, Rulebook
from interlock.analysis.rules.load import SHIPPED, build_rulebook, example_failures, join_rulebooks, load_files
from interlock.analysis.rules.rendering import clause_words, example_words
from interlock.console.pages.try_ import KINDS, action_of, form_fields, plain_text, try_action
from interlock.console.visit import VIEWER, InvalidInput, PageRoutes, Visit, existing
from interlock.model import Action, Assessment, Level
from interlock.policy.load import toml
from interlock.web.context import Context

HOME = "/console/rules"
routes = PageRoutes(HOME)
LONGEST = 100_000  # characters of a checked pack
MOST = 300  # rules listed
_WORDS = {level.word: level for level in Level}


@routes.get()
def listing(visit: Visit) -> Response:
    asked = {name: plain_text(visit.query.get(name, ""))[:200].strip() for name in ("q", "pack", "level")}
    every = rules_in_force(visit.context)
    found = [one for one in every.values() if _matches(one, asked)] if any(asked.values()) else []
    return visit.page(
        "rules/rules.html",
        part="rules/_found.html",
        asked=asked,
        searched=any(asked.values()),
        found=found[:MOST],
        count=len(found),
        total=len(every),
        packs=_packs(every.values()),
        about={path.stem: _opening(_stamp(path)) for path in _files(visit.context)},
        levels=list(_WORDS),
        mark=visit.state.in_force.rulebook_hash,
        changed=sum(one.changed for one in every.values()),
        patterns=tuple(visit.state.registry),
    )


def _matches(one: RuleInForce, asked: dict[str, str]) -> bool:
    rule = one.rule
    if asked["pack"] not in ("", one.pack) or asked["level"] not in ("", rule.level.word):
        return False
    category = rule.category.value if rule.category else ""
    text = f"{rule.id} {rule.reason} {rule.instead} {category}".casefold()
    return all(word in text for word in asked["q"].casefold().split())


def _packs(rules: Iterable[RuleInForce]) -> list[tuple[str, int, Level]]:
    levels: dict[str, list[Level]] = {}
    for one in rules:
        levels.setdefault(one.pack, []).append(one.rule.level)
    return [(pack, len(found), max(found)) for pack, found in sorted(levels.items())]


@routes.get("/{id}")
def one(visit: Visit) -> Response:
    found, rules = _requested_rule(visit), visit.state.rules
    rule = found.rule
    return visit.page(
        "rules/rule.html",
        one=found,
        clauses=[clause_words(clause) for clause in rule.when],
        examples=[
            (example_words(action), catch, _fires(rule, action, rules) is catch)
            for actions, catch in ((rule.match, True), (rule.spare, False))
            for action in actions
        ],
        problems=example_failures(Rulebook.of([rule], rules.programs), rules) if rule.match else [],
        kinds=KINDS,
        fields=form_fields({}),
    )


@routes.post("/{id}/try", VIEWER)
def try_one(visit: Visit) -> Response:
    shelf, rules = _requested_rule(visit), visit.state.rules
    try:
        found = try_action(visit.state, action_of(visit.form))
    except InvalidInput as error:
        return visit.page("rules/_tried.html", one=shelf, error=str(error))
    alone = replace(Rulebook.of([shelf.rule], rules.programs), patterns=rules.patterns)
    hit = judge(found.action, alone).assessment
    return visit.page(
        "rules/_tried.html",
        one=shelf,
        found=found,
        error="",
        fires=_has(found.assessment, shelf.rule),
        alone=_has(hit, shelf.rule),
        known=rules.rules,
    )


def _has(assessment: Assessment, rule: Rule) -> bool:
    return any(finding.rule == rule.id for finding in assessment.findings)


def _requested_rule(visit: Visit) -> RuleInForce:
    return existing(rules_in_force(visit.context).get(visit.id), f"there is no rule {visit.id[:80]}")


@routes.get("/check")
def check_page(visit: Visit) -> Response:
    return visit.page("rules/check.html", pack="", error="", book=None)


@routes.post("/check", VIEWER)
def check(visit: Visit) -> Response:
    text = plain_text(visit.form.get("pack", ""))
    values = {"error": "", "pack": text, **_check_values(visit, text)}
    return visit.page("rules/check.html", part="rules/_checked.html", **values)


def _check_values(visit: Visit, text: str) -> dict[str, Any]:
    if not text.strip():
        return {"error": "there is nothing to check yet"}
    if len(text) > LONGEST:
        return {"error": f"longer than {LONGEST} characters"}
    rules = visit.state.rules
    try:
        book = build_rulebook([toml(text)])
        whole = replace(join_rulebooks(_without_redefined(rules, book), book), patterns=rules.patterns)
    except (TypeError, AttributeError):
        return {"error": "this is no pack: rules stand in [[rule]], programs in [program.name]"}
    except (ValueError, RecursionError) as error:  # a PackError, or no TOML
        return {"error": str(error)}
    if not book.rules:
        return {"error": "there is no [[rule]] in it"}
    count = sum(len(rule.match) + len(rule.spare) for rule in book.rules.values())
    return {"book": book, "wrong": example_failures(book, whole), "count": count}


def _without_redefined(rules: Rulebook, book: Rulebook) -> Rulebook:
    kept = [rule for id, rule in rules.rules.items() if id not in book.rules]
    programs = {name: program for name, program in rules.programs.items() if name not in book.programs}
    return Rulebook.of(kept, programs)


Stamp = tuple[str, int, int]  # path, modification time, size


class RuleInForce(Struct, frozen=True):
    """Its examples are those of its file, where the file still says the same."""

    rule: Rule
    pack: str
    changed: bool = False  # the file differs by now


def rules_in_force(context: Context) -> dict[str, RuleInForce]:
    on_disk = {id: (path.stem, rule) for path in _files(context) for id, rule in _rules(_stamp(path)).items()}
    return {id: _in_force(rule, on_disk.get(id)) for id, rule in context.state.rules.rules.items()}


def _fires(rule: Rule, action: Action, rules: Rulebook) -> bool:
    """For a rule of level safe, whether the action is judged safe."""
    seen = judge(action, rules).assessment
    return _has(seen, rule) if rule.level else not seen.level


def _in_force(rule: Rule, found: tuple[str, Rule] | None) -> RuleInForce:
    if found is None:
        return RuleInForce(rule, "", True)
    pack, other = found
    same = replace(other, match=(), spare=()) == replace(rule, match=(), spare=())
    return RuleInForce(other if same else rule, pack, not same)


def _files(context: Context) -> Sequence[Path]:
    return [*sorted(SHIPPED.glob("*.toml")), *context.config.rule_files]


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size


@lru_cache(maxsize=256)
def _opening(stamp: Stamp) -> str:
    try:
        with Path(stamp[0]).open(encoding="utf-8") as file:
            first = file.readline(400)
    except (OSError, ValueError):
        return ""
    return first[1:].strip() if first.startswith("#") else ""


@lru_cache(maxsize=256)
def _rules(stamp: Stamp) -> Mapping[str, Rule]:
    """A file that cannot be used any more has no rules."""
    try:
        return load_files([Path(stamp[0])]).rules
    except PackError:
        return {}
