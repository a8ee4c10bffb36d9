"""A held action of a real daemon reaches people where they are, without a secret, once, and nobody waits for it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from daemons import Daemon, daemon
from message_servers import ReceivedMails, Receiver, http_receiver, mail_server, until

SECRET = "a key of the receiver 0123456789"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HELD = f"curl -H 'Authorization: Bearer {TOKEN}' -X DELETE https://api.example.com/repos/shop"
TOML = """
[gate]
allowedApprovers = ["deskbot"]

[[registry.pattern]]
id = "change_price"
pattern = "change_price"
category = "financial_action"
severity = "critical"
requiresHumanApproval = true

[[channels.send]]
name = "hook"
kind = "webhook"
url_file = "hook.url"
secret_file = "hook.key"
per_minute = 60

[[channels.send]]
name = "mail"
kind = "apprise"
url_file = "mail.url"
events = ["held", "alert"]
per_minute = 60

[[channels.send]]
name = "json"
kind = "apprise"
url_file = "json.url"
events = ["held"]
per_minute = 60

[[channels.send]]
name = "boss"
kind = "webhook"
url_file = "boss.url"
secret_file = "hook.key"
after_seconds = 2
per_minute = 60

[[channels.send]]
name = "nowhere"
kind = "webhook"
url_file = "nowhere.url"
secret_file = "hook.key"

