"""A guarded function runs when the gate allows it, with what was judged, and not otherwise."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clock import TestClock
from daemons import PASSPHRASE, enrol_operators, folder_config
from interlock import AsyncGate, Decision, Denied, Gate, GateError, Held, NotAllowed
from interlock.model import TicketState
from interlock.records import AuditQuery, TicketQuery
from interlock.sdk.in_process import InProcessBackend, open_in_process

Ran = list[Any]


def soon(work: Any) -> threading.Timer:
    """A person who answers while a call waits."""
    timer = threading.Timer(0.3, work)
    timer.start()
    return timer


def approve(gate: Gate, refused: NotAllowed) -> None:
    assert refused.ticket is not None
    gate.approve(refused.ticket.id, gate.sign_in("ana", PASSPHRASE))


def held_by(gate: Gate, inside: InProcessBackend) -> list[str]:
    """What this gate's agent waits for."""
    asked = TicketQuery((TicketState.WAITING,), "", gate._agent)
    return [ticket.id for ticket in inside.state.store.read(lambda tx: tx.tickets(asked))]


def approve_next(gate: Gate, inside: InProcessBackend) -> None:
    """Approves whatever is held next."""
    end = time.monotonic() + 20
    while not (waiting := held_by(gate, inside)):
        assert time.monotonic() < end, "nothing was held"
        time.sleep(0.05)
    gate.approve(waiting[0], gate.sign_in("ana", PASSPHRASE))


@pytest.fixture(scope="module")
def clock() -> TestClock:
    return TestClock()


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory, clock: TestClock) -> Iterator[InProcessBackend]:
    """One for all: each test is another agent."""
    made = open_in_process(folder_config(tmp_path_factory.mktemp("guard")), clock=clock)
    enrol_operators(made.state)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared(inside: InProcessBackend) -> Gate:
    return Gate._over(inside)


@pytest.fixture
def gate(shared: Gate, request: pytest.FixtureRequest) -> Gate:
    return shared.for_agent(request.node.name[:100], request.node.name[:100])


def test_what_is_allowed_runs_and_gives_what_it_gives(gate: Gate) -> None:
    @gate.guard
    def list_users(limit: int, *, after: str = "") -> str:
        """Users."""
        return f"{limit}{after}"

    assert list_users(3, after="x") == "3x"
    assert (list_users.__name__, list_users.__doc__) == ("list_users", "Users.")
    assert str(inspect.signature(list_users)) == "(limit: 'int', *, after: 'str' = '') -> 'str'"


def test_what_is_held_does_not_run_and_says_how_it_could(gate: Gate) -> None:
    ran: Ran = []

    @gate.guard
    def drop_database(name: str) -> None:
        ran.append(name)

    with pytest.raises(Held) as held:
        drop_database("main")
    assert ran == [] and held.value.ticket is not None and "requires human approval" in str(held.value)
    assert isinstance(held.value.decision, Decision) and held.value.reason == str(held.value)
    assert held.value.instead == held.value.decision.instead and held.value.wait_seconds >= 0


def test_an_approval_is_spent_by_one_call_with_exactly_these_arguments(gate: Gate) -> None:
    ran: Ran = []

    @gate.guard
    def drop_database(name: str, _force: bool = False, timeout: int = 5, options: Any = None) -> None:
        ran.append((name, _force, timeout, options))

    with pytest.raises(Held) as held:
        drop_database("main")
    approve(gate, held.value)
    others: list[dict[str, Any]] = [
        {"name": "other"},
        {"name": "main", "_force": True},
        {"name": "main", "timeout": 6},
        {"name": "main", "options": {"cascade": True}},
    ]
    for other in others:
        with pytest.raises(NotAllowed):
            drop_database(**other)
    assert ran == []
    drop_database("main", timeout=5)  # what is not passed is the same call
    assert ran == [("main", False, 5, None)]
    with pytest.raises(NotAllowed):
        drop_database("main")
    assert len(ran) == 1


