"""Labelled sentences and calls -> the weights of the opinion; the same lines give the same weights.

`python -m tools.train_intents.train` writes the two files that are shipped. Each file of sentences or of calls is one author's: the
lines between scores are those at which weights that were fitted without an author judge the sets in `MEASURED` with the shares below.
`python -m tools.train_intents.train FILE.jsonl…` prints what the rules, the shipped weights, and both together catch and wrongly flag
in a file of intents.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import chain
from math import exp, sqrt
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from interlock.analysis.assess import judge
from interlock.analysis.facts import Effect
from interlock.analysis.lexicon import verb_forms, verbs
from interlock.analysis.opinion import BUCKETS, HEARD, Weights, features, meanings, score, wording
from interlock.analysis.prose.foreign.words import book_of
from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import load
from interlock.model import Level, intent, operation

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
CORPUS = ROOT / "tests/corpus"
ENGLISH, FOREIGN, CALLS = "intents", "intents_foreign", "calls"
ALSO = {ENGLISH: ("", "wide_", "more_"), FOREIGN: ("", "wide_", "more_"), CALLS: ("", "wide_", "more_", "server_")}

SEEDS, ROUNDS, SHRINK, BIAS_RATE = (7, 8, 9), 12, 1e-2, 0.02
RATE = {ENGLISH: 0.03, FOREIGN: 0.015}
LARGEST, MILLION = 127, 1_000_000
# Authors whose whole sets are of the kind that is met: half of it harmful, and few labels that somebody could doubt.
MEASURED = "seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth".split()
# Of the harmless lines, how many may lie above the line of harm, and above that of a sentence; of the harmful ones, how many below the one that spares.
HARM, SENTENCE, SPARE = {ENGLISH: 0.012, FOREIGN: 0.008}, 0.002, 0.01
MARGIN = 1.25  # how far above every harmless call that the rules leave open the line of calls lies

Example = tuple[str, bool]


# The tables of sentences that the tests of prose are about, by what they say of theirs.
TABLES = ROOT / "tests/analysis/prose"
ANNOUNCED, SPARED = {"ANNOUNCED", "SAID", "HARM", "MUTATES", "TRADE", "TRADES"}, {"SPARED", "TWINS", "NEAR", "WORK"}


@cache
def tested() -> list[dict[str, Any]]:
    """The sentences of the tests' tables as labelled lines."""
    found: list[tuple[str, bool]] = []
    for path in sorted(TABLES.glob("prose_*.py")):
        for name, table in runpy.run_path(str(path)).items():
            if name in ANNOUNCED | SPARED:
                lines = chain(*table.values()) if isinstance(table, dict) else table
                found += ((line if isinstance(line, str) else line[0], name in ANNOUNCED) for line in lines)
            elif name == "STATED":
                for spared, announced in table.values():
                    found += [*((line, False) for line in spared), *((line, True) for line in announced)]
    return [
        {"hint": hint, "lang": _language(hint), "min_level" if harmful else "max_level": 1 + harmful}
        for hint, harmful in found
    ]


def _language(hint: str) -> str:
    book = book_of(hint)
    return book.language.code if book else "en"


THINGS = (
    "customer records", "inventory database", "backups", "web server", "user account", "api keys", "firewall", "audit log", "subscription",
    "permissions", "dns zone", "comment", "invoices", "deployment", "branch", "ticket", "folder", "report", "phone number", "message",
    "door lock", "product",
)  # fmt: skip


@cache
def spelled() -> list[dict[str, Any]]:
    """The verbs that names and sentences share with these things, labelled as the rules judge the operation that is called so; of harm only some."""
    found: list[dict[str, Any]] = []
    for verb in sorted({verb for form, (verb, _, _) in verb_forms().items() if form == verb} & verbs().keys()):
        for at, thing in enumerate(THINGS):
            judged = judge(operation(f"{verb}_{thing.replace(' ', '_')}", {}), replace(load(), opinion=None))
            level = judged.assessment.level
            if level >= Level.DESTRUCTIVE and (at + len(verb)) % 8 == 0:
                found.append({"hint": f"{verb.capitalize()} the {thing}", "min_level": int(level)})
            elif level < Level.DESTRUCTIVE and not any("open_call" in fact.traits for fact in judged.facts):
                found.append({"hint": f"{verb.capitalize()} the {thing}", "max_level": int(level)})
    return found


