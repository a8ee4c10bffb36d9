"""Whether the journal of a call can restore everything harmful that it does: local files that are deleted, emptied, overwritten or moved."""

from __future__ import annotations

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Effect, Fact
from interlock.analysis.programs.load import program_set
from interlock.model import Finding, Level, Span

# Rules whose harm is to files alone; a repository's history is files too.
RESTORABLE_RULES = frozenset(
    """filesystem.delete_tree filesystem.delete_unknown filesystem.delete_file filesystem.mirror_onto_system filesystem.move_away
    filesystem.move_user_data filesystem.empty_file filesystem.overwrite_file filesystem.output_over_source filesystem.overwrite_data
    filesystem.delete_state git.reset_hard git.clean git.discard_changes git.drop_stash git.force_branch git.drop_refs_in_bulk
    git.filter_branch git.drop_recovery git.delete_refs git.delete_ref git.jj_abandon""".split()
)
# What lies there gives rights away, runs by itself, or belongs to others: that the file could be restored is not enough.
_NOT_FILES_ALONE = frozenset(
    "root home system system_part other_home secret shell_config guard agent_config git_hook device remote".split()
)
_AWAY = frozenset({"remote", "container", "privileged"})
_CHANGING = frozenset({"delete", "truncate", "overwrite", "write", "move", "chmod", "chown"})


def journal_restores(judged: Judgement) -> bool:
    """Whether nothing but local files is at stake; False for what cannot be read, other places, rights, secrets and everything forbidden."""
    harmful = [finding for finding in judged.assessment.findings if finding.level >= Level.DESTRUCTIVE]
    files = {(finding.subject, finding.span) for finding in harmful if finding.rule in RESTORABLE_RULES}
    return (
        judged.assessment.level < Level.FORBIDDEN
        and bool(files)
        and all(one.rule in RESTORABLE_RULES or _is_same(one, files) for one in harmful)
        and not any(map(_is_out_of_reach, judged.facts))
    )


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
