"""Whether the journal of a call can restore everything harmful that it does: local files that are deleted, emptied, overwritten or moved."""

from __future__ import annotations

import re

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Command, Effect, Fact, known
from interlock.analysis.programs.load import describe, program_set
from interlock.analysis.rules import Rulebook
from interlock.model import Finding, Level, Span

# What lies there gives rights away, runs by itself, or belongs to others: that the file could be restored is not enough.
_NOT_FILES_ALONE = frozenset(
    "root home system system_part other_home secret shell_config guard agent_config git_hook device remote".split()
)
_AWAY = frozenset({"remote", "container", "privileged"})
_OTHER_STORE = re.compile(r"://|\bmd:|\battach\b(?!\s+(?:database\s+|if\s+not\s+exists\s+)*'[^':=]*')", re.IGNORECASE)
_CHANGING = frozenset({"delete", "truncate", "overwrite", "write", "move", "chmod", "chown"})


def journal_restores(judged: Judgement, book: Rulebook) -> bool:
    """Whether nothing but local files is at stake; False for what cannot be read, other places, rights, secrets and everything forbidden."""
    harmful = [finding for finding in judged.assessment.findings if finding.level >= Level.DESTRUCTIVE]
    stores = {fact.span for fact in judged.facts if _changes_database_file(fact)}
    kept = [one for one in harmful if _is_of_files(one, book) or (one.rule.startswith("data.") and one.span in stores)]
    files = {(one.subject, one.span) for one in kept}
    return (
        judged.assessment.level < Level.FORBIDDEN
        and bool(files)
        and all(one in kept or _is_same(one, files) for one in harmful)
        and not any(map(_is_out_of_reach, judged.facts))
    )


def _is_of_files(finding: Finding, book: Rulebook) -> bool:
    rule = book.rules.get(finding.rule)
    return rule is not None and rule.files


def _changes_database_file(fact: Fact) -> bool:
    """Whether a client keeps its tables in a local file, and its statements go to no other place."""
    if not isinstance(fact, Command) or "store" not in describe(fact.program).place or "piped" in fact.traits:
        return False
    return all(known(word) and not _OTHER_STORE.search(word) for word in fact.words)


def _is_same(finding: Finding, files: set[tuple[str, Span | None]]) -> bool:
    """Whether a finding by a word of the command line is about what another one found on its files."""
    return finding.rule == "generic.delete" and (finding.subject, finding.span) in files


def _is_out_of_reach(fact: Fact) -> bool:
    if fact.traits & _AWAY or any(word in program_set("other_root") for step in fact.via for word in step.split()[:1]):
        return True
    if not isinstance(fact, Effect) or fact.verb not in _CHANGING:
        return False
    dotted = fact.place == "user_data" and "/." in fact.path  # it may hold keys
    return fact.place in _NOT_FILES_ALONE or dotted