@cache
def rows(kind: str) -> dict[str, list[dict[str, Any]]]:
    """The labelled lines of a kind by author; vague ones are left out."""
    folder, name = ("calls", "operations") if kind == CALLS else ("sentences", "intents")
    paths = [*sorted((FOLDER / folder).glob("*.jsonl")), *(CORPUS / f"{more}{name}.jsonl" for more in ALSO[kind])]
    written = {path.stem: read(path) for path in paths} | {"tested": tested(), "spelled": spelled()}
    found = {author: [row for row in lines if _kind_of(row) == kind] for author, lines in written.items()}
    return {author: lines for author, lines in found.items() if lines}


def read(path: Path) -> list[dict[str, Any]]:
    lines = (json.loads(line) for line in path.read_text().splitlines() if line.strip())
    return [row for row in lines if row.keys() & {"min_level", "max_level"} and not row.get("vague")]


def _kind_of(row: dict[str, Any]) -> str:
    if "hint" not in row:
        return CALLS
    return FOREIGN if row.get("lang", "en") != "en" or not row["hint"].isascii() else ENGLISH


def is_harmful(row: dict[str, Any]) -> bool:
    return bool(row.get("min_level", 0) >= Level.DESTRUCTIVE)


def text_of(row: dict[str, Any]) -> str:
    """The line in words, as the opinion hears it."""
    if "hint" in row:
        return _heard(row["hint"])
    return wording(row["operation"], row.get("params") or {}, row.get("crude") or "")


@cache
def _heard(hint: str) -> str:
    """An intent without names that it only speaks of, where the rules find nothing in it."""
    facts = judge(intent(hint), replace(load(), opinion=None)).facts
    return " ".join(fact.target for fact in facts if isinstance(fact, Effect) and fact.traits & HEARD) or hint


def examples(kind: str, without: Collection[str] = ()) -> list[Example]:
    """The lines to learn from, without those of some authors: English sentences teach all kinds, and calls English."""
    kinds = (FOREIGN, ENGLISH) if kind == FOREIGN else (ENGLISH, CALLS)
    found = (row for one in kinds for author, lines in rows(one).items() if author not in without for row in lines)
    return [(text_of(row), is_harmful(row)) for row in found]


@cache
def _buckets(text: str, foreign: bool) -> list[int]:
    return sorted(features(text) | meanings(text) if foreign else features(text))


def fit(kind: str, without: Collection[str] = ()) -> list[float]:
    """Logistic regression, the mean of several descents through the lines in different orders; the bias comes last."""
    learned = [(_buckets(text, kind == FOREIGN), harmful) for text, harmful in examples(kind, without)]
    return [
        sum(each) / len(SEEDS) for each in zip(*(_descend(kind, learned, Random(seed)) for seed in SEEDS), strict=True)
    ]


def _descend(kind: str, learned: Sequence[tuple[Sequence[int], bool]], chance: Random) -> list[float]:
    weights, moved, order = [0.0] * (BUCKETS + 1), [1e-6] * BUCKETS, [*learned]
    for _ in range(ROUNDS):
        chance.shuffle(order)
        for found, harmful in order:
            _learn(weights, moved, found, 3 * _error(weights, found, harmful), RATE[kind])
    return weights


def _error(weights: Sequence[float], found: Sequence[int], harmful: bool) -> float:
    guess = weights[BUCKETS] + sum(map(weights.__getitem__, found))
    return harmful - 1 / (1 + exp(-max(-30.0, min(30.0, guess))))


def _learn(weights: list[float], moved: list[float], found: Sequence[int], error: float, rate: float) -> None:
    for at in found:
        step = error / 10 - SHRINK * weights[at]
        moved[at] += step * step
        weights[at] += rate * step / sqrt(moved[at])
    weights[BUCKETS] += BIAS_RATE * error


