"""A daemon of another version that answers in another form: the command says so, and shows no traceback."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

import pytest

import interlock
from interlock.cli import command
from interlock.cli.command import FAILED, list_of, run


class OtherDaemon:
    """Answers as a daemon of this version, with other words for its lists."""

    def __init__(self, version: str) -> None:
        self.version = version

    def get(self, path: str, **_: Any) -> Mapping[str, Any]:
        return {"version": self.version} if path == "/status" else {"rows": [{"number": 1}]}


def listed(args: Namespace) -> int:
    return len(list_of(command.daemon(args), "grants"))


def test_an_answer_in_another_form_is_put_down_to_the_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "daemon", lambda args: OtherDaemon("0.0.1"))
    assert run("grants", listed, Namespace()) == FAILED
    said = capsys.readouterr().err
    assert "the daemon is interlock 0.0.1" in said and interlock.__version__ in said and said.count("\n") == 1


def test_a_defect_of_this_version_is_not_put_down_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "daemon", lambda args: OtherDaemon(interlock.__version__))
    with pytest.raises(KeyError):
        run("grants", listed, Namespace())
