"""The tables of grammars and dialects: every node or word names a rule or a template, and a wrong table is refused."""

from __future__ import annotations

import ast

import pytest

from interlock.analysis.code import dialects
from interlock.analysis.code.templates import FormTemplate, by_grammar, check_tables
from interlock.analysis.code.token_parser import dialect_of
from interlock.analysis.packs import PackError


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"nodes": {"a b": "name"}, "node": {}}, "unknown key 'node'"),
        ({"nodes": {"a b": "name", "b": "block"}}, "told twice"),
    ],
)
def test_a_table_that_says_something_else_is_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(PackError, match=message):
        check_tables([{"language": "x", **table}])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"token": []}, "unknown field `token`"),
        ({"tokens": [{"opens": "a", "reeds": "raw"}]}, "unknown field `reeds`"),
        ({"tokens": [{"opens": "a", "kind": "txt"}]}, "Invalid enum value 'txt'"),
    ],
)
def test_a_table_of_tokens_that_says_something_else_is_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(PackError, match=message):
        dialects.check_tables([{"language": "x", "tokens": [], "precedence": [], **table}])


@pytest.mark.parametrize(("text", "message"), [("chioce", "no rule 'chioce'"), ("$left = ", "no template")])
def test_a_template_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(PackError, match=message):
        FormTemplate("x", text)


def test_a_rule_of_a_language_must_be_given() -> None:
    with pytest.raises(PackError, match="lua: no rule"):
        by_grammar("lua", "lexing")("x = 1")
    with pytest.raises(PackError, match="awk: a form"):
        dialect_of("awk", "lexing")


@pytest.mark.parametrize(
    ("language", "source", "form"),
    [
        ("php_include", "include 'a.php'", "Call(func=Name(id='<include>'"),
        ("php_global", "function f() { global $a, $b; }", "Global(names=['$a', '$b'])"),
        ("ruby_for", "for x in [1] do y = x end", "For(target=Name(id='x'"),
        ("ruby_ticks", "`ls #{a}`", "Call(func=Name(id='`'"),
    ],
)
def test_a_template_is_filled_with_the_parts_of_a_node(language: str, source: str, form: str) -> None:
    from interlock.analysis.code.grammar_languages import read_php, read_ruby

    reader = read_php if language.startswith("php") else read_ruby
    body, whole = reader.__self__.parse(source)
    assert whole and form in "".join(ast.dump(node) for node in body)
