"""Records for tests of the stores, and processes that race for them."""

from __future__ import annotations

import json
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from interlock.audit.chain import FIRST_SEQ, GENESIS
from interlock.model import AgentRef, Human, Level, Requirement, TicketState
from interlock.ports import Store, StoreError
from interlock.records import Approval, AuditRow, Challenge, Execution, Grant, HistoryEntry, Notification, Ticket
from interlock.startup import open_store

NOW = 1_700_000_000.0
AGENT = AgentRef("uid:1000", "Claude", "s1", "boss")
OTHER = AgentRef("uid:1000", "codex", "s2")
APPROVED, COOLING, EXPIRED, REJECTED = (
    TicketState.APPROVED,
    TicketState.COOLING,
    TicketState.EXPIRED,
    TicketState.REJECTED,
)
SPENT, WAITING = TicketState.SPENT, TicketState.WAITING


def ticket(id: str, digest: str = "", agent: AgentRef = AGENT, state: TicketState = WAITING, **more: Any) -> Ticket:
    values: dict[str, Any] = {
        "requirement": Requirement(30, Human.APPROVE, frozenset({"ana", "bo"}), 2, True),
        "opened_at": NOW,
        "expires_at": NOW + 3600,
        "level": Level.DANGEROUS,
    }
    return Ticket(id, digest or f"v1:{id}", agent, state, **(values | more))


def full_ticket(id: str) -> Ticket:
    """A ticket with something in every field, some of it hostile."""
    return ticket(
        id,
        irreversible=True,
        cooling_ends_at=NOW + 30.25,
        title="removes \0 and \ud800 and ünï",
        reason="'; DROP TABLE tickets; --",
        action={"kind": "command", "fields": {"text": "rm -rf \0\udcff", "n": [1, 2.5, None, True]}},
        findings=({"rule": "x", "at": [1, 2]}, {}),
        factors=("one", "two"),
        effect_keys=("remove:/etc",),
        door="http",
        operation="drop_table",
        adapter="db",
        adapter_trust="certified",
        params_hash="aa",
        token_hash=f"hash of {id}",
        shown_hash="cc",
        severity="high",
        categories=("data_deletion",),
        patterns=({"id": "p", "canRollback": False},),
        policy="p1",
        rulebook="r1",
        execution="e1",
        witnesses=({"path": "/x", "sha256": "00"},),
        decided_at=NOW + 1,
        decided_by="ana",
        decision_reason="?%s%",
        executed_at=NOW + 3,
        outcome="done",
        seal="ee",
    )


def approval(ticket: str, operator: str = "ana", **more: Any) -> Approval:
    return Approval(
        ticket, operator, "approve", '{"ticket":"x"}', f"sig-{operator}", "k1", "cli", NOW, NOW + 120, **more
    )


def history_entry(at: float = NOW, agent: AgentRef = AGENT, operation: str = "rm", **more: Any) -> HistoryEntry:
    return HistoryEntry(
        agent, operation, more.pop("level", Level.SAFE), more.pop("score", 5), more.pop("outcome", "allow"), at, **more
    )


def grant(id: str, **more: Any) -> Grant:
    return Grant(id, "delete", ("/tmp/*",), Level.DESTRUCTIVE, "ana", "tests", NOW, NOW + 600, **more)


def challenge(id: str, agent: AgentRef = AGENT, **more: Any) -> Challenge:
    return Challenge(id, agent, "verify", "why", NOW, NOW + 300, **more)


def execution(id: str, agent: AgentRef = AGENT, **more: Any) -> Execution:
    return Execution(id, agent, more.pop("status", "running"), more.pop("started_at", NOW), 10, **more)


def notification(agent: AgentRef = AGENT, type: str = "info", **more: Any) -> Notification:
    return Notification(0, agent.principal, agent.name, type, "hello", NOW, **more)


def chain(count: int, writer: str = "w1", head: AuditRow | None = None) -> list[AuditRow]:
    """Records that continue each other; the hashes are made up, as a store does not compute them."""
    rows: list[AuditRow] = []
    for _ in range(count):
        last = rows[-1] if rows else head
        seq, prev = (last.seq + 1, last.hash) if last else (FIRST_SEQ, GENESIS)
        row = AuditRow(writer, seq, NOW + seq, "OPERATION_DENIED", json.dumps({"n": seq}), prev, f"{writer}-{seq:x}")
        rows.append(replace(row, key_id="k", rulebook="r", policy="p"))
    return rows


@contextmanager
def open_when_free(url: str) -> Iterator[Store]:
    """Opens a store as soon as nobody else has it."""
    deadline = time.monotonic() + 60
    while True:
        try:
            store = open_store(url)
            break
        except StoreError as error:
            if "in use by process" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def child(work: Callable[[Callable[[Any], None]], None]) -> Iterator[tuple[int, Any]]:
    """A process of its own that says things as JSON lines; gives its pid and what it says."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(out)
        status = 1
        try:
            work(lambda said: os.write(into, json.dumps(said).encode() + b"\n") and None)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(into)
    try:
        with os.fdopen(out) as lines:
            yield pid, (json.loads(line) for line in lines if line.endswith("\n"))
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        os.waitpid(pid, 0)


def race(count: int, work: Callable[[], Any]) -> list[Any]:
    """What each of so many processes answered; all begin when the last one is there."""
    ready, go = os.pipe()
    entered: list[tuple[Any, Any]] = []

    def racer(say: Callable[[Any], None]) -> None:
        os.close(go)
        os.read(ready, 1)  # ends when the parent closes its end
        say(work())

    for _ in range(count):
        context = child(racer)
        entered.append((context, context.__enter__()))
    os.close(ready)
    os.close(go)
    answers = [next(said, None) for _, (_, said) in entered]
    for context, _ in entered:
        context.__exit__(None, None, None)
    return answers
