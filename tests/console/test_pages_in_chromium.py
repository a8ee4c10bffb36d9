"""Try, rules, policy, settings and grants as an operator uses them: in a real Chromium, with a passkey, over a running daemon."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from adapter_files import adapter_file
from chromium import Console, Window, console, until, wait_until_armed

pytestmark = pytest.mark.xdist_group("browser")
GOT: list[bytes] = []


class _Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        GOT.append(self.rfile.read(int(self.headers.get("content-length", 0))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words: Any) -> None:
        return


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    folder = Path(tmp_path_factory.mktemp("pages"))
    server = HTTPServer(("127.0.0.1", 0), _Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "secret").write_text("s" * 40)
    (folder / "secret").chmod(0o600)
    more = (
        f'[adapters]\nfiles = ["{adapter_file(folder)}"]\n[[channels.send]]\nname = "hook"\nkind = "webhook"\n'
        f'url = "http://127.0.0.1:{server.server_port}/in"\nsecret_file = "{folder}/secret"\nlevel = "forbidden"\n'
    )
    try:
        with console(folder, more) as found:
            yield found
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def ana(here: Console) -> Iterator[Window]:
    window = here.signed_in()
    yield window
    assert window.complaints == []


@pytest.mark.slow("starts a daemon, a person at a terminal and Chromium")
def test_a_touch_by_somebody_else_signs_no_grant(here: Console, ana: Window) -> None:
    page = ana.open("/console/grants/new")
    page.fill("#effect", "destroy")
    page.fill("#targets", "/home/dev/app/x")
    page.fill("#why", "x")
    ana.verified(False)
    try:
        page.get_by_role("button", name="Sign and save").click()
        page.wait_for_selector("#said p.bad")
    finally:
        ana.verified(True)
    assert page.url.endswith("/console/grants/new")
    page.get_by_role("button", name="Sign and save").click()
    page.wait_for_url("**/console/grants?said=saved")
    page.get_by_role("button", name="Revoke").click()
    page.wait_for_selector("text=No grants")


def test_a_card_becomes_a_narrow_grant_that_was_tested_and_touched(here: Console, ana: Window) -> None:
    page = ana.page
    here.ask("rm -rf lib")
    here.ask(here.deed)
    ana.open("/console/queue")
    page.locator(f"article:has-text('{here.deed}') >> text=Grant…").click()
    assert page.input_value("#targets") == "/home/dev/app/src0"
    page.click("text=Test it")
    page.wait_for_selector("text=It covers none of these.")
    assert page.locator("tr:has(.badge.warn)").count() == 1
    page.fill("#why", "the move")
    save = page.get_by_role("button", name="Sign and save")
    wait_until_armed(save)
    save.click()
    page.wait_for_url("**/console/grants?said=saved")
    page.wait_for_selector("#said >> text=The grant is in force")
    assert here.ask("rm -rf lib")["decision"] != "allow"
    assert here.ask(here.deed)["decision"] == "allow"
    assert here.ask(here.deed)["decision"] != "allow"
    here.clear()


def test_anything_is_tried_by_keyboard_and_a_daemon_that_is_gone_is_said(here: Console, ana: Window) -> None:
    page = ana.open("/console/try")
    page.focus("#text")
    page.keyboard.type("npm install # <script>alert(1)</script>")
    page.select_option("#other", "strict")
    page.get_by_role("button", name="Explain").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=What it would do")
    assert page.locator("#result .verdict-allow").count() == page.locator("#result .verdict-ask").count() == 1
    before = list(ana.complaints)
    ana.context.set_offline(True)
    try:
        page.keyboard.press("Enter")
        page.wait_for_selector("#said >> text=The daemon does not answer.")
    finally:
        ana.context.set_offline(False)
    page.get_by_role("button", name="Explain").click()
    page.wait_for_selector("#result .verdict-ask")
    ana.complaints[:] = before  # Chromium says of each request that nobody answered it


def test_a_set_up_link_that_is_missing_or_used_says_so(here: Console) -> None:
    window, link = here.window(), here.link()
    page = window.open("/console/set-up")
    page.wait_for_selector("[role=alert] >> text=interlock operator link")
    window.register(link)
    other = here.window().page
    other.goto(link)
    other.wait_for_selector("[role=alert]:not([hidden]):not(:empty)")
    assert not other.is_visible("text=Register a passkey")


def test_rules_are_found_while_one_types_and_meet_any_input(here: Console, ana: Window) -> None:
    page = ana.open("/console/rules")
    page.fill("#q", "remote commits lost")
    page.wait_for_url("**/console/rules?q=remote**")  # the list has been drawn anew: what is clicked now stays
    page.click("#found a:has-text('git.force_push')")
    page.wait_for_selector("text=behave as expected")
    page.fill("#text", "git push -f")
    page.click("text=Try it")
    page.wait_for_selector("#tried >> text=It fires.")


def test_an_edited_policy_is_compared_with_the_record_and_only_copied(here: Console, ana: Window) -> None:
    here.ask("npm install")
    ana.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = ana.open("/console/policy/edit?start=strict")
    page.click("text=Check, test and compare")
    page.wait_for_selector("h2:has-text('Use it')")
    assert page.locator("tr:has-text('npm install')").count() == 1
    page.click("text=Copy the text")
    page.wait_for_selector("#said >> text=Copied.")
    assert 'name        = "strict"' in page.evaluate("navigator.clipboard.readText()")
    here.clear()


def test_settings_change_after_a_touch_and_a_channel_is_tested(here: Console, ana: Window) -> None:
    page = ana.open("/console/settings")
    page.click("text=Send a test to hook")
    page.wait_for_selector("text=Sent just now")
    until(lambda: any(b"ana tests the channel hook" in body for body in GOT), "the message")
    for mode in ("monitoring", "enforcing"):
        page.click("text=Switch the mode…")
        page.check(f"input[value={mode}]")
        page.fill("#mode-why", "a move")
        page.click("text=Change the mode")
        page.wait_for_selector(f"h2:has-text('Mode: {mode}')")
        page.wait_for_load_state()  # and its scripts are there
    page.click("text=Change the trust in things…")
    page.select_option("select[name=level]", "untested")
    page.fill("[name=reason]:visible", "odd answers")
    page.click("button:has-text('Change the trust')")
    page.wait_for_selector("#adapters .badge:has-text('untested')")


PAGES = ("try?text=rm+-rf+src&other=strict", "rules", "rules/git.force_push", "rules/check", "policy", "policy/edit", "settings", "grants", "grants/new")  # fmt: skip

OVER_VALUES = (
    "() => [...document.querySelectorAll('.kv dt')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
)


@pytest.mark.slow("axe looks at nine pages, each at two widths")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_at_every_width(here: Console, ana: Window, scheme: Any) -> None:
    ana.page.emulate_media(color_scheme=scheme)
    try:
        for path in PAGES:
            ana.open(f"/console/{path}")
            ana.page.evaluate("document.querySelectorAll('main details').forEach(one => { one.open = true; })")
            for width in (390, 1440):
                ana.page.set_viewport_size({"width": width, "height": 900})
                assert ana.violations() == [], (path, width)
                assert ana.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
                assert ana.page.evaluate(OVER_VALUES) == [], (path, width)
    finally:
        ana.page.set_viewport_size({"width": 1440, "height": 900})
