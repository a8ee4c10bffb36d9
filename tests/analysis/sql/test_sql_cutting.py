"""The quick way over words, numbers and brackets cuts SQL exactly as the careful way does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlock.analysis.sql.tokens import _FLAVOURS, SqlToken, _Cutter, cut

PIECES = (
    "SELECT |delete|a$b|_x|1a|1.5e3|0x1F|.5|E'a'|n'x'|N'|q'[a]'|nq'(a)'|U&'d'|u&|_utf8'x'|B'1'|a'b'|1'|_'a'|$1|$$a$$|$t$x$t$|(|)|,|;|'"
    '|"|`|[a]|a[1]|\\d\n|\n|.read x\n|!!ls\n|@f\n|:r x|::int|--x\n|-- x\n|/*a*/|/*!50 x*/|*/|#c\n|# c\n|\ufffc\ufffc|\ufffcA\ufffc|a\ufffcb\ufffc'
    "|é|ñame|=|<>|||GO\n| |\t|?|@@v|:p|#t|##t|{|}"
).split("|")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(TEXTS)
def test_the_quick_way_and_the_careful_way_cut_alike(text: str) -> None:
    for flavour in set(_FLAVOURS.values()):
        assert cut(text, flavour) == _carefully(_Cutter(text, flavour))


def _carefully(cutter: _Cutter) -> tuple[list[SqlToken], bool]:
    while cutter.at < len(cutter.text):
        if not (cutter.skip() or cutter.meta() or cutter.string()):
            cutter.plain()
    return cutter.tokens, cutter.whole
