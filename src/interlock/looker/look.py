"""One question about an action's targets -> what would be gone: looks, changes nothing, runs nothing, and ends in time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from interlock.core.loss import Seen
from interlock.looker.budget import ENTRIES, MILLISECONDS, Budget, Spent, Unclear
from interlock.looker.found import found
from interlock.looker.git_deeds import git
from interlock.looker.homes import home_in
from interlock.looker.made import Own
from interlock.looker.settings import compose, settings, statements
from interlock.looker.standing import TEMP, Standing
from interlock.looker.tally import Tally
from interlock.looker.targets import certain, existing, whole

_VERBS = {"delete": "delete", "truncate": "empty", "overwrite": "overwrite", "database": "change"}


def look(question: Mapping[str, Any], home: str = "") -> Seen:
    """What is there of the targets, and whether it exists elsewhere; whatever stands in the way of an answer is said in it."""
    tally, home = Tally(), home_in(question, home)
    budget = Budget.of(int(question.get("ms", MILLISECONDS)), int(question.get("entries", ENTRIES)))
    try:
        _look(question, tally, budget, home)
    except (Spent, Unclear) as error:
        tally.unclear(str(error))
    except RecursionError:
        tally.unclear("it is nested too deep")
    except OSError as error:
        tally.unclear(f"it cannot be looked into ({error.strerror or type(error).__name__})")
    except (ValueError, KeyError, TypeError, MemoryError):
        tally.unclear("it cannot be read")
    return tally.seen()


def _look(question: Mapping[str, Any], tally: Tally, budget: Budget, home: str) -> None:
    temp = tuple(question.get("temp", TEMP))
    bases = [str(base) for base in question["bases"]]
    if not bases or not all(base.startswith("/") for base in bases):
        raise Unclear("the folder is not known")
    own = Own.of(question.get("made", ()), budget)
    standing = Standing(tally, budget, temp, os.path.realpath(bases[0]), own, home)
    for deed in question["deeds"]:
        if deed["verb"] == "git":
            words, after = ([str(word) for word in deed.get(name, ())] for name in ("words", "after"))
            if not sum(git(base, words, standing, after) for base in bases):
                raise Unclear("there is no repository")
        elif deed["verb"] == "settings":
            settings(bases, str(deed["environment"]), standing)
        elif deed["verb"] == "compose":
            files = [{"target": target} for target in deed["targets"]]
            places = [path for one in files for path in paths_of(one, bases, home, budget)]
            compose(places, standing, bool(deed.get("own")))
        elif deed["verb"] == "statements":
            scripts = [{"target": str(target)} for target in deed["targets"]]
            statements([path for one in scripts for path in paths_of(one, bases, home, budget)], standing)
        else:
            _files(deed, bases, standing, home, [str(base) for base in question.get("strayed", ())])
    if own.lost_with_its_copy:
        raise Unclear("a copy would go with what it is a copy of")


def _files(
    deed: Mapping[str, Any], bases: list[str], standing: Standing, home: str, strayed: Sequence[str] = ()
) -> None:
    verb = str(deed["verb"])
    standing.tally.verb = _VERBS[verb]
    paths = dict.fromkeys(paths_of(deed, bases, home, standing.budget))
    if not paths and any(paths_of(deed, [base], home, standing.budget) for base in strayed):
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


def _expected(deed: Mapping[str, Any], base: str, standing: Standing, home: str) -> bool:
    """Whether that nothing is there is no surprise: inside the project, or what programs keep at home; elsewhere it may mean another place."""
    if "found" in deed:  # a search that finds nothing where it looks
        return os.path.isdir(whole(base, str(deed["found"]["root"]), home)) or _inside(deed, base, standing, home)
    return certain(str(deed["target"])) and _inside(deed, base, standing, home)


def _inside(deed: Mapping[str, Any], base: str, standing: Standing, home: str) -> bool:
    target = str(deed["found"]["root"] if "found" in deed else deed["target"])
    path = os.path.normpath(whole(base, target, home))
    repository = standing.repository(os.path.realpath(base)) if os.path.isdir(base) else None
    return (repository is not None and f"{path}/".startswith(f"{repository.top}/")) or (
        home not in ("", "/") and path.startswith(f"{home}/.")
    )


def paths_of(deed: Mapping[str, Any], bases: Sequence[str], home: str, budget: Budget) -> list[str]:
    """The real paths that a deed to files names, in all folders that it may run in."""
    if "found" not in deed:
        return [path for base in bases for path in existing(base, str(deed["target"]), home, budget)]
    roots = [path for base in bases for path in existing(base, str(deed["found"]["root"]), home, budget)]
    return [path for root in roots for path in found(root, deed["found"], budget)]


def _beside(path: str, standing: Standing) -> None:
    """What a database has not yet written into its file."""
    for ending in ("-wal", "-journal"):
        if os.path.lexists(path + ending):
            standing.file(path + ending, os.lstat(path + ending))
