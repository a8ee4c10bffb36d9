"""From an agent's held call to a person's touch and back: real hooks, a real daemon, a real Chromium."""

from __future__ import annotations

import json
import secrets
import string
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from chromium import PATIENCE, Console, Window, console, until, wait_until_armed
from desk import own_port
from hook_client import BackgroundWork, HookOutput, build_hook_client, claude_input

pytestmark = pytest.mark.xdist_group("browser")
POLICY = """name = "watched"
extends = "default"
[loop]
start = "allow"
[levels]
destructive = { require = "cool_off", cooling_seconds = 600, irreversible = "approve" }
"""
WIPE = "delete the production database"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    folder = Path(tmp_path_factory.mktemp("console"))
    (folder / "watched.toml").write_text(POLICY)
    more = f'[policy]\nuse = "{folder}/watched.toml"\n[hooks]\nwait_seconds = 50\n'
    with console(folder, more, own_port()) as found:
        yield found


@pytest.fixture(scope="module")
def hook(here: Console) -> str:
    return build_hook_client(here.desk.folder)


@pytest.fixture(scope="module")
def ana(here: Console) -> Window:
    return here.signed_in()


@pytest.fixture(autouse=True)
def nothing_waits(here: Console, ana: Window) -> Iterator[None]:
    here.clear()
    yield
    assert ana.complaints == []


def fired(hook: str, command: str, id: str = "toolu_1", event: str = "PreToolUse") -> BackgroundWork:
    """An agent's call, which waits for its hook; nobody sits in front of the agent."""

    def work() -> HookOutput:
        given = json.dumps(
            claude_input(command, id, event, permission_mode="bypassPermissions", tool_response={})
        ).encode()
        done = subprocess.run([hook, "claude-code", event], input=given, capture_output=True, timeout=90)
        return HookOutput(done.returncode, done.stdout.decode(), done.stderr.decode())

    return BackgroundWork(work)


def card(page: Page, words: str) -> Any:
    return page.locator("[data-item]", has_text=words)


@pytest.mark.slow("starts a daemon, a person at a terminal, Chromium and the hook's compiler")
def test_a_held_hook_appears_by_itself_and_a_touch_lets_its_call_run(here: Console, ana: Window, hook: str) -> None:
    page = ana.open("/console/queue")
    page.wait_for_selector("text=Nothing is waiting for you")
    deed = f"git push --force origin main{here.round}"  # which nobody here can keep
    waiting = fired(hook, deed)
    found = card(page, deed)
    found.wait_for(timeout=PATIENCE)
    id = str(found.get_attribute("data-item"))
    button = found.get_by_role("button", name="Approve with passkey…")
    wait_until_armed(button)
    button.click()
    said = waiting.result()
    assert said.exit == 0 and said.decision in ("", "allow"), said  # a hook that says nothing lets its call run
    fired(hook, deed, event="PostToolUse").result()
    until(lambda: here.ticket(id)["state"] == "executed", "the report that it ran")
    page.wait_for_selector("text=Nothing is waiting for you")


def test_a_cooling_off_is_vetoed_and_the_call_never_runs(here: Console, ana: Window, hook: str) -> None:
    page = ana.open("/console/queue")
    command = f"git branch -D old{here.round}"
    waiting = fired(hook, command)
    found = card(page, command)
    found.wait_for(timeout=PATIENCE)
    assert "at the earliest" in found.inner_text()  # time alone does not free it: somebody has to agree as well
    found.locator("summary[data-reject]").click()
    found.locator("textarea").press_sequentially("it has work in it")
    found.get_by_role("button", name="Reject", exact=True).click()
    said = waiting.result()
    assert said.decision == "deny" and "it has work in it" in said.words
    again = fired(hook, command, "toolu_2").result()
    assert again.decision == "deny"


