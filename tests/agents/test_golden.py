"""Each agent's dialect, by golden files: what it sends, what we read in it, and what we answer, to the letter."""

from __future__ import annotations

import json
from pathlib import Path

from golden_form import VERDICTS, shown_event, shown_reply

from cases import each
from interlock.agents import GATING, agent, words

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(GOLDEN.glob("*/*.json"))


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def stdin(gold: dict) -> bytes:
    given = gold["stdin"]
    return (given if isinstance(given, str) else json.dumps(given)).encode()


@each("path", CASES, ids=name)
def test_the_input_is_read_as_written_down(path: Path) -> None:
    gold = json.loads(path.read_text())
    event = agent(path.parent.name).decode(stdin(gold), gold["event"])
    assert shown_event(event) == gold["decoded"]
    assert bool(event.problem) == path.stem.startswith("malformed")


@each("path", CASES, ids=name)
def test_the_answers_are_as_written_down(path: Path) -> None:
    gold, chosen = json.loads(path.read_text()), agent(path.parent.name)
    event = chosen.decode(stdin(gold), gold["event"])
    assert gold["replies"] == {word: shown_reply(chosen.encode(event, verdict)) for word, verdict in VERDICTS.items()}


@each("path", CASES, ids=name)
def test_an_unknown_field_changes_nothing(path: Path) -> None:
    gold = json.loads(path.read_text())
    if isinstance(gold["stdin"], str):
        return
    given = {**gold["stdin"], "brand_new_field": {"a": [1, 2]}}
    event = agent(path.parent.name).decode(json.dumps(given).encode(), gold["event"])
    assert shown_event(event) == gold["decoded"]


@each("word", words())
def test_every_event_of_every_agent_is_written_down_and_malformed_too_where_it_gates(word: str) -> None:
    kinds = agent(word).events
    golds = {path.stem: json.loads(path.read_text())["decoded"] for path in CASES if path.parent.name == word}
    bent = {gold.get("name") for stem, gold in golds.items() if stem.startswith("malformed")}
    assert {gold.get("name") for gold in golds.values()} >= set(kinds)
    assert bent >= {name for name, kind in kinds.items() if kind in GATING}
