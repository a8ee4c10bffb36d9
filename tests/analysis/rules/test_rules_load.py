"""Every shipped rule does what its examples promise, and neither their order nor the cache changes an answer."""

from __future__ import annotations

import hashlib
import json
import random
import tomllib
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.analysis.assess import judge
from interlock.analysis.packs import PackError
from interlock.analysis.programs.load import shipped_programs
from interlock.analysis.rules import Rulebook, load
from interlock.canonical_json import canonical_json
from interlock.model import Action, Level, command
from repository import TESTS

PACKS = sorted(load.SHIPPED.glob("*.toml"))
CORPUS = TESTS / "corpus"
IDS = sorted(data["id"] for pack in PACKS for data in tomllib.loads(pack.read_text()).get("rule", ()))


@cache
def shipped() -> Rulebook:
    return replace(load.load_files(PACKS), programs=shipped_programs())


def sample() -> list[Action]:
    """Actions of every kind: the corpus, and an example of each rule."""
    rows = [
        json.loads(line)
        for name in ("commands_bad", "commands_ok")
        for line in (CORPUS / f"{name}.jsonl").read_text().splitlines()
    ]
    return [command(row["command"], row["cwd"]) for row in rows] + [rule.match[0] for rule in shipped().rules.values()]


@pytest.mark.parametrize("rule", IDS)
def test_a_rule_catches_and_spares_what_it_promises_and_each_clause_is_reached(rule: str) -> None:
    book = shipped()
    alone = replace(Rulebook.of([book.rules[rule]], book.programs), opinion=book.opinion)
    assert load.example_failures(alone, book) == []


def test_no_pack_is_left_out() -> None:
    assert len(PACKS) > 20
    assert sorted(load.load().rules) == IDS


def test_the_order_of_rules_never_matters() -> None:
    book = shipped()
    rules = list(book.rules.values())
    random.Random(7).shuffle(rules)
    rules = [replace(rule, when=rule.when[::-1]) for rule in rules]
    shuffled = replace(Rulebook.of(rules, dict(reversed(list(book.programs.items())))), opinion=book.opinion)
    for action in sample():
        assert judge(action, shuffled) == judge(action, book), action.text


def test_a_rulebook_from_the_cache_judges_as_one_freshly_parsed() -> None:
    load.load()
    load._built.cache_clear()  # as another process does it
    cached = load.load()
    assert sorted(cached.rules) == sorted(shipped().rules)
    for name, rule in shipped().rules.items():
        assert cached.rules[name] == replace(rule, match=(), spare=()), name
    assert dict(cached.programs) == shipped_programs()


def test_a_cache_that_is_spoiled_or_missing_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pack in PACKS[:2]:
        (tmp_path / pack.name).write_bytes(pack.read_bytes())
    monkeypatch.setattr(load, "SHIPPED", tmp_path)
    fresh = load.load()
    (kept,) = (tmp_path / "__pycache__").glob("*.json")
    kept.write_text("[not json")
    load._built.cache_clear()
    assert sorted(load.load().rules) == sorted(fresh.rules)
    first = tmp_path / PACKS[0].name
    first.write_text(first.read_text() + "\n# changed\n")
    assert sorted(load.load().rules) == sorted(fresh.rules)


def test_a_cache_of_rules_in_another_shape_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / PACKS[0].name).write_bytes(PACKS[0].read_bytes())
    monkeypatch.setattr(load, "SHIPPED", tmp_path)
    fresh = load.load()
    (kept,) = (tmp_path / "__pycache__").glob("*.json")
    kept.write_text(kept.read_text().replace('"when"', '"never"', 1))
    load._built.cache_clear()
    assert load.load().rules == fresh.rules
    (tmp_path / "__init__.py").write_text("# the module that builds them has changed")
    assert load.load().rules == fresh.rules and not kept.exists()


def test_a_book_is_built_once_and_anew_when_a_pack_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pack in PACKS[:2]:
        (tmp_path / pack.name).write_bytes(pack.read_bytes())
    monkeypatch.setattr(load, "SHIPPED", tmp_path)
    first = load.load()
    assert load.load() is first
    (tmp_path / PACKS[1].name).unlink()
    assert set(load.load().rules) < set(first.rules)


