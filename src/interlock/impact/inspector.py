"""Inspects the targets of an action, as the child process `python -I -m interlock.impact.inspector FD`; writes and starts nothing, and ends in time."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pwd
import resource
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from interlock.impact import ENTRIES, MILLISECONDS, Budget, BudgetExceeded, Unclear
from interlock.impact.git.losses import git_losses
from interlock.impact.project_settings import check_compose_files, check_database_settings, check_sql_files
from interlock.impact.survey import TEMP, FileSurvey, ImpactTally, SessionFiles
from interlock.impact.targets import effective_home, existing_paths, find_paths, is_unambiguous, join_target
from interlock.impact.warm_child import READY
from interlock.policy.impact import Impact, impact_json, unknown_impact

_VERBS = {"delete": "delete", "truncate": "empty", "overwrite": "overwrite", "database": "change"}


def inspect_targets(question: Mapping[str, Any], home: str = "") -> Impact:
    """What is there of the targets, and whether it exists elsewhere; whatever stands in the way of an answer is said in it."""
    tally, home = ImpactTally(), effective_home(question, home)
    budget = Budget.of(int(question.get("ms", MILLISECONDS)), int(question.get("entries", ENTRIES)))
    try:
        _inspect_effects(question, tally, budget, home)
    except (BudgetExceeded, Unclear) as error:
        tally.unclear(str(error))
    except RecursionError:
        tally.unclear("it is nested too deep")
    except OSError as error:
        tally.unclear(f"it cannot be looked into ({error.strerror or type(error).__name__})")
    except (ValueError, KeyError, TypeError, MemoryError):
        tally.unclear("it cannot be read")
    return tally.seen()


def _inspect_effects(question: Mapping[str, Any], tally: ImpactTally, budget: Budget, home: str) -> None:
    temp = tuple(question.get("temp", TEMP))
    bases = [str(base) for base in question["bases"]]
    if not bases or not all(base.startswith("/") for base in bases):
        raise Unclear("the folder is not known")
    own = SessionFiles.of(question.get("made", ()), budget)
    standing = FileSurvey(tally, budget, temp, os.path.realpath(bases[0]), own, home)
    for deed in question["deeds"]:
        if deed["verb"] == "git":
            words, after = ([str(word) for word in deed.get(name, ())] for name in ("words", "after"))
            if not sum(git_losses(base, words, standing, after) for base in bases):
                raise Unclear("there is no repository")
        elif deed["verb"] == "settings":
            check_database_settings(bases, str(deed["environment"]), standing)
        elif deed["verb"] == "compose":
            files = [{"target": target} for target in deed["targets"]]
            places = [path for one in files for path in target_paths(one, bases, home, budget)]
            check_compose_files(places, standing, bool(deed.get("own")))
        elif deed["verb"] == "statements":
            scripts = [{"target": str(target)} for target in deed["targets"]]
            check_sql_files([path for one in scripts for path in target_paths(one, bases, home, budget)], standing)
        else:
            _files(deed, bases, standing, home, [str(base) for base in question.get("strayed", ())])
    if own.lost_with_its_copy:
        raise Unclear("a copy would go with what it is a copy of")


def _files(
    deed: Mapping[str, Any], bases: list[str], standing: FileSurvey, home: str, strayed: Sequence[str] = ()
) -> None:
    verb = str(deed["verb"])
    standing.tally.verb = _VERBS[verb]
    paths = dict.fromkeys(target_paths(deed, bases, home, standing.budget))
    if not paths and any(target_paths(deed, [base], home, standing.budget) for base in strayed):
        raise Unclear("it is not here, but in a folder that this session went to")
    if not paths and deed.get("sure"):
        standing.tally.absent |= all(_expected(deed, base, standing, home) for base in bases)
    seen: set[str] = set()
    for path in sorted(paths):
        if verb == "delete":
            if not any(path.startswith(f"{one}/") for one in seen):
                seen.add(path)
                standing.tree(path)
        else:
            real = os.path.realpath(path)  # what is written goes through links
            standing.file(real, os.stat(real), worked=bool(deed.get("worked")))
            if verb == "database":
                _beside(real, standing)


def _expected(deed: Mapping[str, Any], base: str, standing: FileSurvey, home: str) -> bool:
    """Whether that nothing is there is no surprise: inside the project, or what programs keep at home; elsewhere it may mean another place."""
    if "found" in deed:  # a search that finds nothing where it looks
        return os.path.isdir(join_target(base, str(deed["found"]["root"]), home)) or _inside(deed, base, standing, home)
    return is_unambiguous(str(deed["target"])) and _inside(deed, base, standing, home)


def _inside(deed: Mapping[str, Any], base: str, standing: FileSurvey, home: str) -> bool:
    target = str(deed["found"]["root"] if "found" in deed else deed["target"])
    path = os.path.normpath(join_target(base, target, home))
    repository = standing.repository(os.path.realpath(base)) if os.path.isdir(base) else None
    return (repository is not None and f"{path}/".startswith(f"{repository.top}/")) or (
        home not in ("", "/") and path.startswith(f"{home}/.")
    )


def target_paths(deed: Mapping[str, Any], bases: Sequence[str], home: str, budget: Budget) -> list[str]:
    """The real paths that a deed to files names, in all folders that it may run in."""
    if "found" not in deed:
        return [path for base in bases for path in existing_paths(base, str(deed["target"]), home, budget)]
    roots = [path for base in bases for path in existing_paths(base, str(deed["found"]["root"]), home, budget)]
    return [path for root in roots for path in find_paths(root, deed["found"], budget)]


def _beside(path: str, standing: FileSurvey) -> None:
    """What a database has not yet written into its file."""
    for ending in ("-wal", "-journal"):
        if os.path.lexists(path + ending):
            standing.file(path + ending, os.lstat(path + ending))


MOST_ASKED = 1 << 20  # bytes of a question
MEMORY = 2 << 30
HANDLES = 64
_PR_SET_DUMPABLE = 4


def confine() -> None:
    """What a hostile repository could make it use up."""
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_NOFILE, HANDLES),
        (resource.RLIMIT_FSIZE, 0),  # it writes nothing
        (resource.RLIMIT_NPROC, 0),  # and starts nothing
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


def deny_tracing() -> None:
    """No other program of the same user looks into it or changes what it says."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def answer_request(line: bytes, home: str) -> bytes:
    """The answer to one question; one that cannot be read is answered too."""
    try:
        seen = inspect_targets(json.loads(line), home)
    except Exception as error:
        seen = unknown_impact(f"looking failed ({type(error).__name__})")
    return json.dumps(impact_json(seen)).encode() + b"\n"


def main(handle: int) -> None:
    """Until nobody asks any more."""
    os.chdir("/")
    deny_tracing()
    confine()
    home = pwd.getpwuid(os.getuid()).pw_dir
    with socket.socket(fileno=handle) as sock, sock.makefile("rb") as asked:
        sock.sendall(READY)
        while line := asked.readline(MOST_ASKED):
            sock.sendall(answer_request(line, home))


if __name__ == "__main__":
    main(int(sys.argv[1]))
