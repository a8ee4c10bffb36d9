"""`interlock demo`: a scripted agent and an operator; `interlock conformance evidence`; both with a private daemon."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import httpx
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from msgspec import Struct, field
from webauthn.helpers import bytes_to_base64url, encode_cbor

import interlock
from interlock.analysis.display_text import Line, labelled, line
from interlock.cli.answer.audit import record_line
from interlock.cli.command import FAILED, OK, Args, CommandError, CommandWords, Row, command, daemon, list_of
from interlock.cli.output import declared_words, pluralize, say, say_json, typed_name
from interlock.client import DaemonClient, NoDaemon
from interlock.config import load_config
from interlock.identity.keys.passphrases import enrol
from interlock.identity.operators import enrol_first
from interlock.runtime.state import SystemClock
from interlock.startup import open_state, open_store

OPERATOR = "demo"
_PATIENCE = 30.0  # seconds
_CONFIG = """\
[daemon]
port = 0
socket = "{folder}/demo.sock"

[store]
url = "sqlite://{folder}/state"
"""


@contextmanager
def private_daemon() -> Iterator[tuple[DaemonClient, str]]:
    """The passphrase of its operator is known to this process alone."""
    with TemporaryDirectory(prefix="interlock-demo-") as name:
        folder = Path(name)
        config = folder / "interlock.toml"
        config.write_text(_CONFIG.format(folder=folder), encoding="utf-8")
        passphrase = secrets.token_urlsafe(24)
        settings = load_config(config)
        with closing(open_store(settings.store)) as store:  # before the daemon starts: no person is at its terminal
            row, seal_key = enrol(OPERATOR, passphrase, None, now=time.time(), by="demo", roles=("admin",))
            enrol_first(open_state(settings, store, SystemClock()), row, seal_key)
        with (folder / "log").open("wb") as log:
            command = [sys.executable, "-m", "interlock", "serve", "--config", str(config)]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            daemon = DaemonClient(folder / "demo.sock")
            _until_it_answers(daemon, process, folder / "log")
            body = {"operator": OPERATOR, "passphrase": passphrase, "channel": "cli"}
            yield daemon, str(daemon.post("/session", body)["token"])
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _until_it_answers(daemon: DaemonClient, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with suppress(NoDaemon):
            daemon.get("/status")
            return
        time.sleep(0.05)
    said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
    raise CommandError("the demo's own daemon did not start: " + (" / ".join(said) or "it said nothing"))


AGENT = {"name": "demo-agent", "session": "demo"}
CWD = "/home/dev/shop"
_LIVE_SECONDS = 120
_READING = 0.8  # seconds to read a line
_TOUCH_SECONDS = 5
_DELETE = "rm -rf drafts"
_PUSH = "git push --force origin main"
_DISGUISED = 'sudo bash -c "$(echo cm0gLXJmIC8= | base64 -d)"'
_LEADS = {"allow": "allow", "deny": "deny", "block": "deny"}


def approve_by_touch(operator: ConsoleOperator, waits: bool, ticket: str) -> str:
    touched = ""
    if waits:
        print(f"              Press Enter: it stands for a touch of your passkey ({_TOUCH_SECONDS} s).", flush=True)
        if select.select([sys.stdin], [], [], _TOUCH_SECONDS)[0]:
            sys.stdin.readline()
        else:
            touched = " by itself, as nobody pressed Enter"
    operator.approve(ticket)
    return f"a passkey signs exactly this action in the console{touched}: good for one use"


def await_approval(server: DaemonClient, ticket: str) -> str:
    print(f"    Your turn, in another terminal:  interlock approve {ticket}", file=sys.stderr, flush=True)
    end = time.monotonic() + _LIVE_SECONDS
    while time.monotonic() < end:
        found = server.get(f"/tickets/{ticket}/wait", 45.0, seconds=20)
        if not found["state"].startswith("pending"):
            by = f" by {found['decidedBy']}" if found.get("decidedBy") else ""
            return f"answered: {found['state']}{by}"
    return f"did not answer within {_LIVE_SECONDS} s, so what follows stays held"


_PRESENT_AND_VERIFIED, _WITH_KEY = 0x05, 0x40  # of authenticator data: a person touched it; it has the public key


class SoftwarePasskey:
    """One ES256 passkey; it proves that the protocol works, not that a person was there."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.id = os.urandom(32)
        self.key = ec.generate_private_key(ec.SECP256R1())

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        point = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + encode_cbor(cose)
        data = self._data(options["rp"]["id"], _PRESENT_AND_VERIFIED | _WITH_KEY) + attested
        made = encode_cbor({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client_data("webauthn.create", options["challenge"])
        return self._answer(clientDataJSON=client, attestationObject=made)

    def sign(self, options: dict[str, Any]) -> dict[str, Any]:
        data = self._data(options["rpId"], _PRESENT_AND_VERIFIED)
        client = self._client_data("webauthn.get", options["challenge"])
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(clientDataJSON=client, authenticatorData=data, signature=signature)

    def _data(self, site: str, flags: int) -> bytes:
        return hashlib.sha256(site.encode()).digest() + bytes([flags, 0, 0, 0, 0])  # it counts no uses

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}).encode()

    def _answer(self, **parts: bytes) -> dict[str, Any]:
        response = {name: bytes_to_base64url(part) for name, part in parts.items()}
        id = bytes_to_base64url(self.id)
        return {"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {}}


class ConsoleOperator:
    """A browser without a window: cookies, the page's token and the passkey, over the console's routes."""

    def __init__(self, set_up_link: str) -> None:
        origin, _, rest = set_up_link.partition("/console/")
        self.passkey = SoftwarePasskey(origin)
        headers = {"origin": origin, "accept": "application/json"}
        self._browser = httpx.Client(base_url=origin, headers=headers, timeout=_PATIENCE, trust_env=False)
        self._open("set-up", {"token": rest.partition("#")[2]})
        self._post("keys/passkey/finish", self._touched("keys/passkey", self.passkey.create))
        self._open("sign-in/passkey/finish", self._touched("sign-in/passkey", self.passkey.sign))

    def approve(self, ticket: str) -> None:
        self._post(f"step-up/{ticket}/approve", self._touched(f"step-up/{ticket}", self.passkey.sign))

    def close(self) -> None:
        self._browser.close()

    def _touched(self, path: str, touch: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        asked = self._post(f"{path}/begin")
        return {"ceremony": asked["ceremony"], "response": touch(asked["publicKey"])}

    def _open(self, path: str, body: dict[str, Any]) -> None:
        self._browser.headers["x-csrf-token"] = self._post(path, body)["csrf"]

    def _post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self._browser.post(f"/console/{path}", json=body or {})
        answer.raise_for_status()
        return dict(answer.json())


class DemoScript(Struct):
    agent: DaemonClient
    approve: Callable[[str], str]  # a ticket; describes the answer
    quiet: bool
    pause: float
    cwd: str = CWD
    asked: list[dict[str, Any]] = field(default_factory=list)

    def scene(self, name: str) -> None:
        title, words = declared_words(__name__, "demo")[name]
        self._say([(), line(title, "heading"), line(f"  {words}", "dim")])
        time.sleep(self.pause)

    def note(self, words: str) -> None:
        self._say([labelled("  operator", words, width=12)])
        time.sleep(self.pause)

    def ask(self, expected: str, command: str) -> Row:
        action = {"command": command}
        answer: Row = self.agent.ask("POST", "/evaluate", {"agent": AGENT, "cwd": self.cwd, **action}).body
        got = answer["decision"]
        self.asked.append({"action": action, "expected": expected, "decision": got, "answer": dict(answer)})
        unexpected = "" if got == expected else f"  (expected {expected})"
        said = line(f"{got}: ", _LEADS.get(got, "ask")) + line(answer["reason"]) + line(unexpected, "deny")
        self._say([labelled("  agent", command, "command", 12), line("  interlock ", "dim") + said])
        time.sleep(self.pause)
        return answer

    def _say(self, lines: Sequence[Line]) -> None:
        if not self.quiet:
            say(lines)


@command()
def main(args: Args) -> int:
    pause = 0.0 if args.fast or args.json or not sys.stdout.isatty() else _READING
    if args.live:
        server = daemon(args)
        if not server.get("/status")["operators"]:
            words = "make the first operator with `interlock operator add`, then try again"
            raise CommandError(f"nobody could answer yet; {words}")
        play = DemoScript(server, partial(await_approval, server), args.json, pause)
        _ask_scenes(play)
        return _end(play, args, None)
    if not args.json:
        print("Starting a daemon of its own in a temporary folder.", flush=True)
    with private_daemon() as (server, token), TemporaryDirectory(prefix="interlock-demo-", dir=_lasting()) as shop:
        operator = server.on_behalf(token)
        with closing(ConsoleOperator(operator.post("/session/link")["url"])) as console:
            touch = partial(approve_by_touch, console, pause > 0 and sys.stdin.isatty())
            play = DemoScript(server, touch, args.json, pause, shop)
            _undo_scene(play, Path(shop))
            _ask_scenes(play)
        return _end(play, args, operator)


def _lasting() -> Path:
    """A folder whose files are kept before they are deleted, as temporary ones are not."""
    temporary = Path(gettempdir()).resolve()
    return next((one for one in (Path.home(), Path.cwd()) if temporary not in one.resolve().parents), Path.home())


def _undo_scene(play: DemoScript, shop: Path) -> None:
    play.scene("undo")
    drafts = shop / "drafts"
    drafts.mkdir()
    (drafts / "plan.md").write_text("Launch on Friday.\n", encoding="utf-8")
    answer = play.ask("allow", _DELETE)
    if answer["allowed"]:
        shutil.rmtree(drafts)
        undone = play.agent.ask("POST", "/undo/newest", {}).body or {}
        back = undone.get("undone") and (drafts / "plan.md").is_file()
        play.asked.append({"action": "undo", "expected": "undone", "decision": "undone" if back else "lost"})
        play.note(f"interlock undo: {'drafts/plan.md is there again' if back else 'it could not be brought back'}")


def _ask_scenes(play: DemoScript) -> None:
    play.scene("everyday")
    play.ask("allow", "git status && npm test")

    play.scene("held")
    held = play.ask("verify", _PUSH)
    if held.get("pendingId"):
        play.note(play.approve(held["pendingId"]))
    play.ask("allow", _PUSH)

    play.scene("disguise")
    play.ask("verify", _DISGUISED)


def _end(play: DemoScript, args: Args, operator: DaemonClient | None) -> int:
    wrong = [one for one in play.asked if one["decision"] != one["expected"]]
    proof = operator.get("/audit/verify") if operator else None
    if args.json:
        say_json({"steps": play.asked, "unexpected": len(wrong), "audit": proof})
        return FAILED if wrong else OK
    if operator is not None and proof is not None:
        play.scene("record")
        records = list_of(operator, "audit", "records", limit=5, newest=True)
        say(line("  ") + record_line(record) for record in records[::-1])
        whole = f"{proof['records']} records, whole, {pluralize(proof['touches'], 'approval')} proved by touch"
        ok = proof["ok"]
        say([labelled("  verify", whole if ok else "the record was altered", "allow" if ok else "deny", 12)])
    if not args.live:
        name = typed_name()
        print(f"\nNext: `{name} init` sets it up for your agents, `{name} uninstall --all` takes it back.")
    return FAILED if wrong or (proof is not None and not proof["ok"]) else OK


conformance_main = CommandWords(__name__, "conformance")


@conformance_main.word
def _evidence(args: Args) -> None:
    with private_daemon() as (daemon, token):
        say_json(asyncio.run(_driven(daemon, daemon.on_behalf(token))))


async def _driven(daemon: DaemonClient, person: DaemonClient) -> object:
    from mcp import Client, StdioServerParameters  # takes a second

    from interlock.mcp.conformance import gather_evidence

    def approve() -> None:
        for ticket in person.get("/tickets")["tickets"]:
            if ticket["state"] == "pending_approval":
                person.post(f"/tickets/{ticket['id']}/approve")

    words = ["-m", "interlock", "mcp", "--strict-introspection", "--config", str(daemon.path.parent / "interlock.toml")]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MCP_AQL_", "MCPAQL_"))}
    server = StdioServerParameters(command=sys.executable, args=words, env=kept)
    try:
        async with Client(server, mode="legacy") as client:
            return await gather_evidence(client, approve, interlock.__version__)
    except KeyError as error:
        raise CommandError(f"the server did not answer as it should: {error}") from None
