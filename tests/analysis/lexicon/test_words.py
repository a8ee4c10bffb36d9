"""Names are split into words however they are written, and the words are known for what they are."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.lexicon import (
    deed_nouns,
    is_plural,
    names_production,
    object_kind,
    objects,
    split_name,
    verbs,
    weak_verbs,
)


@each(
    ("name", "segments"),
    [
        ("drop_table", (("drop", "table"),)),
        ("dropTable", (("drop", "table"),)),
        ("DropTable", (("drop", "table"),)),
        ("drop-table", (("drop", "table"),)),
        ("DROP_TABLE", (("drop", "table"),)),
        ("droptable", (("drop", "table"),)),
        ("database:drop", (("database",), ("drop",))),
        ("mcp__github__delete_repository", (("mcp",), ("github",), ("delete", "repository"))),
        ("github.repos.delete", (("github",), ("repos",), ("delete",))),
        ("HTTPDelete", (("http", "delete"),)),
        ("s3.emptyBucket", (("s3",), ("empty", "bucket"))),
        ("shut_down_server", (("shutdown", "server"),)),
        ("revokeAPIKey", (("revoke", "apikey"),)),
        ("ｄｒｏｐ_table", (("drop", "table"),)),
        ("", ()),
        ("!!!", ()),
    ],
)
def test_a_name_is_split_into_segments_and_words(name: str, segments: tuple[tuple[str, ...], ...]) -> None:
    assert split_name(name) == segments


def test_a_name_of_any_length_is_split_in_bounds() -> None:
    assert sum(len(words) for words in split_name("delete_" * 100_000)) <= 40


@pytest.mark.parametrize(
    ("phrase", "kind"),
    [
        (("user", "session"), "credential"),
        (("account", "note"), "data"),
        (("backup", "policy"), "config"),
        (("db", "instance"), "database"),
        (("user", "ids"), "person"),
        (("flux", "capacitor"), ""),
        ((), ""),
    ],
)
def test_the_last_telling_noun_is_the_object(phrase: tuple[str, ...], kind: str) -> None:
    assert object_kind(phrase)[0] == kind


def test_no_word_of_the_tables_can_never_be_met() -> None:
    for word in (*verbs(), *objects(), *deed_nouns()):
        assert word == word.lower() and "_" not in word and " " not in word, word


def test_weak_verbs_are_words_that_are_known() -> None:
    assert {word for word in weak_verbs() if word not in verbs()} <= {
        "job",
        "form",
        "branch",
        "pool",
        "capture",
        "pop",
        "cut",
        "end",
    }


@pytest.mark.parametrize(("word", "plural"), [("users", True), ("access", False), ("dns", False), ("status", False)])
def test_plurals(word: str, plural: bool) -> None:
    assert is_plural(word) is plural


@pytest.mark.parametrize(("words", "production"), [("prod db", True), ("non prod", False), ("product", False)])
def test_production_is_not_what_comes_before_it(words: str, production: bool) -> None:
    assert names_production(words.split()) is production
