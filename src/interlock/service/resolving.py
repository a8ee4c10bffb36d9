"""Resolves the paths of a judged action, so that links, Interlock's own files and its processes count as what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from interlock.core.classify import Rulebook
from interlock.core.decide import Judgement, joined
from interlock.core.guarded import Guarded, Standpoint, own_files, own_processes, paths_in, straying
from interlock.core.read.facts import Effect, Fact
from interlock.core.titles import Titles, led_astray
from interlock.service.homes import home_of
from interlock.service.request import Request

MOST_AT_ONCE = 20  # paths that are resolved while others wait
_NEAR = ("/tmp", "/var/tmp")


class NotAtOnce(Exception):
    """Paths on other disks, or many: nobody else should wait for them."""


def resolved(
    rules: Rulebook, guarded: Guarded, request: Request, judgement: Judgement, named: Titles, at_once: bool = False
) -> tuple[Judgement, Titles]:
    """The judgement and the names, with where the action's paths really lead; raises NotAtOnce where that may take long."""
    whose = request.runs_as or request.agent.principal
    if not (request.here or whose.startswith("uid:")) or not judgement.facts:
        return judgement, named
    away = request.server is not None or request.adapted is not None  # its paths may be another machine's
    resolve = None if away else request.resolve
    at = _standpoint(request, whose)
    found = paths_in(judgement.facts, at)
    processes = [] if away else list(own_processes(judgement.facts, guarded, request.files))
    if not found:
        return (_joined(rules, judgement, processes), named) if processes else (judgement, named)
    pairs = [(path, follow) for _, path, follow in found]
    if at_once and resolve is not None:
        _check(pairs, at)
    real = [path for path, _ in pairs]
    if resolve is not None:
        *real, cwd, home = resolve([*pairs, (at.cwd, True), (at.home, True)])
        at = replace(at, real_cwd=cwd, real_home=home)
    elsewhere = list(straying(found, real, at)) if resolve is not None else []
    own = own_files(found, real, guarded, request.hooked)
    facts = [*elsewhere, *own, *processes]
    if not facts:
        return judgement, named
    if elsewhere:
        written = [(fact.target, one) for fact, one in _pairs(found, real, elsewhere)]
        named = led_astray(named, request.action, written)
    return _joined(rules, judgement, facts), named


def _standpoint(request: Request, whose: str) -> Standpoint:
    cwd, home = request.action.cwd, request.action.home or home_of(whose)
    return Standpoint(cwd.rstrip("/") if cwd.startswith("/") else "", home.rstrip("/") if home.startswith("/") else "")


def _check(pairs: Sequence[tuple[str, bool]], at: Standpoint) -> None:
    near = [folder for folder in (at.cwd, at.home, *_NEAR) if folder]
    if len(pairs) > MOST_AT_ONCE or not all(
        any(path == one or path.startswith(f"{one}/") for one in near) for path, _ in pairs
    ):
        raise NotAtOnce


def _joined(rules: Rulebook, judgement: Judgement, facts: Sequence[Fact]) -> Judgement:
    return joined(judgement, Judgement(judgement.assessment, (), tuple(facts)), rules)


def _pairs(
    found: Sequence[tuple[Effect, str, bool]], real: Sequence[str], elsewhere: Sequence[Effect]
) -> list[tuple[Effect, Effect]]:
    by_path = {one.path: one for one in elsewhere}
    return [(fact, by_path[there]) for (fact, _, _), there in zip(found, real, strict=True) if there in by_path]
