"""A gate without a daemon looks before it asks, as the daemon does."""

from __future__ import annotations

from pathlib import Path

from daemons import folder_config
from hook_client import until
from interlock import Gate
from interlock.sdk.in_process import open_in_process
from repositories import repository


def test_what_can_be_had_back_is_looked_at_in_this_process_too(tmp_path: Path) -> None:
    app = repository(tmp_path / "app")
    made = open_in_process(folder_config(tmp_path, policy={"use": "default"}, undo={"enabled": False}))
    try:
        gate = Gate._over(made).for_agent("claude", "s1")
        until(lambda: gate.evaluate(command="git branch -D feature", cwd=str(app)).allowed, "a look in time")
        (app / "src/a.py").write_text("three days of work\n")
        assert not gate.evaluate(command="git checkout -- src", cwd=str(app)).allowed  # and it was told to keep nothing
    finally:
        made.close()
