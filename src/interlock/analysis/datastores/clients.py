"""Commands to queues and key-value services (Kafka, RabbitMQ, NATS, etcd, Consul…) -> effects, by the description of the program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.analysis.facts import Report
from interlock.analysis.programs import Program, StoreEffect
from interlock.analysis.programs.options import CommandOptions, behind, holds, parse


def read_store(program: Program, words: Sequence[str], out: Report) -> None:
    """The effect of the first entry that holds; what none speaks of only reads."""
    out.step()
    found = parse(program, words)
    for item in program.stores:
        if behind(item.subcommand, found.operands) is not None and holds(item, found):
            name = _object(item, found)
            out.effect(item.effect, name, *item.traits, *_more_traits(item, name))
            return
    out.effect("store_read", "".join(found.operands[1:2]))


def _object(item: StoreEffect, found: CommandOptions) -> str:
    """The name of the object: of an option, a setting, or the operand at its place."""
    if item.option:
        return found.value(*item.option) or ""
    if item.setting:
        parts = (word.partition("=") for word in found.operands)
        return next((value for name, equals, value in parts if equals and name in item.setting), "")
    return "".join(found.operands[item.at : item.at + 1])


def _more_traits(item: StoreEffect, name: str) -> list[str]:
    return [trait for trait, pattern in item.traits_for.items() if re.fullmatch(pattern, name)]
