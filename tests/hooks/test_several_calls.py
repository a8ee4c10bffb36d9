"""One event, several calls: all are judged, and no approval is spent unless all of them pass."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from hook_client import HookedDaemon, HookOutput, hooked_daemon

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HookedDaemon]:
    with hooked_daemon(tmp_path_factory.mktemp("several")) as found:
        yield found


def fire(here: HookedDaemon, *commands: str, mode: str = "bypassPermissions") -> HookOutput:
    """Commands in one call; in a mode in which the client asks nobody, unless it is another."""
    return here.claude("", "several", tool_input={"commands": list(commands)}, permission_mode=mode)


def approved(here: HookedDaemon, *commands: str) -> None:
    for command in commands:
        assert fire(here, command).decision == "deny"
    for ticket in here.tickets("open"):
        here.approve(ticket["id"])


def test_an_approval_is_not_spent_beside_a_call_that_is_denied(here: HookedDaemon) -> None:
    approved(here, "rm -rf /srv/one")
    assert fire(here, "rm -rf /srv/one", "dd if=/dev/zero of=/dev/sda").decision == "deny"
    assert fire(here, "rm -rf /srv/one", "rm -rf /srv/two").decision == "deny"
    assert fire(here, "rm -rf /srv/one").decision == ""
    assert fire(here, "rm -rf /srv/one").decision == "deny"


def test_all_approvals_are_spent_together(here: HookedDaemon) -> None:
    approved(here, "rm -rf /srv/three", "rm -rf /srv/four")
    assert fire(here, "rm -rf /srv/three", "ls", "rm -rf /srv/four").decision == ""
    for command in ("rm -rf /srv/three", "rm -rf /srv/four"):
        assert fire(here, command).decision == "deny"


def test_one_approval_is_not_good_for_two_calls_of_an_event(here: HookedDaemon) -> None:
    approved(here, "rm -rf /srv/five")
    said = fire(here, "rm -rf /srv/five", "rm -rf /srv/five")
    assert said.decision == "deny" and "one approval covers only one of them" in said.words
    assert fire(here, "rm -rf /srv/five").decision == ""


def test_where_the_clients_user_is_asked_about_the_rest_the_approval_is_spent_with_the_question(
    here: HookedDaemon,
) -> None:
    approved(here, "rm -rf /srv/six")
    assert fire(here, "rm -rf /srv/six", "git reset --hard HEAD~6", mode="default").decision == "ask"
    assert fire(here, "rm -rf /srv/six").decision == "deny"
