"""The live feed shows what agents ask for, the newest first, and only what was filtered for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from console_visitor import DELETE, LIST, PUSH, ConsoleVisitor, page_text, visit_console


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ConsoleVisitor]:
    with visit_console(tmp_path) as found:
        yield found


def test_a_feed_without_agents_says_how_to_connect_one(here: ConsoleVisitor) -> None:
    assert "No agent has asked for anything yet" in here.said("/console/live")


def test_what_was_asked_last_stands_first_and_what_operators_do_is_not_there(here: ConsoleVisitor) -> None:
    for command in (LIST, PUSH, DELETE):
        here.ask(command)
        here.app.clock.forward(1)
    said = here.said("/console/live")
    assert said.index(DELETE) < said.index(PUSH) < said.index(LIST)
    assert "unlock" not in said and "agent change" not in said
    assert "held dangerous claude" in said and "allowed safe claude" in said


def test_the_feed_is_filtered_by_agent_and_by_level(here: ConsoleVisitor) -> None:
    here.ask(LIST)
    here.ask(PUSH)
    here.ask("git status", name="Codex")
    assert LIST not in here.said("/console/live?level=3") and PUSH in here.said("/console/live?level=3")
    assert here.said("/console/live?agent=codex").count("git status") == 1
    assert PUSH not in here.said("/console/live?agent=codex")
    assert "No matches" in here.said("/console/live?agent=codex&level=3")
    assert LIST in here.said("/console/live?level=nonsense")


def test_a_page_that_fetches_itself_again_gets_the_feed_alone_with_its_filters(here: ConsoleVisitor) -> None:
    here.ask(PUSH)
    whole = here.page("/console/live?agent=claude&level=3")
    assert 'hx-get="/console/live?agent=claude&amp;level=3"' in whole
    part = here.part("/console/live?agent=claude&level=3")
    assert "<html" not in part and PUSH in page_text(part)
