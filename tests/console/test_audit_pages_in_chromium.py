"""Live, Agents, Audit and Figures as an operator uses them: in a real Chromium, over a running daemon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chromium import Console, Window, console

pytestmark = pytest.mark.xdist_group("browser")
HELD = "git push --force origin main"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with console(Path(tmp_path_factory.mktemp("pages"))) as found:
        for command in ("ls -la", "rm -rf '<img src=x onerror=alert(1)>'", HELD):
            found.ask(command)
        yield found


@pytest.fixture(scope="module")
def ana(here: Console) -> Iterator[Window]:
    window = here.signed_in()
    yield window
    assert window.complaints == []


def row(window: Window, words: str) -> Any:
    return window.page.locator("tr[data-item]", has_text=words)


@pytest.mark.slow("starts a daemon, a person at a terminal and Chromium")
def test_the_feed_goes_on_by_itself_until_it_is_paused(here: Console, ana: Window) -> None:
    ana.hurried("/console/live")
    row(ana, HELD).wait_for()
    here.ask("cat one.txt")  # allowed: nothing is told of it, the page asks again
    row(ana, "cat one.txt").wait_for()
    ana.page.get_by_role("button", name="Pause").click()
    ana.page.wait_for_selector("[data-poll-state]:text('Paused')")
    waiting = ana.page.locator("#waiting").inner_text()
    here.ask("rm -rf two")
    ana.page.wait_for_function("before => document.querySelector('#waiting').textContent !== before", arg=waiting)
    assert row(ana, "rm -rf two").count() == 0  # the rest of the page was told of it
    ana.page.get_by_role("button", name="Go on").click()
    row(ana, "rm -rf two").wait_for()


def test_a_record_is_reached_marked_and_listed_with_the_keyboard_and_one_button(ana: Window) -> None:
    ana.open("/console/audit?level=3&text=push")
    ana.page.keyboard.press("j")
    assert ana.page.locator("tr.selected").count() == 1
    ana.page.keyboard.press("Enter")
    ana.page.wait_for_url("**/console/audit/record?*")
    ana.page.fill("#note", "we own that branch")
    ana.page.get_by_role("button", name="This was a false alarm").click()
    ana.page.wait_for_selector("text=Remove the mark")
    ana.page.get_by_role("link", name="All false alarms").click()
    ana.page.wait_for_url("**/console/figures#alarms")
    assert HELD in ana.page.locator("[aria-label='Near misses for the rule']").inner_text()


def test_the_verdict_appears_beside_the_records(ana: Window) -> None:
    ana.open("/console/audit")
    ana.page.get_by_role("button", name="Verify the record").click()
    ana.page.wait_for_selector("#verdict >> text=none altered, missing or out of order")
    assert ana.page.locator("tr[data-item]").count() > 3


@pytest.mark.slow("runs axe on six pages in two widths")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_accessible_and_fit_at_every_width(ana: Window, scheme: Any) -> None:
    paths = ["/console/live", "/console/agents", "/console/audit", "/console/figures"]
    for path, link in (("/console/agents", "tr a[data-open]"), ("/console/audit?level=3", "tr a[data-open]")):
        ana.open(path)
        paths.append(ana.page.locator(link).first.get_attribute("href") or "")
    ana.page.emulate_media(color_scheme=scheme)
    try:
        for width in (390, 1440):
            ana.page.set_viewport_size({"width": width, "height": 900})
            for path in paths:
                ana.open(path)
                assert ana.violations() == [], (path, width)
                assert ana.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
    finally:
        ana.page.set_viewport_size({"width": 1440, "height": 900})
