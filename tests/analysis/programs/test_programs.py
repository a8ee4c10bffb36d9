"""A program's other names and shortened subcommands are read as the ones that rules use."""

from __future__ import annotations

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.programs import build_program, whole_words
from interlock.analysis.rules.load import load
from interlock.model import command

BOOK = load()
DEMO = build_program(
    "demo",
    {"subcommands": ["route list", "route flush", "rule add", "link delete"], "short": {"rm, del": "link delete"}, "value_flags": ["-n"]},
)  # fmt: skip


def level(text: str) -> int:
    return int(judge(command(text, "/home/dev/app"), BOOK).assessment.level)


@each(
    "words, whole",
    [
        ("r f", "route flush"), ("ru a x", "rule add x"), ("-n r r f", "-n r route flush"), ("-v l d eth0", "-v link delete eth0"),
        ("rm x", "link delete x"), ("del x", "link delete x"), ("zzz f", "zzz f"), ("route", "route"), ("", ""),
    ],
)  # fmt: skip
def test_a_shortened_subcommand_is_written_out(words: str, whole: str) -> None:
    assert whole_words(DEMO, words.split()) == whole.split()


@each(
    "short, long",
    [
        ("ip r f all", "ip route flush all"), ("ip l d eth0", "ip link delete eth0"), ("btrfs su d /srv/a", "btrfs subvolume delete /srv/a"),
        ("qm des 100", "qm destroy 100"), ("pct destr 100", "pct destroy 100"), ("nmcli c del home", "nmcli connection delete home"),
        ("svn rm --force a", "svn delete --force a"),
        ("hg str 5", "hg strip 5"), ("tmux kill-ser", "tmux kill-server"), ("grm -rf src", "rm -rf src"), ("gdd of=/dev/sda", "dd of=/dev/sda"),
    ],
)  # fmt: skip
def test_a_short_form_is_judged_as_the_long_one(short: str, long: str) -> None:
    assert level(short) == level(long) >= 2


@each(
    "text",
    [
        "ip a",
        "ip r",
        "ip -s l",
        "btrfs su l /",
        "btrfs fi u /",
        "qm li",
        "nmcli c s",
        "hg st",
        "tc q s",
        "gls -la",
        "gcat x",
    ],
)
def test_a_short_form_that_reads_stays_harmless(text: str) -> None:
    assert level(text) <= 1
