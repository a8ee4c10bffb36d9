"""An approval is bound to one digest: what changes it, what does not, and what has none."""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from interlock.canonical_json import DigestError, canonical, digest, normal_name
from interlock.model import Action, AgentRef, Kind, Witness, command

KEY = bytes(range(32))
AGENT = AgentRef("uid:1000", "Builder", session="s1")
GOLDEN = json.loads((Path(__file__).parent / "golden" / "digest.json").read_text())

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts.map(lambda t: "k" + t), inner, max_size=4),
    max_leaves=8,
)


def operation(params: dict[Any, Any], **fields: Any) -> Action:
    return Action(Kind.OPERATION, {"operation": "delete_user", "params": params, **fields}, "/srv/app")


def of_golden(row: dict[str, Any]) -> tuple[Action, AgentRef]:
    witnesses = tuple(Witness(path, sha) for path, sha in row.get("witnesses", ()))
    return Action(Kind(row["kind"]), row["fields"], row.get("cwd", ""), witnesses), AgentRef(**row["agent"])


@pytest.mark.parametrize("row", GOLDEN["vectors"], ids=lambda row: row["what"])
def test_the_digest_never_changes_for_actions_already_approved(row: dict[str, Any]) -> None:
    action, agent = of_golden(row)
    key = bytes.fromhex(GOLDEN["key"])
    assert canonical(action, agent, row.get("judged")).decode() == row["canonical"]
    assert digest(action, agent, key, row.get("judged")) == row["digest"]
    assert row["digest"] == "v1:" + hmac.new(key, row["canonical"].encode(), hashlib.sha256).hexdigest()


@given(texts, texts)
def test_equivalent_spellings_of_the_same_text_agree(text: str, cwd: str) -> None:
    composed = command(unicodedata.normalize("NFC", text), unicodedata.normalize("NFC", cwd))
    taken_apart = command(unicodedata.normalize("NFD", text), unicodedata.normalize("NFD", cwd))
    assert digest(composed, AGENT, KEY) == digest(taken_apart, AGENT, KEY)


@given(st.dictionaries(texts, values, max_size=3), values)
def test_private_params_and_words_about_the_call_do_not_matter(params: dict[str, Any], value: Any) -> None:
    params = {unicodedata.normalize("NFC", key).lstrip("_") or "k": item for key, item in params.items()}
    plain = operation(params)
    noted = operation(
        {**params, "_confirmation": value}, description=value, timeout=value, session=value, call_id=value
    )
    assert digest(plain, AGENT, KEY) == digest(noted, AGENT, KEY)


@given(values, values)
def test_any_change_of_a_judged_value_matters(one: Any, other: Any) -> None:
    same = canonical(operation({"x": one}), AGENT) == canonical(operation({"x": other}), AGENT)
    assert same == (json.dumps(_nfc(one), sort_keys=True) == json.dumps(_nfc(other), sort_keys=True))
    assert same == (digest(operation({"x": one}), AGENT, KEY) == digest(operation({"x": other}), AGENT, KEY))


def _nfc(value: Any) -> Any:
    if isinstance(value, str):  # what only looks like another text (U+037E and `;`) stays what it is
        composed = unicodedata.normalize("NFC", value)
        return composed if value in (composed, unicodedata.normalize("NFD", value)) else value
    if isinstance(value, list):
        return [_nfc(item) for item in value]
    return {_nfc(k): _nfc(v) for k, v in value.items()} if isinstance(value, dict) else value


BASE = Action(Kind.COMMAND, {"command": "make clean"}, "/srv/app", (Witness("/srv/app/Makefile", "ab"),))


@pytest.mark.parametrize(
    ("action", "agent", "key"),
    [
        (Action(Kind.COMMAND, {"command": "make  clean"}, BASE.cwd, BASE.witnesses), AGENT, KEY),
        (Action(Kind.INTENT, {"command": "make clean"}, BASE.cwd, BASE.witnesses), AGENT, KEY),
        (Action(Kind.COMMAND, BASE.fields, "/srv", BASE.witnesses), AGENT, KEY),
        (Action(Kind.COMMAND, BASE.fields, BASE.cwd, ()), AGENT, KEY),
        (Action(Kind.COMMAND, BASE.fields, BASE.cwd, (Witness("/srv/app/Makefile", "ac"),)), AGENT, KEY),
        (BASE, AgentRef("uid:1001", "Builder"), KEY),
        (BASE, AgentRef("uid:1000", "Builder2"), KEY),
        (BASE, AGENT, bytes(32)),
    ],
    ids=["text", "kind", "cwd", "no witness", "changed script", "principal", "name", "installation"],
)
def test_another_action_agent_or_installation_is_another_digest(action: Action, agent: AgentRef, key: bytes) -> None:
    assert digest(action, agent, key) != digest(BASE, AGENT, KEY)


