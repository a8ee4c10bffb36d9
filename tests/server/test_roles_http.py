"""Who may do what over HTTP, route by route as the app has them: nothing of a person's for an agent, and answers alone for a service."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from daemons import PASSPHRASE, QUICK, InProcessDaemon, in_process_daemon
from interlock.identity.operators import add_operator, sign_in
from interlock.server.app import documented_app
from interlock.server.routes import document

ANSWERS = re.compile(r"/api/v1/tickets/\{id\}/(approve|reject|revoke)")
OWN = re.compile(r"/api/v1/session.*")  # everybody's own sign-in


def operations() -> list[tuple[str, str, bool]]:
    """Method, path, and whether it is for people alone, as the app describes itself."""
    found = []
    for path, methods in document(documented_app())["paths"].items():
        for method, said in methods.items():
            kinds = {name for one in said.get("security", ()) for name in one}
            found.append((method.upper(), path, kinds == {"operatorSession"}))
    return found


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("state"), limits={"requests_per_minute": 100_000}) as made:
        _, ana = sign_in(made.state, "ana", PASSPHRASE, "test")
        add_operator(made.state, ana, "deskbot", PASSPHRASE, ["admin"], service=True, kdf=QUICK)
        add_operator(made.state, ana, "vic", PASSPHRASE, ["viewer"], kdf=QUICK)
        yield made


def test_the_app_says_which_routes_are_for_people() -> None:
    assert sum(only for _, _, only in operations()) > 40


def test_no_route_that_is_for_people_answers_an_agent(app: InProcessDaemon) -> None:
    agent = app.agent()
    for method, path, people in operations():
        if people:
            for headers, peer in ((agent, ""), (None, "uid:0")):
                answer = app.call(method, re.sub(r"\{\w+\}", "x", path), {} if method != "GET" else None, headers, peer)
                assert answer.status_code in (400, 403), (method, path, answer.text)
                assert answer.json()["error"]["code"].startswith(("PERMISSION", "VALIDATION")), (method, path)


@pytest.mark.parametrize(("name", "words"), [("deskbot", "is a service"), ("vic", "is a viewer")])
def test_a_service_answers_and_a_viewer_looks_and_neither_changes_anything_else(
    app: InProcessDaemon, name: str, words: str
) -> None:
    for method, path, people in operations():
        answers = name == "deskbot" and ANSWERS.fullmatch(path)
        if method != "GET" and people and not answers and not OWN.fullmatch(path):
            answer = app.call(method, re.sub(r"\{\w+\}", "x", path), {}, app.sign_in(name))
            assert answer.status_code == 403 and words in answer.text, (method, path, answer.text)
