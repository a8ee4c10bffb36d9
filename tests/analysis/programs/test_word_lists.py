"""Word lists are loaded strictly: a key too many or too few is refused, so that a typo never disarms a reader."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import Struct

from interlock.analysis import packs
from interlock.analysis.packs import PackError, load_words
from interlock.analysis.programs.load import program_set, word_set, word_table
from repository import ROOT


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


SOURCE = ROOT / "src" / "interlock"
ASKED = re.compile(r"\b(program_set|word_set|word_table|shipped_variables)\((?:\)\[)?\"(\w+)\"")
FOR_ONE_KIND = re.compile(r"f\"(starts|said|stems)_\{")  # the others of such a name are made of a word
HEADINGS = {"program_set": "set", "word_set": "words", "word_table": "table", "shipped_variables": "variable"}


def test_every_kind_of_words_that_is_asked_for_is_told_and_every_one_told_is_asked_for() -> None:
    shipped = [tomllib.loads(path.read_text()) for path in (SOURCE / "analysis" / "programs").glob("*.toml")]
    told = {heading: {kind for pack in shipped for kind in pack.get(heading, {})} for heading in HEADINGS.values()}
    source = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    for function, kind in set(ASKED.findall(source)):
        assert kind in told[HEADINGS[function]], (function, kind)
    made = tuple(f"{start}_" for start in set(FOR_ONE_KIND.findall(source)))
    for heading, kinds in told.items():
        assert [
            kind
            for kind in kinds
            if f'"{kind}"' not in source and f"'{kind}'" not in source and not kind.startswith(made)
        ] == [], heading


@pytest.mark.parametrize(
    ("held", "readers", "asking"),
    [
        ("analysis/sql/words.toml", "analysis/sql/*.py", r"WORDS\."),
        ("analysis/effects.toml", "analysis/*.py", r"EFFECTS\."),
        ("analysis/place_names.toml", "analysis/places.py", r"_NAMES\.|_listed\(\""),
        ("analysis/windows_marks.toml", "analysis/read.py", r"_MARKS\.|_marks\(\""),
        ("redaction/secrets.toml", "redaction/*.py", r"WORDS\."),
        ("adapters/words.toml", "adapters/*.py", r"_WORDS\."),
        ("identity/words.toml", "identity/**/*.py", r"_WORDS\."),
        ("agents/fields.toml", "*/*.py", r"FIELDS\.|listed\(\""),
        ("analysis/programs/net.toml", "analysis/**/*.py", r"NET\.|net\[\"|entries\(\"net\"\)\[\""),
    ],
)
def test_every_list_of_a_pack_is_asked_for_and_every_one_asked_for_is_there(
    held: str, readers: str, asking: str
) -> None:
    source = "\n".join(path.read_text() for path in SOURCE.glob(readers))
    asked = re.findall(rf"\b(?:{asking})(?:(?:table|in_order)\(\")?(\w+)", source)
    pack = tomllib.loads((SOURCE / held).read_text())
    assert set(asked) - {"in_order"} == set(pack.get("net", pack))


def test_a_kind_of_words_that_nobody_tells_is_refused() -> None:
    for asked in (program_set, word_set, word_table):
        with pytest.raises(KeyError):
            asked("no_such_kind")
