"""The tables of calls: every block says what its example does, and a wrong table is refused."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.code.library import check_packs, library, shipped, spellings
from interlock.analysis.packs import PackError
from interlock.analysis.read import _reader
from recording_report import Recorder

READS = {
    "common": "lua",
    "jvm": "java",
    "python_clients": "python",
    "rows": "ruby",
}  # who reads the examples of what several languages share
EXAMPLES = [
    (pack["language"], block["example"], block["does"])
    for pack in shipped().values()
    for block in (*pack.get("block", ()), *pack.get("pattern", ()))
]
BLOCK = {"example": "f()", "does": [], "calls": {"f": {"delete": 0}}}


@each(("language", "code", "does"), EXAMPLES)
def test_every_block_of_calls_does_what_it_says(language: str, code: str, does: list[str]) -> None:
    out = Recorder()
    _reader(READS.get(language, language))(code, out)
    assert [" ".join(fact) for fact in out.told] == does


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({**BLOCK, "calls": {"f": {"deletes": 0}}}, "unknown key 'deletes'"),
        ({**BLOCK, "calls": {"f": {"delete": 0.5}}}, "no place"),
        ({**BLOCK, "calls": {"f": {"delete": "1 *"}}}, "no place"),
        ({**BLOCK, "calls": {"f": {"gives": "magic"}}}, "unknown result"),
        ({**BLOCK, "calls": {"f": {"tell": "explode"}}}, "unknown verb"),
        ({**BLOCK, "calls": {"f": {}}}, "says nothing"),
        ({"does": [], "calls": BLOCK["calls"]}, "needs `example`"),
        ({**BLOCK, "calls": {}}, "needs `example`"),
        ({**BLOCK, "note": "x"}, "unknown key 'note'"),
    ],
)
def test_a_table_that_says_something_else_is_refused(block: object, message: str) -> None:
    with pytest.raises(PackError, match=message):
        check_packs([{"language": "x", "block": [block]}])


def test_a_pattern_without_an_example_is_refused() -> None:
    with pytest.raises(PackError, match="a pattern needs example"):
        check_packs([{"language": "x", "pattern": [{"finds": ["rm"], "tells": "delete"}]}])
    with pytest.raises(PackError, match="unknown key 'find'"):
        check_packs([{"language": "x", "pattern": [{"find": ["rm"]}]}])


def test_a_key_stands_for_each_of_its_alternatives() -> None:
    assert spellings("{a,b}.{c,d}") == ["a.c", "a.d", "b.c", "b.d"]
    with pytest.raises(PackError, match="told twice"):
        check_packs([{"language": "x", "block": [{**BLOCK, "calls": {"{f,g}": {"delete": 0}, "g": {"read": 0}}}]}])


def test_a_pattern_has_one_star_and_is_no_match_for_another_name() -> None:
    with pytest.raises(PackError, match="more than one"):
        check_packs([{"language": "x", "block": [{**BLOCK, "calls": {"a.*.b.*": {"delete": 0}}}]}])
    python = library("python")
    redis = python.entry("redis.Redis().delete", "delete")
    assert redis is not None
    assert python.entry("redis.Redis().get", "get") is None
    assert python.entry("predis.Redis().delete", "delete") is not redis
    assert python.entry("aboto3.client().put", "put") is None


def test_a_call_is_told_once() -> None:
    with pytest.raises(PackError, match="told twice"):
        check_packs([{"language": "x", "block": [BLOCK, BLOCK]}])


def test_a_language_has_what_every_language_has() -> None:
    assert "<file>.write" in library("ruby").calls
