"""`interlock operator link`: from a person's terminal to a passkey in the browser, with a real daemon."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from authenticator import Authenticator
from desk import PASSPHRASE, Desk
from terminals import person_at

LINK = r"(http://localhost:\d+/console/set-up#set_[\w-]+)"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(tmp_path_factory.mktemp("desk"))
    made.open()
    yield made
    made.stop()


def shown(desk: Desk) -> str:
    """The link that a person sees, who then presses a key."""
    with person_at(*desk.argv("operator", "link"), env={"TERM": "xterm"}) as screen:
        for prompt, line in ((r"Passphrase of [^\n]*: ", PASSPHRASE),):
            screen.until(prompt)
            screen.type(line)
        link = screen.until(LINK)
        screen.type("")
        rest = screen.until(r"(?s)(.*EXIT 0)\r")
        assert "was shown and erased" in rest and "set_" not in rest.split("\x1b[?1049l")[-1]
    return link


@pytest.mark.slow("a real daemon, an enrolment and a sign-in at real terminals")
def test_the_link_of_a_terminal_registers_a_passkey_that_signs_in_and_approves(desk: Desk) -> None:
    link = urlsplit(shown(desk))
    origin = f"{link.scheme}://{link.netloc}"
    key = Authenticator()
    with httpx.Client(base_url=origin, headers={"origin": origin}, trust_env=False, timeout=60) as browser:
        entered = browser.post("/console/set-up", json={"token": link.fragment})
        assert entered.status_code == 200, entered.text
        mark = {"x-csrf-token": entered.json()["csrf"]}
        asked = browser.post("/console/keys/passkey/begin", headers=mark, json={}).json()
        made = {"ceremony": asked["ceremony"], "response": key.create(asked["publicKey"], origin), "name": "laptop"}
        assert browser.post("/console/keys/passkey/finish", headers=mark, json=made).json()["waits"] is False
        assert browser.post("/console/set-up", json={"token": link.fragment}).status_code == 401
        asked = browser.post("/console/sign-in/passkey/begin", json={}).json()
        given = {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"], origin)}
        entered = browser.post("/console/sign-in/passkey/finish", json=given)
        assert entered.status_code == 200 and browser.get("/console/keys").status_code == 200
        mark = {"x-csrf-token": entered.json()["csrf"]}
        ticket = desk.evaluate("git push --force origin main")["pendingId"]
        asked = browser.post(f"/console/step-up/{ticket}/begin", headers=mark, json={}).json()
        given = {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"], origin)}
        done = browser.post(f"/console/step-up/{ticket}/approve", headers=mark, json=given)
        assert done.status_code == 200, done.text
    assert desk.evaluate("git push --force origin main")["allowed"] is True
    words, code = desk.signed("audit", "verify")
    assert code == 0 and "Proved by a passkey until" in words and "1 approval signed by touch" in words


def test_a_program_gets_no_link(desk: Desk) -> None:
    answer = desk.program("operator", "link")
    assert answer.returncode != 0 and "set_" not in answer.stdout + answer.stderr
