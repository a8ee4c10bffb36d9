"""No value leaves its place in an address."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.error_codes import LoopProblem
from interlock.mcp.adapters.requests import AdapterUnusable, Template

DELETE = Template.of("DELETE /repos/{owner}/{repo}")
HOSTILE = [
    "..", ".", "", " ", "../../users", "a/b", "a\\b", "a%2fb", "a%2Fb", "%2e%2e", "..%5c", "a%252fb", "a\0b", "a\nb", "a\rb", "\u2028",
    "/", "//evil.example", "x" * 3000, "%00",
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_a_value_cannot_add_or_leave_a_segment(value: str) -> None:
    with pytest.raises(LoopProblem):
        DELETE.filled_path({"owner": "acme", "repo": value})


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("widgets", "widgets"), ("a b", "a%20b"), ("a?b=c", "a%3Fb%3Dc"), ("a#b", "a%23b"), ("@evil", "%40evil"), ("a&b", "a%26b"), (";x", "%3Bx"),
        ("ä", "%C3%A4"), ("...", "..."), ("a..b", "a..b"), (7, "7"), (True, "true"), ("100%", "100%25"),
    ],
)  # fmt: skip
def test_a_value_is_encoded(value: Any, written: str) -> None:
    assert DELETE.filled_path({"owner": "acme", "repo": value}) == f"/repos/acme/{written}"


@pytest.mark.parametrize("value", [None, [], {}, ["a"]])
def test_only_texts_numbers_and_booleans_fit_into_a_path(value: Any) -> None:
    with pytest.raises(LoopProblem) as caught:
        DELETE.filled_path({"owner": "acme", "repo": value})
    assert caught.value.code in ("VALIDATION_MISSING_PARAM", "VALIDATION_INVALID_TYPE")


def test_a_param_with_slashes_keeps_them_and_still_cannot_climb() -> None:
    template, slashed = Template.of("DELETE /heads/{branch}"), frozenset({"branch"})
    assert template.filled_path({"branch": "release/1.0 x"}, slashed) == "/heads/release/1.0%20x"
    for value in ("../main", "a/../b", "a//b", "/a", "a/", "a/.", "a\\b"):
        with pytest.raises(LoopProblem):
            template.filled_path({"branch": value}, slashed)


def test_two_values_in_a_segment_cannot_make_dots_together() -> None:
    with pytest.raises(LoopProblem):
        Template.of("GET /x/{a}{b}").filled_path({"a": ".", "b": "."})


def test_a_value_cannot_add_a_key_to_the_query() -> None:
    template = Template.of("GET /search?q={query}&kind=open")
    assert template.filled_query({"query": "a&kind=all"}) == [("q", "a&kind=all"), ("kind", "open")]
    assert template.filled_query({}) == [("kind", "open")]


@pytest.mark.parametrize(
    "maps_to",
    [
        "", "GET", "FETCH /x", "GET x", "GET https://evil.example/x", "GET //evil.example/x", "GET /a/../b", "GET /a b", "GET /a#b", "GET /a\\b",
        "GET /%2e%2e/x", "GET /x?{key}=1", "GET /{a b}", "GET /ä",
    ],
)  # fmt: skip
def test_a_template_of_another_place_is_refused(maps_to: str) -> None:
    with pytest.raises(AdapterUnusable):
        Template.of(maps_to)
