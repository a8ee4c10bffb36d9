"""A name counts as what it looks like, whichever alphabet its letters are from; other languages stay as they are."""

from __future__ import annotations

from cases import each
from interlock import assess
from interlock.analysis.lexicon import split_name
from interlock.analysis.prose.normalise import normalise
from interlock.analysis.read import read
from interlock.model import intent, operation, tool
from interlock.policy.match_names import match_names
from interlock.policy.patterns import Glob, hits
from interlock.policy.registry import Registry

DISGUISED = [
    "dr\u043ep_table",  # Cyrillic o
    "dr\u03bfp_t\u03b1ble",  # Greek o and alpha
    "\u0501r\u043e\u0440_t\u0430bl\u0435",
    "D\u13a1OP_TABLE",  # Cherokee
    "\u1d05\u0280\u1d0f\u1d18_\u1d1b\u1d00\u0299\u029f\u1d07",  # small capitals
    "\uff44\uff52\uff4f\uff50\uff3f\uff54\uff41\uff42\uff4c\uff45",  # full width
    "\U0001d4b9\U0001d4c7\u2134\U0001d4c5_table",  # script
    "\U0001f173\U0001f181\U0001f17e\U0001f17f_table",  # in boxes
    "dr\u200bop_ta\u200dble",  # hidden characters
    "d\u00adrop_table",
    "d\u0301r\u0335op_table",  # marks on letters that no language puts there
    "dr\u00f6p_table",
    "drop\u2010table",
    "dr\u043epT\u0430ble",
]
GENUINE = [
    "\u0443\u0434\u0430\u043b\u0438\u0442\u044c_\u0442\u0430\u0431\u043b\u0438\u0446\u0443",
    "\u0442\u0430\u0431\u043b\u0438\u0446\u0430_users",
    "\u041f\u0440\u043e\u0432\u0435\u0440\u044c SQL\u043e\u043c \u0442\u0430\u0431\u043b\u0438\u0446\u0443 users",
    "\u043f\u043e\u0441\u043c\u043e\u0442\u0440\u0438 \u043b\u043e\u0433\u0438 \u0441\u0435\u0440\u0432\u0435\u0440\u0430",
    "\u0391\u03b8\u03ae\u03bd\u03b1 server status",
    "\u03bc-service, 10\u03bcs, \u03b1-release",
    "r\u00e9servation de l'h\u00f4tel",
    "gr\u00f6\u00dfe_\u00e4ndern",
    "na\u00efve approach",
    "\u30c6\u30fc\u30d6\u30eb\u3092\u898b\u308b",
]


@each("name", DISGUISED)
def test_a_disguised_name_is_the_one_it_looks_like(name: str) -> None:
    assert split_name(name) == (("drop", "table"),)
    for action in (operation(name, {}), tool(f"mcp__db__{name}", {}), intent(f"calling {name} on orders")):
        assert int(assess(action).level) == 4, action.kind
    assert "drop_table" in {pattern.id for pattern in Registry().match(f"{name} users").patterns}


@each("text", GENUINE)
def test_text_of_other_languages_stays_as_it_is(text: str) -> None:
    assert normalise(text) == (text, False)


@each("name", ["\u0412ash", "B\u0430sh", "\uff22\uff41\uff53\uff48"])
def test_a_tool_that_looks_like_a_shell_is_judged_as_one(name: str) -> None:
    action = tool(name, {"command": "rm -rf ~"})
    assert int(assess(action).level) == 4
    assert hits([Glob.of("Bash:rm*")], match_names(action, read(action).facts))


def test_an_allow_pattern_never_meets_a_name_by_its_looks() -> None:
    from interlock.policy.patterns import covers

    honest, mimic = operation("sync_notes", {}), operation("sync_n\u043etes", {})
    assert covers([Glob.of("sync_*")], match_names(honest, read(honest).facts))
    assert not covers([Glob.of("sync_notes")], match_names(mimic, read(mimic).facts))