def test_what_runs_is_what_was_judged_whatever_becomes_of_the_argument_meanwhile(
    gate: Gate, inside: InProcessBackend
) -> None:
    names, ran = ["old"], []

    @gate.guard(wait=60)
    def drop_database(names: list[str]) -> None:
        ran.append(list(names))

    def swap_and_approve() -> None:
        names[:] = ["production"]
        approve_next(gate, inside)

    person = soon(swap_and_approve)
    drop_database(names)
    person.join()
    assert ran == [["old"]] and names == ["production"]


def test_a_person_who_says_no_ends_the_wait(gate: Gate) -> None:
    ran: Ran = []

    @gate.guard(wait=60)
    def drop_database(name: str) -> None:
        ran.append(name)

    first = gate.evaluate(operation="drop_database", params={"name": "refused"})
    assert first.ticket is not None
    id, session = first.ticket.id, gate.sign_in("ana", PASSPHRASE)
    person = soon(lambda: gate.reject(id, session, "it is in use"))
    with pytest.raises(Denied, match="it is in use"):
        drop_database("refused")
    person.join()
    assert ran == []


def test_a_wait_that_nobody_answers_ends_as_held(gate: Gate) -> None:
    @gate.guard(wait=0.2)
    def drop_database(name: str) -> None:
        raise AssertionError("it ran")

    with pytest.raises(Held):
        drop_database("main")


def test_what_became_of_it_is_on_record_without_the_words_of_an_error(gate: Gate, inside: InProcessBackend) -> None:
    @gate.guard
    def drop_database(name: str) -> None:
        raise ValueError("the password is hunter2")

    with pytest.raises(Held) as held:
        drop_database("main")
    approve(gate, held.value)
    with pytest.raises(ValueError, match="hunter2"):
        drop_database("main")
    assert held.value.ticket is not None
    ticket = inside.ticket(held.value.ticket.id)
    assert ticket.outcome == "failed: ValueError" and ticket.executed_at


def test_an_awaited_function_lets_the_event_loop_go_on(gate: Gate, inside: InProcessBackend) -> None:
    ran: Ran = []

    @gate.guard(wait=60)
    async def drop_database(name: str) -> str:
        ran.append(name)
        return "dropped"

    async def main() -> str:
        ticks = 0
        call = asyncio.create_task(drop_database("main"))
        end = time.monotonic() + 20
        while not held_by(gate, inside):
            assert time.monotonic() < end, "nothing was held"
            await asyncio.sleep(0.01)
            ticks += 1
        assert ticks and not call.done() and ran == []
        await asyncio.to_thread(approve_next, gate, inside)
        return await call

    assert asyncio.run(main()) == "dropped" and ran == ["main"]
    assert inspect.iscoroutinefunction(drop_database)


def test_an_async_gate_guards_what_is_awaited_and_refuses_what_would_hold_up_the_loop(gate: Gate) -> None:
    plain = gate

    async def main() -> None:
        gate = AsyncGate.over(plain)

        @gate.guard
        async def count(limit: int) -> int:
            return limit

        @gate.guard()
        async def drop_database(name: str) -> None:
            raise AssertionError("it ran")

        assert await count(3) == 3
        with pytest.raises(Held):
            await drop_database("main")
        with pytest.raises(Held):
            await gate.check(operation="drop_database", wait=0.1)
        with pytest.raises(Held):
            async with gate.guarding(operation="drop_database"):
                raise AssertionError("it was entered")
        async with gate.guarding(operation="list_users") as decision:
            assert decision.allowed
        with pytest.raises(TypeError, match="guard it with a Gate"):
            gate.guard(len)

    asyncio.run(main())


def test_a_refusal_can_be_returned_in_place_of_raising_and_nothing_else_is(gate: Gate) -> None:
    @gate.guard(otherwise=str)
    def drop_database(name: str) -> str:
        raise AssertionError("it ran")

    @gate.guard(otherwise=str)
    def list_users() -> str:
        raise Denied(Decision("deny", "from inside"))

    @gate.guard(otherwise=lambda no: no.decision.outcome)
    async def polish(thing: Any) -> str:
        return "polished"

    assert drop_database("main") == "Critical action requires human approval"
    assert asyncio.run(polish(object())) == "deny" and asyncio.run(polish("silver")) == "polished"
    with pytest.raises(Denied, match="from inside"):
        list_users()


