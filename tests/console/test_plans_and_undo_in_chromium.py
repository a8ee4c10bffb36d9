"""Plans, undo and executions in a real Chromium: what a hostile planner says does no harm, what was kept is brought back by a click."""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from chromium import PATIENCE, Console, Window, console, until
from markup import PAYLOADS, UNSEEN

pytestmark = pytest.mark.xdist_group("browser")
PLAN: dict[str, Any] = {
    "command": "ls -la", "explanation": "Lists.", "assumptions": [], "confidence": 0.9, "expectedEffect": "Nothing.", "risk": "low",
    "flags": {"destructive": False, "touchesFiles": True, "touchesNetwork": False, "escalatesPrivileges": False, "requiresConfirmation": False},
}  # fmt: skip


@dataclass
class Planner:
    """A server that speaks Ollama's API, and says what a test wants."""

    plan: dict[str, Any] = field(default_factory=lambda: dict(PLAN))
    url: str = ""


@contextlib.contextmanager
def planning() -> Iterator[Planner]:
    planner = Planner()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            data = json.dumps({"message": {"role": "assistant", "content": json.dumps(planner.plan)}}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            with contextlib.suppress(OSError):  # whoever asked has had enough
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    planner.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield planner
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def planner() -> Iterator[Planner]:
    with planning() as found:
        yield found


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, planner: Planner) -> Iterator[Console]:
    more = f'[planner]\nuse = "ollama"\nhost = "{planner.url}"\nseconds = 20\n[undo]\nms = 10000\n'
    with console(Path(tmp_path_factory.mktemp("plans")), more) as found:
        yield found


@pytest.fixture(scope="module")
def ana(here: Console) -> Iterator[Window]:
    window = here.signed_in()
    window.page.on("dialog", lambda dialog: window.complaints.append(f"a dialog: {dialog.message}"))
    yield window
    noted = ("status of 409", "status of 422")  # the browser's own notes of what these tests are refused
    assert [one for one in window.complaints if not any(note in one for note in noted)] == []


@pytest.fixture
def work() -> Iterator[Path]:
    """A folder with work in it: what is temporary is nobody's loss."""
    folder = Path.home() / f"interlock-console-{secrets.token_hex(4)}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def asked(window: Window, planner: Planner, folder: Path, **plan: Any) -> Any:
    """A plan on the page, as this planner makes it."""
    planner.plan = {**PLAN, **plan}
    page = window.open("/console/ask")
    page.fill("#intent", "do something")
    page.fill("#ask-cwd", str(folder))
    page.get_by_role("button", name="Make a plan").click()
    page.wait_for_selector("[data-plan], [role=alert]:not([hidden])", timeout=PATIENCE)
    page.wait_for_load_state()  # its scripts hear what is typed from now on
    return page


HARMFUL = """() => [...document.querySelectorAll('main script, main iframe, main object, main embed, main img, main style, main svg, main template')].map(e => e.outerHTML)
  .concat([...document.querySelectorAll('main *')].flatMap(e => [...e.attributes].filter(a => a.name.startsWith('on') || a.name === 'style').map(a => a.name)))"""


@pytest.mark.slow("starts a daemon, a person at a terminal and Chromium")
def test_what_a_hostile_planner_says_is_shown_without_harm(ana: Window, planner: Planner, tmp_path: Path) -> None:
    words = " ".join(PAYLOADS)
    for part in range(0, len(words), 1_900):
        said = words[part : part + 1_900]
        page = asked(
            ana, planner, tmp_path, explanation=said, expectedEffect=said, assumptions=[said[:500]] * 12,
            command="echo '<script>alert(1)</script>' '{{7*7}}' \"<img src=x onerror=alert(1)>\"",
        )  # fmt: skip
        shown = page.locator("[data-plan]").inner_text()
        assert page.evaluate(HARMFUL) == [] and not UNSEEN & set(shown), part
        assert page.locator("#command").input_value().startswith("echo '<script>alert(1)")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert ana.violations() == []


def test_a_command_that_hides_something_is_refused_in_words(ana: Window, planner: Planner, tmp_path: Path) -> None:
    for command in ("ls \x1b[2J\x1b[1;1Happroved", "ls \u202e/gnp.safe\u202c", "a\u200bb"):
        page = asked(ana, planner, tmp_path, command=command)
        assert "cannot be seen" in page.locator("[role=alert]").first.inner_text()
        assert page.locator("[data-plan]").count() == 0


