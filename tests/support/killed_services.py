"""A service in a forked process that is killed at a random moment; a pipe carries its acknowledgements."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from daemons import PASSPHRASE, enrol_operators, folder_config
from interlock.analysis.rules import Rulebook
from interlock.approvals import answers
from interlock.config import Config
from interlock.engine.evaluate import Request, evaluate
from interlock.error_codes import AnswerRefused
from interlock.identity import agents
from interlock.identity.operators import sign_in
from interlock.identity.sessions import OperatorSession
from interlock.maintenance import TicketSettler, sign_record
from interlock.model import Decision, TicketState, command
from interlock.records import TicketQuery
from interlock.runtime.state import State, SystemClock
from interlock.startup import open_state, open_store, read_rules
from invariants import Acknowledged, agent_of, broken_invariants, push
from stored_records import child

CWD = "/home/dev/app"
AGENTS = 3  # threads that ask
MOST = 24  # acknowledgements of one process
OPENING, MOMENT = 0.06, 0.004  # seconds: from the fork until everything is open, and between two acknowledgements
AT_ONCE = 400  # tickets that a look at the queue shows

Say = Callable[[list[str]], None]


class Folder:
    """A state folder, and everything its processes acknowledged."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance, self.said = folder, random.Random(seed), Acknowledged()
        self.lives = 0
        self.config: Config = folder_config(folder, policy={"use": "default"})

    def begin(self, known: tuple[Rulebook, str]) -> AbstractContextManager[tuple[int, Any]]:
        """A process that opens the folder and works."""
        self.lives += 1
        name = f"{self.lives}"
        return child(lambda say: Service(self.config, known, name, say).work())

    def end(self, pid: int, said: Iterator[list[str]]) -> None:
        """Kills it while it opens the folder, or a moment after so many acknowledgements; everything it said counts."""
        left = self.chance.randrange(MOST)
        if not left:
            self._kill(pid, OPENING)
        for word, what in said:
            assert word != "failed", what
            self.said.take(word, what)
            left -= 1
            if not left:
                self._kill(pid, MOMENT)

    def _kill(self, pid: int, longest: float) -> None:
        time.sleep(self.chance.uniform(0, longest))
        os.kill(pid, signal.SIGKILL)

    def broken(self, known: tuple[Rulebook, str]) -> list[str]:
        """The invariants that the next process finds broken."""
        store = open_store(self.config.store)
        try:
            state = open_state(self.config, store, SystemClock(), known=known)
            found = broken_invariants(state, self.said)
            if self.said.tickets["spent"]:
                id = self.chance.choice(sorted(self.said.tickets["spent"]))
                sign_in(state, "ana", PASSPHRASE, "test")
                found += [f"spent {id}: spent again after a restart"] if spend(state, id) else []
            return found
        finally:
            store.close()


def live_and_die(folders: Sequence[Folder], known: tuple[Rulebook, str]) -> None:
    """One process in each folder, at the same time; each is killed at a random moment."""
    with ExitStack() as ending:
        begun = [ending.enter_context(folder.begin(known)) for folder in folders]
        with ThreadPoolExecutor(len(folders)) as pool:
            list(pool.map(lambda folder, process: folder.end(*process), folders, begun))


class Service:
    """What the forked process does until it is gone."""

    def __init__(self, config: Config, known: tuple[Rulebook, str], name: str, say: Say) -> None:
        self.config, self.known, self.name, self.say = config, known, name, say

    def work(self) -> None:
        """Everything in this process, from the first file on; errors are said, too."""
        try:
            store = open_store(self.config.store)
            self.state = open_state(self.config, store, SystemClock(), known=self.known)
            if not store.read(lambda tx: tx.operators()):
                enrol_operators(self.state)
            _, session = sign_in(self.state, "ana", PASSPHRASE, "test")
        except BaseException:
            self.say(["failed", traceback.format_exc()])
            return
        for number in range(AGENTS):
            self._thread(lambda number=number: self._agent(f"life{self.name}agent{number}"))  # type: ignore[misc]
        self._thread(self._upkeep)
        self._thread(lambda: self._operator(session))
        threading.Event().wait()

    def _thread(self, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                while True:
                    work()
            except BaseException:
                self.say(["failed", traceback.format_exc()])

        threading.Thread(target=run, daemon=True).start()

    def _agent(self, name: str) -> None:
        """Asks for something of its own, then tries what anybody was granted: others try the same ticket at the same time."""
        name = f"{name}n{os.urandom(4).hex()}"
        held = ask(self.state, name)
        assert held.ticket is not None, held
        self.say(["held", held.ticket.id])
        everyday = f"git show {name}"
        evaluate(self.state, Request(command(everyday, CWD), agent_of(name), "test"))
        if self.state.recorder.flush():
            self.say(["recorded", everyday])
        query = TicketQuery((TicketState.APPROVED,), limit=AT_ONCE)
        for ticket in self.state.store.read(lambda tx: tx.tickets(query)):
            if spend(self.state, ticket.id):
                self.say(["spent", ticket.id])
                answers.report_execution(self.state, ticket.agent, ticket.id, "done")
                self.say(["executed", ticket.id])

    def _operator(self, session: OperatorSession) -> None:
        query = TicketQuery((TicketState.WAITING,), limit=AT_ONCE)
        for ticket in self.state.store.read(lambda tx: tx.tickets(query)):
            reject = random.random() < 0.2
            try:
                (answers.reject if reject else answers.approve)(self.state, session, ticket.id)
                self.say(["rejected" if reject else "approved", ticket.id])
            except AnswerRefused:
                continue
        principal = f"uid:{random.randrange(10_000, 99_999)}"
        agents.block(self.state, session, principal, "enough")
        self.say(["blocked", principal])

    def _upkeep(self) -> None:
        self.state.recorder.flush()
        TicketSettler(self.state).settle()
        sign_record(self.state)
        time.sleep(0.01)


def ask(state: State, name: str, ticket: str = "") -> Decision:
    return evaluate(state, Request(command(push(name), CWD), agent_of(name), "test", pending=ticket))


def spend(state: State, id: str) -> bool:
    """Tries what a ticket is for, as whoever asked for it."""
    ticket = state.store.read(lambda tx: tx.ticket(id))
    return ticket is not None and ask(state, ticket.agent.name, id).allowed


def warm() -> tuple[Rulebook, str]:
    """Everything that takes long, done once before the forks."""
    return read_rules(folder_config(Path("/nowhere"), policy={"use": "default"}))
