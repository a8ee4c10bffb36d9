"""Adapter files are read strictly, each problem with its line, and hostile ones are refused."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from effort import EFFORT
from interlock.adapters import AdapterError, AdapterReading, load, read, read_file
from interlock.model import Level, Trust
from interlock.times import iso
from repository import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*-adapter.*"))
GOOD = """\
name: demo
type: adapter
version: "1.0"
description: A demonstration
target: { base_url: "https://demo.example" }
trust: validated
operations:
  read:
    - name: get_thing
      maps_to: "GET /things/{id}"
      params: { id: { type: string, required: true } }
  delete:
    - name: delete_thing
      maps_to: "DELETE /things/{id}"
      params: { id: string }
      danger:
        level: dangerous
        confirmation_message: "Delete {id}?"
"""


def said(reading: AdapterReading) -> list[str]:
    return [f"{problem.line}: {problem.word}: {problem.message}" for problem in reading.problems]


def swapped(old: str, new: str) -> list[str]:
    """What is said of the good file with one piece of it replaced."""
    assert old in GOOD
    return said(read(GOOD.replace(old, new, 1), markdown=False))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_have_no_problems(path: Path) -> None:
    assert said(read_file(path)) == []
    assert len(load(path).operations) >= 12


def test_there_are_two_examples() -> None:
    assert [path.name for path in EXAMPLES] == ["github-adapter.md", "stripe-adapter.yaml"]


def test_a_good_file_is_read_whole() -> None:
    reading = read(GOOD)
    assert said(reading) == [] and reading.usable and reading.adapter is not None
    adapter = reading.adapter
    assert (adapter.name, adapter.version, adapter.trust.level) == ("demo", "1.0", Trust.VALIDATED)
    thing = adapter.operation("delete_thing")
    assert thing is not None and thing.danger is not None and adapter.operation("nope") is None
    assert (thing.category, thing.line, thing.method, thing.danger.level) == ("delete", 13, "DELETE", Level.DANGEROUS)
    assert [(param.name, param.type, param.required) for param in thing.params] == [("id", "string", False)]


def test_markdown_with_front_matter_keeps_its_line_numbers() -> None:
    reading = read(f"---\n{GOOD}---\n\n# Demo: with words\n")
    assert reading.adapter is not None and said(reading) == []
    assert [operation.line for operation in reading.adapter.operations] == [10, 14]
    wrong = read(f"---\n{GOOD.replace('dangerous', 'deadly')}---\ntext\n")
    assert said(wrong)[0].startswith("18: error: level 'deadly'")


def test_the_file_name_says_what_kind_it_is(tmp_path: Path) -> None:
    for name, text, usable in [
        ("a.yaml", GOOD, True),
        ("a.yml", f"---\n{GOOD}", True),
        ("a.md", f"---\n{GOOD}---\n", True),
        ("a.md", GOOD, False),
        ("a.md", f"---\n{GOOD}", False),
        ("a", f"---\n{GOOD}---\nwords: [\n", True),
        ("a", GOOD, True),
    ]:
        path = tmp_path / name
        path.write_text(text)
        assert read_file(path).usable is usable, (name, said(read_file(path)))


LINES = [
    ("name: demo\n", "", "1: error: name is missing"),
    ("name: demo", "name: ''", "1: error: name is empty"),
    ("type: adapter\n", "", "1: error: type is missing"),
    ("type: adapter", "type: skill", "2: warning: type is 'skill', not 'adapter'"),
    ('version: "1.0"', "version: 1.0", "3: warning: version 1.0 is a number; put it in quotes"),
    ("description: A demonstration", "description: [a]", "4: error: description: expected text, got a list"),
    ('target: { base_url: "https://demo.example" }\n', "", "1: error: target is missing"),
    ('{ base_url: "https://demo.example" }', "{ transport: http }", "5: error: base_url is missing"),
    ("https://demo.example", "demo.example", "5: error: base_url 'demo.example' has no scheme and host"),
    ("https://demo.example", "http://demo.example", "5: warning: base_url is not encrypted; use https"),
    ("https://demo.example", "https://a:b@demo.example", "5: error: base_url carries a name or password; use auth"),
    ("https://demo.example", "https://[demo", "5: error: base_url 'https://[demo' is no URL"),
    ("trust: validated\n", "", "1: warning: declares no trust: untested"),
    ("trust: validated", "trust: high", "6: warning: no trust level 'high', so untested; known: untested, generated"),
    ("trust: validated", "trust: { level: verified }", "6: warning: no trust level 'verified', so untested"),
    ("trust: validated", "trust: {}", "6: warning: trust has no level: untested"),
    ("trust: validated", "trust: certified\ntrust_level: high", "7: error: trust and trust_level are both there"),
    ("trust: validated", "trust: { level: certified }", "6: warning: certified without a certification counts as"),
    ("trust: validated", "trust: { level: generated, generated_at: noon }", "6: error: generated_at: expected a time"),
    ("trust: validated", "trust: validated\ntrust_policy: {}", "7: warning: trust_policy is an operator's to set"),
    ("trust: validated", "trust: validated\nauth: { token: ghp_4kQ9 }", "7: error: token looks like a secret"),
    (
        "type: adapter",
        "type: adapter\nrate_limit: 3",
        "3: warning: unknown key 'rate_limit'; did you mean 'rate_limits'",
    ),
    ("type: adapter", "type: adapter\nname: again", "3: error: key 'name' is there twice; first on line 1"),
    ("  read:", "  fetch:", "8: error: unknown key 'fetch'; known: create, delete, execute, read, update"),
    ("get_thing", "GetThing", "9: error: name 'GetThing' is not lower-case words joined by underscores"),
    ("get_thing", "verify_challenge", "9: error: verify_challenge is reserved, and belongs to create"),
    ("get_thing", "delete_thing", "13: error: operation delete_thing is there twice; first on line 9"),
    ("GET /things", "DELETE /things", "10: error: get_thing is under read, but its request deletes"),
    ("GET /things", "delete  /things", "10: error: get_thing is under read, but its request deletes"),
    (
        "trust: validated",
        "trust: validated\nauth: { a: { access_key: AKIAIOSFODNN7EXAMPLE } }",
        "7: error: access_key looks like",
    ),
    ('      maps_to: "GET /things/{id}"\n', "", "9: error: maps_to is missing"),
    ("GET /things/{id}", "GET /things/{key}", "10: warning: maps_to uses {key}, which is no parameter of get_thing"),
    ("params: { id: {", "params: { Id: {", "11: error: parameter 'Id' is not lower-case words"),
    ("params: { id: string }", "params: [id, 3]", "15: error: parameter '' is not lower-case words"),
    ("params: { id: string }", "parms: { id: string }", "15: warning: unknown key 'parms'; did you mean 'params'?"),
    ("level: dangerous", "level: deadly", "17: error: level 'deadly'; known: safe"),
    (
        "level: dangerous",
        "level: dangerous\n        levle: safe",
        "18: error: unknown key 'levle'; did you mean 'level'",
    ),
    ("Delete {id}?", "Delete {ids}?", "18: warning: confirmation_message uses {ids}, which is no parameter"),
    ("name: demo", "name: 'demo", "error: is no YAML: "),
    ("name: demo", "name: demo\n\tx: 1", "2: error: is no YAML: "),
    ("name: demo", "name: !!python/object/apply:os.system [x]", "1: error: "),
    ("name: demo", "name: !secret x", "1: error: tag '!secret' is not read"),
    ("name: demo", "<<: { a: 1 }\nname: demo", "1: error: a merge (<<) is not read; write the keys out"),
    ("name: demo", "? [a]\n: b\nname: demo", "1: error: a key that is no text is not read; write the keys out"),
    ("name: demo", "name: demo\n---\nname: second", "is no YAML: but found another document"),
]


@each(("old", "new", "expected"), LINES)
def test_each_problem_is_named_with_its_line(old: str, new: str, expected: str) -> None:
    found = swapped(old, new)
    assert any(expected in line for line in found), found


HISTORY = """\
trust:
  level: validated
  promotion_history:
    - {{ from: untested, to: generated, at: 2026-01-01T00:00:00Z, by: a, reason: parses }}
    - {{ from: {start}, to: {end}, at: 2026-01-0{day}T00:00:00+00:00, by: b }}
