"""One question about an action's targets -> what would be gone: looks, changes nothing, runs nothing, and ends in time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from interlock.core.loss import Seen
from interlock.looker.budget import ENTRIES, MILLISECONDS, Budget, Spent, Unclear
from interlock.looker.git_deeds import git
from interlock.looker.standing import TEMP, Standing
from interlock.looker.tally import Tally
from interlock.looker.targets import existing

_VERBS = {"delete": "delete", "truncate": "empty", "overwrite": "overwrite"}


def look(question: Mapping[str, Any], home: str = "") -> Seen:
    """What is there of the targets, and whether it exists elsewhere; whatever stands in the way of an answer is said in it."""
    tally = Tally()
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
    standing = Standing(tally, budget, temp, os.path.realpath(bases[0]))
    for deed in question["deeds"]:
        if deed["verb"] == "git":
            words = [str(word) for word in deed["words"]]
            if not sum(git(base, words, standing) for base in bases):
                raise Unclear("there is no repository")
        else:
            _files(deed, bases, standing, home)


def _files(deed: Mapping[str, Any], bases: list[str], standing: Standing, home: str) -> None:
    verb = str(deed["verb"])
    standing.tally.verb = _VERBS[verb]
    paths = {path: None for base in bases for path in existing(base, str(deed["target"]), home, standing.budget)}
    seen: set[str] = set()
    for path in sorted(paths):
        if verb == "delete":
            if not any(path.startswith(f"{one}/") for one in seen):
                seen.add(path)
                standing.tree(path)
        else:
            real = os.path.realpath(path)  # what is written goes through links
            standing.file(real, os.stat(real))
