"""Orders for other agents, and jobs that are started by their names."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.analysis.operations.operation import read_operation
from recording_report import Recorder

TOLD: list[tuple[str, dict[str, Any]]] = [
    ("delegate_to_agent", {"agent": "ops", "instructions": "Terminate every instance of the account."}),
    ("spawn_subagent", {"task": "Delete all other branches."}),
    ("agent.run", {"goal": "Wipe the staging database"}),
    ("Task", {"description": "tidy up", "prompt": "Empty every bucket."}),
]
HARM: list[tuple[str, dict[str, Any]]] = [
    ("run_npm_script", {"name": "wipe-database"}),
    ("run_make", {"target": "drop-db"}),
    ("run_playbook", {"playbook": "plays/wipe-disks.yml"}),
    ("trigger_workflow", {"workflow": "teardown.yml"}),
    ("play_job", {"job_name": "destroy:production"}),
    ("octopus_run_runbook", {"runbook": "Drop tenant database"}),
    ("gitlab_trigger_pipeline", {"project": "infra", "variables": {"ACTION": "destroy"}}),
]
BENIGN: list[tuple[str, dict[str, Any]]] = [
    ("run_make", {"target": "clean"}),
    ("run_make", {"target": "test-delete-user"}),
    ("airflow_trigger_dag", {"dag_id": "daily_report"}),
    ("trigger_workflow", {"workflow": "release-drafter.yml"}),
    ("gitlab_trigger_pipeline", {"variables": {"ACTION": "plan"}}),
]


def told(name: str, params: dict[str, Any]) -> list[tuple[object, ...]]:
    out = Recorder()
    read_operation(name, params, "", out)
    return [tuple(one) for one in out.told]


@pytest.mark.parametrize(("name", "params"), TOLD)
def test_orders_are_read_as_prose(name: str, params: dict[str, Any]) -> None:
    assert any(one[:2] == ("code", "prose") for one in told(name, params))


def test_what_an_agent_is_and_what_it_was_asked_are_no_orders() -> None:
    for name, params in (
        ("create_agent", {"name": "a", "instructions": "You answer questions about the deletion of data."}),
        ("agent_status", {"task": "delete all users"}),
        ("ask_model", {"prompt": "Write a story in which a wizard deletes all books."}),
    ):
        assert not any(one[:2] == ("code", "prose") for one in told(name, params))


@pytest.mark.parametrize(("name", "params"), HARM)
def test_a_job_is_what_its_name_says(name: str, params: dict[str, Any]) -> None:
    assert {one[0] for one in told(name, params)} & {"act_delete", "act_terminate", "act_disk", "act_unconfigure"}


@pytest.mark.parametrize(("name", "params"), BENIGN)
def test_a_job_that_does_no_harm(name: str, params: dict[str, Any]) -> None:
    assert {one[0] for one in told(name, params)} <= {"act_change", "act_read", "run"}
