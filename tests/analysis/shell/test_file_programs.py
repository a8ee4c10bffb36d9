"""What a program does to files comes from its description."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.facts import Effect
from interlock.analysis.packs import PackError
from interlock.analysis.programs import build_program
from interlock.analysis.rules.load import load
from interlock.model import command

BOOK = load()
TOUCHED = [
    ("rm -r a b", "delete a recursive; delete b recursive"),
    ("rm -$FLAGS a", "delete a recursive"),
    ("shred -n 3 a", "truncate a shredded"),
    ("shred -u a", "delete a shredded"),
    ("truncate -s 0 a", "truncate a"),
    ("truncate -s +1G a", "write a"),
    ("cp -t out a", "read a; write out/a"),
    ("cp a b ~", "read a; read b; write ~/a; write ~/b"),
    ("cp *.txt out/", "read *.txt; write out/"),
    ("cp /dev/null a", "truncate a"),
    ("mv -f a b", "move a; overwrite b forced"),
    ("mv -f a b/", "move a; overwrite b/a"),
    ("mv a /dev/null", "delete a recursive"),
    ("install -m 4755 a b", "chmod b setuid world_readable; read a; write b replaces"),
    ("ln -sf a b", "overwrite b link symbolic"),
    ("dd if=a of=b", "read a; write b"),
    (": | dd of=b", "truncate b"),
    ("echo x | dd of=b", "write b"),
    ("bleachbit --shred a", "delete a recursive shredded"),
    ("chmod -R -w a", "chmod a no_access recursive"),
    ("chown --reference x a", "chown a"),
    ("grep -n x a", "read a shown"),
    ("grep -lr -e x a", "read a"),
    ("jq --arg a b . c", "read c shown"),
    ("od -c a", "read a shown"),
    ("git ls-files | xargs rm", "delete * approximate bulk"),
    ("git ls-files src | xargs rm", "delete src/* approximate bulk"),
    ("7z a x.7z b -sdel", "read b whole; delete b recursive"),
]


@each("text, effects", TOUCHED)
def test_a_file_tool_touches_what_its_description_says(text: str, effects: str) -> None:
    facts = judge(command(text, "/home/dev/app"), BOOK).facts
    found = [" ".join([one.verb, one.target, *sorted(one.traits)]) for one in facts if isinstance(one, Effect)]
    assert "; ".join(found) == effects


@each(
    "item",
    [{"effect": "melt"}, {"effect": "read", "of": "all"}, {"effect": "read", "contents": "air"}, {"verb": "read"}],
)
def test_an_entry_with_an_unknown_word_is_refused(item: dict[str, str]) -> None:
    with pytest.raises(PackError):
        build_program("demo", {"paths": [item]})