class Looper:
    """An agent with a token of its own in the execution safety loop."""

    def __init__(self, here: Console, name: str) -> None:
        self.name, self.session = name, f"mcp_{secrets.token_urlsafe(18)}"
        with here.operator() as daemon:
            token = str(daemon.post("/agents", {"name": name})["token"])
        self.client = httpx.Client(base_url=here.base, headers={"authorization": f"Bearer {token}"}, timeout=60)

    def call(self, endpoint: str, operation: str, **params: Any) -> dict[str, Any]:
        asked = {"operation": operation, "params": params}
        body = {"endpoint": endpoint, "session": self.session, "arguments": asked}
        return dict(self.client.post("/api/v1/aql", json=body).json()["envelope"])

    def start(self) -> dict[str, Any]:
        return self.call("execute", "execute_agent", element_name=self.name, parameters={"goal": "tidy up"})

    def step(self, hint: str) -> dict[str, Any]:
        said = self.call("create", "record_execution_step", element_name=self.name, next_action_hint=hint)
        return dict(said["data"]["autonomy"])


def test_a_code_that_the_console_shows_lifts_a_block(here: Console, ana: Window) -> None:
    agent = Looper(here, "looper")
    assert agent.start()["success"]
    page = ana.open("/console/queue")
    assert agent.step(WIPE)["stopped"] is True
    found = page.locator("[data-item^='code-']")
    found.wait_for(timeout=PATIENCE)
    challenge = str(found.get_attribute("data-item")).removeprefix("code-")
    found.get_by_role("button", name="Show the code").click()
    shown = found.locator("[data-code]")
    expect(shown).to_be_visible(timeout=PATIENCE)
    expect(shown).not_to_be_empty(timeout=PATIENCE)
    code = shown.inner_text()
    assert not agent.call("create", "verify_challenge", challenge_id=challenge, code="A" * 26)["success"]
    page.reload()
    found.get_by_role("button", name="Show the code").click()
    expect(shown).not_to_be_empty(timeout=PATIENCE)
    assert shown.inner_text() != code
    code = shown.inner_text()
    freed = agent.call("create", "verify_challenge", challenge_id=challenge, code=code)
    assert freed["success"], freed
    page.reload()
    card(page, WIPE).wait_for(timeout=PATIENCE)  # lifting a block approves nothing
    expect(page.locator("[data-item^='code-'], [data-item^='block-']")).to_have_count(0, timeout=PATIENCE)
    assert agent.step("reading README.md to find the install steps")["continue"] is True
    agent.client.close()


def test_a_code_that_waits_does_not_stop_the_queue_from_changing(here: Console, ana: Window) -> None:
    agent = Looper(here, "blocker")
    agent.start()
    agent.step(WIPE)
    page = ana.open("/console/queue")
    page.locator("[data-item^='code-']").wait_for(timeout=PATIENCE)
    here.ask(here.deed)
    card(page, here.deed).wait_for(timeout=PATIENCE)
    block = page.locator("[data-item^='block-']")
    block.locator("summary").click()
    block.locator("[name=reason]").fill("it was a test")
    block.get_by_role("button", name="Lift the block", exact=True).click()
    expect(page.locator("[data-item^='code-'], [data-item^='block-']")).to_have_count(0, timeout=PATIENCE)
    agent.client.close()


def test_keys_lead_everywhere_and_none_of_them_approves(here: Console, ana: Window) -> None:
    held = [here.ask(f"rm -rf {name}{here.round}")["pendingId"] for name in ("one", "two")]
    page = ana.open("/console/queue")
    press = page.keyboard.press
    selected = page.locator(".card.selected")
    order = [str(item.get_attribute("data-item")) for item in page.locator("[data-item]").all()]
    assert sorted(order) == sorted(held)
    for key, wanted in (("j", 0), ("j", 1), ("j", 1), ("k", 0), ("k", 0)):
        press(key)
        assert selected.get_attribute("data-item") == order[wanted]
    press("?")
    assert page.locator("#keys").is_visible()
    press("j")
    assert selected.get_attribute("data-item") == order[0]  # a dialog has the keys to itself
    press("Escape")
    expect(page.locator("#keys")).to_be_hidden(timeout=PATIENCE)
    press("Escape")
    assert selected.count() == 0
    approve = page.locator(f"[data-item='{order[0]}']").get_by_role("button", name="Approve with passkey…")
    wait_until_armed(approve)
    for key in [
        *sorted(set(string.ascii_letters + string.digits + "+=!") - set("grjk")),
        "Space",
        "Delete",
        "Control+Enter",
    ]:
        press("j")
        press(key)
    assert all(here.ticket(id)["state"] == "pending_approval" for id in held)
    press("k")
    press("r")
    assert page.evaluate("document.activeElement.name") == "reason"
    page.keyboard.type("jk?")
    assert page.evaluate("document.activeElement.value") == "jk?"  # letters are letters where somebody writes
    ana.open("/console/queue")
    press("j")
    press("Enter")
    page.wait_for_url(f"**/console/tickets/{order[0]}", timeout=PATIENCE)


