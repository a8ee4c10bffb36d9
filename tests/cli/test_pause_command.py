"""`interlock pause` by a person at a real terminal, before a real daemon that is restarted in the middle of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from desk import PATIENCE, Desk

WHY = ("--reason", "restoring staging")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(tmp_path_factory.mktemp("pause"))
    made.open()
    yield made
    made.stop()


def until(seen: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not seen():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--for", "10m"), "say why with --reason"),
        (WHY, "say for how long with --for"),
        (("--for", "soon", *WHY), "is no time"),
        (("--for", "10m", "--end", *WHY), "give one of them"),
    ],
)
def test_a_pause_has_to_say_how_long_and_why(desk: Desk, argv: tuple[str, ...], words: str) -> None:
    done = desk.program("pause", *argv)
    assert done.returncode == 2 and words in done.stderr


def test_a_program_without_a_persons_terminal_pauses_nothing(desk: Desk) -> None:
    for argv in (("--for", "10m", *WHY), ("--end",)):
        done = desk.program("pause", *argv)
        assert done.returncode == 1 and "an operator has to sign in" in done.stderr
    assert desk.program("pause").stdout == "not paused: decisions are enforced\n"


@pytest.mark.parametrize("time", ["2h", "9d"])
def test_longer_than_the_configuration_allows_is_refused(desk: Desk, time: str) -> None:
    shown, code = desk.signed("pause", "--for", time, *WHY)
    assert code == 1 and "60 minutes here and no longer" in shown


@pytest.mark.slow("three sign-ins, each with a slow hash, and a restart")
def test_a_pause_is_begun_shown_kept_over_a_restart_and_ended(desk: Desk) -> None:
    assert not desk.evaluate("rm -rf /srv/pause")["allowed"]
    shown, code = desk.signed("pause", "--for", "10m", *WHY)
    assert code == 0 and "by ana: restoring staging" in shown
    assert desk.evaluate("rm -rf /srv/pause")["allowed"]
    assert "Paused    paused until" in desk.program("status").stdout
    desk.stop()
    desk.start()
    assert not desk.evaluate("rm -rf /srv/pause")["allowed"]
    assert "`interlock unlock` brings it back" in desk.program("status").stdout
    assert desk.signed("unlock")[1] == 0
    until(lambda: desk.evaluate("rm -rf /srv/pause")["allowed"])
    assert desk.signed("pause", "--end")[1] == 0
    assert not desk.evaluate("rm -rf /srv/pause")["allowed"]
