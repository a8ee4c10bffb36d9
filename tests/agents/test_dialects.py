"""What holds for every agent: a deny is a deny in its dialect, malformed input denies, no bytes make it raise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from test_golden import CASES, GOLDEN, stdin

from cases import each
from effort import EFFORT
from interlock import agents
from interlock.agents import GATING, Event, HookOutput, HookVerdict, UnknownAgent, agent, words
from interlock.agents.facts import all_facts
from interlock.agents.hook_protocol import MAX_BYTES, MAX_REASON, MalformedInput, parse, tidy
from interlock.analysis.read import read
from interlock.canonical_json import canonical
from interlock.model import AgentRef, Kind

Says = Callable[[Any, HookOutput], bool]


def spoken(reply: HookOutput) -> Any:
    """What an agent makes of stdout: nothing, or one JSON object and not a byte more."""
    return json.loads(reply.stdout) if reply.stdout else None


def inner(said: Any, key: str) -> Any:
    return (said or {}).get("hookSpecificOutput", {}).get(key)


# Does the call stop? By each agent's published contract, not by our code.
STOPS: dict[str, Says] = {
    "claude-code": lambda said, reply: (
        reply.exit == 0
        and inner(said, "permissionDecision") == "deny"
        and inner(said, "hookEventName") == "PreToolUse"
        and bool(inner(said, "permissionDecisionReason"))
    ),
    "codex": lambda said, reply: (
        reply.exit == 0
        and set(said) == {"hookSpecificOutput"}
        and set(said["hookSpecificOutput"]) == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
        and inner(said, "permissionDecision") == "deny"
        and bool(inner(said, "permissionDecisionReason").strip())
    ),
    "gemini": lambda said, reply: said["decision"] == "deny" and bool(said["reason"]),
    "cursor": lambda said, reply: said["permission"] == "deny" and reply.exit == 2,
    "copilot": lambda said, reply: (
        reply.exit == 0 and said["permissionDecision"] == "deny" == inner(said, "permissionDecision")
    ),
    "opencode": lambda said, reply: reply.exit != 0 and said["decision"] == "deny",
    "amp": lambda said, reply: reply.exit != 0 and said["decision"] == "deny",
    "windsurf": lambda said, reply: reply.exit == 2 and said is None and bool(reply.stderr),
    "kiro": lambda said, reply: reply.exit == 2 and said is None and bool(reply.stderr),
    "devin": lambda said, reply: reply.exit == 2 and said is None and bool(reply.stderr),
    "droid": lambda said, reply: reply.exit == 2 and said is None and bool(reply.stderr),
    "cline": lambda said, reply: reply.exit == 0 and said["cancel"] is True and bool(said["errorMessage"]),
    "kimi": lambda said, reply: reply.exit == 2 and said is None and bool(reply.stderr),
    "grok": lambda said, reply: reply.exit == 2 and said["decision"] == "deny" and bool(said["reason"]),
    "hermes": lambda said, reply: reply.exit == 0 and said["decision"] == "block" and bool(said["reason"]),
    "antigravity": lambda said, reply: reply.exit == 0 and said["decision"] == "deny" and bool(said["reason"]),
    "pi": lambda said, reply: reply.exit != 0 and said["decision"] == "deny",
}
PASSES: dict[str, Says] = {
    "claude-code": lambda said, reply: reply == HookOutput(),
    "codex": lambda said, reply: reply == HookOutput(),
    "gemini": lambda said, reply: said == {},
    "cursor": lambda said, reply: said == {"permission": "allow"},
    "copilot": lambda said, reply: said == {},
    "opencode": lambda said, reply: said == {"decision": "allow"},
    "amp": lambda said, reply: said == {"decision": "allow"},
    "cline": lambda said, reply: said == {"cancel": False},
    "antigravity": lambda said, reply: said == {"decision": "allow"},
    "pi": lambda said, reply: said == {"decision": "allow"},
} | {
    word: (lambda said, reply: reply == HookOutput())
    for word in ("windsurf", "kiro", "devin", "droid", "kimi", "grok", "hermes")
}
ASKS = {
    "claude-code": lambda said, reply: inner(said, "permissionDecision") == "ask",
    "gemini": lambda said, reply: said["decision"] == "ask",
    "cursor": lambda said, reply: said["permission"] == "ask" and reply.exit == 0,
    "copilot": lambda said, reply: said["permissionDecision"] == "ask" == inner(said, "permissionDecision"),
    "droid": lambda said, reply: inner(said, "permissionDecision") == "ask",
}
BEFORE = [path for path in CASES if path.stem.startswith("before")]


def event_of(path: Any) -> Event:
    gold = json.loads(path.read_text())
    return agent(path.parent.name).decode(stdin(gold), gold["event"])


def case(word: str, name: str) -> Event:
    return event_of(GOLDEN / word / f"{name}.json")


def test_every_section_of_facts_is_an_agent() -> None:
    for word in words():
        assert agent(word) is agent(word) and agent(word).word == word and agent(word).title
        assert agent(word).limit_seconds >= 10
    folder = Path(agents.__file__).parent
    coded = {path.stem for path in folder.glob("*.py") if "\nAGENT = " in path.read_text()}
    plugins = {path.stem for path in folder.glob("plugins/*.js")} - {"consult"}
    told = {word.replace("-", "_") for word, facts in all_facts().items() if facts.answers}
    assert {word.replace("-", "_") for word in words()} == coded | plugins | told
    assert set(words()) == set(STOPS) == set(PASSES)
    with pytest.raises(UnknownAgent, match="no agent 'nobody'; known: amp, antigravity, claude-code"):
        agent("nobody")


@each("path", BEFORE, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_verdict_is_what_the_agent_takes_it_for(path: Any) -> None:
    word, event = path.parent.name, event_of(path)
    chosen = agent(word)
    for verdict, says in (
        (HookVerdict("allow"), PASSES),
        (HookVerdict("deny", "why"), STOPS),
        (HookVerdict("deny"), STOPS),
        (HookVerdict("bogus"), STOPS),
    ):
        reply = chosen.encode(event, verdict)
        assert says[word](spoken(reply), reply), (verdict, reply)
    asked = chosen.encode(event, HookVerdict("ask", "why"))
    assert (ASKS if event.asks else STOPS)[word](spoken(asked), asked)


@each("word", words())
def test_a_deny_when_nothing_is_known_is_a_deny(word: str) -> None:
    reply = agent(word).broken("the daemon is down")
    assert STOPS[word](spoken(reply), reply)
    assert b"the daemon is down" in reply.stdout + reply.stderr


@each("word", words())
def test_input_with_a_problem_is_never_allowed(word: str) -> None:
    for data in (
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        b'{"a":1,"a":2}',
        b"[" * 100_000,
        b'{"a":NaN}',
        b" " * 10,
        b'{"a":' + b"1" * 5000 + b"}",
    ):
        event = agent(word).decode(data)
        assert event.kind == "before" and event.problem
        reply = agent(word).encode(event, HookVerdict("allow"))
        assert STOPS[word](spoken(reply), reply)


def test_input_that_is_too_long_is_a_problem() -> None:
    assert "longer than" in agent("claude-code").decode(b" " * (MAX_BYTES + 1)).problem


@each("word", words())
def test_a_permission_request_is_never_approved_in_the_humans_place(word: str) -> None:
    for path in CASES:
        if path.parent.name == word and path.stem.startswith("permission"):
            allowed, asked = (
                agent(word).encode(event_of(path), HookVerdict(verdict, "x")) for verdict in ("allow", "ask")
            )
            assert spoken(allowed) in (None, {}) and spoken(asked) in (None, {}) and allowed.exit == asked.exit == 0


def test_nobody_is_asked_where_nobody_would_be() -> None:
    assert case("claude-code", "before-shell").asks
    for mode in ("bypassPermissions", "dontAsk", "auto", "somethingNew", ""):
        given = json.loads((GOLDEN / "claude-code" / "before-shell.json").read_text())["stdin"] | {
            "permission_mode": mode
        }
        assert not agent("claude-code").decode(json.dumps(given).encode()).asks
    assert not case("cursor", "before-tool-shell").asks and case("cursor", "before-shell").asks
    assert (
        case("gemini", "before-shell").asks
        and not case("gemini", "before-mcp").asks
        and not case("gemini", "before-write").asks
    )
    assert not any(
        event_of(path).asks
        for path in BEFORE
        if path.parent.name in ("codex", "opencode", "windsurf", "cline", "kiro", "devin", "amp")
    )


def test_the_two_events_of_one_cursor_call_are_the_same_action() -> None:
    for one, other in (("before-tool-mcp", "before-mcp"),):
        first, second = case("cursor", one), case("cursor", other)
        assert first.pair and first.pair == second.pair
        assert [call.action for call in first.calls] == [call.action for call in second.calls]


@each("path", BEFORE, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_call_can_be_judged_and_pinned(path: Any) -> None:
    event = event_of(path)
    assert event.calls
    for call in event.calls:
        assert read(call.action).facts
        assert canonical(call.action, AgentRef("u"), call.judged)


def test_what_is_said_beside_a_call_does_not_count() -> None:
    given = json.loads((GOLDEN / "claude-code" / "before-shell.json").read_text())["stdin"]
    other = given | {
        "tool_use_id": "x",
        "tool_input": {"command": given["tool_input"]["command"], "description": "Other words", "timeout": 5},
    }
    one, two = (agent("claude-code").decode(json.dumps(each).encode()).calls[0] for each in (given, other))
    assert canonical(one.action, AgentRef("u"), one.judged) == canonical(two.action, AgentRef("u"), two.judged)


def test_a_call_that_leaves_the_sandbox_is_another_action_and_says_so() -> None:
    call = case("claude-code", "before-shell-unsandboxed").calls[0]
    assert "dangerouslyDisableSandbox" in call.judged
    assert any(getattr(fact, "verb", "") == "act_override" for fact in read(call.action).facts)
    plain = replace(call, action=replace(call.action, fields={"tool": "Bash", "input": {"command": "npm test"}}))
    assert canonical(call.action, AgentRef("u")) != canonical(plain.action, AgentRef("u"))


def test_numbers_have_one_spelling() -> None:
    def call(number: str) -> bytes:
        data = (
            b'{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"mcp__a__b","tool_input":{"n":%b}}'
            % number.encode()
        )
        found = agent("claude-code").decode(data).calls[0]
        return canonical(found.action, AgentRef("u"), found.judged)

    assert call("0.5") == call("5e-1") == call("0.50")
    assert call("1") == call("1.0") == call("1e0")
    assert call("0.5") != call("0.25")
    assert agent("claude-code").decode(b'{"hook_event_name":"PreToolUse","n":1e999}').problem


def test_several_commands_in_one_call_are_several_calls() -> None:
    assert [call.action.text for call in case("cline", "before-commands").calls] == ["ls", "rm -rf 'my dir'"]
    for value, texts in ((["a", "b"], ["a", "b"]), ("a", ["a"]), ([{"command": "a", "args": ["b c"]}], ["a 'b c'"])):
        data = {
            "hookName": "tool_call",
            "workspaceRoots": ["/w"],
            "tool_call": {"name": "run_commands", "input": value},
        }
        assert [call.action.text for call in agent("cline").decode(json.dumps(data).encode()).calls] == texts
    for value in ([], [""], [1], {"commands": None}, None, ["a"] * 300):
        data = {
            "hookName": "tool_call",
            "workspaceRoots": ["/w"],
            "tool_call": {"name": "run_commands", "input": value},
        }
        assert agent("cline").decode(json.dumps(data).encode()).problem


def test_a_description_counts_in_a_tool_that_nobody_knows() -> None:
    data = {
        "hook_event_name": "PreToolUse",
        "cwd": "/",
        "tool_name": "mcp__jira__create",
        "tool_input": {"description": "x"},
    }
    assert agent("claude-code").decode(json.dumps(data).encode()).calls[0].judged == {"description"}
    sent = {
        "hook_event_name": "tool.execute.before",
        "cwd": "/",
        "tool": "jira_create",
        "args": {"description": "x", "timeout": 1},
    }
    assert agent("opencode").decode(json.dumps(sent).encode()).calls[0].judged == {"description", "timeout"}


@each("word", words())
def test_words_reach_an_agent_on_one_line_and_shortened(word: str) -> None:
    nasty = "a\x1b[2Jb\r\nc\u202ed\u200be\x00 \ud800" + "x" * 100_000
    reply = agent(word).broken(nasty)
    whole = reply.stdout.decode() + reply.stderr.decode()
    assert len(whole) < 5 * MAX_REASON
    assert STOPS[word](spoken(reply), reply)
    for char in "\x1b\r\u202e\u200b\x00":
        assert char not in whole and json.dumps(char)[1:-1] not in whole
    assert len(tidy(nasty)) <= MAX_REASON


_SOUP = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def bent(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """A golden input with some of its fields gone or replaced."""
    path = draw(st.sampled_from([path for path in CASES if not isinstance(json.loads(path.read_text())["stdin"], str)]))
    gold = json.loads(path.read_text())

    def bend(value: Any, depth: int) -> Any:
        if isinstance(value, dict) and depth < 3:
            return {key: bend(item, depth + 1) for key, item in value.items() if draw(st.integers(0, 9))}
        return draw(_SOUP) if draw(st.integers(0, 9)) == 0 else value

    return (
        path.parent.name,
        draw(st.sampled_from([gold["event"], "", "nonsense"])),
        json.dumps(bend(gold["stdin"], 0)).encode(),
    )


@settings(max_examples=250 * EFFORT, deadline=None)
@given(bent(), st.sampled_from(["allow", "ask", "deny", "what"]), st.text(max_size=30), st.text(max_size=30))
def test_bent_input_never_raises_and_the_answer_parses(
    given: tuple[str, str, bytes], word: str, reason: str, context: str
) -> None:
    name, configured, data = given
    holds(name, configured, data, HookVerdict(word, reason, context))


@settings(max_examples=150 * EFFORT, deadline=None)
@given(
    st.sampled_from(words()), st.sampled_from(["", "PreToolUse", "pre_run_command", "\ud800"]), st.binary(max_size=200)
)
def test_any_bytes_never_raise_and_the_answer_parses(name: str, configured: str, data: bytes) -> None:
    holds(name, configured, data, HookVerdict("allow"))


def holds(name: str, configured: str, data: bytes, verdict: HookVerdict) -> None:
    event = agent(name).decode(data, configured)
    reply = agent(name).encode(event, verdict)
    said = spoken(reply)
    assert said is None or isinstance(said, dict)
    assert reply.stdout.count(b"\n") == (1 if reply.stdout else 0)
    assert reply.exit in (0, 2)
    if event.kind == "before" and (event.problem or verdict.word not in ("allow", "ask")):
        assert STOPS[name](said, reply)
    if event.kind in GATING and not event.problem:
        assert event.calls
    assert all(call.judged and call.action.kind in (Kind.COMMAND, Kind.TOOL) for call in event.calls)


@each("word, name", [("claude-code", "PreToolUse"), ("gemini", "BeforeTool")])
def test_a_notice_is_for_the_person_and_decides_nothing(word: str, name: str) -> None:
    event = Event("before", name)
    said = spoken(agent(word).encode(event, HookVerdict("allow", context="It was kept.", notice="It was kept.")))
    assert said["systemMessage"] == "It was kept." and inner(said, "additionalContext") == "It was kept."
    assert inner(said, "permissionDecision") is None and "decision" not in said


@pytest.mark.parametrize(
    "body",
    [
        '{"a":1,"a":2}',
        '{"a":{"b":1,"b":1}}',
        '{"a":1.5,"b":10.0,"c":1e3}',
        '{"a":1e400}',
        '{"a":NaN}',
        '{"a":123456789012345678901234567890,"b":18446744073709551615,"c":-0}',
        r'{"a":"\ud800","b":"\u0000","c":"\/","d":"\u00e9"}',
        '{"a":[true,null,{"":"é"}]}',
        "[1]",
        '{"a":' * 3_000 + "1" + "}" * 3_000,
    ],
)
def test_input_has_one_reading_however_it_is_written(body: str) -> None:
    def result(text: str) -> object:
        try:
            return parse(text.encode())
        except MalformedInput as error:
            return str(error)

    assert result(body) == result(f" {body}")
