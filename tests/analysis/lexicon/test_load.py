"""Vocabularies are loaded strictly: a typo in one never makes a language deaf."""

from __future__ import annotations

from typing import Any

import pytest

from cases import each
from interlock.analysis.lexicon.load import check_packs, vocabularies
from interlock.analysis.packs import PackError

LANGUAGE: dict[str, Any] = {
    "code": "xx",
    "verbs": {"destroy": "żabować* raz_na_zawsze"},
    "nouns": {"data": "Dane"},
    "scope": {"all": "wszystko"},
    "words": {"look": "patrz*", "never": "nie"},
}


@each("code", sorted(vocabularies()))
def test_every_language_has_each_kind_of_word(code: str) -> None:
    language = vocabularies()[code].language
    assert {"destroy", "stop", "disable", "revoke", "send", "reset", "grant", "bypass"} <= set(language.verbs)
    assert {"data", "resource", "safety", "credential", "account", "code"} <= set(language.nouns)
    assert {"all", "production", "permanent", "admin"} <= set(language.scope)
    assert all(map(language.listed, ("look", "make", "never", "asked", "joints", "empty")))


def test_words_are_kept_in_plain_letters() -> None:
    (pack,) = check_packs([LANGUAGE])
    assert pack["verbs"]["destroy"].split()[0] == "zabowac*"
    assert pack["nouns"]["data"] == "dane"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verb": {"destroy": "x"}}, "unknown key 'verb'"),
        ({"words": {"looks": "x"}}, "unknown key 'looks'"),
        ({"verbs": {}}, "no verbs"),
        ({"nouns": {"data": ""}}, "expected words"),
        ({"idioms": {"verb destroy": "x"}}, "expected a list of patterns"),
        ({"idioms": {"verb destroy": ["(x"]}}, "unterminated"),
        ({"idioms": {"verb destroy": ["x" * 201]}}, "at most 200"),
        ({"idioms": {"verbs destroy": ["x"]}}, "begins with no role"),
        ({"spaced": "no"}, "spaced is 'no'"),
        ({"past": "(x"}, "unterminated"),
    ],
)
def test_a_wrong_vocabulary_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PackError, match=message.replace("(", r"\(")):
        check_packs([LANGUAGE | change])


def test_a_code_is_used_once() -> None:
    with pytest.raises(PackError, match="two languages have the code 'xx'"):
        check_packs([LANGUAGE, LANGUAGE])
