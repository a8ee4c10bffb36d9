"""SQL is cut into tokens that stand in the text one after the other, each as its dialect reads it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cases import each
from interlock.analysis.sql.tokens import WORDS, cut, flavours

PIECES = (
    "SELECT |delete|a$b|_x|1a|1.5e3|0x1F|.5|E'a'|n'x'|N'|q'[a]'|nq'(a)'|U&'d'|u&|_utf8'x'|B'1'|a'b'|1'|_'a'|$1|$$a$$|$t$x$t$|(|)|,|;|'"
    '|"|`|[a]|a[1]|\\d\n|\n|.read x\n|!!ls\n|@f\n|:r x|::int|--x\n|-- x\n|/*a*/|/*!50 x*/|*/|#c\n|# c\n|\ufffc\ufffc|\ufffcA\ufffc|a\ufffcb\ufffc'
    "|é|ñame|=|<>|||GO\n| |\t|?|@@v|:p|#t|##t|{|}|\\;|\\\\|\\!|\\"
).split("|")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
SPELLED = frozenset({"word", "hole", "number", "var"})  # kinds that stand as written


@given(TEXTS)
def test_tokens_stand_in_the_text_one_after_the_other(text: str) -> None:
    for flavour in (*WORDS.dialects, "unknown", "perhaps_mysql"):
        tokens, _ = cut(text, flavour)
        ends = [0, *(token.end for token in tokens)]
        assert all(end <= token.start < token.end <= len(text) for end, token in zip(ends, tokens, strict=False))
        for token in tokens:
            assert token.kind not in SPELLED or token.text == text[token.start : token.end]
            assert token.word == (token.text.upper() if token.kind == "word" else "")


@each(
    "dialect, text, kinds, whole",
    [
        ("postgres", r"E'a\'b' 'a\' x", [("string", "a'b"), ("string", "a\\"), ("word", "x")], True),
        ("mysql", r"'a\'b' " + '"c""d"', [("string", "a'b"), ("string", 'c"d')], True),
        ("postgres", "'it''s' " + '"a""b"', [("string", "it's"), ("name", 'a"b')], True),
        ("postgres", "$t$ a $$ b $t$ x", [("string", " a $$ b "), ("word", "x")], True),
        ("sqlite", "$t$ 'a", [("punct", "$"), ("word", "t$"), ("string", "a")], False),
        ("oracle", "nq'[a']b]' q'xyx'", [("string", "a']b"), ("string", "y")], True),
        ("oracle", "q'[a", [("string", "a")], False),
        ("tsql", "[a b] x[1] y[c]", [("name", "a b"), ("word", "x"), ("punct", "["), ("number", "1"), ("punct", "]"),
                                     ("word", "y"), ("punct", "["), ("word", "c"), ("punct", "]")], True),
        ("postgres", "a /* b /* c */ d */ e --f\ng", [("word", "a"), ("word", "e"), ("word", "g")], True),
        ("sqlite", "a /* b /* c */ d", [("word", "a"), ("word", "d")], True),
        ("mysql", "a /*!50000 b */ --c\n# d", [("word", "a"), ("word", "b"), ("punct", "-"), ("punct", "-"), ("word", "c")], True),
        ("postgres", "a /* b", [("word", "a")], False),
        ("postgres", "a \\; b \\d c \\\\ e \\! f \\\\ g", [("word", "a"), ("punct", ";"), ("word", "b"), ("meta", "\\d c"), ("word", "e"),
                                                          ("meta", "\\! f \\\\ g")], True),
        ("sqlite", "a.b;\n.read x\nc", [("word", "a"), ("punct", "."), ("word", "b"), ("punct", ";"), ("meta", ".read x"), ("word", "c")], True),
        ("tsql", ":r a\n!!b\n::c", [("meta", ":r a"), ("meta", "!!b"), ("punct", "::"), ("word", "c")], True),
        ("", "a\ufffcb\ufffc :p @@v $1 ##t a->>b", [("hole", "a\ufffcb\ufffc"), ("var", ":p"), ("var", "@@v"), ("var", "$1"), ("var", "##t"),
                                                   ("word", "a"), ("punct", "->>"), ("word", "b")], True),
    ],
)  # fmt: skip
def test_a_text_is_cut_as_its_dialect_reads_it(
    dialect: str, text: str, kinds: list[tuple[str, str]], whole: bool
) -> None:
    tokens, complete = cut(text, flavours(text, dialect)[0])
    assert [(token.kind, token.text) for token in tokens] == kinds
    assert complete is whole
