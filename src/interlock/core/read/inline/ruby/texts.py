"""What do the methods of Ruby's texts and lists make of them."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.read.inline.common import values
from interlock.core.read.inline.common.dialect import Call
from interlock.core.read.inline.common.values import EMPTY, UNKNOWN, Value, glued, text

_KEEPS = frozenset(
    (
        "read body to_s to_str strip chomp freeze dup string itself to_path expand_path realpath each "
        "each_with_index map select reject sort to_a flatten compact uniq reverse_each lazy filter sort_by "
        "each_entry cleanpath collect value shellescape force_encoding encode"
    ).split()
)


def ruby_text(call: Call, on: Value) -> Value | None:
    """A method of a text or a list that makes another."""
    name, args = call.name, call.plain
    if name in ("+", "concat", "<<"):
        return glued([on, *args])
    if name == "join":
        return values.joined(args[0] if args else EMPTY, on)
    if name in ("reverse",):
        return values.turned(on) if on.many else values.backwards(on)
    if name == "pack":
        return values.packed(args[0], [on]) if args else UNKNOWN
    if name == "unpack1" or name == "unpack":
        return values.unbase64(on) if args and args[0].text.startswith("m") else UNKNOWN
    if name == "chr":
        return values.character(on)
    if name in ("downcase", "upcase"):
        return values.lower(on) if name == "downcase" else values.upper(on)
    if name in ("gsub", "sub", "tr", "delete") and len(args) == 2 and name != "tr":
        return values.swapped(on, args[0], args[1])
    if name == "hex":
        return values.from_hex(on)
    if name == "split":
        return values.split(on, args[0].text if args else None)
    if name in ("first", "last") and on.many:
        return on.at(text("0" if name == "first" else "-1"))
    if name == "to_sym" or name in _KEEPS:
        return replace(on, ref="" if on.ref != "path" else on.ref)
    return None