@pytest.mark.parametrize(
    "huge",
    [{"explanation": "x" * 200_000, "assumptions": ["y" * 5_000] * 9}, {"command": "echo " + "x" * 7_900}],
    ids=["words", "command"],
)
def test_a_planner_that_says_far_too_much_is_cut_and_the_page_still_fits(
    ana: Window, planner: Planner, tmp_path: Path, huge: dict[str, Any]
) -> None:
    page = asked(ana, planner, tmp_path, **huge)
    assert page.locator("[data-plan]").count() == 1
    assert len(page.content()) < 200_000
    try:
        page.set_viewport_size({"width": 390, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    finally:
        page.set_viewport_size({"width": 1440, "height": 900})


def looked_at(page: Any, command: str) -> str:
    """What the plan says of its targets; a busy machine may look too slowly, and looks again at another spelling."""
    for spaces in range(2, 10):
        said = str(page.locator("[data-review]:not([aria-busy]) [data-blast]").inner_text())
        if "not known" not in said:
            return said
        page.fill("#command", command.replace(" ", " " * spaces))
    raise AssertionError(said)


def test_the_plan_says_what_would_be_lost_and_says_it_anew_when_it_is_edited(
    ana: Window, planner: Planner, work: Path
) -> None:
    (work / "notes").mkdir()
    (work / "notes" / "only.txt").write_text("x" * 1_500)
    page = asked(ana, planner, work, command="rm -rf notes")
    said = looked_at(page, "rm -rf notes")
    assert "would delete 1 file, 1.5 KB" in said and "only.txt" in said
    page.fill("#command", "ls notes")
    expect(page.locator("[data-blast]")).to_have_count(0, timeout=PATIENCE)


# Undo


def let_through(here: Console, work: Path, command: str) -> str:
    """What an agent asks for, after what it destroys was kept: the snapshot's id. A busy machine may look too slowly once."""

    def asked() -> str:
        said = here.desk.evaluate(command, cwd=str(work))
        return str(said.get("kept") or "") if said["allowed"] else ""

    kept: str = until(asked, f"{command} was not let through")
    subprocess.run(["bash", "-c", command], cwd=work, check=True)
    return kept


def test_what_was_kept_is_listed_looked_at_and_brought_back_by_a_click(ana: Window, here: Console, work: Path) -> None:
    (work / "notes").mkdir()
    (work / "notes" / "plan.txt").write_text("first line\n<script>alert(1)</script>\n")
    (work / "notes" / "plan.txt").chmod(0o640)
    page = ana.hurried("/console/undo")
    kept = let_through(here, work, "rm -rf notes")  # which appears by itself
    line = page.locator(f"[data-item={kept}]")
    line.wait_for(timeout=PATIENCE)
    assert "rm -rf notes" in line.inner_text() and "claude" in line.inner_text() and "kept" in line.inner_text()
    line.get_by_role("link", name="Undo").click()
    page.wait_for_url(f"**/console/undo/{kept}", timeout=PATIENCE)
    shown = page.locator("main").inner_text()
    assert "notes/plan.txt" in shown and "first line" in shown and "<script>alert(1)</script>" in shown
    assert page.evaluate(HARMFUL) == [] and ana.violations() == []
    page.get_by_role("button", name="Undo").click()  # nothing happens before the box is ticked
    assert not (work / "notes").exists() and page.url.endswith(kept)
    page.get_by_label("on disk").check()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("h1:text('Undone')", timeout=PATIENCE)
    assert (work / "notes" / "plan.txt").read_text().startswith("first line\n")
    assert (work / "notes" / "plan.txt").stat().st_mode & 0o777 == 0o640
    assert ana.violations() == []
    page.get_by_role("link", name="restore that").click()
    page.wait_for_selector("h1:text('Restore')", timeout=PATIENCE)
    page.get_by_label("on disk").check()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("h1:text('Undone')", timeout=PATIENCE)
    assert not (work / "notes").exists()  # the undo was undone


def test_later_work_is_overwritten_only_where_somebody_says_so(ana: Window, here: Console, work: Path) -> None:
    (work / "data.txt").write_text("of before\n")
    kept = let_through(here, work, "rm -rf data.txt")
    (work / "data.txt").write_text("of later\n")
    page = ana.open(f"/console/undo/{kept}")
    assert "changed later" in page.locator("main").inner_text()
    assert "of later" in page.locator(".diff .del").all_inner_texts()[-1]
    page.get_by_label("on disk").check()
    page.get_by_role("button", name="Undo").click()  # the other box is not ticked
    assert page.url.endswith(kept) and (work / "data.txt").read_text() == "of later\n"
    page.get_by_label("Also overwrite later work").check()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("h1:text('Undone')", timeout=PATIENCE)
    assert (work / "data.txt").read_text() == "of before\n"


def test_work_that_came_while_somebody_looked_is_not_overwritten(ana: Window, here: Console, work: Path) -> None:
    (work / "data.txt").write_text("of before\n")
    kept = let_through(here, work, "rm -rf data.txt")
    page = ana.open(f"/console/undo/{kept}")
    (work / "data.txt").write_text("of later\n")
    page.get_by_label("on disk").check()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("h1:text('Not undone')", timeout=PATIENCE)
    assert (work / "data.txt").read_text() == "of later\n"
    page.get_by_role("link", name="Review it again").click()
    page.get_by_label("Also overwrite later work").wait_for()


def test_the_feed_and_the_record_lead_to_what_was_kept(ana: Window, here: Console, work: Path) -> None:
    (work / "one.txt").write_text("x")
    kept = let_through(here, work, "rm -rf one.txt")
    page = ana.open("/console/live")
    link = page.locator(f"a[href='/console/undo/{kept}']").first
    link.wait_for()
    page.locator("tr[data-item]", has=link).locator("a[data-open]").click()
    page.wait_for_url("**/console/audit/record?*", timeout=PATIENCE)
    assert "cannot be undone" not in page.locator("[aria-labelledby=what]").inner_text()  # it can: it was kept
    assert ana.violations() == []
    page.locator(f"main a[href='/console/undo/{kept}']").click()
    page.wait_for_url(f"**/console/undo/{kept}", timeout=PATIENCE)


@pytest.mark.slow("runs axe in two widths and schemes")
def test_the_undo_pages_are_accessible_and_fit_at_every_width(ana: Window, here: Console, work: Path) -> None:
    name = "a-rather-long-name-" + "x" * 120
    (work / name).mkdir()
    (work / name / "notes.txt").write_text("a line\n" * 30 + "y" * 500 + "\n")
    (work / name / "bytes").write_bytes(bytes(range(256)))
    kept = let_through(here, work, f"rm -rf {name}")
    try:
        for scheme in ("light", "dark"):
            ana.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            for width in (390, 1440):
                ana.page.set_viewport_size({"width": width, "height": 900})
                for path in ("/console/undo", f"/console/undo/{kept}"):
                    ana.open(path)
                    assert ana.violations() == [], (path, scheme, width)
                    assert ana.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
    finally:
        ana.page.set_viewport_size({"width": 1440, "height": 900})


def test_a_command_that_asks_something_is_answered_on_the_page(ana: Window, planner: Planner, tmp_path: Path) -> None:
    page = asked(ana, planner, tmp_path, command='read -r -p "Your name? " name; echo "hello <b>$name</b>"')
    for box in page.locator("[data-understood]").all():
        box.check()
    expect(page.locator("#line")).not_to_be_visible()
    page.get_by_role("button", name="Run Plan").click()
    expect(page.locator("[data-output]")).to_contain_text("Your name?", timeout=PATIENCE)
    assert ana.violations() == []
    page.fill("#line", "Ana")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("[data-progress]")).to_contain_text("success, exit code 0", timeout=PATIENCE)
    assert "hello <b>Ana</b>" in page.locator("[data-output]").inner_text()
    expect(page.locator("#line")).not_to_be_visible()


def test_a_dangerous_workflow_is_frozen_with_one_touch_for_exactly_that(
    ana: Window, here: Console, tmp_path: Path
) -> None:
    page = ana.open("/console/ask/workflows")
    page.locator("summary", has_text="Write a workflow").click()
    page.fill("[name=name]", "tidy the photos")
    page.fill("[name=commands]", "rm -rf /home/nobody-7f3/photos")
    page.fill("[name=cwd]", str(tmp_path))
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/console/ask/workflows/*", timeout=PATIENCE)
    page.locator("[data-understood]").check()
    page.locator("summary", has_text="Freeze it").click()
    page.get_by_role("button", name="Freeze").click()
    page.wait_for_selector("text=Frozen by ana", timeout=PATIENCE)
    with here.operator() as daemon:
        (grant,) = daemon.get("/grants")["grants"]
    assert grant["ceiling"] == "dangerous" and grant["by"] == "ana"


def loop(here: Console, endpoint: str, operation: str, **params: Any) -> dict[str, Any]:
    """A call of an agent that is under the execution loop."""
    given = {"operation": operation, "params": {"element_name": "builder", **params}}
    body = {"endpoint": endpoint, "session": "mcp_executionPage000001", "arguments": given}
    return dict(here.desk.daemon.post("/aql", body)["envelope"])


@pytest.mark.slow("runs axe in two widths and schemes")
def test_an_execution_is_accessible_and_fits_at_every_width(ana: Window, here: Console) -> None:
    hint = "run git push --force origin main " + "x" * 200 + " <script>alert(1)</script>"
    goal = {"goal": "<img src=x onerror=alert(1)>", "objective": "y" * 300}
    assert not loop(here, "execute", "execute_agent", parameters=goal)["success"]
    with here.operator() as daemon:
        (ticket,) = [
            one["id"] for one in daemon.get("/tickets", state="open")["tickets"] if "execute_agent" in str(one)
        ]
        daemon.post(f"/tickets/{ticket}/approve")
    assert loop(here, "execute", "execute_agent", parameters=goal)["success"]
    for words in ("reading src/app.py", hint):
        assert loop(here, "create", "record_execution_step", next_action_hint=words)["success"]
    ana.open("/console/agents")
    ana.page.locator("a[data-open]", has_text="builder").first.click()
    ana.page.wait_for_url("**/console/agents/one?*", timeout=PATIENCE)
    run = ana.page.locator("a[href*='/console/agents/execution']").first.get_attribute("href") or ""
    try:
        for scheme in ("light", "dark"):
            ana.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            for width in (390, 1440):
                ana.page.set_viewport_size({"width": width, "height": 900})
                ana.open(run)
                assert "reading src/app.py" in ana.page.locator("main").inner_text()
                assert ana.violations() == [] and ana.page.evaluate(HARMFUL) == [], (scheme, width)
                assert ana.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
    finally:
        ana.page.set_viewport_size({"width": 1440, "height": 900})
