"""Users' files keep every character that is not ours."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonc_text import files

from effort import EFFORT
from interlock.agents import HookClient, agent
from interlock.agents.hook_files import json_or_empty
from interlock.agents.jsonc import EditError, parse_jsonc
from interlock.agents.toml_edit import parse_toml, with_block, without_block

CLIENT = HookClient("/opt/inter lock/interlock-hook")
HOME, PROJECT = Path("/home/u"), Path("/home/u/app")


def place(word: str, scope: str = "user"):
    return agent(word).places(scope, HOME, PROJECT)[0]


def both_ways(word: str, text: str) -> None:
    chosen, at = agent(word), place(word)
    once = chosen.installed(at, text, CLIENT)
    assert chosen.installed(at, once, CLIENT) == once
    assert chosen.removed(at, once) == text
    before, after = json_or_empty(text), json_or_empty(once)
    assert {key: after[key] for key in before if key != "hooks"} == {
        key: before[key] for key in before if key != "hooks"
    }


@settings(max_examples=200 * EFFORT, deadline=None)
@given(files(comments=True))
def test_a_file_with_comments_comes_back_to_the_letter(text: str) -> None:
    both_ways("gemini", text)


@settings(max_examples=100 * EFFORT, deadline=None)
@given(st.sampled_from(["claude-code", "codex", "windsurf", "devin", "droid"]), files(comments=False))
def test_a_plain_file_comes_back_to_the_letter(word: str, text: str) -> None:
    both_ways(word, text)


@settings(max_examples=100 * EFFORT, deadline=None)
@given(files(comments=False, versioned=1))
def test_a_file_with_a_version_comes_back_to_the_letter(text: str) -> None:
    both_ways("cursor", text)


@settings(max_examples=100 * EFFORT, deadline=None)
@given(files(comments=True))
def test_every_comment_survives_the_install(text: str) -> None:
    once = agent("gemini").installed(place("gemini"), text, CLIENT)
    assert once.count("// note") == text.count("// note")
    assert once.count("/*") == text.count("/*")


@pytest.mark.parametrize(
    "word", ["claude-code", "codex", "gemini", "cursor", "copilot", "windsurf", "kiro", "devin", "droid"]
)
def test_a_file_that_we_made_goes_with_us(word: str) -> None:
    chosen, at = agent(word), place(word)
    text = chosen.installed(at, None, CLIENT)
    assert chosen.installed(at, text, CLIENT) == text
    assert chosen.removed(at, text) is None


def test_a_moved_client_replaces_the_old_entry() -> None:
    chosen, at = agent("claude-code"), place("claude-code")
    old = chosen.installed(at, '{"model": "x"}', HookClient("/old/interlock-hook"))
    new = chosen.installed(at, old, CLIENT)
    assert "/old/" not in new and chosen.removed(at, new) == '{"model": "x"}'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"failClosed": true', '"failClosed": 1'),
        ('"failClosed": true', '"failClosed": false'),
        (',\n  "version": 1', ""),
    ],
)
def test_an_entry_that_was_tampered_with_is_written_anew(old: str, new: str) -> None:
    chosen, at = agent("cursor"), place("cursor")
    whole = chosen.installed(at, None, CLIENT)
    bent = whole.replace(old, new)
    assert bent != whole
    assert json.loads(chosen.installed(at, bent, CLIENT)) == json.loads(whole)
    assert '"failClosed": 1' not in chosen.installed(at, bent, CLIENT)


def test_our_handler_is_taken_out_of_a_group_that_the_user_filled() -> None:
    chosen, at = agent("claude-code"), place("claude-code")
    ours = {"type": "command", "command": "/old/interlock-hook", "args": ["claude-code", "PreToolUse"]}
    theirs = {"type": "command", "command": "./mine.sh"}
    text = json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [ours, theirs]}]}}, indent=2)
    kept = json.loads(chosen.removed(at, text) or "")
    assert kept == {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [theirs]}]}}


def test_a_hook_that_only_mentions_us_is_not_ours() -> None:
    chosen, at = agent("claude-code"), place("claude-code")
    mine = {"type": "command", "command": "grep interlock-hooks /var/log/x; ./my-interlock-hook.sh"}
    text = json.dumps({"hooks": {"PreToolUse": [{"hooks": [mine]}]}})
    assert chosen.removed(at, text) == text


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{"a": 1', 1, 8, "expected ','"),
        ('{\n  "a": 1,\n  "a": 2\n}', 3, 3, "occurs twice"),
        ('{\n  "a": tru\n}', 2, 8, "expected a value"),
        ("{\n  // no\n}", 2, 3, "comment"),
        ('{"a": [1,]}', 1, 9, "comma"),
        ("[1]", 1, 1, "object at the top"),
        ('{"hooks": []}', 1, 11, "expected an object at hooks"),
        ('{"hooks": {"PreToolUse": {}}}', 1, 26, "expected a list at hooks.PreToolUse"),
        ("[" * 1000, 1, 202, "nested deeper"),
        ('{"a": "x\ny"}', 1, 7, "does not end"),
        ("{} {}", 1, 4, "end of the file"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_column(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(EditError, match=words) as caught:
        agent("claude-code").installed(place("claude-code"), text, CLIENT)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"line {line}, column {column}: ")


@settings(max_examples=150 * EFFORT, deadline=None)
@given(st.text(alphabet='{}[]",:/*\\ \n1at', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(EditError):
        parse_jsonc(text)


@settings(max_examples=100 * EFFORT, deadline=None)
@given(st.text(max_size=40))
def test_what_json_reads_we_read_the_same(text: str) -> None:
    value = {"k": [text, {"n": text}]}
    assert parse_jsonc(json.dumps(value, indent=1)).root.value == value


# -- TOML -------------------------------------------------------------------------------------------------

BLOCK = '[[hooks.PreToolUse]]\nmatcher = ".*"\n[[hooks.PreToolUse.hooks]]\ntype = "command"'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        'model = "x"',
        'model = "x"\n',
        "# only a comment",
        "a = 1\r\n[b]\r\nc = 2\r\n",
        "[hooks]\nmanaged_dir = '/x'\n\n\n",
    ],
)
def test_a_toml_file_comes_back_to_the_letter(text: str) -> None:
    once = with_block(text, BLOCK)
    assert with_block(once, BLOCK) == once
    assert without_block(once) == text
    assert parse_toml(once)["hooks"]["PreToolUse"][0]["matcher"] == ".*"


def test_a_toml_file_that_we_made_goes_with_us() -> None:
    assert without_block(with_block(None, BLOCK)) is None


def test_the_users_own_hooks_stay_in_toml() -> None:
    text = '[[hooks.PreToolUse]]\nmatcher = "mine"\n'
    assert [entry["matcher"] for entry in parse_toml(with_block(text, BLOCK))["hooks"]["PreToolUse"]] == ["mine", ".*"]


@pytest.mark.parametrize("text", ["hooks = {}", "hooks = 1", "[hooks]\nPreToolUse = []"])
def test_toml_that_nothing_can_be_added_to_is_refused(text: str) -> None:
    with pytest.raises(EditError, match="nothing can be added"):
        with_block(text, BLOCK)


def test_broken_toml_is_refused_with_its_line() -> None:
    with pytest.raises(EditError, match="line 2") as caught:
        with_block("a = 1\nb = = 2\n", BLOCK)
    assert caught.value.line == 2
