"""Sets `undo.wrap` in the configuration file once a wrapped call was run and undone here, and takes that back."""

from __future__ import annotations

import re
from pathlib import Path

from interlock.agents.jsonc import EditError
from interlock.agents.toml_edit import BEGIN, END, parse_toml, without_block
from interlock.config import Config, config_path
from interlock.install.files import FileProblem, read_state, remove_file, replace_file
from interlock.journal.wrap_probe import wrapping_problem

_TABLE = re.compile(r"^\[undo\][ \t]*(?:#[^\n]*)?\n", re.MULTILINE)
_MODE = 0o644


def switch_on(config: Config) -> str:
    """Why calls stay unwrapped; empty where the setting is on. A value that somebody wrote stays."""
    path = _file(config)
    try:
        current = read_state(path)
        text = current.text or ""
        if "wrap" in parse_toml(text).get("undo", {}):
            return "" if config.undo.wrap else f"undo.wrap is false in {path}"
        after = with_setting(text)
        if not (why := wrapping_problem(config)):
            replace_file(current, after.encode(), _MODE)
        return why
    except EditError as error:
        return f"{path}: {error}"
    except FileProblem as error:
        return str(error)


def switch_off(config: Config) -> None:
    """Takes the setting back where install wrote it; raises FileProblem."""
    current = read_state(_file(config))
    if current.text is None or BEGIN not in current.text:
        return
    left = without_block(current.text)
    if left is None:
        remove_file(current)
    else:
        replace_file(current, left.encode(), current.mode)


def with_setting(text: str) -> str:
    """The file's text with the setting in a block of its own; refuses a file that nothing can be added to."""
    table = _TABLE.search(text)
    key, at = ("wrap", table.end()) if table else ("undo.wrap", 0)
    block = "\n".join(["", BEGIN, f"{key} = true", END, ""])
    whole = text[:at] + (block if at else block[1:]) + text[at:]
    try:
        if parse_toml(whole)["undo"]["wrap"] is True:
            return whole
    except (EditError, LookupError):
        pass
    raise EditError("write wrap = true into its table [undo]")


def _file(config: Config) -> Path:
    return Path(config.path) if config.path else config_path()