"""


@pytest.mark.parametrize(
    ("start", "end", "day", "expected"),
    [
        ("generated", "validated", 2, ""),
        ("untested", "validated", 2, "untested -> validated skips a level"),
        ("untested", "generated", 2, "starts from untested, but the last step ended at generated"),
        ("generated", "untested", 2, "level is validated, but the history ends at untested"),
        ("generated", "official", 2, "to: expected a trust level, got 'official'"),
    ],
)
def test_a_history_that_does_not_add_up_leaves_the_adapter_untested(
    start: str, end: str, day: int, expected: str
) -> None:
    reading = read(GOOD.replace("trust: validated\n", HISTORY.format(start=start, end=end, day=day)))
    assert reading.adapter is not None
    assert any(expected in line for line in said(reading)) or (not expected and not said(reading))
    assert reading.adapter.trust.level is (Trust.UNTESTED if expected else Trust.VALIDATED)
    if not expected:
        first = reading.adapter.trust.history[0]
        assert (first.before, first.after, first.by, first.reason) == (Trust.UNTESTED, Trust.GENERATED, "a", "parses")
        assert iso(first.at) == "2026-01-01T00:00:00.000Z"


def test_a_certification_is_read() -> None:
    block = "trust: { level: certified, certification: { authority: ACME, signature: s, expires_at: 2027-01-01 } }\n"
    adapter = read(GOOD.replace("trust: validated\n", block)).adapter
    assert adapter is not None and adapter.trust.certification is not None
    assert adapter.trust.certification.expires_at == 1_798_761_600


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@each(
    ("text", "expected"),
    [
        (BOMB, "more than 20000 values"),
        ("a: &a [*a]\n", "nested deeper than 32"),
        ("a: &a {b: *a}\n", "nested deeper than 32"),
        ("a: " + "[" * 40 + "]" * 40, "nested deeper than 32"),
        ("[" * 5000, "error"),
        ("a: " + "{a: " * 3000 + "1" + "}" * 3000, "nested deeper than 32"),
        ("x" * 300_000, "is longer than 256 KB"),
        ("", "is empty"),
        ("- a\n- b\n", "expected a table of keys, got a list"),
        ("just words", "expected a table of keys, got 'just words'"),
        ("a: 0x" + "f" * 100_000, "error"),
        ("a: " + "9" * 100_000, "error"),
        ("a: 1" + ":1" * 100_000, "is too long for int"),
        ("".join(f"k{at}: 1\n" for at in range(21_000)), "more than 20000 values"),
        ("a: *nowhere", "is no YAML: found undefined alias"),
        ("a: \x00", "is no YAML"),
        ("---\nname: x\n", "error"),
    ],
    ids=lambda value: value[:12],
)
def test_a_hostile_file_is_refused(text: str, expected: str) -> None:
    reading = read(text)
    assert not reading.usable and any(expected in line for line in said(reading)), said(reading)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"name: x\nb: \xff\xfe")
    assert said(read_file(path)) == ["2: error: is not UTF-8"]


def test_an_adapter_with_errors_does_not_load(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(GOOD.replace("level: dangerous", "level: deadly"))
    with pytest.raises(AdapterError) as refused:
        load(path)
    assert str(refused.value).startswith(f"{path}:17: level 'deadly'")


def test_no_claim_of_trust_is_translated_from_another_scale() -> None:
    for word in ("untrusted", "low", "medium", "high", "verified", "community", "official", "Certified", "4"):
        adapter = read(GOOD.replace("trust: validated", f"trust: {word}")).adapter
        assert adapter is not None and adapter.trust.level is Trust.UNTESTED


def test_the_forms_of_params() -> None:
    for written in ("[id]", "[{ name: id, type: string }]", "{ id: string }", "{ id: { type: string } }"):
        adapter = read(GOOD.replace("{ id: string }", written)).adapter
        assert adapter is not None
        assert [param.name for param in adapter.operations[1].params] == ["id"]


YAMLISH = st.recursive(
    st.sampled_from(
        ["name", "level", "safe", "operations", "read", "trust", "danger", "1", "true", "~", "&a", "*a", ""]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(inner, inner), max_size=4).map(
            lambda items: f"{{{', '.join(f'{a}: {b}' for a, b in items)}}}"
        ),
    ),
    max_leaves=20,
)


@given(st.sampled_from([line.split(":")[0] + ":" for line in GOOD.splitlines()]), YAMLISH)
@settings(max_examples=150 * EFFORT, deadline=None)
def test_whatever_is_written_is_read_or_refused(key: str, value: str) -> None:
    lines = [f"{key} {value}" if line.startswith(key) else line for line in GOOD.splitlines()]
    reading = read("\n".join(lines))
    assert all(problem.line >= 0 and problem.message for problem in reading.problems)
    read(textwrap.dedent(f"name: x\noperations: {value}\ntrust: {value}\n"))
