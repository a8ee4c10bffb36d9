"""A user's YAML file keeps every character that is not ours, or is refused and left alone."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from effort import EFFORT
from interlock.agents.jsonc import EditError
from interlock.agents.yaml_edit import parse_yaml, with_entries, without_entries

OURS = {"command": '/opt/it\'s "here"/interlock-hook hermes pre_tool_call', "timeout": 300, "fail_closed": True}
ENTRIES = {"pre_tool_call": OURS, "post_tool_call": {"command": "/opt/interlock-hook hermes post_tool_call"}}
MINE = {"command": "/home/u/mine.sh", "matcher": "terminal"}

FILES = {  # text -> what remains when our hooks are taken out again, where that is not the same text
    "# only a comment\n": "",
    "model: x\n": "",
    "model: x": "model: x\n",
    "---\nmodel: x\n": "",
    "\ufeffmodel: x\n": "",
    "# top\nmodel:   x   # kept\n\nlist:\n- 1\n-   2\n# end\n": "",
    "model: x\r\nother: |\r\n  a\r\n  b\r\n# end\r\n": "",
    "model: x\nhooks: {}\nother: 1\n": "model: x\nother: 1\n",
    "model: x\nhooks: {  }  # none yet\nother: 1\n": "model: x\nother: 1\n",
    "model: x\nhooks:\nother: 1\n": "model: x\nother: 1\n",
    "model: x\nhooks:   # mine\nother: 1\n": "model: x\nother: 1\n",
    "model: x\nhooks: null\nother: 1\n": "model: x\nother: 1\n",
    "model: x\nhooks: ~": "model: x\n",
    "hooks:\n  pre_tool_call:\n  on_session_end: []\n": "hooks:\n  on_session_end: []\n",
    "a: 1\nhooks:\n  pre_tool_call: []\n": "a: 1\n",
    "hooks:\n  pre_tool_call:\n    # why\n    - matcher: terminal\n      command: /home/u/mine.sh # kept\n\n\nz: 1\n": "",
    "hooks:\r\n  pre_tool_call:\r\n  - command: /home/u/mine.sh\r\nz: 1\r\n": "",
    "hooks:\n    post_tool_call:\n        - {command: /home/u/mine.sh}\n        - {command: /home/u/two.sh}\n": "",
    "hooks:\n  pre_tool_call: [{command: /home/u/mine.sh}]\n": "",
    "hooks:\n  pre_tool_call: [\n    {command: /home/u/mine.sh},\n    {command: two},\n  ]\n": "",
    "hooks: {pre_tool_call: [{command: /home/u/mine.sh}], output_spill: {max: 1}}\n": "",
    "{model: x, hooks: {}}\n": "{model: x}\n",
    "{model: x, hooks: }\n": "{model: x }\n",
    '{"model": "x"}\n': "",
    "hooks:\n  output_spill:\n    max: 1\n": "",
    "base: &b\n  - command: /home/u/mine.sh\nhooks:\n  on_session_end: *b\n": "",
    "? complex\n: 1\n'hooks':\n  \"pre_tool_call\":\n    - command: mine\n": "",
}


def users_own(text: str) -> dict[str, Any]:
    """The data without our entries; no hooks, empty ones and null are the same."""
    data = yaml.safe_load(text) or {}
    hooks = data.get("hooks") or {}
    lists = {
        event: [one for one in entries if "interlock" not in str(one)] if isinstance(entries, list) else entries
        for event, entries in hooks.items()
    }
    return {**data, "hooks": {event: entries for event, entries in lists.items() if entries}}


@each("text", FILES, ids=lambda text: repr(text)[:50])
def test_only_our_lines_come_and_go(text: str) -> None:
    once = with_entries(text, ENTRIES)
    assert with_entries(once, ENTRIES) == once
    hooks = yaml.safe_load(once)["hooks"]
    assert all(hooks[event].count(entry) == 1 for event, entry in ENTRIES.items())
    assert users_own(once) == users_own(text)
    assert once.count("#") == text.count("#") and ("\r\n" in text) == ("\r\n" in once)
    assert without_entries(once) == (FILES[text] or text)
    assert without_entries(text) == text


@each("text", [None, "", "\n", "\ufeff"])
def test_a_file_that_held_nothing_goes_with_us(text: str | None) -> None:
    once = with_entries(text, ENTRIES)
    assert yaml.safe_load(once) == {"hooks": {event: [entry] for event, entry in ENTRIES.items()}}
    assert without_entries(once) is None


@each("style", [False, None, True])
def test_entries_that_the_agent_wrote_anew_are_known(style: bool | None) -> None:
    data = {"model": "x", "hooks": {event: [dict(MINE), entry] for event, entry in ENTRIES.items()}, "z": [1, 2]}
    text = yaml.safe_dump(data, default_flow_style=style, width=60)
    assert with_entries(text, ENTRIES) == text
    left = {"model": "x", "hooks": {event: [MINE] for event in ENTRIES}, "z": [1, 2]}
    assert yaml.safe_load(without_entries(text) or "") == left


def test_a_changed_entry_is_written_anew() -> None:
    text = with_entries("hooks:\n  pre_tool_call:\n    - command: /home/u/mine.sh\n", ENTRIES)
    for changed in (text.replace("300", "1"), text.replace("/opt/it", "/old/it"), text.replace("true", "false")):
        assert changed != text and with_entries(changed, ENTRIES) == text
    assert with_entries(text, {**ENTRIES, "pre_tool_call": {**OURS, "timeout": 5}}).count("interlock-hook") == 2


@each(
    ("text", "line"),
    {
        "a: 1\nhooks: [\n": 3,  # broken
        "a: 1\n\thooks: {}\n": 2,  # a tab
        "a: *b\n": 1,
        "a: 1\n---\nb: 2\n": 2,  # two documents
        "- a\n": 1,
        "text\n": 1,
        "a: 1\nhooks: text\n": 2,
        "a: 1\nhooks:\n  - command: mine\n": 2,
        "a: 1\nhooks:\n  pre_tool_call: mine\n": 2,
        "hooks:\n  pre_tool_call: &shared\n    - command: mine\n  on_session_end: *shared\n": 1,
        "base: &b\n  pre_tool_call:\n    - command: mine\nhooks: *b\n": 4,
        "a: 1\n...\n": 3,
        "  a: 1\n": 2,
    }.items(),
    ids=lambda value: repr(value)[:40],
)
def test_what_cannot_be_edited_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(EditError) as caught:
        with_entries(text, ENTRIES)
    assert caught.value.line == line, caught.value


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(EditError):
        parse_yaml("[" * 20_000)


def test_our_entry_behind_an_anchor_is_left_to_the_person() -> None:
    text = "x: &a\n  command: /x/interlock-hook hermes\nhooks:\n  pre_tool_call:\n  - *a\n  - command: mine\n"
    with pytest.raises(EditError, match=r"line 3, column 1: hooks: .* by hand"):
        without_entries(text)


PIECES = [
    "model: x",
    "# a",
    "hooks:",
    "hooks: {}",
    "  pre_tool_call:",
    "    - command: mine",
    "  - command: b",
    "  a: [",
    "]",
    "",
    "- x",
]


@settings(max_examples=150 * EFFORT, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_any_text_is_edited_exactly_or_refused(lines: list[str], newline: str) -> None:
    text = "".join(line + newline for line in lines)
    try:
        once = with_entries(text, ENTRIES)
    except EditError:
        return
    assert users_own(once) == users_own(text)
    assert users_own(without_entries(once) or "") == users_own(text)
