"""Ask as a person uses it: in a real Chromium, over a running daemon, with the mock planner; every way to Run has the same gate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from chromium import PATIENCE, Console, Window, console, wait_until_armed

pytestmark = pytest.mark.xdist_group("browser")
NOBODY = '[planner]\nhost = "http://127.0.0.1:9"\nseconds = 2\n'
HIGH = "I understand the risks of this high-risk command."
MEDIUM = "I understand the risks of this medium-risk command."


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with console(Path(tmp_path_factory.mktemp("asking")), NOBODY) as found:
        yield found


@pytest.fixture(scope="module")
def ana(here: Console) -> Iterator[Window]:
    window = here.signed_in()
    yield window
    assert window.complaints == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def ask(window: Window, words: str, folder: Path) -> Any:
    """A plan on the page."""
    page = window.open("/console/ask")
    page.fill("#intent", words)
    page.fill("#ask-cwd", str(folder))
    page.get_by_role("button", name="Make a plan").click()
    page.wait_for_url("**/console/ask?plan=*", timeout=PATIENCE)
    return page


def edited(page: Any, text: str, risk: str) -> None:
    """Somebody types, and the review of that comes."""
    page.fill("#command", text)
    page.wait_for_selector(f"[data-review]:not([aria-busy]) [data-risk={risk}]")


def finished(page: Any, how: str) -> str:
    expect(page.locator("[data-progress]")).to_contain_text(how, timeout=PATIENCE)
    return str(page.locator("[data-output]").inner_text())


@pytest.mark.slow("starts a daemon, a person at a terminal and Chromium")
def test_a_low_risk_plan_runs_at_once_and_shows_everything(ana: Window, folder: Path) -> None:
    (folder / "seen.txt").write_text("x")
    page = ask(ana, "  List FILES here!", folder)
    assert "Mock planner: Ollama not connected" in page.locator("[data-plan]").inner_text()
    assert page.locator("[data-intent]").text_content() == "  List FILES here!"
    assert page.locator("#command").input_value() == "ls -la"
    for words in ("low risk", "Expected effect", "Confidence", "Context used", "90 %"):
        assert words in page.locator("[data-plan]").inner_text()
    for name in ("Run Plan", "Reject", "Save Workflow…"):
        assert page.get_by_role("button", name=name).is_enabled()
    assert page.locator("[data-understood]").count() == 0
    page.get_by_role("button", name="Run Plan").click()
    assert "seen.txt" in finished(page, "success, exit code 0")


def test_editing_clears_the_box_updates_the_badge_and_runs_what_was_edited(ana: Window, folder: Path) -> None:
    page = ask(ana, "create a file called one", folder)
    run = page.get_by_role("button", name="Run Plan")
    assert run.is_disabled() and page.locator("[data-risk]").inner_text() == "medium risk"
    page.get_by_label(MEDIUM).check()
    assert run.is_enabled()
    page.locator("#command").press_sequentially(" ; rm -rf ./data")
    assert run.is_disabled()  # at once, before any answer
    page.wait_for_selector("[data-review]:not([aria-busy]) [data-risk=high]")
    assert run.is_disabled() and not page.get_by_label(HIGH).is_checked()
    edited(page, "touch two", "medium")
    page.get_by_label(MEDIUM).check()
    run.click()
    finished(page, "success")
    assert sorted(path.name for path in folder.iterdir()) == ["two"]


def test_no_key_and_no_direct_request_gets_past_the_box(here: Console, ana: Window, folder: Path) -> None:
    page = ask(ana, "create a file called one", folder)
    page.locator("#command").press("Control+Enter")
    page.locator("[data-understood]").focus()
    page.keyboard.press("Enter")
    page.evaluate("document.querySelector('[data-run]').requestSubmit()")
    page.evaluate("() => { const b = document.querySelector('[data-go]'); b.disabled = false; b.click(); }")
    expect(page.locator("[data-problem]")).to_contain_text("Tick the box first", timeout=PATIENCE, ignore_case=True)
    sent = page.evaluate(
        """async () => {
          const form = document.querySelector('[data-run]'), csrf = document.querySelector('meta[name=csrf]').content;
          const id = document.querySelector('[data-plan]').dataset.plan, answers = [];
          const good = { command: form.command.value, mark: form.mark.value, understood: 'yes' };
          for (const fields of [{ ...good, understood: '' }, { ...good, understood: 'true' }, { ...good, mark: '' }, { ...good, command: 'touch evil' }]) {
            const answer = await fetch(`/console/ask/${id}/run`, { method: 'POST', headers: { 'x-csrf-token': csrf }, body: new URLSearchParams(fields) });
            answers.push(answer.status);
          }
          const forged = await fetch(`/console/ask/${id}/run`, { method: 'POST', headers: { 'x-csrf-token': 'x' }, body: new URLSearchParams(good) });
          return [...answers, forged.status];
        }"""
    )
    assert sent == [403] * 5 and list(folder.iterdir()) == []
    ana.complaints.clear()  # the browser's own words about those answers
    page.reload()
    page.get_by_label(MEDIUM).check()
    page.locator("#command").press("Control+Enter")
    finished(page, "success")
    assert [path.name for path in folder.iterdir()] == ["one"]


def test_a_second_tab_cannot_run_what_the_first_one_edited(here: Console, ana: Window, folder: Path) -> None:
    page = ask(ana, "create a file called one", folder)
    other = ana.context.new_page()
    other.goto(page.url)
    edited(page, "touch two", "medium")
    other.get_by_label(MEDIUM).check()
    other.get_by_role("button", name="Run Plan").click()
    expect(other.locator("[data-problem]")).to_contain_text("not the text that was shown to you", timeout=PATIENCE)
    other.close()
    assert list(folder.iterdir()) == []


def test_what_is_dangerous_takes_the_box_and_one_touch(here: Console, ana: Window, folder: Path) -> None:
    page = ask(ana, "create a file called one", folder)
    edited(page, "rm -rf /home/nobody-7f3/photos; touch one", "high")
    assert "level-3" in str(page.locator("[data-plan]").get_attribute("class"))
    run = page.get_by_role("button", name="Run Plan with passkey…")
    assert run.is_disabled()
    page.get_by_label(HIGH).check()
    run.click()
    finished(page, "success")
    assert [path.name for path in folder.iterdir()] == ["one"]
    page.reload()
    finished(page, "success")
    assert page.locator("[data-gate]").count() == 0 and "The gate" not in page.locator("[data-plan]").inner_text()


def test_a_touch_that_fails_leaves_the_ticket_to_be_answered(here: Console, ana: Window, folder: Path) -> None:
    page = ask(ana, "create a file called one", folder)
    edited(page, "rm -rf /home/nobody-7f3/music; touch one", "high")
    page.get_by_label(HIGH).check()
    ana.verified(False)
    page.get_by_role("button", name="Run Plan").click()
    page.wait_for_selector("[data-gate]")
    assert list(folder.iterdir()) == []
    ana.verified(True)
    ana.complaints.clear()
    approve = page.get_by_role("button", name="Approve with passkey…")
    wait_until_armed(approve)
    approve.click()
    page.wait_for_selector("text=The gate has its approval")
    assert page.get_by_role("button", name="Run Plan").is_disabled()  # the box belongs to the text that is shown now
    page.get_by_label(HIGH).check()
    page.get_by_role("button", name="Run Plan").click()
    finished(page, "success")
    assert [path.name for path in folder.iterdir()] == ["one"]


def test_what_nobody_may_approve_has_neither_a_box_nor_a_button(ana: Window, folder: Path) -> None:
    page = ask(ana, "create a file called one", folder)
    edited(page, "mkfs.ext4 /dev/sdz", "high")
    assert page.locator("[data-understood], [data-go]").count() == 0
    assert "Nobody may approve this" in page.locator("[data-part=answer]").inner_text()
    page.locator("#command").press("Control+Enter")
    edited(page, "touch one", "medium")
    assert page.get_by_role("button", name="Run Plan").count() == 1


def test_a_run_is_cancelled_and_reviewed_again_from_the_history(ana: Window, folder: Path) -> None:
    page = ask(ana, "where am i", folder)
    edited(page, "echo '<img src=x onerror=alert(1)>'; sleep 600", "low")
    page.get_by_role("button", name="Run Plan").click()
    expect(page.locator("[data-output]")).to_contain_text("<img", timeout=PATIENCE)
    page.get_by_role("button", name="Cancel", exact=True).click()
    finished(page, "interrupted")
    page.goto(f"{ana.base}/console/ask/history?q=onerror")
    page.locator("tbody a").first.click()
    assert "<img src=x" in page.locator("main").inner_text() and page.locator("main img").count() == 0
    page.get_by_role("button", name="Review it again").click()
    page.wait_for_url("**/console/ask?plan=*")
    page.get_by_role("button", name="Reject").click()
    page.wait_for_selector("#said >> text=Discarded; nothing was run.")


def test_a_workflow_is_saved_reviewed_run_frozen_and_asks_again_on_drift(
    here: Console, ana: Window, folder: Path
) -> None:
    page = ana.open("/console/ask/workflows")
    page.click("summary:has-text('Write a workflow')")
    page.fill("#name", "morning")
    page.fill("#commands", "bash go.sh\ntouch two\nfalse\ntouch four")
    page.fill("#flow-cwd", str(folder))
    (folder / "go.sh").write_text("touch one\n")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/workflows/flow_*")
    run = page.get_by_role("button", name="Run all steps")
    assert run.is_disabled() and page.locator("[data-step]").count() == 4
    for box in page.locator("[data-understood]").all():
        box.check()
    run.click()
    expect(page.locator("[data-flow-status]")).to_contain_text("failure: stopped after step 3", timeout=PATIENCE)
    assert sorted(path.name for path in folder.iterdir()) == ["go.sh", "one", "two"]
    page.reload()
    for box in page.locator("[data-understood]").all():
        box.check()
    page.click("summary:has-text('Freeze it')")
    page.get_by_role("button", name="Freeze", exact=True).click()
    page.wait_for_selector("text=one confirmation runs all steps")
    assert page.locator("[data-understood]").count() == 0 and run.is_enabled()
    (folder / "go.sh").write_text("touch evil\n")
    run.click()
    expect(page.locator("[data-problem]")).to_contain_text("would do has changed since it was shown", timeout=PATIENCE)
    ana.complaints.clear()
    page.reload()
    page.wait_for_selector("text=No longer frozen")
    assert run.is_disabled() and not (folder / "evil").exists()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1440, "dark")])
def test_ask_is_accessible_at_every_width(ana: Window, folder: Path, width: int, scheme: Any) -> None:
    ana.page.emulate_media(color_scheme=scheme)
    ana.page.set_viewport_size({"width": width, "height": 900})
    try:
        page = ask(ana, "delete the folder build", folder)
        assert ana.violations() == []
        for path in ("", "/history", "/workflows"):
            ana.open(f"/console/ask{path}")
            assert ana.violations() == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        page.locator("tbody a").first.click()
        page.wait_for_load_state()
        assert ana.violations() == []
    finally:
        ana.page.set_viewport_size({"width": 1440, "height": 900})
