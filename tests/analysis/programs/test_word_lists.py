"""Word lists are loaded strictly: a key too many or too few is refused, so that a typo never disarms a reader."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import Struct

from interlock.analysis import packs
from interlock.analysis.packs import PackError, load_words
from interlock.analysis.programs.load import TABLES, WORDS, _told, word_set, word_table


class DemoWords(Struct, forbid_unknown_fields=True):
    reads: frozenset[str]
    kinds: Mapping[str, str]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("reads = 'A'\nwrites = 'B'\n[kinds]\ntable = 'T'", "unknown field `writes`"),
        ("reads = 'A'", "missing required field `kinds`"),
        ("reads = 3\n[kinds]\ntable = 'T'", "Expected `array`, got `int`"),
    ],
)
def test_a_pack_of_words_has_the_keys_that_are_known_and_no_others(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "_PACKAGE", tmp_path)
    (tmp_path / "demo.toml").write_text(text)
    with pytest.raises(PackError, match=r"demo\.toml: ") as refused:
        load_words("demo.toml", DemoWords)
    assert said in str(refused.value)


def test_a_text_is_a_list_of_words_and_a_table_gives_each_word_its_heading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "_PACKAGE", tmp_path)
    (tmp_path / "demo.toml").write_text("reads = 'A B'\n[kinds]\ntable = 'T U'")
    for _ in range(2):  # the second time from its copy
        found = load_words("demo.toml", DemoWords)
        assert found.reads == frozenset({"A", "B"}) and found.kinds == {"T": "table", "U": "table"}


def test_every_kind_of_words_is_told_and_known() -> None:
    assert all(map(word_set, WORDS)) and all(map(word_table, TABLES))
    with pytest.raises(PackError, match="words: b: not known, or not told"):
        _told([{"words": {"a": "x"}}], "words", frozenset({"a", "b"}))
