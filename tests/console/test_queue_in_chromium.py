"""The queue as an operator uses it: in a real Chromium, with a passkey, over a running daemon."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from chromium import Console, Window, console, until, wait_until_armed

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with console(Path(tmp_path_factory.mktemp("console"))) as found:
        yield found


@pytest.fixture(scope="module")
def ana(here: Console) -> Iterator[Window]:
    window = here.signed_in()
    yield window
    assert window.complaints == []


@pytest.fixture(autouse=True)
def nothing_waits(here: Console) -> None:
    here.clear()


def card(window: Window, id: str) -> Any:
    return window.page.locator(f"[data-item='{id}']")


@pytest.mark.slow("starts a daemon, a person at a terminal and Chromium")
def test_a_held_call_appears_by_itself_and_one_touch_frees_it(here: Console, ana: Window) -> None:
    ana.open("/console/queue")
    ana.page.wait_for_selector("text=Nothing is waiting for you")
    held = here.ask(here.deed)
    found = card(ana, held["pendingId"])
    found.wait_for()
    assert here.deed in found.locator("mark").inner_text()
    button = found.get_by_role("button", name="Approve with passkey…")
    assert button.is_disabled()
    wait_until_armed(button)
    button.click()
    until(lambda: here.ticket(held["pendingId"])["state"] == "approved", "the approval")
    assert here.ask(here.deed)["decision"] == "allow"
    assert here.ask(here.deed)["decision"] != "allow"


def test_a_touch_by_somebody_else_approves_nothing(here: Console, ana: Window) -> None:
    held = here.ask(here.deed)
    ana.open("/console/queue")
    ana.verified(False)
    try:
        button = card(ana, held["pendingId"]).get_by_role("button", name="Approve with passkey…")
        wait_until_armed(button)
        button.click()
        ana.page.wait_for_selector("#said p.bad")
        assert here.ticket(held["pendingId"])["state"] == "pending_approval"
    finally:
        ana.verified(True)


def test_a_reason_for_a_rejection_reaches_the_agent(here: Console, ana: Window) -> None:
    held = here.ask(here.deed)
    ana.open("/console/queue")
    ana.page.keyboard.press("j")
    ana.page.keyboard.press("r")
    ana.page.keyboard.type("not on my watch")
    card(ana, held["pendingId"]).get_by_role("button", name="Reject", exact=True).click()
    until(lambda: here.ticket(held["pendingId"])["state"] == "rejected", "the rejection")
    again = here.ask(here.deed)
    assert again["decision"] != "allow"
    assert "not on my watch" in str(again)


def test_whoever_writes_a_reason_does_not_lose_it_when_the_queue_changes(here: Console, ana: Window) -> None:
    held = here.ask(here.deed)
    ana.open("/console/queue")
    first = card(ana, held["pendingId"])
    first.locator("summary[data-reject]").click()
    first.locator("textarea").fill("half a sen")
    here.ask("git push --force origin main")
    ana.page.wait_for_selector("#stale:not([hidden])")
    assert first.locator("textarea").input_value() == "half a sen"
    ana.page.click("text=Show it")
    ana.page.wait_for_selector("text=git push --force")


def test_whoever_opens_a_reason_writes_in_it_at_once(here: Console, ana: Window) -> None:
    here.ask(here.deed)
    ana.open("/console/queue")
    opened = "summary => { summary.click(); return document.activeElement.name; }"  # nothing else gets a turn between
    assert ana.page.locator("summary[data-reject]").evaluate(opened) == "reason"
    ana.page.reload()
    ana.page.locator("summary[data-reject]").press("Enter")
    assert ana.page.evaluate("[document.activeElement.name, document.activeElement.value]") == ["reason", ""]


def test_a_copy_of_the_queue_that_was_under_way_takes_no_words_away(here: Console, ana: Window) -> None:
    held = here.ask(here.deed)
    late: list[Any] = []
    ana.open("/console/queue")
    ana.page.route("**/console/queue", lambda route: late.append(route))
    try:
        here.ask(f"rm -rf lib{here.round}")
        until(lambda: ana.page.wait_for_timeout(50) or late, "the fresh copy's request")
        reason = card(ana, held["pendingId"]).locator("textarea")
        card(ana, held["pendingId"]).locator("summary[data-reject]").click()
        reason.press_sequentially("half a sen")
        for route in late:
            route.continue_()
        ana.page.wait_for_selector("#stale:not([hidden])")
    finally:
        ana.page.unroute_all()
    reason.press_sequentially("tence")
    assert reason.input_value() == "half a sentence"
    ana.page.click("text=Show it")
    ana.page.wait_for_selector(f"text=rm -rf lib{here.round}")
    expect(reason).to_have_value("half a sentence")
    expect(reason).to_be_visible()


def test_answering_one_card_leaves_what_was_written_about_another(here: Console, ana: Window) -> None:
    first, second = here.ask(here.deed)["pendingId"], here.ask(f"rm -rf lib{here.round}")["pendingId"]
    ana.open("/console/queue")
    for id, words in ((first, "half a sentence"), (second, "no")):
        card(ana, id).locator("summary[data-reject]").click()
        card(ana, id).locator("textarea").fill(words)
    card(ana, second).get_by_role("button", name="Reject", exact=True).click()
    expect(card(ana, second)).to_have_count(0)
    expect(card(ana, first).locator("textarea")).to_be_visible()
    expect(card(ana, first).locator("textarea")).to_have_value("half a sentence")


def test_what_is_selected_keeps_the_keys_when_the_queue_changes(here: Console, ana: Window) -> None:
    held = here.ask(here.deed)["pendingId"]
    ana.open("/console/queue")
    ana.page.keyboard.press("j")
    ana.page.wait_for_selector(f"[data-item='{held}']:focus")
    other = here.ask(f"rm -rf lib{here.round}")["pendingId"]
    card(ana, other).wait_for()
    ana.page.keyboard.press("Enter")
    ana.page.wait_for_url(f"**/console/tickets/{held}")


def test_the_card_that_somebody_reads_stays_where_it_is_when_a_worse_one_comes(here: Console, ana: Window) -> None:
    long = "; ".join(f"echo {number}" for number in range(400))
    held = [here.ask(f"rm -rf lib{here.round}-{number}; {long}")["pendingId"] for number in range(4)]
    ana.open("/console/queue")
    where = "card => Math.round(card.getBoundingClientRect().top)"
    read, box = card(ana, held[2]), card(ana, held[2]).locator("pre").last
    read.evaluate("card => card.scrollIntoView({ block: 'center' })")
    box.evaluate("box => { box.scrollTop = 100; }")
    before = read.evaluate(where)
    card(ana, here.ask(f"psql -h db -c 'drop table t{here.round}'")["pendingId"]).wait_for(state="attached")
    assert ana.page.locator("[data-item]").first.get_attribute("data-item") not in held  # the worst is above
    assert abs(read.evaluate(where) - before) <= 2 and box.evaluate("box => box.scrollTop") == 100


def test_whoever_answers_by_keys_hears_that_it_worked_and_goes_on_with_the_next(here: Console, ana: Window) -> None:
    held = [here.ask(f"rm -rf lib{here.round}-{number}")["pendingId"] for number in range(3)]
    ana.open("/console/queue")
    for id in held[:2]:
        ana.page.keyboard.press("j")
        ana.page.wait_for_selector(f"[data-item='{id}']:focus")
    ana.page.keyboard.press("r")
    reason = card(ana, held[1]).locator("textarea")
    expect(reason).to_be_focused()
    reason.press_sequentially("no")
    card(ana, held[1]).get_by_role("button", name="Reject", exact=True).press("Enter")
    ana.page.wait_for_selector("#said >> text=Rejected")
    ana.page.wait_for_selector(f"[data-item='{held[2]}'].selected:focus")


def test_what_came_before_the_page_listened_is_shown_as_well(here: Console, ana: Window) -> None:
    streams: list[Any] = []
    ana.page.route("**/console/events", lambda route: streams.append(route))
    try:
        ana.open("/console/queue")
        until(lambda: ana.page.wait_for_timeout(50) or streams, "the page's wish to listen")
        held = here.ask(here.deed)["pendingId"]
        assert card(ana, held).count() == 0
        streams[0].continue_()
        card(ana, held).wait_for()
    finally:
        ana.page.unroute_all()


def test_a_viewer_and_a_signed_out_browser_change_nothing(here: Console) -> None:
    held = here.ask(here.deed)
    stranger = here.window()
    stranger.open("/console/queue")
    assert stranger.page.url.endswith("/console/sign-in?next=/console/queue")
    answer = stranger.page.request.post(
        f"{here.base}/console/tickets/{held['pendingId']}/reject",
        form={"reason": "x"},
        headers={"origin": here.base},
        max_redirects=0,
    )
    assert answer.status in (303, 401, 403)
    assert here.ticket(held["pendingId"])["state"] == "pending_approval"
    stranger.context.close()


def test_many_at_once_leave_the_queue_usable(here: Console, ana: Window) -> None:
    work = [threading.Thread(target=here.ask, args=(f"rm -rf folder{number}",)) for number in range(30)]
    for one in work:
        one.start()
    for one in work:
        one.join()
    ana.open("/console/queue")
    assert ana.page.locator("[data-item]").count() >= 5
    ana.page.keyboard.press("j")
    assert ana.page.locator(".card.selected").count() == 1


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_queue_is_accessible_at_every_width(here: Console, ana: Window, width: int, scheme: Any) -> None:
    here.ask(here.deed)
    ana.page.emulate_media(color_scheme=scheme)
    ana.page.set_viewport_size({"width": width, "height": 900})
    try:
        ana.open("/console/queue")
        ana.page.wait_for_selector("[data-item]")
        assert ana.violations() == []
        assert ana.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    finally:
        ana.page.set_viewport_size({"width": 1440, "height": 900})


_NOTIFICATION = """
  window.told = [];
  window.Notification = class { constructor(title, given) { window.told.push([title, given.body]); } close() {} };
  window.Notification.permission = "default";
  window.Notification.requestPermission = async () => (window.Notification.permission = "granted");
  document.hasFocus = () => false;
"""


def test_the_tab_counts_what_waits_and_the_browser_tells_of_it_after_one_click(here: Console, ana: Window) -> None:
    ana.page.add_init_script(_NOTIFICATION)
    ana.open("/console/queue")
    expect(ana.page).to_have_title("Queue · Interlock")
    ana.page.get_by_role("button", name="Notify me in this browser").press("Enter")
    expect(ana.page.get_by_role("button", name="Notifications are on")).to_have_attribute("aria-pressed", "true")
    here.ask(f"bash -c '{here.deed}'")
    expect(ana.page).to_have_title("(1) Queue · Interlock")
    assert "%3E1%3C%2Ftext" in str(ana.page.get_attribute("#icon", "href"))
    [[_, said]] = until(lambda: ana.page.evaluate("told"), "the notification")
    assert said.endswith(f"waits for an answer: {here.deed}")
    assert ana.violations() == []
