"""Real daemons under load from several agents and an operator, each killed at a random moment and started again."""

from __future__ import annotations

import http.client
import json
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from daemons import PASSPHRASE, Daemon, bearer, enrol_operators, folder_config, start_daemon, write_config
from interlock.analysis.rules import Rulebook
from interlock.identity.agents import add_agent
from interlock.identity.operators import sign_in
from interlock.runtime.state import SystemClock
from interlock.startup import open_state, open_store
from invariants import Acknowledged, broken_invariants, push

AGENTS = 3
MOST = 30  # acknowledgements of one daemon
MOMENT = 0.02  # seconds between two of them
PATIENCE = 60.0
UNKNOWN = 503  # the state could not be known: a denial, and no promise
POLICY = {"use": "default"}


class DaemonGone(Exception):
    """The daemon does not answer any more."""


class Caller:
    """One connection that stays open."""

    def __init__(self, port: int, headers: dict[str, str], unsure: Callable[[str], None] = lambda words: None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._headers = {"content-type": "application/json", **headers}
        self._unsure = unsure

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and body; raises Gone. Where the store cannot be used for a moment nothing was decided: it is asked again."""
        end = time.monotonic() + PATIENCE
        while True:
            status, answer = self._ask(method, path, body)
            if status != UNKNOWN or time.monotonic() > end:
                return status, answer
            self._unsure(f"{method} {path}: {answer}")
            time.sleep(0.1)

    def _ask(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        try:
            data = None if body is None else json.dumps(body)
            self._connection.request(method, f"/api/v1{path}", data, self._headers)
            answer = self._connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            raise DaemonGone from None

    def evaluate(self, name: str, ticket: str = "") -> tuple[int, Any]:
        asked = {"agent": {"name": name, "session": name}, "command": push(name), "cwd": "/home/dev/app"}
        return self.ask("POST", "/evaluate", {**asked, **({"pendingId": ticket} if ticket else {})})


class Folder:
    """A state folder, and everything its daemons acknowledged."""

    def __init__(self, folder: Path, seed: int, known: tuple[Rulebook, str]) -> None:
        folder.mkdir()
        self.folder, self.known, self.chance, self.said = folder, known, random.Random(seed), Acknowledged()
        self.lives = 0
        self.unexpected: list[str] = []
        self.unsure: list[str] = []  # answers of 503, each with the daemon's last words
        self.names: dict[str, tuple[int, str]] = {}  # ticket -> which agent asked, under which name
        self._more = threading.Condition()
        self.config = folder_config(folder, policy=POLICY)
        store = open_store(self.config.store)
        try:
            state = open_state(self.config, store, SystemClock(), known=known)
            enrol_operators(state)
            _, session = sign_in(state, "ana", PASSPHRASE, "test")
            self.tokens = [add_agent(state, session, f"agent{number}")[0] for number in range(AGENTS)]
        finally:
            store.close()

    def live_and_die(self) -> None:
        """One daemon from its start to its end."""
        self.lives += 1
        running = start_daemon(self.folder, config=write_config(self.folder, policy=POLICY["use"]))
        assert running.port, running.errors()
        load = Load(self, running)
        try:
            load.begin()
            self._until(self.said.count + self.chance.randrange(MOST))
            time.sleep(self.chance.uniform(0, MOMENT))
        finally:
            running.stop(signal.SIGKILL)
            load.end()
            assert running.process.stdout is not None
            running.process.stdout.close()

    def broken(self) -> list[str]:
        """The invariants that the next process finds broken, and unexpected answers."""
        store = open_store(self.config.store)
        try:
            return (
                broken_invariants(open_state(self.config, store, SystemClock(), known=self.known), self.said)
                + self.unexpected
            )
        finally:
            store.close()

    def take(self, word: str, id: str) -> None:
        with self._more:
            self.said.take(word, id)
            self._more.notify_all()

    def _until(self, count: int) -> None:
        """Returns when so many acknowledgements were heard, or one that should not have been."""
        with self._more:
            self._more.wait_for(lambda: self.said.count >= count or self.unexpected, PATIENCE)

    def wrong(self, what: str, answer: tuple[int, Any]) -> None:
        with self._more:
            self.unexpected.append(f"process {self.lives}: {what}: {answer}; {self._last_words()}")
            self._more.notify_all()

    def not_sure(self, what: str) -> None:
        with self._more:
            self.unsure.append(f"process {self.lives}: {what}; {self._last_words()}")

    def _last_words(self) -> str:
        return f"the daemon's last words: {(self.folder / 'stderr').read_text()[-1_000:]!r}"


class Load:
    """Agents that ask, each through two connections at the same time, and an operator who answers."""

    def __init__(self, folder: Folder, running: Daemon) -> None:
        self.folder, self.port = folder, running.port
        self._threads: list[threading.Thread] = []
        self._pool = ThreadPoolExecutor(2 * AGENTS)

    def begin(self) -> None:
        """Returns when the operator is signed in, as nothing can be spent before."""
        sign_in = {"operator": "ana", "passphrase": PASSPHRASE}
        status, answer = self._caller({}).ask("POST", "/session", sign_in)
        assert status == 200, answer
        self._thread(lambda: self._operator(self._caller(bearer(answer["token"]))))
        for number in range(AGENTS):
            self._thread(lambda number=number: self._agent(number))  # type: ignore[misc]

    def end(self) -> None:
        for thread in self._threads:
            thread.join(30)
        self._pool.shutdown()

    def _caller(self, headers: dict[str, str]) -> Caller:
        return Caller(self.port, headers, self.folder.not_sure)

    def _thread(self, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except DaemonGone:
                pass
            except Exception as error:
                self.folder.wrong("the load", (0, repr(error)))

        self._threads.append(threading.Thread(target=run, daemon=True))
        self._threads[-1].start()

    def _agent(self, number: int) -> None:
        """First what it has asked for in earlier lives, spent or not, then new things."""
        pair = [self._caller(bearer(self.folder.tokens[number])) for _ in range(2)]
        earlier = [(id, name) for id, (agent, name) in list(self.folder.names.items()) if agent == number]
        for id, name in earlier[-10:]:
            self._spend(pair, name, id)
        for turn in range(1_000_000):
            name = f"life{self.folder.lives}agent{number}turn{turn}"
            status, body = pair[0].evaluate(name)
            if status not in (202, 403) or "pendingId" not in body:
                return self.folder.wrong("a dangerous action", (status, body))
            id = body["pendingId"]
            self.folder.names[id] = (number, name)
            self.folder.take("held", id)
            pair[0].ask("GET", f"/tickets/{id}/wait?seconds=2")
            self._spend(pair, name, id)
        return None

    def _spend(self, pair: list[Caller], name: str, id: str) -> None:
        """Spends a ticket through both connections at once; the one that is allowed reports the outcome."""
        tries = [self._pool.submit(caller.evaluate, name, id) for caller in pair]
        for caller, tried in zip(pair, tries):
            status, body = tried.result()
            if status == 200:
                self.folder.take("spent", id)
                status, body = caller.ask("POST", f"/tickets/{id}/executed", {"outcome": "done"})
                if status != 200:
                    return self.folder.wrong("a report", (status, body))
                self.folder.take("executed", id)
            elif status not in (202, 403):
                return self.folder.wrong("spending", (status, body))
        return None

    def _operator(self, caller: Caller) -> None:
        while True:
            status, body = caller.ask("GET", "/tickets?state=pending_approval")
            if status != 200:
                return self.folder.wrong("the queue", (status, body))
            for ticket in body["tickets"]:
                word = random.choice(("approve", "approve", "approve", "reject"))
                status, answer = caller.ask("POST", f"/tickets/{ticket['id']}/{word}", {"reason": "seen"})
                if status == 200:
                    self.folder.take({"approve": "approved", "reject": "rejected"}[word], ticket["id"])
                elif status >= 500:
                    return self.folder.wrong("an answer", (status, answer))


def kill_repeatedly(folder: Folder, lives: int, tell: Callable[[Folder], None] = lambda folder: None) -> list[str]:
    """So many daemons in one folder, one after the other; what was broken, at the first that broke something."""
    for _ in range(lives):
        folder.live_and_die()
        found = folder.broken()
        tell(folder)
        if found:
            return [f"{folder.folder.name}, daemon {folder.lives}: {words}" for words in found]
    return []


def kill_in_folders(
    folders: Iterable[Folder], lives: int, at_once: int, tell: Callable[[Folder], None] = lambda folder: None
) -> list[str]:
    """The same in several folders, some at a time."""
    with ThreadPoolExecutor(at_once) as pool:
        return [
            words for found in pool.map(lambda folder: kill_repeatedly(folder, lives, tell), folders) for words in found
        ]