def packed(weights: Sequence[float], lines: Sequence[float] = (0.0, 0.0, 0.0, 0.0)) -> bytes:
    """The file that `Weights.of` reads: a bias, a unit and four lines in millionths, one signed byte for each bucket."""
    unit = max(1, round(max(map(abs, weights[:BUCKETS])) / LARGEST * MILLION))
    small = [round(weight * MILLION / unit) for weight in weights]
    head = (small[BUCKETS], unit, *(round(line * MILLION) for line in lines))
    held = (max(-LARGEST, min(LARGEST, number)) & 0xFF for number in small[:BUCKETS])
    return b"".join(number.to_bytes(4, "big", signed=True) for number in head) + bytes(held)


def lines(kind: str) -> tuple[float, float, float, float]:
    """The lines of harm, of a sentence, of sparing and of calls, chosen on authors that the weights were not fitted on."""
    scored: list[tuple[float, bool]] = []
    called: list[tuple[float, bool]] = []
    for unknown in (MEASURED[::3], MEASURED[1::3], MEASURED[2::3]):
        weights = Weights.of(packed(fit(kind, without=unknown)))
        for name in unknown:
            for row in rows(kind).get(name, ()):
                scored.append((score(text_of(row), weights, kind == FOREIGN), is_harmful(row)))
            for row in rows(CALLS).get(name, ()) if kind == ENGLISH else ():  # what the rules decide takes no part
                called.append((score(text_of(row), weights) if _is_open(row) else -LARGEST, is_harmful(row)))
    above, below = _sorted(scored)
    harm = above[int(len(above) * HARM[kind])]
    print(
        f"{kind}: {sum(points > harm for points in below)} of {len(below)} harmful lines of unknown authors lie above {harm:.2f}"
    )
    above_calls, below_calls = _sorted(called)
    calls = above_calls[0] * MARGIN if called else 0.0
    if called:
        left = sum(points > -LARGEST for points in below_calls)
        print(
            f"calls: {sum(points > calls for points in below_calls)} of {left} that the rules leave open lie above {calls:.2f}"
        )
    return harm, above[int(len(above) * SENTENCE)], below[int(len(below) * SPARE)], calls


def _sorted(scored: Sequence[tuple[float, bool]]) -> tuple[list[float], list[float]]:
    """The scores of harmless lines, the highest first, and those of harmful ones, the lowest first."""
    harmless = sorted((points for points, harmful in scored if not harmful), reverse=True)
    return harmless, sorted(points for points, harmful in scored if harmful)


def _is_open(row: dict[str, Any]) -> bool:
    """True for a call that the opinion is asked about."""
    action = operation(row["operation"], row.get("params") or {}, row.get("crude") or "")
    facts = judge(action, replace(load(), opinion=None)).facts
    return any(isinstance(fact, Effect) and {"open_call", "outermost"} <= fact.traits for fact in facts)


def compare(path: Path) -> None:
    """Compares the rules alone, the weights alone and both together on a file."""
    rules = load()
    opinion = rules.opinion() if rules.opinion else None
    told = [(row["hint"], is_harmful(row), _kind_of(row) == FOREIGN) for row in read(path) if "hint" in row]

    def by(book: Rulebook) -> list[bool]:
        return [judge(intent(text), book).assessment.level >= Level.DESTRUCTIVE for text, _, _ in told]

    learned = {False: opinion.english, True: opinion.foreign} if opinion else {}
    alone = [bool(learned) and score(text, learned[other], other) > learned[other].harm for text, _, other in told]
    ways = {"rules alone": by(replace(rules, opinion=None)), "weights alone": alone, "both": by(rules)}
    bad = sum(harmful for _, harmful, _ in told)
    for name, asked in ways.items():
        caught = sum(held and harmful for held, (_, harmful, _) in zip(asked, told, strict=True))
        false = sum(asked) - caught
        print(f"{path.name:24} {name:17} caught {caught}/{bad} ({caught / max(bad, 1):.1%}), false {false}/{len(told) - bad}"
              f" ({false / max(len(told) - bad, 1):.1%})")  # fmt: skip


def train(kind: str) -> None:
    """Learns from all authors and writes the weights."""
    chosen = lines(kind)
    (ROOT / f"src/interlock/analysis/rules/{kind}.weights").write_bytes(packed(fit(kind), chosen))
    print(f"{kind}.weights: lines {', '.join(f'{line:.2f}' for line in chosen)}")


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:]):
        compare(file)
    if not sys.argv[1:]:
        with ProcessPoolExecutor() as pool:
            list(pool.map(train, (ENGLISH, FOREIGN)))
