"""What is given to an operation is what it documents: known, in its place, of its type, spelled once (EP-06, EP-11, GK-01)."""

from __future__ import annotations

from typing import Any

import pytest
from toy import ask, data, error

from cases import each

REFUSED = {
    "no operation": ({}, "VALIDATION_MISSING_PARAM", "operation"),
    "an operation that is no text": ({"operation": 7}, "VALIDATION_INVALID_TYPE", "operation"),
    "params that are no object": ({"operation": "create_note", "params": []}, "VALIDATION_INVALID_TYPE", "params"),
    "a required one is missing": ({"operation": "create_note"}, "VALIDATION_MISSING_PARAM", "title"),
    "a required one is null": ({"operation": "create_note", "params": {"title": None}}, "VALIDATION_INVALID_TYPE", "title"),
    "a required one is blank": ({"operation": "create_note", "params": {"title": " \n"}}, "VALIDATION_INVALID_VALUE", "title"),
    "too long": ({"operation": "create_note", "params": {"title": "x" * 21}}, "VALIDATION_INVALID_VALUE", "title"),
    "unknown inside": ({"operation": "create_note", "params": {"title": "a", "titel": "b"}}, "VALIDATION_UNKNOWN_PARAM", "titel"),
    "unknown beside": ({"operation": "create_note", "params": {"title": "a"}, "color": 1}, "VALIDATION_UNKNOWN_PARAM", "color"),
    "a number as text": ({"operation": "create_note", "params": {"title": "a", "stars": "3"}}, "VALIDATION_INVALID_TYPE", "stars"),
    "a flag as number": ({"operation": "create_note", "params": {"title": "a", "stars": True}}, "VALIDATION_INVALID_TYPE", "stars"),
    "half a number": ({"operation": "create_note", "params": {"title": "a", "stars": 1.5}}, "VALIDATION_INVALID_TYPE", "stars"),
    "too much": ({"operation": "create_note", "params": {"title": "a", "stars": 6}}, "VALIDATION_INVALID_VALUE", "stars"),
    "too little": ({"operation": "create_note", "params": {"title": "a", "stars": -1}}, "VALIDATION_INVALID_VALUE", "stars"),
    "not of the list": ({"operation": "create_note", "params": {"title": "a", "kind": "Idea"}}, "VALIDATION_INVALID_VALUE", "kind"),
    "not the pattern": ({"operation": "create_note", "params": {"title": "a", "slug": "A b"}}, "VALIDATION_INVALID_VALUE", "slug"),
    "wrong elements": ({"operation": "create_note", "params": {"title": "a", "tags": [1]}}, "VALIDATION_INVALID_VALUE", "tags"),
    "too many elements": ({"operation": "create_note", "params": {"title": "a", "tags": ["a"] * 3}}, "VALIDATION_INVALID_VALUE", "tags"),
    "an operation nobody has": ({"operation": "drop_notes"}, "NOT_FOUND_OPERATION", "drop_notes"),
    "a name that is none": ({"operation": "cat /etc"}, "NOT_FOUND_OPERATION", "not a name"),
    "no object at all": ("create_note", "VALIDATION_INVALID_TYPE", "arguments"),
}  # fmt: skip


@each("why", REFUSED)
def test_what_is_not_documented_is_refused_and_named(why: str) -> None:
    arguments, code, mentioned = REFUSED[why]
    found = error(arguments)
    assert found["code"] == code and mentioned in found["message"]


def test_params_count_before_what_stands_beside_them() -> None:
    assert data({"operation": "create_note", "params": {"title": "in"}, "title": "out"})["title"] == "in"
    assert data({"operation": "create_note", "title": "out"})["title"] == "out"


def test_both_spellings_are_taken_and_must_not_disagree() -> None:
    for spelled in ("body_text", "bodyText"):
        assert data({"operation": "create_note", "params": {"title": "a", spelled: "x"}})["body_text"] == "x"
    same = {"title": "a", "body_text": "x", "bodyText": "x"}
    assert data({"operation": "create_note", "params": same})["body_text"] == "x"
    for arguments in (
        {"operation": "create_note", "params": {**same, "bodyText": "y"}},
        {"operation": "create_note", "params": {"title": "a", "body_text": "x"}, "bodyText": "y"},
    ):
        assert error(arguments)["code"] == "VALIDATION_INVALID_VALUE"


def test_defaults_are_filled_in_and_null_is_as_good_as_nothing() -> None:
    assert data({"operation": "create_note", "params": {"title": "a"}})["stars"] == 3
    assert data({"operation": "create_note", "params": {"title": "a", "stars": None}})["stars"] == 3
    assert data({"operation": "create_note", "params": {"title": "a", "stars": 2.0}})["stars"] == 2


def test_fields_with_an_underscore_are_exempt() -> None:
    assert data({"operation": "create_note", "params": {"title": "a", "_meta": {}, "_x": 1}, "_y": 2})["title"] == "a"


def test_a_parameter_called_operation_is_read_inside_params_only() -> None:
    assert data({"operation": "repeat", "params": {"operation": "drop_table"}}) == {"operation": "drop_table"}
    assert error({"operation": "repeat"})["details"]["param_name"] == "operation"


def test_an_unknown_parameter_is_refused_with_all_that_are_known() -> None:
    found = error({"operation": "get_note", "params": {"title": "a", "id": 1}})
    assert found["details"] == {
        "operation": "get_note",
        "unknown_params": ["id"],
        "valid_params": ["title", "fields"],
        "session_id": "mcp_s1",
    }


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


TOO_MUCH = {
    "depth": ({"operation": "create_note", "params": {"title": "a", "meta": nested(31)}}, "nesting_depth", 33),
    "elements": ({"operation": "create_note", "params": {"title": "a", "tags": ["a"] * 10_001}}, "array_elements", 10_001),
    "string": ({"operation": "create_note", "params": {"title": "é" * 600_000}}, "string_length", 1_200_000),
}  # fmt: skip


@pytest.mark.parametrize("what", TOO_MUCH)
def test_what_is_too_much_is_refused_with_the_limit(what: str) -> None:
    arguments, limit_type, actual = TOO_MUCH[what]
    found = error(arguments)
    assert found["code"] == "VALIDATION_PAYLOAD_TOO_LARGE"
    assert (found["details"]["limit_type"], found["details"]["actual_value"]) == (limit_type, actual)


def test_a_request_is_counted_as_a_whole() -> None:
    found = error(
        {"operation": "create_note", "params": {"title": "a", "meta": {"a": "x" * 700_000, "b": "x" * 700_000}}}
    )
    assert found["details"]["limit_type"] == "request_size"


def test_what_is_just_within_the_limits_is_taken() -> None:
    assert data({"operation": "create_note", "params": {"title": "a", "meta": nested(30)}})["meta"]


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x\udfff"])
def test_text_that_is_none_is_an_error_to_mcp(text: str) -> None:
    for arguments in (
        {"operation": "create_note", "params": {"title": text}},
        {"operation": "create_note", "params": {"title": "a", "meta": {text: 1}}},
        {"operation": text},
    ):
        reply = ask(arguments)
        assert reply.is_error and reply.envelope["error"]["code"] == "VALIDATION_INVALID_ENCODING"
