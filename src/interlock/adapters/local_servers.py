"""Decides whether an MCP server runs on this machine, and whether a call of it touches nothing but files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from interlock.analysis.facts import QUOTED, Effect, Fact, known
from interlock.analysis.packs import own_words
from interlock.analysis.programs.load import describe, program_set

_WORDS = own_words("adapters/words.toml")
_SCRIPT = re.compile(r"\.(?:py|js|mjs|cjs|ts|sh|exe|cmd|jar|rb|pl)$")
# Names of files and folders that say nothing of the server in them.
GENERIC = frozenset(" index main server cli app dist build bin src lib out start run mod stdio".split(" "))
_HOST = re.compile(r"[\w.-]+@[\w.-]+:?$")  # ana@host, as ssh takes it; not @scope/package@1.2


def is_local_command(words: str) -> bool:
    try:
        command = json.loads(words)
    except ValueError:
        return False
    if not isinstance(command, list) or not command or not all(isinstance(one, str) for one in command):
        return False
    return not any(_leads_away(word, number == 0) for number, word in enumerate(command))


def _leads_away(word: str, first: bool) -> bool:
    if "://" in word or _HOST.fullmatch(word):
        return True
    if word.startswith(("/", "~", ".")) and not first and not _SCRIPT.search(word):
        return False  # a folder as argument
    # The file's name, or that of its folder where it is called something like `dist/index.js`.
    files = reversed(word.replace("\\", "/").split("/"))
    name = next((one for one in files if _SCRIPT.sub("", one.lower()) not in GENERIC), word)
    return any(part in _WORDS.away or _works_elsewhere(part) for part in re.findall(r"[a-z0-9]+", name.lower()))


def _works_elsewhere(name: str) -> bool:
    """In a container, on another machine or in a cloud, by the program's description."""
    program = describe(name)
    if name in program_set("other_root") or program.network is True:
        return True
    places = {*program.place, *(trait for one in program.carries for trait in one.traits)}
    return not places.isdisjoint(_WORDS.elsewhere)


def only_touches_files(facts: Sequence[Fact]) -> bool:
    """Every effect is on a file with a certain place: a path from the root, or from home."""
    return bool(facts) and all(
        isinstance(fact, Effect)
        and fact.verb in _WORDS.file_effects
        and fact.target.startswith(("/", "~/"))
        and known(fact.target)
        and QUOTED not in fact.target
        and not fact.via
        for fact in facts
    )
