"""The shipped program descriptions, by every name of each program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from interlock.analysis.packs import Pack, PackError, load_packs
from interlock.analysis.programs import Program, build_program, by_every_name
from interlock.analysis.programs.net import NetWords, build_net

_SHIPPED = Path(__file__).parent


@cache
def shipped_programs() -> Mapping[str, Program]:
    """Every shipped description; refuses all of them when one is wrong."""
    return build_programs(_packs())


@cache
def net_words() -> NetWords:
    """What words mean on a command line, from the one pack that says so."""
    return build_net(next(pack["net"] for pack in _packs() if "net" in pack))


@cache
def _packs() -> Sequence[Pack]:
    return load_packs(_SHIPPED, _checked)


def _checked(packs: Sequence[Pack]) -> Sequence[Pack]:
    build_programs(packs)
    return packs


def build_programs(packs: Sequence[Pack]) -> dict[str, Program]:
    """The descriptions of these packs; raises PackError where a program is described twice."""
    described: dict[str, Mapping[str, Any]] = {}
    for pack in packs:
        for name, data in pack.get("program", {}).items():
            if name in described:
                raise PackError(f"program {name!r} is described twice")
            described[name] = data
    return by_every_name({name: build_program(name, _completed(name, described)) for name in described})


def _completed(name: str, described: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """A description with what it does not say itself taken from the program that it is like."""
    own = described[name]
    other = own.get("like")
    if other is None:
        return own
    if other not in described or "like" in described[other]:
        raise PackError(f"program {name}: like is {other!r}, which is no description of its own")
    return {**described[other], "aliases": [], "alike": [], **{key: own[key] for key in own if key != "like"}}
