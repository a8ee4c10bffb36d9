"""What do the blocks get that are handed to Ruby's calls."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.read.inline.common.dialect import PAIRS, Call
from interlock.core.read.inline.common.values import Value
from interlock.core.read.inline.common.walk import Walk


def run_blocks(walk: Walk, call: Call, given: tuple[Value, ...]) -> None:
    """Read every block that a call is handed with the values it gets."""
    for value in call.args:
        if value.body >= 0:
            walk.run(value.body, given)


def looped(walk: Walk, call: Call, on: Value) -> Value:
    """each and its kin: the block, or the function after `&`, gets one item at a time."""
    named = on.ref and on.ref != "path"
    one = replace(on.each(), ref=f"{on.ref}.each" if named else on.ref, traits=on.traits if named else on.each().traits)
    for value in call.args:
        if value.body >= 0:
            walk.run(value.body, (one,))
        elif value.ref and value.ref != PAIRS:
            walk.called(value, (one,))
        elif value.known and value.text.isidentifier():
            walk.invoke(Call(value.text, (), one))
    return replace(on, many=True) if on.ref in ("", "path") else replace(on, ref=f"{on.ref}.{call.name}")
