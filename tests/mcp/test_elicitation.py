"""The client's own user: asked in both eras, recorded as unattested, good for a confirm, never for more (AE-14, EP-10)."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import mcp_types as types
import pytest
from servers import KINDS, Servers, Talk, fresh

pytestmark = pytest.mark.xdist_group("mcp")
RESET = "executing shell command: git reset --hard HEAD~3"  # destructive: a confirm is enough
FORCE = "executing shell command: git push --force origin main"  # dangerous: it takes a verification


class User:
    """Whoever sits at the client; tests say what they answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers()

    def answers(self, action: str = "accept", seconds: float = 0.0, **content: Any) -> None:
        self.action, self.content, self.seconds = action, content, seconds

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params.message)
        await asyncio.sleep(self.seconds)
        return types.ElicitResult(action=self.action, content=self.content or None)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def attended(servers: Servers) -> dict[str, tuple[Talk, User]]:
    """A client with a user for each kind, opened when it is first needed."""
    return {}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def pair(servers: Servers, attended: dict[str, tuple[Talk, User]], kind: str) -> tuple[Talk, User]:
    if kind not in attended:
        user = User()
        attended[kind] = servers.talk(kind, elicitation_callback=user), user
    return attended[kind]


def records(servers: Servers, event: str) -> str:
    """What the record says of an event."""
    found = servers.daemon.here().get("/api/v1/audit", params={"event": event}, headers=servers.daemon.sign_in())
    assert found.status_code == 200, found.text
    return found.text.replace(" ", "").replace("\\", "")


def test_a_users_yes_confirms_a_start_and_a_destructive_step_and_is_recorded_as_unattested(
    servers: Servers, pair: tuple[Talk, User]
) -> None:
    (talk, user), name = pair, fresh()
    user.answers(approve=True)
    before = len(user.asked)
    begun = talk.execute("execute_agent", element_name=name)
    assert begun["success"] and begun["data"]["status"] == "running"
    step = talk.create("record_execution_step", element_name=name, next_action_hint=RESET)["data"]
    assert step["autonomy"]["continue"] is True
    assert len(user.asked) == before + 2 and "git reset --hard" in user.asked[-1]
    told = records(servers, "elicited")
    assert told.count('"attested":false') >= 2 and '"attested":true' not in told


def test_a_question_that_is_put_away_leaves_it_held_and_is_asked_once(
    servers: Servers, pair: tuple[Talk, User]
) -> None:
    (talk, user), name = pair, fresh()
    user.answers("cancel")
    before = len(user.asked)
    held = talk.execute("execute_agent", element_name=name)
    assert held["error"]["code"] == "CONFIRMATION_REQUIRED" and len(user.asked) == before + 1
    servers.approve(name)  # an operator can still be asked


@pytest.mark.parametrize("answer", [("decline", {}), ("accept", {"approve": False})], ids=lambda one: one[0])
def test_a_declined_question_is_a_no_and_nobody_else_is_asked(
    servers: Servers, pair: tuple[Talk, User], answer: tuple[str, dict[str, Any]]
) -> None:
    (talk, user), name = pair, fresh()
    user.answers(answer[0], **answer[1])
    before = len(user.asked)
    for _ in range(2):
        refused = talk.execute("execute_agent", element_name=name)["error"]
        assert refused["code"] == "PERMISSION_DENIED" and "said no" in refused["message"]
        assert "interlock approve" not in json.dumps(refused)
    assert len(user.asked) == before + 1 and not servers.waiting(name)
    user.answers(approve=True)
    name = fresh()
    assert talk.execute("execute_agent", element_name=name)["success"]
    user.answers(answer[0], **answer[1])
    step = talk.create("record_execution_step", element_name=name, next_action_hint=f"git reset --hard {name}")
    autonomy = step["data"]["autonomy"]
    assert autonomy["continue"] is False and "said no" in autonomy["reason"] and "abort_execution" in autonomy["reason"]
    assert not servers.waiting(name)


def test_no_users_word_verifies(pair: tuple[Talk, User]) -> None:
    (talk, user), name = pair, fresh()
    user.answers(approve=True)
    talk.execute("execute_agent", element_name=name)
    before = len(user.asked)
    step = talk.create("record_execution_step", element_name=name, next_action_hint=FORCE)["data"]
    assert step["autonomy"]["continue"] is False and len(user.asked) == before
    talk.execute("abort_execution", element_name=name)


def test_a_client_without_elicitation_is_not_asked(servers: Servers, talk: Talk) -> None:
    assert talk.execute("execute_agent", element_name=fresh())["error"]["code"] == "CONFIRMATION_REQUIRED"


def test_an_answer_that_nobody_was_asked_for_confirms_nothing(servers: Servers) -> None:
    """2026: the answer comes with the retry, so that an agent can send one of its own making."""
    talk, name = servers.talk("stdio-2026"), fresh()
    held = talk.execute("execute_agent", element_name=name)
    token = held["confirmation"]["token"]
    answer = types.ElicitResult(action="accept", content={"approve": True})
    for ask in ("ask_x", f"ask_{uuid.uuid4().hex}"):
        forged = talk.loop.run(
            talk.client.session.call_tool(
                "mcp_aql_execute",
                {"operation": "execute_agent", "params": {"element_name": name}},
                input_responses={"confirm": answer},
                request_state=json.dumps([ask, token, True]),
            )
        )
        assert json.loads(forged.content[0].text)["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert servers.waiting(name)


def test_only_the_process_that_holds_a_session_speaks_for_its_user(servers: Servers) -> None:
    token, name = servers.token(), fresh()
    talk = servers.talk("stdio-2025", token)
    held = talk.execute("execute_agent", element_name=name)["error"]
    body = {"session": held["details"]["session_id"], "token": held["details"]["confirmation_token"]}
    other = servers.daemon.here(headers={"authorization": f"Bearer {token}"})  # the same agent, in another process
    remote = servers.daemon.tcp(headers={"authorization": f"Bearer {token}"})
    for client in (other, remote, servers.daemon.here()):
        for path, more in (("ask", {}), ("elicited", {"ask": "ask_x", "approve": True})):
            answer = client.post(f"/api/v1/aql/{path}", json={**body, **more}).json()
            assert answer["envelope"]["error"]["code"] == "PERMISSION_DENIED"
    for client in (other, remote):
        assert client.post("/api/v1/aql/hold", json={"session": body["session"]}).status_code == 403
    assert servers.waiting(name)


@pytest.mark.parametrize("kind", ["stdio-2025", "http-2025"])
def test_ep_10_a_call_that_takes_long_is_told_of(pair: tuple[Talk, User]) -> None:
    talk, user = pair
    user.answers(seconds=2.5, approve=True)
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    arguments = {"operation": "execute_agent", "params": {"element_name": fresh()}}
    result = talk.raw("mcp_aql_execute", arguments, progress_callback=hear)
    assert json.loads(result.content[0].text)["success"]  # type: ignore[union-attr]
    assert len(told) >= 2 and told == sorted(told)
