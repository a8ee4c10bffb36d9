"""Inspects the targets of an action, as the child process `python -I -m interlock.impact.inspector FD`; writes and starts nothing, and ends in time."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import resource
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from interlock.identity import make_undumpable
from interlock.impact import ENTRIES, MILLISECONDS, PROBLEMS, Budget, BudgetExceeded, Unclear, problem_words
from interlock.impact.git.losses import git_losses
from interlock.impact.git.replaced import replaced_files
from interlock.impact.project_settings import (
    check_compose_files,
    check_database_settings,
    check_last_migration,
    check_sql_files,
)
from interlock.impact.survey import TEMP, FileSurvey, ImpactTally, SessionFiles
from interlock.impact.targets import AMBIGUOUS, EffectTargets, join_target
from interlock.impact.warm_child import READY
from interlock.model import Json
from interlock.policy.impact import Impact, impact_json

MAX_REQUEST = 1 << 20  # bytes
MEMORY = 2 << 30
HANDLES = 64
_CHECKS: Mapping[str, Callable[[Json, Sequence[str], FileSurvey], None]] = {
    "settings": check_database_settings,
    "migrations": check_last_migration,
    "compose": check_compose_files,
    "statements": check_sql_files,
}
_VERBS = {"delete": "delete", "truncate": "empty", "overwrite": "overwrite", "database": "change"}


def inspect_targets(question: Json, home: str = "") -> Impact:
    """What exists, and whether it exists elsewhere; an obstacle becomes the impact's problem."""
    tally = ImpactTally()
    budget = Budget.of(int(question.get("ms", MILLISECONDS)), int(question.get("entries", ENTRIES)))
    try:
        _inspect_effects(question, tally, EffectTargets.of(question, home, budget))
    except PROBLEMS as error:
        tally.problem = problem_words(error, "inspected")
    return tally.impact()


def _inspect_effects(question: Json, tally: ImpactTally, targets: EffectTargets) -> None:
    bases, budget = targets.bases, targets.budget
    own = SessionFiles.of(question.get("made", ()), budget)
    temp = tuple(question.get("temp", TEMP))
    survey = FileSurvey(budget, tally, temp, os.path.realpath(bases[0]), targets.home, own)
    for effect in question["deeds"]:
        verb = effect["verb"]
        if verb == "git":
            git_losses(effect, bases, survey)
        elif verb == "replaced":
            for path in (path for base in bases for path in replaced_files(base, effect["words"], survey)):
                survey.file(path, os.lstat(path))
            tally.found = True
        elif verb == "anything":
            for base in map(os.path.realpath, bases):
                repository = survey.repository(base) if os.path.isdir(base) else None
                survey.below(repository.top if repository is not None else base)
        elif verb in _CHECKS:
            places = [path for target in effect.get("targets", ()) for path in targets.existing(target)]
            places += targets.paths(effect) if verb == "migrations" else []
            _CHECKS[verb](effect, bases if verb == "settings" else places, survey)
            tally.found, tally.restorable = True, tally.restorable + 1
        else:
            (_inspect_named if effect.get("maybe") else _inspect_files)(effect, targets, survey)
    if own.lost_with_its_copy:
        raise Unclear("a copy would go with what it is a copy of")


def _inspect_files(effect: Json, targets: EffectTargets, survey: FileSurvey) -> None:
    verb = str(effect["verb"])
    survey.tally.verb = _VERBS[verb]
    paths = dict.fromkeys(targets.paths(effect))
    if not paths and replace(targets, bases=targets.strayed).paths(effect):
        raise Unclear("it is not here, but in a folder that this session went to")
    if not paths and effect.get("sure"):
        survey.tally.absent |= all(_is_expected_missing(effect, base, survey) for base in targets.bases)
    trees: set[str] = set()
    for path in sorted(paths):
        if verb == "delete":
            if not any(path.startswith(f"{one}/") for one in trees):
                trees.add(path)
                survey.tree(path)
            continue
        real = os.path.realpath(path)  # what is written goes through links
        for one in targets.replaced(real, effect):
            if os.path.isdir(one) and not os.path.islink(one):
                survey.below(one)
            elif os.path.lexists(one):
                survey.file(one, os.lstat(one))
        # Files in which SQLite keeps pages that are not yet in the database.
        for one in (f"{real}-wal", f"{real}-journal") if verb == "database" else ():
            if os.path.lexists(one):
                survey.file(one, os.lstat(one))


def _inspect_named(effect: Json, targets: EffectTargets, survey: FileSurvey) -> None:
    """They are kept if that is possible, and never a question."""
    inner = replace(survey, tally=ImpactTally())
    survey.tally.found = True
    with contextlib.suppress(Unclear, OSError, BudgetExceeded):
        if targets.named(effect):
            _inspect_files(effect, targets, inner)
    survey.tally.presumed += inner.tally.only


def _is_expected_missing(effect: Json, base: str, survey: FileSurvey) -> bool:
    """Inside the project, or a program's file at home."""
    search, home = effect.get("found"), survey.home
    target = str(search["root"] if search is not None else effect["target"])
    path = os.path.normpath(join_target(base, target, home))
    if search is not None and os.path.isdir(path):  # it finds nothing where it looks
        return True
    repository = survey.repository(os.path.realpath(base)) if os.path.isdir(base) else None
    inside = repository is not None and f"{path}/".startswith(f"{repository.top}/")
    at_home = home not in ("", "/") and path.startswith(f"{home}/.")
    return (search is not None or not AMBIGUOUS.search(target)) and (inside or at_home)


def confine(memory: int = MEMORY, handles: int = HANDLES, writes: bool = False) -> None:
    """Limits what a hostile repository could use up; nothing is started, and without `writes` nothing written."""
    limits = {resource.RLIMIT_AS: memory, resource.RLIMIT_NOFILE: handles}
    none = (resource.RLIMIT_CORE, resource.RLIMIT_NPROC, *(() if writes else (resource.RLIMIT_FSIZE,)))
    for what, most in {**limits, **dict.fromkeys(none, 0)}.items():
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


def answer_request(question: Json, home: str) -> Json:
    """A malformed request gets an unknown impact."""
    try:
        impact = inspect_targets(question, home)
    except Exception as error:
        impact = Impact(problem=f"the inspection failed ({type(error).__name__})")
    return impact_json(impact)


def answer_requests(handle: int, answer: Callable[[Any, str], Json], limits: Callable[[], None] = confine) -> None:
    os.chdir("/")
    make_undumpable()
    limits()
    home = pwd.getpwuid(os.getuid()).pw_dir
    with socket.socket(fileno=handle) as sock, sock.makefile("rb") as requests:
        sock.sendall(READY)
        # One that is cut off ends the child: answers to its parts would be taken for those to later requests.
        while (line := requests.readline(MAX_REQUEST)).endswith(b"\n"):
            sock.sendall(json.dumps(answer(json.loads(line), home)).encode() + b"\n")


if __name__ == "__main__":
    answer_requests(int(sys.argv[1]), answer_request)