[[channels.send]]
name = "broken"
kind = "apprise"
url_env = "INTERLOCK_TEST_NO_SUCH_VARIABLE"
"""


@dataclass
class Told:
    """A daemon, and everybody whom it tells."""

    daemon: Daemon
    hook: Receiver
    json: Receiver
    boss: Receiver
    mails: ReceivedMails
    secrets: tuple[str, ...]

    def hold(self, command: str, name: str = "claude") -> dict[str, Any]:
        answer = self.daemon.here().post("/api/v1/evaluate", json={"command": command, "agent": {"name": name}})
        body: dict[str, Any] = answer.json()
        assert not body["allowed"] and body["pendingId"], body
        return body

    def about(self, receiver: Receiver, ticket: str) -> dict[str, Any]:
        return next(
            one
            for one in receiver.until(lambda found: any(ticket in m["about"] for m in found))
            if ticket in one["about"]
        )


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    folder = tmp_path_factory.mktemp("told")
    with http_receiver(503, 204) as hook, http_receiver() as json, http_receiver() as boss, mail_server() as mails:
        secrets = {
            "hook.url": f"{hook.url}/services/T000SECRETPATH",
            "hook.key": SECRET,
            "boss.url": f"{boss.url}/boss",
            "json.url": f"json://127.0.0.1:{json.port}/drop",
            "mail.url": f"mailto://robot:mailpass99@127.0.0.1:{mails.port}?from=gate@example.com&to=ana@example.com&mode=insecure",
            "nowhere.url": "http://127.0.0.1:9/x",
        }
        for name, text in secrets.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o600)
        with daemon(folder, toml=TOML, policy="default", anew=True) as running:
            yield Told(running, hook, json, boss, mails, (SECRET, "SECRETPATH", "mailpass99", TOKEN))


def signed(headers: dict[str, str], body: bytes) -> bool:
    """As a receiver checks it."""
    said = headers["x-interlock-timestamp"].encode() + b"." + body
    made = "v1=" + hmac.new(SECRET.encode(), said, hashlib.sha256).hexdigest()
    return hmac.compare_digest(made, headers["x-interlock-signature"])


def test_a_held_action_reaches_webhook_mail_and_apprise_redacted_and_signed(told: Told) -> None:
    ticket = told.hold(HELD)["pendingId"]
    found = told.about(told.hook, ticket)
    assert found["event"] in ("held", "cooling") and found["level"] >= 2 and "claude" in found["agent"]["name"]
    assert "api.example.com/repos/shop" in found["title"] and found["reason"] and found["until"]
    assert (
        found["link"] == f"http://localhost:{told.daemon.port}/console/tickets/{ticket}" and found["this_device_only"]
    )
    writer, number, hash = found["record"].split(":")
    assert writer == "main" and int(number) >= 0 and len(hash) == 64
    again = told.hook.until(
        lambda got: len([one for one in got if ticket in one["about"]]) == 2, "after 503 nothing came"
    )
    assert again[0]["id"] == again[1]["id"], "whoever received it twice can see that"
    assert all(signed(headers, body) for headers, body in told.hook.got)
    mail = until(lambda: next((text for text in told.mails.texts() if ticket in text), None), "no mail came")
    assert "this device only" in mail and "what: curl" in mail and "who: claude" in mail and "record: main" in mail
    dropped = told.json.until(lambda got: any(ticket in one["message"] for one in got))
    everything = [body.decode() for _, body in [*told.hook.got, *told.json.got]] + told.mails.texts()
    assert dropped and not any(secret in text for text in everything for secret in told.secrets)


def test_a_second_channel_is_told_when_nobody_answers_and_only_then(told: Told) -> None:
    answered = told.hold("rm -rf /srv/answered/data", "ben")["pendingId"]
    refused = told.daemon.here().post(
        f"/api/v1/tickets/{answered}/reject", json={"reason": "no"}, headers=told.daemon.sign_in()
    )
    assert refused.status_code == 200, refused.text
    left = told.hold("rm -rf /srv/unanswered/data", "carl")["pendingId"]
    assert told.about(told.boss, left)["title"] == "rm -rf /srv/unanswered/data"
    assert not any(answered in one["about"] for one in told.boss.bodies())


def test_a_receiver_that_is_gone_delays_nobody_and_everything_is_on_record(told: Told) -> None:
    ticket = told.hold("rm -rf /srv/recorded", "dora")["pendingId"]
    told.about(told.hook, ticket)
    ana = told.daemon.sign_in()

    def channels() -> dict[str, Any]:
        found = told.daemon.here().get("/api/v1/channels", headers=ana)
        assert found.status_code == 200 and not any(secret in found.text for secret in told.secrets)
        return {one["name"]: one for one in found.json()["channels"]}

    until(lambda: any(one.get("reason") == "nobody answers there" for one in channels()["nowhere"]["recent"]))
    until(
        lambda: any(
            one["about"] == f"ticket {ticket}" and one["state"] == "sent" for one in channels()["hook"]["recent"]
        )
    )
    found = channels()
    assert found["hook"]["address"].endswith("/…") and found["mail"]["address"] == "mailto://…"
    assert found["broken"]["ready"] is False and "INTERLOCK_TEST_NO_SUCH_VARIABLE" in found["broken"]["problem"]
    assert found["console"]["builtIn"] and found["boss"]["afterSeconds"] == 2
    records = told.daemon.here().get("/api/v1/audit?event=delivery", headers=ana)
    bodies = [one["body"] for one in records.json()["records"]]
    assert {("hook", "sent"), ("nowhere", "retried"), ("hook", "retried")} <= {
        (b["channel"], b["outcome"]) for b in bodies
    }
    assert not any(secret in records.text for secret in told.secrets)


def test_an_agent_neither_sees_channels_nor_has_them_tested(told: Told) -> None:
    made = told.daemon.here().post("/api/v1/agents", json={"name": "x"}, headers=told.daemon.sign_in())
    tokens = [{}, {"authorization": f"Bearer {made.json()['token']}"}]
    before = len(told.hook.got)
    for headers in tokens:
        for method, path in (("GET", "/api/v1/channels"), ("POST", "/api/v1/channels/hook/test")):
            assert told.daemon.here().request(method, path, headers=headers).status_code == 403
    assert told.daemon.tcp().get("/api/v1/channels").status_code == 401
    assert not any(one["event"] == "test" for one in told.hook.bodies()[before:])


def test_an_operator_has_a_channel_tested_and_hears_what_became_of_it(told: Told) -> None:
    client, ana = told.daemon.here(), told.daemon.sign_in()
    assert client.post("/api/v1/channels/hook/test", headers=ana).json() == {"name": "hook", "sent": True, "reason": ""}
    assert told.hook.until(lambda got: any(one["event"] == "test" and "ana" in one["words"] for one in got))
    gone = client.post("/api/v1/channels/nowhere/test", headers=ana).json()
    assert not gone["sent"] and gone["reason"] == "nobody answers there"
    assert (
        "no INTERLOCK_TEST_NO_SUCH_VARIABLE"
        in client.post("/api/v1/channels/broken/test", headers=ana).json()["reason"]
    )
    assert client.post("/api/v1/channels/none/test", headers=ana).status_code == 404


def test_an_external_system_answers_as_an_enrolled_service(told: Told) -> None:
    """What docs/guide/channels.md shows: it hears of a ticket, signs in under a name of its own, and answers."""
    client, ana = told.daemon.here(), told.daemon.sign_in()
    passphrase = "a long passphrase of a program"
    new = {"name": "deskbot", "passphrase": passphrase, "roles": ["approver"], "service": True}
    assert client.post("/api/v1/operators", json=new, headers=ana).status_code == 200
    asks = {"action": "change_price", "params": {"to": 5}, "agent": {"name": "emil"}}
    held = client.post("/api/v1/evaluate", json=asks).json()
    ticket = held["pendingId"]
    assert ticket in told.about(told.hook, ticket)["about"]  # alone, or in one message with the new operator
    session = told.daemon.tcp().post("/api/v1/session", json={"operator": "deskbot", "passphrase": passphrase}).json()
    bot = {"authorization": f"Bearer {session['token']}"}
    said = told.daemon.tcp().post(f"/api/v1/tickets/{ticket}/approve", json={"reason": "CHG-1021"}, headers=bot)
    assert said.status_code == 200, said.text
    again = client.post("/api/v1/evaluate", json=asks).json()
    assert again["allowed"] and "deskbot approved it" in again["reason"], again


def test_no_secret_of_a_channel_is_in_the_log_or_on_the_command_line(told: Told) -> None:
    log = told.daemon.errors()
    line = Path(f"/proc/{told.daemon.process.pid}/cmdline").read_text()
    assert not any(secret in text for text in (log, line) for secret in told.secrets)
