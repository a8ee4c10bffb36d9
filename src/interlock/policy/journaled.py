"""Whether the journal of a call can restore everything harmful that it does: local files that are deleted, emptied, overwritten or moved."""

from __future__ import annotations

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Effect, Fact
from interlock.analysis.programs.load import program_set
from interlock.analysis.rules.book import Rulebook
from interlock.model import Finding, Level, Span

# What lies there gives rights away, runs by itself, or belongs to others: that the file could be restored is not enough.
_NOT_FILES_ALONE = frozenset(
    "root home system system_part other_home secret shell_config guard agent_config git_hook device remote".split()
)
_AWAY = frozenset({"remote", "container", "privileged"})
_CHANGING = frozenset({"delete", "truncate", "overwrite", "write", "move", "chmod", "chown"})


def journal_restores(judged: Judgement, book: Rulebook) -> bool:
    """Whether nothing but local files is at stake; False for what cannot be read, other places, rights, secrets and everything forbidden."""
    harmful = [finding for finding in judged.assessment.findings if finding.level >= Level.DESTRUCTIVE]
    files = {(finding.subject, finding.span) for finding in harmful if _is_of_files(finding, book)}
    return (
        judged.assessment.level < Level.FORBIDDEN
        and bool(files)
        and all(_is_of_files(one, book) or _is_same(one, files) for one in harmful)
        and not any(map(_is_out_of_reach, judged.facts))
    )


def _is_of_files(finding: Finding, book: Rulebook) -> bool:
    rule = book.rules.get(finding.rule)
    return rule is not None and rule.files


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