def test_a_block_is_entered_only_when_it_is_allowed(gate: Gate, inside: InProcessBackend) -> None:
    with gate.guarding(operation="list_users") as decision:
        assert decision.allowed
    with pytest.raises(Held) as held, gate.guarding(operation="drop_database", resource="main"):
        raise AssertionError("it was entered")
    approve(gate, held.value)
    with pytest.raises(KeyError), gate.guarding(operation="drop_database", resource="main"):
        raise KeyError("x")
    assert held.value.ticket is not None
    assert inside.ticket(held.value.ticket.id).outcome == "failed: KeyError"


def test_check_can_wait_for_a_person(gate: Gate, inside: InProcessBackend) -> None:
    person = soon(lambda: approve_next(gate, inside))
    assert gate.check(operation="drop_database", resource="main", wait=60).allowed
    person.join()


def test_a_claim_of_danger_raises_and_never_lowers(gate: Gate) -> None:
    @gate.guard(danger="dangerous")
    def polish(name: str) -> None:
        raise AssertionError("it ran")

    @gate.guard(danger="safe")
    def drop_database(name: str) -> None:
        raise AssertionError("it ran")

    with pytest.raises(Held, match="its caller says that it is dangerous"):
        polish("silver")
    with pytest.raises(Held):
        drop_database("main")
    assert gate.evaluate(operation="polish", params={"name": "silver"}).allowed
    with pytest.raises(ValueError, match="expected one of safe, reversible"):
        gate.guard(danger="risky")


class Server:
    def __init__(self, host: str) -> None:
        self.host, self.gone = host, False


def test_a_method_says_which_object_it_acts_on(gate: Gate) -> None:
    class Machine(Server):
        @gate.guard(resource=lambda self: self.host)
        def terminate_vm(self) -> None:
            self.gone = True

        @classmethod
        @gate.guard
        def count(cls, limit: int = 3) -> int:
            return limit

        @staticmethod
        @gate.guard
        def total(limit: int) -> int:
            return limit

        @gate.guard(leave=("self",))
        def list_names(self) -> str:
            return self.host

    one, other = Machine("vm1"), Machine("vm2")
    with pytest.raises(Held) as held:
        one.terminate_vm()
    approve(gate, held.value)
    with pytest.raises(Held):
        other.terminate_vm()
    one.terminate_vm()
    assert one.gone and not other.gone
    assert (Machine.count(), Machine.total(4), one.list_names()) == (3, 4, "vm1")


def test_an_object_that_became_another_meanwhile_is_left_alone(gate: Gate, inside: InProcessBackend) -> None:
    class Machine(Server):
        @gate.guard(resource=lambda self: self.host, wait=60)
        def terminate_vm(self) -> None:
            self.gone = True

    machine = Machine("vm1")

    def swap_and_approve() -> None:
        machine.host = "vm2"
        approve_next(gate, inside)

    person = soon(swap_and_approve)
    with pytest.raises(Denied, match="no longer what was judged"):
        machine.terminate_vm()
    person.join()
    assert not machine.gone


def _numbers() -> Any:
    yield 1


async def _later() -> Any:
    yield 1


class _Has:
    def own(self, name: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_numbers, "is a generator"),
        (_later, "is a generator"),
        (_Has.own, "is a method"),
        (_Has().own, "is a method"),
        ([].append, "is a method"),
        (Server, "takes a function"),
        (3, "takes a function"),
        (staticmethod(_numbers), "@staticmethod goes above the guard"),
        (classmethod(_numbers), "@classmethod goes above the guard"),
        (lambda: 1, "a lambda has no name"),
        (max, "does not say what its parameters are"),
    ],
)
def test_what_the_gate_could_not_see_is_refused_when_it_is_guarded(gate: Gate, function: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        gate.guard(function)


def test_parameters_that_are_left_must_be_there(gate: Gate) -> None:
    def save(connection: Any, name: str) -> str:
        return name

    assert gate.guard(save, leave=("connection",))(object(), "x") == "x"
    with pytest.raises(TypeError, match="has no such parameter; it has connection, name"):
        gate.guard(save, leave=("conn",))
    with pytest.raises(TypeError, match=r"expected names, as in leave=\('connection',\)"):
        gate.guard(save, leave="connection")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"(?i)unexpected keyword"):
        gate.guard(save, level="safe")  # type: ignore[call-overload]