def test_session_parent_and_order_of_witnesses_do_not_matter() -> None:
    two = (Witness("/b", "2"), Witness("/a", "1"))
    one = Action(Kind.COMMAND, BASE.fields, BASE.cwd, two)
    turned = Action(Kind.COMMAND, BASE.fields, BASE.cwd, two[::-1])
    assert digest(one, AGENT, KEY) == digest(turned, AgentRef("uid:1000", " builder", "s2", "p"), KEY)


def test_only_the_judged_fields_of_a_call_count_when_they_are_named() -> None:
    def call(**given: Any) -> str:
        return digest(Action(Kind.TOOL, {"tool": "Bash", "input": given}), AGENT, KEY, ["command"])

    assert call(command="ls", description="a", timeout=5) == call(command="ls", description="b")
    assert call(command="ls") != call(command="ls -l")
    other = digest(Action(Kind.TOOL, {"tool": "Shell", "input": {"command": "ls"}}), AGENT, KEY, ["command"])
    assert call(command="ls") != other


def test_a_description_that_is_an_operations_own_data_counts() -> None:
    assert digest(operation({"description": "a"}), AGENT, KEY) != digest(operation({"description": "b"}), AGENT, KEY)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"x": 1.0}, "fields.params.x: expected text, a whole number, true, false, null, a list or a table, got 1.0"),
        (
            {"x": float("nan")},
            "fields.params.x: expected text, a whole number, true, false, null, a list or a table, got nan",
        ),
        (
            {"x": [0, {"y": 0.5}]},
            "fields.params.x[1].y: expected text, a whole number, true, false, null, a list or a table, got 0.5",
        ),
        ({"x": b"a"}, "fields.params.x: expected text, a whole number, true, false, null, a list or a table, got b'a'"),
        ({"x": "a\ud800"}, "fields.params.x: lone surrogate at 1"),
        ({"a\udfff": 1}, "fields.params: lone surrogate at 1"),
        ({1: "a"}, "fields.params: expected text as key, got 1"),
        ({"\u00e9": 1, "e\u0301": 2}, "fields.params: two keys are both 'é'"),
        ({"x": 1 << 5000}, "fields.params.x: a number of more than 4096 bits"),
    ],
    ids=[
        "float",
        "nan",
        "nested float",
        "bytes",
        "surrogate",
        "surrogate in a key",
        "number as key",
        "same key twice",
        "huge number",
    ],
)
def test_what_has_no_single_form_is_refused_with_its_place(params: dict[Any, Any], message: str) -> None:
    with pytest.raises(DigestError) as error:
        digest(operation(params), AGENT, KEY)
    assert str(error.value) == message


def test_nesting_without_end_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(sys.getrecursionlimit() * 2):
        deep = [deep]
    with pytest.raises(DigestError, match="nested deeper than 64"):
        digest(operation({"x": deep}), AGENT, KEY)


@pytest.mark.parametrize("size", [0, 16, 31])
def test_a_short_key_is_refused(size: int) -> None:
    with pytest.raises(DigestError, match=f"key: expected at least 32 bytes, got {size}"):
        digest(BASE, AGENT, bytes(size))


def test_an_empty_list_of_judged_fields_is_refused() -> None:
    with pytest.raises(DigestError, match="judged: expected at least one field, got none"):
        digest(BASE, AGENT, KEY, [])


def test_one_is_not_true() -> None:
    assert digest(operation({"x": 1}), AGENT, KEY) != digest(operation({"x": True}), AGENT, KEY)


@each(
    "name",
    [
        "ag", "AG", " ag ", "ag\n", "\uff41\uff47", "Ag\u00a0", "\u2003AG",
        "a\u200bg", "a\u00adg", "\ufeffag", "ag\u2060", "a\ufe0fg", "a\u3164g", "a\u034fg", "\u202eag", "a\x01g", "ag\U000e0101",
    ],
)  # fmt: skip
def test_a_name_cannot_be_changed_by_how_it_is_written(name: str) -> None:
    assert normal_name(name) == "ag"


def test_blanks_inside_a_name_count_once() -> None:
    assert normal_name("a  g") == normal_name("a\u00a0\u2003g") == normal_name("a\tg") == "a g" != normal_name("ag")


@given(st.text())
def test_a_normal_name_is_its_own_normal_name(name: str) -> None:
    assert normal_name(normal_name(name)) == normal_name(name)