def test_the_hash_of_a_book_is_that_of_its_one_spelling_and_changes_with_any_rule() -> None:
    book = load.load()
    whole = {"rules": book.rules, "programs": book.programs, "patterns": book.patterns}
    assert load.rulebook_hash(book) == hashlib.sha256(canonical_json(whole).encode()).hexdigest()
    name, rule = next(iter(book.rules.items()))
    other = replace(book, rules={**book.rules, name: replace(rule, reason=f"{rule.reason} Or not.")})
    assert load.rulebook_hash(other) != load.rulebook_hash(book)


def test_a_book_has_one_hash_whether_it_was_parsed_or_kept_and_changes_with_its_content_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pack in PACKS[:2]:
        (tmp_path / pack.name).write_bytes(pack.read_bytes())
    monkeypatch.setattr(load, "SHIPPED", tmp_path)
    hashes = []
    for _ in ("parsed", "kept"):
        load._built.cache_clear()  # as another process does it
        hashes.append(load.rulebook_hash(load.load()))
    with_examples = replace(load.load_files(PACKS[:2]), programs=shipped_programs())
    hashes.append(load.rulebook_hash(with_examples))
    assert len(set(hashes)) == 1
    first = tmp_path / PACKS[0].name
    first.write_text(first.read_text().replace("reason", "# of the reason\nreason", 1))
    assert load.rulebook_hash(load.load()) == hashes[0]
    (tmp_path / PACKS[1].name).unlink()
    assert load.rulebook_hash(load.load()) != hashes[0]


def test_one_wrong_rule_refuses_the_whole(tmp_path: Path) -> None:
    wrong = tmp_path / "mine.toml"
    wrong.write_text('[[rule]]\nid = "mine.rule"\nlevel = "dangerous"\n')
    with pytest.raises(PackError, match=r"rule mine.rule: needs at least one example to match"):
        load.load(wrong)
    wrong.write_text("[[rule]\n")
    with pytest.raises(PackError, match=r"mine\.toml: "):
        load.load(wrong)


def test_a_pack_of_ones_own_is_judged_beside_the_shipped_ones(tmp_path: Path) -> None:
    pack = tmp_path / "mine.toml"
    pack.write_text(
        '[[rule]]\nid = "mine.launch"\nlevel = "forbidden"\nirreversible = true\ncategory = "resource_termination"\n'
        'reason = "Launches."\ninstead = "do not"\nwhen = [{ program = ["rocket"], subcommand = ["launch"] }]\n'
        'examples.match = ["rocket launch"]\nexamples.spare = ["rocket status"]\n'
    )
    book = load.load(pack)
    assert load.example_failures(load.load_files([pack]), book) == []
    assert judge(command("sudo rocket launch"), book).assessment.level is Level.FORBIDDEN
    assert judge(command("rm -rf /"), book).assessment.level is Level.FORBIDDEN


def test_a_pack_of_ones_own_may_say_more_of_a_described_program(tmp_path: Path) -> None:
    pack = tmp_path / "mine.toml"
    pack.write_text('[program.git]\nvalue_flags = ["--colour"]\ndry_run = ["--pretend"]\n')
    git, shipped_git = load.load(pack).programs["git"], shipped_programs()["git"]
    assert git.value_flags == shipped_git.value_flags | {"--colour"}
    assert git.dry_run == (*shipped_git.dry_run, "--pretend")
    assert (git.does, git.carries) == (shipped_git.does, shipped_git.carries)


def test_every_rule_that_asks_somebody_says_what_to_do_instead_in_whole_sentences() -> None:
    for rule in shipped().rules.values():
        assert rule.reason[0].isupper() and rule.reason.endswith("."), rule.id
        if rule.level >= Level.DESTRUCTIVE:
            assert rule.instead, rule.id


def test_only_what_nobody_may_ever_do_cannot_be_approved() -> None:
    never = {rule.id for rule in shipped().rules.values() if not rule.approvable}
    assert never, "fork bombs and formatting a disk (X-02)"
    assert all(shipped().rules[name].level is Level.FORBIDDEN for name in never)


FAR_AWAY = frozenset(
    "aws azure gcloud cloud_more data databases kubernetes paas migrations backups docker iac pipelines".split()
)
NO_WAY_BACK = frozenset("aws.purchase azure.purchase azure.audit_off gcloud.purchase data.http_payment".split())


def test_a_rule_for_what_no_snapshot_can_hold_says_what_its_vendor_keeps() -> None:
    bare = [
        rule.id
        for rule in shipped().rules.values()
        if rule.id.split(".")[0] in FAR_AWAY and rule.irreversible and rule.level >= Level.DESTRUCTIVE and not rule.undo
    ]
    assert set(bare) == NO_WAY_BACK
