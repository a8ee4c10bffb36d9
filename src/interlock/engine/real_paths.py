"""Resolves an action's paths, so that links and Interlock's own files, process and port count as what they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from interlock.analysis.assess import Judgement, join_judgements
from interlock.analysis.facts import Effect, Fact
from interlock.analysis.rules import Rulebook
from interlock.config import SYSTEM_CONFIG, Config
from interlock.identity import home_of
from interlock.policy.load import files_of
from interlock.policy.match_names import MatchNames, with_real_paths
from interlock.policy.real_paths import (
    OwnAssets,
    Process,
    Standpoint,
    own_files,
    own_processes,
    paths_in,
    redirected_effects,
)
from interlock.runtime import Request

MOST_AT_ONCE = 20  # paths that are resolved while others wait
_NEAR = ("/tmp", "/var/tmp")


class NotAtOnce(Exception):
    """Paths on other disks, or too many, to resolve while others wait."""


def resolve_paths(
    rules: Rulebook,
    guarded: OwnAssets,
    request: Request,
    judgement: Judgement,
    named: MatchNames,
    at_once: bool = False,
) -> tuple[Judgement, MatchNames]:
    """Adds the effects on resolved paths to the judgement and the names; raises NotAtOnce where that may take long."""
    whose = request.runs_as or request.agent.principal
    if not (request.local or whose.startswith("uid:")) or not judgement.facts:
        return judgement, named
    away = request.server is not None or request.adapter_context is not None  # its paths may be another machine's
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
    elsewhere = list(redirected_effects(found, real, at)) if resolve is not None else []
    own = own_files(found, real, guarded, request.hook_files)
    facts = [*elsewhere, *own, *processes]
    if not facts:
        return judgement, named
    if elsewhere:
        written = [(fact.target, one) for fact, one in _pairs(found, real, elsewhere)]
        named = with_real_paths(named, request.action, written)
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
    return join_judgements(judgement, Judgement(judgement.assessment, (), tuple(facts)), rules)


def _pairs(
    found: Sequence[tuple[Effect, str, bool]], real: Sequence[str], elsewhere: Sequence[Effect]
) -> list[tuple[Effect, Effect]]:
    by_path = {one.path: one for one in elsewhere}
    return [(fact, by_path[there]) for (fact, _, _), there in zip(found, real, strict=True) if there in by_path]


_PACKAGES = frozenset({"site-packages", "dist-packages"})


def guarded_of(config: Config) -> OwnAssets:
    """Interlock's own files, process and port, under each name and where links lead."""
    paths = [os.path.abspath(path) for path in _paths(config)]
    real = [os.path.realpath(path) for path in paths]
    ports = {config.daemon.port} if config.daemon.port else set()
    found = tuple(sorted({*paths, *real, f"/proc/{os.getpid()}"} - {"/"}))
    return OwnAssets(found, (_process(),), frozenset(ports))


def _paths(config: Config) -> Iterator[Path]:
    base = Path(config.path).parent if config.path else None
    yield config.folder
    yield config.socket_path
    yield config.agents_socket
    if config.path:
        yield Path(config.path)
    yield from files_of(config.policy, base)
    yield from config.rule_files
    for name in config.adapters:
        yield (base or Path()) / Path(name).expanduser()
    if config.separate.code:
        yield Path(config.separate.code)
    if SYSTEM_CONFIG.exists():
        yield SYSTEM_CONFIG.parent
    package = Path(__file__).resolve().parent.parent
    if package.parent.name in _PACKAGES:  # a development checkout is no installation
        yield package


def _process() -> Process:
    pid = os.getpid()
    return Process(pid, os.getpgrp(), _read(f"/proc/{pid}/comm"), _read(f"/proc/{pid}/cmdline"))


def _read(path: str) -> str:
    try:
        text = Path(path).read_bytes()
    except OSError:
        return ""
    return text.decode("utf-8", "replace").rstrip("\n\0").replace("\0", " ")
