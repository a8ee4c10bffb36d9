"""Where does a loop follow the statement that it repeats, as in `unlink for @files`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.core.read.inline.common.lexing import Token

if TYPE_CHECKING:
    from interlock.core.read.inline.common.walk import Walk

_NO_STATEMENT_BEFORE = frozenset({"}", "->", "{", ",", "=", "("})


def following_loop(walk: Walk) -> int:
    """The token of the loop; 0 if there is none. A stretch that was found free of them is not searched again."""
    place = (id(walk.source), walk.stop)
    first, last = walk.free.get(place, (0, 0))
    if first <= walk.at < last:
        return 0
    loop, end = _find(walk)
    if not loop:
        walk.free[place] = (walk.at, end)
    return loop


def _find(walk: Walk) -> tuple[int, int]:
    index = walk.at + 1
    while index < walk.stop:
        token = walk.source.tokens[index]
        if _ends(token):
            return 0, index
        if token.kind == "name" and token.text in walk.dialect.loops:
            before = walk.source.tokens[index - 1]
            return (0, index) if before.kind == "op" and before.text in _NO_STATEMENT_BEFORE else (index, index)
        index = walk.source.mates.get(index, index) + 1
    return 0, walk.stop


def statement_end(walk: Walk, index: int) -> int:
    """Where the statement that goes on at `index` ends."""
    while index < walk.stop and not _ends(walk.source.tokens[index]):
        index = walk.source.mates.get(index, index) + 1
    return min(index, walk.stop)


def _ends(token: Token) -> bool:
    return token.kind == "end" or (token.kind == "op" and token.text == ";")