@dataclass
class Order:
    id: int
    lines: list[str]


def test_plain_data_is_passed_on_as_it_is(gate: Gate) -> None:
    got: Ran = []

    @gate.guard
    def note(*things: Any, **more: Any) -> None:
        got.append((things, more))

    order = Order(1, ["a"])
    note(order, (1, 2), {3, 4}, b"x", b"\xff", Path("/tmp/x"), 1.5, None, deep={"a": [True]})
    assert got == [
        ((order, (1, 2), {3, 4}, b"x", b"\xff", Path("/tmp/x"), 1.5, None), {"deep": {"a": [True]}}),
    ]
    assert got[0][0][0] is not order, "a copy of its own"


@pytest.mark.parametrize(
    "value", [object(), open, iter([1]), threading.Lock(), {1: 2}, [object()]], ids=lambda value: str(value)[:20]
)
def test_what_nobody_could_be_shown_does_not_run(gate: Gate, value: Any) -> None:
    @gate.guard
    def note(thing: Any) -> None:
        raise AssertionError("it ran")

    with pytest.raises(Denied, match="argument 'thing' of note cannot be shown to anybody"):
        note(value)


def test_two_arguments_that_could_be_mistaken_for_each_other_do_not_run(gate: Gate) -> None:
    @gate.guard
    def note(_x: int, underscored: Any) -> None:
        raise AssertionError("it ran")

    with pytest.raises(Denied, match="two are shown as"):
        note(1, {"_x": 1})


def test_arguments_that_do_not_fit_are_the_callers_mistake(gate: Gate) -> None:
    @gate.guard
    def note(thing: int) -> None:
        raise AssertionError("it ran")

    with pytest.raises(TypeError, match="missing a required argument"):
        note()  # type: ignore[call-arg]


def test_the_text_inside_arguments_is_read(tmp_path: Path) -> None:
    gate = Gate(store=tmp_path / "state", policy="default")

    @gate.guard
    def perform(command: str) -> str:
        return command

    assert perform("ls -la") == "ls -la"
    with pytest.raises(NotAllowed):
        perform("rm -rf /")
    gate.close()


def test_secrets_in_arguments_reach_neither_the_error_nor_the_record(gate: Gate, inside: InProcessBackend) -> None:
    secret = "hunter2-is-long-enough"

    @gate.guard
    def drop_database(name: str, password: str) -> None: ...

    with pytest.raises(Held) as held:
        drop_database("main", password=secret)
    inside.state.recorder.flush()
    rows = inside.state.store.read(lambda tx: tx.audit(AuditQuery()))
    assert secret not in str(held.value) + repr(held.value.ticket) + "".join(row.body for row in rows)


def test_a_gate_that_is_closed_runs_nothing(tmp_path: Path) -> None:
    gate = Gate(store=tmp_path / "state")

    @gate.guard
    def list_users() -> None:
        raise AssertionError("it ran")

    gate.close()
    with pytest.raises(GateError, match="closed"):
        list_users()


def test_a_built_in_function_can_be_guarded(gate: Gate, tmp_path: Path) -> None:
    here = gate.guard(os.listdir, name="list_folder")
    assert here(str(tmp_path)) == os.listdir(tmp_path)


def test_what_cools_off_is_waited_for(gate: Gate, clock: TestClock) -> None:
    ran: Ran = []

    @gate.guard(wait=60)
    def drop_table(name: str) -> None:
        ran.append(name)

    held = gate.evaluate(operation="drop_table", params={"name": "users"})
    assert held.outcome == "cool_off" and held.ticket is not None
    person = soon(lambda: clock.forward(held.wait_seconds))
    drop_table("users")
    person.join()
    assert ran == ["users"]
