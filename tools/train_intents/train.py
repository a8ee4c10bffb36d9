"""Labelled sentences -> the weights of the second opinion; the same sentences give the same weights.

`python -m tools.train_intents.train` writes the two files that are shipped. Each file of sentences is one author's: the threshold is
the one at which weights that were fitted without an author flag one in a hundred of that author's harmless sentences.
`python -m tools.train_intents.train FILE.jsonl…` prints what the rules, the shipped weights, and both together catch and wrongly flag in a file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from math import exp, sqrt
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from interlock.analysis.assess import judge
from interlock.analysis.facts import Effect, Fact
from interlock.analysis.opinion import BUCKETS, Weights, features, meanings, score, wording
from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import load
from interlock.model import Level, intent, operation

ROOT = Path(__file__).parents[2]
SENTENCES = Path(__file__).parent / "sentences"
CORPUS = [ROOT / "tests/corpus" / name for name in ("intents.jsonl", "wide_intents.jsonl", "more_intents.jsonl")]
CALLS = Path(__file__).parent / "calls"
CALL_CORPUS = [ROOT / f"tests/corpus/{name}operations.jsonl" for name in ("", "wide_", "more_", "server_")]
FILES = {
    False: ROOT / "src/interlock/analysis/rules/intents.weights",
    True: ROOT / "src/interlock/analysis/rules/intents_foreign.weights",
}

SEED, ROUNDS, SHRINK, BIAS_RATE = 7, 12, 1e-2, 0.02
RATE = {False: 0.03, True: 0.015}
LARGEST, MILLION = 127, 1_000_000
SHARE = {False: 0.01, True: 0.005}  # of the harmless sentences that may be flagged
CALL_SHARE = 0.02

Example = tuple[str, bool]


def read(path: Path, foreign: bool) -> list[Example]:
    """The labelled English lines of a file, or the others; vague ones are left out."""
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return [
        (row["hint"], row.get("min_level", 0) >= Level.DESTRUCTIVE)
        for row in rows
        if row.keys() & {"min_level", "max_level"} and not row.get("vague") and _is_foreign(row) is foreign
    ]


def _is_foreign(row: dict[str, str]) -> bool:
    return row.get("lang", "en") != "en" or not row["hint"].isascii()


@cache
def authors(foreign: bool) -> dict[str, list[Example]]:
    """The training sentences by author."""
    found = {path.stem: read(path, foreign) for path in [*sorted(SENTENCES.glob("*.jsonl")), *CORPUS]}
    return {name: rows for name, rows in found.items() if rows}


@cache
def callers(foreign: bool = False) -> dict[str, list[dict[str, Any]]]:
    """The labelled calls by author; all of them are in English."""
    paths = () if foreign else [*sorted(CALLS.glob("*.jsonl")), *CALL_CORPUS]
    found = {path: [json.loads(line) for line in path.read_text().splitlines() if line.strip()] for path in paths}
    return {str(path): [row for row in rows if "operation" in row] for path, rows in found.items()}


def _in_words(row: dict[str, Any]) -> Example:
    return wording(row["operation"], row.get("params") or {}), row.get("min_level", 0) >= Level.DESTRUCTIVE


def examples(foreign: bool, without: str = "") -> list[Example]:
    """The sentences and calls to learn from, without those of one author: for other languages the English ones too."""
    found = [authors(language) for language in ((True, False) if foreign else (False,))]
    found += [{name: [*map(_in_words, rows)] for name, rows in callers(foreign).items()}]
    return [row for everybody in found for name, rows in everybody.items() if name != without for row in rows]


@cache
def _buckets(text: str, foreign: bool) -> list[int]:
    return sorted(features(text) | meanings(text) if foreign else features(text))


def fit(learned_from: Iterable[Example], foreign: bool) -> Weights:
    """Logistic regression by stochastic descent with a rate for each bucket."""
    chance = Random(SEED)
    rows = [(_buckets(text, foreign), harmful) for text, harmful in learned_from]
    weights, moved = [0.0] * (BUCKETS + 1), [1e-6] * BUCKETS
    for _ in range(ROUNDS):
        chance.shuffle(rows)
        for found, harmful in rows:
            _learn(weights, moved, found, 3 * _error(weights, found, harmful), RATE[foreign])
    return Weights.of(packed(weights, 0.0))


def _error(weights: Sequence[float], found: Sequence[int], harmful: bool) -> float:
    guess = weights[BUCKETS] + sum(map(weights.__getitem__, found))
    return harmful - 1 / (1 + exp(-max(-30.0, min(30.0, guess))))


def _learn(weights: list[float], moved: list[float], found: Sequence[int], error: float, rate: float) -> None:
    for at in found:
        step = error / 10 - SHRINK * weights[at]
        moved[at] += step * step
        weights[at] += rate * step / sqrt(moved[at])
    weights[BUCKETS] += BIAS_RATE * error


def packed(weights: Sequence[float], threshold: float) -> bytes:
    """The file that `Weights.of` reads: a bias, a unit and two thresholds in millionths, one signed byte for each bucket."""
    unit = max(1, round(max(map(abs, weights[:BUCKETS])) / LARGEST * MILLION))
    small = [round(weight * MILLION / unit) for weight in weights]
    head = (small[BUCKETS], unit, round(threshold * MILLION), 0)
    return _bytes(head, [max(-LARGEST, min(LARGEST, number)) for number in small[:BUCKETS]])


def _bytes(head: Iterable[int], buckets: Iterable[int]) -> bytes:
    return b"".join(number.to_bytes(4, "big", signed=True) for number in head) + bytes(n & 0xFF for n in buckets)


def threshold(foreign: bool) -> tuple[float, str]:
    """The threshold, chosen on authors that the weights were not trained on, and its recall there."""
    rules = replace(load(), opinion=None)
    quiet: list[tuple[float, bool]] = []
    for name, rows in authors(foreign).items():
        weights = fit(examples(foreign, without=name), foreign)
        for text, harmful in rows:
            judged = judge(intent(text), rules)
            if judged.assessment.level < Level.DESTRUCTIVE and (asked := _asked(judged.facts)):
                quiet.append((max(score(one, weights, foreign) for one in asked), harmful))
    harmless = sorted((points for points, harmful in quiet if not harmful), reverse=True)
    line = harmless[int(len(harmless) * SHARE[foreign])]
    missed = [points for points, harmful in quiet if harmful]
    caught = sum(points > line for points in missed)
    return line, f"of unknown authors' sentences it flags {caught} of {len(missed)} that the rules miss"


def call_threshold() -> tuple[float, str]:
    """The same for calls."""
    rules = replace(load(), opinion=None)
    quiet: list[tuple[float, bool]] = []
    for name, rows in callers().items():
        weights = fit(examples(False, without=name), False)
        for row in rows:
            action = operation(row["operation"], row.get("params") or {}, row.get("crude") or "")
            facts = judge(action, rules).facts
            if len(facts) == 1 and "outermost" in facts[0].traits:
                text, harmful = _in_words(row)
                quiet.append((score(text, weights), harmful))
    harmless = sorted((points for points, harmful in quiet if not harmful), reverse=True)
    line = harmless[int(len(harmless) * CALL_SHARE)]
    missed = [points for points, harmful in quiet if harmful]
    return (
        line,
        f"of unknown authors' calls it flags {sum(one > line for one in missed)} of {len(missed)} that the rules miss",
    )


def _asked(facts: Iterable[Fact]) -> list[str]:
    """The sentences of an intent that the classifier judges."""
    return [fact.target for fact in facts if isinstance(fact, Effect) and fact.traits & {"plain", "plain_foreign"}]


def train(foreign: bool) -> None:
    """Trains on all authors and writes the weights."""
    rows = examples(foreign)
    line, words = threshold(foreign)
    weights = fit(rows, foreign)
    of_calls, more = (0.0, "") if foreign else call_threshold()
    head = (weights.bias, round(weights.unit * MILLION), round(line * MILLION), round(of_calls * MILLION))
    FILES[foreign].write_bytes(_bytes(head, weights.buckets))
    print(f"{FILES[foreign].name}: from {len(rows):,} sentences, threshold {line:.2f}; {words}; {of_calls:.2f}; {more}")


def compare(path: Path) -> None:
    """Compares the rules alone, the classifier alone and both together on a file."""
    rules = load()
    opinion = rules.opinion() if rules.opinion else None
    rows = [(text, harmful, foreign) for foreign in (False, True) for text, harmful in read(path, foreign)]

    def by(book: Rulebook) -> list[bool]:
        return [judge(intent(text), book).assessment.level >= Level.DESTRUCTIVE for text, _, _ in rows]

    alone = [opinion is not None and opinion.resembles_harm(text, foreign) for text, _, foreign in rows]
    ways = {"rules alone": by(replace(rules, opinion=None)), "classifier alone": alone, "both": by(rules)}
    bad = sum(harmful for _, harmful, _ in rows)
    for name, asked in ways.items():
        caught = sum(held and harmful for held, (_, harmful, _) in zip(asked, rows, strict=True))
        false = sum(asked) - caught
        print(f"{path.name:24} {name:17} caught {caught}/{bad} ({caught / max(bad, 1):.1%}), false {false}/{len(rows) - bad}"
              f" ({false / max(len(rows) - bad, 1):.1%})")  # fmt: skip


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:]):
        compare(file)
    if not sys.argv[1:]:
        train(foreign=False)
        train(foreign=True)
