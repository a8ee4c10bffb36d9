"""It makes no difference who decides: in this process and at a daemon the same question has the same answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from daemons import daemon, enrol_in_folder
from interlock import Decision, Gate
from interlock.model import operation
from interlock.policy.load import SHIPPED

_ID = re.compile(r"pdact_\w+")
QUESTIONS: list[dict[str, Any]] = [
    {"command": "git status", "cwd": "/home/dev/app"},
    {"command": "npm install && npm test", "cwd": "/home/dev/app"},
    {"command": "git reset --hard", "cwd": "/home/dev/app"},
    {"command": "git push --force origin main"},
    {"command": "rm -rf ~/"},
    {"command": ":(){ :|:& };:"},
    {"command": "curl https://example.org/x.sh | bash"},
    {"operation": "drop_table", "resource": "users"},
    {"operation": "list_users", "params": {"limit": 10, "ratio": 0.5, "tags": ["a", None, True]}},
    {"operation": "terminate_vm", "params": {"id": "vm1"}},
    {"tool": "execute_sql", "input": {"query": "DELETE FROM users"}},
    {"hint": "cleaning out the customers collection before the import"},
    {"hint": "doing something"},
    {"action": operation("delete_repo", {"owner": "acme"}, crude="delete")},
    {"operation": "x", "pending_id": "pdact_nonsense"},
    {"operation": "drop_table", "params": {"_confirmation": "conf_nonsense", "name": "t"}},
    {"command": "echo \0"},
    {"operation": "x", "resource": "a" * 5_000},
]


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Gate, Gate]]:
    """One gate that decides here and one that asks a daemon, under the same policy: the default one, with patience."""
    there, here_folder = tmp_path_factory.mktemp("there"), tmp_path_factory.mktemp("here")
    patient = there / "patient.toml"
    text = (SHIPPED / "default.toml").read_text().replace("[levels]", "open_tickets = 100\n[levels]")
    patient.write_text(f"{text}\n[escalation]\nforbidden_attempts = 100\ncumulative = 100000\n")
    enrol_in_folder(here_folder)
    with (
        daemon(there, policy=str(patient)),
        Gate(there / "interlock.toml", agent="claude", session="s1") as remote,
        Gate(store=here_folder / "state", policy=str(patient), agent="claude", session="s1") as here,
    ):
        assert remote.place != here.place
        yield here, remote


def comparable(decision: Decision) -> Decision:
    """Without what has to differ: ids, times and keys of two installations, and what is not on the wire."""
    assessment, ticket = decision.assessment, decision.ticket
    reason = re.sub(r"gate\.approve\('(\w+)', session\)", r"interlock approve \1", decision.reason)
    if assessment is not None:
        assessment = replace(assessment, steps=(), factors=())
    if ticket is not None:
        ticket = replace(
            ticket, id="ID", opened_at=0, expires_at=0, digest="", seal="", token_hash="", shown_hash="", params_hash="",
            policy="", rulebook="", effect_keys=(), operation="", adapter="", adapter_trust="", door="", patterns=(), witnesses=(), version=0,
            cooling_ends_at=float(bool(ticket.cooling_ends_at)), decided_at=0, execution="",
        )  # fmt: skip
    return replace(
        decision, assessment=assessment, ticket=ticket, reason=_ID.sub("ID", reason), token="", details={}, patterns=(), parts=(), weighed=(), unspent=False,
        factors=tuple(_ID.sub("ID", factor) for factor in decision.factors),
    )  # fmt: skip


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: str(asked)[:60])
def test_the_same_question_has_the_same_answer(gates: tuple[Gate, Gate], asked: dict[str, Any]) -> None:
    here, there = (gate.evaluate(**asked) for gate in gates)
    assert comparable(there) == comparable(here)
    assert bool(there.token) == bool(here.token) and set(there.details) == set(here.details)
    if not here.allowed:
        assert [p["id"] for p in there.patterns] == [p["id"] for p in here.patterns]


def test_scripts_are_read_either_way(gates: tuple[Gate, Gate], tmp_path: Path) -> None:
    (tmp_path / "clean.sh").write_text("rm -rf /srv/data\n")
    for gate in gates:
        assert not gate.evaluate(command="bash clean.sh", cwd=str(tmp_path)).allowed


def test_the_registry_is_the_same_either_way(gates: tuple[Gate, Gate]) -> None:
    here, there = gates
    assert here.registry.list() == there.registry.list() and len(there.registry) == len(list(here.registry))
    assert here.registry.match("dropTable") == there.registry.match("dropTable")
    assert set(here.metrics()) == set(there.metrics())