def test_tab_reaches_approve_and_enter_there_asks_for_the_touch(here: Console, ana: Window) -> None:
    held = here.ask(here.deed)["pendingId"]
    page = ana.open("/console/queue")
    wait_until_armed(page.get_by_role("button", name="Approve with passkey…"))
    page.keyboard.press("j")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('[data-arm]')"):
            break
    assert here.ticket(held)["state"] == "pending_approval"
    page.keyboard.press("Enter")
    until(lambda: here.ticket(held)["state"] == "approved", "the approval")


def test_approve_is_armed_by_two_seconds_in_view_and_a_command_read_to_its_end(here: Console, ana: Window) -> None:
    long = "\n".join([f"echo line {number}" for number in range(60)] + [here.deed])
    here.ask(long)
    size = {"width": 1440, "height": 900}
    other = here.browser.new_context(
        storage_state=ana.context.storage_state(), viewport=size
    )  # a clock is its window's
    page, now = other.new_page(), time.time()
    page.clock.install(time=now)
    page.clock.pause_at(now + 60)  # from here on seconds pass when the test says so
    page.goto(f"{here.base}/console/queue")
    button, why = page.get_by_role("button", name="Approve with passkey…"), page.locator("[data-why]")
    page.clock.run_for(500)
    assert button.is_disabled()
    page.clock.run_for(5_000)
    assert button.is_disabled() and "Scroll" in why.inner_text()
    page.locator("pre.code").last.evaluate("box => { box.scrollTop = box.scrollHeight }")
    until(lambda: (page.clock.run_for(300), button.is_enabled())[1], "the armed button")
    here.clear()
    here.ask(here.deed)
    page.reload()
    page.locator("[data-item]").wait_for()
    page.clock.run_for(1_500)
    assert button.is_disabled()
    page.clock.run_for(1_000)
    assert button.is_enabled()
    other.close()


def hand_over(one: Window, other: Window) -> None:
    """The key itself goes from one computer to another: of a copy, the counter would tell."""
    place = {"authenticatorId": one.authenticator}
    for key in one.cdp.send("WebAuthn.getCredentials", place)["credentials"]:
        other.cdp.send("WebAuthn.addCredential", {"authenticatorId": other.authenticator, "credential": key})
    one.cdp.send("WebAuthn.clearCredentials", place)


def test_signing_out_everywhere_ends_the_other_window(here: Console, ana: Window) -> None:
    other = here.window()
    hand_over(ana, other)
    other.sign_in()
    other.open("/console/keys")
    with other.page.expect_event("framenavigated", timeout=PATIENCE):
        ana.open("/console/keys").get_by_role("button", name="Sign out everywhere").click()
    other.page.wait_for_url("**/console/sign-in**", timeout=PATIENCE)
    assert other.complaints == []
    hand_over(other, ana)
    other.context.close()
    ana.sign_in()


@pytest.mark.slow("stops the daemon and starts it again")
def test_a_page_says_that_the_daemon_is_gone_and_asks_to_sign_in_when_it_is_back(here: Console, ana: Window) -> None:
    desk = here.desk
    page = ana.open("/console/queue")
    page.wait_for_selector("text=Nothing is waiting for you")
    desk.stop()
    expect(page.locator("#offline")).to_be_visible(timeout=PATIENCE)
    desk.start()
    page.wait_for_url("**/console/sign-in?next=%2Fconsole%2Fqueue", timeout=PATIENCE)
    with here.operator():  # at a terminal, which unlocks
        page.reload()
    page.click("[data-passkey-sign-in]")
    page.wait_for_url("**/console/queue", timeout=PATIENCE)
    assert page.locator("#offline").is_hidden()
    gone = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "401 (Unauthorized)", "ERR_CONNECTION_RESET")
    ana.complaints[:] = [said for said in ana.complaints if not any(words in said for words in gone)]
